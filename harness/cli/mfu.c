/* gpuceil mfu: model FLOPs utilization, with its arithmetic, and the best that a model could reach.
 */
#include "harness/analysis/mfu.h"
#include "harness/analysis/attainable.h"
#include "harness/analysis/peaks.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/cli/mfu_print.h"
#include "harness/output/hf_config.h"
#include "harness/output/mfu_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct mfu_options {
	const char *model, *config;
	struct ceil_model_numbers numbers;
	double params;
	uint64_t seq, source_seq;
	double tokens_per_s, step_time;
	uint64_t batch, gpu_count;
	const char *dtype, *ceilings, *part;
	double peak_tflops;
	unsigned convention, embeddings, recompute;
	bool breakdown, attainable, sweep;
	double dram_gb_s, all_reduce_gb_s, gpu_memory_gib;
};

#define OPTION(member, name_, type_, argument_, group_, doc_)                                      \
	{                                                                                          \
		.name = (name_), .type = (type_), .argument = (argument_), .group = (group_),      \
		.doc = (doc_), .offset = offsetof(struct mfu_options, member)                      \
	}
#define CHOICE(member, name_, choices_, doc_)                                                      \
	{                                                                                          \
		.name = (name_), .type = CEIL_O_CHOICE, .argument = "RULE", .group = COUNTING,     \
		.choices = (choices_), .doc = (doc_),                                              \
		.offset = offsetof(struct mfu_options, member)                                     \
	}

#define MODEL    "The model: a name, a file, or numbers"
#define RATE     "The rate, of the whole job"
#define PEAK     "The peak"
#define COUNTING "What is counted"
#define BOUND    "The best that it could be"

