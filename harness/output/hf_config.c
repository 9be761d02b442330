/* Reads a config.json: its type, its numbers and its switches. */
#include "harness/output/hf_config.h"

#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/output/hf_inside.h"

#include <jansson.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A config.json has a few kB; one with its vocabulary in it, a few MB. */
enum { MAX_FILE_BYTES = 16 << 20 };

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

enum { MAX_NAMES = sizeof(ceil_hf_keys[0].names) / sizeof(ceil_hf_keys[0].names[0]) };

/* What an encoder-decoder's class builds its encoder by, whatever num_hidden_layers says. */
static const char *const encoder_names[CEIL_HF_KEY_COUNT] = {
	[CEIL_HF_LAYERS] = "encoder_layers",
	[CEIL_HF_HEADS] = "encoder_attention_heads",
	[CEIL_HF_FFN] = "encoder_ffn_dim",
};

/* Finds a key by its spellings; *ret_name is the one found, or the first. */
static const json_t *find_key(const struct ceil_hf_reader *r, enum ceil_hf_key key,
                              const char **ret_name)
{
	const char *const *names = ceil_hf_keys[key].names;
	const char *encoder = r->type->kind == CEIL_HF_SEQ2SEQ ? encoder_names[key] : NULL;

	if (encoder && json_object_get(r->text, encoder)) {
		*ret_name = encoder;
		return json_object_get(r->text, encoder);
	}
	*ret_name = names[0];
	for (size_t i = 0; i < MAX_NAMES && names[i]; i++) {
		const json_t *v = json_object_get(r->text, names[i]);

		if (!v)
			continue;
		*ret_name = names[i];
		return v;
	}
	return NULL;
}

/*
 * A size under two spellings that disagree: the class takes whichever it was handed last, which
 * the file does not tell. Only sizes that every model has; the rest may belong to other parts.
 */
static enum ceil_status check_spellings(const struct ceil_hf_reader *r, enum ceil_hf_key key,
                                        const char *found, struct ceil_error *err)
{
	const char *const *names = ceil_hf_keys[key].names;
	const double x = json_number_value(json_object_get(r->text, found));

	if (key > CEIL_HF_KV_HEADS || r->type->kind == CEIL_HF_SEQ2SEQ)
		return CEIL_OK;
	for (size_t i = 0; i < MAX_NAMES && names[i]; i++) {
		const json_t *other = json_object_get(r->text, names[i]);

		if (json_is_number(other) && json_number_value(other) != x)
			return ceil_fail(err, CEIL_E_USAGE,
			                 "%s: %s is %.12g and %s is %.12g; they mean the same",
			                 r->name, found, x, names[i], json_number_value(other));
	}
	return CEIL_OK;
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
	case JSON_NULL:
		return "null";
	default:
		return "a number";
	}
}

/* null means "none"; a pattern may be spelled out, as in "LLLG". */
static enum ceil_status read_number(const struct ceil_hf_reader *r, enum ceil_hf_key key,
                                    const char *name, const json_t *v, uint64_t *ret_value,
                                    struct ceil_error *err)
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

/* Whether the file lists its layers, so that no pattern of the class's tells them apart. */
static bool lists_layers(const struct ceil_hf_reader *r)
{
	return json_array_size(json_object_get(r->text, "layer_types")) ||
	       json_array_size(json_object_get(r->text, "attention_types"));
}

static void take_default(struct ceil_hf_reader *r, enum ceil_hf_key key, const char *name)
{
	const uint64_t d = r->type->defaults[key];

	if (is_core(r->type, key) && !r->nested) {
		ceil_append(r->missing, sizeof(r->missing), "%s%s", r->missing[0] ? ", " : "",
		            name);
		return;
	}
	if ((key == CEIL_HF_PATTERN || key == CEIL_HF_WINDOW_FROM) && lists_layers(r))
		return;
	r->value[key] = d;
	if (d)
		ceil_append(r->defaults, sizeof(r->defaults), "%s%s %" PRIu64,
		            r->defaults[0] ? ", " : "", name, d);
}

