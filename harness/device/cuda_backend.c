/* The CUDA backend: devices, streams, marks, gate and clock stamps by the CUDA runtime. */
#include "harness/device/cuda_inside.h"

#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/device/topology.h"
#include "harness/device/world.h"
#include "kernels/support.h"

/* Latencies are measured through waits: look without a pause first, then let others work. */
#define SPIN_NS  200000u
#define SLEEP_NS 20000u

/* Two blocks of stamps a SM: the scheduler then leaves hardly any SM out. */
enum { STAMPS_PER_SM = 2 };

enum ceil_status ceil_cuda_enter(struct ceil_cuda_device *d, struct ceil_error *err)
{
	if (d->lost)
		return ceil_fail(err, CEIL_E_TIMEOUT,
		                 "%s did not answer in time before: it is not used any more",
		                 d->base.props.label);
	return ceil_cuda_status((int)cudaSetDevice(d->ordinal), "cudaSetDevice", err);
}

static enum ceil_status check_slot(int slot, struct ceil_error *err)
{
	if (slot >= 0 && slot < CEIL_MAX_SLOTS)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE, "slot %d: slots are 0 to %d", slot, CEIL_MAX_SLOTS - 1);
}

/* enter, and the mark of slot was made. */
static enum ceil_status enter_marked(struct ceil_cuda_device *d, int slot, struct ceil_error *err)
{
	enum ceil_status st = ceil_cuda_enter(d, err);

	if (st == CEIL_OK)
		st = check_slot(slot, err);
	if (st == CEIL_OK && !d->marked[slot])
		return ceil_fail(err, CEIL_E_USAGE, "mark %d was never made", slot);
	return st;
}

/* ---- waiting */

static enum ceil_status poll_until(struct ceil_cuda_device *d, cudaStream_t stream,
                                   cudaEvent_t event, uint64_t timeout_ns, struct ceil_error *err)
{
	const uint64_t start_ns = ceil_now_ns();

	for (;;) {
		const cudaError_t e = event ? cudaEventQuery(event) : cudaStreamQuery(stream);
		const uint64_t waited_ns = ceil_now_ns() - start_ns;

		if (e != cudaErrorNotReady)
			return ceil_cuda_status((int)e, "waiting for the GPU", err);
		if (waited_ns >= timeout_ns) {
			d->lost = true;
			return ceil_fail(err, CEIL_E_TIMEOUT, "%s did not answer within %.3g s",
			                 d->base.props.label, (double)timeout_ns / 1e9);
		}
		if (waited_ns > SPIN_NS)
			ceil_sleep_ns(SLEEP_NS);
	}
}

enum ceil_status ceil_cuda_wait_all(struct ceil_cuda_device *d, uint64_t timeout_ns,
                                    struct ceil_error *err)
{
	const uint64_t start_ns = ceil_now_ns();

	for (int i = 0; i < CEIL_MAX_STREAMS; i++) {
		const uint64_t used_ns = ceil_now_ns() - start_ns;
		const uint64_t left_ns = used_ns < timeout_ns ? timeout_ns - used_ns : 0;
		const enum ceil_status st =
			poll_until(d, d->stream[i], /* event= */ NULL, left_ns, err);

		if (st != CEIL_OK)
			return st;
	}
	return CEIL_OK;
}

static enum ceil_status cuda_sync(struct ceil_device *dev, uint64_t timeout_ns,
                                  struct ceil_error *err)
{
	const enum ceil_status st = ceil_cuda_enter(ceil_cuda_of(dev), err);

	return st == CEIL_OK ? ceil_cuda_wait_all(ceil_cuda_of(dev), timeout_ns, err) : st;
}

static enum ceil_status cuda_wait(struct ceil_device *dev, int slot, uint64_t timeout_ns,
                                  struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	const enum ceil_status st = enter_marked(d, slot, err);

	if (st != CEIL_OK)
		return st;
	return poll_until(d, /* stream= */ NULL, d->slot[slot], timeout_ns, err);
}