static const struct ceil_option option_rows[] = {
	OPTION(model, "model", CEIL_O_TEXT, "NAME", MODEL,
               "gpt2, llama3-8b, ...; --model list shows the table"),
	OPTION(config, "config", CEIL_O_TEXT, "FILE", MODEL, "a Hugging Face config.json"),
	OPTION(params, "params", CEIL_O_DOUBLE, "N", MODEL,
               "parameters that a token passes; instead of those that are counted"),
	OPTION(numbers.layers, "layers", CEIL_O_U64, "N", MODEL, "layers"),
	OPTION(numbers.hidden, "hidden", CEIL_O_U64, "N", MODEL, "hidden size"),
	OPTION(numbers.heads, "heads", CEIL_O_U64, "N", MODEL, "attention heads"),
	OPTION(numbers.kv_heads, "kv-heads", CEIL_O_U64, "N", MODEL,
               "heads of keys and values; default --heads"),
	OPTION(numbers.head_dim, "head-dim", CEIL_O_U64, "N", MODEL,
               "size of a head; default hidden / heads"),
	OPTION(numbers.ffn, "ffn", CEIL_O_U64, "N", MODEL,
               "size of the feed-forward; default 4 x hidden"),
	OPTION(numbers.gated, "gated", CEIL_O_FLAG, NULL, MODEL,
               "the feed-forward has three matrices (SwiGLU), not two"),
	OPTION(numbers.vocab, "vocab", CEIL_O_U64, "N", MODEL, "vocabulary"),
	OPTION(numbers.untied, "untied", CEIL_O_FLAG, NULL, MODEL,
               "the logits have a matrix of their own"),
	OPTION(numbers.experts, "experts", CEIL_O_U64, "N", MODEL, "experts of a layer"),
	OPTION(numbers.active_experts, "active-experts", CEIL_O_U64, "N", MODEL,
               "experts that a token passes"),
	OPTION(seq, "seq", CEIL_O_U64, "N", MODEL, "tokens of a sample; default the model's own"),
	OPTION(source_seq, "source-seq", CEIL_O_U64, "N", MODEL,
               "tokens of an encoder-decoder's source; default --seq"),
	OPTION(tokens_per_s, "tokens-per-s", CEIL_O_DOUBLE, "X", RATE, "tokens per second, or"),
	OPTION(step_time, "step-time", CEIL_O_DOUBLE, "S", RATE, "seconds of a step with --batch"),
	OPTION(batch, "batch", CEIL_O_U64, "N", RATE,
               "samples of a step: of all GPUs and accumulated micro-batches together"),
	OPTION(gpu_count, "gpu-count", CEIL_O_U64, "N", RATE, "GPUs of the job; default 1"),
	OPTION(dtype, "dtype", CEIL_O_TEXT, "NAME", PEAK,
               "type of the products' operands; default bf16"),
	OPTION(ceilings, "ceilings", CEIL_O_TEXT, "FILE", PEAK,
               "a run's folder, ceilings.csv or mfu_denominators.csv"),
	OPTION(part, "part", CEIL_O_TEXT, "NAME", PEAK,
               "a part's datasheet figure: \"H100 SXM\"; `gpuceil list peaks` names them"),
	OPTION(peak_tflops, "peak-tflops", CEIL_O_DOUBLE, "X", PEAK,
               "dense TFLOP/s of one device, for parts that are not in the table"),
	CHOICE(convention, "convention", ceil_convention_names, "how FLOPs are counted"),
	CHOICE(embeddings, "embeddings", ceil_embedding_names,
               "tables of tokens and positions in N, out of it, or only the logits' in it"),
	CHOICE(recompute, "recompute", ceil_recompute_names,
               "activations that are computed twice; HFU counts them"),
	OPTION(breakdown, "breakdown", CEIL_O_FLAG, NULL, COUNTING,
               "FLOPs of a sample by matrix product"),
	OPTION(attainable, "attainable", CEIL_O_FLAG, NULL, BOUND,
               "bound of MFU from a run's ceilings, part by part; --batch is of one GPU then "
               "unless a rate is given"),
	OPTION(sweep, "sweep-batch", CEIL_O_FLAG, NULL, BOUND,
               "the same for batches of 1, 2, 4, ... with memory in use"),
	OPTION(dram_gb_s, "dram-gb-s", CEIL_O_DOUBLE, "X", BOUND,
               "memory ceiling, where the run has none"),
	OPTION(all_reduce_gb_s, "all-reduce-gb-s", CEIL_O_DOUBLE, "X", BOUND,
               "bus bandwidth of an all-reduce, where the run has none"),
	OPTION(gpu_memory_gib, "gpu-memory-gib", CEIL_O_DOUBLE, "X", BOUND,
               "memory of a GPU: marks batches that do not fit"),
};

static int run_mfu(int argc, char **argv);

const struct ceil_command ceil_command_mfu = {
	.name = "mfu",
	.arguments = "",
	.summary = "Model FLOPs utilization of a training run, with its arithmetic",
	.doc = "MFU is model FLOP/s over the datasheet's dense figure. Ratios to other peaks have "
	       "their own names: of_theoretical, of_burst, of_sustained. Publish MFU; tune against "
	       "of_sustained.\n"
	       "FLOPs are counted by a named convention, since publishers use several.",
	.options = option_rows,
	.option_count = sizeof(option_rows) / sizeof(option_rows[0]),
	.examples =
		"gpuceil mfu --model gpt2 --step-time 0.755 --batch 100 --part \"A100 40GB SXM\"\t"
		"what nanoGPT's notebook works out\n"
		"gpuceil mfu --config config.json --seq 8192 --tokens-per-s 95e3 --gpu-count 8 "
		"--ceilings results/latest\tagainst this node's own ceilings\n"
		"gpuceil mfu --model llama3-8b --attainable --batch 4 --ceilings results/latest\t"
		"the best that this model could reach here\n",
	.run = run_mfu,
};

/* Everything of a call; the file's rows are freed at the end. */
struct call {
	struct mfu_options o;
	struct ceil_model model;
	enum ceil_dtype dtype;
	struct ceil_mfu_source source;
	const struct ceil_mfu_row *row; /* of source, or NULL */
	struct ceil_mfu_page page;
};

