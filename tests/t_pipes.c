/* Tests of the pipes bench: tables, shape, work, and a check against steps done one by one. */
#include "bench/pipes.h"

#include <math.h>

#include "harness/base/dtype.h"
#include "kernels/pipes.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

static const struct ceil_bench *const bench = &ceil_pipes_bench;

static void test_shape(void)
{
	const uint64_t own[] = {0};
	const uint64_t odd[] = {129};
	struct ceil_launch l;
	struct ceil_error err;

	is_int(bed_shape(bench, "fma.fp32.s128.t256.sm4", own, 1, &bed_h200, &l, &err), CEIL_OK,
	       "fp32");
	is_u64(l.blocks, 528, "four blocks an SM");
	is_u64(l.iters, 512, "65536 steps in turns of 128");
	is_int(bed_shape(bench, "fma.fp32.s128.t256.sm4", odd, 1, &bed_h200, &l, &err),
	       CEIL_E_USAGE, "steps are whole turns");
	has_text(err.text, "128", "and the error says of how many");
	ok(!ceil_pipes_operation_of(&(struct ceil_variant){.name = "fm.fp32"}), "fm is none");
}

static void test_work(void)
{
	static const struct {
		const char *name;
		double flops;
	} want[] = {
		/* 1024 steps x 8 values x 256 threads x 8 blocks = 2^24, x lanes x operations */
		{"fma.fp32.s128.t256.sm4", 2.0 * 0x1p24},
		{"fma.fp64.s64.t256.sm4", 2.0 * 0x1p24},
		{"fma.fp16.s128.t256.sm4", 4.0 * 0x1p24},
		{"mad.int32.s128.t256.sm4", 2.0 * 0x1p24},
		{"add.int32.s128.t256.sm4", 1.0 * 0x1p24},
		{"ex2.fp32.s64.t256.sm4", 1.0 * 0x1p24},
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

/* What the kernel does to one pair of one lane, by its definition. */
static void emulate_pair(const struct bench_bed *bed, double a, double *y, double *z)
{
	const enum ceil_dtype t = bed->p.variant->types.a;
	const bool add = ceil_pipes_operation_of(bed->p.variant)->a == 1 && t == CEIL_INT32;

	for (uint64_t i = 0; i < bed->l.n; i++) {
		if (t == CEIL_INT32) {
			const uint32_t c = add ? 1u : 2u * (uint32_t)(int32_t)a + 1u;
			const uint32_t y2 = (uint32_t)(int32_t)*y + c * (uint32_t)(int32_t)*z;

			*y = (double)(int32_t)y2;
			*z = (double)(int32_t)((uint32_t)(int32_t)*z + c * y2);
			continue;
		}
		*y += *z;
		*z -= *y;
	}
}

static void emulate(struct bench_bed *bed)
{
	const uint64_t lanes = ceil_dtype_info(bed->p.variant->types.a)->bits == 16 ? 2 : 1;
	const uint64_t count = bed->l.threads * lanes;

	for (uint64_t pair = 0; pair < CEIL_PIPES_VALUES / 2; pair++) {
		for (uint64_t i = 0; i < count; i++) {
			double y = bed_value(bed, CEIL_PIPES_IN, 2 * pair * count + i);
			double z = bed_value(bed, CEIL_PIPES_IN, (2 * pair + 1) * count + i);

			emulate_pair(bed, bed_value(bed, CEIL_PIPES_A, i), &y, &z);
			for (uint64_t b = 0; b < bed->l.blocks; b++) {
				const uint64_t at = (b * CEIL_PIPES_VALUES + 2 * pair) * count + i;

				bed_store(bed, CEIL_PIPES_OUT, at, y);
				bed_store(bed, CEIL_PIPES_OUT, at + count, z);
			}
		}
	}
}

static void test_check(void)
{
	static const char *const names[] = {"fma.fp32.s128.t256.sm4",  "fma.fp64.s64.t256.sm4",
	                                    "fma.fp16.s128.t256.sm4",  "fma.bf16.s128.t256.sm4",
	                                    "mad.int32.s128.t256.sm4", "add.int32.s128.t256.sm4"};
	const uint64_t axis[] = {128 * 5};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bench_bed bed;

		bed_open(&bed, bench, names[i], axis, 1, &bed_small);
		emulate(&bed);
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
