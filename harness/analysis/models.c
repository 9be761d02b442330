/*
 * The built-in models: sizes as their publications give them, each with its document and date.
 *
 * tests/t_model.c compares what these rows lead to with published numbers of parameters.
 */
#include "harness/analysis/model.h"

/* GPT-2 and GPT-3: LayerNorm and biases everywhere, learned positions, tied table. */
#define GPT(name_, source_, layers_, hidden_, heads_, dim_, seq_)                                  \
	{                                                                                          \
		.name = name_, .source = source_, .hidden = (hidden_), .vocab = 50257,             \
		.seq = (seq_), .positions = (seq_), .final_vectors = 2, .tied = true,              \
		.block_count = 1, .blocks = {                                                      \
			{.layers = (layers_),                                                      \
			 .norm_vectors = 4,                                                        \
			 .attention = {.heads = (heads_),                                          \
			               .kv_heads = (heads_),                                       \
			               .qk_dim = (dim_),                                           \
			               .v_dim = (dim_),                                            \
			               .causal = true,                                             \
			               .qkv_bias = true,                                           \
			               .out_bias = true},                                          \
			 .ffn = {.inner = 4 * (uint64_t)(hidden_), .bias = true}}                  \
		}                                                                                  \
	}

/* Llama and its likes: RMS norms, no biases, gated feed-forward, rotary positions. */
#define LLAMA_BLOCK(layers_, heads_, kv_, dim_, window_, norms_, ...)                              \
	{                                                                                          \
		.layers = (layers_), .norm_vectors = (norms_),                                     \
		.attention = {.heads = (heads_),                                                   \
		              .kv_heads = (kv_),                                                   \
		              .qk_dim = (dim_),                                                    \
		              .v_dim = (dim_),                                                     \
		              .window = (window_),                                                 \
		              .causal = true},                                                     \
		.ffn = {.gated = true,                                                             \
			__VA_ARGS__ }                                                              \
	}

#define LLAMA(name_, source_, layers_, hidden_, heads_, kv_, dim_, inner_, vocab_, seq_)           \
	{                                                                                          \
		.name = name_, .source = source_, .hidden = (hidden_), .vocab = (vocab_),          \
		.seq = (seq_), .final_vectors = 1, .block_count = 1, .blocks = {                   \
			LLAMA_BLOCK(layers_, heads_, kv_, dim_, 0, 2, .inner = (inner_))           \
		}                                                                                  \
	}

#define MIXTRAL(name_, source_, layers_, hidden_, heads_, kv_, inner_, vocab_, seq_)               \
	{                                                                                          \
		.name = name_, .source = source_, .hidden = (hidden_), .vocab = (vocab_),          \
		.seq = (seq_), .final_vectors = 1, .block_count = 1, .blocks = {                   \
			LLAMA_BLOCK(layers_, heads_, kv_, 128, 0, 2, .experts = 8, .active = 2,    \
			            .expert_inner = (inner_))                                      \
		}                                                                                  \
	}

/* Multi-head latent attention of DeepSeek-V2 and V3: heads of 128 + 64 rotary, values of 128. */
#define MLA_BLOCK(layers_, heads_, q_rank_, ...)                                                   \
	{                                                                                          \
		.layers = (layers_), .norm_vectors = 2,                                            \
		.attention = {.heads = (heads_),                                                   \
		              .kv_heads = (heads_),                                                \
		              .qk_dim = 192,                                                       \
		              .v_dim = 128,                                                        \
		              .q_rank = (q_rank_),                                                 \
		              .kv_rank = 512,                                                      \
		              .rope_dim = 64,                                                      \
		              .causal = true},                                                     \
		.ffn = {.gated = true,                                                             \
			__VA_ARGS__ }                                                              \
	}

/* Encoders that see both ways: LayerNorm and biases everywhere. */
#define ENCODER_BLOCK(layers_, hidden_, heads_, dim_)                                              \
	{                                                                                          \
		.layers = (layers_), .norm_vectors = 4,                                            \
		.attention = {.heads = (heads_),                                                   \
		              .kv_heads = (heads_),                                                \
		              .qk_dim = (dim_),                                                    \
		              .v_dim = (dim_),                                                     \
		              .qkv_bias = true,                                                    \
		              .out_bias = true},                                                   \
		.ffn = {.inner = 4 * (uint64_t)(hidden_),                                          \
			.bias = true }                                                             \
	}

#define BERT(name_, source_, layers_, hidden_, heads_)                                             \
	{                                                                                          \
		.name = name_, .source = source_, .hidden = (hidden_), .vocab = 30522, .seq = 512, \
		.positions = 512 + 2, .embed_vectors = 2, .tied = true, .logits_bias = true,       \
		.transform = true, .block_count = 1, .blocks = {                                   \
			ENCODER_BLOCK(layers_, hidden_, heads_, 64)                                \
		}                                                                                  \
	}

