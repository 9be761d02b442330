/*
 * Hugging Face model types: class defaults and structure, one row each.
 *
 * Source: the configuration classes of transformers 5.24.0; the parameters that each row leads to
 * are checked against those classes' own count in tests/t_hf_config.c.
 */
#include "harness/output/hf_types.h"

#include <string.h>

const struct ceil_hf_key_names ceil_hf_keys[CEIL_HF_KEY_COUNT] = {
	[CEIL_HF_LAYERS] = {{"num_hidden_layers", "n_layer", "num_layers", "n_layers",
                             "encoder_layers"}},
	[CEIL_HF_HIDDEN] = {{"hidden_size", "n_embd", "d_model", "n_embed", "dim"}},
	[CEIL_HF_HEADS] = {{"num_attention_heads", "n_head", "num_heads", "n_heads",
                            "encoder_attention_heads"}},
	[CEIL_HF_KV_HEADS] = {{"num_key_value_heads", "num_kv_heads", "n_head_kv"}},
	[CEIL_HF_HEAD_DIM] = {{"head_dim", "d_kv"}},
	[CEIL_HF_FFN] = {{"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff",
                          "encoder_ffn_dim", "hidden_dim"}},
	[CEIL_HF_VOCAB] = {{"vocab_size"}},
	[CEIL_HF_POSITIONS] = {{"max_position_embeddings", "n_positions", "n_ctx"}},
	[CEIL_HF_TOKEN_TYPES] = {{"type_vocab_size"}},
	[CEIL_HF_EMBED_DIM] = {{"word_embed_proj_dim", "embedding_size"}},
	[CEIL_HF_WINDOW] = {{"sliding_window", "window_size"}},
	[CEIL_HF_PATTERN] = {{"sliding_window_pattern", "_sliding_window_pattern"}},
	[CEIL_HF_WINDOW_FROM] = {{"max_window_layers"}},
	[CEIL_HF_EXPERTS] = {{"num_local_experts", "num_experts", "n_routed_experts"}},
	[CEIL_HF_ACTIVE] = {{"num_experts_per_tok", "num_experts_per_token"}},
	[CEIL_HF_EXPERT_FFN] = {{"moe_intermediate_size"}},
	[CEIL_HF_SHARED] = {{"n_shared_experts"}},
	[CEIL_HF_SHARED_FFN] = {{"shared_expert_intermediate_size"}},
	[CEIL_HF_DENSE_FIRST] = {{"first_k_dense_replace"}},
	[CEIL_HF_MOE_STEP] = {{"decoder_sparse_step", "moe_layer_freq"}},
	[CEIL_HF_Q_RANK] = {{"q_lora_rank"}},
	[CEIL_HF_KV_RANK] = {{"kv_lora_rank"}},
	[CEIL_HF_NOPE_DIM] = {{"qk_nope_head_dim"}},
	[CEIL_HF_ROPE_DIM] = {{"qk_rope_head_dim"}},
	[CEIL_HF_V_DIM] = {{"v_head_dim"}},
	[CEIL_HF_DECODER_LAYERS] = {{"num_decoder_layers", "decoder_layers"}},
	[CEIL_HF_DECODER_HEADS] = {{"decoder_attention_heads"}},
	[CEIL_HF_DECODER_FFN] = {{"decoder_ffn_dim"}},
	[CEIL_HF_BUCKETS] = {{"relative_attention_num_buckets"}},
	[CEIL_HF_IMAGE] = {{"image_size"}},
	[CEIL_HF_PATCH] = {{"patch_size"}},
	[CEIL_HF_CHANNELS] = {{"num_channels"}},
};

