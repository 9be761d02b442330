/* A stream through memory with so many multiply-adds for each element: any intensity. */
#include "kernels/roofline.h"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

constexpr int N = CEIL_ROOFLINE_VECTORS;

struct fp32 {
	using word = float;
	static constexpr uint32_t per_word = 1;
	__device__ static float of(uint32_t bits)
	{
		return __uint_as_float(bits);
	}
	__device__ static uint32_t bits_of(float x)
	{
		return __float_as_uint(x);
	}
	__device__ static float coefficient(float b)
	{
		return 1.0f + (b - rintf(b)) * 0.5f;
	}
	__device__ static float multiply_add(float a, float x, float y)
	{
		return fmaf(a, x, y);
	}
	__device__ static float negated(float a)
	{
		return -a;
	}
};

struct bf16 {
	using word = __nv_bfloat162;
	static constexpr uint32_t per_word = 2;
	/* Copies of bytes: packing halves by arithmetic would cost instructions. */
	__device__ static word of(uint32_t bits)
	{
		word x;

		memcpy(&x, &bits, sizeof(x));
		return x;
	}
	__device__ static uint32_t bits_of(word x)
	{
		uint32_t bits;

		memcpy(&bits, &x, sizeof(bits));
		return bits;
	}
	__device__ static word coefficient(word b)
	{
		return __floats2bfloat162_rn(fp32::coefficient(__low2float(b)),
		                             fp32::coefficient(__high2float(b)));
	}
	__device__ static word multiply_add(word a, word x, word y)
	{
		return __hfma2(a, x, y);
	}
	__device__ static word negated(word a)
	{
		return __hneg2(a);
	}
};

/* The pairs of a thread's vectors, in registers. */
template <class T> struct pairs {
	typename T::word y[2 * N], z[2 * N];

	__device__ pairs(const uint4 *p)
	{
#pragma unroll
		for (int k = 0; k < N; k++) {
			const uint4 v = __ldcs(p + k * CEIL_ROOFLINE_THREADS);

			y[2 * k] = T::of(v.x);
			z[2 * k] = T::of(v.y);
			y[2 * k + 1] = T::of(v.z);
			z[2 * k + 1] = T::of(v.w);
		}
	}
	__device__ void step(typename T::word a, typename T::word b)
	{
#pragma unroll
		for (int k = 0; k < 2 * N; k++)
			y[k] = T::multiply_add(a, z[k], y[k]);
#pragma unroll
		for (int k = 0; k < 2 * N; k++)
			z[k] = T::multiply_add(b, y[k], z[k]);
	}
	__device__ uint32_t sum() const
	{
		uint32_t sum = 0;

#pragma unroll
		for (int k = 0; k < 2 * N; k++)
			sum += T::bits_of(y[k]) + T::bits_of(z[k]);
		return sum;
	}
};

template <class T>
__global__ void __launch_bounds__(CEIL_ROOFLINE_THREADS)
	roofline_kernel(const uint4 *__restrict__ in, const typename T::word *__restrict__ in_b,
                        uint32_t *__restrict__ out, uint32_t steps)
{
	__shared__ uint32_t total;
	const typename T::word a = T::coefficient(in_b[threadIdx.x]), b = T::negated(a);
	pairs<T> p(in + (uint64_t)blockIdx.x * N * CEIL_ROOFLINE_THREADS + threadIdx.x);

	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
#pragma unroll 4
	for (uint32_t i = 0; i < steps; i++)
		p.step(a, b);
	atomicAdd(&total, p.sum());
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = total;
}

template <class T> enum ceil_status launch(const struct ceil_launch *l, struct ceil_error *err)
{
	constexpr uint64_t each = 4ull * T::per_word * N * CEIL_ROOFLINE_THREADS;
	const void *in = l->buf[0], *b = l->buf[1];
	void *out = l->buf[2];
	uint32_t steps = (uint32_t)l->k;
	void *args[] = {&in, &b, &out, &steps};

	if (l->n == 0 || l->n % each != 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "roofline: %llu elements are no whole number of blocks of %llu",
		                 (unsigned long long)l->n, (unsigned long long)each);
	return ceil_cuda_status(cudaLaunchKernel((const void *)roofline_kernel<T>, dim3(l->blocks),
	                                         dim3(CEIL_ROOFLINE_THREADS), args, 0,
	                                         (cudaStream_t)l->stream[0]),
	                        "roofline kernel", err);
}

} /* namespace */

enum ceil_status ceil_roofline_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return launch<fp32>(l, err);
}

enum ceil_status ceil_roofline_bf16(const struct ceil_launch *l, struct ceil_error *err)
{
	return launch<bf16>(l, err);
}
