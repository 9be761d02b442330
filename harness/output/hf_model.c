/* The model that the numbers and switches of a config.json describe: which layers are alike. */
#include "harness/output/hf_inside.h"

#include "harness/base/text.h"

#include <jansson.h>

#include <inttypes.h>
#include <string.h>

/* Far above any model; products of them with what ceil_model_check allows stay within 2^63. */
enum { MAX_LAYERS = 100000, MAX_BUCKETS = 1 << 20, MAX_CHANNELS = 1 << 16 };

static uint64_t vector_count(const struct ceil_hf_reader *r)
{
	return r->flags & CEIL_HF_NORM_BIAS ? 2 : 1;
}

/* Norms of a layer; where attention stands beside the feed-forward, they may share one. */
static uint64_t norm_count(const struct ceil_hf_reader *r)
{
	const double said = json_number_value(json_object_get(r->text, "num_ln_in_parallel_attn"));

	if (!(r->flags & CEIL_HF_PARALLEL) || !(r->flags & CEIL_HF_PARALLEL_ONE))
		return r->type->norms;
	if (said == 1.0 || said == 2.0)
		return (uint64_t)said;
	return r->flags & CEIL_HF_NEW_FALCON ? 2 : 1;
}

static uint64_t kv_heads(const struct ceil_hf_reader *r)
{
	if (r->flags & CEIL_HF_MULTI_QUERY && !(r->flags & CEIL_HF_NEW_FALCON))
		return 1;
	if (!strcmp(r->type->name, "falcon") && !(r->flags & CEIL_HF_NEW_FALCON))
		return r->value[CEIL_HF_HEADS];
	return r->value[CEIL_HF_KV_HEADS] ? r->value[CEIL_HF_KV_HEADS] : r->value[CEIL_HF_HEADS];
}

static void add_attention_extras(const struct ceil_hf_reader *r, struct ceil_attention *a)
{
	if (r->flags & CEIL_HF_QK_NORM)
		a->extra_params += r->flags & CEIL_HF_QK_NORM_WIDE
		                           ? (a->heads + a->kv_heads) * a->qk_dim
		                           : 2 * a->qk_dim;
	if (r->flags & CEIL_HF_SINKS)
		a->extra_params += a->heads;
}

/* BERT and its like may be decoders; the encoder of an encoder-decoder never is. */
static bool is_causal(const struct ceil_hf_reader *r)
{
	return r->type->kind == CEIL_HF_DECODER ||
	       (r->type->kind == CEIL_HF_ENCODER && r->flags & CEIL_HF_CAUSAL);
}

static enum ceil_status make_attention(const struct ceil_hf_reader *r, struct ceil_attention *ret_a,
                                       struct ceil_error *err)
{
	const uint64_t *v = r->value;
	const uint64_t heads = v[CEIL_HF_HEADS];
	struct ceil_attention a = {.heads = heads,
	                           .kv_heads = kv_heads(r),
	                           .causal = is_causal(r),
	                           .qkv_bias = r->flags & CEIL_HF_QKV_BIAS,
	                           .out_bias = r->flags & CEIL_HF_OUT_BIAS};

	if (v[CEIL_HF_KV_RANK]) {
		a.q_rank = v[CEIL_HF_Q_RANK];
		a.kv_rank = v[CEIL_HF_KV_RANK];
		a.rope_dim = v[CEIL_HF_ROPE_DIM];
		a.qk_dim = v[CEIL_HF_NOPE_DIM] + v[CEIL_HF_ROPE_DIM];
		a.v_dim = v[CEIL_HF_V_DIM];
	} else {
		if (!v[CEIL_HF_HEAD_DIM] && v[CEIL_HF_HIDDEN] % heads)
			return ceil_fail(err, CEIL_E_USAGE,
			                 "%s: hidden size %" PRIu64 " is no multiple of %" PRIu64
			                 " heads, and head_dim is not given",
			                 r->name, v[CEIL_HF_HIDDEN], heads);
		a.qk_dim = v[CEIL_HF_HEAD_DIM] ? v[CEIL_HF_HEAD_DIM] : v[CEIL_HF_HIDDEN] / heads;
		a.v_dim = a.qk_dim;
	}
	add_attention_extras(r, &a);
	*ret_a = a;
	return CEIL_OK;
}