const struct ceil_hf_switch ceil_hf_switches[] = {
	{"tie_word_embeddings", CEIL_HF_TIED, false},
	{"attention_bias", CEIL_HF_QKV_BIAS | CEIL_HF_OUT_BIAS, false},
	{"attention_out_bias", CEIL_HF_OUT_BIAS, false},
	{"qkv_bias", CEIL_HF_QKV_BIAS, false},
	{"use_qkv_bias", CEIL_HF_QKV_BIAS, false},
	{"mlp_bias", CEIL_HF_FFN_BIAS, false},
	{"bias", CEIL_HF_ALL_BIAS, false},
	{"use_bias", CEIL_HF_ALL_BIAS, false},
	{"enable_bias", CEIL_HF_ALL_BIAS, false},
	{"lm_head_bias", CEIL_HF_LOGITS_BIAS, false},
	{"use_qk_norm", CEIL_HF_QK_NORM, false},
	{"qk_layernorm", CEIL_HF_QK_NORM, false},
	{"use_sliding_window", CEIL_HF_WINDOWED, false},
	{"multi_query", CEIL_HF_MULTI_QUERY, false},
	{"is_decoder", CEIL_HF_CAUSAL, false},
	{"alibi", CEIL_HF_SCORE_BIAS, false},
	{"new_decoder_architecture", CEIL_HF_NEW_FALCON, false},
	{"parallel_attn", CEIL_HF_PARALLEL, false},
	{"use_parallel_residual", CEIL_HF_PARALLEL, false},
	{"do_layer_norm_before", CEIL_HF_NO_FINAL_NORM, true},
	{"_remove_final_layer_norm", CEIL_HF_NO_FINAL_NORM, false},
};
const size_t ceil_hf_switch_count = sizeof(ceil_hf_switches) / sizeof(ceil_hf_switches[0]);

/* Core sizes: layers, hidden, heads, KV heads (0: as heads), head size (0: hidden / heads). */
#define SIZES(l, h, a, kv, d, f, v)                                                                \
	.defaults[CEIL_HF_LAYERS] = (l), .defaults[CEIL_HF_HIDDEN] = (h),                          \
	.defaults[CEIL_HF_HEADS] = (a), .defaults[CEIL_HF_KV_HEADS] = (kv),                        \
	.defaults[CEIL_HF_HEAD_DIM] = (d), .defaults[CEIL_HF_FFN] = (f),                           \
	.defaults[CEIL_HF_VOCAB] = (v)

#define TYPE(name_, kind_, flags_, norms_, ...)                                                    \
	{                                                                                          \
		.name = name_, .kind = CEIL_HF_##kind_, .flags = (flags_), .norms = (norms_),      \
		__VA_ARGS__                                                                        \
	}

#define LLAMA CEIL_HF_GATED
#define GPT2  (CEIL_HF_ALL_BIAS | CEIL_HF_NORM_BIAS | CEIL_HF_TIED | CEIL_HF_LEARNED)
#define BERT_LIKE                                                                                  \
	(GPT2 | CEIL_HF_EMBED_NORM | CEIL_HF_NO_FINAL_NORM | CEIL_HF_TRANSFORM |                   \
	 CEIL_HF_LOGITS_BIAS)

