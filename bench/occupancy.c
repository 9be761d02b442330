/* The occupancy bench: how many warps, and how many SMs, it takes to fill memory or a pipe. */
#include "bench/occupancy.h"

#include "bench/dram.h"
#include "bench/pipes.h"
#include "harness/base/dtype.h"
#include "kernels/dram.h"
#include "kernels/pipes.h"

#include <string.h>

#define GIB (UINT64_C(1) << 30)

/* Both kernels take 512 threads a block at most. */
enum { MAX_WARPS = 16 };

static bool is_read(const struct ceil_variant *v)
{
	return strncmp(v->name, "read.", strlen("read.")) == 0;
}

/* ---- shape: buffers as the dram and pipes benches have them */

static enum ceil_status shape_read(const struct ceil_point *p, const struct ceil_device_props *d,
                                   struct ceil_launch *l, struct ceil_buffer *buf,
                                   struct ceil_error *err)
{
	const uint64_t least = 4 * d->llc_bytes;
	const uint64_t own = least > GIB || GIB > d->free_bytes ? least : GIB;
	const uint64_t wish = p->cas->axis[CEIL_OCCUPANCY_SIZE];
	const uint64_t bytes = (wish ? wish : own) / 16 * 16;

	if (bytes > d->free_bytes)
		return ceil_bench_no_room(d, p->variant->ceiling, bytes, /* why= */ NULL, err);
	l->n = bytes * 8 / ceil_dtype_info(p->variant->types.a)->bits;
	buf[CEIL_DRAM_A] = ceil_bench_buffer(CEIL_INPUT, p->variant->types.a, bytes);
	buf[CEIL_DRAM_C] = ceil_bench_buffer(CEIL_OUTPUT, CEIL_INT32, 4ull * l->blocks);
	return CEIL_OK;
}

static enum ceil_status shape_fma(const struct ceil_point *p, struct ceil_launch *l,
                                  struct ceil_buffer *buf, struct ceil_error *err)
{
	const uint64_t wish = p->cas->axis[CEIL_OCCUPANCY_SIZE];
	const uint64_t steps = wish ? wish : ceil_pipes_operation_of(p->variant)->steps;
	const uint64_t bytes = 4ull * l->threads;

	if (steps % p->variant->per_thread != 0)
		return ceil_fail(err, CEIL_E_USAGE, "%llu steps are no multiple of %u",
		                 (unsigned long long)steps, p->variant->per_thread);
	l->n = steps;
	l->iters = (uint32_t)(steps / p->variant->per_thread);
	buf[CEIL_PIPES_CONSTANTS] = ceil_bench_buffer(CEIL_INPUT, p->variant->types.a, bytes);
	buf[CEIL_PIPES_IN] =
		ceil_bench_buffer(CEIL_INPUT, p->variant->types.a, CEIL_PIPES_VALUES * bytes);
	buf[CEIL_PIPES_OUT] = ceil_bench_buffer(CEIL_OUTPUT, p->variant->types.out,
	                                        CEIL_PIPES_VALUES * bytes * l->blocks);
	return CEIL_OK;
}

/*
 * Blocks of all the warps that an SM shall have, or, above 16, of 16: the device hands them out
 * one to each SM before any SM gets a second.
 */
static enum ceil_status occupancy_shape(const struct ceil_point *p,
                                        const struct ceil_device_props *d,
                                        struct ceil_launch *ret_l,
                                        struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                        struct ceil_error *err)
{
	const uint64_t warps = p->cas->axis[CEIL_OCCUPANCY_WARPS];
	const uint64_t wish = p->cas->axis[CEIL_OCCUPANCY_SMS];
	const uint64_t sms = wish ? wish : (uint64_t)d->sm_count;
	const uint64_t each = warps < MAX_WARPS ? warps : MAX_WARPS;

	if (warps == 0 || warps > 64 || warps % each != 0 || sms > (uint64_t)d->sm_count)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%llu warps on each of %llu SMs: at most 64 (above 16 whole 16s), "
		                 "%d SMs",
		                 (unsigned long long)warps, (unsigned long long)sms, d->sm_count);
	ret_l->threads = (uint32_t)(32 * each);
	ret_l->blocks = (uint32_t)(sms * (warps / each));
	return is_read(p->variant) ? shape_read(p, d, ret_l, ret_buf, err)
	                           : shape_fma(p, ret_l, ret_buf, err);
}

