/* gpuceil mfu: model FLOPs utilization, with its arithmetic, and the best that a model could reach.
 */
#include "harness/base/table.h"
#include "harness/base/text.h"
#include "harness/cli/commands.h"
#include "harness/cli/mfu_call.h"
#include "harness/output/hf_config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OPTION(member, name, type, argument, group, doc)                                           \
	CEIL_OPTION(struct ceil_mfu_options, member, name, type, argument, group, NULL, doc)
#define CHOICE(member, name, choices, doc)                                                         \
	CEIL_OPTION(struct ceil_mfu_options, member, name, CEIL_O_CHOICE, "RULE", COUNTING,        \
	            choices, doc)

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
	OPTION(numbers.vocab, "vocab", CEIL_O_U64, "N", MODEL,
               "vocabulary; with --model or --config: as it is padded"),
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
	OPTION(shapes, "shapes", CEIL_O_FLAG, NULL, BOUND,
               "only list the model's own products as CSV: `gpuceil bench gemm --shapes FILE` "
               "measures them"),
	OPTION(records, "records", CEIL_O_TEXT, "FILE", BOUND,
               "the run that measured those: its folder or records.csv; default --ceilings"),
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
	.summary = "works out the MFU of a training run, and the best that it could be",
	.doc = "MFU is model FLOP/s over the datasheet's dense figure. Ratios to other peaks have "
	       "their own names: of_theoretical, of_burst, of_sustained. Publish MFU; tune against "
	       "of_sustained.\n"
	       "FLOPs are counted by a named convention, since publishers use several.",
	.options = option_rows,
	.option_count = sizeof(option_rows) / sizeof(option_rows[0]),
	.examples =
		"gpuceil mfu --model gpt2 --step-time 0.755 --batch 100 --part A100 --convention "
		"products\twhat nanoGPT's notebook works out: 37.1 %\n"
		"gpuceil mfu --config config.json --seq 8192 --tokens-per-s 95e3 --ceilings "
		"results/latest\tagainst this node's own ceilings\n"
		"gpuceil mfu --model llama3-8b --attainable --batch 4 --ceilings results/latest\t"
		"the best that this model could reach here\n"
		"gpuceil mfu --model gpt2-medium --batch 16 --shapes > shapes.csv\t"
		"its products, for `gpuceil bench gemm --shapes shapes.csv --output own`\n"
		"gpuceil mfu --model gpt2-medium --batch 16 --attainable --ceilings results/latest "
		"--records own\tthe bound at the rates of these very products\n",
	.run = run_mfu,
};

/* ---- the model */

/* A vocabulary alone makes no model: it may pad that of a known one. */
static bool has_numbers(const struct ceil_model_numbers *n)
{
	return n->layers || n->hidden || n->heads || n->kv_heads || n->head_dim || n->ffn ||
	       n->experts || n->active_experts;
}

/* Options that would change nothing beside a model that is named, or beside --params alone. */
static enum ceil_status check_numbers_alone(const struct ceil_mfu_options *o,
                                            struct ceil_error *err)
{
	const char *idle = o->numbers.gated ? "gated" : o->numbers.untied ? "untied" : NULL;

	if (o->numbers.vocab && !o->model && !o->config)
		idle = "vocab";
	if (!idle || has_numbers(&o->numbers))
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE,
	                 "--%s says more of --layers, --hidden, ...: it needs them", idle);
}

static enum ceil_status check_one_model(const struct ceil_mfu_options *o, struct ceil_error *err)
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
	return check_numbers_alone(o, err);
}

/* Rows that are allocated beyond the vocabulary, since products like whole multiples of 64. */
static enum ceil_status pad_vocab(struct ceil_mfu_call *c, struct ceil_error *err)
{
	const uint64_t vocab = c->o.numbers.vocab;

	if (!vocab || has_numbers(&c->o.numbers))
		return CEIL_OK;
	if (vocab < c->model.vocab)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--vocab is %" PRIu64 "; %s has %" PRIu64 " tokens", vocab,
		                 c->model.name, c->model.vocab);
	c->model.vocab = vocab;
	return CEIL_OK;
}

static enum ceil_status take_model(struct ceil_mfu_call *c, struct ceil_error *err)
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
	return st == CEIL_OK ? pad_vocab(c, err) : st;
}

/* Learned positions end; longer samples need a table that the model does not have. */
static void warn_of_positions(const struct ceil_model *m, uint64_t seq)
{
	if (m->positions && seq > m->seq)
		fprintf(stderr,
		        "gpuceil: warning: --seq %" PRIu64 " is over the %" PRIu64
		        " positions that %s learned\n",
		        seq, m->seq, m->name);
}

static bool has_encoder(const struct ceil_model *m)
{
	for (size_t i = 0; i < m->block_count; i++) {
		if (m->blocks[i].side == CEIL_ENCODER)
			return true;
	}
	return false;
}

static enum ceil_status count_flops(struct ceil_mfu_call *c, struct ceil_error *err)
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
	if (c->o.source_seq && !has_encoder(p->model))
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--source-seq: %s is no encoder-decoder, it has no source",
		                 p->model->name);
	warn_of_positions(p->model, c->o.seq);
	st = ceil_sizes_of(p->model, c->o.batch ? c->o.batch : 1, c->o.seq, c->o.source_seq,
	                   &p->sizes, err);
	return st == CEIL_OK ? ceil_flops_of(p->model, &p->sizes, &p->count, &p->flops, err) : st;
}

