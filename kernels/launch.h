/* Kernels that do nothing, spin, or serve a queue: what it costs to give a GPU work. */
#ifndef CEIL_KERNELS_LAUNCH_H
#define CEIL_KERNELS_LAUNCH_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Launchers of type ceil_launch_fn: one kernel of l->blocks blocks of l->threads threads on
 * stream 0. It does nothing; with l->k = 1, for checks, each block adds 1 to *(uint32_t *)buf[0].
 * Return: CEIL_OK, or what ceil_cuda_status makes of CUDA's error.
 */

/* ceil_launch_plain - cudaLaunchKernel. */
CEIL_MUST_CHECK enum ceil_status ceil_launch_plain(const struct ceil_launch *l,
                                                   struct ceil_error *err);

/* ceil_launch_cooperative - cudaLaunchCooperativeKernel: all blocks must fit the GPU at once. */
CEIL_MUST_CHECK enum ceil_status ceil_launch_cooperative(const struct ceil_launch *l,
                                                         struct ceil_error *err);

/*
 * ceil_launch_pdl - programmatic dependent launch: the kernel may start while the one before it
 * ends, says at once that the next may start, and waits for the end of the one before.
 * Needs compute capability 9.0.
 */
CEIL_MUST_CHECK enum ceil_status ceil_launch_pdl(const struct ceil_launch *l,
                                                 struct ceil_error *err);

/* ceil_launch_spin - one thread that spins for ns by the GPU's global timer and tells its span. */
CEIL_MUST_CHECK enum ceil_status ceil_launch_spin(void *stream, uint64_t ns, struct ceil_span *span,
                                                  struct ceil_error *err);

/* A work queue in mapped host memory. What different sides write lies on lines of its own. */
enum { CEIL_QUEUE_ITEMS = 4096 };
struct ceil_queue {
	uint64_t posted; /* by the host: items before this one are there */
	uint64_t host_line[15];
	uint64_t stop; /* by the host: the kernel may leave when all is served */
	uint64_t stop_line[15];
	uint64_t served; /* by the kernel: results before this one are there */
	uint64_t kernel_line[15];
	uint64_t item[CEIL_QUEUE_ITEMS];   /* by the host; number i at i modulo CEIL_QUEUE_ITEMS */
	uint64_t result[CEIL_QUEUE_ITEMS]; /* by the kernel: ceil_mix(item) */
};

/*
 * ceil_launch_serve - one block of threads (at most 1024) that serves q until it is stopped, as
 * many items in a turn as it has threads. It leaves by itself after two seconds without an item.
 * @q: device-accessible; posted, stop and served are 0.
 */
CEIL_MUST_CHECK enum ceil_status ceil_launch_serve(void *stream, struct ceil_queue *q,
                                                   uint32_t threads, struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
