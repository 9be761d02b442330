/* Kernels that keep a GPU busy in known ways: spinning, filling, streaming, waiting, computing. */
#include "kernels/utilization.h"

#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

constexpr uint32_t DENSE_THREADS = 256;

__device__ uint64_t global_ns()
{
	uint64_t t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

__device__ uint32_t sm_id()
{
	uint32_t sm;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}

/* Of a block, from its first thread's start to its last thread's end. */
struct stay_clock {
	struct ceil_stay *at;
	uint64_t start_ns;

	__device__ explicit stay_clock(struct ceil_stay *stays)
	    : at(stays ? stays + blockIdx.x : NULL), start_ns(stays ? global_ns() : 0)
	{
	}
	__device__ void tell() const
	{
		if (!at)
			return;
		__syncthreads();
		if (threadIdx.x != 0)
			return;
		at->start_ns = start_ns;
		at->length_ns = (uint32_t)(global_ns() - start_ns);
		at->sm = sm_id();
	}
};

__device__ uint64_t thread_index()
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void spin_kernel(uint64_t ns, struct ceil_stay *stays)
{
	const stay_clock clock(stays);
	const uint64_t start_ns = global_ns();

	while (global_ns() - start_ns < ns)
		;
	clock.tell();
}

__global__ void fill_kernel(float4 *out, uint64_t vectors, struct ceil_stay *stays)
{
	const stay_clock clock(stays);
	const uint64_t i = thread_index();

	if (i < vectors)
		out[i] = make_float4(1.0f, 1.0f, 1.0f, 1.0f);
	clock.tell();
}

__global__ void stream_kernel(uint4 *out, const uint4 *in, struct ceil_stay *stays)
{
	const stay_clock clock(stays);
	const uint64_t first =
		(uint64_t)blockIdx.x * blockDim.x * CEIL_UTIL_STREAM_VECTORS + threadIdx.x;
	uint4 v[CEIL_UTIL_STREAM_VECTORS];

#pragma unroll
	for (uint32_t k = 0; k < CEIL_UTIL_STREAM_VECTORS; k++)
		v[k] = __ldcs(in + first + k * blockDim.x);
#pragma unroll
	for (uint32_t k = 0; k < CEIL_UTIL_STREAM_VECTORS; k++)
		__stcs(out + first + k * blockDim.x, v[k]);
	clock.tell();
}

/* half is 0.5: an argument, so that the compiler cannot work the sum out. */
__global__ void chain_kernel(float *out, uint32_t iters, float half, struct ceil_stay *stays)
{
	const stay_clock clock(stays);
	float x = 1.0f;

	for (uint32_t i = 0; i < iters; i++) {
#pragma unroll
		for (int k = 0; k < CEIL_UTIL_CHAIN_FMAS; k++)
			x = fmaf(x, half, half);
	}
	out[thread_index()] = x;
	clock.tell();
}

__global__ void __launch_bounds__(DENSE_THREADS, 1)
	dense_kernel(float *out, uint32_t iters, float half, struct ceil_stay *stays)
{
	const stay_clock clock(stays);
	float x[CEIL_UTIL_DENSE_SUMS];
	float sum = 0.0f;

#pragma unroll
	for (int s = 0; s < CEIL_UTIL_DENSE_SUMS; s++)
		x[s] = 1.0f + (half - 0.5f) * (float)s; /* 1, or the compiler would keep one */
	for (uint32_t i = 0; i < iters; i++) {
#pragma unroll
		for (int k = 0; k < CEIL_UTIL_DENSE_FMAS / CEIL_UTIL_DENSE_SUMS; k++) {
#pragma unroll
			for (int s = 0; s < CEIL_UTIL_DENSE_SUMS; s++)
				x[s] = fmaf(x[s], half, half);
		}
	}
#pragma unroll
	for (int s = 0; s < CEIL_UTIL_DENSE_SUMS; s++)
		sum += x[s];
	out[thread_index()] = sum;
	clock.tell();
}

enum ceil_status launch(const void *kernel, const struct ceil_launch *l, void **args,
                        const char *what, struct ceil_error *err)
{
	if (l->blocks == 0 || l->threads == 0)
		return ceil_fail(err, CEIL_E_USAGE, "%s: a grid of %u blocks of %u threads", what,
		                 l->blocks, l->threads);
	return ceil_cuda_status(cudaLaunchKernel(kernel, dim3(l->blocks), dim3(l->threads), args, 0,
	                                         (cudaStream_t)l->stream[0]),
	                        what, err);
}

struct ceil_stay *stays_of(const struct ceil_launch *l)
{
	return (struct ceil_stay *)l->buf[CEIL_UTIL_STAYS];
}

} // namespace

