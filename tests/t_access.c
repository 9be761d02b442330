/* Tests of the access bench: tables, shape, work, and a check against sectors read one by one. */
#include "bench/access.h"

#include <string.h>

#include "harness/base/value.h"
#include "kernels/access.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const struct ceil_bench *const bench = &ceil_access_bench;

static void test_shape(void)
{
	const uint64_t own[] = {0, 0};
	const uint64_t four[] = {4, 0};
	const uint64_t odd[] = {0, 3 * MIB};
	const uint64_t far[] = {UINT64_C(1) << 20, MIB};
	struct ceil_device_props d = bed_h200;
	struct ceil_launch l;
	struct ceil_error err;

	is_int(bed_shape(bench, "random.sector", own, 2, &d, &l, &err), CEIL_OK, "random");
	is_u64(l.n, UINT64_C(1) << 28, "all sectors of 8 GiB");
	is_u64(l.blocks, UINT64_C(1) << 18, "1024 to a block");
	is_int(bed_shape(bench, "strided.sector", four, 2, &d, &l, &err), CEIL_OK, "strided");
	is_u64(l.n, UINT64_C(1) << 26, "a quarter of them");
	is_int(bed_shape(bench, "random.sector", odd, 2, &d, &l, &err), CEIL_E_USAGE,
	       "a size that is no power of two");
	is_int(bed_shape(bench, "strided.sector", far, 2, &d, &l, &err), CEIL_E_USAGE,
	       "a stride that leaves nothing");
	is_int(bed_shape(bench, "strided.sector", own, 2, &d, &l, &err), CEIL_E_USAGE,
	       "a stride of 0");
	d.free_bytes = GIB + 1;
	is_int(bed_shape(bench, "random.sector", own, 2, &d, &l, &err), CEIL_OK, "less memory");
	is_u64(l.n * 32, GIB, "a smaller array");
	d.free_bytes = 128 * MIB;
	is_int(bed_shape(bench, "random.sector", own, 2, &d, &l, &err), CEIL_E_NOMEM,
	       "less than four times the cache is no memory row");
	has_text(err.text, "240 MiB", "and the error says how much that is");
}

/* In any order: only the sum over all blocks counts. */
static void emulate(struct bench_bed *bed)
{
	const uint32_t *words = bed->l.buf[CEIL_ACCESS_ARRAY];
	uint32_t *out = bed->l.buf[CEIL_ACCESS_SUMS];

	memset(out, 0, bed->buf[CEIL_ACCESS_SUMS].bytes);
	for (uint64_t i = 0; i < bed->l.n; i++) {
		for (uint64_t w = 0; w < 8; w++)
			out[i % bed->l.blocks] += words[i * bed->l.k * 8 + w];
	}
}

static void test_check_and_work(const char *variant, uint64_t stride)
{
	const uint64_t axis[] = {stride, 8 * MIB};
	struct bench_bed bed;
	struct ceil_work w;

	bed_open(&bed, bench, variant, axis, 2, &bed_small);
	bench->work(&bed.p, &bed.l, &w);
	is_close(w.bytes_read, 32.0 * (double)bed.l.n, 0.0, "a sector is 32 bytes");
	emulate(&bed);
	bed_expect_right(&bed, CEIL_ACCESS_SUMS);
	bed_close(&bed);
}

int main(void)
{
	static const char *const prefixes[] = {"dram.", NULL};

	bed_lint(bench, prefixes);
	test_shape();
	test_check_and_work("random.sector", 0);
	test_check_and_work("strided.sector", 1);
	test_check_and_work("strided.sector", 3);
	return done_testing();
}
