/* What users of cards that are not here would see: rows of simulated devices, peaks apart. */
#include "harness/analysis/peak_row.h"
#include "harness/analysis/peaks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/analysis/mfu.h"
#include "harness/base/text.h"
#include "tests/tap.h"

/* A device as its driver describes it. */
struct seen {
	const char *name;
	int cc, sm_count, bus_bits;
	double sm_mhz, memory_mhz;
};

static const struct seen h200 = {"NVIDIA H200", 90, 132, 6016, 1980, 3201};
static const struct seen rtx_4090 = {"NVIDIA GeForce RTX 4090", 89, 128, 384, 2520, 10501};
static const struct seen rtx_4090_fast = {"NVIDIA GeForce RTX 4090", 89, 128, 384, 3105, 10501};
static const struct seen b200 = {"NVIDIA B200", 100, 148, 7680, 1965, 3996};
static const struct seen b200_old_driver = {"NVIDIA B200", 100, 148, 8192, 1965, 3996};
static const struct seen a100 = {"NVIDIA A100-SXM4-80GB", 80, 108, 5120, 1410, 1593};
static const struct seen a100_slow_memory = {"NVIDIA A100-SXM4-80GB", 80, 108, 5120, 1410, 1215};
static const struct seen gb300 = {"NVIDIA GB300", 103, 152, 8192, 2150, 3996};
static const struct seen unknown = {"NVIDIA Something", 142, 10, 512, 1000, 1000};

static struct ceil_device_props props_of(const struct seen *s)
{
	struct ceil_device_props d = {.cc_major = s->cc / 10,
	                              .cc_minor = s->cc % 10,
	                              .sm_count = s->sm_count,
	                              .memory_bus_bits = s->bus_bits,
	                              .max_sm_mhz = s->sm_mhz,
	                              .max_memory_mhz = s->memory_mhz,
	                              .numa_node = -1};

	ceil_copy(d.name, sizeof(d.name), s->name);
	ceil_copy(d.label, sizeof(d.label), "gpu0");
	ceil_copy(d.uuid, sizeof(d.uuid), "GPU-simulated");
	return d;
}

