/* Kernels around a measurement: fill, hash, project, gate, clock stamps, cache flush. */
#include "kernels/support.h"

#include <cuda_runtime.h>

#include "harness/base/value.h"

namespace
{

constexpr uint32_t THREADS = 256;
/* Enough to fill any GPU; each thread loops over the rest. */
constexpr uint64_t MAX_BLOCKS = 8192;
/* A gate that nobody opens lets go after this long, so that no stream is held for ever. */
constexpr uint64_t GATE_NS = 2000000000u;

CEIL_HD constexpr uint32_t bits_of(enum ceil_dtype t)
{
	switch (t) {
	case CEIL_FP64:
	case CEIL_INT64:
		return 64;
	case CEIL_FP32:
	case CEIL_TF32:
	case CEIL_INT32:
		return 32;
	case CEIL_BF16:
	case CEIL_FP16:
		return 16;
	case CEIL_E2M1:
		return 4;
	default:
		return 8;
	}
}

__device__ constexpr uint64_t mask_of(uint32_t bits)
{
	return ~(uint64_t)0 >> (64 - bits);
}

__device__ uint64_t global_ns()
{
	uint64_t t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

__device__ uint64_t thread_index()
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ uint64_t thread_count()
{
	return (uint64_t)gridDim.x * blockDim.x;
}

dim3 grid_for(uint64_t items)
{
	const uint64_t blocks = (items + THREADS - 1) / THREADS;

	return dim3((uint32_t)(blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks));
}

/* Word w of a filled buffer: the elements of 8 bytes, first element in the low bits. */
template <enum ceil_dtype T> __device__ uint64_t filled_word(const struct ceil_fill &f, uint64_t w)
{
	constexpr uint32_t bits = bits_of(T), each = 64 / bits;
	uint64_t word = 0;

#pragma unroll
	for (uint32_t k = 0; k < each; k++)
		word |= (ceil_element(T, f.pattern, f.seed, f.buffer, w * each + k) & mask_of(bits))
		        << (k * bits);
	return word;
}

template <enum ceil_dtype T> __global__ void fill_kernel(struct ceil_fill f)
{
	const uint64_t pairs = f.bytes / 16;
	ulonglong2 *const out = (ulonglong2 *)f.ptr;

	for (uint64_t i = thread_index(); i < pairs; i += thread_count())
		out[i] = make_ulonglong2(filled_word<T>(f, 2 * i), filled_word<T>(f, 2 * i + 1));
	for (uint64_t b = 16 * pairs + thread_index(); b < f.bytes; b += thread_count())
		((uint8_t *)f.ptr)[b] = (uint8_t)(filled_word<T>(f, b / 8) >> (b % 8 * 8));
}

template <uint32_t BITS> __device__ uint64_t hash_word(uint64_t word, uint64_t w)
{
	constexpr uint32_t each = 64 / BITS;
	uint64_t sum = 0;

#pragma unroll
	for (uint32_t k = 0; k < each; k++)
		sum += ceil_hash_term(word >> (k * BITS) & mask_of(BITS), w * each + k);
	return sum;
}

__device__ uint64_t warp_sum(uint64_t x)
{
	for (int step = 16; step > 0; step /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, step);
	return x;
}

template <uint32_t BITS>
__global__ void hash_kernel(const uint8_t *ptr, uint64_t bytes, unsigned long long *sum)
{
	const uint64_t pairs = bytes / 16, tail = 16 * pairs * 8 / BITS;
	uint64_t s = 0;

	for (uint64_t i = thread_index(); i < pairs; i += thread_count()) {
		const ulonglong2 v = ((const ulonglong2 *)ptr)[i];

		s += hash_word<BITS>(v.x, 2 * i) + hash_word<BITS>(v.y, 2 * i + 1);
	}
	for (uint64_t e = tail + thread_index(); e < bytes * 8 / BITS; e += thread_count()) {
		uint64_t bits = 0;

		for (uint32_t b = 0; b < (BITS + 7) / 8; b++)
			bits |= (uint64_t)ptr[e * BITS / 8 + b] << (8 * b);
		s += ceil_hash_term(bits >> (e * BITS % 8) & mask_of(BITS), e);
	}
	s = warp_sum(s);
	if (threadIdx.x % 32 == 0)
		atomicAdd(sum, (unsigned long long)s);
}

template <enum ceil_dtype T> __device__ uint64_t load_bits(const void *ptr, uint64_t i)
{
	constexpr uint32_t bits = bits_of(T);

	if (bits == 64)
		return ((const uint64_t *)ptr)[i];
	if (bits == 32)
		return ((const uint32_t *)ptr)[i];
	if (bits == 16)
		return ((const uint16_t *)ptr)[i];
	if (bits == 8)
		return ((const uint8_t *)ptr)[i];
	return ((const uint8_t *)ptr)[i / 2] >> (i % 2 * 4) & 15u;
}

/* The element as a whole number; *bad grows where it is none. */
template <enum ceil_dtype T> __device__ int64_t load_whole(const void *ptr, uint64_t i, bool *bad)
{
	const uint64_t bits = load_bits<T>(ptr, i);
	const double v = ceil_decode(T, bits);

	if (T == CEIL_INT64)
		return (int64_t)bits;
	if (v == rint(v) && fabs(v) < 0x1p63)
		return (int64_t)v;
	*bad = true;
	return 0;
}

/*
 * A row belongs to one thread (lanes 1: rows lie side by side in memory) or to one warp (lanes
 * 32: columns do), so that a warp always reads neighbours. blockIdx.y takes every gridDim.y-th
 * group of columns.
 */
template <enum ceil_dtype T> __global__ void project_kernel(struct ceil_project p, uint32_t lanes)
{
	const uint64_t row = thread_index() / lanes;
	const uint64_t first = threadIdx.x % lanes + (uint64_t)blockIdx.y * lanes;
	uint64_t sum = 0;
	bool bad = false;

	if (row >= p.rows) /* whole warps when lanes is 32 */
		return;
	for (uint64_t c = first; c < p.cols; c += (uint64_t)gridDim.y * lanes) {
		const uint64_t i = row * p.row_stride + c * p.col_stride;

		sum += (uint64_t)load_whole<T>(p.ptr, i, &bad) * (uint64_t)p.x[c];
	}
	if (bad)
		p.bad[row] = 1;
	if (lanes == 32)
		sum = warp_sum(sum);
	if (threadIdx.x % lanes == 0)
		atomicAdd((unsigned long long *)&p.y[row], (unsigned long long)sum);
}

__global__ void gate_kernel(const uint32_t *flag, uint32_t ticket)
{
	const uint64_t start_ns = global_ns();

	/* Volatile: each look goes out to host memory. The difference survives a wrap. */
	while ((int32_t)(*(const volatile uint32_t *)flag - ticket) < 0) {
		if (global_ns() - start_ns > GATE_NS)
			break;
		__nanosleep(100);
	}
}

__global__ void clock_kernel(struct ceil_stamp *stamps)
{
	uint32_t sm;

	if (threadIdx.x != 0)
		return;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	stamps[blockIdx.x].sm = sm;
	stamps[blockIdx.x].globaltimer_ns = global_ns();
	stamps[blockIdx.x].clock = (uint64_t)clock64();
}

__global__ void flush_kernel(uint4 *ptr, uint64_t count)
{
	for (uint64_t i = thread_index(); i < count; i += thread_count())
		ptr[i] = make_uint4((uint32_t)i, 0, 0, 0);
}

using fill_fn = void (*)(struct ceil_fill);
const fill_fn fill_kernels[CEIL_DTYPE_COUNT] = {
	nullptr,
	fill_kernel<CEIL_FP64>,
	fill_kernel<CEIL_FP32>,
	fill_kernel<CEIL_TF32>,
	fill_kernel<CEIL_BF16>,
	fill_kernel<CEIL_FP16>,
	fill_kernel<CEIL_E4M3>,
	fill_kernel<CEIL_E5M2>,
	fill_kernel<CEIL_E2M1>,
	fill_kernel<CEIL_INT8>,
	fill_kernel<CEIL_INT32>,
	fill_kernel<CEIL_INT64>,
};

using project_fn = void (*)(struct ceil_project, uint32_t);
const project_fn project_kernels[CEIL_DTYPE_COUNT] = {
	nullptr,
	project_kernel<CEIL_FP64>,
	project_kernel<CEIL_FP32>,
	project_kernel<CEIL_TF32>,
	project_kernel<CEIL_BF16>,
	project_kernel<CEIL_FP16>,
	project_kernel<CEIL_E4M3>,
	project_kernel<CEIL_E5M2>,
	project_kernel<CEIL_E2M1>,
	project_kernel<CEIL_INT8>,
	project_kernel<CEIL_INT32>,
	project_kernel<CEIL_INT64>,
};

using hash_fn = void (*)(const uint8_t *, uint64_t, unsigned long long *);
hash_fn hash_kernel_of(uint32_t bits)
{
	switch (bits) {
	case 4:
		return hash_kernel<4>;
	case 8:
		return hash_kernel<8>;
	case 16:
		return hash_kernel<16>;
	case 32:
		return hash_kernel<32>;
	case 64:
		return hash_kernel<64>;
	default:
		return nullptr;
	}
}

} /* namespace */

enum ceil_status ceil_cuda_status(int cuda_error, const char *what, struct ceil_error *err)
{
	const cudaError_t e = (cudaError_t)cuda_error;
	enum ceil_status status = CEIL_E_DEVICE;

