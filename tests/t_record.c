/* Rows: recorded outcomes of an H200 become figures and statuses; the tables of columns. */
#include "harness/analysis/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/text.h"
#include "tests/tap.h"

#define ABSENT ((double)NAN)

static enum ceil_status two_arrays(const struct ceil_point *p, const struct ceil_device_props *d,
                                   struct ceil_launch *ret_l,
                                   struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                   struct ceil_error *err)
{
	(void)p;
	(void)d;
	(void)err;
	ret_l->n = 1u << 20;
	ret_buf[0] = (struct ceil_buffer){.role = CEIL_INPUT, .bytes = 8ull << 30};
	ret_buf[1] = (struct ceil_buffer){.role = CEIL_OUTPUT, .bytes = 4ull << 30};
	ret_buf[2] = (struct ceil_buffer){.role = CEIL_WORKSPACE, .bytes = 64ull << 30};
	return CEIL_OK;
}

static const struct ceil_case big = {.name = "8GiB"};
static const struct ceil_variant copy_variant = {
	.name = "one.128",
	.backend = "cuda",
	.ceiling = "dram.copy",
	.unit = CEIL_GB_S,
	.types = {CEIL_FP32, CEIL_FP32, CEIL_NODTYPE, CEIL_FP32},
	.resource = CEIL_R_DRAM,
	.tolerance = 0.01};
static const struct ceil_variant gemm_variant = {
	.name = "tn",
	.backend = "cuda",
	.ceiling = "gemm.bf16",
	.unit = CEIL_TFLOP_S,
	.types = {CEIL_BF16, CEIL_BF16, CEIL_FP32, CEIL_BF16},
	.resource = CEIL_R_TENSOR,
	.tolerance = 0.01};
static const struct ceil_bench bench = {
	.name = "dram", .cases = &big, .case_count = 1, .buf_count = 3, .shape = two_arrays};

static struct ceil_device_props h200(void)
{
	return (struct ceil_device_props){.label = "gpu0",
	                                  .name = "NVIDIA H200",
	                                  .uuid = "GPU-1",
	                                  .driver = "580.159.04",
	                                  .cc_major = 9,
	                                  .sm_count = 132,
	                                  .memory_bus_bits = 6016,
	                                  .l2_bytes = 60ull << 20,
	                                  .max_sm_mhz = 1980,
	                                  .max_memory_mhz = 3201};
}

/* An outcome of count equal samples; the caller owns nothing, v is its storage. */
static struct ceil_outcome outcome(const struct ceil_variant *v, double time_ns, double clock_mhz,
                                   struct ceil_sample *samples, size_t count)
{
	struct ceil_outcome o = {.point = {.bench = &bench, .variant = v, .cas = &big},
	                         .first_ratio = ABSENT,
	                         .candidates = 1,
	                         .checked = true,
	                         .stop = CEIL_STOP_PRECISE,
	                         .link = {-1, -1},
	                         .remark = {.gpu_busy = ABSENT, .host_node = -1},
	                         .half_bytes = ABSENT,
	                         .versus_value = ABSENT,
	                         .window = {.seconds = 2.5,
	                                    .power_w = 650,
	                                    .energy_j = 1625,
	                                    .temp_start_c = 40,
	                                    .temp_end_c = 45,
	                                    .snapshot_mhz = 1755,
	                                    .power_cap_ratio = 0.25,
	                                    .sm_active = 0.75,
	                                    .dram_active = ABSENT,
	                                    .throttle = "none"}};

	for (size_t i = 0; i < count; i++)
		samples[i] = (struct ceil_sample){
			.at_ns = i, .batch = 4, .time_ns = time_ns, .clock_mhz = clock_mhz};
	o.series = (struct ceil_series){.v = samples, .count = count, .cap = count};
	ceil_stats_of(&o.series, 0, &o.stats);
	return o;
}

