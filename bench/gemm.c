/* The gemm bench: the best rate of C = A B by type, over shapes and a library's algorithms. */
#include "bench/gemm.h"

#include <string.h>

#include "bench/fp64.h"
#include "bench/gemm_engine.h"
#include "bench/gemm_shapes.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text);
	const size_t m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Products of one size in one call, or of several. */
static bool is_batched(const struct ceil_variant *v)
{
	return ends_with(v->ceiling, "_batched");
}

static bool is_grouped(const struct ceil_variant *v)
{
	return ends_with(v->ceiling, "_grouped");
}

/* ---- products of a launch */

uint64_t ceil_gemm_products(const struct ceil_point *p)
{
	const uint64_t batch = p->cas->axis[CEIL_GEMM_BATCH];

	return batch ? batch : 1;
}

void ceil_gemm_part_of(const struct ceil_point *p, uint64_t i, struct ceil_gemm_part *ret_part)
{
	const uint64_t n = p->cas->axis[CEIL_GEMM_N];
	const uint64_t products = ceil_gemm_products(p);

	*ret_part = (struct ceil_gemm_part){n, i * n};
	if (!is_grouped(p->variant))
		return;
	ret_part->n = ceil_gemm_group_n(n, products, i);
	ret_part->first = 0;
	for (uint64_t j = 0; j < i; j++)
		ret_part->first += ceil_gemm_group_n(n, products, j);
}

/* Columns of B and C over all products. */
static uint64_t all_columns(const struct ceil_point *p)
{
	struct ceil_gemm_part end;

	ceil_gemm_part_of(p, ceil_gemm_products(p), &end);
	return end.first;
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
	bool tn_only;         /* on compute capability 8.9, 9.0 and 12 */
};

static const struct operand_rule rules[] = {
	{CEIL_E4M3, {8, 1, 16}, true},
	{CEIL_E5M2, {8, 1, 16}, true},
	{CEIL_INT8, {4, 1, 4}, false},
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

static enum ceil_status check_axes(const uint64_t *axis, uint64_t products, struct ceil_error *err)
{
	const uint64_t limit = (UINT64_C(1) << 62) / products; /* mnk: 2mnk of all fits 2^63 */

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

/* Batches and groups count products in 16 bits and their sizes in 31: no card holds more. */
static enum ceil_status check_products(const struct ceil_point *p, struct ceil_error *err)
{
	const uint64_t *axis = p->cas->axis;
	const uint64_t products = ceil_gemm_products(p);
	const bool many = is_batched(p->variant) || is_grouped(p->variant);

	if (many != (products > 1))
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s is for %s", p->variant->ceiling,
		                 many ? "batches of 2 products or more" : "single products");
	if (products > UINT16_MAX)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "a batch has at most 65535 products: %llu are more",
		                 (unsigned long long)products);
	for (int i = 0; is_grouped(p->variant) && i < 3; i++) {
		if (axis[i] > INT32_MAX / 2)
			return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s is at most %d in a group",
			                 axis_names[i], INT32_MAX / 2);
	}
	return CEIL_OK;
}

static enum ceil_status check_rules(const struct ceil_point *p, const struct ceil_device_props *d,
                                    struct ceil_error *err)
{
	const uint64_t *axis = p->cas->axis;
	const char *type = ceil_dtype_info(p->variant->types.a)->name;
	const struct operand_rule *rule = find_rule(p->variant->types.a);
	const bool tn = axis[CEIL_GEMM_LAYOUT] == CEIL_GEMM_TN;

