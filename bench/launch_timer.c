/* The tools of measurement, measured: the step and the cost of marks, the cost of the gate. */
#include <math.h>
#include <stdlib.h>

#include "bench/launch.h"
#include "harness/base/alloc.h"
#include "harness/base/clock.h"

#define WAIT_NS (30 * (uint64_t)CEIL_NS_PER_S)
/* A kernel starts within ten microseconds: by then the gate holds the stream. */
#define SETTLE_NS 50000u

struct timer {
	struct ceil_launch_state base;
	struct ceil_device *dev;
};

static void timer_close(struct ceil_launch_state *s)
{
	free(s);
}

enum ceil_status ceil_launch_timer_open(struct ceil_device *dev, const struct ceil_launch *l,
                                        struct ceil_launch_state **ret_state,
                                        struct ceil_error *err)
{
	struct timer *t = ceil_alloc(1, sizeof(*t), err);

	(void)l;
	if (!t)
		return CEIL_E_NOMEM;
	t->base.close = timer_close;
	t->dev = dev;
	*ret_state = &t->base;
	return CEIL_OK;
}

static struct ceil_device *device_of(const struct ceil_launch *l)
{
	return ((const struct timer *)l->state)->dev;
}

static void tell(const struct ceil_launch *l, double ns)
{
	if (l->self_ns)
		l->self_ns[0] = ns;
}

/* A mark in each slot, one after another. */
static enum ceil_status mark_all(struct ceil_device *dev, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (int i = 0; i < CEIL_MAX_SLOTS && st == CEIL_OK; i++)
		st = dev->backend->mark(dev, /* stream= */ 0, i, err);
	return st;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

double ceil_launch_step(double *ns, size_t count)
{
	/* Distances come as float milliseconds: 1 ms is exact to 0.06 ns, and ours are shorter. */
	const double rounding_ns = 0.1;
	double step = (double)NAN;

	qsort(ns, count, sizeof(*ns), by_value);
	for (size_t i = 0; i < count; i++) {
		const double apart = i ? ns[i] - ns[i - 1] : ns[i];

		if (apart > rounding_ns)
			step = fmin(step, apart);
	}
	return step;
}

enum ceil_status ceil_launch_timer_resolution(const struct ceil_launch *l, struct ceil_error *err)
{
	struct ceil_device *dev = device_of(l);
	double ns[CEIL_MAX_SLOTS - 1] = {0.0};
	enum ceil_status st = mark_all(dev, err);

	if (st == CEIL_OK)
		st = dev->backend->sync(dev, WAIT_NS, err);
	for (int i = 0; i + 1 < CEIL_MAX_SLOTS && st == CEIL_OK; i++)
		st = dev->backend->elapsed_ns(dev, i, i + 1, &ns[i], err);
	if (st == CEIL_OK)
		tell(l, ceil_launch_step(ns, CEIL_MAX_SLOTS - 1));
	return st;
}

/* Behind the gate, or the host's pace would be measured. */
enum ceil_status ceil_launch_event_overhead(const struct ceil_launch *l, struct ceil_error *err)
{
	struct ceil_device *dev = device_of(l);
	const struct ceil_backend *b = dev->backend;
	struct ceil_error later = {CEIL_OK, ""};
	enum ceil_status st = b->gate ? b->gate(dev, /* closed= */ true, err) : CEIL_OK;
	enum ceil_status opened = CEIL_OK;
	double ns = 0.0;

	if (st == CEIL_OK)
		st = mark_all(dev, err);
	if (b->gate)
		opened = b->gate(dev, /* closed= */ false, &later);
	if (st == CEIL_OK && opened != CEIL_OK)
		st = ceil_fail(err, opened, "%s", later.text);
	if (st == CEIL_OK)
		st = b->sync(dev, WAIT_NS, err);
	if (st == CEIL_OK)
		st = b->elapsed_ns(dev, 0, CEIL_MAX_SLOTS - 1, &ns, err);
	if (st == CEIL_OK)
		tell(l, ns / (CEIL_MAX_SLOTS - 1));
	return st;
}

static void spin_for(uint64_t ns)
{
	const uint64_t from_ns = ceil_now_ns();

	while (ceil_now_ns() - from_ns < ns)
		;
}

static enum ceil_status open_once(struct ceil_device *dev, double *ret_ns, struct ceil_error *err)
{
	const struct ceil_backend *b = dev->backend;
	struct ceil_error later = {CEIL_OK, ""};
	enum ceil_status opened;
	enum ceil_status st = b->gate(dev, /* closed= */ true, err);
	uint64_t from_ns;

	if (st == CEIL_OK)
		st = b->mark(dev, /* stream= */ 0, /* slot= */ 0, err);
	if (st == CEIL_OK)
		spin_for(SETTLE_NS);
	from_ns = ceil_now_ns();
	opened = b->gate(dev, /* closed= */ false, &later);
	if (st == CEIL_OK && opened != CEIL_OK)
		st = ceil_fail(err, opened, "%s", later.text);
	if (st == CEIL_OK)
		st = b->wait(dev, /* slot= */ 0, WAIT_NS, err);
	*ret_ns = (double)(ceil_now_ns() - from_ns);
	return st;
}

enum ceil_status ceil_launch_gate_overhead(const struct ceil_launch *l, struct ceil_error *err)
{
	struct ceil_device *dev = device_of(l);
	const uint32_t times = l->self_ns ? l->self_count : 1;
	enum ceil_status st = CEIL_OK;

	if (!dev->backend->gate || !dev->backend->wait)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s has no gate", dev->props.label);
	for (uint32_t i = 0; i < times && st == CEIL_OK; i++) {
		double ns = 0.0;

		st = open_once(dev, &ns, err);
		if (st == CEIL_OK && l->self_ns)
			l->self_ns[i] = ns;
	}
	return st;
}
