/* NVML as a telemetry source. */
#include "harness/telemetry/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/telemetry/nvml.h"

/* In the order in which read_values gives them. */
static const struct ceil_source_value values[] = {
	{"sm_mhz", "MHz", "SM clock at this instant; the mean held is clock_mhz of the row"},
	{"memory_mhz", "MHz", "memory clock at this instant"},
	{"power_w", "W", "mean over the last second on most parts"},
	{"energy_j", "J", "since the driver was loaded; looked at every second"},
	{"temp_c", "C", "of the GPU"},
	{"gpu_util", "ratio", "share of the last sample period in which any kernel ran at all"},
	{"memory_util", "ratio", "share of it in which device memory was read or written"},
	{"throttle_bits", "", "NVML's clocks event reasons, as a number"},
	{"power_cap_ns", "ns", "time held back by the power cap, since the driver was loaded"},
	{"thermal_ns", "ns", "by temperature"},
	{"hw_slowdown_ns", "ns", "by hardware: heat or the power supply"},
	{"pcie_gen", "",
         "generation of the PCIe link, looked at every second; idle cards let it drop"},
	{"pcie_width", "", "its lanes"},
};
enum { VALUES = sizeof(values) / sizeof(values[0]) };

/* A link changes seldom, and a look at the energy takes milliseconds. */
enum { SELDOM_TICKS = 10 };

struct watched {
	struct ceil_nvml_gpu *gpu;
	unsigned ticks;
	int pcie_gen, pcie_width;
};

static enum ceil_status open_gpu(const struct ceil_source_target *t, void **ret_state,
                                 struct ceil_error *err)
{
	struct watched *w;

	if (!t->nvml)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "NVML does not know this GPU");
	w = ceil_alloc(1, sizeof(*w), err);
	if (!w)
		return CEIL_E_NOMEM;
	w->gpu = t->nvml;
	*ret_state = w;
	return CEIL_OK;
}

static double known(int value)
{
	return value < 0 ? (double)NAN : (double)value;
}

static void read_values(void *state, double *ret_values)
{
	struct watched *w = state;
	struct ceil_nvml_state s;

	ceil_nvml_read_tick(w->gpu, &s);
	if (w->ticks++ % SELDOM_TICKS == 0) {
		ceil_nvml_read_seldom(w->gpu, &s);
		w->pcie_gen = s.pcie_gen;
		w->pcie_width = s.pcie_width;
	}
	const double v[] = {s.sm_mhz,
	                    s.memory_mhz,
	                    s.power_w,
	                    s.energy_j,
	                    s.temp_c,
	                    s.gpu_util_ratio,
	                    s.memory_util_ratio,
	                    s.throttle_bits,
	                    s.power_cap_ns,
	                    s.thermal_ns,
	                    s.hw_slowdown_ns,
	                    known(w->pcie_gen),
	                    known(w->pcie_width)};

	_Static_assert(sizeof(v) / sizeof(v[0]) == VALUES, "one value a name");
	memcpy(ret_values, v, sizeof(v));
}

static void close_gpu(void *state)
{
	free(state);
}

const struct ceil_source ceil_nvml_source = {
	.name = "nvml",
	.doc = "clocks, power, temperature, utilisation and throttle counters by NVML",
	.values = values,
	.value_count = VALUES,
	.open = open_gpu,
	.read = read_values,
	.close = close_gpu,
};
