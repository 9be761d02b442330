/* gpuceil completion: scripts for bash and zsh, from the tables of commands, options and names. */
#include "harness/analysis/model.h"
#include "harness/analysis/record.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/measure/plan.h"
#include "harness/measure/scenario.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- words that an argument may be */

/* Words with a blank before each; a list that is too long for it loses its end. */
struct words {
	char text[16384];
};

static void say(struct words *w, const char *word)
{
	ceil_append(w->text, sizeof(w->text), " %s", word);
}

static void bench_words(struct words *w)
{
	for (size_t i = 0; ceil_benches[i]; i++)
		say(w, ceil_benches[i]->name);
}

static void dtype_words(struct words *w)
{
	for (int t = CEIL_NODTYPE + 1; t < CEIL_DTYPE_COUNT; t++)
		say(w, ceil_dtype_info((enum ceil_dtype)t)->name);
}

static void pattern_words(struct words *w)
{
	for (int p = 0; p < CEIL_PATTERN_COUNT; p++) {
		const char *name = ceil_pattern_name((enum ceil_pattern)p);

		if (*name)
			say(w, name);
	}
}

static void column_words(struct words *w)
{
	for (size_t i = 0; i < ceil_table_ceilings.field_count; i++)
		say(w, ceil_table_ceilings.fields[i].name);
}

static void model_words(struct words *w)
{
	say(w, "list");
	for (size_t i = 0; i < ceil_model_count; i++)
		say(w, ceil_models[i].name);
}

static void scenario_words(struct words *w)
{
	for (size_t i = 0; i < ceil_scenario_count; i++)
		say(w, ceil_scenarios[i].name);
}

static void variant_words(struct words *w)
{
	for (size_t i = 0; ceil_benches[i]; i++) {
		for (size_t k = 0; k < ceil_benches[i]->variant_count; k++)
			say(w, ceil_benches[i]->variants[k].name);
	}
}

/* Whether a variant before this one is of the same ceiling. */
static bool seen_before(size_t bench, size_t variant)
{
	const char *ceiling = ceil_benches[bench]->variants[variant].ceiling;

	for (size_t i = 0; i <= bench; i++) {
		const size_t end = i == bench ? variant : ceil_benches[i]->variant_count;

		for (size_t k = 0; k < end; k++) {
			if (strcmp(ceil_benches[i]->variants[k].ceiling, ceiling) == 0)
				return true;
		}
	}
	return false;
}

static void say_ceiling(struct words *w, const struct ceil_variant *v, enum ceil_regime regime)
{
	const struct ceil_point p = {.variant = v, .regime = regime};
	char name[64];

	ceil_point_ceiling(&p, name, sizeof(name));
	say(w, name);
}

static void ceiling_words(struct words *w)
{
	for (size_t i = 0; ceil_benches[i]; i++) {
		for (size_t k = 0; k < ceil_benches[i]->variant_count; k++) {
			const struct ceil_variant *v = &ceil_benches[i]->variants[k];

			if (seen_before(i, k))
				continue;
			say_ceiling(w, v, v->burst_finalists ? CEIL_BURST : CEIL_NOREGIME);
			if (v->sustained_finalists)
				say_ceiling(w, v, CEIL_SUSTAINED);
		}
	}
}

/* What is no choice of its table; a NULL option is the command's own arguments. */
static const struct word_source {
	const char *command, *option;
	void (*words)(struct words *w);
} word_sources[] = {
	{"bench", NULL, bench_words},        {"bench", "dtype", dtype_words},
	{"bench", "pattern", pattern_words}, {"bench", "variant", variant_words},
	{"demo", "explain", scenario_words}, {"demo", "scenario", scenario_words},
	{"get", NULL, ceiling_words},        {"get", "column", column_words},
	{"mfu", "dtype", dtype_words},       {"mfu", "model", model_words},
};

