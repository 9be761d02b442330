/* JSON rows and files. */
#include "harness/output/json.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
	char name[16];
	double value;
	uint64_t count, seed;
};

static const struct ceil_field fields[] = {
	CEIL_FIELD(struct row, name, "", 1, "what it is"),
	CEIL_FIELD(struct row, value, "GB/s", 1, "how much"),
	CEIL_FIELD(struct row, count, "", 1, "how many"),
	CEIL_FIELD(struct row, seed, "", 1, "of the data"),
};
static const struct ceil_table table = {
	.name = "test.csv",
	.doc = "a table",
	.fields = fields,
	.field_count = 4,
	.row_bytes = sizeof(struct row),
};

/* The line that a row gives. */
static const char *line_of(const struct row *r)
{
	const char *path = scratch_path("line");
	struct ceil_error err = {0};
	FILE *f = fopen(path, "w");
	enum ceil_status status;

	if (!f)
		return NULL;
	status = ceil_json_write_line(f, &table, r, &err);
	(void)fclose(f);
	return status == CEIL_OK ? scratch_read(path) : NULL;
}

static void rows_become_lines(void)
{
	struct row r = {"H200", 1.0 / 3.0, 5, UINT64_C(1) << 63};

	is_text(line_of(&r),
	        "{\"table\":\"test.csv\",\"name\":\"H200\",\"value\":0.333333333,\"count\":5,"
	        "\"seed\":\"9223372036854775808\"}\n",
	        "a row, and a number too large for jansson as text");
	ceil_table_clear(&table, &r);
	is_text(line_of(&r), "{\"table\":\"test.csv\"}\n", "what is absent is left out");
	r.value = (double)INFINITY;
	r.count = 0;
	is_text(line_of(&r), "{\"table\":\"test.csv\",\"count\":0}\n",
	        "so is an infinity, which JSON lacks; 0 is not");
	memcpy(r.name, "a\"\n\xc3\xa4", 6);
	has_text(line_of(&r), "\"name\":\"a\\\"\\n\xc3\xa4\"", "text is escaped");
	memcpy(r.name, "a\xff\xc3", 4);
	has_text(line_of(&r), "\"name\":\"a??\"", "bytes that are no UTF-8 do not spoil the row");
}

static void a_full_pipe_is_told(void)
{
	const struct row r = {"x", 2.5, 7, 8};
	struct ceil_error err = {0};
	FILE *f = fopen("/dev/full", "w");

	if (!ok(f != NULL, "a full disk"))
		return;
	is_int(ceil_json_write_line(f, &table, &r, &err), CEIL_E_IO, "is told");
	has_text(err.text, "test.csv: No space left on device", "in the system's words");
	(void)fclose(f);
}

static void files_are_whole(void)
{
	struct ceil_error err = {0};
	json_t *root = json_object(), *back;
	char path[512];

	(void)json_object_set_new(root, "tool", json_string("gpuceil"));
	(void)json_object_set_new(root, "share", json_real(0.1));
	(void)snprintf(path, sizeof(path), "%s", scratch_path("run.json"));
	is_int(ceil_json_save(path, root, &err), CEIL_OK, "save");
	is_text(scratch_read(path), "{\n  \"tool\": \"gpuceil\",\n  \"share\": 0.1\n}\n", "pretty");
	back = json_load_file(path, 0, NULL);
	ok(json_equal(root, back), "and the same when read back");
	json_decref(back);
	is_int(ceil_json_save(scratch_path("no/such.json"), root, &err), CEIL_E_IO, "no folder");
	has_text(err.text, "make the folder first", "says what to do");
	json_decref(root);
}

static void a_full_disk_leaves_the_old_file(void)
{
	struct ceil_error err = {0};
	json_t *root = json_array();
	char path[512], partial[600];

	(void)snprintf(path, sizeof(path), "%s", scratch_text("old.json", "old"));
	(void)snprintf(partial, sizeof(partial), "%s.partial", path);
	for (int i = 0; i < 5000; i++)
		(void)json_array_append_new(root, json_integer(i)); /* more than a stdio buffer */
	if (ok(symlink("/dev/full", partial) == 0, "a full disk")) {
		is_int(ceil_json_save(path, root, &err), CEIL_E_IO, "is told");
		has_text(err.text, "No space left", "in the system's words");
		is_text(scratch_read(path), "old", "and the old file is still there");
	}
	json_decref(root);
}

int main(void)
{
	rows_become_lines();
	a_full_pipe_is_told();
	files_are_whole();
	a_full_disk_leaves_the_old_file();
	return done_testing();
}
