/* The words that kernels, benches and the harness share: data types, patterns, a launch. */
#ifndef CEIL_TYPES_H
#define CEIL_TYPES_H

#include <stdint.h>

/* Element types. The one spelling of their names is the table in dtype.c. */
enum ceil_dtype {
	CEIL_NODTYPE,
	CEIL_FP64,
	CEIL_FP32,
	CEIL_TF32,
	CEIL_BF16,
	CEIL_FP16,
	CEIL_E4M3,
	CEIL_E5M2,
	CEIL_E2M1,
	CEIL_INT8,
	CEIL_INT32,
	CEIL_INT64,
	CEIL_DTYPE_COUNT
};

/* What an operation reads (a, b), accumulates in and writes. */
struct ceil_types {
	enum ceil_dtype a, b, acc, out;
};

/*
 * What a buffer is filled with.
 * NORMAL: standard normal, dense mantissas; timed data.
 * ZEROS, CONSTANT (all 1): extra rows, since they change power and so the rate.
 * INTEGERS: whole numbers of [-8, 8], period CEIL_PERIOD; exact sums for checks.
 * TERNARY: -1, 0, 1, of which one in eight is not 0, no period: a dot product of k such pairs has
 *   the deviation sqrt(k) / 8, so for k up to 65536 it stays below 256 and is exact in every type.
 * POISON: every bit set, a NaN in each floating type; what outputs hold before a launch.
 */
enum ceil_pattern {
	CEIL_NORMAL,
	CEIL_ZEROS,
	CEIL_CONSTANT,
	CEIL_INTEGERS,
	CEIL_TERNARY,
	CEIL_POISON,
	CEIL_PATTERN_COUNT
};

enum {
	CEIL_MAX_BUFS = 8,
	CEIL_MAX_AXES = 8,
	CEIL_MAX_STREAMS = 8,
	CEIL_MAX_DEVICES = 64,
	CEIL_MAX_TIMES = 1000 /* that one self-timed launch may give */
};

/* When something ran, by one clock. */
struct ceil_span {
	uint64_t start_ns, end_ns;
};

/* How long a block of a kernel was on a multiprocessor, by the GPU's global timer. */
struct ceil_stay {
	uint64_t start_ns;
	uint32_t length_ns, sm;
};

/* The whole world of a launcher: it enqueues this, and decides nothing. */
struct ceil_launch {
	void *stream[CEIL_MAX_STREAMS]; /* cudaStream_t from backend->bind; the pool on the host */
	void *buf[CEIL_MAX_BUFS];       /* in the bench's buffer order */
	void *state;                    /* from prepare: a cuBLASLt plan, a communicator */
	double *self_ns;                /* where a self-timed launcher puts its self_count times */
	uint64_t n, m, k;               /* elements, or GEMM dimensions */
	uint32_t blocks, threads, smem_bytes, iters;
	uint32_t candidate;  /* which of the bench's candidates, e.g. an algorithm */
	uint32_t self_count; /* 0 or 1: one time of the launch; else each time is a sample */
};

#endif
