/* gpuceil man: the manual page, from the tables of commands, options and files. */
#include "harness/base/version.h"
#include "harness/cli/commands.h"
#include "harness/cli/csv_tables.h"

#include <stdio.h>
#include <string.h>

/* What the environment decides; run.json records what was set. */
static const struct variable {
	const char *name, *doc;
} variables[] = {
	{"CUDA_VISIBLE_DEVICES", "Hides GPUs, as in every CUDA program."},
	{"GPUCEIL_LIB_CBLAS", "Path of the CBLAS to load: OpenBLAS, BLIS or MKL."},
	{"GPUCEIL_LIB_CUBLAS", "Path of libcublas, for grouped products."},
	{"GPUCEIL_LIB_CUBLASLT", "Path of libcublasLt."},
	{"GPUCEIL_LIB_CUDA",
         "Path of libcuda, for PM sampling; rows are measured with the driver's."},
	{"GPUCEIL_LIB_CUPTI", "Path of libcupti, for PM sampling."},
	{"GPUCEIL_LIB_MPI", "Path of gpuceil-mpi.so; else the one beside the program."},
	{"GPUCEIL_LIB_NCCL", "Path of libnccl."},
	{"GPUCEIL_LIB_NVML", "Path of libnvidia-ml."},
	{"NO_COLOR", "Set to anything: no colours."},
};

/* ---- roff */

/* Text on a line of its own: nothing in it is an order to roff, and a minus stays one. */
static void put_text(const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			printf("\\&");
		if (*text == '\\')
			printf("\\e");
		else if (*text == '-')
			printf("\\-");
		else if (*text == '\'')
			printf("\\(aq");
		else if (*text == '`')
			printf("\\(ga");
		else
			putchar(*text);
		line_start = *text == '\n';
	}
}

static void put_line(const char *text)
{
	put_text(text);
	putchar('\n');
}

static void put_paragraphs(const char *text)
{
	printf(".PP\n");
	for (; *text; text++) {
		const size_t length = strcspn(text, "\n");
		char line[512];

		(void)snprintf(line, sizeof(line), "%.*s", (int)length, text);
		if (length)
			put_line(line);
		else
			printf(".PP\n");
		text += length;
		if (!*text)
			return;
	}
}

static void put_bold(const char *text)
{
	printf("\\fB");
	put_text(text);
	printf("\\fR");
}

/* ---- options */

static void put_option(const struct ceil_option *o)
{
	printf(".TP\n");
	if (o->letter)
		printf("\\fB\\-%c\\fR, ", o->letter);
	printf("\\fB\\-\\-");
	put_text(o->name);
	printf("\\fR");
	if (o->argument) {
		printf(" \\fI");
		put_text(o->argument);
		printf("\\fR");
	}
	putchar('\n');
	put_line(o->doc);
	for (size_t i = 0; o->type == CEIL_O_CHOICE && o->choices[i]; i++) {
		printf(i == 0 ? "(" : ", ");
		put_text(o->choices[i]);
		printf(o->choices[i + 1] ? "" : ")\n");
	}
}

static bool same_group(const struct ceil_option *a, const struct ceil_option *b)
{
	return a->group && b->group ? strcmp(a->group, b->group) == 0 : a->group == b->group;
}

static bool group_seen(const struct ceil_command *c, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (same_group(&c->options[i], &c->options[row]))
			return true;
	}
	return false;
}

