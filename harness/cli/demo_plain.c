/* A show in lines: one a second, the verdict under them, and a table at the end. */
#include "harness/cli/demo.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/output/grid.h"
#include "harness/output/text.h"

/* The table is wide: where there is no terminal it need not be cut. */
enum { WIDTH = 100, WIDEST = 140, INDENT = 2 };

/* GPU-Util comes in whole percents; counters need more, since 0.08 % is a result. */
static void percent(char *ret_text, size_t size, double ratio, int digits)
{
	ceil_copy(ret_text, size, isnan(ratio) ? "-" : "");
	if (!isnan(ratio))
		ceil_append(ret_text, size, "%.*f%%", digits, 100.0 * ratio);
}

static void number(char *ret_text, size_t size, double value)
{
	ceil_text_number(ret_text, size, value);
	if (!*ret_text)
		ceil_copy(ret_text, size, "-");
}

static double first_known(double a, double b)
{
	return isnan(a) ? b : a;
}

/* Of lines and of lessons: at most WIDTH, and what a terminal has. */
static int width_of(FILE *f)
{
	struct ceil_text_style style;

	if (!isatty(fileno(f)))
		return WIDTH;
	ceil_text_style_of(f, &style);
	return style.columns < WIDTH ? (int)style.columns : WIDTH;
}

/* A paragraph, and the end of its line. */
CEIL_PRINTF(3, 4) static void print_text(FILE *f, int indent, const char *format, ...)
{
	char text[1280];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(f, "%*s", indent, "");
	ceil_print_wrapped(f, text, indent, INDENT, width_of(f));
	fputc('\n', f);
}

/* ---- lines */

/* Columns of a line. 96 in all: a terminal of 80 leaves out those that only the wide form has. */
struct line_column {
	const char *title;
	int width;
	bool wide_only;
};

static const struct line_column line_columns[] = {
	{"s", 5, false},      {"GPU-Util", 8, false}, {"SM-act.", 8, false}, {"occup.", 7, true},
	{"tensor", 7, false}, {"dram", 7, false},     {"TFLOP/s", 9, false}, {"of ceil", 7, false},
	{"GB/s", 8, false},   {"of ceil", 7, false},  {"W", 6, true},        {"MHz", 6, true},
};
enum { LINE_COLUMNS = sizeof(line_columns) / sizeof(line_columns[0]), LINE_WIDTH = 96 };

static void print_owner(struct ceil_demo_plain *p, struct ceil_show *show,
                        const struct ceil_usage_row *row)
{
	char notes[1024], *rest = notes;
	const char *line;

	if (p->owner_printed)
		return;
	p->owner_printed = true;
	if (show->replay)
		print_text(p->f, 0, "REPLAY of a recording: %s, driver %s, %s, gpuceil %s",
		           row->gpu_name, row->driver, row->recorded_utc, row->tool_version);
	else
		print_text(p->f, 0, "%s: %s, driver %s", row->device, row->gpu_name, row->driver);
	show->notes(show, notes, sizeof(notes));
	while ((line = strsep(&rest, "\n")) && *line)
		print_text(p->f, 0, "%s", line);
}

static void print_cells(FILE *f, const char *const *cells)
{
	const bool wide = width_of(f) >= LINE_WIDTH;
	const char *gap = "";

	for (int i = 0; i < LINE_COLUMNS; i++) {
		const struct line_column *c = &line_columns[i];

		if (c->wide_only && !wide)
			continue;
		fprintf(f, "%s%*s", gap, c->width, cells ? cells[i] : c->title);
		gap = " ";
	}
	fputc('\n', f);
}

