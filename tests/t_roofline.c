/* Tests of the roofline bench: tables, shape, work, and a check against steps done one by one. */
#include "bench/roofline.h"

#include <string.h>

#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "kernels/roofline.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)

static const struct ceil_bench *const bench = &ceil_roofline_bench;

static void test_shape(void)
{
	const uint64_t own[] = {4, 0};
	const uint64_t tiny[] = {4, 1000};
	const uint64_t huge[] = {4, UINT64_C(1) << 40};
	struct ceil_device_props d = bed_h200;
	struct ceil_launch l;
	struct ceil_error err;

	is_int(bed_shape(bench, "stream.bf16", own, 2, &bed_h200, &l, &err), CEIL_OK, "bf16");
	is_u64(l.n, 512 * MIB, "1 GiB of them");
	is_u64(l.blocks, 32768, "32 KiB a block");
	is_int(bed_shape(bench, "stream.fp32", tiny, 2, &bed_h200, &l, &err), CEIL_E_USAGE,
	       "less than a block");
	is_int(bed_shape(bench, "stream.fp32", huge, 2, &bed_h200, &l, &err), CEIL_E_NOMEM,
	       "more than there is");
	d.free_bytes = 512 * MIB;
	is_int(bed_shape(bench, "stream.fp32", own, 2, &d, &l, &err), CEIL_OK, "little memory");
	is_u64(l.n * 4, 240 * MIB, "four times the cache");
	d.free_bytes = 128 * MIB;
	is_int(bed_shape(bench, "stream.fp32", own, 2, &d, &l, &err), CEIL_E_NOMEM, "too little");
}

static void emulate(struct bench_bed *bed)
{
	const enum ceil_dtype t = bed->p.variant->types.a;
	const uint32_t bits = ceil_dtype_info(t)->bits;
	const uint64_t lanes = 32 / bits;
	uint32_t *out = bed->l.buf[CEIL_ROOFLINE_SUMS];

	memset(out, 0, bed->buf[CEIL_ROOFLINE_SUMS].bytes);
	for (uint64_t i = 0; i < bed->l.n; i++) {
		double x = bed_value(bed, CEIL_ROOFLINE_DATA, i);

		for (uint64_t k = 0; k < bed->l.k; k++)
			x = -x - 1.0;
		out[i / (bed->l.n / bed->l.blocks)] +=
			(uint32_t)(ceil_encode(t, x) << (i % lanes * bits));
	}
}

static void test_check_and_work(const char *variant, uint64_t fmas)
{
	const uint64_t axis[] = {fmas, MIB};
	struct bench_bed bed;
	struct ceil_work w;

	bed_open(&bed, bench, variant, axis, 2, &bed_small);
	bench->work(&bed.p, &bed.l, &w);
	is_close(w.bytes_read, (double)MIB, 0.0, "reads the array");
	is_close(w.flops, 2.0 * (double)(fmas * bed.l.n), 0.0, "two operations a multiply-add");
	emulate(&bed);
	bed_expect_right(&bed, CEIL_ROOFLINE_SUMS);
	bed_close(&bed);
}

int main(void)
{
	static const char *const prefixes[] = {"roofline.", NULL};

	bed_lint(bench, prefixes);
	test_shape();
	test_check_and_work("stream.fp32", 1);
	test_check_and_work("stream.fp32", 8);
	test_check_and_work("stream.bf16", 3);
	return done_testing();
}
