/* Tests of the atomic bench: tables, shape, work, and a check of every counter. */
#include "bench/atomic.h"

#include "tests/bench_bed.h"
#include "tests/tap.h"

static const struct ceil_bench *const bench = &ceil_atomic_bench;

static void test(const char *variant, uint64_t counters, uint32_t each)
{
	const uint64_t axis[] = {3};
	struct bench_bed bed;
	struct ceil_work w;

	bed_open(&bed, bench, variant, axis, 1, &bed_small);
	is_u64(bed.l.n, counters, "counters");
	bench->work(&bed.p, &bed.l, &w);
	is_close(w.items, (double)each * (double)counters, 0.0, "every addition is an item");
	for (uint64_t i = 0; i < counters; i++)
		((uint32_t *)bed.l.buf[CEIL_ATOMIC_COUNTERS])[i] = UINT32_MAX + each;
	bed_expect_right(&bed, CEIL_ATOMIC_COUNTERS);
	bed_close(&bed);
}

int main(void)
{
	static const char *const prefixes[] = {"atomic.", NULL};
	const uint64_t many[] = {UINT64_C(1) << 32};
	struct ceil_error err;

	bed_lint(bench, prefixes);
	/* Two SMs x 8 blocks x 256 threads, 3 turns of 8 additions. */
	test("same.add", 1, 4096 * 24);
	test("spread.add", 4096, 24);
	is_int(bed_shape(bench, "same.add", many, 1, &bed_small, NULL, &err), CEIL_E_USAGE,
	       "more turns than a launch can hold");
	return done_testing();
}
