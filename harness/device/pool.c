/* Pinned threads that share a job: quick to start while they spin, asleep when idle. */
#include "harness/device/pool.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hwloc.h>

#include "harness/base/alloc.h"
#include "harness/device/topology.h"

/* 30 to 90 us of pause instructions (40 to 140 cycles each): longer than a gap between launches. */
enum { SPINS = 2000, CACHE_LINE = 64 };

struct worker {
	struct ceil_pool *pool;
	pthread_t thread;
	unsigned index;
};

/* What is written at a different pace by different threads stands on a cache line of its own. */
struct ceil_pool {
	_Alignas(CACHE_LINE) atomic_uint round; /* counts jobs; the word that workers sleep on */
	atomic_uint sleepers;
	_Alignas(CACHE_LINE)
		atomic_uint pending;          /* workers at the job; what the caller sleeps on */
	_Alignas(CACHE_LINE) ceil_pool_fn fn; /* NULL: end */
	void *arg;
	const struct ceil_topology *topology;
	const struct ceil_cores *cores;
	hwloc_bitmap_t before; /* what the caller was bound to */
	bool entered;          /* the caller is bound already */
	unsigned count, started;
	struct worker *worker; /* 0 is the caller's */
};

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory"); /* yield is a no-op on server cores */
#endif
}

static void futex_wait(atomic_uint *word, unsigned seen)
{
	(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL,
	              0); /* callers look again */
}

static void futex_wake_all(atomic_uint *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/*
 * A worker counts itself a sleeper before it looks at the round for the last time (the kernel does
 * that); the caller changes the round before it looks at the sleepers. So one sees the other.
 */
static unsigned next_round(struct ceil_pool *pool, unsigned seen)
{
	unsigned now;

	for (int i = 0; i < SPINS; i++) {
		now = atomic_load_explicit(&pool->round, memory_order_acquire);
		if (now != seen)
			return now;
		relax();
	}
	atomic_fetch_add(&pool->sleepers, 1);
	while ((now = atomic_load(&pool->round)) == seen)
		futex_wait(&pool->round, seen);
	atomic_fetch_sub(&pool->sleepers, 1);
	return now;
}

static void *work(void *arg)
{
	const struct worker *w = arg;
	struct ceil_pool *pool = w->pool;
	unsigned seen = 0;

	ceil_topology_bind(pool->topology, pool->cores->pu[w->index], /* ret_before= */ NULL);
	for (;;) {
		seen = next_round(pool, seen);
		if (!pool->fn)
			return NULL;
		pool->fn(pool->arg, w->index, pool->count);
		if (atomic_fetch_sub(&pool->pending, 1) == 1)
			futex_wake_all(&pool->pending);
	}
}

static void start_round(struct ceil_pool *pool, ceil_pool_fn fn, void *arg)
{
	pool->fn = fn;
	pool->arg = arg;
	atomic_store(&pool->pending, pool->started);
	atomic_fetch_add(&pool->round, 1);
	if (atomic_load(&pool->sleepers) > 0)
		futex_wake_all(&pool->round);
}

static void wait_for_workers(struct ceil_pool *pool)
{
	unsigned left;

	for (int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&pool->pending, memory_order_acquire) == 0)
			return;
		relax();
	}
	while ((left = atomic_load(&pool->pending)) > 0)
		futex_wait(&pool->pending, left);
}

/* The caller is pinned for its share only: threads that others start later inherit its freedom. */
void ceil_pool_run(struct ceil_pool *pool, ceil_pool_fn fn, void *arg)
{
	assert(fn);
	start_round(pool, fn, arg);
	if (!pool->entered)
		ceil_topology_bind(pool->topology, pool->cores->pu[0], pool->before);
	fn(arg, 0, pool->count);
	wait_for_workers(pool);
	if (!pool->entered)
		ceil_topology_unbind(pool->topology, pool->before);
}

void ceil_pool_enter(struct ceil_pool *pool)
{
	assert(!pool->entered);
	ceil_topology_bind(pool->topology, pool->cores->pu[0], pool->before);
	pool->entered = true;
}

void ceil_pool_leave(struct ceil_pool *pool)
{
	assert(pool->entered);
	ceil_topology_unbind(pool->topology, pool->before);
	pool->entered = false;
}

void ceil_pool_share(uint64_t n, uint64_t align, unsigned index, unsigned count, uint64_t *ret_from,
                     uint64_t *ret_to)
{
	const uint64_t from = n * index / count;
	const uint64_t to = n * (index + 1u) / count;

	*ret_from = from - from % align;
	*ret_to = index + 1 == count ? n : to - to % align;
}

static enum ceil_status create_threads(struct ceil_pool *pool, struct ceil_error *err)
{
	for (unsigned i = 1; i < pool->count; i++) {
		struct worker *w = &pool->worker[i];
		int failed;

		*w = (struct worker){.pool = pool, .index = i};
		failed = pthread_create(&w->thread, /* attributes= */ NULL, work, w);
		if (failed)
			return ceil_fail(err, CEIL_E_DEVICE, "pthread_create (thread %u of %u): %s",
			                 i, pool->count, strerror(failed));
		pool->started++;
	}
	return CEIL_OK;
}

/* Signals are for the caller's thread: they end its sleep, and its handlers run there. */
static enum ceil_status start_workers(struct ceil_pool *pool, struct ceil_error *err)
{
	enum ceil_status st;
	sigset_t all, before;

	(void)sigfillset(&all);                          /* cannot fail */
	(void)pthread_sigmask(SIG_BLOCK, &all, &before); /* fails only for a wrong first argument */
	st = create_threads(pool, err);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return st;
}

enum ceil_status ceil_pool_open(const struct ceil_topology *t, const struct ceil_cores *c,
                                struct ceil_pool **ret_pool, struct ceil_error *err)
{
	struct worker *workers = ceil_alloc(c->count, sizeof(*workers), err);
	struct ceil_pool *pool = workers ? aligned_alloc(CACHE_LINE, sizeof(*pool)) : NULL;
	enum ceil_status st;

	if (!pool) {
		free(workers);
		return ceil_fail(err, CEIL_E_NOMEM, "no memory for a pool of %u threads", c->count);
	}
	*pool = (struct ceil_pool){.topology = t, .cores = c, .count = c->count, .worker = workers};
	pool->before = hwloc_bitmap_alloc();
	st = pool->before ? start_workers(pool, err)
	                  : ceil_fail(err, CEIL_E_NOMEM, "hwloc_bitmap_alloc: no memory");
	if (st != CEIL_OK) {
		ceil_pool_close(pool);
		return st;
	}
	*ret_pool = pool;
	return CEIL_OK;
}

void ceil_pool_close(struct ceil_pool *pool)
{
	if (!pool)
		return;
	start_round(pool, /* fn= */ NULL, /* arg= */ NULL);
	for (unsigned i = 1; i <= pool->started; i++)
		(void)pthread_join(pool->worker[i].thread,
		                   NULL); /* cannot fail: started, not joined */
	hwloc_bitmap_free(pool->before);
	free(pool->worker);
	free(pool);
}
