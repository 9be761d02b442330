/* The inside of cuBLASLt's binding, shared by its files; nobody else includes it. */
#ifndef CEIL_CUBLASLT_INSIDE_H
#define CEIL_CUBLASLT_INSIDE_H

#include "harness/device/cublaslt.h"

/* A toolkit may come without cuBLAS: the files are empty then but for what says so. */
#if defined(__has_include)
#if __has_include(<cublasLt.h>)
#define CEIL_HAVE_CUBLASLT 1
#include <cublasLt.h>

/* The library's functions, by the names of its header. */
struct ceil_lt_api {
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

/*
 * How the library is told to compute, and what an algorithm may do. The library has no switch
 * that forbids emulation: a compute type without it, an environment without its variables, and
 * the algorithm's own account of the instructions, accumulator and operands that it uses.
 * That account is not all true: Hopper's kernels of id 66 say INPUT_16F whatever they read, those
 * of tf32 (id 43) say FMA. So only sums in fp16 are refused there; tests/gpu/t_gemm.c shows that
 * tf32 keeps ten bits of mantissa.
 */
struct ceil_lt_compute {
	enum ceil_dtype a, acc;
	cublasComputeType_t compute;
	cudaDataType scale;
	uint64_t allowed; /* CUBLASLT_NUMERICAL_IMPL_FLAGS_* */
};

/* One and zero of the scale type. */
union ceil_lt_scalar {
	double f64;
	float f32;
	uint16_t f16;
	int32_t i32;
};

/* Answers of a heuristic, and the limits of workspace at which it is asked. */
enum {
	CEIL_LT_ASKED = 64,
	CEIL_LT_WORKSPACES = 3,
	CEIL_LT_MAX_ALGORITHMS = CEIL_LT_ASKED * CEIL_LT_WORKSPACES
};

struct ceil_lt_algorithm {
	cublasLtMatmulAlgo_t algo;
	size_t workspace_bytes;
	uint64_t impl; /* 0: the library does not say */
};

struct ceil_lt_plan {
	struct ceil_lt_desc desc;
	const struct ceil_lt_compute *compute;
	struct ceil_dynlib lib;
	struct ceil_lt_api api;
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t op;
	cublasLtMatrixLayout_t a, b, d;
	union ceil_lt_scalar one, zero;
	uint32_t count;
	uint32_t refused;      /* compute in another type */
	uint64_t refused_impl; /* how the first of these computes */
	struct ceil_lt_algorithm algorithm[CEIL_LT_MAX_ALGORITHMS];
};

/* ---- cublaslt_library.c */

/*
 * ceil_lt_load - opens the library, which stays mapped until the process ends: it is half a
 * gigabyte, its kernels are loaded one by one at first use, and a plan is made for every point.
 * Return: CEIL_E_UNSUPPORTED if it is missing or too old.
 */
CEIL_MUST_CHECK enum ceil_status ceil_lt_load(struct ceil_lt_api *api, struct ceil_dynlib *ret_lib,
                                              struct ceil_error *err);

/* ---- cublaslt.c */

/*
 * ceil_lt_told - what the library said of a call.
 * Return: CEIL_OK; CEIL_E_UNSUPPORTED, CEIL_E_NOMEM or CEIL_E_DEVICE with type, shape and its
 * words.
 */
CEIL_MUST_CHECK enum ceil_status ceil_lt_told(const struct ceil_lt_plan *p, cublasStatus_t s,
                                              const char *call, struct ceil_error *err);

/* ---- cublaslt_words.c: an algorithm is the values of its configuration, as "name=value" */

/* ceil_lt_words_number - the number behind "word=" in text; false if it is not there. */
bool ceil_lt_words_number(const char *text, const char *word, uint32_t *ret_value);

/* ceil_lt_words_read - configures algo as the plan's words say; the id is taken before. */
CEIL_MUST_CHECK enum ceil_status ceil_lt_words_read(const struct ceil_lt_plan *p,
                                                    cublasLtMatmulAlgo_t *algo,
                                                    struct ceil_error *err);

/* ceil_lt_words_write - the configuration of algo, appended to ret_text. */
void ceil_lt_words_write(const struct ceil_lt_plan *p, const cublasLtMatmulAlgo_t *algo,
                         char *ret_text, size_t size);

#endif
#endif

#endif
