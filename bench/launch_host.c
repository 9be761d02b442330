/* The host's launch: a job for the pinned threads, and the wait for its end. */
#include "bench/launch.h"

#include "harness/base/clock.h"
#include "harness/device/host.h"

/* The threads wake up and their lines come into the caches. */
enum { UNTIMED = 16 };

static void count_worker(void *arg, unsigned index, unsigned count)
{
	uint32_t *workers = arg;

	(void)index;
	(void)count;
	if (workers)
		__atomic_fetch_add(workers, 1u, __ATOMIC_RELAXED);
}

enum ceil_status ceil_launch_host_roundtrip(const struct ceil_launch *l, struct ceil_error *err)
{
	const uint32_t times = l->self_ns ? l->self_count : 0;
	struct ceil_pool *pool = l->stream[0];

	(void)err; /* cannot fail */
	if (l->k == 1) {
		ceil_pool_run(pool, count_worker, l->buf[0]);
		return CEIL_OK;
	}
	ceil_pool_enter(pool);
	for (uint32_t i = 0; i < UNTIMED + times; i++) {
		const uint64_t from_ns = ceil_now_ns();

		ceil_pool_run(pool, count_worker, /* arg= */ NULL);
		if (i >= UNTIMED)
			l->self_ns[i - UNTIMED] = (double)(ceil_now_ns() - from_ns);
	}
	ceil_pool_leave(pool);
	return CEIL_OK;
}