static void test_memory_row(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_sample s[16];
	struct ceil_outcome o = outcome(&copy_variant, 4e6, 1905, s, 16);
	struct ceil_record r;

	o.work = (struct ceil_work){.bytes_read = 8.8e9, .bytes_written = 8.8e9};
	o.first_ratio = 1.25;
	ceil_copy(o.started_utc, sizeof(o.started_utc), "2026-11-30T19:32:50Z");
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.value, 4400, 1e-9, "17.6 GB in 4 ms are 4400 GB/s");
	is_text(r.unit, "GB/s", "its unit");
	is_text(r.better, "higher", "more is better");
	is_text(r.ceiling, "dram.copy", "no regime behind the name");
	is_close(r.theoretical, 4814.3, 0.05, "theoretical");
	is_close(r.of_theoretical, 0.9139, 1e-4, "of_theoretical");
	is_close(r.of_clock, ABSENT, 0, "no of_clock for memory");
	is_close(r.theoretical_clock_mhz, ABSENT, 0, "no SM clock for its peak");
	is_close(r.datasheet, 4800, 0, "datasheet");
	is_close(r.clock_mhz, 1905, 0, "the clock held");
	is_text(r.limited_by, "memory", "limited by memory");
	is_text(r.status, "ok", "status");
	is_text(r.reason, "", "no reason");
	is_close(r.power_w, 650, 0, "power over 2.5 s");
	is_u64(r.samples, 16, "samples");
	is_u64(r.size_bytes, 8ull << 30, "size of the largest array, workspace left out");
	is_close(r.footprint_over_cache, 8192.0 / 60, 1e-9, "over L2");
	is_u64(r.m, CEIL_ABSENT_U64, "no GEMM shape");
	is_u64(r.batch, 4, "batch");
	is_close(r.first_value, 3520, 1e-9, "the first candidate's value");
	is_close(r.bytes, 17.6e9, 1, "bytes of a launch");
	is_text(r.dtype_acc, "", "no accumulator");
	is_text(r.pattern, "normal", "pattern");
	is_text(r.cas, "8GiB", "case");
	is_text(r.role, "final", "role");
	is_text(r.check, "exact", "checked");
	is_text(r.stop, ceil_stop_name(CEIL_STOP_PRECISE), "stop");
	is_u64(r.rank, 0, "rank");
	is_u64(r.ranks, 1, "ranks");
	is_close(r.sm_active, 0.75, 0, "SM activity, of the sampler");
	is_close(r.dram_active, ABSENT, 0, "what it does not tell is absent");
	is_close(r.snapshot_mhz, 1755, 0, "the mean of its clocks");
	is_close(r.power_cap_ratio, 0.25, 0, "the share of time under the power cap");
	is_u64(r.format_version, CEIL_FORMAT_VERSION, "format version");
	ok(r.host[0] != '\0' && r.tool_version[0] != '\0', "host and tool version are there");
	ok(!ceil_record_bad(&r), "an ok row leaves the exit status alone");
}

/* What a sustained product says of energy, and a row between burst and sustained. */
static void test_work_row(void)
{
	static const struct ceil_axis axes[] = {{"m", "", ""}, {"products", "", ""}};
	const struct ceil_case many = {.name = "8x512", .axis = {512, 8}};
	const struct ceil_device_props d = h200();
	struct ceil_bench batched = bench;
	struct ceil_sample s[16];
	struct ceil_outcome o = outcome(&gemm_variant, 1e6, 1300.0, s, 16);
	struct ceil_record r;

	batched.axes = axes;
	batched.axis_count = 2;
	o.point.bench = &batched;
	o.point.cas = &many;
	o.work.flops = 5e11;
	ceil_record_fill(&r, &o, &d, "search");
	is_u64(r.products, 8, "products of a launch");
	is_close(r.duty, ABSENT, 0, "no duty");
	is_close(r.j_per_tflop, ABSENT, 0, "nor energy of what pauses");
	is_text(r.output_hash, "", "nor a hash");
	o.point.regime = CEIL_SUSTAINED;
	o.hashed = true;
	o.output_hash = 0xabc;
	ceil_record_fill(&r, &o, &d, "sustained");
	is_close(r.value, 500, 1e-9, "5e11 operations in 1 ms");
	is_close(r.j_per_tflop, 650.0 / 500, 1e-9, "650 W at 500 TFLOP/s are 1.3 J a TFLOP");
	is_close(r.duty, 1, 0, "all of the time");
	is_text(r.output_hash, "0000000000000abc", "its hash");
	o.point.regime = CEIL_DUTY;
	o.point.duty = 0.25;
	ceil_record_fill(&r, &o, &d, "duty");
	is_close(r.duty, 0.25, 0, "a quarter of the time");
	is_text(r.regime, "duty", "its regime");
}

