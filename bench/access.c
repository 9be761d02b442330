/* The access bench: memory that is read in single sectors, strided or in random order. */
#include "bench/access.h"

#include "bench/check.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "kernels/access.h"

#include <stdlib.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

enum { SECTORS_OF_BLOCK = CEIL_ACCESS_LOADS * CEIL_ACCESS_THREADS / 2 };

static bool is_random(const struct ceil_variant *v)
{
	return strncmp(v->name, "random.", strlen("random.")) == 0;
}

/* ---- shape and work */

/* A power of two: at most the wish and what may be used, at least four times the cache. */
static enum ceil_status array_bytes(const struct ceil_point *p, const struct ceil_device_props *d,
                                    uint64_t *ret_bytes, struct ceil_error *err)
{
	const uint64_t wish = p->cas->axis[CEIL_ACCESS_BYTES];
	const uint64_t least = wish ? wish : 4 * d->llc_bytes;
	const uint64_t most = wish ? wish : 8 * GIB;
	char need[32];
	uint64_t bytes = 1;

	while (bytes * 2 <= most && bytes * 2 <= d->free_bytes)
		bytes *= 2;
	if (bytes < least) {
		if (!wish)
			return ceil_bench_no_room(d, p->variant->ceiling, least,
			                          "four times the last-level cache", err);
		ceil_human_bytes(need, sizeof(need), least);
		return ceil_fail(err, CEIL_E_USAGE, "needs a power of two of at least %s of memory",
		                 need);
	}
	*ret_bytes = bytes;
	return CEIL_OK;
}

static enum ceil_status access_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                     struct ceil_launch *ret_l,
                                     struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                     struct ceil_error *err)
{
	const uint64_t stride = p->cas->axis[CEIL_ACCESS_STRIDE];
	uint64_t bytes = 0;
	const enum ceil_status st = array_bytes(p, d, &bytes, err);

	if (st != CEIL_OK)
		return st;
	ret_l->k = is_random(p->variant) ? 1 : stride;
	if (ret_l->k == 0)
		return ceil_fail(err, CEIL_E_USAGE, "a stride of 0 sectors: at least 1");
	ret_l->n =
		bytes / CEIL_ACCESS_SECTOR_BYTES / ret_l->k / SECTORS_OF_BLOCK * SECTORS_OF_BLOCK;
	if (ret_l->n == 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "a stride of %llu sectors leaves less than a block's work",
		                 (unsigned long long)stride);
	ret_l->threads = CEIL_ACCESS_THREADS;
	ret_l->blocks = (uint32_t)(ret_l->n / SECTORS_OF_BLOCK);
	ret_buf[CEIL_ACCESS_ARRAY] = ceil_bench_buffer(CEIL_INPUT, p->variant->types.a, bytes);
	ret_buf[CEIL_ACCESS_SUMS] =
		ceil_bench_buffer(CEIL_OUTPUT, CEIL_INT32, 4ull * ret_l->blocks);
	return CEIL_OK;
}

/* What was wanted; memory may move more for it. */
static void access_work(const struct ceil_point *p, const struct ceil_launch *l,
                        struct ceil_work *ret_w)
{
	(void)p;
	*ret_w = (struct ceil_work){
		.bytes_read = (double)CEIL_ACCESS_SECTOR_BYTES * (double)l->n,
		.bytes_written = 4.0 * l->blocks,
	};
}

static bool access_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	(void)d;
	return is_random(p->variant) == (p->cas->axis[CEIL_ACCESS_STRIDE] == 0);
}

/* ---- check */

/* The words of sectors 0, k, 2 k, ... of count of them: their sum repeats with CEIL_PERIOD. */
static uint64_t sum_of_sectors(const struct ceil_check_sums *s, const struct ceil_launch *l,
                               uint64_t elements, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += ceil_check_sums_between(s, i * l->k * elements, (i * l->k + 1) * elements);
	return sum;
}

/* In which order is not known in closed form, but each sector is read once: all blocks together. */
static enum ceil_status access_check(const struct ceil_point *p, struct ceil_device *dev,
                                     const struct ceil_launch *l,
                                     const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                     struct ceil_error *err)
{
	const uint64_t elements =
		CEIL_ACCESS_SECTOR_BYTES * 8 / ceil_dtype_info(p->variant->types.a)->bits;
	struct ceil_check_sums *s = ceil_alloc(1, sizeof(*s), err);
	uint32_t *got = ceil_alloc(l->blocks, sizeof(*got), err);
	enum ceil_status st = CEIL_E_NOMEM;
	uint32_t want;
	uint32_t sum = 0;

	if (!s || !got)
		goto out;
	ceil_check_sums_of_words(s, p->variant->types.a, p->bench->check_pattern, seed,
	                         CEIL_ACCESS_ARRAY);
	want = (uint32_t)(l->n / CEIL_PERIOD * sum_of_sectors(s, l, elements, CEIL_PERIOD) +
	                  sum_of_sectors(s, l, elements, l->n % CEIL_PERIOD));
	st = dev->backend->read(dev, got, l->buf[CEIL_ACCESS_SUMS], buf[CEIL_ACCESS_SUMS].bytes,
	                        err);
	for (uint32_t b = 0; b < l->blocks; b++)
		sum += got[b];
	if (st == CEIL_OK && sum != want)
		st = ceil_fail(err, CEIL_E_WRONG,
		               "%s: the words of %llu sectors add up to %08x, expected %08x",
		               p->variant->name, (unsigned long long)l->n, sum, want);
out:
	free(got);
	free(s);
	return st;
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"stride", "sectors", "from one sector of 32 bytes to the next; 0: random order"},
	{"bytes", "bytes", "of the array; 0: 8 GiB, or less where there is less"},
};

#define STRIDE(n)                                                                                  \
	{                                                                                          \
		.name = "stride " #n, .backend = "cuda", .axis = { n, 0 }                          \
	}
static const struct ceil_case cases[] = {
	{"random", "cuda", true, {0, 0}},
	STRIDE(1),
	STRIDE(2),
	STRIDE(4),
	STRIDE(8),
	STRIDE(16),
	STRIDE(64),
};

#define FORM(order)                                                                                \
	.backend = "cuda", .unit = CEIL_GB_S,                                                      \
	.types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32}, .resource = CEIL_R_DRAM,            \
	.timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_access_##order),                              \
	.threads = CEIL_ACCESS_THREADS, .per_thread = CEIL_ACCESS_LOADS, .pattern = CEIL_NORMAL,   \
	.gated = true

static const struct ceil_variant variants[] = {
	{.name = "random.sector",
         .doc = "sectors of 32 bytes, each once, in shuffled order",
         .ceiling = "dram.random",
         .tolerance = 0.01,
         FORM(random)},
	{.name = "strided.sector",
         .doc = "sectors of 32 bytes in strides",
         .ceiling = "dram.strided",
         .sweep = true,
         FORM(strided)},
};

const struct ceil_bench ceil_access_bench = {
	.name = "access",
	.summary = "memory read in single sectors of 32 bytes: in random order, in strides",
	.doc = "Two threads read a sector of 32 bytes, the least that a cache line is read in; "
	       "every "
	       "sector is read once. The value counts the bytes that were wanted: memory moves 64 "
	       "bytes at a time, so at most about half of its rate is useful.",
	.source = "CUDA C++ Best Practices Guide: coalesced access, sectors of 32 bytes",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_ACCESS_BUFFERS,
	.concurrent = true,
	.repeatable = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = access_shape,
	.work = access_work,
	.applies = access_applies,
	.check = access_check,
};
