/* A barrier for devices that are measured at once, which a device may leave for good. */
#include "harness/measure/gang.h"

#include <stddef.h>

void ceil_gang_init(struct ceil_gang *g, unsigned members)
{
	*g = (struct ceil_gang){.members = members};
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->moved, NULL);
}

void ceil_gang_done(struct ceil_gang *g)
{
	pthread_cond_destroy(&g->moved);
	pthread_mutex_destroy(&g->lock);
}

static void release(struct ceil_gang *g)
{
	g->waiting = 0;
	g->generation++;
	pthread_cond_broadcast(&g->moved);
}

void ceil_gang_wait(struct ceil_gang *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	const unsigned long mine = g->generation;

	if (++g->waiting >= g->members)
		release(g);
	while (mine == g->generation)
		pthread_cond_wait(&g->moved, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

void ceil_gang_leave(struct ceil_gang *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	g->members--;
	if (g->members > 0 && g->waiting >= g->members)
		release(g);
	pthread_mutex_unlock(&g->lock);
}
