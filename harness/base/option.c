/* Options and help from the same rows, so that neither can tell what the other does not know. */
#include "harness/base/option.h"

#include <string.h>

#include "harness/base/text.h"

enum { MAX_OPTIONS = 64, HELP_COLUMNS = 100, LEFT_MAX = 30 };

/* ---- Parsing */

/* One argument that is an option, taken apart. */
struct token {
	const struct ceil_option *option;
	const char *value; /* behind '=', or NULL */
};

/* "--dtype LIST", as messages name it. */
static void title_of(const struct ceil_option *o, char *ret_text, size_t size)
{
	ret_text[0] = '\0';
	ceil_append(ret_text, size, "--%s%s%s", o->name, o->argument ? " " : "",
	            o->argument ? o->argument : "");
}

static enum ceil_status fail_unknown(const struct ceil_command *c, const char *arg,
                                     struct ceil_error *err)
{
	const char *name = arg + strspn(arg, "-"), *names[MAX_OPTIONS + 2] = {0}, *nearest;
	char typed[64] = "";

	ceil_append(typed, sizeof(typed), "%.*s", (int)strcspn(name, "="), name);
	for (size_t i = 0; i < c->option_count && i < MAX_OPTIONS; i++)
		names[i] = c->options[i].name;
	names[c->option_count < MAX_OPTIONS ? c->option_count : MAX_OPTIONS] = "help";
	nearest = ceil_suggest(typed, names);
	if (nearest)
		return ceil_fail(err, CEIL_E_USAGE, "unknown option %.60s: did you mean --%s?", arg,
		                 nearest);
	return ceil_fail(err, CEIL_E_USAGE, "unknown option %.60s: --help lists all", arg);
}

static const struct ceil_option *find_letter(const struct ceil_command *c, char letter)
{
	for (size_t i = 0; i < c->option_count; i++)
		if (c->options[i].letter == letter)
			return &c->options[i];
	return NULL;
}

static const struct ceil_option *find_name(const struct ceil_command *c, const char *name,
                                           size_t length)
{
	for (size_t i = 0; i < c->option_count; i++)
		if (strlen(c->options[i].name) == length &&
		    memcmp(c->options[i].name, name, length) == 0)
			return &c->options[i];
	return NULL;
}

/* Takes "--name", "--name=value" or "-l" apart. */
static enum ceil_status scan(const struct ceil_command *c, const char *arg, struct token *ret_t,
                             struct ceil_error *err)
{
	struct token t = {0};

	if (arg[1] == '-') {
		const size_t length = strcspn(arg + 2, "=");

		t.option = find_name(c, arg + 2, length);
		t.value = arg[2 + length] ? arg + 3 + length : NULL;
	} else if (arg[2] == '\0') {
		t.option = find_letter(c, arg[1]);
	}
	if (!t.option)
		return fail_unknown(c, arg, err);
	*ret_t = t;
	return CEIL_OK;
}

static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1];
}

static enum ceil_status parse_choice(const struct ceil_option *o, const char *value, unsigned *to,
                                     struct ceil_error *err)
{
	const char *nearest;
	char all[120] = "";

	for (unsigned i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], value) == 0) {
			*to = i;
			return CEIL_OK;
		}
		ceil_append(all, sizeof(all), "%s%s", i ? ", " : "", o->choices[i]);
	}
	nearest = ceil_suggest(value, o->choices);
	return ceil_fail(err, CEIL_E_USAGE, "\"%.40s\" is none of %s%s%s%s", value, all,
	                 nearest ? "; did you mean " : "", nearest ? nearest : "",
	                 nearest ? "?" : "");
}

/* Reads the value of any type but a flag into its member. */
static enum ceil_status store(const struct ceil_option *o, const char *value, void *to,
                              struct ceil_error *err)
{
	switch (o->type) {
	case CEIL_O_FLAG:
		*(bool *)to = true;
		return CEIL_OK;
	case CEIL_O_TEXT:
		*(const char **)to = value;
		return CEIL_OK;
	case CEIL_O_U64:
		return ceil_parse_u64(value, to, err);
	case CEIL_O_DOUBLE:
		return ceil_parse_double(value, to, err);
	case CEIL_O_DURATION:
		return ceil_parse_duration_ns(value, to, err);
	case CEIL_O_LIST:
		return ceil_list_add(to, value, err);
	case CEIL_O_CHOICE:
		break;
	}
	return parse_choice(o, value, to, err);
}

