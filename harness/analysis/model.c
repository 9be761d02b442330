/* Counts the parameters of a transformer, checks its numbers, and builds one from plain numbers. */
#include "harness/analysis/model.h"

#include "harness/base/text.h"

#include <inttypes.h>
#include <string.h>

/* Far above any model, and low enough that the products below stay within 2^63. */
enum { MAX_WIDTH = 1 << 24, MAX_LAYERS = 100000, MAX_EXPERTS = 1 << 20 };
#define MAX_PARAMS 1e17

uint64_t ceil_model_layers(const struct ceil_model *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->block_count; i++)
		sum += m->blocks[i].layers;
	return sum;
}

uint64_t ceil_model_embed_dim(const struct ceil_model *m)
{
	return m->embed_dim ? m->embed_dim : m->hidden;
}

/* Matrices of one attention; MLA goes through its two ranks, with a norm on each. */
static uint64_t attention_matrices(const struct ceil_attention *a, uint64_t hidden)
{
	const uint64_t q = a->heads * a->qk_dim;
	const uint64_t out = a->heads * a->v_dim * hidden;

	if (!a->kv_rank)
		return hidden * (q + a->kv_heads * (a->qk_dim + a->v_dim)) + out;
	return (a->q_rank ? a->q_rank * (hidden + q) : hidden * q) +
	       hidden * (a->kv_rank + a->rope_dim) +
	       a->kv_rank * a->heads * (a->qk_dim - a->rope_dim + a->v_dim) + out;
}

static uint64_t attention_vectors(const struct ceil_attention *a, uint64_t hidden)
{
	const uint64_t latent =
		a->kv_rank ? a->q_rank + a->kv_rank : 0; /* RMS norms of the ranks */
	const uint64_t q = a->kv_rank ? a->q_rank : a->heads * a->qk_dim;
	const uint64_t kv =
		a->kv_rank ? a->kv_rank + a->rope_dim : a->kv_heads * (a->qk_dim + a->v_dim);

	return latent + a->extra_params + (a->qkv_bias ? q + kv : 0) + (a->out_bias ? hidden : 0);
}

static uint64_t ffn_vectors(const struct ceil_ffn *f, uint64_t hidden)
{
	const uint64_t ins = f->gated ? 2 : 1;
	uint64_t sum = f->router_bias ? f->experts : 0;

	if (!f->bias)
		return sum;
	sum += f->experts * (ins * f->expert_inner + hidden);
	sum += f->inner ? ins * f->inner + hidden : 0;
	return sum + (f->shared_inner ? ins * f->shared_inner + hidden : 0);
}

/* One layer's parameters by kind; the caller multiplies by the layers. */
static void count_layer(const struct ceil_block *b, uint64_t hidden, struct ceil_params *ret_p)
{
	const struct ceil_ffn *f = &b->ffn;
	const uint64_t matrices = f->gated ? 3 : 2;
	const uint64_t attentions = b->attention.cross ? 2 : 1;

	*ret_p = (struct ceil_params){
		.attention = attentions * attention_matrices(&b->attention, hidden),
		.ffn = matrices * hidden * (f->inner + f->shared_inner),
		.experts = matrices * hidden * f->expert_inner * f->experts,
		.router = hidden * f->experts + (f->shared_gate ? hidden : 0),
		.vectors = attentions * attention_vectors(&b->attention, hidden) +
	                   ffn_vectors(f, hidden) + b->norm_vectors * hidden,
	};
}

/* Experts that a token passes by, their biases included. */
static uint64_t idle_params(const struct ceil_block *b, uint64_t hidden)
{
	const struct ceil_ffn *f = &b->ffn;
	const uint64_t ins = f->gated ? 2 : 1;
	const uint64_t each = (ins + 1) * hidden * f->expert_inner +
	                      (f->bias ? ins * f->expert_inner + hidden : 0);

	return f->experts ? (f->experts - f->active) * each : 0;
}

static void add_block(const struct ceil_block *b, uint64_t hidden, struct ceil_params *p)
{
	const uint64_t copies = b->shared ? 1 : b->layers;
	struct ceil_params layer;
	uint64_t all, used;

	count_layer(b, hidden, &layer);
	p->attention += copies * layer.attention;
	p->ffn += copies * layer.ffn;
	p->experts += copies * layer.experts;
	p->router += copies * layer.router;
	p->vectors += copies * layer.vectors;
	all = layer.attention + layer.ffn + layer.experts + layer.router + layer.vectors;
	used = all - idle_params(b, hidden);
	p->total += copies * all;
	p->active += copies * used;
	p->used += b->layers * used;
	p->side[b->side] += b->layers * used;
}

/* What stands before and behind the layers, but token table, positions and logits. */
static uint64_t count_other(const struct ceil_model *m)
{
	const uint64_t e = ceil_model_embed_dim(m);
	uint64_t sum = m->patches ? m->patch_inputs * m->hidden : 0;

	/* A transform leads out by itself; without one, a second projection does. */
	if (e != m->hidden)
		sum += e * m->hidden * (m->transform || m->no_logits ? 1 : 2);
	return sum + (m->transform ? m->hidden * e : 0);
}

