/* What a curve over sizes says: the size at which half of the best rate is reached. Pure. */
#ifndef CEIL_CURVE_H
#define CEIL_CURVE_H

#include <stddef.h>

/* A rate that was reached at a size. */
struct ceil_at_size {
	double bytes, rate;
};

enum { CEIL_CURVE_LEAST = 4 }; /* fewer sizes are no curve */

/*
 * ceil_curve_half - the size in bytes at which the curve reaches half of best, on a straight line
 * between the logarithms of the two sizes around it (Hockney's n1/2).
 * @v: in any order, and in order of size after it; sizes above 0.
 * Return: NAN if there are fewer than CEIL_CURVE_LEAST sizes, if the smallest is above half
 * already, or if none is.
 * Source: R. W. Hockney, The Science of Computer Benchmarking (1996), n1/2 and r-infinity.
 */
double ceil_curve_half(struct ceil_at_size *v, size_t count, double best);

#endif