/* "[benches|variants]..." has its words between the bars. */
static void split_words(const char *arguments, struct words *w)
{
	char word[64];

	if (!strchr(arguments, '|'))
		return;
	while (*arguments) {
		const size_t length = strcspn(arguments, "[]|. ");

		ceil_copy(word, sizeof(word), "");
		ceil_append(word, sizeof(word), "%.*s", (int)length, arguments);
		if (length)
			say(w, word);
		arguments += length + (arguments[length] != '\0');
	}
}

/* @o: NULL for the command's own arguments. */
static void find_words(const struct ceil_command *c, const struct ceil_option *o,
                       struct words *ret_w)
{
	const char *option = o ? o->name : NULL;

	ceil_copy(ret_w->text, sizeof(ret_w->text), "");
	for (size_t i = 0; o && o->choices && o->choices[i]; i++)
		say(ret_w, o->choices[i]);
	for (size_t i = 0; i < sizeof(word_sources) / sizeof(word_sources[0]); i++) {
		const struct word_source *s = &word_sources[i];

		if (strcmp(s->command, c->name) == 0 && !s->option == !option &&
		    (!option || strcmp(s->option, option) == 0))
			s->words(ret_w);
	}
	if (!o && c->arguments)
		split_words(c->arguments, ret_w);
}

static bool is_path(const struct ceil_option *o)
{
	return o->argument && (strcmp(o->argument, "DIR") == 0 || strcmp(o->argument, "FILE") == 0);
}

/* ---- bash */

static void bash_values(const struct ceil_command *c)
{
	for (size_t i = 0; i < c->option_count; i++) {
		const struct ceil_option *o = &c->options[i];
		struct words w;

		if (o->type == CEIL_O_FLAG)
			continue;
		printf("\t\"%s --%s\") ", c->name, o->name);
		if (is_path(o)) {
			printf("compopt -o default; return ;;\n");
			continue;
		}
		find_words(c, o, &w);
		printf("words=\"%s\" ;;\n", w.text);
	}
}

static void bash_words(const struct ceil_command *c)
{
	struct words w;

	find_words(c, /* o= */ NULL, &w);
	printf("\t\t%s) words=\"", c->name);
	for (size_t i = 0; i < c->option_count; i++)
		printf(" --%s", c->options[i].name);
	printf(" --help%s\" ;;\n", w.text);
}

static void print_bash(void)
{
	printf("# Completion of gpuceil for bash; made by `gpuceil completion bash`.\n"
	       "_gpuceil()\n"
	       "{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	       "\n"
	       "\tCOMPREPLY=()\n"
	       "\t# Bash takes --option=value apart at the sign.\n"
	       "\tif [ \"$cur\" = = ]; then\n"
	       "\t\tcur=\n"
	       "\telif [ \"$prev\" = = ]; then\n"
	       "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	       "\tfi\n"
	       "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"");
	for (size_t i = 0; ceil_commands[i]; i++)
		printf("%s ", ceil_commands[i]->name);
	printf("--help --version\" -- \"$cur\"))\n"
	       "\t\treturn\n"
	       "\tfi\n"
	       "\tcase \"${COMP_WORDS[1]} $prev\" in\n");
	for (size_t i = 0; ceil_commands[i]; i++)
		bash_values(ceil_commands[i]);
	printf("\t*)\n"
	       "\t\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; ceil_commands[i]; i++)
		bash_words(ceil_commands[i]);
	printf("\t\tesac ;;\n"
	       "\tesac\n"
	       "\t# Of a list, the last item is completed.\n"
	       "\tcase $cur in\n"
	       "\t*,*) COMPREPLY=($(compgen -P \"${cur%%,*},\" -W \"$words\" -- \"${cur##*,}\")) "
	       ";;\n"
	       "\t*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	       "\tesac\n"
	       "}\n"
	       "complete -F _gpuceil gpuceil\n");
}

/* ---- zsh */

/* Text inside single quotes and brackets of a specification. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\''");
		else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
			printf("\\%c", *text);
		else
			putchar(*text == '\n' ? ' ' : *text);
	}
}

static void zsh_option(const struct ceil_command *c, const struct ceil_option *o)
{
	struct words w;

	printf("\t\t\t\t'%s--%s%s[", o->type == CEIL_O_LIST ? "*" : "", o->name,
	       o->type == CEIL_O_FLAG ? "" : "=");
	zsh_text(o->doc);
	printf("]");
	if (o->type == CEIL_O_FLAG) {
		printf("' \\\n");
		return;
	}
	printf(":%s:", o->argument ? o->argument : "value");
	if (is_path(o)) {
		printf("_files' \\\n");
		return;
	}
	find_words(c, o, &w);
	if (o->type == CEIL_O_LIST && *w.text)
		printf("_values -s , value%s' \\\n", w.text);
	else
		printf("(%s )' \\\n", w.text);
}

static void zsh_command(const struct ceil_command *c)
{
	struct words w;

	find_words(c, /* o= */ NULL, &w);
	printf("\t\t%s)\n"
	       "\t\t\t_arguments \\\n",
	       c->name);
	for (size_t i = 0; i < c->option_count; i++)
		zsh_option(c, &c->options[i]);
	printf("\t\t\t\t'(- *)'{-h,--help}'[show its page]' \\\n"
	       "\t\t\t\t'*:argument:(%s )' ;;\n",
	       w.text);
}

