/* Prints the attainable MFU part by part, and what each batch size costs. */
#include "harness/cli/mfu_print.h"

#include "harness/base/text.h"
#include "harness/output/grid.h"
#include "harness/output/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct bound {
	const struct ceil_attain *a;
	const struct ceil_attain_part *shown[CEIL_ATTAIN_PARTS];
	size_t count;
};

/* A product whose rate is not its own. */
static bool is_near(const struct ceil_attain_part *p)
{
	return p->flops > 0.0 && p->how != CEIL_RATE_MEASURED && !strcmp(p->limited_by, "gemm");
}

static void bound_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct bound *b = user;
	const struct ceil_attain_part *p = b->shown[row];
	const double rate =
		p->flops > 0.0 ? p->flops / p->seconds * 1e-12 : p->bytes / p->seconds * 1e-9;
	char number[32];

	ret_text[0] = '\0';
	if (column == 0)
		ceil_append(ret_text, size, "%s", p->name);
	else if (column == 1)
		ceil_append(ret_text, size, "%s", p->pass);
	else if (column == 2 && p->m)
		ceil_append(ret_text, size, "%" PRIu64 " x %" PRIu64 "x%" PRIu64 "x%" PRIu64,
		            p->count, p->m, p->n, p->k);
	else if (column == 3)
		ceil_append(ret_text, size, "%.3f", p->seconds * 1e3);
	else if (column == 4)
		ceil_append(ret_text, size, "%.1f %%", 100.0 * p->seconds / b->a->seconds);
	else if (column == 5 && p->kind != CEIL_ATTAIN_COLLECTIVE) {
		ceil_text_number(number, sizeof(number), rate);
		ceil_append(ret_text, size, "%s %s", number, p->flops > 0.0 ? "TFLOP/s" : "GB/s");
	} else if (column == 6) {
		ceil_append(ret_text, size, "%s%s%s", p->limited_by, is_near(p) ? ", " : "",
		            is_near(p) ? ceil_rate_how_name(p->how) : "");
	}
}

static void print_parts(FILE *f, struct bound *b)
{
	static const struct ceil_grid_column columns[] = {
		{"part", false, 0},       {"pass", false, 0}, {"count x m x n x k", false, 3},
		{"ms", true, 0},          {"share", true, 0}, {"rate", true, 0},
		{"limited by", false, 0},
	};
	const struct ceil_grid g = {.columns = columns,
	                            .column_count = sizeof(columns) / sizeof(columns[0]),
	                            .row_count = b->count,
	                            .cell = bound_cell,
	                            .user = b,
	                            .indent = 2,
	                            .limit = CEIL_MFU_COLUMNS};

	ceil_grid_print(f, &g);
}

static void print_kinds(FILE *f, const struct ceil_attain *a)
{
	for (enum ceil_attain_kind k = 0; k < CEIL_ATTAIN_KIND_COUNT; k++) {
		char how[64], value[32];

		if (!(a->kind_seconds[k] > 0.0))
			continue;
		(void)snprintf(how, sizeof(how), "%.1f %% of the step",
		               100.0 * a->kind_seconds[k] / a->seconds);
		(void)snprintf(value, sizeof(value), "%.3f ms", a->kind_seconds[k] * 1e3);
		ceil_mfu_line(f, ceil_attain_kind_name(k), how, value);
	}
}

static bool has_experts(const struct ceil_model *m)
{
	for (size_t i = 0; i < m->block_count; i++)
		if (m->blocks[i].ffn.experts)
			return true;
	return false;
}

/* In tokens/s, so that the convention of the numerator does not matter. */
static void print_measured(FILE *f, const struct ceil_attain *a, double tokens_per_s)
{
	char how[96], value[32];

	if (isnan(tokens_per_s))
		return;
	(void)snprintf(how, sizeof(how), "%.1f of %.1f ms, as measured", a->seconds * 1e3,
	               a->seconds * 1e3 * a->tokens_per_s / tokens_per_s);
	(void)snprintf(value, sizeof(value), "%.1f %%", 100.0 * tokens_per_s / a->tokens_per_s);
	ceil_mfu_line(f, "of_bound", how, value);
	if (tokens_per_s > a->tokens_per_s)
		ceil_mfu_sentence(f, "-",
		                  "above the bound: --batch, --seq or --gpu-count is not that of "
		                  "the step that was measured, or the ceilings are of a slower "
		                  "card, or what the bound reads from memory was still in the L2");
}

/* What several GPUs have beside the parts: those of no time are not among them. */
static void print_sharing(FILE *f, const struct ceil_attain_input *in, const struct ceil_attain *a)
{
	if (isnan(in->all_reduce_gb_s))
		ceil_mfu_sentence(f, "all-reduce",
		                  "not counted: --all-reduce-gb-s gives its ceiling");
	else if (!(a->exposed_seconds > 0.0))
		ceil_mfu_sentence(f, "all-reduce", "the backward pass hides all of it");
	ceil_mfu_sentence(f, "optimizer",
	                  "its states shared by the GPUs; one that is not takes --gpu-count "
	                  "times as long, and memory is estimated for that one");
}

