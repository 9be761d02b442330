/* Stop rules: when a series says enough. Pure functions, one table. */
#ifndef CEIL_STOP_H
#define CEIL_STOP_H

#include "harness/measure/stats.h"

#include <stddef.h>
#include <stdint.h>

enum ceil_stop {
	CEIL_GO_ON,
	CEIL_STOP_PRECISE,      /* the interval of the median is narrow enough */
	CEIL_STOP_STEADY_NOISE, /* more samples no longer narrow it */
	CEIL_STOP_STEADY,       /* sustained: clock and rate have settled */
	CEIL_STOP_COUNT,
	CEIL_STOP_BUDGET
};

/* How much a measurement may cost, and how good it must be. */
struct ceil_effort {
	const char *name; /* "search", "final" */
	size_t min_samples, max_samples;
	size_t least_samples; /* before the budget may end it; 0: one */
	uint64_t sample_ns;   /* wished length of one sample */
	uint64_t budget_ns;   /* of all samples */
	uint64_t idle_ns;     /* before each sample: the burst protocol */
	uint64_t rest_ns;     /* before the first instead, if longer: the search's heat leaves */
	double precision;     /* half-width of the interval over the median */
};

struct ceil_stop_rule {
	const char *name, *doc;
	enum ceil_stop (*step)(const struct ceil_series *s, const struct ceil_effort *e,
	                       uint64_t spent_ns);
};

/* "precise" (median within e->precision), "count" (max_samples), "steady" (sustained). */
extern const struct ceil_stop_rule ceil_stop_rules[];
extern const size_t ceil_stop_rule_count;
const struct ceil_stop_rule *ceil_stop_rule_find(const char *name);
const char *ceil_stop_name(enum ceil_stop stop);

/*
 * ceil_steady_from - index of the first sample of the steady part: the last two windows of half
 * a second whose mean rates differ by less than 0.5 %, with whatever before them agrees with
 * both. Return: count if the series never settled.
 */
size_t ceil_steady_from(const struct ceil_series *s);

#endif
