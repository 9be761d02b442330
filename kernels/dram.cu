/* Streaming kernels: read, write, copy, scale, add, triad, dot, in several forms each. */
#include "kernels/dram.h"

#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

constexpr uint32_t MAX_THREADS = 512;
constexpr uint32_t ALL_LANES = 0xffffffffu;

/* ---- Cache policies: how 16 bytes are loaded and stored. */

struct plain {
	__device__ uint4 load(const uint4 *p) const
	{
		return *p;
	}
	__device__ void store(uint4 *p, uint4 v) const
	{
		*p = v;
	}
};

struct cs {
	__device__ uint4 load(const uint4 *p) const
	{
		return __ldcs(p);
	}
	__device__ void store(uint4 *p, uint4 v) const
	{
		__stcs(p, v);
	}
};

/* Loads are not volatile: what they read is not written by the kernel, so they may move. */
struct evict {
	__device__ uint4 load(const uint4 *p) const
	{
		uint4 v;

		asm("ld.global.L1::evict_last.v4.u32 {%0,%1,%2,%3}, [%4];"
		    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		    : "l"(p));
		return v;
	}
	__device__ void store(uint4 *p, uint4 v) const
	{
		asm volatile("st.global.L1::evict_first.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p),
		             "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
		             : "memory");
	}
};

#if __CUDA_ARCH__ >= 800
struct keep {
	uint64_t last, first;

	__device__ keep()
	{
		asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
		asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
	}
	__device__ uint4 load(const uint4 *p) const
	{
		uint4 v;

		asm("ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
		    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		    : "l"(p), "l"(last));
		return v;
	}
	__device__ void store(uint4 *p, uint4 v) const
	{
		asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, %5;" ::"l"(p),
		             "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(first)
		             : "memory");
	}
};
#else
struct keep : plain {
};
#endif

/* ---- Operations: what becomes of a vector. */

/* A vector as elements. Taken apart by register moves: a union would go through local memory. */
template <class T> struct lanes;

template <> struct lanes<uint32_t> {
	uint32_t e[4];

	__device__ static lanes of(uint4 v)
	{
		return {v.x, v.y, v.z, v.w};
	}
};

template <> struct lanes<float> {
	float e[4];

	__device__ static lanes of(uint4 v)
	{
		return {__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z),
		        __uint_as_float(v.w)};
	}
	__device__ uint4 bits() const
	{
		return make_uint4(__float_as_uint(e[0]), __float_as_uint(e[1]),
		                  __float_as_uint(e[2]), __float_as_uint(e[3]));
	}
};

template <> struct lanes<double> {
	double e[2];

	__device__ static lanes of(uint4 v)
	{
		return {__hiloint2double((int)v.y, (int)v.x), __hiloint2double((int)v.w, (int)v.z)};
	}
	__device__ uint4 bits() const
	{
		return make_uint4((uint32_t)__double2loint(e[0]), (uint32_t)__double2hiint(e[0]),
		                  (uint32_t)__double2loint(e[1]), (uint32_t)__double2hiint(e[1]));
	}
};

template <class T> struct write_op {
	static constexpr int inputs = 0;
	__device__ static uint4 apply(uint4, uint4)
	{
		lanes<T> c;

#pragma unroll
		for (T &x : c.e)
			x = T(7);
		return c.bits();
	}
};

struct copy_op {
	static constexpr int inputs = 1;
	__device__ static uint4 apply(uint4 a, uint4)
	{
		return a;
	}
};

template <class T> struct scale_op {
	static constexpr int inputs = 1;
	__device__ static uint4 apply(uint4 a, uint4)
	{
		lanes<T> x = lanes<T>::of(a);

#pragma unroll
		for (T &e : x.e)
			e *= T(3);
		return x.bits();
	}
};

template <class T> struct add_op {
	static constexpr int inputs = 2;
	__device__ static uint4 apply(uint4 a, uint4 b)
	{
		lanes<T> x = lanes<T>::of(a);
		const lanes<T> y = lanes<T>::of(b);

#pragma unroll
		for (unsigned i = 0; i < sizeof(x) / sizeof(T); i++)
			x.e[i] += y.e[i];
		return x.bits();
	}
};

