/* Denominators of MFU, read from any file of a run that has them. */
#ifndef CEIL_MFU_FILE_H
#define CEIL_MFU_FILE_H

#include "harness/analysis/mfu.h"
#include "harness/analysis/record.h"
#include "harness/base/status.h"

#include <stddef.h>

/* What was read; ceil_mfu_source_done frees it. */
struct ceil_mfu_source {
	struct ceil_mfu_row *rows;
	size_t row_count;
	struct ceil_record *records; /* of a ceilings.csv or records.csv; NULL for denominators */
	size_t record_count;
	struct ceil_record *points; /* of the records.csv beside a folder's ceilings.csv, or NULL */
	size_t point_count;
};

/*
 * ceil_mfu_read - from a run's folder (its ceilings.csv and records.csv), a ceilings.csv, a
 * records.csv or a mfu_denominators.csv, told apart by their columns. Return: CEIL_E_IO if it
 * cannot be read; CEIL_E_USAGE if it is malformed, has no denominators, or is of another format
 * version than this program's.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mfu_read(const char *path, struct ceil_mfu_source *ret_source,
                                               struct ceil_error *err);

/*
 * ceil_mfu_read_records - the same from a run's folder or its records.csv, denominators or not: a
 * run of the user's own shapes has none.
 * Return: as ceil_mfu_read; CEIL_E_USAGE for a mfu_denominators.csv.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mfu_read_records(const char *path,
                                                       struct ceil_mfu_source *ret_source,
                                                       struct ceil_error *err);

/* ceil_mfu_source_done - frees; NULL or an empty one is a no-op. */
void ceil_mfu_source_done(struct ceil_mfu_source *source);

#endif
