/* The folder of a run: the files in it, written as rows come, complete at the end. */
#ifndef CEIL_RUN_H
#define CEIL_RUN_H

#include "harness/analysis/record.h"
#include "harness/base/status.h"

#include <stdbool.h>

#include <jansson.h>

struct ceil_run;

/*
 * ceil_run_open - makes the folder and opens its files; rows may then come from any thread.
 * @output: a folder; "-" for JSON lines on stdout; NULL for ceil_run_name, with "-<rank>" behind it
 * in a task of mpirun or srun, and ".2" and so on when another run of the same second is there.
 * @info: run.json's content, stays the caller's and must outlive the run; written at once, and
 * again at the end.
 * Return: CEIL_E_USAGE if the folder holds a run already, finished or not: nothing measured is
 * ever overwritten; CEIL_E_IO with the reason and what to do; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_run_open(const char *output, json_t *info,
                                               struct ceil_run **ret_run, struct ceil_error *err);

/* ceil_run_name - "./gpuceil-<UTC time>-<host>": where a run goes when nobody says. */
void ceil_run_name(char *ret_text, size_t size);

/* ceil_run_folder - the folder, or "-". */
const char *ceil_run_folder(const struct ceil_run *run);

/*
 * A ceiling's row goes to ceilings.csv and records.csv, any other to records.csv alone.
 * Return: CEIL_E_IO the first time that a file cannot be written. That file ends there, what is in
 * it stays readable as NAME.partial, and later rows for it are dropped without another word; the
 * other files go on. A stdout that cannot be written cancels the run.
 */
CEIL_MUST_CHECK enum ceil_status ceil_run_add(struct ceil_run *run, const struct ceil_record *r,
                                              bool is_ceiling, struct ceil_error *err);

/* ceil_run_add_sample_rows - samples that another rank sent. Return: as ceil_run_add. */
CEIL_MUST_CHECK enum ceil_status ceil_run_add_sample_rows(struct ceil_run *run,
                                                          const struct ceil_sample_row *rows,
                                                          size_t count, struct ceil_error *err);

/* ceil_run_add_samples - every sample of the outcome whose row is r. Return: as ceil_run_add. */
CEIL_MUST_CHECK enum ceil_status ceil_run_add_samples(struct ceil_run *run,
                                                      const struct ceil_record *r,
                                                      const struct ceil_outcome *o,
                                                      struct ceil_error *err);

/*
 * ceil_run_open_telemetry - telemetry.csv, of a table that must outlive the run; without it a run
 * has no such file. At most once. Return: as ceil_run_open.
 */
CEIL_MUST_CHECK enum ceil_status ceil_run_open_telemetry(struct ceil_run *run,
                                                         const struct ceil_table *t,
                                                         struct ceil_error *err);
/* ceil_run_add_telemetry - a row of that table, once it is opened; ceil_run_close tells failures.
 */
void ceil_run_add_telemetry(struct ceil_run *run, const void *row);

/*
 * ceil_run_add_denominators - mfu_denominators.csv, of all ceilings of the run: what the rate of a
 * training is divided by; a header alone where no GPU's matrix products are among them. Once.
 * Return: as ceil_run_add; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_run_add_denominators(struct ceil_run *run,
                                                           const struct ceil_record *ceilings,
                                                           size_t count, struct ceil_error *err);

/*
 * ceil_run_close - completes every file, run.json last, and frees the run. NULL is CEIL_OK.
 * Return: the first failure of the run, even one that ceil_run_add told before.
 */
CEIL_MUST_CHECK enum ceil_status ceil_run_close(struct ceil_run *run, struct ceil_error *err);

#endif