static enum ceil_status cuda_done(struct ceil_device *dev, int stream, bool *ret_done,
                                  struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	cudaError_t e;

	if (d->lost)
		return ceil_cuda_enter(d, err);
	/* A stream knows its device, and latencies are measured through this: nothing else here. */
	e = cudaStreamQuery(d->stream[stream]);
	*ret_done = e == cudaSuccess;
	return e == cudaErrorNotReady ? CEIL_OK
	                              : ceil_cuda_status((int)e, "waiting for the GPU", err);
}

enum ceil_status ceil_cuda_copy_after_all(struct ceil_cuda_device *d, void *dst, const void *src,
                                          uint64_t bytes, struct ceil_error *err)
{
	enum ceil_status st = ceil_cuda_wait_all(d, CEIL_CUDA_WAIT_NS, err);

	if (st == CEIL_OK)
		st = ceil_cuda_status(
			(int)cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, d->stream[0]),
			"cudaMemcpyAsync", err);
	if (st == CEIL_OK)
		st = poll_until(d, d->stream[0], /* event= */ NULL, CEIL_CUDA_WAIT_NS, err);
	return st;
}

static enum ceil_status cuda_read(struct ceil_device *dev, void *dst, const void *src,
                                  uint64_t bytes, struct ceil_error *err)
{
	const enum ceil_status st = ceil_cuda_enter(ceil_cuda_of(dev), err);

	return st == CEIL_OK ? ceil_cuda_copy_after_all(ceil_cuda_of(dev), dst, src, bytes, err)
	                     : st;
}

/* ---- streams, marks, gate, clock */

static enum ceil_status cuda_bind(struct ceil_device *dev, struct ceil_launch *l,
                                  struct ceil_error *err)
{
	const enum ceil_status st = ceil_cuda_enter(ceil_cuda_of(dev), err);

	if (st != CEIL_OK)
		return st;
	for (int i = 0; i < CEIL_MAX_STREAMS; i++)
		l->stream[i] = ceil_cuda_of(dev)->stream[i];
	return CEIL_OK;
}

static enum ceil_status cuda_mark(struct ceil_device *dev, int stream, int slot,
                                  struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	enum ceil_status st = ceil_cuda_enter(d, err);

	if (st == CEIL_OK)
		st = check_slot(slot, err);
	if (st != CEIL_OK)
		return st;
	if (stream < 0 || stream >= CEIL_MAX_STREAMS)
		return ceil_fail(err, CEIL_E_USAGE, "stream %d: streams are 0 to %d", stream,
		                 CEIL_MAX_STREAMS - 1);
	d->marked[slot] = true;
	return ceil_cuda_status((int)cudaEventRecord(d->slot[slot], d->stream[stream]),
	                        "cudaEventRecord", err);
}

static enum ceil_status cuda_elapsed_ns(struct ceil_device *dev, int from, int to, double *ret_ns,
                                        struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	float ms = 0.0f;
	enum ceil_status st = enter_marked(d, from, err);

	if (st == CEIL_OK)
		st = enter_marked(d, to, err);
	if (st == CEIL_OK)
		st = ceil_cuda_status((int)cudaEventElapsedTime(&ms, d->slot[from], d->slot[to]),
		                      "cudaEventElapsedTime", err);
	if (st == CEIL_OK)
		*ret_ns = (double)ms * 1e6;
	return st;
}

static enum ceil_status cuda_flush_cache(struct ceil_device *dev, struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	const enum ceil_status st = ceil_cuda_enter(d, err);

	if (st != CEIL_OK || d->flush_bytes == 0)
		return st;
	return ceil_support_flush(d->stream[0], d->flush, d->flush_bytes, err);
}

static void open_gate(struct ceil_cuda_device *d)
{
	__atomic_store_n(d->gate, d->ticket, __ATOMIC_RELEASE);
}

static enum ceil_status cuda_gate(struct ceil_device *dev, bool closed, struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	enum ceil_status st = ceil_cuda_enter(d, err);

	if (st != CEIL_OK || d->no_gate)
		return st;
	if (!closed) {
		open_gate(d);
		return CEIL_OK;
	}
	d->ticket++;
	st = ceil_support_gate(d->stream[0], d->gate, d->ticket, err);
	if (st != CEIL_OK)
		open_gate(d);
	return st;
}

static struct ceil_stamp *stamps_of(const struct ceil_cuda_device *d, int slot)
{
	return d->stamps + (size_t)slot * d->stamp_count;
}

