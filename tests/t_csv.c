/* CSV: what is written comes back, and what is not CSV is refused with line and column. */
#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/output/csv.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
	char name[32];
	double value;
	uint64_t count;
	char unit[12];
};

static const struct ceil_field fields[] = {
	CEIL_FIELD(struct row, name, "", 1, "what it is"),
	CEIL_FIELD(struct row, value, "GB/s", 1, "how much"),
	CEIL_FIELD(struct row, count, "", 1, "how many"),
	CEIL_FIELD(struct row, unit, "", 2, "of what"),
};
static const struct ceil_table table = {
	.name = "test.csv",
	.doc = "a table",
	.fields = fields,
	.field_count = 4,
	.row_bytes = sizeof(struct row),
};

enum { MOST = 32 };
struct seen {
	struct row rows[MOST];
	size_t lines[MOST], count, stop_after;
};

static enum ceil_status collect(void *user, const void *row, size_t line, struct ceil_error *err)
{
	struct seen *s = user;

	if (s->stop_after && s->count == s->stop_after)
		return ceil_fail(err, CEIL_E_CANCELLED, "enough");
	if (s->count < MOST) {
		memcpy(&s->rows[s->count], row, sizeof(s->rows[0]));
		s->lines[s->count] = line;
	}
	s->count++;
	return CEIL_OK;
}

static struct seen seen;
static struct ceil_error err;

static enum ceil_status read_rules(const char *text, size_t length,
                                   const struct ceil_csv_rules *rules)
{
	seen = (struct seen){0};
	err = (struct ceil_error){0};
	return ceil_csv_read(scratch_write("in.csv", text, length), &table, rules, collect, &seen,
	                     &err);
}

static enum ceil_status read_text(const char *text)
{
	return read_rules(text, strlen(text), NULL);
}

/* Writes rows to a fresh file. Return: its path. */
static const char *write_rows(const struct row *rows, size_t count)
{
	const char *path = scratch_path("out.csv");
	struct ceil_csv *csv = NULL;

	if (!ok(ceil_csv_open(path, &table, &csv, &err) == CEIL_OK, "open"))
		return NULL;
	for (size_t i = 0; i < count; i++)
		ok(ceil_csv_write_row(csv, &rows[i], &err) == CEIL_OK, "row %zu", i);
	is_int(ceil_csv_close(csv, &err), CEIL_OK, "close");
	return path;
}

static void text_is_quoted_and_numbers_are_plain(void)
{
	const struct row rows[] = {
		{"H200", 4814.5, 30, "GB/s"},
		{"a \"quote\", a comma", 1.0 / 3.0, 0, ""},
		{"", (double)NAN, CEIL_ABSENT_U64, ""},
	};

	is_text(scratch_read(write_rows(rows, 3)),
	        "name,value,count,unit\n"
	        "\"H200\",4814.5,30,\"GB/s\"\n"
	        "\"a \"\"quote\"\", a comma\",0.333333333,0,\n"
	        ",,,\n",
	        "the golden file");
}

static void any_text_comes_back(void)
{
	static const char *const texts[] = {"plain",    "two\nlines", "cr\r\nlf",
	                                    "\"",       "\"\"\"",     ",",
	                                    " blanks ", "\ttab\t",    "H\xc3\xb6he \xe2\x82\xac",
	                                    "\n",       "#1",         "'"};
	enum { COUNT = sizeof(texts) / sizeof(texts[0]) };
	struct row rows[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		rows[i] = (struct row){.value = (double)i, .count = i};
		ceil_copy(rows[i].name, sizeof(rows[i].name), texts[i]);
	}
	seen = (struct seen){0};
	is_int(ceil_csv_read(write_rows(rows, COUNT), &table, NULL, collect, &seen, &err), CEIL_OK,
	       "read back");
	is_u64(seen.count, COUNT, "as many rows");
	for (size_t i = 0; i < COUNT; i++) {
		is_text(seen.rows[i].name, texts[i], "text comes back");
		is_u64(seen.rows[i].count, i, "in its row");
	}
	is_u64(seen.lines[2], 5, "a row after one of two lines knows its line");
}

