/* The signal flag: which signal asked the run to stop. */
#ifndef CEIL_CANCEL_H
#define CEIL_CANCEL_H

#include <stdbool.h>

/*
 * ceil_cancel_install - SIGINT, SIGTERM, SIGHUP and SIGPIPE set the flag. A second one, but
 * SIGPIPE, that comes more than half a second later ends the process.
 */
void ceil_cancel_install(void);

/* ceil_cancel_signal - the signal that came, or 0. */
int ceil_cancel_signal(void);

/* ceil_cancel_set - for tests and the terminal's quit key; 0 clears it. */
void ceil_cancel_set(int signal_number);

#endif