static void print_head(struct ceil_demo_plain *p, const struct ceil_usage_row *row)
{
	const struct ceil_scenario *sc = ceil_usage_scenario(row->scenario);

	if (strcmp(p->scenario, row->scenario) == 0)
		return;
	ceil_copy(p->scenario, sizeof(p->scenario), row->scenario);
	p->printed_s = 0;
	fprintf(p->f, "\n%s%s%s\n", row->scenario, sc ? ": " : "", sc ? sc->title : "");
	if (strcmp(row->event, CEIL_USAGE_TICK) == 0) /* else it could not be played */
		print_cells(p->f, /* cells= */ NULL);
}

static void print_line(const struct ceil_demo_plain *p, const struct ceil_usage_row *r)
{
	char t[LINE_COLUMNS][24];
	const char *cells[LINE_COLUMNS];

	(void)snprintf(t[0], sizeof(t[0]), "%.1f", r->scenario_s);
	percent(t[1], sizeof(t[1]), r->gpu_util, 0);
	for (int i = 1; i < 5; i++)
		percent(t[i + 1], sizeof(t[0]), ceil_demo_meters[i].ratio(r), i == 1 ? 3 : 2);
	number(t[6], sizeof(t[6]), r->tflops);
	percent(t[7], sizeof(t[7]), r->tflops / r->tflops_ceiling, 1);
	number(t[8], sizeof(t[8]), r->gb_s);
	percent(t[9], sizeof(t[9]), r->gb_s / r->gb_s_ceiling, 1);
	number(t[10], sizeof(t[10]), r->power_w);
	number(t[11], sizeof(t[11]), first_known(r->pm_sm_mhz, r->sm_mhz));
	for (int i = 0; i < LINE_COLUMNS; i++)
		cells[i] = t[i];
	print_cells(p->f, cells);
	fflush(p->f);
}

void ceil_demo_plain_say(struct ceil_demo_plain *p, struct ceil_show *show)
{
	char text[sizeof(p->said)];

	show->say(show, text, sizeof(text));
	if (!*text || strcmp(text, p->said) == 0)
		return;
	ceil_copy(p->said, sizeof(p->said), text);
	fprintf(p->f, "%s ...\n", text);
	fflush(p->f);
}

void ceil_demo_plain_row(struct ceil_demo_plain *p, struct ceil_show *show,
                         const struct ceil_usage_row *row)
{
	print_owner(p, show, row);
	print_head(p, row);
	if (strcmp(row->event, CEIL_USAGE_TICK) != 0 || isnan(row->scenario_s) ||
	    row->scenario_s < p->printed_s + 0.95)
		return;
	p->printed_s = row->scenario_s;
	print_line(p, row);
}

void ceil_demo_plain_finished(struct ceil_demo_plain *p, const struct ceil_usage *u)
{
	const struct ceil_scenario *sc = ceil_usage_scenario(u->scenario);
	const struct ceil_verdict_rule *rule = ceil_verdict_find(u->verdict);
	char words[32];

	if (*u->status && strcmp(u->status, "ok") != 0)
		print_text(p->f, INDENT, "%s: %s", u->status, u->reason);
	if (rule) {
		ceil_demo_words(rule->name, words, sizeof(words));
		print_text(p->f, INDENT, "= %s: %s", words, rule->words);
	}
	if (strcmp(u->expected, "no") == 0)
		print_text(p->f, INDENT, "not as expected: %s", u->unexpected);
	if (sc && rule)
		print_text(p->f, INDENT, "%s", sc->lesson);
	fflush(p->f);
}

/* ---- the table */

enum {
	SCENARIO,
	UTIL,
	SM,
	SM_PM,
	SM_SELF,
	OCCUPANCY,
	TENSOR,
	DRAM,
	TFLOPS,
	OF_FLOPS,
	GBS,
	OF_BYTES,
	WATTS,
	MHZ,
	VERDICT,
	COLUMNS
};

