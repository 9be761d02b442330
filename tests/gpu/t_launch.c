/* The launch bench on a real GPU: every variant launches, counts and checks; wrong is seen. */
#include "bench/launch.h"

#include <math.h>
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

	gpu_bench_rows(dev, bench, is_quick, look_at_storm);
	test_count(dev);
	test_queue(dev, 1);
	test_queue(dev, 32);
	test_queue(dev, 1024);
	ok(dev->backend->sync(dev, WAIT_NS, &err) == CEIL_OK, "the GPU is fine after it");
	dev->backend->close(dev);
	return done_testing();
}
