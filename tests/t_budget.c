/* What a run keeps of its plan on one GPU and on eight, by the budget. */
#include "harness/cli/bench_options.h"
#include "tests/tap.h"

#include <math.h>

#define HOST_S 14.0

/* An H200's plan of everything, fitted as one of so many GPUs. */
static struct ceil_plan fitted(const struct ceil_bench_options *o, unsigned gpus)
{
	const struct ceil_device_props h200 = {.cc_major = 9,
	                                       .sm_count = 132,
	                                       .memory_bytes = 150754820096u,
	                                       .free_bytes = 90000000000u,
	                                       .l2_bytes = 62914560,
	                                       .memory_bus_bits = 6016,
	                                       .max_sm_mhz = 1980.0,
	                                       .max_memory_mhz = 3201.0,
	                                       .copy_engines = 3,
	                                       .numa_node = -1,
	                                       .ranks = gpus};
	const struct ceil_filter all = {.quick = o->quick};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_plan plan = {0};

	ok(ceil_plan_make(&all, "cuda", &h200, /* why_not= */ NULL, &plan, &err) == CEIL_OK,
	   "a plan for %u GPUs: %s", gpus, err.text);
	ceil_bench_fit_gpu(o, &plan, HOST_S, gpus);
	return plan;
}

static void check_gpus(const char *what, const struct ceil_bench_options *o, bool whole)
{
	struct ceil_plan one = fitted(o, 1);
	struct ceil_plan eight = fitted(o, 8);

	if (whole) {
		ok(!*one.coverage, "%s: one GPU keeps all: '%s'", what, one.coverage);
		ok(!*eight.coverage, "%s: so do eight: '%s'", what, eight.coverage);
		ok(eight.sustained_s == one.sustained_s, "%s: sustained rows too", what);
	} else {
		ok(*eight.coverage != '\0', "%s: eight share it: %s", what, eight.coverage);
		ok(eight.price_s < one.price_s, "%s: so each has less", what);
	}
	ceil_plan_done(&one);
	ceil_plan_done(&eight);
}

int main(void)
{
#ifndef CEIL_HAVE_CUDA
	skip_all("this build has no CUDA: its plan of a GPU is empty");
#endif
	const struct ceil_bench_options none = {.duty = (double)NAN};
	struct ceil_bench_options o = none;

	check_gpus("no budget", &o, /* whole= */ true);
	o.one_by_one = true;
	check_gpus("one by one", &o, /* whole= */ true);
	o.budget_ns = 300000000000u;
	check_gpus("300 s one by one", &o, /* whole= */ false);
	o = none;
	o.budget_ns = 240000000000u;
	check_gpus("240 s", &o, /* whole= */ false);
	return done_testing();
}