static uint64_t dense_inner(const struct ceil_hf_reader *r)
{
	return r->value[CEIL_HF_FFN] ? r->value[CEIL_HF_FFN] : 4 * r->value[CEIL_HF_HIDDEN];
}

static struct ceil_ffn make_ffn(const struct ceil_hf_reader *r, bool experts)
{
	const uint64_t *v = r->value;
	struct ceil_ffn f = {.gated = r->flags & CEIL_HF_GATED,
	                     .bias = r->flags & CEIL_HF_FFN_BIAS};

	if (!experts) {
		f.inner = dense_inner(r);
		return f;
	}
	f.experts = v[CEIL_HF_EXPERTS];
	f.active = v[CEIL_HF_ACTIVE];
	f.expert_inner = v[CEIL_HF_EXPERT_FFN] ? v[CEIL_HF_EXPERT_FFN] : dense_inner(r);
	f.shared_inner =
		v[CEIL_HF_SHARED_FFN] ? v[CEIL_HF_SHARED_FFN] : v[CEIL_HF_SHARED] * f.expert_inner;
	f.shared_gate = f.shared_inner && r->flags & CEIL_HF_SHARED_GATE;
	f.router_bias = r->flags & CEIL_HF_ROUTER_BIAS;
	return f;
}

/* Whether a list of layer numbers has this one. */
static bool list_has(const json_t *list, uint64_t layer)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_number_value(json_array_get(list, i)) == (double)layer)
			return true;
	return false;
}

static bool layer_has_experts(const struct ceil_hf_reader *r, uint64_t layer)
{
	const uint64_t step = r->value[CEIL_HF_MOE_STEP];

	if (!r->value[CEIL_HF_EXPERTS] || layer < r->value[CEIL_HF_DENSE_FIRST])
		return false;
	if (list_has(json_object_get(r->text, "mlp_only_layers"), layer))
		return false;
	return step < 2 || (layer + 1) % step == 0;
}

/* GPT-Neo: [[["global", "local"], 12]] names 24 layers. NULL: the list is too short. */
static const char *spread_type(const json_t *types, uint64_t layer)
{
	for (size_t i = 0; i < json_array_size(types); i++) {
		const json_t *item = json_array_get(types, i);
		const json_t *words = json_array_get(item, 0);
		const size_t count = json_array_size(words);
		const double times = json_number_value(json_array_get(item, 1));

		if (count && (double)layer < (double)count * times)
			return json_string_value(json_array_get(words, (size_t)layer % count));
		if (count && times > 0.0)
			layer -= count * (uint64_t)times;
	}
	return NULL;
}

/* What the file calls the attention of a layer; *ret_list is the list that says it, or NULL. */
static const char *layer_type(const struct ceil_hf_reader *r, uint64_t layer, const char **ret_list)
{
	const json_t *types = json_object_get(r->text, "layer_types");
	const json_t *spread = json_object_get(r->text, "attention_types");

	*ret_list = NULL;
	if (json_array_size(types)) {
		*ret_list = "layer_types";
		return json_string_value(json_array_get(types, (size_t)layer));
	}
	if (json_array_size(spread)) {
		*ret_list = "attention_types";
		return spread_type(spread, layer);
	}
	return NULL;
}

static bool is_either(const char *word, const char *a, const char *b)
{
	return !strcmp(word, a) || !strcmp(word, b);
}

/* By the list of layers where the file has one, else by the class's pattern. */
static enum ceil_status layer_has_window(const struct ceil_hf_reader *r, uint64_t layer,
                                         bool *ret_has, struct ceil_error *err)
{
	const uint64_t pattern = r->value[CEIL_HF_PATTERN];
	const char *list;
	const char *word = layer_type(r, layer, &list);
	bool windowed;

	if (!list) {
		*ret_has = r->flags & CEIL_HF_WINDOWED && r->value[CEIL_HF_WINDOW] &&
		           layer >= r->value[CEIL_HF_WINDOW_FROM] &&
		           (pattern < 2 || (layer + 1) % pattern != 0);
		return CEIL_OK;
	}
	if (!word)
		return ceil_fail(err, CEIL_E_USAGE, "%s: %s does not name layer %" PRIu64, r->name,
		                 list, layer);
	windowed = is_either(word, "sliding_attention", "local");
	if (!windowed && !is_either(word, "full_attention", "global"))
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%s: layer %" PRIu64
		                 " is '%s', which cannot be counted as attention",
		                 r->name, layer, word);
	*ret_has = windowed && r->value[CEIL_HF_WINDOW];
	return CEIL_OK;
}

