/* Host kernels of the dram bench: one pinned thread per core, plain or non-temporal stores. */
#ifndef CEIL_DRAM_HOST_H
#define CEIL_DRAM_HOST_H

#include "harness/base/status.h"
#include "harness/base/types.h"

/*
 * Launchers of type ceil_launch_fn. stream[0] is a struct ceil_pool *; arrays have n elements of
 * the type in the name and are aligned to 64 bytes:
 *
 *	buf[0] = A, input     buf[1] = B, input of add, triad, dot     buf[2] = C, output
 *
 *	write  C = 7          scale  C = 3 A        triad  C = A + 3 B
 *	copy   C = A          add    C = A + B
 *	read   C[b] = sum of the 32-bit words of A modulo 2^32, as uint32_t, whatever the type
 *	dot    C[b] = sum of A B, in the element type
 *
 * read and dot write l->blocks partial results: b covers the elements ceil_pool_share(n, 1, b,
 * blocks). One block a worker (blocks = sm_count of the device) keeps every core at work. The sum
 * of dot is kept in many lanes and joined in double: where each lane is exact, the result is the
 * exact sum rounded once.
 *
 * _nt: stores that pass by the caches, so that no line of C is read before it is written.
 * Products and sums are rounded separately, never fused: every CPU stores the same bits.
 * Return: CEIL_OK; CEIL_E_UNSUPPORTED if this CPU has no non-temporal stores (only x86 has).
 * Source: McCalpin, STREAM (1995), for the operations; Intel 64 and IA-32 Optimization Reference
 * Manual 248966, non-temporal stores.
 */
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_read_fp32(const struct ceil_launch *l,
                                                          struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_read_fp64(const struct ceil_launch *l,
                                                          struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_write_fp32(const struct ceil_launch *l,
                                                           struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_write_fp64(const struct ceil_launch *l,
                                                           struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_copy_fp32(const struct ceil_launch *l,
                                                          struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_copy_fp64(const struct ceil_launch *l,
                                                          struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_scale_fp32(const struct ceil_launch *l,
                                                           struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_scale_fp64(const struct ceil_launch *l,
                                                           struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_add_fp32(const struct ceil_launch *l,
                                                         struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_add_fp64(const struct ceil_launch *l,
                                                         struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_triad_fp32(const struct ceil_launch *l,
                                                           struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_triad_fp64(const struct ceil_launch *l,
                                                           struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_dot_fp32(const struct ceil_launch *l,
                                                         struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_dot_fp64(const struct ceil_launch *l,
                                                         struct ceil_error *err);

CEIL_MUST_CHECK enum ceil_status ceil_dram_host_write_nt_fp32(const struct ceil_launch *l,
                                                              struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_write_nt_fp64(const struct ceil_launch *l,
                                                              struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_copy_nt_fp32(const struct ceil_launch *l,
                                                             struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_copy_nt_fp64(const struct ceil_launch *l,
                                                             struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_scale_nt_fp32(const struct ceil_launch *l,
                                                              struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_scale_nt_fp64(const struct ceil_launch *l,
                                                              struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_add_nt_fp32(const struct ceil_launch *l,
                                                            struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_add_nt_fp64(const struct ceil_launch *l,
                                                            struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_triad_nt_fp32(const struct ceil_launch *l,
                                                              struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_dram_host_triad_nt_fp64(const struct ceil_launch *l,
                                                              struct ceil_error *err);

#endif
