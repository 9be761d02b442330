/* One device in a run: its rows upward, one measurement, the search. */
#include "harness/measure/lane.h"

#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/device/team.h"
#include "harness/measure/curve.h"
#include "harness/measure/gang.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* measuring.md, Words: what each kind of measurement may cost. */
static const struct ceil_effort efforts[] = {
	[CEIL_EFFORT_SEARCH] = {.name = "search",
                                .min_samples = 6,
                                .max_samples = 12,
                                .sample_ns = 4000000,
                                .budget_ns = 120000000,
                                .precision = 0.002},
	/* The power control lets a burst of some 12 ms pass and forgets it within 100 ms: short
         * samples, each from an idle device, so that the heat of one point never judges the next
         * (H200: after 0.3 s of work a rate is back at 98 % after 40 ms, at 99.5 % after 100). */
	[CEIL_EFFORT_COOL_SEARCH] = {.name = "cool search",
                                     .min_samples = 3,
                                     .max_samples = 3,
                                     .sample_ns = 4000000,
                                     .budget_ns = 1000000000,
                                     .idle_ns = 15000000,
                                     .rest_ns = 40000000},
	[CEIL_EFFORT_FINAL] = {.name = "final",
                               .least_samples =
                                       3, /* one slow product on a host would be its own median */
                               .min_samples = 20,
                               .max_samples = 60,
                               .sample_ns = 8000000,
                               .budget_ns = 600000000,
                               .precision = 0.001},
	[CEIL_EFFORT_BURST] = {.name = "burst",
                               .min_samples = 5,
                               .max_samples = 5,
                               .sample_ns = 25000000,
                               .budget_ns = 4000000000,
                               .idle_ns = 150000000},
	[CEIL_EFFORT_SUSTAINED] = {.name = "sustained",
                                   .min_samples = 20,
                                   .max_samples = 1000,
                                   .sample_ns = 50000000,
                                   .budget_ns = 10000000000},
	[CEIL_EFFORT_DUTY] = {.name = "duty",
                              .min_samples = 20,
                              .max_samples = 4000,
                              .sample_ns = 10000000,
                              .budget_ns = 20000000000,
                              .idle_ns = 1000000},
};

const struct ceil_effort *ceil_campaign_efforts(size_t *ret_count)
{
	*ret_count = sizeof(efforts) / sizeof(efforts[0]);
	return efforts;
}

/* ---- rows upward */

/* What a team measures together is one row, of its first member. */
static bool silent(const struct ceil_lane_run *l, const struct ceil_bench *bench)
{
	return bench->team && l->in->dev->team && l->in->dev->team->rank > 0;
}

void ceil_lane_emit(struct ceil_lane_run *l, const struct ceil_outcome *o, int effort,
                    bool is_ceiling)
{
	struct ceil_campaign *c = l->run;

	if (silent(l, o->point.bench))
		return;
	pthread_mutex_lock(&c->lock);
	c->events->outcome(c->events->user, l->in->dev, o, efforts[effort].name, is_ceiling);
	pthread_mutex_unlock(&c->lock);
}

void ceil_lane_emit_absent(struct ceil_lane_run *l, const struct ceil_point *p,
                           enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	struct ceil_campaign *c = l->run;

	if (silent(l, p->bench))
		return;
	pthread_mutex_lock(&c->lock);
	c->events->absent(c->events->user, &l->in->dev->props, p, status, reason, is_ceiling);
	pthread_mutex_unlock(&c->lock);
}

void ceil_lane_progress(void *user, const struct ceil_outcome *so_far)
{
	struct ceil_lane_run *l = user;
	struct ceil_campaign *c = l->run;

	/* Devices that work without a pause would make one wait for another. */
	if (so_far->point.regime != CEIL_SUSTAINED && so_far->point.regime != CEIL_DUTY)
		ceil_gang_wait(l->gang);
	if (!c->events->progress)
		return;
	pthread_mutex_lock(&c->lock);
	c->events->progress(c->events->user, l->in->dev, so_far, &c->progress);
	pthread_mutex_unlock(&c->lock);
}

bool ceil_lanes_together(const struct ceil_campaign *c, const struct ceil_bench *bench)
{
	return c->count > 1 && (bench->team || (bench->concurrent && !c->policy->one_by_one));
}

double ceil_lane_share(const struct ceil_campaign *c, const struct ceil_bench *bench)
{
	return ceil_lanes_together(c, bench) ? 1.0 / (double)c->count : 1.0;
}

void ceil_lane_advance(struct ceil_lane_run *l, const struct ceil_bench *bench, double price_s)
{
	pthread_mutex_lock(&l->run->lock);
	l->run->progress.done_s += price_s * ceil_lane_share(l->run, bench);
	pthread_mutex_unlock(&l->run->lock);
}

/* ---- one measurement */

void ceil_lane_stop(struct ceil_lane_run *l, enum ceil_status st, const struct ceil_error *err)
{
	l->stopped = true;
	l->hung = st == CEIL_E_TIMEOUT;
	l->stop_status = st == CEIL_E_CANCELLED ? CEIL_ROW_CANCELLED : CEIL_ROW_SKIPPED;
	if (st == CEIL_E_CANCELLED)
		ceil_copy(l->stop_reason, sizeof(l->stop_reason), err->text);
	else
		ceil_append(l->stop_reason, sizeof(l->stop_reason), "the device was lost: %s",
		            err->text);
}

