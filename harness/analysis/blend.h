/* The ceiling of a list of shapes: what all of them together would reach, weighted by FLOP. */
#ifndef CEIL_BLEND_H
#define CEIL_BLEND_H

#include "harness/analysis/record.h"

#include <stddef.h>
#include <stdint.h>

/* Sums over the ceilings of a list on one device and in one regime. Starts as zeros. */
struct ceil_blend {
	double flops;         /* of all shapes, as often as the list has each */
	double seconds;       /* that they take at the measured rates */
	double peak_seconds;  /* and at their theoretical ones; NAN if one is unknown */
	uint64_t shapes;      /* measured */
	uint64_t missing;     /* and not */
	struct ceil_record r; /* the first of them: device, host, versions */
};

/* ceil_blend_add - a ceiling's row, and how often the list has its shape; @r: count >= 1. */
void ceil_blend_add(struct ceil_blend *b, const struct ceil_record *r, uint64_t count);

/*
 * ceil_blend_record - the row "gemm.list.burst": operations over the time that they would take.
 * @name: of the list, for the case column. A list of which a shape is missing has no value, and the
 * reason says how many are.
 */
void ceil_blend_record(const struct ceil_blend *b, const char *name, struct ceil_record *ret_r);

#endif
