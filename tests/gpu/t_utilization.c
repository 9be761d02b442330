/* Kernels and scenarios of utilization on a GPU: right results, stays that make sense. */
#include "kernels/utilization.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/stays.h"
#include "harness/device/cuda.h"
#include "harness/measure/scenario.h"
#include "tests/tap.h"

enum { MS = 1000000, BLOCKS = 264, THREADS = 256 };
#define WAIT_NS UINT64_C(20000000000)

struct rig {
	struct ceil_device *dev;
	struct ceil_launch l;
	struct ceil_stay *stays;
};

static const struct ceil_buffer stays_buffer = {
	.memory = CEIL_MEM_DEVICE,
	.role = CEIL_OUTPUT,
	.dtype = CEIL_INT64,
	.numa_node = -1,
	.bytes = BLOCKS * sizeof(struct ceil_stay),
};

static struct ceil_buffer floats(uint64_t n, enum ceil_role role)
{
	return (struct ceil_buffer){
		.memory = CEIL_MEM_DEVICE,
		.role = role,
		.dtype = CEIL_FP32,
		.numa_node = -1,
		.bytes = n * sizeof(float),
	};
}

static void *place(struct rig *r, const struct ceil_buffer *b, enum ceil_pattern p)
{
	struct ceil_error err = {CEIL_OK, ""};
	void *ptr = NULL;

	if (r->dev->backend->alloc(r->dev, b, &ptr, &err) != CEIL_OK ||
	    r->dev->backend->fill(r->dev, b, ptr, 0, p, 1, &err) != CEIL_OK)
		ok(false, "memory: %s", err.text);
	return ptr;
}

static bool launch(struct rig *r, ceil_launch_fn fn, const char *name)
{
	struct ceil_error err = {CEIL_OK, ""};

	if (fn(&r->l, &err) == CEIL_OK && r->dev->backend->sync(r->dev, WAIT_NS, &err) == CEIL_OK)
		return true;
	return ok(false, "%s: %s", name, err.text);
}

static float *read_floats(struct rig *r, const void *ptr, uint64_t n)
{
	struct ceil_error err = {CEIL_OK, ""};
	float *v = calloc(n, sizeof(*v));

	if (!v || r->dev->backend->read(r->dev, v, ptr, n * sizeof(*v), &err) != CEIL_OK)
		ok(false, "reading: %s", err.text);
	return v;
}

static bool all_are(const float *v, uint64_t n, float want)
{
	for (uint64_t i = 0; v && i < n; i++) {
		if (v[i] < want || v[i] > want)
			return false;
	}
	return v != NULL;
}

static void test_fill(struct rig *r)
{
	const uint64_t n = 1000000;
	const struct ceil_buffer b = floats(n, CEIL_OUTPUT);
	void *out = place(r, &b, CEIL_POISON);
	float *v;

	r->l.buf[CEIL_UTIL_OUT] = out;
	r->l.buf[CEIL_UTIL_STAYS] = NULL;
	r->l.n = n;
	r->l.threads = THREADS;
	r->l.blocks = (uint32_t)((n / 4 + THREADS - 1) / THREADS);
	if (launch(r, ceil_util_fill, "fill")) {
		v = read_floats(r, out, n);
		ok(all_are(v, n, 1.0f), "every float is filled");
		free(v);
	}
	r->dev->backend->free(r->dev, &b, out);
}

static void test_stream(struct rig *r)
{
	const uint64_t n = (uint64_t)BLOCKS * THREADS * CEIL_UTIL_STREAM_VECTORS * 4;
	const struct ceil_buffer b = floats(n, CEIL_INPUT);
	void *in = place(r, &b, CEIL_NORMAL), *out = place(r, &b, CEIL_POISON);
	float *x, *y;

	r->l.buf[CEIL_UTIL_IN] = in;
	r->l.buf[CEIL_UTIL_OUT] = out;
	r->l.n = n;
	r->l.threads = THREADS;
	r->l.blocks = BLOCKS;
	if (launch(r, ceil_util_stream, "stream")) {
		x = read_floats(r, in, n);
		y = read_floats(r, out, n);
		ok(x && y && memcmp(x, y, n * sizeof(*x)) == 0, "every float is copied");
		free(x);
		free(y);
	}
	r->dev->backend->free(r->dev, &b, in);
	r->dev->backend->free(r->dev, &b, out);
}

static void test_sums(struct rig *r, ceil_launch_fn fn, float want, const char *name)
{
	const uint64_t n = (uint64_t)BLOCKS * THREADS;
	const struct ceil_buffer b = floats(n, CEIL_OUTPUT);
	void *out = place(r, &b, CEIL_POISON);
	float *v;

	r->l.buf[CEIL_UTIL_OUT] = out;
	r->l.threads = THREADS;
	r->l.blocks = BLOCKS;
	r->l.iters = 10;
	if (launch(r, fn, name)) {
		v = read_floats(r, out, n);
		ok(all_are(v, n, want), "%s: every thread has %g", name, (double)want);
		free(v);
	}
	r->dev->backend->free(r->dev, &b, out);
}

