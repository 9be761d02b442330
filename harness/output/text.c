/* The aligned table at the end of a run. */
#include "harness/output/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "harness/output/grid.h"
#include "harness/output/slowest.h"

enum { WIDEST = 112, NARROWEST = 40, INDENT = 2, REASON_INDENT = 6, NAMED = 3 };

/* ---- style and numbers */

void ceil_text_style_of(FILE *f, struct ceil_text_style *ret_style)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	const int fd = fileno(f);
	struct winsize w;

	ret_style->colour =
		isatty(fd) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
	ret_style->columns = WIDEST;
	ret_style->window = WIDEST;
	/* No columns at all: a terminal that does not know its size, as over some serial lines. */
	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &w) != 0 || w.ws_col == 0 || w.ws_col >= WIDEST)
		return;
	ret_style->window = w.ws_col;
	ret_style->columns = w.ws_col < NARROWEST ? NARROWEST : w.ws_col;
}

void ceil_text_number(char *ret_text, size_t size, double value)
{
	static const double below[] = {9.9995, 99.995, 999.95};
	int digits = 3;

	ceil_copy(ret_text, size, "");
	if (isnan(value))
		return;
	if (fabs(value) < 0.99995) {
		ceil_append(ret_text, size, "%.3g", value);
		return;
	}
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
		digits -= fabs(value) >= below[i];
	ceil_append(ret_text, size, "%.*f", digits, value);
}

/* ---- rows of one device */

struct view {
	const struct ceil_record *r;
	size_t count;
	const struct ceil_record *first; /* row of the device */
	const char *device;
	bool colour;
};

static bool is_host(const char *device)
{
	return strncmp(device, "cpu", 3) == 0;
}

static bool has_value(const struct ceil_record *r)
{
	return !isnan(r->value);
}

static bool is_ok(const struct ceil_record *r)
{
	return strcmp(r->status, "ok") == 0;
}

/* GPUs of two machines may have the same label. */
static bool same_device(const struct ceil_record *a, const struct ceil_record *b)
{
	return strcmp(a->device, b->device) == 0 && strcmp(a->host, b->host) == 0;
}

/* Index of the first row of the device from i on that has a value or has none; count if none. */
static size_t next_row(const struct view *v, size_t i, bool with_value)
{
	while (i < v->count &&
	       (!same_device(&v->r[i], v->first) || has_value(&v->r[i]) != with_value))
		i++;
	return i;
}

static size_t next_value(const struct view *v, size_t i)
{
	return next_row(v, i, /* with_value= */ true);
}

static size_t next_absent(const struct view *v, size_t i)
{
	return next_row(v, i, /* with_value= */ false);
}

static const struct ceil_record *nth_value(const struct view *v, size_t n)
{
	size_t i = next_value(v, 0);

	while (n-- > 0)
		i = next_value(v, i + 1);
	return &v->r[i];
}

static size_t value_count(const struct view *v)
{
	size_t n = 0;

	for (size_t i = next_value(v, 0); i < v->count; i = next_value(v, i + 1))
		n++;
	return n;
}

static const char *colour_of(const char *status)
{
	static const struct {
		const char *status, *code;
	} colours[] = {
		{"ok", "\033[32m"},        {"unstable", "\033[33m"}, {"cancelled", "\033[33m"},
		{"throttled", "\033[31m"}, {"suspect", "\033[31m"},  {"failed", "\033[31m"},
	};

	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++) {
		if (strcmp(status, colours[i].status) == 0)
			return colours[i].code;
	}
	return "";
}

static void status_text(const struct view *v, const char *status, char *ret_text, size_t size)
{
	const char *code = v->colour ? colour_of(status) : "";

	ceil_copy(ret_text, size, "");
	ceil_append(ret_text, size, "%s%s%s", code, status, *code ? "\033[0m" : "");
}

/* ---- the table */

enum column { CEILING, VALUE, UNIT, THEORETICAL, OF_PEAK, CLOCK, LIMITED_BY, STATUS, COLUMN_COUNT };

