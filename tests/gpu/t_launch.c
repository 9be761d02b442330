/* The launch bench on a real GPU: every variant launches, counts and checks; wrong is seen. */
#include "bench/launch.h"

#include <math.h>
#include <string.h>

#include "harness/measure/loop.h"
#include "kernels/launch.h"
#include "tests/tap.h"

#define WAIT_NS UINT64_C(60000000000)

static const struct ceil_bench *const bench = &ceil_launch_bench;

/* A short measurement: that a row comes out is tested, not what stands in it. */
static const struct ceil_effort little = {.name = "search",
                                          .min_samples = 2,
                                          .max_samples = 3,
                                          .sample_ns = 100000,
                                          .budget_ns = 50000000,
                                          .precision = 0.5};

static void test_point(struct ceil_meter *m, const struct ceil_point *p)
{
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	const enum ceil_status st = ceil_meter_point(m, p, &little, CEIL_SEARCH, &o, &err);
	const double value = ceil_outcome_value(&o);

	ok(st == CEIL_OK && o.status == CEIL_ROW_OK && o.checked, "%s %s: ok and checked: %s",
	   p->variant->name, p->cas->name, o.reason);
	ok(value > 0.0, "%s %s: %g %s", p->variant->name, p->cas->name, value,
	   ceil_unit_name(p->variant->unit));
	if (strncmp(p->variant->name, "storm", 5) == 0)
		ok(o.remark.gpu_busy > 0.0 && o.remark.gpu_busy <= 1.0, "busy %.3f of the time",
		   o.remark.gpu_busy);
	ceil_outcome_done(&o);
}

static bool fits(const struct ceil_variant *v, const struct ceil_device_props *d)
{
	return strcmp(v->backend, "cuda") == 0 && d->cc_major * 10 + d->cc_minor >= v->min_cc;
}

static void test_variants(struct ceil_device *dev)
{
	const struct ceil_meter_options options = {.seed = 5};
	struct ceil_meter *m = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (!ok(ceil_meter_open(dev, &options, &m, &err) == CEIL_OK, "a meter %s", err.text))
		return;
	for (size_t i = 0; i < bench->variant_count; i++) {
		for (size_t c = 0; c < bench->case_count; c++) {
			const struct ceil_point p = {.bench = bench,
			                             .variant = &bench->variants[i],
			                             .cas = &bench->cases[c]};

			if (fits(p.variant, &dev->props) && bench->applies(&p, &dev->props) &&
			    p.cas->quick)
				test_point(m, &p);
		}
	}
	ceil_meter_close(m);
}

/* A kernel that did not run, or ran twice, is missed in the count. */
static void test_count(struct ceil_device *dev)
{
	struct ceil_point p = {.bench = bench, .cas = &bench->cases[0]};
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_error err = {CEIL_OK, ""};

	for (size_t i = 0; i < bench->variant_count; i++) {
		if (strcmp(bench->variants[i].name, "cooperative.grid") == 0)
			p.variant = &bench->variants[i];
	}
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
	const struct ceil_backend *cuda = ceil_backend_find("cuda");
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_device *dev = NULL;
	int count = 0;

	if (!cuda)
		skip_all("this build has no CUDA backend");
	if (cuda->count(&count, &err) != CEIL_OK || count == 0)
		skip_all(err.text);
	if (!ok(cuda->open(0, &dev, &err) == CEIL_OK, "device 0 opens: %s", err.text))
		return done_testing();
	test_variants(dev);
	test_count(dev);
	test_queue(dev, 1);
	test_queue(dev, 32);
	test_queue(dev, 1024);
	ok(dev->backend->sync(dev, WAIT_NS, &err) == CEIL_OK, "the GPU is fine after it");
	cuda->close(dev);
	return done_testing();
}
