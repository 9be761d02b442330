/* The launch bench: what it costs to start work, from one empty kernel to a storm of short ones. */
#include "bench/launch.h"

#include <string.h>

#include "harness/base/text.h"
#ifdef CEIL_HAVE_CUDA
#include "kernels/launch.h"
#endif

#define US UINT64_C(1000)

/* Kernels of a storm: enough for four milliseconds of work, so that its ends do not count. */
#define STORM_NS (4000 * US)

enum { COUNTER_BYTES = 64, STORM_MOST = 1024, GRAPH_NODES = 4000, BRANCHES = 8 };
/* Far below the thousand launches that a stream's queue holds: none waits for room in it. */
enum { ENQUEUED = 256 };
/* Some milliseconds of queue items, for each warp that serves them. */
enum { WARP_ITEMS = 50000 };

enum axis { SPIN_NS, STREAMS };

/* ---- operations */

typedef enum ceil_status (*open_fn)(struct ceil_device *dev, const struct ceil_launch *l,
                                    struct ceil_launch_state **ret_state, struct ceil_error *err);
typedef enum ceil_status (*check_fn)(const struct ceil_point *p, struct ceil_device *dev,
                                     const struct ceil_launch *l, const struct ceil_buffer *buf,
                                     struct ceil_error *err);

/* What the variants whose names begin with a word do. */
struct operation {
	const char *name;
	uint64_t kernels; /* in one launch */
	uint32_t iters;   /* repeats in one launch that times itself */
	bool each;        /* every repeat is a sample */
	bool storm;       /* of cases with a duration, and not of the empty kernel */
	open_fn open;     /* or NULL: nothing is kept between launches */
	check_fn check;   /* or NULL: there is nothing to be right or wrong */
};

static enum ceil_status check_count(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l, const struct ceil_buffer *buf,
                                    struct ceil_error *err);
static enum ceil_status check_storm(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l, const struct ceil_buffer *buf,
                                    struct ceil_error *err);
static enum ceil_status check_queue(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l, const struct ceil_buffer *buf,
                                    struct ceil_error *err);

#ifdef CEIL_HAVE_CUDA
/*
 * Kernels of two streams that run at the same time. An H200 takes 0.50 us a node of a graph until
 * that happens in a process, and 0.68 from then on: the same graph on the same SM, with grids of
 * any size; a plain launch after another 1.4 and 1.6. A job with a second stream is in the second
 * state, and a run of ours is sooner or later: rows are taken in it from the start, or the order of
 * the benches would decide them.
 */
static enum ceil_status overlap_streams(struct ceil_device *dev, const struct ceil_launch *l,
                                        struct ceil_error *err)
{
	struct ceil_launch storm = *l;
	struct ceil_launch_state *state = NULL;
	enum ceil_status st;

	/* Far longer than a launch takes: shorter ones may end before the other stream's begin. */
	storm.n = STORM_MOST;
	storm.m = 10 * US;
	storm.iters = 2;
	storm.self_ns = NULL;
	st = ceil_cuda_storm_open(dev, &storm, &state, err);
	if (st != CEIL_OK)
		return st;
	storm.state = state;
	st = ceil_cuda_storm(&storm, err);
	ceil_launch_state_close(state);
	return st;
}

static enum ceil_status open_graph(struct ceil_device *dev, const struct ceil_launch *l,
                                   uint32_t branches, struct ceil_launch_state **ret_state,
                                   struct ceil_error *err)
{
	/* First: between a graph's upload and its first launch, overlapping changes nothing. */
	const enum ceil_status st = overlap_streams(dev, l, err);

	return st == CEIL_OK ? ceil_cuda_graph_open(dev, l, branches, ret_state, err) : st;
}

static enum ceil_status open_chain(struct ceil_device *dev, const struct ceil_launch *l,
                                   struct ceil_launch_state **ret_state, struct ceil_error *err)
{
	return open_graph(dev, l, /* branches= */ 1, ret_state, err);
}

static enum ceil_status open_wide(struct ceil_device *dev, const struct ceil_launch *l,
                                  struct ceil_launch_state **ret_state, struct ceil_error *err)
{
	return open_graph(dev, l, BRANCHES, ret_state, err);
}

/* Nothing is kept but the state that the GPU is in. */
static enum ceil_status open_overlapped(struct ceil_device *dev, const struct ceil_launch *l,
                                        struct ceil_launch_state **ret_state,
                                        struct ceil_error *err)
{
	const enum ceil_status st = overlap_streams(dev, l, err);

