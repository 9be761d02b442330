/* Reads of an array by all SMs again and again: from the L2 cache, or from wherever it fits. */
#include "kernels/l2.h"

#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

constexpr uint32_t MAX_THREADS = 1024;

__device__ uint32_t sum_of_words(uint4 v)
{
	return v.x + v.y + v.z + v.w;
}

/* The sum over the block, in thread 0. */
__device__ uint32_t block_sum(uint32_t x)
{
	__shared__ uint32_t total;

	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
	atomicAdd(&total, x);
	__syncthreads();
	return total;
}

/* Where a block reads: among so many groups from the first one, so many on from turn to turn. */
struct walk {
	uint32_t first, groups, at, step;

	__device__ walk(uint32_t all, uint32_t own)
	    : first(blockIdx.x * own), groups(own ? own : all), at(blockIdx.x % groups),
	      step(own ? 1 % own : gridDim.x % all)
	{
	}
	__device__ uint64_t group() const
	{
		return (uint64_t)first + at;
	}
	__device__ void go_on()
	{
		at += step;
		at -= at >= groups ? groups : 0;
	}
};

template <int N>
__global__ void __launch_bounds__(MAX_THREADS)
	l2_kernel(const uint4 *__restrict__ a, uint32_t *__restrict__ out, uint32_t groups,
                  uint32_t own, uint32_t count)
{
	const uint64_t span = (uint64_t)blockDim.x * N;
	walk w(groups, own);
	uint32_t sum = 0;

#pragma unroll 1
	for (uint32_t i = 0; i < count; i++) {
		const uint4 *p = a + w.group() * span + threadIdx.x;
		uint4 v[N];

#pragma unroll
		for (int k = 0; k < N; k++)
			v[k] = __ldcg(p + k * blockDim.x);
#pragma unroll
		for (int k = 0; k < N; k++)
			sum += sum_of_words(v[k]);
		w.go_on();
	}
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum;
}

template <int N> enum ceil_status launch(const struct ceil_launch *l, struct ceil_error *err)
{
	void (*const kernel)(const uint4 *, uint32_t *, uint32_t, uint32_t, uint32_t) =
		l2_kernel<N>;
	const uint64_t span_bytes = (uint64_t)l->threads * N * 16;
	const void *a = l->buf[0];
	void *out = l->buf[1];
	uint32_t groups, own = (uint32_t)l->k, count = l->iters;
	void *args[] = {&a, &out, &groups, &own, &count};

	if (l->threads == 0 || l->threads % 32 != 0 || l->threads > MAX_THREADS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "l2: %u threads a block are no multiple of 32 up to %u",
		                 l->threads, MAX_THREADS);
	if (l->n == 0 || l->n % span_bytes != 0 || l->n / span_bytes > UINT32_MAX / 2)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "l2: %llu bytes are no whole number of groups of %llu",
		                 (unsigned long long)l->n, (unsigned long long)span_bytes);
	groups = (uint32_t)(l->n / span_bytes);
	if (l->k > 0 && l->blocks > groups / l->k)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "l2: %u groups are less than %llu for each of %u blocks", groups,
		                 (unsigned long long)l->k, l->blocks);
	return ceil_cuda_status(cudaLaunchKernel(kernel, dim3(l->blocks), dim3(l->threads), args, 0,
	                                         (cudaStream_t)l->stream[0]),
	                        "l2 kernel", err);
}

} /* namespace */

#define DEFINE(vectors)                                                                            \
	enum ceil_status ceil_l2_read_x##vectors(const struct ceil_launch *l,                      \
	                                         struct ceil_error *err)                           \
	{                                                                                          \
		return launch<vectors>(l, err);                                                    \
	}
CEIL_L2_FORMS(DEFINE)