/* ---- the model */

static bool has_numbers(const struct ceil_model_numbers *n)
{
	return n->layers || n->hidden || n->heads || n->kv_heads || n->head_dim || n->ffn ||
	       n->vocab || n->experts || n->active_experts;
}

static enum ceil_status check_one_model(const struct mfu_options *o, struct ceil_error *err)
{
	const int ways = (o->model != NULL) + (o->config != NULL) + has_numbers(&o->numbers);

	if (ways > 1)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--model, --config and --layers, --hidden, ... name a model each: "
		                 "give one of them");
	if (!ways && !(o->params > 0.0))
		return ceil_fail(
			err, CEIL_E_USAGE,
			"no model: give --model, --config, --params or --layers, --hidden, "
			"--heads");
	return CEIL_OK;
}

static enum ceil_status take_model(struct call *c, struct ceil_error *err)
{
	const struct ceil_model *known;
	enum ceil_status st = check_one_model(&c->o, err);

	if (st != CEIL_OK)
		return st;
	if (c->o.config) {
		st = ceil_hf_read(c->o.config, &c->model, err);
	} else if (c->o.model) {
		st = ceil_model_find(c->o.model, &known, err);
		if (st == CEIL_OK)
			c->model = *known;
	} else if (has_numbers(&c->o.numbers)) {
		c->o.numbers.seq = c->o.seq;
		st = ceil_model_from_numbers(&c->o.numbers, &c->model, err);
	} else {
		return CEIL_OK;
	}
	c->page.model = &c->model;
	return st;
}

static enum ceil_status count_flops(struct call *c, struct ceil_error *err)
{
	struct ceil_mfu_page *p = &c->page;
	enum ceil_status st;

	p->count = (struct ceil_flops_options){.convention = c->o.convention,
	                                       .embeddings = (enum ceil_embeddings)c->o.embeddings,
	                                       .recompute = (enum ceil_recompute)c->o.recompute,
	                                       .params = c->o.params};
	if (!p->model) {
		if (c->o.convention != CEIL_CONVENTION_6N || c->o.recompute)
			return ceil_fail(
				err, CEIL_E_USAGE,
				"--params alone allows only --convention 6n without "
				"recomputation: attention needs --layers, --hidden, --heads");
		ceil_flops_params_only(c->o.params, c->o.seq ? c->o.seq : 1, &p->flops);
		p->sizes = (struct ceil_sizes){.batch = c->o.batch, .seq = c->o.seq};
		return CEIL_OK;
	}
	st = ceil_sizes_of(p->model, c->o.batch ? c->o.batch : 1, c->o.seq, c->o.source_seq,
	                   &p->sizes, err);
	return st == CEIL_OK ? ceil_flops_of(p->model, &p->sizes, &p->count, &p->flops, err) : st;
}

/* ---- the rate */

static bool has_rate(const struct mfu_options *o)
{
	return !isnan(o->tokens_per_s) || !isnan(o->step_time);
}

static enum ceil_status take_rate(struct call *c, struct ceil_error *err)
{
	const struct mfu_options *o = &c->o;
	struct ceil_mfu_page *p = &c->page;

	p->step_seconds = o->step_time;
	p->in.flops = p->flops;
	p->in.gpu_count = (double)o->gpu_count;
	if (!isnan(o->tokens_per_s) && !isnan(o->step_time))
		return ceil_fail(err, CEIL_E_USAGE, "give --tokens-per-s or --step-time, not both");
	if (!isnan(o->tokens_per_s)) {
		p->in.samples_per_s = o->tokens_per_s / p->flops.tokens;
		return CEIL_OK;
	}
	if (!o->batch)
		return ceil_fail(err, CEIL_E_USAGE, "--step-time needs --batch");
	if (!p->model && !o->seq)
		return ceil_fail(err, CEIL_E_USAGE, "--batch counts samples: give --seq as well");
	if (!(o->step_time > 0.0))
		return ceil_fail(err, CEIL_E_USAGE, "--step-time is %g s; it must be positive",
		                 o->step_time);
	p->in.samples_per_s = (double)o->batch / o->step_time;
	return CEIL_OK;
}

