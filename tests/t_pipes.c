/* Tests of the pipes bench: tables, shape, work, and a check against steps done one by one. */
#include "bench/pipes.h"

#include <math.h>
#include <string.h>

#include "harness/base/dtype.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

static const struct ceil_bench *const bench = &ceil_pipes_bench;

static void test_shape(void)
{
	const uint64_t own[] = {0};
	const uint64_t odd[] = {129};
	struct ceil_device_props geforce = bed_h200;
	struct ceil_launch l;
	struct ceil_error err;

	is_int(bed_shape(bench, "fma.fp32.s128.t256.sm4", own, 1, &bed_h200, &l, &err), CEIL_OK,
	       "fp32");
	is_u64(l.blocks, 528, "four blocks an SM");
	is_u64(l.iters, 1026, "131328 steps in turns of 128");
	is_int(bed_shape(bench, "fma.bf16.s96.t256.sm4", own, 1, &bed_h200, &l, &err), CEIL_OK,
	       "bf16");
	is_u64(l.n, 65664, "half as many steps, of twice the values");
	is_int(bed_shape(bench, "fma.fp32.s128.t256.sm4", odd, 1, &bed_h200, &l, &err),
	       CEIL_E_USAGE, "a user's steps are whole turns");
	has_text(err.text, "128", "and the error says of how many");
	geforce.cc_major = 8;
	geforce.cc_minor = 9;
	is_int(bed_shape(bench, "fma.fp64.s128.t256.sm4", own, 1, &geforce, &l, &err), CEIL_OK,
	       "slow fp64");
	is_u64(l.n, 4096, "a 32nd of the steps, in whole turns");
	is_int(bed_shape(bench, "fma.fp32.s128.t256.sm4", own, 1, &geforce, &l, &err), CEIL_OK,
	       "fp32 beside it");
	is_u64(l.n, 131328, "has them all");
	ok(!ceil_pipes_operation_of(&(struct ceil_variant){.name = "fm.fp32"}), "fm is none");
}

static void test_work(void)
{
	static const struct {
		const char *name;
		double flops;
	} want[] = {
		/* 1024 steps, or one more, x 8 values (16 of 16 bits) x 256 threads x 8 blocks x
	         * lanes x operations */
		{"fma.fp32.s128.t256.sm4", 2.0 * 1025 * 16384},
		{"fma.fp64.s64.t256.sm4", 2.0 * 1025 * 16384},
		{"fma.fp16.s64.t256.sm4", 4.0 * 1025 * 32768},
		{"mad.int32.s128.t256.sm4", 2.0 * 1024 * 16384},
		{"add.int32.s128.t256.sm4", 1.0 * 1024 * 16384},
		{"ex2.fp32.s64.t256.sm4", 1.0 * 1025 * 16384},
	};
	const uint64_t axis[] = {1024};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct ceil_case cas = {.name = "test", .axis = {1024}};
		const struct ceil_point p = {
			.bench = bench, .variant = bed_variant(bench, want[i].name), .cas = &cas};
		struct ceil_launch l;
		struct ceil_work w;
		struct ceil_error err;

		is_int(bed_shape(bench, want[i].name, axis, 1, &bed_small, &l, &err), CEIL_OK,
		       want[i].name);
		bench->work(&p, &l, &w);
		is_close(w.flops, want[i].flops, 0.0, "operations");
	}
}

/* ---- what the kernel does to two values of one lane, step by step */

static void emulate_fma(const struct bench_bed *bed, double a, double *x)
{
	(void)a; /* of a whole number the factors are -1 */
	for (uint64_t i = 0; i < bed->l.n + 1; i++) {
		x[0] = -x[0] - 1.0;
		x[1] = -x[1] - 1.0;
	}
}

static void emulate_integers(const struct bench_bed *bed, double a, double *x)
{
	const bool add = strncmp(bed->p.variant->name, "add", 3) == 0;
	const uint32_t factor = add ? 1u : 2u * (uint32_t)(int32_t)a + 1u;
	uint32_t y = (uint32_t)(int32_t)x[0];
	uint32_t z = (uint32_t)(int32_t)x[1];

	for (uint64_t i = 0; i < bed->l.n; i++) {
		y += factor * z;
		z += factor * y;
	}
	x[0] = (double)(int32_t)y;
	x[1] = (double)(int32_t)z;
}

static void emulate_ex2(const struct bench_bed *bed, double a, double *x)
{
	(void)a;
	x[0] = fabs(x[0]);
	x[1] = fabs(x[1]);
	for (uint64_t i = 0; i < bed->l.n + 1; i++) {
		x[0] = i % 2 ? log2(x[0]) : exp2(x[0]);
		x[1] = i % 2 ? log2(x[1]) : exp2(x[1]);
	}
}

typedef void (*emulate_fn)(const struct bench_bed *bed, double a, double *x);

static void emulate(struct bench_bed *bed, emulate_fn one)
{
	const uint64_t lanes = ceil_dtype_info(bed->p.variant->types.a)->bits == 16 ? 2 : 1;
	const uint64_t count = bed->l.threads * lanes;
	const uint64_t values = lanes == 2 ? 16 : 8;

	for (uint64_t k = 0; k < values / 2 * count; k++) {
		const uint64_t at = k / count * 2 * count + k % count; /* in the first of a pair */
		double x[2] = {bed_value(bed, CEIL_PIPES_IN, at),
		               bed_value(bed, CEIL_PIPES_IN, at + count)};

		one(bed, bed_value(bed, CEIL_PIPES_CONSTANTS, at % count), x);
		for (uint64_t b = 0; b < bed->l.blocks; b++) {
			bed_store(bed, CEIL_PIPES_OUT, b * values * count + at, x[0]);
			bed_store(bed, CEIL_PIPES_OUT, b * values * count + at + count, x[1]);
		}
	}
}

static void test_check(void)
{
	static const struct {
		const char *name;
		emulate_fn one;
	} cases[] = {
		{"fma.fp32.s128.t256.sm4", emulate_fma},
		{"fma.fp64.s64.t256.sm4", emulate_fma},
		{"fma.fp16.s64.t256.sm4", emulate_fma},
		{"fma.bf16.s64.t256.sm4", emulate_fma},
		{"mad.int32.s128.t256.sm4", emulate_integers},
		{"add.int32.s128.t256.sm4", emulate_integers},
		{"ex2.fp32.s64.t256.sm4", emulate_ex2},
	};
	const uint64_t axis[] = {128};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench_bed bed;

		bed_open(&bed, bench, cases[i].name, axis, 1, &bed_small);
		emulate(&bed, cases[i].one);
		bed_expect_right(&bed, CEIL_PIPES_OUT);
		bed_close(&bed);
	}
}

int main(void)
{
	static const char *const prefixes[] = {"fma.", "int.", "sfu.", NULL};

	bed_lint(bench, prefixes);
	test_shape();
	test_work();
	test_check();
	return done_testing();
}
