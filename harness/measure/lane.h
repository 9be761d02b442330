/* The inside of a campaign: one device in a run. Shared by the campaign's files; nobody else. */
#ifndef CEIL_LANE_H
#define CEIL_LANE_H

#include "harness/measure/campaign.h"

#include <pthread.h>

struct ceil_gang;

/* What a measurement is for, and so what it may cost; index of ceil_campaign_efforts. */
enum {
	CEIL_EFFORT_SEARCH,
	CEIL_EFFORT_COOL_SEARCH,
	CEIL_EFFORT_FINAL,
	CEIL_EFFORT_BURST,
	CEIL_EFFORT_SUSTAINED,
	CEIL_EFFORT_DUTY
};

/* What the search said of one entry of the plan; kept for finals. */
struct ceil_found {
	enum ceil_row_status status;
	char reason[192];
	double value, item_bytes; /* item: a copy; what is moved by it */
	double first_ratio;       /* as in the outcome */
	uint32_t algorithm;
};

struct ceil_campaign;

/* A lane of the caller while it runs; used by one thread at a time. */
struct ceil_lane_run {
	struct ceil_campaign *run;
	struct ceil_lane *in;
	struct ceil_meter *meter;
	struct ceil_gang *gang;     /* while a concurrent bench runs, else NULL */
	struct ceil_found *results; /* one an entry of the plan */
	bool stopped, hung;         /* the rest of the rows is absent for this reason */
	enum ceil_row_status stop_status;
	char stop_reason[192];
};

struct ceil_campaign {
	const struct ceil_policy *policy;
	const struct ceil_events *events;
	pthread_mutex_t lock; /* of events and progress */
	struct ceil_progress progress;
	struct ceil_lane_run *lanes;
	size_t count;
};

/* ---- lane.c: rows upward and one measurement */

/* ceil_lane_stop - the rest of the lane's rows is absent: a signal, or its device was lost. */
void ceil_lane_stop(struct ceil_lane_run *l, enum ceil_status st, const struct ceil_error *err);

/* ceil_lane_emit - hands a measured row upward. @effort: CEIL_EFFORT_x, which names its role. */
void ceil_lane_emit(struct ceil_lane_run *l, const struct ceil_outcome *o, int effort,
                    bool is_ceiling);

/* ceil_lane_emit_absent - hands upward a row that was not measured. */
void ceil_lane_emit_absent(struct ceil_lane_run *l, const struct ceil_point *p,
                           enum ceil_row_status status, const char *reason, bool is_ceiling);

/* ceil_lane_progress - what a meter calls after each sample. @user: struct ceil_lane_run. */
void ceil_lane_progress(void *user, const struct ceil_outcome *so_far);

/* ceil_lanes_together - whether all lanes measure a bench at the same time. */
bool ceil_lanes_together(const struct ceil_campaign *c, const struct ceil_bench *bench);

/* ceil_lane_share - of the time of one lane at a bench, what a run of all lanes is longer by. */
double ceil_lane_share(const struct ceil_campaign *c, const struct ceil_bench *bench);

/* ceil_lane_advance - a lane has done, or will never do, what its plan has at price_s seconds. */
void ceil_lane_advance(struct ceil_lane_run *l, const struct ceil_bench *bench, double price_s);

/*
 * ceil_lane_may_measure - whether an entry can be measured; a team measures what all of its
 * members can.
 * @r: gets status and reason when it cannot.
 */
bool ceil_lane_may_measure(struct ceil_lane_run *l, const struct ceil_entry *e,
                           struct ceil_found *r);

/*
 * ceil_lane_measure - measures a point and notes a stop.
 * @effort: CEIL_EFFORT_x.
 * @algorithm: a candidate, or CEIL_SEARCH.
 * @ret_o: whole in every case; the caller's, ceil_outcome_done frees it.
 */
void ceil_lane_measure(struct ceil_lane_run *l, const struct ceil_point *p, int effort,
                       uint32_t algorithm, struct ceil_outcome *ret_o);

/* ceil_lane_versus - the value of the ceiling that p compares itself with; NAN: none, or not yet.
 */
double ceil_lane_versus(const struct ceil_lane_run *l, const struct ceil_point *p);

/* ceil_lane_half_bytes - the size of an item that gives half of best; NAN: not known. */
double ceil_lane_half_bytes(const struct ceil_lane_run *l, const struct ceil_point *p, double best);

/* ceil_lane_search - measures entry i of the plan shortly and keeps what it found. */
void ceil_lane_search(struct ceil_lane_run *l, size_t i);

/* ---- contest.c: passes over the plan; every point and every ceiling gets its row in one of them
 */

/* ceil_lane_run_bench - searches the points of a bench, then measures its ceilings. */
void ceil_lane_run_bench(struct ceil_lane_run *l, const struct ceil_bench *bench);

/* ceil_lane_run_duty - the ceilings of a bench at the duty that was asked for. */
void ceil_lane_run_duty(struct ceil_lane_run *l, const struct ceil_bench *bench);

/* ceil_lane_run_sustained - the sustained ceilings of a bench; hot, so after all others. */
void ceil_lane_run_sustained(struct ceil_lane_run *l, const struct ceil_bench *bench);

#endif
