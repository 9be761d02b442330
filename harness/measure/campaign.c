/* A run: searches, finals and sustained rows of a plan on every device. */
#include "harness/measure/campaign.h"

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/device/team.h"
#include "harness/measure/curve.h"
#include "harness/measure/gang.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FINALISTS = 4 };

enum { SEARCH, COOL_SEARCH, FINAL, BURST, SUSTAINED, DUTY };

/* measuring.md, Words: what each kind of measurement may cost. */
static const struct ceil_effort efforts[] = {
	[SEARCH] = {.name = "search",
                    .min_samples = 6,
                    .max_samples = 12,
                    .sample_ns = 4000000,
                    .budget_ns = 120000000,
                    .precision = 0.002},
	/* The power control lets a burst of some 12 ms pass and forgets it within 100 ms: short
         * samples, each from an idle device, so that the heat of one point never judges the next
         * (H200: after 0.3 s of work a rate is back at 98 % after 40 ms, at 99.5 % after 100). */
	[COOL_SEARCH] = {.name = "cool search",
                         .min_samples = 3,
                         .max_samples = 3,
                         .sample_ns = 4000000,
                         .budget_ns = 1000000000,
                         .idle_ns = 15000000,
                         .rest_ns = 40000000},
	[FINAL] = {.name = "final",
                   .least_samples = 3, /* one slow product on a host would be its own median */
                   .min_samples = 20,
                   .max_samples = 60,
                   .sample_ns = 8000000,
                   .budget_ns = 600000000,
                   .precision = 0.001},
	[BURST] = {.name = "burst",
                   .min_samples = 5,
                   .max_samples = 5,
                   .sample_ns = 25000000,
                   .budget_ns = 4000000000,
                   .idle_ns = 150000000},
	[SUSTAINED] = {.name = "sustained",
                       .min_samples = 20,
                       .max_samples = 1000,
                       .sample_ns = 50000000,
                       .budget_ns = 10000000000},
	[DUTY] = {.name = "duty",
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

/* What the search said of one entry of the plan; kept for finals. */
struct result {
	enum ceil_row_status status;
	char reason[192];
	double value, item_bytes; /* item: a copy; what is moved by it */
	double first_ns;
	uint32_t algorithm;
};

struct campaign;
struct lane {
	struct campaign *run;
	struct ceil_lane *in;
	struct ceil_meter *meter;
	struct ceil_gang *gang; /* while a concurrent bench runs, else NULL */
	struct result *results; /* one an entry of the plan */
	bool stopped, hung;     /* the rest of the rows is absent for this reason */
	enum ceil_row_status stop_status;
	char stop_reason[192];
	const struct ceil_bench *bench; /* of the thread */
};

struct campaign {
	const struct ceil_policy *policy;
	const struct ceil_events *events;
	pthread_mutex_t lock; /* of events and progress */
	struct ceil_progress progress;
	struct lane *lanes;
	size_t count;
};

/* ---- rows upward */

/* What a team measures together is one row, of its first member. */
static bool silent(const struct lane *l, const struct ceil_bench *bench)
{
	return bench->team && l->in->dev->team && l->in->dev->team->rank > 0;
}

static void emit(struct lane *l, const struct ceil_outcome *o, const char *role, bool is_ceiling)
{
	struct campaign *c = l->run;

	if (silent(l, o->point.bench))
		return;
	pthread_mutex_lock(&c->lock);
	c->events->outcome(c->events->user, l->in->dev, o, role, is_ceiling);
	pthread_mutex_unlock(&c->lock);
}

static void emit_absent(struct lane *l, const struct ceil_point *p, enum ceil_row_status status,
                        const char *reason, bool is_ceiling)
{
	struct campaign *c = l->run;

	if (silent(l, p->bench))
		return;
	pthread_mutex_lock(&c->lock);
	c->events->absent(c->events->user, &l->in->dev->props, p, status, reason, is_ceiling);
	pthread_mutex_unlock(&c->lock);
}

static void on_progress(void *user, const struct ceil_outcome *so_far)
{
	struct lane *l = user;
	struct campaign *c = l->run;

	/* Devices that work without a pause would make one wait for another. */
	if (so_far->point.regime != CEIL_SUSTAINED && so_far->point.regime != CEIL_DUTY)
		ceil_gang_wait(l->gang);
	if (!c->events->progress)
		return;
	pthread_mutex_lock(&c->lock);
	c->events->progress(c->events->user, l->in->dev, so_far, &c->progress);
	pthread_mutex_unlock(&c->lock);
}

static void advance(struct lane *l, double price_s)
{
	pthread_mutex_lock(&l->run->lock);
	l->run->progress.done_s += price_s;
	pthread_mutex_unlock(&l->run->lock);
}

/* ---- one measurement */

static void stop_lane(struct lane *l, enum ceil_status st, const struct ceil_error *err)
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

/* Measures and notes a stop; the outcome is whole in every case. */
static void measure(struct lane *l, const struct ceil_point *p, int effort, uint32_t algorithm,
                    struct ceil_outcome *ret_o)
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
		stop_lane(l, st, &err);
}

static void note(struct result *r, enum ceil_row_status status, const char *reason)
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
static bool has_rate(const struct lane *l, size_t i)
{
	return l->results[i].status == CEIL_ROW_OK && l->results[i].value > 0.0;
}

/* The ceiling that a variant compares itself with: at the same case, else its best. */
static double versus_value(const struct lane *l, const struct ceil_point *p)
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
static double half_bytes(const struct lane *l, const struct ceil_point *p, double best)
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

/*
 * Whether an entry can be measured; a team measures what all of its members can.
 * @r: gets the reason when it cannot.
 */
static bool may_measure(struct lane *l, const struct ceil_entry *e, struct result *r)
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

static void search_entry(struct lane *l, size_t i)
{
	const struct ceil_entry *e = &l->in->plan.v[i];
	struct result *r = &l->results[i];
	struct ceil_outcome o;

	if (!may_measure(l, e, r)) {
		emit_absent(l, &e->point, r->status, r->reason, /* is_ceiling= */ false);
		return;
	}
	measure(l, &e->point, e->point.variant->burst_finalists ? COOL_SEARCH : SEARCH, CEIL_SEARCH,
	        &o);
	note(r, o.status, o.reason);
	r->value = ceil_outcome_value(&o);
	r->first_ns = o.first_ns;
	r->algorithm = o.launch.candidate;
	r->item_bytes = item_bytes_of(&o.work);
	o.versus_value = versus_value(l, &o.point);
	emit(l, &o, efforts[SEARCH].name, /* is_ceiling= */ false);
	ceil_outcome_done(&o);
	advance(l, e->price_s);
}

/* ---- contests: the best points of a ceiling, measured again fresh */

static bool same_ceiling(const struct lane *l, size_t i, size_t j)
{
	return ceil_point_competes(&l->in->plan.v[i].point, &l->in->plan.v[j].point);
}

static bool first_of_ceiling(const struct lane *l, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (same_ceiling(l, i, j))
			return false;
	}
	return true;
}

