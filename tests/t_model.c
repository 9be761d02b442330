/* Parameters of the built-in models against published counts, plain numbers, and bad numbers. */
#include "harness/analysis/model.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/*
 * Published numbers of parameters. Exact ones are the counts of the released weights, as the
 * model pages of Hugging Face state them, or of the classes of transformers 5.24.0 built on
 * PyTorch's meta device; rounded ones are from the paper that the row of the table names.
 */
static const struct {
	const char *name;
	double total, active, tolerance; /* active 0: all */
	const char *source;
} published[] = {
	{"gpt2", 124439808, 0, 0, "released weights"},
	{"gpt2-medium", 354823168, 0, 0, "released weights"},
	{"gpt2-large", 774030080, 0, 0, "released weights"},
	{"gpt2-xl", 1557611200, 0, 0, "released weights"},
	{"gpt3-125m", 125e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"gpt3-350m", 356e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"gpt3-760m", 760e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"gpt3-1.3b", 1320e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"gpt3-2.7b", 2650e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"gpt3-6.7b", 6660e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"gpt3-13b", 12850e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"gpt3-175b", 174600e6, 0, 0.01, "arXiv 2005.14165 table D.1"},
	{"llama-7b", 6738415616, 0, 0, "released weights"},
	{"llama-65b", 65.2e9, 0, 0.01, "arXiv 2302.13971 table 2"},
	{"llama2-7b", 6738415616, 0, 0, "released weights"},
	{"llama2-13b", 13015864320, 0, 0, "released weights"},
	{"llama2-70b", 68976648192, 0, 0, "released weights"},
	{"llama3-8b", 8030261248, 0, 0, "released weights"},
	{"llama3-70b", 70553706496, 0, 0, "released weights"},
	{"llama3-405b", 405e9, 0, 0.01, "arXiv 2407.21783"},
	{"mistral-7b", 7241732096, 0, 0, "released weights"},
	{"mixtral-8x7b", 46702792704, 12.9e9, 0.01, "released weights; arXiv 2401.04088"},
	{"mixtral-8x22b", 141e9, 39e9, 0.01, "Mistral AI, Cheaper, Better, Faster, Stronger"},
	{"qwen3-30b-a3b", 30532122624, 3.3e9, 0.02, "released weights; model card"},
	{"deepseek-v2", 236e9, 21e9, 0.02, "arXiv 2405.04434"},
	{"deepseek-v3", 671e9, 37e9, 0.02, "arXiv 2412.19437"},
	{"palm-8b", 8.63e9, 0, 0.001, "arXiv 2204.02311 table 1"},
	{"palm-62b", 62.50e9, 0, 0.001, "arXiv 2204.02311 table 1"},
	{"palm-540b", 540.35e9, 0, 0.001, "arXiv 2204.02311 table 1"},
	{"bert-base", 109514298, 0, 0, "transformers BertForMaskedLM"},
	{"bert-large", 335174458, 0, 0, "transformers BertForMaskedLM"},
	{"t5-small", 60506624, 0, 0, "released weights"},
	{"t5-base", 222903552, 0, 0, "released weights"},
	{"t5-large", 737668096, 0, 0, "released weights"},
	{"vit-b-16", 86567656, 0, 0, "torchvision vit_b_16"},
	{"vit-l-16", 304326632, 0, 0, "torchvision vit_l_16"},
	{"vit-h-14", 632e6, 0, 0.001, "arXiv 2010.11929 table 1"},
};

static void parameters_are_the_published_ones(void)
{
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		const double want = published[i].total, slack = published[i].tolerance;
		const struct ceil_model *m;
		struct ceil_params p;

		if (!ok(ceil_model_find(published[i].name, &m, NULL) == CEIL_OK, "%s is known",
		        published[i].name))
			continue;
		ceil_model_params(m, &p);
		ok(fabs((double)p.total - want) <= slack * want, "%s: %" PRIu64 " of %.0f (%s)",
		   published[i].name, p.total, want, published[i].source);
		if (published[i].active <= 0) {
			is_u64(p.active, p.total, "a dense model is wholly active");
			continue;
		}
		ok(fabs((double)p.active / published[i].active - 1.0) <= fmax(slack, 0.01),
		   "%s: %" PRIu64 " active of %.3g", published[i].name, p.active,
		   published[i].active);
	}
}

