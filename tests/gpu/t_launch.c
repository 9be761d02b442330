/* The launch bench on a real GPU: every variant launches, counts and checks; wrong is seen. */
#include "bench/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/device/cuda_launch.h"
#include "kernels/launch.h"
#include "tests/bench_bed.h"
#include "tests/gpu_bench.h"
#include "tests/tap.h"

#define WAIT_NS UINT64_C(60000000000)

static const struct ceil_bench *const bench = &ceil_launch_bench;

static bool is_quick(const struct ceil_point *p)
{
	return p->cas->quick;
}

static void look_at_storm(const struct ceil_outcome *o)
{
	if (strncmp(o->point.variant->name, "storm", 5) == 0)
		ok(o->remark.gpu_busy > 0.0 && o->remark.gpu_busy <= 1.0, "busy %.3f of the time",
		   o->remark.gpu_busy);
}

/* Time of one graph of the chain row. */
static double chain_ns(struct ceil_meter *m)
{
	static const struct ceil_effort effort = {.name = "search",
	                                          .min_samples = 5,
	                                          .max_samples = 6,
	                                          .sample_ns = 1000000,
	                                          .budget_ns = 100000000,
	                                          .precision = 0.01};
	const struct ceil_point p = {.bench = bench,
	                             .variant = bed_variant(bench, "chain.n4000"),
	                             .cas = bed_case(bench, "empty")};
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	const enum ceil_status st = ceil_meter_point(m, &p, &effort, CEIL_SEARCH, &o, &err);
	const double ns = o.stats.median;

	ok(st == CEIL_OK && o.status == CEIL_ROW_OK, "a chain is measured: %s", o.reason);
	ceil_outcome_done(&o);
	return ns;
}

/* A new process, streams that overlap, graphs that live beside it: the row says the same. */
static void test_chain_is_steady(struct ceil_device *dev)
{
	static const uint64_t nodes[] = {100, 1000, 4000};
	enum { GRAPHS = sizeof(nodes) / sizeof(nodes[0]) };
	const struct ceil_meter_options options = {.seed = 5};
	struct ceil_launch l = {.blocks = 1, .threads = 32};
	struct ceil_launch_state *graph[GRAPHS] = {NULL};
	struct ceil_meter *m = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	double least, most;

	if (!ok(ceil_meter_open(dev, &options, &m, &err) == CEIL_OK &&
	                dev->backend->bind(dev, &l, &err) == CEIL_OK,
	        "a meter %s", err.text))
		return;
	least = most = chain_ns(m);
	for (int i = 0; i < GRAPHS; i++) {
		l.n = nodes[i];
		ok(ceil_cuda_graph_open(dev, &l, 1, &graph[i], &err) == CEIL_OK, "a graph %s",
		   err.text);
		const double ns = chain_ns(m);

		least = fmin(least, ns);
		most = fmax(most, ns);
	}
	ok(most <= 1.05 * least, "a chain takes %g to %g ns, whatever came before", least, most);
	for (int i = 0; i < GRAPHS; i++)
		ceil_launch_state_close(graph[i]);
	ceil_meter_close(m);
}

/* A kernel that did not run, or ran twice, is missed in the count. */
static void test_count(struct ceil_device *dev)
{
	const struct ceil_point p = {.bench = bench,
	                             .variant = bed_variant(bench, "cooperative.grid"),
	                             .cas = &bench->cases[0]};
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_error err = {CEIL_OK, ""};

	ok(bench->shape(&p, &dev->props, &l, buf, &err) == CEIL_OK &&
	           dev->backend->bind(dev, &l, &err) == CEIL_OK &&
	           dev->backend->alloc(dev, &buf[0], &l.buf[0], &err) == CEIL_OK,
	   "a cooperative launch %s", err.text);
	is_int(bench->check(&p, dev, &l, buf, 1, &err), CEIL_OK, "every block ran");
	l.n = 2;
	is_int(bench->check(&p, dev, &l, buf, 1, &err), CEIL_E_WRONG, "two launches did not");
	l.n = 1;
	l.blocks = 1u << 20;
	is_int(p.variant->launch(&l, &err), CEIL_E_DEVICE, "more blocks than fit are refused");
	has_text(err.text, "cudaErrorCooperativeLaunchTooLarge", "in CUDA's words");
	dev->backend->free(dev, &buf[0], l.buf[0]);
}

/* Items come out in their order, whatever the number of threads. */
static void test_queue(struct ceil_device *dev, uint32_t threads)
{
	struct ceil_launch l = {.threads = threads, .iters = 3 * CEIL_QUEUE_ITEMS + 7};
	struct ceil_launch_state *state = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	double ns = (double)NAN;

	ok(dev->backend->bind(dev, &l, &err) == CEIL_OK &&
	           ceil_cuda_queue_open(dev, &l, &state, &err) == CEIL_OK,
	   "a queue %s", err.text);
	l.state = state;
	l.self_ns = &ns;
	ok(ceil_cuda_queue_rate(&l, &err) == CEIL_OK && ns > 0.0, "%u threads: %g ns an item %s",
	   threads, ns, err.text);
	ok(ceil_cuda_queue_check(state, &err) == CEIL_OK, "every result: %s", err.text);
	ceil_launch_state_close(state);
}

int main(void)
{
	struct ceil_device *dev = gpu_device_open();
	struct ceil_error err = {CEIL_OK, ""};

	if (!getenv("GPUCEIL_TEST_SMALL")) /* times mean nothing under a sanitizer */
		test_chain_is_steady(dev);
	gpu_bench_rows(dev, bench, is_quick, look_at_storm);
	test_count(dev);
	test_queue(dev, 1);
	test_queue(dev, 32);
	test_queue(dev, 1024);
	ok(dev->backend->sync(dev, WAIT_NS, &err) == CEIL_OK, "the GPU is fine after it");
	dev->backend->close(dev);
	return done_testing();
}
