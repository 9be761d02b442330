/* The gemm bench: the best rate of C = A B by type, over shapes and a library's algorithms. */
#include "bench/gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gemm_host.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#ifdef CEIL_HAVE_CUDA
#include "harness/device/cublaslt.h"
#endif

/* Algorithms that split k need some: NVIDIA advises 32 MiB on Hopper; twice that is offered. */
#define WORKSPACE_BYTES (UINT64_C(64) << 20)

/* ---- engines: who multiplies */

struct engine {
	const char *backend;
	enum ceil_dtype dtype; /* of a; CEIL_NODTYPE: any */
	enum ceil_status (*prepare)(const struct ceil_point *p, struct ceil_device *dev,
	                            struct ceil_launch *l, uint32_t *ret_candidates,
	                            struct ceil_error *err);
	ceil_launch_fn launch;
	void (*release)(struct ceil_launch *l);
	void (*describe)(const struct ceil_launch *l, char *ret_text, size_t size);
};

#ifdef CEIL_HAVE_CUDA
static bool is_fast(const struct ceil_variant *v)
{
	const char *end = strrchr(v->ceiling, '_');

	return end && strcmp(end, "_fast") == 0;
}

static enum ceil_status lt_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                   struct ceil_launch *l, uint32_t *ret_candidates,
                                   struct ceil_error *err)
{
	const uint64_t layout = p->cas->axis[CEIL_GEMM_LAYOUT];
	const struct ceil_lt_desc d = {
		.types = p->variant->types,
		.trans_a = layout == CEIL_GEMM_TN || layout == CEIL_GEMM_TT,
		.trans_b = layout == CEIL_GEMM_NT || layout == CEIL_GEMM_TT,
		.fast_accum = is_fast(p->variant),
		.m = l->m,
		.n = l->n,
		.k = l->k,
		.workspace_bytes = WORKSPACE_BYTES,
	};
	struct ceil_lt_plan *plan = NULL;
	const enum ceil_status st = ceil_lt_plan_open(&d, &plan, ret_candidates, err);

	(void)dev; /* its thread has made it current */
	l->state = plan;
	return st;
}

static void lt_release(struct ceil_launch *l)
{
	ceil_lt_plan_close(l->state);
	l->state = NULL;
}

static void lt_describe(const struct ceil_launch *l, char *ret_text, size_t size)
{
	ceil_lt_plan_describe(l->state, l->candidate, ret_text, size);
}
#endif

static const struct engine engines[] = {
#ifdef CEIL_HAVE_CUDA
	{"cuda", CEIL_NODTYPE, lt_prepare, ceil_lt_launch, lt_release, lt_describe},
#endif
	{"host", CEIL_FP32, ceil_gemm_host_prepare, ceil_gemm_host_launch_fp32,
         ceil_gemm_host_release, ceil_gemm_host_describe},
	{"host", CEIL_FP64, ceil_gemm_host_prepare, ceil_gemm_host_launch_fp64,
         ceil_gemm_host_release, ceil_gemm_host_describe},
};

static const struct engine *find_engine(const struct ceil_variant *v)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strcmp(engines[i].backend, v->backend) == 0 &&
		    (engines[i].dtype == CEIL_NODTYPE || engines[i].dtype == v->types.a))
			return &engines[i];
	}
	return NULL;
}

/* What l->state is between prepare and release: the engine, and its own state. */
struct gemm_state {
	const struct engine *engine;
	void *inner;
};

/* The launch as the engine sees it. */
static struct ceil_launch inner_launch(const struct ceil_launch *l)
{
	const struct gemm_state *s = l->state;
	struct ceil_launch inner = *l;

	inner.state = s->inner;
	return inner;
}

static enum ceil_status gemm_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct gemm_state *s = l->state;
	const struct ceil_launch inner = inner_launch(l);

	return s->engine->launch(&inner, err);
}

static enum ceil_status gemm_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                     struct ceil_launch *l, uint32_t *ret_candidates,
                                     struct ceil_error *err)
{
	const struct engine *engine = find_engine(p->variant);
	struct ceil_launch inner = *l;
	struct gemm_state *s;
	enum ceil_status st;

