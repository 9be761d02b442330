/* What kernels told of their blocks: for what share of the time a multiprocessor was in use. */
#include "harness/base/stays.h"

#include <math.h>
#include <stdlib.h>

struct window {
	uint64_t from_ns, to_ns;
};

static int by_sm_and_start(const void *a, const void *b)
{
	const struct ceil_stay *x = a, *y = b;

	if (x->sm != y->sm)
		return (x->sm > y->sm) - (x->sm < y->sm);
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static struct window window_of(const struct ceil_stay *v, size_t count, double cut)
{
	struct window w = {v[0].start_ns, v[0].start_ns};
	uint64_t edge_ns;

	for (size_t i = 0; i < count; i++) {
		const uint64_t end_ns = v[i].start_ns + v[i].length_ns;

		w.from_ns = v[i].start_ns < w.from_ns ? v[i].start_ns : w.from_ns;
		w.to_ns = end_ns > w.to_ns ? end_ns : w.to_ns;
	}
	edge_ns = (uint64_t)(cut * (double)(w.to_ns - w.from_ns));
	return (struct window){w.from_ns + edge_ns, w.to_ns - edge_ns};
}

double ceil_stays_active(struct ceil_stay *v, size_t count, uint32_t sm_count, double cut)
{
	struct window w;
	uint64_t busy_ns = 0, done_ns = 0;

	if (count == 0 || sm_count == 0)
		return (double)NAN;
	w = window_of(v, count, cut);
	if (w.to_ns <= w.from_ns)
		return (double)NAN;
	qsort(v, count, sizeof(*v), by_sm_and_start);
	for (size_t i = 0; i < count && v[i].sm < sm_count; i++) {
		uint64_t from_ns = v[i].start_ns, to_ns = from_ns + v[i].length_ns;

		/* done_ns: up to where this multiprocessor is counted. */
		if (i == 0 || v[i].sm != v[i - 1].sm)
			done_ns = w.from_ns;
		from_ns = from_ns > done_ns ? from_ns : done_ns;
		to_ns = to_ns < w.to_ns ? to_ns : w.to_ns;
		if (to_ns <= from_ns)
			continue;
		busy_ns += to_ns - from_ns;
		done_ns = to_ns;
	}
	return (double)busy_ns / ((double)(w.to_ns - w.from_ns) * sm_count);
}
