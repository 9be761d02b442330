/* The sampler: one thread that reads every telemetry source of all GPUs at a fixed beat. */
#ifndef CEIL_SAMPLER_H
#define CEIL_SAMPLER_H

#include "harness/base/status.h"
#include "harness/telemetry/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ceil_sampler;
/* One GPU of it; belongs to its sampler. Every function below takes NULL and then does nothing. */
struct ceil_watch;

/* GPM needs 100 ms between two readings, and NVML's power is a mean over a second anyway. */
#define CEIL_SAMPLER_INTERVAL_NS UINT64_C(100000000)
/* Readings kept for each GPU, the newest: 100 s at that interval. */
enum { CEIL_SAMPLER_RING = 1024 };

struct ceil_sampler_options {
	uint64_t interval_ns; /* 0: CEIL_SAMPLER_INTERVAL_NS */
	uint64_t patience_ns; /* how long a driver may hold the thread at the end; 0: 2 s */
	/* Called for every reading, from the sampler's thread only; may be NULL. */
	void (*row)(void *user, const struct ceil_telemetry_row *row);
	void *user;
};

/*
 * ceil_sampler_open - starts the thread. Beats that the thread misses are left out, not made up.
 * @targets: count of them; their texts are copied, their NVML must outlive the sampler.
 * Return: CEIL_E_UNSUPPORTED if no source has anything to say about any of them: nothing runs
 * then; CEIL_E_NOMEM; CEIL_E_DEVICE if no thread can be had.
 */
CEIL_MUST_CHECK enum ceil_status ceil_sampler_open(const struct ceil_source_target *targets,
                                                   size_t count,
                                                   const struct ceil_sampler_options *options,
                                                   struct ceil_sampler **ret_sampler,
                                                   struct ceil_error *err);

/*
 * ceil_sampler_close - stops the thread, within milliseconds. NULL is fine.
 * Return: false if a driver holds the thread for longer than patience. The sampler stays then,
 * without calling row any more, and nothing that it reads may be closed: the process can only leave
 * by _exit, or try again.
 */
CEIL_MUST_CHECK bool ceil_sampler_close(struct ceil_sampler *s);

/* ceil_sampler_reason - why a source of the list watches no GPU; "" if it does. */
const char *ceil_sampler_reason(const struct ceil_sampler *s, size_t source);

/* ceil_sampler_watch - the GPU of a target, by its index; NULL beyond the count. */
struct ceil_watch *ceil_sampler_watch(struct ceil_sampler *s, size_t index);

/* ceil_watch_label - what is measured from now on; "" nothing. Stands in the rows. */
void ceil_watch_label(struct ceil_watch *w, const char *ceiling);

/* What the readings of a stretch of time say of one value; NAN and 0 without any. */
struct ceil_watch_stats {
	double mean, min, max;
	size_t count; /* readings that have the value */
};

/*
 * ceil_watch_stats_of - of a value, by its name, over the readings between two ceil_now_ns().
 * Readings that left the ring no longer count.
 */
void ceil_watch_stats_of(const struct ceil_watch *w, const char *value, uint64_t from_ns,
                         uint64_t to_ns, struct ceil_watch_stats *ret_stats);

#endif