enum ceil_status ceil_util_spin(const struct ceil_launch *l, struct ceil_error *err)
{
	uint64_t ns = l->n;
	struct ceil_stay *stays = stays_of(l);
	void *args[] = {&ns, &stays};

	return launch((const void *)spin_kernel, l, args, "spin kernel", err);
}

enum ceil_status ceil_util_fill(const struct ceil_launch *l, struct ceil_error *err)
{
	float4 *out = (float4 *)l->buf[CEIL_UTIL_OUT];
	uint64_t vectors = l->n / 4;
	struct ceil_stay *stays = stays_of(l);
	void *args[] = {&out, &vectors, &stays};

	if (l->n % 4 || (uint64_t)l->blocks * l->threads < vectors)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "fill: %llu floats with %u x %u threads of 4 floats",
		                 (unsigned long long)l->n, l->blocks, l->threads);
	return launch((const void *)fill_kernel, l, args, "fill kernel", err);
}

enum ceil_status ceil_util_stream(const struct ceil_launch *l, struct ceil_error *err)
{
	uint4 *out = (uint4 *)l->buf[CEIL_UTIL_OUT];
	const uint4 *in = (const uint4 *)l->buf[CEIL_UTIL_IN];
	struct ceil_stay *stays = stays_of(l);
	void *args[] = {&out, &in, &stays};

	if (l->n != (uint64_t)l->blocks * l->threads * CEIL_UTIL_STREAM_VECTORS * 4)
		return ceil_fail(err, CEIL_E_USAGE, "stream: %llu floats with %u x %u threads",
		                 (unsigned long long)l->n, l->blocks, l->threads);
	return launch((const void *)stream_kernel, l, args, "stream kernel", err);
}

enum ceil_status ceil_util_chain(const struct ceil_launch *l, struct ceil_error *err)
{
	float *out = (float *)l->buf[CEIL_UTIL_OUT];
	uint32_t iters = l->iters;
	float half = 0.5f;
	struct ceil_stay *stays = stays_of(l);
	void *args[] = {&out, &iters, &half, &stays};

	return launch((const void *)chain_kernel, l, args, "chain kernel", err);
}

enum ceil_status ceil_util_dense(const struct ceil_launch *l, struct ceil_error *err)
{
	float *out = (float *)l->buf[CEIL_UTIL_OUT];
	uint32_t iters = l->iters;
	float half = 0.5f;
	struct ceil_stay *stays = stays_of(l);
	void *args[] = {&out, &iters, &half, &stays};

	if (l->threads > DENSE_THREADS)
		return ceil_fail(err, CEIL_E_USAGE, "dense: %u threads a block, at most %u",
		                 l->threads, DENSE_THREADS);
	return launch((const void *)dense_kernel, l, args, "dense kernel", err);
}

enum ceil_status ceil_util_copy(const struct ceil_launch *l, struct ceil_error *err)
{
	return ceil_cuda_status(cudaMemcpyAsync(l->buf[CEIL_UTIL_OUT], l->buf[CEIL_UTIL_IN], l->n,
	                                        cudaMemcpyDefault, (cudaStream_t)l->stream[0]),
	                        "cudaMemcpyAsync", err);
}
