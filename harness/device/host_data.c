/* Filling, hashing and projecting host memory with all threads of a pool. */
#include "harness/device/host_data.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "harness/device/host.h"

/* A multiple of every page size in use, 4 to 64 KiB: a page is touched and filled by one worker. */
enum { PAGE_ALIGN = 65536 };

/* Elements stand in cells: one of 1, 2, 4 or 8 bytes, or two in a byte. */
static unsigned cell_bytes(enum ceil_dtype t)
{
	const uint32_t bits = ceil_dtype_info(t)->bits;

	return bits < 8 ? 1 : bits / 8;
}

static bool is_packed(enum ceil_dtype t)
{
	return ceil_dtype_info(t)->bits == 4;
}

static void store_cell(void *at, unsigned bytes, uint64_t bits)
{
	const uint32_t b32 = (uint32_t)bits;
	const uint16_t b16 = (uint16_t)bits;
	const uint8_t b8 = (uint8_t)bits;

	switch (bytes) {
	case 8:
		memcpy(at, &bits, 8);
		return;
	case 4:
		memcpy(at, &b32, 4);
		return;
	case 2:
		memcpy(at, &b16, 2);
		return;
	default:
		memcpy(at, &b8, 1);
	}
}

static uint64_t load_cell(const void *at, unsigned bytes)
{
	uint64_t b64;
	uint32_t b32;
	uint16_t b16;
	uint8_t b8;

	switch (bytes) {
	case 8:
		memcpy(&b64, at, 8);
		return b64;
	case 4:
		memcpy(&b32, at, 4);
		return b32;
	case 2:
		memcpy(&b16, at, 2);
		return b16;
	default:
		memcpy(&b8, at, 1);
		return b8;
	}
}

/* The bits of an element in a buffer. */
static uint64_t load_element(enum ceil_dtype t, const unsigned char *base, uint64_t index)
{
	const unsigned bytes = cell_bytes(t);

	if (is_packed(t))
		return (uint64_t)base[index / 2] >> (4 * (index % 2)) & 15u;
	return load_cell(base + index * bytes, bytes);
}

/* ---- touch */

struct touch_job {
	unsigned char *ptr;
	uint64_t bytes;
};

static void touch_share(void *arg, unsigned index, unsigned count)
{
	const struct touch_job *job = arg;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from, to;

	ceil_pool_share(job->bytes, PAGE_ALIGN, index, count, &from, &to);
	for (uint64_t at = from; at < to; at += page)
		((volatile unsigned char *)job->ptr)[at] = 0;
}

void ceil_host_touch(struct ceil_pool *pool, void *ptr, uint64_t bytes)
{
	struct touch_job job = {.ptr = ptr, .bytes = bytes};

	ceil_pool_run(pool, touch_share, &job);
}

/* ---- fill */

struct fill_job {
	unsigned char *ptr;
	uint64_t bytes, seed;
	enum ceil_dtype dtype;
	enum ceil_pattern pattern;
	uint32_t buffer;
	unsigned cell;               /* bytes */
	const unsigned char *period; /* CEIL_PERIOD cells, or NULL */
};

static uint64_t cell_value(const struct fill_job *job, uint64_t index)
{
	const enum ceil_dtype t = job->dtype;
	uint64_t low, high;

	if (!is_packed(t))
		return ceil_element(t, job->pattern, job->seed, job->buffer, index);
	low = ceil_element(t, job->pattern, job->seed, job->buffer, 2 * index);
	high = ceil_element(t, job->pattern, job->seed, job->buffer, 2 * index + 1);
	return (low & 15u) | (high & 15u) << 4;
}

/* The two types of most buffers, with the type known to the compiler. */
static void fill_fp32(const struct fill_job *job, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		store_cell(job->ptr + 4 * i, 4,
		           ceil_element(CEIL_FP32, job->pattern, job->seed, job->buffer, i));
}

static void fill_fp64(const struct fill_job *job, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		store_cell(job->ptr + 8 * i, 8,
		           ceil_element(CEIL_FP64, job->pattern, job->seed, job->buffer, i));
}

static void fill_any(const struct fill_job *job, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		store_cell(job->ptr + i * job->cell, job->cell, cell_value(job, i));
}

static void fill_periodic(const struct fill_job *job, uint64_t from, uint64_t to)
{
	uint64_t phase = from % CEIL_PERIOD;

	while (from < to) {
		const uint64_t room = CEIL_PERIOD - phase;
		const uint64_t cells = room < to - from ? room : to - from;

		memcpy(job->ptr + from * job->cell, job->period + phase * job->cell,
		       cells * job->cell);
		from += cells;
		phase = 0;
	}
}

