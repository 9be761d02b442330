/* The bound of MFU: by hand for a small case, its limits, rates of shapes, memory in use. */
#include "harness/analysis/attainable.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double flat(const void *user, uint64_t m, uint64_t n, uint64_t k,
                   enum ceil_rate_how *ret_how)
{
	(void)m;
	(void)n;
	(void)k; /* every shape runs alike */
	*ret_how = CEIL_RATE_MEASURED;
	return *(const double *)user;
}

static struct ceil_attain_input input_of(const char *name, uint64_t batch, uint64_t seq,
                                         const double *rate)
{
	const struct ceil_model *m = &ceil_models[0];
	struct ceil_attain_input in = {.rate = flat,
	                               .user = rate,
	                               .best_tflops = *rate,
	                               .batched_tflops = (double)NAN,
	                               .operand_bytes = 2.0,
	                               .dram_gb_s = 4000.0,
	                               .all_reduce_gb_s = (double)NAN,
	                               .gpu_count = 1.0,
	                               .sustained_ratio = (double)NAN,
	                               .peak_tflops = 1000.0};
	struct ceil_error err = {0};

	in.sizes = (struct ceil_sizes){.batch = 1, .seq = 1, .source_seq = 1};
	if (ceil_model_find(name, &m, &err) != CEIL_OK ||
	    ceil_sizes_of(m, batch, seq, 0, &in.sizes, &err) != CEIL_OK)
		ok(false, "%s: %s", name, err.text);
	in.model = m;
	return in;
}

/* Large: the struct holds every part. */
static struct ceil_attain *bound(const struct ceil_attain_input *in)
{
	static struct ceil_attain a;
	struct ceil_error err = {0};

	a = (struct ceil_attain){.part_count = 0};
	if (ceil_attain_of(in, &a, &err) != CEIL_OK)
		ok(false, "%s", err.text);
	return &a;
}

/* A memory that is infinitely fast and half of the peak everywhere leave the products alone. */
static void products_alone_give_their_rate(void)
{
	const double rate = 500.0;
	struct ceil_attain_input in = input_of("llama3-8b", 1, 8192, &rate);
	const struct ceil_attain *a;
	double products = 0.0, core = 0.0;

	in.dram_gb_s = 1e15;
	in.count.convention = 3; /* products, attention in full */
	a = bound(&in);
	for (size_t i = 0; i < a->part_count; i++)
		*(a->parts[i].kind == CEIL_ATTAIN_ATTENTION ? &core : &products) +=
			a->parts[i].flops;
	is_close(a->seconds * 500e12 / (products + core), 1.0, 1e-6, "time is FLOPs over rate");
	/* Forward and backward are 3 of 3.5 x half of the core, since fused kernels recompute. */
	is_close(core / (3.5 / 2.0 * 2.0 * 2.0 * 8192.0 * 8192.0 * 128 * 32 * 32), 1.0, 1e-9,
	         "the core runs its causal half, and 2.5 x it backward");
	in = input_of("gpt2", 8, 1024, &rate);
	in.dram_gb_s = 1e15;
	a = bound(&in);
	ok(a->mfu < 0.54 && a->mfu > 0.49, "%.3f: half the peak, and the masked attention", a->mfu);
	is_close(a->near_ratio, 0, 0, "all rates are measured");
}

static const struct ceil_attain_part *find(const struct ceil_attain *a, const char *name,
                                           const char *pass)
{
	static const struct ceil_attain_part none;

	for (size_t i = 0; i < a->part_count; i++)
		if (!strcmp(a->parts[i].name, name) && !strcmp(a->parts[i].pass, pass))
			return &a->parts[i];
	(void)ok(false, "no part %s %s", name, pass);
	return &none;
}

