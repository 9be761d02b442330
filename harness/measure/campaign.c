/* A run: the passes of every device, one after the other or all at once. */
#include "harness/measure/campaign.h"

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/device/team.h"
#include "harness/measure/gang.h"
#include "harness/measure/lane.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- passes over all devices */

typedef void (*pass_fn)(struct ceil_lane_run *l, const struct ceil_bench *bench);

struct pass_thread {
	struct ceil_lane_run *lane;
	pass_fn pass;
	const struct ceil_bench *bench;
};

static void *pass_main(void *arg)
{
	struct pass_thread *t = arg;

	t->pass(t->lane, t->bench);
	ceil_gang_leave(t->lane->gang);
	return NULL;
}

/* All devices at once; a thread that cannot be started runs after the others, alone. */
static void pass_together(struct ceil_campaign *c, pass_fn pass, const struct ceil_bench *bench)
{
	struct pass_thread args[CEIL_MAX_DEVICES];
	pthread_t threads[CEIL_MAX_DEVICES];
	bool started[CEIL_MAX_DEVICES] = {false};
	struct ceil_gang gang;

	ceil_gang_init(&gang, (unsigned)c->count);
	for (size_t i = 0; i < c->count; i++) {
		c->lanes[i].gang = &gang;
		args[i] = (struct pass_thread){&c->lanes[i], pass, bench};
		started[i] = pthread_create(&threads[i], NULL, pass_main, &args[i]) == 0;
		if (!started[i])
			ceil_gang_leave(&gang);
	}
	for (size_t i = 0; i < c->count; i++) {
		if (started[i])
			pthread_join(threads[i], NULL);
		c->lanes[i].gang = NULL;
	}
	for (size_t i = 0; i < c->count; i++) {
		if (!started[i])
			pass(&c->lanes[i], bench);
	}
	ceil_gang_done(&gang);
}

/*
 * The bench after the one given; NULL gives the first. The devices of a campaign are of one
 * backend and one filter, so the first plan names the benches of all.
 */
static const struct ceil_bench *next_bench(const struct ceil_campaign *c,
                                           const struct ceil_bench *b)
{
	const struct ceil_plan *plan = &c->lanes[0].in->plan;
	bool passed = b == NULL;

	for (size_t e = 0; e < plan->count; e++) {
		if (passed && plan->v[e].point.bench != b)
			return plan->v[e].point.bench;
		passed |= plan->v[e].point.bench == b;
	}
	return NULL;
}

/*
 * Processes of an MPI run do the same at the same time, so they wait for each other before each
 * bench; but the host that several share is measured by one of them. Threads come together anyway.
 */
static bool meets(const struct ceil_lane *lane, const struct ceil_bench *bench)
{
	return bench->team || strcmp(lane->dev->backend->name, "host") != 0;
}

static void meet(struct ceil_lane_run *l, const struct ceil_bench *bench)
{
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st;

	if (!meets(l->in, bench))
		return;
	st = ceil_team_meet(l->in->dev->team, bench->name, &err);
	if (st != CEIL_OK && !l->stopped)
		ceil_lane_stop(l, st, &err);
}

static void pass_all(struct ceil_campaign *c, pass_fn pass)
{
	for (const struct ceil_bench *b = next_bench(c, /* b= */ NULL); b; b = next_bench(c, b)) {
		if (c->count == 1)
			meet(&c->lanes[0], b);
		if (ceil_lanes_together(c, b)) {
			pass_together(c, pass, b);
			continue;
		}
		for (size_t i = 0; i < c->count; i++)
			pass(&c->lanes[i], b);
	}
}

/* ---- the run */

/* Of the whole run, once all lanes are there. */
static double planned_s(const struct ceil_campaign *c)
{
	double s = 0.0;

	for (size_t i = 0; i < c->count; i++) {
		const struct ceil_plan *plan = &c->lanes[i].in->plan;

		for (size_t e = 0; e < plan->count; e++)
			s += ceil_plan_entry_s(plan, e) *
			     ceil_lane_share(c, plan->v[e].point.bench);
	}
	return s;
}

static enum ceil_status open_lane(struct ceil_campaign *c, struct ceil_lane_run *l,
                                  struct ceil_lane *in, struct ceil_error *err)
{
	const struct ceil_meter_options options = {
		.seed = c->policy->seed,
		.timeout_ns = c->policy->timeout_ns,
		.deadline_ns = c->policy->deadline_ns,
		.gpu = in->gpu,
		.watch = in->watch,
		.progress = ceil_lane_progress,
		.user = l,
	};
	struct ceil_error own = {CEIL_OK, ""};
	enum ceil_status st;

