/* Lists the matrix products of a model's step, and sums them by the convention that is asked for.
 */
#include "harness/analysis/flops.h"

#include <inttypes.h>
#include <math.h>

static const struct {
	const char *name, *doc;
} components[CEIL_COMP_COUNT] = {
	[CEIL_COMP_PATCH] = {"patch", "pixels of a patch to hidden"},
	[CEIL_COMP_EMBED] = {"embed", "between embedding size and hidden"},
	[CEIL_COMP_QKV] = {"qkv", "hidden to queries, keys and values"},
	[CEIL_COMP_SCORES] = {"scores", "queries times keys"},
	[CEIL_COMP_CONTEXT] = {"context", "probabilities times values"},
	[CEIL_COMP_OUTPUT] = {"output", "heads to hidden"},
	[CEIL_COMP_ROUTER] = {"router", "hidden to experts"},
	[CEIL_COMP_GATE] = {"ffn gate", "hidden to inner, the gate"},
	[CEIL_COMP_UP] = {"ffn up", "hidden to inner"},
	[CEIL_COMP_DOWN] = {"ffn down", "inner to hidden"},
	[CEIL_COMP_LOGITS] = {"logits", "hidden to vocabulary or classes"},
};

const char *ceil_component_name(enum ceil_component c)
{
	return components[c].name;
}

const char *ceil_component_doc(enum ceil_component c)
{
	return components[c].doc;
}

const struct ceil_convention ceil_conventions[] = {
	[CEIL_CONVENTION_PALM] = {"palm", "6 N + 12 L H Q T",
                                  "attention counted in full: the convention of published MFU",
                                  "PaLM, arXiv 2204.02311 appendix B; nanoGPT", false,
                                  CEIL_ATTN_FULL},
	[CEIL_CONVENTION_CAUSAL] = {"causal", "6 N + 6 L H Q T",
                                    "half of the attention, as a causal mask leaves it",
                                    "llm.c train_gpt2.cu", false, CEIL_ATTN_CAUSAL},
	[CEIL_CONVENTION_6N] = {"6n", "6 N", "no attention: for comparing with scaling laws",
                                "Kaplan et al., arXiv 2001.08361", false, CEIL_ATTN_NONE},
	{"products", "3 x every product", "each matrix product of the model, attention in full",
         "torchtitan; nanoGPT's transformer_sizing; PyTorch's FlopCounterMode", true,
         CEIL_ATTN_FULL},
	{"products-causal", "3 x every product",
         "each matrix product, attention as the mask leaves it",
         "Megatron-LM num_floating_point_operations", true, CEIL_ATTN_CAUSAL},
};

const char *const ceil_convention_names[] = {"palm",     "causal",          "6n",
                                             "products", "products-causal", NULL};

const struct ceil_embedding_rule ceil_embedding_rules[CEIL_EMBED_COUNT] = {
	[CEIL_EMBED_IN] = {"in", "every parameter that a token passes"},
	[CEIL_EMBED_LOGITS] = {"logits", "those but tables that are only looked up (nanoGPT)"},
	[CEIL_EMBED_OUT] = {"out", "those but tables and logits (Kaplan)"},
};

const char *const ceil_embedding_names[] = {"in", "logits", "out", NULL};

const struct ceil_recompute_rule ceil_recompute_rules[CEIL_RECOMPUTE_COUNT] = {
	[CEIL_RECOMPUTE_NONE] = {"none", "every activation is kept"},
	[CEIL_RECOMPUTE_SELECTIVE] = {"selective", "scores and context are computed twice"},
	[CEIL_RECOMPUTE_FULL] = {"full", "every layer's forward pass is computed twice"},
};

const char *const ceil_recompute_names[] = {"none", "selective", "full", NULL};

enum ceil_status ceil_sizes_of(const struct ceil_model *m, uint64_t batch, uint64_t seq,
                               uint64_t source_seq, struct ceil_sizes *ret_s,
                               struct ceil_error *err)
{
	/* Long enough for any context; a sample's score matrix stays within 2^63. */
	const uint64_t limit = 1u << 30;
	struct ceil_sizes s = {.batch = batch};

