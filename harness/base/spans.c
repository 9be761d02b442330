/* How long at least one of many spans of time was on: the busy time of what overlaps. */
#include "harness/base/spans.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const uint64_t x = ((const struct ceil_span *)a)->start_ns;
	const uint64_t y = ((const struct ceil_span *)b)->start_ns;

	return (x > y) - (x < y);
}

struct ceil_busy ceil_spans_busy(struct ceil_span *v, size_t count)
{
	uint64_t busy_ns = 0;
	uint64_t end_ns;

	if (count == 0)
		return (struct ceil_busy){0.0, 0.0};
	qsort(v, count, sizeof(*v), by_start);
	end_ns = v[0].start_ns;
	for (size_t i = 0; i < count; i++) {
		const uint64_t from_ns = v[i].start_ns > end_ns ? v[i].start_ns : end_ns;

		if (v[i].end_ns <= from_ns)
			continue;
		busy_ns += v[i].end_ns - from_ns;
		end_ns = v[i].end_ns;
	}
	return (struct ceil_busy){(double)busy_ns, (double)(end_ns - v[0].start_ns)};
}