static enum ceil_status cuda_clock(struct ceil_device *dev, int slot, struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	enum ceil_status st = ceil_cuda_enter(d, err);

	if (st == CEIL_OK)
		st = check_slot(slot, err);
	if (st == CEIL_OK)
		st = ceil_support_clock(d->stream[0], stamps_of(d, slot), d->stamp_count, err);
	return st;
}

static enum ceil_status cuda_clock_mhz(struct ceil_device *dev, int from, int to, double *ret_mhz,
                                       struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	enum ceil_status st = ceil_cuda_enter(d, err);

	if (st == CEIL_OK)
		st = check_slot(from, err);
	if (st == CEIL_OK)
		st = check_slot(to, err);
	if (st == CEIL_OK)
		*ret_mhz =
			ceil_cuda_clock_mhz(stamps_of(d, from), stamps_of(d, to), d->stamp_count);
	return st;
}

/* ---- open and close */

static enum ceil_status cuda_count(int *ret_count, struct ceil_error *err)
{
	struct ceil_cuda_answer answer = {0};
	struct ceil_world world;
	char reason[sizeof(err->text)];
	enum ceil_world_verdict verdict;
	cudaError_t e;

	(void)cudaDriverGetVersion(&answer.driver_version); /* 0 if it cannot */
	(void)cudaRuntimeGetVersion(&answer.runtime_version);
	e = cudaGetDeviceCount(&answer.device_count);
	(void)cudaGetLastError(); /* judged here */
	if (e != cudaSuccess)
		answer.device_count = 0;
	answer.error = (int)e;
	answer.text = cudaGetErrorString(e);
	ceil_world_read(&world);
	verdict = ceil_world_judge(&world, &answer, reason, sizeof(reason));
	if (verdict == CEIL_WORLD_OK) {
		*ret_count = answer.device_count;
		return CEIL_OK;
	}
	return ceil_fail(err, verdict == CEIL_WORLD_NONE ? CEIL_E_UNSUPPORTED : CEIL_E_DEVICE, "%s",
	                 reason);
}

static void cuda_close(struct ceil_device *dev)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	struct ceil_error ignored; /* nothing more can be done about a device that is closed */

	if (!d)
		return;
	if (ceil_cuda_enter(d, &ignored) != CEIL_OK)
		goto out;
	if (d->gate)
		open_gate(d);
	for (int i = 0; i < CEIL_MAX_STREAMS; i++) {
		if (d->stream[i])
			(void)cudaStreamDestroy(d->stream[i]);
	}
	for (int i = 0; i < CEIL_MAX_SLOTS; i++) {
		if (d->slot[i])
			(void)cudaEventDestroy(d->slot[i]);
	}
	(void)cudaFree(d->flush);
	(void)cudaFree(d->sum);
	(void)cudaFreeHost(d->stamps);
	(void)cudaFreeHost(d->gate);
out:
	ceil_topology_close(d->topology);
	free(d);
}

static enum ceil_status make_streams(struct ceil_cuda_device *d, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	/* Non-blocking: the legacy stream of a library must not stand between ours. */
	for (int i = 0; st == CEIL_OK && i < CEIL_MAX_STREAMS; i++)
		st = ceil_cuda_status(
			(int)cudaStreamCreateWithFlags(&d->stream[i], cudaStreamNonBlocking),
			"cudaStreamCreateWithFlags", err);
	for (int i = 0; st == CEIL_OK && i < CEIL_MAX_SLOTS; i++)
		st = ceil_cuda_status((int)cudaEventCreate(&d->slot[i]), "cudaEventCreate", err);
	return st;
}

static enum ceil_status make_mapped(void **ret_ptr, size_t bytes, struct ceil_error *err)
{
	const enum ceil_status st = ceil_cuda_status(
		(int)cudaHostAlloc(ret_ptr, bytes, cudaHostAllocMapped), "cudaHostAlloc", err);

	if (st == CEIL_OK)
		memset(*ret_ptr, 0, bytes);
	return st;
}

static enum ceil_status make_memory(struct ceil_cuda_device *d, struct ceil_error *err)
{
	const struct ceil_device_props *p = &d->base.props;
	void *gate = NULL, *stamps = NULL, *sum = NULL;
	enum ceil_status st;

