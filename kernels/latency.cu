/* Pointer chases: one thread follows a ring, each load waiting for the one before. */
#include "kernels/latency.h"

#include <cuda_runtime.h>

#include "harness/base/value.h"
#include "kernels/support.h"

namespace
{

using node = struct ceil_latency_node;
using state_type = struct ceil_latency_state;
using result_type = struct ceil_latency_result;

constexpr uint32_t ANY_SM = 0xffffffffu;

/* What the kernels work on. */
struct ring {
	char *base;
	uint64_t count, stride;

	__device__ node *at(uint64_t i) const
	{
		return (node *)(base + i * stride);
	}
	__device__ uint64_t index_of(const node *n) const
	{
		return (uint64_t)((const char *)n - base) / stride;
	}
};

__device__ uint32_t this_sm()
{
	uint32_t sm;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}

__device__ uint32_t bits_of(uint64_t count)
{
	return 63 - (uint32_t)__clzll((long long)count);
}

__global__ void build_kernel(ring r, state_type *state)
{
	const uint32_t bits = bits_of(r.count);

	for (uint64_t p = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; p < r.count;
	     p += (uint64_t)gridDim.x * blockDim.x) {
		node *n = r.at(ceil_shuffle(p, bits));

		n->next = (uint64_t)r.at(ceil_shuffle((p + 1) % r.count, bits));
		n->position = p;
		if (p == 0)
			*state = {(uint64_t)n, r.count, ANY_SM, 0};
	}
}

__device__ uint64_t load_l2(const void *p)
{
	uint64_t next;

	asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
	return next;
}

constexpr int PROBE_HOPS = 8;

/*
 * Clocks of a few hops from a node to itself. The store waits for the last of them, and a warp
 * issues in order, so the second clock is read when they are over.
 */
__device__ uint32_t ticks_of(node *n)
{
	__shared__ uint64_t end;
	uint64_t p = (uint64_t)n;
	uint32_t from, to;

	n->next = p;
	__threadfence();
	p = load_l2((const void *)p);
	asm volatile("mov.u32 %0, %%clock;" : "=r"(from)::"memory");
#pragma unroll
	for (int k = 0; k < PROBE_HOPS; k++)
		p = load_l2((const void *)p);
	asm volatile("st.shared.u64 [%0], %1;" ::"r"((uint32_t)__cvta_generic_to_shared(&end)),
	             "l"(p)
	             : "memory");
	asm volatile("mov.u32 %0, %%clock;" : "=r"(to)::"memory");
	return to - from;
}

__global__ void probe_kernel(ring r, state_type *state, uint32_t *ticks)
{
	for (uint64_t i = 0; i < r.count; i++)
		ticks[i] = ticks_of(r.at(i));
	state->sm = this_sm();
}

__global__ void build_side_kernel(ring r, state_type *state, const uint32_t *ticks, uint32_t low,
                                  uint32_t high)
{
	const uint32_t bits = bits_of(r.count);
	node *first = nullptr, *last = nullptr;
	uint64_t count = 0;

	for (uint64_t p = 0; p < r.count; p++) {
		const uint64_t i = ceil_shuffle(p, bits);

		if (ticks[i] < low || ticks[i] > high)
			continue;
		r.at(i)->position = count++;
		if (last)
			last->next = (uint64_t)r.at(i);
		last = r.at(i);
		first = first ? first : last;
	}
	if (last)
		last->next = (uint64_t)first;
	*state = {(uint64_t)first, count, state->sm, 0};
}

struct l1 {
	__device__ static uint64_t load(uint64_t p)
	{
		uint64_t next;

		asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(p) : "memory");
		return next;
	}
};

struct l2 {
	__device__ static uint64_t load(uint64_t p)
	{
		return load_l2((const void *)p);
	}
};

template <class Level> __device__ uint64_t follow(uint64_t p, uint32_t turns)
{
#pragma unroll 1
	for (uint32_t i = 0; i < turns; i++) {
#pragma unroll
		for (int k = 0; k < CEIL_LATENCY_UNROLL; k++)
			p = Level::load(p);
	}
	return p;
}