	if (st == CEIL_OK)
		*ret_state = NULL;
	return st;
}
#define IF_CUDA(fn) fn
#else
#define IF_CUDA(fn) NULL
#endif

static const struct operation operations[] = {
	{.name = "enqueue", .kernels = 1, .iters = ENQUEUED, .check = check_count},
	{.name = "rate", .kernels = 1, .check = check_count},
	{.name = "roundtrip", .kernels = 1, .iters = 1, .each = true, .check = check_count},
	{.name = "chain",
         .kernels = GRAPH_NODES,
         .open = IF_CUDA(open_chain),
         .check = check_count},
	{.name = "wide", .kernels = GRAPH_NODES, .open = IF_CUDA(open_wide), .check = check_count},
	{.name = "graph", .kernels = 1, .open = IF_CUDA(open_chain), .check = check_count},
	{.name = "queue",
         .iters = WARP_ITEMS,
         .open = IF_CUDA(ceil_cuda_queue_open),
         .check = check_queue},
	{.name = "item",
         .iters = 1,
         .each = true,
         .open = IF_CUDA(ceil_cuda_queue_open),
         .check = check_queue},
	{.name = "cooperative", .kernels = 1, .check = check_count},
	{.name = "pdl", .kernels = 1, .open = IF_CUDA(open_overlapped), .check = check_count},
	{.name = "storm",
         .storm = true,
         .open = IF_CUDA(ceil_cuda_storm_open),
         .check = check_storm},
	{.name = "timer", .iters = 1, .open = ceil_launch_timer_open},
	{.name = "gate", .iters = 1, .each = true, .open = ceil_launch_timer_open},
};

static const struct operation *operation_of(const struct ceil_variant *v)
{
	const size_t length = strcspn(v->name, ".");

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const char *name = operations[i].name;

		if (strlen(name) == length && strncmp(v->name, name, length) == 0)
			return &operations[i];
	}
	return NULL;
}

/* ---- shape */

static bool is_host(const struct ceil_variant *v)
{
	return strcmp(v->backend, "host") == 0;
}

static void shape_storm(const struct ceil_case *cas, struct ceil_launch *ret_l)
{
	const uint64_t streams = cas->axis[STREAMS];
	const uint64_t wish = STORM_NS * streams / cas->axis[SPIN_NS];
	const uint64_t least = 4 * streams;

	ret_l->n = wish < least ? least : wish > STORM_MOST ? STORM_MOST : wish;
	ret_l->m = cas->axis[SPIN_NS];
	ret_l->iters = (uint32_t)streams;
}

static enum ceil_status check_axes(const struct ceil_point *p, struct ceil_error *err)
{
	const uint64_t *axis = p->cas->axis;

	if (!operation_of(p->variant)->storm)
		return CEIL_OK;
	if (axis[SPIN_NS] < US || axis[SPIN_NS] > 1000 * 1000 * US)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "kernels of %llu ns: 1000 to 1000000000 can be asked for",
		                 (unsigned long long)axis[SPIN_NS]);
	if (axis[STREAMS] < 1 || axis[STREAMS] > CEIL_MAX_STREAMS)
		return ceil_fail(err, CEIL_E_USAGE, "%llu streams: there are 1 to %d",
		                 (unsigned long long)axis[STREAMS], CEIL_MAX_STREAMS);
	return CEIL_OK;
}

static enum ceil_status launch_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                     struct ceil_launch *ret_l,
                                     struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                     struct ceil_error *err)
{
	const struct ceil_variant *v = p->variant;
	const struct operation *op = operation_of(v);
	const enum ceil_status st = check_axes(p, err);

	if (st != CEIL_OK)
		return st;
	if (is_host(v) && d->sm_count < 2)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "a job for other threads needs two cores, and one may be used");
	ret_l->n = op->kernels;
	ret_l->iters = op->iters;
	ret_l->self_count = op->each ? CEIL_MAX_TIMES : 0;
	ret_l->threads = v->threads;
	ret_l->blocks = v->blocks_per_sm ? v->blocks_per_sm * (uint32_t)d->sm_count : 1;
	if (op->iters == WARP_ITEMS)
		ret_l->iters *= v->threads / 32;
	if (op->storm)
		shape_storm(p->cas, ret_l);
	ret_buf[0] = (struct ceil_buffer){.memory = CEIL_MEM_DEVICE,
	                                  .role = CEIL_WORKSPACE,
	                                  .dtype = CEIL_INT32,
	                                  .numa_node = -1,
	                                  .bytes = COUNTER_BYTES};
	return CEIL_OK;
}

