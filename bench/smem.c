/* The smem bench: how fast an SM reads its shared memory and its L1 cache. */
#include "bench/smem.h"

#include "bench/check.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "kernels/smem.h"

#include <stdlib.h>
#include <string.h>

static bool is_shared(const struct ceil_variant *v)
{
	return strncmp(v->name, "shared.", strlen("shared.")) == 0;
}

/* ---- shape and work */

static enum ceil_status smem_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                   struct ceil_launch *ret_l,
                                   struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                   struct ceil_error *err)
{
	const struct ceil_variant *v = p->variant;
	const uint64_t turns = p->cas->axis[0];
	const uint32_t tile_bytes = v->threads * CEIL_SMEM_VECTORS * 16;

	if (turns == 0 || turns > UINT32_MAX)
		return ceil_fail(err, CEIL_E_USAGE, "%llu turns: at least 1, at most 2^32 - 1",
		                 (unsigned long long)turns);
	ret_l->iters = (uint32_t)turns;
	ret_l->threads = v->threads;
	ret_l->blocks = (uint32_t)d->sm_count * v->blocks_per_sm;
	ret_l->smem_bytes = is_shared(v) ? tile_bytes : 0;
	ret_buf[CEIL_SMEM_TILE] = ceil_bench_buffer(CEIL_INPUT, v->types.a, tile_bytes);
	ret_buf[CEIL_SMEM_SUMS] =
		ceil_bench_buffer(CEIL_OUTPUT, CEIL_INT32, 4ull * v->threads * ret_l->blocks);
	return CEIL_OK;
}

static void smem_work(const struct ceil_point *p, const struct ceil_launch *l,
                      struct ceil_work *ret_w)
{
	(void)p;
	*ret_w = (struct ceil_work){
		.bytes_read = 16.0 * CEIL_SMEM_VECTORS * l->iters * l->threads * l->blocks,
	};
}

/* ---- check */

/* What thread t reads in a turn: vectors t, t + T, ... of 16 bytes. */
static uint64_t words_of_thread(const struct ceil_check_sums *s, const struct ceil_launch *l,
                                enum ceil_dtype t, uint32_t thread)
{
	const uint64_t each = 128 / ceil_dtype_info(t)->bits; /* elements of a vector */
	uint64_t sum = 0;

	for (uint64_t k = 0; k < CEIL_SMEM_VECTORS; k++) {
		const uint64_t from = (thread + k * l->threads) * each;

		sum += ceil_check_sums_between(s, from, from + each);
	}
	return sum;
}

static enum ceil_status smem_check(const struct ceil_point *p, struct ceil_device *dev,
                                   const struct ceil_launch *l,
                                   const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                   struct ceil_error *err)
{
	struct ceil_check_sums *s = ceil_alloc(1, sizeof(*s), err);
	uint64_t want = 0;

	if (!s)
		return CEIL_E_NOMEM;
	ceil_check_sums_of_words(s, p->variant->types.a, p->bench->check_pattern, seed,
	                         CEIL_SMEM_TILE);
	for (uint32_t t = 0; t < l->threads; t++) {
		const uint64_t sum = l->iters * words_of_thread(s, l, p->variant->types.a, t);

		want += ceil_check_repeated((uint32_t)sum, t, l->threads, l->blocks);
	}
	free(s);
	return ceil_check_hash(p, dev, &buf[CEIL_SMEM_SUMS], l->buf[CEIL_SMEM_SUMS], want, err);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"turns", "", "of the loop, eight vectors of 16 bytes a thread each"},
};

static const struct ceil_case cases[] = {
	{"16384", "cuda", true, {16384}},
};

#define FORM(level, ceiling_, thread_count, per_sm, is_quick, text)                                \
	{                                                                                          \
		.name = #level ".t" #thread_count ".sm" #per_sm, .backend = "cuda", .doc = text,   \
		.ceiling = ceiling_, .unit = CEIL_GB_S,                                            \
		.types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32}, .resource = CEIL_R_SMEM,    \
		.timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_smem_read_##level),                   \
		.threads = thread_count, .per_thread = CEIL_SMEM_VECTORS, .blocks_per_sm = per_sm, \
		.pattern = CEIL_NORMAL, .gated = true, .tolerance = 0.01, .quick = is_quick        \
	}
#define SHARED "loads of 16 bytes from shared memory, no bank conflicts"
#define L1     "loads of 16 bytes from lines that the L1 holds"

static const struct ceil_variant variants[] = {
	FORM(shared, "smem.read", 256, 4, true, SHARED),
	FORM(shared, "smem.read", 256, 2, false, SHARED),
	FORM(l1, "l1.read", 256, 4, true, L1),
	FORM(l1, "l1.read", 256, 8, false, L1),
	FORM(l1, "l1.read", 512, 2, false, L1),
};

const struct ceil_bench ceil_smem_bench = {
	.name = "smem",
	.summary = "reads of shared memory and of the L1 cache, all SMs together",
	.doc = "Every block reads one tile again and again: from its copy in shared memory, or "
	       "from "
	       "global memory through the L1, which holds it. Both are one memory, with 32 banks "
	       "of "
	       "4 bytes: 128 bytes a clock and SM in theory.",
	.source = "CUDA C++ Programming Guide: shared memory, banks",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_SMEM_BUFFERS,
	.concurrent = true,
	.repeatable = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = smem_shape,
	.work = smem_work,
	.check = smem_check,
};
