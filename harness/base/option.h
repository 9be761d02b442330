/* Option tables: parsing, help and suggestions come from the same rows. */
#ifndef CEIL_OPTION_H
#define CEIL_OPTION_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum ceil_option_type {
	CEIL_O_FLAG,     /* bool */
	CEIL_O_TEXT,     /* const char *, points into argv */
	CEIL_O_U64,      /* uint64_t */
	CEIL_O_DOUBLE,   /* double */
	CEIL_O_DURATION, /* uint64_t ns */
	CEIL_O_LIST,     /* struct ceil_list, may be given several times */
	CEIL_O_CHOICE    /* unsigned: index into choices */
};

struct ceil_option {
	const char *name; /* "dtype", without dashes */
	char letter;      /* or 0 */
	enum ceil_option_type type;
	const char *argument; /* "LIST" in help, NULL for a flag */
	const char *doc;
	size_t offset;              /* of the member in the command's struct */
	const char *const *choices; /* NULL-terminated, for CEIL_O_CHOICE */
	const char *group;          /* heading in help, or NULL */
};

/* A row of an option table; what is given goes into a member of values, the command's struct. */
#define CEIL_OPTION(values, member, name_, type_, argument_, group_, choices_, doc_)               \
	{                                                                                          \
		.name = (name_), .type = (type_), .argument = (argument_), .doc = (doc_),          \
		.offset = offsetof(values, member), .choices = (choices_), .group = (group_)       \
	}

struct ceil_command {
	const char *name, *arguments, *summary,
		*doc; /* "bench", "[NAME...]", one line, paragraphs */
	const struct ceil_option *options;
	size_t option_count;
	const char *examples; /* lines "command\twhat it does\n" */
	/* main: runs it; positional arguments in argv. Return: the exit status. */
	int (*run)(int argc, char **argv);
};

/*
 * ceil_option_parse - reads options of argv[1..] into values; positional ones move to the front.
 * --name value, --name=value, -l value; "--" ends options. A repeated option: the last counts,
 * but lists append.
 * @ret_argc: how many positional arguments are in argv[1..].
 * @ret_help: --help or -h was given; nothing else is checked then.
 * Return: CEIL_E_USAGE, naming the option and the nearest known one.
 */
CEIL_MUST_CHECK enum ceil_status ceil_option_parse(const struct ceil_command *c, int argc,
                                                   char **argv, void *values, int *ret_argc,
                                                   bool *ret_help, struct ceil_error *err);

/* ceil_option_help - the help page of a command, at most 100 columns, generated from its rows. */
void ceil_option_help(const struct ceil_command *c, FILE *f);

#endif
