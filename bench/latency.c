/* The latency bench: how long one load takes, by level, when each waits for the one before. */
#include "bench/latency.h"

#include "harness/base/alloc.h"
#include "harness/base/value.h"
#include "kernels/latency.h"

#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

/* ---- levels */

/*
 * Rings for the L2 stay within one page of 2 MiB, so that no address is looked up again; sides are
 * told apart on 4096 lines. Hops make a launch last some milliseconds. One in shared memory is
 * copied there by every launch, node by node: few nodes and many hops keep that out of the figure.
 */
static const struct ceil_latency_level levels[] = {
	/* name, side, nodes, stride, hops, bytes in shared memory */
	{"smem", CEIL_LATENCY_ANY, 64, 16, 524288, 4},
	{"l1", CEIL_LATENCY_ANY, 128, 128, 131072, 0},
	{"l2", CEIL_LATENCY_ANY, 16384, 128, 32768, 0},
	{"l2_near", CEIL_LATENCY_NEAR, 4096, 512, 32768, 0},
	{"l2_far", CEIL_LATENCY_FAR, 4096, 512, 32768, 0},
	{"dram", CEIL_LATENCY_ANY, 0, 128, 16384, 0},
};

const struct ceil_latency_level *ceil_latency_level_of(const struct ceil_variant *v)
{
	const size_t length = strcspn(v->name, ".");

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		const char *name = levels[i].name;

		if (strlen(name) == length && strncmp(v->name, name, length) == 0)
			return &levels[i];
	}
	return NULL;
}

/* ---- shape and work */

/* A power of two, since that is what a shuffle is of: the one at or below n. */
static uint64_t power_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return p;
}

static enum ceil_status nodes_of(const struct ceil_point *p, const struct ceil_device_props *d,
                                 uint64_t *ret_nodes, struct ceil_error *err)
{
	const struct ceil_latency_level *level = ceil_latency_level_of(p->variant);
	const uint64_t wish = p->cas->axis[CEIL_LATENCY_BYTES] / level->stride_bytes;
	uint64_t nodes = wish ? wish : level->nodes;

	if (nodes == 0 && d->l2_bytes == 0)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "the size of the L2 is unknown");
	if (nodes == 0)
		nodes = 8 * d->l2_bytes / level->stride_bytes;
	nodes = power_below(nodes);
	if (nodes < 2)
		return ceil_fail(err, CEIL_E_USAGE, "a ring has two nodes of %llu bytes at least",
		                 (unsigned long long)level->stride_bytes);
	if (nodes * level->stride_bytes > d->free_bytes)
		return ceil_bench_no_room(d, p->variant->ceiling, nodes * level->stride_bytes,
		                          /* why= */ NULL, err);
	if (nodes * level->shared_bytes > 48 * 1024)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%llu nodes do not fit into 48 KiB of shared memory",
		                 (unsigned long long)nodes);
	*ret_nodes = nodes;
	return CEIL_OK;
}

static enum ceil_status latency_shape(const struct ceil_point *p, const struct ceil_device_props *d,
                                      struct ceil_launch *ret_l,
                                      struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                      struct ceil_error *err)
{
	const struct ceil_latency_level *level = ceil_latency_level_of(p->variant);
	const uint64_t wish = p->cas->axis[CEIL_LATENCY_HOPS];
	const uint64_t hops = wish ? wish : level->hops;
	const bool sides = level->side != CEIL_LATENCY_ANY;
	uint64_t nodes = 0;
	const enum ceil_status st = nodes_of(p, d, &nodes, err);

	if (st != CEIL_OK)
		return st;
	if (hops % CEIL_LATENCY_UNROLL != 0 || hops / CEIL_LATENCY_UNROLL > UINT32_MAX)
		return ceil_fail(err, CEIL_E_USAGE, "%llu hops are no multiple of %d",
		                 (unsigned long long)hops, CEIL_LATENCY_UNROLL);
	ret_l->n = nodes;
	ret_l->m = level->stride_bytes;
	ret_l->iters = (uint32_t)(hops / CEIL_LATENCY_UNROLL);
	ret_l->threads = 1;
	/* A side is the side of one SM: a block on each, and all but that one leave at once. */
	ret_l->blocks = sides ? (uint32_t)d->sm_count : 1;
	ret_l->smem_bytes = (uint32_t)nodes * level->shared_bytes;
	ret_buf[CEIL_LATENCY_RING] =
		ceil_bench_buffer(CEIL_WORKSPACE, CEIL_INT64, nodes * level->stride_bytes);
	ret_buf[CEIL_LATENCY_STATE] =
		ceil_bench_buffer(CEIL_WORKSPACE, CEIL_INT64, sizeof(struct ceil_latency_state));
	ret_buf[CEIL_LATENCY_RESULT] =
		ceil_bench_buffer(CEIL_OUTPUT, CEIL_INT64, sizeof(struct ceil_latency_result));
	ret_buf[CEIL_LATENCY_TICKS] =
		ceil_bench_buffer(CEIL_WORKSPACE, CEIL_INT32, sides ? nodes * sizeof(uint32_t) : 0);
	return CEIL_OK;
}

