/* A stand-in for libcublas.so: grouped products of bf16 on the host; FAKE_CUBLAS_* decide. */
#include "harness/base/value.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * FAKE_CUBLAS_FAIL=name=15  this function returns that cublasStatus_t
 * Values are those of cublas_api.h 13.1.
 */
enum { OK = 0, INVALID_VALUE = 7, OP_T = 1, OP_N = 0, R_16BF = 14, COMPUTE_32F = 68 };

/* Handles that are open; tests look at it. */
int fake_cublas_open;

#define FAKE(name, ...)                                                                            \
	int name(__VA_ARGS__);                                                                     \
	int name(__VA_ARGS__)

static int ordered(const char *function)
{
	const char *at = getenv("FAKE_CUBLAS_FAIL");
	const size_t length = strlen(function);

	if (!at || strncmp(at, function, length) != 0 || at[length] != '=')
		return OK;
	return (int)strtol(at + length + 1, NULL, 10);
}

FAKE(cublasCreate_v2, void **ret_handle)
{
	if (ordered(__func__))
		return ordered(__func__);
	*ret_handle = &fake_cublas_open;
	fake_cublas_open++;
	return OK;
}

FAKE(cublasDestroy_v2, void *handle)
{
	(void)handle;
	fake_cublas_open--;
	return OK;
}

FAKE(cublasSetStream_v2, void *handle, void *stream)
{
	(void)handle;
	(void)stream;
	return ordered(__func__);
}

FAKE(cublasSetVector, int count, int size, const void *from, int from_step, void *to, int to_step)
{
	if (from_step != 1 || to_step != 1)
		return INVALID_VALUE;
	memcpy(to, from, (size_t)count * (size_t)size);
	return ordered(__func__);
}

const char *cublasGetStatusName(int status);
const char *cublasGetStatusName(int status)
{
	return status == 15 ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
}

static double load(const void *p, int i)
{
	return ceil_decode(CEIL_BF16, ((const uint16_t *)p)[i]);
}

/* One product: A (k x m, transposed), B (k x n), C (m x n). */
static void multiply(const void *a, const void *b, void *c, int m, int n, int k)
{
	for (int i = 0; i < m * n; i++) {
		double sum = 0.0;

		for (int j = 0; j < k; j++)
			sum += load(a, i % m * k + j) * load(b, i / m * k + j);
		((uint16_t *)c)[i] = (uint16_t)ceil_encode(CEIL_BF16, sum);
	}
}

FAKE(cublasGemmGroupedBatchedEx, void *handle, const int *op_a, const int *op_b, const int *m,
     const int *n, const int *k, const void *alpha, const void *const *a, int type_a,
     const int *lda, const void *const *b, int type_b, const int *ldb, const void *beta,
     void *const *c, int type_c, const int *ldc, int groups, const int *sizes, int compute)
{
	if (ordered(__func__))
		return ordered(__func__);
	if (!handle || type_a != R_16BF || type_b != R_16BF || type_c != R_16BF ||
	    compute != COMPUTE_32F)
		return INVALID_VALUE;
	for (int i = 0; i < groups; i++) {
		if (op_a[i] != OP_T || op_b[i] != OP_N || sizes[i] != 1 || lda[i] != k[i] ||
		    ldb[i] != k[i] || ldc[i] != m[i] || ((const float *)alpha)[i] != 1.0f ||
		    ((const float *)beta)[i] != 0.0f)
			return INVALID_VALUE;
		multiply(a[i], b[i], c[i], m[i], n[i], k[i]);
	}
	return OK;
}