template <class T> struct triad_op {
	static constexpr int inputs = 2;
	__device__ static uint4 apply(uint4 a, uint4 b)
	{
		lanes<T> x = lanes<T>::of(a);
		const lanes<T> y = lanes<T>::of(b);

#pragma unroll
		for (unsigned i = 0; i < sizeof(x) / sizeof(T); i++)
			x.e[i] += T(3) * y.e[i];
		return x.bits();
	}
};

/* A reduction keeps an accumulator for each lane of a vector, so that no chain holds it up. */
struct read_op {
	using sum = uint32_t; /* of 32-bit words, whatever the elements are */
	static constexpr int inputs = 1;
	__device__ static void apply(lanes<sum> &acc, uint4 a, uint4)
	{
		const lanes<sum> x = lanes<sum>::of(a);

#pragma unroll
		for (int i = 0; i < 4; i++)
			acc.e[i] += x.e[i];
	}
};

template <class T> struct dot_op {
	using sum = T;
	static constexpr int inputs = 2;
	__device__ static void apply(lanes<T> &acc, uint4 a, uint4 b)
	{
		const lanes<T> x = lanes<T>::of(a), y = lanes<T>::of(b);

#pragma unroll
		for (unsigned i = 0; i < sizeof(x) / sizeof(T); i++)
			acc.e[i] += x.e[i] * y.e[i];
	}
};

/* ---- The two kernels. */

/* What a thread moves in a turn: the loads stand before the first use, many are in flight. */
template <class Op, class Policy, int N> struct group {
	uint4 a[N], b[N];

	__device__ void load(const Policy &policy, const uint4 *pa, const uint4 *pb)
	{
#pragma unroll
		for (int i = 0; i < N; i++) {
			if (Op::inputs >= 1)
				a[i] = policy.load(pa + i * blockDim.x);
			if (Op::inputs >= 2)
				b[i] = policy.load(pb + i * blockDim.x);
		}
	}
};

template <class Op, class Policy, int N>
__global__ void __launch_bounds__(MAX_THREADS)
	map_kernel(const uint4 *__restrict__ a, const uint4 *__restrict__ b, uint4 *__restrict__ c,
                   uint64_t vectors)
{
	const Policy policy;
	const uint32_t span = blockDim.x * N;

#pragma unroll 1
	for (uint64_t base = (uint64_t)blockIdx.x * span; base < vectors;
	     base += (uint64_t)gridDim.x * span) {
		const uint64_t first = base + threadIdx.x;

		if (base + span <= vectors) {
			group<Op, Policy, N> g;

			g.load(policy, a + first, b + first);
#pragma unroll
			for (int i = 0; i < N; i++)
				policy.store(c + first + i * blockDim.x, Op::apply(g.a[i], g.b[i]));
			continue;
		}
		for (uint64_t v = first; v < vectors; v += blockDim.x) {
			group<Op, Policy, 1> g;

			g.load(policy, a + v, b + v);
			policy.store(c + v, Op::apply(g.a[0], g.b[0]));
		}
	}
}

template <class T> __device__ T warp_sum(T x)
{
	for (int step = 16; step > 0; step /= 2)
		x += __shfl_xor_sync(ALL_LANES, x, step);
	return x;
}

#if __CUDA_ARCH__ >= 800
template <> __device__ uint32_t warp_sum(uint32_t x)
{
	return __reduce_add_sync(ALL_LANES, x);
}
#endif

/* The sum over the block, in thread 0. */
template <class T> __device__ T block_sum(T x)
{
	__shared__ T part[MAX_THREADS / 32];
	const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	x = warp_sum(x);
	if (lane == 0)
		part[warp] = x;
	__syncthreads();
	if (warp == 0)
		x = warp_sum(lane < blockDim.x / 32 ? part[lane] : T(0));
	return x;
}

