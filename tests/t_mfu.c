/* MFU of published runs, denominators from ceilings, what the figure means, and wrong inputs. */
#include "harness/analysis/mfu.h"
#include "harness/base/alloc.h"
#include "harness/output/csv.h"
#include "harness/output/mfu_file.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- published runs */

static struct ceil_mfu_input input_of(const char *model, uint64_t seq, unsigned convention,
                                      double peak)
{
	const struct ceil_flops_options o = {.convention = convention};
	const struct ceil_model *m = &ceil_models[0];
	struct ceil_sizes s = {.batch = 1, .seq = 1, .source_seq = 1};
	struct ceil_mfu_input in = {.samples_per_s = 1.0, .gpu_count = 1.0};
	struct ceil_error err = {0};

	if (ceil_model_find(model, &m, &err) != CEIL_OK ||
	    ceil_sizes_of(m, 1, seq, 0, &s, &err) != CEIL_OK ||
	    ceil_flops_of(m, &s, &o, &in.flops, &err) != CEIL_OK)
		ok(false, "%s: %s", model, err.text);
	for (int i = 0; i < CEIL_BY_COUNT; i++)
		in.peak_tflops[i] = (double)NAN;
	in.peak_tflops[CEIL_BY_DATASHEET] = peak;
	return in;
}

static struct ceil_mfu divide(const struct ceil_mfu_input *in)
{
	struct ceil_mfu mfu = {.mfu = (double)NAN};
	struct ceil_error err = {0};

	if (ceil_mfu_of(in, &mfu, &err) != CEIL_OK)
		ok(false, "%s", err.text);
	return mfu;
}

static unsigned convention(const char *name)
{
	unsigned i = 0;

	while (strcmp(ceil_conventions[i].name, name) != 0)
		i++;
	return i;
}

/* PaLM, arXiv 2204.02311 appendix B: 238.3 k tokens/s on 6144 TPU v4 of 275 TFLOP/s. */
static void palm_is_reproduced(void)
{
	struct ceil_mfu_input in = input_of("palm-540b", 2048, convention("palm"), 275.0);

	in.samples_per_s = 238.3e3 / 2048.0;
	in.gpu_count = 6144;
	is_close(100.0 * divide(&in).mfu, 46.2, 0.05, "PaLM 540B: 46.2 %");
	in.flops = input_of("palm-540b", 2048, convention("6n"), 275.0).flops;
	is_close(100.0 * divide(&in).mfu, 45.7, 0.05, "and 45.7 % without attention");
}

/* nanoGPT, transformer_sizing.ipynb: 100 samples of 1024 tokens in 0.755 s on an A100: 37.14 %. */
static void nanogpt_is_reproduced(void)
{
	struct ceil_mfu_input in = input_of("gpt2", 1024, convention("products"), 312.0);

	in.samples_per_s = 100.0 / 0.755;
	is_close(100.0 * divide(&in).mfu, 37.14, 0.005, "nanoGPT's notebook: 37.14 %");
}

/*
 * Llama 3, arXiv 2407.21783 table 4: 430, 400 and 380 TFLOP/s on an H100 are 43, 41 and 38 %, on
 * 8192 GPUs at 8 k tokens, 16 384 at 8 k and 16 384 at 131 k. The rates are rounded to 10 TFLOP/s,
 * which is 1 % of the peak.
 */
static void llama3_is_reproduced(void)
{
	static const struct {
		double gpus, tflops, percent;
		uint64_t seq;
	} runs[] = {{8192, 430, 43, 8192}, {16384, 400, 41, 8192}, {16384, 380, 38, 131072}};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct ceil_mfu_input in =
			input_of("llama3-405b", runs[i].seq, convention("causal"), 989.4);
		struct ceil_mfu mfu;

		in.gpu_count = runs[i].gpus;
		in.samples_per_s = runs[i].tflops * 1e12 * runs[i].gpus / in.flops.model;
		mfu = divide(&in);
		is_close(100.0 * mfu.mfu, runs[i].percent, 1.0, "Llama 3 405B");
		is_close(mfu.model_tflops, runs[i].tflops, 1e-6, "at its rate");
	}
}