/* A graph's time is that of all its nodes; what times itself tells the time of one. */
static void launch_work(const struct ceil_point *p, const struct ceil_launch *l,
                        struct ceil_work *ret_w)
{
	const bool marks = p->variant->timing == CEIL_TIME_MARKS;

	*ret_w = (struct ceil_work){.items = marks ? (double)l->n : 0.0};
}

static bool launch_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	(void)d;
	return operation_of(p->variant)->storm == (p->cas->axis[SPIN_NS] > 0);
}

/* ---- state */

static enum ceil_status launch_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                       struct ceil_launch *l, uint32_t *ret_candidates,
                                       struct ceil_error *err)
{
	const struct operation *op = operation_of(p->variant);
	struct ceil_launch_state *state = NULL;
	const enum ceil_status st = op->open ? op->open(dev, l, &state, err) : CEIL_OK;

	if (st != CEIL_OK)
		return st;
	l->state = state;
	*ret_candidates = 1;
	return CEIL_OK;
}

static void launch_release(struct ceil_launch *l)
{
	ceil_launch_state_close(l->state);
	l->state = NULL;
}

static void launch_remark(const struct ceil_point *p, const struct ceil_device_props *d,
                          const struct ceil_launch *l, const struct ceil_buffer *buf,
                          struct ceil_remark *ret_remark)
{
	(void)d;
	(void)buf;
#ifdef CEIL_HAVE_CUDA
	if (operation_of(p->variant)->storm && !is_host(p->variant))
		ret_remark->gpu_busy = ceil_cuda_storm_busy(l->state);
#else
	(void)p;
	(void)l;
	(void)ret_remark;
#endif
}

/* ---- checks */

static enum ceil_status read_count(struct ceil_device *dev, const struct ceil_launch *l,
                                   uint32_t *ret_count, struct ceil_error *err)
{
	const enum ceil_status st =
		dev->backend->sync(dev, /* timeout_ns= */ UINT64_C(30000000000), err);

	if (st != CEIL_OK)
		return st;
	return dev->backend->read(dev, ret_count, l->buf[0], sizeof(*ret_count), err);
}

/* Launches the same once more with counting on; a graph has the switch in it, and is made anew. */
static enum ceil_status launch_counting(const struct ceil_point *p, struct ceil_device *dev,
                                        const struct ceil_launch *l, uint32_t *ret_count,
                                        struct ceil_error *err)
{
	struct ceil_launch counting = *l;
	uint32_t candidates = 0;
	enum ceil_status st;

	counting.k = 1;
	counting.state = NULL;
	counting.self_ns = NULL;
	st = launch_prepare(p, dev, &counting, &candidates, err);
	if (st == CEIL_OK)
		st = p->variant->launch(&counting, err);
	if (st == CEIL_OK)
		st = read_count(dev, &counting, ret_count, err);
	/* A device that hangs must not be called again. */
	if (st != CEIL_E_TIMEOUT)
		launch_release(&counting);
	return st;
}

static uint64_t expected_count(const struct ceil_point *p, const struct ceil_device *dev,
                               const struct ceil_launch *l)
{
	const bool self = p->variant->timing == CEIL_TIME_SELF;
	const uint64_t repeats = self && !operation_of(p->variant)->each ? l->iters : 1;

	return is_host(p->variant) ? (uint64_t)dev->props.sm_count : l->n * l->blocks * repeats;
}

static enum ceil_status check_count(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l, const struct ceil_buffer *buf,
                                    struct ceil_error *err)
{
	const uint64_t want = expected_count(p, dev, l);
	uint32_t got = 0;
	enum ceil_status st = dev->backend->fill(dev, &buf[0], l->buf[0], /* buffer= */ 0,
	                                         CEIL_ZEROS, /* seed= */ 0, err);

	if (st == CEIL_OK)
		st = launch_counting(p, dev, l, &got, err);
	if (st != CEIL_OK)
		return st;
	/* A launcher of round trips does some that it does not time: a whole number of them all. */
	if (got == 0 || got % want != 0 || (got != want && !operation_of(p->variant)->each))
		return ceil_fail(err, CEIL_E_WRONG, "%s: %u blocks ran, expected %llu",
		                 p->variant->name, got, (unsigned long long)want);
	return CEIL_OK;
}

