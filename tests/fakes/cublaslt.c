/* A stand-in for libcublasLt.so: it multiplies on the host; FAKE_LT_* variables decide the rest. */
#include "harness/base/value.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * FAKE_LT_FAIL=name=15,...  these functions return that cublasStatus_t
 * FAKE_LT_COUNT=n           answers of a heuristic (3); odd ones need 16 MiB of workspace, and at
 *                           a limit of 48 MiB there is one more
 * FAKE_LT_STATE=n           state of every answer (0)
 * FAKE_LT_IMPL=n            numerical implementation flags (those of the compute type)
 * FAKE_LT_WRONG=n           element n of each product is off by one
 * Values and layouts are those of cublasLt.h 13.1.
 */
enum { OK = 0, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, E4M3 = 28, E5M2 = 29 };
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72, COMPUTE_TF32 = 77 };
enum { TRANS_A = 3, TRANS_B = 4, FAST_ACCUM = 25 };
enum { BATCH_COUNT = 5, BATCH_STRIDE = 6 };

#define MIB (UINT64_C(1) << 20)

struct lt_object {
	int compute, scale; /* an operation */
	int32_t trans_a, trans_b;
	int8_t fast;
	int type; /* a layout */
	uint64_t rows, cols;
	int32_t batch;
	int64_t stride;
	uint64_t workspace_bytes; /* a preference */
};
struct lt_algo {
	uint64_t data[8]; /* id, workspace, compute type, type of A, tile + 1, stages + 1 */
};
struct lt_result {
	struct lt_algo algo;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};
_Static_assert(sizeof(struct lt_result) == 96, "cublasLtMatmulHeuristicResult_t");

/* Objects that are open; tests look at it. */
int fake_lt_open;

#define FAKE(name, ...)                                                                            \
	int name(__VA_ARGS__);                                                                     \
	int name(__VA_ARGS__)

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* The code that FAKE_LT_FAIL orders for a function, or 0. */
static int ordered(const char *function)
{
	const char *at = getenv("FAKE_LT_FAIL");
	const size_t length = strlen(function);

	for (at = at ? strstr(at, function) : NULL; at; at = strstr(at + 1, function)) {
		if (at[length] == '=')
			return (int)strtol(at + length + 1, NULL, 10);
	}
	return OK;
}

static int make(struct lt_object **ret_object, const char *function)
{
	const int code = ordered(function);

	if (code)
		return code;
	*ret_object = calloc(1, sizeof(**ret_object));
	fake_lt_open++;
	return OK;
}

static int drop(struct lt_object *object, const char *function)
{
	free(object);
	fake_lt_open--;
	return ordered(function);
}

size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
	return 130100;
}

const char *cublasLtGetStatusName(int status);
const char *cublasLtGetStatusName(int status)
{
	return status == NOT_SUPPORTED   ? "CUBLAS_STATUS_NOT_SUPPORTED"
	       : status == INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
	                                 : "CUBLAS_STATUS_OTHER";
}

FAKE(cublasLtCreate, struct lt_object **ret_handle)
{
	return make(ret_handle, __func__);
}

FAKE(cublasLtDestroy, struct lt_object *handle)
{
	return drop(handle, __func__);
}

FAKE(cublasLtMatmulDescCreate, struct lt_object **ret_op, int compute, int scale)
{
	const int code = make(ret_op, __func__);

	if (code == OK) {
		(*ret_op)->compute = compute;
		(*ret_op)->scale = scale;
	}
	return code;
}

FAKE(cublasLtMatmulDescDestroy, struct lt_object *op)
{
	return drop(op, __func__);
}

FAKE(cublasLtMatmulDescSetAttribute, struct lt_object *op, int attribute, const void *value,
     size_t size)
{
	if (attribute == FAST_ACCUM && size == sizeof(op->fast))
		memcpy(&op->fast, value, size);
	else if (attribute == TRANS_A && size == sizeof(op->trans_a))
		memcpy(&op->trans_a, value, size);
	else if (attribute == TRANS_B && size == sizeof(op->trans_b))
		memcpy(&op->trans_b, value, size);
	else
		return INVALID_VALUE;
	return ordered(__func__);
}

FAKE(cublasLtMatrixLayoutCreate, struct lt_object **ret_layout, int type, uint64_t rows,
     uint64_t cols, int64_t ld)
{
	const int code = make(ret_layout, __func__);

	if (code != OK)
		return code;
	(*ret_layout)->type = type;
	(*ret_layout)->rows = rows;
	(*ret_layout)->cols = cols;
	return ld == (int64_t)rows ? OK : INVALID_VALUE;
}

FAKE(cublasLtMatrixLayoutSetAttribute, struct lt_object *layout, int attribute, const void *value,
     size_t size)
{
	if (attribute == BATCH_COUNT && size == sizeof(layout->batch))
		memcpy(&layout->batch, value, size);
	else if (attribute == BATCH_STRIDE && size == sizeof(layout->stride))
		memcpy(&layout->stride, value, size);
	else
		return INVALID_VALUE;
	return ordered(__func__);
}