	*l = (struct ceil_lane_run){.run = c, .in = in};
	l->results = ceil_alloc(in->plan.count + 1, sizeof(*l->results), err);
	if (!l->results)
		return CEIL_E_NOMEM;
	st = ceil_meter_open(in->dev, &options, &l->meter, &own);
	if (st != CEIL_OK) {
		ceil_lane_stop(l, st, &own);
		l->stop_status = CEIL_ROW_FAILED;
		return CEIL_OK;
	}
	in->timer = *ceil_meter_timer(l->meter);
	return CEIL_OK;
}

static void close_lanes(struct ceil_campaign *c, bool *ret_hung)
{
	for (size_t i = 0; i < c->count; i++) {
		*ret_hung |= c->lanes[i].hung;
		if (!c->lanes[i].hung)
			ceil_team_drop(c->lanes[i].in->dev->team);
		ceil_meter_close(c->lanes[i].meter);
		free(c->lanes[i].results);
	}
}

static enum ceil_status cancelled(const struct ceil_campaign *c, struct ceil_error *err)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct ceil_lane_run *l = &c->lanes[i];

		if (l->stopped && l->stop_status == CEIL_ROW_CANCELLED)
			return ceil_fail(err, CEIL_E_CANCELLED, "%s", l->stop_reason);
	}
	return CEIL_OK;
}

/* The processes that meet before benches of this campaign, or NULL. */
static struct ceil_team *processes_of(const struct ceil_lane *lanes, size_t count)
{
	for (size_t e = 0; count == 1 && e < lanes->plan.count; e++) {
		if (meets(lanes, lanes->plan.v[e].point.bench))
			return lanes->dev->team;
	}
	return NULL;
}

/*
 * One that cannot measure would leave the others waiting before the first bench. Some come late: a
 * campaign before this one takes minutes, and not the same everywhere.
 */
static enum ceil_status begin_together(struct ceil_team *t, enum ceil_status mine,
                                       struct ceil_error *err)
{
	struct ceil_error own = {CEIL_OK, ""};
	const enum ceil_status met = ceil_team_meet(t, "the first bench", &own);

	if (mine != CEIL_OK || met == CEIL_OK)
		return ceil_team_agree(t, mine, err);
	return ceil_team_agree(t, ceil_fail(err, met, "%s", own.text), err);
}

static enum ceil_status open_lanes(struct ceil_campaign *c, struct ceil_lane *lanes, size_t count,
                                   struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	c->lanes = ceil_alloc(count + 1, sizeof(*c->lanes), err);
	if (!c->lanes)
		return CEIL_E_NOMEM;
	for (; c->count < count && st == CEIL_OK; c->count++)
		st = open_lane(c, &c->lanes[c->count], &lanes[c->count], err);
	c->progress.total_s = planned_s(c);
	return st;
}

enum ceil_status ceil_campaign_run(struct ceil_lane *lanes, size_t count,
                                   const struct ceil_policy *policy,
                                   const struct ceil_events *events, bool *ret_hung,
                                   struct ceil_error *err)
{
	struct ceil_campaign c = {
		.policy = policy, .events = events, .progress = {.began_ns = ceil_now_ns()}};
	enum ceil_status st;

	*ret_hung = false;
	pthread_mutex_init(&c.lock, NULL);
	st = begin_together(processes_of(lanes, count), open_lanes(&c, lanes, count, err), err);
	if (st == CEIL_OK && c.count > 0) {
		pass_all(&c, ceil_lane_run_bench);
		pass_all(&c, ceil_lane_run_duty);
		pass_all(&c, ceil_lane_run_sustained);
		st = cancelled(&c, err);
	}
	close_lanes(&c, ret_hung);
	pthread_mutex_destroy(&c.lock);
	free(c.lanes);
	return st;
}

void ceil_campaign_absent(const struct ceil_plan *plan, const struct ceil_device_props *props,
                          enum ceil_row_status status, const char *reason,
                          const struct ceil_events *events)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct ceil_point p = plan->v[i].point;
		bool first = true;

		for (size_t j = 0; j < i && first; j++)
			first = !ceil_point_competes(&plan->v[j].point, &p);
		if (!first || p.variant->sweep)
			continue;
		p.regime = p.variant->burst_finalists ? CEIL_BURST : CEIL_NOREGIME;
		events->absent(events->user, props, &p, status, reason, /* is_ceiling= */ true);
		p.regime = CEIL_SUSTAINED;
		if (p.variant->sustained_finalists)
			events->absent(events->user, props, &p, status, reason,
			               /* is_ceiling= */ true);
		p.regime = CEIL_DUTY;
		if (p.variant->burst_finalists && p.duty > 0.0)
			events->absent(events->user, props, &p, status, reason,
			               /* is_ceiling= */ true);
	}
}
