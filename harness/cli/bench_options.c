/* What the command line of gpuceil bench may ask for, and what it means for the plan. */
#include "harness/cli/bench_options.h"

#include "harness/base/dtype.h"

#include <math.h>
#include <string.h>

/* Seconds that a run may take; measuring.md, Seconds on one H200. */
#define DEFAULT_BUDGET_S 240.0
#define QUICK_BUDGET_S   60.0

const char *const ceil_bench_backends[] = {"all", "cuda", "host", NULL};

const char *ceil_bench_backend(const struct ceil_bench_options *o)
{
	return o->backend ? ceil_bench_backends[o->backend] : NULL;
}

double ceil_bench_budget_s(const struct ceil_bench_options *o)
{
	if (o->budget_ns)
		return (double)o->budget_ns * 1e-9;
	return o->quick ? QUICK_BUDGET_S : DEFAULT_BUDGET_S;
}

void ceil_bench_fit_gpu(const struct ceil_bench_options *o, struct ceil_plan *plan, double host_s,
                        unsigned gpus)
{
	const double all_s = fmax(1.0, ceil_bench_budget_s(o) - host_s);
	const struct ceil_sharing sharing = {.devices = o->budget_ns ? gpus : 1,
	                                     .one_by_one = o->one_by_one};

	ceil_plan_fit(plan, all_s, sharing);
}

/* Shapes and algorithms are the gemm bench's: it is meant where none is named. */
static enum ceil_status read_gemm(const struct ceil_bench_options *o, struct ceil_shapes *shapes,
                                  struct ceil_filter *f, struct ceil_error *err)
{
	const char *option = o->shape ? "shape" : o->shapes ? "shapes" : "algo";
	const bool named = f->benches.count > 0;
	enum ceil_status st = CEIL_OK;

	if (!o->shape && !o->shapes && !o->algorithm)
		return CEIL_OK;
	if (named && (f->benches.count > 1 || strcmp(f->benches.item[0], "gemm") != 0))
		return ceil_fail(err, CEIL_E_USAGE, "--%s is for the bench gemm alone", option);
	if (o->algorithm && strncmp(o->algorithm, "id=", 3) != 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--algo %.60s: an algorithm begins with 'id=', as in the column "
		                 "algorithm of records.csv",
		                 o->algorithm);
	if (!named)
		st = ceil_list_add(&f->benches, "gemm", err);
	if (st == CEIL_OK && o->shape)
		st = ceil_shapes_parse(shapes, o->shape, err);
	if (st == CEIL_OK && o->shapes)
		st = ceil_shapes_read(shapes, o->shapes, err);
	f->own = shapes->v;
	f->own_count = shapes->count;
	f->algorithm = o->algorithm;
	return st;
}

/* Sizes are for benches of arrays, which must be named: no other has such a case. */
static enum ceil_status read_sizes(const struct ceil_bench_options *o, struct ceil_shapes *shapes,
                                   struct ceil_filter *f, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	if (o->sizes.count == 0)
		return CEIL_OK;
	if (f->own || f->benches.count == 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--size needs the bench whose arrays have it: gpuceil bench "
		                 "collective --size 1GiB");
	for (size_t i = 0; i < f->benches.count; i++) {
		const struct ceil_bench *b = ceil_bench_find(f->benches.item[i]);

		/* Other axes of a bench have a default of 0. */
		if (b->axis_count == 0 || strcmp(b->axes[0].name, "bytes") != 0)
			return ceil_fail(err, CEIL_E_USAGE, "--size: %s is not measured by bytes",
			                 b->name);
	}
	for (size_t i = 0; i < o->sizes.count && st == CEIL_OK; i++)
		st = ceil_shapes_size(shapes, o->sizes.item[i], err);
	f->own = shapes->v;
	f->own_count = shapes->count;
	return st;
}

static enum ceil_status read_data(const struct ceil_bench_options *o, struct ceil_filter *f,
                                  struct ceil_error *err)
{
	for (size_t i = 0; i < o->patterns.count; i++) {
		enum ceil_pattern p;
		const enum ceil_status st = ceil_pattern_parse(o->patterns.item[i], &p, err);

		if (st != CEIL_OK)
			return st;
		f->patterns |= 1u << p;
	}
	/* Below, half a second of work takes too long; above, no idle time is left to sleep in. */
	if (isnan(o->duty))
		return CEIL_OK;
	if (!(o->duty >= 0.05 && o->duty <= 0.95))
		return ceil_fail(err, CEIL_E_USAGE, "--duty %g: from 0.05 to 0.95", o->duty);
	if (!ceil_filter_has_bursts(f))
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--duty %g: a row between burst and sustained needs one that has "
		                 "bursts: gemm or tensor, on a GPU",
		                 o->duty);
	f->duty = o->duty;
	return CEIL_OK;
}

enum ceil_status ceil_bench_filter(const struct ceil_bench_options *o, int argc, char **argv,
                                   struct ceil_shapes *shapes, struct ceil_filter *ret_f,
                                   struct ceil_error *err)
{
	enum ceil_status st;

	*ret_f = (struct ceil_filter){.variants = o->variants,
	                              .dtypes = o->dtypes,
	                              .backend = ceil_bench_backend(o),
	                              .quick = o->quick,
	                              .more = ceil_bench_budget_s(o) > DEFAULT_BUDGET_S};
	for (int i = 1; i <= argc; i++) {
		st = ceil_list_add(&ret_f->benches, argv[i], err);
		if (st != CEIL_OK)
			return st;
	}
	st = ceil_filter_check(ret_f, err);
	if (st == CEIL_OK)
		st = read_gemm(o, shapes, ret_f, err);
	if (st == CEIL_OK)
		st = read_sizes(o, shapes, ret_f, err);
	return st == CEIL_OK ? read_data(o, ret_f, err) : st;
}
