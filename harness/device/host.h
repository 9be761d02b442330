/* What the host backend shows to host kernels: its pinned threads and its CBLAS. */
#ifndef CEIL_HOST_H
#define CEIL_HOST_H

#include "harness/base/status.h"

#include <stdint.h>

struct ceil_cblas;
struct ceil_device;

/*
 * Ordinal 0, label "cpu": the whole machine. With more than one NUMA node also "cpu.node0" and so
 * on: the cores and the memory of one node, ordinal 1 + its rank. sm_count is the number of
 * threads; clocks are unknown unless cpufreq says the maximum, and there is no clock stamp.
 * Launches return when their work is done, so sync and wait have nothing to wait for.
 */
extern const struct ceil_backend ceil_host_backend;

/*
 * One thread per core that this device may use, pinned. The caller is worker 0 and pinned only
 * while it works; the others spin for some 50 us after a job and then sleep.
 */
struct ceil_pool;

/* A share of a job: worker index of count. */
typedef void (*ceil_pool_fn)(void *arg, unsigned index, unsigned count);

/* ceil_pool_run - calls fn on every worker and returns when all are done. One caller at a time. */
void ceil_pool_run(struct ceil_pool *pool, ceil_pool_fn fn, void *arg);

/*
 * ceil_pool_enter, ceil_pool_leave - pin the caller, as worker 0, until it leaves: the runs between
 * do not pin it and free it again, which costs more than a short job. Not to be nested.
 */
void ceil_pool_enter(struct ceil_pool *pool);
void ceil_pool_leave(struct ceil_pool *pool);

/*
 * ceil_pool_share - elements [*ret_from, *ret_to) of n for a worker: from n * index / count to
 * n * (index + 1) / count, both rounded down to a multiple of align, the last one to n.
 * n * count must be below 2^64.
 */
void ceil_pool_share(uint64_t n, uint64_t align, unsigned index, unsigned count, uint64_t *ret_from,
                     uint64_t *ret_to);

/*
 * ceil_host_cblas - the CBLAS of a host device, loaded at the first call, closed with the device.
 * Return: CEIL_E_UNSUPPORTED if there is none, or if dev is a part of the machine: a CBLAS has one
 * set of threads a process.
 */
CEIL_MUST_CHECK enum ceil_status ceil_host_cblas(struct ceil_device *dev,
                                                 struct ceil_cblas **ret_cblas,
                                                 struct ceil_error *err);

#endif