#define VIT(name_, source_, patch_, layers_, hidden_, heads_, dim_)                                \
	{                                                                                          \
		.name = name_, .source = source_, .hidden = (hidden_),                             \
		.patch_inputs = 3 * (patch_) * (patch_),                                           \
		.patches = (224 / (patch_)) * (224 / (patch_)), .prefix_tokens = 1,                \
		.classes = 1000, .final_vectors = 2, .logits_bias = true, .block_count = 1,        \
		.note = "images of 224 x 224", .blocks = {                                         \
			ENCODER_BLOCK(layers_, hidden_, heads_, dim_)                              \
		}                                                                                  \
	}

#define T5_BLOCK(layers_, side_, heads_, inner_, norms_, decoder_)                                 \
	{                                                                                          \
		.layers = (layers_), .side = (side_), .norm_vectors = (norms_),                    \
		.attention = {.heads = (heads_),                                                   \
		              .kv_heads = (heads_),                                                \
		              .qk_dim = 64,                                                        \
		              .v_dim = 64,                                                         \
		              .causal = (decoder_),                                                \
		              .cross = (decoder_)},                                                \
		.ffn = {.inner = (inner_) }                                                        \
	}

/* extra_params: a table of 32 relative positions per head, in the first layer of each side. */
#define T5(name_, source_, layers_, hidden_, heads_, inner_)                                       \
	{                                                                                          \
		.name = name_, .source = source_, .hidden = (hidden_), .vocab = 32128, .seq = 512, \
		.final_vectors = 2, .extra_params = 2 * 32 * (heads_), .tied = true,               \
		.score_bias = true, .block_count = 2, .blocks = {                                  \
			T5_BLOCK(layers_, CEIL_ENCODER, heads_, inner_, 2, false),                 \
			T5_BLOCK(layers_, CEIL_MAIN, heads_, inner_, 3, true)                      \
		}                                                                                  \
	}

/* PaLM: multi-query attention beside a gated feed-forward, one norm without bias, tied. */
#define PALM(name_, source_, layers_, hidden_, heads_)                                             \
	{                                                                                          \
		.name = name_, .source = source_, .hidden = (hidden_), .vocab = 256000,            \
		.seq = 2048, .final_vectors = 1, .tied = true, .block_count = 1, .blocks = {       \
			LLAMA_BLOCK(layers_, heads_, 1, 256, 0, 1,                                 \
			            .inner = 4 * (uint64_t)(hidden_))                              \
		}                                                                                  \
	}

#define GPT2_SOURCE    "Radford et al., GPT-2 report, table 2 (2019-02)"
#define GPT3_SOURCE    "Brown et al., arXiv 2005.14165 table 2.1 (2020-05)"
#define LLAMA1_SOURCE  "Touvron et al., arXiv 2302.13971 table 2 (2023-02)"
#define LLAMA2_SOURCE  "arXiv 2307.09288; config.json of each size (2023-07)"
#define LLAMA3_SOURCE  "Grattafiori et al., arXiv 2407.21783 table 3 (2024-07)"
#define MISTRAL_SOURCE "Jiang et al., arXiv 2310.06825 table 1 (2023-10)"
#define MIXTRAL_SOURCE "Jiang et al., arXiv 2401.04088 table 1 (2024-01)"
#define BERT_SOURCE    "Devlin et al., arXiv 1810.04805 section 3 (2018-10)"
#define VIT_SOURCE     "Dosovitskiy et al., arXiv 2010.11929 table 1 (2020-10)"
#define T5_SOURCE      "Raffel et al., arXiv 1910.10683 section 3.7 (2019-10)"
#define PALM_SOURCE    "Chowdhery et al., arXiv 2204.02311 table 1 (2022-04)"
#define QWEN3_SOURCE   "Yang et al., arXiv 2505.09388 table 2 (2025-05)"

