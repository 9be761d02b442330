/* Tests of the l2 bench: tables, shape, work, and a check against groups read one by one. */
#include "bench/l2.h"

#include <string.h>

#include "harness/base/value.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)

static const struct ceil_bench *const bench = &ceil_l2_bench;

static void test_shape(void)
{
	const uint64_t quarter[] = {0, 4};
	const uint64_t sixteen[] = {16 * MIB};
	const uint64_t uneven[] = {100000, 0, 1000000};
	const uint64_t tiny[] = {1000};
	const uint64_t huge[] = {UINT64_C(1) << 40};
	struct ceil_device_props unknown = bed_h200;
	struct ceil_launch l;
	struct ceil_error err;

	is_int(bed_shape(bench, "read.x4.t512.sm2", quarter, 2, &bed_h200, &l, &err), CEIL_OK,
	       "a quarter");
	is_u64(l.n, 264 * 32768, "of 60 MiB, cut to what all blocks read at a time");
	is_u64(l.k, 1, "a group for each");
	is_u64(l.blocks, 264, "two blocks an SM");
	is_u64(l.iters, 1986, "16 GiB by 264 blocks of 32 KiB at a time, rounded up");
	is_int(bed_shape(bench, "curve.x8.t256.sm8", sixteen, 1, &bed_h200, &l, &err), CEIL_OK,
	       "a size in bytes");
	is_u64(l.n, 16 * MIB, "is taken");
	is_int(bed_shape(bench, "curve.x8.t256.sm8", uneven, 3, &bed_small, &l, &err), CEIL_OK,
	       "an uneven size");
	is_u64(l.n, 98304, "is cut to whole groups of 32 KiB");
	is_u64(l.iters, 2, "and read until the traffic is there");
	is_int(bed_shape(bench, "read.x4.t512.sm2", tiny, 1, &bed_h200, &l, &err), CEIL_E_USAGE,
	       "less than a group");
	has_text(err.text, "32768", "and the error says what one is");
	is_int(bed_shape(bench, "read.x4.t512.sm2", huge, 1, &bed_h200, &l, &err), CEIL_E_NOMEM,
	       "more than there is");
	has_text(err.text, "84", "and the error says how much that is");
	unknown.l2_bytes = 0;
	is_int(bed_shape(bench, "read.x4.t512.sm2", quarter, 2, &unknown, &l, &err),
	       CEIL_E_UNSUPPORTED, "no share of an unknown cache");
}

static bool applies(const char *variant, uint64_t bytes, uint64_t share, bool apart)
{
	const struct ceil_case cas = {.name = "test", .axis = {bytes, share}};
	const struct ceil_point p = {.bench = bench,
	                             .variant = bed_variant(bench, variant),
	                             .cas = &cas,
	                             .apart = apart};

	return bench->applies(&p, &bed_h200);
}

/* Where two SMs want one line, the L2 reads it once for both: no figure of the L2. */
static void test_blocks_share_nothing(void)
{
	const uint64_t shares[] = {2, 3};

	for (size_t i = 0; i < bench->variant_count; i++) {
		const struct ceil_variant *v = &bench->variants[i];

		for (size_t k = 0; !v->sweep && k < 2; k++) {
			const uint64_t axis[] = {0, shares[k]};
			const uint64_t group = (uint64_t)v->threads * v->per_thread * 16;
			struct ceil_launch l;
			struct ceil_error err;

			if (!applies(v->name, 0, shares[k], false))
				continue;
			is_int(bed_shape(bench, v->name, axis, 2, &bed_h200, &l, &err), CEIL_OK,
			       v->name);
			ok(l.n > 0 && l.n <= 60 * MIB / shares[k], "fits its share of the cache");
			is_u64(l.k * l.blocks * group, l.n, "and every block has its own part");
		}
	}
}

static void test_applies(void)
{
	ok(applies("read.x2.t256.sm2", 0, 4, false), "shares of the cache are for ceilings");
	ok(!applies("read.x4.t512.sm2", 0, 8, false), "that are not less than is read at a time");
	ok(!applies("read.x4.t512.sm2", MIB, 0, false), "sizes are not");
	ok(applies("curve.x8.t256.sm8", MIB, 0, false), "sizes are for the curve");
	ok(!applies("curve.x8.t256.sm8", 0, 4, false), "shares are not");
	ok(applies("read.x4.t512.sm2", MIB, 0, true), "a user's own size is a ceiling by itself");
	ok(!applies("curve.x8.t256.sm8", MIB, 0, true), "and no curve");
}

static uint32_t sum_of_group(const struct bench_bed *bed, uint64_t group, uint64_t span)
{
	const uint32_t *words = bed->l.buf[CEIL_L2_ARRAY];
	uint32_t sum = 0;

	for (uint64_t i = group * span; i < (group + 1) * span; i++)
		sum += words[i];
	return sum;
}

static void emulate(struct bench_bed *bed)
{
	const uint64_t span = (uint64_t)bed->l.threads * bed->p.variant->per_thread * 4;
	const uint64_t groups = bed->l.n / 4 / span;
	uint32_t *out = bed->l.buf[CEIL_L2_SUMS];

	for (uint32_t b = 0; b < bed->l.blocks; b++) {
		out[b] = 0;
		for (uint64_t i = 0; i < bed->l.iters; i++) {
			const uint64_t k = bed->l.k;

			out[b] += sum_of_group(
				bed, k ? b * k + (b + i) % k : (b + i * bed->l.blocks) % groups,
				span);
		}
	}
}

static void test_check_and_work(const char *variant, uint64_t bytes, uint64_t share,
                                uint64_t traffic)
{
	const uint64_t axis[] = {bytes, share, traffic};
	struct bench_bed bed;
	struct ceil_work w;

	bed_open(&bed, bench, variant, axis, 3, &bed_small);
	bench->work(&bed.p, &bed.l, &w);
	ok(w.bytes_read >= (double)traffic, "at least the traffic that was asked for");
	is_close(w.bytes_read,
	         (double)bed.l.blocks * bed.l.iters * bed.l.threads * bed.p.variant->per_thread *
	                 16,
	         0.0, "blocks x groups");
	emulate(&bed);
	bed_expect_right(&bed, CEIL_L2_SUMS);
	bed_close(&bed);
}

int main(void)
{
	static const char *const prefixes[] = {"l2.", NULL};

	bed_lint(bench, prefixes);
	test_shape();
	test_blocks_share_nothing();
	test_applies();
	test_check_and_work("read.x4.t512.sm2", 3 * MIB, 0, 5 * MIB);
	test_check_and_work("read.x4.t512.sm1", 96 * 1024, 0, 2 * MIB);
	test_check_and_work("read.x4.t1024.sm1", MIB, 0, 4 * MIB);
	test_check_and_work("read.x4.t512.sm1", 0, 1, 5 * MIB);
	test_check_and_work("read.x2.t256.sm2", 0, 3, 3 * MIB);
	return done_testing();
}
