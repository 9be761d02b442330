/* The check of the dram bench: closed forms over periodic data, compared with all of C. */
#include "bench/dram.h"

#include <stdlib.h>
#include <string.h>

#include "bench/check.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "harness/device/host.h"

static uint64_t input_bits(const struct ceil_point *p, uint64_t seed, uint32_t buffer, uint64_t i)
{
	return ceil_element(p->variant->types.a, p->bench->check_pattern, seed, buffer, i);
}

/* ---- arrays, by their hash */

/*
 * Element r of the period stands at i = r, r + P, ..., cnt times: its terms bits (2 i + 1) sum to
 * bits (cnt (2 r + 1) + 2 P (0 + 1 + ... + cnt - 1)).
 */
static uint64_t hash_of_period(uint64_t bits, uint64_t r, uint64_t n)
{
	const uint64_t count = r < n ? (n - r - 1) / CEIL_PERIOD + 1 : 0;

	return bits * (count * (2 * r + 1) + CEIL_PERIOD * count * (count - 1));
}

static uint64_t expected_hash(const struct ceil_point *p, const struct ceil_dram_operation *op,
                              uint64_t n, uint64_t seed)
{
	const enum ceil_dtype t = p->variant->types.a;
	uint64_t hash = 0;

	for (uint64_t r = 0; r < CEIL_PERIOD; r++) {
		const double a = ceil_decode(t, input_bits(p, seed, CEIL_DRAM_A, r));
		const double b = ceil_decode(t, input_bits(p, seed, CEIL_DRAM_B, r));

		hash += hash_of_period(ceil_encode(t, op->element(a, b)), r, n);
	}
	return hash;
}

static enum ceil_status check_array(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l,
                                    const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                    struct ceil_error *err)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(p->variant);

	return ceil_check_hash(p, dev, &buf[CEIL_DRAM_C], l->buf[CEIL_DRAM_C],
	                       expected_hash(p, op, l->n, seed), err);
}

/* ---- sums of blocks */

static void sums_init(struct ceil_check_sums *s, const struct ceil_point *p,
                      const struct ceil_dram_operation *op, uint64_t seed)
{
	s->sum[0] = 0;
	for (uint64_t r = 0; r < CEIL_PERIOD; r++)
		s->sum[r + 1] = s->sum[r] + op->share(p->variant->types.a,
		                                      input_bits(p, seed, CEIL_DRAM_A, r),
		                                      input_bits(p, seed, CEIL_DRAM_B, r));
}

/* On the GPU block b takes groups b, b + blocks, ...; on the host one even share. */
static uint64_t expected_sum(const struct ceil_check_sums *s, const struct ceil_point *p,
                             const struct ceil_launch *l, uint32_t block)
{
	const uint32_t element_bits = ceil_dtype_info(p->variant->types.a)->bits;
	const uint64_t span = (uint64_t)l->threads * p->variant->per_thread * 128 / element_bits;
	uint64_t sum = 0;
	uint64_t from;
	uint64_t to;

	if (span == 0) {
		ceil_pool_share(l->n, 1, block, l->blocks, &from, &to);
		return ceil_check_sums_between(s, from, to);
	}
	for (from = block * span; from < l->n; from += l->blocks * span) {
		to = from + span < l->n ? from + span : l->n;
		sum += ceil_check_sums_between(s, from, to);
	}
	return sum;
}

/* Sums of shares are whole numbers that the element type holds, up to one rounding at the end. */
static enum ceil_status compare_block(const struct ceil_point *p, const void *got, uint32_t block,
                                      uint32_t blocks, uint64_t want, struct ceil_error *err)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(p->variant);
	const enum ceil_dtype t = p->variant->types.a;
	const size_t bytes = op->word_sum ? 4 : ceil_dtype_info(t)->bits / 8;
	uint64_t bits = 0;
	double is;
	double should_be;

	memcpy(&bits, (const char *)got + block * bytes, bytes);
	is = op->word_sum ? (double)bits : ceil_decode(t, bits);
	should_be = op->word_sum ? (double)(uint32_t)want
	                         : ceil_decode(t, ceil_encode(t, (double)(int64_t)want));
	if (is == should_be)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_WRONG,
	                 "%s: the sum of block %u of %u is %.17g, expected %.17g", p->variant->name,
	                 block, blocks, is, should_be);
}

static enum ceil_status check_sums(const struct ceil_point *p, struct ceil_device *dev,
                                   const struct ceil_launch *l,
                                   const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                   struct ceil_error *err)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(p->variant);
	struct ceil_check_sums *s = ceil_alloc(1, sizeof(*s), err);
	char *got = ceil_alloc(1, buf[CEIL_DRAM_C].bytes, err);
	enum ceil_status st = CEIL_E_NOMEM;

	if (!s || !got)
		goto out;
	sums_init(s, p, op, seed);
	st = dev->backend->read(dev, got, l->buf[CEIL_DRAM_C], buf[CEIL_DRAM_C].bytes, err);
	for (uint32_t b = 0; st == CEIL_OK && b < l->blocks; b++)
		st = compare_block(p, got, b, l->blocks, expected_sum(s, p, l, b), err);
out:
	free(got);
	free(s);
	return st;
}

enum ceil_status ceil_dram_check(const struct ceil_point *p, struct ceil_device *dev,
                                 const struct ceil_launch *l,
                                 const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                 struct ceil_error *err)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(p->variant);

	return op->element ? check_array(p, dev, l, buf, seed, err)
	                   : check_sums(p, dev, l, buf, seed, err);
}