	if (!engine)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "nothing here multiplies %s on backend %s",
		                 ceil_dtype_info(p->variant->types.a)->name, p->variant->backend);
	s = ceil_alloc(1, sizeof(*s), err);
	if (!s)
		return CEIL_E_NOMEM;
	inner.state = NULL;
	st = engine->prepare(p, dev, &inner, ret_candidates, err);
	*s = (struct gemm_state){engine, inner.state};
	*l = inner;
	l->state = s;
	return st;
}

static void gemm_release(struct ceil_launch *l)
{
	struct gemm_state *s = l->state;

	if (!s)
		return;
	if (s->inner) {
		struct ceil_launch inner = inner_launch(l);

		s->engine->release(&inner);
	}
	free(s);
	l->state = NULL;
}

static void gemm_describe(const struct ceil_launch *l, char *ret_text, size_t size)
{
	const struct gemm_state *s = l->state;
	const struct ceil_launch inner = inner_launch(l);

	s->engine->describe(&inner, ret_text, size);
}

/* ---- shape */

const char *ceil_gemm_layout_name(enum ceil_gemm_layout layout)
{
	static const char *const names[CEIL_GEMM_LAYOUT_COUNT] = {"TN", "NN", "NT", "TT"};

	return names[layout];
}

/* What an operand type asks of a shape. Source: cuBLAS documentation, cublasLtMatmul, regular
 * memory order: 8-bit types want A transposed and B not; columns of A and B of whole 16 (floats) or
 * 4 bytes, columns of C of whole 16 bytes. What 13.1 takes on an H200 agrees: any n, m of 8 for
 * floats of 8 bits, and int8 in other layouts too, at a small part of the rate. */
struct operand_rule {
	enum ceil_dtype a;
	uint64_t multiple[3]; /* of m, n, k */
	bool tn_only;
};

static const struct operand_rule rules[] = {
	{CEIL_E4M3, {8, 1, 16}, true},
	{CEIL_E5M2, {8, 1, 16}, true},
	{CEIL_INT8, {4, 1, 4}, true},
};

static const struct operand_rule *find_rule(enum ceil_dtype a)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].a == a)
			return &rules[i];
	}
	return NULL;
}

static const char axis_names[3][2] = {"m", "n", "k"};

static bool is_host(const struct ceil_point *p)
{
	return strcmp(p->variant->backend, "host") == 0;
}

static enum ceil_status check_axes(const uint64_t *axis, struct ceil_error *err)
{
	const uint64_t limit = UINT64_C(1) << 62; /* mnk: 2mnk fits 2^63 */

	for (int i = 0; i < 3; i++) {
		if (axis[i] == 0)
			return ceil_fail(err, CEIL_E_USAGE, "%s is 0: m, n and k start at 1",
			                 axis_names[i]);
	}
	if (axis[0] > limit / axis[1] || axis[0] * axis[1] > limit / axis[2])
		return ceil_fail(err, CEIL_E_USAGE,
		                 "2 x %llu x %llu x %llu operations are more than 2^63",
		                 (unsigned long long)axis[0], (unsigned long long)axis[1],
		                 (unsigned long long)axis[2]);
	if (axis[CEIL_GEMM_LAYOUT] >= CEIL_GEMM_LAYOUT_COUNT)
		return ceil_fail(err, CEIL_E_USAGE, "layout %llu is none: 0 TN, 1 NN, 2 NT, 3 TT",
		                 (unsigned long long)axis[CEIL_GEMM_LAYOUT]);
	return CEIL_OK;
}

static enum ceil_status check_rules(const struct ceil_point *p, struct ceil_error *err)
{
	const uint64_t *axis = p->cas->axis;
	const char *type = ceil_dtype_info(p->variant->types.a)->name;
	const struct operand_rule *rule = find_rule(p->variant->types.a);
	const bool tn = axis[CEIL_GEMM_LAYOUT] == CEIL_GEMM_TN;

	if (axis[CEIL_GEMM_K] > CEIL_GEMM_MAX_K)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "k is at most %u, or the check is not exact: %llu is above",
		                 CEIL_GEMM_MAX_K, (unsigned long long)axis[CEIL_GEMM_K]);
	if (!tn && (is_host(p) || (rule && rule->tn_only)))
		return ceil_fail(
			err, CEIL_E_UNSUPPORTED, "%s%s is TN only: %s is not",
			is_host(p) ? "host " : "", type,
			ceil_gemm_layout_name((enum ceil_gemm_layout)axis[CEIL_GEMM_LAYOUT]));
	for (int i = 0; rule && i < 3; i++) {
		if (axis[i] % rule->multiple[i])
			return ceil_fail(err, CEIL_E_UNSUPPORTED,
			                 "%s must be a multiple of %llu for %s: %llu is not",
			                 axis_names[i], (unsigned long long)rule->multiple[i], type,
			                 (unsigned long long)axis[i]);
	}
	return CEIL_OK;
}