/* Layers of four kinds at most: with a window or without, with experts or without. */
static enum ceil_status make_layers(const struct ceil_hf_reader *r, struct ceil_model *m,
                                    struct ceil_error *err)
{
	uint64_t count[2][2] = {{0}};
	struct ceil_attention a;
	enum ceil_status st = make_attention(r, &a, err);

	for (uint64_t layer = 0; st == CEIL_OK && layer < r->value[CEIL_HF_LAYERS]; layer++) {
		bool window = false;

		st = layer_has_window(r, layer, &window, err);
		count[window][layer_has_experts(r, layer)]++;
	}
	if (st != CEIL_OK)
		return st;
	for (int kind = 0; kind < 4; kind++) {
		const bool window = kind & 1, experts = kind & 2;

		if (!count[window][experts])
			continue;
		a.window = window ? r->value[CEIL_HF_WINDOW] : 0;
		m->blocks[m->block_count++] =
			(struct ceil_block){.layers = count[window][experts],
		                            .shared = r->flags & CEIL_HF_SHARED_LAYERS,
		                            .norm_vectors = norm_count(r) * vector_count(r),
		                            .attention = a,
		                            .ffn = make_ffn(r, experts)};
	}
	return CEIL_OK;
}

/* An encoder-decoder: the decoder's layers have a second attention and a third norm. */
static enum ceil_status make_seq2seq(struct ceil_hf_reader *r, struct ceil_model *m,
                                     struct ceil_error *err)
{
	const uint64_t tables = r->value[CEIL_HF_BUCKETS];
	struct ceil_block b = {.side = CEIL_ENCODER, .layers = r->value[CEIL_HF_LAYERS]};
	const bool each = r->flags & CEIL_HF_BUCKETS_EACH;
	enum ceil_status st = make_attention(r, &b.attention, err);

	if (st != CEIL_OK)
		return st;
	if (tables > MAX_BUCKETS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s: %" PRIu64 " relative position buckets; at most %d", r->name,
		                 tables, MAX_BUCKETS);
	b.norm_vectors = 2 * vector_count(r);
	b.ffn = make_ffn(r, /* experts= */ false);
	m->extra_params = tables * b.attention.heads * (each ? b.layers : 1);
	m->blocks[m->block_count++] = b;
	b.side = CEIL_MAIN;
	b.layers = r->value[CEIL_HF_DECODER_LAYERS] ? r->value[CEIL_HF_DECODER_LAYERS] : b.layers;
	if (r->value[CEIL_HF_DECODER_FFN])
		b.ffn.inner = r->value[CEIL_HF_DECODER_FFN];
	if (r->value[CEIL_HF_DECODER_HEADS])
		r->value[CEIL_HF_HEADS] = r->value[CEIL_HF_DECODER_HEADS];
	st = make_attention(r, &b.attention, err);
	b.attention.causal = true;
	b.attention.cross = true;
	b.norm_vectors = 3 * vector_count(r);
	m->extra_params += tables * b.attention.heads * (each ? b.layers : 1);
	m->blocks[m->block_count++] = b;
	return st;
}

static enum ceil_status make_vision(const struct ceil_hf_reader *r, struct ceil_model *m,
                                    struct ceil_error *err)
{
	const uint64_t image = r->value[CEIL_HF_IMAGE], patch = r->value[CEIL_HF_PATCH];
	const double labels = json_number_value(json_object_get(r->text, "num_labels"));

	if (!patch || image < patch || image > 1u << 20)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s: patches of %" PRIu64 " do not fit an image of %" PRIu64,
		                 r->name, patch, image);
	if (r->value[CEIL_HF_CHANNELS] > MAX_CHANNELS)
		return ceil_fail(err, CEIL_E_USAGE, "%s: %" PRIu64 " channels; at most %d", r->name,
		                 r->value[CEIL_HF_CHANNELS], MAX_CHANNELS);
	m->patches = (image / patch) * (image / patch);
	m->patch_inputs = r->value[CEIL_HF_CHANNELS] * patch * patch;
	m->prefix_tokens = r->type->extra_positions;
	m->classes = json_object_size(json_object_get(r->text, "id2label"));
	if (!m->classes && labels >= 1.0 && labels <= 1e12)
		m->classes = (uint64_t)labels;
	m->logits_bias = m->classes != 0;
	m->no_logits = !m->classes;
	return make_layers(r, m, err);
}

