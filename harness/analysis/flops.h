/* FLOPs of a training step: every matrix product of a model, and the conventions of counting. */
#ifndef CEIL_FLOPS_H
#define CEIL_FLOPS_H

#include "harness/analysis/model.h"
#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a product stands in the model. */
enum ceil_component {
	CEIL_COMP_PATCH,
	CEIL_COMP_EMBED,
	CEIL_COMP_QKV,
	CEIL_COMP_SCORES,
	CEIL_COMP_CONTEXT,
	CEIL_COMP_OUTPUT,
	CEIL_COMP_ROUTER,
	CEIL_COMP_GATE,
	CEIL_COMP_UP,
	CEIL_COMP_DOWN,
	CEIL_COMP_LOGITS,
	CEIL_COMP_COUNT
};

/* ceil_component_name - "qkv", "scores", ...; ceil_component_doc - what it multiplies. */
const char *ceil_component_name(enum ceil_component c);
const char *ceil_component_doc(enum ceil_component c);

/*
 * A forward product C(m,n) = A(m,k) B(k,n), done count times in a step. m counts tokens.
 * The backward pass does it twice more: dgrad is (m,k,n), wgrad is (k,n,m); in attention both are
 * batched products of the same size.
 */
struct ceil_gemm {
	enum ceil_component component;
	bool in_layer; /* a layer's: recomputed with it */
	bool no_dgrad; /* its input is data */
	uint64_t m, n, k, count;
	uint64_t group;      /* of count, those that one launch may do: a layer's experts; or 1 */
	double flops;        /* forward, all count together; exact where m had to be rounded */
	double causal_ratio; /* of flops, what a causal mask leaves; 1 without one */
};

/* A sample's size. */
struct ceil_sizes {
	uint64_t batch;
	uint64_t seq;        /* tokens of the main sequence; set by the image for vision */
	uint64_t source_seq; /* tokens of an encoder's source */
};

/* ceil_sizes_of - of batch samples; seq and source_seq 0: the model's own. */
CEIL_MUST_CHECK enum ceil_status ceil_sizes_of(const struct ceil_model *m, uint64_t batch,
                                               uint64_t seq, uint64_t source_seq,
                                               struct ceil_sizes *ret_s, struct ceil_error *err);

/* ceil_sizes_tokens - tokens of one sample: main and source. */
double ceil_sizes_tokens(const struct ceil_model *m, const struct ceil_sizes *s);

enum { CEIL_MAX_GEMMS = 24 * CEIL_MODEL_BLOCKS };

/*
 * ceil_model_gemms - every forward product of a step, layers that are alike in one row.
 * @ret_gemms: room for CEIL_MAX_GEMMS. Return: how many.
 */
size_t ceil_model_gemms(const struct ceil_model *m, const struct ceil_sizes *s,
                        struct ceil_gemm *ret_gemms);

/* How published figures count; they differ by up to a third, so a figure names its convention. */
enum ceil_attention_rule { CEIL_ATTN_FULL, CEIL_ATTN_CAUSAL, CEIL_ATTN_NONE };
struct ceil_convention {
	const char *name, *formula, *doc, *source;
	bool by_products; /* weights by the list of products, else 6 N */
	enum ceil_attention_rule attention;
};
extern const struct ceil_convention ceil_conventions[];
extern const char *const ceil_convention_names[]; /* NULL-terminated, for an option's choices */
enum {
	CEIL_CONVENTION_PALM,
	CEIL_CONVENTION_CAUSAL,
	CEIL_CONVENTION_6N,
	CEIL_CONVENTION_COUNT = 5
};

/* Which parameters are in N. */
enum ceil_embeddings { CEIL_EMBED_IN, CEIL_EMBED_LOGITS, CEIL_EMBED_OUT, CEIL_EMBED_COUNT };
struct ceil_embedding_rule {
	const char *name, *doc;
};
extern const struct ceil_embedding_rule ceil_embedding_rules[CEIL_EMBED_COUNT];
extern const char *const ceil_embedding_names[];

/* What the backward pass computes again; model FLOPs never count it, hardware FLOPs do. */
enum ceil_recompute {
	CEIL_RECOMPUTE_NONE,
	CEIL_RECOMPUTE_SELECTIVE,
	CEIL_RECOMPUTE_FULL,
	CEIL_RECOMPUTE_COUNT
};
struct ceil_recompute_rule {
	const char *name, *doc;
};
extern const struct ceil_recompute_rule ceil_recompute_rules[CEIL_RECOMPUTE_COUNT];
extern const char *const ceil_recompute_names[];

struct ceil_flops_options {
	unsigned convention; /* index into ceil_conventions */
	enum ceil_embeddings embeddings;
	enum ceil_recompute recompute;
	double params; /* N as the user gives it; 0: counted from the model */
};

/* Forward and backward FLOPs of one sample. */
struct ceil_flops {
	double tokens;    /* of a sample */
	double n_params;  /* N; encoder-decoder: of both sides, though a token passes only one */
	double weights;   /* 6 N per token, or of the products with weights */
	double attention; /* scores and context by the convention */
	double model;     /* weights + attention: what MFU divides */
	double hardware;  /* and what is recomputed: what HFU divides */
	double forward[CEIL_COMP_COUNT], dgrad[CEIL_COMP_COUNT], wgrad[CEIL_COMP_COUNT];
};

/*
 * ceil_flops_of - counts one sample.
 * Return: CEIL_OK; CEIL_E_USAGE for a convention that this model has no N for.
 * Source: PaLM, arXiv 2204.02311 appendix B; Korthikanti et al., arXiv 2205.05198 section 6.
 */
CEIL_MUST_CHECK enum ceil_status ceil_flops_of(const struct ceil_model *m,
                                               const struct ceil_sizes *s,
                                               const struct ceil_flops_options *o,
                                               struct ceil_flops *ret_f, struct ceil_error *err);

/*
 * ceil_flops_params_only - 6 N per token from a bare number of parameters, nothing else known.
 * @seq: tokens of a sample.
 */
void ceil_flops_params_only(double params, uint64_t seq, struct ceil_flops *ret_f);

/* ceil_flops_params - N under an embedding rule. */
double ceil_flops_params(const struct ceil_params *p, const struct ceil_model *m,
                         enum ceil_embeddings e);

#endif