static bool beats(const struct lane *l, size_t a, size_t b)
{
	const enum ceil_unit unit = l->in->plan.v[a].point.variant->unit;
	const double x = l->results[a].value;
	const double y = l->results[b].value;

	return ceil_unit_lower_is_better(unit) ? x < y : x > y;
}

static bool eligible(const struct lane *l, size_t i)
{
	return l->results[i].status == CEIL_ROW_OK && !isnan(l->results[i].value) &&
	       !l->in->plan.v[i].point.variant->beside && !l->in->plan.v[i].point.variant->sweep;
}

/* The best entries of the ceiling of entry first, best first; at most max. */
static size_t finalists(const struct lane *l, size_t first, size_t max, size_t *ret_entries)
{
	size_t n = 0;

	for (size_t i = first; i < l->in->plan.count; i++) {
		if (!same_ceiling(l, first, i) || !eligible(l, i))
			continue;
		size_t at = n < max ? n++ : n;

		while (at > 0 && beats(l, i, ret_entries[at - 1])) {
			if (at < max)
				ret_entries[at] = ret_entries[at - 1];
			at--;
		}
		if (at < max)
			ret_entries[at] = i;
	}
	return n;
}

/* Why what a team measured is no ceiling, or NULL. */
static const char *no_ceiling(const struct lane *l, const struct ceil_bench *bench)
{
	const struct ceil_team *team = l->in->dev->team;

	if (!bench->team)
		return NULL;
	if (!team || team->size <= 1)
		return "one rank: it has nobody to exchange data with";
	return team->functional ? "functional test: ranks share a GPU" : NULL;
}

/*
 * No entry of the ceiling was measured, or what was is none: the gravest of their reasons stands in
 * its row.
 * @not_one: the reason if all went well.
 */
static void absent_ceiling(struct lane *l, size_t first, enum ceil_regime regime,
                           const char *not_one)
{
	struct ceil_point p = l->in->plan.v[first].point;
	const struct result *worst = &l->results[first];

	for (size_t i = first; i < l->in->plan.count; i++) {
		if (same_ceiling(l, first, i) && l->results[i].status > worst->status)
			worst = &l->results[i];
	}
	p.regime = regime;
	if (worst->status == CEIL_ROW_OK && not_one)
		emit_absent(l, &p, CEIL_ROW_UNSUPPORTED, not_one, /* is_ceiling= */ true);
	else
		emit_absent(l, &p, worst->status, worst->reason, /* is_ceiling= */ true);
}

