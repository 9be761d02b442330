/* Copies between a GPU and its host by the copy engines: one way, both ways, one at a time. */
#ifndef CEIL_CUDA_COPY_H
#define CEIL_CUDA_COPY_H

#include "harness/base/status.h"
#include "harness/base/types.h"
#include "harness/device/cuda_launch.h"

struct ceil_device;

/* Buffers of a copy, in the order of l->buf. The second pair is for both ways at once. */
enum ceil_copy_buffer {
	CEIL_COPY_HOST,
	CEIL_COPY_DEVICE,
	CEIL_COPY_BACK_HOST,
	CEIL_COPY_BACK_DEVICE,
	CEIL_COPY_BUFFERS
};

/*
 * ceil_cuda_copy_open - what copies keep: events that join two streams, and the calling thread on
 * a core of a NUMA node until the state is closed, by the same thread.
 * @node: -1: the thread stays as it is.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_copy_open(struct ceil_device *dev, int node,
                                                     struct ceil_launch_state **ret_state,
                                                     struct ceil_error *err);

/*
 * Launchers of type ceil_launch_fn. Each copies l->m bytes, l->n times over, between the buffers
 * of CEIL_COPY_HOST and CEIL_COPY_DEVICE, by cudaMemcpyAsync.
 * _h2d, _d2h: on stream 0.
 * _both: host to device on stream 0 and, from CEIL_COPY_BACK_DEVICE to CEIL_COPY_BACK_HOST, device
 * to host on stream 1; both begin after what is in stream 0 and end before what follows there.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_copy_h2d(const struct ceil_launch *l,
                                                    struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_copy_d2h(const struct ceil_launch *l,
                                                    struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_copy_both(const struct ceil_launch *l,
                                                     struct ceil_error *err);

/*
 * _each: one copy of l->m bytes after another, each waited for by cudaStreamSynchronize; the
 * host's times go to l->self_ns, l->self_count of them or one for 0. A copy that is not timed
 * comes before.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_copy_h2d_each(const struct ceil_launch *l,
                                                         struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_copy_d2h_each(const struct ceil_launch *l,
                                                         struct ceil_error *err);

#endif
