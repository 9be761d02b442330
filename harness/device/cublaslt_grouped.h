/* Matrix products of several sizes in one call, by cuBLAS's grouped GEMM, loaded at run time. */
#ifndef CEIL_CUBLASLT_GROUPED_H
#define CEIL_CUBLASLT_GROUPED_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stdint.h>

/*
 * D_i(m,n_i) = A_i(k,m)^T B_i(k,n_i), column-major, without gaps, one product after another in each
 * buffer. cuBLASLt 13.1 has no grouped call; cuBLAS has had this one since 12.5.
 */
struct ceil_grouped_desc {
	struct ceil_types types; /* bf16 summed in fp32 */
	uint64_t m, k, count;
};

/* A handle with the sizes of all products. Made, used and closed by one thread on its device. */
struct ceil_grouped;

/*
 * ceil_grouped_open - loads cuBLAS (GPUCEIL_LIB_CUBLAS overrides its path) and writes the addresses
 * of all matrices into l->buf[4], which holds 3 x count pointers on the device.
 * @n: columns of each product. @l: buffers 0 A, 1 B, 2 D, and the stream of the launches.
 * Return: CEIL_OK; CEIL_E_UNSUPPORTED if the library is missing or too old, or for other types;
 * CEIL_E_NOMEM; CEIL_E_DEVICE with the library's own words.
 */
CEIL_MUST_CHECK enum ceil_status ceil_grouped_open(const struct ceil_grouped_desc *d,
                                                   const uint64_t *n, const struct ceil_launch *l,
                                                   struct ceil_grouped **ret_grouped,
                                                   struct ceil_error *err);
void ceil_grouped_close(struct ceil_grouped *g); /* NULL is a no-op */

/* ceil_grouped_launch - enqueues all products; l->state is the handle. It may wait for the host's
 * copy of the sizes, so it must not run behind a closed gate. */
CEIL_MUST_CHECK enum ceil_status ceil_grouped_launch(const struct ceil_launch *l,
                                                     struct ceil_error *err);

#endif
