/* Samples, and what can be said of them. */
#include "harness/measure/stats.h"

#include "harness/base/alloc.h"

#include <math.h>
#include <stdlib.h>

static const char *const drop_names[CEIL_DROP_COUNT] = {
	[CEIL_KEEP] = "",
	[CEIL_DROP_WARMUP] = "warm-up",
	[CEIL_DROP_SHORT] = "too short",
	[CEIL_DROP_PREEMPTED] = "preempted",
};

const char *ceil_drop_name(enum ceil_drop drop)
{
	return drop_names[drop];
}

enum ceil_status ceil_series_add(struct ceil_series *s, const struct ceil_sample *sample,
                                 struct ceil_error *err)
{
	void *v = s->v;
	const enum ceil_status st = ceil_grow(&v, &s->cap, s->count + 1, sizeof(*s->v), err);

	if (st != CEIL_OK)
		return st;
	s->v = v;
	s->v[s->count++] = *sample;
	return CEIL_OK;
}

void ceil_series_done(struct ceil_series *s)
{
	free(s->v);
	*s = (struct ceil_series){0};
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

double ceil_quantile(const double *sorted, size_t n, double q)
{
	if (n == 0)
		return (double)NAN;
	const double at = q * (double)(n - 1);
	const size_t i = (size_t)at;
	const double next = sorted[i + 1 < n ? i + 1 : i];

	return sorted[i] + (at - (double)i) * (next - sorted[i]);
}

/*
 * The interval of the median from order statistics: of n samples, the number below the true
 * median is binomial(n, 1/2), so ranks (n -+ 1.96 sqrt(n)) / 2 enclose it in 95 % of cases.
 * Source: Hollander, Wolfe 1999, Nonparametric Statistical Methods, 3.6.
 */
static void median_interval(const double *sorted, size_t n, struct ceil_stats *st)
{
	if (n < 6)
		return;
	const double half = 1.96 * sqrt((double)n);
	const double lo = floor(((double)n - half) / 2.0);
	const double hi = ceil(((double)n + half) / 2.0);

	st->ci_lo = sorted[lo < 0.0 ? 0 : (size_t)lo];
	st->ci_hi = sorted[hi >= (double)n ? n - 1 : (size_t)hi];
}

static void quantiles(double *times, size_t n, struct ceil_stats *st)
{
	qsort(times, n, sizeof(*times), compare_doubles);
	st->min = ceil_quantile(times, n, 0.0);
	st->p05 = ceil_quantile(times, n, 0.05);
	st->median = ceil_quantile(times, n, 0.50);
	st->p95 = ceil_quantile(times, n, 0.95);
	st->p99 = ceil_quantile(times, n, 0.99);
	st->max = ceil_quantile(times, n, 1.0);
	st->spread = n > 1 ? (st->p95 - st->p05) / st->median : (double)NAN;
	median_interval(times, n, st);
}

/* Collects the kept samples of one member into v; NANs are left out. */
static size_t collect(const struct ceil_series *s, size_t from, double *v, int clocks)
{
	size_t n = 0;

	for (size_t i = from; i < s->count; i++) {
		const double x = clocks ? s->v[i].clock_mhz : s->v[i].time_ns;

		if (s->v[i].drop == CEIL_KEEP && !isnan(x))
			v[n++] = x;
	}
	return n;
}

/* Time over launches: long batches count for more. */
static double weighted_mean(const struct ceil_series *s, size_t from)
{
	double time = 0.0;
	double launches = 0.0;

	for (size_t i = from; i < s->count; i++) {
		if (s->v[i].drop != CEIL_KEEP)
			continue;
		time += s->v[i].time_ns * (double)s->v[i].batch;
		launches += (double)s->v[i].batch;
	}
	return launches > 0.0 ? time / launches : (double)NAN;
}

void ceil_stats_of(const struct ceil_series *s, size_t from, struct ceil_stats *ret_stats)
{
	const double none = (double)NAN;
	struct ceil_stats st = {0,    0,    none, none, none, none, none,
	                        none, none, none, none, none, none};
	double *v = malloc((s->count + 1) * sizeof(*v));

	if (!v) {
		*ret_stats = st;
		return;
	}
	st.count = collect(s, from, v, 0);
	st.dropped = s->count - from - st.count;
	if (st.count)
		quantiles(v, st.count, &st);
	st.mean = weighted_mean(s, from);
	const size_t clocks = collect(s, from, v, 1);
	qsort(v, clocks, sizeof(*v), compare_doubles);
	st.clock_mhz = ceil_quantile(v, clocks, 0.5);
	free(v);
	*ret_stats = st;
}
