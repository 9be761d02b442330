/* A device of plain memory for tests of checks: fills and projects by the definitions, no more. */
#ifndef CEIL_TESTS_REFERENCE_H
#define CEIL_TESTS_REFERENCE_H

#include "harness/device/backend.h"

#include <stddef.h>

/* A backend of which only alloc, free, fill and project are there. */
extern const struct ceil_backend reference_backend;

/*
 * reference_open - the device, with props as given; nothing to close.
 * @backend: a copy of reference_backend with one function changed, or that itself.
 */
struct ceil_device reference_open(const struct ceil_backend *backend, uint64_t free_bytes);

/* reference_set - writes element index of type t; returns what stood there, as bits. */
uint64_t reference_set(void *ptr, enum ceil_dtype t, uint64_t index, double value);

/* reference_get - the value of element index of type t. */
double reference_get(const void *ptr, enum ceil_dtype t, uint64_t index);

#endif
