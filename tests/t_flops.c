/* FLOPs by each convention against figures that others published or counted. */
#include "harness/analysis/flops.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

/* A model of the table and its sizes; a failure is a failed check. */
static const struct ceil_model *known(const char *name, uint64_t batch, uint64_t seq,
                                      uint64_t source, struct ceil_sizes *ret_s)
{
	const struct ceil_model *m = &ceil_models[0];
	struct ceil_error err = {0};

	*ret_s = (struct ceil_sizes){.batch = 1, .seq = 1, .source_seq = 1};
	if (ceil_model_find(name, &m, &err) != CEIL_OK ||
	    ceil_sizes_of(m, batch, seq, source, ret_s, &err) != CEIL_OK)
		ok(false, "%s: %s", name, err.text);
	return m;
}

static struct ceil_flops count(const char *name, uint64_t seq, uint64_t source,
                               const char *convention, enum ceil_embeddings embeddings,
                               enum ceil_recompute recompute)
{
	struct ceil_flops_options o = {.embeddings = embeddings, .recompute = recompute};
	struct ceil_sizes s;
	const struct ceil_model *m = known(name, 1, seq, source, &s);
	struct ceil_flops f = {.model = -1.0};
	struct ceil_error err = {0};

	while (strcmp(ceil_conventions[o.convention].name, convention) != 0)
		o.convention++;
	if (ceil_flops_of(m, &s, &o, &f, &err) != CEIL_OK)
		ok(false, "%s: %s", name, err.text);
	return f;
}

static double per_token(const char *name, uint64_t seq, const char *convention,
                        enum ceil_embeddings embeddings)
{
	const struct ceil_flops f =
		count(name, seq, 0, convention, embeddings, CEIL_RECOMPUTE_NONE);

	return f.model / f.tokens;
}

/* The worked example: 6 x 124 439 808 + 12 x 12 x 12 x 64 x 1024, and what others print for it. */
static void gpt2_is_counted_as_others_count_it(void)
{
	const struct ceil_flops f =
		count("gpt2", 1024, 0, "palm", CEIL_EMBED_IN, CEIL_RECOMPUTE_NONE);

	is_close(f.weights / f.tokens, 6.0 * 124439808.0, 0, "6 N");
	is_close(f.attention / f.tokens, 113246208.0, 0, "12 L H Q T");
	is_close(per_token("gpt2", 1024, "palm", CEIL_EMBED_IN) / 1e6, 859.9, 0.05,
	         "PaLM with every parameter: 859.9 MFLOP");
	is_close(per_token("gpt2", 1024, "palm", CEIL_EMBED_LOGITS) / 1e6, 855.2, 0.05,
	         "nanoGPT's N has no positions: 855.2");
	is_close(per_token("gpt2", 1024, "causal", CEIL_EMBED_IN) / 1e6, 803.3, 0.05,
	         "llm.c's causal half: 803.3");
	is_close(per_token("gpt2", 1024, "6n", CEIL_EMBED_IN) / 1e6, 746.6, 0.05,
	         "6 N alone: 746.6");
	is_close(per_token("gpt2", 1024, "6n", CEIL_EMBED_OUT), 6.0 * 85056000.0, 0,
	         "Kaplan's N has no embeddings");
}

/*
 * Forward and backward of one sample, counted by PyTorch 2.15's FlopCounterMode on the meta device
 * over the classes of transformers 5.24.0 with eager attention; gpt2 is also the total of nanoGPT's
 * transformer_sizing.ipynb. All to the last FLOP.
 */
static void products_are_those_of_flop_counter_mode(void)
{
	static const struct {
		const char *name;
		uint64_t seq, source;
		double forward, total;
	} counted[] = {
		{"gpt2", 1024, 0, 291648307200.0, 874944921600.0},
		{"gpt2-medium", 1024, 0, 826951073792.0, 2480853221376.0},
		{"llama2-7b", 4096, 0, 62921270886400.0, 188763812659200.0},
		{"llama3-8b", 8192, 0, 158140695838720.0, 474422087516160.0},
		{"mistral-7b", 2048, 0, 31323196489728.0, 93969589469184.0},
		{"bert-base", 512, 0, 121244221440.0, 363732664320.0},
		{"vit-b-16", 0, 0, 35127656448.0, 105151758336.0},
		{"vit-l-16", 0, 0, 123109425152.0, 369019994112.0},
		{"t5-small", 512, 512, 71605157888.0, 214815473664.0},
		{"t5-small", 128, 512, 36624662528.0, 109873987584.0},
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		const struct ceil_flops f =
			count(counted[i].name, counted[i].seq, counted[i].source, "products",
		              CEIL_EMBED_IN, CEIL_RECOMPUTE_NONE);
		double forward = 0.0, parts = 0.0;

		for (int c = 0; c < CEIL_COMP_COUNT; c++) {
			forward += f.forward[c];
			parts += f.forward[c] + f.dgrad[c] + f.wgrad[c];
		}
		is_close(forward, counted[i].forward, 0, counted[i].name);
		is_close(f.model, counted[i].total, 0, "and its backward pass");
		is_close(parts, f.model, 0, "the parts add up to the whole");
	}
}

