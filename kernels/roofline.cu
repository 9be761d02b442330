/* A stream through memory with so many multiply-adds for each element: any intensity. */
#include "kernels/roofline.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

#include "kernels/affine.inc"

constexpr int WORDS = 4 * CEIL_ROOFLINE_VECTORS;

/* Copies of bytes: packing halves by arithmetic would cost instructions. */
template <class To, class From> __device__ To bits_as(From from)
{
	To to;

	static_assert(sizeof(to) == sizeof(from), "both are one word");
	memcpy(&to, &from, sizeof(to));
	return to;
}

/* The words of a thread: all loads stand before the first use. */
template <class V> __device__ void load(V (&x)[WORDS], const uint4 *p)
{
#pragma unroll
	for (int k = 0; k < WORDS; k += 4) {
		const uint4 v = __ldcs(p + k / 4 * CEIL_ROOFLINE_THREADS);

		x[k] = bits_as<V>(v.x);
		x[k + 1] = bits_as<V>(v.y);
		x[k + 2] = bits_as<V>(v.z);
		x[k + 3] = bits_as<V>(v.w);
	}
}

template <class Affine, class V = typename Affine::vector>
__device__ void step(const Affine &affine, V (&x)[WORDS], bool odd)
{
#pragma unroll
	for (V &v : x)
		v = affine.step(v, odd);
}

template <class Affine, class V = typename Affine::vector>
__global__ void __launch_bounds__(CEIL_ROOFLINE_THREADS)
	roofline_kernel(const uint4 *__restrict__ in, const V *__restrict__ constant,
                        uint32_t *__restrict__ out, uint32_t steps)
{
	__shared__ uint32_t total;
	const Affine affine(*constant);
	V x[WORDS];
	uint32_t sum = 0;

	load(x, in + (uint64_t)blockIdx.x * WORDS / 4 * CEIL_ROOFLINE_THREADS + threadIdx.x);
	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
#pragma unroll 4
	for (uint32_t i = 0; i < steps / 2; i++) {
		step(affine, x, false);
		step(affine, x, true);
	}
	if (steps % 2 != 0)
		step(affine, x, false);
#pragma unroll
	for (const V &v : x)
		sum += bits_as<uint32_t>(v);
	atomicAdd(&total, sum);
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = total;
}

template <class Affine>
enum ceil_status launch(const struct ceil_launch *l, uint64_t per_word, struct ceil_error *err)
{
	const uint64_t each = per_word * WORDS * CEIL_ROOFLINE_THREADS;
	const void *in = l->buf[0], *constant = l->buf[1];
	void *out = l->buf[2];
	uint32_t steps = (uint32_t)l->k;
	void *args[] = {&in, &constant, &out, &steps};

	if (l->n == 0 || l->n % each != 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "roofline: %llu elements are no whole number of blocks of %llu",
		                 (unsigned long long)l->n, (unsigned long long)each);
	return ceil_cuda_status(cudaLaunchKernel((const void *)roofline_kernel<Affine>,
	                                         dim3(l->blocks), dim3(CEIL_ROOFLINE_THREADS), args,
	                                         0, (cudaStream_t)l->stream[0]),
	                        "roofline kernel", err);
}

} /* namespace */

enum ceil_status ceil_roofline_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return launch<affine_fp32>(l, /* per_word= */ 1, err);
}

enum ceil_status ceil_roofline_bf16(const struct ceil_launch *l, struct ceil_error *err)
{
	return launch<affine_bf16>(l, /* per_word= */ 2, err);
}