static const struct ceil_grid_column columns[COLUMN_COUNT] = {
	[CEILING] = {.title = "ceiling"},
	[VALUE] = {.title = "value", .right = true},
	[UNIT] = {.title = "unit"},
	[THEORETICAL] = {.title = "theoretical", .right = true, .sacrifice = 1},
	[OF_PEAK] = {.title = "of peak", .right = true},
	[CLOCK] = {.title = "MHz", .right = true, .sacrifice = 2},
	[LIMITED_BY] = {.title = "limited by"},
	[STATUS] = {.title = "status"},
};

static void cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct view *v = user;
	const struct ceil_record *r = nth_value(v, row);

	switch ((enum column)column) {
	case CEILING:
		ceil_copy(ret_text, size, r->ceiling);
		break;
	case VALUE:
		ceil_text_number(ret_text, size, r->value);
		break;
	case UNIT:
		ceil_copy(ret_text, size, r->unit);
		break;
	case THEORETICAL:
		ceil_text_number(ret_text, size, r->theoretical);
		break;
	case OF_PEAK:
		if (!isnan(r->of_theoretical))
			ceil_append(ret_text, size, "%.1f %%", 100.0 * r->of_theoretical);
		break;
	case CLOCK:
		if (!isnan(r->clock_mhz))
			ceil_append(ret_text, size, "%.0f", r->clock_mhz);
		break;
	case LIMITED_BY:
		ceil_copy(ret_text, size, r->limited_by);
		break;
	default:
		status_text(v, r->status, ret_text, size);
	}
}

/* A tenth more is worth a line: pinned memory beside pageable, copy engines beside kernels. */
static void print_versus(FILE *f, const struct ceil_record *r)
{
	char number[32];

	if (!r->versus[0] || !(r->versus_value > 1.1 * r->value))
		return;
	ceil_text_number(number, sizeof(number), r->versus_value);
	fprintf(f, "%*s%s gives %s %s, %.2g times as much\n", REASON_INDENT, "", r->versus, number,
	        r->unit, r->versus_value / r->value);
}

static void print_table(FILE *f, const struct ceil_text_style *style, const struct view *v)
{
	const struct ceil_grid g = {.columns = columns,
	                            .column_count = COLUMN_COUNT,
	                            .row_count = value_count(v),
	                            .cell = cell,
	                            .user = v,
	                            .indent = INDENT,
	                            .limit = style->columns};
	struct ceil_grid_layout layout;

	if (g.row_count == 0)
		return;
	ceil_grid_measure(&g, &layout);
	ceil_grid_titles(f, &g, &layout);
	fputc('\n', f);
	for (size_t i = 0; i < g.row_count; i++) {
		const struct ceil_record *r = nth_value(v, i);

		ceil_grid_row(f, &g, &layout, i);
		fputc('\n', f);
		print_versus(f, r);
		if (is_ok(r) || !r->reason[0])
			continue;
		fprintf(f, "%*s", REASON_INDENT, "");
		ceil_print_wrapped(f, r->reason, REASON_INDENT, REASON_INDENT, style->columns);
		fputc('\n', f);
	}
}

/* ---- rows without a value */

