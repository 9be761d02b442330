/* Options: every type, every mistake in words, and the help page from the same rows. */
#include "harness/base/option.h"
#include "harness/base/text.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct options {
	bool quick;
	const char *output;
	uint64_t seed, budget_ns;
	double limit;
	struct ceil_list dtypes;
	unsigned busy;
};

static const char *const busy_choices[] = {"skip", "run", "fail", NULL};
static const struct ceil_option rows[] = {
	{.name = "dtype",
         .letter = 't',
         .type = CEIL_O_LIST,
         .argument = "LIST",
         .doc = "Measure only these element types, separated by commas: fp64, fp32, tf32, bf16, "
                "fp16, "
                "e4m3, e5m2, e2m1, int8.",
         .offset = offsetof(struct options, dtypes),
         .group = "What to measure"},
	{.name = "output",
         .letter = 'o',
         .type = CEIL_O_TEXT,
         .argument = "DIR|-",
         .doc = "Write the files of the run here; - prints JSON lines.",
         .offset = offsetof(struct options, output),
         .group = "Where it goes"},
	{.name = "quick",
         .type = CEIL_O_FLAG,
         .doc = "Take one minute, not four.",
         .offset = offsetof(struct options, quick),
         .group = "What to measure"},
	{.name = "budget",
         .type = CEIL_O_DURATION,
         .argument = "TIME",
         .doc = "Take at most this long, e.g. 90s or 2m.",
         .offset = offsetof(struct options, budget_ns)},
	{.name = "seed",
         .type = CEIL_O_U64,
         .argument = "N",
         .doc = "Of the data. H\xc3\xb6here Zahlen sind nicht besser: "
                "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
                " takes as many columns as it has characters.",
         .offset = offsetof(struct options, seed)},
	{.name = "limit",
         .type = CEIL_O_DOUBLE,
         .argument = "RATIO",
         .doc = "A number.\nA line of its own.",
         .offset = offsetof(struct options, limit)},
	{.name = "busy",
         .type = CEIL_O_CHOICE,
         .argument = "WHAT-TO-DO-WITH-IT",
         .doc = "What to do with a GPU on which someone works",
         .offset = offsetof(struct options, busy),
         .choices = busy_choices},
};
static const struct ceil_command command = {
	.name = "bench",
	.arguments = "[NAME...]",
	.summary = "Measure the ceilings of this node.",
	.doc = "Without names all benches run. The rows are written as they come, so that Ctrl-C "
	       "keeps "
	       "what was measured.\n\nA GPU on which someone else works is skipped.",
	.options = rows,
	.option_count = sizeof(rows) / sizeof(rows[0]),
	.examples = "gpuceil bench --quick\tone minute\ngpuceil bench dram --dtype fp32\n",
};

enum { MOST = 16 };
static struct options values;
static struct ceil_error err;
static char *argv[MOST + 1];
static int argc;
static bool help;

/* Parses words that blanks separate; "''" is an empty one. */
static enum ceil_status parse(const char *line)
{
	static char words[256];
	char *save = NULL;
	int left = -1;
	enum ceil_status status;