/* In double first: the bytes of a shape that nobody can hold may pass 2^64. */
static enum ceil_status check_memory(const struct ceil_point *p, const struct ceil_device_props *d,
                                     struct ceil_error *err)
{
	const struct ceil_types *t = &p->variant->types;
	const double m = (double)p->cas->axis[CEIL_GEMM_M];
	const double n = (double)p->cas->axis[CEIL_GEMM_N];
	const double k = (double)p->cas->axis[CEIL_GEMM_K];
	const double bits = m * k * ceil_dtype_info(t->a)->bits +
	                    k * n * ceil_dtype_info(t->b)->bits +
	                    m * n * ceil_dtype_info(t->out)->bits;
	const double need = bits / 8.0 + (is_host(p) ? 0.0 : (double)WORKSPACE_BYTES);
	const double there = d->free_bytes ? (double)d->free_bytes : 0x1p60; /* 0: unknown */

	if (need > there)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%s %s needs %.2f GiB of memory, %.2f GiB may be used",
		                 ceil_dtype_info(t->a)->name, p->cas->name, need / 0x1p30,
		                 there / 0x1p30);
	return CEIL_OK;
}

static struct ceil_buffer buffer_of(const struct ceil_point *p, const struct ceil_device_props *d,
                                    enum ceil_role role, enum ceil_dtype t, uint64_t bytes)
{
	return (struct ceil_buffer){
		.memory = is_host(p) ? CEIL_MEM_PAGEABLE : CEIL_MEM_DEVICE,
		.role = role,
		.dtype = t,
		.numa_node = is_host(p) ? d->numa_node : -1,
		.bytes = bytes,
	};
}

static enum ceil_status gemm_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                   struct ceil_launch *ret_l,
                                   struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                   struct ceil_error *err)
{
	const struct ceil_types *t = &p->variant->types;
	const uint64_t *axis = p->cas->axis;
	const uint64_t m = axis[CEIL_GEMM_M];
	const uint64_t n = axis[CEIL_GEMM_N];
	const uint64_t k = axis[CEIL_GEMM_K];
	enum ceil_status st;

	st = check_axes(axis, err);
	if (st == CEIL_OK)
		st = check_rules(p, err);
	if (st == CEIL_OK)
		st = check_memory(p, d, err);
	if (st != CEIL_OK)
		return st;
	ret_l->m = m;
	ret_l->n = n;
	ret_l->k = k;
	ret_buf[CEIL_GEMM_A] = buffer_of(p, d, CEIL_INPUT, t->a, ceil_dtype_bytes(t->a, m * k));
	ret_buf[CEIL_GEMM_B] = buffer_of(p, d, CEIL_INPUT, t->b, ceil_dtype_bytes(t->b, k * n));
	ret_buf[CEIL_GEMM_C] =
		buffer_of(p, d, CEIL_OUTPUT, t->out, ceil_dtype_bytes(t->out, m * n));
	ret_buf[CEIL_GEMM_WORKSPACE] =
		buffer_of(p, d, CEIL_WORKSPACE, CEIL_INT8, is_host(p) ? 0 : WORKSPACE_BYTES);
	return CEIL_OK;
}

/* ---- work */

static void gemm_work(const struct ceil_point *p, const struct ceil_launch *l,
                      struct ceil_work *ret_w)
{
	const struct ceil_types *t = &p->variant->types;
	const double m = (double)l->m;
	const double n = (double)l->n;
	const double k = (double)l->k;

	*ret_w = (struct ceil_work){
		.flops = 2.0 * m * n * k,
		.bytes_read = (m * k * ceil_dtype_info(t->a)->bits +
	                       k * n * ceil_dtype_info(t->b)->bits) /
	                      8.0,
		.bytes_written = m * n * ceil_dtype_info(t->out)->bits / 8.0,
	};
}

