/* A device of plain memory for tests of checks: fills and projects by the definitions, no more. */
#include "tests/reference.h"

#include "harness/base/dtype.h"
#include "harness/base/value.h"

#include <stdlib.h>
#include <string.h>

static size_t size_of(enum ceil_dtype t)
{
	return ceil_dtype_info(t)->bits / 8;
}

double reference_get(const void *ptr, enum ceil_dtype t, uint64_t index)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)ptr + index * size_of(t), size_of(t));
	return ceil_decode(t, bits);
}

static void set_bits(void *ptr, enum ceil_dtype t, uint64_t index, uint64_t bits)
{
	memcpy((char *)ptr + index * size_of(t), &bits, size_of(t));
}

uint64_t reference_set(void *ptr, enum ceil_dtype t, uint64_t index, double value)
{
	uint64_t before = 0;

	memcpy(&before, (char *)ptr + index * size_of(t), size_of(t));
	set_bits(ptr, t, index, ceil_encode(t, value));
	return before;
}

static enum ceil_status reference_alloc(struct ceil_device *dev, const struct ceil_buffer *b,
                                        void **ret_ptr, struct ceil_error *err)
{
	void *ptr = malloc(b->bytes);

	(void)dev;
	if (!ptr)
		return ceil_fail(err, CEIL_E_NOMEM, "malloc(%llu)", (unsigned long long)b->bytes);
	*ret_ptr = ptr;
	return CEIL_OK;
}

static void reference_free(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr)
{
	(void)dev;
	(void)b;
	free(ptr);
}

static enum ceil_status reference_fill(struct ceil_device *dev, const struct ceil_buffer *b,
                                       void *ptr, int buffer, enum ceil_pattern pattern,
                                       uint64_t seed, struct ceil_error *err)
{
	(void)dev;
	(void)err;
	for (uint64_t i = 0; i < b->bytes / size_of(b->dtype); i++)
		set_bits(ptr, b->dtype, i,
		         ceil_element(b->dtype, pattern, seed, (uint32_t)buffer, i));
	return CEIL_OK;
}

static enum ceil_status reference_project(struct ceil_device *dev, const struct ceil_matrix *m,
                                          const int64_t *x, int64_t *ret_y, struct ceil_error *err)
{
	(void)dev;
	(void)err;
	for (uint64_t r = 0; r < m->rows; r++) {
		uint64_t sum = 0;
		bool whole = true;

		for (uint64_t c = 0; c < m->cols; c++) {
			const double v = reference_get(m->ptr, m->dtype,
			                               r * m->row_stride + c * m->col_stride);

			whole = whole && rint(v) == v;
			sum += whole ? (uint64_t)(int64_t)v * (uint64_t)x[c] : 0;
		}
		ret_y[r] = whole ? (int64_t)sum : INT64_MIN;
	}
	return CEIL_OK;
}

const struct ceil_backend reference_backend = {
	.name = "reference",
	.doc = "plain memory, for tests",
	.alloc = reference_alloc,
	.free = reference_free,
	.fill = reference_fill,
	.project = reference_project,
};

struct ceil_device reference_open(const struct ceil_backend *backend, uint64_t free_bytes)
{
	struct ceil_device dev = {.backend = backend};

	dev.props.numa_node = -1;
	dev.props.free_bytes = free_bytes;
	return dev;
}
