/* The shapes of the gemm bench: what competes for its ceilings, and what long runs look up. */
#include "bench/gemm_shapes.h"

#include "bench/gemm.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define TN CEIL_GEMM_TN
#define NN CEIL_GEMM_NN
#define NT CEIL_GEMM_NT
#define TT CEIL_GEMM_TT

/*
 * Names are MxNxK of C(m,n) = A(m,k) B(k,n) in columns. A linear layer over t tokens, row-major as
 * in PyTorch, is m = its outputs, n = t, k = its inputs, A transposed: layout TN. Its gradients by
 * the input and by the weights are NN and NT.
 */
const struct ceil_case ceil_gemm_cases[CEIL_GEMM_CASES] = {
	{"8192x8192x8192", "cuda", true, {8192, 8192, 8192, TN, 1}},
	{"8448x8192x8192", "cuda", true, {8448, 8192, 8192, TN, 1}},
	{"12288x12288x12288", "cuda", false, {12288, 12288, 12288, TN, 1}},
	{"16384x16384x8192", "cuda", false, {16384, 16384, 8192, TN, 1}},
	{"4096x4096x16384", "cuda", false, {4096, 4096, 16384, TN, 1}},
	{"4224x2048x8192", "cuda", true, {4224, 2048, 8192, TN, 1}},
	{"8192x8192x8192.nn", "cuda", false, {8192, 8192, 8192, NN, 1}},
	{"8192x8192x8192.nt", "cuda", false, {8192, 8192, 8192, NT, 1}},
	{"8192x8192x8192.tt", "cuda", false, {8192, 8192, 8192, TT, 1}},
	{"64x1024x1024x1024", "cuda", false, {1024, 1024, 1024, TN, 64}},
	{"mixtral.gate_up.8x512", "cuda", false, {28672, 512, 4096, TN, 8}},
	{"mixtral.down.8x512", "cuda", false, {4096, 512, 14336, TN, 8}},
	{"deepseek-v3.gate_up.32x128", "cuda", false, {4096, 128, 7168, TN, 32}},
	{"deepseek-v3.down.32x128", "cuda", false, {7168, 128, 2048, TN, 32}},
	{"1024x1024x1024", "host", false, {1024, 1024, 1024, TN, 1}},
	{"2048x2048x2048", "host", true, {2048, 2048, 2048, TN, 1}},
	{"4096x4096x4096", "host", false, {4096, 4096, 4096, TN, 1}},
	[CEIL_GEMM_SLOW_FP64] = {"2048x2048x3072", "cuda", true, {2048, 2048, 3072, TN, 1}},
};

static const struct ceil_case layouts[] = {
	{"2048x2048x2048.nn", "cuda", false, {2048, 2048, 2048, NN, 1}},
	{"2048x2048x2048.nt", "cuda", false, {2048, 2048, 2048, NT, 1}},
	{"2048x2048x2048.tt", "cuda", false, {2048, 2048, 2048, TT, 1}},
	{"4096x4096x4096.nn", "cuda", false, {4096, 4096, 4096, NN, 1}},
	{"4096x4096x4096.nt", "cuda", false, {4096, 4096, 4096, NT, 1}},
	{"4096x4096x4096.tt", "cuda", false, {4096, 4096, 4096, TT, 1}},
	{"8448x8192x8192.nn", "cuda", false, {8448, 8192, 8192, NN, 1}},
	{"8448x8192x8192.nt", "cuda", false, {8448, 8192, 8192, NT, 1}},
	{"8448x8192x8192.tt", "cuda", false, {8448, 8192, 8192, TT, 1}},
	{"12288x12288x12288.nn", "cuda", false, {12288, 12288, 12288, NN, 1}},
	{"12288x12288x12288.nt", "cuda", false, {12288, 12288, 12288, NT, 1}},
	{"12288x12288x12288.tt", "cuda", false, {12288, 12288, 12288, TT, 1}},
	{"16384x16384x16384", "cuda", false, {16384, 16384, 16384, TN, 1}},
	{"16384x16384x16384.nn", "cuda", false, {16384, 16384, 16384, NN, 1}},
	{"16384x16384x16384.nt", "cuda", false, {16384, 16384, 16384, NT, 1}},
	{"8192x8192x4096", "cuda", false, {8192, 8192, 4096, TN, 1}},
};

/* The formatter takes the braces of a case in a macro for blocks. */
/* clang-format off */
/* A layer of 8192 x 8192 over few tokens: what decoding does. */
#define DECODE(t) {"8192x" #t "x8192", "cuda", false, {8192, t, 8192, TN, 1}}

/* m = n against k, for a map; what the default list has is not measured twice. */
#define CELL(mn, k)     {#mn "x" #mn "x" #k, "cuda", false, {mn, mn, k, TN, 1}}
#define ROW_TO_1024(mn) CELL(mn, 256), CELL(mn, 512), CELL(mn, 1024)

/* A linear layer over one token, a batch that decodes, and a training or prefill length. */
#define LINEAR(name, outputs, inputs)                                                              \
	{name ".t1", "cuda", false, {outputs, 1, inputs, TN, 1}},                                  \
	{name ".t64", "cuda", false, {outputs, 64, inputs, TN, 1}},                                \
	{name ".t4096", "cuda", false, {outputs, 4096, inputs, TN, 1}}