	d->stamp_count = (uint32_t)p->sm_count * STAMPS_PER_SM;
	d->flush_bytes = 2 * p->l2_bytes / 16 * 16;
	st = make_mapped(&gate, sizeof(*d->gate), err);
	d->gate = gate;
	if (st == CEIL_OK)
		st = make_mapped(&stamps, sizeof(*d->stamps) * d->stamp_count * CEIL_MAX_SLOTS,
		                 err);
	d->stamps = stamps;
	if (st == CEIL_OK)
		st = ceil_cuda_status((int)cudaMalloc(&sum, sizeof(*d->sum)), "cudaMalloc", err);
	d->sum = sum;
	if (st == CEIL_OK && d->flush_bytes > 0)
		st = ceil_cuda_status((int)cudaMalloc(&d->flush, d->flush_bytes),
		                      "cudaMalloc of the buffer that flushes the cache", err);
	return st;
}

/* Runs what may later stand behind a closed gate once, ungated: code is loaded at first use. */
static enum ceil_status load_kernels(struct ceil_cuda_device *d, struct ceil_error *err)
{
	enum ceil_status st = ceil_support_gate(d->stream[0], d->gate, d->ticket, err);

	if (st == CEIL_OK)
		st = ceil_support_clock(d->stream[0], d->stamps, d->stamp_count, err);
	if (st == CEIL_OK && d->flush_bytes > 0)
		st = ceil_support_flush(d->stream[0], d->flush, d->flush_bytes, err);
	return st == CEIL_OK ? ceil_cuda_wait_all(d, CEIL_CUDA_WAIT_NS, err) : st;
}

/* Where host memory may lie; a machine that hwloc does not know has no nodes to choose from. */
static void know_host(struct ceil_cuda_device *d)
{
	struct ceil_error ignored;

	if (ceil_topology_open(&d->topology, &ignored) == CEIL_OK)
		d->base.props.host_nodes = ceil_topology_nodes(d->topology);
}

static enum ceil_status cuda_open(int ordinal, struct ceil_device **ret_dev, struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_alloc(1, sizeof(*d), err);
	enum ceil_status st;

	if (!d)
		return CEIL_E_NOMEM;
	d->base.backend = &ceil_cuda_backend;
	d->ordinal = ordinal;
	d->no_gate = ceil_cuda_serialised();
	st = ceil_cuda_enter(d, err);
	if (st == CEIL_OK)
		st = ceil_cuda_peek(ordinal, &d->base.props, err);
	if (st == CEIL_OK)
		know_host(d);
	if (st == CEIL_OK)
		st = make_streams(d, err);
	if (st == CEIL_OK)
		st = make_memory(d, err);
	if (st == CEIL_OK)
		st = load_kernels(d, err);
	if (st == CEIL_OK) /* last: what we took ourselves is not free */
		st = ceil_cuda_free_bytes(d->base.props.integrated, &d->base.props.free_bytes, err);
	if (st != CEIL_OK) {
		(void)ceil_context(err, "CUDA device %d", ordinal);
		cuda_close(&d->base);
		return st;
	}
	*ret_dev = &d->base;
	return CEIL_OK;
}

const struct ceil_backend ceil_cuda_backend = {
	.name = "cuda",
	.doc = "NVIDIA GPUs through the CUDA runtime",
	.count = cuda_count,
	.peek = ceil_cuda_peek,
	.open = cuda_open,
	.close = cuda_close,
	.bind = cuda_bind,
	.alloc = ceil_cuda_alloc,
	.free = ceil_cuda_free,
	.fill = ceil_cuda_fill,
	.hash = ceil_cuda_hash,
	.project = ceil_cuda_project,
	.read = cuda_read,
	.mark = cuda_mark,
	.elapsed_ns = cuda_elapsed_ns,
	.sync = cuda_sync,
	.wait = cuda_wait,
	.done = cuda_done,
	.flush_cache = cuda_flush_cache,
	.gate = cuda_gate,
	.clock = cuda_clock,
	.clock_mhz = cuda_clock_mhz,
};

const struct ceil_topology *ceil_cuda_topology(const struct ceil_device *dev)
{
	return ((const struct ceil_cuda_device *)dev)->topology;
}