static void rows_are_there_before_the_end(void)
{
	const struct row row = {"a", 1, 2, "b"};
	struct ceil_csv *csv = NULL;
	char partial[600];

	(void)snprintf(partial, sizeof(partial), "%s.partial", scratch_path("crash.csv"));
	is_int(ceil_csv_open(scratch_path("crash.csv"), &table, &csv, &err), CEIL_OK, "open");
	is_text(scratch_read(partial), "name,value,count,unit\n", "the header is written at once");
	is_int(ceil_csv_write_row(csv, &row, &err), CEIL_OK, "a row");
	has_text(scratch_read(partial), "\"a\",1,2,\"b\"\n", "is written at once");
	ceil_csv_abandon(csv);
	ok(scratch_exists(partial), "an abandoned file stays partial");
	ok(!scratch_exists(scratch_path("crash.csv")), "and has no name of its own");
	ceil_csv_abandon(NULL);
	is_int(ceil_csv_close(NULL, &err), CEIL_OK, "NULL is closed");
}

static void a_full_disk_loses_nothing_silently(void)
{
	struct ceil_csv *csv = NULL;
	char partial[600];

	(void)snprintf(partial, sizeof(partial), "%s.partial", scratch_path("full.csv"));
	if (!ok(symlink("/dev/full", partial) == 0, "a full disk"))
		return;
	is_int(ceil_csv_open(scratch_path("full.csv"), &table, &csv, &err), CEIL_E_IO, "is told");
	has_text(err.text, "No space left on device; free some space", "with what to do");
	ok(csv == NULL, "nothing is open");
	is_int(ceil_csv_open(scratch_path("none/x.csv"), &table, &csv, &err), CEIL_E_IO,
	       "no folder");
	ceil_alloc_fail_at(1);
	is_int(ceil_csv_open(scratch_path("x.csv"), &table, &csv, &err), CEIL_E_NOMEM, "no memory");
}

static void columns_are_found_by_name(void)
{
	is_int(read_text("count,name\n7,\"x\"\n"), CEIL_OK, "another order, two missing");
	is_u64(seen.rows[0].count, 7, "count");
	is_text(seen.rows[0].name, "x", "name");
	ok(isnan(seen.rows[0].value) && !seen.rows[0].unit[0], "what is missing is absent");
	is_u64(seen.lines[0], 2, "the first row is line 2");
}

static void harmless_differences(void)
{
	is_int(read_text("\xef\xbb\xbfname,value\nx,1\n"), CEIL_OK, "a BOM");
	is_text(seen.rows[0].name, "x", "is no part of the name");
	is_int(read_text("\xef\xbb\xbf\"name\",value\nx,1\n"), CEIL_OK, "nor before a quote");
	is_int(read_text("name,value\r\nx,1\r\ny,2\r\n"), CEIL_OK, "CRLF");
	ok(seen.count == 2 && seen.lines[1] == 3, "is one line end");
	is_int(read_text("name,value\nx,1\ny,2"), CEIL_OK, "no newline at the end");
	ok(seen.count == 2 && seen.rows[1].value == 2, "the last row counts");
	is_int(read_text("\n\nname,value\n\nx,1\n \t\n\ny,2\n\n"), CEIL_OK, "blank lines");
	ok(seen.count == 2 && seen.lines[0] == 5 && seen.lines[1] == 8, "count as lines only");
	is_int(read_text(" name , value\n x , 1 \n"), CEIL_OK, "blanks around");
	is_text(seen.rows[0].name, "x", "unquoted text are dropped");
	is_int(read_text("name,value\n"), CEIL_OK, "no rows");
	is_u64(seen.count, 0, "are none");
	is_int(read_text("name,value\n,\n"), CEIL_OK, "nothing in a row");
	ok(seen.count == 1 && isnan(seen.rows[0].value), "is absent");
	is_int(read_text("name,value\n\"x\",\"1\"\n"), CEIL_OK, "a quoted number");
	is_close(seen.rows[0].value, 1, 0, "is a number");
}

