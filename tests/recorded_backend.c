/* A device with a virtual clock: launches cost what the test says, and every call is written down.
 */
#include "tests/recorded_backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a alloc, f free, F fill, m mark, l launch, ( gate closed, ) gate open, s sync, c clock,
 * o the gate opened by itself, k the cache is flushed */
static void note(struct recorded *r, char c)
{
	const size_t n = strlen(r->log);

	r->calls_after_hang += r->hangs && r->hangs_after;
	if (n + 1 < sizeof(r->log))
		r->log[n] = c;
}

static enum ceil_status count(int *ret_count, struct ceil_error *err)
{
	(void)err;
	*ret_count = 1;
	return CEIL_OK;
}

static enum ceil_status bind(struct ceil_device *dev, struct ceil_launch *l, struct ceil_error *err)
{
	(void)err;
	l->stream[0] = dev;
	return CEIL_OK;
}

static enum ceil_status alloc(struct ceil_device *dev, const struct ceil_buffer *b, void **ret_ptr,
                              struct ceil_error *err)
{
	struct recorded *r = (struct recorded *)dev;

	note(r, 'a');
	*ret_ptr = malloc(b->bytes);
	if (!*ret_ptr)
		return ceil_fail(err, CEIL_E_NOMEM, "malloc");
	for (int i = 0; i < 32; i++) {
		if (!r->held[i]) {
			r->held[i] = *ret_ptr;
			break;
		}
	}
	r->allocated++;
	return CEIL_OK;
}

static void give_back(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr)
{
	struct recorded *r = (struct recorded *)dev;

	(void)b;
	note(r, 'f');
	r->allocated--;
	for (int i = 0; i < 32; i++) {
		if (r->held[i] == ptr)
			r->held[i] = NULL;
	}
	free(ptr);
}

void recorded_close(struct recorded *r)
{
	for (int i = 0; i < 32; i++)
		free(r->held[i]);
}

static enum ceil_status fill(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr,
                             int buffer, enum ceil_pattern pattern, uint64_t seed,
                             struct ceil_error *err)
{
	struct recorded *r = (struct recorded *)dev;

	(void)b, (void)ptr, (void)buffer, (void)seed, (void)err;
	note(r, 'F');
	r->fills[pattern]++;
	return CEIL_OK;
}

static enum ceil_status mark(struct ceil_device *dev, int stream, int slot, struct ceil_error *err)
{
	struct recorded *r = (struct recorded *)dev;

	(void)stream, (void)err;
	note(r, 'm');
	r->now_ns += 10.0; /* a mark costs something */
	r->marks[slot] = r->now_ns;
	return CEIL_OK;
}

static enum ceil_status flush_cache(struct ceil_device *dev, struct ceil_error *err)
{
	struct recorded *r = (struct recorded *)dev;

	(void)err;
	note(r, 'k');
	r->flushes++;
	return CEIL_OK;
}

static enum ceil_status elapsed(struct ceil_device *dev, int from, int to, double *ret_ns,
                                struct ceil_error *err)
{
	struct recorded *r = (struct recorded *)dev;

	(void)err;
	*ret_ns = r->marks[to] - r->marks[from];
	return CEIL_OK;
}

static int total_launches(const struct recorded *r)
{
	uint64_t n = 0;

	for (int i = 0; i < RECORDED_CANDIDATES; i++)
		n += r->launches[i];
	return (int)n;
}

static enum ceil_status wait_all(struct ceil_device *dev, uint64_t timeout_ns,
                                 struct ceil_error *err)
{
	struct recorded *r = (struct recorded *)dev;

	(void)timeout_ns;
	note(r, 's');
	if (r->hangs_after && total_launches(r) >= r->hangs_after)
		r->hangs = true;
	/* As the contract says, a gate that nobody opens does so by itself; the log tells. */
	if (r->gate_closed)
		note(r, 'o');
	r->gate_closed = false;
	if (r->hangs)
		return ceil_fail(err, CEIL_E_TIMEOUT, "no answer");
	return CEIL_OK;
}