/* GPT-2, 8 samples of 1024 tokens: every kind of part by hand. */
static void each_part_is_what_it_should_be(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("gpt2", 8, 1024, &rate);
	const struct ceil_attain *a = bound(&in);
	const struct ceil_attain_part *p = find(a, "ffn up", "forward");

	is_u64(p->m, 3072, "m is the feed-forward size");
	is_u64(p->n, 8192, "n is tokens");
	is_u64(p->k, 768, "k is hidden");
	is_close(p->seconds, 2.0 * 8192 * 3072 * 768 * 12 / 600e12, 1e-12, "at its rate");
	is_text(p->limited_by, "gemm", "bound by the product");
	p = find(a, "ffn up", "dgrad");
	is_u64(p->k, 3072, "dgrad sums over the feed-forward size");
	p = find(a, "ffn up", "wgrad");
	is_u64(p->m, 768, "wgrad has the shape of the weights");
	is_u64(p->n, 3072, "in columns");
	is_u64(p->k, 8192, "and sums over tokens");
	p = find(a, "norms, residuals", "");
	is_close(p->seconds, 2.0 * 16 * 768 * 8192 * 12 / 4000e9, 1e-12, "norms over dram");
	p = find(a, "activation", "");
	is_close(p->bytes, 2.0 * 5 * 3072 * 8192 * 12, 1, "GELU: 2 forward, 3 backward");
	p = find(a, "loss", "");
	is_close(p->bytes, 6.0 * 50257 * 8192, 1, "logits three times");
	p = find(a, "Adam", "");
	is_close(p->bytes, 28.0 * 124439808, 1, "28 bytes a parameter");
	ok(a->mfu > 0.0 && a->mfu < 0.6, "the bound %.3f is below the products' 0.6", a->mfu);
	is_close(a->tokens_per_s * a->seconds, 8192, 1e-6, "tokens in a step");
	for (size_t i = 0; i < a->part_count; i++)
		ok(strcmp(a->parts[i].name, "rotation") != 0, "learned positions rotate nothing");
}

static bool rotates(const char *model)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of(model, 1, 512, &rate);
	const struct ceil_attain *a = bound(&in);

	for (size_t i = 0; i < a->part_count; i++)
		if (!strcmp(a->parts[i].name, "rotation"))
			return true;
	return false;
}

static void only_rotary_positions_are_rotated(void)
{
	ok(rotates("llama3-8b"), "Llama rotates queries and keys");
	ok(!rotates("t5-base"), "T5 adds positions to the scores");
}

static void a_single_token_is_bound_by_memory(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("llama3-8b", 1, 16, &rate);
	const struct ceil_attain_part *p = find(bound(&in), "ffn up", "forward");

	is_text(p->limited_by, "memory", "16 rows cannot feed a product");
	is_close(p->seconds, p->bytes / 4000e9, 1e-15, "it takes as long as its bytes");
}

static void recomputation_takes_time_and_saves_memory(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("llama3-8b", 1, 8192, &rate);
	const struct ceil_attain *a = bound(&in);
	const double seconds = a->seconds, mfu = a->mfu, bytes = a->memory_bytes;

	in.count.recompute = CEIL_RECOMPUTE_FULL;
	a = bound(&in);
	ok(a->seconds > 1.25 * seconds && a->seconds < 1.34 * seconds, "about a third more time");
	ok(a->mfu < mfu, "for the same model FLOPs");
	ok(a->memory_bytes < bytes, "and less memory");
	(void)find(a, "qkv", "recompute");
}