	if (axis[CEIL_GEMM_K] > CEIL_GEMM_MAX_K)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "k is at most %u, or the check is not exact: %llu is above",
		                 CEIL_GEMM_MAX_K, (unsigned long long)axis[CEIL_GEMM_K]);
	const bool tn_only = is_host(p) || is_grouped(p->variant) ||
	                     (rule && rule->tn_only && d->cc_major / 2 != 5); /* 10 and 11 */

	if (!tn && tn_only)
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
	const double k = (double)p->cas->axis[CEIL_GEMM_K];
	const double products = (double)ceil_gemm_products(p);
	const double n = is_grouped(p->variant) ? (double)all_columns(p)
	                                        : products * (double)p->cas->axis[CEIL_GEMM_N];
	const double bits = products * m * k * ceil_dtype_info(t->a)->bits +
	                    k * n * ceil_dtype_info(t->b)->bits +
	                    m * n * ceil_dtype_info(t->out)->bits;
	const double need = bits / 8.0 + (is_host(p) ? 0.0 : (double)CEIL_GEMM_WORKSPACE_BYTES);
	const double there = d->free_bytes ? (double)d->free_bytes : 0x1p60; /* 0: unknown */
	char what[64] = "";

	if (need <= there)
		return CEIL_OK;
	ceil_append(what, sizeof(what), "%s %s", ceil_dtype_info(t->a)->name, p->cas->name);
	return ceil_bench_no_room(d, what, need < 0x1p63 ? (uint64_t)need : UINT64_MAX,
	                          /* why= */ NULL, err);
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
	const uint64_t products = ceil_gemm_products(p);
	enum ceil_status st;

	st = check_axes(axis, products, err);
	if (st == CEIL_OK)
		st = check_products(p, err);
	if (st == CEIL_OK)
		st = check_rules(p, d, err);
	if (st == CEIL_OK)
		st = check_memory(p, d, err);
	if (st != CEIL_OK)
		return st;
	const uint64_t columns = all_columns(p);

	ret_l->m = m;
	ret_l->n = n;
	ret_l->k = k;
	ret_buf[CEIL_GEMM_A] =
		buffer_of(p, d, CEIL_INPUT, t->a, ceil_dtype_bytes(t->a, products * m * k));
	ret_buf[CEIL_GEMM_B] =
		buffer_of(p, d, CEIL_INPUT, t->b, ceil_dtype_bytes(t->b, k * columns));
	ret_buf[CEIL_GEMM_C] =
		buffer_of(p, d, CEIL_OUTPUT, t->out, ceil_dtype_bytes(t->out, m * columns));
	ret_buf[CEIL_GEMM_ADDRESSES] =
		buffer_of(p, d, CEIL_WORKSPACE, CEIL_INT64,
	                  is_grouped(p->variant) ? 3 * products * sizeof(void *) : 0);
	ret_buf[CEIL_GEMM_WORKSPACE] = buffer_of(p, d, CEIL_WORKSPACE, CEIL_INT8,
	                                         is_host(p) ? 0 : CEIL_GEMM_WORKSPACE_BYTES);
	return CEIL_OK;
}

/* ---- work */

static void gemm_work(const struct ceil_point *p, const struct ceil_launch *l,
                      struct ceil_work *ret_w)
{
	const struct ceil_types *t = &p->variant->types;
	const double m = (double)l->m;
	const double n = (double)all_columns(p);
	const double k = (double)l->k;
	const double products = (double)ceil_gemm_products(p);

	*ret_w = (struct ceil_work){
		.flops = 2.0 * m * n * k,
		.bytes_read = (products * m * k * ceil_dtype_info(t->a)->bits +
	                       k * n * ceil_dtype_info(t->b)->bits) /
	                      8.0,
		.bytes_written = m * n * ceil_dtype_info(t->out)->bits / 8.0,
	};
}

enum { BLOCK_SCALES_CC = 100 };

/* Types that models are served and trained in: their layers are looked up for these. */
static bool is_model_type(const struct ceil_variant *v)
{
	const enum ceil_dtype a = v->types.a;

	return a == CEIL_BF16 || (v->types.acc == CEIL_FP32 && (a == CEIL_FP16 || a == CEIL_E4M3));
}

