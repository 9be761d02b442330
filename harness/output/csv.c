/* CSV by libcsv: text is quoted by it and numbers are plain; reading is strict. */
#include "harness/output/csv.h"

#include <csv.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/output/file.h"

struct ceil_csv {
	struct ceil_file file;
	const struct ceil_table *t;
};

/* Results of stdio are not looked at here: ceil_file_flush asks ferror for all of them. */
static void put_field(FILE *f, const struct ceil_field *field, const void *row)
{
	const char *text = (const char *)row + field->offset;
	char number[32];

	if (ceil_field_absent(field, row))
		return;
	if (field->type == CEIL_F_TEXT) {
		(void)csv_fwrite(f, text, strnlen(text, field->size));
		return;
	}
	ceil_field_format(field, row, number, sizeof(number));
	(void)fputs(number, f);
}

static void put_header(FILE *f, const struct ceil_table *t)
{
	for (size_t i = 0; i < t->field_count; i++)
		(void)fprintf(f, "%s%s", i ? "," : "", t->fields[i].name);
	(void)fputc('\n', f);
}

enum ceil_status ceil_csv_open(const char *path, const struct ceil_table *t,
                               struct ceil_csv **ret_csv, struct ceil_error *err)
{
	struct ceil_csv *csv = ceil_alloc(1, sizeof(*csv), err);
	enum ceil_status status;

	if (!csv)
		return CEIL_E_NOMEM;
	csv->t = t;
	status = ceil_file_open(path, &csv->file, err);
	if (status != CEIL_OK)
		goto out_abandon;
	put_header(csv->file.f, t);
	status = ceil_file_flush(&csv->file, err);
	if (status != CEIL_OK)
		goto out_abandon;
	*ret_csv = csv;
	return CEIL_OK;

out_abandon:
	ceil_csv_abandon(csv);
	return status;
}

enum ceil_status ceil_csv_write_row(struct ceil_csv *csv, const void *row, struct ceil_error *err)
{
	FILE *f = csv->file.f;

	for (size_t i = 0; i < csv->t->field_count; i++) {
		if (i)
			(void)fputc(',', f);
		put_field(f, &csv->t->fields[i], row);
	}
	(void)fputc('\n', f);
	return ceil_file_flush(&csv->file, err);
}

enum ceil_status ceil_csv_close(struct ceil_csv *csv, struct ceil_error *err)
{
	enum ceil_status status;

	if (!csv)
		return CEIL_OK;
	status = ceil_file_close(&csv->file, err);
	free(csv);
	return status;
}

void ceil_csv_abandon(struct ceil_csv *csv)
{
	if (!csv)
		return;
	ceil_file_abandon(&csv->file);
	free(csv);
}

/* A row of ours is under 2 KiB; one that goes on for longer is a quote that never ends. */
enum { ROW_MAX_BYTES = 1 << 20, READ_BYTES = 1 << 16 };

/* What libcsv's callbacks work on. */
struct reader {
	char path[CEIL_SHOWN_PATH]; /* for messages */
	const struct ceil_table *t;
	const struct ceil_csv_rules *rules;
	ceil_csv_row_fn fn;
	void *user, *row;
	const struct ceil_field **columns; /* of the header; NULL: unknown, and lenient */
	size_t column_count, column_cap;
	size_t field;                  /* of the current row, 0 between rows */
	size_t line, row_line;         /* physical lines: read so far, and where this row began */
	size_t row_bytes;              /* fed since the row began */
	bool have_header, open;        /* open: inside a row */
	bool after_cr;                 /* the last byte was a CR */
	enum ceil_status status;       /* not CEIL_OK: nothing more is looked at */
	enum ceil_status field_status; /* of the first bad field in this row */
	struct ceil_error *err, field_err;
};

/* Stops the reading with "path:line: text". */
CEIL_PRINTF(3, 4)
static void stop(struct reader *r, enum ceil_status status, const char *format, ...)
{
	char text[sizeof(r->err->text)] = "";
	va_list ap;

	va_start(ap, format);
	ceil_vappend(text, sizeof(text), format, ap);
	va_end(ap);
	r->status = ceil_fail(r->err, status, "%s:%zu: %s", r->path, r->row_line, text);
}

