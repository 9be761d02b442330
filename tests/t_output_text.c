/* The table of a run against golden files; numbers, wrapping and grids. */
#include "harness/output/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/output/grid.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#define ABSENT ((double)NAN)

/* One line of the recorded run; what is left out is absent. */
struct given {
	const char *device, *ceiling, *unit, *limited_by, *status, *reason;
	double value, theoretical, clock_mhz;
};

/* An H200 as it was measured, its host beside it; the rows that are not ok are made up. */
static const struct given h200_run[] = {
	{"gpu0", "dram.read", "GB/s", "memory", "ok", "", 4697.31, 4814.304, 1965},
	{"gpu0", "dram.copy", "GB/s", "memory", "ok", "", 4368.2, 4814.304, 1905},
	{"gpu0", "dram.triad", "GB/s", "memory", "unstable",
         "samples spread over 1.7 %, more than the 1 % of this row", 4413.7, 4814.304, 1912},
	{"gpu0", "gemm.bf16.burst", "TFLOP/s", "issue", "ok", "", 834.8, 1070.53, 1590},
	{"gpu0", "gemm.bf16.sustained", "TFLOP/s", "power", "throttled",
         "the clocks were held down by sw_power_cap+sw_thermal, which on this card has been seen "
         "when the air that reaches it is warmer than the datasheet allows",
         674.2, 1070.53, 1273},
	{"gpu0", "gemm.tf32.burst", "TFLOP/s", "", "skipped", "left out to fit the budget", ABSENT,
         ABSENT, ABSENT},
	{"gpu0", "gemm.fp32.burst", "TFLOP/s", "", "skipped", "left out to fit the budget", ABSENT,
         ABSENT, ABSENT},
	{"gpu0", "gemm.fp64.burst", "TFLOP/s", "", "failed",
         "C(17, 4): expected 12, found 13 in 3 of 67108864 elements", ABSENT, ABSENT, ABSENT},
	{"cpu", "host.dram.copy", "GB/s", "host", "ok", "", 212.4, ABSENT, ABSENT},
	{"cpu", "host.dram.triad", "GB/s", "host", "ok", "", 198.75, ABSENT, ABSENT},
	{"cpu", "host.gemm.fp32", "TFLOP/s", "host", "unstable", "samples spread", 3.071, ABSENT,
         ABSENT},
	{"cpu", "host.gemm.fp64", "TFLOP/s", "", "unsupported", "no CBLAS", ABSENT, ABSENT, ABSENT},
	{"cpu.node0", "host.dram.copy", "GB/s", "host", "ok", "", 106.2, ABSENT, ABSENT},
};

/* A laptop: no GPU at all. */
static const struct given laptop_run[] = {
	{"gpu", "dram.read", "GB/s", "", "unsupported", "no NVIDIA device in PCI", ABSENT, ABSENT,
         ABSENT},
	{"gpu", "dram.write", "GB/s", "", "unsupported", "no NVIDIA device in PCI", ABSENT, ABSENT,
         ABSENT},
	{"gpu", "dram.copy", "GB/s", "", "unsupported", "no NVIDIA device in PCI", ABSENT, ABSENT,
         ABSENT},
	{"gpu", "gemm.bf16.burst", "TFLOP/s", "", "unsupported", "no NVIDIA device in PCI", ABSENT,
         ABSENT, ABSENT},
	{"cpu", "host.dram.copy", "GB/s", "host", "ok", "", 21.43, ABSENT, ABSENT},
	{"cpu", "host.gemm.fp32", "TFLOP/s", "host", "ok", "", 0.0871, 0.1024, ABSENT},
};

static struct ceil_record record(const struct given *g)
{
	struct ceil_record r;