void ceil_lane_measure(struct ceil_lane_run *l, const struct ceil_point *p, int effort,
                       uint32_t algorithm, struct ceil_outcome *ret_o)
{
	struct ceil_error err = {CEIL_OK, ""};
	char ceiling[64];
	enum ceil_status st;

	ceil_gang_wait(l->gang);
	ceil_point_ceiling(p, ceiling, sizeof(ceiling));
	ceil_watch_label(l->in->watch, ceiling);
	st = ceil_meter_point(l->meter, p, &efforts[effort], algorithm, ret_o, &err);
	ceil_watch_label(l->in->watch, "");
	if (st != CEIL_OK)
		ceil_lane_stop(l, st, &err);
}

static void note(struct ceil_found *r, enum ceil_row_status status, const char *reason)
{
	r->status = status;
	ceil_copy(r->reason, sizeof(r->reason), reason);
}

/* ---- what other points of the run say of a row */

static double item_bytes_of(const struct ceil_work *w)
{
	const double bytes = w->bytes_wire > 0.0 ? w->bytes_wire : w->bytes_read + w->bytes_written;

	return w->items > 0.0 ? bytes / w->items : bytes;
}

/* Whether an entry has been measured and gave a rate. */
static bool has_rate(const struct ceil_lane_run *l, size_t i)
{
	return l->results[i].status == CEIL_ROW_OK && l->results[i].value > 0.0;
}

/* At the same case, else the best of it. */
double ceil_lane_versus(const struct ceil_lane_run *l, const struct ceil_point *p)
{
	double best = (double)NAN;

	for (size_t i = 0; p->variant->versus && i < l->in->plan.count; i++) {
		const struct ceil_point *q = &l->in->plan.v[i].point;

		if (strcmp(q->variant->ceiling, p->variant->versus) != 0 || q->variant->beside ||
		    !has_rate(l, i))
			continue;
		if (q->cas == p->cas)
			return l->results[i].value;
		best = fmax(best, l->results[i].value);
	}
	return best;
}

static bool same_curve(const struct ceil_variant *a, const struct ceil_variant *b)
{
	return a->launch == b->launch && !a->beside && strcmp(a->ceiling, b->ceiling) == 0;
}

/* Over the sizes at which the same launcher was searched for the same ceiling. */
double ceil_lane_half_bytes(const struct ceil_lane_run *l, const struct ceil_point *p, double best)
{
	struct ceil_at_size *curve = ceil_alloc(l->in->plan.count, sizeof(*curve), /* err= */ NULL);
	double half = (double)NAN;
	size_t n = 0;

	for (size_t i = 0; curve && i < l->in->plan.count; i++) {
		if (same_curve(l->in->plan.v[i].point.variant, p->variant) && has_rate(l, i))
			curve[n++] = (struct ceil_at_size){l->results[i].item_bytes,
			                                   l->results[i].value};
	}
	if (curve && p->variant->unit == CEIL_GB_S)
		half = ceil_curve_half(curve, n, best);
	free(curve);
	return half;
}

bool ceil_lane_may_measure(struct ceil_lane_run *l, const struct ceil_entry *e,
                           struct ceil_found *r)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_team *team = e->point.bench->team ? l->in->dev->team : NULL;
	enum ceil_status st = CEIL_OK;

	if (e->fate != CEIL_RUN) {
		note(r, e->fate == CEIL_SKIPPED ? CEIL_ROW_SKIPPED : CEIL_ROW_UNSUPPORTED,
		     e->reason);
		st = ceil_fail(&err, e->fate == CEIL_SKIPPED ? CEIL_E_BUDGET : CEIL_E_UNSUPPORTED,
		               "%s", e->reason);
	} else if (l->stopped) {
		note(r, l->stop_status, l->stop_reason);
		st = ceil_fail(&err,
		               l->stop_status == CEIL_ROW_CANCELLED ? CEIL_E_CANCELLED
		                                                    : CEIL_E_DEVICE,
		               "%s", l->stop_reason);
	}
	if (ceil_team_agree(team, st, &err) == CEIL_OK)
		return true;
	if (st == CEIL_OK)
		note(r, ceil_row_status_of(err.status), err.text);
	return false;
}

void ceil_lane_search(struct ceil_lane_run *l, size_t i)
{
	const struct ceil_entry *e = &l->in->plan.v[i];
	struct ceil_found *r = &l->results[i];
	struct ceil_outcome o;

	if (!ceil_lane_may_measure(l, e, r)) {
		ceil_lane_emit_absent(l, &e->point, r->status, r->reason, /* is_ceiling= */ false);
		if (e->fate == CEIL_RUN)
			ceil_lane_advance(l, e->point.bench, e->price_s);
		return;
	}
	ceil_lane_measure(l, &e->point,
	                  e->point.variant->burst_finalists ? CEIL_EFFORT_COOL_SEARCH
	                                                    : CEIL_EFFORT_SEARCH,
	                  CEIL_SEARCH, &o);
	note(r, o.status, o.reason);
	r->value = ceil_outcome_value(&o);
	r->first_ratio = o.first_ratio;
	r->algorithm = o.launch.candidate;
	r->item_bytes = item_bytes_of(&o.work);
	o.versus_value = ceil_lane_versus(l, &o.point);
	ceil_lane_emit(l, &o, CEIL_EFFORT_SEARCH, /* is_ceiling= */ false);
	ceil_outcome_done(&o);
	ceil_lane_advance(l, e->point.bench, e->price_s);
}