/* Index of the best outcome that counts; those that are not ok come after those that are. */
static size_t winner(const struct ceil_outcome *o, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++) {
		const bool better_status = o[i].status < o[best].status;
		const bool same_status = o[i].status == o[best].status;

		if (better_status || (same_status && ceil_outcome_better(&o[i], &o[best])))
			best = i;
	}
	return best;
}

static void absent_final(struct lane *l, size_t entry, enum ceil_regime regime,
                         enum ceil_row_status status, const char *reason)
{
	struct ceil_point p = l->in->plan.v[entry].point;

	p.regime = regime;
	emit_absent(l, &p, status, reason, /* is_ceiling= */ true);
}

/*
 * Values from an idle device are known to half a percent: what is 1 % behind will not win, and is
 * not worth another burst. Under a power cap it might, so sustained rows take all.
 */
static size_t contenders(const struct lane *l, const size_t *entries, size_t n)
{
	const double best = n > 0 ? l->results[entries[0]].value : 0.0;

	while (n > 1 && fabs(l->results[entries[n - 1]].value / best - 1.0) > 0.01)
		n--;
	return n;
}

static void contest(struct lane *l, size_t first, enum ceil_regime regime, size_t max, int effort)
{
	const struct ceil_point *any = &l->in->plan.v[first].point;
	const char *not_one = no_ceiling(l, any->bench);
	size_t entries[MAX_FINALISTS];
	struct ceil_outcome o[MAX_FINALISTS];
	size_t n = finalists(l, first, max < MAX_FINALISTS ? max : MAX_FINALISTS, entries);
	size_t measured = 0;
	struct result why;

	if (regime == CEIL_BURST)
		n = contenders(l, entries, n);
	if (n == 0 || not_one) {
		absent_ceiling(l, first, regime, not_one);
		return;
	}
	for (; measured < n; measured++) {
		const struct ceil_entry *e = &l->in->plan.v[entries[measured]];
		struct result ignored;
		struct ceil_point p = l->in->plan.v[entries[measured]].point;

		if (!may_measure(l, e, measured ? &ignored : &why))
			break;
		p.regime = regime;
		measure(l, &p, effort, l->results[entries[measured]].algorithm, &o[measured]);
		o[measured].first_ns = l->results[entries[measured]].first_ns;
	}
	advance(l, ceil_plan_final_s(&l->in->plan, any->variant, regime));
	if (measured == 0) {
		absent_final(l, entries[0], regime, why.status, why.reason);
		return;
	}
	const size_t best = winner(o, measured);

	o[best].half_bytes = half_bytes(l, &o[best].point, ceil_outcome_value(&o[best]));
	o[best].versus_value = versus_value(l, &o[best].point);
	for (size_t i = 0; i < measured; i++) {
		emit(l, &o[i], efforts[effort].name, /* is_ceiling= */ i == best);
		ceil_outcome_done(&o[i]);
	}
}

/* ---- passes */

static void run_bench(struct lane *l, const struct ceil_bench *bench)
{
	const struct ceil_plan *plan = &l->in->plan;

	for (size_t i = 0; i < plan->count; i++) {
		if (plan->v[i].point.bench == bench)
			search_entry(l, i);
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct ceil_variant *v = plan->v[i].point.variant;

		if (plan->v[i].point.bench != bench || v->sweep || !first_of_ceiling(l, i))
			continue;
		if (v->burst_finalists)
			contest(l, i, CEIL_BURST, v->burst_finalists, BURST);
		else
			contest(l, i, CEIL_NOREGIME, 1, FINAL);
	}
}

/* Hot rows come after all others. */
static void run_sustained(struct lane *l, const struct ceil_bench *bench)
{
	const struct ceil_plan *plan = &l->in->plan;

	for (size_t i = 0; i < plan->count; i++) {
		const struct ceil_point *p = &plan->v[i].point;
		const unsigned max = ceil_plan_sustained(plan, p->variant);

		if (p->bench != bench || !p->variant->sustained_finalists ||
		    !first_of_ceiling(l, i))
			continue;
		if (max > 0)
			contest(l, i, CEIL_SUSTAINED, max, SUSTAINED);
		if (max > 0 || (plan->quick && !plan->drop_sustained))
			continue;
		struct ceil_point q = *p;

		q.regime = CEIL_SUSTAINED;
		emit_absent(l, &q, CEIL_ROW_SKIPPED, "left out to fit the budget",
		            /* is_ceiling= */ true);
	}
}

