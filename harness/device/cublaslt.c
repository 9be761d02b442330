/* Matrix products by cuBLASLt, loaded at run time: every algorithm it offers, one launcher. */
#include "harness/device/cublaslt.h"

#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<cublasLt.h>)
#define HAVE_CUBLASLT 1
#include <cublasLt.h>
#include <dlfcn.h>
#endif
#endif

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"

void ceil_lt_clean_environment(char *ret_text, size_t size)
{
	static const char *const names[] = {
		"CUBLAS_EMULATE_SINGLE_PRECISION",
		"CUBLAS_EMULATE_DOUBLE_PRECISION",
		"CUBLAS_EMULATION_STRATEGY",
		"CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
		"NVIDIA_TF32_OVERRIDE",
	};

	ceil_copy(ret_text, size, "");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (!value)
			continue;
		ceil_append(ret_text, size, "%s%s=%s", *ret_text ? " " : "", names[i], value);
		(void)unsetenv(names[i]); /* fails only for a malformed name */
	}
}

#ifdef HAVE_CUBLASLT

/* ---- the library */

struct lt_api {
	cublasStatus_t (*create)(cublasLtHandle_t *);
	cublasStatus_t (*destroy)(cublasLtHandle_t);
	size_t (*version)(void);
	const char *(*status_name)(cublasStatus_t);
	cublasStatus_t (*desc_create)(cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t);
	cublasStatus_t (*desc_destroy)(cublasLtMatmulDesc_t);
	cublasStatus_t (*desc_set)(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
	                           const void *, size_t);
	cublasStatus_t (*layout_create)(cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t,
	                                int64_t);
	cublasStatus_t (*layout_set)(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
	                             const void *, size_t);
	cublasStatus_t (*layout_destroy)(cublasLtMatrixLayout_t);
	cublasStatus_t (*pref_create)(cublasLtMatmulPreference_t *);
	cublasStatus_t (*pref_destroy)(cublasLtMatmulPreference_t);
	cublasStatus_t (*pref_set)(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
	                           const void *, size_t);
	cublasStatus_t (*heuristic)(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
	                            cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
	                            cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
	                            cublasLtMatmulHeuristicResult_t *, int *);
	cublasStatus_t (*algo_init)(cublasLtHandle_t, cublasComputeType_t, cudaDataType_t,
	                            cudaDataType_t, cudaDataType_t, cudaDataType_t, cudaDataType_t,
	                            int, cublasLtMatmulAlgo_t *);
	cublasStatus_t (*algo_check)(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
	                             cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
	                             cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *,
	                             cublasLtMatmulHeuristicResult_t *);
	cublasStatus_t (*config_set)(cublasLtMatmulAlgo_t *, cublasLtMatmulAlgoConfigAttributes_t,
	                             const void *, size_t);
	cublasStatus_t (*config_get)(const cublasLtMatmulAlgo_t *,
	                             cublasLtMatmulAlgoConfigAttributes_t, void *, size_t,
	                             size_t *);
	cublasStatus_t (*cap_get)(const cublasLtMatmulAlgo_t *, cublasLtMatmulAlgoCapAttributes_t,
	                          void *, size_t, size_t *);
	cublasStatus_t (*matmul)(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,
	                         cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t,
	                         const void *, const void *, cublasLtMatrixLayout_t, void *,
	                         cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *,
	                         size_t, cudaStream_t);
};

/* A member by its name in the library. The comparison is never made: it only compiles when the
 * header's prototype is the member's type. */