/* What a small part has no room for is no point of its curve. */
static bool occupancy_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	return !d || p->cas->axis[CEIL_OCCUPANCY_SMS] < (uint64_t)d->sm_count;
}

static void occupancy_work(const struct ceil_point *p, const struct ceil_launch *l,
                           struct ceil_work *ret_w)
{
	if (is_read(p->variant))
		ceil_dram_work(p, l, ret_w);
	else
		ceil_pipes_work(p, l, ret_w);
}

static enum ceil_status occupancy_check(const struct ceil_point *p, struct ceil_device *dev,
                                        const struct ceil_launch *l,
                                        const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                        struct ceil_error *err)
{
	return is_read(p->variant) ? ceil_dram_check(p, dev, l, buf, seed, err)
	                           : ceil_pipes_check(p, dev, l, buf, seed, err);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"warps", "", "on each SM that has any"},
	{"sms", "", "that have warps; 0: all"},
	{"size", "", "bytes to read, or steps of multiply-adds; 0: milliseconds of them"},
};

#define WARPS(n)                                                                                   \
	{                                                                                          \
		.name = #n " warps", .backend = "cuda", .axis = { n, 0, 0 }                        \
	}
#define SMS(n)                                                                                     \
	{                                                                                          \
		.name = #n " SMs", .backend = "cuda", .axis = { MAX_WARPS, n, 0 }                  \
	}
static const struct ceil_case cases[] = {
	WARPS(1), WARPS(2), WARPS(4), WARPS(8), WARPS(16), WARPS(32), WARPS(64), SMS(1),
	SMS(2),   SMS(4),   SMS(8),   SMS(16),  SMS(32),   SMS(64),   SMS(96),   SMS(128),
};

#define SWEEP                                                                                      \
	.backend = "cuda", .types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32},                  \
	.timing = CEIL_TIME_MARKS, .pattern = CEIL_NORMAL, .gated = true, .sweep = true

static const struct ceil_variant variants[] = {
	{.name = "read.cs.x8",
         .doc = "reads of memory, eight loads of 16 bytes in flight for each thread",
         .ceiling = "occupancy.read",
         .unit = CEIL_GB_S,
         .resource = CEIL_R_DRAM,
         CEIL_IF_CUDA(ceil_dram_read_cs_x8_fp32),
         .per_thread = 8,
         SWEEP},
	{.name = "fma.s192",
         .doc = "fp32 multiply-adds, eight independent ones in each thread",
         .ceiling = "occupancy.fma",
         .unit = CEIL_TFLOP_S,
         .resource = CEIL_R_FMA,
         CEIL_IF_CUDA(ceil_pipes_fma_fp32_192),
         .per_thread = 192,
         SWEEP},
};

const struct ceil_bench ceil_occupancy_bench = {
	.name = "occupancy",
	.summary = "how many warps and SMs it takes to fill memory or a pipe",
	.doc = "The same reads and multiply-adds with 1 to 64 warps on every SM, and with 16 warps "
	       "on "
	       "1 SM to all. A GPU that is busy by nvidia-smi's measure may do any of these rates: "
	       "one SM of many, or one warp on each.",
	.source = "GPU-Util by nvidia-smi: the share of time in which any kernel runs",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_PIPES_BUFFERS,
	.concurrent = true,
	.repeatable = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = occupancy_shape,
	.work = occupancy_work,
	.applies = occupancy_applies,
	.check = occupancy_check,
};