static void make_embeddings(const struct ceil_hf_reader *r, struct ceil_model *m)
{
	const uint64_t sides = r->type->kind == CEIL_HF_SEQ2SEQ ? 2 : 1;
	const uint64_t *v = r->value;

	m->hidden = v[CEIL_HF_HIDDEN];
	m->vocab = v[CEIL_HF_VOCAB];
	m->embed_dim = v[CEIL_HF_EMBED_DIM] == m->hidden ? 0 : v[CEIL_HF_EMBED_DIM];
	m->narrow_positions = m->embed_dim && r->type->kind == CEIL_HF_ENCODER;
	m->tied = r->flags & CEIL_HF_TIED;
	m->score_bias = r->flags & CEIL_HF_SCORE_BIAS;
	m->transform = r->flags & CEIL_HF_TRANSFORM;
	m->logits_bias = r->flags & CEIL_HF_LOGITS_BIAS;
	if (r->flags & CEIL_HF_LEARNED && v[CEIL_HF_POSITIONS]) {
		m->seq = v[CEIL_HF_POSITIONS];
		m->positions = sides * (m->seq + r->type->extra_positions) + v[CEIL_HF_TOKEN_TYPES];
	}
	m->embed_vectors = r->flags & CEIL_HF_EMBED_NORM ? sides * vector_count(r) : 0;
	m->final_vectors = r->flags & CEIL_HF_NO_FINAL_NORM ? 0 : sides * vector_count(r);
}

static void add_note(struct ceil_model *m, const char *what, const char *more)
{
	ceil_append(m->note, sizeof(m->note), "%s%s%s", m->note[0] ? "; " : "", what, more);
}

/* Without the logits of a language model, where the class of the file has none to train. */
static void shape_head(const struct ceil_hf_reader *r, struct ceil_model *m)
{
	const enum ceil_hf_head head = r->architecture && r->type->kind != CEIL_HF_VISION
	                                       ? ceil_hf_head_of(r->architecture, r->type->kind)
	                                       : CEIL_HF_HEAD_LOGITS;

	if (head == CEIL_HF_HEAD_LOGITS)
		return;
	/* The class of several parts says nothing of its language model: InternVLChatModel. */
	if (head == CEIL_HF_HEAD_NONE && r->nested)
		return;
	if (head == CEIL_HF_HEAD_NONE) {
		add_note(m, "with the logits of a language model, which it lacks as ",
		         r->architecture);
		return;
	}
	add_note(m, "without the head of ", r->architecture);
	m->no_logits = true;
	m->tied = false;
	m->logits_bias = false;
	m->transform = false;
}

enum ceil_status ceil_hf_model_make(struct ceil_hf_reader *r, struct ceil_model *ret_m,
                                    struct ceil_error *err)
{
	struct ceil_model m = {.block_count = 0};
	enum ceil_status st;

	if (r->value[CEIL_HF_LAYERS] > MAX_LAYERS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s: %" PRIu64 " layers; at most %d can be counted", r->name,
		                 r->value[CEIL_HF_LAYERS], MAX_LAYERS);
	make_embeddings(r, &m);
	ceil_copy(m.name, sizeof(m.name), r->type->name);
	ceil_copy(m.source, sizeof(m.source), r->name);
	if (r->type->kind == CEIL_HF_SEQ2SEQ)
		st = make_seq2seq(r, &m, err);
	else if (r->type->kind == CEIL_HF_VISION)
		st = make_vision(r, &m, err);
	else
		st = make_layers(r, &m, err);
	if (st != CEIL_OK)
		return st;
	if (r->nested)
		add_note(&m, "the language model alone", "");
	else if (r->type->note)
		add_note(&m, r->type->note, "");
	shape_head(r, &m);
	if (r->defaults[0])
		add_note(&m, "from the class: ", r->defaults);
	st = ceil_model_check(&m, err);
	if (st == CEIL_OK)
		*ret_m = m;
	else if (err)
		(void)ceil_context(err, "%s", r->name);
	return st;
}
