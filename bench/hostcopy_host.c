/* The host's copies: memcpy by all pinned threads, or by one. */
#include "bench/hostcopy.h"

#include <string.h>

#include "harness/device/host.h"

/* Shares begin on a line: no two threads write one. */
enum { LINE_BYTES = 64 };

static void copy_share(void *arg, unsigned index, unsigned count)
{
	const struct ceil_launch *l = arg;
	uint64_t from;
	uint64_t to;

	ceil_pool_share(l->m, LINE_BYTES, index, count, &from, &to);
	memcpy((char *)l->buf[1] + from, (const char *)l->buf[0] + from, to - from);
}

static void copy_all(void *arg, unsigned index, unsigned count)
{
	const struct ceil_launch *l = arg;

	(void)count;
	if (index == 0)
		memcpy(l->buf[1], l->buf[0], l->m);
}

enum ceil_status ceil_hostcopy_memcpy_threads(const struct ceil_launch *l, struct ceil_error *err)
{
	struct ceil_launch own = *l;

	(void)err; /* cannot fail */
	ceil_pool_run(l->stream[0], copy_share, &own);
	return CEIL_OK;
}

enum ceil_status ceil_hostcopy_memcpy_one(const struct ceil_launch *l, struct ceil_error *err)
{
	struct ceil_launch own = *l;

	(void)err; /* cannot fail */
	ceil_pool_run(l->stream[0], copy_all, &own);
	return CEIL_OK;
}
