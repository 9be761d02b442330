/* The table of Hugging Face model types: what each class assumes, and where it differs. */
#ifndef CEIL_HF_TYPES_H
#define CEIL_HF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of a config.json, whatever a model type calls them. */
enum ceil_hf_key {
	CEIL_HF_LAYERS,
	CEIL_HF_HIDDEN,
	CEIL_HF_HEADS,
	CEIL_HF_KV_HEADS,
	CEIL_HF_HEAD_DIM,
	CEIL_HF_FFN,
	CEIL_HF_VOCAB,
	CEIL_HF_POSITIONS,
	CEIL_HF_TOKEN_TYPES,
	CEIL_HF_EMBED_DIM,
	CEIL_HF_WINDOW,
	CEIL_HF_PATTERN,     /* every so many layers, one sees everything */
	CEIL_HF_WINDOW_FROM, /* first layer with a window */
	CEIL_HF_EXPERTS,
	CEIL_HF_ACTIVE,
	CEIL_HF_EXPERT_FFN,
	CEIL_HF_SHARED,      /* shared experts of CEIL_HF_EXPERT_FFN each */
	CEIL_HF_SHARED_FFN,  /* or their size in sum */
	CEIL_HF_DENSE_FIRST, /* layers without experts at the beginning */
	CEIL_HF_MOE_STEP,    /* every so many layers, one has experts */
	CEIL_HF_Q_RANK,
	CEIL_HF_KV_RANK,
	CEIL_HF_NOPE_DIM,
	CEIL_HF_ROPE_DIM,
	CEIL_HF_V_DIM,
	CEIL_HF_DECODER_LAYERS,
	CEIL_HF_DECODER_HEADS,
	CEIL_HF_DECODER_FFN,
	CEIL_HF_BUCKETS, /* relative position buckets */
	CEIL_HF_IMAGE,
	CEIL_HF_PATCH,
	CEIL_HF_CHANNELS,
	CEIL_HF_KEY_COUNT
};

/* The spellings of a key, in the order to look; NULL-terminated. */
struct ceil_hf_key_names {
	const char *names[8];
};
extern const struct ceil_hf_key_names ceil_hf_keys[CEIL_HF_KEY_COUNT];

enum ceil_hf_kind { CEIL_HF_DECODER, CEIL_HF_ENCODER, CEIL_HF_VISION, CEIL_HF_SEQ2SEQ };

/* What a class does unless its config says otherwise. */
enum {
	CEIL_HF_TIED = 1u << 0,
	CEIL_HF_GATED = 1u << 1,
	CEIL_HF_QKV_BIAS = 1u << 2,
	CEIL_HF_OUT_BIAS = 1u << 3,
	CEIL_HF_FFN_BIAS = 1u << 4,
	CEIL_HF_ALL_BIAS = CEIL_HF_QKV_BIAS | CEIL_HF_OUT_BIAS | CEIL_HF_FFN_BIAS,
	CEIL_HF_NORM_BIAS = 1u << 5, /* LayerNorm; else one vector a norm */
	CEIL_HF_LOGITS_BIAS = 1u << 6,
	CEIL_HF_LEARNED = 1u << 7, /* a table of positions */
	CEIL_HF_EMBED_NORM = 1u << 8,
	CEIL_HF_NO_FINAL_NORM = 1u << 9,
	CEIL_HF_QK_NORM = 1u << 10,      /* of head size */
	CEIL_HF_QK_NORM_WIDE = 1u << 11, /* of all heads together; with CEIL_HF_QK_NORM */
	CEIL_HF_TRANSFORM = 1u << 12,
	CEIL_HF_SHARED_LAYERS = 1u << 13,
	CEIL_HF_SHARED_GATE = 1u << 14,
	CEIL_HF_ROUTER_BIAS = 1u << 15,
	CEIL_HF_SINKS = 1u << 16,
	CEIL_HF_WINDOWED = 1u << 17,     /* the window holds; else only with use_sliding_window */
	CEIL_HF_MULTI_QUERY = 1u << 18,  /* one KV head */
	CEIL_HF_NEW_FALCON = 1u << 19,   /* KV heads as given */
	CEIL_HF_PARALLEL = 1u << 20,     /* attention beside feed-forward */
	CEIL_HF_PARALLEL_ONE = 1u << 21, /* and then they share one norm */
	CEIL_HF_OUT_APART = 1u << 22,    /* attention_bias does not reach the output */
	CEIL_HF_BUCKETS_EACH = 1u << 23, /* a table of relative positions in every layer */
	CEIL_HF_CAUSAL = 1u << 24,       /* an encoder with a causal mask */
	CEIL_HF_SCORE_BIAS = 1u << 25    /* positions are added to the scores, not rotated */
};

struct ceil_hf_type {
	const char *name;
	enum ceil_hf_kind kind;
	uint32_t flags;
	uint32_t norms;                       /* of a layer */
	uint64_t extra_positions;             /* rows before position 0 */
	uint64_t defaults[CEIL_HF_KEY_COUNT]; /* the class's; 0: it has none */
	const char *note;
};
extern const struct ceil_hf_type ceil_hf_types[];
extern const size_t ceil_hf_type_count;

/* An on-off field of config.json and the flags that it sets or clears; inverse: true clears. */
struct ceil_hf_switch {
	const char *name;
	uint32_t flags;
	bool inverse;
};
extern const struct ceil_hf_switch ceil_hf_switches[];
extern const size_t ceil_hf_switch_count;

/* What stands behind the layers in a class of `architectures`, and which layers it has. */
enum ceil_hf_head {
	CEIL_HF_HEAD_LOGITS, /* one logit for each word of the vocabulary */
	CEIL_HF_HEAD_FEW,    /* a few outputs, whose product is next to nothing */
	CEIL_HF_HEAD_NONE,   /* the hidden state; what is trained behind it, the file cannot tell */
	CEIL_HF_HEAD_ENCODER, /* of an encoder-decoder, only the encoder */
	CEIL_HF_HEAD_DECODER  /* or only the decoder */
};

/* ceil_hf_head_of - by the end of the class's name: "BertForTokenClassification" has a few. */
enum ceil_hf_head ceil_hf_head_of(const char *architecture, enum ceil_hf_kind kind);

/* Types that cannot be counted as matrix products of a plain transformer, and why. */
struct ceil_hf_refusal {
	const char *name, *why;
};
extern const struct ceil_hf_refusal ceil_hf_refusals[];
extern const size_t ceil_hf_refusal_count;

/* ceil_hf_type_find - the row of a model_type, or NULL. */
const struct ceil_hf_type *ceil_hf_type_find(const char *model_type);

/* ceil_hf_refused - why a model_type is not counted, or NULL. */
const char *ceil_hf_refused(const char *model_type);

#endif
