/* The l2 bench: how fast all SMs read the L2 cache, and an array of any size. */
#include "bench/l2.h"

#include "bench/check.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "kernels/l2.h"

#include <stdlib.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* A launch reads so much, or the array once: 1.6 ms from an L2 that gives 10 TB/s. */
#define LAUNCH_BYTES (16 * GIB)

/* ---- shape and work */

/* What all blocks read at one time. */
static uint64_t window_bytes(const struct ceil_variant *v, const struct ceil_device_props *d)
{
	return (uint64_t)d->sm_count * v->blocks_per_sm * v->threads * v->per_thread * 16;
}

/*
 * Whole groups of what the case wishes; of a share of the cache as many for each block, which are
 * its own. SMs that want one line at nearly the same time are served by one read of it: where
 * blocks met on their way, an H200 read 56.0 M sectors for 67.0 M that arrived.
 */
static enum ceil_status array_bytes(const struct ceil_point *p, const struct ceil_device_props *d,
                                    uint64_t group_bytes, uint64_t *ret_bytes,
                                    struct ceil_error *err)
{
	const uint64_t share = p->cas->axis[CEIL_L2_SHARE];
	uint64_t bytes = p->cas->axis[CEIL_L2_BYTES];

	if (share > 0 && d->l2_bytes == 0)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "the size of the L2 is unknown");
	if (share > 0)
		bytes = d->l2_bytes / share / window_bytes(p->variant, d) *
		        window_bytes(p->variant, d);
	if (bytes < group_bytes)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%llu bytes are less than the %llu that one block reads",
		                 (unsigned long long)bytes, (unsigned long long)group_bytes);
	if (bytes > d->free_bytes)
		return ceil_bench_no_room(d, p->variant->ceiling, bytes, /* why= */ NULL, err);
	*ret_bytes = bytes / group_bytes * group_bytes;
	return CEIL_OK;
}

static enum ceil_status l2_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                 struct ceil_launch *ret_l,
                                 struct ceil_buffer ret_buf[CEIL_MAX_BUFS], struct ceil_error *err)
{
	const struct ceil_variant *v = p->variant;
	const uint64_t group_bytes = (uint64_t)v->threads * v->per_thread * 16;
	const uint64_t blocks = (uint64_t)d->sm_count * v->blocks_per_sm;
	uint64_t bytes = 0;
	const enum ceil_status st = array_bytes(p, d, group_bytes, &bytes, err);

	if (st != CEIL_OK)
		return st;
	const uint64_t wish = p->cas->axis[CEIL_L2_TRAFFIC];
	const uint64_t least = wish ? wish : LAUNCH_BYTES;
	const uint64_t all = bytes > least ? bytes : least;

	ret_l->n = bytes;
	ret_l->k = p->cas->axis[CEIL_L2_SHARE] ? bytes / window_bytes(v, d) : 0;
	ret_l->threads = v->threads;
	ret_l->blocks = (uint32_t)blocks;
	ret_l->iters = (uint32_t)((all + group_bytes * blocks - 1) / (group_bytes * blocks));
	ret_buf[CEIL_L2_ARRAY] = ceil_bench_buffer(CEIL_INPUT, v->types.a, bytes);
	ret_buf[CEIL_L2_SUMS] = ceil_bench_array(CEIL_OUTPUT, CEIL_INT32, blocks);
	return CEIL_OK;
}

static void l2_work(const struct ceil_point *p, const struct ceil_launch *l,
                    struct ceil_work *ret_w)
{
	*ret_w = (struct ceil_work){
		.bytes_read = 16.0 * l->threads * p->variant->per_thread * l->blocks * l->iters,
		.bytes_written = 4.0 * l->blocks,
	};
}

/*
 * A curve has sizes in bytes, a ceiling shares of the cache (of a window at least), or whatever the
 * user says.
 */
static bool l2_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	const uint64_t share = p->cas->axis[CEIL_L2_SHARE];

	if (p->variant->sweep != (!p->apart && share == 0))
		return false;
	return share == 0 || !d || d->l2_bytes == 0 ||
	       d->l2_bytes / share >= window_bytes(p->variant, d);
}

/* ---- check */

static uint32_t expected_sum(const struct ceil_check_sums *s, const struct ceil_point *p,
                             const struct ceil_launch *l, uint32_t block)
{
	const uint64_t words = ceil_dtype_info(p->variant->types.a)->bits / 32;
	const uint64_t span = (uint64_t)l->threads * p->variant->per_thread * 4 / words;
	const uint64_t first = block * l->k;
	const uint64_t groups = l->k ? l->k : l->n / 4 / words / span;
	const uint64_t step = l->k ? 1 : l->blocks;
	uint64_t at = block % groups;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->iters; i++) {
		sum += ceil_check_sums_between(s, (first + at) * span, (first + at + 1) * span);
		at = (at + step) % groups;
	}
	return (uint32_t)sum;
}