/* Names the nearest column where one is near. */
static void stop_unknown(struct reader *r, const char *name)
{
	const char **names = ceil_alloc(r->t->field_count + 1, sizeof(*names), r->err);
	const char *nearest;

	if (!names) {
		r->status = CEIL_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < r->t->field_count; i++)
		names[i] = r->t->fields[i].name;
	nearest = ceil_suggest(name, names);
	stop(r, CEIL_E_USAGE, "unknown column \"%.40s\"%s%s%s", name,
	     nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	free(names);
}

static bool has_column(const struct reader *r, const struct ceil_field *f)
{
	for (size_t i = 0; i < r->column_count; i++)
		if (f && r->columns[i] == f)
			return true;
	return false;
}

static void add_column(struct reader *r, const char *name)
{
	const struct ceil_field *f = ceil_table_find(r->t, name);
	void *v = r->columns;

	if (!f && !r->rules->lenient) {
		stop_unknown(r, name);
		return;
	}
	if (has_column(r, f)) {
		stop(r, CEIL_E_USAGE, "column %s stands twice in the header", name);
		return;
	}
	r->status = ceil_grow(&v, &r->column_cap, r->column_count + 1, sizeof(*r->columns), r->err);
	r->columns = v;
	if (r->status == CEIL_OK)
		r->columns[r->column_count++] = f;
}

static void check_required(struct reader *r)
{
	for (const char *const *name = r->rules->required; name && *name; name++) {
		if (has_column(r, ceil_table_find(r->t, *name)))
			continue;
		stop(r, CEIL_E_USAGE, "column %s is missing from the header", *name);
		return;
	}
}

/* libcsv's first callback. APPEND_NULL: text ends in a NUL, but may hold others. */
static void on_field(void *data, size_t length, void *user)
{
	struct reader *r = user;
	const char *text = data;
	const size_t i = r->field++;

	if (r->status != CEIL_OK)
		return;
	if (memchr(text, '\0', length))
		stop(r, CEIL_E_USAGE, "a NUL byte: this is no CSV file");
	else if (!r->have_header)
		add_column(r, text);
	else if (i < r->column_count && r->columns[i] && r->field_status == CEIL_OK)
		r->field_status = ceil_field_parse(r->columns[i], r->row, text, &r->field_err);
}

static void finish_row(struct reader *r)
{
	/* First: a field too many or too few makes all those behind it look bad. */
	if (r->field != r->column_count)
		stop(r, CEIL_E_USAGE, "%zu fields, but the header has %zu", r->field,
		     r->column_count);
	else if (r->field_status != CEIL_OK)
		stop(r, r->field_status, "%s", r->field_err.text);
	else
		r->status = r->fn(r->user, r->row, r->row_line, r->err);
	ceil_table_clear(r->t, r->row);
	r->field_status = CEIL_OK;
}

/* libcsv's second callback, at the end of a row. */
static void on_row(int c, void *user)
{
	struct reader *r = user;

	(void)c; /* the character that ended it, or -1 */
	if (r->status == CEIL_OK && !r->have_header)
		check_required(r);
	else if (r->status == CEIL_OK)
		finish_row(r);
	r->have_header = true;
	r->open = false;
	r->field = 0;
}

static void stop_parser(struct reader *r, struct csv_parser *p)
{
	const int code = csv_error(p);

	if (code == CSV_ENOMEM || code == CSV_ETOOBIG)
		stop(r, CEIL_E_NOMEM, "libcsv: %s", csv_strerror(code));
	else
		stop(r, CEIL_E_USAGE,
		     "a quote stands where none may, or one is missing (libcsv: %s)",
		     csv_strerror(code));
}

static bool is_blank(const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr(" \t\r\n", s[i]) || s[i] == '\0')
			return false;
	return true;
}

/* Feeds a piece of one physical line. */
static void feed(struct reader *r, struct csv_parser *p, const char *s, size_t length)
{
	if (!r->open) {
		r->row_line = r->line;
		r->row_bytes = 0;
		r->open = !is_blank(s, length);
	}
	r->row_bytes += length;
	if (csv_parse(p, s, length, on_field, on_row, r) != length && r->status == CEIL_OK)
		stop_parser(r, p);
	if (r->status == CEIL_OK && r->open && r->row_bytes > ROW_MAX_BYTES)
		stop(r, CEIL_E_USAGE, "a row longer than %d bytes: a quote is missing",
		     ROW_MAX_BYTES);
}