static void every_model_has_a_source_and_adds_up(void)
{
	is_u64(ceil_model_count, sizeof(published) / sizeof(published[0]),
	       "each model has a published count");
	for (size_t i = 0; i < ceil_model_count; i++) {
		const struct ceil_model *m = &ceil_models[i];
		struct ceil_params p;
		struct ceil_error err = {0};

		ok(ceil_model_check(m, &err) == CEIL_OK, "%s can be counted: %s", m->name,
		   err.text);
		ok(strstr(m->source, "(20") != NULL, "%s names a document and its date", m->name);
		ok(m->seq || m->patches, "%s knows its sequence", m->name);
		for (size_t j = 0; j < i; j++)
			ok(strcmp(m->name, ceil_models[j].name) != 0, "%s is there once", m->name);
		ceil_model_params(m, &p);
		is_u64(p.tokens + p.positions + p.logits + p.attention + p.ffn + p.experts +
		               p.router + p.vectors + p.other,
		       p.total, "the kinds add up to the total");
	}
}

static void mixtral_counts_two_of_eight_experts(void)
{
	const struct ceil_model *m = NULL;
	struct ceil_params p;

	if (!ok(ceil_model_find("mixtral-8x7b", &m, NULL) == CEIL_OK, "mixtral-8x7b is known"))
		return;
	ceil_model_params(m, &p);
	is_u64(p.experts, UINT64_C(32) * 8 * 3 * 4096 * 14336, "eight experts of three matrices");
	is_u64(p.total - p.active, UINT64_C(32) * 6 * 3 * 4096 * 14336, "six of them idle");
	is_u64(p.router, UINT64_C(32) * 4096 * 8, "the router is a matrix too");
}

static void mistyped_names_get_a_suggestion(void)
{
	const struct ceil_model *m = NULL;
	struct ceil_error err = {0};

	is_int(ceil_model_find("gpt2-medum", &m, &err), CEIL_E_USAGE, "a mistyped model");
	has_text(err.text, "did you mean 'gpt2-medium'", "is suggested");
	is_int(ceil_model_find("zzzzzzzzzzz", &m, &err), CEIL_E_USAGE, "an unknown model");
	has_text(err.text, "--config", "is told of the other ways");
	ok(m == NULL, "and nothing is returned");
}

static void plain_numbers_make_a_decoder(void)
{
	const struct ceil_model_numbers n = {
		.layers = 12, .hidden = 768, .heads = 12, .vocab = 50257, .seq = 1024};
	struct ceil_error err = {0};
	struct ceil_model m;
	struct ceil_params p;

	is_int(ceil_model_from_numbers(&n, &m, &err), CEIL_OK, "GPT-2's sizes");
	ceil_model_params(&m, &p);
	is_u64(p.total, UINT64_C(12) * 12 * 768 * 768 + UINT64_C(50257) * 768,
	       "12 h^2 a layer and the token table");
	has_text(m.note, "feed-forward = 4 hidden", "what was assumed is said");
}

static void missing_and_wrong_numbers_are_named(void)
{
	static const struct {
		struct ceil_model_numbers n;
		const char *words;
	} cases[] = {
		{{.hidden = 768, .heads = 12, .seq = 1}, "--layers"},
		{{.layers = 1, .heads = 12, .seq = 1}, "--hidden"},
		{{.layers = 1, .hidden = 768}, "--heads --seq"},
		{{.layers = 1, .hidden = 770, .heads = 12, .seq = 1}, "give --head-dim"},
		{{.layers = 1, .hidden = 768, .heads = 12, .kv_heads = 24, .seq = 1},
	         "KV heads is 24"},
		{{.layers = 1, .hidden = 768, .heads = 12, .kv_heads = 5, .seq = 1},
	         "do not divide"},
		{{.layers = 1, .hidden = 768, .heads = 12, .experts = 8, .seq = 1},
	         "--active-experts"},
		{{.layers = 1,
	          .hidden = 768,
	          .heads = 12,
	          .experts = 8,
	          .active_experts = 9,
	          .seq = 1},
	         "active experts is 9"},
		{{.layers = UINT64_MAX, .hidden = 768, .heads = 12, .seq = 1}, "layers is"},
		{{.layers = 1, .hidden = UINT64_C(1) << 40, .heads = 1, .seq = 1},
	         "hidden size is"},
		{{.layers = 100000, .hidden = 1 << 24, .heads = 1, .ffn = 1 << 24, .seq = 1},
	         "parameters"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ceil_error err = {0};
		struct ceil_model m = {.name = "untouched"};

		is_int(ceil_model_from_numbers(&cases[i].n, &m, &err), CEIL_E_USAGE,
		       "wrong numbers are refused");
		has_text(err.text, cases[i].words, "by name");
		is_text(m.name, "untouched", "and nothing is returned");
	}
}

int main(void)
{
	parameters_are_the_published_ones();
	every_model_has_a_source_and_adds_up();
	mixtral_counts_two_of_eight_experts();
	mistyped_names_get_a_suggestion();
	plain_numbers_make_a_decoder();
	missing_and_wrong_numbers_are_named();
	return done_testing();
}
