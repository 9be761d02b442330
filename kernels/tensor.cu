/* Loops of one tensor-core instruction each: what the tensor cores issue, with no library. */
#include "kernels/tensor.h"

#include <cuda_runtime.h>

#include "kernels/support.h"

namespace
{

/* ---- Types: how the bits of four bytes are negated, and what the sums are kept in. */

struct bf16 {
	using sum = float;
	__device__ static uint32_t negated(uint32_t x)
	{
		return x ^ 0x80008000u;
	}
};
struct fp16 : bf16 {
};
struct fp16_acc16 : bf16 {
};
struct tf32 {
	using sum = float;
	__device__ static uint32_t negated(uint32_t x)
	{
		return x ^ 0x80000000u;
	}
};
struct e4m3 {
	using sum = float;
	__device__ static uint32_t negated(uint32_t x)
	{
		return x ^ 0x80808080u;
	}
};
struct int8 {
	using sum = int32_t;
	__device__ static uint32_t negated(uint32_t x)
	{
		return __vsub4(0, x);
	}
};

/* ---- wgmma: one warpgroup multiplies 64 x 256, straight from shared memory. */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int WGMMA_ROWS = 64;

/* The sums of a thread: 128, one a register; those of fp16 come two to a register. */
template <class T> struct wgmma_sums {
	using out = typename T::sum;
	using type = typename T::sum[128];
};
template <> struct wgmma_sums<fp16_acc16> {
	using out = uint16_t;
	using type = uint32_t[64];
};

/* Rows of 128 bytes: 64 as they are, 64 negated (A) or as they are again (B). */
struct alignas(1024) operands {
	uint4 a[CEIL_WGMMA_M][8], b[CEIL_WGMMA_N][8];
};

/* The swizzle of 128 bytes: 16-byte pieces of a row change places by its number modulo 8. */
__device__ uint4 &piece(uint4 (*rows)[8], uint32_t row, uint32_t i)
{
	return rows[row][i ^ (row % 8)];
}

template <class T> __device__ uint4 negated(uint4 v)
{
	return make_uint4(T::negated(v.x), T::negated(v.y), T::negated(v.z), T::negated(v.w));
}

template <class T> __device__ void load_operands(operands &o, const uint4 *a, const uint4 *b)
{
	constexpr uint32_t pieces = CEIL_TENSOR_ROW_BYTES / 16;

	for (uint32_t i = threadIdx.x; i < CEIL_WGMMA_M * pieces; i += blockDim.x) {
		piece(o.a, i / pieces, i % pieces) = a[i];
		piece(o.a, i / pieces, i % pieces + pieces) = negated<T>(a[i]);
	}
	for (uint32_t i = threadIdx.x; i < CEIL_WGMMA_N * pieces; i += blockDim.x) {
		piece(o.b, i / pieces, i % pieces) = b[i];
		piece(o.b, i / pieces, i % pieces + pieces) = b[i];
	}
}

/*
 * A matrix descriptor: address over 16; stride between groups of eight rows over 16, so 1024 / 16;
 * 1 in the top bits: the swizzle of 128 bytes. The leading offset is not used by it.
 */
__device__ uint64_t descriptor(const void *shared)
{
	const uint64_t address = __cvta_generic_to_shared(shared);

	return (uint64_t)1 << 62 | (uint64_t)(1024 / 16) << 32 | (uint64_t)1 << 16 | address >> 4;
}

/* clang-format off */
#define REGISTERS_64 \
	"%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
	"%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
	"%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
	"%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define REGISTERS_128 \
	REGISTERS_64 "," \
	"%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79," \
	"%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95," \
	"%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
	"%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define SUMS_4(c, d, i)  c(d[i]), c(d[(i) + 1]), c(d[(i) + 2]), c(d[(i) + 3])
#define SUMS_16(c, d, i) SUMS_4(c, d, i), SUMS_4(c, d, (i) + 4), SUMS_4(c, d, (i) + 8), SUMS_4(c, d, (i) + 12)
#define SUMS_64(c, d, i) SUMS_16(c, d, i), SUMS_16(c, d, (i) + 16), SUMS_16(c, d, (i) + 32), SUMS_16(c, d, (i) + 48)
#define SUMS_128(c, d)   SUMS_64(c, d, 0), SUMS_64(c, d, 64)
/* The predicate: D is added to. Scales of A and B are 1; neither is transposed. */
#define WGMMA(t, shape_and_types, registers, a_b, sums, scales) \
	__device__ void wgmma(t, wgmma_sums<t>::type &d, uint64_t a, uint64_t b) \
	{ \
		asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n" \
		             "wgmma.mma_async.sync.aligned." shape_and_types " {" registers \
		             "}, " a_b ", p" scales ";\n}" \
		             : sums : "l"(a), "l"(b)); \
	}
#define WGMMA_128(t, shape_and_types, constraint, scales) \
	WGMMA(t, shape_and_types, REGISTERS_128, "%128, %129", SUMS_128(constraint, d), scales)
#define WGMMA_64(t, shape_and_types, constraint, scales) \
	WGMMA(t, shape_and_types, REGISTERS_64, "%64, %65", SUMS_64(constraint, d, 0), scales)
/* clang-format on */
WGMMA_128(bf16, "m64n256k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0")
WGMMA_128(fp16, "m64n256k16.f32.f16.f16", "+f", ", 1, 1, 0, 0")
WGMMA_64(fp16_acc16, "m64n256k16.f16.f16.f16", "+r", ", 1, 1, 0, 0")
WGMMA_128(tf32, "m64n256k8.f32.tf32.tf32", "+f", ", 1, 1")
WGMMA_128(e4m3, "m64n256k32.f32.e4m3.e4m3", "+f", ", 1, 1")
WGMMA_128(int8, "m64n256k32.s32.s8.s8", "+r", "")

/* One product over half a row: two instructions, each over 32 bytes of k. */
template <class T>
__device__ void product(typename wgmma_sums<T>::type &d, uint64_t a, uint64_t b, int half)
{
	wgmma(T(), d, a + half * 4, b + half * 4);
	wgmma(T(), d, a + half * 4 + 2, b + half * 4 + 2);
}

/* Closes a group of instructions and waits until at most so many groups are on their way. */
template <int N> __device__ void commit_and_wait()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

template <class T>
__device__ void multiply(typename wgmma_sums<T>::type &d, const operands &o, uint32_t turns)
{
	const uint64_t a = descriptor(o.a[threadIdx.x / 128 * WGMMA_ROWS]), b = descriptor(o.b);

#pragma unroll
	for (auto &x : d)
		x = 0;
	/* What threads wrote to shared memory is now for the tensor cores to read. */
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll 1
	for (uint32_t i = 0; i < turns; i++) {
#pragma unroll
		for (int k = 0; k < CEIL_WGMMA_PRODUCTS; k++)
			product<T>(d, a, b, k % 2);
		commit_and_wait<1>();
	}
	product<T>(d, a, b, 0);
	commit_and_wait<0>();
}

/* Sum 4 j + 2 h + i of a thread: row 16 warp + lane / 4 + 8 h, column 8 j + 2 (lane % 4) + i. */
template <class Sum> __device__ void store(Sum *c, const Sum (&d)[128])
{
	const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	c += (16 * warp + lane / 4) * CEIL_WGMMA_N + 2 * (lane % 4);
#pragma unroll
	for (int j = 0; j < 128; j++)
		c[j % 4 / 2 * 8 * CEIL_WGMMA_N + j / 4 * 8 + j % 2] = d[j];
}

__device__ void store(uint16_t *c, const uint32_t (&d)[64])
{
	const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	c += (16 * warp + lane / 4) * CEIL_WGMMA_N + 2 * (lane % 4);
#pragma unroll
	for (int j = 0; j < 64; j++)
		*(uint32_t *)(c + j % 2 * 8 * CEIL_WGMMA_N + j / 2 * 8) = d[j];
}
#endif

template <class T>
__global__ void __launch_bounds__(CEIL_WGMMA_THREADS)
	wgmma_kernel(const uint4 *__restrict__ a, const uint4 *__restrict__ b, void *__restrict__ c,
                     uint32_t turns)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
	using out = typename wgmma_sums<T>::out;
	__shared__ operands o;
	typename wgmma_sums<T>::type d;

