/* Tests of cuBLASLt's side on a stand-in library: its plans, its words, each call failing. */
#include "harness/device/cublaslt.h"

#include "bench/gemm.h"
#include "harness/base/alloc.h"
#include "tests/fakes.h"
#include "tests/reference.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)

static char fake[FAKE_PATH_MAX], fake_cublas[FAKE_PATH_MAX];

static const struct ceil_lt_desc bf16 = {
	.types = {CEIL_BF16, CEIL_BF16, CEIL_FP32, CEIL_BF16},
	.trans_a = true,
	.m = 256,
	.n = 128,
	.k = 64,
	.workspace_bytes = 64ull << 20,
};

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		exit(1);
}

/* Objects of the stand-in that are open. */
static int open_objects(void)
{
	void *lib = dlopen(fake, RTLD_NOW | RTLD_NOLOAD);
	const int *count = lib ? dlsym(lib, "fake_lt_open") : NULL;
	const int n = count ? *count : -1;

	if (lib)
		(void)dlclose(lib);
	return n;
}

static void test_plan(void)
{
	struct ceil_lt_plan *plan = NULL;
	uint32_t count = 0;
	char text[192];

	is_int(ceil_lt_plan_open(&bf16, &plan, &count, NULL), CEIL_OK, "a plan is made");
	is_int(count, 4, "three answers at 32 MiB, one more at 64, equal ones merged");
	ceil_lt_plan_describe(plan, 0, text, sizeof(text));
	is_text(text,
	        "id=66 tile=23:128x256 stages=36:128xauto cluster=3:2x1 split_k=1 reduction=0 "
	        "swizzle=1 custom=0 inner=0 workspace=0 impl=0x20202",
	        "the first in words");
	ceil_lt_plan_describe(plan, 3, text, sizeof(text));
	has_text(text, "id=69 ", "the one that needs 48 MiB comes last");
	has_text(text, " workspace=50331648 ", "and says what it needs");
	ceil_lt_plan_close(plan);
	is_int(open_objects(), 0, "nothing stays open");
	ceil_lt_plan_close(NULL);
}

static void test_workspace(void)
{
	struct ceil_lt_desc d = bf16;
	struct ceil_lt_plan *plan = NULL;
	uint32_t count = 0;

	d.workspace_bytes = 0;
	is_int(ceil_lt_plan_open(&d, &plan, &count, NULL), CEIL_OK, "a plan without workspace");
	is_int(count, 2, "has the algorithms that need none");
	ceil_lt_plan_close(plan);
	set("FAKE_LT_COUNT", "200");
	is_int(ceil_lt_plan_open(&bf16, &plan, &count, NULL), CEIL_OK, "a plan of many answers");
	is_int(count, 96, "64 at 32 MiB, the same at 64, 32 more without workspace");
	ceil_lt_plan_close(plan);
	set("FAKE_LT_COUNT", NULL);
}

/* What the library answers, and what becomes of it. */
struct world {
	const char *name, *value;
	enum ceil_status status;
	const char *words;
};

static const struct world worlds[] = {
	{"FAKE_LT_COUNT", "0", CEIL_E_UNSUPPORTED,
         "cuBLASLt has no algorithm for bf16 x bf16 -> bf16 256x128x64 TN on this GPU"},
	{"FAKE_LT_STATE", "15", CEIL_E_UNSUPPORTED, "cuBLASLt has no algorithm for bf16"},
	{"FAKE_LT_IMPL", "0x20102", CEIL_E_UNSUPPORTED,
         "computes bf16 in another type (implementation flags 0x20102)"},
	{"FAKE_LT_IMPL", "0", CEIL_OK, ""},
	{"FAKE_LT_FAIL", "cublasLtMatmulAlgoCapGetAttribute=15", CEIL_OK, ""},
	{"FAKE_LT_FAIL", "cublasLtMatmulAlgoGetHeuristic=15", CEIL_E_UNSUPPORTED,
         "cuBLASLt has no algorithm for bf16"},
	{"FAKE_LT_FAIL", "cublasLtMatmulAlgoGetHeuristic=14", CEIL_E_DEVICE,
         "cublasLtMatmulAlgoGetHeuristic for bf16 256x128x64: CUBLAS_STATUS_OTHER"},
	{"FAKE_LT_FAIL", "cublasLtCreate=1", CEIL_E_DEVICE, "cublasLtCreate for bf16"},
	{"FAKE_LT_FAIL", "cublasLtCreate=3", CEIL_E_NOMEM, "cublasLtCreate for bf16"},
	{"FAKE_LT_FAIL", "cublasLtMatmulDescCreate=3", CEIL_E_NOMEM, "cublasLtMatmulDescCreate"},
	{"FAKE_LT_FAIL", "cublasLtMatmulDescSetAttribute=7", CEIL_E_UNSUPPORTED,
         "cublasLtMatmulDescSetAttribute for bf16 256x128x64: CUBLAS_STATUS_INVALID_VALUE"},
	{"FAKE_LT_FAIL", "cublasLtMatrixLayoutCreate=3", CEIL_E_NOMEM,
         "cublasLtMatrixLayoutCreate"},
	{"FAKE_LT_FAIL", "cublasLtMatmulPreferenceCreate=3", CEIL_E_NOMEM,
         "cublasLtMatmulPreferenceCreate"},
	{"FAKE_LT_FAIL", "cublasLtMatmulPreferenceSetAttribute=14", CEIL_E_DEVICE,
         "cublasLtMatmulPreferenceSetAttribute"},
	{"FAKE_LT_FAIL", "cublasLtDestroy=14", CEIL_OK, ""},
	{"GPUCEIL_LIB_CUBLASLT", "/nowhere/libcublasLt.so", CEIL_E_UNSUPPORTED,
         "/nowhere/libcublasLt.so"},
};