	ceil_table_clear(&ceil_table_records, &r);
	ceil_copy(r.device, sizeof(r.device), g->device);
	ceil_copy(r.ceiling, sizeof(r.ceiling), g->ceiling);
	ceil_copy(r.unit, sizeof(r.unit), g->unit);
	ceil_copy(r.limited_by, sizeof(r.limited_by), g->limited_by);
	ceil_copy(r.status, sizeof(r.status), g->status);
	ceil_copy(r.reason, sizeof(r.reason), g->reason);
	r.value = g->value;
	r.theoretical = g->theoretical;
	r.of_theoretical = g->value / g->theoretical;
	r.clock_mhz = g->clock_mhz;
	if (strcmp(g->device, "gpu0") == 0) {
		ceil_copy(r.gpu_name, sizeof(r.gpu_name), "NVIDIA H200");
		ceil_copy(r.driver, sizeof(r.driver), "580.159.04");
		r.theoretical_clock_mhz = strncmp(g->ceiling, "dram", 4) ? 1980 : ABSENT;
	} else if (strcmp(g->device, "gpu") != 0) {
		ceil_copy(r.gpu_name, sizeof(r.gpu_name), "AMD EPYC 9654 96-Core Processor");
		ceil_copy(r.driver, sizeof(r.driver), "6.1.0");
	}
	return r;
}

/* What is printed; valid until the next call. */
static const char *printed(const struct given *g, size_t count, bool fold, bool colour, int columns)
{
	static char *text;
	static size_t size;
	const struct ceil_text_style style = {.colour = colour, .columns = columns};
	struct ceil_record *r = calloc(count, sizeof(*r));
	FILE *f;

	free(text);
	text = NULL;
	f = open_memstream(&text, &size);
	if (!r || !f)
		exit(1);
	for (size_t i = 0; i < count; i++)
		r[i] = record(&g[i]);
	ceil_text_ceilings(f, &style, r, count, fold);
	fclose(f);
	free(r);
	return text;
}

static int widest(const char *text)
{
	size_t most = 0;

	while (*text) {
		const size_t n = strcspn(text, "\n");

		most = n > most ? n : most;
		text += n + (text[n] == '\n');
	}
	return (int)most;
}

static void golden(const char *text, const char *path)
{
	const char *want = scratch_read(path);

	if (ok(want && strcmp(text, want) == 0, "%s", path))
		return;
	printf("# got:\n%s", text);
}

static void test_tables(void)
{
	const size_t h200 = sizeof(h200_run) / sizeof(h200_run[0]);
	const size_t laptop = sizeof(laptop_run) / sizeof(laptop_run[0]);
	const char *text = printed(h200_run, h200, /* fold= */ true, /* colour= */ false, 100);

	golden(text, "tests/golden/table_h200.txt");
	ok(widest(text) <= 100, "at most 100 columns: %d", widest(text));
	ok(!strstr(text, " \n"), "no line ends in a blank");
	text = printed(h200_run, h200, false, false, 72);
	golden(text, "tests/golden/table_h200_narrow.txt");
	ok(widest(text) <= 72, "at most 72 columns: %d", widest(text));
	golden(printed(laptop_run, laptop, false, false, 100), "tests/golden/table_no_gpu.txt");
	is_text(printed(NULL, 0, false, false, 100), "", "no rows, no table");
}

/* What pinning would give stands under a pageable row; what is no better is left out. */
static void test_versus(void)
{
	static const struct given row = {"gpu0", "h2d.pageable", "GB/s", "host", "ok",
	                                 "",     16.5,           57.61,  ABSENT};
	const struct ceil_text_style style = {.columns = 100};
	struct ceil_record r = record(&row);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		exit(1);
	ceil_copy(r.versus, sizeof(r.versus), "h2d.pinned");
	r.versus_value = 55.1;
	ceil_text_ceilings(f, &style, &r, 1, false);
	fflush(f);
	has_text(text, "\n      h2d.pinned gives 55.10 GB/s, 3.3 times as much\n",
	         "what pinning gives");
	rewind(f);
	r.versus_value = 16.6;
	ceil_text_ceilings(f, &style, &r, 1, false);
	fclose(f);
	ok(!strstr(text, "16.60"), "no line for what is as good");
	free(text);
}

