/* The slowest GPU of each ceiling, where several were measured: a job waits for it. */
#ifndef CEIL_SLOWEST_H
#define CEIL_SLOWEST_H

#include "harness/analysis/record.h"
#include "harness/output/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One ceiling over the GPUs that have a value for it. */
struct ceil_slowest {
	const struct ceil_record *slowest; /* row of the slowest one */
	double median;                     /* of all of them, in its unit */
	double behind;                     /* ratio that the slowest lacks to the median; >= 0 */
	size_t gpus;
};

/*
 * ceil_slowest_next - the next ceiling that at least two GPUs have a value for. Pure.
 * @at: where to look on; 0 at first, moved behind the row that was found.
 * Return: false when there is none.
 */
bool ceil_slowest_next(const struct ceil_record *r, size_t count, size_t *at,
                       struct ceil_slowest *ret_s);

/* ceil_text_slowest - the table of these; nothing with fewer than two GPUs. */
void ceil_text_slowest(FILE *f, const struct ceil_text_style *style, const struct ceil_record *r,
                       size_t count);

#endif
