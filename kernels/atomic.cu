/* Atomic additions to global memory, by all threads at once. */
#include "kernels/atomic.h"

#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

/* The number of counters comes from outside: the compiler must not add up what lanes share. */
__global__ void add_kernel(uint32_t *counters, uint64_t count, uint32_t turns)
{
	const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t *const mine = counters + i % count;

#pragma unroll 1
	for (uint32_t t = 0; t < turns; t++) {
#pragma unroll
		for (int k = 0; k < CEIL_ATOMIC_UNROLL; k++)
			asm volatile("red.global.add.u32 [%0], 1;" ::"l"(mine) : "memory");
	}
}

} /* namespace */

enum ceil_status ceil_atomic_add(const struct ceil_launch *l, struct ceil_error *err)
{
	void *counters = l->buf[0];
	uint64_t count = l->n;
	uint32_t turns = l->iters;
	void *args[] = {&counters, &count, &turns};

	if (l->n == 0)
		return ceil_fail(err, CEIL_E_USAGE, "atomic: no counter to add to");
	return ceil_cuda_status(cudaLaunchKernel(add_kernel, dim3(l->blocks), dim3(l->threads),
	                                         args, 0, (cudaStream_t)l->stream[0]),
	                        "atomic kernel", err);
}
