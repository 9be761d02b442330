/* Reads of an array by all SMs again and again: from the L2 cache, or from wherever it fits. */
#ifndef CEIL_L2_H
#define CEIL_L2_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every form that is compiled: 16-byte vectors that a thread has in flight. */
#define CEIL_L2_FORMS(FORM) FORM(2) FORM(4) FORM(8)

/*
 * ceil_l2_read_x<vectors> - one launch on stream 0; the loads pass by the L1 (.cg).
 * The array of l->n bytes at buf[0] is groups of threads * vectors * 16 bytes, a whole number of
 * them. Block b reads l->iters groups. With l->k > 0 it has k groups of its own, from b k on, and
 * reads them in turn, beginning with number b modulo k of them. With l->k = 0 it reads b,
 * b + blocks, b + 2 blocks, ..., modulo the number of groups, so that at any time the blocks read
 * side by side. buf[1][b] = the sum of the 32-bit words that it read, modulo 2^32.
 * Return: CEIL_OK; CEIL_E_USAGE if n is not whole groups or less than k for each block, or threads
 * no multiple of 32 up to 1024; what CUDA said.
 */
#define CEIL_L2_DECLARE(vectors)                                                                   \
	enum ceil_status ceil_l2_read_x##vectors(const struct ceil_launch *l,                      \
	                                         struct ceil_error *err);
CEIL_L2_FORMS(CEIL_L2_DECLARE)

#ifdef __cplusplus
}
#endif

#endif
