/* Fields of rows as text and back; the one place that knows how a value is spelled. */
#include "harness/base/table.h"

#include <math.h>
#include <string.h>

#include "harness/base/text.h"

/* Members may lie at any offset of a row that is only bytes here: read and write by copying. */
static double load_double(const struct ceil_field *f, const void *row)
{
	double x;

	memcpy(&x, (const char *)row + f->offset, sizeof(x));
	return x;
}

static uint64_t load_u64(const struct ceil_field *f, const void *row)
{
	uint64_t x;

	memcpy(&x, (const char *)row + f->offset, sizeof(x));
	return x;
}

static void clear_field(const struct ceil_field *f, void *row)
{
	const double nan_value = (double)NAN;
	const uint64_t absent = CEIL_ABSENT_U64;
	char *at = (char *)row + f->offset;

	switch (f->type) {
	case CEIL_F_TEXT:
		memset(at, 0, f->size);
		break;
	case CEIL_F_DOUBLE:
		memcpy(at, &nan_value, sizeof(nan_value));
		break;
	case CEIL_F_U64:
		memcpy(at, &absent, sizeof(absent));
		break;
	}
}

void ceil_table_clear(const struct ceil_table *t, void *row)
{
	for (size_t i = 0; i < t->field_count; i++)
		clear_field(&t->fields[i], row);
}

const struct ceil_field *ceil_table_find(const struct ceil_table *t, const char *name)
{
	for (size_t i = 0; i < t->field_count; i++)
		if (strcmp(t->fields[i].name, name) == 0)
			return &t->fields[i];
	return NULL;
}

bool ceil_field_absent(const struct ceil_field *f, const void *row)
{
	switch (f->type) {
	case CEIL_F_DOUBLE:
		return !isfinite(load_double(f, row));
	case CEIL_F_U64:
		return load_u64(f, row) == CEIL_ABSENT_U64;
	case CEIL_F_TEXT:
		break;
	}
	return ((const char *)row)[f->offset] == '\0';
}

void ceil_field_format(const struct ceil_field *f, const void *row, char *ret_text, size_t size)
{
	if (size == 0)
		return;
	ret_text[0] = '\0';
	if (ceil_field_absent(f, row))
		return;
	if (f->type == CEIL_F_DOUBLE)
		ceil_append(ret_text, size, "%.9g", load_double(f, row));
	else if (f->type == CEIL_F_U64)
		ceil_append(ret_text, size, "%llu", (unsigned long long)load_u64(f, row));
	else
		ceil_append(ret_text, size, "%.*s", (int)f->size, (const char *)row + f->offset);
}

static enum ceil_status parse_number(const struct ceil_field *f, char *at, const char *text,
                                     struct ceil_error *err)
{
	struct ceil_error why;
	enum ceil_status status;
	uint64_t whole = 0;
	double x = 0.0;

	status = f->type == CEIL_F_DOUBLE ? ceil_parse_double(text, &x, &why)
	                                  : ceil_parse_u64(text, &whole, &why);
	if (status != CEIL_OK)
		return ceil_fail(err, status, "column %s: %s", f->name, why.text);
	if (whole == CEIL_ABSENT_U64)
		return ceil_fail(err, CEIL_E_USAGE, "column %s: %s is too large", f->name, text);
	if (f->type == CEIL_F_DOUBLE)
		memcpy(at, &x, sizeof(x));
	else
		memcpy(at, &whole, sizeof(whole));
	return CEIL_OK;
}

enum ceil_status ceil_field_parse(const struct ceil_field *f, void *row, const char *text,
                                  struct ceil_error *err)
{
	char *at = (char *)row + f->offset;

	if (!text[0]) {
		clear_field(f, row);
		return CEIL_OK;
	}
	if (f->type != CEIL_F_TEXT)
		return parse_number(f, at, text, err);
	if (strlen(text) >= f->size)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "column %s: text of %zu characters, at most %zu: %.24s...",
		                 f->name, strlen(text), f->size - 1, text);
	ceil_copy(at, f->size, text);
	return CEIL_OK;
}