static void print_zsh(void)
{
	printf("#compdef gpuceil\n"
	       "# Completion of gpuceil for zsh; made by `gpuceil completion zsh`.\n"
	       "_gpuceil() {\n"
	       "\tlocal state line\n"
	       "\tlocal -a commands\n"
	       "\n"
	       "\tcommands=(\n");
	for (size_t i = 0; ceil_commands[i]; i++) {
		printf("\t\t'%s:", ceil_commands[i]->name);
		zsh_text(ceil_commands[i]->summary);
		printf("'\n");
	}
	printf("\t)\n"
	       "\t_arguments -C '(- *)--help[show all commands]' '(- *)--version[show the "
	       "version]' "
	       "\\\n"
	       "\t\t'1:command:->command' '*::argument:->argument'\n"
	       "\tcase $state in\n"
	       "\tcommand) _describe command commands ;;\n"
	       "\targument)\n"
	       "\t\tcase $words[1] in\n");
	for (size_t i = 0; ceil_commands[i]; i++)
		zsh_command(ceil_commands[i]);
	printf("\t\tesac ;;\n"
	       "\tesac\n"
	       "}\n"
	       "_gpuceil \"$@\"\n");
}

/* ---- the command */

static int run_completion(int argc, char **argv);

const struct ceil_command ceil_command_completion = {
	.name = "completion",
	.arguments = "bash|zsh",
	.summary = "prints the completion script of a shell",
	.doc = "The script knows every command, option and name of this build.",
	.examples = "source <(gpuceil completion bash)\tin ~/.bashrc\n"
		    "gpuceil completion zsh >~/.zfunc/_gpuceil\twith ~/.zfunc in fpath\n",
	.run = run_completion,
};

static int run_completion(int argc, char **argv)
{
	struct ceil_error err = {CEIL_OK, ""};
	int named = 0, status;

	if (!ceil_cli_parse(&ceil_command_completion, argc, argv, /* values= */ NULL, &named,
	                    &status))
		return status;
	if (named == 1 && strcmp(argv[1], "bash") == 0)
		print_bash();
	else if (named == 1 && strcmp(argv[1], "zsh") == 0)
		print_zsh();
	else
		(void)ceil_fail(&err, CEIL_E_USAGE, "of which shell: bash or zsh?");
	return ceil_cli_flush(&err) == CEIL_OK ? CEIL_EXIT_OK : ceil_cli_error(&err);
}
