/* Starting work on a GPU: graphs, storms of kernels, and launchers that time the host's part. */
#include "harness/device/cuda_launch.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/spans.h"
#include "harness/base/value.h"
#include "kernels/launch.h"
#include "kernels/support.h"

/* Sanitizers make a launch a thousand times slower; nothing that works takes this long. */
#define GIVE_UP_NS (10 * (uint64_t)CEIL_NS_PER_S)

/* The first launches after a pause find cold caches in the driver. */
enum { UNTIMED = 16 };

static uint32_t times_of(const struct ceil_launch *l)
{
	return l->self_count > 1 ? l->self_count : 1;
}

static cudaStream_t stream_of(const struct ceil_launch *l, uint32_t i)
{
	return l->stream[i];
}

static enum ceil_status sync_stream(const struct ceil_launch *l, uint32_t i, struct ceil_error *err)
{
	return ceil_cuda_status((int)cudaStreamSynchronize(stream_of(l, i)),
	                        "cudaStreamSynchronize", err);
}

/* ---- one launch and its end */

enum ceil_status ceil_cuda_enqueue(const struct ceil_launch *l, struct ceil_error *err)
{
	const uint64_t from_ns = ceil_now_ns();
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < l->iters && st == CEIL_OK; i++)
		st = ceil_launch_plain(l, err);
	if (st == CEIL_OK && l->self_ns)
		l->self_ns[0] = (double)(ceil_now_ns() - from_ns) / l->iters;
	return st;
}

enum ceil_status ceil_cuda_roundtrip_sync(const struct ceil_launch *l, struct ceil_error *err)
{
	const uint32_t times = l->self_ns ? times_of(l) : 0;
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < UNTIMED + times && st == CEIL_OK; i++) {
		const uint64_t from_ns = ceil_now_ns();

		st = ceil_launch_plain(l, err);
		if (st == CEIL_OK)
			st = sync_stream(l, 0, err);
		if (st == CEIL_OK && i >= UNTIMED)
			l->self_ns[i - UNTIMED] = (double)(ceil_now_ns() - from_ns);
	}
	return st;
}

static enum ceil_status poll_stream(const struct ceil_launch *l, uint64_t from_ns,
                                    struct ceil_error *err)
{
	cudaError_t e;

	while ((e = cudaStreamQuery(stream_of(l, 0))) == cudaErrorNotReady) {
		if (ceil_now_ns() - from_ns > GIVE_UP_NS)
			return ceil_fail(err, CEIL_E_TIMEOUT,
			                 "an empty kernel did not end within 10 s");
	}
	return ceil_cuda_status((int)e, "cudaStreamQuery", err);
}

enum ceil_status ceil_cuda_roundtrip_query(const struct ceil_launch *l, struct ceil_error *err)
{
	const uint32_t times = l->self_ns ? times_of(l) : 0;
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < UNTIMED + times && st == CEIL_OK; i++) {
		const uint64_t from_ns = ceil_now_ns();

		st = ceil_launch_plain(l, err);
		if (st == CEIL_OK)
			st = poll_stream(l, from_ns, err);
		if (st == CEIL_OK && i >= UNTIMED)
			l->self_ns[i - UNTIMED] = (double)(ceil_now_ns() - from_ns);
	}
	return st;
}

/* ---- graphs */

struct graph {
	struct ceil_launch_state base;
	cudaGraphExec_t exec;
};

static void graph_close(struct ceil_launch_state *s)
{
	struct graph *g = (struct graph *)s;

	if (g->exec)
		(void)cudaGraphExecDestroy(g->exec); /* a device that is gone gives nothing back */
	free(g);
}

/* Makes stream to wait for all that is in stream from so far. */
static enum ceil_status follow(cudaEvent_t event, cudaStream_t from, cudaStream_t to,
                               struct ceil_error *err)
{
	const enum ceil_status st =
		ceil_cuda_status((int)cudaEventRecord(event, from), "cudaEventRecord", err);

	if (st != CEIL_OK)
		return st;
	return ceil_cuda_status((int)cudaStreamWaitEvent(to, event, 0), "cudaStreamWaitEvent", err);
}

