/* The passes of one device over its plan, and the contests of the best points of a ceiling. */
#include "harness/measure/lane.h"

#include "harness/device/team.h"

#include <math.h>

enum { MAX_FINALISTS = 4, MAX_CONTENDERS = 2 * MAX_FINALISTS };

/* Between two points the search errs by a quarter of a percent (H200, bursts of ten types): what is
 * twice that behind will not win, and is not worth a burst. */
#define NEAR_RATIO 1.005

/* ---- contests: the best points of a ceiling, measured again fresh */

static bool same_ceiling(const struct ceil_lane_run *l, size_t i, size_t j)
{
	return ceil_point_competes(&l->in->plan.v[i].point, &l->in->plan.v[j].point);
}

static bool first_of_ceiling(const struct ceil_lane_run *l, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (same_ceiling(l, i, j))
			return false;
	}
	return true;
}

static bool beats(const struct ceil_lane_run *l, size_t a, size_t b)
{
	const enum ceil_unit unit = l->in->plan.v[a].point.variant->unit;
	const double x = l->results[a].value;
	const double y = l->results[b].value;

	return ceil_unit_lower_is_better(unit) ? x < y : x > y;
}

static bool eligible(const struct ceil_lane_run *l, size_t i)
{
	return l->results[i].status == CEIL_ROW_OK && !isnan(l->results[i].value) &&
	       !l->in->plan.v[i].point.variant->beside && !l->in->plan.v[i].point.variant->sweep;
}

/* The best entries of the ceiling of entry first, best first; at most max. */
static size_t finalists(const struct ceil_lane_run *l, size_t first, size_t max,
                        size_t *ret_entries)
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
static const char *no_ceiling(const struct ceil_lane_run *l, const struct ceil_bench *bench)
{
	const struct ceil_team *team = l->in->dev->team;

	if (!bench->team)
		return NULL;
	if (!team || team->size <= 1)
		return "one rank: it has nobody to exchange data with";
	return team->functional ? "functional test: ranks share a GPU" : NULL;
}

/* How much entry i has to say about why there is no ceiling: nothing where it went well; of what
 * was tried more than of what the plan left out. */
static int says_why(const struct ceil_lane_run *l, size_t i)
{
	if (l->results[i].status == CEIL_ROW_OK)
		return 0;
	return l->in->plan.v[i].fate == CEIL_RUN ? 2 : 1;
}

static bool graver(const struct ceil_lane_run *l, size_t i, size_t j)
{
	const int more = says_why(l, i) - says_why(l, j);

	return more > 0 || (more == 0 && l->results[i].status > l->results[j].status);
}

/*
 * No entry of the ceiling was measured, or what was is none: the gravest of their reasons stands in
 * its row.
 * @not_one: the reason if all went well.
 */
