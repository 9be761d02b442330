/* gpuceil list: everything that has a name, from the tables that define it. */
#include "harness/cli/list.h"

#include "harness/analysis/record.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/cli/csv_tables.h"
#include "harness/measure/plan.h"
#include "harness/output/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- benches, variants, ceilings: walks over the bench tables */

struct named_row {
	const struct ceil_bench *bench;
	const struct ceil_variant *variant;
	enum ceil_regime regime;
};

struct named_rows {
	struct named_row *v;
	size_t count, cap;
};

static enum ceil_status add_row(struct named_rows *rows, const struct ceil_bench *b,
                                const struct ceil_variant *v, enum ceil_regime regime,
                                struct ceil_error *err)
{
	void *p = rows->v;
	const enum ceil_status st =
		ceil_grow(&p, &rows->cap, rows->count + 1, sizeof(*rows->v), err);

	if (st != CEIL_OK)
		return st;
	rows->v = p;
	rows->v[rows->count++] = (struct named_row){b, v, regime};
	return CEIL_OK;
}

static bool has_ceiling(const struct named_rows *rows, const char *ceiling)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (strcmp(rows->v[i].variant->ceiling, ceiling) == 0)
			return true;
	}
	return false;
}

/* The rows that a ceiling gets: burst and sustained, or one of no regime. */
static enum ceil_status add_regimes(struct named_rows *rows, const struct ceil_bench *b,
                                    const struct ceil_variant *v, struct ceil_error *err)
{
	const enum ceil_regime first = v->burst_finalists ? CEIL_BURST : CEIL_NOREGIME;
	enum ceil_status st = CEIL_OK;

	if (has_ceiling(rows, v->ceiling))
		return CEIL_OK;
	st = add_row(rows, b, v, first, err);
	if (st == CEIL_OK && v->sustained_finalists)
		st = add_row(rows, b, v, CEIL_SUSTAINED, err);
	return st;
}

enum walk { EACH_BENCH, EACH_VARIANT, EACH_CEILING };

static enum ceil_status collect(enum walk walk, struct named_rows *rows, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; ceil_benches[i] && st == CEIL_OK; i++) {
		const struct ceil_bench *b = ceil_benches[i];

		if (walk == EACH_BENCH)
			st = add_row(rows, b, /* v= */ NULL, CEIL_NOREGIME, err);
		for (size_t k = 0; walk != EACH_BENCH && k < b->variant_count && st == CEIL_OK; k++)
			st = walk == EACH_VARIANT
			             ? add_row(rows, b, &b->variants[k], CEIL_NOREGIME, err)
			             : add_regimes(rows, b, &b->variants[k], err);
	}
	return st;
}

static void bench_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_bench *b = ((const struct named_row *)user)[row].bench;

	ceil_copy(ret_text, size, column == 0 ? b->name : column == 3 ? b->summary : "");
	if (column == 1 || column == 2)
		ceil_append(ret_text, size, "%zu", column == 1 ? b->variant_count : b->case_count);
}

void ceil_list_types(const struct ceil_types *t, char *ret_text, size_t size)
{
	ceil_copy(ret_text, size, ceil_dtype_info(t->a)->name);
	if (t->acc != CEIL_NODTYPE)
		ceil_append(ret_text, size, "/%s", ceil_dtype_info(t->acc)->name);
	if (t->out != CEIL_NODTYPE && t->out != t->a)
		ceil_append(ret_text, size, "/%s", ceil_dtype_info(t->out)->name);
}

static void variant_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct named_row *r = (const struct named_row *)user + row;
	const struct ceil_variant *v = r->variant;
	const char *const cells[] = {v->name,
	                             v->ceiling,
	                             v->backend,
	                             NULL,
	                             ceil_unit_name(v->unit),
	                             ceil_timing_name(v->timing),
	                             v->quick ? "quick" : "",
	                             r->bench->name,
	                             v->doc};

	if (column == 3)
		ceil_list_types(&v->types, ret_text, size);
	else
		ceil_copy(ret_text, size, cells[column]);
}

static void ceiling_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct named_row *r = (const struct named_row *)user + row;
	const struct ceil_point p = {.bench = r->bench,
	                             .variant = r->variant,
	                             .regime = r->regime,
	                             .pattern = r->variant->pattern};

	if (column == 0)
		ceil_point_ceiling(&p, ret_text, size);
	else if (column == 1)
		ceil_copy(ret_text, size, ceil_unit_name(r->variant->unit));
	else if (column == 2)
		ceil_copy(ret_text, size,
		          ceil_unit_lower_is_better(r->variant->unit) ? "lower" : "higher");
	else
		ceil_copy(ret_text, size, column == 3 ? r->variant->backend : r->bench->name);
}

static const struct ceil_grid_column bench_columns[] = {
	{.title = "bench"},
	{.title = "variants", .right = true},
	{.title = "cases", .right = true},
	{.title = "what it measures"},
};
static const struct ceil_grid_column variant_columns[] = {
	{.title = "variant"}, {.title = "ceiling"}, {.title = "backend"},
	{.title = "types"},   {.title = "unit"},    {.title = "timing"},
	{.title = "quick"},   {.title = "bench"},   {.title = "what it does"},
};
static const struct ceil_grid_column ceiling_columns[] = {
	{.title = "ceiling"}, {.title = "unit"},  {.title = "better"},
	{.title = "backend"}, {.title = "bench"},
};

static enum ceil_status list_named(enum walk walk, struct ceil_grid *g, struct ceil_error *err)
{
	struct named_rows rows = {NULL, 0, 0};
	const enum ceil_status st = collect(walk, &rows, err);

