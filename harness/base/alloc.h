/* Allocation with a fault hook, so that tests can make the k-th one fail. */
#ifndef CEIL_ALLOC_H
#define CEIL_ALLOC_H

#include "harness/base/status.h"

#include <stddef.h>

/*
 * ceil_alloc - count zeroed elements of size bytes; free() gives them back.
 * Return: NULL with CEIL_E_NOMEM in err (may be NULL) if there is no memory.
 */
void *ceil_alloc(size_t count, size_t size, struct ceil_error *err);

/*
 * ceil_grow - makes room for at least want elements in *v, doubling *cap.
 * Return: CEIL_OK, or CEIL_E_NOMEM with *v and *cap as they were.
 */
CEIL_MUST_CHECK enum ceil_status ceil_grow(void **v, size_t *cap, size_t want, size_t size,
                                           struct ceil_error *err);

/* ceil_realloc - realloc with the fault hook, for libraries that let us choose. */
void *ceil_realloc(void *p, size_t bytes);

/* ceil_alloc_fail_at - tests: the k-th allocation from now fails, once; 0 switches it off. */
void ceil_alloc_fail_at(long k);

#endif