#define GEMM(name_, in_, acc_)                                                                     \
	{                                                                                          \
		.name = "simulated." name_, .backend = "cuda", .ceiling = "gemm." name_,           \
		.unit = CEIL_TFLOP_S, .types = {CEIL_##in_, CEIL_##in_, CEIL_##acc_, CEIL_##acc_}, \
		.resource = CEIL_R_TENSOR,                                                         \
	}

static const struct ceil_variant variants[] = {
	GEMM("bf16", BF16, FP32),
	GEMM("fp16", FP16, FP32),
	GEMM("fp16_acc16", FP16, FP16),
	GEMM("e4m3", E4M3, FP32),
	GEMM("fp32", FP32, FP32),
	GEMM("bf16", BF16, FP32), /* a second way to the same ceiling */
	{.name = "simulated.copy",
         .backend = "cuda",
         .ceiling = "dram.copy",
         .unit = CEIL_GB_S,
         .types = {CEIL_FP32, CEIL_FP32, CEIL_NODTYPE, CEIL_FP32},
         .resource = CEIL_R_DRAM},
	{.name = "simulated.latency",
         .backend = "cuda",
         .ceiling = "dram.latency",
         .unit = CEIL_NS,
         .resource = CEIL_R_DRAM},
	{.name = "simulated.enqueue",
         .backend = "cuda",
         .ceiling = "launch.enqueue",
         .unit = CEIL_US,
         .resource = CEIL_R_LAUNCH},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static const struct ceil_bench bench = {
	.name = "simulated", .variants = variants, .variant_count = VARIANTS};
static const struct ceil_case one_case = {.name = "8192x8192x8192"};

static struct ceil_point point_of(size_t variant)
{
	return (struct ceil_point){
		.bench = &bench,
		.variant = &variants[variant],
		.cas = &one_case,
		.regime = variants[variant].resource == CEIL_R_TENSOR ? CEIL_BURST : CEIL_NOREGIME,
		.pattern = variants[variant].pattern};
}

/* ---- rows of a measurement */

/* 1 TFLOP in time_ns each, twenty times, at a clock that was held. */
static struct ceil_record row_on(const struct seen *s, size_t variant, double tflops,
                                 double clock_mhz)
{
	enum { SAMPLES = 20 };
	static struct ceil_sample v[SAMPLES];
	const struct ceil_device_props d = props_of(s);
	struct ceil_outcome o = {.point = point_of(variant),
	                         .work = {.flops = 1e12, .bytes_read = 1e9},
	                         .series = {.v = v, .count = SAMPLES, .cap = SAMPLES},
	                         .status = CEIL_ROW_OK,
	                         .checked = true,
	                         .first_ratio = (double)NAN,
	                         .versus_value = (double)NAN,
	                         .remark = {.gpu_busy = (double)NAN, .host_node = -1}};
	struct ceil_record r;

	for (size_t i = 0; i < SAMPLES; i++)
		v[i] = (struct ceil_sample){
			.batch = 1, .time_ns = 1e12 / tflops / 1e3, .clock_mhz = clock_mhz};
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(&r, &o, &d, "final");
	return r;
}

static void test_rtx_4090(void)
{
	struct ceil_record r = row_on(&rtx_4090, 0, 160.0, 2490);

	is_text(r.gpu_name, "NVIDIA GeForce RTX 4090", "RTX 4090: its name");
	is_close(r.value, 160.0, 1e-6, "the rate measured");
	is_close(r.theoretical, 165.2, 0.1, "bf16 runs at half of the rate with fp32 sums");
	is_close(r.datasheet, 165.2, 0, "as its datasheet says");
	is_close(r.datasheet_clock_mhz, 2520, 0, "at the boost clock");
	is_close(r.of_clock, 160.0 / 163.2, 0.001, "and of the clock held");
	is_text(r.status, "ok", "it is ok");
	r = row_on(&rtx_4090, 2, 320.0, 2520);
	is_close(r.theoretical, 330.3, 0.1, "fp16 sums run at the full rate");
	/* A card that boosts above its datasheet is no cheat; one whose rate is unlocked is. */
	r = row_on(&rtx_4090_fast, 0, 195.0, 3050);
	is_text(r.status, "ok", "a fast card passes its datasheet");
	ok(r.value > r.datasheet && r.of_theoretical < 1.0, "but not its peak");
	r = row_on(&rtx_4090, 0, 320.0, 2520);
	is_text(r.status, "suspect", "a card with unlocked sums is suspect");
	has_text(r.reason, "the figure or its peak is wrong", "and the reason says so");
}

static void test_b200(void)
{
	struct ceil_record r = row_on(&b200, 0, 1750.0, 1500);

	is_close(r.theoretical, 2382.4, 0.1, "B200: 8192 x 148 x 1965 MHz");
	is_close(r.datasheet, 2250, 0, "dense, as published");
	is_close(r.datasheet_clock_mhz, 1856, 0, "at the clock that the figure implies");
	is_close(r.of_theoretical, 0.7346, 0.001, "of its peak");
	is_text(r.status, "ok", "it is ok");
	r = row_on(&b200, 3, 3500.0, 1500);
	is_close(r.datasheet, 4500, 0, "e4m3, not the sparse 9000");
	r = row_on(&b200, 4, 70.0, 1965);
	is_close(r.theoretical, 74.4, 0.1, "fp32 on the vector pipe");
}

/* The file that a training engineer on such a card loads. */
static void test_denominators(void)
{
	struct ceil_record r[] = {row_on(&b200, 0, 1750.0, 1500), row_on(&b200, 3, 3500.0, 1500)};
	struct ceil_mfu_row rows[2];

	is_u64(ceil_mfu_denominators(r, 2, rows, 2), 2, "two types");
	is_text(rows[0].gpu_name, "NVIDIA B200", "of a B200");
	is_close(rows[0].datasheet_tflops, 2250, 0, "MFU is over 2250");
	is_close(rows[0].burst_tflops, 1750, 1e-6, "of_burst over what it did");
}

static void test_unknown(void)
{
	const struct ceil_record r = row_on(&unknown, 0, 50.0, 1000);

	is_close(r.value, 50.0, 1e-6, "an unknown card is measured");
	is_close(r.theoretical, (double)NAN, 0, "without a peak");
	is_close(r.datasheet, (double)NAN, 0, "or a datasheet");
	is_text(r.status, "ok", "and it is ok");
}

/* ---- peaks apart */

static struct ceil_record rows[CEIL_PEAK_ROWS];

static size_t peaks_of(const struct seen *s)
{
	struct ceil_entry entries[VARIANTS];
	const struct ceil_plan plan = {.v = entries, .count = VARIANTS, .cap = VARIANTS};
	const struct ceil_device_props d = props_of(s);

	for (size_t i = 0; i < VARIANTS; i++)
		entries[i] = (struct ceil_entry){.point = point_of(i)};
	return ceil_peak_rows(&plan, &d, rows);
}

static const struct ceil_record *peak_named(size_t count, const char *name)
{
	static const struct ceil_record none = {.value = -1.0};

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(rows[i].ceiling, name))
			return &rows[i];
	}
	(void)ok(false, "no row %s", name);
	return &none;
}

