/* NVML on a real GPU: what it tells is there, in the units that we take it for. */
#include "harness/telemetry/nvml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/clock.h"
#include "harness/device/cuda.h"
#include "harness/telemetry/busy.h"
#include "tests/tap.h"

/* Values that some product lacks are told, not failed. */
static void tell(const char *name, double value)
{
	printf("# %s %g\n", name, value);
}

static void test_info(struct ceil_nvml_gpu *gpu)
{
	struct ceil_nvml_info i;

	ceil_nvml_info(gpu, &i);
	printf("# %s, %s, %s, vbios %s\n", i.name, i.uuid, i.pci_bus_id, i.vbios);
	ok(*i.name && strncmp(i.uuid, "GPU-", 4) == 0, "name and UUID");
	is_int((long long)strlen(i.pci_bus_id), 12, "PCI id in CUDA's form");
	ok(i.memory_total_bytes > 1e9 && i.memory_total_bytes < 1e13, "memory is in bytes");
	ok(i.memory_used_bytes >= 0 && i.memory_used_bytes <= i.memory_total_bytes, "and its use");
	ok(i.max_sm_mhz > 300 && i.max_sm_mhz < 6000, "SM clock is in MHz");
	ok(isnan(i.power_limit_w) || (i.power_limit_w > 5 && i.power_limit_w < 3000),
	   "power limit is in W");
	tell("used MiB", i.memory_used_bytes / 1048576);
	tell("ecc", i.ecc);
	tell("mig", i.mig);
	tell("compute mode", i.compute_mode);
	tell("processes", i.processes);
	tell("pcie gen", i.pcie_gen);
	tell("pcie max gen", i.pcie_max_gen);
	tell("nvlinks", i.nvlink_count);
	tell("nvlink GB/s", i.nvlink_gb_s);
	tell("bus bits", i.bus_bits);
	tell("power limit W", i.power_limit_w);
}

static void test_cuda_match(struct ceil_nvml *n)
{
	struct ceil_error err = {0};
	struct ceil_device_props p;

	if (ceil_cuda_backend.peek(0, &p, &err) != CEIL_OK) {
		skip("matched to CUDA's device", err.text);
		return;
	}
	ok(ceil_nvml_find(n, p.uuid, "") != NULL, "found by CUDA's UUID %s", p.uuid);
	ok(ceil_nvml_find(n, "", p.pci_bus_id) == ceil_nvml_find(n, p.uuid, ""),
	   "and the same one by PCI id %s", p.pci_bus_id);
}

/* Two readings of a second and more: units of the counters show. */
static void test_readings(struct ceil_nvml_gpu *gpu)
{
	struct ceil_nvml_state a, b;
	struct ceil_window w;

	ceil_nvml_read(gpu, &a);
	ceil_sleep_ns(1300 * (uint64_t)CEIL_NS_PER_MS);
	ceil_nvml_read(gpu, &b);
	ceil_window_of(&a, &b, &w);
	ok(isnan(b.power_w) || (b.power_w > 1 && b.power_w < 3000), "power is in W: %g", b.power_w);
	ok(isnan(b.temp_c) || (b.temp_c > 5 && b.temp_c < 110), "temperature is in C: %g",
	   b.temp_c);
	ok(isnan(w.power_w) || fabs(w.power_w / b.power_w - 1) < 0.5,
	   "energy over time is power: %g W", w.power_w);
	ok(!(b.power_cap_ns - a.power_cap_ns > 1.5e9 * w.seconds) &&
	           !(b.thermal_ns - a.thermal_ns > 1.5e9 * w.seconds),
	   "throttle-time counters are not faster than time");
	printf("# throttle \"%s\"\n", w.throttle);
	tell("power cap ns", b.power_cap_ns);
	tell("thermal ns", b.thermal_ns);
	tell("hardware ns", b.hw_slowdown_ns);
	tell("ecc corrected", b.ecc_corrected);
	tell("sm MHz", b.sm_mhz);
	tell("utilisation", b.gpu_util_ratio);
}

int main(void)
{
	struct ceil_error err = {0};
	struct ceil_nvml *n = NULL;
	struct ceil_nvml_gpu *gpu;
	struct ceil_busy busy;

	if (ceil_nvml_open(&n, &err) != CEIL_OK)
		skip_all(err.text);
	gpu = ceil_nvml_at(n, 0);
	if (!gpu)
		skip_all("NVML counts no GPU");
	printf("# NVML %s, driver %s, CUDA %d, %s\n", ceil_nvml_version(n), ceil_nvml_driver(n),
	       ceil_nvml_cuda(n), ceil_nvml_path(n));
	test_info(gpu);
	test_readings(gpu);
	ceil_busy_check(&gpu, 1, &busy);
	printf("# busy: %d \"%s\"\n", busy.busy, busy.reason);
	ok(busy.busy == (busy.reason[0] != '\0'), "busy has a reason, and free has none");
	test_cuda_match(n);
	ceil_nvml_close(n);
	return done_testing();
}