/* The value of an option: behind '=', or the next argument. */
static enum ceil_status take_value(const struct ceil_command *c, struct token *t, char *const *next,
                                   int *ret_used, struct ceil_error *err)
{
	char title[64];
	const bool inside = t->value != NULL;

	title_of(t->option, title, sizeof(title));
	if (t->option->type == CEIL_O_FLAG && inside)
		return ceil_fail(err, CEIL_E_USAGE, "%s takes no value", title);
	if (t->option->type == CEIL_O_FLAG)
		return CEIL_OK;
	if (!inside)
		t->value = *next;
	/* "--output --quick" is a forgotten value, though "--seed -5" is only a wrong one. */
	if (!inside && t->value && strncmp(t->value, "--", 2) == 0 &&
	    (!t->value[2] || find_name(c, t->value + 2, strcspn(t->value + 2, "="))))
		t->value = NULL;
	if (!t->value || !t->value[0])
		return ceil_fail(err, CEIL_E_USAGE, "%s: the value is missing", title);
	*ret_used += !inside;
	return CEIL_OK;
}

/* Parses the option at args[0]. @ret_used: how many arguments it took. */
static enum ceil_status parse_one(const struct ceil_command *c, char *const *args, void *values,
                                  int *ret_used, struct ceil_error *err)
{
	struct token t = {0};
	struct ceil_error why;
	char title[64];
	enum ceil_status status;

	status = scan(c, args[0], &t, err);
	if (status != CEIL_OK)
		return status;
	*ret_used = 1;
	status = take_value(c, &t, args + 1, ret_used, err);
	if (status != CEIL_OK)
		return status;
	status = store(t.option, t.value, (char *)values + t.option->offset, &why);
	if (status == CEIL_OK)
		return CEIL_OK;
	title_of(t.option, title, sizeof(title));
	return ceil_fail(err, status, "%s: %s", title, why.text);
}

