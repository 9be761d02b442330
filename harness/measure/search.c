/* Candidates: every algorithm timed, in turns, the slower half leaving after each round. */
#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/measure/meter.h"

#include <math.h>
#include <stdlib.h>

/* A round each until so few are left; they get some more, so that noise does not choose. */
enum { LAST_FEW = 2, LAST_ROUNDS = 3 };

/* From a cool device two samples of an algorithm differ by 0.7 % or less (H200, 122 points): what
 * is so much slower than the best will not win, in whatever half it is. */
#define HOPELESS_RATIO 1.03

/* A lead that the noise of medians makes is none: the library's own first answer stands, so that
 * repeats and GPUs agree on the algorithm. */
#define TIE_RATIO 1.003

struct candidate {
	uint32_t index;
	struct ceil_series series;
	double median_ns;
};

struct search {
	struct candidate *v; /* those alive, then those that have left */
	uint32_t alive, count;
	bool cool;      /* idle before each sample */
	double busy_ns; /* work since then */
};

/*
 * What the power control of a H200 lets pass, and when it has forgotten what was more. At 3 ms of
 * every 8 it works without end.
 */
#define PASSES_NS    12e6
#define FORGETS_NS   100e6
#define IDLE_RATIO   (5.0 / 3.0)
#define MOST_IDLE_NS 150e6

static void idle(struct search *q, double ns)
{
	ceil_sleep_ns((uint64_t)ns);
	q->busy_ns = 0.0;
}

/* Every sample must find the device as cool as the one before it did, whoever was first. What is
 * longer than may pass is slowed down by itself; it idles as long as it worked. */
static void cool(struct search *q)
{
	const double short_ns = fmin(q->busy_ns, PASSES_NS);

	if (q->cool)
		idle(q, fmin(fmax(IDLE_RATIO * short_ns, q->busy_ns), MOST_IDLE_NS));
}

/*
 * The first launch of an algorithm loads its code: untimed and ungated. Only a device that is
 * gone ends the search; an algorithm that cannot run here leaves it.
 */
static enum ceil_status first_launch(struct ceil_meter *m, struct ceil_setup *s,
                                     struct ceil_error *err)
{
	const enum ceil_status st = s->point->variant->launch(&s->launch, err);

	return st == CEIL_OK ? ceil_sample_wait(m, err) : st;
}

static bool fatal(enum ceil_status st)
{
	return st == CEIL_E_DEVICE || st == CEIL_E_TIMEOUT || st == CEIL_E_CANCELLED;
}

static enum ceil_status warm(struct ceil_meter *m, struct ceil_setup *s, struct search *q,
                             uint32_t count, struct ceil_error *err)
{
	uint64_t least_ns = UINT64_MAX; /* the launch that had least code to load, or none */

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t from_ns = ceil_now_ns();

		s->launch.candidate = i;
		const enum ceil_status st = first_launch(m, s, err);
		const uint64_t took_ns = ceil_now_ns() - from_ns;

		if (fatal(st))
			return st;
		if (st == CEIL_OK && took_ns < least_ns)
			least_ns = took_ns;
		if (st == CEIL_OK)
			q->v[q->alive++] = (struct candidate){.index = i, .median_ns = (double)NAN};
	}
	q->busy_ns = (double)least_ns * q->alive;
	return q->alive ? CEIL_OK : err->status;
}

static enum ceil_status sample_one(struct ceil_meter *m, struct ceil_setup *s, struct search *q,
                                   struct candidate *c, struct ceil_error *err)
{
	struct ceil_sample x;
	struct ceil_stats stats;
	enum ceil_status st;

	s->launch.candidate = c->index;
	cool(q);
	st = ceil_sample_batch(m, s, &x, err);
	if (st == CEIL_OK)
		st = ceil_series_add(&c->series, &x, err);
	if (st != CEIL_OK)
		return st;
	q->busy_ns += x.time_ns * (double)x.batch;
	ceil_stats_of(&c->series, 0, &stats);
	c->median_ns = stats.median;
	return CEIL_OK;
}

/*
 * First launches follow one another without a pause, and the library's first answer is timed first:
 * 10 % too slow while that heat lasts, 1 % too fast when it is forgotten. So it runs once more.
 */
static enum ceil_status settle(struct ceil_meter *m, struct ceil_setup *s, struct search *q,
                               struct ceil_error *err)
{
	struct candidate once = {.index = q->v[0].index};
	enum ceil_status st;

