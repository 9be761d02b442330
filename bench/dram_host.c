/* Host kernels of the dram bench: one pinned thread per core, plain or non-temporal stores. */
#include "bench/dram_host.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "harness/base/dtype.h"
#include "harness/device/host.h"

/* Spans begin on a line, so that a store without caches writes whole lines. */
enum { LINE_BYTES = 64, PARTS = 4 };

/* A piece of the arrays for one kernel; n is a multiple of PARTS lines. */
struct span {
	void *c;
	const void *a, *b;
	uint64_t n;
	bool nt;
};

enum store_op { WRITE, COPY, SCALE, ADD, TRIAD, STORE_OPS };

/* The kernels of a width; read adds 32-bit words, whatever the type. */
struct kernels {
	void (*store_fp32[STORE_OPS])(const struct span *s);
	void (*store_fp64[STORE_OPS])(const struct span *s);
	double (*dot_fp32)(const struct span *s);
	double (*dot_fp64)(const struct span *s);
	uint32_t (*read)(const struct span *s);
};

#define KERNELS_OF(isa)                                                                            \
	{                                                                                          \
		.store_fp32 = {write_fp32_##isa, copy_fp32_##isa, scale_fp32_##isa,                \
		               add_fp32_##isa, triad_fp32_##isa},                                  \
		.store_fp64 = {write_fp64_##isa, copy_fp64_##isa, scale_fp64_##isa,                \
		               add_fp64_##isa, triad_fp64_##isa},                                  \
		.dot_fp32 = dot_fp32_##isa, .dot_fp64 = dot_fp64_##isa, .read = read_fp32_##isa,   \
	}

/* ---- one element at a time: for ends, and for CPUs that have no kernels of their own */

static inline float c_load_ps(const float *p)
{
	return *p;
}

static inline double c_load_pd(const double *p)
{
	return *p;
}

static inline void c_store_ps(float *p, float x)
{
	*p = x;
}

static inline void c_store_pd(double *p, double x)
{
	*p = x;
}

#define c_stream_ps    c_store_ps
#define c_stream_pd    c_store_pd
#define c_set1_ps(x)   ((float)(x))
#define c_set1_pd(x)   ((double)(x))
#define c_add_ps(x, y) ((x) + (y))
#define c_add_pd(x, y) ((x) + (y))
#define c_mul_ps(x, y) ((x) * (y))
#define c_mul_pd(x, y) ((x) * (y))

#define KERNEL(name) name##_fp32_c
#define TARGET
#define ELEM            float
#define VEC             float
#define OP(name)        c_##name##_ps
#define WORDS           uint32_t
#define WORDS_LOAD(p)   (*(p))
#define WORDS_ADD(x, y) ((x) + (y))
#include "bench/dram_host_kernels.inc"

#define KERNEL(name) name##_fp64_c
#define TARGET
#define ELEM     double
#define VEC      double
#define OP(name) c_##name##_pd
#include "bench/dram_host_kernels.inc"

static const struct kernels kernels_c = KERNELS_OF(c);

/* ---- vectors of x86 */

#if defined(__x86_64__)
#define KERNEL(name) name##_fp32_sse2
#define TARGET
#define ELEM            float
#define VEC             __m128
#define OP(name)        _mm_##name##_ps
#define WORDS           __m128i
#define WORDS_LOAD(p)   _mm_load_si128((const __m128i *)(p))
#define WORDS_ADD(x, y) _mm_add_epi32(x, y)
#include "bench/dram_host_kernels.inc"

#define KERNEL(name) name##_fp64_sse2
#define TARGET
#define ELEM     double
#define VEC      __m128d
#define OP(name) _mm_##name##_pd
#include "bench/dram_host_kernels.inc"

static const struct kernels kernels_sse2 = KERNELS_OF(sse2);

#define KERNEL(name)    name##_fp32_avx2
#define TARGET          __attribute__((target("avx2")))
#define ELEM            float
#define VEC             __m256
#define OP(name)        _mm256_##name##_ps
#define WORDS           __m256i
#define WORDS_LOAD(p)   _mm256_load_si256((const __m256i *)(p))
#define WORDS_ADD(x, y) _mm256_add_epi32(x, y)
#include "bench/dram_host_kernels.inc"

#define KERNEL(name) name##_fp64_avx2
#define TARGET       __attribute__((target("avx2")))
#define ELEM         double
#define VEC          __m256d
#define OP(name)     _mm256_##name##_pd
#include "bench/dram_host_kernels.inc"

static const struct kernels kernels_avx2 = KERNELS_OF(avx2);

#define KERNEL(name)    name##_fp32_avx512
#define TARGET          __attribute__((target("avx512f")))
#define ELEM            float
#define VEC             __m512
#define OP(name)        _mm512_##name##_ps
#define WORDS           __m512i
#define WORDS_LOAD(p)   _mm512_load_si512(p)
#define WORDS_ADD(x, y) _mm512_add_epi32(x, y)
#include "bench/dram_host_kernels.inc"

#define KERNEL(name) name##_fp64_avx512
#define TARGET       __attribute__((target("avx512f")))
#define ELEM         double
#define VEC          __m512d
#define OP(name)     _mm512_##name##_pd
#include "bench/dram_host_kernels.inc"

static const struct kernels kernels_avx512 = KERNELS_OF(avx512);

static const struct kernels *best_kernels(void)
{
	if (__builtin_cpu_supports("avx512f"))
		return &kernels_avx512;
	return __builtin_cpu_supports("avx2") ? &kernels_avx2 : &kernels_sse2;
}

static const bool have_nt = true;

/* Stores that pass by the caches are ordered by this alone. */
static void finish_nt(void)
{
	_mm_sfence();
}
#else
static const struct kernels *best_kernels(void)
{
	return &kernels_c;
}

static const bool have_nt = false;

static void finish_nt(void)
{
}
#endif

/* ---- jobs for the pool */

struct job {
	const struct ceil_launch *l;
	const struct kernels *kernels;
	enum ceil_dtype dtype;
	enum store_op op; /* of a store job */
	bool nt;
};

static uint64_t element_bytes(const struct job *job)
{
	return ceil_dtype_info(job->dtype)->bits / 8;
}

/* Elements [from, from + n) of the arrays; what an operation does not use may be NULL. */
static struct span span_of(const struct job *job, uint64_t from, uint64_t n)
{
	const size_t skip = from * element_bytes(job);
	const struct ceil_launch *l = job->l;

	return (struct span){
		.c = l->buf[2] ? (char *)l->buf[2] + skip : NULL,
		.a = l->buf[0] ? (const char *)l->buf[0] + skip : NULL,
		.b = l->buf[1] ? (const char *)l->buf[1] + skip : NULL,
		.n = n,
		.nt = job->nt,
	};
}

static void store_span(const struct job *job, const struct kernels *k, uint64_t from, uint64_t to)
{
	const struct span s = span_of(job, from, to - from);

	if (job->dtype == CEIL_FP64)
		k->store_fp64[job->op](&s);
	else
		k->store_fp32[job->op](&s);
}

static void store_share(void *arg, unsigned index, unsigned count)
{
	const struct job *job = arg;
	const uint64_t line = LINE_BYTES / element_bytes(job);
	uint64_t from, to, whole;

	ceil_pool_share(job->l->n, line, index, count, &from, &to);
	whole = to - to % line; /* only the last share ends within a line */
	store_span(job, job->kernels, from, whole);
	store_span(job, &kernels_c, whole, to);
	if (job->nt)
		finish_nt();
}

static bool is_aligned(const void *p)
{
	return (uintptr_t)p % LINE_BYTES == 0;
}

static enum ceil_status store(const struct ceil_launch *l, enum store_op op, enum ceil_dtype dtype,
                              bool nt, struct ceil_error *err)
{
	struct job job = {.l = l, .kernels = best_kernels(), .dtype = dtype, .op = op, .nt = nt};

	if (nt && !have_nt)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "no non-temporal stores for this CPU: only x86-64 has them here");
	assert(is_aligned(l->buf[0]) && is_aligned(l->buf[1]) && is_aligned(l->buf[2]));
	ceil_pool_run(l->stream[0], store_share, &job);
	return CEIL_OK;
}

/* ---- sums: one partial result a block */

static uint32_t read_ends(const void *at, uint64_t n)
{
	const uint32_t *words = at;
	uint32_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += words[i];
	return sum;
}

static double dot_ends(const struct span *s, enum ceil_dtype dtype)
{
	double sum = 0.0;

	for (uint64_t i = 0; i < s->n; i++)
		sum += dtype == CEIL_FP64
		               ? ((const double *)s->a)[i] * ((const double *)s->b)[i]
		               : (double)(((const float *)s->a)[i] * ((const float *)s->b)[i]);
	return sum;
}

/* Elements [from, to) of a block as ends and a middle of whole lines in PARTS equal parts. */
static void cut_block(const struct job *job, uint64_t block, struct span ret_ends[2],
                      struct span *ret_middle)
{
	const uint64_t line = LINE_BYTES / element_bytes(job);
	uint64_t from, to, head, middle;

	ceil_pool_share(job->l->n, 1, (unsigned)block, job->l->blocks, &from, &to);
	head = (line - from % line) % line;
	if (head > to - from)
		head = to - from;
	middle = to - from - head;
	middle -= middle % (PARTS * line);
	ret_ends[0] = span_of(job, from, head);
	*ret_middle = span_of(job, from + head, middle);
	ret_ends[1] = span_of(job, from + head + middle, to - from - head - middle);
}

static void read_share(void *arg, unsigned index, unsigned count)
{
	const struct job *job = arg;
	const uint64_t words = element_bytes(job) / sizeof(uint32_t);
	uint32_t *partial = job->l->buf[2];
	uint64_t from, to;

	ceil_pool_share(job->l->blocks, 1, index, count, &from, &to);
	for (uint64_t b = from; b < to; b++) {
		struct span ends[2], middle;

		cut_block(job, b, ends, &middle);
		middle.n *= words;
		partial[b] = read_ends(ends[0].a, ends[0].n * words) + job->kernels->read(&middle) +
		             read_ends(ends[1].a, ends[1].n * words);
	}
}

static void dot_share(void *arg, unsigned index, unsigned count)
{
	const struct job *job = arg;
	const bool wide = job->dtype == CEIL_FP64;
	uint64_t from, to;

	ceil_pool_share(job->l->blocks, 1, index, count, &from, &to);
	for (uint64_t b = from; b < to; b++) {
		struct span ends[2], middle;
		double sum;

		cut_block(job, b, ends, &middle);
		sum = wide ? job->kernels->dot_fp64(&middle) : job->kernels->dot_fp32(&middle);
		sum += dot_ends(&ends[0], job->dtype) + dot_ends(&ends[1], job->dtype);
		if (wide)
			((double *)job->l->buf[2])[b] = sum;
		else
			((float *)job->l->buf[2])[b] = (float)sum;
	}
}

static enum ceil_status sum(const struct ceil_launch *l, ceil_pool_fn share, enum ceil_dtype dtype)
{
	struct job job = {.l = l, .kernels = best_kernels(), .dtype = dtype};

	assert(l->blocks > 0 && is_aligned(l->buf[0]) && is_aligned(l->buf[1]));
	ceil_pool_run(l->stream[0], share, &job);
	return CEIL_OK;
}

/* ---- launchers */

enum ceil_status ceil_dram_host_read_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)err; /* cannot fail */
	return sum(l, read_share, CEIL_FP32);
}