static double hops_of(const struct ceil_launch *l)
{
	return (double)l->iters * CEIL_LATENCY_UNROLL;
}

static void latency_work(const struct ceil_point *p, const struct ceil_launch *l,
                         struct ceil_work *ret_w)
{
	(void)p;
	*ret_w = (struct ceil_work){.items = hops_of(l), .bytes_read = 8.0 * hops_of(l)};
}

/* ---- rings */

static int compare_ticks(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

bool ceil_latency_sides(uint32_t *ticks, size_t count, uint32_t *ret_near, uint32_t *ret_far)
{
	qsort(ticks, count, sizeof(*ticks), compare_ticks);
	/* Single lines may be disturbed: the ends are the fifth and the ninety-fifth in a hundred.
	 */
	const uint32_t fast = ticks[count / 20];
	const uint32_t slow = ticks[count - 1 - count / 20];
	const uint32_t third = (slow - fast) / 3;

	*ret_near = fast + third;
	*ret_far = slow - third;
	return (slow - fast) * 25ull >= fast;
}

#ifdef CEIL_HAVE_CUDA
static enum ceil_status read_ticks(const struct ceil_point *p, struct ceil_device *dev,
                                   struct ceil_launch *l, struct ceil_error *err)
{
	const bool near = ceil_latency_level_of(p->variant)->side == CEIL_LATENCY_NEAR;
	uint32_t *ticks = ceil_alloc(l->n, sizeof(*ticks), err);
	uint32_t near_to = 0;
	uint32_t far_from = 0;
	enum ceil_status st;

	if (!ticks)
		return CEIL_E_NOMEM;
	st = dev->backend->read(dev, ticks, l->buf[CEIL_LATENCY_TICKS], l->n * sizeof(*ticks), err);
	if (st == CEIL_OK && !ceil_latency_sides(ticks, l->n, &near_to, &far_from))
		st = ceil_fail(err, CEIL_E_UNSUPPORTED,
		               "all lines of the L2 are equally far: %u to %u clocks for 8 loads",
		               ticks[0], ticks[l->n - 1]);
	l->k = near ? near_to : (uint64_t)far_from << 32 | UINT32_MAX;
	free(ticks);
	return st;
}

static enum ceil_status build(const struct ceil_point *p, struct ceil_device *dev,
                              struct ceil_launch *l, struct ceil_error *err)
{
	enum ceil_status st;

	if (ceil_latency_level_of(p->variant)->side == CEIL_LATENCY_ANY)
		return ceil_latency_build(l, err);
	st = ceil_latency_probe(l, err);
	if (st == CEIL_OK)
		st = read_ticks(p, dev, l, err);
	return st == CEIL_OK ? ceil_latency_build_side(l, err) : st;
}
#else
static enum ceil_status build(const struct ceil_point *p, struct ceil_device *dev,
                              struct ceil_launch *l, struct ceil_error *err)
{
	(void)dev, (void)l;
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: this build has no CUDA", p->variant->name);
}
#endif

static enum ceil_status latency_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                        struct ceil_launch *l, uint32_t *ret_candidates,
                                        struct ceil_error *err)
{
	struct ceil_launch own = *l;

	own.smem_bytes = 0; /* of the chase alone */
	*ret_candidates = 1;
	return build(p, dev, &own, err);
}

static void latency_release(struct ceil_launch *l)
{
	(void)l; /* the ring lies in the bench's buffers */
}

/* ---- check */

static enum ceil_status wrong(const struct ceil_point *p, const struct ceil_latency_result *r,
                              uint64_t count, const char *what, struct ceil_error *err)
{
	return ceil_fail(err, CEIL_E_WRONG,
	                 "%s: from position %llu to %llu at node %llu of %llu: %s",
	                 p->variant->name, (unsigned long long)r->from, (unsigned long long)r->to,
	                 (unsigned long long)r->index, (unsigned long long)count, what);
}

