/* Gathers the ceilings that the bound of MFU is made of, and tries batches. */
#include "harness/cli/mfu_call.h"

#include "harness/analysis/attainable.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *device_of(const struct ceil_mfu_call *c)
{
	return c->row ? c->row->device : NULL;
}

/* A ceiling of the GPU that the row is of, or NAN. A records.csv has finalists beside the best. */
static double ceiling_in(const struct ceil_mfu_source *s, const char *device, const char *name)
{
	double best = (double)NAN;

	for (size_t i = 0; i < s->record_count; i++) {
		const struct ceil_record *r = &s->records[i];

		if (!strcmp(r->ceiling, name) && (!device || !strcmp(r->device, device)) &&
		    strcmp(r->role, "search") != 0 && r->value > 0.0 && !(best >= r->value))
			best = r->value;
	}
	return best;
}

static double ceiling_of(const struct ceil_mfu_call *c, const char *name)
{
	const double own = ceiling_in(&c->measured, device_of(c), name);

	return isnan(own) ? ceiling_in(&c->source, device_of(c), name) : own;
}

/* Attention's products are small and many: gemm.bf16_batched. */
static double batched_rate(const struct ceil_mfu_call *c)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "gemm.%s_batched.burst",
	               ceil_dtype_info(c->dtype)->name);
	return ceiling_of(c, name);
}

/* Never more than is kept of an activation: the rest of the estimate is bf16. */
static double operand_bytes(enum ceil_dtype t)
{
	const double bytes = ceil_dtype_info(t)->bits / 8.0;

	return bytes < CEIL_WORK_BYTES ? bytes : CEIL_WORK_BYTES;
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
		.batched_tflops = batched_rate(c),
		.operand_bytes = operand_bytes(c->dtype),
		.dram_gb_s = first_known(c->o.dram_gb_s, ceiling_of(c, "dram.copy"),
	                                 ceiling_of(c, "dram.read")),
		.all_reduce_gb_s =
			first_known(c->o.all_reduce_gb_s,
	                            ceiling_of(c, "collective.all_reduce.busbw"), (double)NAN),
		.gpu_count = (double)c->o.gpu_count,
		.sustained_ratio = peaks[CEIL_BY_SUSTAINED] / peaks[CEIL_BY_BURST],
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

/* A list of points from every record of the call. */
struct points {
	struct ceil_gemm_point *v;
	size_t count;
};

/* Cards of one name differ by some percent: rates of one under the ceilings of another are told. */
static void warn_of_other_card(const struct ceil_mfu_call *c)
{
	for (size_t i = 0; i < c->measured.record_count; i++) {
		const struct ceil_record *r = &c->measured.records[i];

		if (!r->gpu_uuid[0] || !c->row || !c->row->gpu_uuid[0] ||
		    strcmp(r->device, c->row->device) != 0 ||
		    strcmp(r->gpu_uuid, c->row->gpu_uuid) == 0)
			continue;
		fprintf(stderr,
		        "gpuceil: warning: %s was measured on another card (%s %s) than %s (%s)\n",
		        c->o.records, r->gpu_name, r->gpu_uuid, c->o.ceilings, c->row->gpu_uuid);
		return;
	}
}

/* The model's own products where --records names a run that has them, else those of the ceilings.
 */
static enum ceil_status find_points(const struct ceil_mfu_call *c, struct points *ret_points,
                                    struct ceil_error *err)
{
	const struct ceil_mfu_source *s = c->o.records ? &c->measured : &c->source;
	const struct ceil_record *records = s->points ? s->points : s->records;
	const size_t count = s->points ? s->point_count : s->record_count;
	const char *dtype = ceil_dtype_info(c->dtype)->name;

	ret_points->v = ceil_alloc(count + 1, sizeof(*ret_points->v), err);
	if (!ret_points->v)
		return CEIL_E_NOMEM;
	ret_points->count = ceil_gemm_points_of(records, count, dtype, device_of(c), ret_points->v);
	if (c->o.records && !ret_points->count)
		return ceil_fail(err, CEIL_E_USAGE, "--records %s has no %s products of %s",
		                 c->o.records, dtype, device_of(c) ? device_of(c) : "a GPU");
	return CEIL_OK;
}

/* A step of the whole job is shared by its GPUs. */
static enum ceil_status share_batch(const struct ceil_mfu_call *c, struct ceil_sizes *sizes,
                                    struct ceil_error *err)
{
	if (!ceil_mfu_has_rate(&c->o) || sizes->batch < c->o.gpu_count)
		return CEIL_OK;
	if (sizes->batch % c->o.gpu_count)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--batch %llu: %llu GPUs cannot have the same whole number of "
		                 "samples of it, which the bound needs",
		                 (unsigned long long)sizes->batch,
		                 (unsigned long long)c->o.gpu_count);
	sizes->batch /= c->o.gpu_count;
	return CEIL_OK;
}

