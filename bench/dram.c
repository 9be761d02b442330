/* The dram bench: how fast memory is read, written, copied and combined, in several forms. */
#include "bench/dram.h"

#include <string.h>

#include "bench/dram_host.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/base/value.h"
#ifdef CEIL_HAVE_CUDA
#include "kernels/dram.h"
#endif

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* Where the caches are unknown or small, arrays are no smaller than this. */
#define LEAST_BYTES (128 * MIB)

/* Products of whole numbers of [-8, 8] are at most 64: so many of them sum exactly in fp32. */
#define EXACT_PRODUCTS ((UINT64_C(1) << 24) / 64)

/* ---- operations */

static double element_seven(double a, double b)
{
	(void)a;
	(void)b;
	return 7.0;
}

static double element_zero(double a, double b)
{
	(void)a;
	(void)b;
	return 0.0;
}

static double element_copy(double a, double b)
{
	(void)b;
	return a;
}

static double element_scale(double a, double b)
{
	(void)b;
	return 3.0 * a;
}

static double element_add(double a, double b)
{
	return a + b;
}

static double element_triad(double a, double b)
{
	return a + 3.0 * b;
}

static uint64_t share_words(enum ceil_dtype t, uint64_t a_bits, uint64_t b_bits)
{
	(void)t;
	(void)b_bits;
	return (a_bits & UINT32_MAX) + (a_bits >> 32);
}

static uint64_t share_product(enum ceil_dtype t, uint64_t a_bits, uint64_t b_bits)
{
	return (uint64_t)(int64_t)(ceil_decode(t, a_bits) * ceil_decode(t, b_bits));
}

static const struct ceil_dram_operation operations[] = {
	{.name = "read", .inputs = 1, .share = share_words, .word_sum = true},
	{.name = "write", .element = element_seven},
	{.name = "memset", .element = element_zero},
	{.name = "copy", .inputs = 1, .element = element_copy},
	{.name = "memcpy", .inputs = 1, .element = element_copy},
	{.name = "scale", .inputs = 1, .flops = 1.0, .element = element_scale},
	{.name = "add", .inputs = 2, .flops = 1.0, .element = element_add},
	{.name = "triad", .inputs = 2, .flops = 2.0, .element = element_triad},
	{.name = "dot", .inputs = 2, .flops = 2.0, .share = share_product},
};

const struct ceil_dram_operation *ceil_dram_operation_of(const struct ceil_variant *v)
{
	const size_t length = strcspn(v->name, ".");

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const char *name = operations[i].name;

		if (strlen(name) == length && strncmp(v->name, name, length) == 0)
			return &operations[i];
	}
	return NULL;
}

/* ---- shape */

static uint32_t arrays_of(const struct ceil_dram_operation *op)
{
	return op->inputs + (op->element ? 1 : 0);
}

/*
 * Bytes of each array: what the case wishes, or half of it, a quarter, ... if memory is short; but
 * never less than four times the last-level cache, or the cache would be measured.
 */
static enum ceil_status array_bytes(const struct ceil_point *p, const struct ceil_device_props *d,
                                    uint64_t *ret_bytes, struct ceil_error *err)
{
	const uint64_t arrays = arrays_of(ceil_dram_operation_of(p->variant));
	const uint64_t cache = (4 * d->llc_bytes + MIB - 1) / MIB * MIB;
	const uint64_t least = cache > LEAST_BYTES ? cache : LEAST_BYTES;
	const uint64_t there = d->free_bytes / arrays;
	uint64_t bytes = p->cas->axis[0] ? p->cas->axis[0] / MIB * MIB : least;
	char need[32];

	if (bytes < least) {
		ceil_human_bytes(need, sizeof(need), least);
		return ceil_fail(err, CEIL_E_USAGE,
		                 "arrays of %llu bytes are too small: four times the last-level "
		                 "cache, and at least 128 MiB, is %s",
		                 (unsigned long long)p->cas->axis[0], need);
	}
	if (there < least) {
		char why[48] = "";

		ceil_append(why, sizeof(why), "%u x four times the last-level cache",
		            (unsigned)arrays);
		return ceil_bench_no_room(d, p->variant->ceiling, arrays * least, why, err);
	}
	while (bytes > there)
		bytes = bytes / 2 > least ? bytes / 2 / MIB * MIB : least;
	*ret_bytes = bytes;
	return CEIL_OK;
}

/* A grid that covers the work, or one of the device's size that loops over it. */
static uint32_t gpu_blocks(const struct ceil_variant *v, const struct ceil_device_props *d,
                           uint64_t bytes, bool exact_sums)
{
	const uint64_t span_bytes = (uint64_t)v->threads * v->per_thread * 16;
	const uint64_t groups = (bytes + span_bytes - 1) / span_bytes;
	const uint64_t span = span_bytes * 8 / ceil_dtype_info(v->types.a)->bits;
	uint64_t blocks = groups;

	if (v->blocks_per_sm > 0) {
		const uint64_t resident = (uint64_t)d->sm_count * v->blocks_per_sm;
		const uint64_t most_groups = EXACT_PRODUCTS > span ? EXACT_PRODUCTS / span : 1;
		const uint64_t exact = exact_sums ? (groups + most_groups - 1) / most_groups : 1;

		blocks = resident > exact ? resident : exact;
		blocks = blocks < groups ? blocks : groups;
	}
	return (uint32_t)blocks;
}