	s.seq = m->patches ? m->patches + m->prefix_tokens : seq ? seq : m->seq;
	s.source_seq = source_seq ? source_seq : s.seq;
	if (!s.seq)
		return ceil_fail(err, CEIL_E_USAGE, "%s has no sequence length: give --seq",
		                 m->name);
	if (s.seq > limit || s.source_seq > limit)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "a sequence of %" PRIu64 " tokens is over %" PRIu64,
		                 s.seq > limit ? s.seq : s.source_seq, limit);
	if (!batch || batch > limit)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "a batch of %" PRIu64 "; it must be from 1 to %" PRIu64, batch,
		                 limit);
	if (m->patches && seq && seq != s.seq)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s sees images of %" PRIu64 " tokens; --seq %" PRIu64
		                 " cannot change that",
		                 m->name, s.seq, seq);
	*ret_s = s;
	return CEIL_OK;
}

static bool has_encoder(const struct ceil_model *m)
{
	for (size_t i = 0; i < m->block_count; i++)
		if (m->blocks[i].side == CEIL_ENCODER)
			return true;
	return false;
}

double ceil_sizes_tokens(const struct ceil_model *m, const struct ceil_sizes *s)
{
	return (double)s->seq + (has_encoder(m) ? (double)s->source_seq : 0.0);
}

/* A list being made. */
struct list {
	struct ceil_gemm *gemms;
	size_t count;
	uint64_t tokens, repeat; /* rows of the batch on this side, and layers */
	bool in_layer;
};

static struct ceil_gemm *add(struct list *l, enum ceil_component c, uint64_t m, uint64_t n,
                             uint64_t k, uint64_t count)
{
	struct ceil_gemm *g = &l->gemms[l->count];

	*g = (struct ceil_gemm){.component = c,
	                        .in_layer = l->in_layer,
	                        .m = m,
	                        .n = n,
	                        .k = k,
	                        .count = count,
	                        .group = 1,
	                        .flops = 2.0 * (double)m * (double)n * (double)k * (double)count,
	                        .causal_ratio = 1.0};
	if (n && k && m && count)
		l->count++;
	return g;
}

static void add_weight(struct list *l, enum ceil_component c, uint64_t n, uint64_t k)
{
	(void)add(l, c, l->tokens, n, k, l->repeat);
}

/* Queries, keys and values. A plain one is a single fused product, as tuned programs do it. */
static void add_qkv(struct list *l, const struct ceil_attention *a, uint64_t hidden)
{
	const uint64_t q = a->heads * a->qk_dim;

	if (!a->kv_rank) {
		add_weight(l, CEIL_COMP_QKV, q + a->kv_heads * (a->qk_dim + a->v_dim), hidden);
		return;
	}
	if (a->q_rank) {
		add_weight(l, CEIL_COMP_QKV, a->q_rank, hidden);
		add_weight(l, CEIL_COMP_QKV, q, a->q_rank);
	} else {
		add_weight(l, CEIL_COMP_QKV, q, hidden);
	}
	add_weight(l, CEIL_COMP_QKV, a->kv_rank + a->rope_dim, hidden);
	add_weight(l, CEIL_COMP_QKV, a->heads * (a->qk_dim - a->rope_dim + a->v_dim), a->kv_rank);
}

/*
 * Mean share of keys under a causal mask, in the continuous form that makes the full triangle
 * exactly one half (llm.c). With a window w of t keys: w - w^2 / 2t of w.
 */
static double causal_ratio(double keys, double seq)
{
	return keys < seq ? 1.0 - keys / (2.0 * seq) : 0.5;
}

static void add_core(struct list *l, const struct ceil_attention *a, uint64_t batch, uint64_t seq,
                     uint64_t all_keys, bool causal)
{
	const uint64_t keys = a->window && a->window < all_keys ? a->window : all_keys;
	const uint64_t count = l->repeat * a->heads * batch;
	const double ratio = causal ? causal_ratio((double)keys, (double)seq) : 1.0;

	add(l, CEIL_COMP_SCORES, seq, keys, a->qk_dim, count)->causal_ratio = ratio;
	add(l, CEIL_COMP_CONTEXT, seq, a->v_dim, keys, count)->causal_ratio = ratio;
}

