/* Allocation: zeroed, checked, and made to fail on demand by tests. */
#include "harness/base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Allocations left until the one that fails; 0: off. One of the few globals that are allowed. */
static atomic_long fail_countdown;

void ceil_alloc_fail_at(long k)
{
	atomic_store(&fail_countdown, k > 0 ? k : 0);
}

/* Exactly one thread sees the count go from 1 to 0. */
static bool must_fail(void)
{
	long left = atomic_load(&fail_countdown);

	while (left > 0)
		if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
			return left == 1;
	return false;
}

/* Whether an object of that size can exist at all: no larger than a ptrdiff_t. */
static bool possible(size_t count, size_t size)
{
	return size == 0 || count <= (size_t)PTRDIFF_MAX / size;
}

void *ceil_alloc(size_t count, size_t size, struct ceil_error *err)
{
	void *p = NULL;

	/* calloc may give NULL for 0 bytes, which is not a failure: ask for one. */
	if (possible(count, size) && !must_fail())
		p = calloc(count ? count : 1, size ? size : 1);
	if (!p)
		(void)ceil_fail(err, CEIL_E_NOMEM, "no memory for %zu x %zu bytes", count, size);
	return p;
}

void *ceil_realloc(void *p, size_t bytes)
{
	return must_fail() ? NULL : realloc(p, bytes);
}

/* Doubles cap until want fits; SIZE_MAX where that cannot be had. */
static size_t grown(size_t cap, size_t want)
{
	size_t n = cap ? cap : 8;

	while (n < want)
		n = n > SIZE_MAX / 2 ? SIZE_MAX : n * 2;
	return n;
}

enum ceil_status ceil_grow(void **v, size_t *cap, size_t want, size_t size, struct ceil_error *err)
{
	void *p = NULL;
	size_t n;

	if (want <= *cap)
		return CEIL_OK;
	n = grown(*cap, want);
	if (possible(n, size))
		p = ceil_realloc(*v, n * size);
	if (!p)
		return ceil_fail(err, CEIL_E_NOMEM, "no memory for %zu x %zu bytes", n, size);
	*v = p;
	*cap = n;
	return CEIL_OK;
}
