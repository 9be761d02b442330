/* Loops of one instruction each: what the vector pipes of an SM issue. */
#include "kernels/pipes.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

constexpr uint32_t MAX_THREADS = 1024;

#include "kernels/affine.inc"

/* How many values a thread has. */
template <class V> constexpr int VALUES = CEIL_PIPES_VALUES;
template <> constexpr int VALUES<__half2> = CEIL_PIPES_VALUES_16_BITS;
template <> constexpr int VALUES<__nv_bfloat162> = CEIL_PIPES_VALUES_16_BITS;

/* ---- Operations: begin with a value, do a step to all of them. */

template <class Affine> struct fma_op : Affine {
	using vector = typename Affine::vector;
	static constexpr bool extra_step = true;

	__device__ fma_op(vector a) : Affine(a)
	{
	}
	__device__ static vector begin(vector x)
	{
		return x;
	}
	__device__ void all(vector (&x)[VALUES<vector>], bool odd) const
	{
#pragma unroll
		for (vector &v : x)
			v = this->step(v, odd);
	}
};
using fma_fp32 = fma_op<affine_fp32>;
using fma_fp64 = fma_op<affine_fp64>;
using fma_fp16 = fma_op<affine_fp16>;
using fma_bf16 = fma_op<affine_bf16>;

/* Integers in pairs: a chain of additions of constants would be added up by the compiler. */
struct mad_int32 {
	using vector = uint32_t;
	static constexpr bool extra_step = false;
	uint32_t a;

	__device__ mad_int32(uint32_t a_in) : a(2 * a_in + 1)
	{
	}
	__device__ static uint32_t begin(uint32_t x)
	{
		return x;
	}
	__device__ void all(uint32_t (&x)[VALUES<uint32_t>], bool) const
	{
#pragma unroll
		for (int v = 0; v < VALUES<uint32_t>; v += 2)
			x[v] += a * x[v + 1];
#pragma unroll
		for (int v = 0; v < VALUES<uint32_t>; v += 2)
			x[v + 1] += a * x[v];
	}
};

struct add_int32 {
	using vector = uint32_t;
	static constexpr bool extra_step = false;

	__device__ add_int32(uint32_t)
	{
	}
	__device__ static uint32_t begin(uint32_t x)
	{
		return x;
	}
	__device__ void all(uint32_t (&x)[VALUES<uint32_t>], bool) const
	{
#pragma unroll
		for (int v = 0; v < VALUES<uint32_t>; v += 2)
			x[v] += x[v + 1];
#pragma unroll
		for (int v = 0; v < VALUES<uint32_t>; v += 2)
			x[v + 1] += x[v];
	}
};

struct ex2_fp32 {
	using vector = float;
	static constexpr bool extra_step = true;

	__device__ ex2_fp32(float)
	{
	}
	__device__ static float begin(float x)
	{
		return x == rintf(x) ? fabsf(x) : x;
	}
	__device__ void all(float (&x)[VALUES<float>], bool odd) const
	{
#pragma unroll
		for (float &v : x) {
			if (odd)
				asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(v));
			else
				asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v));
		}
	}
};

/* ---- The kernel. */

template <class Op, int STEPS, class V = typename Op::vector>
__global__ void __launch_bounds__(MAX_THREADS)
	pipe_kernel(const V *__restrict__ constants, const V *__restrict__ in, V *__restrict__ out,
                    uint32_t turns)
{
	const uint32_t t = threadIdx.x, threads = blockDim.x;
	const Op op(constants[t]);
	V x[VALUES<V>];

#pragma unroll
	for (int v = 0; v < VALUES<V>; v++)
		x[v] = Op::begin(in[v * threads + t]);
#pragma unroll 1
	for (uint32_t i = 0; i < turns; i++) {
#pragma unroll
		for (int s = 0; s < STEPS; s++)
			op.all(x, s % 2);
	}
	if (Op::extra_step)
		op.all(x, false);
	out += (uint64_t)blockIdx.x * VALUES<V> * threads;
#pragma unroll
	for (int v = 0; v < VALUES<V>; v++)
		out[v * threads + t] = x[v];
}

template <class Op, int STEPS>
enum ceil_status launch(const struct ceil_launch *l, struct ceil_error *err)
{
	using V = typename Op::vector;
	void (*const kernel)(const V *, const V *, V *, uint32_t) = pipe_kernel<Op, STEPS>;
	const void *constants = l->buf[0], *in = l->buf[1];
	void *out = l->buf[2];
	uint32_t turns = l->iters;
	void *args[] = {&constants, &in, &out, &turns};

	if (l->threads == 0 || l->threads % 32 != 0 || l->threads > MAX_THREADS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "pipes: %u threads a block are no multiple of 32 up to %u",
		                 l->threads, MAX_THREADS);
	return ceil_cuda_status(cudaLaunchKernel(kernel, dim3(l->blocks), dim3(l->threads), args, 0,
	                                         (cudaStream_t)l->stream[0]),
	                        "pipes kernel", err);
}

} /* namespace */

#define DEFINE(op, dtype, steps)                                                                   \
	enum ceil_status ceil_pipes_##op##_##dtype##_##steps(const struct ceil_launch *l,          \
	                                                     struct ceil_error *err)               \
	{                                                                                          \
		return launch<op##_##dtype, steps>(l, err);                                        \
	}
CEIL_PIPES_KERNELS(DEFINE)
