/* How long at least one of many spans of time was on: the busy time of what overlaps. Pure. */
#ifndef CEIL_SPANS_H
#define CEIL_SPANS_H

#include "harness/base/types.h"

#include <stddef.h>

/* In ns. busy: the union of the spans; wall: from the first start to the last end. */
struct ceil_busy {
	double busy_ns, wall_ns;
};

/*
 * ceil_spans_busy - of count spans, which stand in the order of their starts after it.
 * A span that ends before it starts counts as empty. No span: 0 and 0.
 */
struct ceil_busy ceil_spans_busy(struct ceil_span *v, size_t count);

#endif
