/* Reads of single 32-byte sectors of an array, in strides and in shuffled order. */
#ifndef CEIL_ACCESS_H
#define CEIL_ACCESS_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sectors are what a cache line is read in. Loads that a thread has in flight, threads of a block.
 */
enum { CEIL_ACCESS_SECTOR_BYTES = 32, CEIL_ACCESS_LOADS = 8, CEIL_ACCESS_THREADS = 256 };

/*
 * ceil_access_strided, ceil_access_random - one launch on stream 0: l->n sectors are read, once
 * each, by two threads a sector: sector i * l->k of the array at buf[0], or sector
 * ceil_shuffle(i, bits) of n = 2^bits. buf[1][block] = the sum of the 32-bit words that it read,
 * modulo 2^32; a block reads CEIL_ACCESS_LOADS * CEIL_ACCESS_THREADS / 2 sectors.
 * Return: CEIL_OK; CEIL_E_USAGE if n is no whole number of blocks, or no power of two for random;
 * what CUDA said.
 */
enum ceil_status ceil_access_strided(const struct ceil_launch *l, struct ceil_error *err);
enum ceil_status ceil_access_random(const struct ceil_launch *l, struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
