/* The roofline bench: a stream with more and more arithmetic, from memory-bound to compute-bound.
 */
#include "bench/roofline.h"

#include "bench/check.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "kernels/roofline.h"

#include <stdlib.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define BLOCK_BYTES (16ull * CEIL_ROOFLINE_VECTORS * CEIL_ROOFLINE_THREADS)

/* ---- shape and work */

static enum ceil_status roofline_shape(const struct ceil_point *p,
                                       const struct ceil_device_props *d, struct ceil_launch *ret_l,
                                       struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                       struct ceil_error *err)
{
	const enum ceil_dtype t = p->variant->types.a;
	const uint64_t least = 4 * d->llc_bytes;
	const uint64_t own = least > GIB || GIB > d->free_bytes ? least : GIB;
	const uint64_t wish = p->cas->axis[CEIL_ROOFLINE_BYTES];
	const uint64_t bytes = (wish ? wish : own) / BLOCK_BYTES * BLOCK_BYTES;

	if (p->cas->axis[CEIL_ROOFLINE_FMAS] > UINT32_MAX || bytes == 0)
		return ceil_fail(
			err, CEIL_E_USAGE,
			"%llu multiply-adds on %llu bytes: at most 2^32 - 1, at least %llu",
			(unsigned long long)p->cas->axis[CEIL_ROOFLINE_FMAS],
			(unsigned long long)wish, BLOCK_BYTES);
	if (bytes > d->free_bytes)
		return ceil_bench_no_room(d, p->variant->ceiling, bytes, /* why= */ NULL, err);
	ret_l->n = bytes * 8 / ceil_dtype_info(t)->bits;
	ret_l->k = p->cas->axis[CEIL_ROOFLINE_FMAS];
	ret_l->threads = CEIL_ROOFLINE_THREADS;
	ret_l->blocks = (uint32_t)(bytes / BLOCK_BYTES);
	ret_buf[CEIL_ROOFLINE_DATA] = ceil_bench_buffer(CEIL_INPUT, t, bytes);
	ret_buf[CEIL_ROOFLINE_CONSTANT] = ceil_bench_buffer(CEIL_INPUT, t, 4);
	ret_buf[CEIL_ROOFLINE_SUMS] =
		ceil_bench_buffer(CEIL_OUTPUT, CEIL_INT32, 4ull * ret_l->blocks);
	return CEIL_OK;
}

static void roofline_work(const struct ceil_point *p, const struct ceil_launch *l,
                          struct ceil_work *ret_w)
{
	const double bytes = (double)l->n * ceil_dtype_info(p->variant->types.a)->bits / 8.0;

	*ret_w = (struct ceil_work){
		.flops = 2.0 * (double)l->k * (double)l->n,
		.bytes_read = bytes,
		.bytes_written = 4.0 * l->blocks,
	};
}

/* ---- check */

/*
 * Word w as it comes out. Every step takes x to -1 - x and back, so only whether there is an odd
 * number of them matters. Words repeat with CEIL_PERIOD, whatever the elements of one are.
 */
static uint64_t word_out(const struct ceil_point *p, const struct ceil_launch *l, uint64_t seed,
                         uint64_t w)
{
	const enum ceil_dtype t = p->variant->types.a;
	const enum ceil_pattern pattern = p->bench->check_pattern;
	const uint32_t bits = ceil_dtype_info(t)->bits;
	const uint64_t lanes = 32 / bits;
	uint64_t word = 0;

	for (uint64_t k = 0; k < lanes; k++) {
		const double x = ceil_decode(
			t, ceil_element(t, pattern, seed, CEIL_ROOFLINE_DATA, w * lanes + k));

		word |= ceil_encode(t, l->k % 2 ? -1.0 - x : x) << (k * bits);
	}
	return word;
}

static enum ceil_status roofline_check(const struct ceil_point *p, struct ceil_device *dev,
                                       const struct ceil_launch *l,
                                       const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                       struct ceil_error *err)
{
	const uint64_t words = BLOCK_BYTES / 4; /* of a block */
	struct ceil_check_sums *s = ceil_alloc(1, sizeof(*s), err);
	uint64_t want = 0;

	if (!s)
		return CEIL_E_NOMEM;
	for (uint64_t w = 0; w < CEIL_PERIOD; w++)
		s->sum[w + 1] = s->sum[w] + word_out(p, l, seed, w);
	for (uint64_t b = 0; b < l->blocks; b++) {
		const uint64_t sum = ceil_check_sums_between(s, b * words, (b + 1) * words);

		want += ceil_hash_term((uint32_t)sum, b);
	}
	free(s);
	return ceil_check_hash(p, dev, &buf[CEIL_ROOFLINE_SUMS], l->buf[CEIL_ROOFLINE_SUMS], want,
	                       err);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"fmas", "", "multiply-adds for each element that is read"},
	{"bytes", "bytes", "that are read; 0: 1 GiB, or four times the cache"},
};

#define FMAS(n)                                                                                    \
	{                                                                                          \
		.name = #n, .backend = "cuda", .axis = { n, 0 }                                    \
	}
static const struct ceil_case cases[] = {
	FMAS(1),  FMAS(2),  FMAS(4),  FMAS(8),   FMAS(16),
	FMAS(24), FMAS(32), FMAS(64), FMAS(128), FMAS(256),
};

#define STREAM(dtype, type, least_cc, text)                                                        \
	{                                                                                          \
		.name = "stream." #dtype, .backend = "cuda", .doc = text,                          \
		.ceiling = "roofline." #dtype, .unit = CEIL_TFLOP_S,                               \
		.types = {type, type, type, type}, .resource = CEIL_R_FMA,                         \
		.timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_roofline_##dtype),                    \
		.threads = CEIL_ROOFLINE_THREADS, .per_thread = CEIL_ROOFLINE_VECTORS,             \
		.min_cc = least_cc, .pattern = CEIL_NORMAL, .gated = true, .sweep = true           \
	}

static const struct ceil_variant variants[] = {
	STREAM(fp32, CEIL_FP32, 0, "fp32 multiply-adds on what is read"),
	STREAM(bf16, CEIL_BF16, 80, "bf16 multiply-adds, two at a time, on what is read"),
};

const struct ceil_bench ceil_roofline_bench = {
	.name = "roofline",
	.summary = "rate against arithmetic intensity, from memory-bound to compute-bound",
	.doc = "An array is read once a launch, with more and more multiply-adds for each element. "
	       "Intensity is flops over bytes of the row: at first the rate rises with it along "
	       "the "
	       "roof of memory, then it meets the roof of the pipe. The roofs are ceilings of "
	       "other "
	       "benches; where they meet stands in roofline.ridge rows.",
	.source = "Williams, Waterman, Patterson, Roofline, CACM 52 (2009)",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_ROOFLINE_BUFFERS,
	.concurrent = true,
	.repeatable = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = roofline_shape,
	.work = roofline_work,
	.check = roofline_check,
};