/* Each hop is one position, and a whole ring's order is known in closed form. */
static enum ceil_status latency_check(const struct ceil_point *p, struct ceil_device *dev,
                                      const struct ceil_launch *l,
                                      const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                      struct ceil_error *err)
{
	const bool whole = ceil_latency_level_of(p->variant)->side == CEIL_LATENCY_ANY;
	const uint64_t hops = (uint64_t)l->iters * CEIL_LATENCY_UNROLL;
	struct ceil_latency_state state = {0};
	struct ceil_latency_result r = {0};
	uint32_t bits = 0;
	enum ceil_status st;

	(void)seed, (void)buf;
	st = dev->backend->read(dev, &r, l->buf[CEIL_LATENCY_RESULT], sizeof(r), err);
	if (st == CEIL_OK)
		st = dev->backend->read(dev, &state, l->buf[CEIL_LATENCY_STATE], sizeof(state),
		                        err);
	if (st != CEIL_OK)
		return st;
	while (UINT64_C(1) << bits < l->n)
		bits++;
	if (state.count < 2 || state.count > l->n || (whole && state.count != l->n))
		return wrong(p, &r, state.count, "the ring has not that many nodes", err);
	if (r.from >= state.count || r.to != (r.from + hops) % state.count)
		return wrong(p, &r, state.count, "that is not where the hops lead", err);
	if (whole && r.index != ceil_shuffle(r.to, bits))
		return wrong(p, &r, state.count, "that position is another node", err);
	return CEIL_OK;
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"bytes", "bytes", "that the ring spans; 0: what suits the level"},
	{"hops", "", "of a launch; 0: what takes milliseconds"},
};

#define SIZE(name_, bytes_)                                                                        \
	{                                                                                          \
		.name = (name_), .backend = "cuda", .axis = {(bytes_), 16384 }                     \
	}
static const struct ceil_case cases[] = {
	{"default", "cuda", true, {0, 0}},
	SIZE("1MiB", 1 * MIB),
	SIZE("4MiB", 4 * MIB),
	SIZE("8MiB", 8 * MIB),
	SIZE("16MiB", 16 * MIB),
	SIZE("32MiB", 32 * MIB),
	SIZE("64MiB", 64 * MIB),
	SIZE("128MiB", 128 * MIB),
	SIZE("512MiB", 512 * MIB),
	SIZE("2048MiB", 2048 * MIB),
};

/* The curve is for one variant; the default of each level, or a user's ring, for the others. */
static bool latency_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	(void)d;
	return p->variant->sweep == (!p->apart && p->cas->axis[CEIL_LATENCY_BYTES] != 0);
}

#define FORM(level, kernel, unit_, text)                                                           \
	.backend = "cuda", .doc = text, .unit = unit_,                                             \
	.types = {CEIL_INT64, CEIL_NODTYPE, CEIL_NODTYPE, CEIL_INT64}, .resource = CEIL_R_LATENCY, \
	.timing = CEIL_TIME_MARKS, CEIL_IF_CUDA(ceil_latency_chase_##kernel),                      \
	.pattern = CEIL_NORMAL, .gated = true
#define CHASE(level, kernel, ceiling_, text)                                                       \
	{.name = #level ".ns",                                                                     \
	 .ceiling = ceiling_,                                                                      \
	 .quick = true,                                                                            \
	 .tolerance = 0.05,                                                                        \
	 FORM(level, kernel, CEIL_NS, text)},                                                      \
	{                                                                                          \
		.name = #level ".cycles", .ceiling = ceiling_ "_cycles", .tolerance = 0.05,        \
		FORM(level, kernel, CEIL_CYCLES, text)                                             \
	}

static const struct ceil_variant variants[] = {
	CHASE(smem, smem, "smem.latency", "a ring in shared memory"),
	CHASE(l1, l1, "l1.latency", "a ring of 16 KiB that the L1 holds"),
	CHASE(l2, l2, "l2.latency", "a ring of 2 MiB, loads that pass by the L1"),
	CHASE(l2_near, l2, "l2.latency_near", "a ring of the lines nearest to one SM"),
	CHASE(l2_far, l2, "l2.latency_far", "a ring of the lines farthest from one SM"),
	CHASE(dram, l2, "dram.latency", "a ring over eight times the L2"),
	{.name = "dram.curve",
         .ceiling = "latency.curve",
         .sweep = true,
         FORM(dram, l2, CEIL_NS, "rings of all sizes, loads that pass by the L1")},
};

const struct ceil_bench ceil_latency_bench = {
	.name = "latency",
	.summary = "how long one load takes: shared memory, L1, L2 near and far, device memory",
	.doc = "One thread follows a ring of pointers in random order; each load waits for the one "
	       "before. The value is the time of a hop, in ns and in clocks of the SM at the clock "
	       "held. The lines of the L2 that are near and far are told apart by timing each.",
	.source = "pointer chase: McVoy and Staelin, lmbench (1996)",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_LATENCY_BUFFERS,
	.concurrent = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = latency_shape,
	.work = latency_work,
	.applies = latency_applies,
	.prepare = latency_prepare,
	.release = latency_release,
	.check = latency_check,
};