/* Machines that measured together may each have a gpu0. */
static void test_machines(void)
{
	static const struct given row = {"gpu0", "dram.copy", "GB/s", "memory", "ok",
	                                 "",     4368.2,      4814.3, 1905};
	const struct ceil_text_style style = {.columns = 100};
	struct ceil_record r[2] = {record(&row), record(&row)};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		exit(1);
	ceil_copy(r[0].host, sizeof(r[0].host), "node7");
	ceil_copy(r[1].host, sizeof(r[1].host), "node8");
	r[1].value = 4301.5;
	ceil_text_ceilings(f, &style, r, 2, false);
	fclose(f);
	has_text(text, "gpu0  NVIDIA H200 on node7", "each machine has a part");
	has_text(text, "gpu0  NVIDIA H200 on node8", "of its own");
	has_text(text, "4302", "with its own rows");
	free(text);
}

static void test_colour(void)
{
	const char *text = printed(h200_run, 4, false, true, 100);

	has_text(text, "\033[32mok\033[0m\n", "ok is green");
	has_text(text, "\033[33munstable\033[0m\n", "unstable is yellow");
	text = printed(h200_run, 5, false, true, 100);
	has_text(text, "\033[31mthrottled\033[0m\n", "throttled is red");
	has_text(text, "power       \033", "colours do not move columns");
	text = printed(&h200_run[7], 1, false, true, 100);
	has_text(text, ": \033[31mfailed\033[0m: C(17, 4)", "so is failed");
}

static void test_numbers(void)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{4697.31, "4697"},    {835.24, "835.2"},  {51.482, "51.48"}, {3.0714, "3.071"},
		{0.78512, "0.785"},   {0.0842, "0.0842"}, {1, "1.000"},      {0, "0"},
		{999.96, "1000"},     {99.996, "100.0"},  {9.9996, "10.00"}, {0.99996, "1.000"},
		{2003421, "2003421"}, {(double)NAN, ""},
	};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ceil_text_number(text, sizeof(text), cases[i].value);
		is_text(text, cases[i].text, "a number");
	}
}

static void test_style(void)
{
	struct ceil_text_style style;
	FILE *f = fopen(scratch_text("plain", ""), "r");

	ceil_text_style_of(f, &style);
	ok(!style.colour && style.columns == 112,
	   "a file has no colours, and room for every column");
	fclose(f);
}

static void wrapped(const char *text, int start, int indent, int limit, const char *want)
{
	char *got = NULL;
	size_t size;
	FILE *f = open_memstream(&got, &size);

	ceil_print_wrapped(f, text, start, indent, limit);
	fclose(f);
	is_text(got, want, "wrapped text");
	free(got);
}

static void test_wrapping(void)
{
	wrapped("aa bb cc", 0, 2, 5, "aa bb\n  cc");
	wrapped("aa bb cc", 1, 2, 5, "aa\n  bb\n  cc");
	wrapped("a-word-too-long b", 0, 1, 5, "a-word-too-long\n b");
	wrapped("two  blanks", 0, 0, 80, "two blanks");
	wrapped("\xc2\xb5s \xc2\xb5s", 0, 0, 5, "\xc2\xb5s \xc2\xb5s");
	wrapped("", 0, 0, 5, "");
}

static void number_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const char *const *cells = user;

	ceil_copy(ret_text, size, cells[row * 3 + column]);
}

static void test_grid(void)
{
	static const struct ceil_grid_column titles[] = {
		{"name", false, 0}, {"n", true, 2}, {"empty", false, 1}};
	static const char *const cells[] = {"a", "1", "", "longer", "23", ""};
	struct ceil_grid g = {.columns = titles,
	                      .column_count = 3,
	                      .row_count = 2,
	                      .cell = number_cell,
	                      .user = cells,
	                      .indent = 1};
	char *got = NULL;
	size_t size;
	FILE *f = open_memstream(&got, &size);

	ceil_grid_print(f, &g);
	g.limit = 8;
	ceil_grid_print(f, &g);
	fclose(f);
	is_text(got, " name     n\n a        1\n longer  23\n name\n a\n longer\n",
	        "aligned; an empty column goes, and then what may be sacrificed");
	free(got);
}

int main(void)
{
	test_tables();
	test_versus();
	test_machines();
	test_colour();
	test_numbers();
	test_style();
	test_wrapping();
	test_grid();
	return done_testing();
}