enum ceil_status ceil_dram_host_read_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)err; /* cannot fail */
	return sum(l, read_share, CEIL_FP64);
}

enum ceil_status ceil_dram_host_dot_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)err; /* cannot fail */
	return sum(l, dot_share, CEIL_FP32);
}

enum ceil_status ceil_dram_host_dot_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)err; /* cannot fail */
	return sum(l, dot_share, CEIL_FP64);
}

enum ceil_status ceil_dram_host_write_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, WRITE, CEIL_FP32, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_write_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, WRITE, CEIL_FP64, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_copy_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, COPY, CEIL_FP32, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_copy_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, COPY, CEIL_FP64, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_scale_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, SCALE, CEIL_FP32, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_scale_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, SCALE, CEIL_FP64, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_add_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, ADD, CEIL_FP32, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_add_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, ADD, CEIL_FP64, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_triad_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, TRIAD, CEIL_FP32, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_triad_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, TRIAD, CEIL_FP64, /* nt= */ false, err);
}

enum ceil_status ceil_dram_host_write_nt_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, WRITE, CEIL_FP32, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_write_nt_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, WRITE, CEIL_FP64, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_copy_nt_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, COPY, CEIL_FP32, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_copy_nt_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, COPY, CEIL_FP64, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_scale_nt_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, SCALE, CEIL_FP32, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_scale_nt_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, SCALE, CEIL_FP64, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_add_nt_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, ADD, CEIL_FP32, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_add_nt_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, ADD, CEIL_FP64, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_triad_nt_fp32(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, TRIAD, CEIL_FP32, /* nt= */ true, err);
}

enum ceil_status ceil_dram_host_triad_nt_fp64(const struct ceil_launch *l, struct ceil_error *err)
{
	return store(l, TRIAD, CEIL_FP64, /* nt= */ true, err);
}
