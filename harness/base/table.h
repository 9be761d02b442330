/* Column tables: one description of a row's fields serves writing, reading, docs and tests. */
#ifndef CEIL_TABLE_H
#define CEIL_TABLE_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows hold only char arrays, doubles and uint64_t. */
enum ceil_field_type { CEIL_F_TEXT, CEIL_F_DOUBLE, CEIL_F_U64 };

/* An unsigned that was not measured. NAN is the same for a double, "" for text. */
#define CEIL_ABSENT_U64 UINT64_MAX

struct ceil_field {
	const char *name, *unit, *doc;
	enum ceil_field_type type;
	size_t offset, size; /* size bounds text */
	uint32_t since;      /* format_version in which the column appeared */
};

struct ceil_table {
	const char *name; /* "ceilings.csv" */
	const char *doc;
	const struct ceil_field *fields;
	size_t field_count, row_bytes;
};

#define CEIL_FIELD_TYPE(row, member)                                                               \
	_Generic(((row *)0)->member,                                                               \
		double: CEIL_F_DOUBLE,                                                             \
		uint64_t: CEIL_F_U64,                                                              \
		char *: CEIL_F_TEXT)

/* One row of a field table, its type taken from the member. */
#define CEIL_FIELD(row, member, unit_, since_, doc_)                                               \
	CEIL_FIELD_AS(row, member, #member, unit_, since_, doc_)

/* The same under a name that no member can have, such as "case". */
#define CEIL_FIELD_AS(row, member, name_, unit_, since_, doc_)                                     \
	{                                                                                          \
		.name = (name_), .unit = (unit_), .doc = (doc_),                                   \
		.type = CEIL_FIELD_TYPE(row, member), .offset = offsetof(row, member),             \
		.size = sizeof(((row *)0)->member), .since = (since_)                              \
	}

/* ceil_table_clear - makes every field of a row absent: NAN, CEIL_ABSENT_U64 or "". */
void ceil_table_clear(const struct ceil_table *t, void *row);

/* ceil_table_find - the field of a name, or NULL. */
const struct ceil_field *ceil_table_find(const struct ceil_table *t, const char *name);

/* ceil_field_absent - whether the row has no value in this field; an infinity is none. */
bool ceil_field_absent(const struct ceil_field *f, const void *row);

/*
 * ceil_field_format - the value as text in the C locale: %.9g, decimal, or the text itself.
 * An absent value gives "". Text is cut at size.
 */
void ceil_field_format(const struct ceil_field *f, const void *row, char *ret_text, size_t size);

/*
 * ceil_field_parse - reads text into the row; "" makes the field absent.
 * Return: CEIL_E_USAGE if it is no number, has something behind it, or is too long.
 */
CEIL_MUST_CHECK enum ceil_status ceil_field_parse(const struct ceil_field *f, void *row,
                                                  const char *text, struct ceil_error *err);

#endif