static const struct ceil_variant link_variant = {.name = "ce",
                                                 .backend = "cuda",
                                                 .ceiling = "h2d.pageable",
                                                 .unit = CEIL_GB_S,
                                                 .resource = CEIL_R_HOSTLINK,
                                                 .versus = "h2d.pinned",
                                                 .tolerance = 0.05};

static void test_link_row(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_variant both = link_variant;
	struct ceil_sample s[16];
	struct ceil_outcome o = outcome(&link_variant, 1e7, ABSENT, s, 16);
	struct ceil_record r;

	o.work.bytes_wire = 5.5e8;
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.value, 55, 1e-9, "one direction of a link");
	is_close(r.theoretical, ABSENT, 0, "without NVML the link is unknown");
	is_text(r.link, "", "and has no name");
	is_text(r.versus, "", "nothing stands beside");
	is_close(r.half_size_bytes, ABSENT, 0, "no curve");
	is_u64(r.host_node, CEIL_ABSENT_U64, "no node");
	o.link = (struct ceil_link){5, 16};
	o.half_bytes = 1e5;
	o.versus_value = 60;
	o.remark.host_node = 1;
	ceil_copy(o.remark.locality, sizeof(o.remark.locality), "far");
	ceil_copy(o.remark.note, sizeof(o.remark.note), "staged");
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.theoretical, 57.614, 0.001, "PCIe 5.0 x16 carries this");
	is_close(r.of_theoretical, 55 / 57.614, 1e-4, "of it");
	is_text(r.link, "PCIe 5.0 x16", "its name");
	is_text(r.limited_by, "link", "limited by the link");
	is_close(r.half_size_bytes, 1e5, 0, "half of it at this size");
	is_text(r.versus, "h2d.pinned", "another ceiling beside it");
	is_close(r.versus_value, 60, 0, "with its value");
	is_u64(r.host_node, 1, "the node");
	is_text(r.locality, "far", "is far");
	is_text(r.note, "staged", "a note");
	is_close(r.gpu_busy, ABSENT, 0, "kernels told nothing");
	both.both_ways = true;
	o.point.variant = &both;
	o.remark.gpu_busy = 0.25;
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.theoretical, 2 * 57.614, 0.001, "both ways carry twice that");
	is_close(r.gpu_busy, 0.25, 0, "kernels ran a quarter of the time");
}

static void test_gemm_row(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_sample s[16];
	struct ceil_outcome o = outcome(&gemm_variant, 1.633e6, 1273, s, 16);
	struct ceil_record r;

	o.point.regime = CEIL_SUSTAINED;
	o.launch = (struct ceil_launch){.m = 8192, .n = 8192, .k = 8192};
	o.work.flops = 2.0 * 8192 * 8192 * 8192;
	o.window.power_capped = true;
	ceil_copy(o.window.throttle, sizeof(o.window.throttle), "sw_power_cap");
	ceil_record_fill(&r, &o, &d, "sustained");
	is_text(r.ceiling, "gemm.bf16.sustained", "the regime is in the name");
	is_close(r.value, 673.3, 0.1, "TFLOP/s");
	is_close(r.of_theoretical, 0.629, 1e-3, "of 1070 at 1980 MHz");
	is_close(r.of_clock, 0.978, 1e-3, "of the peak at 1273 MHz");
	is_close(r.datasheet_clock_mhz, 1830, 0, "the datasheet's clock");
	is_text(r.limited_by, "power", "limited by power");
	is_text(r.status, "ok", "a power cap is no fault");
	is_text(r.throttle, "sw_power_cap", "throttle");
	is_u64(r.k, 8192, "k");
	is_text(r.dtype_in, "bf16", "dtype in");
	is_text(r.dtype_acc, "fp32", "dtype acc");
	for (size_t i = 0; i < 16; i += 2)
		s[i].time_ns *= 1.05;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "sustained");
	is_text(r.status, "ok", "a sustained row that settled may wander within its samples");
	o.status = CEIL_ROW_UNSTABLE;
	ceil_copy(o.reason, sizeof(o.reason), "did not settle");
	ceil_record_fill(&r, &o, &d, "sustained");
	is_text(r.status, "unstable", "one that did not settle is unstable");
	is_text(r.reason, "did not settle", "in the loop's words");
	ok(!isnan(r.value) && !ceil_record_bad(&r), "it keeps its value, and the exit status");
}