static uint64_t count_outer_vectors(const struct ceil_model *m)
{
	const uint64_t e = ceil_model_embed_dim(m);
	uint64_t sum = m->final_vectors * m->hidden + m->extra_params;

	/* Norms of the embedding work at its own width, before a projection leads to hidden. */
	sum += m->embed_vectors * e;
	sum += m->narrow_positions ? m->hidden : 0;
	sum += m->transform ? 3 * e : 0; /* bias, and a norm of two vectors */
	sum += m->logits_bias ? (m->patches ? m->classes : m->vocab) : 0;
	return sum + (m->patches ? m->hidden : 0); /* the patch projection has a bias */
}

void ceil_model_params(const struct ceil_model *m, struct ceil_params *ret_p)
{
	const uint64_t e = ceil_model_embed_dim(m);
	struct ceil_params p = {.tokens = m->vocab * e};
	uint64_t outer;

	for (size_t i = 0; i < m->block_count; i++)
		add_block(&m->blocks[i], m->hidden, &p);
	p.positions = m->patches ? (m->patches + 2 * m->prefix_tokens) * m->hidden
	                         : m->positions * (m->narrow_positions ? e : m->hidden);
	if (m->patches)
		p.logits = m->classes * m->hidden;
	else if (!m->tied && !m->no_logits)
		p.logits = m->vocab * e;
	p.other = count_other(m);
	outer = count_outer_vectors(m);
	p.vectors += outer;
	outer += p.tokens + p.positions + p.logits + p.other;
	p.total += outer;
	p.active += outer;
	p.used += outer;
	*ret_p = p;
}

struct bound {
	const char *name;
	uint64_t value, low, high;
};

static enum ceil_status check_bounds(const struct bound *b, size_t count, struct ceil_error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (b[i].value >= b[i].low && b[i].value <= b[i].high)
			continue;
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s is %" PRIu64 "; it must be from %" PRIu64 " to %" PRIu64,
		                 b[i].name, b[i].value, b[i].low, b[i].high);
	}
	return CEIL_OK;
}

static enum ceil_status check_attention(const struct ceil_attention *a, struct ceil_error *err)
{
	const struct bound bounds[] = {
		{"heads", a->heads, 1, MAX_WIDTH},
		{"KV heads", a->kv_heads, 1, a->heads},
		{"head size", a->qk_dim, 1, MAX_WIDTH},
		{"value head size", a->v_dim, 1, MAX_WIDTH},
		{"query rank", a->q_rank, 0, MAX_WIDTH},
		{"KV rank", a->kv_rank, 0, MAX_WIDTH},
		{"rotary head size", a->rope_dim, 0, a->qk_dim},
	};
	enum ceil_status st = check_bounds(bounds, sizeof(bounds) / sizeof(bounds[0]), err);

	if (st != CEIL_OK)
		return st;
	if (a->heads % a->kv_heads == 0)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE,
	                 "%" PRIu64 " heads do not divide among %" PRIu64 " KV heads", a->heads,
	                 a->kv_heads);
}

static enum ceil_status check_ffn(const struct ceil_ffn *f, struct ceil_error *err)
{
	const struct bound bounds[] = {
		{"feed-forward size", f->inner, 0, MAX_WIDTH},
		{"experts", f->experts, 0, MAX_EXPERTS},
		{"active experts", f->active, f->experts ? 1 : 0, f->experts},
		{"feed-forward size of an expert", f->expert_inner, f->experts ? 1 : 0, MAX_WIDTH},
		{"feed-forward size of the shared experts", f->shared_inner, 0, MAX_WIDTH},
	};

	return check_bounds(bounds, sizeof(bounds) / sizeof(bounds[0]), err);
}

/* The same sum as ceil_model_params, coarse and in floating point, so that it cannot wrap. */
static double rough_params(const struct ceil_model *m)
{
	const double h = (double)m->hidden;
	double sum = ((double)m->vocab + (double)m->positions) * h + (double)m->extra_params;

	for (size_t i = 0; i < m->block_count; i++) {
		const struct ceil_block *b = &m->blocks[i];
		const struct ceil_attention *a = &b->attention;
		const struct ceil_ffn *f = &b->ffn;
		const double heads = (double)a->heads * (double)(a->qk_dim + a->v_dim);

		sum += (double)b->layers *
		       (8 * h * heads + (double)a->extra_params + (double)b->norm_vectors * h +
		        (double)a->kv_rank * heads + (double)a->q_rank * heads +
		        3 * h * (double)(f->inner + f->shared_inner) +
		        4 * h * (double)f->expert_inner * (double)f->experts);
	}
	return sum;
}