	load_operands<T>(o, a, b);
	multiply<T>(d, o, turns);
	store((out *)c + (uint64_t)blockIdx.x * CEIL_WGMMA_M * CEIL_WGMMA_N, d);
#endif
}

/* ---- mma.sync: one warp multiplies 16 x 8, all in registers. */

/*
 * Fragments of all types but fp64, in words of four bytes, of which a row has eight a step of k:
 * lane / 4 is the row, lane % 4 the word. A: rows r and r + 8, words w and w + 4 in the order
 * (r, w) (r + 8, w) (r, w + 4) (r + 8, w + 4); B: row (a column of C) r, words w and w + 4.
 */
template <class T> struct fragments {
	static constexpr int k_steps = 2, tiles_m = CEIL_MMA_M / 16, tiles_n = CEIL_MMA_N / 8;
	using sum = typename T::sum;
	struct a_type {
		uint32_t w[4];
	};
	struct b_type {
		uint32_t w[2];
	};
	using c_type = sum[4];

	__device__ static a_type load_a(const void *a, uint32_t row, uint32_t step)
	{
		const uint32_t lane = threadIdx.x % 32;
		const uint32_t *p =
			(const uint32_t *)a + (row + lane / 4) * 16 + step * 8 + lane % 4;

		return {{p[0], p[8 * 16], p[4], p[8 * 16 + 4]}};
	}
	__device__ static a_type negated(a_type a)
	{
#pragma unroll
		for (uint32_t &w : a.w)
			w = T::negated(w);
		return a;
	}
	__device__ static b_type load_b(const void *b, uint32_t row, uint32_t step)
	{
		const uint32_t lane = threadIdx.x % 32;
		const uint32_t *p =
			(const uint32_t *)b + (row + lane / 4) * 16 + step * 8 + lane % 4;

		return {{p[0], p[4]}};
	}
	/* Sum 2 h + i: row lane / 4 + 8 h, column 2 (lane % 4) + i. */
	__device__ static void store(sum *c, uint32_t row, uint32_t column, const c_type &d)
	{
		const uint32_t lane = threadIdx.x % 32;

		c += (row + lane / 4) * CEIL_MMA_N + column + 2 * (lane % 4);
		c[0] = d[0];
		c[1] = d[1];
		c[8 * CEIL_MMA_N] = d[2];
		c[8 * CEIL_MMA_N + 1] = d[3];
	}
};