	if (!q->cool)
		return CEIL_OK;
	if (q->busy_ns >= PASSES_NS)
		idle(q, FORGETS_NS);
	st = sample_one(m, s, q, &once, err);
	ceil_series_done(&once.series);
	return st;
}

static enum ceil_status round_of(struct ceil_meter *m, struct ceil_setup *s, struct search *q,
                                 struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < q->alive && st == CEIL_OK; i++) {
		st = sample_one(m, s, q, &q->v[i], err);
		if (st == CEIL_OK)
			st = ceil_cancel_check(err);
	}
	return st;
}

/* NAN sorts last; equal times keep the library's own order. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a;
	const struct candidate *y = b;
	const double t = isnan(x->median_ns) ? (double)INFINITY : x->median_ns;
	const double u = isnan(y->median_ns) ? (double)INFINITY : y->median_ns;

	return t != u ? (t > u) - (t < u) : (x->index > y->index) - (x->index < y->index);
}

static bool hopeless(const struct search *q, const struct candidate *c)
{
	return !(c->median_ns <= HOPELESS_RATIO * q->v[0].median_ns);
}

/* Half of a sorted field, without the hopeless; the best stays. */
static uint32_t staying(const struct search *q)
{
	uint32_t n = (q->alive + 1) / 2;

	while (n > 1 && hopeless(q, &q->v[n - 1]))
		n--;
	return n;
}

/* The library's own first answer, or NULL if it cannot run here. */
static struct candidate *first_answer(const struct search *q)
{
	for (uint32_t i = 0; i < q->count; i++) {
		if (q->v[i].index == 0)
			return &q->v[i];
	}
	return NULL;
}

/* Every row says how far the first answer is behind: one sample would not do for that. */
static void keep_first(struct search *q)
{
	struct candidate *first = first_answer(q);
	struct candidate *after = q->v + q->alive;

	if (!first || first < after)
		return;
	const struct candidate other = *after;

	*after = *first;
	*first = other;
	q->alive++;
}

static void prefer_first(struct search *q)
{
	struct candidate *first = first_answer(q);
	const struct candidate best = q->v[0];

	if (!first || !(first->median_ns <= TIE_RATIO * best.median_ns))
		return;
	q->v[0] = *first;
	*first = best;
}

static enum ceil_status halve(struct ceil_meter *m, struct ceil_setup *s, struct search *q,
                              struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	while (q->alive > LAST_FEW && st == CEIL_OK) {
		st = round_of(m, s, q, err);
		qsort(q->v, q->alive, sizeof(*q->v), compare_candidates);
		q->alive = staying(q);
	}
	keep_first(q);
	for (int i = 0; i < LAST_ROUNDS && q->alive > 1 && st == CEIL_OK; i++)
		st = round_of(m, s, q, err);
	qsort(q->v, q->alive, sizeof(*q->v), compare_candidates);
	prefer_first(q);
	return st;
}

enum ceil_status ceil_search_candidate(struct ceil_meter *m, struct ceil_setup *s, uint32_t count,
                                       const struct ceil_effort *effort, double *ret_first_ratio,
                                       struct ceil_error *err)
{
	/* Short samples: heat and power average over a few milliseconds at most. */
	const uint64_t sample_ns =
		effort->sample_ns < CEIL_NS_PER_MS ? effort->sample_ns : CEIL_NS_PER_MS;
	struct search q = {.v = ceil_alloc(count, sizeof(struct candidate), err),
	                   .cool = effort->idle_ns > 0};
	enum ceil_status st;

	if (!q.v)
		return CEIL_E_NOMEM;
	st = warm(m, s, &q, count, err);
	q.count = q.alive;
	if (st == CEIL_OK) {
		/* One batch size for all, found with the library's first choice. */
		s->launch.candidate = q.v[0].index;
		st = ceil_sample_grow(m, s, sample_ns, err);
	}
	if (st == CEIL_OK)
		st = settle(m, s, &q, err);
	if (st == CEIL_OK)
		st = halve(m, s, &q, err);
	if (st == CEIL_OK) {
		const struct candidate *first = first_answer(&q);

		s->launch.candidate = q.v[0].index;
		*ret_first_ratio = !first         ? (double)NAN
		                   : first == q.v ? 1.0
		                                  : first->median_ns / q.v[0].median_ns;
	}
	for (uint32_t i = 0; i < q.count; i++)
		ceil_series_done(&q.v[i].series);
	free(q.v);
	return st;
}
