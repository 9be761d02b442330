/* Shapes of the user's: --shape M,N,K and --shapes FILE.csv, checked before anything is measured.
 */
#ifndef CEIL_SHAPES_H
#define CEIL_SHAPES_H

#include "harness/base/status.h"
#include "harness/base/table.h"
#include "harness/measure/plan.h"

#include <stddef.h>

/* The shapes; starts as zeros. Their names point into themselves: not to be copied. */
struct ceil_shapes {
	struct ceil_own_case *v;
	size_t count, cap;
};

/* A line of a file of shapes: what a layer multiplies, and how often a step has it. */
struct ceil_shape_row {
	uint64_t m, n, k;
	char dtype[16], layout[8];
	uint64_t count;
};
extern const struct ceil_table ceil_table_shapes;

/*
 * ceil_shapes_parse - adds "M,N,K", for every type that takes it.
 * Return: CEIL_E_USAGE if it is not three whole numbers from 1, or no type takes them, with the
 * reason; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_shapes_parse(struct ceil_shapes *s, const char *text,
                                                   struct ceil_error *err);

/*
 * ceil_shapes_read - adds the lines of a CSV file with the columns m, n, k, dtype, count (1 where
 * it is empty or missing) and layout (TN where it is); equal lines are added up.
 * Return: CEIL_E_IO if it cannot be read; CEIL_E_USAGE as "path:line: what" naming the column if it
 * is empty or malformed, a number is 0, a type or layout is unknown, or the type cannot have the
 * shape;
 * CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_shapes_read(struct ceil_shapes *s, const char *path,
                                                  struct ceil_error *err);

/*
 * ceil_shapes_size - adds a size of the arrays of a bench whose first axis is bytes: "8", "64KiB".
 * Return: CEIL_E_USAGE if it is not a whole number from 1 with B, KiB, MiB, GiB or nothing behind;
 * CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_shapes_size(struct ceil_shapes *s, const char *text,
                                                  struct ceil_error *err);

/* ceil_shapes_count - how often the list has the shape of a point's case; 0: it is none of them. */
uint64_t ceil_shapes_count(const struct ceil_shapes *s, const struct ceil_point *p);

/* ceil_shapes_done - frees the list; one that was never read is fine. */
void ceil_shapes_done(struct ceil_shapes *s);

#endif