static void absent_ceiling(struct ceil_lane_run *l, size_t first, enum ceil_regime regime,
                           const char *not_one)
{
	struct ceil_point p = l->in->plan.v[first].point;
	const struct ceil_found *why;
	size_t worst = first;

	for (size_t i = first; i < l->in->plan.count; i++) {
		if (same_ceiling(l, first, i) && graver(l, i, worst))
			worst = i;
	}
	why = &l->results[worst];
	p.regime = regime;
	if (why->status == CEIL_ROW_OK && not_one)
		ceil_lane_emit_absent(l, &p, CEIL_ROW_UNSUPPORTED, not_one, /* is_ceiling= */ true);
	else if (why->status == CEIL_ROW_OK)
		ceil_lane_emit_absent(l, &p, CEIL_ROW_SKIPPED,
		                      "all that was asked for only stands beside this ceiling",
		                      /* is_ceiling= */ true);
	else
		ceil_lane_emit_absent(l, &p, why->status, why->reason, /* is_ceiling= */ true);
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

static void absent_final(struct ceil_lane_run *l, size_t entry, enum ceil_regime regime,
                         enum ceil_row_status status, const char *reason)
{
	struct ceil_point p = l->in->plan.v[entry].point;

	p.regime = regime;
	ceil_lane_emit_absent(l, &p, status, reason, /* is_ceiling= */ true);
}

/* Who takes part in a contest: an entry by an algorithm. */
struct contender {
	size_t entry;
	uint32_t algorithm;
};

/* Under a power cap anyone might win, so only bursts leave out who is behind. */
static size_t near_ones(const struct ceil_lane_run *l, const size_t *entries, size_t n)
{
	const double best = n > 0 ? l->results[entries[0]].value : 0.0;

	while (n > 1 && fabs(l->results[entries[n - 1]].value / best - 1.0) > NEAR_RATIO - 1.0)
		n--;
	return n;
}

/*
 * The best entries by the algorithm that the search chose. Where the library's own first answer is
 * near, it has a burst too: a ceiling is never below what the library gives unasked.
 */
static size_t contenders(const struct ceil_lane_run *l, size_t first, enum ceil_regime regime,
                         size_t max, struct contender ret_c[MAX_CONTENDERS])
{
	size_t entries[MAX_FINALISTS];
	size_t n = finalists(l, first, max < MAX_FINALISTS ? max : MAX_FINALISTS, entries);
	size_t count = 0;

	if (regime == CEIL_BURST)
		n = near_ones(l, entries, n);
	for (size_t i = 0; i < n; i++)
		ret_c[count++] = (struct contender){entries[i], l->results[entries[i]].algorithm};
	for (size_t i = 0; i < n && regime == CEIL_BURST; i++) {
		if (ret_c[i].algorithm != 0 && l->results[entries[i]].first_ratio < NEAR_RATIO)
			ret_c[count++] = (struct contender){entries[i], 0};
	}
	return count;
}

/*
 * How much longer the library's first answer takes than contender i of n: by its own row of this
 * contest, else by the search, which knows it for bursts alone.
 */
static double first_ratio_of(const struct ceil_lane_run *l, const struct contender *c,
                             const struct ceil_outcome *o, size_t n, size_t i)
{
	const double searched = l->results[c[i].entry].first_ratio;

	if (isnan(searched))
		return searched; /* there was nothing to choose from */
	if (c[i].algorithm == 0)
		return 1.0;
	for (size_t j = 0; j < n; j++) {
		if (c[j].entry == c[i].entry && c[j].algorithm == 0 && o[j].stats.count > 0)
			return o[j].stats.median / o[i].stats.median;
	}
	return o[i].point.regime == CEIL_BURST ? searched : (double)NAN;
}

/* The rows of a contest; the best one is the ceiling. */
static void emit_contest(struct ceil_lane_run *l, const struct contender *c, struct ceil_outcome *o,
                         size_t n, int effort)
{
	const size_t best = winner(o, n);

	o[best].half_bytes = ceil_lane_half_bytes(l, &o[best].point, ceil_outcome_value(&o[best]));
	o[best].versus_value = ceil_lane_versus(l, &o[best].point);
	for (size_t i = 0; i < n; i++)
		o[i].first_ratio = first_ratio_of(l, c, o, n, i);
	for (size_t i = 0; i < n; i++) {
		ceil_lane_emit(l, &o[i], effort, /* is_ceiling= */ i == best);
		ceil_outcome_done(&o[i]);
	}
}

/* The plan has a price for the finals of a ceiling of which anything was to run. */
static void advance_final(struct ceil_lane_run *l, size_t first, enum ceil_regime regime)
{
	const struct ceil_plan *plan = &l->in->plan;
	size_t i = first;

	while (i < plan->count && !(same_ceiling(l, first, i) && plan->v[i].fate == CEIL_RUN))
		i++;
	if (i < plan->count)
		ceil_lane_advance(l, plan->v[first].point.bench,
		                  ceil_plan_final_s(plan, first, regime));
}

static void contest(struct ceil_lane_run *l, size_t first, enum ceil_regime regime, size_t max,
                    int effort)
{
	const struct ceil_point *any = &l->in->plan.v[first].point;
	const char *not_one = no_ceiling(l, any->bench);
	struct contender c[MAX_CONTENDERS];
	struct ceil_outcome o[MAX_CONTENDERS];
	const size_t n = contenders(l, first, regime, max, c);
	size_t measured = 0;
	struct ceil_found why;

	if (n == 0 || not_one) {
		absent_ceiling(l, first, regime, not_one);
		advance_final(l, first, regime);
		return;
	}
	for (; measured < n; measured++) {
		const struct ceil_entry *e = &l->in->plan.v[c[measured].entry];
		struct ceil_found ignored;
		struct ceil_point p = e->point;

		if (!ceil_lane_may_measure(l, e, measured ? &ignored : &why))
			break;
		p.regime = regime;
		ceil_lane_measure(l, &p, effort, c[measured].algorithm, &o[measured]);
	}
	advance_final(l, first, regime);
	if (measured == 0)
		absent_final(l, c[0].entry, regime, why.status, why.reason);
	else
		emit_contest(l, c, o, measured, effort);
}

/* ---- passes of one device */

void ceil_lane_run_bench(struct ceil_lane_run *l, const struct ceil_bench *bench)
{
	const struct ceil_plan *plan = &l->in->plan;

	for (size_t i = 0; i < plan->count; i++) {
		if (plan->v[i].point.bench == bench)
			ceil_lane_search(l, i);
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct ceil_variant *v = plan->v[i].point.variant;

		if (plan->v[i].point.bench != bench || v->sweep || !first_of_ceiling(l, i))
			continue;
		if (v->burst_finalists)
			contest(l, i, CEIL_BURST, v->burst_finalists, CEIL_EFFORT_BURST);
		else
			contest(l, i, CEIL_NOREGIME, 1, CEIL_EFFORT_FINAL);
	}
}

/* Hot rows come after all others. */
void ceil_lane_run_sustained(struct ceil_lane_run *l, const struct ceil_bench *bench)
{
	const struct ceil_plan *plan = &l->in->plan;

	for (size_t i = 0; i < plan->count; i++) {
		const struct ceil_point *p = &plan->v[i].point;
		const unsigned max = ceil_plan_sustained(plan, p->variant);

		if (p->bench != bench || !p->variant->sustained_finalists ||
		    !first_of_ceiling(l, i))
			continue;
		if (max > 0)
			contest(l, i, CEIL_SUSTAINED, max, CEIL_EFFORT_SUSTAINED);
		if (max > 0 || (plan->quick && !plan->drop_sustained))
			continue;
		struct ceil_point q = *p;

		q.regime = CEIL_SUSTAINED;
		ceil_lane_emit_absent(l, &q, CEIL_ROW_SKIPPED, "left out to fit the budget",
		                      /* is_ceiling= */ true);
	}
}

void ceil_lane_run_duty(struct ceil_lane_run *l, const struct ceil_bench *bench)
{
	const struct ceil_plan *plan = &l->in->plan;

	for (size_t i = 0; i < plan->count; i++) {
		const struct ceil_point *p = &plan->v[i].point;

		if (p->bench == bench && p->duty > 0.0 && p->variant->burst_finalists &&
		    first_of_ceiling(l, i))
			contest(l, i, CEIL_DUTY, 1, CEIL_EFFORT_DUTY);
	}
}
