/* Kernels that keep a GPU busy in known ways: spinning, filling, streaming, waiting, computing. */
#ifndef CEIL_KERNELS_UTILIZATION_H
#define CEIL_KERNELS_UTILIZATION_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Launchers of type ceil_launch_fn, all on stream 0. With buf[CEIL_UTIL_STAYS] not NULL each block
 * b tells there, as number b, where it ran and when; the memory must hold l->blocks of them.
 * Return: CEIL_OK; CEIL_E_USAGE if a size is not as asked below; what CUDA said.
 */
enum { CEIL_UTIL_IN, CEIL_UTIL_OUT, CEIL_UTIL_STAYS = CEIL_MAX_BUFS - 1 };

/* ceil_util_spin - every block stays for n ns and computes nothing. */
CEIL_MUST_CHECK enum ceil_status ceil_util_spin(const struct ceil_launch *l,
                                                struct ceil_error *err);

/* ceil_util_fill - OUT = 1 for n floats, a multiple of 4; l->blocks * l->threads covers n / 4. */
CEIL_MUST_CHECK enum ceil_status ceil_util_fill(const struct ceil_launch *l,
                                                struct ceil_error *err);

/* Vectors of 16 bytes that a thread of ceil_util_stream copies. */
enum { CEIL_UTIL_STREAM_VECTORS = 4 };
/*
 * ceil_util_stream - OUT = IN for n floats; n is l->blocks * l->threads vectors of 16 bytes times
 * CEIL_UTIL_STREAM_VECTORS.
 */
CEIL_MUST_CHECK enum ceil_status ceil_util_stream(const struct ceil_launch *l,
                                                  struct ceil_error *err);

/* FMAs of one thread in an iteration of the two kernels below. */
enum { CEIL_UTIL_CHAIN_FMAS = 16, CEIL_UTIL_DENSE_SUMS = 64, CEIL_UTIL_DENSE_FMAS = 64 * 8 };
/*
 * ceil_util_chain - each thread: x = 1; iters times: x = 0.5 x + 0.5, CEIL_UTIL_CHAIN_FMAS times,
 * each waiting for the one before. OUT[thread] = x, which is 1.
 */
CEIL_MUST_CHECK enum ceil_status ceil_util_chain(const struct ceil_launch *l,
                                                 struct ceil_error *err);

/*
 * ceil_util_dense - the same with CEIL_UTIL_DENSE_SUMS sums in registers that do not wait for each
 * other, 8 times an iteration; at most 256 threads. OUT[thread] = their sum, which is their number.
 */
CEIL_MUST_CHECK enum ceil_status ceil_util_dense(const struct ceil_launch *l,
                                                 struct ceil_error *err);

/* ceil_util_copy - n bytes from IN to OUT by the driver, whatever memory they are. */
CEIL_MUST_CHECK enum ceil_status ceil_util_copy(const struct ceil_launch *l,
                                                struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
