/* A barrier for devices that are measured at once, which a device may leave for good. */
#ifndef CEIL_GANG_H
#define CEIL_GANG_H

#include <pthread.h>

struct ceil_gang {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	unsigned members, waiting;
	unsigned long generation;
};

/* ceil_gang_init - of so many members; none may still wait when ceil_gang_done is called. */
void ceil_gang_init(struct ceil_gang *g, unsigned members);
void ceil_gang_done(struct ceil_gang *g);
/* ceil_gang_wait - returns when every member that has not left waits too. NULL is a no-op. */
void ceil_gang_wait(struct ceil_gang *g);
/* ceil_gang_leave - once a member; the others no longer wait for it. NULL is a no-op. */
void ceil_gang_leave(struct ceil_gang *g);

#endif