static void gradients_hide_behind_the_backward_pass(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("gpt2-xl", 4, 1024, &rate);
	const double adam = bound(&in)->kind_seconds[CEIL_ATTAIN_OPTIMIZER];
	const double alone = bound(&in)->seconds - adam * 7 / 8;
	const struct ceil_attain *a;

	in.gpu_count = 8;
	in.all_reduce_gb_s = 400.0;
	a = bound(&in);
	is_close(a->exposed_seconds, 0, 0, "a fast link hides it all");
	is_close(a->kind_seconds[CEIL_ATTAIN_OPTIMIZER], adam / 8, 1e-12,
	         "eight share the optimizer's states");
	is_close(a->seconds, alone, 1e-12, "and the exchange costs nothing");
	in.all_reduce_gb_s = 1.0;
	a = bound(&in);
	ok(a->exposed_seconds > 1.0, "a slow one does not");
	is_close(a->seconds, alone + a->exposed_seconds, 1e-9, "and adds what is not hidden");
	is_text(find(a, "all-reduce", "exposed")->limited_by, "link", "limited by the link");
	is_close(find(a, "all-reduce", "exposed")->bytes, 2.0 * 1557611200 * 2.0 * 7 / 8, 1,
	         "2 (n - 1) / n of the gradients");
}

/* Korthikanti et al., arXiv 2205.05198: 34 s b h bytes a layer, 10 of them dropout's masks and
 * what goes with them; and 16 bytes a parameter. */
static void memory_is_that_of_the_literature(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("gpt3-175b", 1, 2048, &rate);
	struct ceil_params p;
	double per_layer;

	ceil_model_params(in.model, &p);
	per_layer = (ceil_attain_memory(in.model, &in.sizes, CEIL_RECOMPUTE_NONE) -
	             16.0 * (double)p.total - 8.0 * 2048 * 50257) /
	            96 / (2048.0 * 12288);
	ok(per_layer >= 30.0 && per_layer <= 34.0, "%.1f bytes a layer, token and hidden",
	   per_layer);
}

static void rates_are_measured_near_or_the_ceiling(void)
{
	static const struct ceil_gemm_point points[] = {
		{8192, 8192, 8192, 700}, {4096, 4096, 4096, 650}, {1024, 1024, 1024, 300},
		{8192, 1024, 1024, 500}, {256, 256, 256, 20},
	};
	struct ceil_gemm_rates r = {.points = points, .count = 5, .ceiling_tflops = 690};
	enum ceil_rate_how how;
	double near;

	is_close(ceil_gemm_rate(&r, 1024, 1024, 1024, &how), 300, 0, "a shape that is there");
	is_int(how, CEIL_RATE_MEASURED, "is measured");
	near = ceil_gemm_rate(&r, 2048, 2048, 2048, &how);
	is_int(how, CEIL_RATE_NEAR, "one between two is near");
	ok(near > 300 && near < 690, "and its rate is between theirs: %.0f", near);
	ok(ceil_gemm_rate(&r, 8000, 8192, 8192, &how) <= 690, "never above the ceiling");
	is_close(ceil_gemm_rate(&r, 1024, 8192, 1024, &how), 500, 0, "a transposed product");
	is_int(how, CEIL_RATE_MEASURED, "is the same product");
	r.count = 0;
	is_close(ceil_gemm_rate(&r, 7, 7, 7, &how), 690, 0, "without any shape, the ceiling");
	is_int(how, CEIL_RATE_CEILING, "and says so");
	is_text(ceil_rate_how_name(how), "ceiling", "by name");
	r.count = 1;
	r.ceiling_tflops = (double)NAN;
	is_close(ceil_gemm_rate(&r, 7, 7, 7, &how), 700, 1e-9, "one shape answers for all");
}

static struct ceil_record record(const char *ceiling, const char *status, double value, uint64_t m)
{
	struct ceil_record r;

	ceil_table_clear(&ceil_table_records, &r);
	(void)snprintf(r.ceiling, sizeof(r.ceiling), "%s", ceiling);
	(void)snprintf(r.status, sizeof(r.status), "%s", status);
	(void)snprintf(r.device, sizeof(r.device), "gpu0");
	(void)snprintf(r.dtype_in, sizeof(r.dtype_in), "bf16");
	r.value = value;
	r.m = r.n = r.k = m;
	return r;
}