	ceil_copy(words, sizeof(words), line);
	values = (struct options){0};
	err = (struct ceil_error){0};
	argc = 0;
	argv[argc++] = words + sizeof(words) - 1;
	for (char *w = strtok_r(words, " ", &save); w && argc < MOST;
	     w = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(w, "''") == 0 ? words + sizeof(words) - 1 : w;
	argv[argc] = NULL;
	status = ceil_option_parse(&command, argc, argv, &values, &left, &help, &err);
	argc = left;
	return status;
}

static void every_type_is_read(void)
{
	is_int(parse("--quick -o dir --seed 7 --limit=0.5 --budget 2m --busy run --dtype bf16"),
	       CEIL_OK, "all at once");
	ok(values.quick, "a flag");
	is_text(values.output, "dir", "text by its letter");
	is_u64(values.seed, 7, "a whole number");
	is_close(values.limit, 0.5, 0, "a number behind =");
	is_u64(values.budget_ns, 120000000000u, "a duration");
	is_u64(values.busy, 1, "a choice");
	ok(values.dtypes.count == 1 && ceil_list_has(&values.dtypes, "bf16"), "a list");
	is_int(argc, 0, "nothing is left");
	ok(!help, "nobody asked for help");
}

static void repeats_and_positions(void)
{
	is_int(parse("dram --seed 1 gemm --seed 2 -t a,b --dtype=c peer"), CEIL_OK, "mixed");
	is_u64(values.seed, 2, "the last one counts");
	is_u64(values.dtypes.count, 3, "lists append");
	ok(argc == 3 && !strcmp(argv[1], "dram") && !strcmp(argv[2], "gemm") &&
	           !strcmp(argv[3], "peer"),
	   "names move to the front in their order");
	is_int(parse("--quick -- --seed -o"), CEIL_OK, "behind -- there are no options");
	ok(argc == 2 && !strcmp(argv[1], "--seed") && !strcmp(argv[2], "-o"), "but names");
	is_int(parse("--output - -"), CEIL_OK, "a dash");
	ok(!strcmp(values.output, "-") && argc == 1 && !strcmp(argv[1], "-"),
	   "is a value and a name");
	is_int(parse("--output=a=b"), CEIL_OK, "the first = counts");
	is_text(values.output, "a=b", "the second is text");
	is_int(parse("-o --strange"), CEIL_OK, "text may look like an option that is none");
	is_int(parse(""), CEIL_OK, "nothing");
	is_int(argc, 0, "is nothing");
}

static void help_beats_everything(void)
{
	ok(parse("--nonsense --seed x -h") == CEIL_OK && help, "-h among errors");
	ok(parse("dram --help") == CEIL_OK && help, "--help");
	ok(parse("-- --help") == CEIL_OK && !help && argc == 1, "but not behind --");
}

static void every_mistake_has_its_words(void)
{
	static const struct {
		const char *line, *words;
	} bad[] = {
		{"--dtpye bf16", "unknown option --dtpye: did you mean --dtype?"},
		{"--dtpye=bf16", "unknown option --dtpye=bf16: did you mean --dtype?"},
		{"-quick", "unknown option -quick: did you mean --quick?"},
		{"--hlep", "did you mean --help?"},
		{"--zebra", "unknown option --zebra: --help lists all"},
		{"-x", "unknown option -x: --help lists all"},
		{"--=3", "unknown option --=3"},
		{"---", "unknown option ---"},
		{"--quick=yes", "--quick takes no value"},
		{"--output", "--output DIR|-: the value is missing"},
		{"-o", "--output DIR|-: the value is missing"},
		{"--output --quick", "--output DIR|-: the value is missing"},
		{"--output --", "--output DIR|-: the value is missing"},
		{"--output ''", "--output DIR|-: the value is missing"},
		{"--output=", "--output DIR|-: the value is missing"},
		{"--seed -5", "--seed N: \"-5\" is not a whole number"},
		{"--seed 1e3", "--seed N: \"1e3\" is not a whole number"},
		{"--limit 1,5", "--limit RATIO: \"1,5\" is not a number"},
		{"--budget 0", "--budget TIME: 0 is too short: it must be more than 0"},
		{"--budget soon", "--budget TIME: \"soon\" is not a duration such as"},
		{"--budget 8e9", "--budget TIME: 8e9 is too long, at most 7 days"},
		{"--dtype a,,b", "--dtype LIST: an item of the list is empty: 'a,,b'"},
		{"--busy skpi", "\"skpi\" is none of skip, run, fail; did you mean skip?"},
		{"--busy 1", "\"1\" is none of skip, run, fail"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is_int(parse(bad[i].line), CEIL_E_USAGE, bad[i].line);
		has_text(err.text, bad[i].words, "is told");
	}
}

static void no_line_is_too_wide(const char *page)
{
	size_t widest = 0, columns = 0;

	for (; *page; page++) {
		columns = *page == '\n' ? 0 : columns + (((unsigned char)*page & 0xc0) != 0x80);
		widest = columns > widest ? columns : widest;
	}
	ok(widest <= 100 && widest > 90, "the widest line has %zu columns", widest);
}

static void help_comes_from_the_rows(void)
{
	FILE *f = fopen(scratch_path("help"), "w");
	char *page;

	if (!ok(f != NULL, "a help page"))
		return;
	ceil_option_help(&command, f);
	(void)fclose(f);
	page = strdup(scratch_read(scratch_path("help")));
	is_text(page, scratch_read("tests/golden/option_help.txt"), "tests/golden/option_help.txt");
	no_line_is_too_wide(page);
	for (size_t i = 0; i < command.option_count; i++)
		has_text(page, rows[i].name, "every option is there");
	free(page);
}

static void a_bare_command_has_help_too(void)
{
	const struct ceil_command bare = {.name = "", .summary = "Does little."};
	FILE *f = fopen(scratch_path("bare"), "w");

	if (!ok(f != NULL, "a help page"))
		return;
	ceil_option_help(&bare, f);
	(void)fclose(f);
	is_text(scratch_read(scratch_path("bare")),
	        "Usage: gpuceil [OPTION...]\n\nDoes little.\n\nOptions:\n  -h, --help  shows this "
	        "page\n",
	        "of a command without anything");
}

int main(void)
{
	every_type_is_read();
	repeats_and_positions();
	help_beats_everything();
	every_mistake_has_its_words();
	help_comes_from_the_rows();
	a_bare_command_has_help_too();
	return done_testing();
}
