/* Matrix products of several sizes in one call, by cuBLAS's grouped GEMM, loaded at run time. */
#include "harness/device/cublaslt_grouped.h"

#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
/* Grouped products came with CUDA 12.5. */
#if CUBLAS_VERSION >= 120500
#define HAVE_GROUPED 1
#endif
#endif
#endif

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/dynlib.h"

#ifdef HAVE_GROUPED

struct cublas_api {
	cublasStatus_t (*create)(cublasHandle_t *);
	cublasStatus_t (*destroy)(cublasHandle_t);
	cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
	cublasStatus_t (*set_vector)(int, int, const void *, int, void *, int);
	const char *(*status_name)(cublasStatus_t);
	cublasStatus_t (*grouped)(cublasHandle_t, const cublasOperation_t[],
	                          const cublasOperation_t[], const int[], const int[], const int[],
	                          const void *, const void *const[], cudaDataType_t, const int[],
	                          const void *const[], cudaDataType_t, const int[], const void *,
	                          void *const[], cudaDataType_t, const int[], int, const int[],
	                          cublasComputeType_t);
};

/* A member by its name in the library. The comparison is never made: it only compiles when the
 * header's prototype is the member's type. */
#define SYMBOL(member, function)                                                                   \
	{                                                                                          \
		.names = {#function}, .offset = offsetof(struct cublas_api, member),               \
		.required = sizeof(((struct cublas_api *)0)->member == &(function)) != 0           \
	}

static const struct ceil_symbol symbols[] = {
	SYMBOL(create, cublasCreate_v2),          SYMBOL(destroy, cublasDestroy_v2),
	SYMBOL(set_stream, cublasSetStream_v2),   SYMBOL(set_vector, cublasSetVector),
	SYMBOL(status_name, cublasGetStatusName), SYMBOL(grouped, cublasGemmGroupedBatchedEx),
};

static const char *const sonames[] = {
	"libcublas.so.13",
	"libcublas.so.12",
	"/usr/local/cuda/lib64/libcublas.so.13",
	"/usr/local/cuda/lib64/libcublas.so.12",
	NULL,
};

static const struct ceil_library library = {
	.title = "cuBLAS",
	.override = "GPUCEIL_LIB_CUBLAS",
	.sonames = sonames,
	.remedy = "install cuBLAS of the CUDA toolkit, or set GPUCEIL_LIB_CUBLAS=/path",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

struct ceil_grouped {
	struct ceil_grouped_desc desc;
	struct ceil_dynlib lib;
	struct cublas_api api;
	cublasHandle_t handle;
	int *m, *n, *k, *one; /* a group is one product: sizes of each, and how many it has */
	cublasOperation_t *op_a, *op_b;
	float *alpha, *beta;
};

static enum ceil_status told(const struct ceil_grouped *g, cublasStatus_t s, const char *call,
                             struct ceil_error *err)
{
	if (s == CUBLAS_STATUS_SUCCESS)
		return CEIL_OK;
	return ceil_fail(err,
	                 s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_ARCH_MISMATCH
	                         ? CEIL_E_UNSUPPORTED
	                 : s == CUBLAS_STATUS_ALLOC_FAILED ? CEIL_E_NOMEM
	                                                   : CEIL_E_DEVICE,
	                 "%s for %llu products of %llu x n x %llu: %s", call,
	                 (unsigned long long)g->desc.count, (unsigned long long)g->desc.m,
	                 (unsigned long long)g->desc.k, g->api.status_name(s));
}

/* One block for all arrays of sizes, one for the operations, one for the factors. */
static enum ceil_status fill_sizes(struct ceil_grouped *g, const uint64_t *n,
                                   struct ceil_error *err)
{
	const size_t count = (size_t)g->desc.count;

	g->m = ceil_alloc(4 * count, sizeof(*g->m), err);
	g->op_a = ceil_alloc(2 * count, sizeof(*g->op_a), err);
	g->alpha = ceil_alloc(2 * count, sizeof(*g->alpha), err);
	if (!g->m || !g->op_a || !g->alpha)
		return CEIL_E_NOMEM;
	g->n = g->m + count;
	g->k = g->n + count;
	g->one = g->k + count;
	g->op_b = g->op_a + count;
	g->beta = g->alpha + count;
	for (size_t i = 0; i < count; i++) {
		g->m[i] = (int)g->desc.m;
		g->n[i] = (int)n[i];
		g->k[i] = (int)g->desc.k;
		g->one[i] = 1;
		g->op_a[i] = CUBLAS_OP_T;
		g->op_b[i] = CUBLAS_OP_N;
		g->alpha[i] = 1.0f;
	}
	return CEIL_OK;
}

/* Addresses of A, then of B, then of D. */
static enum ceil_status write_addresses(const struct ceil_grouped *g, const struct ceil_launch *l,
                                        struct ceil_error *err)
{
	const struct ceil_types *t = &g->desc.types;
	const size_t count = (size_t)g->desc.count;
	char **address = ceil_alloc(3 * count, sizeof(*address), err);
	uint64_t columns = 0;
	enum ceil_status st;

	if (!address)
		return CEIL_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		address[i] = (char *)l->buf[0] + ceil_dtype_bytes(t->a, i * g->desc.m * g->desc.k);
		address[count + i] =
			(char *)l->buf[1] + ceil_dtype_bytes(t->b, columns * g->desc.k);
		address[2 * count + i] =
			(char *)l->buf[2] + ceil_dtype_bytes(t->out, columns * g->desc.m);
		columns += (uint64_t)g->n[i];
	}
	st = told(g,
	          g->api.set_vector((int)(3 * count), sizeof(*address), address, 1, l->buf[4], 1),
	          "cublasSetVector", err);
	free(address);
	return st;
}

static enum ceil_status fill_grouped(struct ceil_grouped *g, const uint64_t *n,
                                     const struct ceil_launch *l, struct ceil_error *err)
{
	enum ceil_status st;

	st = ceil_dynlib_open(&library, &g->api, &g->lib, err);
	if (st == CEIL_OK)
		st = fill_sizes(g, n, err);
	if (st == CEIL_OK)
		st = told(g, g->api.create(&g->handle), "cublasCreate", err);
	if (st == CEIL_OK)
		st = told(g, g->api.set_stream(g->handle, l->stream[0]), "cublasSetStream", err);
	if (st == CEIL_OK)
		st = write_addresses(g, l, err);
	return st;
}

enum ceil_status ceil_grouped_open(const struct ceil_grouped_desc *d, const uint64_t *n,
                                   const struct ceil_launch *l, struct ceil_grouped **ret_grouped,
                                   struct ceil_error *err)
{
	struct ceil_grouped *g;
	enum ceil_status st;

	if (d->types.a != CEIL_BF16 || d->types.acc != CEIL_FP32)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "groups are of bf16, not of %s",
		                 ceil_dtype_info(d->types.a)->name);
	g = ceil_alloc(1, sizeof(*g), err);
	if (!g)
		return CEIL_E_NOMEM;
	g->desc = *d;
	st = fill_grouped(g, n, l, err);
	if (st != CEIL_OK) {
		ceil_grouped_close(g);
		return st;
	}
	*ret_grouped = g;
	return CEIL_OK;
}