/*
 * Burst allows 30 ms of work. fp32 and fp64 reach 50 to 67 TFLOP/s on the fastest parts, so
 * products above 8192^3 are left to the types that are faster, and those of fp64 above 6e11
 * operations, which meet the power limit (H200: 62.1 at 8192^3, 64.9 at 4224x2048x8192); where fp64
 * is slow, 1 TFLOP/s and a bit, so are those above 3e10, and one shape is there for it alone. 8-bit
 * types are fast in one layout.
 */
static bool gemm_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	const uint64_t *axis = p->cas->axis;
	const enum ceil_dtype a = p->variant->types.a;
	const bool many = is_batched(p->variant) || is_grouped(p->variant);
	const bool slow_fp64 = ceil_has_slow_fp64(d);
	const double flops = 2.0 * (double)axis[CEIL_GEMM_M] * (double)axis[CEIL_GEMM_N] *
	                     (double)axis[CEIL_GEMM_K];

	if (many != (ceil_gemm_products(p) > 1))
		return false;
	if (p->variant->min_cc == BLOCK_SCALES_CC)
		return p->cas == ceil_gemm_cases; /* one row says that they are not measured */
	if (is_host(p) || p->apart)
		return true;
	if ((a == CEIL_FP32 && flops > 1.1e12) || (a == CEIL_FP64 && flops > 6e11))
		return false;
	if (a == CEIL_FP64 && flops > 3e10 && slow_fp64)
		return false;
	if (p->cas == &ceil_gemm_cases[CEIL_GEMM_SLOW_FP64])
		return a == CEIL_FP64 && slow_fp64;
	if (ceil_gemm_of_model(p->cas) && !is_model_type(p->variant))
		return false;
	return axis[CEIL_GEMM_LAYOUT] == CEIL_GEMM_TN || !find_rule(a);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"m", "", "rows of A and C"},
	{"n", "", "columns of B and C"},
	{"k", "", "columns of A and rows of B: the length of each dot product"},
	{"layout", "", "how A and B are stored, column-major: 0 TN, 1 NN, 2 NT, 3 TT"},
	{"products", "", "how many in one launch; n is their mean where they differ"},
};

/* What all rows of a backend have in common. A product whose k is split is two or three kernels:
 * 512 of them waited for the gate's time-out on an H200. Algorithms that compete take turns with
 * one number of launches, so all products leave room for twice as many kernels. */
#define BY_CUBLASLT                                                                                \
	.backend = "cuda", .timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_gemm_launch),              \
	.pattern = CEIL_NORMAL, .gated = true, .kernels = 2, .burst_finalists = 2,                 \
	.tolerance = 0.01
/* Compute capability 10 multiplies them; nothing that is not checked on a card is a ceiling. */
#define NOT_YET                                                                                    \
	.backend = "cuda", .pattern = CEIL_NORMAL, .burst_finalists = 1, .tolerance = 0.01,        \
	.why_not = "block-scaled products need compute capability 10, and this version does not "  \
		   "measure them yet"
/* The grouped call copies its sizes from the host, which must not happen behind a gate. */
#define BY_CUBLAS                                                                                  \
	.backend = "cuda", .timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_gemm_launch),              \
	.pattern = CEIL_NORMAL, .burst_finalists = 1, .tolerance = 0.02
