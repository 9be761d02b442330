/* The folder of a run: the files in it, written as rows come, complete at the end. */
#ifndef CEIL_RUN_H
#define CEIL_RUN_H

#include "harness/analysis/record.h"
#include "harness/base/status.h"

#include <jansson.h>

struct ceil_run;

/*
 * ceil_run_open - makes the folder and opens its files; thread-safe for rows afterwards.
 * @output: a folder; "-" for JSON lines on stdout; NULL for ./gpuceil-<UTC time>-<host>.
 * @info: run.json's content, stays the caller's; written at once, and again at the end.
 * Return: CEIL_E_IO with the reason and what to do.
 */
CEIL_MUST_CHECK enum ceil_status ceil_run_open(const char *output, json_t *info,
                                               struct ceil_run **ret_run, struct ceil_error *err);

/* ceil_run_folder - the folder, or "-". */
const char *ceil_run_folder(const struct ceil_run *run);

/* A ceiling's row goes to ceilings.csv and records.csv, any other to records.csv alone. */
CEIL_MUST_CHECK enum ceil_status ceil_run_add(struct ceil_run *run, const struct ceil_record *r,
                                              bool is_ceiling, struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_run_add_samples(struct ceil_run *run,
                                                      const struct ceil_record *r,
                                                      const struct ceil_outcome *o,
                                                      struct ceil_error *err);

/* ceil_run_close - completes every file, run.json last; the first failure is told. */
CEIL_MUST_CHECK enum ceil_status ceil_run_close(struct ceil_run *run, struct ceil_error *err);

#endif
