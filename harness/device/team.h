/* Those who measure one thing together: GPUs of a process, or processes of an MPI run. */
#ifndef CEIL_TEAM_H
#define CEIL_TEAM_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of what one exchange may carry from each member. */
enum { CEIL_TEAM_BYTES = 16384 };

/*
 * One member's view. Members take the same decisions in the same order, since each waits for all
 * in every call below; so whatever a member sees alone (a failure, a time, a signal) is made
 * common before anyone acts on it. A NULL team, or a team of one, decides alone.
 */
struct ceil_team {
	unsigned rank, size;
	bool functional;     /* two members share a device: answers count, figures do not */
	uint64_t timeout_ns; /* of a wait for the others; 0: 60 s */
	uint64_t met_ns;     /* when all last met, by this member's clock */
	/* size x CEIL_TEAM_BYTES, so that no decision needs memory that one may not get. */
	void *scratch;
	/* The one primitive: everyone gives bytes and gets those of all, in the order of ranks.
	 * @timeout_ns: 0: for ever. Return: CEIL_E_DEVICE if someone did not come in time. */
	enum ceil_status (*gather)(struct ceil_team *t, const void *mine, void *ret_all,
	                           size_t bytes, uint64_t timeout_ns, struct ceil_error *err);
	/* What a bench keeps from point to point: a communicator. Dropped by ceil_team_drop. */
	void *kept;
	void (*drop)(void *kept);
};

/*
 * ceil_team_agree - all go on, or nobody does.
 * @mine: how it went here; err holds the words if it failed.
 * Return: CEIL_OK if it went well everywhere. Else a failure on every member: its own status, or
 * that of the rank that failed first after they last met, whose words follow "rank N: " in any
 * case: the others mostly failed because of it. Another's device that hangs is CEIL_E_DEVICE here,
 * since this one may answer.
 */
CEIL_MUST_CHECK enum ceil_status ceil_team_agree(struct ceil_team *t, enum ceil_status mine,
                                                 struct ceil_error *err);

/* ceil_team_follow - everyone gets rank 0's value of so many bytes. */
CEIL_MUST_CHECK enum ceil_status ceil_team_follow(struct ceil_team *t, void *value, size_t bytes,
                                                  struct ceil_error *err);

/*
 * ceil_team_slowest - each of count times becomes the longest of all members; NAN where a member
 * has none. count <= CEIL_TEAM_BYTES / 8.
 */
CEIL_MUST_CHECK enum ceil_status ceil_team_slowest(struct ceil_team *t, double *times_ns,
                                                   size_t count, struct ceil_error *err);

/*
 * ceil_team_meet - waits for all, however long the others take with what they do before.
 * @what: where they meet; CEIL_E_USAGE if another member is somewhere else.
 */
CEIL_MUST_CHECK enum ceil_status ceil_team_meet(struct ceil_team *t, const char *what,
                                                struct ceil_error *err);

/* ceil_team_drop - gives back what is kept. NULL is a no-op. */
void ceil_team_drop(struct ceil_team *t);

/* A team whose members are threads of this process. */
struct ceil_team_local;

/* ceil_team_local_open - of size members; each belongs to one thread, closed when all are done. */
CEIL_MUST_CHECK enum ceil_status ceil_team_local_open(unsigned size,
                                                      struct ceil_team_local **ret_local,
                                                      struct ceil_error *err);
struct ceil_team *ceil_team_local_member(struct ceil_team_local *local, unsigned rank);
void ceil_team_local_close(struct ceil_team_local *local); /* NULL is a no-op */

#endif
