/* Finds denominators in any file of a run that has them. */
#include "harness/output/mfu_file.h"

#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/output/csv.h"
#include "harness/output/file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A list of rows that grows while a file is read. */
struct list {
	void *rows;
	size_t count, cap, row_bytes;
};

static enum ceil_status append(struct list *l, const void *row, struct ceil_error *err)
{
	const enum ceil_status st = ceil_grow(&l->rows, &l->cap, l->count + 1, l->row_bytes, err);

	if (st == CEIL_OK)
		memcpy((char *)l->rows + l->count++ * l->row_bytes, row, l->row_bytes);
	return st;
}

static enum ceil_status check_version(uint64_t version, size_t line, struct ceil_error *err)
{
	if (version == CEIL_FORMAT_VERSION)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE,
	                 "line %zu: format version %" PRIu64 "; this program reads version %d: %s",
	                 line, version, CEIL_FORMAT_VERSION,
	                 version > CEIL_FORMAT_VERSION ? "use a newer gpuceil"
	                                               : "measure again with `gpuceil bench`");
}

static enum ceil_status add_record(void *user, const void *row, size_t line, struct ceil_error *err)
{
	const struct ceil_record *r = row;
	const enum ceil_status st = check_version(r->format_version, line, err);

	return st == CEIL_OK ? append(user, row, err) : st;
}

static enum ceil_status add_denominator(void *user, const void *row, size_t line,
                                        struct ceil_error *err)
{
	const struct ceil_mfu_row *r = row;
	const enum ceil_status st = check_version(r->format_version, line, err);

	return st == CEIL_OK ? append(user, row, err) : st;
}

/* Whether the first line names a column; the files of a run differ by it. */
static enum ceil_status header_has(const char *path, const char *column, bool *ret_has,
                                   struct ceil_error *err)
{
	char line[4096] = "", quoted[64];
	FILE *f = fopen(path, "rb");

	if (!f)
		return ceil_fail(err, CEIL_E_IO, "%s: %s", path, strerror(errno));
	if (!fgets(line, sizeof(line), f) && ferror(f)) {
		const int why = errno;

		(void)fclose(f); /* it was only read */
		return ceil_fail(err, CEIL_E_IO, "%s: %s", path, strerror(why));
	}
	(void)fclose(f); /* it was only read */
	(void)snprintf(quoted, sizeof(quoted), ",%s,", column);
	*ret_has = strstr(line, quoted) != NULL;
	return CEIL_OK;
}

static enum ceil_status read_records(const char *path, struct ceil_record **ret_records,
                                     size_t *ret_count, struct ceil_error *err)
{
	static const char *const required[] = {"device", "ceiling",        "value",
	                                       "status", "format_version", NULL};
	static const struct ceil_csv_rules rules = {.required = required, .lenient = true};
	struct list l = {.row_bytes = sizeof(struct ceil_record)};
	const enum ceil_status st =
		ceil_csv_read(path, &ceil_table_records, &rules, add_record, &l, err);

	*ret_records = l.rows;
	*ret_count = l.count;
	return st;
}

static enum ceil_status read_ceilings(const char *path, struct ceil_mfu_source *s,
                                      struct ceil_error *err)
{
	const enum ceil_status st = read_records(path, &s->records, &s->record_count, err);

	if (st != CEIL_OK)
		return st;
	s->rows = ceil_alloc(s->record_count + 1, sizeof(*s->rows), err);
	if (!s->rows)
		return CEIL_E_NOMEM;
	s->row_count = ceil_mfu_denominators(s->records, s->record_count, s->rows, s->record_count);
	return CEIL_OK;
}

static enum ceil_status read_denominators(const char *path, struct ceil_mfu_source *s,
                                          struct ceil_error *err)
{
	static const char *const required[] = {"device", "gpu_name", "dtype_in", "format_version",
	                                       NULL};
	static const struct ceil_csv_rules rules = {.required = required, .lenient = true};
	struct list l = {.row_bytes = sizeof(struct ceil_mfu_row)};
	const enum ceil_status st =
		ceil_csv_read(path, &ceil_table_mfu, &rules, add_denominator, &l, err);

	s->rows = l.rows;
	s->row_count = l.count;
	return st;
}

