/* A run: searches, finals and sustained rows of a plan on every device; rows go up by callback. */
#ifndef CEIL_CAMPAIGN_H
#define CEIL_CAMPAIGN_H

#include "harness/measure/loop.h"
#include "harness/measure/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One device of a run. The caller owns all of it. */
struct ceil_lane {
	struct ceil_device *dev;
	struct ceil_nvml_gpu *gpu; /* or NULL */
	struct ceil_watch *watch;  /* or NULL */
	struct ceil_plan plan;
	struct ceil_timer timer; /* as the campaign found it; 0 before */
};

struct ceil_policy {
	uint64_t seed;
	uint64_t timeout_ns;  /* of one wait for a device; 0: the loop's default */
	uint64_t deadline_ns; /* no row starts after it; 0: none */
	bool one_by_one;      /* never two devices at once, whatever the bench says */
};

/* How far a campaign is, by the prices of its plans; what devices do at once counts once. */
struct ceil_progress {
	double done_s, total_s;
	uint64_t began_ns; /* ceil_now_ns() */
};

/* Called one at a time, from whichever thread measures. */
struct ceil_events {
	void *user;
	/* A measured row. @role: "search", "final", "burst", "sustained" or "duty". */
	void (*outcome)(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
	                const char *role, bool is_ceiling);
	/* A row that was not measured. */
	void (*absent)(void *user, const struct ceil_device_props *props,
	               const struct ceil_point *p, enum ceil_row_status status, const char *reason,
	               bool is_ceiling);
	/* The live line; may be NULL. */
	void (*progress)(void *user, const struct ceil_device *dev,
	                 const struct ceil_outcome *so_far, const struct ceil_progress *p);
};

/* ceil_campaign_efforts - what each kind of measurement may cost: the policy of every run. */
const struct ceil_effort *ceil_campaign_efforts(size_t *ret_count);

/*
 * ceil_campaign_run - measures every lane's plan; lanes are devices of one backend with plans
 * of one filter. Bench by bench, concurrent benches on all devices at once, sustained rows last.
 * Every point of the plan and every ceiling gets a row.
 * @ret_hung: a device did not answer; nothing may be called on it again, not even to close it.
 * Return: CEIL_OK; CEIL_E_CANCELLED after a signal; CEIL_E_NOMEM. A device that fails costs its
 * rows, not the run.
 */
CEIL_MUST_CHECK enum ceil_status ceil_campaign_run(struct ceil_lane *lanes, size_t count,
                                                   const struct ceil_policy *policy,
                                                   const struct ceil_events *events, bool *ret_hung,
                                                   struct ceil_error *err);

/* ceil_campaign_absent - a row for each ceiling of a plan that has no device. */
void ceil_campaign_absent(const struct ceil_plan *plan, const struct ceil_device_props *props,
                          enum ceil_row_status status, const char *reason,
                          const struct ceil_events *events);

#endif
