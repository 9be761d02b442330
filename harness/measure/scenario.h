/* The contract of a scenario: a way to keep a GPU busy for seconds, and what it teaches. */
#ifndef CEIL_SCENARIO_H
#define CEIL_SCENARIO_H

#include "harness/base/status.h"
#include "harness/base/types.h"
#include "harness/device/backend.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a counter should show, as ratios; lo above hi: nothing is expected. */
struct ceil_expected {
	double lo, hi;
};
#define CEIL_EXPECT_NOTHING                                                                        \
	{                                                                                          \
		1.0, 0.0                                                                           \
	}

/* Room for the stays that blocks tell of; 16 MiB. */
enum { CEIL_STAGE_STAYS = 1 << 20 };

/* What a scenario plays on. The player makes all of it but state. */
struct ceil_stage {
	struct ceil_device *dev;
	struct ceil_launch launch;             /* streams, buffers, geometry */
	struct ceil_buffer buf[CEIL_MAX_BUFS]; /* bytes 0: none */
	uint64_t value, second;                /* of the point of a sweep; 0 without one */
	uint32_t algorithm;                    /* of a matrix product: candidate to take */
	void *state;                           /* the scenario's, from prepare */
	/* Of blocks that tell; the launches of a step take what they need. */
	struct ceil_stay *stays; /* device memory, or NULL: nothing shall be told */
	size_t stay_count, stay_cap;
};

/* What one step makes the device do. */
struct ceil_step_work {
	double flops, bytes, launches;
};

/* A point of a sweep. */
struct ceil_scenario_value {
	const char *name; /* ends the scenario's name: "66", "10us.x4" */
	uint64_t value, second;
};

/*
 * To add a scenario: one of these rows in bench/utilization.c. No function of it loops for longer
 * than a step, sleeps, or waits for the device: the player does.
 */
struct ceil_scenario {
	const char *name;   /* "one_warp" */
	const char *title;  /* "one warp spins on one multiprocessor": what it does, in a line */
	const char *lesson; /* in plain words, two or three sentences */
	const char *more;   /* --explain: how it is made, what to read off, what to do about it */
	/* The ceilings of this card beside which the rates stand: "gemm.bf16.sustained"; or NULL.
	 */
	const char *flops_ceiling, *bytes_ceiling;
	const struct ceil_scenario_value *values; /* a sweep; NULL: one point */
	size_t value_count;
	bool tour; /* one of the twelve of the default run */
	struct ceil_expected gpu_util, sm_active, tensor_active, dram_active;
	const char *verdict; /* that the figures should give, by name; NULL: of a sweep, any */

	uint32_t streams;  /* that step uses, 1 to CEIL_MAX_STREAMS */
	uint64_t stall_ns; /* how long the host sleeps after each step, the device idle */
	/*
	 * shape - buffers and geometry. Pure. NULL: none.
	 * Return: CEIL_OK; CEIL_E_UNSUPPORTED if the device cannot.
	 */
	enum ceil_status (*shape)(struct ceil_stage *s, struct ceil_error *err);
	/* prepare - s->state; release frees it, a half-made one too. Both or none. */
	enum ceil_status (*prepare)(struct ceil_stage *s, struct ceil_error *err);
	void (*release)(struct ceil_stage *s);
	/* step - enqueues work for a few ms, at most 20. NULL: the device idles. */
	enum ceil_status (*step)(struct ceil_stage *s, struct ceil_step_work *ret_work,
	                         struct ceil_error *err);
	const char *why_not; /* step is missing in this build: the reason */
};

/* bench/utilization.c: every scenario, in the order of a run, cool before hot. */
extern const struct ceil_scenario ceil_scenarios[];
extern const size_t ceil_scenario_count;

/* ceil_scenario_find - by name, or NULL. */
const struct ceil_scenario *ceil_scenario_find(const char *name);

/*
 * ceil_scenario_point_name - "sms.66", "one_warp".
 * @value: index into sc->values; ignored without a sweep.
 */
void ceil_scenario_point_name(const struct ceil_scenario *sc, size_t value, char *ret_text,
                              size_t size);

/* ceil_stage_stays - memory for the blocks of the next launch, or NULL if none shall tell. */
struct ceil_stay *ceil_stage_stays(struct ceil_stage *s, uint32_t blocks);

/* A scenario that plays, shared by the thread that plays it and those that watch. Start with {0}.
 */
struct ceil_play {
	_Atomic uint64_t flops, bytes, launches; /* that are done */
	_Atomic uint64_t done_ns;    /* ceil_now_ns() of the last step that is done; 0: none yet */
	_Atomic uint64_t started_ns; /* ceil_now_ns() of the first step; 0: not yet */
	_Atomic bool stop, hold;     /* by who watches: end now; do not end by time */
};

/* What is done at a moment, and when the last step of it was. */
struct ceil_play_work {
	double flops, bytes, launches;
	uint64_t done_ns;
};

/*
 * ceil_play_work - what is done by now. A rate is work over the time between two of these, from
 * done_ns to done_ns: a reading falls into the midst of a step, and a step of 10 ms is a tenth of
 * the time between readings.
 */
void ceil_play_work(struct ceil_play *play, struct ceil_play_work *ret_work);

/*
 * ceil_play_rate - work since before, per second.
 * Return: 0 if no step is ever done (now_ns 0); NAN if none was before or since: not known yet.
 */
double ceil_play_rate(double before, double now, uint64_t before_ns, uint64_t now_ns);

struct ceil_play_options {
	uint64_t duration_ns;
	uint64_t seed;
	uint64_t tell_after_ns; /* blocks tell of their stays from then on */
	uint64_t timeout_ns;    /* of one wait for the device; 0: 10 s */
	uint32_t algorithm;     /* of matrix products */
};

/* What the player knows at the end. */
struct ceil_played {
	uint64_t started_ns, ended_ns; /* ceil_now_ns() of the first step and of the last wait */
	double sm_active;              /* as the blocks tell it; NAN if they do not */
};

/*
 * ceil_scenario_play - plays a point on a device for duration_ns, or until it is stopped or a
 * signal comes: bounded loops, at most three steps ahead of the device.
 * @value: index of the point.
 * Return: CEIL_OK, also after a stop; CEIL_E_UNSUPPORTED with the reason; CEIL_E_TIMEOUT if the
 * device does not answer, after which nothing may be called on it; what the device said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_scenario_play(const struct ceil_scenario *sc, size_t value,
                                                    struct ceil_device *dev,
                                                    const struct ceil_play_options *options,
                                                    struct ceil_play *play,
                                                    struct ceil_played *ret_played,
                                                    struct ceil_error *err);

#endif
