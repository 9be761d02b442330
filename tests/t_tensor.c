/* Tests of the tensor bench: tables, shape, work, and a check of whole tiles. */
#include "bench/tensor.h"

#include "kernels/tensor.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

#include <string.h>

static const struct ceil_bench *const bench = &ceil_tensor_bench;

static void test_shape_and_work(void)
{
	static const struct {
		const char *name;
		uint64_t m, n, k, blocks;
		double flops;
	} want[] = {
		/* 2 m n k x (8 x 3 turns + 1) x tiles: a block's, or one for each of 8 warps */
		{"wgmma.bf16", 128, 256, 32, 2, 2.0 * 128 * 256 * 32 * 25 * 2},
		{"wgmma.tf32", 128, 256, 16, 2, 2.0 * 128 * 256 * 16 * 25 * 2},
		{"wgmma.e4m3", 128, 256, 64, 2, 2.0 * 128 * 256 * 64 * 25 * 2},
		{"mma.fp16_acc16", 32, 32, 32, 4, 2.0 * 32 * 32 * 32 * 25 * 32},
		{"mma.int8", 32, 32, 64, 4, 2.0 * 32 * 32 * 64 * 25 * 32},
		{"mma.fp64", 32, 16, 8, 4, 2.0 * 32 * 16 * 8 * 25 * 32},
	};
	const uint64_t axis[] = {3};
	const uint64_t none[] = {0};
	struct ceil_launch l;
	struct ceil_error err;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct ceil_case cas = {.name = "test", .axis = {3}};
		const struct ceil_point p = {
			.bench = bench, .variant = bed_variant(bench, want[i].name), .cas = &cas};
		struct ceil_work w;

		is_int(bed_shape(bench, want[i].name, axis, 1, &bed_small, &l, &err), CEIL_OK,
		       want[i].name);
		is_u64(l.m, want[i].m, "m");
		is_u64(l.n, want[i].n, "n");
		is_u64(l.k, want[i].k, "k");
		is_u64(l.blocks, want[i].blocks, "blocks");
		bench->work(&p, &l, &w);
		is_close(w.flops, want[i].flops, 0.0, "operations");
	}
	is_int(bed_shape(bench, "mma.bf16", none, 1, &bed_small, &l, &err), CEIL_E_USAGE,
	       "no turn at all");
}

/* Variants of one ceiling take the same regimes, or the first would decide for the others. */
static void test_regimes(void)
{
	for (size_t i = 0; i < bench->variant_count; i++) {
		const struct ceil_variant *v = &bench->variants[i];

		for (size_t k = 0; k < i; k++) {
			const struct ceil_variant *w = &bench->variants[k];

			if (strcmp(v->ceiling, w->ceiling) != 0)
				continue;
			ok(v->burst_finalists == w->burst_finalists &&
			           v->sustained_finalists == w->sustained_finalists &&
			           v->quick == w->quick,
			   "%s: the regimes of %s", v->name, w->name);
		}
	}
}

static void emulate(struct bench_bed *bed)
{
	const struct ceil_launch *l = &bed->l;
	const bool wgmma = strncmp(bed->p.variant->name, "wgmma", 5) == 0;
	const uint64_t tiles = wgmma ? l->blocks : (uint64_t)l->blocks * (l->threads / 32);

	for (uint64_t i = 0; i < l->m * l->n; i++) {
		double sum = 0.0;

		for (uint64_t k = 0; k < l->k; k++)
			sum += bed_value(bed, CEIL_TENSOR_A, i / l->n * l->k + k) *
			       bed_value(bed, CEIL_TENSOR_B, i % l->n * l->k + k);
		for (uint64_t t = 0; t < tiles; t++)
			bed_store(bed, CEIL_TENSOR_C, t * l->m * l->n + i, sum);
	}
}

static void test_check(void)
{
	static const char *const names[] = {"wgmma.bf16",     "mma.bf16", "mma.tf32", "mma.e4m3",
	                                    "mma.fp16_acc16", "mma.int8", "mma.fp64"};
	const uint64_t axis[] = {3};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bench_bed bed;

		bed_open(&bed, bench, names[i], axis, 1, &bed_small);
		emulate(&bed);
		bed_expect_right(&bed, CEIL_TENSOR_C);
		bed_close(&bed);
	}
}

/* The compiler makes products of fp16 of it where wgmma or tcgen05 would be meant. */
static void test_e4m3_without_instruction(void)
{
	static const struct {
		int cc;
		bool mma;
	} parts[] = {{89, true}, {90, false}, {100, false}, {103, false}, {120, true}};
	const struct ceil_case cas = {.name = "test", .axis = {3}};
	struct ceil_point p = {.bench = bench, .cas = &cas};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct ceil_device_props d = bed_h200;

		d.cc_major = parts[i].cc / 10;
		d.cc_minor = parts[i].cc % 10;
		p.variant = bed_variant(bench, "mma.e4m3");
		is_int(bench->applies(&p, &d), parts[i].mma, "mma.sync has e4m3");
		p.variant = bed_variant(bench, "mma.int8");
		ok(bench->applies(&p, &d), "and int8");
	}
	p.variant = bed_variant(bench, "wgmma.e4m3");
	ok(bench->applies(&p, &bed_h200), "wgmma has e4m3");
}

/* A launch of fp64 takes milliseconds on every part. */
static void test_slow_fp64(void)
{
	static const struct {
		int cc;
		bool slow;
	} parts[] = {{80, false}, {86, true}, {89, true}, {90, false}, {103, true}};
	const struct ceil_case *whole = bed_case(bench, "4096"), *part = bed_case(bench, "64");

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct ceil_device_props d = bed_h200;
		struct ceil_point p = {.bench = bench, .variant = bed_variant(bench, "mma.fp64")};

		d.cc_major = parts[i].cc / 10;
		d.cc_minor = parts[i].cc % 10;
		p.cas = whole;
		is_int(bench->applies(&p, &d), !parts[i].slow, "all turns");
		p.cas = part;
		is_int(bench->applies(&p, &d), parts[i].slow, "a few");
		p.variant = bed_variant(bench, "mma.int8");
		ok(!bench->applies(&p, &d), "and no few of another type");
	}
}

int main(void)
{
	static const char *const prefixes[] = {"tensor.", NULL};

	bed_lint(bench, prefixes);
	test_regimes();
	test_e4m3_without_instruction();
	test_slow_fp64();
	test_shape_and_work();
	test_check();
	return done_testing();
}