/* A file of a folder, or the file itself; *ret_folder tells which. */
static enum ceil_status full_path(const char *path, const char *name, char *ret_path, size_t size,
                                  bool *ret_folder, struct ceil_error *err)
{
	struct stat st;

	if (strlen(path) + strlen(name) + 2 > size)
		return ceil_fail(err, CEIL_E_USAGE, "the path is too long: %.60s...", path);
	ceil_copy(ret_path, size, path);
	*ret_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (*ret_folder)
		ceil_append(ret_path, size, "/%s", name);
	return CEIL_OK;
}

/* Every shape of a run; without its records.csv, the ceilings' own shapes must do. */
static enum ceil_status read_points(const char *folder, struct ceil_mfu_source *s,
                                    struct ceil_error *err)
{
	char file[CEIL_PATH_MAX];
	bool is_folder;
	enum ceil_status st = full_path(folder, "records.csv", file, sizeof(file), &is_folder, err);

	if (st != CEIL_OK || access(file, R_OK) != 0)
		return st;
	return read_records(file, &s->points, &s->point_count, err);
}

/* ceilings.csv has no clock for a theoretical figure; the row of records.csv that made it has. */
static void take_clocks(struct ceil_mfu_source *s)
{
	for (size_t i = 0; i < s->row_count * s->point_count; i++) {
		struct ceil_mfu_row *row = &s->rows[i / s->point_count];
		const struct ceil_record *p = &s->points[i % s->point_count];

		if (isnan(row->theoretical_clock_mhz) && !isnan(p->theoretical) &&
		    p->theoretical == row->theoretical_tflops && !strcmp(p->host, row->host) &&
		    !strcmp(p->device, row->device) && !strcmp(p->dtype_in, row->dtype_in) &&
		    !strcmp(p->dtype_acc, row->dtype_acc))
			row->theoretical_clock_mhz = p->theoretical_clock_mhz;
	}
}

static enum ceil_status read_any(const char *path, struct ceil_mfu_source *s,
                                 struct ceil_error *err)
{
	char file[CEIL_PATH_MAX];
	bool records = false, folder = false;
	enum ceil_status st = full_path(path, "ceilings.csv", file, sizeof(file), &folder, err);

	if (st == CEIL_OK)
		st = header_has(file, "ceiling", &records, err);
	if (st == CEIL_OK)
		st = records ? read_ceilings(file, s, err) : read_denominators(file, s, err);
	if (st == CEIL_OK && !s->row_count)
		st = ceil_fail(err, CEIL_E_USAGE,
		               "%s: no GPU's matrix products were measured there", file);
	if (st == CEIL_OK && folder)
		st = read_points(path, s, err);
	if (st == CEIL_OK)
		take_clocks(s);
	return st;
}

enum ceil_status ceil_mfu_read(const char *path, struct ceil_mfu_source *ret_source,
                               struct ceil_error *err)
{
	struct ceil_mfu_source s = {.rows = NULL};
	const enum ceil_status st = read_any(path, &s, err);

	if (st == CEIL_OK)
		*ret_source = s;
	else
		ceil_mfu_source_done(&s);
	return st;
}

enum ceil_status ceil_mfu_read_records(const char *path, struct ceil_mfu_source *ret_source,
                                       struct ceil_error *err)
{
	struct ceil_mfu_source s = {.rows = NULL};
	char file[CEIL_PATH_MAX];
	bool records = false, folder;
	enum ceil_status st = full_path(path, "records.csv", file, sizeof(file), &folder, err);

	if (st == CEIL_OK)
		st = header_has(file, "ceiling", &records, err);
	if (st == CEIL_OK && !records)
		st = ceil_fail(err, CEIL_E_USAGE, "%s: no column 'ceiling': not a run's records",
		               file);
	if (st == CEIL_OK)
		st = read_records(file, &s.records, &s.record_count, err);
	if (st == CEIL_OK)
		*ret_source = s;
	else
		ceil_mfu_source_done(&s);
	return st;
}

void ceil_mfu_source_done(struct ceil_mfu_source *source)
{
	if (!source)
		return;
	free(source->rows);
	free(source->records);
	free(source->points);
	*source = (struct ceil_mfu_source){.rows = NULL};
}