	g->row_count = rows.count;
	g->user = rows.v;
	if (st == CEIL_OK)
		ceil_grid_print(stdout, g);
	free(rows.v);
	return st;
}

static enum ceil_status list_benches(struct ceil_error *err)
{
	struct ceil_grid g = {
		.columns = bench_columns, .column_count = COUNT(bench_columns), .cell = bench_cell};

	return list_named(EACH_BENCH, &g, err);
}

static enum ceil_status list_variants(struct ceil_error *err)
{
	struct ceil_grid g = {.columns = variant_columns,
	                      .column_count = COUNT(variant_columns),
	                      .cell = variant_cell};

	return list_named(EACH_VARIANT, &g, err);
}

static enum ceil_status list_ceilings(struct ceil_error *err)
{
	struct ceil_grid g = {.columns = ceiling_columns,
	                      .column_count = COUNT(ceiling_columns),
	                      .cell = ceiling_cell};

	return list_named(EACH_CEILING, &g, err);
}

/* ---- columns of the files */

static const struct ceil_grid_column column_columns[] = {
	{.title = "column"},
	{.title = "unit"},
	{.title = "since", .right = true},
	{.title = "meaning"},
};

static void column_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_field *f = (const struct ceil_field *)user + row;

	ceil_copy(ret_text, size,
	          column == 0   ? f->name
	          : column == 1 ? f->unit
	          : column == 3 ? f->doc
	                        : "");
	if (column == 2)
		ceil_append(ret_text, size, "%u", f->since);
}

/* records.csv begins with the columns of ceilings.csv: they are not told twice. */
static enum ceil_status list_columns(struct ceil_error *err)
{
	struct ceil_csv_tables tables;

	(void)err; /* nothing here can fail */
	ceil_csv_tables_init(&tables);
	for (size_t i = 0; tables.of[i]; i++) {
		const struct ceil_table *t = tables.of[i];
		const size_t skip = t == &ceil_table_records ? ceil_table_ceilings.field_count : 0;
		const struct ceil_grid g = {.columns = column_columns,
		                            .column_count = COUNT(column_columns),
		                            .row_count = t->field_count - skip,
		                            .cell = column_cell,
		                            .user = t->fields + skip,
		                            .indent = 2};

		printf("%s%s: %s\n", i ? "\n" : "", t->name, t->doc);
		ceil_grid_print(stdout, &g);
	}
	return CEIL_OK;
}

static enum ceil_status list_dtypes(struct ceil_error *err)
{
	(void)err; /* a table of the program cannot fail */
	for (int t = 0; t < CEIL_DTYPE_COUNT; t++) {
		const struct ceil_dtype_info *info = ceil_dtype_info((enum ceil_dtype)t);

		if (*info->name)
			printf("%-6s %2u bits  %s\n", info->name, info->bits, info->doc);
	}
	return CEIL_OK;
}

/* ---- the command */

static const struct kind {
	const char *name, *doc;
	enum ceil_status (*list)(struct ceil_error *err);
} kinds[] = {
	{"benches", "what `gpuceil bench NAME` can measure", list_benches},
	{"variants", "the ways of doing it, for --variant", list_variants},
	{"ceilings", "the rows of ceilings.csv, for `gpuceil get`", list_ceilings},
	{"dtypes", "element types, for --dtype", list_dtypes},
	{"columns", "of the CSV files, with units and meaning", list_columns},
	{"devices", "GPUs and CPUs here, or why there are none", ceil_list_devices},
	{"peaks", "theoretical and published peaks, of the devices here and of all known parts",
         ceil_list_peaks},
};

static enum ceil_status unknown_kind(const char *name, struct ceil_error *err)
{
	const char *names[COUNT(kinds) + 1] = {NULL};
	const char *near;

	for (size_t i = 0; i < COUNT(kinds); i++)
		names[i] = kinds[i].name;
	near = ceil_suggest(name, names);
	return ceil_fail(err, CEIL_E_USAGE, "list: nothing is called '%.64s'%s%s%s", name,
	                 near ? ": did you mean '" : "; `gpuceil list` shows what there is",
	                 near ? near : "", near ? "'?" : "");
}

static void print_kinds(void)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		printf("gpuceil list %-9s %s\n", kinds[i].name, kinds[i].doc);
}

static enum ceil_status list_one(const char *name, struct ceil_error *err)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].list(err);
	}
	return unknown_kind(name, err);
}

static int run_list(int argc, char **argv)
{
	struct ceil_error err = {CEIL_OK, ""};
	char none; /* there are no options to read */
	int exit_status;
	int count = 0;

	if (!ceil_cli_parse(&ceil_command_list, argc, argv, &none, &count, &exit_status))
		return exit_status;
	if (count == 0)
		print_kinds();
	for (int i = 1; i <= count; i++) {
		if (list_one(argv[i], &err) != CEIL_OK)
			return ceil_cli_error(&err);
		if (i < count)
			putchar('\n');
	}
	return CEIL_EXIT_OK;
}

const struct ceil_command ceil_command_list = {
	.name = "list",
	.arguments = "[benches|variants|ceilings|dtypes|columns|devices|peaks]...",
	.summary = "shows what there is: benches, variants, columns, devices, peaks",
	.doc = "Aligned plain text without colours, one thing a line, for people and for pipes. "
	       "Nothing is measured, and no GPU gets a context.",
	.examples = "gpuceil list devices\twhat would be measured here\n"
		    "gpuceil list columns | grep clock\twhat a column means\n"
		    "gpuceil list peaks\twhich peaks the ratios are taken of\n",
	.run = run_list,
};