static enum ceil_status dram_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                   struct ceil_launch *ret_l,
                                   struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                   struct ceil_error *err)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(p->variant);
	const struct ceil_variant *v = p->variant;
	const enum ceil_dtype t = v->types.a;
	const enum ceil_dtype sum = op->word_sum ? CEIL_INT32 : t;
	uint64_t bytes = 0;
	const enum ceil_status st = array_bytes(p, d, &bytes, err);

	if (st != CEIL_OK)
		return st;
	ret_l->n = bytes * 8 / ceil_dtype_info(t)->bits;
	ret_l->threads = v->threads;
	/* The host's threads share the work evenly: a sum for each. */
	ret_l->blocks = v->threads > 0 ? gpu_blocks(v, d, bytes, /* exact_sums= */ !op->element)
	                               : (uint32_t)d->sm_count;
	ret_buf[CEIL_DRAM_A] = ceil_bench_buffer(CEIL_INPUT, t, op->inputs >= 1 ? bytes : 0);
	ret_buf[CEIL_DRAM_B] = ceil_bench_buffer(CEIL_INPUT, t, op->inputs >= 2 ? bytes : 0);
	ret_buf[CEIL_DRAM_C] =
		ceil_bench_buffer(CEIL_OUTPUT, op->element ? t : sum,
	                          op->element ? bytes : ceil_dtype_bytes(sum, ret_l->blocks));
	return CEIL_OK;
}

void ceil_dram_work(const struct ceil_point *p, const struct ceil_launch *l,
                    struct ceil_work *ret_w)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(p->variant);
	const double bytes = (double)l->n * ceil_dtype_info(p->variant->types.a)->bits / 8.0;

	*ret_w = (struct ceil_work){
		.flops = op->flops * (double)l->n,
		.bytes_read = op->inputs * bytes,
		.bytes_written = op->element ? bytes : 0.0,
	};
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"bytes", "bytes", "of each array; 0: four times the last-level cache"},
};

static const struct ceil_case cases[] = {
	{"8GiB", "cuda", true, {8 * GIB}},
	{"4xLLC", "host", true, {0}},
};

#define TYPES_fp32                                                                                 \
	{                                                                                          \
		CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32                                         \
	}
#define TYPES_fp64                                                                                 \
	{                                                                                          \
		CEIL_FP64, CEIL_FP64, CEIL_FP64, CEIL_FP64                                         \
	}
#define COMMON_OF_GPU                                                                              \
	.backend = "cuda", .unit = CEIL_GB_S, .resource = CEIL_R_DRAM, .timing = CEIL_TIME_MARKS,  \
	.pattern = CEIL_NORMAL, .gated = true, .tolerance = 0.01
#define COMMON_OF_HOST                                                                             \
	.backend = "host", .unit = CEIL_GB_S, .resource = CEIL_R_DRAM, .timing = CEIL_TIME_MARKS,  \
	.pattern = CEIL_INTEGERS, .tolerance = 0.05

