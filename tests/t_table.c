/* Fields as text and back, absent values, and the tables of element types and patterns. */
#include "harness/base/dtype.h"
#include "harness/base/table.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

struct row {
	char name[8];
	double value;
	uint64_t count;
	char unit[4];
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

static const char *shown(const struct row *r, const char *name)
{
	static char text[64];

	ceil_field_format(ceil_table_find(&table, name), r, text, sizeof(text));
	return text;
}

static void a_cleared_row_is_absent(void)
{
	struct row r;

	memset(&r, 1, sizeof(r));
	ceil_table_clear(&table, &r);
	ok(isnan(r.value) && r.count == CEIL_ABSENT_U64 && r.name[7] == '\0', "clear");
	for (size_t i = 0; i < table.field_count; i++) {
		ok(ceil_field_absent(&fields[i], &r), "%s is absent", fields[i].name);
		is_text(shown(&r, fields[i].name), "", "and shown as nothing");
	}
	r = (struct row){.name = "a"};
	ok(!ceil_field_absent(&fields[0], &r), "text is there");
	ok(!ceil_field_absent(&fields[1], &r) && !ceil_field_absent(&fields[2], &r),
	   "0 is measured");
	ok(ceil_field_absent(&fields[3], &r), "no text is not");
	r.value = (double)INFINITY;
	ok(ceil_field_absent(&fields[1], &r), "an infinity is no value");
}

static void values_are_shown(void)
{
	struct row r = {
		.name = "1234567", .value = 4814.123456789, .count = 1u << 30, .unit = "us"};
	char cut[3];

	is_text(shown(&r, "name"), "1234567", "text");
	is_text(shown(&r, "value"), "4814.12346", "nine digits");
	is_text(shown(&r, "count"), "1073741824", "a whole number");
	r.value = 1.0 / 3.0;
	is_text(shown(&r, "value"), "0.333333333", "a third");
	r.value = -0.0;
	is_text(shown(&r, "value"), "-0", "a negative zero");
	memset(r.name, 'x', sizeof(r.name)); /* not terminated */
	is_text(shown(&r, "name"), "xxxxxxxx", "text that fills its field");
	ceil_field_format(&fields[0], &r, cut, sizeof(cut));
	is_text(cut, "xx", "is cut at the size");
	ceil_field_format(&fields[0], &r, NULL, 0);
}

static enum ceil_status parse(struct row *r, const char *name, const char *text,
                              struct ceil_error *err)
{
	return ceil_field_parse(ceil_table_find(&table, name), r, text, err);
}

static void values_are_read(void)
{
	struct ceil_error err = {0};
	struct row r = {0};

	is_int(parse(&r, "name", "1234567", &err), CEIL_OK, "text that just fits");
	is_text(r.name, "1234567", "is there");
	is_int(parse(&r, "name", "12345678", &err), CEIL_E_USAGE, "one letter more does not fit");
	has_text(err.text, "column name: text of 8 characters, at most 7", "and says so");
	is_text(r.name, "1234567", "the field is as it was");
	is_int(parse(&r, "value", "2.5", &err), CEIL_OK, "a number");
	is_close(r.value, 2.5, 0, "is there");
	is_int(parse(&r, "value", "GB/s", &err), CEIL_E_USAGE, "no number");
	has_text(err.text, "column value: \"GB/s\" is not a number", "and says so");
	is_int(parse(&r, "value", "nan", &err), CEIL_E_USAGE, "nan is spelled as nothing");
	is_int(parse(&r, "count", "12", &err), CEIL_OK, "a whole number");
	is_u64(r.count, 12, "is there");
	is_int(parse(&r, "count", "12.5", &err), CEIL_E_USAGE, "half of one");
	is_int(parse(&r, "count", "18446744073709551615", &err), CEIL_E_USAGE,
	       "the mark of absence");
	is_int(parse(&r, "count", "x", NULL), CEIL_E_USAGE, "without an error struct");
	is_int(parse(&r, "count", "", &err), CEIL_OK, "nothing");
	ok(r.count == CEIL_ABSENT_U64, "is absent");
	is_int(parse(&r, "name", "", &err), CEIL_OK, "no text");
	is_text(r.name, "", "is empty");
}

static void fields_know_their_members(void)
{
	ok(!ceil_table_find(&table, "nam") && !ceil_table_find(&table, ""), "no such column");
	is_int(fields[0].type, CEIL_F_TEXT, "a char array is text");
	is_int(fields[1].type, CEIL_F_DOUBLE, "a double");
	is_int(fields[2].type, CEIL_F_U64, "a whole number");
	is_u64(fields[3].size, 4, "the size of text");
}

static void types_have_one_spelling(void)
{
	struct ceil_error err = {0};
	enum ceil_dtype back = CEIL_NODTYPE;

	for (unsigned t = 1; t < CEIL_DTYPE_COUNT; t++) {
		const struct ceil_dtype_info *info = ceil_dtype_info((enum ceil_dtype)t);

		ok(info->doc[0] && info->bits, "%s has a doc and a size", info->name);
		ok(ceil_dtype_parse(info->name, &back, &err) == CEIL_OK && back == t,
		   "%s is parsed", info->name);
	}
	is_text(ceil_dtype_info(CEIL_NODTYPE)->name, "", "no type has no name");
	is_int(ceil_dtype_parse("", &back, &err), CEIL_E_USAGE, "and is not parsed");
	is_int(ceil_dtype_parse("fb16", &back, &err), CEIL_E_USAGE, "fb16");
	has_text(err.text, "did you mean bf16?", "is near bf16");
	is_int(ceil_dtype_parse("BF16", &back, &err), CEIL_E_USAGE, "BF16");
	has_text(err.text, "did you mean bf16?", "is near bf16");
	is_int(ceil_dtype_parse("quaternion", &back, &err), CEIL_E_USAGE, "quaternion");
	has_text(err.text, "known are fp64, fp32,", "is near nothing: all are told");
	has_text(err.text, "int64", "to the last");
	is_u64(ceil_dtype_bytes(CEIL_E2M1, 10), 5, "ten 4-bit elements are 5 bytes");
	is_u64(ceil_dtype_bytes(CEIL_FP64, 3), 24, "three doubles");
	is_u64(ceil_dtype_bytes(CEIL_BF16, 7), 14, "seven bf16");
	is_u64(ceil_dtype_bytes(CEIL_FP64, (uint64_t)1 << 60), (uint64_t)1 << 63, "no overflow");
	is_u64(ceil_dtype_bytes(CEIL_NODTYPE, 9), 0, "nothing takes nothing");
}

static void patterns_have_one_spelling(void)
{
	struct ceil_error err = {0};
	enum ceil_pattern back = CEIL_POISON;

	for (unsigned p = 0; p < CEIL_PATTERN_COUNT; p++) {
		const char *name = ceil_pattern_name((enum ceil_pattern)p);

		if (p == CEIL_POISON)
			is_text(name, "", "nobody names poison");
		else
			ok(ceil_pattern_parse(name, &back, &err) == CEIL_OK && back == p,
			   "%s is parsed", name);
	}
	is_int(ceil_pattern_parse("", &back, &err), CEIL_E_USAGE, "no name");
	is_int(ceil_pattern_parse("zeroes", &back, &err), CEIL_E_USAGE, "zeroes");
	has_text(err.text, "did you mean zeros? (normal, zeros, constant, integers, ternary)",
	         "is near zeros, and all are told");
}

int main(void)
{
	a_cleared_row_is_absent();
	values_are_shown();
	values_are_read();
	fields_know_their_members();
	types_have_one_spelling();
	patterns_have_one_spelling();
	return done_testing();
}