/* Value and window of one memory row, and what becomes of it. */
static const struct status_case {
	const char *name, *status, *reason;
	double time_ns; /* of 8.8 + 8.8 GB; the peak is reached at 3.6558 ms */
	bool thermal, host;
	double ecc;
} status_cases[] = {
	{"at 1.029 of theoretical", "ok", "", 3.6558e6 / 1.029, false, false, 0},
	{"at 1.031 of theoretical", "suspect", "1.03 times the peak in theory", 3.6558e6 / 1.031,
         false, false, 0},
	{"thermal limit", "throttled", "held down by sw_thermal", 4e6, true, false, 0},
	{"over the peak and hot", "suspect", "too good to be true", 3e6, true, false, 0},
	{"a memory error meanwhile", "suspect", "2 uncorrected ECC errors", 4e6, true, false, 2},
	{"a host row is never over its peak", "ok", "", 1e3, false, true, 0},
};

static void test_statuses(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_variant host = copy_variant;
	struct ceil_record r;

	host.backend = "host";
	for (size_t i = 0; i < sizeof(status_cases) / sizeof(status_cases[0]); i++) {
		const struct status_case *c = &status_cases[i];
		struct ceil_sample s[16];
		struct ceil_outcome o =
			outcome(c->host ? &host : &copy_variant, c->time_ns, 1980, s, 16);

		o.work = (struct ceil_work){.bytes_read = 8.8e9, .bytes_written = 8.8e9};
		o.window.thermal = c->thermal;
		o.window.ecc_uncorrected = c->ecc;
		if (c->thermal)
			ceil_copy(o.window.throttle, sizeof(o.window.throttle), "sw_thermal");
		ceil_record_fill(&r, &o, &d, "final");
		is_text(r.status, c->status, c->name);
		has_text(r.reason, c->reason, "its reason");
		ok(ceil_record_bad(&r) == (strcmp(c->status, "ok") != 0) && !isnan(r.value),
		   "its exit, and it keeps its value");
	}
}

static void test_over_peak_at_the_clock_held(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_sample s[16];
	/* 900 TFLOP/s are below 1070 at 1980 MHz, but above the 811 that 1500 MHz can give. */
	struct ceil_outcome o = outcome(&gemm_variant, 1e6, 1500, s, 16);
	struct ceil_record r;

	o.work.flops = 900e9;
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "suspect", "over the peak at the clock held");
	has_text(r.reason, "1.11 times the peak at the clock held", "the ratio is told");
	o = outcome(&gemm_variant, 1e6, ABSENT, s, 16);
	o.work.flops = 900e9;
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "ok", "with no clock the maximum decides");
	o.work.flops = 1110e9;
	ceil_record_fill(&r, &o, &d, "final");
	has_text(r.reason, "peak in theory", "and what is over that is suspect too");
}

static void test_spread(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_sample s[20];
	struct ceil_outcome o = outcome(&copy_variant, 4e6, 1980, s, 20);
	struct ceil_record r;

	o.work.bytes_read = 17.6e9;
	for (size_t i = 0; i < 10; i++)
		s[i].time_ns *= 1.009;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "ok", "a spread of 0.9 % is within the tolerance");
	for (size_t i = 0; i < 10; i++)
		s[i].time_ns *= 1.003;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "unstable", "1.2 % is not");
	has_text(r.reason, "1.2 %, more than the 1 % of this row, and their median is known to 1.2",
	         "all three are told");
	for (size_t i = 0; i < 20; i++)
		s[i].time_ns = i == 3 || i == 11 || i == 17 ? 4.4e6 : 4e6;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	ok(r.spread > 0.05, "a few disturbed samples spread widely: %g", r.spread);
	is_text(r.status, "ok", "but do not move the median");
	o = outcome(&copy_variant, 4e6, 1980, s, 5);
	o.work.bytes_read = 17.6e9;
	s[2].time_ns = 4.4e6;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "unstable", "five samples have no interval: their spread decides");
	for (size_t i = 0; i < 5; i++)
		s[i].time_ns = i < 3 ? 4e6 : 9.2e6;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.reason, "samples spread over 130 %, more than the 1 % of this row",
	        "a large spread is told in plain figures");
	o = outcome(&copy_variant, 4e6, 1980, s, 20);
	o.work.bytes_read = 17.6e9;
	s[0].time_ns *= 1.06;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "suspect", "a first sample unlike the rest");
	has_text(r.reason, "6 % longer than the others", "by how much");
	s[0].drop = CEIL_DROP_WARMUP;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "ok", "one that was dropped does not count");
	s[0].drop = CEIL_KEEP;
	s[0].time_ns = 4e6 * 1.04;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "ok", "4 % is less than five times 1 %");
	s[0].time_ns = 4e6 * 1.06;
	s[7].time_ns = 4e6 * 1.07;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_text(r.status, "ok", "it is not alone: such samples come at any time");
}

