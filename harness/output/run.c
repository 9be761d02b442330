/* The folder of a run, or JSON lines on stdout: where rows go while they are measured. */
#include "harness/output/run.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/analysis/mfu.h"
#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/device/mpi.h"
#include "harness/output/csv.h"
#include "harness/output/file.h"
#include "harness/output/json.h"

enum part { CEILINGS, RECORDS, SAMPLES, TELEMETRY, DENOMINATORS, PART_COUNT };

struct ceil_run {
	pthread_mutex_t lock;
	char folder[CEIL_PATH_MAX];
	bool to_stdout, stdout_broken;
	const struct ceil_table *table[PART_COUNT]; /* of telemetry: NULL until it is opened */
	struct ceil_csv *csv[PART_COUNT];           /* NULL once it could not be written */
	json_t *info;
	struct ceil_error first; /* failure; CEIL_OK: none so far */
};

static void path_in(const struct ceil_run *run, const char *name, char *ret_path, size_t size)
{
	ceil_copy(ret_path, size, run->folder);
	ceil_append(ret_path, size, "/%s", name);
}

/* ---- the folder */

static const char *const file_names[] = {"run.json",
                                         "run.json.partial",
                                         "ceilings.csv",
                                         "ceilings.csv.partial",
                                         "records.csv",
                                         "records.csv.partial",
                                         "samples.csv",
                                         "samples.csv.partial",
                                         "telemetry.csv",
                                         "telemetry.csv.partial",
                                         "mfu_denominators.csv",
                                         "mfu_denominators.csv.partial"};
enum { FILE_NAMES = sizeof(file_names) / sizeof(file_names[0]) };

/* A run that is there, finished or not: the name of a file of it, or NULL. */
static const char *run_in(const struct ceil_run *run)
{
	char path[CEIL_PATH_MAX + 32];

	for (size_t i = 0; i < FILE_NAMES; i++) {
		path_in(run, file_names[i], path, sizeof(path));
		if (access(path, F_OK) == 0)
			return file_names[i];
	}
	return NULL;
}

/* Takes back what a failed opening made; nothing was measured yet. */
static void discard_files(const struct ceil_run *run)
{
	char path[CEIL_PATH_MAX + 32];

	for (size_t i = 0; i < FILE_NAMES; i++) {
		path_in(run, file_names[i], path, sizeof(path));
		(void)unlink(path); /* most are not there */
	}
}

static enum ceil_status named_folder(struct ceil_run *run, const char *output,
                                     struct ceil_error *err)
{
	const char *found;
	enum ceil_status st;

	if (strlen(output) >= sizeof(run->folder))
		return ceil_fail(err, CEIL_E_USAGE, "--output: %zu characters, at most %zu",
		                 strlen(output), sizeof(run->folder) - 1);
	ceil_copy(run->folder, sizeof(run->folder), output);
	st = ceil_make_folder(run->folder, err);
	if (st != CEIL_OK)
		return st;
	found = run_in(run);
	if (found)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%.150s holds a run already (%s): name another folder with "
		                 "--output, or move that one away",
		                 run->folder, found);
	return CEIL_OK;
}

/* "2026-11-30T19:32:50Z" without what a path should not have. */
static void compact_utc(char *ret_text, size_t size)
{
	char utc[24];
	size_t n = 0;

	ceil_utc(utc, sizeof(utc));
	for (const char *c = utc; *c && n + 1 < size; c++) {
		if (*c != '-' && *c != ':')
			ret_text[n++] = *c;
	}
	ret_text[n] = '\0';
}

void ceil_run_name(char *ret_text, size_t size)
{
	char utc[24], host[64];

	compact_utc(utc, sizeof(utc));
	if (gethostname(host, sizeof(host)))
		ceil_copy(host, sizeof(host), "host");
	host[sizeof(host) - 1] = '\0';
	ceil_copy(ret_text, size, "");
	ceil_append(ret_text, size, "./gpuceil-%s-%s", utc, host);
}

/* Tasks of one job start in the same second, each with a run of its own: mkdir decides. */
static enum ceil_status fresh_folder(struct ceil_run *run, struct ceil_error *err)
{
	enum { SAME_SECOND = 4096 };
	struct ceil_launcher launcher;
	char name[128];

	ceil_run_name(name, sizeof(name));
	ceil_launcher_read(&launcher);
	if (launcher.size > 1)
		ceil_append(name, sizeof(name), "-%u", launcher.rank);
	for (int i = 1; i <= SAME_SECOND; i++) {
		ceil_copy(run->folder, sizeof(run->folder), name);
		if (i > 1)
			ceil_append(run->folder, sizeof(run->folder), ".%d", i);
		if (mkdir(run->folder, 0777) == 0)
			return CEIL_OK;
		if (errno != EEXIST)
			return ceil_make_folder(run->folder, err); /* fails, in its words */
	}
	return ceil_fail(err, CEIL_E_IO, "%s and %d more are there already", run->folder,
	                 SAME_SECOND - 1);
}

