/* Host side of the gemm bench: C = A^T B by whichever CBLAS is there. */
#include "bench/gemm_host.h"

#include <inttypes.h>
#include <limits.h>

#include "harness/base/text.h"
#include "harness/device/cblas.h"
#include "harness/device/host.h"

enum ceil_status ceil_gemm_host_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                        struct ceil_launch *l, uint32_t *ret_candidates,
                                        struct ceil_error *err)
{
	struct ceil_cblas *cblas = NULL;
	enum ceil_status st;

	(void)p; /* the types are the launcher's */
	/* The common interface counts in int. */
	if (l->m - 1 >= INT_MAX || l->n - 1 >= INT_MAX || l->k - 1 >= INT_MAX)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "CBLAS: %" PRIu64 " x %" PRIu64 " x %" PRIu64
		                 " is outside of 1 to 2147483647",
		                 l->m, l->n, l->k);
	st = ceil_host_cblas(dev, &cblas, err);
	if (st != CEIL_OK)
		return st;
	l->state = cblas;
	*ret_candidates = 1;
	return CEIL_OK;
}

void ceil_gemm_host_release(struct ceil_launch *l)
{
	l->state = NULL;
}

void ceil_gemm_host_describe(const struct ceil_launch *l, char *ret_text, size_t size)
{
	ceil_copy(ret_text, size, l->state ? ceil_cblas_name(l->state) : "");
}

static struct ceil_cblas_gemm product_of(const struct ceil_launch *l)
{
	return (struct ceil_cblas_gemm){
		.m = (int)l->m,
		.n = (int)l->n,
		.k = (int)l->k,
		.a = l->buf[0],
		.b = l->buf[1],
		.c = l->buf[2],
	};
}

enum ceil_status ceil_gemm_host_launch_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct ceil_cblas_gemm g = product_of(l);

	(void)err; /* a CBLAS reports nothing */
	ceil_cblas_sgemm(l->state, &g);
	return CEIL_OK;
}

enum ceil_status ceil_gemm_host_launch_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct ceil_cblas_gemm g = product_of(l);

	(void)err; /* a CBLAS reports nothing */
	ceil_cblas_dgemm(l->state, &g);
	return CEIL_OK;
}