#define SYMBOL(member, function)                                                                   \
	{                                                                                          \
		.names = {#function}, .offset = offsetof(struct lt_api, member),                   \
		.required = sizeof(((struct lt_api *)0)->member == &(function)) != 0               \
	}

static const struct ceil_symbol symbols[] = {
	SYMBOL(create, cublasLtCreate),
	SYMBOL(destroy, cublasLtDestroy),
	SYMBOL(version, cublasLtGetVersion),
	SYMBOL(status_name, cublasLtGetStatusName),
	SYMBOL(desc_create, cublasLtMatmulDescCreate),
	SYMBOL(desc_destroy, cublasLtMatmulDescDestroy),
	SYMBOL(desc_set, cublasLtMatmulDescSetAttribute),
	SYMBOL(layout_create, cublasLtMatrixLayoutCreate),
	SYMBOL(layout_set, cublasLtMatrixLayoutSetAttribute),
	SYMBOL(layout_destroy, cublasLtMatrixLayoutDestroy),
	SYMBOL(pref_create, cublasLtMatmulPreferenceCreate),
	SYMBOL(pref_destroy, cublasLtMatmulPreferenceDestroy),
	SYMBOL(pref_set, cublasLtMatmulPreferenceSetAttribute),
	SYMBOL(heuristic, cublasLtMatmulAlgoGetHeuristic),
	SYMBOL(algo_init, cublasLtMatmulAlgoInit),
	SYMBOL(algo_check, cublasLtMatmulAlgoCheck),
	SYMBOL(config_set, cublasLtMatmulAlgoConfigSetAttribute),
	SYMBOL(config_get, cublasLtMatmulAlgoConfigGetAttribute),
	SYMBOL(cap_get, cublasLtMatmulAlgoCapGetAttribute),
	SYMBOL(matmul, cublasLtMatmul),
};

static const char *const sonames[] = {
	"libcublasLt.so.13",
	"libcublasLt.so.12",
	"/usr/local/cuda/lib64/libcublasLt.so.13",
	"/usr/local/cuda/lib64/libcublasLt.so.12",
	NULL,
};

static const struct ceil_library library = {
	.title = "cuBLASLt",
	.override = "GPUCEIL_LIB_CUBLASLT",
	.sonames = sonames,
	.remedy = "install cuBLAS of the CUDA toolkit, or set GPUCEIL_LIB_CUBLASLT=/path",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

/*
 * The library stays mapped until the process ends: it is half a gigabyte, its kernels are loaded
 * one by one at first use, and a plan is made for every point.
 */
static enum ceil_status load(struct lt_api *api, struct ceil_dynlib *ret_lib,
                             struct ceil_error *err)
{
	const enum ceil_status st = ceil_dynlib_open(&library, api, ret_lib, err);

	if (st != CEIL_OK)
		return st;
	void *same = dlopen(ret_lib->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	if (same)
		(void)dlclose(same); /* the flag stays, the count goes back */
	return CEIL_OK;
}

enum ceil_status ceil_lt_info_read(struct ceil_lt_info *ret_info, struct ceil_error *err)
{
	struct lt_api api;
	struct ceil_dynlib lib = {0};
	const enum ceil_status st = load(&api, &lib, err);

	if (st != CEIL_OK)
		return st;
	/* CUBLAS_VERSION: 130100 is 13.1.0; 11 and 12 wrote 120304 for 12.3.4 alike. */
	const size_t v = api.version();

	ret_info->version[0] = '\0';
	ceil_append(ret_info->version, sizeof(ret_info->version), "%zu.%zu.%zu", v / 10000,
	            v / 100 % 100, v % 100);
	ceil_copy(ret_info->path, sizeof(ret_info->path), lib.path);
	ceil_dynlib_close(&lib);
	return CEIL_OK;
}

/* ---- types */

struct type_row {
	enum ceil_dtype dtype;
	cudaDataType cuda;
};

static const struct type_row type_rows[] = {
	{CEIL_FP64, CUDA_R_64F},     {CEIL_FP32, CUDA_R_32F}, {CEIL_TF32, CUDA_R_32F},
	{CEIL_BF16, CUDA_R_16BF},    {CEIL_FP16, CUDA_R_16F}, {CEIL_E4M3, CUDA_R_8F_E4M3},
	{CEIL_E5M2, CUDA_R_8F_E5M2}, {CEIL_INT8, CUDA_R_8I},  {CEIL_INT32, CUDA_R_32I},
};

/*
 * How the library is told to compute, and what an algorithm may do. The library has no switch
 * that forbids emulation: a compute type without it, an environment without its variables, and
 * the algorithm's own account of the instructions, accumulator and operands that it uses.
 * That account is not all true: Hopper's kernels of id 66 say INPUT_16F whatever they read, those
 * of tf32 (id 43) say FMA. So only sums in fp16 are refused there; tests/gpu/t_gemm.c shows that
 * tf32 keeps ten bits of mantissa.
 */
struct compute_row {
	enum ceil_dtype a, acc;
	cublasComputeType_t compute;
	cudaDataType scale;
	uint64_t allowed; /* CUBLASLT_NUMERICAL_IMPL_FLAGS_* */
};

#define IMPL(name) CUBLASLT_NUMERICAL_IMPL_FLAGS_##name

static const struct compute_row compute_rows[] = {
	{CEIL_FP64, CEIL_FP64, CUBLAS_COMPUTE_64F, CUDA_R_64F,
         IMPL(FMA) | IMPL(DMMA) | IMPL(ACCUMULATOR_64F) | IMPL(INPUT_64F)},
	{CEIL_FP32, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F,
         IMPL(FMA) | IMPL(ACCUMULATOR_32F) | IMPL(INPUT_32F)},
	{CEIL_TF32, CEIL_FP32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, ~IMPL(ACCUMULATOR_16F)},
	{CEIL_BF16, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~IMPL(ACCUMULATOR_16F)},
	{CEIL_FP16, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~IMPL(ACCUMULATOR_16F)},
	{CEIL_FP16, CEIL_FP16, CUBLAS_COMPUTE_16F, CUDA_R_16F, ~UINT64_C(0)},
	{CEIL_E4M3, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~UINT64_C(0)},
	{CEIL_E5M2, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~UINT64_C(0)},
	{CEIL_INT8, CEIL_INT32, CUBLAS_COMPUTE_32I, CUDA_R_32I, ~UINT64_C(0)},
};

/* One and zero of the scale type. */
union scalar {
	double f64;
	float f32;
	uint16_t f16;
	int32_t i32;
};

static union scalar one_of(cudaDataType scale)
{
	union scalar s = {.f64 = 0.0};

	switch (scale) {
	case CUDA_R_64F:
		s.f64 = 1.0;
		break;
	case CUDA_R_16F:
		s.f16 = 0x3c00; /* 1.0 in binary16 */
		break;
	case CUDA_R_32I:
		s.i32 = 1;
		break;
	default:
		s.f32 = 1.0f;
		break;
	}
	return s;
}

static const struct type_row *find_type(enum ceil_dtype t)
{
	for (size_t i = 0; i < sizeof(type_rows) / sizeof(type_rows[0]); i++) {
		if (type_rows[i].dtype == t)
			return &type_rows[i];
	}
	return NULL;
}

static const struct compute_row *find_compute(const struct ceil_types *t)
{
	for (size_t i = 0; i < sizeof(compute_rows) / sizeof(compute_rows[0]); i++) {
		if (compute_rows[i].a == t->a && compute_rows[i].acc == t->acc)
			return &compute_rows[i];
	}
	return NULL;
}

/* ---- the plan */

enum { ASKED = 64, WORKSPACES = 3, MAX_ALGORITHMS = ASKED * WORKSPACES };

struct algorithm {
	cublasLtMatmulAlgo_t algo;
	size_t workspace_bytes;
	uint64_t impl; /* 0: the library does not say */
};

struct ceil_lt_plan {
	struct ceil_lt_desc desc;
	const struct compute_row *compute;
	struct ceil_dynlib lib;
	struct lt_api api;
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t op;
	cublasLtMatrixLayout_t a, b, d;
	union scalar one, zero;
	uint32_t count;
	uint32_t refused;      /* compute in another type */
	uint64_t refused_impl; /* how the first of these computes */
	struct algorithm algorithm[MAX_ALGORITHMS];
};

static enum ceil_status kind_of(cublasStatus_t s)
{
	switch (s) {
	case CUBLAS_STATUS_SUCCESS:
		return CEIL_OK;
	case CUBLAS_STATUS_NOT_SUPPORTED:
	case CUBLAS_STATUS_ARCH_MISMATCH:
	case CUBLAS_STATUS_INVALID_VALUE:
		return CEIL_E_UNSUPPORTED;
	case CUBLAS_STATUS_ALLOC_FAILED:
		return CEIL_E_NOMEM;
	default:
		return CEIL_E_DEVICE;
	}
}

static enum ceil_status told(const struct ceil_lt_plan *p, cublasStatus_t s, const char *call,
                             struct ceil_error *err)
{
	const struct ceil_lt_desc *d = &p->desc;

	if (s == CUBLAS_STATUS_SUCCESS)
		return CEIL_OK;
	return ceil_fail(err, kind_of(s), "%s for %s %llux%llux%llu: %s", call,
	                 ceil_dtype_info(d->types.a)->name, (unsigned long long)d->m,
	                 (unsigned long long)d->n, (unsigned long long)d->k, p->api.status_name(s));
}

static enum ceil_status set_op(struct ceil_lt_plan *p, cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t size, struct ceil_error *err)
{
	return told(p, p->api.desc_set(p->op, attribute, value, size),
	            "cublasLtMatmulDescSetAttribute", err);
}

static enum ceil_status make_op(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const int32_t op_a = p->desc.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t op_b = p->desc.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int8_t fast = 1;
	enum ceil_status st;

	st = told(p, p->api.desc_create(&p->op, p->compute->compute, p->compute->scale),
	          "cublasLtMatmulDescCreate", err);
	if (st == CEIL_OK)
		st = set_op(p, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof(op_a), err);
	if (st == CEIL_OK)
		st = set_op(p, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof(op_b), err);
	if (st == CEIL_OK && p->desc.fast_accum)
		st = set_op(p, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast), err);
	return st;
}

static enum ceil_status set_layout(struct ceil_lt_plan *p, cublasLtMatrixLayout_t layout,
                                   cublasLtMatrixLayoutAttribute_t attribute, const void *value,
                                   size_t size, struct ceil_error *err)
{
	return told(p, p->api.layout_set(layout, attribute, value, size),
	            "cublasLtMatrixLayoutSetAttribute", err);
}

static enum ceil_status make_layout(struct ceil_lt_plan *p, cublasLtMatrixLayout_t *ret_layout,
                                    enum ceil_dtype t, uint64_t rows, uint64_t cols,
                                    struct ceil_error *err)
{
	const struct type_row *row = find_type(t);
	const int32_t batch = (int32_t)p->desc.batch;
	const int64_t stride = (int64_t)(rows * cols);
	enum ceil_status st;

	if (!row)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "cuBLASLt has no matrices of %s",
		                 ceil_dtype_info(t)->name);
	st = told(p, p->api.layout_create(ret_layout, row->cuda, rows, cols, (int64_t)rows),
	          "cublasLtMatrixLayoutCreate", err);
	if (st != CEIL_OK || batch <= 1)
		return st;
	st = set_layout(p, *ret_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch),
	                err);
	if (st == CEIL_OK)
		st = set_layout(p, *ret_layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
		                &stride, sizeof(stride), err);
	return st;
}

