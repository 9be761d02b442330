/* The tensor bench: what the tensor cores issue, by instruction and type, with no library. */
#include "bench/tensor.h"

#include "bench/check.h"
#include "bench/fp64.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "kernels/tensor.h"

#include <stdlib.h>
#include <string.h>

static bool is_wgmma(const struct ceil_variant *v)
{
	return strncmp(v->name, "wgmma.", strlen("wgmma.")) == 0;
}

/* ---- shape and work */

/* Tiles of a launch: one a block of wgmma, one a warp of mma. */
static uint64_t tiles_of(const struct ceil_variant *v, const struct ceil_launch *l)
{
	return is_wgmma(v) ? l->blocks : (uint64_t)l->blocks * (l->threads / 32);
}

static enum ceil_status tensor_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                     struct ceil_launch *ret_l,
                                     struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                     struct ceil_error *err)
{
	const struct ceil_variant *v = p->variant;
	const uint64_t turns = p->cas->axis[0];

	if (turns == 0 || turns > UINT32_MAX)
		return ceil_fail(err, CEIL_E_USAGE, "%llu turns: at least 1, at most 2^32 - 1",
		                 (unsigned long long)turns);
	ret_l->m = is_wgmma(v) ? CEIL_WGMMA_M : CEIL_MMA_M;
	ret_l->n = is_wgmma(v)               ? CEIL_WGMMA_N
	           : v->types.a == CEIL_FP64 ? CEIL_MMA_N_FP64
	                                     : CEIL_MMA_N;
	ret_l->k = CEIL_TENSOR_ROW_BYTES * 8u / ceil_dtype_info(v->types.a)->bits;
	ret_l->iters = (uint32_t)turns;
	ret_l->threads = v->threads;
	ret_l->blocks = (uint32_t)d->sm_count * v->blocks_per_sm;
	ret_buf[CEIL_TENSOR_A] = ceil_bench_array(CEIL_INPUT, v->types.a, ret_l->m * ret_l->k);
	ret_buf[CEIL_TENSOR_B] = ceil_bench_array(CEIL_INPUT, v->types.b, ret_l->n * ret_l->k);
	ret_buf[CEIL_TENSOR_C] = ceil_bench_array(CEIL_OUTPUT, v->types.out,
	                                          tiles_of(v, ret_l) * ret_l->m * ret_l->n);
	return CEIL_OK;
}

static void tensor_work(const struct ceil_point *p, const struct ceil_launch *l,
                        struct ceil_work *ret_w)
{
	const struct ceil_variant *v = p->variant;
	const double each = is_wgmma(v) ? CEIL_WGMMA_PRODUCTS : CEIL_MMA_PRODUCTS;
	const double products = each * l->iters + 1.0;
	const double m = (double)l->m;
	const double n = (double)l->n;
	const double k = (double)l->k;

	*ret_w = (struct ceil_work){
		.flops = 2.0 * m * n * k * products * (double)tiles_of(v, l),
		.bytes_read = (m + n) * CEIL_TENSOR_ROW_BYTES,
		.bytes_written =
			m * n * ceil_dtype_info(v->types.out)->bits / 8.0 * (double)tiles_of(v, l),
	};
}

/* Some milliseconds each: the short one of fp64 where that is slow, a 64th of fp32. */
enum { LONG, SHORT };
static const struct ceil_case cases[] = {
	[LONG] = {"4096", "cuda", true, {4096}},
	[SHORT] = {"64", "cuda", true, {64}},
};

/*
 * Where parts have larger instructions for e4m3 (9.0, 10.x, 11.x) mma.sync has none: the compiler
 * makes products of fp16 of it, and since operands never change, each but once. That is no rate.
 */
static bool tensor_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	const int cc = d ? d->cc_major * 10 + d->cc_minor : 0;
	const bool slow = p->variant->types.a == CEIL_FP64 && ceil_has_slow_fp64(d);

	if (p->cas == &cases[slow ? LONG : SHORT])
		return false;
	return is_wgmma(p->variant) || p->variant->types.a != CEIL_E4M3 || cc < 90 || cc >= 120;
}

/* ---- check */

static void decode_rows(const struct ceil_point *p, uint64_t seed, enum ceil_tensor_buffer buffer,
                        uint64_t count, double *ret_x)
{
	const enum ceil_dtype t = p->variant->types.a;

	for (uint64_t i = 0; i < count; i++)
		ret_x[i] = ceil_decode(
			t, ceil_element(t, p->bench->check_pattern, seed, (uint32_t)buffer, i));
}

static uint64_t expected_hash(const struct ceil_point *p, const struct ceil_launch *l,
                              const double *a, const double *b)
{
	const uint64_t tiles = tiles_of(p->variant, l);
	uint64_t hash = 0;

	for (uint64_t i = 0; i < l->m * l->n; i++) {
		const double *row = a + i / l->n * l->k;
		const double *column = b + i % l->n * l->k;
		double sum = 0.0;

		for (uint64_t k = 0; k < l->k; k++)
			sum += row[k] * column[k];
		hash += ceil_check_repeated(ceil_encode(p->variant->types.out, sum), i, l->m * l->n,
		                            tiles);
	}
	return hash;
}