/* ---- opening */

static enum ceil_status write_info_line(struct ceil_run *run, struct ceil_error *err)
{
	json_t *line = json_pack("{s:s}", "table", "run.json");
	enum ceil_status st = CEIL_OK;

	if (!line || json_object_update(line, run->info)) {
		st = ceil_fail(err, CEIL_E_NOMEM, "no memory for run.json");
		goto out;
	}
	errno = 0;
	if (json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15)) ||
	    putchar('\n') == EOF || fflush(stdout))
		st = ceil_fail(err, CEIL_E_IO, "cannot write to stdout: %s",
		               strerror(errno ? errno : EIO));
out:
	json_decref(line);
	return st;
}

static enum ceil_status write_info(struct ceil_run *run, struct ceil_error *err)
{
	char path[CEIL_PATH_MAX + 32];

	if (run->to_stdout)
		return write_info_line(run, err);
	path_in(run, "run.json", path, sizeof(path));
	return ceil_json_save(path, run->info, err);
}

static enum ceil_status open_part(struct ceil_run *run, enum part part, struct ceil_error *err)
{
	char path[CEIL_PATH_MAX + 32];

	if (run->to_stdout)
		return CEIL_OK;
	path_in(run, run->table[part]->name, path, sizeof(path));
	return ceil_csv_open(path, run->table[part], &run->csv[part], err);
}

static enum ceil_status open_files(struct ceil_run *run, struct ceil_error *err)
{
	enum ceil_status st = write_info(run, err);

	for (int i = 0; i < TELEMETRY && st == CEIL_OK; i++)
		st = open_part(run, (enum part)i, err);
	return st;
}

static void free_run(struct ceil_run *run)
{
	for (int i = 0; i < PART_COUNT; i++)
		ceil_csv_abandon(run->csv[i]);
	(void)pthread_mutex_destroy(&run->lock);
	free(run);
}

enum ceil_status ceil_run_open(const char *output, json_t *info, struct ceil_run **ret_run,
                               struct ceil_error *err)
{
	struct ceil_run *run = ceil_alloc(1, sizeof(*run), err);
	enum ceil_status st = CEIL_OK;

	if (!run)
		return CEIL_E_NOMEM;
	run->info = info;
	run->table[CEILINGS] = &ceil_table_ceilings;
	run->table[RECORDS] = &ceil_table_records;
	run->table[SAMPLES] = &ceil_table_samples;
	run->table[DENOMINATORS] = &ceil_table_mfu;
	run->to_stdout = output && strcmp(output, "-") == 0;
	(void)pthread_mutex_init(&run->lock, /* attributes= */ NULL); /* cannot fail in glibc */
	if (run->to_stdout)
		ceil_copy(run->folder, sizeof(run->folder), "-");
	else
		st = output ? named_folder(run, output, err) : fresh_folder(run, err);
	if (st != CEIL_OK)
		goto out_free;
	st = open_files(run, err);
	if (st == CEIL_OK) {
		*ret_run = run;
		return CEIL_OK;
	}
	if (!run->to_stdout)
		discard_files(run);
out_free:
	free_run(run);
	return st;
}

const char *ceil_run_folder(const struct ceil_run *run)
{
	return run->folder;
}

/* ---- rows */

static enum ceil_status write_line(struct ceil_run *run, enum part part, const void *row,
                                   struct ceil_error *err)
{
	enum ceil_status st;

	if (run->stdout_broken)
		return CEIL_OK;
	st = ceil_json_write_line(stdout, run->table[part], row, err);
	run->stdout_broken = st != CEIL_OK;
	/* Nobody reads: measuring on would be for nothing. Where SIGPIPE is ignored we stop too. */
	if (run->stdout_broken && !ceil_cancel_signal())
		ceil_cancel_set(SIGPIPE);
	return st;
}

/* A line that was cut must stay the last one: the file ends with it. */
static enum ceil_status write_row(struct ceil_run *run, enum part part, const void *row,
                                  struct ceil_error *err)
{
	enum ceil_status st;

	if (run->to_stdout)
		return write_line(run, part, row, err);
	if (!run->csv[part])
		return CEIL_OK;
	st = ceil_csv_write_row(run->csv[part], row, err);
	if (st == CEIL_OK)
		return CEIL_OK;
	ceil_csv_abandon(run->csv[part]);
	run->csv[part] = NULL;
	return st;
}

