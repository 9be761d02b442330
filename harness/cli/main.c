/* gpuceil: calibrates what a GPU node can really do. Finds the command and runs it. */
#include "harness/base/cancel.h"
#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct ceil_command *const ceil_commands[] = {
	&ceil_command_bench, &ceil_command_demo,       &ceil_command_get,
	&ceil_command_mfu,   &ceil_command_list,       &ceil_command_doctor,
	&ceil_command_man,   &ceil_command_completion, NULL,
};

static void print_help(FILE *f)
{
	fputs("gpuceil calibrates what a GPU node can really do: achieved FLOP/s and GB/s beside "
	      "the\n"
	      "theoretical peak, with the clock that was held and what limits each figure.\n"
	      "\n"
	      "Usage: gpuceil COMMAND [OPTION...]\n"
	      "\n"
	      "Commands:\n",
	      f);
	for (size_t i = 0; ceil_commands[i]; i++)
		fprintf(f, "  %-10s  %s\n", ceil_commands[i]->name, ceil_commands[i]->summary);
	fputs("\n"
	      "  gpuceil COMMAND --help   teaches a command\n"
	      "  gpuceil --version        prints the version and how it was built\n"
	      "\n"
	      "On a new node: gpuceil doctor, then gpuceil bench.\n",
	      f);
}

static int print_version(int argc)
{
	struct ceil_error err = {CEIL_OK, ""};

	if (argc > 2) {
		(void)ceil_fail(&err, CEIL_E_USAGE, "--version takes no argument");
		return ceil_cli_error(&err);
	}
	printf("gpuceil %s (%s)\nbuilt with %s, CUDA %s\n", ceil_version(), ceil_git_commit(),
	       ceil_compiler(), ceil_cuda_toolkit());
	return CEIL_EXIT_OK;
}

static int unknown_command(const char *name)
{
	const char *names[sizeof(ceil_commands) / sizeof(ceil_commands[0])] = {NULL};
	struct ceil_error err = {CEIL_OK, ""};

	for (size_t i = 0; ceil_commands[i]; i++)
		names[i] = ceil_commands[i]->name;
	const char *near = ceil_suggest(name, names);

	(void)ceil_fail(&err, CEIL_E_USAGE, "unknown command '%s'%s%s%s `gpuceil --help` shows all",
	                name, near ? ": did you mean '" : ";", near ? near : "", near ? "'?" : "");
	return ceil_cli_error(&err);
}

/* NULL: there is none of this name. */
static const struct ceil_command *find_command(const char *name)
{
	for (size_t i = 0; ceil_commands[i]; i++) {
		if (strcmp(name, ceil_commands[i]->name) == 0)
			return ceil_commands[i];
	}
	return NULL;
}

/* `gpuceil help NAME` is what many tools understand, so it is not refused here. */
static int help(int argc, char **argv)
{
	const struct ceil_command *c = argc > 2 ? find_command(argv[2]) : NULL;

	if (argc > 2 && !c)
		return unknown_command(argv[2]);
	if (c)
		ceil_option_help(c, stdout);
	else
		print_help(stdout);
	return CEIL_EXIT_OK;
}

static int run_command(int argc, char **argv)
{
	const struct ceil_command *c;

	if (argc < 2) {
		print_help(stderr);
		return CEIL_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0)
		return print_version(argc);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return help(argc, argv);
	c = find_command(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* An answer that did not arrive is a failure: a script must not take nothing for one. */
static int delivered(int status)
{
	struct ceil_error err = {CEIL_OK, ""};

	errno = 0; /* what it says now may be of another file */
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status > CEIL_EXIT_BAD)
		return status;
	if (ceil_cancel_signal() == SIGPIPE || errno == EPIPE)
		return 128 + SIGPIPE; /* the reader went away, as `head` does: no word about it */
	(void)ceil_fail(&err, CEIL_E_IO, "standard output cannot be written: %s",
	                errno ? strerror(errno) : "a part of it was lost");
	return ceil_cli_error(&err);
}

/*
 * A standard stream may be closed, as cron and some daemons start programs: the next file opened
 * would get its number, and our words. "/" can be opened everywhere and never be written.
 */
static void occupy_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) == -1)
			(void)open("/", O_RDONLY | O_DIRECTORY); /* the lowest free number is fd */
	}
}

int main(int argc, char **argv)
{
	occupy_closed_streams();
	(void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write() then */
	return delivered(run_command(argc, argv));
}
