/* Turns a config.json into a model: finds its type, its numbers, and which layers are alike. */
#include "harness/output/hf_config.h"

#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/output/hf_types.h"

#include <jansson.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A config.json has a few kB; one with its vocabulary in it, a few MB. */
enum { MAX_FILE_BYTES = 16 << 20, MAX_LAYERS = 100000 };

/* What is being read. */
struct reader {
	const char *name;           /* of the file */
	const json_t *text, *outer; /* the text part, and the whole file */
	const struct ceil_hf_type *type;
	bool nested;
	uint32_t flags;
	uint64_t value[CEIL_HF_KEY_COUNT];
	char defaults[200]; /* "heads 8, ..." taken from the class */
	char missing[160];
};

/* ---- text that Python's json writes and JSON does not know */

static bool is_word(const char *text, size_t length, const char *word)
{
	const size_t n = strlen(word);

	return length >= n && !memcmp(text, word, n) &&
	       (length == n || !isalnum((unsigned char)text[n]));
}

/* Length of a bare NaN, Infinity or -Infinity at text, or 0. */
static size_t bare_number(const char *text, size_t length)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(text, length, words[i]))
			return strlen(words[i]);
	return 0;
}

/* Copies text, with null for each bare number outside strings: "NaN" grows by one byte. */
static char *without_bare_numbers(const char *text, size_t length, size_t *ret_length,
                                  struct ceil_error *err)
{
	char *copy = ceil_alloc(length + length / 3 + 2, 1, err);
	bool quoted = false;
	size_t out = 0;

	for (size_t i = 0; copy && i < length;) {
		const size_t bare = quoted ? 0 : bare_number(text + i, length - i);

		if (bare) {
			memcpy(copy + out, "null", 4);
			out += 4;
			i += bare;
			continue;
		}
		if (quoted && text[i] == '\\' && i + 1 < length)
			copy[out++] = text[i++];
		else if (text[i] == '"')
			quoted = !quoted;
		copy[out++] = text[i++];
	}
	*ret_length = out;
	return copy;
}

/* ---- numbers and switches */

/* Finds a key by its spellings; *ret_name is the one found, or the first. */
static const json_t *find_key(const json_t *o, enum ceil_hf_key key, const char **ret_name)
{
	const char *const *names = ceil_hf_keys[key].names;

	*ret_name = names[0];
	for (size_t i = 0; i < sizeof(ceil_hf_keys[0].names) / sizeof(names[0]) && names[i]; i++) {
		const json_t *v = json_object_get(o, names[i]);

		if (!v)
			continue;
		*ret_name = names[i];
		return v;
	}
	return NULL;
}

static const char *type_word(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "text";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	default:
		return "a number";
	}
}

/* null means "none"; a pattern may be spelled out, as in "LLLG". */
static enum ceil_status read_number(const struct reader *r, enum ceil_hf_key key, const char *name,
                                    const json_t *v, uint64_t *ret_value, struct ceil_error *err)
{
	const double x = json_number_value(v);

	if (json_is_null(v)) {
		*ret_value = 0;
		return CEIL_OK;
	}
	if (key == CEIL_HF_PATTERN && json_is_string(v)) {
		*ret_value = json_string_length(v);
		return CEIL_OK;
	}
	if (!json_is_number(v))
		return ceil_fail(err, CEIL_E_USAGE, "%s: %s is %s, not a whole number", r->name,
		                 name, type_word(v));
	if (x < 0.0 || x > 1e12 || x != floor(x))
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s: %s is %.6g; it must be a whole number from 0 to 1e12",
		                 r->name, name, x);
	*ret_value = (uint64_t)x;
	return CEIL_OK;
}

/* Sizes without which nothing can be counted; a file on its own always has them. */
static bool is_core(const struct ceil_hf_type *t, enum ceil_hf_key key)
{
	if (key == CEIL_HF_VOCAB)
		return t->kind != CEIL_HF_VISION;
	if (key == CEIL_HF_FFN)
		return t->defaults[CEIL_HF_FFN] != 0; /* the others mean 4 hidden */
	return key == CEIL_HF_LAYERS || key == CEIL_HF_HIDDEN || key == CEIL_HF_HEADS;
}

static void take_default(struct reader *r, enum ceil_hf_key key, const char *name)
{
	const uint64_t d = r->type->defaults[key];

	if (is_core(r->type, key) && !r->nested) {
		ceil_append(r->missing, sizeof(r->missing), "%s%s", r->missing[0] ? ", " : "",
		            name);
		return;
	}
	r->value[key] = d;
	if (d)
		ceil_append(r->defaults, sizeof(r->defaults), "%s%s %" PRIu64,
		            r->defaults[0] ? ", " : "", name, d);
}