static enum ceil_status check_storm(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l, const struct ceil_buffer *buf,
                                    struct ceil_error *err)
{
	(void)dev;
	(void)buf;
#ifdef CEIL_HAVE_CUDA
	const struct ceil_span *v = ceil_cuda_storm_spans(l->state);

	for (uint64_t i = 0; i < l->n; i++) {
		if (v[i].start_ns > 0 && v[i].end_ns >= v[i].start_ns + l->m)
			continue;
		return ceil_fail(err, CEIL_E_WRONG,
		                 "%s: kernel %llu of %llu ran from %llu to %llu ns, expected %llu",
		                 p->variant->name, (unsigned long long)i, (unsigned long long)l->n,
		                 (unsigned long long)v[i].start_ns, (unsigned long long)v[i].end_ns,
		                 (unsigned long long)l->m);
	}
	return CEIL_OK;
#else
	(void)l;
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: this build has no CUDA", p->variant->name);
#endif
}

static enum ceil_status check_queue(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l, const struct ceil_buffer *buf,
                                    struct ceil_error *err)
{
	(void)dev;
	(void)buf;
#ifdef CEIL_HAVE_CUDA
	(void)p;
	return ceil_cuda_queue_check(l->state, err);
#else
	(void)l;
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: this build has no CUDA", p->variant->name);
#endif
}

static enum ceil_status launch_check(const struct ceil_point *p, struct ceil_device *dev,
                                     const struct ceil_launch *l,
                                     const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                     struct ceil_error *err)
{
	const struct operation *op = operation_of(p->variant);

	(void)seed;
	return op->check ? op->check(p, dev, l, buf, err) : CEIL_OK;
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"spin", "ns", "how long each kernel of a storm works; 0: an empty kernel"},
	{"streams", "", "on how many streams the kernels of a storm are started in turn"},
};

