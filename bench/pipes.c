/* The pipes bench: multiply-adds, integers and special functions that an SM issues, no memory. */
#include "bench/pipes.h"

#include "bench/check.h"
#include "bench/fp64.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "kernels/pipes.h"

#include <math.h>
#include <string.h>

/* ---- operations */

/* A check's data are whole numbers, of which each chain has a closed form. */

/* Back and forth: an even number of steps leaves x, one more makes -1 - x of it. */
static void chain_fma(const struct ceil_pipes_data *d, double *x)
{
	(void)d;
	x[0] = -1.0 - x[0];
	x[1] = -1.0 - x[1];
}

/* What so many steps make of a pair: y' = yy y + yz z, z' = zy y + zz z, modulo 2^64. */
struct matrix {
	uint64_t yy, yz, zy, zz;
};

static struct matrix times(const struct matrix *a, const struct matrix *b)
{
	return (struct matrix){
		.yy = a->yy * b->yy + a->yz * b->zy,
		.yz = a->yy * b->yz + a->yz * b->zz,
		.zy = a->zy * b->yy + a->zz * b->zy,
		.zz = a->zy * b->yz + a->zz * b->zz,
	};
}

/* Steps of y += a z, z += a y. */
static void chain_of_pair(uint64_t a, uint64_t steps, double *x)
{
	const uint64_t y = (uint64_t)(int64_t)x[0];
	const uint64_t z = (uint64_t)(int64_t)x[1];
	struct matrix m = {1, a, a, 1 + a * a};
	struct matrix all = {1, 0, 0, 1};

	for (; steps > 0; steps /= 2) {
		if (steps % 2)
			all = times(&m, &all);
		m = times(&m, &m);
	}
	x[0] = (double)(int32_t)(uint32_t)(all.yy * y + all.yz * z);
	x[1] = (double)(int32_t)(uint32_t)(all.zy * y + all.zz * z);
}

static void chain_mad(const struct ceil_pipes_data *d, double *x)
{
	chain_of_pair(2 * (uint64_t)(int64_t)d->a + 1, d->steps, x);
}

static void chain_add(const struct ceil_pipes_data *d, double *x)
{
	chain_of_pair(1, d->steps, x);
}

static void chain_ex2(const struct ceil_pipes_data *d, double *x)
{
	(void)d; /* there and back, and there once more */
	x[0] = exp2(fabs(x[0]));
	x[1] = exp2(fabs(x[1]));
}

static const struct ceil_pipes_operation operations[] = {
	/* name, operations an instruction, steps of a launch for eight values (whole turns of every
         * kernel; fp64 does a 32nd where it is slow), steps after them, chain */
	{"fma", 2.0, 171 * 768, 1, chain_fma},
	{"mad", 2.0, 65536, 0, chain_mad},
	{"add", 1.0, 65536, 0, chain_add},
	{"ex2", 1.0, 8192, 1, chain_ex2},
};

const struct ceil_pipes_operation *ceil_pipes_operation_of(const struct ceil_variant *v)
{
	const size_t length = strcspn(v->name, ".");

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const char *name = operations[i].name;

		if (strlen(name) == length && strncmp(v->name, name, length) == 0)
			return &operations[i];
	}
	return NULL;
}

/* Two elements of 16 bits fill a register. */
static uint64_t lanes_of(const struct ceil_variant *v)
{
	return ceil_dtype_info(v->types.a)->bits == 16 ? 2 : 1;
}

uint64_t ceil_pipes_values_of(const struct ceil_variant *v)
{
	return lanes_of(v) == 2 ? CEIL_PIPES_VALUES_16_BITS : CEIL_PIPES_VALUES;
}

/* ---- shape and work */