static const struct ceil_grid_column columns[COLUMNS] = {
	[SCENARIO] = {"scenario", false, 0},
	[UTIL] = {"GPU-Util", true, 0},
	[SM] = {"SM-active", true, 0},
	[SM_PM] = {"CUPTI", true, 9},
	[SM_SELF] = {"self", true, 8},
	[OCCUPANCY] = {"occ.", true, 5},
	[TENSOR] = {"tensor", true, 2},
	[DRAM] = {"dram", true, 1},
	[TFLOPS] = {"TFLOP/s", true, 3},
	[OF_FLOPS] = {"of FLOP/s", true, 0},
	[GBS] = {"GB/s", true, 4},
	[OF_BYTES] = {"of GB/s", true, 0},
	[WATTS] = {"W", true, 6},
	[MHZ] = {"MHz", true, 7},
	[VERDICT] = {"verdict", false, 0},
};

static void percent_cell(char *ret_text, size_t size, double ratio, int digits)
{
	percent(ret_text, size, ratio, digits);
	if (strcmp(ret_text, "-") == 0)
		ceil_copy(ret_text, size, "");
}

static void verdict_cell(const struct ceil_usage *u, char *ret_text, size_t size)
{
	ceil_demo_words(*u->verdict ? u->verdict : u->status, ret_text, size);
	if (strcmp(u->expected, "no") == 0)
		ceil_append(ret_text, size, " (!)");
}

static void cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_usage *u = &((const struct ceil_demo_view *)user)->done[row];
	const double rates[COLUMNS] = {[TFLOPS] = u->tflops,
	                               [GBS] = u->gb_s,
	                               [WATTS] = u->power_w,
	                               [MHZ] = first_known(u->pm_sm_mhz, u->sm_mhz)};
	const double ratios[COLUMNS] = {
		[UTIL] = u->gpu_util,
		[SM] = u->sm_active,
		[SM_PM] = u->pm_sm_active,
		[SM_SELF] = u->self_sm_active,
		[OCCUPANCY] = first_known(u->sm_occupancy, u->pm_sm_occupancy),
		[TENSOR] = first_known(u->tensor_active, u->pm_tensor_active),
		[DRAM] = first_known(u->dram_active, u->pm_dram_active),
		[OF_FLOPS] = u->of_flops_ceiling,
		[OF_BYTES] = u->of_bytes_ceiling};

	switch (column) {
	case SCENARIO:
		ceil_copy(ret_text, size, u->scenario);
		return;
	case VERDICT:
		verdict_cell(u, ret_text, size);
		return;
	case TFLOPS:
	case GBS:
	case WATTS:
	case MHZ:
		ceil_text_number(ret_text, size, rates[column]);
		return;
	case SM:
	case SM_PM:
	case SM_SELF:
		percent_cell(ret_text, size, ratios[column], 3);
		return;
	default:
		percent_cell(ret_text, size, ratios[column], 1);
	}
}

/* The line of a sweep over multiprocessors: what GPU-Util cannot tell. */
static void print_sweep(FILE *f, const struct ceil_demo_view *view)
{
	double x[64], y[64], low = 1;
	size_t count = 0;

	for (size_t i = 0; i < view->done_count && count < 64; i++) {
		const struct ceil_usage *u = &view->done[i];
		const double active = ceil_usage_sm_active(u);
		double sms;

		if (strncmp(u->scenario, "sms.", 4) != 0 || isnan(active))
			continue;
		sms = strcmp(u->scenario, "sms.all") == 0
		              ? (double)u->sm_count
		              : (double)strtoull(u->scenario + 4, NULL, 10);
		x[count] = sms;
		y[count++] = active;
		low = fmin(low, u->gpu_util);
	}
	if (count < 3)
		return;
	fprintf(f,
	        "\nSM-active against multiprocessors in use: a straight line with R^2 = %.6f over "
	        "%zu points;\nGPU-Util at the lowest of them: %.0f %%.\n",
	        ceil_usage_line(x, y, count), count, 100.0 * low);
}

