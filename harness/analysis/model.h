/* A transformer as numbers: what is needed to count its parameters and its matrix products. */
#ifndef CEIL_MODEL_H
#define CEIL_MODEL_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CEIL_MODEL_BLOCKS = 8 };

/* Which sequence a block works on. Models of one stack have only CEIL_MAIN. */
enum ceil_side {
	CEIL_MAIN,    /* the text, the image, or the target of an encoder-decoder */
	CEIL_ENCODER, /* the source of an encoder-decoder */
	CEIL_SIDE_COUNT
};

/*
 * Attention of one layer. The two head sizes are equal but in multi-head latent attention (MLA),
 * which also makes queries, keys and values through two small ranks.
 */
struct ceil_attention {
	uint64_t heads, kv_heads;
	uint64_t qk_dim, v_dim;             /* of a head */
	uint64_t q_rank, kv_rank, rope_dim; /* MLA; kv_rank 0: plain projections */
	uint64_t window;                    /* keys that a query may see, 0: all */
	uint64_t extra_params;              /* norms of q and k, sinks: no product of their own */
	bool causal, cross;                 /* cross: a second attention, to the encoder */
	bool qkv_bias, out_bias;
};

/* Feed-forward of one layer: dense (inner), or routed experts, or both. 0: not there. */
struct ceil_ffn {
	uint64_t inner;                         /* of the dense feed-forward */
	uint64_t experts, active, expert_inner; /* active: experts that a token passes */
	uint64_t shared_inner;                  /* sum over the experts that every token passes */
	bool gated;                             /* three matrices, else two */
	bool bias, router_bias, shared_gate; /* shared_gate: one logit scales the shared expert */
};

/* Layers that are alike. */
struct ceil_block {
	uint64_t layers;
	enum ceil_side side;
	bool shared;           /* one set of parameters serves all layers (ALBERT) */
	uint64_t norm_vectors; /* vectors of hidden size: 1 a norm, 2 where it has a bias */
	struct ceil_attention attention;
	struct ceil_ffn ffn;
};

struct ceil_model {
	char name[64];
	char source[160]; /* document and date, or the file it was read from */
	char note[320];   /* what is left out, or assumed; "" */
	uint64_t hidden, vocab;
	uint64_t seq;       /* tokens of a sample unless the user says */
	uint64_t positions; /* rows of learned position tables, token types too */
	uint64_t embed_dim; /* of the token table; 0: hidden. Else projections lead in and out */
	uint64_t patch_inputs, patches, prefix_tokens, classes; /* vision; patches 0: text */
	uint64_t embed_vectors, final_vectors; /* vectors of hidden size outside the layers */
	uint64_t extra_params; /* relative position tables and the like: looked up or added */
	bool tied;             /* the token table is the logits matrix too */
	bool no_logits;        /* the model ends with its hidden state */
	bool logits_bias;
	bool score_bias;       /* positions are added to the scores (T5, ALiBi): none is rotated */
	bool narrow_positions; /* ALBERT: positions have embed_dim too, the projection a bias */
	bool transform; /* hidden x embed_dim, bias and norm before the logits (BERT's MLM head) */
	size_t block_count;
	struct ceil_block blocks[CEIL_MODEL_BLOCKS];
};

/* Exact numbers of parameters. */
struct ceil_params {
	uint64_t tokens;                          /* token table */
	uint64_t positions;                       /* learned positions, token types, class tokens */
	uint64_t logits;                          /* a logits matrix of its own; 0: tied or none */
	uint64_t attention, ffn, experts, router; /* matrices; ffn: dense and shared experts */
	uint64_t vectors;                         /* norms, biases, scales */
	uint64_t other;                           /* patch, transform, embedding projections */
	uint64_t total;
	uint64_t active; /* total less the experts that a token does not pass */
	uint64_t used;   /* active, with shared layers counted as often as they run */
	uint64_t side[CEIL_SIDE_COUNT]; /* used, in the layers of each side */
};

/*
 * ceil_model_check - whether the numbers make a model that can be counted.
 * Return: CEIL_OK; CEIL_E_USAGE naming the field, its value and what it must be.
 */
CEIL_MUST_CHECK enum ceil_status ceil_model_check(const struct ceil_model *m,
                                                  struct ceil_error *err);

/* ceil_model_params - counts the parameters of a model that ceil_model_check accepts. */
void ceil_model_params(const struct ceil_model *m, struct ceil_params *ret_p);

/* ceil_model_layers - the sum over the blocks of both sides. */
uint64_t ceil_model_layers(const struct ceil_model *m);

/* ceil_model_embed_dim - the width of the token table. */
uint64_t ceil_model_embed_dim(const struct ceil_model *m);

/* The table of known models, in models.c: sizes by the publications that it names. */
extern const struct ceil_model ceil_models[];
extern const size_t ceil_model_count;

/* ceil_model_find - by name. Return: CEIL_E_USAGE with the nearest name if unknown. */
CEIL_MUST_CHECK enum ceil_status ceil_model_find(const char *name, const struct ceil_model **ret_m,
                                                 struct ceil_error *err);

/* Plain numbers from a user; 0: not given. */
struct ceil_model_numbers {
	uint64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab, seq;
	uint64_t experts, active_experts;
	bool gated, untied;
};

/*
 * ceil_model_from_numbers - a decoder of these sizes, norms and biases left out.
 * Not given: kv_heads = heads, head_dim = hidden / heads, ffn = 4 hidden, vocab = 0 (no logits).
 * What was assumed stands in note.
 * Return: CEIL_E_USAGE naming what is missing, or what does not fit.
 */
CEIL_MUST_CHECK enum ceil_status ceil_model_from_numbers(const struct ceil_model_numbers *n,
                                                         struct ceil_model *ret_m,
                                                         struct ceil_error *err);

#endif
