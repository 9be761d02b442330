/* Stop rules: when a series says enough. */
#include "harness/measure/stop.h"

#include "harness/base/clock.h"

#include <math.h>
#include <string.h>

/* measuring.md, sustained: windows of half a second, 0.5 % over a second, 3 s to 10 s. */
#define WINDOW_NS        (CEIL_NS_PER_S / 2u)
#define STEADY_RATIO     0.005
#define SUSTAINED_MIN_NS (3ull * CEIL_NS_PER_S)

static const char *const stop_names[] = {
	[CEIL_GO_ON] = "",
	[CEIL_STOP_PRECISE] = "precise",
	[CEIL_STOP_STEADY_NOISE] = "steady noise",
	[CEIL_STOP_STEADY] = "steady",
	[CEIL_STOP_COUNT] = "count",
	[CEIL_STOP_BUDGET] = "budget",
};

const char *ceil_stop_name(enum ceil_stop stop)
{
	return stop_names[stop];
}

static enum ceil_stop step_precise(const struct ceil_series *s, const struct ceil_effort *e,
                                   uint64_t spent_ns)
{
	struct ceil_stats st;

	ceil_stats_of(s, 0, &st);
	if (st.count >= e->max_samples)
		return CEIL_STOP_COUNT;
	if (spent_ns >= e->budget_ns && st.count >= (e->least_samples ? e->least_samples : 1))
		return CEIL_STOP_BUDGET;
	if (st.count < e->min_samples || isnan(st.ci_lo))
		return s->count >= 4 * e->max_samples ? CEIL_STOP_COUNT : CEIL_GO_ON;
	const double half = (st.ci_hi - st.ci_lo) / 2.0 / st.median;

	if (half <= e->precision)
		return CEIL_STOP_PRECISE;
	/* The interval narrows with the root of the count: would all that is allowed be enough? */
	const double needed = (double)st.count * (half / e->precision) * (half / e->precision);

	if (st.count >= 2 * e->min_samples && needed > 4.0 * (double)e->max_samples)
		return CEIL_STOP_STEADY_NOISE;
	return CEIL_GO_ON;
}

static enum ceil_stop step_count(const struct ceil_series *s, const struct ceil_effort *e,
                                 uint64_t spent_ns)
{
	struct ceil_stats st;

	ceil_stats_of(s, 0, &st);
	if (st.count >= e->max_samples || s->count >= 4 * e->max_samples)
		return CEIL_STOP_COUNT;
	return spent_ns >= e->budget_ns && st.count >= e->min_samples ? CEIL_STOP_BUDGET
	                                                              : CEIL_GO_ON;
}

static enum ceil_stop step_steady(const struct ceil_series *s, const struct ceil_effort *e,
                                  uint64_t spent_ns)
{
	if (spent_ns >= e->budget_ns)
		return CEIL_STOP_BUDGET;
	if (spent_ns < SUSTAINED_MIN_NS)
		return CEIL_GO_ON;
	return ceil_steady_from(s) < s->count ? CEIL_STOP_STEADY : CEIL_GO_ON;
}

const struct ceil_stop_rule ceil_stop_rules[] = {
	{"precise", "until the 95 % interval of the median is narrow, or cannot become so",
         step_precise},
	{"count", "a fixed number of samples", step_count},
	{"steady", "until rate and clock of half seconds agree within 0.5 %, 3 s at least",
         step_steady},
};
const size_t ceil_stop_rule_count = sizeof(ceil_stop_rules) / sizeof(ceil_stop_rules[0]);

const struct ceil_stop_rule *ceil_stop_rule_find(const char *name)
{
	for (size_t i = 0; i < ceil_stop_rule_count; i++) {
		if (strcmp(ceil_stop_rules[i].name, name) == 0)
			return &ceil_stop_rules[i];
	}
	return NULL;
}

/* A window of half a second: samples [from, to), with the means over it. */
struct window {
	size_t from, to;
	double time_ns, clock_mhz;
};

/* The window that ends before sample to; from == to when half a second is not there. */
static struct window window_before(const struct ceil_series *s, size_t to)
{
	struct window w = {to, to, 0.0, 0.0};
	double launches = 0.0;
	double span_ns = 0.0;

	while (w.from > 0 && span_ns < (double)WINDOW_NS) {
		const struct ceil_sample *x = &s->v[--w.from];
		const double ns = x->time_ns * (double)x->batch;

		if (x->drop != CEIL_KEEP)
			continue;
		span_ns += ns;
		launches += (double)x->batch;
		w.clock_mhz += x->clock_mhz * ns;
	}
	if (span_ns < (double)WINDOW_NS)
		return (struct window){to, to, 0.0, 0.0};
	w.time_ns = span_ns / launches;
	w.clock_mhz /= span_ns;
	return w;
}

/* A clock that nobody measured is NAN and does not disagree. */
static int agree(const struct window *a, const struct window *b)
{
	return fabs(a->time_ns / b->time_ns - 1.0) <= STEADY_RATIO &&
	       !(fabs(a->clock_mhz / b->clock_mhz - 1.0) > STEADY_RATIO);
}

size_t ceil_steady_from(const struct ceil_series *s)
{
	const struct window last = window_before(s, s->count);
	const struct window before = window_before(s, last.from);

	if (last.from == last.to || before.from == before.to || !agree(&last, &before))
		return s->count;
	struct window w = before;

	for (;;) {
		const struct window next = window_before(s, w.from);

		if (next.from == next.to || !agree(&next, &last) || !agree(&next, &before))
			return w.from;
		w = next;
	}
}
