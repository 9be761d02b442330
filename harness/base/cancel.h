/* The signal flag: which signal asked the run to stop. */
#ifndef CEIL_CANCEL_H
#define CEIL_CANCEL_H

#include "harness/base/status.h"

/*
 * ceil_cancel_install - SIGINT, SIGTERM, SIGHUP and SIGPIPE set the flag. A second one, but
 * SIGPIPE, that comes more than half a second later ends the process.
 */
void ceil_cancel_install(void);

/* ceil_cancel_signal - the signal that came, or 0. */
int ceil_cancel_signal(void);

/* ceil_cancel_check - CEIL_E_CANCELLED with the signal once one came, else CEIL_OK. */
CEIL_MUST_CHECK enum ceil_status ceil_cancel_check(struct ceil_error *err);

/* ceil_cancel_set - for tests and the terminal's quit key; 0 clears it. */
void ceil_cancel_set(int signal_number);

#endif
