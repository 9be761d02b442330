/* The atomic bench: how many additions to memory a second, to one place and to many. */
#include "bench/atomic.h"

#include "bench/check.h"
#include "kernels/atomic.h"

#include <string.h>

/* ---- shape and work */

static uint64_t threads_of(const struct ceil_launch *l)
{
	return (uint64_t)l->blocks * l->threads;
}

static bool is_spread(const struct ceil_variant *v)
{
	return strncmp(v->name, "spread.", strlen("spread.")) == 0;
}

static enum ceil_status atomic_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                     struct ceil_launch *ret_l,
                                     struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                     struct ceil_error *err)
{
	const struct ceil_variant *v = p->variant;
	const uint64_t turns = p->cas->axis[0] ? p->cas->axis[0] : v->per_thread;

	if (turns > UINT32_MAX)
		return ceil_fail(err, CEIL_E_USAGE, "%llu turns are more than 2^32 - 1",
		                 (unsigned long long)turns);
	ret_l->iters = (uint32_t)turns;
	ret_l->threads = v->threads;
	ret_l->blocks = (uint32_t)d->sm_count * v->blocks_per_sm;
	ret_l->n = is_spread(v) ? threads_of(ret_l) : 1;
	ret_buf[CEIL_ATOMIC_COUNTERS] = ceil_bench_array(CEIL_OUTPUT, CEIL_INT32, ret_l->n);
	return CEIL_OK;
}

static void atomic_work(const struct ceil_point *p, const struct ceil_launch *l,
                        struct ceil_work *ret_w)
{
	(void)p;
	*ret_w = (struct ceil_work){
		.items = (double)threads_of(l) * l->iters * CEIL_ATOMIC_UNROLL,
	};
}

/* ---- check: counters begin as poison, every bit set, which is -1 */

static enum ceil_status atomic_check(const struct ceil_point *p, struct ceil_device *dev,
                                     const struct ceil_launch *l,
                                     const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                     struct ceil_error *err)
{
	const uint64_t adders = threads_of(l) / l->n;
	const uint32_t count =
		(uint32_t)(adders * l->iters * CEIL_ATOMIC_UNROLL) + UINT32_MAX; /* modulo 2^32 */

	(void)seed;
	return ceil_check_hash(p, dev, &buf[CEIL_ATOMIC_COUNTERS], l->buf[CEIL_ATOMIC_COUNTERS],
	                       ceil_check_repeated(count, 0, 1, l->n), err);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"turns", "", "of the loop, eight additions a thread each; 0: the variant's own"},
};

static const struct ceil_case cases[] = {
	{"default", "cuda", true, {0}},
};

#define ADD(place, turns, text)                                                                    \
	{                                                                                          \
		.name = #place ".add", .backend = "cuda", .doc = text,                             \
		.ceiling = "atomic." #place, .unit = CEIL_PER_S,                                   \
		.types = {CEIL_INT32, CEIL_INT32, CEIL_INT32, CEIL_INT32}, .resource = CEIL_R_L2,  \
		.timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_atomic_add), .threads = 256,          \
		.per_thread = turns, .blocks_per_sm = 8, .pattern = CEIL_NORMAL, .gated = true,    \
		.tolerance = 0.05                                                                  \
	}

/* per_thread: turns of the default case, which last a few milliseconds. */
static const struct ceil_variant variants[] = {
	ADD(same, 4, "every thread adds to one counter"),
	ADD(spread, 128, "every thread adds to a counter of its own, neighbours side by side"),
};

const struct ceil_bench ceil_atomic_bench = {
	.name = "atomic",
	.summary = "atomic additions a second, to one counter and to one for each thread",
	.doc = "All threads add 1 to 32-bit counters in global memory, which the L2 does; nothing "
	       "is "
	       "read back. The value is additions a second, counted by thread.",
	.source = "PTX ISA 9.0: red.global.add.u32",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_ATOMIC_BUFFERS,
	.concurrent = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = atomic_shape,
	.work = atomic_work,
	.check = atomic_check,
};