/* Parts that compute fp64 at an 8th of fp32 or less: all but the big chip of each generation.
 * Source: CUDA C++ Programming Guide 13.0, arithmetic throughput by compute capability. */
static bool has_slow_fp64(const struct ceil_device_props *d)
{
	static const int fast[] = {60, 70, 80, 90, 100};
	const int cc = d->cc_major * 10 + d->cc_minor;

	for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++) {
		if (cc == fast[i])
			return false;
	}
	return cc != 0;
}

/*
 * Burst allows 30 ms of work. fp32 and fp64 reach 50 to 67 TFLOP/s on the fastest parts, so
 * products above 1.2e12 operations are left to the types that are faster; where fp64 is slow,
 * 1 TFLOP/s and a bit, so are those above 3e10. 8-bit types have one layout.
 */
static bool gemm_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	const uint64_t *axis = p->cas->axis;
	const enum ceil_dtype a = p->variant->types.a;
	const struct operand_rule *rule = find_rule(a);
	const double flops = 2.0 * (double)axis[CEIL_GEMM_M] * (double)axis[CEIL_GEMM_N] *
	                     (double)axis[CEIL_GEMM_K];

	if (is_host(p))
		return true;
	if ((a == CEIL_FP32 || a == CEIL_FP64) && flops > 1.2e12)
		return false;
	if (a == CEIL_FP64 && flops > 3e10 && d && has_slow_fp64(d))
		return false;
	return axis[CEIL_GEMM_LAYOUT] == CEIL_GEMM_TN || !rule || !rule->tn_only;
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"m", "", "rows of A and C"},
	{"n", "", "columns of B and C"},
	{"k", "", "columns of A and rows of B: the length of each dot product"},
	{"layout", "", "how A and B are stored, column-major: 0 TN, 1 NN, 2 NT, 3 TT"},
};

static const struct ceil_case cases[] = {
	{"8192x8192x8192", "cuda", true, {8192, 8192, 8192, CEIL_GEMM_TN}},
	{"8448x8192x8192", "cuda", true, {8448, 8192, 8192, CEIL_GEMM_TN}},
	{"12288x12288x12288", "cuda", true, {12288, 12288, 12288, CEIL_GEMM_TN}},
	{"16384x16384x16384", "cuda", false, {16384, 16384, 16384, CEIL_GEMM_TN}},
	{"8192x8192x4096", "cuda", false, {8192, 8192, 4096, CEIL_GEMM_TN}},
	{"4096x4096x8192", "cuda", false, {4096, 4096, 8192, CEIL_GEMM_TN}},
	{"4224x2048x8192", "cuda", false, {4224, 2048, 8192, CEIL_GEMM_TN}},
	{"4096x4096x4096", "cuda", false, {4096, 4096, 4096, CEIL_GEMM_TN}},
	{"2048x2048x2048", "cuda", true, {2048, 2048, 2048, CEIL_GEMM_TN}},
	{"8192x8192x8192.nn", "cuda", false, {8192, 8192, 8192, CEIL_GEMM_NN}},
	{"8192x8192x8192.nt", "cuda", false, {8192, 8192, 8192, CEIL_GEMM_NT}},
	{"1024x1024x1024", "host", false, {1024, 1024, 1024, CEIL_GEMM_TN}},
	{"2048x2048x2048", "host", true, {2048, 2048, 2048, CEIL_GEMM_TN}},
	{"4096x4096x4096", "host", false, {4096, 4096, 4096, CEIL_GEMM_TN}},
};

/* What all rows of a backend have in common. */
#define BY_CUBLASLT                                                                                \
	.backend = "cuda", .timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(gemm_launch),                   \
	.pattern = CEIL_NORMAL, .gated = true, .burst_finalists = 2, .tolerance = 0.01
#define BY_CBLAS                                                                                   \
	.backend = "host", .timing = CEIL_TIME_MARKS, .launch = gemm_launch,                       \
	.pattern = CEIL_NORMAL, .quick = true, .tolerance = 0.05

