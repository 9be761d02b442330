/* CSV through libcsv: rows of a column table, written as they come, read back strictly. */
#ifndef CEIL_CSV_H
#define CEIL_CSV_H

#include "harness/base/status.h"
#include "harness/base/table.h"

#include <stdbool.h>
#include <stddef.h>

/* A file being written: NAME.partial until ceil_csv_close renames it. */
struct ceil_csv;

/*
 * ceil_csv_open - creates path.partial and writes the header line. t must outlive the file.
 * Return: CEIL_E_IO with the path and the system's words; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_csv_open(const char *path, const struct ceil_table *t,
                                               struct ceil_csv **ret_csv, struct ceil_error *err);

/*
 * ceil_csv_write_row - one line, flushed to the kernel, so that a crash keeps it.
 * Return: CEIL_E_IO if the line or one before it was not written, and what to do.
 */
CEIL_MUST_CHECK enum ceil_status ceil_csv_write_row(struct ceil_csv *csv, const void *row,
                                                    struct ceil_error *err);

/* ceil_csv_close - fsync, close, rename; every result checked. NULL is CEIL_OK. */
CEIL_MUST_CHECK enum ceil_status ceil_csv_close(struct ceil_csv *csv, struct ceil_error *err);

/* ceil_csv_abandon - closes and leaves the partial file. NULL is a no-op. */
void ceil_csv_abandon(struct ceil_csv *csv);

/*
 * A row that was read, the callee's only until it returns. line: where it begins in the file,
 * from 1. A status that is not CEIL_OK ends the reading and is passed on.
 */
typedef enum ceil_status (*ceil_csv_row_fn)(void *user, const void *row, size_t line,
                                            struct ceil_error *err);

/* What a reader insists on. */
struct ceil_csv_rules {
	const char *const *required; /* columns that must be there, NULL-terminated; or NULL */
	bool lenient;                /* columns that the table does not know are skipped */
};

/*
 * ceil_csv_read - reads path row by row into a buffer of t->row_bytes. A BOM, CRLF, blank lines
 * and a last line without newline are fine.
 * Columns are found by name, in any order; a field whose column is missing is absent.
 * @rules: NULL is strict, with nothing required.
 * Return: CEIL_E_IO if it cannot be read; CEIL_E_USAGE as "path:line: what" if it is empty or
 * malformed: an unknown, repeated or missing column, a wrong number of fields, a bad number, a
 * text too long for its field, a stray or missing quote, a NUL byte, a row over 1 MiB;
 * CEIL_E_NOMEM; what fn said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_csv_read(const char *path, const struct ceil_table *t,
                                               const struct ceil_csv_rules *rules,
                                               ceil_csv_row_fn fn, void *user,
                                               struct ceil_error *err);

#endif