/*
 * Korthikanti et al., arXiv 2205.05198 table 5 and Megatron-LM's README: 1 T parameters, 128
 * layers of 25 600, 160 heads, 2048 tokens, vocabulary 51 200: MFU 56.3 %, HFU 57.0 % with
 * selective recomputation. Their HFU counts the attention core twice in full (s/3h for s/6h);
 * recomputing it once is a third of that, so the ratio here is between 1 and theirs.
 */
static void megatron_is_reproduced(void)
{
	const struct ceil_model_numbers n = {
		.layers = 128, .hidden = 25600, .heads = 160, .vocab = 51200, .seq = 2048};
	const double s = 2048, h = 25600, l = 128, v = 51200;
	const struct ceil_flops_options o = {.convention = convention("products"),
	                                     .recompute = CEIL_RECOMPUTE_SELECTIVE};
	const struct ceil_sizes sizes = {.batch = 1, .seq = 2048, .source_seq = 2048};
	struct ceil_error err = {0};
	struct ceil_flops f = {.model = 1};
	struct ceil_model m;

	if (!ok(ceil_model_from_numbers(&n, &m, &err) == CEIL_OK &&
	                ceil_flops_of(&m, &sizes, &o, &f, &err) == CEIL_OK,
	        "1 T parameters: %s", err.text))
		return;
	is_close(f.model / (72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h))), 1.0, 1e-12,
	         "their formula of model FLOPs");
	ok(f.hardware / f.model > 1.0 && f.hardware / f.model < 57.0 / 56.3 + 0.001,
	   "hardware over model: %.4f of at most %.4f", f.hardware / f.model, 57.0 / 56.3);
}

/* The founding document's example: 1e12 FLOP in 0.1 s on a part of 312 TFLOP/s is 3.2 %, not 32. */
static void the_worked_example_is_three_percent(void)
{
	struct ceil_mfu_input in = {.samples_per_s = 1.0 / 0.1, .gpu_count = 1.0};

	for (int i = 0; i < CEIL_BY_COUNT; i++)
		in.peak_tflops[i] = (double)NAN;
	in.peak_tflops[CEIL_BY_DATASHEET] = 312.0;
	in.flops = (struct ceil_flops){.tokens = 1.0, .model = 1e12, .hardware = 1e12};
	is_close(100.0 * divide(&in).mfu, 3.2, 0.01, "1e12 / (312e12 x 0.1) = 3.2 %");
}

static void each_denominator_has_its_name(void)
{
	struct ceil_mfu_input in = input_of("gpt2", 1024, 0, 989.4);
	struct ceil_mfu mfu;

	in.samples_per_s = 400e12 / in.flops.model;
	in.peak_tflops[CEIL_BY_THEORETICAL] = 1070.5;
	in.peak_tflops[CEIL_BY_BURST] = 798.0;
	in.peak_tflops[CEIL_BY_SUSTAINED] = 769.0;
	mfu = divide(&in);
	is_close(100.0 * mfu.mfu, 40.4, 0.05, "400 TFLOP/s on an H200: MFU 40.4 %");
	is_close(100.0 * mfu.ratio[CEIL_BY_THEORETICAL], 37.4, 0.05, "37.4 % of theoretical");
	is_close(100.0 * mfu.ratio[CEIL_BY_BURST], 50.1, 0.05, "50 % of burst");
	is_close(100.0 * mfu.ratio[CEIL_BY_SUSTAINED], 52.0, 0.05, "52 % of sustained");
	ok(!mfu.of_theoretical, "MFU is over the datasheet's figure");
	in.peak_tflops[CEIL_BY_DATASHEET] = (double)NAN;
	mfu = divide(&in);
	ok(mfu.of_theoretical, "or over the theoretical peak where none is known");
	is_close(mfu.mfu, mfu.ratio[CEIL_BY_THEORETICAL], 0, "and says so");
	in.peak_tflops[CEIL_BY_THEORETICAL] = (double)NAN;
	mfu = divide(&in);
	ok(isnan(mfu.mfu), "without either there is no MFU");
	is_close(100.0 * mfu.ratio[CEIL_BY_BURST], 50.1, 0.05, "but the named ratios stand");
}

