/* JSON by jansson: rows of a column table as objects, and files that are written whole. */
#include "harness/output/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/output/file.h"

/* As in CSV: nine digits say more than any timer does. */
#define ROW_DIGITS JSON_REAL_PRECISION(9)
/* Every double of at most 15 digits comes out as it was typed. */
#define FILE_DIGITS JSON_REAL_PRECISION(15)

json_t *ceil_json_text(const char *text)
{
	json_t *value = json_string(text);
	char plain[1024];

	if (value)
		return value;
	ceil_copy(plain, sizeof(plain), text);
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(plain);
}

/* A number above INT64_MAX becomes text, since jansson would lose digits. */
static json_t *u64_value(const struct ceil_field *f, const void *row)
{
	char digits[32];
	uint64_t x;

	memcpy(&x, (const char *)row + f->offset, sizeof(x));
	if (x <= INT64_MAX)
		return json_integer((json_int_t)x);
	ceil_field_format(f, row, digits, sizeof(digits));
	return json_string(digits);
}

static json_t *field_value(const struct ceil_field *f, const void *row)
{
	double x;

	if (f->type == CEIL_F_TEXT)
		return ceil_json_text((const char *)row + f->offset);
	if (f->type == CEIL_F_U64)
		return u64_value(f, row);
	memcpy(&x, (const char *)row + f->offset, sizeof(x));
	return json_real(x);
}

/* Adds the row's fields. Return: whether there was memory. */
static bool add_fields(json_t *object, const struct ceil_table *t, const void *row)
{
	for (size_t i = 0; i < t->field_count; i++) {
		const struct ceil_field *f = &t->fields[i];

		if (ceil_field_absent(f, row))
			continue;
		if (json_object_set_new(object, f->name, field_value(f, row)))
			return false;
	}
	return true;
}

enum ceil_status ceil_json_write_line(FILE *f, const struct ceil_table *t, const void *row,
                                      struct ceil_error *err)
{
	json_t *object = json_object();
	enum ceil_status status = CEIL_OK;

	if (!object || json_object_set_new(object, "table", json_string(t->name)) ||
	    !add_fields(object, t, row)) {
		status = ceil_fail(err, CEIL_E_NOMEM, "no memory for a row of %s", t->name);
		goto out;
	}
	errno = 0;
	if (json_dumpf(object, f, JSON_COMPACT | ROW_DIGITS) || fputc('\n', f) == EOF || fflush(f))
		status = ceil_fail(err, CEIL_E_IO, "cannot write a row of %s: %s", t->name,
		                   strerror(errno ? errno : EIO));
out:
	json_decref(object);
	return status;
}

enum ceil_status ceil_json_save(const char *path, const json_t *root, struct ceil_error *err)
{
	struct ceil_file file = {0};
	enum ceil_status status;

	status = ceil_file_open(path, &file, err);
	if (status != CEIL_OK)
		return status;
	if (json_dumpf(root, file.f, JSON_INDENT(2) | FILE_DIGITS) && !ferror(file.f)) {
		status = ceil_fail(err, CEIL_E_NOMEM, "%s: jansson cannot print it", path);
		ceil_file_abandon(&file);
		return status;
	}
	(void)fputc('\n', file.f); /* ceil_file_close looks at ferror */
	return ceil_file_close(&file, err);
}