/* ---- the peak */

static const struct ceil_published *figure_of(const struct ceil_part *part, enum ceil_dtype t)
{
	const enum ceil_dtype acc = t == CEIL_FP64   ? CEIL_FP64
	                            : t == CEIL_INT8 ? CEIL_INT32
	                                             : CEIL_FP32;
	const struct ceil_published *f = ceil_published_find(part, CEIL_R_TENSOR, t, acc);

	return f ? f : ceil_published_find(part, CEIL_R_FMA, t, acc);
}

static bool begins_with(const char *name, const char *typed)
{
	const size_t n = strlen(typed);

	return !strncasecmp(name, typed, n) && (name[n] == '\0' || name[n] == ' ');
}

static enum ceil_status unknown_part(const char *typed, struct ceil_error *err)
{
	const char *names[128];
	const char *near;
	size_t count = 0;

	for (; count < ceil_part_count && count + 1 < sizeof(names) / sizeof(names[0]); count++)
		names[count] = ceil_parts[count].name;
	names[count] = NULL;
	near = ceil_suggest(typed, names);
	return ceil_fail(err, CEIL_E_USAGE, "--part %s: not in the table%s%s%s", typed,
	                 near ? "; did you mean '" : "; `gpuceil list peaks` shows it",
	                 near ? near : "", near ? "'?" : "");
}

static bool same_figure(const struct ceil_published *a, const struct ceil_published *b)
{
	return a && b ? a->tflops == b->tflops : a == b;
}

/* "H200 SXM", or "A100" where every A100 has the same figure of this type. */
static enum ceil_status find_part(const char *typed, enum ceil_dtype t,
                                  const struct ceil_part **ret_part, struct ceil_error *err)
{
	const struct ceil_part *part = NULL;
	char names[160] = "";
	bool differ = false;

	for (size_t i = 0; i < ceil_part_count; i++) {
		const struct ceil_part *p = &ceil_parts[i];

		if (!strcasecmp(p->name, typed)) {
			*ret_part = p;
			return CEIL_OK;
		}
		if (!begins_with(p->name, typed))
			continue;
		ceil_append(names, sizeof(names), "%s%s", part ? ", " : "", p->name);
		differ |= part && !same_figure(figure_of(part, t), figure_of(p, t));
		part = part ? part : p;
	}
	if (!part)
		return unknown_part(typed, err);
	if (differ)
		return ceil_fail(err, CEIL_E_USAGE, "--part %s: which one? %s", typed, names);
	*ret_part = part;
	return CEIL_OK;
}

static enum ceil_status take_part(struct call *c, struct ceil_error *err)
{
	const struct ceil_part *part = NULL;
	const struct ceil_published *f;
	const enum ceil_status st = find_part(c->o.part, c->dtype, &part, err);
	struct ceil_mfu_page *p = &c->page;

	if (st != CEIL_OK)
		return st;
	f = figure_of(part, c->dtype);
	if (!f || !(f->tflops > 0.0))
		return ceil_fail(err, CEIL_E_USAGE,
		                 "no %s figure is known for %s: give --peak-tflops",
		                 ceil_dtype_info(c->dtype)->name, part->name);
	if (c->row && !strstr(c->row->gpu_name, part->match))
		fprintf(stderr, "gpuceil: warning: %s was measured on a %s, not on a %s\n",
		        c->o.ceilings, c->row->gpu_name, part->name);
	p->in.peak_tflops[CEIL_BY_DATASHEET] = f->tflops;
	p->peak_mhz[CEIL_BY_DATASHEET] = f->mhz > 0.0 ? f->mhz : (double)NAN;
	ceil_append(p->peak_source, sizeof(p->peak_source), "%s%s, %s dense",
	            p->peak_source[0] ? "; datasheet of " : "", part->name,
	            ceil_dtype_info(c->dtype)->name);
	return CEIL_OK;
}

