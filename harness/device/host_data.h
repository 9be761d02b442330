/* Filling, hashing and projecting host memory with all threads of a pool. */
#ifndef CEIL_HOST_DATA_H
#define CEIL_HOST_DATA_H

#include "harness/device/backend.h"

#include <stdint.h>

struct ceil_pool;

/* The reference of what backend.h asks for; none of them can fail. */

/* ceil_host_touch - one write a page, by the worker whose share it is. */
void ceil_host_touch(struct ceil_pool *pool, void *ptr, uint64_t bytes);

/* ceil_host_fill - ceil_element of every element of bytes; two elements a byte in 4-bit types,
 * the one with the even index in the low half. */
void ceil_host_fill(struct ceil_pool *pool, void *ptr, uint64_t bytes, enum ceil_dtype dtype,
                    enum ceil_pattern pattern, uint64_t seed, uint32_t buffer);

/* ceil_host_hash - sum of ceil_hash_term over the elements. */
uint64_t ceil_host_hash(struct ceil_pool *pool, const void *ptr, uint64_t bytes,
                        enum ceil_dtype dtype);

/* ceil_host_project - ret_y[r] = sum over c of m(r, c) * x[c] modulo 2^64; INT64_MIN where a row
 * holds something that is no whole number of 64 bits. */
void ceil_host_project(struct ceil_pool *pool, const struct ceil_matrix *m, const int64_t *x,
                       int64_t *ret_y);

#endif
