/* Gathers the ceilings that the bound of MFU is made of, and tries batches. */
#include "harness/cli/mfu_call.h"

#include "harness/analysis/attainable.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A ceiling of the GPU that the row is of, or NAN. A records.csv has finalists beside the best. */
static double ceiling_of(const struct ceil_mfu_call *c, const char *name)
{
	double best = (double)NAN;

	for (size_t i = 0; i < c->source.record_count; i++) {
		const struct ceil_record *r = &c->source.records[i];

		if (!strcmp(r->ceiling, name) && (!c->row || !strcmp(r->device, c->row->device)) &&
		    strcmp(r->role, "search") != 0 && r->value > 0.0 && !(best >= r->value))
			best = r->value;
	}
	return best;
}

/* What is measured beats what is not, and what the user says beats both. */
static double first_known(double a, double b, double c)
{
	return !isnan(a) ? a : !isnan(b) ? b : c;
}

static enum ceil_status bound_input(const struct ceil_mfu_call *c, struct ceil_gemm_rates *rates,
                                    struct ceil_attain_input *ret_in, struct ceil_error *err)
{
	const double *peaks = c->page.in.peak_tflops;

	*ret_in = (struct ceil_attain_input){
		.model = c->page.model,
		.sizes = c->page.sizes,
		.count = c->page.count,
		.rate = ceil_gemm_rate,
		.user = rates,
		.batched_tflops = (double)NAN,
		.dram_gb_s = first_known(c->o.dram_gb_s, ceiling_of(c, "dram.copy"),
	                                 ceiling_of(c, "dram.read")),
		.all_reduce_gb_s =
			first_known(c->o.all_reduce_gb_s,
	                            ceiling_of(c, "collective.all_reduce.busbw"), (double)NAN),
		.gpu_count = (double)c->o.gpu_count,
		.peak_tflops = first_known(peaks[CEIL_BY_DATASHEET], peaks[CEIL_BY_THEORETICAL],
	                                   (double)NAN),
	};
	ret_in->best_tflops =
		first_known(peaks[CEIL_BY_BURST], peaks[CEIL_BY_SUSTAINED], ret_in->peak_tflops);
	rates->ceiling_tflops = ret_in->best_tflops;
	if (!c->page.model)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--attainable needs the model's sizes, not --params");
	if (isnan(ret_in->peak_tflops))
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--attainable needs a peak: --ceilings, --part or --peak-tflops");
	if (isnan(ret_in->dram_gb_s))
		return ceil_fail(
			err, CEIL_E_USAGE,
			"--attainable needs the memory ceiling: a run's folder in --ceilings, "
			"or --dram-gb-s");
	return CEIL_OK;
}

/* Batches of 1, 2, 4, ... until they are far beyond the memory, or bring nothing more. */
static enum ceil_status sweep(const struct ceil_attain_input *first, double memory_bytes,
                              struct ceil_attain *a, struct ceil_error *err)
{
	struct ceil_sweep_row rows[16];
	struct ceil_attain_input in = *first;
	size_t count = 0;

	while (count < sizeof(rows) / sizeof(rows[0])) {
		enum ceil_status st;

		in.sizes.batch = UINT64_C(1) << count;
		st = ceil_attain_of(&in, a, err);
		if (st != CEIL_OK)
			return st;
		rows[count] = (struct ceil_sweep_row){in.sizes.batch, a->tokens_per_s, a->mfu,
		                                      a->memory_bytes};
		count++;
		if (a->memory_bytes > memory_bytes || a->memory_bytes > 1e13 ||
		    (count > 3 && a->mfu < 1.002 * rows[count - 2].mfu))
			break;
	}
	ceil_mfu_print_sweep(stdout, rows, count, memory_bytes);
	return CEIL_OK;
}

enum ceil_status ceil_mfu_bound(const struct ceil_mfu_call *c, struct ceil_error *err)
{
	const struct ceil_record *records = c->source.points ? c->source.points : c->source.records;
	const size_t count = c->source.points ? c->source.point_count : c->source.record_count;
	struct ceil_gemm_point *points = ceil_alloc(count + 1, sizeof(*points), err);
	struct ceil_attain *a = ceil_alloc(1, sizeof(*a), err);
	struct ceil_gemm_rates rates = {.points = points};
	struct ceil_attain_input in;
	enum ceil_status st = CEIL_E_NOMEM;

	if (!points || !a)
		goto out_free;
	rates.count = ceil_gemm_points_of(records, count, ceil_dtype_info(c->dtype)->name,
	                                  c->row ? c->row->device : NULL, points);
	st = bound_input(c, &rates, &in, err);
	if (st == CEIL_OK && c->o.attainable) {
		/* A step of the whole job is shared by its GPUs. */
		if (ceil_mfu_has_rate(&c->o) && in.sizes.batch >= c->o.gpu_count)
			in.sizes.batch /= c->o.gpu_count;
		st = ceil_attain_of(&in, a, err);
		if (st == CEIL_OK)
			ceil_mfu_print_bound(stdout, &in, a);
	}
	if (st == CEIL_OK && c->o.sweep)
		st = sweep(&in, c->o.gpu_memory_gib * 1024.0 * 1024.0 * 1024.0, a, err);
out_free:
	free(points);
	free(a);
	return st;
}

enum ceil_status ceil_mfu_shapes(const struct ceil_mfu_call *c, struct ceil_error *err)
{
	struct ceil_gemm_point points[3 * CEIL_MAX_GEMMS];
	size_t count;

	if (!c->page.model)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--shapes needs the model's sizes, not --params");
	count = ceil_attain_shapes(c->page.model, &c->page.sizes, points);
	for (size_t i = 0; i < count; i++)
		printf("%s%" PRIu64 "x%" PRIu64 "x%" PRIu64, i ? "," : "", points[i].m, points[i].n,
		       points[i].k);
	printf("\n");
	return CEIL_OK;
}