static const struct ceil_variant variants[] = {
	{.name = "cublaslt.bf16",
         .doc = "bfloat16 by tensor cores, summed in fp32",
         .ceiling = "gemm.bf16",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_BF16, CEIL_BF16, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 80,
         .quick = true,
         .sustained_finalists = 3,
         BY_CUBLASLT},
	{.name = "cublaslt.fp16",
         .doc = "half precision by tensor cores, summed in fp32",
         .ceiling = "gemm.fp16",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP16, CEIL_FP16, CEIL_FP32, CEIL_FP16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 70,
         .quick = true,
         BY_CUBLASLT},
	{.name = "cublaslt.fp16_acc16",
         .doc = "half precision by tensor cores, summed in fp16",
         .ceiling = "gemm.fp16_acc16",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP16, CEIL_FP16, CEIL_FP16, CEIL_FP16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 70,
         BY_CUBLASLT},
	{.name = "cublaslt.tf32",
         .doc = "fp32 rounded to 10 bits of mantissa by tensor cores, summed in fp32",
         .ceiling = "gemm.tf32",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_TF32, CEIL_TF32, CEIL_FP32, CEIL_FP32},
         .resource = CEIL_R_TENSOR,
         .min_cc = 80,
         .quick = true,
         BY_CUBLASLT},
	{.name = "cublaslt.fp32",
         .doc = "true single precision, no tensor cores and no emulation",
         .ceiling = "gemm.fp32",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32},
         .resource = CEIL_R_FMA,
         .quick = true,
         BY_CUBLASLT},
	{.name = "cublaslt.fp64",
         .doc = "true double precision, no emulation",
         .ceiling = "gemm.fp64",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP64, CEIL_FP64, CEIL_FP64, CEIL_FP64},
         .resource = CEIL_R_TENSOR,
         .quick = true,
         BY_CUBLASLT},
	{.name = "cublaslt.e4m3",
         .doc = "8-bit floats, partial sums moved to fp32 as they grow",
         .ceiling = "gemm.e4m3",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E4M3, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         BY_CUBLASLT},
	{.name = "cublaslt.e4m3_fast",
         .doc = "8-bit floats, summed in the tensor core's short accumulator",
         .ceiling = "gemm.e4m3_fast",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E4M3, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         .quick = true,
         BY_CUBLASLT},
	{.name = "cublaslt.e5m2",
         .doc = "e5m2 times e4m3 (gradients), partial sums moved to fp32 as they grow",
         .ceiling = "gemm.e5m2",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E5M2, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         BY_CUBLASLT},
	{.name = "cublaslt.e5m2_fast",
         .doc = "e5m2 times e4m3, summed in the tensor core's short accumulator",
         .ceiling = "gemm.e5m2_fast",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E5M2, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         BY_CUBLASLT},
	{.name = "cublaslt.int8",
         .doc = "8-bit integers, summed and written in int32",
         .ceiling = "gemm.int8",
         .unit = CEIL_TOP_S,
         .types = {CEIL_INT8, CEIL_INT8, CEIL_INT32, CEIL_INT32},
         .resource = CEIL_R_TENSOR,
         .min_cc = 75,
         BY_CUBLASLT},
	{.name = "cblas.fp32",
         .doc = "sgemm of the host's CBLAS on all cores",
         .ceiling = "host.gemm.fp32",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32},
         .resource = CEIL_R_FMA,
         BY_CBLAS},
	{.name = "cblas.fp64",
         .doc = "dgemm of the host's CBLAS on all cores",
         .ceiling = "host.gemm.fp64",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP64, CEIL_FP64, CEIL_FP64, CEIL_FP64},
         .resource = CEIL_R_FMA,
         BY_CBLAS},
};

const struct ceil_bench ceil_gemm_bench = {
	.name = "gemm",
	.summary = "matrix products by type: the denominators of MFU",
	.doc = "C(m,n) = A(m,k) B(k,n), column-major, random normal data. On a GPU every algorithm "
	       "that cuBLASLt offers for a shape is timed, interleaved, and the best are measured "
	       "again from an idle start (burst) and until the clock is steady (sustained). On the "
	       "host the CBLAS does it. Results are checked whole, on data whose product is exact.",
	.source = "cublasLt.h 13.1; mamf-finder and nvbench for what goes wrong otherwise",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = 4,
	.repeatable =
		true, /* cuBLAS documentation, Results Reproducibility: one stream, same bits */
	.check_pattern = CEIL_TERNARY,
	.shape = gemm_shape,
	.work = gemm_work,
	.applies = gemm_applies,
	.prepare = gemm_prepare,
	.release = gemm_release,
	.describe = gemm_describe,
	.check = ceil_gemm_check,
};