void ceil_mfu_print_bound(FILE *f, const struct ceil_attain_input *in, const struct ceil_attain *a,
                          double tokens_per_s)
{
	struct bound b = {.a = a};
	char text[128], value[64];

	(void)snprintf(text, sizeof(text),
	               "a bound for %" PRIu64 " sample%s of %" PRIu64 " tokens on one GPU",
	               in->sizes.batch, in->sizes.batch > 1 ? "s" : "", in->sizes.seq);
	ceil_mfu_title(f, "Attainable", text);
	for (size_t i = 0; i < a->part_count; i++)
		if (a->parts[i].seconds >= 0.005 * a->seconds)
			b.shown[b.count++] = &a->parts[i];
	print_parts(f, &b);
	fputc('\n', f);
	print_kinds(f, a);
	(void)snprintf(value, sizeof(value), "%.3f ms", a->seconds * 1e3);
	ceil_mfu_line(f, "step", "nothing waiting, nothing but what is listed", value);
	ceil_mfu_si_line(f, "tokens", "of one GPU", a->tokens_per_s, "/s");
	ceil_human_bytes(value, sizeof(value), (uint64_t)a->memory_bytes);
	ceil_mfu_line(f, "memory", "estimate, without workspaces and CUDA context", value);
	(void)snprintf(value, sizeof(value), "%.1f %%", 100.0 * a->mfu);
	ceil_mfu_line(f, "mfu at most", "by the same convention and peak", value);
	if (!isnan(a->hot_mfu)) {
		(void)snprintf(text, sizeof(text),
		               "with products at %.1f %% of their rates, as sustained",
		               100.0 * in->sustained_ratio);
		(void)snprintf(value, sizeof(value), "%.1f %%", 100.0 * a->hot_mfu);
		ceil_mfu_line(f, "mfu when hot", text, value);
	}
	print_measured(f, a, tokens_per_s);
	ceil_mfu_sentence(f, "attention",
	                  isnan(in->batched_tflops)
	                          ? "at the best rate of any product: a bound, for fused kernels "
	                            "reach less"
	                          : "at the rate of batched products (gemm.<type>_batched)");
	if (ceil_conventions[in->count.convention].attention == CEIL_ATTN_FULL &&
	    in->model->blocks[in->model->block_count - 1].attention.causal)
		ceil_mfu_sentence(f, "convention",
		                  "attention is counted in full, but half of it is masked and not "
		                  "run: --convention causal compares like with like");
	if (in->gpu_count > 1.0)
		print_sharing(f, in, a);
	if (has_experts(in->model))
		ceil_mfu_sentence(f, "experts",
		                  "those of a layer as one product of all their tokens, at whose "
		                  "rate a grouped kernel is at best, and spread over the GPUs");
	if (a->near_ratio > 0.005) {
		(void)snprintf(
			text, sizeof(text),
			"%.0f %% of the products' time is at rates of other shapes than their own",
			100.0 * a->near_ratio);
		ceil_mfu_sentence(f, "rates", text);
	}
}

/* ---- the sweep */

struct sweep {
	const struct ceil_sweep_row *rows;
	double best, memory_bytes;
	size_t knee;
};

static void sweep_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct sweep *s = user;
	const struct ceil_sweep_row *r = &s->rows[row];

	ret_text[0] = '\0';
	if (column == 0)
		ceil_append(ret_text, size, "%" PRIu64, r->batch);
	else if (column == 1)
		ceil_mfu_si(ret_text, size, r->tokens_per_s);
	else if (column == 2)
		ceil_append(ret_text, size, "%.1f %%", 100.0 * r->mfu);
	else if (column == 3)
		ceil_human_bytes(ret_text, size, (uint64_t)r->memory_bytes);
	else if (r->memory_bytes > s->memory_bytes)
		ceil_append(ret_text, size, "does not fit");
	else if (row == s->knee)
		ceil_append(ret_text, size, "within 5 %% of the best%s",
		            isnan(s->memory_bytes) ? "" : " that fits");
}

void ceil_mfu_print_sweep(FILE *f, const struct ceil_sweep_row *rows, size_t count,
                          double memory_bytes)
{
	static const struct ceil_grid_column columns[] = {
		{"batch", true, 0},  {"tokens/s", true, 0}, {"mfu at most", true, 0},
		{"memory", true, 0}, {"", false, 0},
	};
	struct sweep s = {.rows = rows, .memory_bytes = memory_bytes, .knee = count};
	const struct ceil_grid g = {.columns = columns,
	                            .column_count = sizeof(columns) / sizeof(columns[0]),
	                            .row_count = count,
	                            .cell = sweep_cell,
	                            .user = &s,
	                            .indent = 2,
	                            .limit = CEIL_MFU_COLUMNS};

	for (size_t i = 0; i < count; i++)
		if (!(rows[i].memory_bytes > memory_bytes) && rows[i].mfu > s.best)
			s.best = rows[i].mfu;
	for (size_t i = count; i-- > 0;)
		if (!(rows[i].memory_bytes > memory_bytes) && rows[i].mfu >= 0.95 * s.best)
			s.knee = i;
	ceil_mfu_title(f, "Batches",
	               "samples on one GPU; a larger batch costs memory, and may cost convergence");
	ceil_grid_print(f, &g);
}