/* Length of the physical line at s, with its end: LF, CR, or CR of CRLF, whose LF comes next. */
static size_t line_length(const char *s, size_t length)
{
	size_t n = 0;

	while (n < length && s[n] != '\n' && s[n] != '\r')
		n++;
	return n < length ? n + 1 : n;
}

/* Splits at line ends, so that the line of an error is known. */
static void feed_lines(struct reader *r, struct csv_parser *p, const char *s, size_t length)
{
	while (length && r->status == CEIL_OK) {
		const size_t n = line_length(s, length);
		const char end = s[n - 1];

		/* The LF of a CRLF still belongs to the line that the CR ended. */
		if (r->after_cr && s[0] == '\n')
			r->line--;
		feed(r, p, s, n);
		r->line += end == '\n' || end == '\r';
		r->after_cr = end == '\r';
		s += n;
		length -= n;
	}
}

static void read_all(struct reader *r, struct csv_parser *p, FILE *f, char *buffer)
{
	static const char bom[] = "\xef\xbb\xbf";
	bool first = true;
	size_t n;

	errno = 0;
	while (r->status == CEIL_OK && (n = fread(buffer, 1, READ_BYTES, f)) > 0) {
		const size_t skip = first && n >= 3 && memcmp(buffer, bom, 3) == 0 ? 3 : 0;

		feed_lines(r, p, buffer + skip, n - skip);
		first = false;
	}
	if (ferror(f)) {
		r->status = ceil_fail(r->err, CEIL_E_IO, "%s: %s", r->path, strerror(errno));
		return;
	}
	/* Completes a last row that has no newline. */
	if (r->status == CEIL_OK && csv_fini(p, on_field, on_row, r) && r->status == CEIL_OK)
		stop_parser(r, p);
	if (r->status == CEIL_OK && !r->have_header)
		r->status = ceil_fail(r->err, CEIL_E_USAGE, "%s: the file is empty", r->path);
}

/* Parses an open file; r is set up but for its row. */
static enum ceil_status read_file(struct reader *r, FILE *f)
{
	struct csv_parser parser;
	char *buffer = ceil_alloc(READ_BYTES, 1, r->err);

	r->row = ceil_alloc(1, r->t->row_bytes, r->err);
	r->status = buffer && r->row ? CEIL_OK : CEIL_E_NOMEM;
	if (r->status != CEIL_OK)
		goto out_free;
	if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL)) {
		r->status = ceil_fail(r->err, CEIL_E_NOMEM, "libcsv does not start");
		goto out_free;
	}
	csv_set_realloc_func(&parser, ceil_realloc);
	csv_set_blk_size(&parser, READ_BYTES); /* 128 bytes by default: thousands of copies */
	ceil_table_clear(r->t, r->row);
	read_all(r, &parser, f, buffer);
	csv_free(&parser);
out_free:
	free(r->columns);
	free(r->row);
	free(buffer);
	return r->status;
}

enum ceil_status ceil_csv_read(const char *path, const struct ceil_table *t,
                               const struct ceil_csv_rules *rules, ceil_csv_row_fn fn, void *user,
                               struct ceil_error *err)
{
	static const struct ceil_csv_rules no_rules = {0};
	struct ceil_error own = {0};
	struct reader r = {
		.t = t,
		.rules = rules ? rules : &no_rules,
		.fn = fn,
		.user = user,
		.line = 1,
		.row_line = 1,
		.err = err ? err : &own,
	};
	enum ceil_status status;
	FILE *f;

	ceil_shown_path(r.path, sizeof(r.path), path);
	f = fopen(path, "re");
	if (!f)
		return ceil_fail(err, CEIL_E_IO, "cannot read %s: %s", r.path, strerror(errno));
	status = read_file(&r, f);
	(void)fclose(f); /* only read: nothing can be lost */
	return status;
}
