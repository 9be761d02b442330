/* What the host backend shows to host kernels: its pinned threads. */
#ifndef CEIL_HOST_H
#define CEIL_HOST_H

#include "harness/base/status.h"

#include <stddef.h>
#include <stdint.h>

extern const struct ceil_backend ceil_host_backend;

/* One thread per core that this device may use, pinned; the caller waits while they work. */
struct ceil_pool;

/* A share of a job: worker index of count. */
typedef void (*ceil_pool_fn)(void *arg, unsigned index, unsigned count);

/* ceil_pool_run - calls fn on every worker and returns when all are done. */
void ceil_pool_run(struct ceil_pool *pool, ceil_pool_fn fn, void *arg);

/* ceil_pool_count - workers: the smaller of affinity and the cgroup's CPU quota. */
unsigned ceil_pool_count(const struct ceil_pool *pool);

/* ceil_pool_share - elements [*ret_from, *ret_to) of n for a worker, cut at multiples of align. */
void ceil_pool_share(uint64_t n, uint64_t align, unsigned index, unsigned count,
                     uint64_t *ret_from, uint64_t *ret_to);

#endif