	if (e == cudaSuccess)
		return CEIL_OK;
	(void)cudaGetLastError(); /* told here, once; a sticky error comes again by itself */
	if (e == cudaErrorNoKernelImageForDevice)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%s: this build has no code for this GPU: build again with its "
		                 "architecture in CUDA_ARCHS",
		                 what);
	if (e == cudaErrorMemoryAllocation)
		status = CEIL_E_NOMEM;
	return ceil_fail(err, status, "%s: %s: %s", what, cudaGetErrorName(e),
	                 cudaGetErrorString(e));
}

enum ceil_status ceil_support_fill(void *stream, const struct ceil_fill *f, struct ceil_error *err)
{
	struct ceil_fill arg = *f;
	void *args[] = {&arg};

	if (f->dtype <= CEIL_NODTYPE || f->dtype >= CEIL_DTYPE_COUNT)
		return ceil_fail(err, CEIL_E_USAGE, "fill: element type %d is unknown",
		                 (int)f->dtype);
	return ceil_cuda_status(cudaLaunchKernel(fill_kernels[f->dtype], grid_for(f->bytes / 16),
	                                         dim3(THREADS), args, 0, (cudaStream_t)stream),
	                        "fill kernel", err);
}

enum ceil_status ceil_support_hash(void *stream, const void *ptr, uint64_t bytes, uint32_t bits,
                                   uint64_t *sum, struct ceil_error *err)
{
	const hash_fn kernel = hash_kernel_of(bits);
	const uint8_t *p = (const uint8_t *)ptr;
	void *args[] = {&p, &bytes, &sum};

	if (!kernel)
		return ceil_fail(err, CEIL_E_USAGE, "hash: elements of %u bits are unknown", bits);
	return ceil_cuda_status(cudaLaunchKernel(kernel, grid_for(bytes / 16), dim3(THREADS), args,
	                                         0, (cudaStream_t)stream),
	                        "hash kernel", err);
}

