/* Starting work on a GPU as the launch bench does it: graphs, storms, queues, and their times. */
#ifndef CEIL_CUDA_LAUNCH_H
#define CEIL_CUDA_LAUNCH_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stdint.h>

struct ceil_device;

/* First member of what a launcher keeps between launches; l->state points to it. */
struct ceil_launch_state {
	void (*close)(struct ceil_launch_state *s);
};

/* ceil_launch_state_close - NULL is a no-op. */
void ceil_launch_state_close(struct ceil_launch_state *s);

/*
 * All launchers below are of type ceil_launch_fn. Those that time themselves use the host's clock,
 * since the host's part is what they measure: they put l->self_count times, or one for 0, into
 * l->self_ns if that is not NULL. A launcher that waits returns CEIL_E_TIMEOUT after ten seconds
 * where it can poll.
 */

/* ceil_cuda_enqueue - l->iters empty kernels; the time is the host's for one, without any wait. */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_enqueue(const struct ceil_launch *l,
                                                   struct ceil_error *err);

/*
 * ceil_cuda_roundtrip_sync, _query - one empty kernel after another, each waited for by
 * cudaStreamSynchronize or by asking cudaStreamQuery again and again: a time each. A few that are
 * not timed come before.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_roundtrip_sync(const struct ceil_launch *l,
                                                          struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_roundtrip_query(const struct ceil_launch *l,
                                                           struct ceil_error *err);

/*
 * ceil_cuda_graph_open - a graph of l->n empty kernels with l's geometry and count (kernels/
 * launch.h), in branches chains side by side.
 * @branches: 1 to CEIL_MAX_STREAMS.
 * ceil_cuda_graph_launch - starts it on stream 0; no time of its own.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_graph_open(struct ceil_device *dev,
                                                      const struct ceil_launch *l,
                                                      uint32_t branches,
                                                      struct ceil_launch_state **ret_state,
                                                      struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_graph_launch(const struct ceil_launch *l,
                                                        struct ceil_error *err);

/*
 * ceil_cuda_storm_open - room for the spans of l->n kernels.
 * ceil_cuda_storm - l->n kernels that spin for l->m ns, in turn on l->iters streams, and a wait for
 * all: the time is that from the first start to the last end by the GPU's timer, for one kernel.
 * ceil_cuda_storm_busy - share of the time in which a kernel ran, over all storms that were timed;
 * NAN if none was.
 * ceil_cuda_storm_spans - l->n spans of the last storm, in the order of their starts.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_storm_open(struct ceil_device *dev,
                                                      const struct ceil_launch *l,
                                                      struct ceil_launch_state **ret_state,
                                                      struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_storm(const struct ceil_launch *l,
                                                 struct ceil_error *err);
double ceil_cuda_storm_busy(const struct ceil_launch_state *s);
const struct ceil_span *ceil_cuda_storm_spans(const struct ceil_launch_state *s);

/*
 * ceil_cuda_queue_open - a work queue in mapped memory (kernels/launch.h).
 * ceil_cuda_queue_rate - a kernel of l->threads threads serves l->iters items that the host posts
 * as fast as the queue takes them: the time is that for one item.
 * ceil_cuda_queue_roundtrip - one item at a time, posted and waited for: a time each.
 * ceil_cuda_queue_check - whether the results of the last items are right: CEIL_E_WRONG otherwise.
 */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_queue_open(struct ceil_device *dev,
                                                      const struct ceil_launch *l,
                                                      struct ceil_launch_state **ret_state,
                                                      struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_queue_rate(const struct ceil_launch *l,
                                                      struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_queue_roundtrip(const struct ceil_launch *l,
                                                           struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_cuda_queue_check(const struct ceil_launch_state *s,
                                                       struct ceil_error *err);

#endif