/* COVER: one turn a thread, blocks cover the work. LOOP: so many blocks a SM loop over it. */
#define COVER(op, policy, vectors, thread_count, dtype, is_quick, text)                            \
	{                                                                                          \
		.name = #op "." #policy ".x" #vectors ".t" #thread_count "." #dtype, .doc = text,  \
		.ceiling = "dram." #op, .types = TYPES_##dtype,                                    \
		CEIL_IF_CUDA(ceil_dram_##op##_##policy##_x##vectors##_##dtype),                    \
		.threads = thread_count, .per_thread = vectors, .quick = is_quick, COMMON_OF_GPU   \
	}
#define LOOP(op, policy, vectors, thread_count, per_sm, dtype, text)                               \
	{                                                                                          \
		.name = #op "." #policy ".x" #vectors ".t" #thread_count ".sm" #per_sm "." #dtype, \
		.doc = text, .ceiling = "dram." #op, .types = TYPES_##dtype,                       \
		CEIL_IF_CUDA(ceil_dram_##op##_##policy##_x##vectors##_##dtype),                    \
		.threads = thread_count, .per_thread = vectors, .blocks_per_sm = per_sm,           \
		COMMON_OF_GPU                                                                      \
	}
#define DRIVER(op, function, text)                                                                 \
	{                                                                                          \
		.name = #function ".fp32", .doc = text, .ceiling = "dram." #op,                    \
		.types = TYPES_fp32, CEIL_IF_CUDA(ceil_dram_##function##_fp32), .quick = true,     \
		.beside = true, COMMON_OF_GPU                                                      \
	}
#define HOST(op, dtype, is_quick)                                                                  \
	{                                                                                          \
		.name = #op ".plain." #dtype, .doc = "one pinned thread a core",                   \
		.ceiling = "host.dram." #op, .types = TYPES_##dtype,                               \
		.launch = ceil_dram_host_##op##_##dtype, .quick = is_quick, COMMON_OF_HOST         \
	}
#define HOST_NT(op, dtype, is_quick)                                                               \
	{                                                                                          \
		.name = #op ".nt." #dtype, .doc = "stores that pass by the caches",                \
		.ceiling = "host.dram." #op, .types = TYPES_##dtype,                               \
		.launch = ceil_dram_host_##op##_nt_##dtype, .quick = is_quick, COMMON_OF_HOST      \
	}

#define PLAIN "no hint to the caches"
#define CS    "streaming loads and stores (.cs): both leave the cache first"
#define EVICT "loads stay longest (L1::evict_last), stores leave first"
#define KEEP  "loads stay longest in the L2, stores leave it first (cache hints)"

static const struct ceil_variant variants[] = {
	COVER(read, cs, 8, 256, fp32, true, CS),
	COVER(read, cs, 8, 256, fp64, false, CS),
	COVER(read, cs, 8, 512, fp32, false, CS),
	COVER(read, plain, 8, 256, fp32, false, PLAIN),
	LOOP(read, cs, 8, 256, 8, fp32, CS),

	COVER(write, cs, 1, 256, fp32, true, CS),
	COVER(write, keep, 1, 256, fp32, false, KEEP),
	COVER(write, keep, 1, 256, fp64, false, KEEP),
	COVER(write, plain, 1, 256, fp32, false, PLAIN),
	DRIVER(write, memset, "cudaMemsetAsync with 0"),

	COVER(copy, keep, 1, 256, fp32, true, KEEP),
	COVER(copy, keep, 1, 128, fp32, false, KEEP),
	COVER(copy, keep, 1, 256, fp64, false, KEEP),
	COVER(copy, evict, 1, 128, fp32, false, EVICT),
	COVER(copy, cs, 1, 128, fp32, false, CS),
	COVER(copy, plain, 1, 128, fp32, false, PLAIN),
	LOOP(copy, plain, 4, 256, 8, fp32, PLAIN),
	DRIVER(copy, memcpy, "cudaMemcpyAsync from device to device"),

	COVER(scale, keep, 1, 256, fp32, true, KEEP),
	COVER(scale, keep, 1, 128, fp32, false, KEEP),
	COVER(scale, keep, 1, 256, fp64, false, KEEP),
	COVER(scale, cs, 1, 128, fp32, false, CS),

	COVER(add, keep, 1, 128, fp32, true, KEEP),
	COVER(add, keep, 1, 256, fp32, false, KEEP),
	COVER(add, keep, 1, 128, fp64, false, KEEP),
	COVER(add, plain, 1, 128, fp32, false, PLAIN),

	COVER(triad, keep, 1, 128, fp32, true, KEEP),
	COVER(triad, keep, 1, 256, fp32, false, KEEP),
	COVER(triad, keep, 1, 128, fp64, false, KEEP),
	COVER(triad, plain, 1, 128, fp32, false, PLAIN),

	COVER(dot, cs, 8, 256, fp64, true, CS),
	COVER(dot, cs, 8, 256, fp32, false, CS),
	COVER(dot, plain, 8, 256, fp32, true, PLAIN),
	LOOP(dot, plain, 8, 256, 4, fp32, PLAIN),

	HOST(read, fp32, true),
	HOST(read, fp64, false),
	HOST(write, fp32, false),
	HOST(write, fp64, false),
	HOST_NT(write, fp32, true),
	HOST_NT(write, fp64, false),
	HOST(copy, fp32, false),
	HOST(copy, fp64, false),
	HOST_NT(copy, fp32, true),
	HOST_NT(copy, fp64, false),
	HOST(scale, fp32, false),
	HOST(scale, fp64, false),
	HOST_NT(scale, fp32, true),
	HOST_NT(scale, fp64, false),
	HOST(add, fp32, false),
	HOST(add, fp64, false),
	HOST_NT(add, fp32, true),
	HOST_NT(add, fp64, false),
	HOST(triad, fp32, true),
	HOST(triad, fp64, false),
	HOST_NT(triad, fp32, true),
	HOST_NT(triad, fp64, false),
	HOST(dot, fp32, true),
	HOST(dot, fp64, false),
};

const struct ceil_bench ceil_dram_bench = {
	.name = "dram",
	.summary = "memory bandwidth: read, write, copy, scale, add, triad, dot",
	.doc = "Arrays of at least four times the last-level cache are streamed once a launch. The "
	       "value counts bytes read plus bytes written, 1 GB = 1e9 bytes. Forms differ in "
	       "vectors a thread, threads a block, grid and cache hints; the best form of an "
	       "operation is its ceiling. Writes store one number everywhere, as a fill does. "
	       "The driver's copy and memset stand beside.",
	.source = "McCalpin, STREAM (1995), for copy, scale, add, triad",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_DRAM_BUFFERS,
	.concurrent = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = dram_shape,
	.work = ceil_dram_work,
	.check = ceil_dram_check,
};