static enum ceil_status l2_check(const struct ceil_point *p, struct ceil_device *dev,
                                 const struct ceil_launch *l,
                                 const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                 struct ceil_error *err)
{
	struct ceil_check_sums *s = ceil_alloc(1, sizeof(*s), err);
	uint64_t want = 0;

	if (!s)
		return CEIL_E_NOMEM;
	ceil_check_sums_of_words(s, p->variant->types.a, p->bench->check_pattern, seed,
	                         CEIL_L2_ARRAY);
	for (uint32_t b = 0; b < l->blocks; b++)
		want += ceil_hash_term(expected_sum(s, p, l, b), b);
	free(s);
	return ceil_check_hash(p, dev, &buf[CEIL_L2_SUMS], l->buf[CEIL_L2_SUMS], want, err);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"bytes", "bytes", "of the array"},
	{"share", "", "the array is at most the L2 divided by it; 0: it has so many bytes"},
	{"traffic", "bytes", "that a launch reads at least; 0: 16 GiB"},
};

#define SIZE(name_, bytes_)                                                                        \
	{                                                                                          \
		.name = (name_), .backend = "cuda", .axis = {(bytes_), 0 }                         \
	}
static const struct ceil_case cases[] = {
	{"L2/2", "cuda", true, {0, 2}}, {"L2/3", "cuda", false, {0, 3}}, SIZE("256KiB", 256 * KIB),
	SIZE("512KiB", 512 * KIB),      SIZE("1MiB", 1 * MIB),           SIZE("2MiB", 2 * MIB),
	SIZE("4MiB", 4 * MIB),          SIZE("8MiB", 8 * MIB),           SIZE("16MiB", 16 * MIB),
	SIZE("24MiB", 24 * MIB),        SIZE("32MiB", 32 * MIB),         SIZE("40MiB", 40 * MIB),
	SIZE("48MiB", 48 * MIB),        SIZE("56MiB", 56 * MIB),         SIZE("64MiB", 64 * MIB),
	SIZE("80MiB", 80 * MIB),        SIZE("96MiB", 96 * MIB),         SIZE("128MiB", 128 * MIB),
	SIZE("256MiB", 256 * MIB),      SIZE("1GiB", 1 * GIB),           SIZE("4GiB", 4 * GIB),
};

#define FORM(vectors, thread_count, per_sm)                                                        \
	.backend = "cuda", .unit = CEIL_GB_S,                                                      \
	.types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32}, .timing = CEIL_TIME_MARKS,          \
	CEIL_IF_CUDA(ceil_l2_read_x##vectors), .threads = thread_count, .per_thread = vectors,     \
	.blocks_per_sm = per_sm, .pattern = CEIL_NORMAL, .gated = true
#define READ(vectors, thread_count, per_sm, is_quick)                                              \
	{                                                                                          \
		.name = "read.x" #vectors ".t" #thread_count ".sm" #per_sm,                        \
		.doc = "loads of 16 bytes that pass by the L1", .ceiling = "l2.read",              \
		.resource = CEIL_R_L2, .tolerance = 0.05, .quick = is_quick,                       \
		FORM(vectors, thread_count, per_sm)                                                \
	}

static const struct ceil_variant variants[] = {
	READ(4, 1024, 1, true),
	READ(4, 512, 2, true),
	READ(2, 1024, 2, false),
	READ(4, 512, 1, false),
	READ(2, 256, 2, false), /* for many SMs that share a small cache */
	{.name = "curve.x8.t256.sm8",
         .doc = "the same reads of arrays of all sizes",
         .ceiling = "l2.curve",
         .resource = CEIL_R_L2,
         .sweep = true,
         FORM(8, 256, 8)},
};

const struct ceil_bench ceil_l2_bench = {
	.name = "l2",
	.summary = "reads of the L2 cache, and a curve over array sizes from L2 to memory",
	.doc = "All SMs read one array again and again with loads that pass by the L1. For the "
	       "ceiling every SM has a part of its own; the best of several shapes is the ceiling "
	       "of the L2. For the curve they read side by side, arrays from 256 KiB to several "
	       "GiB: where the L2 ends and memory begins; in small arrays SMs meet, and one read "
	       "of the L2 serves several of them. "
	       "No figure of the L2 is published, so theoretical stays empty.",
	.source = "gpu-l2-cache (te42kyfo, gpu-benches) for the idea of the curve",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_L2_BUFFERS,
	.concurrent = true,
	.repeatable = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = l2_shape,
	.work = l2_work,
	.applies = l2_applies,
	.check = l2_check,
};