static void test_worlds(void)
{
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		const struct world *w = &worlds[i];
		struct ceil_error err = {CEIL_OK, ""};
		struct ceil_lt_plan *plan = NULL;
		uint32_t count = 99;

		set(w->name, w->value);
		is_int(ceil_lt_plan_open(&bf16, &plan, &count, &err), w->status, w->value);
		has_text(err.text, w->words, "in these words");
		if (w->status != CEIL_OK)
			ok(!plan && count == 99, "outputs are untouched");
		ceil_lt_plan_close(plan);
		set(w->name, NULL);
		set("GPUCEIL_LIB_CUBLASLT", fake);
		is_int(open_objects(), 0, "nothing stays open");
	}
}

/* An algorithm by its words, as a row of records.csv has them. */
static void test_named(void)
{
	struct ceil_lt_desc d = bf16;
	struct ceil_lt_plan *plan = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	uint32_t count = 0;
	char text[192] = "";

	d.algorithm = "id=67 tile=24:256x128 stages=35:64xauto cluster=3:2x1 workspace=0 impl=0x1";
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_OK, "an algorithm by its words");
	is_int(count, 1, "is the only one");
	ceil_lt_plan_describe(plan, 0, text, sizeof(text));
	is_text(text,
	        "id=67 tile=24:256x128 stages=35:64xauto cluster=3:2x1 split_k=1 reduction=0 "
	        "swizzle=1 custom=0 inner=0 workspace=16777216 impl=0x20202",
	        "set up again, with the workspace that the library wants");
	ceil_lt_plan_close(plan);
	plan = NULL;
	d.algorithm = "tile=24";
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_USAGE, "words without an id");
	is_text(err.text, "algorithm 'tile=24': no id=N in it", "and it says so");
	d.algorithm = "id=5";
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "an unknown id");
	has_text(err.text, "cublasLtMatmulAlgoInit for bf16", "in the library's words");
	d.algorithm = "id=67 tile=1";
	set("FAKE_LT_FAIL", "cublasLtMatmulAlgoConfigSetAttribute=7");
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "a bad field");
	set("FAKE_LT_FAIL", "cublasLtMatmulAlgoCheck=15");
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "a bad algorithm");
	has_text(err.text, "cublasLtMatmulAlgoCheck", "by the library's check");
	set("FAKE_LT_FAIL", NULL);
	set("FAKE_LT_IMPL", "0x20102");
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED,
	       "one that computes in another type");
	set("FAKE_LT_IMPL", NULL);
	is_int(open_objects(), 0, "nothing stays open");
}

static void test_missing_symbol(void)
{
	const char *const names[] = {"cublasLtMatmul", NULL};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_lt_plan *plan = NULL;
	char copy[FAKE_PATH_MAX];
	uint32_t count = 0;

	if (!fake_without(fake, names, copy))
		exit(1);
	set("GPUCEIL_LIB_CUBLASLT", copy);
	is_int(ceil_lt_plan_open(&bf16, &plan, &count, &err), CEIL_E_UNSUPPORTED,
	       "a library that lacks a symbol");
	has_text(err.text, "lacks the symbol cublasLtMatmul", "is told by its name");
	set("GPUCEIL_LIB_CUBLASLT", fake);
	(void)unlink(copy);
}

