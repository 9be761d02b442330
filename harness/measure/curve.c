/* What a curve over sizes says: the size at which half of the best rate is reached. */
#include "harness/measure/curve.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	const double x = ((const struct ceil_at_size *)a)->bytes;
	const double y = ((const struct ceil_at_size *)b)->bytes;

	return (x > y) - (x < y);
}

double ceil_curve_half(struct ceil_at_size *v, size_t count, double best)
{
	const double half = best / 2.0;
	size_t at = 0;

	if (count < CEIL_CURVE_LEAST)
		return (double)NAN;
	qsort(v, count, sizeof(*v), by_size);
	while (at < count && !(v[at].rate >= half))
		at++;
	if (at == 0 || at == count)
		return (double)NAN;
	const double share = log(half / v[at - 1].rate) / log(v[at].rate / v[at - 1].rate);

	return v[at - 1].bytes * pow(v[at].bytes / v[at - 1].bytes, share);
}