static enum ceil_status take_ceilings(struct call *c, struct ceil_error *err)
{
	const char *dtype = ceil_dtype_info(c->dtype)->name;
	const enum ceil_status st = ceil_mfu_read(c->o.ceilings, &c->source, err);
	struct ceil_mfu_page *p = &c->page;
	const struct ceil_mfu_row *r;

	if (st != CEIL_OK)
		return st;
	r = ceil_mfu_pick(c->source.rows, c->source.row_count, dtype);
	if (!r)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s has no %s products: --dtype names another type", c->o.ceilings,
		                 dtype);
	c->row = r;
	p->in.peak_tflops[CEIL_BY_DATASHEET] = r->datasheet_tflops;
	p->in.peak_tflops[CEIL_BY_THEORETICAL] = r->theoretical_tflops;
	p->in.peak_tflops[CEIL_BY_BURST] = r->burst_tflops;
	p->in.peak_tflops[CEIL_BY_SUSTAINED] = r->sustained_tflops;
	p->peak_mhz[CEIL_BY_DATASHEET] = r->datasheet_clock_mhz;
	p->peak_mhz[CEIL_BY_THEORETICAL] = r->theoretical_clock_mhz;
	p->peak_mhz[CEIL_BY_SUSTAINED] = r->sustained_clock_mhz;
	ceil_append(p->peak_source, sizeof(p->peak_source), "%s, %s dense; slowest GPU: %s%s%s",
	            r->gpu_name, r->dtype_in, r->host, r->host[0] ? " " : "", r->device);
	return CEIL_OK;
}

static enum ceil_status take_peak(struct call *c, struct ceil_error *err)
{
	struct ceil_mfu_page *p = &c->page;
	enum ceil_status st = ceil_dtype_parse(c->o.dtype, &c->dtype, err);

	for (int i = 0; i < CEIL_BY_COUNT; i++) {
		p->in.peak_tflops[i] = (double)NAN;
		p->peak_mhz[i] = (double)NAN;
	}
	if (st == CEIL_OK && c->o.part && !isnan(c->o.peak_tflops))
		st = ceil_fail(err, CEIL_E_USAGE, "give --part or --peak-tflops, not both");
	if (st == CEIL_OK && c->o.ceilings)
		st = take_ceilings(c, err);
	if (st == CEIL_OK && c->o.part)
		st = take_part(c, err);
	if (st != CEIL_OK || isnan(c->o.peak_tflops))
		return st;
	p->in.peak_tflops[CEIL_BY_DATASHEET] = c->o.peak_tflops;
	p->peak_mhz[CEIL_BY_DATASHEET] = (double)NAN;
	ceil_append(p->peak_source, sizeof(p->peak_source), "%sdatasheet figure as given",
	            p->peak_source[0] ? "; " : "");
	return CEIL_OK;
}

/* ---- the bound */

/* A ceiling of the GPU that the row is of, or NAN. */
static double ceiling_of(const struct call *c, const char *name)
{
	for (size_t i = 0; i < c->source.record_count; i++) {
		const struct ceil_record *r = &c->source.records[i];

		if (!strcmp(r->ceiling, name) && (!c->row || !strcmp(r->device, c->row->device)) &&
		    r->value > 0.0)
			return r->value;
	}
	return (double)NAN;
}

/* What is measured beats what is not, and what the user says beats both. */
static double first_known(double a, double b, double c)
{
	return !isnan(a) ? a : !isnan(b) ? b : c;
}