static void test_no_memory(void)
{
	struct ceil_lt_plan *plan = NULL;
	uint32_t count = 0;

	ceil_alloc_fail_at(1);
	is_int(ceil_lt_plan_open(&bf16, &plan, &count, NULL), CEIL_E_NOMEM, "no memory for a plan");
	ceil_alloc_fail_at(0);
}

static void test_types(void)
{
	struct ceil_lt_desc d = bf16;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_lt_plan *plan = NULL;
	uint32_t count = 0;

	d.types = (struct ceil_types){CEIL_E2M1, CEIL_E2M1, CEIL_FP32, CEIL_BF16};
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "no e2m1");
	is_text(err.text, "cuBLASLt has no products of e2m1 in fp32", "and it says so");
	d.types = (struct ceil_types){CEIL_BF16, CEIL_INT64, CEIL_FP32, CEIL_BF16};
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "no int64");
	is_text(err.text, "cuBLASLt has no matrices of int64", "and it says so");
	/* fp32 by TF32 tensor cores, and by three products of bf16. */
	d.types = (struct ceil_types){CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32};
	set("FAKE_LT_IMPL", "0x40202");
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "fp32 by TF32");
	set("FAKE_LT_IMPL", "0x20202");
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "fp32 by bf16");
	has_text(err.text, "each of cuBLASLt's 9 answers computes fp32 in another type",
	         "emulation is no ceiling of fp32");
	d.types = (struct ceil_types){CEIL_FP64, CEIL_FP64, CEIL_FP64, CEIL_FP64};
	set("FAKE_LT_IMPL", "0x200804");
	is_int(ceil_lt_plan_open(&d, &plan, &count, &err), CEIL_E_UNSUPPORTED, "fp64 by int8");
	set("FAKE_LT_IMPL", NULL);
}

static void test_info(void)
{
	struct ceil_lt_info info;
	struct ceil_error err = {CEIL_OK, ""};

	is_int(ceil_lt_info_read(&info, NULL), CEIL_OK, "the library is there");
	is_text(info.version, "13.1.0", "its version");
	has_text(info.path, "cublaslt.so", "its path");
	set("GPUCEIL_LIB_CUBLASLT", "/nowhere/libcublasLt.so");
	is_int(ceil_lt_info_read(&info, &err), CEIL_E_UNSUPPORTED, "the library is not there");
	set("GPUCEIL_LIB_CUBLASLT", fake);
}

static void test_environment(void)
{
	char text[200];

	ceil_lt_clean_environment(text, sizeof(text));
	is_text(text, "", "nothing to unset");
	set("CUBLAS_EMULATE_DOUBLE_PRECISION", "1");
	set("NVIDIA_TF32_OVERRIDE", "0");
	ceil_lt_clean_environment(text, sizeof(text));
	is_text(text, "CUBLAS_EMULATE_DOUBLE_PRECISION=1 NVIDIA_TF32_OVERRIDE=0", "what was unset");
	ok(!getenv("CUBLAS_EMULATE_DOUBLE_PRECISION") && !getenv("NVIDIA_TF32_OVERRIDE"),
	   "and it is unset");
}

/* ---- the whole bench on the stand-in: shape, fill, prepare, launch, check, release */

struct whole {
	struct ceil_case cas;
	struct ceil_point p;
	struct ceil_device dev;
	struct ceil_launch l;
	struct ceil_buffer b[CEIL_MAX_BUFS];
	uint32_t candidates;
};

static enum ceil_status open_whole(struct whole *w, const struct ceil_variant *v, uint64_t layout,
                                   struct ceil_error *err)
{
	const struct ceil_bench *b = &ceil_gemm_bench;
	enum ceil_status st;

	*w = (struct whole){.cas = {"48x32x64", NULL, false, {48, 32, 64, layout, 1}}};
	if (strstr(v->name, "ed")) /* batched, grouped */
		w->cas.axis[CEIL_GEMM_BATCH] = 3;
	w->p = (struct ceil_point){.bench = b, .variant = v, .cas = &w->cas};
	w->dev = reference_open(&reference_backend, GIB);
	st = b->shape(&w->p, &w->dev.props, &w->l, w->b, err);
	for (int i = 0; i < 5 && st == CEIL_OK; i++) {
		if (i == CEIL_GEMM_WORKSPACE || w->b[i].bytes == 0)
			continue;
		st = w->dev.backend->alloc(&w->dev, &w->b[i], &w->l.buf[i], err);
		if (st == CEIL_OK && i <= CEIL_GEMM_C)
			st = w->dev.backend->fill(&w->dev, &w->b[i], w->l.buf[i], i,
			                          i < 2 ? CEIL_TERNARY : CEIL_POISON, 7, err);
	}
	if (st == CEIL_OK)
		st = b->prepare(&w->p, &w->dev, &w->l, &w->candidates, err);
	return st;
}