static void put_options(const struct ceil_command *c)
{
	for (size_t i = 0; i < c->option_count; i++) {
		if (group_seen(c, i))
			continue;
		printf(".PP\n");
		put_bold(c->options[i].group ? c->options[i].group : "Options");
		putchar('\n');
		for (size_t k = i; k < c->option_count; k++) {
			if (same_group(&c->options[i], &c->options[k]))
				put_option(&c->options[k]);
		}
	}
	printf(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshows the page of this command\n");
}

/* Lines "command\twhat it does\n". */
static void put_examples(const char *examples)
{
	printf(".PP\n\\fBExamples\\fR\n");
	while (*examples) {
		const size_t line = strcspn(examples, "\n"), command = strcspn(examples, "\t\n");
		char text[512];

		(void)snprintf(text, sizeof(text), "%.*s", (int)command, examples);
		printf(".TP\n");
		put_bold(text);
		putchar('\n');
		(void)snprintf(text, sizeof(text), "%.*s",
		               command < line ? (int)(line - command - 1) : 0,
		               examples + command + 1);
		put_line(text);
		examples += line + (examples[line] == '\n');
	}
}

static void put_command(const struct ceil_command *c)
{
	printf(".SS gpuceil ");
	put_text(c->name);
	printf("%s%s", c->option_count ? " [OPTION...]" : "",
	       c->arguments && *c->arguments ? " " : "");
	put_line(c->arguments ? c->arguments : "");
	put_line(c->summary);
	if (c->doc && *c->doc)
		put_paragraphs(c->doc);
	put_options(c);
	if (c->examples && *c->examples)
		put_examples(c->examples);
}

/* ---- the page */

static void put_files(void)
{
	struct ceil_csv_tables tables;

	ceil_csv_tables_init(&tables);
	printf(".SH FILES\nA run is a folder;\n\\fBgpuceil list columns\\fR\nexplains every "
	       "column.\n");
	for (size_t i = 0; tables.of[i]; i++) {
		const struct ceil_table *t = tables.of[i];

		printf(".TP\n");
		put_bold(t->name);
		putchar('\n');
		put_line(t->doc);
	}
	printf(".TP\n\\fBrun.json\\fR\nall that is needed to repeat the run: versions, command, "
	       "devices, limits, health\n");
}

static void put_environment(void)
{
	printf(".SH ENVIRONMENT\n");
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		printf(".TP\n");
		put_bold(variables[i].name);
		putchar('\n');
		put_line(variables[i].doc);
	}
}

static void put_page(void)
{
	printf(".\\\" Made by `gpuceil man` from the tables of its commands.\n"
	       ".TH GPUCEIL 1 \"\" \"gpuceil %s\" \"User Commands\"\n"
	       ".nh\n"
	       ".ad l\n"
	       ".SH NAME\n"
	       "gpuceil \\- calibrates what a GPU node can really do\n"
	       ".SH SYNOPSIS\n"
	       "\\fBgpuceil\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
	       ".br\n"
	       "\\fBgpuceil\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR\n"
	       ".SH DESCRIPTION\n"
	       "Measures achieved FLOP/s, GB/s and microseconds beside the theoretical peak, with "
	       "the\nclock that was held and what limits each figure. On a new node:\n"
	       "\\fBgpuceil doctor\\fR,\nthen\n\\fBgpuceil bench\\fR.\n"
	       ".SH COMMANDS\n",
	       ceil_version());
	for (size_t i = 0; ceil_commands[i]; i++)
		put_command(ceil_commands[i]);
	put_files();
	put_environment();
	printf(".SH EXIT STATUS\n"
	       ".TP\n\\fB0\\fR\nall is well, or cannot be had here\n"
	       ".TP\n\\fB1\\fR\na result failed, is suspect or was throttled; something is broken\n"
	       ".TP\n\\fB2\\fR\nusage or set\\-up\n"
	       ".TP\n\\fB128 + signal\\fR\nstopped by a signal; what was measured is kept\n"
	       ".SH SEE ALSO\n"
	       "\\fBnvidia\\-smi\\fR(1)\n");
}

/* ---- the command */

static int run_man(int argc, char **argv);

const struct ceil_command ceil_command_man = {
	.name = "man",
	.arguments = "",
	.summary = "prints the manual page",
	.doc = "In roff, for man(1); `make install` puts it where man looks.",
	.examples = "gpuceil man | man -l -\tread it without installing anything\n",
	.run = run_man,
};

static int run_man(int argc, char **argv)
{
	struct ceil_error err = {CEIL_OK, ""};
	int named = 0, status;

	if (!ceil_cli_parse(&ceil_command_man, argc, argv, /* values= */ NULL, &named, &status))
		return status;
	if (named > 0)
		(void)ceil_fail(&err, CEIL_E_USAGE, "gpuceil man takes no argument: '%s'", argv[1]);
	else
		put_page();
	return ceil_cli_flush(&err) == CEIL_OK ? CEIL_EXIT_OK : ceil_cli_error(&err);
}