static enum ceil_status pipes_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                    struct ceil_launch *ret_l,
                                    struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                    struct ceil_error *err)
{
	const struct ceil_variant *v = p->variant;
	const uint64_t values = ceil_pipes_values_of(v);
	const uint64_t part = v->types.a == CEIL_FP64 && ceil_has_slow_fp64(d) ? 32 : 1;
	const uint64_t own = ceil_pipes_operation_of(v)->steps * CEIL_PIPES_VALUES / values;
	const uint64_t steps =
		p->cas->axis[0] ? p->cas->axis[0] : own / part / v->per_thread * v->per_thread;
	const uint64_t elements = v->threads * lanes_of(v);

	if (steps % v->per_thread != 0 || steps / v->per_thread > UINT32_MAX)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s does its steps %u at a time: %llu is no multiple of it",
		                 v->name, v->per_thread, (unsigned long long)steps);
	ret_l->n = steps;
	ret_l->iters = (uint32_t)(steps / v->per_thread);
	ret_l->threads = v->threads;
	ret_l->blocks = (uint32_t)d->sm_count * v->blocks_per_sm;
	ret_buf[CEIL_PIPES_CONSTANTS] = ceil_bench_array(CEIL_INPUT, v->types.a, elements);
	ret_buf[CEIL_PIPES_IN] = ceil_bench_array(CEIL_INPUT, v->types.a, values * elements);
	ret_buf[CEIL_PIPES_OUT] =
		ceil_bench_array(CEIL_OUTPUT, v->types.out, values * elements * ret_l->blocks);
	return CEIL_OK;
}

void ceil_pipes_work(const struct ceil_point *p, const struct ceil_launch *l,
                     struct ceil_work *ret_w)
{
	const struct ceil_variant *v = p->variant;
	const struct ceil_pipes_operation *op = ceil_pipes_operation_of(v);
	const double values = (double)(ceil_pipes_values_of(v) * lanes_of(v)) * l->threads;
	const double bytes = values * ceil_dtype_info(v->types.a)->bits / 8.0;

	*ret_w = (struct ceil_work){
		.flops =
			op->per_instruction * (double)(l->n + op->extra_steps) * values * l->blocks,
		.bytes_read = bytes,
		.bytes_written = bytes * l->blocks,
	};
}

/* ---- check */

static double input(const struct ceil_point *p, uint64_t seed, uint32_t buffer, uint64_t i)
{
	const enum ceil_dtype t = p->variant->types.a;

	return ceil_decode(t, ceil_element(t, p->bench->check_pattern, seed, buffer, i));
}

/* The hash of what pair's values of element i (a lane of a thread) become in all blocks. */
static uint64_t hash_of_pair(const struct ceil_point *p, const struct ceil_launch *l, uint64_t seed,
                             uint64_t pair, uint64_t i)
{
	const uint64_t elements = l->threads * lanes_of(p->variant);
	const struct ceil_pipes_data d = {
		.a = input(p, seed, CEIL_PIPES_CONSTANTS, i),
		.steps = l->n,
	};
	uint64_t hash = 0;
	double x[2];

	for (uint64_t k = 0; k < 2; k++)
		x[k] = input(p, seed, CEIL_PIPES_IN, (2 * pair + k) * elements + i);
	ceil_pipes_operation_of(p->variant)->chain(&d, x);
	for (uint64_t k = 0; k < 2; k++)
		hash += ceil_check_repeated(ceil_encode(p->variant->types.out, x[k]),
		                            (2 * pair + k) * elements + i,
		                            ceil_pipes_values_of(p->variant) * elements, l->blocks);
	return hash;
}

enum ceil_status ceil_pipes_check(const struct ceil_point *p, struct ceil_device *dev,
                                  const struct ceil_launch *l,
                                  const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                  struct ceil_error *err)
{
	const uint64_t elements = l->threads * lanes_of(p->variant);
	uint64_t want = 0;

	for (uint64_t pair = 0; pair < ceil_pipes_values_of(p->variant) / 2; pair++) {
		for (uint64_t i = 0; i < elements; i++)
			want += hash_of_pair(p, l, seed, pair, i);
	}
	return ceil_check_hash(p, dev, &buf[CEIL_PIPES_OUT], l->buf[CEIL_PIPES_OUT], want, err);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"steps", "", "one instruction to each value of a thread; 0: milliseconds of them"},
};