static bool wants_help(int argc, char *const *argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

enum ceil_status ceil_option_parse(const struct ceil_command *c, int argc, char **argv,
                                   void *values, int *ret_argc, bool *ret_help,
                                   struct ceil_error *err)
{
	int kept = 1, used = 0;
	bool options_end = false;
	enum ceil_status status;

	if (wants_help(argc, argv)) {
		*ret_help = true;
		*ret_argc = 0;
		return CEIL_OK;
	}
	for (int i = 1; i < argc; i += used) {
		used = 1;
		if (!options_end && strcmp(argv[i], "--") == 0) {
			options_end = true;
			continue;
		}
		if (options_end || !is_option(argv[i])) {
			argv[kept++] = argv[i];
			continue;
		}
		status = parse_one(c, argv + i, values, &used, err);
		if (status != CEIL_OK)
			return status;
	}
	*ret_help = false;
	*ret_argc = kept - 1;
	return CEIL_OK;
}

/* ---- Help */

/* Columns that text takes on a terminal: its UTF-8 characters. */
static size_t width_of(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/*
 * Prints text from column at, wrapped with an indent. A newline in it stays one.
 * Results of stdio are not looked at: help on a closed pipe is nobody's loss.
 */
static void wrap(FILE *f, const char *text, size_t at, size_t indent)
{
	bool first = true;

	for (; *text; text += *text == '\n' || *text == ' ') {
		const size_t length = strcspn(text, " \n"), width = width_of(text, length);

		if (length && !first && at + 1 + width > HELP_COLUMNS) {
			(void)fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		if (length) {
			(void)fprintf(f, "%s%.*s", first ? "" : " ", (int)length, text);
			at += width + !first;
			first = false;
		}
		text += length;
		if (*text == '\n') {
			(void)fprintf(f, "\n%*s", text[1] && text[1] != '\n' ? (int)indent : 0, "");
			at = indent;
			first = true;
		}
	}
	(void)fputc('\n', f);
}

/* "-o, --output DIR" */
static void left_of(const struct ceil_option *o, char *ret_text, size_t size)
{
	char title[64];

	title_of(o, title, sizeof(title));
	ret_text[0] = '\0';
	if (o->letter)
		ceil_append(ret_text, size, "  -%c, %s", o->letter, title);
	else
		ceil_append(ret_text, size, "      %s", title);
}

static size_t left_width(const struct ceil_command *c)
{
	size_t widest = strlen("  -h, --help");
	char left[80];

	for (size_t i = 0; i < c->option_count; i++) {
		left_of(&c->options[i], left, sizeof(left));
		if (strlen(left) > widest && strlen(left) <= LEFT_MAX)
			widest = strlen(left);
	}
	return widest;
}

static void print_row(FILE *f, const char *left, const char *doc, size_t width)
{
	const size_t length = strlen(left);

	(void)fputs(left, f);
	if (length > width)
		(void)fprintf(f, "\n%*s", (int)width + 2, "");
	else
		(void)fprintf(f, "%*s", (int)(width - length) + 2, "");
	wrap(f, doc, width + 2, width + 2);
}

static void print_option(FILE *f, const struct ceil_option *o, size_t width)
{
	char left[80], doc[1024];

	left_of(o, left, sizeof(left));
	ceil_copy(doc, sizeof(doc), o->doc);
	for (size_t i = 0; o->type == CEIL_O_CHOICE && o->choices[i]; i++)
		ceil_append(doc, sizeof(doc), "%s%s%s", i == 0 ? " (" : "", o->choices[i],
		            o->choices[i + 1] ? ", " : ")");
	print_row(f, left, doc, width);
}

static bool same_group(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void print_group(FILE *f, const struct ceil_command *c, const char *group, size_t width)
{
	for (size_t i = 0; i < c->option_count; i++)
		if (same_group(c->options[i].group, group))
			print_option(f, &c->options[i], width);
}

/* Whether an earlier row already had this row's group. */
static bool group_was_printed(const struct ceil_command *c, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (same_group(c->options[i].group, c->options[row].group))
			return true;
	return false;
}

static void print_options(FILE *f, const struct ceil_command *c)
{
	const size_t width = left_width(c);
	bool grouped = false;

	for (size_t i = 0; i < c->option_count; i++) {
		if (!c->options[i].group || group_was_printed(c, i))
			continue;
		(void)fprintf(f, "\n%s:\n", c->options[i].group);
		print_group(f, c, c->options[i].group, width);
		grouped = true;
	}
	(void)fprintf(f, "\n%s:\n", grouped ? "Other options" : "Options");
	print_group(f, c, /* group= */ NULL, width);
	print_row(f, "  -h, --help", "shows this page", width);
}

/* Lines "command\twhat it does\n". */
static void print_examples(FILE *f, const char *examples)
{
	(void)fputs("\nExamples:\n", f);
	while (*examples) {
		const size_t line = strcspn(examples, "\n"), command = strcspn(examples, "\t\n");
		char doc[256] = "";

		(void)fprintf(f, "  %.*s\n", (int)command, examples);
		if (command < line) {
			ceil_append(doc, sizeof(doc), "%.*s", (int)(line - command - 1),
			            examples + command + 1);
			(void)fprintf(f, "%*s", 6, "");
			wrap(f, doc, 6, 6);
		}
		examples += line + (examples[line] == '\n');
	}
}

void ceil_option_help(const struct ceil_command *c, FILE *f)
{
	(void)fprintf(f, "Usage: gpuceil%s%s [OPTION...]%s%s\n\n", c->name[0] ? " " : "", c->name,
	              c->arguments && c->arguments[0] ? " " : "", c->arguments ? c->arguments : "");
	wrap(f, c->summary, 0, 0);
	if (c->doc && c->doc[0]) {
		(void)fputc('\n', f);
		wrap(f, c->doc, 0, 0);
	}
	print_options(f, c);
	if (c->examples && c->examples[0])
		print_examples(f, c->examples);
}