static void shapes_come_from_records(void)
{
	const struct ceil_record r[] = {
		record("gemm.bf16.burst", "ok", 600, 4096),
		record("gemm.bf16", "ok", 610, 4096),
		record("gemm.bf16", "failed", 999, 8192),
		record("gemm.bf16", "ok", 700, 8192),
		record("dram.copy", "ok", 4000, 8192),
		record("gemm.bf16", "ok", NAN, 16),
		record("gemm.bf16", "ok", 5, CEIL_ABSENT_U64),
		record("gemm.bf16_batched.burst", "ok", 5, 64),
		record("gemm.bf16_grouped.burst", "ok", 5, 64),
	};
	const size_t count = sizeof(r) / sizeof(r[0]);
	struct ceil_gemm_point points[sizeof(r) / sizeof(r[0])];

	is_u64(ceil_gemm_points_of(r, count, "bf16", "gpu0", points), 2, "two shapes");
	is_close(points[0].tflops, 610, 0, "the best of each");
	is_close(points[1].tflops, 700, 0, "and none that failed");
	is_u64(ceil_gemm_points_of(r, count, "fp16", NULL, points), 0, "no other type");
	is_u64(ceil_gemm_points_of(r, count, "bf16", "gpu1", points), 0, "no other GPU");
}

static void shapes_to_measure_are_listed_once(void)
{
	const double rate = 600.0;
	const struct ceil_attain_input in = input_of("gpt2", 8, 1024, &rate);
	struct ceil_attain_shape shapes[3 * CEIL_MAX_GEMMS];
	const size_t count = ceil_attain_shapes(in.model, &in.sizes, 1, false, shapes);

	/* qkv, output, up, down and logits in three passes, each in its own layout. */
	is_u64(count, 15, "fifteen different products");
	is_u64(shapes[0].m, 2304, "qkv first");
	is_u64(shapes[0].n, 8192, "its columns are tokens");
	is_u64(shapes[0].count, 12, "one in each layer");
	is_text(shapes[0].layout, "TN", "forward is TN");
	is_text(shapes[1].layout, "NN", "dgrad is NN");
	is_u64(shapes[1].m, 768, "and gives the inputs' gradient");
	is_text(shapes[2].layout, "NT", "wgrad is NT");
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			ok(shapes[i].m != shapes[j].m || shapes[i].n != shapes[j].n ||
			           shapes[i].k != shapes[j].k ||
			           strcmp(shapes[i].layout, shapes[j].layout) != 0,
			   "%zu and %zu differ", i, j);
}

/* Of Llama's layer gate and up are alike: one shape, twice as often. */
static void equal_shapes_are_counted_together(void)
{
	const double rate = 600.0;
	const struct ceil_attain_input in = input_of("llama3-8b", 1, 8192, &rate);
	struct ceil_attain_shape shapes[3 * CEIL_MAX_GEMMS];
	const size_t count = ceil_attain_shapes(in.model, &in.sizes, 1, false, shapes);
	size_t i = 0;

	while (i < count && shapes[i].m != 14336)
		i++;
	is_u64(i < count ? shapes[i].count : 0, 64, "gate and up of 32 layers");
	/* gate's and up's forward are down's dgrad by its numbers. */
	ok(ceil_attain_shapes(in.model, &in.sizes, 1, true, shapes) < count, "fewer in one layout");
	is_u64(shapes[i].count, 96, "where down's dgrad is the same product");
}

/* Llama 3's vocabulary of 128256 is the length of the sums of its logits' dgrad. */
static void long_sums_are_halved(void)
{
	const double rate = 600.0;
	const struct ceil_attain_input in = input_of("llama3-8b", 1, 8192, &rate);
	struct ceil_attain_shape shapes[3 * CEIL_MAX_GEMMS];
	const size_t count = ceil_attain_shapes(in.model, &in.sizes, 1, false, shapes);
	const struct ceil_attain_part *p = find(bound(&in), "logits", "dgrad");
	size_t i = 0;

	while (i < count && shapes[i].k != 64128)
		i++;
	is_u64(i < count ? shapes[i].count : 0, 2, "twice half of it");
	is_u64(p->k, 64128, "in the bound too");
	is_close(p->flops, 2.0 * 8192 * 4096 * 128256, 1, "all of its FLOPs");
}

