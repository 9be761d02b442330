/* What the program measures beside loops that anyone would write, in turn, in one process. */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "bench/hostcopy.h"
#include "bench/launch.h"
#include "harness/base/clock.h"
#include "kernels/launch.h"
#include "tests/bench_bed.h"
#include "tests/gpu_bench.h"
#include "tests/tap.h"

/* An odd count of pairs has a middle. A machine that is shared disturbs some of them. */
enum { PAIRS = 9, REPEATS = 9 };

#define COPY_BYTES (UINT64_C(512) << 20)

static const struct ceil_effort effort = {.name = "search",
                                          .min_samples = REPEATS,
                                          .max_samples = REPEATS + 1,
                                          .sample_ns = 8000000,
                                          .budget_ns = 600000000,
                                          .precision = 0.0001};

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(double *v, int count, int of_four)
{
	qsort(v, (size_t)count, sizeof(*v), by_value);
	return v[count * of_four / 4];
}

/* ---- plain loops: ns a launch, ns of a copy */

static double plain_launches(const struct ceil_launch *l, int count, bool wait)
{
	double ns[REPEATS];
	int failed = 0;

	for (int r = 0; r < REPEATS; r++) {
		const uint64_t from_ns = ceil_now_ns();

		for (int i = 0; i < count; i++)
			failed += ceil_launch_plain(l, /* err= */ NULL) != CEIL_OK;
		if (wait)
			(void)cudaStreamSynchronize(l->stream[0]);
		ns[r] = (double)(ceil_now_ns() - from_ns) / count;
		(void)cudaStreamSynchronize(l->stream[0]);
	}
	if (failed)
		ok(false, "%d plain launches failed", failed);
	return quantile(ns, REPEATS, 2);
}

struct plain_copy {
	void *host, *device;
	cudaEvent_t from, to;
};

static double plain_copies(const struct ceil_launch *l, const struct plain_copy *c,
                           enum cudaMemcpyKind kind)
{
	const bool up = kind == cudaMemcpyHostToDevice;
	double ns[REPEATS];

	for (int r = 0; r < REPEATS; r++) {
		float ms = 0.0f;

		(void)cudaEventRecord(c->from, l->stream[0]);
		(void)cudaMemcpyAsync(up ? c->device : c->host, up ? c->host : c->device,
		                      COPY_BYTES, kind, l->stream[0]);
		(void)cudaEventRecord(c->to, l->stream[0]);
		(void)cudaEventSynchronize(c->to);
		(void)cudaEventElapsedTime(&ms, c->from, c->to);
		ns[r] = ms * 1e6;
	}
	return quantile(ns, REPEATS, 2);
}

/* ---- ours: ns of one launch of a variant */

static double ours(struct ceil_meter *m, const struct ceil_bench *b, const char *variant,
                   const char *cas)
{
	const struct ceil_point p = {
		.bench = b, .variant = bed_variant(b, variant), .cas = bed_case(b, cas)};
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	double ns;

	if (ceil_meter_point(m, &p, &effort, CEIL_SEARCH, &o, &err) != CEIL_OK ||
	    o.status != CEIL_ROW_OK)
		ok(false, "%s is measured: %s %s", variant, o.reason, err.text);
	ns = o.stats.median;
	ceil_outcome_done(&o);
	return ns;
}

/* ---- pairs */

struct peers {
	struct ceil_meter *m;
	struct ceil_launch l;
	struct plain_copy copy;
};

static double pair_enqueue(const struct peers *p)
{
	const double plain = plain_launches(&p->l, 256, /* wait= */ false);

	return ours(p->m, &ceil_launch_bench, "enqueue.loop", "empty") / plain;
}

static double pair_rate(const struct peers *p)
{
	const double plain = plain_launches(&p->l, 2000, /* wait= */ true);

	return ours(p->m, &ceil_launch_bench, "rate.loop", "empty") / plain;
}

static double pair_h2d(const struct peers *p)
{
	const double plain = plain_copies(&p->l, &p->copy, cudaMemcpyHostToDevice);

	return ours(p->m, &ceil_hostcopy_bench, "h2d.ce.pinned", "512MiB") / plain;
}

static double pair_d2h(const struct peers *p)
{
	const double plain = plain_copies(&p->l, &p->copy, cudaMemcpyDeviceToHost);

	return ours(p->m, &ceil_hostcopy_bench, "d2h.ce.pinned", "512MiB") / plain;
}

static void test_pairs(const struct peers *p, double (*pair)(const struct peers *), double most,
                       int of_four, const char *name)
{
	double ratio[PAIRS];

	for (int i = 0; i < PAIRS; i++)
		ratio[i] = pair(p);
	const double typical = quantile(ratio, PAIRS, of_four);

	ok(typical <= most, "%s: ours over plain %.4f (%.4f to %.4f)", name, typical, ratio[0],
	   ratio[PAIRS - 1]);
}

static void test_all(struct ceil_device *dev)
{
	const struct ceil_meter_options options = {.seed = 3};
	struct peers p = {.l = {.blocks = 1, .threads = 32}};
	struct ceil_error err = {CEIL_OK, ""};

	if (!ok(ceil_meter_open(dev, &options, &p.m, &err) == CEIL_OK &&
	                dev->backend->bind(dev, &p.l, &err) == CEIL_OK,
	        "a meter %s", err.text))
		return;
	/* Half of the pairs are disturbed on a shared host: a quarter of them must be near. */
	test_pairs(&p, pair_enqueue, 1.02, 1, "enqueue");
	test_pairs(&p, pair_rate, 1.02, 1, "rate");
	if (!ok(cudaMallocHost(&p.copy.host, COPY_BYTES) == cudaSuccess &&
	                cudaMalloc(&p.copy.device, COPY_BYTES) == cudaSuccess &&
	                cudaEventCreate(&p.copy.from) == cudaSuccess &&
	                cudaEventCreate(&p.copy.to) == cudaSuccess,
	        "memory and events"))
		return;
	memset(p.copy.host, 1, COPY_BYTES);
	test_pairs(&p, pair_h2d, 1.0 / 0.995, 2, "host to device");
	test_pairs(&p, pair_d2h, 1.0 / 0.995, 2, "device to host");
	(void)cudaFreeHost(p.copy.host);
	(void)cudaFree(p.copy.device);
	(void)cudaEventDestroy(p.copy.from);
	(void)cudaEventDestroy(p.copy.to);
	ceil_meter_close(p.m);
}

int main(void)
{
	struct ceil_device *dev;

	if (getenv("GPUCEIL_TEST_SMALL"))
		skip_all("rates mean nothing under a sanitizer");
	dev = gpu_device_open();
	test_all(dev);
	dev->backend->close(dev);
	return done_testing();
}