/* Measured, of one GPU, or NAN. */
static double measured_rate(const struct ceil_mfu_call *c)
{
	const struct ceil_mfu_input *in = &c->page.in;

	return ceil_mfu_has_rate(&c->o) ? in->samples_per_s * in->flops.tokens / in->gpu_count
	                                : (double)NAN;
}

static enum ceil_status print_bounds(const struct ceil_mfu_call *c, struct ceil_attain_input *in,
                                     struct ceil_attain *a, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	if (c->o.attainable) {
		st = share_batch(c, &in->sizes, err);
		if (st == CEIL_OK)
			st = ceil_attain_of(in, a, err);
		if (st == CEIL_OK)
			ceil_mfu_print_bound(stdout, in, a, measured_rate(c));
	}
	if (st == CEIL_OK && c->o.sweep)
		st = sweep(in, c->o.gpu_memory_gib * 1024.0 * 1024.0 * 1024.0, a, err);
	return st;
}

enum ceil_status ceil_mfu_bound(struct ceil_mfu_call *c, struct ceil_error *err)
{
	struct ceil_attain *a = ceil_alloc(1, sizeof(*a), err);
	struct points points = {.v = NULL};
	struct ceil_gemm_rates rates;
	struct ceil_attain_input in;
	enum ceil_status st = a ? CEIL_OK : CEIL_E_NOMEM;

	if (st == CEIL_OK && c->o.records)
		st = ceil_mfu_read_records(c->o.records, &c->measured, err);
	warn_of_other_card(c);
	if (st == CEIL_OK)
		st = find_points(c, &points, err);
	rates = (struct ceil_gemm_rates){.points = points.v, .count = points.count};
	if (st == CEIL_OK)
		st = bound_input(c, &rates, &in, err);
	if (st == CEIL_OK)
		st = print_bounds(c, &in, a, err);
	free(points.v);
	free(a);
	return st;
}

enum ceil_status ceil_mfu_shapes(const struct ceil_mfu_call *c, struct ceil_error *err)
{
	struct ceil_attain_shape shapes[3 * CEIL_MAX_GEMMS];
	struct ceil_sizes sizes = c->page.sizes;
	enum ceil_status st;
	size_t count;

	if (!c->page.model)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--shapes needs the model's sizes, not --params");
	st = share_batch(c, &sizes, err);
	if (st != CEIL_OK)
		return st;
	count = ceil_attain_shapes(c->page.model, &sizes, c->o.gpu_count,
	                           ceil_dtype_info(c->dtype)->bits <= 8, shapes);
	printf("m,n,k,dtype,count,layout\n");
	for (size_t i = 0; i < count; i++)
		printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%s\n", shapes[i].m,
		       shapes[i].n, shapes[i].k, ceil_dtype_info(c->dtype)->name, shapes[i].count,
		       shapes[i].layout);
	return CEIL_OK;
}