/* Published FLOPs of a forward pass and of whole trainings. */
static void published_totals_are_met(void)
{
	static const struct {
		const char *name;
		double tokens, flops;
	} trained[] = {
		/* arXiv 2005.14165 table D.1: total training compute over 300 G tokens. */
		{"gpt3-125m", 300e9, 2.25e20},
		{"gpt3-350m", 300e9, 6.41e20},
		{"gpt3-760m", 300e9, 1.37e21},
		{"gpt3-1.3b", 300e9, 2.38e21},
		{"gpt3-2.7b", 300e9, 4.77e21},
		{"gpt3-6.7b", 300e9, 1.20e22},
		{"gpt3-13b", 300e9, 2.31e22},
		{"gpt3-175b", 300e9, 3.14e23},
		/* arXiv 2407.21783 section 3.2: 3.8e25 FLOPs on 15.6 T tokens. */
		{"llama3-405b", 15.6e12, 3.8e25},
	};

	for (size_t i = 0; i < sizeof(trained) / sizeof(trained[0]); i++)
		is_close(per_token(trained[i].name, 0, "6n", CEIL_EMBED_IN) * trained[i].tokens /
		                 trained[i].flops,
		         1.0, 0.01, trained[i].name);
	/* torchvision lists 17.56 and 61.55 G multiply-adds for an image of 224 x 224. */
	is_close(count("vit-b-16", 0, 0, "products", 0, 0).model / 6.0 / 17.56e9, 1.0, 0.01,
	         "vit-b-16: 17.56 G multiply-adds forward");
	is_close(count("vit-l-16", 0, 0, "products", 0, 0).model / 6.0 / 61.55e9, 1.0, 0.01,
	         "vit-l-16: 61.55 G multiply-adds forward");
}

/*
 * Narayanan et al., arXiv 2104.04473 eq. 3: 96 B s l h^2 (1 + s/6h + V/16lh) with full
 * recomputation. GPT-3's own sizes, biases and norms multiply nothing.
 */
static void recomputation_is_hardware_not_model(void)
{
	const double s = 2048.0, l = 96.0, h = 12288.0, v = 50257.0;
	const double want = 96.0 * s * l * h * h * (1.0 + s / (6.0 * h) + v / (16.0 * l * h));
	const struct ceil_flops full =
		count("gpt3-175b", 2048, 0, "products", CEIL_EMBED_IN, CEIL_RECOMPUTE_FULL);
	const struct ceil_flops some =
		count("gpt3-175b", 2048, 0, "products", CEIL_EMBED_IN, CEIL_RECOMPUTE_SELECTIVE);
	const struct ceil_flops none =
		count("gpt3-175b", 2048, 0, "products", CEIL_EMBED_IN, CEIL_RECOMPUTE_NONE);

	is_close(full.hardware / want, 1.0, 1e-12, "full recomputation is Narayanan's formula");
	is_close(full.model, none.model, 0, "and never counts for the model");
	is_close(none.hardware, none.model, 0, "without it, both are the same");
	is_close(some.hardware - some.model, 4.0 * s * s * h * l, 1.0,
	         "selective: scores and context once more");
}

static void attention_rules_differ_where_they_should(void)
{
	const struct ceil_flops full =
		count("mistral-7b", 16384, 0, "products", CEIL_EMBED_IN, CEIL_RECOMPUTE_NONE);
	const struct ceil_flops causal = count("mistral-7b", 16384, 0, "products-causal",
	                                       CEIL_EMBED_IN, CEIL_RECOMPUTE_NONE);
	const struct ceil_flops v3 =
		count("deepseek-v3", 4096, 0, "palm", CEIL_EMBED_IN, CEIL_RECOMPUTE_NONE);

	is_close(full.attention / full.tokens, 12.0 * 32 * 32 * 128 * 4096, 1,
	         "a window bounds the keys of a query");
	is_close(causal.attention / full.attention, 1.0 - 4096.0 / 32768.0, 1e-12,
	         "the first tokens see less than their window");
	is_close(v3.attention / v3.tokens, 6.0 * 61 * 128 * (192 + 128) * 4096, 1,
	         "latent attention has two head sizes: 6 L H (qk + v) T");
	is_close(v3.n_params, 37552282624.0, 0, "and N is what a token passes");
	is_close(count("bert-base", 512, 0, "causal", 0, 0).model,
	         count("bert-base", 512, 0, "palm", 0, 0).model, 0,
	         "an encoder sees both ways: no half");
}

