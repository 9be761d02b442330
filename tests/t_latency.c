/* Tests of the latency bench: tables, shape, sides of the L2, and a check of where hops lead. */
#include "bench/latency.h"

#include <string.h>

#include "harness/base/value.h"
#include "kernels/latency.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)

static const struct ceil_bench *const bench = &ceil_latency_bench;

static void test_shape(void)
{
	const uint64_t own[] = {0, 0};
	const uint64_t odd[] = {0, 100};
	const uint64_t three[] = {3 * MIB, 0};
	const uint64_t one[] = {128, 0};
	const uint64_t huge[] = {UINT64_C(1) << 50, 0};
	struct ceil_device_props unknown = bed_h200;
	struct ceil_launch l;
	struct ceil_error err;

	is_int(bed_shape(bench, "dram.ns", own, 2, &bed_h200, &l, &err), CEIL_OK, "memory");
	is_u64(l.n * l.m, 256 * MIB, "the power of two below eight times 60 MiB");
	is_u64(l.blocks, 1, "one block");
	is_int(bed_shape(bench, "l2_far.ns", own, 2, &bed_h200, &l, &err), CEIL_OK, "far lines");
	is_u64(l.blocks, 132, "a block on each SM, of which one goes");
	is_int(bed_shape(bench, "smem.cycles", own, 2, &bed_h200, &l, &err), CEIL_OK, "shared");
	is_u64(l.smem_bytes, 256, "holds the ring");
	/* Copying a node takes a load and a division, some 400 clocks; a hop takes 23. */
	ok(400.0 * (double)l.n < 0.005 * 23.0 * CEIL_LATENCY_UNROLL * l.iters,
	   "and copying it there is less than 0.5 %% of a launch");
	is_int(bed_shape(bench, "dram.curve", three, 2, &bed_h200, &l, &err), CEIL_OK, "3 MiB");
	is_u64(l.n * l.m, 2 * MIB, "become 2");
	is_int(bed_shape(bench, "l2.ns", odd, 2, &bed_h200, &l, &err), CEIL_E_USAGE,
	       "hops are whole turns");
	is_int(bed_shape(bench, "l2.ns", one, 2, &bed_h200, &l, &err), CEIL_E_USAGE,
	       "one node is no ring");
	is_int(bed_shape(bench, "smem.ns", three, 2, &bed_h200, &l, &err), CEIL_E_USAGE,
	       "3 MiB of nodes do not fit shared memory");
	is_int(bed_shape(bench, "dram.ns", huge, 2, &bed_h200, &l, &err), CEIL_E_NOMEM,
	       "more than there is");
	unknown.l2_bytes = 0;
	is_int(bed_shape(bench, "dram.ns", own, 2, &unknown, &l, &err), CEIL_E_UNSUPPORTED,
	       "eight times an unknown cache");
	ok(!ceil_latency_level_of(&(struct ceil_variant){.name = "l2_fa.ns"}), "l2_fa is none");
}

static void test_shuffle(void)
{
	for (uint32_t bits = 1; bits <= 12; bits++) {
		static bool seen[1 << 12];
		uint64_t hits = 0;

		memset(seen, 0, sizeof(seen));
		for (uint64_t i = 0; i < UINT64_C(1) << bits; i++) {
			const uint64_t x = ceil_shuffle(i, bits);

			hits += x < UINT64_C(1) << bits && !seen[x];
			seen[x] = true;
		}
		is_u64(hits, UINT64_C(1) << bits, "a shuffle is one to one");
	}
}

static void test_sides(void)
{
	uint32_t even[100];
	uint32_t two[100];
	uint32_t near = 0;
	uint32_t far = 0;

	for (uint32_t i = 0; i < 100; i++) {
		even[i] = 2200 + i % 5;
		two[i] = i % 2 ? 2328 + i % 7 : 2120 + i % 7;
	}
	ok(!ceil_latency_sides(even, 100, &near, &far), "equal lines have no sides");
	ok(ceil_latency_sides(two, 100, &near, &far), "lines a tenth apart have two");
	ok(near >= 2126 && near < 2328, "near ends before the slow ones");
	ok(far > 2126 && far <= 2328, "far begins after the fast ones");
	is_u64(two[0], 2120, "ticks are sorted");
}

/* What a chase leaves, as if it had begun at position from; a ring of count nodes. */
static void leave(struct bench_bed *bed, uint64_t from, uint64_t hops, uint64_t count)
{
	struct ceil_latency_state *state = bed->l.buf[CEIL_LATENCY_STATE];
	struct ceil_latency_result *r = bed->l.buf[CEIL_LATENCY_RESULT];
	uint32_t bits = 0;

	while (UINT64_C(1) << bits < bed->l.n)
		bits++;
	*state = (struct ceil_latency_state){.count = count};
	*r = (struct ceil_latency_result){from, (from + hops) % count, 0};
	r->index = ceil_shuffle(r->to, bits);
}

static enum ceil_status judge(const struct bench_bed *bed)
{
	struct ceil_error err;

	return bed_check(bed, &err);
}

static void test_check(void)
{
	const uint64_t axis[] = {128 * 1024, 160};
	struct bench_bed bed;
	struct ceil_work w;

	bed_open(&bed, bench, "l2.ns", axis, 2, &bed_small);
	bench->work(&bed.p, &bed.l, &w);
	is_close(w.items, 160, 0.0, "a hop is an item");
	leave(&bed, 1000, 160, 1024);
	is_int(judge(&bed), CEIL_OK, "around the end of the ring");
	leave(&bed, 1000, 159, 1024);
	is_int(judge(&bed), CEIL_E_WRONG, "a hop too few");
	leave(&bed, 1000, 160, 512);
	is_int(judge(&bed), CEIL_E_WRONG, "a ring that is too short");
	leave(&bed, 0, 160, 1024);
	((struct ceil_latency_result *)bed.l.buf[CEIL_LATENCY_RESULT])->index ^= 1;
	is_int(judge(&bed), CEIL_E_WRONG, "a position at the wrong node");
	bed_close(&bed);

	bed_open(&bed, bench, "l2_near.ns", axis, 2, &bed_small);
	leave(&bed, 3, 160, 77);
	is_int(judge(&bed), CEIL_OK, "a side has any number of nodes");
	leave(&bed, 3, 160, 1);
	is_int(judge(&bed), CEIL_E_WRONG, "but two at least");
	leave(&bed, 80, 160, 77);
	is_int(judge(&bed), CEIL_E_WRONG, "and begins at one of them");
	bed_close(&bed);
}

int main(void)
{
	static const char *const prefixes[] = {"smem.", "l1.", "l2.", "dram.", "latency.", NULL};

	bed_lint(bench, prefixes);
	test_shape();
	test_shuffle();
	test_sides();
	test_check();
	return done_testing();
}