static enum ceil_status make_layouts(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const struct ceil_lt_desc *d = &p->desc;
	enum ceil_status st;

	st = make_layout(p, &p->a, d->types.a, d->trans_a ? d->k : d->m, d->trans_a ? d->m : d->k,
	                 err);
	if (st == CEIL_OK)
		st = make_layout(p, &p->b, d->types.b, d->trans_b ? d->n : d->k,
		                 d->trans_b ? d->k : d->n, err);
	if (st == CEIL_OK)
		st = make_layout(p, &p->d, d->types.out, d->m, d->n, err);
	return st;
}

/* ---- the words of an algorithm */

/* Names by value, from cublasLt.h 13.1: of its 630 tiles the old ones and those that won or came
 * first on an H200. A value that has none here is written as the number. */
static const char *const tile_names[] = {
	[1] = "8x8",       [2] = "8x16",      [3] = "16x8",      [4] = "8x32",
	[5] = "16x16",     [6] = "32x8",      [7] = "8x64",      [8] = "16x32",
	[9] = "32x16",     [10] = "64x8",     [11] = "32x32",    [12] = "32x64",
	[13] = "64x32",    [14] = "32x128",   [15] = "64x64",    [16] = "128x32",
	[17] = "64x128",   [18] = "128x64",   [19] = "64x256",   [20] = "128x128",
	[21] = "256x64",   [22] = "64x512",   [23] = "128x256",  [24] = "256x128",
	[25] = "512x64",   [26] = "64x96",    [27] = "96x64",    [28] = "96x128",
	[29] = "128x160",  [30] = "160x128",  [31] = "192x128",  [32] = "128x192",
	[33] = "128x96",   [34] = "32x256",   [35] = "256x32",   [47] = "16x64",
	[59] = "24x64",    [92] = "48x64",    [116] = "64x192",  [135] = "80x128",
	[151] = "96x192",  [152] = "96x256",  [165] = "112x128", [184] = "144x128",
	[194] = "160x192", [195] = "160x256", [197] = "168x128", [201] = "176x128",
	[209] = "192x192", [210] = "192x256", [232] = "256x192", [248] = "320x128",
	[312] = "64x16",   [318] = "64x80",   [394] = "128x16",  [495] = "256x96",
	[513] = "256x256",
};