static enum ceil_status read_numbers(struct reader *r, struct ceil_error *err)
{
	for (enum ceil_hf_key key = 0; key < CEIL_HF_KEY_COUNT; key++) {
		enum ceil_status st;
		const char *name;
		const json_t *v = find_key(r->text, key, &name);

		if (!v) {
			take_default(r, key, name);
			continue;
		}
		st = read_number(r, key, name, v, &r->value[key], err);
		if (st != CEIL_OK)
			return st;
		if (!r->value[key] && is_core(r->type, key))
			ceil_append(r->missing, sizeof(r->missing), "%s%s",
			            r->missing[0] ? ", " : "", name);
	}
	if (r->value[CEIL_HF_EXPERTS] && !r->value[CEIL_HF_ACTIVE])
		ceil_append(r->missing, sizeof(r->missing), "%snum_experts_per_tok",
		            r->missing[0] ? ", " : "");
	if (!r->missing[0])
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE, "%s: a %s needs %s, which the file lacks", r->name,
	                 r->type->name, r->missing);
}

/* A switch of the text part, else of the whole file: tie_word_embeddings stands in either. */
static enum ceil_status read_switches(struct reader *r, struct ceil_error *err)
{
	r->flags = r->type->flags;
	for (size_t i = 0; i < ceil_hf_switch_count; i++) {
		const struct ceil_hf_switch *s = &ceil_hf_switches[i];
		const json_t *v = json_object_get(r->text, s->name);
		uint32_t flags = s->flags;

		if (!v)
			v = json_object_get(r->outer, s->name);
		if (!v || json_is_null(v))
			continue;
		if (!json_is_boolean(v))
			return ceil_fail(err, CEIL_E_USAGE, "%s: %s is %s, not true or false",
			                 r->name, s->name, type_word(v));
		if (r->flags & CEIL_HF_OUT_APART && flags == (CEIL_HF_QKV_BIAS | CEIL_HF_OUT_BIAS))
			flags = CEIL_HF_QKV_BIAS;
		r->flags = json_is_true(v) != s->inverse ? r->flags | flags : r->flags & ~flags;
	}
	return CEIL_OK;
}

/* T5: "gated-gelu" or "relu". */
static void read_projection(struct reader *r)
{
	const char *how = json_string_value(json_object_get(r->text, "feed_forward_proj"));

	if (!how)
		return;
	r->flags &= ~(uint32_t)CEIL_HF_GATED;
	if (!strncmp(how, "gated-", 6))
		r->flags |= CEIL_HF_GATED;
}

/* ---- building the model */

static uint64_t vector_count(const struct reader *r)
{
	return r->flags & CEIL_HF_NORM_BIAS ? 2 : 1;
}

/* Norms of a layer; where attention stands beside the feed-forward, they may share one. */
static uint64_t norm_count(const struct reader *r)
{
	const json_t *said = json_object_get(r->text, "num_ln_in_parallel_attn");

	if (!(r->flags & CEIL_HF_PARALLEL) || !(r->flags & CEIL_HF_PARALLEL_ONE))
		return r->type->norms;
	if (json_integer_value(said) == 1 || json_integer_value(said) == 2)
		return (uint64_t)json_integer_value(said);
	return r->flags & CEIL_HF_NEW_FALCON ? 2 : 1;
}

static uint64_t kv_heads(const struct reader *r)
{
	if (r->flags & CEIL_HF_MULTI_QUERY && !(r->flags & CEIL_HF_NEW_FALCON))
		return 1;
	if (!strcmp(r->type->name, "falcon") && !(r->flags & CEIL_HF_NEW_FALCON))
		return r->value[CEIL_HF_HEADS];
	return r->value[CEIL_HF_KV_HEADS] ? r->value[CEIL_HF_KV_HEADS] : r->value[CEIL_HF_HEADS];
}

static void add_attention_extras(const struct reader *r, struct ceil_attention *a)
{
	if (r->flags & CEIL_HF_QK_NORM)
		a->extra_params += r->flags & CEIL_HF_QK_NORM_WIDE
		                           ? (a->heads + a->kv_heads) * a->qk_dim
		                           : 2 * a->qk_dim;
	if (r->flags & CEIL_HF_SINKS)
		a->extra_params += a->heads;
}

