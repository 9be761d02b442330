/* Sizes of the utilization scenarios: buffers and grids for a device. Pure. */
#include "bench/utilization.h"

#include "harness/base/dtype.h"
#include "kernels/utilization.h"

#define MIB (UINT64_C(1) << 20)

/* A warp is all that a lesson about one needs. */
enum { WARP = 32 };
/* How long a kernel that just spins stays: many a sample of each counter, yet it ends soon. */
#define SPIN_NS UINT64_C(10000000)
/* 1000 x 1000 floats, as in the lesson. */
#define FILL_FLOATS    UINT64_C(1000000)
#define FILL_THREADS   256u
#define STREAM_BYTES   (2048 * MIB)
#define STREAM_FLOOR   (256 * MIB)
#define GEMM_N         UINT64_C(8192)
#define GEMM_SCRATCH   (64 * MIB)
#define PINNED_BYTES   (256 * MIB)
#define BESIDE_BYTES   (88 * MIB) /* 1.6 ms by 55 GB/s: as long as a product of 8192^3 on an H200 */
#define PAGEABLE_BYTES (64 * MIB)
/* Iterations of about 10 ms at 2 GHz: 4 cycles an FMA that waits for the one before; and 2 warps a
 * scheduler that issue one FMA each cycle. */
#define CHAIN_ITERS 300000u
#define DENSE_ITERS 20000u
enum { DENSE_THREADS = 256 };

static uint32_t sm_count(const struct ceil_stage *s)
{
	return s->dev->props.sm_count > 0 ? (uint32_t)s->dev->props.sm_count : 1;
}

static struct ceil_buffer buffer(enum ceil_memory memory, enum ceil_role role, enum ceil_dtype t,
                                 uint64_t bytes)
{
	return (struct ceil_buffer){
		.memory = memory, .role = role, .dtype = t, .numa_node = -1, .bytes = bytes};
}

enum ceil_status ceil_util_shape_one_block(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	s->launch.blocks = 1;
	s->launch.threads = WARP;
	s->launch.n = SPIN_NS;
	return CEIL_OK;
}

enum ceil_status ceil_util_shape_blocks(struct ceil_stage *s, struct ceil_error *err)
{
	const uint64_t blocks = s->value ? s->value : sm_count(s);

	if (blocks > sm_count(s))
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%llu multiprocessors are more than the %u of this GPU",
		                 (unsigned long long)blocks, sm_count(s));
	s->launch.blocks = (uint32_t)blocks;
	s->launch.threads = WARP;
	s->launch.n = SPIN_NS;
	return CEIL_OK;
}

enum ceil_status ceil_util_shape_storm(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	s->launch.blocks = sm_count(s);
	s->launch.threads = WARP;
	s->launch.n = s->value;
	return CEIL_OK;
}

enum ceil_status ceil_util_shape_fill(struct ceil_stage *s, struct ceil_error *err)
{
	const uint64_t vectors = FILL_FLOATS / 4;

	(void)err;
	s->launch.n = FILL_FLOATS;
	s->launch.threads = FILL_THREADS;
	s->launch.blocks = (uint32_t)((vectors + FILL_THREADS - 1) / FILL_THREADS);
	s->buf[CEIL_UTIL_OUT] =
		buffer(CEIL_MEM_DEVICE, CEIL_OUTPUT, CEIL_FP32, FILL_FLOATS * sizeof(float));
	return CEIL_OK;
}

/* Two arrays, each at least four times the L2, of at most half of what is free. */
enum ceil_status ceil_util_shape_stream(struct ceil_stage *s, struct ceil_error *err)
{
	const struct ceil_device_props *d = &s->dev->props;
	const uint64_t floor = 4 * d->l2_bytes > STREAM_FLOOR ? 4 * d->l2_bytes : STREAM_FLOOR;
	uint64_t bytes = STREAM_BYTES;