/*
 * 2 x 4096 tokens pass 2 of 8 experts: 2048 rows each, 16384 together. One expert's product alone
 * would fill the GPU worse than the grouped launch that a step does.
 */
static void experts_are_one_product_together(void)
{
	const double rate = 600.0, tokens = 16384, hidden = 4096, inner = 14336;
	const struct ceil_attain_input in = input_of("mixtral-8x7b", 2, 4096, &rate);
	const struct ceil_attain *a = bound(&in);
	const struct ceil_attain_part *p = find(a, "ffn up", "forward");

	is_u64(p->m, 14336, "outputs of an expert");
	is_u64(p->n, 16384, "by the tokens of all experts");
	is_u64(p->k, 4096, "each sum as deep as an expert's");
	is_u64(p->count, 32, "once a layer");
	is_close(p->flops, 32 * 2 * tokens * hidden * inner, 1, "all FLOPs");
	is_close(p->bytes, 32 * 2 * (8 * hidden * inner + tokens * (hidden + inner)), 1,
	         "the weights of all eight are read");
	p = find(a, "ffn up", "wgrad");
	is_u64(p->m, 4096, "inputs");
	is_u64(p->n, 14336 * 4, "by the outputs of all experts, in halves");
	is_u64(p->k, 2048, "summed over the tokens of one");
	is_u64(p->count, 32 * 2, "twice a layer");
	is_close(p->flops, 32 * 2 * tokens * hidden * inner, 1, "all FLOPs");
}

/* Each of eight GPUs has one expert, all tokens that were sent to it, and no more FLOPs. */
static void experts_are_spread_over_gpus(void)
{
	const double rate = 600.0, tokens = 16384, hidden = 4096, inner = 14336;
	struct ceil_attain_input in = input_of("mixtral-8x7b", 2, 4096, &rate);
	struct ceil_attain_shape shapes[3 * CEIL_MAX_GEMMS];
	const struct ceil_attain_part *p;
	bool listed = false;
	size_t count;

	in.gpu_count = 8;
	p = find(bound(&in), "ffn up", "wgrad");
	is_u64(p->n, 14336, "the outputs of one");
	is_u64(p->k, 16384, "summed over the tokens of eight GPUs");
	is_u64(p->count, 32, "once a layer");
	is_close(p->flops, 32 * 2 * tokens * hidden * inner, 1, "as many FLOPs");
	is_close(p->bytes, 32 * 2 * (hidden * inner + tokens * (hidden + inner)), 1,
	         "and an eighth of the weights");
	count = ceil_attain_shapes(in.model, &in.sizes, 8, false, shapes);
	for (size_t i = 0; i < count; i++)
		listed |= shapes[i].m == p->m && shapes[i].n == p->n && shapes[i].k == p->k;
	ok(listed, "which is what there is to measure");
	in.gpu_count = 3;
	is_u64(find(bound(&in), "ffn up", "forward")->n, 16384, "three cannot share eight evenly");
	is_u64(find(bound(&in), "qkv", "forward")->n, 8192, "nothing else is spread");
}

/* One token: each weight is read once, in the operands' type; what is made is bf16. */
static void narrow_operands_are_fewer_bytes(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("gpt2", 1, 1, &rate);

	in.operand_bytes = 1.0;
	is_close(find(bound(&in), "output", "forward")->bytes, 12 * (768 * 768 + 768 + 2 * 768), 0,
	         "forward makes a row");
	is_close(find(bound(&in), "output", "dgrad")->bytes, 12 * (768 * 768 + 768 + 2 * 768), 0,
	         "dgrad another");
	is_close(find(bound(&in), "output", "wgrad")->bytes, 12 * (2 * 768 * 768 + 768 + 768), 0,
	         "wgrad a matrix");
}