template <class T> struct shape_of : fragments<T> {
};

#define MMA_4_4_2(instruction, constraint)                                                         \
	asm volatile(instruction " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"          \
	             : constraint(c[0]), constraint(c[1]), constraint(c[2]), constraint(c[3])      \
	             : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]),            \
	               "r"(b.w[1]))

/* Types that the target has no instruction for give no result: plans leave them out. */
__device__ void mma(bf16, float (&c)[4], fragments<bf16>::a_type a, fragments<bf16>::b_type b)
{
#if __CUDA_ARCH__ >= 800
	MMA_4_4_2("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "+f");
#endif
}

__device__ void mma(tf32, float (&c)[4], fragments<tf32>::a_type a, fragments<tf32>::b_type b)
{
#if __CUDA_ARCH__ >= 800
	MMA_4_4_2("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "+f");
#endif
}

__device__ void mma(e4m3, float (&c)[4], fragments<e4m3>::a_type a, fragments<e4m3>::b_type b)
{
#if __CUDA_ARCH__ >= 890
	MMA_4_4_2("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "+f");
#endif
}

/* Turing's instructions are half as long in k, or a quarter: the same fragments, in pieces. */
__device__ void mma(fp16, float (&c)[4], fragments<fp16>::a_type a, fragments<fp16>::b_type b)
{
#if __CUDA_ARCH__ >= 800
	MMA_4_4_2("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "+f");
#else
#pragma unroll
	for (int h = 0; h < 2; h++)
		asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
		             "{%4,%5}, {%6}, {%0,%1,%2,%3};"
		             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		             : "r"(a.w[2 * h]), "r"(a.w[2 * h + 1]), "r"(b.w[h]));
#endif
}

__device__ void mma(int8, int32_t (&c)[4], fragments<int8>::a_type a, fragments<int8>::b_type b)
{
#if __CUDA_ARCH__ >= 800
	MMA_4_4_2("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "+r");
#else
#pragma unroll
	for (int q = 0; q < 4; q++)
		asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, "
		             "{%0,%1};"
		             : "+r"(c[2 * (q % 2)]), "+r"(c[2 * (q % 2) + 1])
		             : "r"(a.w[q]), "r"(b.w[q / 2]));
#endif
}

/* Sums of fp16 come two to a register. */
template <> struct shape_of<fp16_acc16> : fragments<fp16_acc16> {
	using sum = uint16_t;
	using c_type = uint32_t[2];

	__device__ static void store(sum *c, uint32_t row, uint32_t column, const c_type &d)
	{
		const uint32_t lane = threadIdx.x % 32;

		c += (row + lane / 4) * CEIL_MMA_N + column + 2 * (lane % 4);
		*(uint32_t *)c = d[0];
		*(uint32_t *)(c + 8 * CEIL_MMA_N) = d[1];
	}
};

__device__ void mma(fp16_acc16, uint32_t (&c)[2], fragments<fp16_acc16>::a_type a,
                    fragments<fp16_acc16>::b_type b)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, "
	             "{%6,%7}, {%0,%1};"
	             : "+r"(c[0]), "+r"(c[1])
	             : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]),
	               "r"(b.w[1]));