static void print_unexpected(FILE *f, const struct ceil_demo_view *view)
{
	for (size_t i = 0; i < view->done_count; i++) {
		const struct ceil_usage *u = &view->done[i];

		if (strcmp(u->expected, "no") == 0)
			print_text(f, INDENT, "(!) %s: %s", u->scenario, u->unexpected);
	}
}

static bool same_reason(const struct ceil_usage *a, const struct ceil_usage *b)
{
	return strcmp(a->status, b->status) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* A reason once, behind the names of all that share it: who skips nine scenarios knows why. */
static void print_reasons(FILE *f, const struct ceil_demo_view *view)
{
	const struct ceil_usage *v = view->done;

	for (size_t i = 0, k; i < view->done_count; i++) {
		char names[1024] = "";

		for (k = 0; k < i && !same_reason(&v[k], &v[i]); k++)
			;
		if (k < i || !*v[i].reason)
			continue;
		for (; k < view->done_count; k++) {
			if (same_reason(&v[k], &v[i]))
				ceil_append(names, sizeof(names), "%s%s", *names ? ", " : "",
				            v[k].scenario);
		}
		print_text(f, INDENT, "%s %s: %s", names, v[i].status, v[i].reason);
	}
}

void ceil_demo_table(FILE *f, const struct ceil_demo_view *view)
{
	struct ceil_text_style style;
	struct ceil_grid g = {.columns = columns,
	                      .column_count = COLUMNS,
	                      .row_count = view->done_count,
	                      .cell = cell,
	                      .user = view,
	                      .indent = INDENT};

	if (view->done_count == 0)
		return;
	ceil_text_style_of(f, &style);
	g.limit = isatty(fileno(f)) ? style.columns : WIDEST;
	fputc('\n', f);
	ceil_grid_print(f, &g);
	print_unexpected(f, view);
	print_reasons(f, view);
	print_sweep(f, view);
	fflush(f);
}

/* ---- teaching */

static void print_range(FILE *f, const char *what, struct ceil_expected e)
{
	if (e.lo <= e.hi)
		fprintf(f, "  %-14s %g to %g %%\n", what, 100.0 * e.lo, 100.0 * e.hi);
}

void ceil_demo_explain(FILE *f, const struct ceil_scenario *sc)
{
	char words[32];

	fprintf(f, "%s: %s\n\n", sc->name, sc->title);
	ceil_print_wrapped(f, sc->lesson, 0, 0, width_of(f));
	fputs("\n\n", f);
	ceil_print_wrapped(f, sc->more, 0, 0, width_of(f));
	fputs("\n\nExpected:\n", f);
	print_range(f, "GPU-Util", sc->gpu_util);
	print_range(f, "SM-active", sc->sm_active);
	print_range(f, "tensor-active", sc->tensor_active);
	print_range(f, "dram-active", sc->dram_active);
	if (sc->flops_ceiling)
		fprintf(f, "  %-14s stands beside %s\n", "TFLOP/s", sc->flops_ceiling);
	if (sc->bytes_ceiling)
		fprintf(f, "  %-14s stands beside %s\n", "GB/s", sc->bytes_ceiling);
	if (sc->verdict) {
		ceil_demo_words(sc->verdict, words, sizeof(words));
		fprintf(f, "  %-14s %s: %s\n", "verdict", words,
		        ceil_verdict_find(sc->verdict)->words);
	}
	if (!sc->values)
		return;
	fputs("Points:", f);
	for (size_t i = 0; i < sc->value_count; i++)
		fprintf(f, " %s", sc->values[i].name);
	fputc('\n', f);
}

void ceil_demo_list(FILE *f)
{
	for (size_t i = 0; i < ceil_scenario_count; i++) {
		const struct ceil_scenario *sc = &ceil_scenarios[i];

		fprintf(f, "%-20s %-6s %s\n", sc->name,
		        sc->tour     ? "tour"
		        : sc->values ? "sweep"
		                     : "",
		        sc->title);
	}
}