static const struct ceil_case cases[] = {
	{"default", "cuda", true, {0}},
};

#define ALL(t)                                                                                     \
	{                                                                                          \
		t, t, t, t                                                                         \
	}
/* So many steps a turn of the loop, threads a block, blocks a SM. */
#define FORM(op, dtype, steps, thread_count, per_sm)                                               \
	.name = #op "." #dtype ".s" #steps ".t" #thread_count ".sm" #per_sm,                       \
	CEIL_IF_CUDA(ceil_pipes_##op##_##dtype##_##steps), .threads = thread_count,                \
	.per_thread = steps, .blocks_per_sm = per_sm, .backend = "cuda",                           \
	.timing = CEIL_TIME_MARKS, .pattern = CEIL_NORMAL, .gated = true, .tolerance = 0.01

#define FMA(dtype, types_, ceiling_, least_cc, is_quick, steps, thread_count, per_sm, text)        \
	{                                                                                          \
		FORM(fma, dtype, steps, thread_count, per_sm),                                     \
			.doc = text, .ceiling = ceiling_, .unit = CEIL_TFLOP_S,                    \
			.types = ALL(types_), .resource = CEIL_R_FMA, .min_cc = least_cc,          \
			.quick = is_quick                                                          \
	}
#define INTEGER(op, ceiling_, text)                                                                \
	{                                                                                          \
		FORM(op, int32, 128, 256, 4), .doc = text, .ceiling = ceiling_,                    \
					      .unit = CEIL_TOP_S, .types = ALL(CEIL_INT32),        \
					      .resource = CEIL_R_FMA                               \
	}

#define F32 "fp32 multiply-adds"
#define F64 "fp64 multiply-adds"
#define F16 "fp16 multiply-adds, two at a time"
#define B16 "bf16 multiply-adds, two at a time"

static const struct ceil_variant variants[] = {
	FMA(fp32, CEIL_FP32, "fma.fp32", 0, true, 192, 256, 4, F32),
	FMA(fp32, CEIL_FP32, "fma.fp32", 0, false, 128, 256, 4, F32),
	FMA(fp32, CEIL_FP32, "fma.fp32", 0, false, 64, 256, 4, F32),
	FMA(fp64, CEIL_FP64, "fma.fp64", 0, true, 128, 256, 4, F64),
	FMA(fp64, CEIL_FP64, "fma.fp64", 0, false, 64, 256, 4, F64),
	FMA(fp16, CEIL_FP16, "fma.fp16x2", 0, true, 96, 256, 4, F16),
	FMA(fp16, CEIL_FP16, "fma.fp16x2", 0, false, 64, 256, 4, F16),
	FMA(bf16, CEIL_BF16, "fma.bf16x2", 80, false, 96, 256, 4, B16),
	FMA(bf16, CEIL_BF16, "fma.bf16x2", 80, false, 64, 256, 4, B16),
	INTEGER(mad, "int.mad", "32-bit multiply-adds: two operations each"),
	INTEGER(add, "int.add", "32-bit additions: one operation each"),
	{FORM(ex2, fp32, 64, 256, 4), .doc = "2^x and its inverse, in turn", .ceiling = "sfu.ex2",
         .unit = CEIL_TOP_S, .types = ALL(CEIL_FP32), .resource = CEIL_R_SFU},
};

const struct ceil_bench ceil_pipes_bench = {
	.name = "pipes",
	.summary = "what the vector pipes issue: multiply-adds, integers, special functions",
	.doc = "Every thread keeps eight values in registers (sixteen of 16-bit pairs) and does "
	       "one instruction to them again and again, in an unrolled loop; nothing goes to "
	       "memory but the end. The value counts two operations for a multiply-add, one for "
	       "an addition or a special function.",
	.source = "SASS of the kernels: one FFMA, DFMA, HFMA2, IMAD, IADD3 or MUFU for each",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_PIPES_BUFFERS,
	.concurrent = true,
	.repeatable = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = pipes_shape,
	.work = ceil_pipes_work,
	.check = ceil_pipes_check,
};