static enum ceil_status gate(struct ceil_device *dev, bool closed, struct ceil_error *err)
{
	struct recorded *r = (struct recorded *)dev;

	(void)err;
	note(r, closed ? '(' : ')');
	r->gate_closed = closed;
	r->launches_behind_gate = 0;
	return CEIL_OK;
}

static enum ceil_status stamp(struct ceil_device *dev, int slot, struct ceil_error *err)
{
	(void)slot, (void)err;
	note((struct recorded *)dev, 'c');
	return CEIL_OK;
}

static enum ceil_status stamp_mhz(struct ceil_device *dev, int from, int to, double *ret_mhz,
                                  struct ceil_error *err)
{
	(void)from, (void)to, (void)err;
	*ret_mhz = ((struct recorded *)dev)->clock_mhz;
	return CEIL_OK;
}

const struct ceil_backend recorded_backend = {
	.name = "recorded",
	.doc = "a virtual clock for tests",
	.count = count,
	.bind = bind,
	.alloc = alloc,
	.free = give_back,
	.fill = fill,
	.mark = mark,
	.elapsed_ns = elapsed,
	.flush_cache = flush_cache,
	.sync = wait_all,
	.gate = gate,
	.clock = stamp,
	.clock_mhz = stamp_mhz,
};

void recorded_open(struct recorded *r, double cost_ns)
{
	*r = (struct recorded){.base = {.backend = &recorded_backend}, .clock_mhz = 1000.0};
	snprintf(r->base.props.label, sizeof(r->base.props.label), "fake0");
	r->base.props.free_bytes = 1 << 20;
	for (int i = 0; i < RECORDED_CANDIDATES; i++)
		r->cost_ns[i] = cost_ns;
}

/* ---- the benches */

static enum ceil_status launch(const struct ceil_launch *l, struct ceil_error *err)
{
	struct recorded *r = l->stream[0];

	(void)err;
	note(r, 'l');
	if (isinf(r->cost_ns[l->candidate]))
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "this algorithm cannot run");
	r->now_ns += r->cost_ns[l->candidate];
	r->cost_ns[l->candidate] *= 1.0 + r->drift;
	r->launches[l->candidate]++;
	r->launches_behind_gate += r->gate_closed;
	if (r->launches_behind_gate > r->most_behind_gate)
		r->most_behind_gate = r->launches_behind_gate;
	if (l->self_ns)
		*l->self_ns = r->cost_ns[l->candidate];
	return CEIL_OK;
}

static enum ceil_status shape(const struct ceil_point *p, const struct ceil_device_props *d,
                              struct ceil_launch *ret_l, struct ceil_buffer *ret_buf,
                              struct ceil_error *err)
{
	const uint64_t bytes = p->cas->axis[0];

	if (bytes > d->free_bytes)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "needs %llu bytes",
		                 (unsigned long long)bytes);
	ret_l->n = bytes;
	ret_buf[0] = (struct ceil_buffer){CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, -1, bytes};
	ret_buf[1] = (struct ceil_buffer){CEIL_MEM_DEVICE, CEIL_OUTPUT, CEIL_FP32, -1, bytes};
	return CEIL_OK;
}

static void work(const struct ceil_point *p, const struct ceil_launch *l, struct ceil_work *ret_w)
{
	(void)p, (void)l;
	*ret_w = (struct ceil_work){.bytes_read = 1e9};
}

static enum ceil_status prepare(const struct ceil_point *p, struct ceil_device *dev,
                                struct ceil_launch *l, uint32_t *ret_candidates,
                                struct ceil_error *err)
{
	(void)p, (void)dev, (void)err;
	l->state = dev;
	*ret_candidates = RECORDED_CANDIDATES;
	return CEIL_OK;
}

static void release(struct ceil_launch *l)
{
	l->state = NULL;
}