template <class Op, class Policy, int N>
__global__ void __launch_bounds__(MAX_THREADS)
	reduce_kernel(const uint4 *__restrict__ a, const uint4 *__restrict__ b,
                      typename Op::sum *__restrict__ partial, uint64_t vectors)
{
	using sum = typename Op::sum;
	const Policy policy;
	const uint32_t span = blockDim.x * N;
	lanes<sum> acc = {};
	sum total = 0;

#pragma unroll 1
	for (uint64_t base = (uint64_t)blockIdx.x * span; base < vectors;
	     base += (uint64_t)gridDim.x * span) {
		const uint64_t first = base + threadIdx.x;

		if (base + span <= vectors) {
			group<Op, Policy, N> g;

			g.load(policy, a + first, b + first);
#pragma unroll
			for (int i = 0; i < N; i++)
				Op::apply(acc, g.a[i], g.b[i]);
			continue;
		}
		for (uint64_t v = first; v < vectors; v += blockDim.x) {
			group<Op, Policy, 1> g;

			g.load(policy, a + v, b + v);
			Op::apply(acc, g.a[0], g.b[0]);
		}
	}
#pragma unroll
	for (const sum &x : acc.e)
		total += x;
	total = block_sum(total);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = total;
}

/* ---- Launchers. */

using map_fn = void (*)(const uint4 *, const uint4 *, uint4 *, uint64_t);
template <class Sum> using reduce_fn = void (*)(const uint4 *, const uint4 *, Sum *, uint64_t);

template <class Kernel>
enum ceil_status launch(Kernel kernel, const struct ceil_launch *l, uint32_t element_bytes,
                        struct ceil_error *err)
{
	const void *a = l->buf[0], *b = l->buf[1];
	void *c = l->buf[2];
	uint64_t vectors = l->n * element_bytes / 16;
	void *args[] = {&a, &b, &c, &vectors};

	if (l->n * element_bytes % 16 != 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "dram: %llu elements are no multiple of 16 bytes",
		                 (unsigned long long)l->n);
	if (l->threads == 0 || l->threads % 32 != 0 || l->threads > MAX_THREADS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "dram: %u threads a block are no multiple of 32 up to %u",
		                 l->threads, MAX_THREADS);
	return ceil_cuda_status(cudaLaunchKernel(kernel, dim3(l->blocks), dim3(l->threads), args, 0,
	                                         (cudaStream_t)l->stream[0]),
	                        "dram kernel", err);
}

/* How an operation becomes a kernel. Those that only move bits are the same for every type. */
#define MAP_KERNEL(op, policy, vectors)    ((map_fn)map_kernel<op, policy, vectors>)
#define REDUCE_KERNEL(op, policy, vectors) ((reduce_fn<op::sum>)reduce_kernel<op, policy, vectors>)

#define KERNEL_read(policy, vectors, T)  REDUCE_KERNEL(read_op, policy, vectors)
#define KERNEL_dot(policy, vectors, T)   REDUCE_KERNEL(dot_op<T>, policy, vectors)
#define KERNEL_write(policy, vectors, T) MAP_KERNEL(write_op<T>, policy, vectors)
#define KERNEL_copy(policy, vectors, T)  MAP_KERNEL(copy_op, policy, vectors)
#define KERNEL_scale(policy, vectors, T) MAP_KERNEL(scale_op<T>, policy, vectors)
#define KERNEL_add(policy, vectors, T)   MAP_KERNEL(add_op<T>, policy, vectors)
#define KERNEL_triad(policy, vectors, T) MAP_KERNEL(triad_op<T>, policy, vectors)

} /* namespace */

#define DEFINE_ONE(op, policy, vectors, T, name)                                                   \
	enum ceil_status ceil_dram_##op##_##policy##_x##vectors##_##name(                          \
		const struct ceil_launch *l, struct ceil_error *err)                               \
	{                                                                                          \
		return launch(KERNEL_##op(policy, vectors, T), l, (uint32_t)sizeof(T), err);       \
	}
#define DEFINE(op, policy, vectors)                                                                \
	DEFINE_ONE(op, policy, vectors, float, fp32)                                               \
	DEFINE_ONE(op, policy, vectors, double, fp64)
CEIL_DRAM_FORMS(DEFINE)

enum ceil_status ceil_dram_memcpy_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return ceil_cuda_status(cudaMemcpyAsync(l->buf[2], l->buf[0], l->n * sizeof(float),
	                                        cudaMemcpyDeviceToDevice,
	                                        (cudaStream_t)l->stream[0]),
	                        "cudaMemcpyAsync device to device", err);
}

enum ceil_status ceil_dram_memset_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return ceil_cuda_status(
		cudaMemsetAsync(l->buf[2], 0, l->n * sizeof(float), (cudaStream_t)l->stream[0]),
		"cudaMemsetAsync", err);
}
