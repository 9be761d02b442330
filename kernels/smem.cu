/* Reads that stay in an SM: of shared memory, and of lines that the L1 holds. */
#include "kernels/smem.h"

#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

/*
 * Where a thread reads. Every turn goes on by a step that is 0, which only the launch knows: loads
 * from one address, again and again, would be taken for one.
 */
struct shared {
	uint32_t address;

	__device__ shared(const uint4 *tile)
	{
		extern __shared__ uint4 copy[];

		for (int i = 0; i < CEIL_SMEM_VECTORS; i++)
			copy[threadIdx.x + i * blockDim.x] = tile[threadIdx.x + i * blockDim.x];
		address = (uint32_t)__cvta_generic_to_shared(copy + threadIdx.x);
	}
	__device__ void go_on(uint32_t step)
	{
		address += step;
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
	const char *mine;

	__device__ l1(const uint4 *tile) : mine((const char *)(tile + threadIdx.x))
	{
	}
	__device__ void go_on(uint32_t step)
	{
		mine += step;
	}
	__device__ uint4 load(uint32_t vector) const
	{
		uint4 v;

		asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
		             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		             : "l"(mine + vector * 16));
		return v;
	}
};

/* The number of threads is known here, so that vectors lie at constants from the address. */
template <class Level, int THREADS>
__global__ void __launch_bounds__(THREADS)
	read_kernel(const uint4 *tile, uint32_t *__restrict__ out, uint32_t turns, uint32_t step)
{
	Level level(tile);
	uint32_t sum[4] = {};

	__syncthreads();
#pragma unroll 2
	for (uint32_t i = 0; i < turns; i++) {
		uint4 v[CEIL_SMEM_VECTORS];

#pragma unroll
		for (uint32_t k = 0; k < CEIL_SMEM_VECTORS; k++)
			v[k] = level.load(k * THREADS);
#pragma unroll
		for (uint32_t k = 0; k < CEIL_SMEM_VECTORS; k++) {
			sum[0] += v[k].x;
			sum[1] += v[k].y;
			sum[2] += v[k].z;
			sum[3] += v[k].w;
		}
		level.go_on(step);
	}
	out[(uint64_t)blockIdx.x * THREADS + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

template <class Level> enum ceil_status launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const void *kernel = l->threads == 256   ? (const void *)read_kernel<Level, 256>
	                     : l->threads == 512 ? (const void *)read_kernel<Level, 512>
	                                         : nullptr;
	const void *tile = l->buf[0];
	void *out = l->buf[1];
	uint32_t turns = l->iters, step = 0;
	void *args[] = {&tile, &out, &turns, &step};

	if (!kernel)
		return ceil_fail(err, CEIL_E_USAGE, "smem: %u threads a block are not 256 or 512",
		                 l->threads);
	return ceil_cuda_status(cudaLaunchKernel(kernel, dim3(l->blocks), dim3(l->threads), args,
	                                         l->smem_bytes, (cudaStream_t)l->stream[0]),
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