/* The second attention of a decoder: queries of its tokens, keys and values of the source. */
static void add_cross(struct list *l, const struct ceil_attention *a, uint64_t hidden,
                      const struct ceil_sizes *s)
{
	const uint64_t source_tokens = s->batch * s->source_seq;

	add_weight(l, CEIL_COMP_QKV, a->heads * a->qk_dim, hidden);
	(void)add(l, CEIL_COMP_QKV, source_tokens, a->kv_heads * (a->qk_dim + a->v_dim), hidden,
	          l->repeat);
	add_core(l, a, s->batch, s->seq, s->source_seq, /* causal= */ false);
	add_weight(l, CEIL_COMP_OUTPUT, hidden, a->heads * a->v_dim);
}

static void add_attention(struct list *l, const struct ceil_block *b, uint64_t hidden,
                          const struct ceil_sizes *s)
{
	const struct ceil_attention *a = &b->attention;
	const uint64_t seq = b->side == CEIL_ENCODER ? s->source_seq : s->seq;

	add_qkv(l, a, hidden);
	add_core(l, a, s->batch, seq, seq, a->causal);
	add_weight(l, CEIL_COMP_OUTPUT, hidden, a->heads * a->v_dim);
	if (a->cross)
		add_cross(l, a, hidden, s);
}

/* Tokens spread evenly over the experts; few tokens reach few of them. */
static void add_expert(struct list *l, enum ceil_component c, const struct ceil_ffn *f, uint64_t n,
                       uint64_t k)
{
	const uint64_t rows = l->tokens * f->active;
	const uint64_t reached = rows < f->experts ? rows : f->experts;
	const uint64_t each = reached ? (rows + reached / 2) / reached : 0;

	struct ceil_gemm *g = add(l, c, each, n, k, l->repeat * reached);

	g->group = reached ? reached : 1;
	g->flops = 2.0 * (double)rows * (double)n * (double)k * (double)l->repeat;
}

static void add_ffn(struct list *l, const struct ceil_ffn *f, uint64_t hidden)
{
	const uint64_t dense[] = {f->inner, f->shared_inner};

	for (size_t i = 0; i < sizeof(dense) / sizeof(dense[0]); i++) {
		if (f->gated)
			add_weight(l, CEIL_COMP_GATE, dense[i], hidden);
		add_weight(l, CEIL_COMP_UP, dense[i], hidden);
		add_weight(l, CEIL_COMP_DOWN, hidden, dense[i]);
	}
	if (!f->experts)
		return;
	add_weight(l, CEIL_COMP_ROUTER, f->experts, hidden);
	if (f->gated)
		add_expert(l, CEIL_COMP_GATE, f, f->expert_inner, hidden);
	add_expert(l, CEIL_COMP_UP, f, f->expert_inner, hidden);
	add_expert(l, CEIL_COMP_DOWN, f, hidden, f->expert_inner);
}

/* What leads into and out of the layers. */
static void add_ends(struct list *l, const struct ceil_model *m, const struct ceil_sizes *s)
{
	const uint64_t e = ceil_model_embed_dim(m);
	const bool leads_out = e != m->hidden && !m->no_logits && !m->transform;

	l->in_layer = false;
	l->repeat = 1;
	l->tokens = s->batch * s->seq;
	if (m->patches) {
		add(l, CEIL_COMP_PATCH, s->batch * m->patches, m->hidden, m->patch_inputs, 1)
			->no_dgrad = true;
		(void)add(l, CEIL_COMP_LOGITS, s->batch, m->classes, m->hidden, 1);
		return;
	}
	if (e != m->hidden)
		add_weight(l, CEIL_COMP_EMBED, m->hidden, e);
	if (m->transform || leads_out)
		add_weight(l, CEIL_COMP_EMBED, e, m->hidden);
	if (!m->no_logits)
		add_weight(l, CEIL_COMP_LOGITS, m->vocab, e);
}

size_t ceil_model_gemms(const struct ceil_model *m, const struct ceil_sizes *s,
                        struct ceil_gemm *ret_gemms)
{
	struct list l = {.gemms = ret_gemms, .in_layer = true};

	for (size_t i = 0; i < m->block_count; i++) {
		const struct ceil_block *b = &m->blocks[i];

		l.repeat = b->layers;
		l.tokens = s->batch * (b->side == CEIL_ENCODER ? s->source_seq : s->seq);
		add_attention(&l, b, m->hidden, s);
		add_ffn(&l, &b->ffn, m->hidden);
	}
	add_ends(&l, m, s);
	return l.count;
}

