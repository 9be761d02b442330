/* Atomic additions to global memory, by all threads at once. */
#ifndef CEIL_ATOMIC_H
#define CEIL_ATOMIC_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Additions of a turn of the loop. */
enum { CEIL_ATOMIC_UNROLL = 8 };

/*
 * ceil_atomic_add - one launch on stream 0: thread i of the grid adds 1 to the 32-bit counter
 * buf[0][i modulo l->n], l->iters * CEIL_ATOMIC_UNROLL times; nothing is read back.
 * Return: CEIL_OK; CEIL_E_USAGE if n is 0; what CUDA said.
 */
enum ceil_status ceil_atomic_add(const struct ceil_launch *l, struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
