/* config.json files of public models, each class's defaults, what is refused, and malformed text.
 */
#include "harness/analysis/flops.h"
#include "harness/base/alloc.h"
#include "harness/output/hf_config.h"
#include "harness/output/hf_types.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ceil_status parse(const char *text, struct ceil_model *m, struct ceil_error *err)
{
	return ceil_hf_parse(text, strlen(text), "config.json", m, err);
}

/*
 * Parameters of the released weights, which are also what the classes of transformers 5.24.0 hold
 * when they are built from these files on PyTorch's meta device. (flan-t5-base: the release has a
 * logits matrix of its own.) Active: from the model's card or paper, within 1 %.
 */
static const struct {
	const char *name;
	uint64_t total;
	double active;
} files[] = {
	{"albert-base", 11221680, 0},
	{"bart-base", 139420416, 0},
	{"bert-large", 335174458, 0},
	{"bloom-560m", 559214592, 0},
	{"deepseek-v2-lite", 15706484224, 0},
	{"deepseek-v3", 671026404352, 37.5e9},
	{"falcon-40b", 41303293952, 0},
	{"flan-t5-base", 247577856, 0},
	{"gemma-2-9b", 9241705984, 0},
	{"gemma-3-4b", 3880263168, 0},
	{"gpt-oss-20b", 20914757184, 3.61e9 + 201088.0 * 2880.0},
	{"gpt2", 124439808, 0},
	{"llama-3.2-1b", 1235814400, 0},
	{"llava-1.5-7b", 6738939904, 0},
	{"mistral-7b", 7241732096, 0},
	{"mixtral-8x7b", 46702792704, 12.9e9},
	{"opt-350m", 331196416, 0},
	{"phi-3-mini", 3821079552, 0},
	{"pythia-1b", 1011781632, 0},
	{"qwen1.5-moe-a2.7b", 14315784192, 2.7e9},
	{"qwen2.5-0.5b", 494032768, 0},
	{"qwen3-30b-a3b", 30532122624, 3.34e9},
	{"vit-l-16", 304326632, 0},
};

static void files_of_public_models_are_read(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct ceil_error err = {0};
		struct ceil_model m;
		struct ceil_params p;
		char path[128];

		(void)snprintf(path, sizeof(path), "tests/data/configs/%s.json", files[i].name);
		if (!ok(ceil_hf_read(path, &m, &err) == CEIL_OK, "%s is read: %s", files[i].name,
		        err.text))
			continue;
		ceil_model_params(&m, &p);
		is_u64(p.total, files[i].total, files[i].name);
		if (files[i].active > 0)
			is_close((double)p.active / files[i].active, 1.0, 0.01,
			         "and its active part");
	}
}

/*
 * What each class holds when nothing is configured, counted by building the classes of
 * transformers 5.24.0 with their defaults on PyTorch's meta device. A nested text_config is
 * written without its defaults, so it reaches them all.
 */
static const struct {
	const char *type;
	uint64_t total;
} classes[] = {
	{"albert", 206368944},
	{"arcee", 4022766080},
	{"bart", 406291456},
	{"bert", 109514298},
	{"bloom", 16156544},
	{"codegen", 6050882784},
	{"cohere", 34980831232},
	{"cohere2", 34980831232},
	{"deepseek_v3", 671026404352},
	{"distilbert", 66985530},
	{"ernie4_5", 360748032},
	{"exaone4", 9429069824},
	{"falcon", 6921720704},
	{"gemma", 8537680896},
	{"gemma2", 2614341888},
	{"gemma3_text", 2628658432},
	{"glm", 9399951360},
	{"glm4", 9400279040},
	{"gpt2", 124439808},
	{"gpt_bigcode", 111446784},
	{"gpt_neo", 1315575808},
	{"gpt_neox", 20554567680},
	{"gpt_oss", 116829156672},
	{"gptj", 6050882784},
	{"granite", 6738415616},
	{"granitemoe", 37039116288},
	{"helium", 2172643840},
	{"llama", 6738415616},
	{"ministral3", 8489553920},
	{"mistral", 7241732096},
	{"mixtral", 46702792704},
	{"mt5", 172119424},
	{"olmo", 6888095744},
	{"olmo2", 6888624128},
	{"olmoe", 13361612800},
	{"opt", 125239296},
	{"phi", 1418270720},
	{"phi3", 3821079552},
	{"phimoe", 41872793600},
	{"qwen2", 12049846272},
	{"qwen2_moe", 14315784192},
	{"qwen3", 12049461248},
	{"qwen3_moe", 15350731776},
	{"roberta", 124696665},
	{"seed_oss", 28921040896},
	{"smollm3", 3075098624},
	{"stablelm", 2795443200},
	{"starcoder2", 3030371328},
	{"t5", 60506624},
	{"umt5", 172122112},
};