/* While stream 0 is captured: the branches leave it, get their kernels, and come back. */
static enum ceil_status record_kernels(const struct ceil_launch *l, uint32_t branches,
                                       cudaEvent_t event, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (uint32_t b = 1; b < branches && st == CEIL_OK; b++)
		st = follow(event, stream_of(l, 0), stream_of(l, b), err);
	for (uint64_t i = 0; i < l->n && st == CEIL_OK; i++) {
		struct ceil_launch one = *l;

		one.stream[0] = l->stream[i % branches];
		st = ceil_launch_plain(&one, err);
	}
	for (uint32_t b = 1; b < branches && st == CEIL_OK; b++)
		st = follow(event, stream_of(l, b), stream_of(l, 0), err);
	return st;
}

static enum ceil_status capture(const struct ceil_launch *l, uint32_t branches, cudaEvent_t event,
                                cudaGraph_t *ret_graph, struct ceil_error *err)
{
	enum ceil_status st = ceil_cuda_status(
		(int)cudaStreamBeginCapture(stream_of(l, 0), cudaStreamCaptureModeThreadLocal),
		"cudaStreamBeginCapture", err);
	cudaError_t ended;

	if (st != CEIL_OK)
		return st;
	st = record_kernels(l, branches, event, err);
	/* Ended whatever came before, or the stream could not be used again. */
	ended = cudaStreamEndCapture(stream_of(l, 0), ret_graph);
	return st == CEIL_OK ? ceil_cuda_status((int)ended, "cudaStreamEndCapture", err) : st;
}

static enum ceil_status build_graph(struct graph *g, const struct ceil_launch *l, uint32_t branches,
                                    struct ceil_error *err)
{
	cudaGraph_t graph = NULL;
	cudaEvent_t event = NULL;
	enum ceil_status st =
		ceil_cuda_status((int)cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
	                         "cudaEventCreateWithFlags", err);

	if (st == CEIL_OK)
		st = capture(l, branches, event, &graph, err);
	if (st == CEIL_OK)
		st = ceil_cuda_status((int)cudaGraphInstantiate(&g->exec, graph, 0),
		                      "cudaGraphInstantiate", err);
	if (st == CEIL_OK)
		st = ceil_cuda_status((int)cudaGraphUpload(g->exec, stream_of(l, 0)),
		                      "cudaGraphUpload", err);
	if (graph)
		(void)cudaGraphDestroy(graph);
	if (event)
		(void)cudaEventDestroy(event);
	return st;
}

enum ceil_status ceil_cuda_graph_open(struct ceil_device *dev, const struct ceil_launch *l,
                                      uint32_t branches, struct ceil_launch_state **ret_state,
                                      struct ceil_error *err)
{
	struct graph *g = ceil_alloc(1, sizeof(*g), err);
	enum ceil_status st;

	(void)dev; /* its streams are in l */
	if (!g)
		return CEIL_E_NOMEM;
	g->base.close = graph_close;
	st = build_graph(g, l, branches, err);
	if (st != CEIL_OK) {
		graph_close(&g->base);
		return st;
	}
	*ret_state = &g->base;
	return CEIL_OK;
}

enum ceil_status ceil_cuda_graph_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct graph *g = l->state;

	return ceil_cuda_status((int)cudaGraphLaunch(g->exec, stream_of(l, 0)), "cudaGraphLaunch",
	                        err);
}

/* ---- storms */

struct storm {
	struct ceil_launch_state base;
	struct ceil_span *on_gpu, *on_host;
	double busy_ns, wall_ns;
};

static void storm_close(struct ceil_launch_state *s)
{
	struct storm *t = (struct storm *)s;

	(void)cudaFree(t->on_gpu);
	(void)cudaFreeHost(t->on_host);
	free(t);
}

enum ceil_status ceil_cuda_storm_open(struct ceil_device *dev, const struct ceil_launch *l,
                                      struct ceil_launch_state **ret_state, struct ceil_error *err)
{
	struct storm *t = ceil_alloc(1, sizeof(*t), err);
	const size_t bytes = l->n * sizeof(*t->on_gpu);
	void *on_gpu = NULL, *on_host = NULL;
	enum ceil_status st;

