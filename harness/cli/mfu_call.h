/* One call of `gpuceil mfu`: its options, and what was found out for them. */
#ifndef CEIL_MFU_CALL_H
#define CEIL_MFU_CALL_H

#include "harness/base/status.h"
#include "harness/base/types.h"
#include "harness/cli/mfu_print.h"
#include "harness/output/mfu_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* As given; a number that was not is 0 or NAN. */
struct ceil_mfu_options {
	const char *model, *config;
	struct ceil_model_numbers numbers;
	double params;
	uint64_t seq, source_seq;
	double tokens_per_s, step_time;
	uint64_t batch, gpu_count;
	const char *dtype, *ceilings, *records, *part;
	double peak_tflops;
	unsigned convention, embeddings, recompute;
	bool breakdown, attainable, sweep, shapes;
	double dram_gb_s, all_reduce_gb_s, gpu_memory_gib;
};

/* Everything of a call; the file's rows are freed at the end. */
struct ceil_mfu_call {
	struct ceil_mfu_options o;
	struct ceil_model model;
	enum ceil_dtype dtype;
	struct ceil_mfu_source source;
	struct ceil_mfu_source measured; /* of --records: the model's own products */
	const struct ceil_mfu_row *row;  /* of source: the one to divide by, or NULL */
	struct ceil_mfu_page page;
};

/* ceil_mfu_has_rate - whether there is anything to divide; without, FLOPs alone are told. */
static inline bool ceil_mfu_has_rate(const struct ceil_mfu_options *o)
{
	return !isnan(o->tokens_per_s) || !isnan(o->step_time);
}

/*
 * ceil_mfu_take_peak - dtype, row and page's peaks from --ceilings, --part or --peak-tflops; a
 * figure that is given replaces the datasheet's of the file. Warns on stderr about a file of
 * another card than the part, or than those of this machine, and about a sparse figure.
 * Return: CEIL_E_USAGE for an unknown or ambiguous part, a type without a figure, a wrong file.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mfu_take_peak(struct ceil_mfu_call *c,
                                                    struct ceil_error *err);

/*
 * ceil_mfu_bound - prints the attainable MFU, the sweep over batches, or both.
 * Return: CEIL_E_USAGE naming what the bound needs and the call lacks, or for a file of --records
 * that is none; CEIL_E_IO; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mfu_bound(struct ceil_mfu_call *c, struct ceil_error *err);

/*
 * ceil_mfu_shapes - prints the products that a bound needs as the CSV that `gpuceil bench gemm
 * --shapes` reads: m,n,k,dtype,count,layout.
 * Return: CEIL_E_USAGE without a model.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mfu_shapes(const struct ceil_mfu_call *c,
                                                 struct ceil_error *err);

#endif
