/* Where the buffers of a point live: allocated once, reused by the points after it. */
#ifndef CEIL_PLACE_H
#define CEIL_PLACE_H

#include "harness/device/backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands in a slot, so that equal data need not be written again. */
struct ceil_slot {
	struct ceil_buffer buffer; /* as allocated: bytes is the capacity */
	void *ptr;
	bool filled;
	enum ceil_dtype dtype;
	enum ceil_pattern pattern;
	uint64_t seed, bytes;
};

struct ceil_place {
	struct ceil_slot slot[CEIL_MAX_BUFS];
};

/*
 * ceil_place_buffers - memory for count buffers into l->buf; what fits is kept, all else freed
 * first, so that two points never hold memory at once.
 * Return: CEIL_OK; CEIL_E_NOMEM or what the device said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_place_buffers(struct ceil_place *place,
                                                    struct ceil_device *dev,
                                                    const struct ceil_buffer *buf, size_t count,
                                                    struct ceil_launch *l, struct ceil_error *err);

/* ceil_place_fill - inputs with pattern and seed (left alone if they hold it), outputs poisoned. */
CEIL_MUST_CHECK enum ceil_status ceil_place_fill(struct ceil_place *place, struct ceil_device *dev,
                                                 const struct ceil_buffer *buf, size_t count,
                                                 enum ceil_pattern pattern, uint64_t seed,
                                                 struct ceil_error *err);

/* ceil_place_done - frees all. */
void ceil_place_done(struct ceil_place *place, struct ceil_device *dev);

#endif
