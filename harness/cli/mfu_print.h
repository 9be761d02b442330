/* Pages of `gpuceil mfu`: the arithmetic line by line, the judgement, the bound. */
#ifndef CEIL_MFU_PRINT_H
#define CEIL_MFU_PRINT_H

#include "harness/analysis/attainable.h"
#include "harness/analysis/mfu.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Everything that the pages tell of. */
struct ceil_mfu_page {
	const struct ceil_model *model; /* NULL: only a number of parameters is known */
	struct ceil_sizes sizes;        /* of a step of the whole job; batch 0: not given */
	struct ceil_flops_options count;
	struct ceil_flops flops; /* of a sample */
	double step_seconds;     /* NAN: the rate was given in tokens */
	struct ceil_mfu_input in;
	struct ceil_mfu mfu;
	double peak_mhz[CEIL_BY_COUNT]; /* NAN unknown */
	char peak_source[160];          /* "A100 80GB SXM, bf16", the file and its slowest GPU */
};

/* ceil_mfu_print_models - the built-in table: name, parameters, sizes, source. */
void ceil_mfu_print_models(FILE *f);

/* ceil_mfu_print_count - model, N and FLOPs of a token, as products of numbers. */
void ceil_mfu_print_count(FILE *f, const struct ceil_mfu_page *p);

/* ceil_mfu_print_breakdown - FLOPs of a sample by component and pass. */
void ceil_mfu_print_breakdown(FILE *f, const struct ceil_mfu_page *p);

/* ceil_mfu_print_result - rate, utilization, what it means, and which input is likely wrong. */
void ceil_mfu_print_result(FILE *f, const struct ceil_mfu_page *p);

/*
 * ceil_mfu_print_bound - the attainable MFU part by part; parts below 0.5 % are in the sums alone.
 * @tokens_per_s: measured, of one GPU; NAN: there is nothing to hold against the bound.
 */
void ceil_mfu_print_bound(FILE *f, const struct ceil_attain_input *in, const struct ceil_attain *a,
                          double tokens_per_s);

/* A row of the sweep over batch sizes. */
struct ceil_sweep_row {
	uint64_t batch;
	double tokens_per_s, mfu, memory_bytes;
};
/*
 * ceil_mfu_print_sweep - batches with what they cost; the smallest within 5 % of the best is
 * marked.
 * @memory_bytes: of the GPU, NAN unknown: batches that need more are marked.
 */
void ceil_mfu_print_sweep(FILE *f, const struct ceil_sweep_row *rows, size_t count,
                          double memory_bytes);

/* The width of every page. */
enum { CEIL_MFU_COLUMNS = 100 };

/* ceil_mfu_title - an empty line and the head of a section. */
void ceil_mfu_title(FILE *f, const char *left, const char *right);
/* ceil_mfu_line - one line of arithmetic: what it is, how it comes about, what it gives. */
void ceil_mfu_line(FILE *f, const char *label, const char *how, const char *value);
/* ceil_mfu_si_line - the same with four digits, a prefix and a unit. */
void ceil_mfu_si_line(FILE *f, const char *label, const char *how, double value, const char *unit);
/* ceil_mfu_sentence - text under a label, in as many lines as it needs. */
void ceil_mfu_sentence(FILE *f, const char *label, const char *text);

/* ceil_mfu_si - 859884984 -> "859.9 M": four digits and a prefix. */
void ceil_mfu_si(char *ret_text, size_t size, double value);

/* ceil_mfu_digits - 124439808 -> "124 439 808". */
void ceil_mfu_digits(char *ret_text, size_t size, double value);

#endif
