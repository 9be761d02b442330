/* Saves what was measured when a rank is gone or hangs, and others wait in a call without an end.
 */
#ifndef CEIL_RESCUE_H
#define CEIL_RESCUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * A launcher that lost a rank sends SIGTERM to all others and ends them by force a second later;
 * one that hangs goes unnoticed. A collective of MPI does not return then, so a thread beside it
 * writes the files.
 */
struct ceil_rescue_plan {
	bool after_signal;         /* half a second after one */
	bool (*stuck)(void *user); /* as soon as this says so; asked 50 times a second */
	int (*save)(void *user);   /* gives the exit status */
	void *user;
};

struct ceil_rescue {
	struct ceil_rescue_plan plan;
	pthread_t thread;
	bool watching;
	atomic_int state;
};

/* ceil_rescue_begin - watches; when it is time save() is called, and the process leaves with its
 * answer. */
void ceil_rescue_begin(struct ceil_rescue *r, const struct ceil_rescue_plan *plan);

/* ceil_rescue_end - the run ends by itself. Does not return if it is being saved already. One that
 * was never begun is fine. */
void ceil_rescue_end(struct ceil_rescue *r);

#endif