const struct ceil_model ceil_models[] = {
	GPT("gpt2", GPT2_SOURCE, 12, 768, 12, 64, 1024),
	GPT("gpt2-medium", GPT2_SOURCE, 24, 1024, 16, 64, 1024),
	GPT("gpt2-large", GPT2_SOURCE, 36, 1280, 20, 64, 1024),
	GPT("gpt2-xl", GPT2_SOURCE, 48, 1600, 25, 64, 1024),
	GPT("gpt3-125m", GPT3_SOURCE, 12, 768, 12, 64, 2048),
	GPT("gpt3-350m", GPT3_SOURCE, 24, 1024, 16, 64, 2048),
	GPT("gpt3-760m", GPT3_SOURCE, 24, 1536, 16, 96, 2048),
	/* Table 2.1 says 24 heads; the 1320 M parameters of table D.1 need 16. */
	GPT("gpt3-1.3b", GPT3_SOURCE, 24, 2048, 16, 128, 2048),
	GPT("gpt3-2.7b", GPT3_SOURCE, 32, 2560, 32, 80, 2048),
	GPT("gpt3-6.7b", GPT3_SOURCE, 32, 4096, 32, 128, 2048),
	/* Table 2.1 says 5140; the 12850 M parameters of table D.1 need 40 heads of 128: 5120. */
	GPT("gpt3-13b", GPT3_SOURCE, 40, 5120, 40, 128, 2048),
	GPT("gpt3-175b", GPT3_SOURCE, 96, 12288, 96, 128, 2048),
	LLAMA("llama-7b", LLAMA1_SOURCE, 32, 4096, 32, 32, 128, 11008, 32000, 2048),
	LLAMA("llama-65b", LLAMA1_SOURCE, 80, 8192, 64, 64, 128, 22016, 32000, 2048),
	LLAMA("llama2-7b", LLAMA2_SOURCE, 32, 4096, 32, 32, 128, 11008, 32000, 4096),
	LLAMA("llama2-13b", LLAMA2_SOURCE, 40, 5120, 40, 40, 128, 13824, 32000, 4096),
	LLAMA("llama2-70b", LLAMA2_SOURCE, 80, 8192, 64, 8, 128, 28672, 32000, 4096),
	LLAMA("llama3-8b", LLAMA3_SOURCE, 32, 4096, 32, 8, 128, 14336, 128256, 8192),
	LLAMA("llama3-70b", LLAMA3_SOURCE, 80, 8192, 64, 8, 128, 28672, 128256, 8192),
	LLAMA("llama3-405b", LLAMA3_SOURCE, 126, 16384, 128, 8, 128, 53248, 128256, 8192),
	{
		.name = "mistral-7b",
		.source = MISTRAL_SOURCE,
		.hidden = 4096,
		.vocab = 32000,
		.seq = 8192,
		.final_vectors = 1,
		.block_count = 1,
		.blocks = {LLAMA_BLOCK(32, 32, 8, 128, 4096, 2, .inner = 14336)},
	},
	MIXTRAL("mixtral-8x7b", MIXTRAL_SOURCE, 32, 4096, 32, 8, 14336, 32000, 8192),
	MIXTRAL("mixtral-8x22b", "Mistral AI, config.json of Mixtral-8x22B-v0.1 (2024-04)", 56,
                6144, 48, 8, 16384, 32000, 8192),
	{
		.name = "qwen3-30b-a3b",
		.source = QWEN3_SOURCE,
		.hidden = 2048,
		.vocab = 151936,
		.seq = 4096,
		.final_vectors = 1,
		.block_count = 1,
		.blocks = {{.layers = 48,
                            .norm_vectors = 2,
                            .attention = {.heads = 32,
                                          .kv_heads = 4,
                                          .qk_dim = 128,
                                          .v_dim = 128,
                                          .extra_params = 2 * 128,
                                          .causal = true},
                            .ffn = {.gated = true,
                                    .experts = 128,
                                    .active = 8,
                                    .expert_inner = 768}}},
	},
	{
		.name = "deepseek-v2",
		.source = "DeepSeek-AI, arXiv 2405.04434 section 3.1.2 (2024-05)",
		.hidden = 5120,
		.vocab = 102400,
		.seq = 4096,
		.final_vectors = 1,
		.block_count = 2,
		.blocks = {MLA_BLOCK(1, 128, 1536, .inner = 12288),
                           MLA_BLOCK(59, 128, 1536, .experts = 160, .active = 6,
                                     .expert_inner = 1536, .shared_inner = 3072)},
	},
	{
		.name = "deepseek-v3",
		.source = "DeepSeek-AI, arXiv 2412.19437 section 4.2 (2024-12)",
		.note = "without the multi-token prediction module",
		.hidden = 7168,
		.vocab = 129280,
		.seq = 4096,
		.final_vectors = 1,
		.block_count = 2,
		.blocks = {MLA_BLOCK(3, 128, 1536, .inner = 18432),
                           MLA_BLOCK(58, 128, 1536, .experts = 256, .active = 8,
                                     .expert_inner = 2048, .shared_inner = 2048)},
	},
	PALM("palm-8b", PALM_SOURCE, 32, 4096, 16),
	PALM("palm-62b", PALM_SOURCE, 64, 8192, 32),
	PALM("palm-540b", PALM_SOURCE, 118, 18432, 48),
	BERT("bert-base", BERT_SOURCE, 12, 768, 12),
	BERT("bert-large", BERT_SOURCE, 24, 1024, 16),
	T5("t5-small", T5_SOURCE, 6, 512, 8, 2048),
	T5("t5-base", T5_SOURCE, 12, 768, 12, 3072),
	T5("t5-large", T5_SOURCE, 24, 1024, 16, 4096),
	VIT("vit-b-16", VIT_SOURCE, 16, 12, 768, 12, 64),
	VIT("vit-l-16", VIT_SOURCE, 16, 24, 1024, 16, 64),
	VIT("vit-h-14", VIT_SOURCE, 14, 32, 1280, 16, 80),
};
const size_t ceil_model_count = sizeof(ceil_models) / sizeof(ceil_models[0]);