/* clang-format on */

static const struct ceil_case decode[] = {
	DECODE(1),  DECODE(2),  DECODE(4),   DECODE(8),   DECODE(16),
	DECODE(32), DECODE(64), DECODE(128), DECODE(256), DECODE(512),
};

static const struct ceil_case grid[] = {
	ROW_TO_1024(256),  CELL(256, 2048),   CELL(256, 4096),   CELL(256, 8192),
	CELL(256, 16384),  ROW_TO_1024(512),  CELL(512, 2048),   CELL(512, 4096),
	CELL(512, 8192),   CELL(512, 16384),  ROW_TO_1024(1024), CELL(1024, 2048),
	CELL(1024, 4096),  CELL(1024, 8192),  CELL(1024, 16384), ROW_TO_1024(2048),
	CELL(2048, 2048),  CELL(2048, 4096),  CELL(2048, 8192),  CELL(2048, 16384),
	ROW_TO_1024(4096), CELL(4096, 2048),  CELL(4096, 4096),  CELL(4096, 8192),
	ROW_TO_1024(8192), CELL(8192, 2048),  CELL(8192, 16384), ROW_TO_1024(16384),
	CELL(16384, 2048), CELL(16384, 4096),
};

/*
 * Outputs and inputs from the models' config.json (hidden, intermediate and head sizes, vocabulary)
 * and, for GPT-2, its paper: heads and their keys and values in one product, gate and up in one,
 * as inference engines fuse them. GPT-2's vocabulary of 50257 is padded to 50304, as training does.
 * Mixtral's QKV and output are those of Llama-3 8B; its experts are batches.
 */
static const struct ceil_case models[] = {
	LINEAR("llama3-8b.qkv", 6144, 4096),
	LINEAR("llama3-8b.output", 4096, 4096),
	LINEAR("llama3-8b.gate_up", 28672, 4096),
	LINEAR("llama3-8b.down", 4096, 14336),
	LINEAR("llama3-8b.logits", 128256, 4096),
	LINEAR("llama3-70b.qkv", 10240, 8192),
	LINEAR("llama3-70b.output", 8192, 8192),
	LINEAR("llama3-70b.gate_up", 57344, 8192),
	LINEAR("llama3-70b.down", 8192, 28672),
	LINEAR("llama3-70b.logits", 128256, 8192),
	LINEAR("llama3-405b.qkv", 18432, 16384),
	LINEAR("llama3-405b.output", 16384, 16384),
	LINEAR("llama3-405b.gate_up", 106496, 16384),
	LINEAR("llama3-405b.down", 16384, 53248),
	LINEAR("llama3-405b.logits", 128256, 16384),
	LINEAR("gpt2.qkv", 2304, 768),
	LINEAR("gpt2.output", 768, 768),
	LINEAR("gpt2.up", 3072, 768),
	LINEAR("gpt2.down", 768, 3072),
	LINEAR("gpt2.logits", 50304, 768),
	LINEAR("mixtral.qkv", 6144, 4096),
	LINEAR("mixtral.output", 4096, 4096),
	LINEAR("mixtral.expert_gate_up", 28672, 4096),
	LINEAR("mixtral.expert_down", 4096, 14336),
	LINEAR("mixtral.logits", 32000, 4096),
	LINEAR("deepseek-v3.q_a", 1536, 7168),
	LINEAR("deepseek-v3.q_b", 24576, 1536),
	LINEAR("deepseek-v3.kv_a", 576, 7168),
	LINEAR("deepseek-v3.kv_b", 32768, 512),
	LINEAR("deepseek-v3.output", 7168, 16384),
	LINEAR("deepseek-v3.dense_gate_up", 36864, 7168),
	LINEAR("deepseek-v3.dense_down", 7168, 18432),
	LINEAR("deepseek-v3.expert_gate_up", 4096, 7168),
	LINEAR("deepseek-v3.expert_down", 7168, 2048),
	LINEAR("deepseek-v3.logits", 129280, 7168),
};

const struct ceil_case_list ceil_gemm_more[CEIL_GEMM_LISTS] = {
	{"layouts", "squares in the layouts of forward and backward", layouts, COUNT(layouts)},
	{"decode", "a layer of 8192 x 8192 over 1 to 512 tokens", decode, COUNT(decode)},
	{"grid", "m = n and k from 256 to 16384", grid, COUNT(grid)},
	{"models", "linear layers of well-known models over 1, 64 and 4096 tokens", models,
         COUNT(models)},
};

bool ceil_gemm_of_model(const struct ceil_case *c)
{
	return c >= models && c < models + COUNT(models);
}

uint64_t ceil_gemm_group_n(uint64_t n, uint64_t batch, uint64_t i)
{
	const uint64_t least = n / 2;
	const uint64_t at = batch > 1 ? least + n * i / (batch - 1) : n;
	const uint64_t step = n >= 32 ? 16 : 1;

	const uint64_t whole = at / step * step;

	return whole > 0 ? whole : 1;
}