#else
#pragma unroll
	for (int h = 0; h < 2; h++)
		asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, "
		             "{%4}, {%0,%1};"
		             : "+r"(c[0]), "+r"(c[1])
		             : "r"(a.w[2 * h]), "r"(a.w[2 * h + 1]), "r"(b.w[h]));
#endif
}

/*
 * fp64: the row of 64 bytes is two steps of four elements. A: rows r and r + 8, element w of the
 * step; B: element w. On 9.0 and later one instruction takes both steps.
 */
struct fp64 {
	using sum = double;
};

template <> struct shape_of<fp64> {
	static constexpr int k_steps = 1, tiles_m = CEIL_MMA_M / 16, tiles_n = CEIL_MMA_N_FP64 / 8;
	using sum = double;
	struct a_type {
		double w[4];
	};
	struct b_type {
		double w[2];
	};
	using c_type = double[4];

	__device__ static a_type load_a(const void *a, uint32_t row, uint32_t)
	{
		const uint32_t lane = threadIdx.x % 32;
		const double *p = (const double *)a + (row + lane / 4) * 8 + lane % 4;

		return {{p[0], p[8 * 8], p[4], p[8 * 8 + 4]}};
	}
	__device__ static a_type negated(a_type a)
	{
#pragma unroll
		for (double &w : a.w)
			w = -w;
		return a;
	}
	__device__ static b_type load_b(const void *b, uint32_t row, uint32_t)
	{
		const uint32_t lane = threadIdx.x % 32;
		const double *p = (const double *)b + (row + lane / 4) * 8 + lane % 4;

		return {{p[0], p[4]}};
	}
	__device__ static void store(sum *c, uint32_t row, uint32_t column, const c_type &d)
	{
		const uint32_t lane = threadIdx.x % 32;

		c += (row + lane / 4) * CEIL_MMA_N_FP64 + column + 2 * (lane % 4);
		c[0] = d[0];
		c[1] = d[1];
		c[8 * CEIL_MMA_N_FP64] = d[2];
		c[8 * CEIL_MMA_N_FP64 + 1] = d[3];
	}
};

__device__ void mma(fp64, double (&c)[4], shape_of<fp64>::a_type a, shape_of<fp64>::b_type b)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
	             "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	             : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
	             : "d"(a.w[0]), "d"(a.w[1]), "d"(a.w[2]), "d"(a.w[3]), "d"(b.w[0]),
	               "d"(b.w[1]));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
	for (int q = 0; q < 4; q++)
		asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, "
		             "{%0,%1};"
		             : "+d"(c[2 * (q % 2)]), "+d"(c[2 * (q % 2) + 1])
		             : "d"(a.w[q]), "d"(b.w[q / 2]));
#endif
}

constexpr uint32_t MMA_THREADS = 256;