const struct ceil_hf_type ceil_hf_types[] = {
	TYPE("albert", ENCODER, BERT_LIKE | CEIL_HF_SHARED_LAYERS, 2,
             SIZES(12, 4096, 64, 0, 0, 16384, 30000), .defaults[CEIL_HF_POSITIONS] = 512,
             .defaults[CEIL_HF_TOKEN_TYPES] = 2, .defaults[CEIL_HF_EMBED_DIM] = 128),
	TYPE("arcee", DECODER, 0, 2, SIZES(32, 2560, 32, 0, 0, 18432, 32000)),
	TYPE("bart", SEQ2SEQ, GPT2 | CEIL_HF_EMBED_NORM | CEIL_HF_NO_FINAL_NORM, 2,
             SIZES(12, 1024, 16, 0, 0, 4096, 50265), .defaults[CEIL_HF_POSITIONS] = 1024,
             .defaults[CEIL_HF_DECODER_LAYERS] = 12, .defaults[CEIL_HF_DECODER_HEADS] = 16,
             .defaults[CEIL_HF_DECODER_FFN] = 4096, .extra_positions = 2),
	TYPE("bert", ENCODER, BERT_LIKE, 2, SIZES(12, 768, 12, 0, 0, 3072, 30522),
             .defaults[CEIL_HF_POSITIONS] = 512, .defaults[CEIL_HF_TOKEN_TYPES] = 2),
	TYPE("bloom", DECODER,
             CEIL_HF_ALL_BIAS | CEIL_HF_NORM_BIAS | CEIL_HF_TIED | CEIL_HF_EMBED_NORM |
                     CEIL_HF_SCORE_BIAS,
             2, SIZES(2, 64, 8, 0, 0, 0, 250880)),
	TYPE("camembert", ENCODER, BERT_LIKE, 2, SIZES(12, 768, 12, 0, 0, 3072, 30522),
             .defaults[CEIL_HF_POSITIONS] = 512, .defaults[CEIL_HF_TOKEN_TYPES] = 2),
	TYPE("codegen", DECODER, CEIL_HF_FFN_BIAS | CEIL_HF_NORM_BIAS | CEIL_HF_LOGITS_BIAS, 1,
             SIZES(28, 4096, 16, 0, 0, 0, 50400)),
	TYPE("cohere", DECODER, LLAMA | CEIL_HF_TIED | CEIL_HF_QK_NORM_WIDE, 1,
             SIZES(40, 8192, 64, 0, 0, 22528, 256000)),
	TYPE("cohere2", DECODER, LLAMA | CEIL_HF_TIED | CEIL_HF_WINDOWED, 1,
             SIZES(40, 8192, 64, 0, 0, 22528, 256000), .defaults[CEIL_HF_WINDOW] = 4096,
             .defaults[CEIL_HF_PATTERN] = 4),
	TYPE("deepseek_v2", DECODER, LLAMA, 2, SIZES(32, 4096, 32, 0, 0, 11008, 102400),
             .defaults[CEIL_HF_EXPERTS] = 64, .defaults[CEIL_HF_EXPERT_FFN] = 1407,
             .defaults[CEIL_HF_SHARED] = 2, .defaults[CEIL_HF_Q_RANK] = 1536,
             .defaults[CEIL_HF_KV_RANK] = 512, .defaults[CEIL_HF_NOPE_DIM] = 128,
             .defaults[CEIL_HF_ROPE_DIM] = 64, .defaults[CEIL_HF_V_DIM] = 128),
	TYPE("deepseek_v3", DECODER, LLAMA, 2, SIZES(61, 7168, 128, 0, 0, 18432, 129280),
             .defaults[CEIL_HF_EXPERTS] = 256, .defaults[CEIL_HF_ACTIVE] = 8,
             .defaults[CEIL_HF_EXPERT_FFN] = 2048, .defaults[CEIL_HF_SHARED] = 1,
             .defaults[CEIL_HF_DENSE_FIRST] = 3, .defaults[CEIL_HF_Q_RANK] = 1536,
             .defaults[CEIL_HF_KV_RANK] = 512, .defaults[CEIL_HF_NOPE_DIM] = 128,
             .defaults[CEIL_HF_ROPE_DIM] = 64, .defaults[CEIL_HF_V_DIM] = 128,
             .note = "without the multi-token prediction module"),
	TYPE("deit", VISION, GPT2, 2, SIZES(12, 768, 12, 0, 0, 3072, 0),
             .defaults[CEIL_HF_IMAGE] = 224, .defaults[CEIL_HF_PATCH] = 16,
             .defaults[CEIL_HF_CHANNELS] = 3, .extra_positions = 2),
	TYPE("distilbert", ENCODER, BERT_LIKE, 2, SIZES(6, 768, 12, 0, 0, 3072, 30522),
             .defaults[CEIL_HF_POSITIONS] = 512),
	TYPE("ernie4_5", DECODER, LLAMA | CEIL_HF_TIED, 2,
             SIZES(18, 1024, 16, 2, 128, 3072, 103424)),
	TYPE("exaone4", DECODER, LLAMA | CEIL_HF_WINDOWED | CEIL_HF_QK_NORM, 2,
             SIZES(32, 4096, 32, 32, 0, 16384, 102400), .defaults[CEIL_HF_WINDOW] = 4096,
             .defaults[CEIL_HF_PATTERN] = 4),
	TYPE("falcon", DECODER,
             CEIL_HF_NORM_BIAS | CEIL_HF_TIED | CEIL_HF_MULTI_QUERY | CEIL_HF_PARALLEL |
                     CEIL_HF_PARALLEL_ONE,
             2, SIZES(32, 4544, 71, 0, 0, 0, 65024)),
	TYPE("gemma", DECODER, LLAMA | CEIL_HF_TIED, 2,
             SIZES(28, 3072, 16, 16, 256, 24576, 256000)),
	TYPE("gemma2", DECODER, LLAMA | CEIL_HF_TIED | CEIL_HF_WINDOWED, 4,
             SIZES(26, 2304, 8, 4, 256, 9216, 256000), .defaults[CEIL_HF_WINDOW] = 4096,
             .defaults[CEIL_HF_PATTERN] = 2),
	TYPE("gemma3_text", DECODER, LLAMA | CEIL_HF_TIED | CEIL_HF_WINDOWED | CEIL_HF_QK_NORM, 4,
             SIZES(26, 2304, 8, 4, 256, 9216, 262208), .defaults[CEIL_HF_WINDOW] = 4096,
             .defaults[CEIL_HF_PATTERN] = 6),
	TYPE("glm", DECODER, LLAMA | CEIL_HF_QKV_BIAS | CEIL_HF_OUT_APART, 2,
             SIZES(40, 4096, 32, 2, 128, 13696, 151552)),
	TYPE("glm4", DECODER, LLAMA | CEIL_HF_QKV_BIAS | CEIL_HF_OUT_APART, 4,
             SIZES(40, 4096, 32, 2, 128, 13696, 151552)),
	TYPE("glm4_moe", DECODER, LLAMA | CEIL_HF_OUT_APART, 2,
             SIZES(46, 4096, 96, 8, 0, 10944, 151552), .defaults[CEIL_HF_EXPERTS] = 128,
             .defaults[CEIL_HF_ACTIVE] = 8, .defaults[CEIL_HF_EXPERT_FFN] = 1408,
             .defaults[CEIL_HF_SHARED] = 1, .defaults[CEIL_HF_DENSE_FIRST] = 1,
             .note = "without the multi-token prediction module"),
	TYPE("gpt2", DECODER, GPT2, 2, SIZES(12, 768, 12, 0, 0, 0, 50257),
             .defaults[CEIL_HF_POSITIONS] = 1024),
	TYPE("gpt_bigcode", DECODER, GPT2 | CEIL_HF_MULTI_QUERY, 2,
             SIZES(12, 768, 12, 0, 0, 0, 50257), .defaults[CEIL_HF_POSITIONS] = 1024),
	TYPE("gpt_neo", DECODER, (GPT2 & ~(uint32_t)CEIL_HF_QKV_BIAS) | CEIL_HF_WINDOWED, 2,
             SIZES(24, 2048, 16, 0, 0, 0, 50257), .defaults[CEIL_HF_POSITIONS] = 2048,
             .defaults[CEIL_HF_WINDOW] = 256, .defaults[CEIL_HF_PATTERN] = 2),
	TYPE("gpt_neox", DECODER, CEIL_HF_ALL_BIAS | CEIL_HF_NORM_BIAS, 2,
             SIZES(44, 6144, 64, 0, 0, 24576, 50432)),
	TYPE("gpt_oss", DECODER,
             LLAMA | CEIL_HF_ALL_BIAS | CEIL_HF_ROUTER_BIAS | CEIL_HF_SINKS | CEIL_HF_WINDOWED, 2,
             SIZES(36, 2880, 64, 8, 64, 2880, 201088), .defaults[CEIL_HF_EXPERTS] = 128,
             .defaults[CEIL_HF_ACTIVE] = 4, .defaults[CEIL_HF_WINDOW] = 128,
             .defaults[CEIL_HF_PATTERN] = 2),
	TYPE("gptj", DECODER, CEIL_HF_FFN_BIAS | CEIL_HF_NORM_BIAS | CEIL_HF_LOGITS_BIAS, 1,
             SIZES(28, 4096, 16, 0, 0, 0, 50400)),
	TYPE("granite", DECODER, LLAMA, 2, SIZES(32, 4096, 32, 0, 0, 11008, 32000)),
	TYPE("granitemoe", DECODER, LLAMA, 2, SIZES(32, 4096, 32, 0, 0, 11008, 32000),
             .defaults[CEIL_HF_EXPERTS] = 8, .defaults[CEIL_HF_ACTIVE] = 2),
	TYPE("helium", DECODER, LLAMA, 2, SIZES(24, 2560, 20, 20, 128, 7040, 48000)),
	TYPE("hunyuan_v1_dense", DECODER, LLAMA | CEIL_HF_QK_NORM, 2,
             SIZES(32, 4096, 32, 0, 0, 11008, 290943)),
	TYPE("llama", DECODER, LLAMA, 2, SIZES(32, 4096, 32, 0, 0, 11008, 32000)),
	TYPE("ministral3", DECODER, LLAMA | CEIL_HF_WINDOWED, 2,
             SIZES(34, 4096, 32, 8, 128, 14336, 131072)),
	TYPE("mistral", DECODER, LLAMA | CEIL_HF_WINDOWED, 2,
             SIZES(32, 4096, 32, 8, 0, 14336, 32000), .defaults[CEIL_HF_WINDOW] = 4096),
	TYPE("mixtral", DECODER, LLAMA | CEIL_HF_WINDOWED, 2,
             SIZES(32, 4096, 32, 8, 0, 14336, 32000), .defaults[CEIL_HF_EXPERTS] = 8,
             .defaults[CEIL_HF_ACTIVE] = 2),
	TYPE("mt5", SEQ2SEQ, LLAMA | CEIL_HF_TIED | CEIL_HF_SCORE_BIAS, 2,
             SIZES(8, 512, 6, 0, 64, 1024, 250112), .defaults[CEIL_HF_BUCKETS] = 32),
	TYPE("nemotron", DECODER, CEIL_HF_NORM_BIAS, 2, SIZES(32, 6144, 48, 0, 0, 24576, 256000)),
	TYPE("olmo", DECODER, LLAMA | CEIL_HF_NO_FINAL_NORM, 0,
             SIZES(32, 4096, 32, 0, 0, 11008, 50304)),
	TYPE("olmo2", DECODER, LLAMA | CEIL_HF_QK_NORM | CEIL_HF_QK_NORM_WIDE, 2,
             SIZES(32, 4096, 32, 0, 0, 11008, 50304)),
	TYPE("olmoe", DECODER, LLAMA | CEIL_HF_QK_NORM | CEIL_HF_QK_NORM_WIDE, 2,
             SIZES(16, 2048, 16, 0, 0, 2048, 50304), .defaults[CEIL_HF_EXPERTS] = 64,
             .defaults[CEIL_HF_ACTIVE] = 8),
	TYPE("opt", DECODER, GPT2, 2, SIZES(12, 768, 12, 0, 0, 3072, 50272),
             .defaults[CEIL_HF_POSITIONS] = 2048, .extra_positions = 2),
	TYPE("phi", DECODER, CEIL_HF_ALL_BIAS | CEIL_HF_NORM_BIAS | CEIL_HF_LOGITS_BIAS, 1,
             SIZES(24, 2048, 32, 0, 0, 8192, 51200)),
	TYPE("phi3", DECODER, LLAMA | CEIL_HF_WINDOWED, 2, SIZES(32, 3072, 32, 0, 0, 8192, 32064)),
	TYPE("phimoe", DECODER, LLAMA | CEIL_HF_NORM_BIAS | CEIL_HF_WINDOWED, 2,
             SIZES(32, 4096, 32, 8, 0, 6400, 32064), .defaults[CEIL_HF_EXPERTS] = 16,
             .defaults[CEIL_HF_ACTIVE] = 2),
	TYPE("qwen2", DECODER, LLAMA | CEIL_HF_QKV_BIAS, 2,
             SIZES(32, 4096, 32, 32, 0, 22016, 151936), .defaults[CEIL_HF_WINDOW_FROM] = 28),
	TYPE("qwen2_5_vl", DECODER, LLAMA | CEIL_HF_QKV_BIAS, 2,
             SIZES(80, 8192, 64, 8, 0, 29568, 152064), .defaults[CEIL_HF_WINDOW_FROM] = 80,
             .note = "the language model alone: its vision tower is not counted"),
	TYPE("qwen2_moe", DECODER, LLAMA | CEIL_HF_QKV_BIAS | CEIL_HF_SHARED_GATE, 2,
             SIZES(24, 2048, 16, 16, 0, 5632, 151936), .defaults[CEIL_HF_EXPERTS] = 60,
             .defaults[CEIL_HF_ACTIVE] = 4, .defaults[CEIL_HF_EXPERT_FFN] = 1408,
             .defaults[CEIL_HF_SHARED_FFN] = 5632, .defaults[CEIL_HF_MOE_STEP] = 1,
             .defaults[CEIL_HF_WINDOW_FROM] = 28),
	TYPE("qwen2_vl", DECODER, LLAMA | CEIL_HF_QKV_BIAS, 2,
             SIZES(80, 8192, 64, 8, 0, 29568, 152064), .defaults[CEIL_HF_WINDOW_FROM] = 80,
             .note = "the language model alone: its vision tower is not counted"),
	TYPE("qwen3", DECODER, LLAMA | CEIL_HF_QK_NORM, 2,
             SIZES(32, 4096, 32, 32, 128, 22016, 151936), .defaults[CEIL_HF_WINDOW_FROM] = 28),
	TYPE("qwen3_moe", DECODER, LLAMA | CEIL_HF_QK_NORM, 2,
             SIZES(24, 2048, 32, 4, 0, 6144, 151936), .defaults[CEIL_HF_EXPERTS] = 128,
             .defaults[CEIL_HF_ACTIVE] = 8, .defaults[CEIL_HF_EXPERT_FFN] = 768,
             .defaults[CEIL_HF_MOE_STEP] = 1),
	TYPE("roberta", ENCODER, BERT_LIKE, 2, SIZES(12, 768, 12, 0, 0, 3072, 50265),
             .defaults[CEIL_HF_POSITIONS] = 512, .defaults[CEIL_HF_TOKEN_TYPES] = 2),
	TYPE("seed_oss", DECODER, LLAMA | CEIL_HF_QKV_BIAS | CEIL_HF_OUT_APART, 2,
             SIZES(64, 4096, 80, 8, 128, 27648, 155136)),
	TYPE("smollm3", DECODER, LLAMA | CEIL_HF_TIED, 2, SIZES(36, 2048, 16, 4, 0, 11008, 128256),
             .defaults[CEIL_HF_WINDOW_FROM] = 28),
	TYPE("stablelm", DECODER,
             LLAMA | CEIL_HF_NORM_BIAS | CEIL_HF_PARALLEL_ONE | CEIL_HF_QK_NORM_WIDE, 2,
             SIZES(32, 2560, 32, 32, 0, 6912, 50304)),
	TYPE("starcoder2", DECODER,
             CEIL_HF_ALL_BIAS | CEIL_HF_NORM_BIAS | CEIL_HF_TIED | CEIL_HF_WINDOWED, 2,
             SIZES(30, 3072, 24, 2, 0, 12288, 49152)),
	TYPE("t5", SEQ2SEQ, CEIL_HF_TIED | CEIL_HF_SCORE_BIAS, 2,
             SIZES(6, 512, 8, 0, 64, 2048, 32128), .defaults[CEIL_HF_BUCKETS] = 32),
	TYPE("umt5", SEQ2SEQ, LLAMA | CEIL_HF_TIED | CEIL_HF_SCORE_BIAS | CEIL_HF_BUCKETS_EACH, 2,
             SIZES(8, 512, 6, 0, 64, 1024, 250112), .defaults[CEIL_HF_BUCKETS] = 32),
	TYPE("vit", VISION, GPT2, 2, SIZES(12, 768, 12, 0, 0, 3072, 0),
             .defaults[CEIL_HF_IMAGE] = 224, .defaults[CEIL_HF_PATCH] = 16,
             .defaults[CEIL_HF_CHANNELS] = 3, .extra_positions = 1),
	TYPE("xlm-roberta", ENCODER, BERT_LIKE, 2, SIZES(12, 768, 12, 0, 0, 3072, 30522),
             .defaults[CEIL_HF_POSITIONS] = 512, .defaults[CEIL_HF_TOKEN_TYPES] = 2),
};
const size_t ceil_hf_type_count = sizeof(ceil_hf_types) / sizeof(ceil_hf_types[0]);

