/* The hostcopy bench on a real GPU: every variant copies and is checked; a wrong bit is seen. */
#include "bench/hostcopy.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness/device/cuda.h"
#include "harness/device/cuda_copy.h"
#include "harness/device/topology.h"
#include "tests/bench_bed.h"
#include "tests/gpu_bench.h"
#include "tests/tap.h"

static const struct ceil_bench *const bench = &ceil_hostcopy_bench;

static bool is_small(const struct ceil_point *p)
{
	return p->cas->axis[0] <= (getenv("GPUCEIL_TEST_SMALL") ? 65536u : 1u << 26);
}

/* A bit that changes on the way, in either direction of a copy both ways. */
static void test_wrong(struct ceil_device *dev, enum ceil_copy_buffer spoilt)
{
	const struct ceil_case cas = {.name = "odd", .axis = {12288, 0}};
	const struct ceil_point p = {
		.bench = bench, .variant = bed_variant(bench, "both.ce.pinned"), .cas = &cas};
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_error err = {CEIL_OK, ""};
	uint32_t candidates;

	ok(bench->shape(&p, &dev->props, &l, buf, &err) == CEIL_OK &&
	           dev->backend->bind(dev, &l, &err) == CEIL_OK,
	   "12 KiB both ways %s", err.text);
	for (int i = 0; i < CEIL_COPY_BUFFERS; i++)
		ok(dev->backend->alloc(dev, &buf[i], &l.buf[i], &err) == CEIL_OK &&
		           dev->backend->fill(dev, &buf[i], l.buf[i], i, CEIL_NORMAL, 1, &err) ==
		                   CEIL_OK,
		   "memory %s", err.text);
	ok(bench->prepare(&p, dev, &l, &candidates, &err) == CEIL_OK &&
	           p.variant->launch(&l, &err) == CEIL_OK,
	   "a copy both ways %s", err.text);
	is_int(bench->check(&p, dev, &l, buf, 1, &err), CEIL_OK, "is right");
	((unsigned char *)l.buf[spoilt])[12287] ^= 128;
	is_int(bench->check(&p, dev, &l, buf, 1, &err), CEIL_E_WRONG, "one bit is not");
	bench->release(&l);
	for (int i = 0; i < CEIL_COPY_BUFFERS; i++)
		dev->backend->free(dev, &buf[i], l.buf[i]);
}

/* The thread is bound while the state is open, and free after it. */
static void test_binding(struct ceil_device *dev)
{
	const struct ceil_topology *t = ceil_cuda_topology(dev);
	struct ceil_launch_state *state = NULL;
	struct ceil_error err;
	cpu_set_t before, during, after;

	is_int(ceil_cuda_copy_open(dev, 999, &state, &err), CEIL_E_UNSUPPORTED, "no such node");
	if (!t || sched_getaffinity(0, sizeof(before), &before) != 0) {
		skip("binding", "the affinity cannot be read");
		return;
	}
	is_int(ceil_cuda_copy_open(dev, t->node[0].node, &state, &err), CEIL_OK, "a node");
	(void)sched_getaffinity(0, sizeof(during), &during);
	ceil_launch_state_close(state);
	(void)sched_getaffinity(0, sizeof(after), &after);
	is_int(CPU_COUNT(&during), 1, "one core while it is open");
	ok(CPU_EQUAL(&before, &after), "and as before after it");
}

int main(void)
{
	struct ceil_device *dev = gpu_device_open();

	gpu_bench_rows(dev, bench, is_small, /* look= */ NULL);
	test_wrong(dev, CEIL_COPY_HOST);
	test_wrong(dev, CEIL_COPY_BACK_HOST);
	test_binding(dev);
	dev->backend->close(dev);
	return done_testing();
}