static const char *const stages_names[] = {
	[1] = "16x1",      [2] = "16x2",     [3] = "16x3",     [4] = "16x4",      [5] = "16x5",
	[6] = "16x6",      [7] = "32x1",     [8] = "32x2",     [9] = "32x3",      [10] = "32x4",
	[11] = "32x5",     [12] = "32x6",    [13] = "64x1",    [14] = "64x2",     [15] = "64x3",
	[16] = "64x4",     [17] = "64x5",    [18] = "64x6",    [19] = "128x1",    [20] = "128x2",
	[21] = "128x3",    [22] = "128x4",   [23] = "128x5",   [24] = "128x6",    [25] = "32x10",
	[26] = "8x4",      [27] = "16x10",   [28] = "8x5",     [31] = "8x3",      [32] = "8xauto",
	[33] = "16xauto",  [34] = "32xauto", [35] = "64xauto", [36] = "128xauto", [37] = "256xauto",
	[38] = "768xauto",
};

static const char *const cluster_names[] = {
	[0] = "auto", [2] = "1x1",  [3] = "2x1",   [4] = "4x1",   [5] = "1x2",  [6] = "2x2",
	[7] = "4x2",  [8] = "1x4",  [9] = "2x4",   [10] = "4x4",  [11] = "8x1", [12] = "1x8",
	[13] = "8x2", [14] = "2x8", [15] = "16x1", [16] = "1x16",
};