template <class T, class F = shape_of<T>>
__device__ void mma_all(typename F::c_type (&c)[F::tiles_m][F::tiles_n],
                        const typename F::a_type (&a)[F::k_steps][F::tiles_m],
                        const typename F::b_type (&b)[F::k_steps][F::tiles_n])
{
#pragma unroll
	for (int s = 0; s < F::k_steps; s++) {
#pragma unroll
		for (int i = 0; i < F::tiles_m; i++) {
#pragma unroll
			for (int k = 0; k < F::tiles_n; k++) {
				/* To and fro, so that one operand at least stays for the next. */
				const int j = i % 2 ? F::tiles_n - 1 - k : k;

				mma(T(), c[i][j], a[s][i], b[s][j]);
			}
		}
	}
}

template <class T, class F = shape_of<T>>
__global__ void __launch_bounds__(MMA_THREADS)
	mma_kernel(const void *__restrict__ in_a, const void *__restrict__ in_b,
                   typename F::sum *__restrict__ out, uint32_t turns)
{
	const uint64_t warp = (uint64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	typename F::a_type a[2][F::k_steps][F::tiles_m]; /* as it is, and negated */
	typename F::b_type b[F::k_steps][F::tiles_n];
	typename F::c_type c[F::tiles_m][F::tiles_n] = {};

#pragma unroll
	for (int s = 0; s < F::k_steps; s++) {
#pragma unroll
		for (int i = 0; i < F::tiles_m; i++) {
			a[0][s][i] = F::load_a(in_a, 16 * i, s);
			a[1][s][i] = F::negated(a[0][s][i]);
		}
#pragma unroll
		for (int j = 0; j < F::tiles_n; j++)
			b[s][j] = F::load_b(in_b, 8 * j, s);
	}
#pragma unroll 1
	for (uint32_t t = 0; t < turns; t++) {
#pragma unroll
		for (int k = 0; k < CEIL_MMA_PRODUCTS; k++)
			mma_all<T>(c, a[k % 2], b);
	}
	mma_all<T>(c, a[0], b);
	out += warp * F::tiles_m * 16 * F::tiles_n * 8;
#pragma unroll
	for (int i = 0; i < F::tiles_m; i++) {
#pragma unroll
		for (int j = 0; j < F::tiles_n; j++)
			F::store(out, 16 * i, 8 * j, c[i][j]);
	}
}

/* ---- Launchers. */

enum ceil_status launch(const void *kernel, const struct ceil_launch *l, struct ceil_error *err)
{
	const void *a = l->buf[0], *b = l->buf[1];
	void *c = l->buf[2];
	uint32_t turns = l->iters;
	void *args[] = {&a, &b, &c, &turns};

	return ceil_cuda_status(cudaLaunchKernel(kernel, dim3(l->blocks), dim3(l->threads), args, 0,
	                                         (cudaStream_t)l->stream[0]),
	                        "tensor kernel", err);
}

template <class T>
enum ceil_status launch_wgmma(const struct ceil_launch *l, struct ceil_error *err)
{
	if (l->threads != CEIL_WGMMA_THREADS)
		return ceil_fail(err, CEIL_E_USAGE, "wgmma: %u threads a block are not %d",
		                 l->threads, CEIL_WGMMA_THREADS);
	return launch((const void *)wgmma_kernel<T>, l, err);
}

template <class T> enum ceil_status launch_mma(const struct ceil_launch *l, struct ceil_error *err)
{
	if (l->threads == 0 || l->threads % 32 != 0 || l->threads > MMA_THREADS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "mma: %u threads a block are no multiple of 32 up to %u",
		                 l->threads, MMA_THREADS);
	return launch((const void *)mma_kernel<T>, l, err);
}

} /* namespace */

#define DEFINE_WGMMA(type)                                                                         \
	enum ceil_status ceil_tensor_wgmma_##type(const struct ceil_launch *l,                     \
	                                          struct ceil_error *err)                          \
	{                                                                                          \
		return launch_wgmma<type>(l, err);                                                 \
	}
#define DEFINE_MMA(type)                                                                           \
	enum ceil_status ceil_tensor_mma_##type(const struct ceil_launch *l,                       \
	                                        struct ceil_error *err)                            \
	{                                                                                          \
		return launch_mma<type>(l, err);                                                   \
	}
CEIL_TENSOR_WGMMA_TYPES(DEFINE_WGMMA)
CEIL_TENSOR_MMA_TYPES(DEFINE_MMA)