/* Keeps the first failure and passes it on; err has the words. */
static enum ceil_status note(struct ceil_run *run, enum ceil_status st,
                             const struct ceil_error *err)
{
	if (st != CEIL_OK && run->first.status == CEIL_OK)
		run->first = *err;
	return st;
}

enum ceil_status ceil_run_add(struct ceil_run *run, const struct ceil_record *r, bool is_ceiling,
                              struct ceil_error *err)
{
	struct ceil_error own = {CEIL_OK, ""};
	enum ceil_status st, also = CEIL_OK;

	pthread_mutex_lock(&run->lock);
	st = note(run, write_row(run, RECORDS, r, &own), &own);
	if (is_ceiling)
		also = note(run, write_row(run, CEILINGS, r, &own), &own);
	pthread_mutex_unlock(&run->lock);
	st = st == CEIL_OK ? also : st;
	return st == CEIL_OK ? CEIL_OK : ceil_fail(err, st, "%s", own.text);
}

enum ceil_status ceil_run_add_sample_rows(struct ceil_run *run, const struct ceil_sample_row *rows,
                                          size_t count, struct ceil_error *err)
{
	struct ceil_error own = {CEIL_OK, ""};
	enum ceil_status st = CEIL_OK;

	pthread_mutex_lock(&run->lock);
	for (size_t i = 0; i < count && st == CEIL_OK; i++)
		st = note(run, write_row(run, SAMPLES, &rows[i], &own), &own);
	pthread_mutex_unlock(&run->lock);
	return st == CEIL_OK ? CEIL_OK : ceil_fail(err, st, "%s", own.text);
}

enum ceil_status ceil_run_add_samples(struct ceil_run *run, const struct ceil_record *r,
                                      const struct ceil_outcome *o, struct ceil_error *err)
{
	struct ceil_error own = {CEIL_OK, ""};
	enum ceil_status st = CEIL_OK;

	pthread_mutex_lock(&run->lock);
	for (size_t i = 0; i < o->series.count && st == CEIL_OK; i++) {
		struct ceil_sample_row row;

		ceil_sample_row_of(&row, r, &o->series.v[i], i);
		st = note(run, write_row(run, SAMPLES, &row, &own), &own);
	}
	pthread_mutex_unlock(&run->lock);
	return st == CEIL_OK ? CEIL_OK : ceil_fail(err, st, "%s", own.text);
}

enum ceil_status ceil_run_open_telemetry(struct ceil_run *run, const struct ceil_table *t,
                                         struct ceil_error *err)
{
	struct ceil_error own = {CEIL_OK, ""};
	enum ceil_status st;

	pthread_mutex_lock(&run->lock);
	run->table[TELEMETRY] = t;
	st = note(run, open_part(run, TELEMETRY, &own), &own);
	pthread_mutex_unlock(&run->lock);
	return st == CEIL_OK ? CEIL_OK : ceil_fail(err, st, "%s", own.text);
}

void ceil_run_add_telemetry(struct ceil_run *run, const void *row)
{
	struct ceil_error own = {CEIL_OK, ""};

	pthread_mutex_lock(&run->lock);
	(void)note(run, write_row(run, TELEMETRY, row, &own), &own);
	pthread_mutex_unlock(&run->lock);
}

enum ceil_status ceil_run_add_denominators(struct ceil_run *run, const struct ceil_record *ceilings,
                                           size_t count, struct ceil_error *err)
{
	struct ceil_mfu_row *rows = ceil_alloc(count + 1, sizeof(*rows), err);
	struct ceil_error own = {CEIL_OK, ""};
	enum ceil_status st;
	size_t n;

	if (!rows)
		return CEIL_E_NOMEM;
	n = ceil_mfu_denominators(ceilings, count, rows, count);
	pthread_mutex_lock(&run->lock);
	st = note(run, open_part(run, DENOMINATORS, &own), &own);
	for (size_t i = 0; i < n && st == CEIL_OK; i++)
		st = note(run, write_row(run, DENOMINATORS, &rows[i], &own), &own);
	pthread_mutex_unlock(&run->lock);
	free(rows);
	return st == CEIL_OK ? CEIL_OK : ceil_fail(err, st, "%s", own.text);
}

enum ceil_status ceil_run_close(struct ceil_run *run, struct ceil_error *err)
{
	struct ceil_error own = {CEIL_OK, ""};
	struct ceil_error first;

	if (!run)
		return CEIL_OK;
	for (int i = 0; i < PART_COUNT; i++) {
		(void)note(run, ceil_csv_close(run->csv[i], &own), &own);
		run->csv[i] = NULL;
	}
	if (!run->stdout_broken)
		(void)note(run, write_info(run, &own), &own);
	first = run->first;
	free_run(run);
	return first.status == CEIL_OK ? CEIL_OK : ceil_fail(err, first.status, "%s", first.text);
}