static enum ceil_status make_attention(const struct reader *r, struct ceil_attention *ret_a,
                                       struct ceil_error *err)
{
	const uint64_t *v = r->value;
	const uint64_t heads = v[CEIL_HF_HEADS];
	struct ceil_attention a = {.heads = heads,
	                           .kv_heads = kv_heads(r),
	                           .causal = r->type->kind == CEIL_HF_DECODER,
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

static uint64_t dense_inner(const struct reader *r)
{
	return r->value[CEIL_HF_FFN] ? r->value[CEIL_HF_FFN] : 4 * r->value[CEIL_HF_HIDDEN];
}

static struct ceil_ffn make_ffn(const struct reader *r, bool experts)
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
		if (json_integer_value(json_array_get(list, i)) == (json_int_t)layer)
			return true;
	return false;
}

static bool layer_has_experts(const struct reader *r, uint64_t layer)
{
	const uint64_t step = r->value[CEIL_HF_MOE_STEP];

	if (!r->value[CEIL_HF_EXPERTS] || layer < r->value[CEIL_HF_DENSE_FIRST])
		return false;
	if (list_has(json_object_get(r->text, "mlp_only_layers"), layer))
		return false;
	return step < 2 || (layer + 1) % step == 0;
}

/* By layer_types where the file has them, else by the class's pattern. */
static enum ceil_status layer_has_window(const struct reader *r, uint64_t layer, bool *ret_has,
                                         struct ceil_error *err)
{
	const json_t *types = json_object_get(r->text, "layer_types");
	const uint64_t pattern = r->value[CEIL_HF_PATTERN];
	const char *word;

	if (!json_array_size(types)) {
		*ret_has = r->flags & CEIL_HF_WINDOWED && r->value[CEIL_HF_WINDOW] &&
		           layer >= r->value[CEIL_HF_WINDOW_FROM] &&
		           (pattern < 2 || (layer + 1) % pattern != 0);
		return CEIL_OK;
	}
	word = json_string_value(json_array_get(types, (size_t)layer));
	if (!word)
		return ceil_fail(err, CEIL_E_USAGE, "%s: layer_types does not name layer %" PRIu64,
		                 r->name, layer);
	if (strcmp(word, "full_attention") != 0 && strcmp(word, "sliding_attention") != 0)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%s: layer %" PRIu64
		                 " is '%s', which cannot be counted as attention",
		                 r->name, layer, word);
	*ret_has = !strcmp(word, "sliding_attention") && r->value[CEIL_HF_WINDOW];
	return CEIL_OK;
}

