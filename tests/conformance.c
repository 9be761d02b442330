/* What every backend must do, checked against value.h on the CPU. */
#include "tests/conformance.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "harness/device/backend.h"
#include "tests/tap.h"

enum { SEED = 20261130, TIMEOUT_S = 30 };
#define TIMEOUT_NS (TIMEOUT_S * UINT64_C(1000000000))

/* The device under test, and whether everything so far was right. */
struct suite {
	const struct ceil_backend *b;
	struct ceil_device *dev;
	struct ceil_error err;
};

/* A buffer of n elements on the device; NULL with a failed check. */
static void *allocate(struct suite *s, struct ceil_buffer *b, enum ceil_dtype t, uint64_t n)
{
	void *ptr = NULL;

	*b = (struct ceil_buffer){
		.memory = CEIL_MEM_DEVICE,
		.role = CEIL_INPUT,
		.dtype = t,
		.numa_node = -1,
		.bytes = ceil_dtype_bytes(t, n),
	};
	if (s->b->alloc(s->dev, b, &ptr, &s->err) != CEIL_OK)
		ok(false, "alloc of %" PRIu64 " bytes: %s", b->bytes, s->err.text);
	return ptr;
}

/* The bits of an element in bytes that were read back; packed types: even index in the low half. */
static uint64_t bits_at(const unsigned char *bytes, enum ceil_dtype t, uint64_t index)
{
	const uint32_t bits = ceil_dtype_info(t)->bits;
	uint64_t value = 0;

	if (bits == 4)
		return (uint64_t)bytes[index / 2] >> (4 * (index % 2)) & 15u;
	memcpy(&value, bytes + index * bits / 8, bits / 8); /* little-endian */
	return value;
}

