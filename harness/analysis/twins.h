/* Silent corruption: one algorithm on the same data must write the same bits on every GPU. */
#ifndef CEIL_TWINS_H
#define CEIL_TWINS_H

#include "harness/analysis/record.h"
#include "harness/base/status.h"

#include <stddef.h>

/* Hashes of the rows so far. Starts as zeros. */
struct ceil_twin;
struct ceil_twins {
	struct ceil_twin *v;
	size_t count, cap;
};

/*
 * ceil_twins_judge - compares a row's output hash with that of the first row of the same part,
 * variant, case, pattern and algorithm, on this device or another, and remembers it.
 * @r: becomes failed, without figures, when the bits differ; the reason names both devices.
 * Return: CEIL_OK; CEIL_E_NOMEM, and the row is as it was.
 */
CEIL_MUST_CHECK enum ceil_status ceil_twins_judge(struct ceil_twins *t, struct ceil_record *r,
                                                  struct ceil_error *err);

/* ceil_twins_done - frees what was remembered. */
void ceil_twins_done(struct ceil_twins *t);

#endif
