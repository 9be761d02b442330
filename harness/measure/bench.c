/* What benches share: words for units, regimes and timings; buffers; too little memory. */
#include "harness/measure/bench.h"

#include "harness/base/dtype.h"
#include "harness/base/text.h"

static const char *const unit_names[] = {
	[CEIL_GB_S] = "GB/s",     [CEIL_TFLOP_S] = "TFLOP/s", [CEIL_TOP_S] = "TOP/s",
	[CEIL_US] = "us",         [CEIL_NS] = "ns",           [CEIL_PER_S] = "1/s",
	[CEIL_CYCLES] = "cycles",
};

static const char *const regime_names[CEIL_REGIME_COUNT] = {
	[CEIL_NOREGIME] = "",
	[CEIL_BURST] = "burst",
	[CEIL_SUSTAINED] = "sustained",
	[CEIL_DUTY] = "duty",
};

static const char *const resource_names[CEIL_R_COUNT] = {
	[CEIL_R_DRAM] = "dram",       [CEIL_R_L2] = "l2",
	[CEIL_R_SMEM] = "smem",       [CEIL_R_FMA] = "fma",
	[CEIL_R_TENSOR] = "tensor",   [CEIL_R_LAUNCH] = "launch",
	[CEIL_R_SFU] = "sfu",         [CEIL_R_HOSTLINK] = "hostlink",
	[CEIL_R_PEER] = "peer",       [CEIL_R_FABRIC] = "fabric",
	[CEIL_R_STORAGE] = "storage", [CEIL_R_LATENCY] = "latency",
};

static const char *const timing_names[] = {
	[CEIL_TIME_MARKS] = "marks",
	[CEIL_TIME_HOST_EACH] = "host",
	[CEIL_TIME_SELF] = "self",
};

const char *ceil_unit_name(enum ceil_unit unit)
{
	return unit_names[unit];
}

const char *ceil_regime_name(enum ceil_regime regime)
{
	return regime_names[regime];
}

const char *ceil_resource_name(enum ceil_resource resource)
{
	return resource_names[resource];
}

const char *ceil_timing_name(enum ceil_timing timing)
{
	return timing_names[timing];
}

bool ceil_unit_lower_is_better(enum ceil_unit unit)
{
	return unit == CEIL_US || unit == CEIL_NS || unit == CEIL_CYCLES;
}

enum ceil_status ceil_bench_no_room(const struct ceil_device_props *d, const char *what,
                                    uint64_t need_bytes, const char *why, struct ceil_error *err)
{
	char need[32];
	char have[32];

	ceil_human_bytes(need, sizeof(need), need_bytes);
	ceil_human_bytes(have, sizeof(have), d->free_bytes);
	return ceil_fail(
		err, CEIL_E_NOMEM,
		"%s needs %s of memory%s%s%s, %s may be used (60 %% of what is free, never "
		"the last 2 GiB)",
		what, need, why ? " (" : "", why ? why : "", why ? ")" : "", have);
}

struct ceil_buffer ceil_bench_buffer(enum ceil_role role, enum ceil_dtype t, uint64_t bytes)
{
	return (struct ceil_buffer){
		.memory = CEIL_MEM_DEVICE,
		.role = role,
		.dtype = t,
		.numa_node = -1,
		.bytes = bytes,
	};
}

struct ceil_buffer ceil_bench_array(enum ceil_role role, enum ceil_dtype t, uint64_t elements)
{
	return ceil_bench_buffer(role, t, ceil_dtype_bytes(t, elements));
}