/* As many blocks as multiprocessors, a warp each, land on one multiprocessor each. */
static void test_spin(struct rig *r)
{
	const uint32_t sms = (uint32_t)r->dev->props.sm_count;
	const uint32_t blocks = sms < BLOCKS ? sms : BLOCKS;
	struct ceil_stay v[BLOCKS];
	struct ceil_error err = {CEIL_OK, ""};
	bool used[BLOCKS] = {false}, once = true, long_enough = true;

	r->l.buf[CEIL_UTIL_STAYS] = r->stays;
	r->l.blocks = blocks;
	r->l.threads = 32;
	r->l.n = 5 * MS;
	if (!launch(r, ceil_util_spin, "spin"))
		return;
	if (r->dev->backend->read(r->dev, v, r->stays, blocks * sizeof(*v), &err) != CEIL_OK) {
		ok(false, "stays: %s", err.text);
		return;
	}
	for (uint32_t i = 0; i < blocks; i++) {
		once &= v[i].sm < BLOCKS && !used[v[i].sm];
		used[v[i].sm < BLOCKS ? v[i].sm : 0] = true;
		long_enough &= v[i].length_ns >= 5 * MS && v[i].length_ns < 50 * MS;
	}
	ok(long_enough, "each block stays for 5 ms");
	ok(once, "a block a multiprocessor");
	is_close(ceil_stays_active(v, blocks, sms, 0.1), 1.0, 0.01, "all are in use");
}

/* A second of each scenario that needs little: does it play, and do its blocks tell? */
static void test_scenarios(struct rig *r)
{
	static const char *const names[] = {"idle",        "empty_loop", "empty_graph",
	                                    "one_warp",    "all_sms",    "fill_small",
	                                    "copy_pinned", "chain",      "few_warps"};
	const struct ceil_play_options o = {
		.duration_ns = 300 * MS, .seed = 1, .tell_after_ns = 100 * MS};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct ceil_scenario *sc = ceil_scenario_find(names[i]);
		struct ceil_play play = {0};
		struct ceil_played played;
		struct ceil_error err = {CEIL_OK, ""};
		const enum ceil_status st =
			ceil_scenario_play(sc, 0, r->dev, &o, &play, &played, &err);

		ok(st == CEIL_OK, "%s plays: %s", names[i], err.text);
		printf("# %s: %.3g flops %.3g bytes %.3g launches, SM-active %g, %.3f s\n",
		       names[i], (double)play.flops, (double)play.bytes, (double)play.launches,
		       played.sm_active, (double)(played.ended_ns - played.started_ns) * 1e-9);
		ok(played.ended_ns - played.started_ns >= 300 * (uint64_t)MS &&
		           played.ended_ns - played.started_ns < 800 * (uint64_t)MS,
		   "%s plays as long as asked, and ends", names[i]);
		ok((play.flops + play.bytes + play.launches > 0) == (sc->step != NULL),
		   "%s: its work is counted", names[i]);
	}
}

static void test_refused(struct rig *r)
{
	struct ceil_error err = {CEIL_OK, ""};

	r->l.n = 3;
	is_int(ceil_util_fill(&r->l, &err), CEIL_E_USAGE, "fill of 3 floats");
	is_int(ceil_util_stream(&r->l, &err), CEIL_E_USAGE, "stream of 3 floats");
	r->l.threads = 1024;
	is_int(ceil_util_dense(&r->l, &err), CEIL_E_USAGE, "dense with 1024 threads");
}

int main(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct rig r = {0};
	void *stays = NULL;

	if (ceil_cuda_backend.open(0, &r.dev, &err) != CEIL_OK)
		skip_all(err.text);
	if (r.dev->backend->bind(r.dev, &r.l, &err) != CEIL_OK ||
	    r.dev->backend->alloc(r.dev, &stays_buffer, &stays, &err) != CEIL_OK) {
		ok(false, "set-up: %s", err.text);
		return done_testing();
	}
	r.stays = stays;
	test_fill(&r);
	test_stream(&r);
	test_sums(&r, ceil_util_chain, 1.0f, "chain");
	test_sums(&r, ceil_util_dense, (float)CEIL_UTIL_DENSE_SUMS, "dense");
	test_spin(&r);
	test_refused(&r);
	if (!getenv("GPUCEIL_TEST_SMALL"))
		test_scenarios(&r);
	r.dev->backend->free(r.dev, &stays_buffer, stays);
	r.dev->backend->close(r.dev);
	return done_testing();
}