/* Calls by the host's clock are interrupted now and then, and the first may be the one. */
static void test_interrupted(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_variant v = copy_variant;
	struct ceil_sample s[63];
	struct ceil_outcome o = outcome(&v, 9.3e3, 1980, s, 63);
	struct ceil_record r;

	v.timing = CEIL_TIME_HOST_EACH;
	o.work.bytes_read = 4096;
	s[0].time_ns = 18.1e3;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "search");
	is_text(r.status, "ok", "9 us more are an interruption");
	s[0].time_ns = 9.3e3 + 200e3;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "search");
	is_text(r.status, "suspect", "200 us more are none");
	v.timing = CEIL_TIME_MARKS;
	s[0].time_ns = 18.1e3;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "search");
	is_text(r.status, "suspect", "and a GPU's own marks know no interruption");
	v.backend = "host";
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "search");
	is_text(r.status, "ok", "a host lost its core to another program meanwhile");
	s[0].time_ns = 5e3;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "search");
	is_text(r.status, "suspect", "but no program makes a sample shorter");
}

static void test_no_value(void)
{
	static const enum ceil_row_status none[] = {CEIL_ROW_UNSUPPORTED, CEIL_ROW_SKIPPED,
	                                            CEIL_ROW_FAILED};
	const struct ceil_device_props d = h200();
	struct ceil_sample s[16];
	struct ceil_outcome o = outcome(&copy_variant, 4e6, 1980, s, 16);
	struct ceil_record r;

	o.work.bytes_read = 17.6e9;
	ceil_copy(o.reason, sizeof(o.reason), "expected 3, found 4");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		o.status = none[i];
		ceil_record_fill(&r, &o, &d, "final");
		ok(isnan(r.value) && isnan(r.spread) && isnan(r.power_w) && isnan(r.theoretical) &&
		           r.samples == CEIL_ABSENT_U64 && !r.limited_by[0],
		   "%s rows have no figures", r.status);
		is_text(r.reason, "expected 3, found 4", "but a reason");
		ok(ceil_record_bad(&r) == (none[i] == CEIL_ROW_FAILED), "and their exit");
	}
	o.status = CEIL_ROW_CANCELLED;
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.value, 4400, 1e-9, "a cancelled row keeps what was measured");
	is_text(r.status, "cancelled", "and says so");
	o.series.count = 0;
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.value, ABSENT, 0, "one that was cancelled before any sample has none");
}

static void test_short_window(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_sample s[16];
	struct ceil_outcome o = outcome(&copy_variant, 4e6, 1980, s, 16);
	struct ceil_record r;

	o.work.bytes_read = 17.6e9;
	o.window.seconds = 0.9;
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.power_w, ABSENT, 0, "no power below 1 s");
	is_close(r.energy_j, ABSENT, 0, "nor energy, whose counter moves in steps");
	is_close(r.power_cap_ratio, 0.25, 0, "shares of time do from half a second on");
	o.window.seconds = 0.4;
	ceil_record_fill(&r, &o, &d, "final");
	is_close(r.power_cap_ratio, ABSENT, 0, "and not below");
	o.window = (struct ceil_window){0};
	ceil_record_fill(&r, &o, &d, "final");
	ok(isnan(r.temp_start_c) && isnan(r.energy_j) && isnan(r.seconds) && !r.throttle[0],
	   "a window that was never taken leaves nothing, not zeros");
}