static bool is_core(enum ceil_component c)
{
	return c == CEIL_COMP_SCORES || c == CEIL_COMP_CONTEXT;
}

/* The share of an attention product that a convention counts. */
static double counted(const struct ceil_gemm *g, enum ceil_attention_rule rule)
{
	if (!is_core(g->component) || rule == CEIL_ATTN_FULL)
		return 1.0;
	return rule == CEIL_ATTN_NONE ? 0.0 : g->causal_ratio;
}

double ceil_flops_params(const struct ceil_params *p, const struct ceil_model *m,
                         enum ceil_embeddings e)
{
	const double used = (double)p->used;
	const double looked_up = (double)p->positions + (m->tied ? 0.0 : (double)p->tokens);

	switch (e) {
	case CEIL_EMBED_LOGITS:
		return used - looked_up;
	case CEIL_EMBED_OUT:
		return used - (double)p->positions - (double)p->tokens - (double)p->logits;
	default:
		return used;
	}
}

/*
 * 6 N summed over the tokens that pass each parameter: in an encoder-decoder a source token does
 * not pass the decoder, and what stands outside the layers goes with the target.
 */
static double six_n(const struct ceil_params *p, const struct ceil_model *m,
                    const struct ceil_sizes *s, double n)
{
	const double source = (double)p->side[CEIL_ENCODER];

	if (!has_encoder(m))
		return 6.0 * n * (double)s->seq;
	return 6.0 * ((n - source) * (double)s->seq + source * (double)s->source_seq);
}

/* What the backward pass computes once more, by the same convention for attention. */
static double recomputed(const struct ceil_gemm *g, const struct ceil_flops_options *o,
                         double flops)
{
	if (o->recompute == CEIL_RECOMPUTE_FULL)
		return g->in_layer ? flops : 0.0;
	if (o->recompute == CEIL_RECOMPUTE_SELECTIVE)
		return is_core(g->component) ? flops : 0.0;
	return 0.0;
}

static void sum_gemms(const struct ceil_model *m, const struct ceil_sizes *s,
                      const struct ceil_flops_options *o, struct ceil_flops *f)
{
	const struct ceil_convention *c = &ceil_conventions[o->convention];
	struct ceil_gemm gemms[CEIL_MAX_GEMMS];
	const size_t count = ceil_model_gemms(m, s, gemms);

	for (size_t i = 0; i < count; i++) {
		const struct ceil_gemm *g = &gemms[i];
		const double flops = g->flops * counted(g, c->attention);
		const double dgrad = g->no_dgrad ? 0.0 : flops;

		f->forward[g->component] += flops;
		f->dgrad[g->component] += dgrad;
		f->wgrad[g->component] += flops;
		*(is_core(g->component) ? &f->attention : &f->weights) += 2.0 * flops + dgrad;
		f->hardware += recomputed(g, o, flops);
	}
}

enum ceil_status ceil_flops_of(const struct ceil_model *m, const struct ceil_sizes *s,
                               const struct ceil_flops_options *o, struct ceil_flops *ret_f,
                               struct ceil_error *err)
{
	const struct ceil_convention *c = &ceil_conventions[o->convention];
	const struct ceil_sizes one = {.batch = 1, .seq = s->seq, .source_seq = s->source_seq};
	struct ceil_flops f = {.tokens = ceil_sizes_tokens(m, s)};
	struct ceil_params p;

	if (o->params < 0.0 || !isfinite(o->params))
		return ceil_fail(err, CEIL_E_USAGE, "%g parameters: it must be a positive number",
		                 o->params);
	ceil_model_params(m, &p);
	f.n_params = o->params > 0.0 ? o->params : ceil_flops_params(&p, m, o->embeddings);
	sum_gemms(m, &one, o, &f);
	if (!c->by_products)
		f.weights = six_n(&p, m, s, f.n_params);
	f.model = f.weights + f.attention;
	f.hardware += f.model;
	*ret_f = f;
	return CEIL_OK;
}

void ceil_flops_params_only(double params, uint64_t seq, struct ceil_flops *ret_f)
{
	*ret_f = (struct ceil_flops){.tokens = (double)seq, .n_params = params};
	ret_f->weights = 6.0 * params * (double)seq;
	ret_f->model = ret_f->weights;
	ret_f->hardware = ret_f->weights;
}