static void close_whole(struct whole *w)
{
	ceil_gemm_bench.release(&w->l);
	for (int i = 0; i < 5; i++)
		w->dev.backend->free(&w->dev, &w->b[i], w->l.buf[i]);
}

static void test_whole(const struct ceil_variant *v, uint64_t layout)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct whole w;
	char text[192] = "";

	if (!ok(open_whole(&w, v, layout, &err) == CEIL_OK, "%s %s is prepared", v->name,
	        ceil_gemm_layout_name((enum ceil_gemm_layout)layout)))
		printf("# %s\n", err.text);
	w.l.candidate = w.candidates - 1;
	is_int(v->launch(&w.l, &err), CEIL_OK, "launched");
	is_int(ceil_gemm_bench.check(&w.p, &w.dev, &w.l, w.b, 7, &err), CEIL_OK, "right");
	ceil_gemm_bench.describe(&w.l, text, sizeof(text));
	has_text(text, strstr(v->name, "grouped") ? "GroupedBatched" : "workspace=", "described");
	close_whole(&w);
}

static void test_bench(void)
{
	for (size_t i = 0; i < ceil_gemm_bench.variant_count; i++) {
		const struct ceil_variant *v = &ceil_gemm_bench.variants[i];
		const bool wide = v->types.a < CEIL_E4M3 && !strstr(v->name, "grouped");

		for (uint64_t layout = 0; layout < (wide ? CEIL_GEMM_LAYOUT_COUNT : 1u); layout++) {
			if (strcmp(v->backend, "cuda") == 0 && v->launch)
				test_whole(v, layout);
		}
	}
	is_int(open_objects(), 0, "nothing stays open");
}

static void test_launch_failures(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct whole w;

	if (open_whole(&w, &ceil_gemm_bench.variants[0], CEIL_GEMM_TN, &err) != CEIL_OK)
		exit(1);
	set("FAKE_LT_WRONG", "100");
	is_int(w.p.variant->launch(&w.l, &err), CEIL_OK, "a library that errs");
	is_int(ceil_gemm_bench.check(&w.p, &w.dev, &w.l, w.b, 7, &err), CEIL_E_WRONG, "is caught");
	has_text(err.text, "row 4 of C", "element 100 of 48 rows is in row 4");
	set("FAKE_LT_WRONG", NULL);
	set("FAKE_LT_FAIL", "cublasLtMatmul=15");
	is_int(w.p.variant->launch(&w.l, &err), CEIL_E_UNSUPPORTED, "an algorithm that cannot run");
	set("FAKE_LT_FAIL", "cublasLtMatmul=13");
	is_int(w.p.variant->launch(&w.l, &err), CEIL_E_DEVICE, "a device that fails");
	has_text(err.text, "cublasLtMatmul for bf16 48x32x64", "in these words");
	set("FAKE_LT_FAIL", NULL);
	close_whole(&w);
	set("FAKE_LT_COUNT", "0");
	is_int(open_whole(&w, &ceil_gemm_bench.variants[0], CEIL_GEMM_TN, &err), CEIL_E_UNSUPPORTED,
	       "a bench without algorithms");
	close_whole(&w);
	set("FAKE_LT_COUNT", NULL);
	ceil_alloc_fail_at(1);
	is_int(open_whole(&w, &ceil_gemm_bench.variants[0], CEIL_GEMM_TN, &err), CEIL_E_NOMEM,
	       "no memory for the state");
	ceil_alloc_fail_at(0);
	close_whole(&w);
}

int main(void)
{
	struct ceil_lt_plan *plan = NULL;
	uint32_t count = 0;

	if (!fake_path("cublaslt", fake))
		skip_all("the stand-in library is not built");
	set("GPUCEIL_LIB_CUBLASLT", fake);
	if (!fake_path("cublas", fake_cublas))
		skip_all("the stand-in library is not built");
	set("GPUCEIL_LIB_CUBLAS", fake_cublas);
	if (ceil_lt_plan_open(&bf16, &plan, &count, NULL) == CEIL_E_UNSUPPORTED)
		skip_all("this build has no cublasLt.h");
	ceil_lt_plan_close(plan);
	test_plan();
	test_workspace();
	test_named();
	test_worlds();
	test_missing_symbol();
	test_no_memory();
	test_types();
	test_info();
	test_environment();
	test_bench();
	test_launch_failures();
	return done_testing();
}
