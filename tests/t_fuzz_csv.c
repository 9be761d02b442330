/* Any bytes as CSV: they are read or refused in words, and what was read survives a round trip. */
#include "harness/base/text.h"
#include "harness/output/csv.h"
#include "tests/fuzz.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	char name[16];
	double value;
	uint64_t count;
};

static const struct ceil_field fields[] = {
	CEIL_FIELD(struct row, name, "", 1, "text"),
	CEIL_FIELD(struct row, value, "", 1, "a number"),
	CEIL_FIELD(struct row, count, "", 1, "a whole number"),
};
static const struct ceil_table table = {
	.name = "fuzz.csv",
	.doc = "a table",
	.fields = fields,
	.field_count = 3,
	.row_bytes = sizeof(struct row),
};

/* What was seen of one input, and over all of them. */
struct tally {
	uint64_t hash;
	size_t rows, line;
	struct ceil_csv *copy;
};
static unsigned accepted, refused, broken;

static void expect(bool what)
{
	broken += !what;
#ifdef CEIL_LIBFUZZER
	if (!what)
		abort();
#endif
}

static void add_text(struct tally *t, const char *text)
{
	for (; *text; text++)
		t->hash = (t->hash ^ (unsigned char)*text) * 0x100000001b3u; /* FNV-1a */
	t->hash = (t->hash ^ 0xffu) * 0x100000001b3u;
}

static enum ceil_status on_row(void *user, const void *row, size_t line, struct ceil_error *err)
{
	struct tally *t = user;
	char text[64];

	for (size_t i = 0; i < table.field_count; i++) {
		ceil_field_format(&fields[i], row, text, sizeof(text));
		add_text(t, text);
	}
	expect(line > 1 && line >= t->line);
	t->line = line;
	t->rows++;
	return t->copy ? ceil_csv_write_row(t->copy, row, err) : CEIL_OK;
}

/* Reads the bytes, writing what is read, then reads that: it must be the same. */
static void round_trip(const char *path, const struct ceil_csv_rules *rules)
{
	const char *copy = scratch_path("copy.csv");
	struct tally first = {0}, second = {0};
	struct ceil_error err = {0};
	enum ceil_status status;

	expect(ceil_csv_open(copy, &table, &first.copy, &err) == CEIL_OK);
	status = ceil_csv_read(path, &table, rules, on_row, &first, &err);
	expect(ceil_csv_close(first.copy, &err) == CEIL_OK);
	expect(status == CEIL_OK || (status == CEIL_E_USAGE && err.text[0]));
	accepted += status == CEIL_OK;
	refused += status != CEIL_OK;
	expect(ceil_csv_read(copy, &table, NULL, on_row, &second, &err) == CEIL_OK);
	expect(first.hash == second.hash && first.rows == second.rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ceil_csv_rules lenient = {.lenient = true};
	char path[512];

	ceil_copy(path, sizeof(path), scratch_write("in.csv", data, size));
	round_trip(path, NULL);
	round_trip(path, &lenient);
	return 0;
}

#ifndef CEIL_LIBFUZZER
int main(void)
{
	static const char *const seeds[] = {
		"name,value,count\n\"a\",1.5,2\nb,,\n",
		"\xef\xbb\xbf\"count\",\"name\"\r\n7,\"x \"\"y\"\"\nz\"\r\n",
		"colour,name,value\nred,\"a,b\",-1e-3\n\n,\"\",0\n",
		"name\n\"\"\n",
		"",
		NULL,
	};
	static const char *const tokens[] = {"\"",
	                                     "\"\"",
	                                     ",",
	                                     "\n",
	                                     "\r\n",
	                                     "\r",
	                                     "name",
	                                     "value",
	                                     "count",
	                                     "1e999",
	                                     "nan",
	                                     "-",
	                                     "18446744073709551615",
	                                     "\xef\xbb\xbf",
	                                     "\xff",
	                                     " ",
	                                     "\t",
	                                     "a,\"b\"\n",
	                                     NULL};
	const struct fuzz_corpus corpus = {seeds, tokens};

	fuzz_run(LLVMFuzzerTestOneInput, &corpus, 6000, 1);
	printf("# seed 1: %u read, %u refused\n", accepted, refused);
	is_int(broken, 0, "every input is read or refused, and comes back as it was");
	ok(accepted > 100 && refused > 100, "there are many of both kinds");
	return done_testing();
}
#endif