static enum ceil_status check(const struct ceil_point *p, struct ceil_device *dev,
                              const struct ceil_launch *l, const struct ceil_buffer *buf,
                              uint64_t seed, struct ceil_error *err)
{
	(void)p, (void)l, (void)buf, (void)seed;
	if (((struct recorded *)dev)->wrong)
		return ceil_fail(err, CEIL_E_WRONG, "element 7 is 3, not 4");
	return CEIL_OK;
}

#define VARIANT(name_, ceiling_, unit_, ...)                                                       \
	{                                                                                          \
		.name = (name_), .backend = "recorded", .doc = "for tests", .ceiling = (ceiling_), \
		.unit = (unit_), .types = {CEIL_FP32, CEIL_NODTYPE, CEIL_FP32, CEIL_FP32},         \
		.resource = CEIL_R_DRAM, .launch = launch, __VA_ARGS__                             \
	}

static const struct ceil_variant op_variants[] = {
	VARIANT("plain", "fake.op", CEIL_GB_S, .gated = true, .quick = true),
	VARIANT("beside", "fake.op", CEIL_GB_S, .beside = true, .quick = true),
	VARIANT("slow", "fake.op", CEIL_GB_S, .quick = false),
	VARIANT("host", "fake.each", CEIL_US, .timing = CEIL_TIME_HOST_EACH, .quick = true),
	VARIANT("self", "fake.self", CEIL_US, .timing = CEIL_TIME_SELF, .quick = true),
	{.name = "absent",
         .backend = "recorded",
         .doc = "not built",
         .ceiling = "fake.absent",
         .unit = CEIL_GB_S,
         .quick = true,
         .why_not = "not in this build"},
	VARIANT("newer", "fake.newer", CEIL_GB_S, .min_cc = 90, .max_cc = 90, .quick = true),
	VARIANT("curve", "fake.curve", CEIL_GB_S, .sweep = true),
};
static const struct ceil_variant pick_variants[] = {
	VARIANT("pick", "fake.pick", CEIL_GB_S, .burst_finalists = 2, .quick = true),
};
static const struct ceil_variant together_variants[] = {
	VARIANT("together", "fake.together", CEIL_GB_S, .quick = true),
};
static const struct ceil_axis axes[] = {{"bytes", "bytes", "of an array"}};
static const struct ceil_case cases[] = {
	{.name = "small", .quick = true, .axis = {1 << 12}},
	{.name = "large", .axis = {1 << 14}},
	{.name = "huge", .axis = {1ull << 40}},
};

const struct ceil_bench recorded_bench = {
	.name = "fake",
	.summary = "for tests",
	.variants = op_variants,
	.variant_count = sizeof(op_variants) / sizeof(op_variants[0]),
	.axes = axes,
	.axis_count = 1,
	.cases = cases,
	.case_count = 3,
	.buf_count = 2,
	.check_pattern = CEIL_INTEGERS,
	.shape = shape,
	.work = work,
	.check = check,
};
const struct ceil_bench recorded_search_bench = {
	.name = "pick",
	.summary = "for tests",
	.variants = pick_variants,
	.variant_count = 1,
	.axes = axes,
	.axis_count = 1,
	.cases = cases,
	.case_count = 1,
	.buf_count = 2,
	.check_pattern = CEIL_TERNARY,
	.shape = shape,
	.work = work,
	.prepare = prepare,
	.release = release,
	.check = check,
};
const struct ceil_bench recorded_concurrent_bench = {
	.name = "together",
	.summary = "for tests",
	.variants = together_variants,
	.variant_count = 1,
	.axes = axes,
	.axis_count = 1,
	.cases = cases,
	.case_count = 2,
	.buf_count = 2,
	.concurrent = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = shape,
	.work = work,
	.check = check,
};
const struct ceil_bench *const recorded_benches[] = {&recorded_bench, &recorded_search_bench,
                                                     &recorded_concurrent_bench, NULL};
