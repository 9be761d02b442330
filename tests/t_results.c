/* Every committed reference run still reads, strictly, with the columns of today. */
#include "harness/analysis/mfu.h"
#include "harness/analysis/record.h"
#include "harness/output/csv.h"
#include "tests/tap.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct kind {
	const char *name; /* of the file in a run's folder */
	const struct ceil_table *table;
	bool required;
};

static const struct kind kinds[] = {
	{"ceilings.csv", &ceil_table_ceilings, true},
	{"records.csv", &ceil_table_records, true},
	{"samples.csv", &ceil_table_samples, false},
	{"mfu_denominators.csv", &ceil_table_mfu, false},
};

static enum ceil_status count_row(void *user, const void *row, size_t line, struct ceil_error *err)
{
	(void)row, (void)line, (void)err;
	++*(size_t *)user;
	return CEIL_OK;
}

static void check_file(const char *folder, const struct kind *k)
{
	struct ceil_error err = {CEIL_OK, ""};
	char path[512];
	size_t rows = 0;

	snprintf(path, sizeof(path), "%s%s", folder, k->name);
	FILE *f = fopen(path, "r");

	if (!f) {
		ok(!k->required, "%s is left out", path);
		return;
	}
	fclose(f);
	ok(ceil_csv_read(path, k->table, NULL, count_row, &rows, &err) == CEIL_OK,
	   "%s reads strictly%s%s", path, *err.text ? ": " : "", err.text);
	ok(rows > 0, "and has rows: %zu", rows);
}

/* Who made it: without the commit a reference cannot be repeated. */
static void check_run(const char *folder)
{
	char path[512];
	json_error_t error;

	snprintf(path, sizeof(path), "%srun.json", folder);
	json_t *run = json_load_file(path, 0, &error);
	const char *git = json_string_value(json_object_get(json_object_get(run, "tool"), "git"));

	ok(git && strlen(git) >= 7 && !strstr(git, "dirty"), "%s names a whole commit: %s", path,
	   git ? git : error.text);
	json_decref(run);
}

int main(void)
{
	glob_t found;

	if (glob("results/reference/*/", 0, NULL, &found) != 0)
		skip_all("no reference runs, or not started in the repository's root");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			check_file(found.gl_pathv[i], &kinds[k]);
		check_run(found.gl_pathv[i]);
	}
	globfree(&found);
	return done_testing();
}
