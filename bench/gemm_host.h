/* Host side of the gemm bench: C = A^T B by whichever CBLAS is there. */
#ifndef CEIL_GEMM_HOST_H
#define CEIL_GEMM_HOST_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stddef.h>
#include <stdint.h>

struct ceil_device;
struct ceil_point;

/*
 * C(m,n) = A(k,m)^T B(k,n), all column-major and dense: buf[0] = A with leading dimension k, buf[1]
 * = B with leading dimension k, buf[2] = C with leading dimension m; alpha 1, beta 0.
 */

/*
 * ceil_gemm_host_prepare - loads the CBLAS and tells it the device's number of threads.
 * @l: m, n, k; state becomes the library, which the device owns.
 * @ret_candidates: 1.
 * Return: CEIL_E_UNSUPPORTED without a CBLAS (what to install), or on a part of the machine (a
 * CBLAS has one set of threads a process); CEIL_E_USAGE if m, n or k is 0 or above 2^31 - 1.
 */
CEIL_MUST_CHECK enum ceil_status ceil_gemm_host_prepare(const struct ceil_point *p,
                                                        struct ceil_device *dev,
                                                        struct ceil_launch *l,
                                                        uint32_t *ret_candidates,
                                                        struct ceil_error *err);

/* ceil_gemm_host_release - forgets the library; the device closes it. */
void ceil_gemm_host_release(struct ceil_launch *l);

/* ceil_gemm_host_describe - "OpenBLAS 0.3.21 ..., 2 threads". */
void ceil_gemm_host_describe(const struct ceil_launch *l, char *ret_text, size_t size);

/* Launchers of type ceil_launch_fn; they return when the product is there. */
CEIL_MUST_CHECK enum ceil_status ceil_gemm_host_launch_fp32(const struct ceil_launch *l,
                                                            struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_gemm_host_launch_fp64(const struct ceil_launch *l,
                                                            struct ceil_error *err);

#endif