static bool same_reason(const struct ceil_record *a, const struct ceil_record *b)
{
	return strcmp(a->status, b->status) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* Whether no earlier row without a value of this device has the reason of row i. */
static bool leads_group(const struct view *v, size_t i)
{
	for (size_t k = next_absent(v, 0); k < i; k = next_absent(v, k + 1)) {
		if (same_reason(&v->r[k], &v->r[i]))
			return false;
	}
	return true;
}

/* "dram.read, dram.copy: skipped: why", or "23 CUDA ceilings: unsupported: why". */
static void group_text(const struct view *v, size_t lead, char *ret_text, size_t size)
{
	const struct ceil_record *r = &v->r[lead];
	char names[NAMED * (sizeof(r->ceiling) + 2)] = "", status[32];
	size_t n = 0;

	for (size_t k = lead; k < v->count; k = next_absent(v, k + 1)) {
		if (!same_reason(&v->r[k], r))
			continue;
		ceil_append(names, sizeof(names), "%s%s", n ? ", " : "", v->r[k].ceiling);
		n++;
	}
	ceil_copy(ret_text, size, names);
	if (n > NAMED) {
		ceil_copy(ret_text, size, "");
		ceil_append(ret_text, size, "%zu %s ceilings", n,
		            is_host(v->device) ? "host" : "CUDA");
	}
	status_text(v, r->status, status, sizeof(status));
	ceil_append(ret_text, size, ": %s%s%s", status, r->reason[0] ? ": " : "", r->reason);
}

/* @start: where the cursor is; the first group goes there, the others under it. */
static void print_groups(FILE *f, const struct ceil_text_style *style, const struct view *v,
                         int start)
{
	int at = start;

	for (size_t i = next_absent(v, 0); i < v->count; i = next_absent(v, i + 1)) {
		char text[CEIL_GRID_CELL];

		if (!leads_group(v, i))
			continue;
		group_text(v, i, text, sizeof(text));
		fprintf(f, "%*s", start - at, "");
		ceil_print_wrapped(f, text, start, start + INDENT, style->columns);
		fputc('\n', f);
		at = 0;
	}
}

/* ---- devices */

/* "gpu0  NVIDIA H200, driver 580.159.04, theoretical at 1980 MHz" */
static void heading_text(const struct view *v, char *ret_text, size_t size)
{
	bool one_machine = true;
	double mhz = (double)NAN;

	for (size_t i = 0; i < v->count; i++) {
		one_machine &= strcmp(v->r[i].host, v->first->host) == 0;
		if (same_device(&v->r[i], v->first) && !(mhz >= v->r[i].theoretical_clock_mhz))
			mhz = v->r[i].theoretical_clock_mhz;
	}
	ceil_copy(ret_text, size, v->first->gpu_name);
	if (!one_machine)
		ceil_append(ret_text, size, "%son %s", *ret_text ? " " : "", v->first->host);
	if (v->first->driver[0])
		ceil_append(ret_text, size, "%s%s %s", *ret_text ? ", " : "",
		            is_host(v->device) ? "kernel" : "driver", v->first->driver);
	if (!isnan(mhz))
		ceil_append(ret_text, size, "%stheoretical at %.0f MHz", *ret_text ? ", " : "",
		            mhz);
}

static void print_device(FILE *f, const struct ceil_text_style *style, const struct view *v)
{
	char heading[CEIL_GRID_CELL];
	const int label = (int)strlen(v->device) + 2;

	heading_text(v, heading, sizeof(heading));
	fprintf(f, "%s  ", v->device);
	if (!heading[0] && value_count(v) == 0) {
		print_groups(f, style, v, label);
		return;
	}
	ceil_print_wrapped(f, heading, label, label, style->columns);
	fputc('\n', f);
	print_table(f, style, v);
	fprintf(f, "%*s", next_absent(v, 0) < v->count ? INDENT : 0, "");
	print_groups(f, style, v, INDENT);
}

/* Everything about one host device in a paragraph. */
static void print_folded(FILE *f, const struct ceil_text_style *style, const struct view *v)
{
	const int label = (int)strlen(v->device) + 2;
	char text[4096] = "", number[32], status[32];

	for (size_t i = 0; i < v->count; i++) {
		const struct ceil_record *r = &v->r[i];

		if (!same_device(r, v->first))
			continue;
		ceil_text_number(number, sizeof(number), r->value);
		status_text(v, r->status, status, sizeof(status));
		ceil_append(text, sizeof(text), "%s%s", *text ? ", " : "", r->ceiling);
		if (has_value(r))
			ceil_append(text, sizeof(text), " %s %s", number, r->unit);
		if (!is_ok(r))
			ceil_append(text, sizeof(text), " (%s)", status);
	}
	fprintf(f, "%s  ", v->device);
	ceil_print_wrapped(f, text, label, label, style->columns);
	fputc('\n', f);
}

static bool first_of_device(const struct ceil_record *r, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (same_device(&r[k], &r[i]))
			return false;
	}
	return true;
}

void ceil_text_ceilings(FILE *f, const struct ceil_text_style *style, const struct ceil_record *r,
                        size_t count, bool fold_host)
{
	bool after_folded = false;

	for (size_t i = 0; i < count; i++) {
		const struct view v = {r, count, &r[i], r[i].device, style->colour};
		const bool folded = fold_host && is_host(r[i].device);

		if (!first_of_device(r, i))
			continue;
		if (i > 0 && !(folded && after_folded))
			fputc('\n', f);
		if (folded)
			print_folded(f, style, &v);
		else
			print_device(f, style, &v);
		after_folded = folded;
	}
	ceil_text_slowest(f, style, r, count);
}
