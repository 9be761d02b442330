/* Copies between a GPU and its host by the copy engines: one way, both ways, one at a time. */
#include "harness/device/cuda_copy.h"

#include <stdlib.h>

#include <cuda_runtime_api.h>
#include <hwloc.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/device/cuda.h"
#include "harness/device/topology.h"
#include "kernels/support.h"

struct copy {
	struct ceil_launch_state base;
	cudaEvent_t begun, ended;
	const struct ceil_topology *topology;
	hwloc_bitmap_t before; /* what the thread was bound to; NULL: it was not bound */
};

static void copy_close(struct ceil_launch_state *s)
{
	struct copy *c = (struct copy *)s;

	if (c->before)
		ceil_topology_unbind(c->topology, c->before);
	hwloc_bitmap_free(c->before);
	if (c->begun)
		(void)cudaEventDestroy(c->begun);
	if (c->ended)
		(void)cudaEventDestroy(c->ended);
	free(c);
}

static enum ceil_status bind_thread(struct copy *c, struct ceil_device *dev, int node,
                                    struct ceil_error *err)
{
	const struct ceil_cores *cores;

	c->topology = ceil_cuda_topology(dev);
	cores = c->topology ? ceil_topology_node(c->topology, node) : NULL;
	if (!cores)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "NUMA node %d has no core that this process may use", node);
	c->before = hwloc_bitmap_alloc();
	if (!c->before)
		return ceil_fail(err, CEIL_E_NOMEM, "hwloc_bitmap_alloc: no memory");
	ceil_topology_bind(c->topology, cores->pu[0], c->before);
	return CEIL_OK;
}

static enum ceil_status make_event(cudaEvent_t *ret_event, struct ceil_error *err)
{
	return ceil_cuda_status((int)cudaEventCreateWithFlags(ret_event, cudaEventDisableTiming),
	                        "cudaEventCreateWithFlags", err);
}

enum ceil_status ceil_cuda_copy_open(struct ceil_device *dev, int node,
                                     struct ceil_launch_state **ret_state, struct ceil_error *err)
{
	struct copy *c = ceil_alloc(1, sizeof(*c), err);
	enum ceil_status st;

	if (!c)
		return CEIL_E_NOMEM;
	c->base.close = copy_close;
	st = make_event(&c->begun, err);
	if (st == CEIL_OK)
		st = make_event(&c->ended, err);
	if (st == CEIL_OK && node >= 0)
		st = bind_thread(c, dev, node, err);
	if (st != CEIL_OK) {
		copy_close(&c->base);
		return st;
	}
	*ret_state = &c->base;
	return CEIL_OK;
}

static enum ceil_status to_device(const struct ceil_launch *l, struct ceil_error *err)
{
	return ceil_cuda_status((int)cudaMemcpyAsync(l->buf[CEIL_COPY_DEVICE],
	                                             l->buf[CEIL_COPY_HOST], l->m,
	                                             cudaMemcpyHostToDevice, l->stream[0]),
	                        "cudaMemcpyAsync host to device", err);
}

static enum ceil_status to_host(const struct ceil_launch *l, struct ceil_error *err)
{
	return ceil_cuda_status((int)cudaMemcpyAsync(l->buf[CEIL_COPY_HOST],
	                                             l->buf[CEIL_COPY_DEVICE], l->m,
	                                             cudaMemcpyDeviceToHost, l->stream[0]),
	                        "cudaMemcpyAsync device to host", err);
}

static enum ceil_status back_to_host(const struct ceil_launch *l, struct ceil_error *err)
{
	return ceil_cuda_status((int)cudaMemcpyAsync(l->buf[CEIL_COPY_BACK_HOST],
	                                             l->buf[CEIL_COPY_BACK_DEVICE], l->m,
	                                             cudaMemcpyDeviceToHost, l->stream[1]),
	                        "cudaMemcpyAsync device to host", err);
}

enum ceil_status ceil_cuda_copy_h2d(const struct ceil_launch *l, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (uint64_t i = 0; i < l->n && st == CEIL_OK; i++)
		st = to_device(l, err);
	return st;
}

enum ceil_status ceil_cuda_copy_d2h(const struct ceil_launch *l, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (uint64_t i = 0; i < l->n && st == CEIL_OK; i++)
		st = to_host(l, err);
	return st;
}

/* What is put into the stream to from now on waits for what is in the stream from. */
static enum ceil_status follow(cudaEvent_t event, cudaStream_t from, cudaStream_t to,
                               struct ceil_error *err)
{
	const enum ceil_status st =
		ceil_cuda_status((int)cudaEventRecord(event, from), "cudaEventRecord", err);

	if (st != CEIL_OK)
		return st;
	return ceil_cuda_status((int)cudaStreamWaitEvent(to, event, 0), "cudaStreamWaitEvent", err);
}

enum ceil_status ceil_cuda_copy_both(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct copy *c = l->state;
	enum ceil_status st = follow(c->begun, l->stream[0], l->stream[1], err);

	for (uint64_t i = 0; i < l->n && st == CEIL_OK; i++) {
		st = to_device(l, err);
		if (st == CEIL_OK)
			st = back_to_host(l, err);
	}
	return st == CEIL_OK ? follow(c->ended, l->stream[1], l->stream[0], err) : st;
}

static enum ceil_status copy_each(const struct ceil_launch *l, ceil_launch_fn copy,
                                  struct ceil_error *err)
{
	const uint32_t wanted = l->self_count > 1 ? l->self_count : 1;
	const uint32_t times = l->self_ns ? wanted : 0;
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < 1 + times && st == CEIL_OK; i++) {
		const uint64_t from_ns = ceil_now_ns();

		st = copy(l, err);
		if (st == CEIL_OK)
			st = ceil_cuda_status((int)cudaStreamSynchronize(l->stream[0]),
			                      "cudaStreamSynchronize", err);
		if (st == CEIL_OK && i > 0)
			l->self_ns[i - 1] = (double)(ceil_now_ns() - from_ns);
	}
	return st;
}

enum ceil_status ceil_cuda_copy_h2d_each(const struct ceil_launch *l, struct ceil_error *err)
{
	return copy_each(l, to_device, err);
}

enum ceil_status ceil_cuda_copy_d2h_each(const struct ceil_launch *l, struct ceil_error *err)
{
	return copy_each(l, to_host, err);
}