static enum ceil_status bound_input(const struct call *c, struct ceil_gemm_rates *rates,
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
	rates->ceiling_tflops =
		first_known(peaks[CEIL_BY_BURST], peaks[CEIL_BY_SUSTAINED], ret_in->peak_tflops);
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

static enum ceil_status print_bound(struct call *c, struct ceil_error *err)
{
	const size_t count = c->source.record_count;
	struct ceil_gemm_point *points = ceil_alloc(count + 1, sizeof(*points), err);
	struct ceil_attain *a = ceil_alloc(1, sizeof(*a), err);
	struct ceil_gemm_rates rates = {.points = points};
	struct ceil_attain_input in;
	enum ceil_status st = CEIL_E_NOMEM;

	if (!points || !a)
		goto out_free;
	rates.count = ceil_gemm_points_of(c->source.records, count, ceil_dtype_info(c->dtype)->name,
	                                  c->row ? c->row->device : NULL, points);
	st = bound_input(c, &rates, &in, err);
	if (st == CEIL_OK && c->o.attainable) {
		/* A step of the whole job is shared by its GPUs. */
		if (has_rate(&c->o) && in.sizes.batch >= c->o.gpu_count)
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

/* ---- the command */

static enum ceil_status check_options(const struct mfu_options *o, struct ceil_error *err)
{
	if (!isnan(o->params) && !(o->params > 0.0))
		return ceil_fail(err, CEIL_E_USAGE, "--params is %g; it must be positive",
		                 o->params);
	if (!o->gpu_count)
		return ceil_fail(err, CEIL_E_USAGE, "--gpu-count is 0; it must be at least 1");
	if (!isnan(o->gpu_memory_gib) && !(o->gpu_memory_gib > 0.0))
		return ceil_fail(err, CEIL_E_USAGE, "--gpu-memory-gib is %g; it must be positive",
		                 o->gpu_memory_gib);
	return CEIL_OK;
}

static enum ceil_status work_out(struct call *c, struct ceil_error *err)
{
	enum ceil_status st = check_options(&c->o, err);

	c->o.params = isnan(c->o.params) ? 0.0 : c->o.params;
	if (st == CEIL_OK)
		st = take_model(c, err);
	if (st == CEIL_OK)
		st = count_flops(c, err);
	if (st == CEIL_OK)
		st = take_peak(c, err);
	if (st == CEIL_OK && has_rate(&c->o))
		st = take_rate(c, err);
	if (st == CEIL_OK && has_rate(&c->o))
		st = ceil_mfu_of(&c->page.in, &c->page.mfu, err);
	return st;
}

static enum ceil_status print_all(struct call *c, struct ceil_error *err)
{
	ceil_mfu_print_count(stdout, &c->page);
	if (c->o.breakdown)
		ceil_mfu_print_breakdown(stdout, &c->page);
	if (has_rate(&c->o))
		ceil_mfu_print_result(stdout, &c->page);
	if (c->o.attainable || c->o.sweep)
		return print_bound(c, err);
	return CEIL_OK;
}

static int run_mfu(int argc, char **argv)
{
	struct call c = {.o = {.dtype = "bf16",
	                       .gpu_count = 1,
	                       .params = (double)NAN,
	                       .tokens_per_s = (double)NAN,
	                       .step_time = (double)NAN,
	                       .peak_tflops = (double)NAN,
	                       .dram_gb_s = (double)NAN,
	                       .all_reduce_gb_s = (double)NAN,
	                       .gpu_memory_gib = (double)NAN}};
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st;
	int rest, code;

	if (!ceil_cli_parse(&ceil_command_mfu, argc, argv, &c.o, &rest, &code))
		return code;
	if (c.o.model && !strcmp(c.o.model, "list")) {
		ceil_mfu_print_models(stdout);
		return CEIL_EXIT_OK;
	}
	st = rest ? ceil_fail(&err, CEIL_E_USAGE, "what is '%s'? The model is named by --model",
	                      argv[1])
	          : work_out(&c, &err);
	if (st == CEIL_OK)
		st = print_all(&c, &err);
	ceil_mfu_source_done(&c.source);
	return st == CEIL_OK ? CEIL_EXIT_OK : ceil_cli_error(&err);
}
