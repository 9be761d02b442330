/* Streaming kernels: read, write, copy, scale, add, triad, dot, in several forms each. */
#ifndef CEIL_DRAM_H
#define CEIL_DRAM_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every form that is compiled, FORM(operation, policy, vectors): how many 16-byte vectors a thread
 * moves in a turn, and what it tells the caches.
 *   plain: nothing. cs: streaming loads and stores (.cs), both leave the cache first.
 *   evict: loads stay longest (L1::evict_last), stores leave first (L1::evict_first).
 *   keep:  the same for the L2 alone, by a cache hint; plain before compute capability 8.0.
 */
#define CEIL_DRAM_FORMS(FORM)                                                                      \
	FORM(read, plain, 8)                                                                       \
	FORM(read, cs, 8)                                                                          \
	FORM(write, plain, 1)                                                                      \
	FORM(write, cs, 1)                                                                         \
	FORM(write, keep, 1)                                                                       \
	FORM(copy, plain, 1)                                                                       \
	FORM(copy, plain, 4)                                                                       \
	FORM(copy, cs, 1)                                                                          \
	FORM(copy, evict, 1)                                                                       \
	FORM(copy, keep, 1)                                                                        \
	FORM(scale, cs, 1)                                                                         \
	FORM(scale, keep, 1)                                                                       \
	FORM(add, plain, 1)                                                                        \
	FORM(add, keep, 1)                                                                         \
	FORM(triad, plain, 1)                                                                      \
	FORM(triad, keep, 1)                                                                       \
	FORM(dot, plain, 8)                                                                        \
	FORM(dot, cs, 8)

/*
 * ceil_dram_<operation>_<policy>_x<vectors>_<dtype> - one launch on stream 0.
 * A, B, C are buf[0], buf[1], buf[2] of l->n elements, a multiple of 16 bytes:
 *   write C = 7; copy C = A; scale C = 3 A; add C = A + B; triad C = A + 3 B.
 *   read: buf[2][block] = sum of the 32-bit words of A that the block read, modulo 2^32.
 *   dot: buf[2][block] = sum of a * b over the block's elements, in the element type.
 * Any l->blocks covers all: block b takes groups b, b + blocks, ... of threads * vectors * 16
 * bytes. l->threads: a multiple of 32, at most 512.
 * Return: CEIL_OK; CEIL_E_USAGE if n or threads is not as above; what CUDA said.
 */
#define CEIL_DRAM_DECLARE(op, policy, vectors)                                                     \
	enum ceil_status ceil_dram_##op##_##policy##_x##vectors##_fp32(                            \
		const struct ceil_launch *l, struct ceil_error *err);                              \
	enum ceil_status ceil_dram_##op##_##policy##_x##vectors##_fp64(                            \
		const struct ceil_launch *l, struct ceil_error *err);
CEIL_DRAM_FORMS(CEIL_DRAM_DECLARE)

/* ceil_dram_memcpy_fp32 - C = A by the driver, device to device, l->n elements of 4 bytes. */
enum ceil_status ceil_dram_memcpy_fp32(const struct ceil_launch *l, struct ceil_error *err);
/* ceil_dram_memset_fp32 - C = 0 by the driver. */
enum ceil_status ceil_dram_memset_fp32(const struct ceil_launch *l, struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
