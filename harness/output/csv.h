/* CSV through libcsv: rows of a column table, written as they come, read back strictly. */
#ifndef CEIL_CSV_H
#define CEIL_CSV_H

#include "harness/base/status.h"
#include "harness/base/table.h"

#include <stddef.h>

/* A file being written: NAME.partial until ceil_csv_close renames it. */
struct ceil_csv;

/*
 * ceil_csv_open - creates path.partial and writes the header line.
 * Return: CEIL_E_IO with the path and the system's words; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_csv_open(const char *path, const struct ceil_table *t,
                                               struct ceil_csv **ret_csv, struct ceil_error *err);

/* ceil_csv_write_row - one line, flushed to the kernel, so that a crash keeps it. */
CEIL_MUST_CHECK enum ceil_status ceil_csv_write_row(struct ceil_csv *csv, const void *row,
                                                    struct ceil_error *err);

/* ceil_csv_close - fsync, close, rename; every result checked. NULL is CEIL_OK. */
CEIL_MUST_CHECK enum ceil_status ceil_csv_close(struct ceil_csv *csv, struct ceil_error *err);

/* ceil_csv_abandon - closes and leaves the partial file. NULL is a no-op. */
void ceil_csv_abandon(struct ceil_csv *csv);

/* A row that was read; line counts from 1, the header being 1. Not CEIL_OK ends the reading. */
typedef enum ceil_status (*ceil_csv_row_fn)(void *user, const void *row, size_t line,
                                            struct ceil_error *err);

/*
 * ceil_csv_read - reads path row by row into a buffer of t->row_bytes. A BOM and CRLF are fine.
 * Columns are found by name; a column that t does not know is an error unless lenient, one that
 * is missing leaves its field absent, but those in required (NULL-terminated) must be there.
 * Return: CEIL_E_IO if it cannot be read; CEIL_E_USAGE with line and column if it is malformed
 * or empty.
 */
struct ceil_csv_rules {
	const char *const *required;
	bool lenient;
};
CEIL_MUST_CHECK enum ceil_status ceil_csv_read(const char *path, const struct ceil_table *t,
                                               const struct ceil_csv_rules *rules,
                                               ceil_csv_row_fn fn, void *user,
                                               struct ceil_error *err);

#endif