__device__ void leave(const ring &r, state_type *state, result_type *result, uint64_t from,
                      uint64_t to)
{
	*result = {((const node *)from)->position, ((const node *)to)->position,
	           r.index_of((const node *)to)};
	state->next = to;
}

template <class Level>
__global__ void chase_kernel(ring r, state_type *state, result_type *result, uint32_t turns)
{
	if (state->sm != ANY_SM && (state->sm != this_sm() || atomicExch(&state->busy, 1) != 0))
		return;
	const uint64_t from = state->next;

	leave(r, state, result, from, follow<Level>(from, turns));
	state->busy = 0;
}

struct shared {
	__device__ static uint64_t load(uint64_t p)
	{
		uint32_t next;

		asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"((uint32_t)p) : "memory");
		return next;
	}
};

__global__ void chase_shared_kernel(ring r, state_type *state, result_type *result, uint32_t turns)
{
	extern __shared__ uint32_t copy[];
	const uint32_t base = (uint32_t)__cvta_generic_to_shared(copy);
	const uint64_t from = state->next;

	for (uint64_t i = 0; i < r.count; i++)
		copy[i] = base + 4 * (uint32_t)r.index_of((const node *)r.at(i)->next);
	const uint64_t to =
		follow<shared>(base + 4 * (uint32_t)r.index_of((const node *)from), turns);

	leave(r, state, result, from, (uint64_t)r.at((to - base) / 4));
}

/* ---- Launchers. */

enum ceil_status launch(const void *kernel, const struct ceil_launch *l, uint32_t blocks,
                        uint32_t threads, void **args, struct ceil_error *err)
{
	return ceil_cuda_status(cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), args,
	                                         l->smem_bytes, (cudaStream_t)l->stream[0]),
	                        "latency kernel", err);
}

ring ring_of(const struct ceil_launch *l)
{
	return {(char *)l->buf[0], l->n, l->m};
}

enum ceil_status chase(const void *kernel, const struct ceil_launch *l, struct ceil_error *err)
{
	ring r = ring_of(l);
	void *state = l->buf[1], *result = l->buf[2];
	uint32_t turns = l->iters;
	void *args[] = {&r, &state, &result, &turns};

	return launch(kernel, l, l->blocks, 1, args, err);
}

} /* namespace */

enum ceil_status ceil_latency_build(const struct ceil_launch *l, struct ceil_error *err)
{
	ring r = ring_of(l);
	void *state = l->buf[1];
	void *args[] = {&r, &state};

	return launch((const void *)build_kernel, l, /* blocks= */ 1024, /* threads= */ 256, args,
	              err);
}

enum ceil_status ceil_latency_probe(const struct ceil_launch *l, struct ceil_error *err)
{
	ring r = ring_of(l);
	void *state = l->buf[1], *ticks = l->buf[3];
	void *args[] = {&r, &state, &ticks};

	return launch((const void *)probe_kernel, l, 1, 1, args, err);
}

enum ceil_status ceil_latency_build_side(const struct ceil_launch *l, struct ceil_error *err)
{
	ring r = ring_of(l);
	void *state = l->buf[1], *ticks = l->buf[3];
	uint32_t low = (uint32_t)(l->k >> 32), high = (uint32_t)l->k;
	void *args[] = {&r, &state, &ticks, &low, &high};

	return launch((const void *)build_side_kernel, l, 1, 1, args, err);
}

enum ceil_status ceil_latency_chase_l1(const struct ceil_launch *l, struct ceil_error *err)
{
	return chase((const void *)chase_kernel<l1>, l, err);
}

enum ceil_status ceil_latency_chase_l2(const struct ceil_launch *l, struct ceil_error *err)
{
	return chase((const void *)chase_kernel<l2>, l, err);
}

enum ceil_status ceil_latency_chase_smem(const struct ceil_launch *l, struct ceil_error *err)
{
	return chase((const void *)chase_shared_kernel, l, err);
}