#define STORM(duration, ns, quick)                                                                 \
	{#duration ".s1", "cuda", quick, {ns, 1}}, {#duration ".s2", "cuda", false, {ns, 2}},      \
		{#duration ".s4", "cuda", false, {ns, 4}},                                         \
	{                                                                                          \
#duration ".s8", "cuda", quick,                                                    \
		{                                                                                  \
			ns, 8                                                                      \
		}                                                                                  \
	}

static const struct ceil_case cases[] = {
	{"empty", NULL, true, {0, 1}}, STORM(1us, 1 * US, true),     STORM(2us, 2 * US, false),
	STORM(5us, 5 * US, false),     STORM(10us, 10 * US, true),   STORM(20us, 20 * US, false),
	STORM(50us, 50 * US, false),   STORM(100us, 100 * US, true), STORM(200us, 200 * US, false),
	STORM(500us, 500 * US, false), STORM(1ms, 1000 * US, false),
};

#define GPU(name_, ceiling_, unit_, timing_, launcher, is_quick, ...)                              \
	{                                                                                          \
		.name = name_, .backend = "cuda", .ceiling = "launch." ceiling_,                   \
		.unit = CEIL_##unit_, .resource = CEIL_R_LAUNCH, .timing = CEIL_TIME_##timing_,    \
		CEIL_IF_CUDA(launcher), .threads = 32, .quick = is_quick, .tolerance = 0.05,       \
		__VA_ARGS__                                                                        \
	}

/* Two launches of 4000 nodes lie between two marks, so that few nodes wait at once. */
static const struct ceil_variant variants[] = {
	GPU("enqueue.loop", "enqueue", US, SELF, ceil_cuda_enqueue, true,
            .doc = "host time of one asynchronous launch, of 256 in a row from an idle GPU"),
	GPU("rate.loop", "rate", PER_S, MARKS, ceil_launch_plain, true,
            .doc = "one thread starts empty kernels on one stream, thousands in a row"),
	GPU("roundtrip.sync", "roundtrip", US, SELF, ceil_cuda_roundtrip_sync, true,
            .doc = "a launch and cudaStreamSynchronize"),
	GPU("roundtrip.query", "roundtrip", US, SELF, ceil_cuda_roundtrip_query, false,
            .doc = "a launch and cudaStreamQuery until it has ended"),
	GPU("chain.n4000", "graph_node", US, MARKS, ceil_cuda_graph_launch, true, .gated = true,
            .batch = 2, .doc = "graphs of 4000 empty kernels, each after the one before"),
	GPU("wide.n4000.b8", "graph_node", US, MARKS, ceil_cuda_graph_launch, false, .gated = true,
            .batch = 2, .beside = true, .doc = "graphs of 4000 empty kernels in 8 branches"),
	GPU("graph.n1", "graph", US, MARKS, ceil_cuda_graph_launch, true,
            .doc = "graphs of one empty kernel, thousands in a row"),
	GPU("queue.t32", "persistent", PER_S, SELF, ceil_cuda_queue_rate, false,
            .doc = "items of 8 bytes by a queue in mapped memory, served by one warp"),
	{
		.name = "queue.t1024",
		.backend = "cuda",
		.ceiling = "launch.persistent",
		.unit = CEIL_PER_S,
		.resource = CEIL_R_LAUNCH,
		.timing = CEIL_TIME_SELF,
		CEIL_IF_CUDA(ceil_cuda_queue_rate),
		.threads = 1024,
		.tolerance = 0.05,
		.doc = "the same, served by a block of 1024 threads",
	},
	GPU("item.t32", "persistent_roundtrip", US, SELF, ceil_cuda_queue_roundtrip, false,
            .doc = "one item posted to a kernel that runs already, and its result"),
	GPU("cooperative.grid", "cooperative", US, MARKS, ceil_launch_cooperative, false,
            .blocks_per_sm = 1,
            .doc = "cooperative launches of a block on each SM, thousands in a row"),
	GPU("pdl.chain", "pdl", US, MARKS, ceil_launch_pdl, false, .gated = true, .min_cc = 90,
            .doc = "programmatic dependent launch: each kernel is set up while the one before "
                   "it ends"),
	GPU("pdl.plain", "pdl", US, MARKS, ceil_launch_plain, false, .gated = true, .min_cc = 90,
            .beside = true, .doc = "the same without: what a kernel after another costs the GPU"),
	GPU("storm.spin", "storm", PER_S, SELF, ceil_cuda_storm, true, .sweep = true,
            .doc = "kernels of one thread that work for a while, in turn on some streams"),
	GPU("timer.resolution", "timer_resolution", NS, SELF, ceil_launch_timer_resolution, true,
            .doc = "the step of device time stamps"),
	GPU("timer.event", "event_overhead", NS, SELF, ceil_launch_event_overhead, true,
            .doc = "what a time stamp adds on the device"),
	GPU("gate.open", "gate_overhead", NS, SELF, ceil_launch_gate_overhead, true,
            .doc = "from opening the gate to seeing the end of the stream behind it"),
	{
		.name = "roundtrip.pool",
		.backend = "host",
		.ceiling = "host.launch.roundtrip",
		.unit = CEIL_US,
		.resource = CEIL_R_LAUNCH,
		.timing = CEIL_TIME_SELF,
		.launch = ceil_launch_host_roundtrip,
		.quick = true,
		.tolerance = 0.05,
		.doc = "a job for one pinned thread a core, and the wait for all of them",
	},
};

const struct ceil_bench ceil_launch_bench = {
	.name = "launch",
	.summary = "what starting work costs: enqueue, rate, round trip, graphs, queues, storms",
	.doc = "Empty kernels of one warp, timed where the cost is: on the host for enqueue and "
	       "round trips (the 99th percentile is time_p99_ns), on the device for rates and "
	       "graphs. Graphs and dependent launches run where kernels of two streams have "
	       "overlapped before, as in most jobs: until then an H200 is up to a quarter faster. "
	       "A storm starts kernels that work for 1 us to 1 ms, in turn on 1 to 8 streams: "
	       "launches a second, and in gpu_busy the share of the time in which at least one of "
	       "them ran, by their own clocks; a kernel's start and end are not counted as work. "
	       "The tools of measurement, time stamps and gate, have rows of their own.",
	.source = "CUDA C++ Programming Guide 13.0: asynchronous execution, graphs, programmatic "
		  "dependent launch",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = 1,
	.check_pattern = CEIL_NORMAL,
	.shape = launch_shape,
	.work = launch_work,
	.applies = launch_applies,
	.prepare = launch_prepare,
	.release = launch_release,
	.remark = launch_remark,
	.check = launch_check,
};
