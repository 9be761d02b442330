/* Tests of the smem bench: tables, shape, work, and a check against words added one by one. */
#include "bench/smem.h"

#include "kernels/smem.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

static const struct ceil_bench *const bench = &ceil_smem_bench;

static void test_shape(void)
{
	const uint64_t turns[] = {100};
	const uint64_t none[] = {0};
	struct ceil_launch l;
	struct ceil_error err;

	is_int(bed_shape(bench, "shared.t256.sm4", turns, 1, &bed_h200, &l, &err), CEIL_OK,
	       "shared memory");
	is_u64(l.smem_bytes, 32768, "holds a tile of 256 x 8 x 16 bytes");
	is_int(bed_shape(bench, "l1.t256.sm4", turns, 1, &bed_h200, &l, &err), CEIL_OK, "the L1");
	is_u64(l.smem_bytes, 0, "needs none");
	is_int(bed_shape(bench, "l1.t256.sm4", none, 1, &bed_h200, &l, &err), CEIL_E_USAGE,
	       "no turn at all");
}

static void emulate(struct bench_bed *bed)
{
	const uint32_t *words = bed->l.buf[CEIL_SMEM_TILE];
	uint32_t *out = bed->l.buf[CEIL_SMEM_SUMS];
	const uint64_t threads = bed->l.threads;

	for (uint64_t t = 0; t < threads; t++) {
		uint32_t sum = 0;

		for (uint64_t k = 0; k < CEIL_SMEM_VECTORS; k++) {
			for (uint64_t w = 0; w < 4; w++)
				sum += words[(t + k * threads) * 4 + w];
		}
		for (uint64_t b = 0; b < bed->l.blocks; b++)
			out[b * threads + t] = sum * bed->l.iters;
	}
}

static void test_check_and_work(const char *variant)
{
	const uint64_t axis[] = {5};
	struct bench_bed bed;
	struct ceil_work w;

	bed_open(&bed, bench, variant, axis, 1, &bed_small);
	bench->work(&bed.p, &bed.l, &w);
	is_close(w.bytes_read, 5.0 * 128.0 * bed.l.threads * bed.l.blocks, 0.0,
	         "128 bytes a thread and turn");
	emulate(&bed);
	bed_expect_right(&bed, CEIL_SMEM_SUMS);
	bed_close(&bed);
}

int main(void)
{
	static const char *const prefixes[] = {"smem.", "l1.", NULL};

	bed_lint(bench, prefixes);
	test_shape();
	test_check_and_work("shared.t256.sm4");
	test_check_and_work("l1.t512.sm2");
	return done_testing();
}
