/* The inside of the CUDA backend, shared by its files; nobody else includes it. */
#ifndef CEIL_CUDA_INSIDE_H
#define CEIL_CUDA_INSIDE_H

#include "harness/base/clock.h"
#include "harness/device/cuda.h"

struct CUevent_st;  /* cudaEvent_t points to it */
struct CUstream_st; /* cudaStream_t */

/* Of the waits that the contract gives no time-out: fill, hash, project, read. */
#define CEIL_CUDA_WAIT_NS (60 * CEIL_NS_PER_S)

/* A GPU that is open; one thread uses it. */
struct ceil_cuda_device {
	struct ceil_device base;
	int ordinal;
	bool lost;    /* it did not answer: CUDA may block, so it is not called any more */
	bool no_gate; /* the environment serialises launches */
	struct CUstream_st *stream[CEIL_MAX_STREAMS];
	struct CUevent_st *slot[CEIL_MAX_SLOTS];
	bool marked[CEIL_MAX_SLOTS];
	uint32_t *gate; /* mapped: the last ticket that may pass */
	uint32_t ticket;
	struct ceil_stamp *stamps; /* mapped: CEIL_MAX_SLOTS x stamp_count */
	uint32_t stamp_count;
	uint64_t *sum; /* on the device */
	void *flush;   /* on the device: twice the L2 */
	uint64_t flush_bytes;
	struct ceil_topology *topology; /* of the host; NULL: hwloc does not know it */
};

static inline struct ceil_cuda_device *ceil_cuda_of(struct ceil_device *dev)
{
	return (struct ceil_cuda_device *)dev;
}

/* ---- cuda_backend.c */

/* ceil_cuda_enter - before every call: the device answers, and is the thread's current one. */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_enter(struct ceil_cuda_device *d,
                                                 struct ceil_error *err);

/* ceil_cuda_wait_all - for all streams; CEIL_E_TIMEOUT makes the device a lost one. */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_wait_all(struct ceil_cuda_device *d, uint64_t timeout_ns,
                                                    struct ceil_error *err);

/* ceil_cuda_copy_after_all - copies after all that was enqueued before, and waits for it. */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_copy_after_all(struct ceil_cuda_device *d, void *dst,
                                                          const void *src, uint64_t bytes,
                                                          struct ceil_error *err);

/* ---- cuda_memory.c: members of ceil_cuda_backend, as backend.h and cuda.h describe them */

CEIL_MUST_CHECK enum ceil_status ceil_cuda_alloc(struct ceil_device *dev,
                                                 const struct ceil_buffer *b, void **ret_ptr,
                                                 struct ceil_error *err);
void ceil_cuda_free(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_fill(struct ceil_device *dev,
                                                const struct ceil_buffer *b, void *ptr, int buffer,
                                                enum ceil_pattern pattern, uint64_t seed,
                                                struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_hash(struct ceil_device *dev,
                                                const struct ceil_buffer *b, const void *ptr,
                                                uint64_t *ret_hash, struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_project(struct ceil_device *dev,
                                                   const struct ceil_matrix *m, const int64_t *x,
                                                   int64_t *ret_y, struct ceil_error *err);

#endif
