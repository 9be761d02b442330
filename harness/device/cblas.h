/* A CBLAS that is loaded when needed: OpenBLAS, BLIS, MKL or the reference library. */
#ifndef CEIL_CBLAS_H
#define CEIL_CBLAS_H

#include "harness/base/status.h"

#include <stddef.h>

struct ceil_cblas;

/* C(m,n) = A(k,m)^T B(k,n), column-major and dense, alpha 1, beta 0. Dimensions fit an int. */
struct ceil_cblas_gemm {
	int m, n, k;
	const void *a, *b;
	void *c;
};

/*
 * ceil_cblas_open - loads the first CBLAS of the list, or the one that GPUCEIL_LIB_CBLAS names,
 * and makes it use threads threads: an inherited OMP_NUM_THREADS does not decide it.
 * Return: CEIL_E_UNSUPPORTED with what was looked for and what to install, or if `ulimit -v` leaves
 * its threads no room; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cblas_open(unsigned threads, struct ceil_cblas **ret_cblas,
                                                 struct ceil_error *err);

/* ceil_cblas_close - NULL is a no-op. */
void ceil_cblas_close(struct ceil_cblas *c);

/* ceil_cblas_name - the library's own words on what it is, and its threads. Lives as long as c. */
const char *ceil_cblas_name(const struct ceil_cblas *c);

/* ceil_cblas_path - of the file that was loaded. Lives as long as c. */
const char *ceil_cblas_path(const struct ceil_cblas *c);

/* ceil_cblas_sgemm, ceil_cblas_dgemm - one product in fp32 or fp64, done when they return. */
void ceil_cblas_sgemm(const struct ceil_cblas *c, const struct ceil_cblas_gemm *g);
void ceil_cblas_dgemm(const struct ceil_cblas *c, const struct ceil_cblas_gemm *g);

#endif