static void test_h200_peaks(void)
{
	const size_t count = peaks_of(&h200);
	const struct ceil_record *r = peak_named(count, "peak.tensor.bf16");

	is_u64(count, 4, "H200: its tensor figures are published for a lower clock");
	is_close(r->value, 1070.5, 0.05, "what its attributes give");
	is_close(r->datasheet, 989.4, 0, "what is published");
	is_close(r->datasheet_clock_mhz, 1830, 0, "for that clock");
	is_close(r->theoretical_clock_mhz, 1980, 0, "and the maximum");
	is_text(r->unit, "TFLOP/s", "in its unit");
	is_text(r->status, "ok", "nothing is wrong");
	is_text(r->variant, "attributes", "it comes from attributes");
	is_text(r->note,
	        "not measured: 8.2 % above the published 989.4, which is for 1830 MHz; the maximum "
	        "here is 1980 MHz",
	        "and says why it differs");
	is_close(r->of_theoretical, (double)NAN, 0, "it is of nothing");
	is_u64(r->samples, CEIL_ABSENT_U64, "and has no samples");
	is_text(r->pattern, "", "no data");
	ok(!ceil_record_bad(r), "the exit status stays");
}

static void test_other_peaks(void)
{
	struct ceil_mfu_row row;
	size_t count = peaks_of(&b200);

	is_u64(count, 4, "B200: its tensor figures are for 1856 MHz");
	has_text(peak_named(count, "peak.tensor.e4m3")->note, "5.9 % above the published 4500",
	         "by 5.9 %");
	is_u64(ceil_mfu_denominators(rows, count, &row, 1), 0, "a peak is no denominator");
	count = peaks_of(&b200_old_driver);
	is_close(peak_named(count, "peak.dram")->value, 8183.8, 0.1, "an older driver's bus");
	has_text(
		peak_named(count, "peak.dram")->note,
		"6.3 % above the published 7700, the driver tells a bus of 8192 bits, the part has "
		"7680",
		"is wider than the part's");
	is_u64(peaks_of(&a100), 0, "A100: attributes and datasheet agree");
	count = peaks_of(&a100_slow_memory);
	has_text(peak_named(count, "peak.dram")->note,
	         "23.7 % below the published 2039, the memory clock is 1215 MHz, the part's 1593",
	         "a slow memory is told");
	is_u64(peaks_of(&rtx_4090), 0, "RTX 4090: they agree");
	count = peaks_of(&rtx_4090_fast);
	is_u64(count, 5, "one that boosts further: every type");
	has_text(peak_named(count, "peak.tensor.fp16_acc16")->note, "23.2 % above",
	         "sums in fp16 apart");
	is_close(peak_named(count, "peak.fma.fp32")->value, 101.7, 0.1,
	         "fp32 products on the vector pipe");
	count = peaks_of(&gb300);
	has_text(peak_named(count, "peak.tensor.bf16")->note, "no clock is published for it",
	         "GB300: no clock to compare by");
	is_u64(peaks_of(&unknown), 0, "an unknown card has no peaks to compare");
}

int main(void)
{
	test_rtx_4090();
	test_b200();
	test_denominators();
	test_unknown();
	test_h200_peaks();
	test_other_peaks();
	return done_testing();
}