static void class_defaults_are_the_classes_own(void)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		struct ceil_error err = {0};
		struct ceil_model m;
		struct ceil_params p;
		char text[128];

		(void)snprintf(text, sizeof(text),
		               "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"%s\"}}",
		               classes[i].type);
		if (!ok(parse(text, &m, &err) == CEIL_OK, "%s: %s", classes[i].type, err.text))
			continue;
		ceil_model_params(&m, &p);
		is_u64(p.total, classes[i].total, classes[i].type);
		has_text(m.note, "the language model alone; from the class: ",
		         "and what the class gave is said");
	}
}

static void a_note_ends_where_it_ends(void)
{
	struct ceil_model m = {.note = ""};

	ok(ceil_hf_read("tests/data/configs/deepseek-v3.json", &m, NULL) == CEIL_OK, "read");
	is_text(m.note, "without the multi-token prediction module", "no separator behind it");
}

/* One expectation about a field of a model. */
static uint64_t windowed_layers(const struct ceil_model *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->block_count; i++)
		sum += m->blocks[i].attention.window ? m->blocks[i].layers : 0;
	return sum;
}

static void layers_are_told_apart(void)
{
	static const struct {
		const char *name;
		uint64_t layers, windowed;
		size_t blocks;
	} cases[] = {
		{"gemma-2-9b", 42, 21, 2},  {"gemma-3-4b", 34, 29, 2},  {"gpt-oss-20b", 24, 12, 2},
		{"mistral-7b", 32, 32, 1},  {"qwen2.5-0.5b", 24, 0, 1}, {"deepseek-v3", 61, 0, 2},
		{"mixtral-8x7b", 32, 0, 1}, {"flan-t5-base", 24, 0, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ceil_model m = {.block_count = 0};
		char path[128];

		(void)snprintf(path, sizeof(path), "tests/data/configs/%s.json", cases[i].name);
		is_int(ceil_hf_read(path, &m, NULL), CEIL_OK, cases[i].name);
		is_u64(ceil_model_layers(&m), cases[i].layers, "layers");
		is_u64(windowed_layers(&m), cases[i].windowed, "with a window");
		is_u64(m.block_count, cases[i].blocks, "kinds of layer");
	}
}

static void fields_have_their_class_meaning(void)
{
	struct ceil_model m = {.block_count = 0};
	struct ceil_error err = {0};

	is_int(parse("{\"model_type\":\"gpt2\",\"n_layer\":2,\"n_embd\":64,\"n_head\":4,"
	             "\"vocab_size\":100}",
	             &m, &err),
	       CEIL_OK, "GPT-2 without n_inner");
	is_u64(m.blocks[0].ffn.inner, 256, "means four times hidden");
	is_u64(m.seq, 1024, "and 1024 positions");
	is_int(parse("{\"model_type\":\"qwen2_moe\",\"num_hidden_layers\":6,\"hidden_size\":64,"
	             "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"intermediate_size\":"
	             "128,"
	             "\"vocab_size\":9,\"decoder_sparse_step\":2,\"mlp_only_layers\":[3]}",
	             &m, &err),
	       CEIL_OK, "experts in every second layer");
	is_u64(m.blocks[0].layers, 4, "and one of them taken out again");
	is_u64(m.blocks[1].ffn.experts, 60, "leave two with experts");
	is_int(parse("{\"model_type\":\"qwen2\",\"num_hidden_layers\":6,\"hidden_size\":64,"
	             "\"num_attention_heads\":4,\"num_key_value_heads\":2,"
	             "\"intermediate_size\":128,\"vocab_size\":9,"
	             "\"use_sliding_window\":true,\"sliding_window\":16,\"max_window_layers\":4}",
	             &m, &err),
	       CEIL_OK, "windows from a layer on");
	is_u64(windowed_layers(&m), 2, "in the last two of six");
	is_int(parse("{\"model_type\":\"llama\",\"num_hidden_layers\":1.0,\"hidden_size\":64,"
	             "\"num_attention_heads\":4,\"intermediate_size\":128,\"vocab_size\":9,"
	             "\"name\":\"NaN, \\\"Infinity\\\"\",\"x\":[NaN,-Infinity,Infinity]}",
	             &m, &err),
	       CEIL_OK, "bare numbers of Python, and words in quotes");
	is_u64(ceil_model_layers(&m), 1, "1.0 is a whole number");
}

#define GPT_NEO(types)                                                                             \
	"{\"model_type\":\"gpt_neo\",\"num_layers\":4,\"hidden_size\":64,\"num_heads\":4,"         \
	"\"vocab_size\":9,\"attention_types\":" types "}"

static void attention_types_say_which_layers_have_windows(void)
{
	static const struct {
		const char *text;
		uint64_t windowed;
	} cases[] = {
		{GPT_NEO("[[[\"global\",\"local\"],2]]"), 2},
		{GPT_NEO("[[[\"global\"],4]]"), 0},
		{GPT_NEO("[[[\"global\"],1],[[\"local\"],3]]"), 3},
		{GPT_NEO("[[[\"local\",\"global\",\"local\"],1],[[\"global\"],1e300]]"), 2},
		{GPT_NEO("null"), 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ceil_model m = {.block_count = 0};

		is_int(parse(cases[i].text, &m, NULL), CEIL_OK, cases[i].text);
		is_u64(windowed_layers(&m), cases[i].windowed, "layers with a window");
	}
}

/* A reward model has no logits to train; a bare model may get any head, so that is told alone. */
static void the_class_says_what_stands_behind_the_layers(void)
{
	static const struct {
		const char *architecture;
		uint64_t logits;
		const char *note;
	} cases[] = {
		{"LlamaForCausalLM", 9 * 64, ""},
		{"LlamaForSequenceClassification", 0,
	         "without the head of LlamaForSequenceClassification"},
		{"LlamaForTokenClassification", 0, "without the head of"},
		{"LlamaForQuestionAnswering", 0, "without the head of"},
		{"LlamaModel", 9 * 64, "which it lacks as LlamaModel"},
		{"LlamaLMHeadModel", 9 * 64, ""},
		{"Model", 9 * 64, "which it lacks"},
		{"", 9 * 64, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ceil_model m = {.block_count = 0};
		struct ceil_params p;
		char text[256];

		(void)snprintf(
			text, sizeof(text),
			"{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"hidden_size\":64,"
			"\"num_attention_heads\":4,\"intermediate_size\":128,\"vocab_size\":9,"
			"\"architectures\":[\"%s\"]}",
			cases[i].architecture);
		is_int(parse(text, &m, NULL), CEIL_OK, cases[i].architecture);
		ceil_model_params(&m, &p);
		is_u64(p.logits, cases[i].logits, "its logits");
		if (cases[i].note[0])
			has_text(m.note, cases[i].note, "and that is told");
		else
			is_text(m.note, "", "and nothing is told");
	}
}

/* bge-base-en: what BertModel holds is 109 482 240, with a pooler of 768 x 769 = 590 592. */
static void an_encoder_loses_its_whole_head(void)
{
	struct ceil_model m = {.block_count = 0};
	struct ceil_params p;

	is_int(parse("{\"model_type\":\"bert\",\"architectures\":[\"BertForTokenClassification\"],"
	             "\"hidden_size\":768,\"intermediate_size\":3072,\"num_hidden_layers\":12,"
	             "\"num_attention_heads\":12,\"vocab_size\":30522}",
	             &m, NULL),
	       CEIL_OK, "BERT that classifies tokens");
	ceil_model_params(&m, &p);
	is_u64(p.total, 109482240 - 590592, "is BertModel without its pooler");
	is_close(ceil_flops_params(&p, &m, CEIL_EMBED_LOGITS),
	         (double)(109482240 - 590592 - (30522 + 512 + 2) * 768), 0.0,
	         "its tables are only looked up");
}

#define LLAMA_BUT(field)                                                                           \
	"{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"hidden_size\":64,"                    \
	"\"num_attention_heads\":4,\"intermediate_size\":128,\"vocab_size\":9," field "}"

static void fields_that_other_classes_share_keep_their_meaning(void)
{
	struct ceil_model m = {.block_count = 0};

	is_int(parse("{\"model_type\":\"bert\",\"hidden_size\":64,\"intermediate_size\":128,"
	             "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":9,"
	             "\"is_decoder\":true}",
	             &m, NULL),
	       CEIL_OK, "BERT as a decoder");
	ok(m.blocks[0].attention.causal, "has a causal mask");
	is_int(parse("{\"model_type\":\"bart\",\"d_model\":64,\"num_hidden_layers\":12,"
	             "\"encoder_layers\":6,\"decoder_layers\":3,\"encoder_attention_heads\":4,"
	             "\"decoder_attention_heads\":4,\"encoder_ffn_dim\":128,"
	             "\"decoder_ffn_dim\":128,\"vocab_size\":9,\"is_decoder\":true}",
	             &m, NULL),
	       CEIL_OK, "a distilled BART");
	is_u64(m.blocks[0].layers, 6, "is built by encoder_layers");
	ok(!m.blocks[0].attention.causal, "and its encoder sees both ways");
	is_u64(m.blocks[1].layers, 3, "and decoder_layers");
	ok(!m.score_bias, "and has a table of positions");
	is_int(ceil_hf_read("tests/data/configs/bloom-560m.json", &m, NULL), CEIL_OK, "BLOOM");
	ok(m.score_bias, "adds positions to its scores");
	is_int(parse("{\"model_type\":\"falcon\",\"alibi\":true,\"num_hidden_layers\":2,"
	             "\"hidden_size\":64,\"num_attention_heads\":4,\"vocab_size\":9}",
	             &m, NULL),
	       CEIL_OK, "Falcon with ALiBi");
	ok(m.score_bias, "does so too");
	is_int(parse(LLAMA_BUT("\"add_cross_attention\":false,\"inner_group_num\":1,"
	                       "\"num_hidden_groups\":1,"
	                       "\"position_embedding_type\":\"absolute\""),
	             &m, NULL),
	       CEIL_OK, "fields of rare layers, as nearly every file has them");
	is_int(parse("{\"model_type\":\"gpt2\",\"n_layer\":2,\"num_hidden_layers\":2,"
	             "\"n_embd\":64,\"n_head\":4,\"vocab_size\":100}",
	             &m, NULL),
	       CEIL_OK, "two spellings that agree");
	is_int(parse("\xef\xbb\xbf{\"model_type\":\"gpt2\",\"n_layer\":2,\"n_embd\":64,"
	             "\"n_head\":4,\"vocab_size\":100,"
	             "\"model_max_length\":1000000000000000019884624838656}",
	             &m, NULL),
	       CEIL_OK, "a byte order mark, and a whole number beyond 64 bits");
	is_u64(ceil_model_layers(&m), 2, "are no obstacle");
	is_int(parse("{\"model_type\":\"vit\",\"hidden_size\":64,\"intermediate_size\":128,"
	             "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_labels\":7,"
	             "\"architectures\":[\"ViTModel\"]}",
	             &m, NULL),
	       CEIL_OK, "images");
	is_u64(m.classes, 7, "have as many classes as the file says");
	is_text(m.note, "from the class: image_size 224, patch_size 16, num_channels 3",
	        "and no logits of a language");
}

static void what_cannot_be_counted_is_refused_by_name(void)
{
	struct ceil_model m = {.name = "untouched"};

	for (size_t i = 0; i < ceil_hf_refusal_count; i++) {
		struct ceil_error err = {0};
		char text[128];

		(void)snprintf(text, sizeof(text), "{\"model_type\":\"%s\",\"hidden_size\":64}",
		               ceil_hf_refusals[i].name);
		is_int(parse(text, &m, &err), CEIL_E_UNSUPPORTED, ceil_hf_refusals[i].name);
		has_text(err.text, ceil_hf_refusals[i].name, "by name");
		has_text(err.text, ceil_hf_refusals[i].why, "with the reason");
		ok(!ceil_hf_type_find(ceil_hf_refusals[i].name),
		   "and is no row of the other table");
	}
	is_text(m.name, "untouched", "nothing is returned");
}

static const struct {
	const char *text;
	enum ceil_status status;
	const char *words;
} bad_input[] = {
	{"", CEIL_E_USAGE, "no JSON"},
	{"{", CEIL_E_USAGE, "no JSON"},
	{"[1,2]", CEIL_E_USAGE, "a list"},
	{"{}", CEIL_E_USAGE, "no model_type"},
	{"{\"model_type\":7}", CEIL_E_USAGE, "no model_type"},
	{"{\"model_type\":\"lama\"}", CEIL_E_UNSUPPORTED, "near: llama"},
	{"{\"model_type\":\"llama\"}", CEIL_E_USAGE,
         "num_hidden_layers, hidden_size, num_attention_heads, intermediate_size, "
         "vocab_size"},
	{"{\"model_type\":\"llama\",\"hidden_size\":null}", CEIL_E_USAGE, "hidden_size"},
	{LLAMA_BUT("\"hidden_size\":\"big\""), CEIL_E_USAGE, "hidden_size is text"},
	{LLAMA_BUT("\"hidden_size\":[64]"), CEIL_E_USAGE, "hidden_size is a list"},
	{LLAMA_BUT("\"hidden_size\":{}"), CEIL_E_USAGE, "hidden_size is an object"},
	{LLAMA_BUT("\"hidden_size\":true"), CEIL_E_USAGE, "hidden_size is true or false"},
	{LLAMA_BUT("\"hidden_size\":-64"), CEIL_E_USAGE, "hidden_size is -64"},
	{LLAMA_BUT("\"hidden_size\":64.5"), CEIL_E_USAGE, "hidden_size is 64.5"},
	{LLAMA_BUT("\"hidden_size\":1e300"), CEIL_E_USAGE, "hidden_size is 1e+300"},
	{LLAMA_BUT("\"hidden_size\":99999999996"), CEIL_E_USAGE, "hidden size is 99999999996"},
	{LLAMA_BUT("\"hidden_size\":66"), CEIL_E_USAGE, "no multiple of 4 heads"},
	{LLAMA_BUT("\"num_hidden_layers\":999999999"), CEIL_E_USAGE, "layers"},
	{LLAMA_BUT("\"num_key_value_heads\":3"), CEIL_E_USAGE, "do not divide"},
	{LLAMA_BUT("\"tie_word_embeddings\":1"), CEIL_E_USAGE, "not true or false"},
	{LLAMA_BUT("\"layer_types\":[\"full_attention\"]"), CEIL_E_USAGE, "layer 1"},
	{LLAMA_BUT("\"layer_types\":[\"full_attention\",\"linear_attention\"]"), CEIL_E_UNSUPPORTED,
         "linear_attention"},
	{LLAMA_BUT("\"layer_types\":\"full_attention\""), CEIL_E_USAGE,
         "layer_types is text, not a list"},
	{LLAMA_BUT("\"mlp_only_layers\":1"), CEIL_E_USAGE,
         "mlp_only_layers is a number, not a list"},
	{LLAMA_BUT("\"mlp_only_layers\":[1,\"2\"]"), CEIL_E_USAGE, "mlp_only_layers has text"},
	{LLAMA_BUT("\"mlp_only_layers\":[null]"), CEIL_E_USAGE, "mlp_only_layers has null"},
	{LLAMA_BUT("\"n_layer\":3"), CEIL_E_USAGE,
         "num_hidden_layers is 2 and n_layer is 3; they mean the same"},
	{LLAMA_BUT("\"n_embd\":65"), CEIL_E_USAGE, "hidden_size is 64 and n_embd is 65"},
	{LLAMA_BUT("\"add_cross_attention\":true"), CEIL_E_UNSUPPORTED, "add_cross_attention"},
	{LLAMA_BUT("\"inner_group_num\":2"), CEIL_E_UNSUPPORTED, "inner_group_num"},
	{LLAMA_BUT("\"num_hidden_groups\":2"), CEIL_E_UNSUPPORTED, "num_hidden_groups"},
	{LLAMA_BUT("\"position_embedding_type\":\"relative_key\""), CEIL_E_UNSUPPORTED,
         "position_embedding_type: relative positions"},
	{LLAMA_BUT("\"hidden_size\":1000000000000000019884624838656"), CEIL_E_USAGE,
         "hidden_size is 1e+30"},
	{GPT_NEO("[[[\"global\",\"local\"],1]]"), CEIL_E_USAGE,
         "attention_types does not name layer 2"},
	{GPT_NEO("[[[\"sparse\"],4]]"), CEIL_E_UNSUPPORTED, "layer 0 is 'sparse'"},
	{GPT_NEO("[7,[],[[],3],[[\"local\"],-1]]"), CEIL_E_USAGE,
         "attention_types does not name layer 0"},
	{"{\"model_type\":\"t5\",\"architectures\":[\"T5EncoderModel\"],\"num_layers\":2,"
         "\"d_model\":64,\"num_heads\":4,\"d_ff\":128,\"vocab_size\":9}",
         CEIL_E_UNSUPPORTED, "T5EncoderModel is only the encoder of a t5"},
	{"{\"model_type\":\"bart\",\"architectures\":[\"BartForCausalLM\"],"
         "\"encoder_layers\":2,\"d_model\":64,\"encoder_attention_heads\":4,"
         "\"encoder_ffn_dim\":128,\"vocab_size\":9}",
         CEIL_E_UNSUPPORTED, "BartForCausalLM is only the decoder of a bart"},
	{"{\"model_type\":\"t5\",\"num_layers\":2,\"d_model\":64,\"num_heads\":4,\"d_ff\":"
         "128,"
         "\"vocab_size\":9,\"relative_attention_num_buckets\":1000000000000}",
         CEIL_E_USAGE, "1000000000000 relative position buckets"},
	{"{\"model_type\":\"umt5\",\"num_layers\":90000,\"d_model\":1,"
         "\"num_heads\":16777216,\"d_kv\":1,\"d_ff\":1,\"vocab_size\":9,"
         "\"relative_attention_num_buckets\":1048576,\"num_decoder_layers\":1}",
         CEIL_E_USAGE, "more than 1e+17 parameters"},
	{"{\"model_type\":\"vit\",\"num_hidden_layers\":2,\"hidden_size\":64,"
         "\"num_attention_heads\":4,\"intermediate_size\":128,\"num_channels\":100000}",
         CEIL_E_USAGE, "100000 channels"},
	{"{\"model_type\":\"vit\",\"num_hidden_layers\":2,\"hidden_size\":64,"
         "\"num_attention_heads\":4,\"intermediate_size\":128,\"patch_size\":512}",
         CEIL_E_USAGE, "patches of 512"},
	{"{\"model_type\":\"x\",\"text_config\":{\"model_type\":\"deepseek_v2\"}}", CEIL_E_USAGE,
         "num_experts_per_tok"},
	{"{\"model_type\":\"x\",\"text_config\":{\"model_type\":\"qwen3_next\"}}",
         CEIL_E_UNSUPPORTED, "qwen3_next"},
};

static void bad_input_is_named(void)
{
	for (size_t i = 0; i < sizeof(bad_input) / sizeof(bad_input[0]); i++) {
		struct ceil_model m = {.name = "untouched"};
		struct ceil_error err = {0};

		is_int(parse(bad_input[i].text, &m, &err), bad_input[i].status, bad_input[i].words);
		has_text(err.text, bad_input[i].words, "is told");
		has_text(err.text, "config.json", "with the file");
		is_text(m.name, "untouched", "and nothing is returned");
	}
}

static void files_that_cannot_be_read_are_named(void)
{
	struct ceil_model m;
	struct ceil_error err = {0};

	is_int(ceil_hf_read("tests/data/configs/none.json", &m, &err), CEIL_E_IO, "no such file");
	has_text(err.text, "none.json: No such file", "is named");
	is_int(ceil_hf_read("tests/data/configs", &m, &err), CEIL_E_IO, "a folder");
	is_int(ceil_hf_read("/dev/zero", &m, &err), CEIL_E_USAGE, "an endless file");
	has_text(err.text, "16 MiB", "is not read to its end");
}

/* A file with bytes changed, cut or repeated must be read or refused, never crash. */
static void mangled_files_do_no_harm(void)
{
	uint64_t state = 20261130;
	long read = 0, refused = 0;
	char text[2048];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[128];
		FILE *f;
		size_t length;

		(void)snprintf(path, sizeof(path), "tests/data/configs/%s.json", files[i].name);
		f = fopen(path, "rb");
		if (!f)
			continue;
		length = fread(text, 1, sizeof(text), f);
		(void)fclose(f);
		for (int round = 0; round < 300; round++) {
			static const char spice[] = "{}[]\",:0-9eNaIn\\\x00\xff";
			char copy[2048];
			struct ceil_model m;
			size_t cut;

			memcpy(copy, text, length);
			for (int edit = 0; edit < 3; edit++) {
				state = state * UINT64_C(6364136223846793005) +
				        1442695040888963407u;
				copy[(state >> 33) % length] = spice[(state >> 20) % sizeof(spice)];
			}
			cut = round % 3 ? length : (size_t)(state >> 40) % length;
			if (ceil_hf_parse(copy, cut, "mangled", &m, NULL) == CEIL_OK)
				read++;
			else
				refused++;
		}
	}
	ok(read > 0 && refused > 0, "%ld mangled files were read, %ld refused (seed 20261130)",
	   read, refused);
}

static void deep_nesting_is_refused(void)
{
	const size_t depth = 100000;
	char *text = malloc(depth + 1);
	struct ceil_error err = {0};
	struct ceil_model m;

	if (!ok(text != NULL, "there is memory"))
		return;
	memset(text, '[', depth);
	text[depth] = '\0';
	is_int(parse(text, &m, &err), CEIL_E_USAGE, "100 000 open brackets");
	has_text(err.text, "depth", "are too deep");
	free(text);
}

static void no_memory_is_told(void)
{
	struct ceil_error err = {0};
	struct ceil_model m;

	ceil_alloc_fail_at(1);
	is_int(ceil_hf_read("tests/data/configs/gpt2.json", &m, &err), CEIL_E_NOMEM,
	       "no memory for the file");
	ceil_alloc_fail_at(2);
	is_int(ceil_hf_read("tests/data/configs/gpt2.json", &m, &err), CEIL_E_NOMEM,
	       "nor for its copy");
	ceil_alloc_fail_at(0);
}

static void the_table_is_sound(void)
{
	for (size_t i = 0; i < ceil_hf_type_count; i++) {
		const struct ceil_hf_type *t = &ceil_hf_types[i];

		ok(i == 0 || strcmp(ceil_hf_types[i - 1].name, t->name) < 0,
		   "%s stands in its place", t->name);
		ok(t->defaults[CEIL_HF_LAYERS] && t->defaults[CEIL_HF_HIDDEN] &&
		           t->defaults[CEIL_HF_HEADS],
		   "and has its class's sizes");
	}
	for (size_t i = 0; i < CEIL_HF_KEY_COUNT; i++)
		ok(ceil_hf_keys[i].names[0] != NULL, "key %zu has a name", i);
}

int main(void)
{
	files_of_public_models_are_read();
	class_defaults_are_the_classes_own();
	a_note_ends_where_it_ends();
	layers_are_told_apart();
	fields_have_their_class_meaning();
	attention_types_say_which_layers_have_windows();
	the_class_says_what_stands_behind_the_layers();
	an_encoder_loses_its_whole_head();
	fields_that_other_classes_share_keep_their_meaning();
	what_cannot_be_counted_is_refused_by_name();
	bad_input_is_named();
	files_that_cannot_be_read_are_named();
	mangled_files_do_no_harm();
	deep_nesting_is_refused();
	no_memory_is_told();
	the_table_is_sound();
	return done_testing();
}