static uint64_t mask_of(enum ceil_dtype t)
{
	const uint32_t bits = ceil_dtype_info(t)->bits;

	return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* ---- devices */

static void test_devices(struct suite *s)
{
	struct ceil_device_props peeked;
	struct ceil_device *none = NULL;
	int count = 0;

	ok(s->b->name && s->b->name[0] && s->b->doc && s->b->doc[0], "it has a name and a doc");
	ok(s->b->count(&count, &s->err) == CEIL_OK && count >= 1, "there is a device");
	ok(s->b->open(count, &none, &s->err) != CEIL_OK && !none && s->err.text[0],
	   "a device too many is refused in words");
	ok(s->b->open(-1, &none, &s->err) != CEIL_OK && !none, "and so is device -1");
	s->b->close(NULL);
	ok(s->b->peek(0, &peeked, &s->err) == CEIL_OK, "device 0 tells who it is");
	if (!ok(s->b->open(0, &s->dev, &s->err) == CEIL_OK, "device 0 opens"))
		return;
	is_text(s->dev->props.label, peeked.label, "the same label before and after opening");
	is_text(s->dev->props.name, peeked.name, "the same name");
	ok(s->dev->backend == s->b, "the device knows its backend");
}

static void test_props(struct suite *s)
{
	const struct ceil_device_props *p = &s->dev->props;

	ok(p->label[0] && p->name[0] && p->driver[0], "label, name and driver are there");
	ok(p->memory_bytes > 0 && p->free_bytes <= p->memory_bytes,
	   "no more memory is free than there is");
	ok(p->sm_count > 0, "it has something that computes");
	ok(isnan(p->max_sm_mhz) || p->max_sm_mhz > 100.0, "its clock is unknown, or one in MHz");
}

/* ---- data */

static void test_pattern(struct suite *s, enum ceil_dtype t, enum ceil_pattern pattern)
{
	/* More than one period and no multiple of anything but 2. */
	enum { N = 3 * CEIL_PERIOD + 10007, BUFFER = 3 };
	struct ceil_buffer b;
	unsigned char *bytes = NULL;
	uint64_t hash = 0, want_hash = 0, wrong = 0;
	void *ptr = allocate(s, &b, t, N);

	if (!ptr)
		return;
	bytes = malloc(b.bytes);
	ok(bytes && s->b->fill(s->dev, &b, ptr, BUFFER, pattern, SEED, &s->err) == CEIL_OK &&
	           s->b->hash(s->dev, &b, ptr, &hash, &s->err) == CEIL_OK &&
	           s->b->read(s->dev, bytes, ptr, b.bytes, &s->err) == CEIL_OK,
	   "%s %d: fill, hash, read", ceil_dtype_info(t)->name, (int)pattern);
	for (uint64_t i = 0; bytes && i < N; i++) {
		const uint64_t want = ceil_element(t, pattern, SEED, BUFFER, i) & mask_of(t);

		wrong += bits_at(bytes, t, i) != want;
		want_hash += ceil_hash_term(want, i);
	}
	is_u64(wrong, 0, "every element is ceil_element's");
	is_u64(hash, want_hash, "the hash is the sum of the terms");
	free(bytes);
	s->b->free(s->dev, &b, ptr);
}

static void test_data(struct suite *s)
{
	for (unsigned t = CEIL_NODTYPE + 1; t < CEIL_DTYPE_COUNT; t++) {
		for (unsigned p = 0; p < CEIL_PATTERN_COUNT; p++)
			test_pattern(s, (enum ceil_dtype)t, (enum ceil_pattern)p);
	}
}

/* A larger one, so that every thread or block has some, and a part of what was allocated. */
static void test_large(struct suite *s)
{
	enum { N = 5000011, PART = 4000037 };
	struct ceil_buffer b;
	void *ptr = allocate(s, &b, CEIL_INT8, N);
	uint64_t hash = 0, want = 0, last = 0;

	if (!ptr)
		return;
	ok(s->b->fill(s->dev, &b, ptr, 0, CEIL_ZEROS, SEED, &s->err) == CEIL_OK, "zeros");
	b.bytes = PART;
	ok(s->b->fill(s->dev, &b, ptr, 1, CEIL_INTEGERS, SEED, &s->err) == CEIL_OK,
	   "whole numbers into a part");
	for (uint64_t i = 0; i < PART; i++)
		want += ceil_hash_term(ceil_element(CEIL_INT8, CEIL_INTEGERS, SEED, 1, i) & 255u,
		                       i);
	ok(s->b->hash(s->dev, &b, ptr, &hash, &s->err) == CEIL_OK, "hash of the part");
	is_u64(hash, want, "which is right");
	b.bytes = N;
	ok(s->b->hash(s->dev, &b, ptr, &hash, &s->err) == CEIL_OK && hash == want,
	   "nothing was written behind the part");
	ok(s->b->read(s->dev, &last, (const char *)ptr + PART - 1, 1, &s->err) == CEIL_OK &&
	           last == (ceil_element(CEIL_INT8, CEIL_INTEGERS, SEED, 1, PART - 1) & 255u),
	   "read from the middle");
	s->b->free(s->dev, &b, ptr);
}

/* ---- matrices */

enum { ROWS = 131, COLS = 97, LEAD = 137 };

static void reference_product(enum ceil_dtype t, const struct ceil_matrix *m, const int64_t *x,
                              int64_t *ret_y)
{
	for (uint64_t r = 0; r < m->rows; r++) {
		uint64_t sum = 0;

		for (uint64_t c = 0; c < m->cols; c++) {
			const uint64_t at = r * m->row_stride + c * m->col_stride;
			const double v = ceil_decode(
				t, ceil_element(t, CEIL_INTEGERS, SEED, 2, at) & mask_of(t));

			sum += (uint64_t)(int64_t)v * (uint64_t)x[c];
		}
		ret_y[r] = (int64_t)sum;
	}
}

static void test_projection(struct suite *s, enum ceil_dtype t, bool by_rows)
{
	struct ceil_buffer b;
	void *ptr = allocate(s, &b, t, (uint64_t)LEAD * LEAD + 1);
	const struct ceil_matrix m = {
		.ptr = ptr,
		.dtype = t,
		.rows = ROWS,
		.cols = COLS,
		.row_stride = by_rows ? LEAD : 1,
		.col_stride = by_rows ? 1 : LEAD,
	};
	int64_t x[COLS], want[ROWS], got[ROWS];

	if (!ptr)
		return;
	for (uint64_t c = 0; c < COLS; c++)
		x[c] = (int64_t)ceil_bits(SEED, 9, c); /* all 64 bits: products wrap */
	reference_product(t, &m, x, want);
	memset(got, 0x55, sizeof(got));
	ok(s->b->fill(s->dev, &b, ptr, 2, CEIL_INTEGERS, SEED, &s->err) == CEIL_OK &&
	           s->b->project(s->dev, &m, x, got, &s->err) == CEIL_OK &&
	           memcmp(got, want, sizeof(want)) == 0,
	   "%s by %s: projection", ceil_dtype_info(t)->name, by_rows ? "rows" : "columns");
	s->b->free(s->dev, &b, ptr);
}

/* A poisoned element spoils its row alone. Column-major: the last ones are the last column's. */
static void test_poisoned_row(struct suite *s, enum ceil_dtype t)
{
	enum { SIDE = 24 };
	struct ceil_buffer b;
	void *ptr = allocate(s, &b, t, SIDE * SIDE);
	struct ceil_matrix m = {ptr, t, SIDE, SIDE, 1, SIDE};
	int64_t x[SIDE], y[SIDE];
	bool right;

	if (!ptr)
		return;
	for (unsigned c = 0; c < SIDE; c++)
		x[c] = 1;
	right = s->b->fill(s->dev, &b, ptr, 0, CEIL_POISON, SEED, &s->err) == CEIL_OK;
	b.bytes = ceil_dtype_bytes(t, SIDE * SIDE - 2); /* all but two of the last column */
	right = right && s->b->fill(s->dev, &b, ptr, 0, CEIL_CONSTANT, SEED, &s->err) == CEIL_OK &&
	        s->b->project(s->dev, &m, x, y, &s->err) == CEIL_OK;
	for (unsigned r = 0; right && r < SIDE; r++)
		right = y[r] == (r < SIDE - 2 ? SIDE : INT64_MIN);
	ok(right, "%s: poison spoils its rows alone", ceil_dtype_info(t)->name);
	b.bytes = ceil_dtype_bytes(t, SIDE * SIDE);
	s->b->free(s->dev, &b, ptr);
}

static void test_fraction(struct suite *s)
{
	struct ceil_buffer b;
	void *ptr = allocate(s, &b, CEIL_FP32, 64);
	const struct ceil_matrix m = {ptr, CEIL_FP32, 1, 64, 64, 1};
	int64_t x[64], y = 0;

	if (!ptr)
		return;
	for (unsigned c = 0; c < 64; c++)
		x[c] = 1;
	ok(s->b->fill(s->dev, &b, ptr, 0, CEIL_NORMAL, SEED, &s->err) == CEIL_OK &&
	           s->b->project(s->dev, &m, x, &y, &s->err) == CEIL_OK && y == INT64_MIN,
	   "fractions are no whole numbers");
	s->b->free(s->dev, &b, ptr);
}

static void test_matrices(struct suite *s)
{
	for (unsigned t = CEIL_NODTYPE + 1; t < CEIL_DTYPE_COUNT; t++) {
		test_projection(s, (enum ceil_dtype)t, false);
		test_projection(s, (enum ceil_dtype)t, true);
	}
	test_poisoned_row(s, CEIL_FP64);
	test_poisoned_row(s, CEIL_FP32);
	test_poisoned_row(s, CEIL_BF16);
	test_poisoned_row(s, CEIL_FP16);
	test_poisoned_row(s, CEIL_E4M3);
	test_poisoned_row(s, CEIL_E5M2);
	test_fraction(s);
}

/* ---- time */

static void test_marks(struct suite *s)
{
	double ns = -1.0, back = 1.0;

	ok(s->b->mark(s->dev, 0, 0, &s->err) == CEIL_OK, "the first slot");
	ok(s->b->mark(s->dev, 0, CEIL_MAX_SLOTS - 1, &s->err) == CEIL_OK, "and the last");
	if (s->b->wait)
		ok(s->b->wait(s->dev, CEIL_MAX_SLOTS - 1, TIMEOUT_NS, &s->err) == CEIL_OK,
		   "wait for a mark");
	ok(s->b->sync(s->dev, TIMEOUT_NS, &s->err) == CEIL_OK, "sync");
	ok(s->b->elapsed_ns(s->dev, 0, CEIL_MAX_SLOTS - 1, &ns, &s->err) == CEIL_OK && ns >= 0.0,
	   "time does not run backwards");
	ok(s->b->elapsed_ns(s->dev, 0, 0, &back, &s->err) == CEIL_OK && back == 0.0,
	   "from a mark to itself is 0");
}

static void test_gate(struct suite *s)
{
	if (!s->b->gate) {
		skip("gate", "this device has none");
		return;
	}
	ok(s->b->gate(s->dev, true, &s->err) == CEIL_OK &&
	           s->b->mark(s->dev, 0, 0, &s->err) == CEIL_OK &&
	           s->b->gate(s->dev, false, &s->err) == CEIL_OK &&
	           s->b->sync(s->dev, TIMEOUT_NS, &s->err) == CEIL_OK,
	   "a gate that is opened lets pass");
	ok(s->b->gate(s->dev, true, &s->err) == CEIL_OK &&
	           s->b->mark(s->dev, 0, 0, &s->err) == CEIL_OK &&
	           s->b->sync(s->dev, TIMEOUT_NS, &s->err) == CEIL_OK &&
	           s->b->gate(s->dev, false, &s->err) == CEIL_OK &&
	           s->b->sync(s->dev, TIMEOUT_NS, &s->err) == CEIL_OK,
	   "a gate that is forgotten opens by itself");
}

static void test_clock(struct suite *s)
{
	double mhz = 0.0;

	if (!s->b->clock) {
		skip("clock", "this device has none");
		return;
	}
	/* Between the stamps lies a read, so that their distance is no rounding error. */
	test_fraction(s);
	ok(s->b->clock(s->dev, 0, &s->err) == CEIL_OK, "the first stamp");
	test_fraction(s);
	ok(s->b->clock(s->dev, CEIL_MAX_SLOTS - 1, &s->err) == CEIL_OK, "the second stamp");
	ok(s->b->sync(s->dev, TIMEOUT_NS, &s->err) == CEIL_OK &&
	           s->b->clock_mhz(s->dev, 0, CEIL_MAX_SLOTS - 1, &mhz, &s->err) == CEIL_OK &&
	           mhz > 50.0 && mhz < 10000.0,
	   "the clock between them is a clock");
}

/* ---- memory */

static void test_memory_kind(struct suite *s, enum ceil_memory memory)
{
	struct ceil_buffer b = {memory, CEIL_INPUT, CEIL_FP32, -1, 1 << 20};
	void *ptr = NULL;
	const enum ceil_status st = s->b->alloc(s->dev, &b, &ptr, &s->err);

	if (st == CEIL_E_UNSUPPORTED) {
		ok(!ptr && s->err.text[0], "memory kind %d is refused in words", (int)memory);
		return;
	}
	ok(st == CEIL_OK && ptr, "memory kind %d", (int)memory);
	s->b->free(s->dev, &b, ptr);
}

static void test_memory(struct suite *s)
{
	struct ceil_buffer huge = {CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, -1, UINT64_C(1) << 50};
	struct ceil_launch l = {0};
	void *ptr = NULL;

	s->err.text[0] = '\0';
	is_int(s->b->alloc(s->dev, &huge, &ptr, &s->err), CEIL_E_NOMEM, "2^50 bytes are too many");
	ok(!ptr && s->err.text[0], "which it says in words");
	for (unsigned m = CEIL_MEM_DEVICE; m <= CEIL_MEM_MAPPED; m++)
		test_memory_kind(s, (enum ceil_memory)m);
	ok(s->b->bind(s->dev, &l, &s->err) == CEIL_OK && l.stream[0], "a launch gets its stream");
	if (s->b->flush_cache)
		ok(s->b->flush_cache(s->dev, &s->err) == CEIL_OK &&
		           s->b->sync(s->dev, TIMEOUT_NS, &s->err) == CEIL_OK,
		   "the cache is flushed");
}

void conformance_run(const struct ceil_backend *b)
{
	struct suite s = {.b = b};

	test_devices(&s);
	if (!s.dev)
		return;
	test_props(&s);
	test_memory(&s);
	test_data(&s);
	test_large(&s);
	test_matrices(&s);
	test_marks(&s);
	test_gate(&s);
	test_clock(&s);
	b->close(s.dev);
}