#define BY_CBLAS                                                                                   \
	.backend = "host", .timing = CEIL_TIME_MARKS, .launch = ceil_gemm_launch,                  \
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
         .quick_sustained = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.fp16",
         .doc = "half precision by tensor cores, summed in fp32",
         .ceiling = "gemm.fp16",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP16, CEIL_FP16, CEIL_FP32, CEIL_FP16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 70,
         .quick = true,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.fp16_acc16",
         .doc = "half precision by tensor cores, summed in fp16",
         .ceiling = "gemm.fp16_acc16",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP16, CEIL_FP16, CEIL_FP16, CEIL_FP16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 70,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.tf32",
         .doc = "fp32 rounded to 10 bits of mantissa by tensor cores, summed in fp32",
         .ceiling = "gemm.tf32",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_TF32, CEIL_TF32, CEIL_FP32, CEIL_FP32},
         .resource = CEIL_R_TENSOR,
         .min_cc = 80,
         .quick = true,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.fp32",
         .doc = "true single precision, no tensor cores and no emulation",
         .ceiling = "gemm.fp32",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32},
         .resource = CEIL_R_FMA,
         .quick = true,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.fp64",
         .doc = "true double precision, no emulation",
         .ceiling = "gemm.fp64",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_FP64, CEIL_FP64, CEIL_FP64, CEIL_FP64},
         .resource = CEIL_R_TENSOR,
         .quick = true,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.e4m3",
         .doc = "8-bit floats, partial sums moved to fp32 as they grow",
         .ceiling = "gemm.e4m3",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E4M3, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.e4m3_fast",
         .doc = "8-bit floats, summed in the tensor core's short accumulator",
         .ceiling = "gemm.e4m3_fast",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E4M3, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         .quick = true,
         .sustained_finalists = 3,
         BY_CUBLASLT},
	{.name = "cublaslt.e5m2",
         .doc = "e5m2 times e4m3 (gradients), partial sums moved to fp32 as they grow",
         .ceiling = "gemm.e5m2",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E5M2, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.e5m2_fast",
         .doc = "e5m2 times e4m3, summed in the tensor core's short accumulator",
         .ceiling = "gemm.e5m2_fast",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E5M2, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 89,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.int8",
         .doc = "8-bit integers, summed and written in int32",
         .ceiling = "gemm.int8",
         .unit = CEIL_TOP_S,
         .types = {CEIL_INT8, CEIL_INT8, CEIL_INT32, CEIL_INT32},
         .resource = CEIL_R_TENSOR,
         .min_cc = 75,
         .sustained_finalists = 1,
         BY_CUBLASLT},
	{.name = "cublaslt.e4m3_block32",
         .doc = "8-bit floats with a scale for each 32 (MXFP8)",
         .ceiling = "gemm.e4m3_block32",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E4M3, CEIL_E4M3, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = BLOCK_SCALES_CC,
         NOT_YET},
	{.name = "cublaslt.e2m1_block16",
         .doc = "4-bit floats with a scale for each 16 (NVFP4)",
         .ceiling = "gemm.e2m1_block16",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_E2M1, CEIL_E2M1, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = BLOCK_SCALES_CC,
         NOT_YET},
	{.name = "cublaslt.bf16_batched",
         .doc = "many bfloat16 products of one size in a call: experts with equal loads",
         .ceiling = "gemm.bf16_batched",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_BF16, CEIL_BF16, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 80,
         BY_CUBLASLT},
	{.name = "cublas.bf16_grouped",
         .doc = "many bfloat16 products of several sizes in a call: experts with unequal loads",
         .ceiling = "gemm.bf16_grouped",
         .unit = CEIL_TFLOP_S,
         .types = {CEIL_BF16, CEIL_BF16, CEIL_FP32, CEIL_BF16},
         .resource = CEIL_R_TENSOR,
         .min_cc = 80,
         BY_CUBLAS},
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
	.cases = ceil_gemm_cases,
	.case_count = CEIL_GEMM_CASES,
	.more = ceil_gemm_more,
	.more_count = CEIL_GEMM_LISTS,
	.buf_count = 5,
	.concurrent = true, /* a node's GPUs share its power and cooling, as under a job */
	.repeatable = true, /* cuBLAS documentation: the same bits at every run of one stream */
	.check_pattern = CEIL_TERNARY,
	.shape = gemm_shape,
	.work = gemm_work,
	.applies = gemm_applies,
	.prepare = ceil_gemm_prepare,
	.release = ceil_gemm_release,
	.describe = ceil_gemm_describe,
	.check = ceil_gemm_check,
};