	(void)dev; /* the current one */
	if (!t)
		return CEIL_E_NOMEM;
	t->base.close = storm_close;
	st = ceil_cuda_status((int)cudaMalloc(&on_gpu, bytes), "cudaMalloc of spans", err);
	t->on_gpu = on_gpu;
	if (st == CEIL_OK)
		st = ceil_cuda_status((int)cudaMallocHost(&on_host, bytes),
		                      "cudaMallocHost of spans", err);
	t->on_host = on_host;
	if (st != CEIL_OK) {
		storm_close(&t->base);
		return st;
	}
	*ret_state = &t->base;
	return CEIL_OK;
}

/* What no kernel writes shows as an empty span: none may be left over from the storm before. */
static enum ceil_status forget_spans(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct storm *t = l->state;
	const enum ceil_status st = ceil_cuda_status(
		(int)cudaMemsetAsync(t->on_gpu, 0, l->n * sizeof(*t->on_gpu), stream_of(l, 0)),
		"cudaMemsetAsync of spans", err);

	return st == CEIL_OK ? sync_stream(l, 0, err) : st;
}

static enum ceil_status fetch_spans(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct storm *t = l->state;
	const enum ceil_status st = ceil_cuda_status(
		(int)cudaMemcpyAsync(t->on_host, t->on_gpu, l->n * sizeof(*t->on_gpu),
	                             cudaMemcpyDeviceToHost, stream_of(l, 0)),
		"cudaMemcpyAsync of spans", err);

	return st == CEIL_OK ? sync_stream(l, 0, err) : st;
}

enum ceil_status ceil_cuda_storm(const struct ceil_launch *l, struct ceil_error *err)
{
	struct storm *t = l->state;
	enum ceil_status st = forget_spans(l, err);
	struct ceil_busy busy;

	for (uint64_t i = 0; i < l->n && st == CEIL_OK; i++)
		st = ceil_launch_spin(l->stream[i % l->iters], l->m, &t->on_gpu[i], err);
	for (uint32_t s = 0; s < l->iters && st == CEIL_OK; s++)
		st = sync_stream(l, s, err);
	if (st == CEIL_OK)
		st = fetch_spans(l, err);
	if (st != CEIL_OK)
		return st;
	busy = ceil_spans_busy(t->on_host, l->n);
	if (!l->self_ns)
		return CEIL_OK;
	t->busy_ns += busy.busy_ns;
	t->wall_ns += busy.wall_ns;
	l->self_ns[0] = busy.wall_ns / (double)l->n;
	return CEIL_OK;
}

double ceil_cuda_storm_busy(const struct ceil_launch_state *s)
{
	const struct storm *t = (const struct storm *)s;

	return t->wall_ns > 0.0 ? t->busy_ns / t->wall_ns : (double)NAN;
}

const struct ceil_span *ceil_cuda_storm_spans(const struct ceil_launch_state *s)
{
	return ((const struct storm *)s)->on_host;
}

/* ---- queues */

struct feeder {
	struct ceil_launch_state base;
	struct ceil_queue *q; /* mapped */
	uint64_t posted;
};

static void feeder_close(struct ceil_launch_state *s)
{
	struct feeder *f = (struct feeder *)s;

	if (f->q)
		(void)cudaFreeHost(f->q);
	free(f);
}

enum ceil_status ceil_cuda_queue_open(struct ceil_device *dev, const struct ceil_launch *l,
                                      struct ceil_launch_state **ret_state, struct ceil_error *err)
{
	struct feeder *f = ceil_alloc(1, sizeof(*f), err);
	void *q = NULL;
	enum ceil_status st;

	(void)dev; /* the current one */
	(void)l;   /* every queue has the same size */
	if (!f)
		return CEIL_E_NOMEM;
	f->base.close = feeder_close;
	st = ceil_cuda_status((int)cudaHostAlloc(&q, sizeof(*f->q), cudaHostAllocMapped),
	                      "cudaHostAlloc of a queue", err);
	f->q = q;
	if (st != CEIL_OK) {
		feeder_close(&f->base);
		return st;
	}
	*ret_state = &f->base;
	return CEIL_OK;
}

static uint64_t served(const struct feeder *f)
{
	return __atomic_load_n(&f->q->served, __ATOMIC_ACQUIRE);
}

