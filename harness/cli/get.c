/* gpuceil get: one number out of a run, for scripts. */
#include "harness/analysis/record.h"
#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/output/csv.h"
#include "harness/output/file.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct get_options {
	const char *run, *device, *column;
};

#define OPTION(member, name, argument, doc)                                                        \
	CEIL_OPTION(struct get_options, member, name, CEIL_O_TEXT, argument, NULL, NULL, doc)

static const struct ceil_option option_rows[] = {
	OPTION(run, "run", "DIR",
               "a run's folder or its ceilings.csv; default results/latest, then the newest "
               "./gpuceil-*"),
	OPTION(device, "device", "NAME", "gpu0, cpu, ...; default: the slowest that has a value"),
	OPTION(column, "column", "NAME",
               "another column of that row: `gpuceil list columns` names them; default value"),
};

/* ---- which run */

/* The newest of ./gpuceil-*: names begin with the time; runs of one second end in .2, .3 ... */
static bool newest_folder(char *ret_path, size_t size)
{
	const char *newest = "";
	glob_t found;

	if (glob("./gpuceil-*/ceilings.csv", 0, /* errfunc= */ NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		*strrchr(found.gl_pathv[i], '/') = '\0'; /* the folder's name alone */
		if (strverscmp(found.gl_pathv[i], newest) > 0)
			newest = found.gl_pathv[i];
	}
	ceil_copy(ret_path, size, newest);
	ceil_append(ret_path, size, "/ceilings.csv");
	globfree(&found);
	return true;
}

/* A run's ceilings.csv; while it goes on, and after it was killed, they are in a partial file. */
static enum ceil_status find_ceilings(const char *run, char *ret_path, size_t size,
                                      struct ceil_error *err)
{
	char partial[CEIL_PATH_MAX];

	ceil_copy(ret_path, size, run);
	ceil_append(ret_path, size, "/ceilings.csv");
	ceil_copy(partial, sizeof(partial), ret_path);
	ceil_append(partial, sizeof(partial), ".partial");
	if (access(ret_path, F_OK) == 0 || access(partial, F_OK) != 0)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE,
	                 "%s: this run is not over, or was killed: its rows so far are those of "
	                 "--run %s",
	                 run, partial);
}

static enum ceil_status find_run(const char *run, char *ret_path, size_t size,
                                 struct ceil_error *err)
{
	struct stat st;

	if (run) {
		if (strlen(run) + sizeof("/ceilings.csv") > size)
			return ceil_fail(err, CEIL_E_USAGE, "--run: the path is too long");
		if (stat(run, &st) == 0 && S_ISDIR(st.st_mode))
			return find_ceilings(run, ret_path, size, err);
		ceil_copy(ret_path, size, run);
		return CEIL_OK;
	}
	ceil_copy(ret_path, size, "results/latest/ceilings.csv");
	if (access(ret_path, F_OK) == 0 || newest_folder(ret_path, size))
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE,
	                 "no run here: neither results/latest nor ./gpuceil-* has a ceilings.csv; "
	                 "name one with --run, or measure with `gpuceil bench`");
}

/* ---- its rows */

struct rows {
	const char *path; /* of the file */
	struct ceil_record *v;
	size_t count, cap;
};

static enum ceil_status add_row(void *user, const void *row, size_t line, struct ceil_error *err)
{
	struct rows *rows = user;
	const struct ceil_record *r = row;
	void *v = rows->v;
	enum ceil_status st;

	if (*r->role)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s:%zu: a point of a search: these are records; ceilings.csv, "
		                 "beside them, has the ceilings",
		                 rows->path, line);
	if (r->format_version != CEIL_ABSENT_U64 && r->format_version > CEIL_FORMAT_VERSION)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s:%zu: format %llu is newer than this gpuceil, which reads up "
		                 "to %d",
		                 rows->path, line, (unsigned long long)r->format_version,
		                 CEIL_FORMAT_VERSION);
	st = ceil_grow(&v, &rows->cap, rows->count + 1, sizeof(*r), err);
	if (st != CEIL_OK)
		return st;
	rows->v = v;
	rows->v[rows->count++] = *r;
	return CEIL_OK;
}