static void wrong_values_are_named(void)
{
	static const struct {
		double rate, gpus, peak;
		const char *words;
	} cases[] = {
		{0, 1, 312, "the rate is 0"},
		{-5, 1, 312, "the rate is -5"},
		{1, 0, 312, "the number of GPUs is 0"},
		{1, 1, -1, "datasheet peak is -1"},
		{(double)INFINITY, 1, 312, "the rate is inf"},
		{(double)NAN, 1, 312, "the rate is nan"},
		{1, 1, (double)NAN, "--peak-tflops"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ceil_mfu_input in = input_of("gpt2", 1024, 0, cases[i].peak);
		struct ceil_mfu mfu = {.mfu = 77};
		struct ceil_error err = {0};

		in.samples_per_s = cases[i].rate;
		in.gpu_count = cases[i].gpus;
		is_int(ceil_mfu_of(&in, &mfu, &err), CEIL_E_USAGE, cases[i].words);
		has_text(err.text, cases[i].words, "is told");
		is_close(mfu.mfu, 77, 0, "and nothing is returned");
	}
}

/* ---- advice */

static const char *band_of(double ratio)
{
	struct ceil_mfu_input in = input_of("llama3-8b", 8192, 0, 1000.0);
	struct ceil_mfu mfu;
	struct ceil_mfu_facts f = {.in = &in, .mfu = &mfu, .seq = 8192};
	const char *band = "none";
	int count = 0;

	in.samples_per_s = ratio * 1000e12 / in.flops.model;
	mfu = divide(&in);
	for (size_t i = 0; i < ceil_mfu_advice_count; i++) {
		if (!ceil_mfu_advices[i].is_band || !ceil_mfu_advices[i].holds(&f))
			continue;
		band = ceil_mfu_advices[i].name;
		count++;
	}
	is_int(count, 1, "exactly one band");
	return band;
}

static void bands_meet_at_their_edges(void)
{
	is_text(band_of(1.2), "impossible", "120 %");
	is_text(band_of(0.7), "above published runs", "70 %");
	is_text(band_of(0.55), "excellent", "55 %");
	is_text(band_of(0.501), "excellent", "50.1 %");
	is_text(band_of(0.499), "usual", "49.9 %");
	is_text(band_of(0.301), "usual", "30.1 %");
	is_text(band_of(0.299), "serious", "29.9 %");
	is_text(band_of(0.201), "serious", "20.1 %");
	is_text(band_of(0.199), "missing basics", "19.9 %");
	for (size_t i = 0; i < ceil_mfu_advice_count; i++)
		ok(ceil_mfu_advices[i].text[0] && ceil_mfu_advices[i].source[0],
		   "'%s' has its reason and source", ceil_mfu_advices[i].name);
}

static bool advised(const char *name, const struct ceil_mfu_facts *f)
{
	for (size_t i = 0; i < ceil_mfu_advice_count; i++)
		if (!strcmp(ceil_mfu_advices[i].name, name))
			return ceil_mfu_advices[i].holds(f);
	return !ok(false, "no advice '%s'", name);
}

static void advice_looks_at_more_than_the_figure(void)
{
	const struct ceil_model *m = &ceil_models[0];
	struct ceil_mfu_input in = input_of("mixtral-8x7b", 8192, 0, 989.4);
	struct ceil_mfu mfu;
	struct ceil_mfu_facts f = {.in = &in, .mfu = &mfu, .seq = 8192, .causal_in_full = true};

	is_int(ceil_model_find("mixtral-8x7b", &m, NULL), CEIL_OK, "mixtral-8x7b");
	f.model = m;
	in.peak_tflops[CEIL_BY_SUSTAINED] = 700.0;
	in.samples_per_s = 300e12 / in.flops.model;
	mfu = divide(&in);
	ok(advised("experts", &f), "experts explain a part");
	ok(!advised("card, not job", &f), "at 43 %% of sustained the job is to blame");
	ok(!advised("narrow model", &f), "4096 is not narrow");
	in.samples_per_s = 600e12 / in.flops.model;
	mfu = divide(&in);
	ok(advised("card, not job", &f), "at 86 %% of sustained the card is");
	in.samples_per_s = 720e12 / in.flops.model;
	mfu = divide(&in);
	ok(advised("above sustained", &f), "above sustained there is an explanation");
	ok(!advised("recomputation", &f), "nothing is recomputed");
	in.flops.hardware *= 1.33;
	mfu = divide(&in);
	ok(advised("recomputation", &f), "a third more is");
	f.model = &ceil_models[0];
	in.samples_per_s = 300e12 / in.flops.model;
	mfu = divide(&in);
	ok(advised("narrow model", &f), "GPT-2 is narrow");
}

static double suspected(const char *name, const struct ceil_mfu_facts *f)
{
	for (size_t i = 0; i < ceil_mfu_suspect_count; i++)
		if (!strcmp(ceil_mfu_suspects[i].name, name))
			return ceil_mfu_suspected(&ceil_mfu_suspects[i], f);
	(void)ok(false, "no suspect '%s'", name);
	return (double)NAN;
}

/* Each wrong input in turn, of a run whose true MFU is 40 %. */
static void wrong_inputs_are_suspected(void)
{
	struct ceil_mfu_input in = input_of("llama3-8b", 8192, 0, 989.4);
	const double right = 0.40 * 989.4e12 / in.flops.model;
	struct ceil_mfu mfu;
	struct ceil_mfu_facts f = {.in = &in, .mfu = &mfu, .seq = 8192, .causal_in_full = true};

	in.samples_per_s = 8 * right;
	mfu = divide(&in);
	ok(ceil_mfu_implausible(&mfu), "320 %% cannot be");
	is_close(suspected("GPU count", &f), 0.40, 1e-9, "the rate of eight GPUs");
	ok(isnan(suspected("more GPUs", &f)), "eight are enough");
	in.samples_per_s = 64 * right;
	mfu = divide(&in);
	ok(isnan(suspected("GPU count", &f)), "not the rate of one node");
	is_close(suspected("more GPUs", &f), 0.40, 1e-9, "but of 64 GPUs");
	in.gpu_count = 8;
	in.samples_per_s = 4 * 8 * right;
	mfu = divide(&in);
	is_close(suspected("more GPUs", &f), 0.40, 1e-9, "the rate of four nodes over one's GPUs");
	in.gpu_count = 1;
	in.samples_per_s = 1e7 * right;
	mfu = divide(&in);
	ok(isnan(suspected("more GPUs", &f)), "no job has ten million GPUs");
	in.samples_per_s = right * 8192;
	f.from_step = true;
	mfu = divide(&in);
	is_close(suspected("batch in tokens", &f), 0.40, 1e-9, "a batch in tokens");
	f.from_step = false;
	in.samples_per_s = right / 8192;
	mfu = divide(&in);
	ok(ceil_mfu_implausible(&mfu), "0.005 %% is hardly possible");
	is_close(suspected("samples as tokens", &f), 0.40, 1e-9, "samples as tokens");
	in.gpu_count = 1024;
	in.samples_per_s = right;
	mfu = divide(&in);
	is_close(suspected("rate of one GPU", &f), 0.40, 1e-9, "the rate of one GPU");
	in.gpu_count = 1;
	in.samples_per_s = right / 1000;
	mfu = divide(&in);
	is_close(suspected("thousands", &f), 0.40, 1e-9, "thousands of tokens");
	f.from_step = true;
	is_close(suspected("milliseconds", &f), 0.40, 1e-9, "milliseconds");
	in.samples_per_s = right * 3;
	mfu = divide(&in);
	is_close(suspected("peak", &f), 0.60, 1e-9, "fp8 over the bf16 peak");
	in = input_of("llama3-8b", 131072, 0, 989.4);
	in.samples_per_s = 1.05 * 989.4e12 / in.flops.model;
	mfu = divide(&in);
	ok(suspected("attention in full", &f) < 0.75, "attention in full at 131 k tokens");
	f.causal_in_full = false;
	ok(isnan(suspected("attention in full", &f)), "not where half was counted");
	in.samples_per_s = 0.4 * 989.4e12 / in.flops.model;
	mfu = divide(&in);
	ok(!ceil_mfu_implausible(&mfu), "40 %% can be");
}

/* ---- denominators */

static struct ceil_record ceiling(const char *device, const char *name, const char *in,
                                  const char *acc, const char *regime, double value)
{
	struct ceil_record r;

	ceil_table_clear(&ceil_table_records, &r);
	(void)snprintf(r.host, sizeof(r.host), "node1");
	(void)snprintf(r.device, sizeof(r.device), "%s", device);
	(void)snprintf(r.gpu_name, sizeof(r.gpu_name), "NVIDIA H200");
	(void)snprintf(r.gpu_uuid, sizeof(r.gpu_uuid), "GPU-%s", device);
	(void)snprintf(r.ceiling, sizeof(r.ceiling), "%s", name);
	(void)snprintf(r.dtype_in, sizeof(r.dtype_in), "%s", in);
	(void)snprintf(r.dtype_acc, sizeof(r.dtype_acc), "%s", acc);
	(void)snprintf(r.regime, sizeof(r.regime), "%s", regime);
	(void)snprintf(r.pattern, sizeof(r.pattern), "normal");
	(void)snprintf(r.status, sizeof(r.status), "ok");
	(void)snprintf(r.unit, sizeof(r.unit), "TFLOP/s");
	(void)snprintf(r.tool_version, sizeof(r.tool_version), "0.1.0");
	r.format_version = CEIL_FORMAT_VERSION;
	r.value = value;
	r.datasheet = 989.4;
	r.datasheet_clock_mhz = 1830;
	r.theoretical = 1070.5;
	r.theoretical_clock_mhz = 1980;
	r.clock_mhz = 1500;
	r.power_w = 700;
	r.m = r.n = r.k = 8192;
	return r;
}

enum { ROWS = 12 };
static void some_ceilings(struct ceil_record r[ROWS])
{
	r[0] = ceiling("gpu0", "gemm.bf16.burst", "bf16", "fp32", "burst", 798);
	r[1] = ceiling("gpu0", "gemm.bf16.sustained", "bf16", "fp32", "sustained", 700);
	r[2] = ceiling("gpu1", "gemm.bf16.burst", "bf16", "fp32", "burst", 801);
	r[3] = ceiling("gpu1", "gemm.bf16.sustained", "bf16", "fp32", "sustained", 690);
	r[4] = ceiling("gpu0", "gemm.fp16_acc16.burst", "fp16", "fp16", "burst", 850);
	r[5] = ceiling("gpu0", "gemm.e4m3_fast.burst", "e4m3", "fp32", "burst", 1500);
	r[6] = ceiling("gpu0", "dram.copy", "fp32", "", "", 4300);
	r[7] = ceiling("gpu0", "gemm.fp64.burst", "fp64", "fp64", "burst", 60);
	(void)snprintf(r[7].status, sizeof(r[7].status), "suspect");
	/* What a records.csv has besides: a search, a finalist, other data, a user's own shape. */
	r[8] = ceiling("gpu0", "gemm.bf16.burst", "bf16", "fp32", "burst", 999);
	(void)snprintf(r[8].role, sizeof(r[8].role), "search");
	r[9] = ceiling("gpu0", "gemm.bf16.burst", "bf16", "fp32", "burst", 790);
	r[10] = ceiling("gpu0", "gemm.bf16.zeros.burst", "bf16", "fp32", "burst", 894);
	r[11] = ceiling("gpu0", "gemm.bf16.64x64x64.burst", "bf16", "fp32", "burst", 2);
}

static void denominators_come_from_ceilings(void)
{
	struct ceil_record r[ROWS];
	struct ceil_mfu_row rows[ROWS];
	const struct ceil_mfu_row *pick;

	some_ceilings(r);
	is_u64(ceil_mfu_denominators(r, ROWS, rows, ROWS), 3, "three pairs of GPU and type");
	is_text(rows[0].device, "gpu0", "in their order");
	is_close(rows[0].burst_tflops, 798, 0, "burst");
	is_close(rows[0].sustained_tflops, 700, 0, "sustained");
	is_close(rows[0].sustained_clock_mhz, 1500, 0, "its clock");
	is_close(rows[0].sustained_power_w, 700, 0, "its power");
	is_close(rows[0].datasheet_tflops, 989.4, 0, "datasheet");
	is_close(rows[0].theoretical_clock_mhz, 1980, 0, "theoretical clock");
	is_text(rows[0].shape, "8192x8192x8192", "shape");
	is_text(rows[0].slowest_of_node, "gpu1", "the slowest is the one that sustains less");
	is_text(rows[1].slowest_of_node, "gpu1", "in each row of the type");
	is_text(rows[2].dtype_acc, "fp16", "sums in fp16 are a row of their own");
	ok(isnan(rows[2].sustained_tflops), "what was not measured is absent");
	is_text(rows[2].slowest_of_node, "gpu0", "a GPU alone is its slowest");
	pick = ceil_mfu_pick(rows, 3, "bf16");
	ok(pick && !strcmp(pick->device, "gpu1"), "a job waits for the slowest GPU");
	ok(!ceil_mfu_pick(rows, 3, "fp64"), "a suspect row is no denominator");
	ok(!ceil_mfu_pick(rows, 3, "e4m3"), "nor is a row for comparison");
	is_u64(ceil_mfu_denominators(r, ROWS, rows, 1), 1, "no more than there is room for");
	is_u64(ceil_mfu_denominators(r, 0, rows, ROWS), 0, "nothing gives nothing");
}

static enum ceil_status write_denominators(const char *path, struct ceil_error *err)
{
	struct ceil_record r[ROWS];
	struct ceil_mfu_row rows[ROWS];
	struct ceil_csv *csv = NULL;
	enum ceil_status st = ceil_csv_open(path, &ceil_table_mfu, &csv, err);
	size_t count;

	some_ceilings(r);
	count = ceil_mfu_denominators(r, ROWS, rows, ROWS);
	for (size_t i = 0; i < count && st == CEIL_OK; i++)
		st = ceil_csv_write_row(csv, &rows[i], err);
	return st == CEIL_OK ? ceil_csv_close(csv, err) : st;
}

static void files_are_read_back(void)
{
	struct ceil_mfu_source s = {.rows = NULL};
	struct ceil_error err = {0};
	const char *path = scratch_path("mfu_denominators.csv");

	is_int(write_denominators(path, &err), CEIL_OK, "the file is written");
	is_int(ceil_mfu_read(path, &s, &err), CEIL_OK, "and read");
	is_u64(s.row_count, 3, "with all rows");
	if (s.row_count == 3) {
		is_close(s.rows[1].sustained_tflops, 690, 0, "and values");
		ok(isnan(s.rows[2].sustained_tflops), "an empty cell is absent");
	}
	ceil_mfu_source_done(&s);
	ceil_mfu_source_done(&s);
	ceil_mfu_source_done(NULL);
	is_int(ceil_mfu_read("/nonexistent/x.csv", &s, &err), CEIL_E_IO, "no such file");
	has_text(err.text, "/nonexistent/x.csv", "is named");
}

#define HEADER "host,device,gpu_name,dtype_in,dtype_acc,datasheet_tflops,burst_tflops"

/* Reading a run's folder takes the shapes of its records.csv along. */
static void folders_give_shapes_too(void)
{
	struct ceil_record r[ROWS];
	struct ceil_mfu_source s = {.rows = NULL};
	struct ceil_error err = {0};
	struct ceil_csv *csv = NULL;
	char folder[1024];

	some_ceilings(r);
	(void)snprintf(folder, sizeof(folder), "%s", scratch_text("folder", ""));
	*strrchr(folder, '/') = '\0';
	for (int file = 0; file < 2; file++) {
		const struct ceil_table *t = file ? &ceil_table_records : &ceil_table_ceilings;

		if (!ok(ceil_csv_open(scratch_path(t->name), t, &csv, &err) == CEIL_OK,
		        "%s is made", t->name))
			return;
		for (size_t i = 0; i < (file ? ROWS : 7); i++)
			ok(ceil_csv_write_row(csv, &r[i], &err) == CEIL_OK, "row %zu", i);
		is_int(ceil_csv_close(csv, &err), CEIL_OK, "and closed");
	}
	is_int(ceil_mfu_read(folder, &s, &err), CEIL_OK, "the folder is read");
	is_u64(s.record_count, 7, "ceilings");
	is_u64(s.point_count, ROWS, "and records");
	is_u64(s.row_count, 3, "denominators");
	ceil_mfu_source_done(&s);
	for (int k = 1; k < 12; k++) {
		enum ceil_status st;

		ceil_alloc_fail_at(k);
		st = ceil_mfu_read(folder, &s, &err);
		ceil_alloc_fail_at(0);
		ok(st == CEIL_OK || st == CEIL_E_NOMEM, "allocation %d fails: %s", k,
		   ceil_status_name(st));
		ceil_mfu_source_done(&s);
	}
}

static void bad_files_are_refused(void)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"", "empty"},
		{HEADER ",format_version\nn,gpu0,H200,bf16,fp32,989,798,0\n", "format version 0"},
		{HEADER ",format_version\nn,gpu0,H200,bf16,fp32,989,798,9\n", "newer"},
		{HEADER "\nn,gpu0,H200,bf16,fp32,989,798\n", "format_version"},
		{HEADER ",format_version\n", "no GPU's matrix products"},
		{HEADER ",format_version\nn,gpu0,H200,bf16,fp32,many,798,1\n", "datasheet_tflops"},
		{"host,device,ceiling,value,status,format_version\nn,cpu,host.dram.read,9,ok,1\n",
	         "no GPU's matrix products"},
		{"host,device,ceiling,value,status,format_version\nn,cpu,host.dram.read,9,ok,0\n",
	         "format version 0"},
	};
	struct ceil_mfu_source s = {.row_count = 77};
	struct ceil_error err = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_int(ceil_mfu_read(scratch_text("bad.csv", cases[i].text), &s, &err),
		       CEIL_E_USAGE, cases[i].words);
		has_text(err.text, cases[i].words, "is told");
	}
	is_u64(s.row_count, 77, "nothing is returned");
}

