/* What NVML says of a GPU's use beside nvml_source.c: its own samples, power now, the PCIe link. */
#include "harness/telemetry/source.h"

#include <math.h>
#include <stdlib.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/telemetry/nvml_inside.h"

/* The driver keeps 72 samples: a few seconds. */
enum { SAMPLES = 128 };

static const struct ceil_source_value values[] = {
	{"gpu_util_samples", "ratio", "GPU-Util: mean of the driver's samples since the last tick"},
	{"power_instant_w", "W", "power at this instant; power_w is a mean over a second"},
	{"nvml_pcie_tx_gb_s", "GB/s", "sent over PCIe since the last tick, by NVML's counters"},
	{"nvml_pcie_rx_gb_s", "GB/s", "received over PCIe since the last tick, by NVML's counters"},
};
enum { UTIL, POWER, TX, RX, VALUES };
_Static_assert(sizeof(values) / sizeof(values[0]) == (size_t)VALUES, "one name a value");

struct more {
	const struct ceil_nvml_gpu *gpu;
	uint64_t seen_us; /* time of the newest sample that was read */
	uint64_t at_ns;   /* of the byte counters below; 0: none yet */
	double tx_bytes, rx_bytes;
};

static enum ceil_status open_more(const struct ceil_source_target *t, void **ret_state,
                                  struct ceil_error *err)
{
	struct more *p;

	if (!t->nvml || !t->nvml->dev)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "NVML does not know this GPU");
	p = ceil_alloc(1, sizeof(*p), err);
	if (!p)
		return CEIL_E_NOMEM;
	p->gpu = t->nvml;
	*ret_state = p;
	return CEIL_OK;
}

/* An idle GPU empties the driver's ring: NOT_FOUND, and there is nothing to say. */
static double read_samples(struct more *p)
{
	const ceil_nv_samples_fn fn = p->gpu->api->samples;
	struct ceil_nv_sample v[SAMPLES];
	unsigned count = SAMPLES;
	int type = CEIL_NV_UINT;
	double sum = 0;
	unsigned used = 0;

	if (!fn || fn(p->gpu->dev, CEIL_NV_GPU_UTILIZATION_SAMPLES, p->seen_us, &type, &count, v) !=
	                   CEIL_NV_OK)
		return (double)NAN;
	for (unsigned i = 0; i < count && i < SAMPLES; i++) {
		if (v[i].time_us <= p->seen_us || v[i].value.u > 100)
			continue; /* some drivers leave rubbish in places that they do not use */
		sum += v[i].value.u;
		used++;
	}
	for (unsigned i = 0; i < count && i < SAMPLES; i++)
		p->seen_us = v[i].time_us > p->seen_us ? v[i].time_us : p->seen_us;
	return used ? sum / used / 100.0 : (double)NAN;
}

/* A counter that went back has wrapped: that one tick has no rate. */
static double rate(double from, double to, double seconds)
{
	return to >= from && seconds > 0 ? (to - from) / seconds / 1e9 : (double)NAN;
}

static void read_fields(struct more *p, double *ret_values)
{
	enum { INSTANT, SENT, RECEIVED, COUNT };
	static const unsigned id[COUNT] = {CEIL_NV_FI_POWER_INSTANT, CEIL_NV_FI_PCIE_TX_BYTES,
	                                   CEIL_NV_FI_PCIE_RX_BYTES};
	const uint64_t now_ns = ceil_now_ns();
	const double seconds = (double)(now_ns - p->at_ns) / CEIL_NS_PER_S;
	double v[COUNT];

	ceil_nvml_get_fields(p->gpu, id, COUNT, 0, v);
	ret_values[POWER] = v[INSTANT] / 1e3;
	if (p->at_ns) {
		ret_values[TX] = rate(p->tx_bytes, v[SENT], seconds);
		ret_values[RX] = rate(p->rx_bytes, v[RECEIVED], seconds);
	}
	p->at_ns = now_ns;
	p->tx_bytes = v[SENT];
	p->rx_bytes = v[RECEIVED];
}

/* Where there are no counters: KB/s over 20 ms, in which the call holds up the sampler's thread. */
static double read_pcie(const struct more *p, int counter)
{
	unsigned kb_s = 0;

	if (!p->gpu->api->pcie_rate ||
	    p->gpu->api->pcie_rate(p->gpu->dev, counter, &kb_s) != CEIL_NV_OK)
		return (double)NAN;
	return kb_s * 1e3 / 1e9;
}

static void read_more(void *state, double *ret_values)
{
	struct more *p = state;

	ret_values[UTIL] = read_samples(p);
	read_fields(p, ret_values);
	if (isnan(p->tx_bytes))
		ret_values[TX] = read_pcie(p, CEIL_NV_PCIE_TX);
	if (isnan(p->rx_bytes))
		ret_values[RX] = read_pcie(p, CEIL_NV_PCIE_RX);
}

static void close_more(void *state)
{
	free(state);
}

const struct ceil_source ceil_nvml_more_source = {
	.name = "nvml_more",
	.doc = "GPU-Util as the driver samples it, power now, bytes over PCIe",
	.values = values,
	.value_count = VALUES,
	.open = open_more,
	.read = read_more,
	.close = close_more,
};