FAKE(cublasLtMatrixLayoutDestroy, struct lt_object *layout)
{
	return drop(layout, __func__);
}

FAKE(cublasLtMatmulPreferenceCreate, struct lt_object **ret_pref)
{
	return make(ret_pref, __func__);
}

FAKE(cublasLtMatmulPreferenceDestroy, struct lt_object *pref)
{
	return drop(pref, __func__);
}

FAKE(cublasLtMatmulPreferenceSetAttribute, struct lt_object *pref, int attribute, const void *value,
     size_t size)
{
	if (attribute != 1 || size != sizeof(pref->workspace_bytes))
		return INVALID_VALUE;
	memcpy(&pref->workspace_bytes, value, size);
	return ordered(__func__);
}

static bool answer(struct lt_result *r, uint64_t i, uint64_t need, const struct lt_object *op,
                   const struct lt_object *a, const struct lt_object *pref)
{
	if (need > pref->workspace_bytes)
		return false;
	*r = (struct lt_result){
		.algo = {{66 + i, need, (uint64_t)op->compute, (uint64_t)a->type}},
		.workspace_bytes = need,
		.state = (int)setting("FAKE_LT_STATE", OK),
		.waves = 1.0f,
	};
	return true;
}

FAKE(cublasLtMatmulAlgoGetHeuristic, const struct lt_object *handle, const struct lt_object *op,
     const struct lt_object *a, const struct lt_object *b, const struct lt_object *c,
     const struct lt_object *d, const struct lt_object *pref, int asked, struct lt_result *result,
     int *ret_count)
{
	const uint64_t count = setting("FAKE_LT_COUNT", 3);
	const bool eight_bits = a->type == R_8I || a->type == E4M3 || a->type == E5M2;
	int n = 0;

	if (ordered(__func__))
		return ordered(__func__);
	if (!handle || c != d || !b)
		return INVALID_VALUE;
	if (eight_bits && !(op->trans_a == 1 && op->trans_b == 0))
		return NOT_SUPPORTED;
	for (uint64_t i = 0; i < count && n < asked; i++)
		n += answer(&result[n], i, i % 2 ? 16 * MIB : 0, op, a, pref);
	if (count && n < asked)
		n += answer(&result[n], count, 48 * MIB, op, a, pref);
	*ret_count = n;
	return n ? OK : NOT_SUPPORTED;
}

FAKE(cublasLtMatmulAlgoConfigGetAttribute, const struct lt_algo *algo, int attribute, void *value,
     size_t size, size_t *ret_written)
{
	/* By attribute: id, tile 128x256, split-k 1, ..., stages auto, inner shape, cluster 2x1. */
	const uint32_t tile = algo->data[4] ? (uint32_t)algo->data[4] - 1 : 23;
	const uint32_t stages = algo->data[5] ? (uint32_t)algo->data[5] - 1 : 36;
	const uint32_t values[] = {(uint32_t)algo->data[0], tile, 1, 0, 1, 0, stages, 0, 3};
	const size_t sizes[] = {4, 4, 4, 4, 4, 4, 4, 2, 2};
	const uint16_t narrow = attribute < 0 || attribute > 8 ? 0 : (uint16_t)values[attribute];

	if (ordered(__func__))
		return ordered(__func__);
	if (attribute < 0 || attribute > 8 || size != sizes[attribute])
		return INVALID_VALUE;
	memcpy(value, size == 2 ? (const void *)&narrow : (const void *)&values[attribute], size);
	*ret_written = size;
	return OK;
}

FAKE(cublasLtMatmulAlgoInit, const struct lt_object *handle, int compute, int scale, int a, int b,
     int c, int d, int id, struct lt_algo *ret_algo)
{
	(void)scale;
	(void)b;
	if (ordered(__func__))
		return ordered(__func__);
	if (!handle || c != d || id < 66 || id > 69)
		return NOT_SUPPORTED;
	*ret_algo = (struct lt_algo){
		{(uint64_t)id, id % 2 ? 16 * MIB : 0, (uint64_t)compute, (uint64_t)a}};
	return OK;
}

FAKE(cublasLtMatmulAlgoConfigSetAttribute, struct lt_algo *algo, int attribute, const void *value,
     size_t size)
{
	uint32_t wide = 0;

	if (ordered(__func__))
		return ordered(__func__);
	if (attribute < 1 || attribute > 8 || size > sizeof(wide))
		return INVALID_VALUE;
	memcpy(&wide, value, size);
	if (attribute == 1)
		algo->data[4] = wide + 1;
	if (attribute == 6)
		algo->data[5] = wide + 1;
	return OK;
}