static void run_duty(struct lane *l, const struct ceil_bench *bench)
{
	const struct ceil_plan *plan = &l->in->plan;

	for (size_t i = 0; i < plan->count; i++) {
		const struct ceil_point *p = &plan->v[i].point;

		if (p->bench == bench && p->duty > 0.0 && p->variant->burst_finalists &&
		    first_of_ceiling(l, i))
			contest(l, i, CEIL_DUTY, 1, DUTY);
	}
}

typedef void (*pass_fn)(struct lane *l, const struct ceil_bench *bench);

struct pass_thread {
	struct lane *lane;
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
static void pass_together(struct campaign *c, pass_fn pass, const struct ceil_bench *bench)
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
static const struct ceil_bench *next_bench(const struct campaign *c, const struct ceil_bench *b)
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
static void meet(struct lane *l, const struct ceil_bench *bench)
{
	const bool host = strcmp(l->in->dev->backend->name, "host") == 0;
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st;

	if (host && !bench->team)
		return;
	st = ceil_team_meet(l->in->dev->team, bench->name, &err);
	if (st != CEIL_OK && !l->stopped)
		stop_lane(l, st, &err);
}

static void pass_all(struct campaign *c, pass_fn pass)
{
	for (const struct ceil_bench *b = next_bench(c, NULL); b; b = next_bench(c, b)) {
		if (c->count == 1)
			meet(&c->lanes[0], b);
		if (c->count > 1 && (b->team || (b->concurrent && !c->policy->one_by_one))) {
			pass_together(c, pass, b);
			continue;
		}
		for (size_t i = 0; i < c->count; i++)
			pass(&c->lanes[i], b);
	}
}

/* ---- the run */

static enum ceil_status open_lane(struct campaign *c, struct lane *l, struct ceil_lane *in,
                                  struct ceil_error *err)
{
	const struct ceil_meter_options options = {
		.seed = c->policy->seed,
		.timeout_ns = c->policy->timeout_ns,
		.deadline_ns = c->policy->deadline_ns,
		.gpu = in->gpu,
		.watch = in->watch,
		.progress = on_progress,
		.user = l,
	};
	struct ceil_error own = {CEIL_OK, ""};
	enum ceil_status st;

	*l = (struct lane){.run = c, .in = in};
	l->results = ceil_alloc(in->plan.count + 1, sizeof(*l->results), err);
	if (!l->results)
		return CEIL_E_NOMEM;
	c->progress.total_s += in->plan.price_s;
	st = ceil_meter_open(in->dev, &options, &l->meter, &own);
	if (st != CEIL_OK) {
		stop_lane(l, st, &own);
		l->stop_status = CEIL_ROW_FAILED;
		return CEIL_OK;
	}
	in->timer = *ceil_meter_timer(l->meter);
	return CEIL_OK;
}

static void close_lanes(struct campaign *c, bool *ret_hung)
{
	for (size_t i = 0; i < c->count; i++) {
		*ret_hung |= c->lanes[i].hung;
		if (!c->lanes[i].hung)
			ceil_team_drop(c->lanes[i].in->dev->team);
		ceil_meter_close(c->lanes[i].meter);
		free(c->lanes[i].results);
	}
}

static enum ceil_status cancelled(const struct campaign *c, struct ceil_error *err)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct lane *l = &c->lanes[i];

		if (l->stopped && l->stop_status == CEIL_ROW_CANCELLED)
			return ceil_fail(err, CEIL_E_CANCELLED, "%s", l->stop_reason);
	}
	return CEIL_OK;
}

enum ceil_status ceil_campaign_run(struct ceil_lane *lanes, size_t count,
                                   const struct ceil_policy *policy,
                                   const struct ceil_events *events, bool *ret_hung,
                                   struct ceil_error *err)
{
	struct campaign c = {.policy = policy, .events = events};
	enum ceil_status st = CEIL_OK;

	*ret_hung = false;
	c.lanes = ceil_alloc(count + 1, sizeof(*c.lanes), err);
	if (!c.lanes)
		return CEIL_E_NOMEM;
	pthread_mutex_init(&c.lock, NULL);
	for (; c.count < count && st == CEIL_OK; c.count++)
		st = open_lane(&c, &c.lanes[c.count], &lanes[c.count], err);
	if (st == CEIL_OK && c.count > 0) {
		pass_all(&c, run_bench);
		pass_all(&c, run_duty);
		pass_all(&c, run_sustained);
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