static void post(struct feeder *f)
{
	f->q->item[f->posted % CEIL_QUEUE_ITEMS] = f->posted;
	f->posted++;
	__atomic_store_n(&f->q->posted, f->posted, __ATOMIC_RELEASE);
}

/* Looks at the clock now and then only: a look costs as much as several items. */
static enum ceil_status wait_until_served(const struct feeder *f, uint64_t items,
                                          struct ceil_error *err)
{
	const uint64_t from_ns = ceil_now_ns();

	for (uint32_t looks = 1; served(f) < items; looks++) {
		if (looks % 1024 == 0 && ceil_now_ns() - from_ns > GIVE_UP_NS)
			return ceil_fail(err, CEIL_E_TIMEOUT,
			                 "a kernel did not serve item %llu of its queue within "
			                 "10 s",
			                 (unsigned long long)items);
	}
	return CEIL_OK;
}

/* The kernel is started, and has served its first items: it runs. */
static enum ceil_status begin_service(const struct ceil_launch *l, struct ceil_error *err)
{
	struct feeder *f = l->state;
	enum ceil_status st;

	memset(f->q, 0, sizeof(*f->q));
	f->posted = 0;
	st = ceil_launch_serve(stream_of(l, 0), f->q, l->threads, err);
	for (int i = 0; i < UNTIMED && st == CEIL_OK; i++) {
		post(f);
		st = wait_until_served(f, f->posted, err);
	}
	return st;
}

/* The kernel is told to leave whatever came before: it would hold the stream. */
static enum ceil_status end_service(const struct ceil_launch *l, enum ceil_status before,
                                    struct ceil_error *err)
{
	const struct feeder *f = l->state;

	__atomic_store_n(&f->q->stop, 1, __ATOMIC_RELEASE);
	return before == CEIL_OK ? sync_stream(l, 0, err) : before;
}

static enum ceil_status feed(struct feeder *f, uint64_t items, struct ceil_error *err)
{
	const uint64_t last = f->posted + items;
	enum ceil_status st = CEIL_OK;

	while (f->posted < last && st == CEIL_OK) {
		const uint64_t room = served(f) + CEIL_QUEUE_ITEMS - f->posted;

		for (uint64_t i = 0; i < room && f->posted < last; i++)
			post(f);
		if (f->posted < last)
			st = wait_until_served(f, f->posted - CEIL_QUEUE_ITEMS + 1, err);
	}
	return st == CEIL_OK ? wait_until_served(f, last, err) : st;
}

enum ceil_status ceil_cuda_queue_rate(const struct ceil_launch *l, struct ceil_error *err)
{
	enum ceil_status st = begin_service(l, err);
	const uint64_t from_ns = ceil_now_ns();

	if (st == CEIL_OK)
		st = feed(l->state, l->iters, err);
	if (st == CEIL_OK && l->self_ns)
		l->self_ns[0] = (double)(ceil_now_ns() - from_ns) / l->iters;
	return end_service(l, st, err);
}

enum ceil_status ceil_cuda_queue_roundtrip(const struct ceil_launch *l, struct ceil_error *err)
{
	const uint32_t times = l->self_ns ? times_of(l) : 0;
	struct feeder *f = l->state;
	enum ceil_status st = begin_service(l, err);

	for (uint32_t i = 0; i < times && st == CEIL_OK; i++) {
		const uint64_t from_ns = ceil_now_ns();

		post(f);
		st = wait_until_served(f, f->posted, err);
		l->self_ns[i] = (double)(ceil_now_ns() - from_ns);
	}
	return end_service(l, st, err);
}

enum ceil_status ceil_cuda_queue_check(const struct ceil_launch_state *s, struct ceil_error *err)
{
	const struct feeder *f = (const struct feeder *)s;
	const uint64_t first = f->posted > CEIL_QUEUE_ITEMS ? f->posted - CEIL_QUEUE_ITEMS : 0;

	for (uint64_t i = first; i < f->posted; i++) {
		const uint64_t is = f->q->result[i % CEIL_QUEUE_ITEMS];

		if (is != ceil_mix(i))
			return ceil_fail(err, CEIL_E_WRONG,
			                 "item %llu of a queue gave %016llx, expected %016llx",
			                 (unsigned long long)i, (unsigned long long)is,
			                 (unsigned long long)ceil_mix(i));
	}
	return CEIL_OK;
}