/* ---- the rate */

static enum ceil_status take_rate(struct ceil_mfu_call *c, struct ceil_error *err)
{
	const struct ceil_mfu_options *o = &c->o;
	struct ceil_mfu_page *p = &c->page;

	p->step_seconds = o->step_time;
	p->in.flops = p->flops;
	p->in.gpu_count = (double)o->gpu_count;
	if (!isnan(o->tokens_per_s) && !isnan(o->step_time))
		return ceil_fail(err, CEIL_E_USAGE, "give --tokens-per-s or --step-time, not both");
	if (!isnan(o->tokens_per_s) && !(o->tokens_per_s > 0.0))
		return ceil_fail(err, CEIL_E_USAGE, "--tokens-per-s is %g; it must be positive",
		                 o->tokens_per_s);
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

/* ---- the command */

/* The i-th option's value if it is a count, else NULL. */
static uint64_t *count_of(struct ceil_mfu_options *o, size_t i)
{
	return option_rows[i].type == CEIL_O_U64 ? (void *)((char *)o + option_rows[i].offset)
	                                         : NULL;
}

/* Before parsing, so that a 0 that is given differs from nothing given. */
static void clear_counts(struct ceil_mfu_options *o)
{
	for (size_t i = 0; i < ceil_command_mfu.option_count; i++) {
		if (count_of(o, i))
			*count_of(o, i) = CEIL_ABSENT_U64;
	}
}

/* Nothing here can be counted as 0. From now on 0 is a count that was not given. */
static enum ceil_status take_counts(struct ceil_mfu_options *o, struct ceil_error *err)
{
	for (size_t i = 0; i < ceil_command_mfu.option_count; i++) {
		uint64_t *count = count_of(o, i);

		if (count && !*count)
			return ceil_fail(err, CEIL_E_USAGE, "--%s is 0; it must be at least 1",
			                 option_rows[i].name);
		if (count && *count == CEIL_ABSENT_U64)
			*count = 0;
	}
	o->gpu_count = o->gpu_count ? o->gpu_count : 1;
	return CEIL_OK;
}

/* What only a bound reads would change nothing without one. */
static enum ceil_status check_bound_options(const struct ceil_mfu_options *o,
                                            struct ceil_error *err)
{
	const char *idle = o->records                   ? "records"
	                   : !isnan(o->dram_gb_s)       ? "dram-gb-s"
	                   : !isnan(o->all_reduce_gb_s) ? "all-reduce-gb-s"
	                                                : NULL;

	if (idle && !o->attainable && !o->sweep)
		return ceil_fail(err, CEIL_E_USAGE, "--%s needs --attainable or --sweep-batch",
		                 idle);
	if (!isnan(o->gpu_memory_gib) && !o->sweep)
		return ceil_fail(err, CEIL_E_USAGE, "--gpu-memory-gib needs --sweep-batch");
	return CEIL_OK;
}

static enum ceil_status check_options(const struct ceil_mfu_options *o, struct ceil_error *err)
{
	/* That of a model which is counted: ceil_model_check. */
	const double most_params = 1e17;

	if (!isnan(o->params) && !(o->params > 0.0))
		return ceil_fail(err, CEIL_E_USAGE, "--params is %g; it must be positive",
		                 o->params);
	if (o->params > most_params)
		return ceil_fail(err, CEIL_E_USAGE, "--params is %g; at most %g can be counted",
		                 o->params, most_params);
	if (!isnan(o->gpu_memory_gib) && !(o->gpu_memory_gib > 0.0))
		return ceil_fail(err, CEIL_E_USAGE, "--gpu-memory-gib is %g; it must be positive",
		                 o->gpu_memory_gib);
	return check_bound_options(o, err);
}

static enum ceil_status work_out(struct ceil_mfu_call *c, struct ceil_error *err)
{
	enum ceil_status st = take_counts(&c->o, err);

	if (st == CEIL_OK)
		st = check_options(&c->o, err);
	c->o.params = isnan(c->o.params) ? 0.0 : c->o.params;
	if (st == CEIL_OK)
		st = take_model(c, err);
	if (st == CEIL_OK)
		st = count_flops(c, err);
	if (st == CEIL_OK)
		st = ceil_mfu_take_peak(c, err);
	if (st == CEIL_OK && ceil_mfu_has_rate(&c->o))
		st = take_rate(c, err);
	if (st == CEIL_OK && ceil_mfu_has_rate(&c->o))
		st = ceil_mfu_of(&c->page.in, &c->page.mfu, err);
	return st;
}

static enum ceil_status print_all(struct ceil_mfu_call *c, struct ceil_error *err)
{
	if (c->o.shapes)
		return ceil_mfu_shapes(c, err);
	ceil_mfu_print_count(stdout, &c->page);
	if (c->o.breakdown)
		ceil_mfu_print_breakdown(stdout, &c->page);
	if (ceil_mfu_has_rate(&c->o))
		ceil_mfu_print_result(stdout, &c->page);
	if (c->o.attainable || c->o.sweep)
		return ceil_mfu_bound(c, err);
	return CEIL_OK;
}

static int run_mfu(int argc, char **argv)
{
	struct ceil_mfu_call c = {.o = {.dtype = "bf16",
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

	clear_counts(&c.o);
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
	ceil_mfu_source_done(&c.measured);
	return st == CEIL_OK ? CEIL_EXIT_OK : ceil_cli_error(&err);
}
