/* The commands of the program, and what they share in talking to the user. */
#ifndef CEIL_COMMANDS_H
#define CEIL_COMMANDS_H

#include "harness/base/option.h"
#include "harness/base/status.h"

/* measuring.md, Status and exit. */
enum { CEIL_EXIT_OK = 0, CEIL_EXIT_BAD = 1, CEIL_EXIT_USAGE = 2, CEIL_EXIT_CANCELLED = 130 };

extern const struct ceil_command ceil_command_bench;
extern const struct ceil_command ceil_command_demo;
extern const struct ceil_command ceil_command_list;
extern const struct ceil_command ceil_command_doctor;
extern const struct ceil_command ceil_command_get;
extern const struct ceil_command ceil_command_man;
extern const struct ceil_command ceil_command_completion;
extern const struct ceil_command ceil_command_mfu;

/* main.c: every command, NULL-terminated, in the order of the help page. */
extern const struct ceil_command *const ceil_commands[];

/*
 * ceil_cli_error - prints "gpuceil: text" to stderr.
 * Return: the exit status that the failure means: 2 for usage and set-up, 130 and so on for a
 * signal, 1 for the rest.
 */
int ceil_cli_error(const struct ceil_error *err);

/*
 * ceil_cli_flush - for commands whose output is the product.
 * Return: the failure that is in err, else CEIL_E_IO if what was printed did not arrive.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cli_flush(struct ceil_error *err);

/*
 * ceil_cli_parse - reads a command's options; prints the help page or the error itself.
 * @ret_exit: the exit status when it returns false.
 * Return: whether the command shall go on.
 */
bool ceil_cli_parse(const struct ceil_command *c, int argc, char **argv, void *values,
                    int *ret_argc, int *ret_exit);

#endif