/* The first end that fits; any other class has the logits of a language model. */
static const struct {
	const char *end;
	enum ceil_hf_head head;
} heads[] = {
	{"ForSequenceClassification", CEIL_HF_HEAD_FEW},
	{"ForTokenClassification", CEIL_HF_HEAD_FEW},
	{"ForQuestionAnswering", CEIL_HF_HEAD_FEW},
	{"ForMultipleChoice", CEIL_HF_HEAD_FEW},
	{"ForNextSentencePrediction", CEIL_HF_HEAD_FEW},
	{"HeadModel", CEIL_HF_HEAD_LOGITS},  /* GPT2LMHeadModel */
	{"HeadsModel", CEIL_HF_HEAD_LOGITS}, /* GPT2DoubleHeadsModel */
	{"EncoderModel", CEIL_HF_HEAD_ENCODER},
	{"Model", CEIL_HF_HEAD_NONE},
};

static bool ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), n = strlen(end);

	return length >= n && !strcmp(text + length - n, end);
}

enum ceil_hf_head ceil_hf_head_of(const char *architecture, enum ceil_hf_kind kind)
{
	if (kind == CEIL_HF_SEQ2SEQ && ends_with(architecture, "ForCausalLM"))
		return CEIL_HF_HEAD_DECODER;
	if (kind == CEIL_HF_SEQ2SEQ && ends_with(architecture, "ForTokenClassification"))
		return CEIL_HF_HEAD_ENCODER;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (ends_with(architecture, heads[i].end))
			return heads[i].head;
	return CEIL_HF_HEAD_LOGITS;
}