static void test_absent(void)
{
	const struct ceil_point p = {
		.bench = &bench, .variant = &gemm_variant, .cas = &big, .regime = CEIL_BURST};
	struct ceil_record r;

	ceil_record_absent(&r, &p, /* props= */ NULL, CEIL_ROW_UNSUPPORTED, "no NVIDIA device");
	is_text(r.device, "gpu", "no device: gpu");
	is_text(r.ceiling, "gemm.bf16.burst", "the ceiling is named");
	is_text(r.status, "unsupported", "status");
	is_text(r.reason, "no NVIDIA device", "reason");
	is_text(r.unit, "TFLOP/s", "unit");
	ok(isnan(r.value) && r.size_bytes == CEIL_ABSENT_U64, "no figures");
	ok(!ceil_record_bad(&r), "unsupported is fine");
	ceil_record_absent(&r, &p, /* props= */ NULL, CEIL_ROW_FAILED, "fell off the bus");
	ok(ceil_record_bad(&r), "broken is not");
}

static void test_samples(void)
{
	const struct ceil_sample sample = {.batch = 3, .time_ns = 5, .clock_mhz = ABSENT};
	struct ceil_record r = {.ceiling = "dram.copy", .device = "gpu1", .role = "search"};
	struct ceil_sample_row row;

	ceil_sample_row_of(&row, &r, &sample, 7);
	is_text(row.ceiling, "dram.copy", "a sample names its ceiling");
	is_text(row.device, "gpu1", "and its device");
	is_u64(row.sample, 7, "its index");
	is_u64(row.batch, 3, "its batch");
	is_close(row.time_ns, 5, 0, "its time");
	is_close(row.clock_mhz, ABSENT, 0, "no clock");
	is_text(row.drop, "", "kept");
}

/* Every byte of the row belongs to a column, but for padding before numbers. */
static void lint(const struct ceil_table *t)
{
	size_t end = 0;
	bool fine = true;

	for (size_t i = 0; i < t->field_count; i++) {
		const struct ceil_field *f = &t->fields[i];
		const size_t align = f->type == CEIL_F_TEXT ? 1 : 8;

		fine = fine && f->name[0] && f->doc[0] && f->since >= 1 &&
		       f->since <= CEIL_FORMAT_VERSION && ceil_table_find(t, f->name) == f;
		fine = fine && f->offset == (end + align - 1) / align * align;
		end = f->offset + f->size;
	}
	ok(fine && t->doc[0], "%s: names unique, documented, in the order of the row", t->name);
	ok((end + 7) / 8 * 8 == t->row_bytes, "%s: every member of the row is a column", t->name);
}

static void test_tables(void)
{
	/* architecture.md, Files of a run: the order is the law. */
	const char *const order =
		"host,device,gpu_name,gpu_uuid,ceiling,value,unit,better,theoretical,"
		"of_theoretical,datasheet,datasheet_clock_mhz,clock_mhz,of_clock,limited_by,"
		"spread,samples,power_w,throttle,status,reason,dtype_in,dtype_acc,dtype_out,regime,"
		"pattern,variant,size_bytes,m,n,k,rank,ranks,sm_active,tensor_active,dram_active,"
		"temp_start_c,temp_end_c,driver,tool_version,format_version,"
		"gpu_busy,half_size_bytes,host_node,locality,link,versus,versus_value,of_issue,"
		"note";
	char names[1024] = "";

	for (size_t i = 0; i < ceil_table_ceilings.field_count; i++)
		ceil_append(names, sizeof(names), "%s%s", i ? "," : "",
		            ceil_table_ceilings.fields[i].name);
	is_text(names, order, "columns of ceilings.csv in their order");
	ok(ceil_table_find(&ceil_table_records, "case") != NULL, "the case is called case");
	ok(ceil_table_records.fields == ceil_table_ceilings.fields,
	   "records.csv begins with the columns of ceilings.csv");
	lint(&ceil_table_records);
	lint(&ceil_table_samples);
}

int main(void)
{
	test_memory_row();
	test_link_row();
	test_work_row();
	test_gemm_row();
	test_statuses();
	test_over_peak_at_the_clock_held();
	test_spread();
	test_interrupted();
	test_no_value();
	test_short_window();
	test_absent();
	test_samples();
	test_tables();
	return done_testing();
}