static void every_defect_has_its_words(void)
{
	static const struct {
		const char *text, *words, *name;
	} bad[] = {
		{"", "in.csv: the file is empty", "an empty file"},
		{"\n \n", "the file is empty", "only blank lines"},
		{"\xef\xbb\xbf", "the file is empty", "only a BOM"},
		{"name,valu\nx,1\n", "in.csv:1: unknown column \"valu\": did you mean value?",
	         "an unknown column"},
		{"name,colour\nx,1\n", "unknown column \"colour\"", "one that is like none"},
		{"name,value,name\nx,1,y\n", "in.csv:1: column name stands twice",
	         "a column twice"},
		{"name,value\nx,1\ny\n", "in.csv:3: 1 fields, but the header has 2",
	         "too few fields"},
		{"name,value\nx,1,2\n", "in.csv:2: 3 fields, but the header has 2", "too many"},
		{"name,value\n1\n", "in.csv:2: 1 fields", "too few, of which one is fine"},
		{"value,name\nx\n", "in.csv:2: 1 fields", "the count is told before the number"},
		{"name,value\nx,1\ny,2z\n", "in.csv:3: column value: \"2z\" is not a number",
	         "a bad number"},
		{"name,value\nx,nan\n", "column value: \"nan\" is not a number", "nan"},
		{"name,value\nx,1e999\n", "column value", "a number beyond all"},
		{"name,count\nx,-1\n", "column count: \"-1\" is not a whole number", "a negative"},
		{"unit\n123456789012\n", "column unit: text of 12 characters, at most 11",
	         "long text"},
		{"name,value\n\"x\"y,1\n", "in.csv:2: a quote stands where none may",
	         "a stray quote"},
		{"name,value\nx\"y,1\n", "in.csv:2: a quote stands where none may",
	         "a quote in plain text"},
		{"name,value\nx,1\n\"y,2\nz,3\n",
	         "in.csv:3: a quote stands where none may, or one is",
	         "a quote that never ends is told where it begins"},
		{"name,value\n\"a\nb\",x\n", "in.csv:2: column value", "a row of two lines"},
		{"name,value\rx,1\r\ny,2\n\nz,z\n", "in.csv:5: column value", "ends of every kind"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is_int(read_text(bad[i].text), CEIL_E_USAGE, bad[i].name);
		has_text(err.text, bad[i].words, "with its words");
	}
	is_int(read_text("name,value\nx,1\ny,z\nw,1\n"), CEIL_E_USAGE, "a defect in the middle");
	is_u64(seen.count, 1, "gives the rows before it, and none after");
}

static void binary_files_are_refused(void)
{
	char *endless = malloc(3 << 20);

	is_int(read_rules("name,value\nx\0y,1\n", 17, NULL), CEIL_E_USAGE, "a NUL");
	has_text(err.text, "in.csv:2: a NUL byte", "is told");
	is_int(read_rules("\0\0\0\0", 4, NULL), CEIL_E_USAGE, "only NULs");
	if (!endless)
		return;
	memset(endless, 'x', 3 << 20);
	memcpy(endless, "name\n\"", 6);
	is_int(read_rules(endless, 3 << 20, NULL), CEIL_E_USAGE, "a row of 3 MiB");
	has_text(err.text, "in.csv:2: a row longer than 1048576 bytes", "is told");
	memset(endless, '\n', 3 << 20);
	memcpy(endless, "name\n\"", 6);
	is_int(read_rules(endless, 3 << 20, NULL), CEIL_E_USAGE, "of many lines too");
	has_text(err.text, "in.csv:2: a row longer", "is told where it begins");
	free(endless);
}

static void rules_ask_for_more_or_less(void)
{
	static const char *const required[] = {"name", "count", NULL};
	const struct ceil_csv_rules strict = {.required = required}, lenient = {.lenient = true};
	const char *without = "name,value\nx,1\n", *with = "name,count\nx,1\n";
	const char *newer = "colour,name,taste\nred,x,\"sw\"\"eet\"\n";

	is_int(read_rules(without, strlen(without), &strict), CEIL_E_USAGE, "a required column");
	has_text(err.text, "in.csv:1: column count is missing", "is missing");
	is_int(read_rules(with, strlen(with), &strict), CEIL_OK, "and is there");
	is_int(read_rules(newer, strlen(newer), &lenient), CEIL_OK, "columns of a newer version");
	is_text(seen.rows[0].name, "x", "are skipped");
	is_int(read_text(newer), CEIL_E_USAGE, "but not when strict");
}

static void files_that_cannot_be_read(void)
{
	seen = (struct seen){0};
	is_int(ceil_csv_read(scratch_path("none"), &table, NULL, collect, &seen, &err), CEIL_E_IO,
	       "no file");
	has_text(err.text, "No such file", "is told");
	is_int(ceil_csv_read("/tmp", &table, NULL, collect, &seen, &err), CEIL_E_IO, "a folder");
	has_text(err.text, "Is a directory", "is told");
	is_int(ceil_csv_read("/dev/null", &table, NULL, collect, &seen, &err), CEIL_E_USAGE,
	       "no bytes");
	is_int(ceil_csv_read(scratch_path("none"), &table, NULL, collect, &seen, NULL), CEIL_E_IO,
	       "without an error struct");
	is_int(ceil_csv_read(scratch_text("bad.csv", "x\n"), &table, NULL, collect, &seen, NULL),
	       CEIL_E_USAGE, "nor for a defect");
}

static void the_caller_may_stop(void)
{
	seen = (struct seen){.stop_after = 1};
	is_int(ceil_csv_read(scratch_text("stop.csv", "name\na\nb\nc\n"), &table, NULL, collect,
	                     &seen, &err),
	       CEIL_E_CANCELLED, "the caller's status is passed on");
	is_text(err.text, "enough", "with its text");
	is_u64(seen.count, 1, "at the row that it did not want");
}

static void rows_cross_the_buffer(void)
{
	enum { ROWS = 20000 };
	FILE *f = fopen(scratch_path("long.csv"), "w");
	bool same;

	if (!ok(f != NULL, "a long file"))
		return;
	(void)fputs("name,count\n", f);
	for (int i = 0; i < ROWS; i++)
		(void)fprintf(f, "\"row\n%d\",%d\r\n", i, i);
	(void)fclose(f);
	seen = (struct seen){0};
	is_int(ceil_csv_read(scratch_path("long.csv"), &table, NULL, collect, &seen, &err), CEIL_OK,
	       "longer than any buffer");
	is_u64(seen.count, ROWS, "every row is there");
	same = seen.lines[MOST - 1] == 2 + 2 * (MOST - 1) && seen.rows[MOST - 1].count == MOST - 1;
	ok(same, "and on its line");
}

/* Reads with each of the first ten allocations failing. Return: how often that was told. */
static int faults_told(const char *path, const struct ceil_csv_rules *rules, enum ceil_status fine)
{
	int told = 0;

	for (long k = 1; k <= 10; k++) {
		enum ceil_status status;

		seen = (struct seen){0};
		err = (struct ceil_error){0};
		ceil_alloc_fail_at(k);
		status = ceil_csv_read(path, &table, rules, collect, &seen, &err);
		told += status == CEIL_E_NOMEM;
		/* libcsv asks for less when it is refused, so not every fault is the end. */
		ok(status == CEIL_E_NOMEM ? err.status == status && seen.count == 0
		                          : status == fine,
		   "allocation %ld: %s", k, ceil_status_name(status));
	}
	ceil_alloc_fail_at(0);
	return told;
}

static void memory_may_run_out(void)
{
	const char *path = scratch_text("mem.csv", "name,value,colour\n\"long, quoted\",1,2\n");
	const struct ceil_csv_rules lenient = {.lenient = true};

	is_int(faults_told(path, &lenient, CEIL_OK), 3, "buffer, row and columns");
	is_int(faults_told(path, NULL, CEIL_E_USAGE), 4, "and the names to suggest");
}

int main(void)
{
	text_is_quoted_and_numbers_are_plain();
	any_text_comes_back();
	rows_are_there_before_the_end();
	a_full_disk_loses_nothing_silently();
	columns_are_found_by_name();
	harmless_differences();
	every_defect_has_its_words();
	binary_files_are_refused();
	rules_ask_for_more_or_less();
	files_that_cannot_be_read();
	the_caller_may_stop();
	rows_cross_the_buffer();
	memory_may_run_out();
	return done_testing();
}
