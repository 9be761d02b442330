/* Reads that stay in an SM: of shared memory, and of lines that the L1 holds. */
#include "kernels/smem.h"

#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

constexpr uint32_t MAX_THREADS = 1024;

/* Volatile: what is read again and again must not be kept in registers. */
struct shared {
	uint32_t address;

	__device__ shared(const uint4 *tile)
	{
		extern __shared__ uint4 copy[];

		for (int i = 0; i < CEIL_SMEM_VECTORS; i++)
			copy[threadIdx.x + i * blockDim.x] = tile[threadIdx.x + i * blockDim.x];
		address = (uint32_t)__cvta_generic_to_shared(copy + threadIdx.x);
	}
	__device__ uint4 load(uint32_t vector) const
	{
		uint4 v;

		asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
		             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		             : "r"(address + vector * 16));
		return v;
	}
};

struct l1 {
	const uint4 *mine;

	__device__ l1(const uint4 *tile) : mine(tile + threadIdx.x)
	{
	}
	__device__ uint4 load(uint32_t vector) const
	{
		uint4 v;

		asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
		             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		             : "l"(mine + vector));
		return v;
	}
};

template <class Level>
__global__ void __launch_bounds__(MAX_THREADS)
	read_kernel(const uint4 *tile, uint32_t *__restrict__ out, uint32_t turns)
{
	const Level level(tile);
	uint32_t sum[4] = {};

	__syncthreads();
#pragma unroll 2
	for (uint32_t i = 0; i < turns; i++) {
		uint4 v[CEIL_SMEM_VECTORS];

#pragma unroll
		for (uint32_t k = 0; k < CEIL_SMEM_VECTORS; k++)
			v[k] = level.load(k * blockDim.x);
#pragma unroll
		for (uint32_t k = 0; k < CEIL_SMEM_VECTORS; k++) {
			sum[0] += v[k].x;
			sum[1] += v[k].y;
			sum[2] += v[k].z;
			sum[3] += v[k].w;
		}
	}
	out[(uint64_t)blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

template <class Level> enum ceil_status launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const void *tile = l->buf[0];
	void *out = l->buf[1];
	uint32_t turns = l->iters;
	void *args[] = {&tile, &out, &turns};

	if (l->threads == 0 || l->threads % 32 != 0 || l->threads > MAX_THREADS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "smem: %u threads a block are no multiple of 32 up to %u",
		                 l->threads, MAX_THREADS);
	return ceil_cuda_status(cudaLaunchKernel((const void *)read_kernel<Level>, dim3(l->blocks),
	                                         dim3(l->threads), args, l->smem_bytes,
	                                         (cudaStream_t)l->stream[0]),
	                        "smem kernel", err);
}

} /* namespace */

enum ceil_status ceil_smem_read_shared(const struct ceil_launch *l, struct ceil_error *err)
{
	return launch<shared>(l, err);
}

enum ceil_status ceil_smem_read_l1(const struct ceil_launch *l, struct ceil_error *err)
{
	return launch<l1>(l, err);
}
