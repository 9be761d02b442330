/* Any words as a command line: they are taken or refused in words, and nothing else happens. */
#include "harness/base/option.h"
#include "harness/base/text.h"
#include "tests/fuzz.h"
#include "tests/tap.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
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
	{.name = "quick",
         .letter = 'q',
         .type = CEIL_O_FLAG,
         .offset = offsetof(struct options, quick)},
	{.name = "output",
         .letter = 'o',
         .type = CEIL_O_TEXT,
         .argument = "DIR",
         .offset = offsetof(struct options, output)},
	{.name = "seed",
         .type = CEIL_O_U64,
         .argument = "N",
         .offset = offsetof(struct options, seed)},
	{.name = "budget",
         .type = CEIL_O_DURATION,
         .argument = "TIME",
         .offset = offsetof(struct options, budget_ns)},
	{.name = "limit",
         .type = CEIL_O_DOUBLE,
         .argument = "X",
         .offset = offsetof(struct options, limit)},
	{.name = "dtype",
         .type = CEIL_O_LIST,
         .argument = "LIST",
         .offset = offsetof(struct options, dtypes)},
	{.name = "busy",
         .type = CEIL_O_CHOICE,
         .argument = "WHAT",
         .offset = offsetof(struct options, busy),
         .choices = busy_choices},
};
static const struct ceil_command command = {
	.name = "fuzz",
	.summary = "-",
	.options = rows,
	.option_count = sizeof(rows) / sizeof(rows[0]),
};

enum { MOST = 64, BYTES = 4096 };
static unsigned accepted, refused, helped, broken;

static void expect(bool what)
{
	broken += !what;
#ifdef CEIL_LIBFUZZER
	if (!what)
		abort();
#endif
}

static bool values_are_sane(const struct options *v)
{
	return v->busy <= 2 && isfinite(v->limit) && v->budget_ns <= 604800000000000u &&
	       v->dtypes.count <= CEIL_LIST_MAX && (!v->output || v->output[0]);
}

/* Each positional argument is one of the words, and in their order. */
static bool in_order(char *const *argv, int count, const char *words, const char *end)
{
	for (int i = 1; i <= count; i++) {
		if (argv[i] < words || argv[i] > end)
			return false;
		words = argv[i] + 1;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char words[BYTES + 1], *argv[MOST + 2];
	struct options values = {0};
	struct ceil_error err = {0};
	bool help = false;
	int argc = 0, left = 0;
	enum ceil_status status;

	size = size < BYTES ? size : BYTES;
	memcpy(words, data, size);
	words[size] = '\0';
	argv[argc++] = words + size;
	/* A newline ends a word; a NUL in the data does too. */
	for (char *w = words; w <= words + size && argc <= MOST; w += strlen(w) + 1) {
		w[strcspn(w, "\n")] = '\0';
		argv[argc++] = w;
	}
	argv[argc] = NULL;
	status = ceil_option_parse(&command, argc, argv, &values, &left, &help, &err);
	accepted += status == CEIL_OK && !help;
	refused += status != CEIL_OK;
	helped += help;
	expect(status == CEIL_OK || (status == CEIL_E_USAGE && err.text[0] && !help));
	expect(values_are_sane(&values) && left >= 0 && left < argc);
	expect(status != CEIL_OK || in_order(argv, left, words, words + size));
	return 0;
}

#ifndef CEIL_LIBFUZZER
int main(void)
{
	static const char *const seeds[] = {
		"dram\n--quick\n-o\ndir\n--seed=7",
		"--budget\n2m\n--limit\n0.5\n--busy\nrun\ngemm",
		"--dtype=bf16,fp16\n--dtype\nint8\n--\n--seed",
		"",
		NULL,
	};
	static const char *const tokens[] = {
		"\n",           "=",      "-",        "--",        "--\n",     "\n--seed\n", "-h",
		"-q",           "--help", "--output", "--quick\n", "--dtype=", ",",          "1e",
		"999999999999", "-1",     "0x",       "nan",       "\xff",     "m",          NULL};
	const struct fuzz_corpus corpus = {seeds, tokens};

	fuzz_run(LLVMFuzzerTestOneInput, &corpus, 200000, 1);
	printf("# seed 1: %u taken, %u refused, %u asked for help\n", accepted, refused, helped);
	is_int(broken, 0, "every command line is taken or refused, and names stay in order");
	ok(accepted > 1000 && refused > 1000 && helped > 100, "there are many of each kind");
	return done_testing();
}
#endif