static enum ceil_status read_rows(const char *path, struct rows *rows, struct ceil_error *err)
{
	static const char *const required[] = {"device", "ceiling", "value", "status", NULL};
	static const struct ceil_csv_rules rules = {.required = required, .lenient = true};

	rows->path = path;
	/* The larger table, so that records are known by what only they have. */
	return ceil_csv_read(path, &ceil_table_records, &rules, add_row, rows, err);
}

/* ---- which row */

static bool matches(const struct ceil_record *r, const char *ceiling, const char *device)
{
	return strcmp(r->ceiling, ceiling) == 0 && (!device || strcmp(r->device, device) == 0);
}

static bool is_slower(const struct ceil_record *a, const struct ceil_record *b)
{
	return strcmp(a->better, "lower") == 0 ? a->value > b->value : a->value < b->value;
}

/* The slowest row with a value, else the first without; NULL if none matches. */
static const struct ceil_record *pick(const struct rows *rows, const char *ceiling,
                                      const char *device)
{
	const struct ceil_record *best = NULL;

	for (size_t i = 0; i < rows->count; i++) {
		const struct ceil_record *r = &rows->v[i];

		if (!matches(r, ceiling, device))
			continue;
		if (!best || (!isnan(r->value) && (isnan(best->value) || is_slower(r, best))))
			best = r;
	}
	return best;
}

/* The distinct names in the rows' field, NULL-terminated; NULL if there is no memory. */
static const char **names_in(const struct rows *rows, size_t offset, const char *ceiling)
{
	const char **names = ceil_alloc(rows->count + 1, sizeof(*names), /* err= */ NULL);
	size_t n = 0;

	for (size_t i = 0; names && i < rows->count; i++) {
		const char *name = (const char *)&rows->v[i] + offset;
		size_t k = 0;

		while (k < n && strcmp(names[k], name) != 0)
			k++;
		if (k == n && (!ceiling || strcmp(rows->v[i].ceiling, ceiling) == 0))
			names[n++] = name;
	}
	return names;
}

static enum ceil_status unknown_ceiling(const struct rows *rows, const char *ceiling,
                                        struct ceil_error *err)
{
	const char **names = names_in(rows, offsetof(struct ceil_record, ceiling), NULL);
	const char *near = names ? ceil_suggest(ceiling, names) : NULL;

	(void)ceil_fail(err, CEIL_E_USAGE, "this run has no ceiling '%.64s'%s%s%s", ceiling,
	                near ? ": did you mean '" : "; `gpuceil list ceilings` names all",
	                near ? near : "", near ? "'?" : "");
	free(names);
	return CEIL_E_USAGE;
}

static enum ceil_status unknown_device(const struct rows *rows, const char *ceiling,
                                       const char *device, struct ceil_error *err)
{
	const char **names = names_in(rows, offsetof(struct ceil_record, device), ceiling);
	char list[128] = "";

	for (size_t i = 0; names && names[i]; i++)
		ceil_append(list, sizeof(list), "%s%s", i ? ", " : "", names[i]);
	free(names);
	return ceil_fail(err, CEIL_E_USAGE, "--device %.32s: %.64s was measured on %s", device,
	                 ceiling, list);
}

/* ---- what to say */

static void warn_row(const struct ceil_record *r)
{
	fprintf(stderr, "gpuceil: %s %s is %s%s%s\n", r->device, r->ceiling, r->status,
	        r->reason[0] ? ": " : "", r->reason);
}