#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

/* One field of an algorithm's configuration; together they are the algorithm. */
struct config_row {
	const char *word;
	cublasLtMatmulAlgoConfigAttributes_t attribute;
	size_t size; /* of the attribute, as the library wants it */
	const char *const *names;
	size_t name_count;
};

static const struct config_row config_rows[] = {
	{"id", CUBLASLT_ALGO_CONFIG_ID, 4, NULL, 0},
	{"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4, tile_names, COUNT(tile_names)},
	{"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, stages_names, COUNT(stages_names)},
	{"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, cluster_names, COUNT(cluster_names)},
	{"split_k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, NULL, 0},
	{"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, NULL, 0},
	{"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, NULL, 0},
	{"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, NULL, 0},
	{"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, NULL, 0},
};

/* A field of either width; false if this version of the library does not have it. */
static bool config_value(const struct ceil_lt_plan *p, const cublasLtMatmulAlgo_t *algo,
                         const struct config_row *row, uint32_t *ret_value)
{
	uint16_t narrow = 0;
	size_t written = 0;
	cublasStatus_t s;

	if (row->size == sizeof(narrow)) {
		s = p->api.config_get(algo, row->attribute, &narrow, sizeof(narrow), &written);
		*ret_value = narrow;
	} else {
		s = p->api.config_get(algo, row->attribute, ret_value, sizeof(*ret_value),
		                      &written);
	}
	return s == CUBLAS_STATUS_SUCCESS;
}

/* ---- algorithms */

static uint64_t impl_of(const struct ceil_lt_plan *p, const cublasLtMatmulAlgo_t *algo)
{
	uint64_t flags = 0;
	size_t written = 0;
	const cublasStatus_t s = p->api.cap_get(algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
	                                        &flags, sizeof(flags), &written);

	return s == CUBLAS_STATUS_SUCCESS ? flags : 0;
}

static bool known(const struct ceil_lt_plan *p, const struct algorithm *x)
{
	for (uint32_t i = 0; i < p->count; i++) {
		if (memcmp(&p->algorithm[i].algo, &x->algo, sizeof(x->algo)) == 0)
			return true;
	}
	return false;
}

static void take(struct ceil_lt_plan *p, const cublasLtMatmulHeuristicResult_t *r)
{
	const struct algorithm x = {r->algo, r->workspaceSize, impl_of(p, &r->algo)};

	if (r->state != CUBLAS_STATUS_SUCCESS || r->workspaceSize > p->desc.workspace_bytes)
		return;
	if (x.impl & ~p->compute->allowed) {
		p->refused_impl = p->refused++ ? p->refused_impl : x.impl;
		return;
	}
	if (p->count < MAX_ALGORITHMS && !known(p, &x))
		p->algorithm[p->count++] = x;
}

/* A limit at which the library knows no algorithm is an answer, not a failure. */
static enum ceil_status ask(struct ceil_lt_plan *p, cublasLtMatmulPreference_t pref,
                            uint64_t workspace_bytes, struct ceil_error *err)
{
	cublasLtMatmulHeuristicResult_t result[ASKED];
	int count = 0;
	cublasStatus_t s;

	s = p->api.pref_set(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
	                    sizeof(workspace_bytes));
	if (s != CUBLAS_STATUS_SUCCESS)
		return told(p, s, "cublasLtMatmulPreferenceSetAttribute", err);
	memset(result, 0, sizeof(result));
	s = p->api.heuristic(p->handle, p->op, p->a, p->b, p->d, p->d, pref, ASKED, result, &count);
	if (kind_of(s) == CEIL_E_UNSUPPORTED)
		return CEIL_OK;
	if (s != CUBLAS_STATUS_SUCCESS)
		return told(p, s, "cublasLtMatmulAlgoGetHeuristic", err);
	for (int i = 0; i < count && i < ASKED; i++)
		take(p, &result[i]);
	return CEIL_OK;
}

static enum ceil_status none_left(const struct ceil_lt_plan *p, struct ceil_error *err)
{
	const struct ceil_lt_desc *d = &p->desc;
	const char *name = ceil_dtype_info(d->types.a)->name;

	if (p->refused)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "each of cuBLASLt's %u answers computes %s in another type "
		                 "(implementation flags 0x%llx)",
		                 p->refused, name, (unsigned long long)p->refused_impl);
	return ceil_fail(
		err, CEIL_E_UNSUPPORTED,
		"cuBLASLt has no algorithm for %s x %s -> %s %llux%llux%llu %c%c on this GPU", name,
		ceil_dtype_info(d->types.b)->name, ceil_dtype_info(d->types.out)->name,
		(unsigned long long)d->m, (unsigned long long)d->n, (unsigned long long)d->k,
		d->trans_a ? 'T' : 'N', d->trans_b ? 'T' : 'N');
}

static enum ceil_status ask_all(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const uint64_t all = p->desc.workspace_bytes;
	/* NVIDIA's advice for Hopper and later (cuBLAS documentation, cublasSetWorkspace). */
	const uint64_t advised = UINT64_C(32) << 20;
	const uint64_t limits[WORKSPACES] = {advised < all ? advised : all, all, 0};
	cublasLtMatmulPreference_t pref = NULL;
	enum ceil_status st;

	st = told(p, p->api.pref_create(&pref), "cublasLtMatmulPreferenceCreate", err);
	for (int i = 0; i < WORKSPACES && st == CEIL_OK; i++)
		st = ask(p, pref, limits[i], err);
	if (pref)
		(void)p->api.pref_destroy(pref); /* nothing hangs on it */
	if (st == CEIL_OK && p->count == 0)
		return none_left(p, err);
	return st;
}

/* ---- an algorithm by its words */

/* The number behind "word=" in text; false if it is not there. */
static bool number_of(const char *text, const char *word, uint32_t *ret_value)
{
	const size_t n = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		if ((at > text && at[-1] != ' ') || at[n] != '=' || at[n + 1] < '0' ||
		    at[n + 1] > '9')
			continue;
		*ret_value = (uint32_t)strtoul(at + n + 1, NULL, 10);
		return true;
	}
	return false;
}

static enum ceil_status configure(const struct ceil_lt_plan *p, cublasLtMatmulAlgo_t *algo,
                                  struct ceil_error *err)
{
	for (size_t i = 0; i < COUNT(config_rows); i++) {
		const struct config_row *row = &config_rows[i];
		uint32_t value = 0;
		enum ceil_status st;

		if (row->attribute == CUBLASLT_ALGO_CONFIG_ID ||
		    !number_of(p->desc.algorithm, row->word, &value))
			continue;
		const uint16_t narrow = (uint16_t)value;
		const bool wide = row->size == sizeof(value);
		const void *at = wide ? (const void *)&value : (const void *)&narrow;

		st = told(p, p->api.config_set(algo, row->attribute, at, row->size),
		          "cublasLtMatmulAlgoConfigSetAttribute", err);
		if (st != CEIL_OK)
			return st;
	}
	return CEIL_OK;
}

/* The library's own check says whether it can, and how much workspace it takes. */
static enum ceil_status take_named(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const struct ceil_types *t = &p->desc.types;
	const cudaDataType d = find_type(t->out)->cuda;
	cublasLtMatmulHeuristicResult_t r;
	enum ceil_status st;
	uint32_t id = 0;

	memset(&r, 0, sizeof(r));
	if (!number_of(p->desc.algorithm, "id", &id))
		return ceil_fail(err, CEIL_E_USAGE, "algorithm '%.100s': no id=N in it",
		                 p->desc.algorithm);
	st = told(p,
	          p->api.algo_init(p->handle, p->compute->compute, p->compute->scale,
	                           find_type(t->a)->cuda, find_type(t->b)->cuda, d, d, (int)id,
	                           &r.algo),
	          "cublasLtMatmulAlgoInit", err);
	if (st == CEIL_OK)
		st = configure(p, &r.algo, err);
	if (st == CEIL_OK) {
		const cublasLtMatmulAlgo_t algo = r.algo;

		st = told(p, p->api.algo_check(p->handle, p->op, p->a, p->b, p->d, p->d, &algo, &r),
		          "cublasLtMatmulAlgoCheck", err);
		r.algo = algo;
	}
	if (st != CEIL_OK)
		return st;
	take(p, &r);
	return p->count ? CEIL_OK : none_left(p, err);
}

static enum ceil_status fill_plan(struct ceil_lt_plan *p, struct ceil_error *err)
{
	enum ceil_status st;

	st = load(&p->api, &p->lib, err);
	if (st == CEIL_OK)
		st = told(p, p->api.create(&p->handle), "cublasLtCreate", err);
	if (st == CEIL_OK)
		st = make_op(p, err);
	if (st == CEIL_OK)
		st = make_layouts(p, err);
	if (st == CEIL_OK)
		st = p->desc.algorithm ? take_named(p, err) : ask_all(p, err);
	return st;
}

enum ceil_status ceil_lt_plan_open(const struct ceil_lt_desc *d, struct ceil_lt_plan **ret_plan,
                                   uint32_t *ret_candidates, struct ceil_error *err)
{
	const struct compute_row *compute = find_compute(&d->types);
	struct ceil_lt_plan *p;
	enum ceil_status st;

	if (!compute)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "cuBLASLt has no products of %s in %s",
		                 ceil_dtype_info(d->types.a)->name,
		                 ceil_dtype_info(d->types.acc)->name);
	p = ceil_alloc(1, sizeof(*p), err);
	if (!p)
		return CEIL_E_NOMEM;
	p->desc = *d;
	p->compute = compute;
	p->one = one_of(compute->scale);
	st = fill_plan(p, err);
	if (st != CEIL_OK) {
		ceil_lt_plan_close(p);
		return st;
	}
	*ret_candidates = p->count;
	*ret_plan = p;
	return CEIL_OK;
}

/* A failure to destroy leaves nothing to do: the results that the plan gave stand. */
void ceil_lt_plan_close(struct ceil_lt_plan *plan)
{
	if (!plan)
		return;
	if (plan->d)
		(void)plan->api.layout_destroy(plan->d);
	if (plan->b)
		(void)plan->api.layout_destroy(plan->b);
	if (plan->a)
		(void)plan->api.layout_destroy(plan->a);
	if (plan->op)
		(void)plan->api.desc_destroy(plan->op);
	if (plan->handle)
		(void)plan->api.destroy(plan->handle);
	ceil_dynlib_close(&plan->lib);
	free(plan);
}

enum ceil_status ceil_lt_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct ceil_lt_plan *p = l->state;
	const struct algorithm *x = &p->algorithm[l->candidate];

	return told(p,
	            p->api.matmul(p->handle, p->op, &p->one, l->buf[0], p->a, l->buf[1], p->b,
	                          &p->zero, l->buf[2], p->d, l->buf[2], p->d, &x->algo, l->buf[3],
	                          x->workspace_bytes, l->stream[0]),
	            "cublasLtMatmul", err);
}

/* ---- description */

void ceil_lt_plan_describe(const struct ceil_lt_plan *plan, uint32_t candidate, char *ret_text,
                           size_t size)
{
	const struct algorithm *x = &plan->algorithm[candidate];

	ceil_copy(ret_text, size, "");
	for (size_t i = 0; i < COUNT(config_rows); i++) {
		const struct config_row *row = &config_rows[i];
		uint32_t value = 0;

		if (!config_value(plan, &x->algo, row, &value))
			continue;
		ceil_append(ret_text, size, "%s%s=%u", *ret_text ? " " : "", row->word, value);
		if (value < row->name_count && row->names[value])
			ceil_append(ret_text, size, ":%s", row->names[value]);
	}
	ceil_append(ret_text, size, "%sworkspace=%zu", *ret_text ? " " : "", x->workspace_bytes);
	if (x->impl)
		ceil_append(ret_text, size, " impl=0x%llx", (unsigned long long)x->impl);
}

#else

static enum ceil_status not_built(struct ceil_error *err)
{
	return ceil_fail(err, CEIL_E_UNSUPPORTED,
	                 "this build has no cuBLASLt: install the CUDA toolkit with cublasLt.h and "
	                 "build again");
}

enum ceil_status ceil_lt_info_read(struct ceil_lt_info *ret_info, struct ceil_error *err)
{
	(void)ret_info;
	return not_built(err);
}

enum ceil_status ceil_lt_plan_open(const struct ceil_lt_desc *d, struct ceil_lt_plan **ret_plan,
                                   uint32_t *ret_candidates, struct ceil_error *err)
{
	(void)d;
	(void)ret_plan;
	(void)ret_candidates;
	return not_built(err);
}

void ceil_lt_plan_close(struct ceil_lt_plan *plan)
{
	(void)plan; /* there can be none */
}

enum ceil_status ceil_lt_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)l;
	return not_built(err);
}

void ceil_lt_plan_describe(const struct ceil_lt_plan *plan, uint32_t candidate, char *ret_text,
                           size_t size)
{
	(void)plan;
	(void)candidate;
	ceil_copy(ret_text, size, "");
}

#endif
