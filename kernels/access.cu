/* Reads of single 32-byte sectors of an array, in strides and in shuffled order. */
#include "kernels/access.h"

#include <cuda_runtime.h>

#include "harness/base/value.h"
#include "kernels/support.h"

namespace
{

constexpr int LOADS = CEIL_ACCESS_LOADS;
constexpr uint32_t SECTORS_OF_BLOCK = LOADS * CEIL_ACCESS_THREADS / 2;

struct strided {
	uint64_t stride;
	__device__ uint64_t sector(uint64_t i) const
	{
		return i * stride;
	}
};

struct shuffled {
	uint32_t bits;
	__device__ uint64_t sector(uint64_t i) const
	{
		return ceil_shuffle(i, bits);
	}
};

template <class Order>
__global__ void __launch_bounds__(CEIL_ACCESS_THREADS)
	access_kernel(const uint4 *__restrict__ a, uint32_t *__restrict__ out, Order order)
{
	__shared__ uint32_t total;
	const uint64_t first = (uint64_t)blockIdx.x * SECTORS_OF_BLOCK + threadIdx.x / 2;
	uint32_t sum = 0;
	uint4 v[LOADS];

	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
#pragma unroll
	for (int k = 0; k < LOADS; k++) {
		const uint64_t sector = order.sector(first + k * (CEIL_ACCESS_THREADS / 2));

		v[k] = __ldcs(a + 2 * sector + threadIdx.x % 2);
	}
#pragma unroll
	for (int k = 0; k < LOADS; k++)
		sum += v[k].x + v[k].y + v[k].z + v[k].w;
	atomicAdd(&total, sum);
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = total;
}

template <class Order>
enum ceil_status launch(const struct ceil_launch *l, Order order, struct ceil_error *err)
{
	const void *a = l->buf[0];
	void *out = l->buf[1];
	void *args[] = {&a, &out, &order};

	if (l->n == 0 || l->n % SECTORS_OF_BLOCK != 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "access: %llu sectors are no whole number of blocks of %u",
		                 (unsigned long long)l->n, SECTORS_OF_BLOCK);
	return ceil_cuda_status(cudaLaunchKernel((const void *)access_kernel<Order>,
	                                         dim3(l->blocks), dim3(CEIL_ACCESS_THREADS), args,
	                                         0, (cudaStream_t)l->stream[0]),
	                        "access kernel", err);
}

} /* namespace */

enum ceil_status ceil_access_strided(const struct ceil_launch *l, struct ceil_error *err)
{
	return launch(l, strided{l->k}, err);
}

enum ceil_status ceil_access_random(const struct ceil_launch *l, struct ceil_error *err)
{
	uint32_t bits = 0;

	while ((uint64_t)1 << bits < l->n)
		bits++;
	if ((uint64_t)1 << bits != l->n)
		return ceil_fail(err, CEIL_E_USAGE, "access: %llu sectors are no power of two",
		                 (unsigned long long)l->n);
	return launch(l, shuffled{bits}, err);
}
