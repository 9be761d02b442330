/* Where the buffers of a point live: allocated once, reused by the points after it. */
#include "harness/measure/place.h"

static bool fits(const struct ceil_slot *s, const struct ceil_buffer *b)
{
	return s->ptr && s->buffer.memory == b->memory && s->buffer.numa_node == b->numa_node &&
	       s->buffer.bytes >= b->bytes;
}

static void free_slot(struct ceil_slot *s, struct ceil_device *dev)
{
	if (s->ptr)
		dev->backend->free(dev, &s->buffer, s->ptr);
	*s = (struct ceil_slot){0};
}

static enum ceil_status fill_slot(struct ceil_slot *s, struct ceil_device *dev, int index,
                                  const struct ceil_buffer *b, enum ceil_pattern pattern,
                                  uint64_t seed, struct ceil_error *err)
{
	enum ceil_status st;

	if (s->filled && b->role == CEIL_INPUT && s->dtype == b->dtype && s->pattern == pattern &&
	    s->seed == seed && s->bytes == b->bytes)
		return CEIL_OK;
	s->filled = false;
	st = dev->backend->fill(dev, b, s->ptr, index, pattern, seed, err);
	if (st != CEIL_OK)
		return st;
	s->filled = b->role == CEIL_INPUT;
	s->dtype = b->dtype;
	s->pattern = pattern;
	s->seed = seed;
	s->bytes = b->bytes;
	return CEIL_OK;
}

enum ceil_status ceil_place_buffers(struct ceil_place *place, struct ceil_device *dev,
                                    const struct ceil_buffer *buf, size_t count,
                                    struct ceil_launch *l, struct ceil_error *err)
{
	for (size_t i = 0; i < CEIL_MAX_BUFS; i++) {
		if (i >= count || buf[i].bytes == 0 || !fits(&place->slot[i], &buf[i]))
			free_slot(&place->slot[i], dev);
	}
	for (size_t i = 0; i < count; i++) {
		struct ceil_slot *s = &place->slot[i];
		enum ceil_status st = CEIL_OK;

		if (!s->ptr && buf[i].bytes > 0)
			st = dev->backend->alloc(dev, &buf[i], &s->ptr, err);
		if (st != CEIL_OK)
			return st;
		if (s->buffer.bytes == 0)
			s->buffer = buf[i];
		l->buf[i] = s->ptr;
	}
	return CEIL_OK;
}

enum ceil_status ceil_place_fill(struct ceil_place *place, struct ceil_device *dev,
                                 const struct ceil_buffer *buf, size_t count,
                                 enum ceil_pattern pattern, uint64_t seed, struct ceil_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const bool input = buf[i].role != CEIL_OUTPUT;
		enum ceil_status st;

		if (buf[i].role == CEIL_WORKSPACE || buf[i].bytes == 0)
			continue;
		st = fill_slot(&place->slot[i], dev, (int)i, &buf[i], input ? pattern : CEIL_POISON,
		               seed, err);
		if (st != CEIL_OK)
			return st;
	}
	return CEIL_OK;
}

void ceil_place_done(struct ceil_place *place, struct ceil_device *dev)
{
	for (size_t i = 0; i < CEIL_MAX_BUFS; i++)
		free_slot(&place->slot[i], dev);
}
