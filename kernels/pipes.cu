/* Loops of one instruction each: what the vector pipes of an SM issue. */
#include "kernels/pipes.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

constexpr uint32_t MAX_THREADS = 1024;
constexpr int PAIRS = CEIL_PIPES_VALUES / 2;

/* ---- Multiply-adds: y += a z, z += b y with b = -a turns the pair around an ellipse. */

struct fma_fp32 {
	using vector = float;
	static constexpr bool half_step = false;
	__device__ static float coefficient(float a)
	{
		return 1.0f + (a - rintf(a)) * 0.5f;
	}
	__device__ static float second(float a)
	{
		return -a;
	}
	__device__ static float start(float x)
	{
		return x;
	}
	__device__ static float step(float a, float z, float y, bool)
	{
		return fmaf(a, z, y);
	}
};

struct fma_fp64 {
	using vector = double;
	static constexpr bool half_step = false;
	__device__ static double coefficient(double a)
	{
		return 1.0 + (a - rint(a)) * 0.5;
	}
	__device__ static double second(double a)
	{
		return -a;
	}
	__device__ static double start(double x)
	{
		return x;
	}
	__device__ static double step(double a, double z, double y, bool)
	{
		return fma(a, z, y);
	}
};

struct fma_fp16 {
	using vector = __half2;
	static constexpr bool half_step = false;
	__device__ static __half2 coefficient(__half2 a)
	{
		return __floats2half2_rn(fma_fp32::coefficient(__low2float(a)),
		                         fma_fp32::coefficient(__high2float(a)));
	}
	__device__ static __half2 second(__half2 a)
	{
		return __hneg2(a);
	}
	__device__ static __half2 start(__half2 x)
	{
		return x;
	}
	__device__ static __half2 step(__half2 a, __half2 z, __half2 y, bool)
	{
		return __hfma2(a, z, y);
	}
};

struct fma_bf16 {
	using vector = __nv_bfloat162;
	static constexpr bool half_step = false;
	__device__ static __nv_bfloat162 coefficient(__nv_bfloat162 a)
	{
		return __floats2bfloat162_rn(fma_fp32::coefficient(__low2float(a)),
		                             fma_fp32::coefficient(__high2float(a)));
	}
	__device__ static __nv_bfloat162 second(__nv_bfloat162 a)
	{
		return __hneg2(a);
	}
	__device__ static __nv_bfloat162 start(__nv_bfloat162 x)
	{
		return x;
	}
	__device__ static __nv_bfloat162 step(__nv_bfloat162 a, __nv_bfloat162 z, __nv_bfloat162 y,
	                                      bool)
	{
		return __hfma2(a, z, y);
	}
};

/* ---- Integers. */

struct mad_int32 {
	using vector = uint32_t;
	static constexpr bool half_step = false;
	__device__ static uint32_t coefficient(uint32_t a)
	{
		return 2 * a + 1;
	}
	__device__ static uint32_t second(uint32_t a)
	{
		return a;
	}
	__device__ static uint32_t start(uint32_t x)
	{
		return x;
	}
	__device__ static uint32_t step(uint32_t a, uint32_t z, uint32_t y, bool)
	{
		return a * z + y;
	}
};

struct add_int32 : mad_int32 {
	__device__ static uint32_t step(uint32_t, uint32_t z, uint32_t y, bool)
	{
		return z + y;
	}
};

/* ---- Special functions: of their own value, not of the other of the pair. */

__device__ float ex2(float x)
{
	float y;

	asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

__device__ float lg2(float x)
{
	float y;

	asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

struct ex2_fp32 : fma_fp32 {
	static constexpr bool half_step = true;
	__device__ static float step(float, float, float y, bool even)
	{
		return even ? lg2(y) : ex2(y);
	}
};

/* ---- The kernel. */

template <class Op, class V>
__device__ void one_step(V a, V b, V (&y)[PAIRS], V (&z)[PAIRS], bool even)
{
#pragma unroll
	for (int p = 0; p < PAIRS; p++)
		y[p] = Op::step(a, z[p], y[p], even);
#pragma unroll
	for (int p = 0; p < PAIRS; p++)
		z[p] = Op::step(b, y[p], z[p], even);
}

template <class Op, int STEPS, class V = typename Op::vector>
__global__ void __launch_bounds__(MAX_THREADS)
	pipe_kernel(const V *__restrict__ in_a, const V *__restrict__ in, V *__restrict__ out,
                    uint32_t turns)
{
	const uint32_t t = threadIdx.x, threads = blockDim.x;
	const V a = Op::coefficient(in_a[t]), b = Op::second(a);
	V y[PAIRS], z[PAIRS];

#pragma unroll
	for (int p = 0; p < PAIRS; p++) {
		y[p] = Op::start(in[2 * p * threads + t]);
		z[p] = Op::start(in[(2 * p + 1) * threads + t]);
	}
#pragma unroll 1
	for (uint32_t i = 0; i < turns; i++) {
#pragma unroll
		for (int s = 0; s < STEPS; s++)
			one_step<Op>(a, b, y, z, s % 2);
	}
	/* After an even number of them the function and its inverse have left nothing to see. */
	if (Op::half_step)
		one_step<Op>(a, b, y, z, false);
	out += (uint64_t)blockIdx.x * CEIL_PIPES_VALUES * threads;
#pragma unroll
	for (int p = 0; p < PAIRS; p++) {
		out[2 * p * threads + t] = y[p];
		out[(2 * p + 1) * threads + t] = z[p];
	}
}

template <class Op, int STEPS>
enum ceil_status launch(const struct ceil_launch *l, struct ceil_error *err)
{
	using V = typename Op::vector;
	void (*const kernel)(const V *, const V *, V *, uint32_t) = pipe_kernel<Op, STEPS>;
	const void *a = l->buf[0], *in = l->buf[1];
	void *out = l->buf[2];
	uint32_t turns = l->iters;
	void *args[] = {&a, &in, &out, &turns};

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
