/* Reads that stay in an SM: of shared memory, and of lines that the L1 holds. */
#ifndef CEIL_SMEM_H
#define CEIL_SMEM_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 16-byte vectors that a thread reads in a turn. */
enum { CEIL_SMEM_VECTORS = 8 };

/*
 * ceil_smem_read_shared, ceil_smem_read_l1 - one launch on stream 0.
 * Thread t of T reads vectors t, t + T, ..., t + 7 T of the tile at buf[0] (T * 8 * 16 bytes),
 * l->iters times: shared, after the block has copied the tile to its shared memory; l1, from where
 * it is, through the L1. buf[1][block * T + t] = the sum of the 32-bit words that it read, modulo
 * 2^32. l->smem_bytes: of the tile for shared, 0 for l1.
 * Return: CEIL_OK; CEIL_E_USAGE if threads is not 256 or 512; what CUDA said.
 */
enum ceil_status ceil_smem_read_shared(const struct ceil_launch *l, struct ceil_error *err);
enum ceil_status ceil_smem_read_l1(const struct ceil_launch *l, struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