enum ceil_status ceil_model_check(const struct ceil_model *m, struct ceil_error *err)
{
	const struct bound bounds[] = {
		{"layers", ceil_model_layers(m), 1, MAX_LAYERS},
		{"hidden size", m->hidden, 1, MAX_WIDTH},
		{"vocabulary", m->vocab, 0, MAX_WIDTH},
		{"embedding size", m->embed_dim, 0, MAX_WIDTH},
		{"positions", m->positions, 0, 1u << 30},
		{"patches", m->patches, 0, 1u << 30},
		{"values of a patch", m->patch_inputs, m->patches ? 1 : 0, MAX_WIDTH},
		{"classes", m->classes, 0, MAX_WIDTH},
	};
	enum ceil_status st = check_bounds(bounds, sizeof(bounds) / sizeof(bounds[0]), err);

	for (size_t i = 0; i < m->block_count && st == CEIL_OK; i++) {
		st = check_attention(&m->blocks[i].attention, err);
		if (st == CEIL_OK)
			st = check_ffn(&m->blocks[i].ffn, err);
	}
	if (st != CEIL_OK)
		return st;
	if (rough_params(m) > MAX_PARAMS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "these sizes make more than %.0e parameters: one of them is wrong",
		                 MAX_PARAMS);
	return CEIL_OK;
}

enum ceil_status ceil_model_find(const char *name, const struct ceil_model **ret_m,
                                 struct ceil_error *err)
{
	const char *names[128];
	const char *near;
	size_t count = 0;

	for (size_t i = 0; i < ceil_model_count; i++) {
		if (!strcmp(ceil_models[i].name, name)) {
			*ret_m = &ceil_models[i];
			return CEIL_OK;
		}
		if (count + 1 < sizeof(names) / sizeof(names[0]))
			names[count++] = ceil_models[i].name;
	}
	names[count] = NULL;
	near = ceil_suggest(name, names);
	return ceil_fail(err, CEIL_E_USAGE, "no model '%s' in the table%s%s%s", name,
	                 near ? "; did you mean '"
	                      : ": --model list shows it, --config reads others",
	                 near ? near : "", near ? "'?" : "");
}

static enum ceil_status check_numbers(const struct ceil_model_numbers *n, struct ceil_error *err)
{
	char missing[64] = "";

	if (!n->layers)
		ceil_append(missing, sizeof(missing), " --layers");
	if (!n->hidden)
		ceil_append(missing, sizeof(missing), " --hidden");
	if (!n->heads)
		ceil_append(missing, sizeof(missing), " --heads");
	if (!n->seq)
		ceil_append(missing, sizeof(missing), " --seq");
	if (missing[0])
		return ceil_fail(err, CEIL_E_USAGE, "missing:%s", missing);
	if (!n->head_dim && n->hidden % n->heads)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--hidden %" PRIu64 " is no multiple of --heads %" PRIu64
		                 ": give --head-dim",
		                 n->hidden, n->heads);
	if (n->experts && !n->active_experts)
		return ceil_fail(err, CEIL_E_USAGE, "--experts needs --active-experts");
	if (n->active_experts && !n->experts)
		return ceil_fail(err, CEIL_E_USAGE, "--active-experts needs --experts");
	return CEIL_OK;
}

/* What the user left open and the numbers do not say. */
static void note_assumptions(const struct ceil_model_numbers *n, struct ceil_model *m)
{
	if (!n->kv_heads)
		ceil_append(m->note, sizeof(m->note), "KV heads = heads; ");
	if (!n->head_dim)
		ceil_append(m->note, sizeof(m->note), "head size = hidden / heads; ");
	if (!n->ffn)
		ceil_append(m->note, sizeof(m->note), "feed-forward = 4 hidden; ");
	if (!n->vocab)
		ceil_append(m->note, sizeof(m->note), "no logits, since --vocab is not given; ");
	ceil_append(m->note, sizeof(m->note), "%s feed-forward; %s embeddings; no norms or biases",
	            n->gated ? "gated" : "plain", n->untied ? "untied" : "tied");
}

enum ceil_status ceil_model_from_numbers(const struct ceil_model_numbers *n,
                                         struct ceil_model *ret_m, struct ceil_error *err)
{
	const uint64_t inner = n->ffn ? n->ffn : 4 * n->hidden;
	struct ceil_model m = {.name = "numbers", .source = "the command line"};
	enum ceil_status st = check_numbers(n, err);
	uint64_t dim;

	if (st != CEIL_OK)
		return st;
	dim = n->head_dim ? n->head_dim : n->hidden / n->heads;
	m.hidden = n->hidden;
	m.vocab = n->vocab;
	m.seq = n->seq;
	m.tied = !n->untied;
	m.no_logits = !n->vocab;
	m.block_count = 1;
	m.blocks[0] = (struct ceil_block){
		.layers = n->layers,
		.attention = {.heads = n->heads,
	                      .kv_heads = n->kv_heads ? n->kv_heads : n->heads,
	                      .qk_dim = dim,
	                      .v_dim = dim,
	                      .causal = true},
		.ffn = {.inner = n->experts ? 0 : inner,
	                .experts = n->experts,
	                .active = n->active_experts,
	                .expert_inner = n->experts ? inner : 0,
	                .gated = n->gated},
	};
	note_assumptions(n, &m);
	st = ceil_model_check(&m, err);
	if (st == CEIL_OK)
		*ret_m = m;
	return st;
}
