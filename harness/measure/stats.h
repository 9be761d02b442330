/* Samples, and what can be said of them. Pure. */
#ifndef CEIL_STATS_H
#define CEIL_STATS_H

#include "harness/base/status.h"

#include <stddef.h>
#include <stdint.h>

enum ceil_drop {
	CEIL_KEEP,
	CEIL_DROP_WARMUP,
	CEIL_DROP_SHORT,
	CEIL_DROP_PREEMPTED,
	CEIL_DROP_COUNT
};

struct ceil_sample {
	uint64_t at_ns, batch; /* host clock when it ended; launches in it */
	double time_ns;        /* of one launch */
	double clock_mhz;      /* mean core clock, NAN if unknown */
	enum ceil_drop drop;
};
struct ceil_series {
	struct ceil_sample *v;
	size_t count, cap;
};

/* Of the kept samples' time_ns. NAN where there are too few: quantiles 1, spread 2, ci 6. */
struct ceil_stats {
	size_t count, dropped;
	double min, p05, median, p95, p99, max, mean;
	double ci_lo, ci_hi; /* of the median, 95 %, from order statistics */
	double spread;       /* (p95 - p05) / median */
	double clock_mhz;    /* median of the samples' clocks */
};

/* ceil_series_add - appends; CEIL_E_NOMEM leaves the series as it was. */
CEIL_MUST_CHECK enum ceil_status ceil_series_add(struct ceil_series *s,
                                                 const struct ceil_sample *sample,
                                                 struct ceil_error *err);
void ceil_series_done(struct ceil_series *s);

/* ceil_stats_of - of samples [from, count). */
void ceil_stats_of(const struct ceil_series *s, size_t from, struct ceil_stats *ret_stats);

/* ceil_quantile - linear between order statistics (type 7) of n sorted values; NAN if n is 0. */
double ceil_quantile(const double *sorted, size_t n, double q);

/* ceil_drop_name - "" for a sample that counts, else "warm-up", "too short", "preempted". */
const char *ceil_drop_name(enum ceil_drop drop);

#endif
