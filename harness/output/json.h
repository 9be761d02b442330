/* JSON by jansson: rows of a column table, and run.json. */
#ifndef CEIL_JSON_H
#define CEIL_JSON_H

#include "harness/base/status.h"
#include "harness/base/table.h"

#include <jansson.h>
#include <stdio.h>

/*
 * ceil_json_text - a string of any bytes, such as a path, a device's name or what was typed:
 * jansson refuses what is not UTF-8, so its high bytes become '?'. Return: the caller's; NULL
 * without memory.
 */
json_t *ceil_json_text(const char *text);

/*
 * ceil_json_write_line - the row as one line, with "table" first and a member for each field that
 * is present; flushed. Bytes that are no UTF-8 become '?'; whole numbers above INT64_MAX become
 * text. Return: CEIL_E_IO if it was not written, CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_json_write_line(FILE *f, const struct ceil_table *t,
                                                      const void *row, struct ceil_error *err);

/* ceil_json_save - pretty, by way of path.partial. Return: CEIL_E_IO, CEIL_E_NOMEM. */
CEIL_MUST_CHECK enum ceil_status ceil_json_save(const char *path, const json_t *root,
                                                struct ceil_error *err);

#endif
