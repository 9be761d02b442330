/* Kernels around a measurement: fill, hash, project, gate, clock stamps, cache flush. */
#ifndef CEIL_SUPPORT_H
#define CEIL_SUPPORT_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All pointers are device-accessible, streams are cudaStream_t; each launcher enqueues and
 * returns. Return of all: CEIL_OK, or what ceil_cuda_status makes of CUDA's error.
 */

/*
 * ceil_cuda_status - a cudaError_t as a status, with its name and text after "what: ".
 * Return: CEIL_OK for cudaSuccess; CEIL_E_NOMEM if memory ran out; CEIL_E_UNSUPPORTED if this
 * build has no code for the device; CEIL_E_DEVICE otherwise.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_status(int cuda_error, const char *what,
                                                  struct ceil_error *err);

struct ceil_fill {
	void *ptr; /* aligned to 16 bytes */
	uint64_t bytes;
	enum ceil_dtype dtype;
	enum ceil_pattern pattern;
	uint64_t seed;
	uint32_t buffer;
};
/* ceil_support_fill - element i becomes ceil_element(dtype, pattern, seed, buffer, i). */
CEIL_MUST_CHECK enum ceil_status ceil_support_fill(void *stream, const struct ceil_fill *f,
                                                   struct ceil_error *err);

/* ceil_support_hash - adds ceil_hash_term of every element (bits wide: 4 to 64) to *sum. */
CEIL_MUST_CHECK enum ceil_status ceil_support_hash(void *stream, const void *ptr, uint64_t bytes,
                                                   uint32_t bits, uint64_t *sum,
                                                   struct ceil_error *err);

struct ceil_project {
	const void *ptr; /* element (r, c) at index r * row_stride + c * col_stride */
	enum ceil_dtype dtype;
	uint64_t rows, cols, row_stride, col_stride;
	const int64_t *x; /* cols */
	uint64_t *y;      /* rows; added to, modulo 2^64 */
	uint32_t *bad;    /* rows; set to 1 where an element is no whole number */
};
/* ceil_support_project - y[r] += sum over c of m(r, c) * x[c]. */
CEIL_MUST_CHECK enum ceil_status ceil_support_project(void *stream, const struct ceil_project *p,
                                                      struct ceil_error *err);

/*
 * ceil_support_gate - holds the stream until *flag >= ticket (modulo 2^32), at most two seconds.
 * @flag: mapped host memory, written by the host alone.
 */
CEIL_MUST_CHECK enum ceil_status ceil_support_gate(void *stream, const uint32_t *flag,
                                                   uint32_t ticket, struct ceil_error *err);

/* When a block ran, where, and the core clock's count there. */
struct ceil_stamp {
	uint64_t clock, globaltimer_ns;
	uint64_t sm;
};
/* ceil_support_clock - one stamp a block. */
CEIL_MUST_CHECK enum ceil_status ceil_support_clock(void *stream, struct ceil_stamp *stamps,
                                                    uint32_t blocks, struct ceil_error *err);

/* ceil_support_flush - writes bytes (a multiple of 16) at ptr, to displace what the cache holds. */
CEIL_MUST_CHECK enum ceil_status ceil_support_flush(void *stream, void *ptr, uint64_t bytes,
                                                    struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