static enum ceil_status read_numbers(struct ceil_hf_reader *r, struct ceil_error *err)
{
	for (enum ceil_hf_key key = 0; key < CEIL_HF_KEY_COUNT; key++) {
		enum ceil_status st;
		const char *name;
		const json_t *v = find_key(r, key, &name);

		if (!v) {
			take_default(r, key, name);
			continue;
		}
		st = read_number(r, key, name, v, &r->value[key], err);
		if (st == CEIL_OK)
			st = check_spellings(r, key, name, err);
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
static enum ceil_status read_switches(struct ceil_hf_reader *r, struct ceil_error *err)
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
static void read_projection(struct ceil_hf_reader *r)
{
	const char *how = json_string_value(json_object_get(r->text, "feed_forward_proj"));

	if (!how)
		return;
	r->flags &= ~(uint32_t)CEIL_HF_GATED;
	if (!strncmp(how, "gated-", 6))
		r->flags |= CEIL_HF_GATED;
}

/* Lists of layers; what layer_types says of each is looked at where the layers are made. */
static enum ceil_status check_lists(const struct ceil_hf_reader *r, struct ceil_error *err)
{
	static const char *const names[] = {"layer_types", "mlp_only_layers", "attention_types"};
	const json_t *layers = json_object_get(r->text, "mlp_only_layers");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const json_t *v = json_object_get(r->text, names[i]);

		if (v && !json_is_null(v) && !json_is_array(v))
			return ceil_fail(err, CEIL_E_USAGE, "%s: %s is %s, not a list", r->name,
			                 names[i], type_word(v));
	}
	for (size_t i = 0; i < json_array_size(layers); i++) {
		const json_t *v = json_array_get(layers, i);

		if (!json_is_number(v))
			return ceil_fail(err, CEIL_E_USAGE,
			                 "%s: mlp_only_layers has %s, not the number of a layer",
			                 r->name, type_word(v));
	}
	return CEIL_OK;
}

/* On, several where one is usual, or positions that are relative. */
static bool is_unusual(const json_t *v)
{
	const char *word = json_string_value(v);

	return json_is_true(v) || json_number_value(v) > 1.0 ||
	       (word && !strncmp(word, "relative", strlen("relative")));
}

/* Fields that give the layers what no other number tells; nearly every file has them off. */
static enum ceil_status check_unusual(const struct ceil_hf_reader *r, struct ceil_error *err)
{
	static const struct {
		const char *name, *why;
	} fields[] = {
		{"add_cross_attention",
	         "each layer attends to an encoder, which the file does not describe"},
		{"inner_group_num", "each layer is several, one after another"},
		{"num_hidden_groups", "its layers share parameters in several groups"},
		{"position_embedding_type", "relative positions have products of their own"},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (is_unusual(json_object_get(r->text, fields[i].name)))
			return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: %s: %s", r->name,
			                 fields[i].name, fields[i].why);
	return CEIL_OK;
}

/* Parts of a model that its numbers do not tell. */
static enum ceil_status check_parts(struct ceil_hf_reader *r, struct ceil_error *err)
{
	const json_t *list = json_object_get(r->outer, "architectures");
	const enum ceil_status st = check_unusual(r, err);
	enum ceil_hf_head head;

	if (st != CEIL_OK)
		return st;
	r->architecture = json_string_value(json_array_get(list, 0));
	head = r->architecture ? ceil_hf_head_of(r->architecture, r->type->kind)
	                       : CEIL_HF_HEAD_LOGITS;
	if (head != CEIL_HF_HEAD_ENCODER && head != CEIL_HF_HEAD_DECODER)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_UNSUPPORTED,
	                 "%s: %.60s is only the %s of a %s: give --layers, --hidden, ...", r->name,
	                 r->architecture, head == CEIL_HF_HEAD_ENCODER ? "encoder" : "decoder",
	                 r->type->name);
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

static enum ceil_status unknown_type(const struct ceil_hf_reader *r, const char *type,
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

static enum ceil_status find_type(struct ceil_hf_reader *r, struct ceil_error *err)
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
	struct ceil_hf_reader r = {.name = name, .outer = root};
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
	if (st == CEIL_OK)
		st = check_lists(&r, err);
	if (st == CEIL_OK)
		st = check_parts(&r, err);
	if (st != CEIL_OK)
		return st;
	read_projection(&r);
	return ceil_hf_model_make(&r, ret_m, err);
}

/* Some editors put a byte order mark before UTF-8, which JSON does not know. */
static size_t mark_bytes(const char *text, size_t length)
{
	return length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

enum ceil_status ceil_hf_parse(const char *text, size_t length, const char *name,
                               struct ceil_model *ret_m, struct ceil_error *err)
{
	const size_t mark = mark_bytes(text, length);
	char *clean = without_bare_numbers(text + mark, length - mark, &length, err);
	enum ceil_status st;
	json_error_t why;
	json_t *root;

	if (!clean)
		return CEIL_E_NOMEM;
	/* Python writes whole numbers of any length ("no limit" is 10^30); sizes here are small. */
	root = json_loadb(clean, length, JSON_DECODE_INT_AS_REAL, &why);
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