	while (bytes > floor && d->free_bytes && 4 * bytes > d->free_bytes)
		bytes /= 2;
	if (bytes < floor || (d->free_bytes && 2 * bytes > d->free_bytes))
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "two arrays of %llu MiB are needed, %llu MiB may be used",
		                 (unsigned long long)(floor / MIB),
		                 (unsigned long long)(d->free_bytes / MIB));
	s->launch.n = bytes / sizeof(float);
	s->launch.threads = FILL_THREADS;
	s->launch.blocks = (uint32_t)(bytes / 16 / CEIL_UTIL_STREAM_VECTORS / FILL_THREADS);
	s->buf[CEIL_UTIL_IN] = buffer(CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, bytes);
	s->buf[CEIL_UTIL_OUT] = buffer(CEIL_MEM_DEVICE, CEIL_OUTPUT, CEIL_FP32, bytes);
	return CEIL_OK;
}

static void shape_sums(struct ceil_stage *s, uint32_t threads, uint32_t iters)
{
	s->launch.blocks = sm_count(s);
	s->launch.threads = threads;
	s->launch.iters = iters;
	s->buf[CEIL_UTIL_OUT] = buffer(CEIL_MEM_DEVICE, CEIL_OUTPUT, CEIL_FP32,
	                               (uint64_t)sm_count(s) * threads * sizeof(float));
}

enum ceil_status ceil_util_shape_chain(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	shape_sums(s, WARP, CHAIN_ITERS);
	return CEIL_OK;
}

enum ceil_status ceil_util_shape_dense(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	shape_sums(s, DENSE_THREADS, DENSE_ITERS);
	return CEIL_OK;
}

enum ceil_status ceil_util_shape_gemm(struct ceil_stage *s, struct ceil_error *err)
{
	const uint64_t n = s->value ? s->value : GEMM_N;
	const uint64_t bytes = ceil_dtype_bytes(CEIL_BF16, n * n);

	if (s->dev->props.cc_major < 8)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "bf16 needs compute capability 8.0, this GPU has %d.%d",
		                 s->dev->props.cc_major, s->dev->props.cc_minor);
	s->launch.n = n;
	s->launch.m = n;
	s->launch.k = n;
	s->launch.candidate = s->value ? 0 : s->algorithm;
	s->buf[CEIL_UTIL_A] = buffer(CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_BF16, bytes);
	s->buf[CEIL_UTIL_B] = buffer(CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_BF16, bytes);
	s->buf[CEIL_UTIL_C] = buffer(CEIL_MEM_DEVICE, CEIL_OUTPUT, CEIL_BF16, bytes);
	s->buf[CEIL_UTIL_WORKSPACE] =
		buffer(CEIL_MEM_DEVICE, CEIL_WORKSPACE, CEIL_INT8, GEMM_SCRATCH);
	return CEIL_OK;
}

enum ceil_status ceil_util_shape_copy_gemm(struct ceil_stage *s, struct ceil_error *err)
{
	const enum ceil_status st = ceil_util_shape_gemm(s, err);

	s->buf[CEIL_UTIL_FROM] = buffer(CEIL_MEM_PINNED, CEIL_INPUT, CEIL_FP32, BESIDE_BYTES);
	s->buf[CEIL_UTIL_TO] = buffer(CEIL_MEM_DEVICE, CEIL_OUTPUT, CEIL_FP32, BESIDE_BYTES);
	return st;
}

static enum ceil_status shape_copy(struct ceil_stage *s, enum ceil_memory memory, uint64_t bytes)
{
	s->buf[CEIL_UTIL_FROM] = buffer(memory, CEIL_INPUT, CEIL_FP32, bytes);
	s->buf[CEIL_UTIL_TO] = buffer(CEIL_MEM_DEVICE, CEIL_OUTPUT, CEIL_FP32, bytes);
	return CEIL_OK;
}

enum ceil_status ceil_util_shape_pinned(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	return shape_copy(s, CEIL_MEM_PINNED, PINNED_BYTES);
}

enum ceil_status ceil_util_shape_pageable(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	return shape_copy(s, CEIL_MEM_PAGEABLE, PAGEABLE_BYTES);
}