#define STATE_SPACE "a state-space or recurrent model has no attention to count by"
#define HYBRID      "its layers mix attention with state-space or linear attention"
#define SPARSE      "its attention is sparse in a pattern of its own"
#define CONVOLUTION "its convolutions are no products of this table"
#define TWO_TOWERS  "it is two towers with batches of their own: count each apart"

const struct ceil_hf_refusal ceil_hf_refusals[] = {
	{"bamba", HYBRID},
	{"big_bird", SPARSE},
	{"blip-2", TWO_TOWERS},
	{"clip", TWO_TOWERS},
	{"convnext", CONVOLUTION},
	{"deberta", "disentangled attention has products of its own"},
	{"deberta-v2", "disentangled attention has products of its own"},
	{"falcon_h1", HYBRID},
	{"falcon_mamba", STATE_SPACE},
	{"gemma3n", "per-layer embeddings and alternating updates have products of their own"},
	{"gemma3n_text", "per-layer embeddings and alternating updates have products of their own"},
	{"granitemoehybrid", HYBRID},
	{"jamba", HYBRID},
	{"kimi_linear", HYBRID},
	{"lfm2", HYBRID},
	{"longformer", SPARSE},
	{"mamba", STATE_SPACE},
	{"mamba2", STATE_SPACE},
	{"minimax", HYBRID},
	{"mllama", "some layers attend to an image, whose size config.json does not tell"},
	{"nemotron_h", HYBRID},
	{"qwen3_next", HYBRID},
	{"recurrent_gemma", HYBRID},
	{"reformer", SPARSE},
	{"resnet", CONVOLUTION},
	{"rwkv", STATE_SPACE},
	{"siglip", TWO_TOWERS},
	{"swin", "its windows and widths change from stage to stage"},
	{"swinv2", "its windows and widths change from stage to stage"},
	{"wav2vec2", CONVOLUTION},
	{"whisper", CONVOLUTION},
	{"xlnet", "two-stream attention has products of its own"},
	{"xlstm", STATE_SPACE},
	{"zamba", HYBRID},
	{"zamba2", HYBRID},
};
const size_t ceil_hf_refusal_count = sizeof(ceil_hf_refusals) / sizeof(ceil_hf_refusals[0]);

/* Newer files name the text part of a model of several parts so; gemma3 is read by its text. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{"gemma3", "gemma3_text"},          {"kimi_k2", "deepseek_v3"},
	{"qwen2_5_vl_text", "qwen2_5_vl"},  {"qwen2_vl_text", "qwen2_vl"},
	{"qwen3_vl_moe_text", "qwen3_moe"}, {"qwen3_vl_text", "qwen3"},
};

const struct ceil_hf_type *ceil_hf_type_find(const char *model_type)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].alias, model_type))
			model_type = aliases[i].name;
	for (size_t i = 0; i < ceil_hf_type_count; i++)
		if (!strcmp(ceil_hf_types[i].name, model_type))
			return &ceil_hf_types[i];
	return NULL;
}

const char *ceil_hf_refused(const char *model_type)
{
	for (size_t i = 0; i < ceil_hf_refusal_count; i++)
		if (!strcmp(ceil_hf_refusals[i].name, model_type))
			return ceil_hf_refusals[i].why;
	return NULL;
}