static void columns_are_those_of_the_design(void)
{
	static const char *const want[] = {
		"host",
		"device",
		"gpu_name",
		"dtype_in",
		"dtype_acc",
		"datasheet_tflops",
		"datasheet_clock_mhz",
		"theoretical_tflops",
		"theoretical_clock_mhz",
		"burst_tflops",
		"sustained_tflops",
		"sustained_clock_mhz",
		"sustained_power_w",
		"slowest_of_node",
		"shape",
		"pattern",
		"tool_version",
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		is_text(ceil_table_mfu.fields[i].name, want[i], "column");
	for (size_t i = 0; i < ceil_table_mfu.field_count; i++)
		ok(ceil_table_mfu.fields[i].doc[0] != '\0', "%s is documented",
		   ceil_table_mfu.fields[i].name);
}

int main(void)
{
	palm_is_reproduced();
	nanogpt_is_reproduced();
	llama3_is_reproduced();
	megatron_is_reproduced();
	the_worked_example_is_three_percent();
	each_denominator_has_its_name();
	wrong_values_are_named();
	bands_meet_at_their_edges();
	advice_looks_at_more_than_the_figure();
	wrong_inputs_are_suspected();
	denominators_come_from_ceilings();
	files_are_read_back();
	folders_give_shapes_too();
	bad_files_are_refused();
	columns_are_those_of_the_design();
	return done_testing();
}