static void an_encoder_decoder_splits_its_tokens(void)
{
	const struct ceil_flops f =
		count("t5-base", 512, 512, "6n", CEIL_EMBED_IN, CEIL_RECOMPUTE_NONE);

	is_close(f.tokens, 1024, 0, "source and target both count as tokens");
	is_close(f.model / f.tokens, 3.0 * 222903552.0, 1, "so a token costs 3 N");
}

static void sizes_that_cannot_be_are_refused(void)
{
	struct ceil_model m = {.name = "bare"};
	struct ceil_sizes s = {.batch = 77};
	struct ceil_error err = {0};
	struct ceil_flops_options o = {.params = -1.0};
	struct ceil_flops f;

	is_int(ceil_sizes_of(&m, 1, 0, 0, &s, &err), CEIL_E_USAGE, "no sequence length");
	has_text(err.text, "--seq", "says what to give");
	is_int(ceil_sizes_of(&ceil_models[0], 0, 0, 0, &s, &err), CEIL_E_USAGE, "a batch of 0");
	is_int(ceil_sizes_of(&ceil_models[0], UINT64_MAX, 0, 0, &s, &err), CEIL_E_USAGE,
	       "a batch beyond reason");
	is_int(ceil_sizes_of(&ceil_models[0], 1, UINT64_MAX, 0, &s, &err), CEIL_E_USAGE,
	       "a sequence beyond reason");
	is_u64(s.batch, 77, "nothing is returned");
	m = ceil_models[ceil_model_count - 1];
	is_int(ceil_sizes_of(&m, 1, 1024, 0, &s, &err), CEIL_E_USAGE,
	       "an image has its own length");
	m = *known("gpt2", 1, 0, 0, &s);
	is_int(ceil_flops_of(&m, &s, &o, &f, &err), CEIL_E_USAGE, "negative parameters");
	o.params = (double)NAN;
	is_int(ceil_flops_of(&m, &s, &o, &f, &err), CEIL_E_USAGE, "NaN parameters");
}

static void the_list_of_products_is_whole(void)
{
	struct ceil_gemm gemms[CEIL_MAX_GEMMS];
	struct ceil_sizes s;
	const struct ceil_model *m = known("gpt2", 8, 1024, 0, &s);
	size_t n = ceil_model_gemms(m, &s, gemms);

	is_u64(n, 7, "GPT-2 has seven kinds of product");
	is_u64(gemms[0].m, 8192, "rows are tokens");
	is_u64(gemms[0].n, 2304, "queries, keys and values in one");
	is_u64(gemms[0].count, 12, "once a layer");
	is_u64(gemms[1].count, UINT64_C(12) * 12 * 8, "scores once a head and sample");
	is_close(gemms[1].causal_ratio, 0.5, 0, "half of it under the mask");
	for (size_t i = 0; i < ceil_model_count; i++) {
		m = known(ceil_models[i].name, 1, 0, 0, &s);
		ok(ceil_model_gemms(m, &s, gemms) <= CEIL_MAX_GEMMS, "%s fits the list",
		   ceil_models[i].name);
	}
	m = known("deepseek-v3", 1, 4, 0, &s);
	n = ceil_model_gemms(m, &s, gemms);
	is_u64(gemms[n - 2].count, UINT64_C(58) * 32, "four tokens reach 32 of 256 experts");
}

static void tables_name_each_rule_once(void)
{
	for (unsigned i = 0; i < CEIL_CONVENTION_COUNT; i++) {
		is_text(ceil_convention_names[i], ceil_conventions[i].name, "a choice has its row");
		ok(ceil_conventions[i].source[0] && ceil_conventions[i].doc[0],
		   "with source and doc");
	}
	ok(!ceil_convention_names[CEIL_CONVENTION_COUNT], "and no more");
	for (unsigned i = 0; i < CEIL_EMBED_COUNT; i++)
		is_text(ceil_embedding_names[i], ceil_embedding_rules[i].name, "embeddings");
	for (unsigned i = 0; i < CEIL_RECOMPUTE_COUNT; i++)
		is_text(ceil_recompute_names[i], ceil_recompute_rules[i].name, "recomputation");
	for (enum ceil_component c = 0; c < CEIL_COMP_COUNT; c++)
		ok(ceil_component_name(c)[0] && ceil_component_doc(c)[0], "component %d is named",
		   (int)c);
}

int main(void)
{
	gpt2_is_counted_as_others_count_it();
	products_are_those_of_flop_counter_mode();
	published_totals_are_met();
	recomputation_is_hardware_not_model();
	attention_rules_differ_where_they_should();
	an_encoder_decoder_splits_its_tokens();
	sizes_that_cannot_be_are_refused();
	the_list_of_products_is_whole();
	tables_name_each_rule_once();
	return done_testing();
}
