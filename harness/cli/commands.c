/* What all commands share in talking to the user: errors and their exit status, options, output. */
#include "harness/cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/cancel.h"

int ceil_cli_error(const struct ceil_error *err)
{
	fflush(stdout);
	fprintf(stderr, "gpuceil: %s\n", err->text);
	switch (err->status) {
	case CEIL_E_USAGE:
	case CEIL_E_IO:
	case CEIL_E_NOMEM:
	case CEIL_E_UNSUPPORTED:
		return CEIL_EXIT_USAGE;
	case CEIL_E_CANCELLED:
		return ceil_cancel_signal() ? 128 + ceil_cancel_signal() : CEIL_EXIT_CANCELLED;
	default:
		return CEIL_EXIT_BAD;
	}
}

enum ceil_status ceil_cli_flush(struct ceil_error *err)
{
	if (err->status == CEIL_OK && (fflush(stdout) || ferror(stdout)))
		(void)ceil_fail(err, CEIL_E_IO, "standard output cannot be written: %s",
		                strerror(errno));
	return err->status;
}

bool ceil_cli_parse(const struct ceil_command *c, int argc, char **argv, void *values,
                    int *ret_argc, int *ret_exit)
{
	struct ceil_error err = {CEIL_OK, ""};
	bool help = false;

	if (ceil_option_parse(c, argc, argv, values, ret_argc, &help, &err) != CEIL_OK) {
		*ret_exit = ceil_cli_error(&err);
		return false;
	}
	if (help)
		ceil_option_help(c, stdout);
	*ret_exit = CEIL_EXIT_OK;
	return !help;
}