/* Memory does not slow down with the tensor cores' clock. */
static void heat_slows_products_alone(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("gpt2", 8, 1024, &rate);
	const struct ceil_attain *a = bound(&in);
	double cool, traffic;

	is_close(a->hot_mfu, (double)NAN, 0, "unknown without sustained rates");
	in.sustained_ratio = 0.5;
	a = bound(&in);
	cool = a->seconds;
	traffic = a->kind_seconds[CEIL_ATTAIN_MEMORY] + a->kind_seconds[CEIL_ATTAIN_OPTIMIZER];
	is_close(a->mfu * cool / a->hot_mfu, 2.0 * (cool - traffic) + traffic, 1e-9,
	         "half the rate, twice the time of what is not traffic");
	in.sustained_ratio = 1.0;
	a = bound(&in);
	is_close(a->hot_mfu, a->mfu, 1e-12, "a card that keeps its rate loses nothing");
}

static void attention_runs_at_the_rate_of_batches(void)
{
	const double rate = 600.0;
	struct ceil_attain_input in = input_of("gpt2", 8, 1024, &rate);
	const double alone = bound(&in)->kind_seconds[CEIL_ATTAIN_ATTENTION];

	in.batched_tflops = 300.0;
	is_close(bound(&in)->kind_seconds[CEIL_ATTAIN_ATTENTION], 2.0 * alone, 1e-12,
	         "half the rate, twice the time");
}

static void wrong_ceilings_are_named(void)
{
	const double rate = 600.0;
	static struct ceil_attain a;
	struct ceil_attain_input in = input_of("gpt2", 1, 1024, &rate);
	struct ceil_error err = {0};

	in.dram_gb_s = (double)NAN;
	is_int(ceil_attain_of(&in, &a, &err), CEIL_E_USAGE, "no dram ceiling");
	has_text(err.text, "dram", "is named");
	in.dram_gb_s = 4000;
	in.peak_tflops = 0;
	is_int(ceil_attain_of(&in, &a, &err), CEIL_E_USAGE, "a peak of 0");
	in.peak_tflops = 1000;
	in.all_reduce_gb_s = -1;
	is_int(ceil_attain_of(&in, &a, &err), CEIL_E_USAGE, "a negative link");
	has_text(err.text, "all-reduce", "is named");
}

static void every_model_has_a_bound(void)
{
	const double rate = 600.0;

	for (size_t i = 0; i < ceil_model_count; i++) {
		struct ceil_attain_input in = input_of(ceil_models[i].name, 1, 0, &rate);
		const struct ceil_attain *a = bound(&in);

		ok(a->mfu > 0.0 && a->mfu < 1.2 && a->memory_bytes > 0.0, "%s: at most %.3f",
		   ceil_models[i].name, a->mfu);
		ok(a->part_count < CEIL_ATTAIN_PARTS, "its parts fit");
	}
	for (enum ceil_attain_kind k = 0; k < CEIL_ATTAIN_KIND_COUNT; k++)
		ok(ceil_attain_kind_name(k)[0] != '\0', "kind %d is named", (int)k);
}

int main(void)
{
	products_alone_give_their_rate();
	each_part_is_what_it_should_be();
	only_rotary_positions_are_rotated();
	a_single_token_is_bound_by_memory();
	recomputation_takes_time_and_saves_memory();
	gradients_hide_behind_the_backward_pass();
	memory_is_that_of_the_literature();
	rates_are_measured_near_or_the_ceiling();
	shapes_come_from_records();
	shapes_to_measure_are_listed_once();
	equal_shapes_are_counted_together();
	long_sums_are_halved();
	experts_are_one_product_together();
	experts_are_spread_over_gpus();
	narrow_operands_are_fewer_bytes();
	heat_slows_products_alone();
	attention_runs_at_the_rate_of_batches();
	wrong_ceilings_are_named();
	every_model_has_a_bound();
	return done_testing();
}
