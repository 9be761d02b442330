/* Making and ending the pinned threads of a host device; host.h tells how to use them. */
#ifndef CEIL_POOL_H
#define CEIL_POOL_H

#include "harness/base/status.h"
#include "harness/device/host.h"

struct ceil_cores;
struct ceil_topology;

/*
 * ceil_pool_open - one worker per core of c; the first is the caller of ceil_pool_run.
 * @t, @c: live longer than the pool.
 * Return: CEIL_E_NOMEM; CEIL_E_DEVICE if a thread cannot be made, with the system's words.
 */
CEIL_MUST_CHECK enum ceil_status ceil_pool_open(const struct ceil_topology *t,
                                                const struct ceil_cores *c,
                                                struct ceil_pool **ret_pool,
                                                struct ceil_error *err);

/* ceil_pool_close - ends the threads and waits for them; NULL is a no-op. */
void ceil_pool_close(struct ceil_pool *pool);

#endif