FAKE(cublasLtMatmulAlgoCheck, const struct lt_object *handle, const struct lt_object *op,
     const struct lt_object *a, const struct lt_object *b, const struct lt_object *c,
     const struct lt_object *d, const struct lt_algo *algo, struct lt_result *ret_result)
{
	if (ordered(__func__))
		return ordered(__func__);
	if (!handle || !op || !a || !b || c != d)
		return INVALID_VALUE;
	ret_result->workspace_bytes = algo->data[1];
	ret_result->state = (int)setting("FAKE_LT_STATE", OK);
	return OK;
}

/* FMA 1, HMMA 2, IMMA 4, DMMA 8; accumulators from bit 8, inputs from bit 16. */
static uint64_t flags_of(uint64_t compute, uint64_t type)
{
	switch (compute) {
	case COMPUTE_64F:
		return 0x100408;
	case COMPUTE_TF32:
		return 0x040202;
	case COMPUTE_16F:
		return 0x010102;
	case COMPUTE_32I:
		return 0x200804;
	default:
		return type == R_32F ? 0x080201 : type == R_16BF ? 0x020202 : 0x010202;
	}
}

FAKE(cublasLtMatmulAlgoCapGetAttribute, const struct lt_algo *algo, int attribute, void *value,
     size_t size, size_t *ret_written)
{
	const uint64_t flags = setting("FAKE_LT_IMPL", flags_of(algo->data[2], algo->data[3]));

	if (ordered(__func__))
		return ordered(__func__);
	if (attribute != 15 || size != sizeof(flags))
		return INVALID_VALUE;
	memcpy(value, &flags, size);
	*ret_written = size;
	return OK;
}

/* ---- the product */

static enum ceil_dtype dtype_of(int type)
{
	switch (type) {
	case R_64F:
		return CEIL_FP64;
	case R_16F:
		return CEIL_FP16;
	case R_16BF:
		return CEIL_BF16;
	case R_8I:
		return CEIL_INT8;
	case R_32I:
		return CEIL_INT32;
	case E4M3:
		return CEIL_E4M3;
	case E5M2:
		return CEIL_E5M2;
	default:
		return CEIL_FP32;
	}
}

static size_t size_of(int type)
{
	return type == R_64F                    ? 8
	       : type == R_32F || type == R_32I ? 4
	       : type >= E4M3 || type == R_8I   ? 1
	                                        : 2;
}

static double load(const void *p, int type, uint64_t i)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)p + i * size_of(type), size_of(type));
	return ceil_decode(dtype_of(type), bits);
}

static void store(void *p, int type, uint64_t i, double x)
{
	const uint64_t bits = ceil_encode(dtype_of(type), x);

	memcpy((char *)p + i * size_of(type), &bits, size_of(type));
}

/* Whether p holds x in the scale type. */
static bool holds(const void *p, int scale, double x)
{
	return load(p, scale, 0) == x;
}

static double element(const struct lt_object *op, const void *a, const struct lt_object *la,
                      const void *b, const struct lt_object *lb, uint64_t row, uint64_t col)
{
	const uint64_t k = op->trans_a ? la->rows : la->cols;
	double sum = 0.0;

	for (uint64_t i = 0; i < k; i++) {
		const uint64_t at = op->trans_a ? row * la->rows + i : i * la->rows + row;
		const uint64_t bt = op->trans_b ? i * lb->rows + col : col * lb->rows + i;

		sum += load(a, la->type, at) * load(b, lb->type, bt);
	}
	return sum;
}

/* @i: of the batch. Return: where its matrix begins. */
static const char *part(const void *p, const struct lt_object *layout, int32_t i)
{
	return (const char *)p + (uint64_t)(layout->stride * i) * size_of(layout->type);
}

FAKE(cublasLtMatmul, const struct lt_object *handle, const struct lt_object *op, const void *alpha,
     const void *a, const struct lt_object *la, const void *b, const struct lt_object *lb,
     const void *beta, const void *c, const struct lt_object *lc, void *d,
     const struct lt_object *ld, const struct lt_algo *algo, void *workspace,
     size_t workspace_bytes, void *stream)
{
	const uint64_t wrong = setting("FAKE_LT_WRONG", UINT64_MAX);

	(void)workspace;
	(void)stream;
	if (ordered(__func__))
		return ordered(__func__);
	if (!handle || !holds(alpha, op->scale, 1.0) || !holds(beta, op->scale, 0.0) || c != d ||
	    lc != ld || workspace_bytes < algo->data[1])
		return INVALID_VALUE;
	for (int32_t n = 0; n < (ld->batch ? ld->batch : 1); n++) {
		char *to = (char *)d + (uint64_t)(ld->stride * n) * size_of(ld->type);

		for (uint64_t i = 0; i < ld->rows * ld->cols; i++)
			store(to, ld->type, i,
			      element(op, part(a, la, n), la, part(b, lb, n), lb, i % ld->rows,
			              i / ld->rows) +
			              (i == wrong));
	}
	return OK;
}
