/* Kernels that do nothing, spin, or serve a queue: what it costs to give a GPU work. */
#include "kernels/launch.h"

#include <cuda_runtime.h>

#include "harness/base/value.h"
#include "kernels/support.h"

namespace
{

/* A queue that the host no longer feeds lets go of its kernel after this long. */
constexpr uint64_t SILENCE_NS = 2000000000u;

__device__ uint64_t global_ns()
{
	uint64_t t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

__device__ void count_block(uint32_t *count)
{
	if (count && threadIdx.x == 0)
		atomicAdd(count, 1u);
}

__global__ void empty_kernel(uint32_t *count)
{
	count_block(count);
}

__global__ void dependent_kernel(uint32_t *count)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;");
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
	count_block(count);
}

__global__ void spin_kernel(uint64_t ns, struct ceil_span *span)
{
	const uint64_t start_ns = global_ns();
	uint64_t now_ns;

	do
		now_ns = global_ns();
	while (now_ns - start_ns < ns);
	span->start_ns = start_ns;
	span->end_ns = now_ns;
}

/* What the other side of the link writes, and what it must see in order. */
__device__ uint64_t load_acquire(const uint64_t *p)
{
	uint64_t x;

	asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
	return x;
}

__device__ void store_release(uint64_t *p, uint64_t x)
{
	asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}

/* Where this turn ends: served itself if there is nothing more to come. */
__device__ uint64_t wait_for_items(const struct ceil_queue *q, uint64_t served)
{
	const uint64_t start_ns = global_ns();
	uint64_t posted;

	while ((posted = load_acquire(&q->posted)) == served) {
		if (load_acquire(&q->stop) || global_ns() - start_ns > SILENCE_NS)
			return served;
	}
	return posted - served < blockDim.x ? posted : served + blockDim.x;
}

__global__ void serve_kernel(struct ceil_queue *q)
{
	__shared__ uint64_t end;
	uint64_t served = 0;

	for (;;) {
		if (threadIdx.x == 0)
			end = wait_for_items(q, served);
		__syncthreads();
		const uint64_t to = end, at = (served + threadIdx.x) % CEIL_QUEUE_ITEMS;

		if (to == served)
			return;
		if (served + threadIdx.x < to)
			q->result[at] = ceil_mix(*(const volatile uint64_t *)&q->item[at]);
		__threadfence_system();
		__syncthreads(); /* all results are out, and all threads have read the end */
		served = to;
		if (threadIdx.x == 0)
			store_release(&q->served, served);
	}
}

uint32_t *count_of(const struct ceil_launch *l)
{
	return l->k == 1 ? (uint32_t *)l->buf[0] : nullptr;
}

} /* namespace */

enum ceil_status ceil_launch_plain(const struct ceil_launch *l, struct ceil_error *err)
{
	uint32_t *count = count_of(l);
	void *args[] = {&count};

	return ceil_cuda_status(cudaLaunchKernel(empty_kernel, dim3(l->blocks), dim3(l->threads),
	                                         args, 0, (cudaStream_t)l->stream[0]),
	                        "cudaLaunchKernel", err);
}

enum ceil_status ceil_launch_cooperative(const struct ceil_launch *l, struct ceil_error *err)
{
	uint32_t *count = count_of(l);
	void *args[] = {&count};

	return ceil_cuda_status(cudaLaunchCooperativeKernel(empty_kernel, dim3(l->blocks),
	                                                    dim3(l->threads), args, 0,
	                                                    (cudaStream_t)l->stream[0]),
	                        "cudaLaunchCooperativeKernel", err);
}

enum ceil_status ceil_launch_pdl(const struct ceil_launch *l, struct ceil_error *err)
{
	uint32_t *count = count_of(l);
	void *args[] = {&count};
	cudaLaunchAttribute early = {};
	cudaLaunchConfig_t config = {};

	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3(l->blocks);
	config.blockDim = dim3(l->threads);
	config.stream = (cudaStream_t)l->stream[0];
	config.attrs = &early;
	config.numAttrs = 1;
	return ceil_cuda_status(cudaLaunchKernelExC(&config, (const void *)dependent_kernel, args),
	                        "cudaLaunchKernelExC with programmatic serialization", err);
}

enum ceil_status ceil_launch_spin(void *stream, uint64_t ns, struct ceil_span *span,
                                  struct ceil_error *err)
{
	void *args[] = {&ns, &span};

	return ceil_cuda_status(
		cudaLaunchKernel(spin_kernel, dim3(1), dim3(1), args, 0, (cudaStream_t)stream),
		"spin kernel", err);
}

enum ceil_status ceil_launch_serve(void *stream, struct ceil_queue *q, uint32_t threads,
                                   struct ceil_error *err)
{
	void *args[] = {&q};

	return ceil_cuda_status(cudaLaunchKernel(serve_kernel, dim3(1), dim3(threads), args, 0,
	                                         (cudaStream_t)stream),
	                        "queue kernel", err);
}
