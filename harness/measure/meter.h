/* The inside of a meter, shared by the files of the loop; nobody else includes it. */
#ifndef CEIL_METER_H
#define CEIL_METER_H

#include "harness/measure/loop.h"
#include "harness/measure/place.h"

struct ceil_meter {
	struct ceil_device *dev;
	struct ceil_meter_options options;
	struct ceil_timer timer;
	struct ceil_place place;
	bool lost;                    /* the device hangs: nothing may be called on it again */
	struct ceil_nvml_state start; /* when it was opened; what a cool-down waits for */
};

/* What one point has open while it is measured. */
struct ceil_setup {
	const struct ceil_point *point;
	struct ceil_launch launch;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	uint64_t batch;
	bool prepared;
	double self_ns[CEIL_MAX_TIMES]; /* of the last self-timed launch */
};

/* ---- sample.c: timing */

/* ceil_sample_batch - one timed batch of s->batch launches as the variant's timing says. */
CEIL_MUST_CHECK enum ceil_status ceil_sample_batch(struct ceil_meter *m, struct ceil_setup *s,
                                                   struct ceil_sample *ret_sample,
                                                   struct ceil_error *err);

/*
 * ceil_sample_grow - finds a batch that lasts want_ns: at least 1000 x the timer's resolution
 * and 50 x its overhead, at most 512 launches behind the gate.
 */
CEIL_MUST_CHECK enum ceil_status ceil_sample_grow(struct ceil_meter *m, struct ceil_setup *s,
                                                  uint64_t want_ns, struct ceil_error *err);

/* ceil_sample_timer - resolution and overhead of a pair of marks. */
CEIL_MUST_CHECK enum ceil_status ceil_sample_timer(struct ceil_meter *m, struct ceil_error *err);

/* ceil_sample_wait - sync with the meter's time-out. */
CEIL_MUST_CHECK enum ceil_status ceil_sample_wait(struct ceil_meter *m, struct ceil_error *err);

/* ceil_sample_sustained - continuous samples of s->batch launches, the stream never empty. */
CEIL_MUST_CHECK enum ceil_status ceil_sample_sustained(struct ceil_meter *m, struct ceil_setup *s,
                                                       const struct ceil_effort *effort,
                                                       struct ceil_outcome *o,
                                                       struct ceil_error *err);

/* ceil_sample_finish - waits for what was launched as the bench says, then for the device. */
CEIL_MUST_CHECK enum ceil_status ceil_sample_finish(struct ceil_meter *m, struct ceil_setup *s,
                                                    struct ceil_error *err);

/* ceil_meter_team - with whom a bench is measured, or NULL: then this device decides alone. */
struct ceil_team *ceil_meter_team(const struct ceil_meter *m, const struct ceil_bench *b);

/* ---- search.c: candidates */

/*
 * ceil_search_candidate - times all candidates in turns, the slower half and what is 3 % behind
 * leaving after each round, and sets s->launch.candidate to the winner. Where effort has idle time,
 * the device idles before each sample for 5/3 of its work. Candidate 0 wins unless another is
 * 0.3 % faster.
 * @ret_first_ratio: the median time of candidate 0 over the winner's, 1 or more; NAN if it cannot
 * run.
 * A candidate that fails to launch leaves; CEIL_E_UNSUPPORTED when none is left.
 */
CEIL_MUST_CHECK enum ceil_status ceil_search_candidate(struct ceil_meter *m, struct ceil_setup *s,
                                                       uint32_t count,
                                                       const struct ceil_effort *effort,
                                                       double *ret_first_ratio,
                                                       struct ceil_error *err);

#endif
