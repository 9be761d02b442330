/* What the command line of gpuceil bench may ask for, and what it means for the plan. */
#ifndef CEIL_BENCH_OPTIONS_H
#define CEIL_BENCH_OPTIONS_H

#include "harness/base/text.h"
#include "harness/cli/shapes.h"
#include "harness/measure/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: nothing was asked for; duty is NAN then. */
struct ceil_bench_options {
	bool quick, dry_run, one_by_one, mpi;
	struct ceil_list variants, dtypes, gpus, patterns, sizes;
	unsigned backend, busy;
	uint64_t budget_ns, seed, expect_gpus;
	double duty;
	const char *output, *shape, *shapes, *algorithm;
};

/* Choices of the option backend, NULL-terminated; the first is all of them. */
extern const char *const ceil_bench_backends[];

/* ceil_bench_backend - the name of the backend that was asked for; NULL: all. */
const char *ceil_bench_backend(const struct ceil_bench_options *o);

/* ceil_bench_budget_s - the seconds that a run may take. */
double ceil_bench_budget_s(const struct ceil_bench_options *o);

/*
 * ceil_bench_fit_gpu - fits the plan of one of so many GPUs to what host rows leave of the budget.
 * Without a budget of the user's every GPU has the time of one: more GPUs make a run longer, by
 * what is measured on one after another, and not poorer. A budget is for all of them.
 */
void ceil_bench_fit_gpu(const struct ceil_bench_options *o, struct ceil_plan *plan, double host_s,
                        unsigned gpus);

/*
 * ceil_bench_filter - what the options and the benches named on the command line select.
 * @argv: argc names behind argv[0].
 * @shapes: takes the user's own shapes, which the filter points to; ceil_shapes_done frees them,
 * after a failure too.
 * Return: CEIL_E_USAGE with what is wrong; CEIL_E_IO for a file of shapes; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_bench_filter(const struct ceil_bench_options *o, int argc,
                                                   char **argv, struct ceil_shapes *shapes,
                                                   struct ceil_filter *ret_f,
                                                   struct ceil_error *err);

#endif
