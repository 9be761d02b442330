/* Saves what was measured when rank 0 waits for a rank that is gone, in a call that cannot end. */
#ifndef CEIL_RESCUE_H
#define CEIL_RESCUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * A launcher that lost a rank sends SIGTERM to all others and ends them by force a second later. A
 * collective of MPI does not return then, so a thread beside it writes the files.
 */
struct ceil_rescue {
	pthread_t thread;
	bool watching;
	atomic_int state;
	int (*save)(void *user); /* gives the exit status */
	void *user;
};

/* ceil_rescue_begin - watches for a signal; half a second after it save() is called, and the
 * process leaves with its answer. */
void ceil_rescue_begin(struct ceil_rescue *r, int (*save)(void *user), void *user);

/* ceil_rescue_end - the run ends by itself. Does not return if it is being saved already. One that
 * was never begun is fine. */
void ceil_rescue_end(struct ceil_rescue *r);

#endif
