/* Tests of the occupancy bench: tables, blocks for so many warps and SMs, and both its checks. */
#include "bench/occupancy.h"

#include "bench/pipes.h"
#include "kernels/pipes.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)

static const struct ceil_bench *const bench = &ceil_occupancy_bench;

static void test_shape(void)
{
	static const struct {
		uint64_t warps, sms;
		uint32_t blocks, threads;
	} want[] = {
		{1, 0, 132, 32},   {16, 0, 132, 512}, {32, 0, 264, 512},
		{64, 0, 528, 512}, {16, 1, 1, 512},   {16, 66, 66, 512},
	};
	struct ceil_launch l;
	struct ceil_error err;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const uint64_t axis[] = {want[i].warps, want[i].sms, 0};

		is_int(bed_shape(bench, "read.cs.x8", axis, 3, &bed_h200, &l, &err), CEIL_OK,
		       "warps and SMs");
		is_u64(l.blocks, want[i].blocks, "blocks");
		is_u64(l.threads, want[i].threads, "threads");
	}
}

static void test_errors(void)
{
	static const uint64_t wrong[][3] = {{0, 0, 0}, {65, 0, 0}, {17, 0, 0}, {1, 133, 0}};
	const uint64_t huge[] = {1, 1, UINT64_C(1) << 40};
	const uint64_t odd[] = {1, 1, 100};
	struct ceil_error err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_int(bed_shape(bench, "read.cs.x8", wrong[i], 3, &bed_h200, NULL, &err),
		       CEIL_E_USAGE, "no such occupancy");
	is_int(bed_shape(bench, "read.cs.x8", huge, 3, &bed_h200, NULL, &err), CEIL_E_NOMEM,
	       "more memory than there is");
	is_int(bed_shape(bench, "fma.s192", odd, 3, &bed_h200, NULL, &err), CEIL_E_USAGE,
	       "steps are whole turns");
}

static void test_applies(void)
{
	const struct ceil_case cas = {.name = "test", .axis = {16, 64, 0}};
	const struct ceil_point p = {
		.bench = bench, .variant = bed_variant(bench, "fma.s192"), .cas = &cas};

	ok(bench->applies(&p, &bed_h200), "64 SMs of 132 are a point");
	ok(!bench->applies(&p, &bed_small), "of 2 they are none");
	ok(bench->applies(&p, NULL), "without a device nobody knows");
}

static void emulate_read(struct bench_bed *bed)
{
	const uint64_t span = (uint64_t)bed->l.threads * bed->p.variant->per_thread * 4;
	const uint32_t *a = bed->l.buf[0];
	uint32_t *sums = bed->l.buf[2];

	for (uint32_t b = 0; b < bed->l.blocks; b++)
		sums[b] = 0;
	for (uint64_t i = 0; i < bed->l.n; i++)
		sums[i / span % bed->l.blocks] += a[i];
}

/* An even number of steps leaves x, one more makes -1 - x of it. */
static void emulate_fma(struct bench_bed *bed)
{
	const uint64_t t = bed->l.threads;

	for (uint64_t i = 0; i < CEIL_PIPES_VALUES * t; i++) {
		const double x = bed_value(bed, CEIL_PIPES_IN, i);

		for (uint64_t b = 0; b < bed->l.blocks; b++)
			bed_store(bed, CEIL_PIPES_OUT, b * CEIL_PIPES_VALUES * t + i, -1.0 - x);
	}
}

static void test_checks(void)
{
	const uint64_t read[] = {3, 2, MIB};
	const uint64_t fma[] = {32, 2, 192 * 5};
	struct bench_bed bed;

	bed_open(&bed, bench, "read.cs.x8", read, 3, &bed_small);
	emulate_read(&bed);
	bed_expect_right(&bed, 2);
	bed_close(&bed);
	bed_open(&bed, bench, "fma.s192", fma, 3, &bed_small);
	emulate_fma(&bed);
	bed_expect_right(&bed, CEIL_PIPES_OUT);
	bed_close(&bed);
}

int main(void)
{
	static const char *const prefixes[] = {"occupancy.", NULL};

	bed_lint(bench, prefixes);
	test_shape();
	test_errors();
	test_applies();
	test_checks();
	return done_testing();
}