/* Layers of four kinds at most: with a window or without, with experts or without. */
static enum ceil_status make_layers(const struct reader *r, struct ceil_model *m,
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
static enum ceil_status make_seq2seq(struct reader *r, struct ceil_model *m, struct ceil_error *err)
{
	const uint64_t tables = r->value[CEIL_HF_BUCKETS];
	struct ceil_block b = {.side = CEIL_ENCODER, .layers = r->value[CEIL_HF_LAYERS]};
	const bool each = r->flags & CEIL_HF_BUCKETS_EACH;
	enum ceil_status st = make_attention(r, &b.attention, err);

	if (st != CEIL_OK)
		return st;
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

static enum ceil_status make_vision(const struct reader *r, struct ceil_model *m,
                                    struct ceil_error *err)
{
	const uint64_t image = r->value[CEIL_HF_IMAGE], patch = r->value[CEIL_HF_PATCH];
	const json_t *labels = json_object_get(r->text, "num_labels");

	if (!patch || image < patch || image > 1u << 20)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s: patches of %" PRIu64 " do not fit an image of %" PRIu64,
		                 r->name, patch, image);
	m->patches = (image / patch) * (image / patch);
	m->patch_inputs = r->value[CEIL_HF_CHANNELS] * patch * patch;
	m->prefix_tokens = r->type->extra_positions;
	m->classes = json_object_size(json_object_get(r->text, "id2label"));
	if (!m->classes && json_integer_value(labels) > 0)
		m->classes = (uint64_t)json_integer_value(labels);
	m->logits_bias = m->classes != 0;
	m->no_logits = !m->classes;
	return make_layers(r, m, err);
}

static void make_embeddings(const struct reader *r, struct ceil_model *m)
{
	const uint64_t sides = r->type->kind == CEIL_HF_SEQ2SEQ ? 2 : 1;
	const uint64_t *v = r->value;

	m->hidden = v[CEIL_HF_HIDDEN];
	m->vocab = v[CEIL_HF_VOCAB];
	m->embed_dim = v[CEIL_HF_EMBED_DIM] == m->hidden ? 0 : v[CEIL_HF_EMBED_DIM];
	m->narrow_positions = m->embed_dim && r->type->kind == CEIL_HF_ENCODER;
	m->tied = r->flags & CEIL_HF_TIED;
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

static enum ceil_status make_model(struct reader *r, struct ceil_model *ret_m,
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
	if (r->defaults[0])
		add_note(&m, "from the class: ", r->defaults);
	st = ceil_model_check(&m, err);
	if (st == CEIL_OK)
		*ret_m = m;
	else if (err)
		(void)ceil_context(err, "%s", r->name);
	return st;
}

/* ---- finding the type */

/* The text part of a model of several parts, or the whole. */
static const json_t *text_part(const json_t *root)
{
	static const char *const names[] = {"text_config", "language_config", "llm_config"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const json_t *part = json_object_get(root, names[i]);

		if (json_is_object(part))
			return part;
	}
	return root;
}

static enum ceil_status unknown_type(const struct reader *r, const char *type,
                                     struct ceil_error *err)
{
	const char *names[128];
	const char *near;
	size_t count = 0;

	for (; count < ceil_hf_type_count && count + 1 < sizeof(names) / sizeof(names[0]); count++)
		names[count] = ceil_hf_types[count].name;
	names[count] = NULL;
	near = ceil_suggest(type, names);
	return ceil_fail(
		err, CEIL_E_UNSUPPORTED,
		"%s: model_type '%.40s' is not known%s%s%s; give --layers, --hidden, ... or "
		"--params instead",
		r->name, type, near ? " (near: " : "", near ? near : "", near ? ")" : "");
}

static enum ceil_status find_type(struct reader *r, struct ceil_error *err)
{
	const char *outer = json_string_value(json_object_get(r->outer, "model_type"));
	const char *type = json_string_value(json_object_get(r->text, "model_type"));
	const char *why = outer ? ceil_hf_refused(outer) : NULL;

	if (!type)
		type = outer;
	if (!type)
		return ceil_fail(err, CEIL_E_USAGE, "%s: there is no model_type", r->name);
	if (!why) {
		why = ceil_hf_refused(type);
		outer = type;
	}
	if (why)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: a %s cannot be counted: %s", r->name,
		                 outer, why);
	r->type = ceil_hf_type_find(type);
	return r->type ? CEIL_OK : unknown_type(r, type, err);
}

static enum ceil_status parse_root(const char *name, const json_t *root, struct ceil_model *ret_m,
                                   struct ceil_error *err)
{
	struct reader r = {.name = name, .outer = root};
	enum ceil_status st;

	if (!json_is_object(root))
		return ceil_fail(err, CEIL_E_USAGE, "%s: %s, where a config.json is an object",
		                 name, type_word(root));
	r.text = text_part(root);
	r.nested = r.text != root;
	st = find_type(&r, err);
	if (st == CEIL_OK)
		st = read_numbers(&r, err);
	if (st == CEIL_OK)
		st = read_switches(&r, err);
	if (st != CEIL_OK)
		return st;
	read_projection(&r);
	return make_model(&r, ret_m, err);
}

enum ceil_status ceil_hf_parse(const char *text, size_t length, const char *name,
                               struct ceil_model *ret_m, struct ceil_error *err)
{
	char *clean = without_bare_numbers(text, length, &length, err);
	enum ceil_status st;
	json_error_t why;
	json_t *root;

	if (!clean)
		return CEIL_E_NOMEM;
	root = json_loadb(clean, length, 0, &why);
	free(clean);
	if (!root)
		return ceil_fail(err, CEIL_E_USAGE, "%s: line %d is no JSON: %.120s", name,
		                 why.line, why.text);
	st = parse_root(name, root, ret_m, err);
	json_decref(root);
	return st;
}

enum ceil_status ceil_hf_read(const char *path, struct ceil_model *ret_m, struct ceil_error *err)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	enum ceil_status st;
	size_t length;

	if (!f)
		return ceil_fail(err, CEIL_E_IO, "%s: %s", path, strerror(errno));
	text = ceil_alloc(MAX_FILE_BYTES + 1, 1, err);
	if (!text) {
		st = CEIL_E_NOMEM;
		goto out_close;
	}
	length = fread(text, 1, MAX_FILE_BYTES + 1, f);
	if (ferror(f))
		st = ceil_fail(err, CEIL_E_IO, "%s: %s", path, strerror(errno));
	else if (length > MAX_FILE_BYTES)
		st = ceil_fail(err, CEIL_E_USAGE, "%s: over %d MiB, which no config.json is", path,
		               MAX_FILE_BYTES >> 20);
	else
		st = ceil_hf_parse(text, length, path, ret_m, err);
	free(text);
out_close:
	(void)fclose(f); /* it was only read */
	return st;
}