static void fill_share(void *arg, unsigned index, unsigned count)
{
	const struct fill_job *job = arg;
	uint64_t from, to;

	ceil_pool_share(job->bytes, PAGE_ALIGN, index, count, &from, &to);
	from /= job->cell;
	to /= job->cell;
	if (job->period)
		fill_periodic(job, from, to);
	else if (job->dtype == CEIL_FP32 || job->dtype == CEIL_TF32)
		fill_fp32(job, from, to);
	else if (job->dtype == CEIL_FP64)
		fill_fp64(job, from, to);
	else
		fill_any(job, from, to);
}

void ceil_host_fill(struct ceil_pool *pool, void *ptr, uint64_t bytes, enum ceil_dtype dtype,
                    enum ceil_pattern pattern, uint64_t seed, uint32_t buffer)
{
	/* Two elements in a cell double no period: CEIL_PERIOD is odd. */
	unsigned char period[CEIL_PERIOD * 8];
	struct fill_job job = {
		.ptr = ptr,
		.bytes = bytes,
		.seed = seed,
		.dtype = dtype,
		.pattern = pattern,
		.buffer = buffer,
		.cell = cell_bytes(dtype),
	};
	struct fill_job one = job;

	if (pattern != CEIL_NORMAL && pattern != CEIL_TERNARY) {
		one.ptr = period;
		fill_any(&one, 0, CEIL_PERIOD);
		job.period = period;
	}
	ceil_pool_run(pool, fill_share, &job);
}

/* ---- hash */

struct hash_job {
	const unsigned char *ptr;
	uint64_t bytes;
	enum ceil_dtype dtype;
	_Atomic uint64_t sum;
};

static uint64_t hash_u32(const unsigned char *ptr, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (uint64_t i = from; i < to; i++)
		sum += ceil_hash_term(load_cell(ptr + 4 * i, 4), i);
	return sum;
}

static uint64_t hash_any(const struct hash_job *job, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (uint64_t i = from; i < to; i++)
		sum += ceil_hash_term(load_element(job->dtype, job->ptr, i), i);
	return sum;
}

static void hash_share(void *arg, unsigned index, unsigned count)
{
	struct hash_job *job = arg;
	const uint32_t bits = ceil_dtype_info(job->dtype)->bits;
	uint64_t from, to;

	ceil_pool_share(job->bytes, PAGE_ALIGN, index, count, &from, &to);
	from = from * 8 / bits;
	to = to * 8 / bits;
	atomic_fetch_add(&job->sum,
	                 bits == 32 ? hash_u32(job->ptr, from, to) : hash_any(job, from, to));
}

uint64_t ceil_host_hash(struct ceil_pool *pool, const void *ptr, uint64_t bytes,
                        enum ceil_dtype dtype)
{
	struct hash_job job = {.ptr = ptr, .bytes = bytes, .dtype = dtype};

	ceil_pool_run(pool, hash_share, &job);
	return atomic_load(&job.sum);
}

/* ---- project */

struct project_job {
	const struct ceil_matrix *m;
	const int64_t *x;
	int64_t *y;
};

/* Rows that go together: one line of a row-major matrix each stays in the first cache. */
enum { ROWS = 64 };

/* The element as a whole number; false if it is none, or none of 64 bits. */
static bool whole(enum ceil_dtype t, uint64_t bits, int64_t *ret_value)
{
	double x;

	if (t == CEIL_INT64) { /* a double would lose its low bits */
		*ret_value = (int64_t)bits;
		return true;
	}
	x = ceil_decode(t, bits);
	if (!(fabs(x) < 0x1p63) || x != rint(x))
		return false;
	*ret_value = (int64_t)x;
	return true;
}

static void project_rows(const struct project_job *job, uint64_t row, unsigned count)
{
	const struct ceil_matrix *m = job->m;
	bool bad[ROWS] = {false};
	uint64_t sum[ROWS] = {0};

	for (uint64_t c = 0; c < m->cols; c++) {
		for (unsigned r = 0; r < count; r++) {
			const uint64_t at = (row + r) * m->row_stride + c * m->col_stride;
			int64_t v = 0;

			if (!whole(m->dtype, load_element(m->dtype, m->ptr, at), &v))
				bad[r] = true;
			sum[r] += (uint64_t)v * (uint64_t)job->x[c];
		}
	}
	for (unsigned r = 0; r < count; r++)
		job->y[row + r] = bad[r] ? INT64_MIN : (int64_t)sum[r];
}

static void project_share(void *arg, unsigned index, unsigned count)
{
	const struct project_job *job = arg;
	uint64_t from, to;

	ceil_pool_share(job->m->rows, 1, index, count, &from, &to);
	for (; from < to; from += ROWS)
		project_rows(job, from, to - from < ROWS ? (unsigned)(to - from) : ROWS);
}

void ceil_host_project(struct ceil_pool *pool, const struct ceil_matrix *m, const int64_t *x,
                       int64_t *ret_y)
{
	struct project_job job = {.m = m, .x = x, .y = ret_y};

	ceil_pool_run(pool, project_share, &job);
}
