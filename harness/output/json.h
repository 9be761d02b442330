/* JSON by jansson: rows of a column table, and run.json. */
#ifndef CEIL_JSON_H
#define CEIL_JSON_H

#include "harness/base/status.h"
#include "harness/base/table.h"

#include <jansson.h>
#include <stdio.h>

/*
 * ceil_json_row - an object with a member for each field that is present, in their order.
 * Bytes that are no UTF-8 become '?'; whole numbers above INT64_MAX become text.
 * Return: the caller's, json_decref frees it; NULL if there is no memory.
 */
json_t *ceil_json_row(const struct ceil_table *t, const void *row);

/*
 * ceil_json_write_line - the row as one line, with "table" first; flushed.
 * Return: CEIL_E_IO if it was not written, CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_json_write_line(FILE *f, const struct ceil_table *t,
                                                      const void *row, struct ceil_error *err);

/* ceil_json_save - pretty, by way of path.partial. Return: CEIL_E_IO, CEIL_E_NOMEM. */
CEIL_MUST_CHECK enum ceil_status ceil_json_save(const char *path, const json_t *root,
                                                struct ceil_error *err);

#endif