enum ceil_status ceil_support_project(void *stream, const struct ceil_project *p,
                                      struct ceil_error *err)
{
	struct ceil_project arg = *p;
	uint32_t lanes = p->row_stride <= p->col_stride ? 1 : 32;
	const uint64_t blocks = (p->rows * lanes + THREADS - 1) / THREADS;
	const uint64_t groups = (p->cols + lanes - 1) / lanes;
	void *args[] = {&arg, &lanes};

	if (p->dtype <= CEIL_NODTYPE || p->dtype >= CEIL_DTYPE_COUNT)
		return ceil_fail(err, CEIL_E_USAGE, "project: element type %d is unknown",
		                 (int)p->dtype);
	if (p->rows == 0 || p->cols == 0)
		return CEIL_OK;
	if (blocks > INT32_MAX)
		return ceil_fail(err, CEIL_E_USAGE, "project: %llu rows are too many",
		                 (unsigned long long)p->rows);
	const dim3 grid((uint32_t)blocks, groups > 32 ? 32 : (uint32_t)groups);

	return ceil_cuda_status(cudaLaunchKernel(project_kernels[p->dtype], grid, dim3(THREADS),
	                                         args, 0, (cudaStream_t)stream),
	                        "project kernel", err);
}

enum ceil_status ceil_support_gate(void *stream, const uint32_t *flag, uint32_t ticket,
                                   struct ceil_error *err)
{
	void *args[] = {&flag, &ticket};

	return ceil_cuda_status(
		cudaLaunchKernel(gate_kernel, dim3(1), dim3(1), args, 0, (cudaStream_t)stream),
		"gate kernel", err);
}

enum ceil_status ceil_support_clock(void *stream, struct ceil_stamp *stamps, uint32_t blocks,
                                    struct ceil_error *err)
{
	void *args[] = {&stamps};

	return ceil_cuda_status(cudaLaunchKernel(clock_kernel, dim3(blocks), dim3(32), args, 0,
	                                         (cudaStream_t)stream),
	                        "clock kernel", err);
}

enum ceil_status ceil_support_flush(void *stream, void *ptr, uint64_t bytes, struct ceil_error *err)
{
	uint64_t count = bytes / 16;
	void *args[] = {&ptr, &count};

	return ceil_cuda_status(cudaLaunchKernel(flush_kernel, grid_for(count), dim3(THREADS), args,
	                                         0, (cudaStream_t)stream),
	                        "flush kernel", err);
}