/* All turns add and take away the same, so every tile must be A B, to the bit. */
static enum ceil_status tensor_check(const struct ceil_point *p, struct ceil_device *dev,
                                     const struct ceil_launch *l,
                                     const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                     struct ceil_error *err)
{
	double *a = ceil_alloc(l->m * l->k, sizeof(*a), err);
	double *b = ceil_alloc(l->n * l->k, sizeof(*b), err);
	enum ceil_status st = CEIL_E_NOMEM;

	if (!a || !b)
		goto out;
	decode_rows(p, seed, CEIL_TENSOR_A, l->m * l->k, a);
	decode_rows(p, seed, CEIL_TENSOR_B, l->n * l->k, b);
	st = ceil_check_hash(p, dev, &buf[CEIL_TENSOR_C], l->buf[CEIL_TENSOR_C],
	                     expected_hash(p, l, a, b), err);
out:
	free(b);
	free(a);
	return st;
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"turns", "", "of the loop, eight products of a tile each"},
};

/* Two warpgroups fill the tensor cores of an SM; of mma.sync sixteen warps. */
#define FORM(instruction, type, ceiling_, in, sum, unit_, text)                                    \
	.name = #instruction "." #type, .doc = text, .ceiling = "tensor." ceiling_,                \
	.backend = "cuda", .unit = unit_, .types = {in, in, sum, sum}, .resource = CEIL_R_TENSOR,  \
	.timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_tensor_##instruction##_##type),               \
	.pattern = CEIL_NORMAL, .gated = true, .tolerance = 0.01, .burst_finalists = 1
#define WGMMA(type, in, sum, unit_, is_quick)                                                      \
	{                                                                                          \
		FORM(wgmma, type, #type, in, sum, unit_,                                           \
		     "wgmma m64n256, both operands in shared memory"),                             \
			.threads = CEIL_WGMMA_THREADS, .blocks_per_sm = 1, .per_thread = 1,        \
			.min_cc = 90, .max_cc = 90, .sustained_finalists = 1, .quick = is_quick    \
	}
#define MMA(type, in, sum, unit_, least_cc, is_quick, sustained)                                   \
	{                                                                                          \
		FORM(mma, type, #type, in, sum, unit_, "mma.sync, operands in registers"),         \
			.threads = 256, .blocks_per_sm = 2, .per_thread = 1, .min_cc = least_cc,   \
			.sustained_finalists = sustained, .quick = is_quick                        \
	}

static const struct ceil_variant variants[] = {
	WGMMA(bf16, CEIL_BF16, CEIL_FP32, CEIL_TFLOP_S, true),
	MMA(bf16, CEIL_BF16, CEIL_FP32, CEIL_TFLOP_S, 80, true, 1),
	WGMMA(fp16, CEIL_FP16, CEIL_FP32, CEIL_TFLOP_S, false),
	MMA(fp16, CEIL_FP16, CEIL_FP32, CEIL_TFLOP_S, 75, false, 1),
	WGMMA(fp16_acc16, CEIL_FP16, CEIL_FP16, CEIL_TFLOP_S, false),
	MMA(fp16_acc16, CEIL_FP16, CEIL_FP16, CEIL_TFLOP_S, 75, false, 1),
	WGMMA(tf32, CEIL_TF32, CEIL_FP32, CEIL_TFLOP_S, false),
	MMA(tf32, CEIL_TF32, CEIL_FP32, CEIL_TFLOP_S, 80, false, 1),
	WGMMA(e4m3, CEIL_E4M3, CEIL_FP32, CEIL_TFLOP_S, true),
	MMA(e4m3, CEIL_E4M3, CEIL_FP32, CEIL_TFLOP_S, 89, true, 1),
	WGMMA(int8, CEIL_INT8, CEIL_INT32, CEIL_TOP_S, false),
	MMA(int8, CEIL_INT8, CEIL_INT32, CEIL_TOP_S, 75, false, 1),
	MMA(fp64, CEIL_FP64, CEIL_FP64, CEIL_TFLOP_S, 80, false, 0),
};

const struct ceil_bench ceil_tensor_bench = {
	.name = "tensor",
	.summary = "what the tensor cores issue, with no library: the ceiling of every product",
	.doc = "Every warp (mma.sync) or pair of warpgroups (wgmma, compute capability 9.0) "
	       "multiplies one tile of random data again and again, adding it and taking it away "
	       "in turn; nothing but the end goes to memory. Measured from an idle start (burst) "
	       "and until the clock is steady (sustained): what any matrix product is held "
	       "against.",
	.source = "PTX ISA 9.0: wgmma.mma_async, mma.sync",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_TENSOR_BUFFERS,
	.concurrent = true,
	.repeatable = true,
	.check_pattern = CEIL_TERNARY,
	.shape = tensor_shape,
	.work = tensor_work,
	.applies = tensor_applies,
	.check = tensor_check,
};