/* Prints the cell; warns of what a script should not overlook. Return: the exit status. */
static int print_cell(const struct rows *rows, const struct ceil_record *r,
                      const struct ceil_field *field, const char *device)
{
	const bool absent = ceil_field_absent(field, r);
	char text[512];
	int exit_status = absent ? CEIL_EXIT_BAD : CEIL_EXIT_OK;

	for (size_t i = 0; i < rows->count; i++) {
		const struct ceil_record *other = &rows->v[i];

		if (!matches(other, r->ceiling, device) || strcmp(other->status, "ok") == 0)
			continue;
		warn_row(other);
		if (ceil_record_bad(other))
			exit_status = CEIL_EXIT_BAD;
	}
	if (absent && strcmp(r->status, "ok") == 0)
		fprintf(stderr, "gpuceil: %s %s has no %s\n", r->device, r->ceiling, field->name);
	if (absent)
		return exit_status;
	ceil_field_format(field, r, text, sizeof(text));
	puts(text);
	return exit_status;
}

static enum ceil_status find_column(const char *name, const struct ceil_field **ret_field,
                                    struct ceil_error *err)
{
	const char *names[96] = {NULL};
	const char *near;

	*ret_field = ceil_table_find(&ceil_table_ceilings, name);
	if (*ret_field)
		return CEIL_OK;
	for (size_t i = 0; i < ceil_table_ceilings.field_count && i < 95; i++)
		names[i] = ceil_table_ceilings.fields[i].name;
	near = ceil_suggest(name, names);
	return ceil_fail(err, CEIL_E_USAGE, "--column: there is no '%.64s'%s%s%s", name,
	                 near ? ": did you mean '" : "; `gpuceil list columns` names all",
	                 near ? near : "", near ? "'?" : "");
}

static enum ceil_status get(const struct get_options *o, const char *ceiling, struct rows *rows,
                            int *ret_exit, struct ceil_error *err)
{
	const struct ceil_field *field = NULL;
	const struct ceil_record *r;
	char path[CEIL_PATH_MAX];
	enum ceil_status st = find_column(o->column ? o->column : "value", &field, err);

	if (st == CEIL_OK)
		st = find_run(o->run, path, sizeof(path), err);
	if (st == CEIL_OK)
		st = read_rows(path, rows, err);
	if (st != CEIL_OK)
		return st;
	if (!pick(rows, ceiling, /* device= */ NULL))
		return unknown_ceiling(rows, ceiling, err);
	r = pick(rows, ceiling, o->device);
	if (!r)
		return unknown_device(rows, ceiling, o->device, err);
	*ret_exit = print_cell(rows, r, field, o->device);
	return CEIL_OK;
}

static int run_get(int argc, char **argv)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct get_options o = {NULL, NULL, NULL};
	struct rows rows = {NULL, NULL, 0, 0};
	enum ceil_status st;
	int exit_status;

	if (!ceil_cli_parse(&ceil_command_get, argc, argv, &o, &argc, &exit_status))
		return exit_status;
	if (argc != 1) {
		(void)ceil_fail(&err, CEIL_E_USAGE,
		                "get takes one ceiling, not %d; `gpuceil get --help` teaches it",
		                argc);
		return ceil_cli_error(&err);
	}
	st = get(&o, argv[1], &rows, &exit_status, &err);
	free(rows.v);
	return st == CEIL_OK ? exit_status : ceil_cli_error(&err);
}

const struct ceil_command ceil_command_get = {
	.name = "get",
	.arguments = "CEILING",
	.summary = "prints one number of a run, for scripts",
	.doc = "Prints the value of a ceiling from a run's ceilings.csv. Of several devices it is "
	       "the slowest, since a job runs at its pace. Exit status: 0; 1 when the row has no "
	       "value, or when a device failed, is suspect or was throttled (a value that is there "
	       "is printed all the same); 2 when the ceiling, column or run is not there. Status "
	       "and reason of all that is not ok go to stderr.",
	.options = option_rows,
	.option_count = sizeof(option_rows) / sizeof(option_rows[0]),
	.examples = "gpuceil get gemm.bf16.sustained\tTFLOP/s to divide by\n"
		    "gpuceil get dram.copy --device gpu0 --column of_theoretical\ta ratio 0..1\n"
		    "gpuceil get dram.read --run results/reference/h200\tof another run\n",
	.run = run_get,
};