void ceil_grouped_close(struct ceil_grouped *g)
{
	if (!g)
		return;
	if (g->handle)
		(void)g->api.destroy(g->handle); /* the results that it gave stand */
	ceil_dynlib_close(&g->lib);
	free(g->m);
	free(g->op_a);
	free(g->alpha);
	free(g);
}

enum ceil_status ceil_grouped_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct ceil_grouped *g = l->state;
	const size_t count = (size_t)g->desc.count;
	void *const *address = l->buf[4];
	const void *const *a = (const void *const *)address;

	return told(g,
	            g->api.grouped(g->handle, g->op_a, g->op_b, g->m, g->n, g->k, g->alpha, a,
	                           CUDA_R_16BF, g->k, a + count, CUDA_R_16BF, g->k, g->beta,
	                           address + 2 * count, CUDA_R_16BF, g->m, (int)count, g->one,
	                           CUBLAS_COMPUTE_32F),
	            "cublasGemmGroupedBatchedEx", err);
}

#else

static enum ceil_status not_built(struct ceil_error *err)
{
	return ceil_fail(err, CEIL_E_UNSUPPORTED,
	                 "this build has no grouped products: build with the cublas_v2.h of CUDA "
	                 "12.5 or newer");
}

enum ceil_status ceil_grouped_open(const struct ceil_grouped_desc *d, const uint64_t *n,
                                   const struct ceil_launch *l, struct ceil_grouped **ret_grouped,
                                   struct ceil_error *err)
{
	(void)d;
	(void)n;
	(void)l;
	(void)ret_grouped;
	return not_built(err);
}

void ceil_grouped_close(struct ceil_grouped *g)
{
	(void)g; /* there can be none */
}

enum ceil_status ceil_grouped_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)l;
	return not_built(err);
}

#endif
