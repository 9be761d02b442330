/* Adds up the time that a model's step takes at least, and the memory that it needs. */
#include "harness/analysis/attainable.h"

#include <math.h>
#include <string.h>

const char *ceil_rate_how_name(enum ceil_rate_how how)
{
	static const char *const names[] = {"measured", "near", "ceiling"};

	return names[how];
}

const char *ceil_attain_kind_name(enum ceil_attain_kind kind)
{
	static const char *const names[CEIL_ATTAIN_KIND_COUNT] = {
		"products", "attention", "memory", "optimizer", "collective",
	};

	return names[kind];
}

/* ---- rates of shapes */

static bool is_core(const struct ceil_gemm *g)
{
	return g->component == CEIL_COMP_SCORES || g->component == CEIL_COMP_CONTEXT;
}

enum { NEIGHBOURS = 4 };

struct neighbour {
	double distance2, tflops;
};

static double log2_ratio(uint64_t a, uint64_t b)
{
	return log2((double)a / (double)b);
}

static double distance2(const struct ceil_gemm_point *p, uint64_t m, uint64_t n, uint64_t k)
{
	const double dm = log2_ratio(p->m, m), dn = log2_ratio(p->n, n);
	const double tm = log2_ratio(p->m, n), tn = log2_ratio(p->n, m); /* transposed */
	const double dk = log2_ratio(p->k, k);

	return fmin(dm * dm + dn * dn, tm * tm + tn * tn) + dk * dk;
}

/* Keeps the nearest in order; the list begins infinitely far away. */
static void insert(struct neighbour *near, struct neighbour x)
{
	for (int i = 0; i < NEIGHBOURS; i++) {
		if (x.distance2 < near[i].distance2) {
			const struct neighbour pushed = near[i];

			near[i] = x;
			x = pushed;
		}
	}
}

double ceil_gemm_rate(const void *user, uint64_t m, uint64_t n, uint64_t k,
                      enum ceil_rate_how *ret_how)
{
	const struct ceil_gemm_rates *r = user;
	struct neighbour near[NEIGHBOURS];
	double sum = 0.0, weights = 0.0, rate;

	*ret_how = CEIL_RATE_CEILING;
	if (!r->count)
		return r->ceiling_tflops;
	for (int i = 0; i < NEIGHBOURS; i++)
		near[i] = (struct neighbour){INFINITY, 0.0};
	for (size_t i = 0; i < r->count; i++)
		insert(near,
		       (struct neighbour){distance2(&r->points[i], m, n, k), r->points[i].tflops});
	*ret_how = CEIL_RATE_MEASURED;
	if (near[0].distance2 == 0.0)
		return near[0].tflops;
	*ret_how = CEIL_RATE_NEAR;
	for (int i = 0; i < NEIGHBOURS && isfinite(near[i].distance2); i++) {
		sum += near[i].tflops / near[i].distance2;
		weights += 1.0 / near[i].distance2;
	}
	rate = sum / weights;
	return rate > r->ceiling_tflops ? r->ceiling_tflops : rate;
}

/* "gemm.bf16_batched.burst", "gemm.bf16_grouped.burst": m, n and k are of one of many. */
static bool is_one_product(const char *ceiling)
{
	return !strncmp(ceiling, "gemm.", strlen("gemm.")) && !strstr(ceiling, "_batched") &&
	       !strstr(ceiling, "_grouped");
}

static bool is_point(const struct ceil_record *r, const char *dtype_in, const char *device)
{
	return is_one_product(r->ceiling) && !strcmp(r->dtype_in, dtype_in) &&
	       (!device || !strcmp(r->device, device)) && r->value > 0.0 && isfinite(r->value) &&
	       (!strcmp(r->status, "ok") || !strcmp(r->status, "unstable")) &&
	       (!r->pattern[0] || !strcmp(r->pattern, "normal")) &&
	       strcmp(r->regime, "sustained") != 0 && r->m != CEIL_ABSENT_U64 &&
	       r->n != CEIL_ABSENT_U64 && r->k != CEIL_ABSENT_U64 && r->m && r->n && r->k;
}

size_t ceil_gemm_points_of(const struct ceil_record *records, size_t count, const char *dtype_in,
                           const char *device, struct ceil_gemm_point *ret_points)
{
	size_t points = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ceil_record *r = &records[i];
		size_t at = 0;

		if (!is_point(r, dtype_in, device))
			continue;
		while (at < points && !(ret_points[at].m == r->m && ret_points[at].n == r->n &&
		                        ret_points[at].k == r->k))
			at++;
		if (at == points)
			ret_points[points++] = (struct ceil_gemm_point){r->m, r->n, r->k, r->value};
		else if (ret_points[at].tflops < r->value)
			ret_points[at].tflops = r->value;
	}
	return points;
}

/* ---- passes of a product */

enum pass { FORWARD, DGRAD, WGRAD, PASS_COUNT };

static const char *const pass_layouts[PASS_COUNT] = {"TN", "NN", "NT"};

static bool has_pass(const struct ceil_gemm *g, enum pass pass)
{
	return pass != DGRAD || !g->no_dgrad;
}

/* Until an axis is short enough to be measured: as many products more. */
static void split(uint64_t *axis, uint64_t *count)
{
	while (*axis > CEIL_ATTAIN_MAX_SPLIT) {
		*axis = (*axis + 1) / 2;
		*count *= 2;
	}
}

/*
 * g is row-major: m counts tokens, n outputs, k inputs. In columns that is the transposed product.
 * A group is taken as one product with as many tiles, each as deep: forward and dgrad put its
 * tokens side by side, wgrad its outputs.
 */
static struct ceil_attain_shape shape_of(const struct ceil_gemm *g, enum pass pass)
{
	const uint64_t mnk[PASS_COUNT][3] = {
		[FORWARD] = {g->n, g->m * g->group, g->k},
		[DGRAD] = {g->k, g->m * g->group, g->n},
		[WGRAD] = {g->k, g->n * g->group, g->m},
	};
	struct ceil_attain_shape s = {.m = mnk[pass][0],
	                              .n = mnk[pass][1],
	                              .k = mnk[pass][2],
	                              .count = g->count / g->group,
	                              .layout = pass_layouts[pass]};

	split(&s.k, &s.count);
	if (g->group > 1)
		split(&s.n, &s.count);
	return s;
}

static void add_shape(struct ceil_attain_shape *shapes, size_t *count,
                      const struct ceil_attain_shape *s)
{
	for (size_t i = 0; i < *count; i++) {
		if (shapes[i].m != s->m || shapes[i].n != s->n || shapes[i].k != s->k ||
		    strcmp(shapes[i].layout, s->layout) != 0)
			continue;
		shapes[i].count += s->count;
		return;
	}
	shapes[(*count)++] = *s;
}

/* Each GPU has a part of the experts and the tokens that all GPUs send them: as many FLOPs. */
static void spread_experts(struct ceil_gemm *g, uint64_t gpu_count)
{
	uint64_t parts = gpu_count < g->group ? gpu_count : g->group;

	while (parts > 1 && g->group % parts)
		parts--;
	if (!parts)
		return;
	g->m *= parts;
	g->group /= parts;
	g->count /= parts;
}

static size_t gemms_of_gpu(const struct ceil_model *m, const struct ceil_sizes *s,
                           uint64_t gpu_count, struct ceil_gemm *ret_gemms)
{
	const size_t count = ceil_model_gemms(m, s, ret_gemms);

	for (size_t i = 0; i < count; i++)
		spread_experts(&ret_gemms[i], gpu_count);
	return count;
}

size_t ceil_attain_shapes(const struct ceil_model *m, const struct ceil_sizes *s,
                          uint64_t gpu_count, bool tn_only, struct ceil_attain_shape *ret_shapes)
{
	struct ceil_gemm gemms[CEIL_MAX_GEMMS];
	const size_t count = gemms_of_gpu(m, s, gpu_count, gemms);
	size_t shapes = 0;

	for (size_t i = 0; i < count; i++) {
		for (enum pass pass = FORWARD; pass < PASS_COUNT && !is_core(&gemms[i]); pass++) {
			struct ceil_attain_shape one = shape_of(&gemms[i], pass);

			if (tn_only)
				one.layout = pass_layouts[FORWARD];
			if (has_pass(&gemms[i], pass))
				add_shape(ret_shapes, &shapes, &one);
		}
	}
	return shapes;
}

/* ---- the parts of a step */

static void add(struct ceil_attain *a, const struct ceil_attain_part *p)
{
	if (a->part_count < CEIL_ATTAIN_PARTS && p->seconds > 0.0)
		a->parts[a->part_count++] = *p;
	a->kind_seconds[p->kind] += p->seconds;
}

static double gb_s_seconds(double bytes, double gb_s)
{
	return bytes / (gb_s * 1e9);
}

/* Each matrix crosses dram once: two are operands, the third is what this pass makes. */
static double product_bytes(const struct ceil_attain_input *in, const struct ceil_gemm *g,
                            enum pass pass)
{
	const double m = (double)g->m, n = (double)g->n, k = (double)g->k;
	const double made[PASS_COUNT] = {[FORWARD] = m * n, [DGRAD] = m * k, [WGRAD] = k * n};
	const double operands = m * k + k * n + m * n - made[pass];

	return (double)g->count * (in->operand_bytes * operands + CEIL_WORK_BYTES * made[pass]);
}

/* Time of a product at its rate, or that in which dram can feed it, whichever is longer. */
static void add_product(const struct ceil_attain_input *in, struct ceil_attain *a,
                        const struct ceil_gemm *g, const char *name, enum pass pass)
{
	const struct ceil_attain_shape s = shape_of(g, pass);
	struct ceil_attain_part p = {.kind = CEIL_ATTAIN_PRODUCT,
	                             .name = ceil_component_name(g->component),
	                             .pass = name,
	                             .m = s.m,
	                             .n = s.n,
	                             .k = s.k,
	                             .count = s.count,
	                             .flops = g->flops};
	const double rate = in->rate(in->user, s.m, s.n, s.k, &p.how);
	double feed;

	p.bytes = product_bytes(in, g, pass);
	p.seconds = p.flops / (rate * 1e12);
	p.limited_by = "gemm";
	feed = gb_s_seconds(p.bytes, in->dram_gb_s);
	if (feed > p.seconds) {
		p.seconds = feed;
		p.limited_by = "memory";
	} else if (p.how != CEIL_RATE_MEASURED) {
		a->near_ratio += p.seconds; /* divided by the products' time at the end */
	}
	add(a, &p);
}

/*
 * A fused kernel leaves scores on the chip: it is bound by its products alone. Backward it does
 * five products for the forward's two, since the scores are computed again (Dao, FlashAttention-2,
 * arXiv 2307.08691 section 4.1).
 */
static void add_core(const struct ceil_attain_input *in, struct ceil_attain *a,
                     const struct ceil_gemm *g, const char *pass, double times)
{
	struct ceil_attain_part p = {.kind = CEIL_ATTAIN_ATTENTION,
	                             .name = ceil_component_name(g->component),
	                             .pass = pass,
	                             .m = g->m,
	                             .n = g->n,
	                             .k = g->k,
	                             .count = g->count,
	                             .flops = times * g->flops * g->causal_ratio,
	                             .limited_by = "gemm"};
	const bool known = !isnan(in->batched_tflops);

	p.how = known ? CEIL_RATE_MEASURED : CEIL_RATE_CEILING;
	p.seconds = p.flops / ((known ? in->batched_tflops : in->best_tflops) * 1e12);
	add(a, &p);
}

static void add_gemm(const struct ceil_attain_input *in, struct ceil_attain *a,
                     const struct ceil_gemm *g)
{
	const bool again = in->count.recompute == CEIL_RECOMPUTE_FULL && g->in_layer;

	if (is_core(g)) {
		add_core(in, a, g, "forward", again ? 2.0 : 1.0);
		add_core(in, a, g, "backward", 2.5);
		return;
	}
	add_product(in, a, g, "forward", FORWARD);
	if (again)
		add_product(in, a, g, "recompute", FORWARD);
	if (has_pass(g, DGRAD))
		add_product(in, a, g, "dgrad", DGRAD);
	add_product(in, a, g, "wgrad", WGRAD);
}

/* ---- traffic of element-wise kernels, in elements of one layer and token, both passes */

static double norm_elements(const struct ceil_model *m, const struct ceil_block *b)
{
	/* Forward: branch and residual read, sum and norm written. Backward: as many. */
	return 8.0 * (b->attention.cross ? 3.0 : 2.0) * (double)m->hidden;
}

static double activation_elements(const struct ceil_model *m, const struct ceil_block *b)
{
	const struct ceil_ffn *f = &b->ffn;
	const double inner = (double)(f->inner + f->shared_inner + f->active * f->expert_inner);

	(void)m; /* the width does not matter here */
	/* Gated: 2 read, 1 written; backward 3 read, 2 written. Plain: 1 and 1; 2 and 1. */
	return (f->gated ? 8.0 : 5.0) * inner;
}

static double rotation_elements(const struct ceil_model *m, const struct ceil_block *b)
{
	const struct ceil_attention *a = &b->attention;
	const double dim = (double)(a->kv_rank ? a->rope_dim : a->qk_dim);

	if (m->positions || m->patches || m->score_bias || !a->causal)
		return 0.0;
	return 4.0 * dim * (double)(a->heads + a->kv_heads); /* read and written, both passes */
}

static double routing_elements(const struct ceil_model *m, const struct ceil_block *b)
{
	/* Tokens are sent to their experts and gathered again, both passes. */
	return b->ffn.experts ? 4.0 * (1.0 + (double)b->ffn.active) * (double)m->hidden : 0.0;
}

static const struct {
	const char *name;
	double (*elements)(const struct ceil_model *m, const struct ceil_block *b);
} elementwise[] = {
	{"norms, residuals", norm_elements},
	{"activation", activation_elements},
	{"rotation", rotation_elements},
	{"routing", routing_elements},
};

static void add_memory(const struct ceil_attain_input *in, struct ceil_attain *a,
                       enum ceil_attain_kind kind, const char *name, double bytes)
{
	const struct ceil_attain_part p = {.kind = kind,
	                                   .name = name,
	                                   .pass = "",
	                                   .bytes = bytes,
	                                   .seconds = gb_s_seconds(bytes, in->dram_gb_s),
	                                   .limited_by = "memory"};

	add(a, &p);
}

static double side_tokens(const struct ceil_sizes *s, enum ceil_side side)
{
	return (double)s->batch * (double)(side == CEIL_ENCODER ? s->source_seq : s->seq);
}

static void add_elementwise(const struct ceil_attain_input *in, struct ceil_attain *a)
{
	const struct ceil_model *m = in->model;
	const double tokens = side_tokens(&in->sizes, CEIL_MAIN);

	for (size_t i = 0; i < sizeof(elementwise) / sizeof(elementwise[0]); i++) {
		double elements = 0.0;

		for (size_t b = 0; b < m->block_count; b++)
			elements += (double)m->blocks[b].layers *
			            side_tokens(&in->sizes, m->blocks[b].side) *
			            elementwise[i].elements(m, &m->blocks[b]);
		add_memory(in, a, CEIL_ATTAIN_MEMORY, elementwise[i].name,
		           CEIL_WORK_BYTES * elements);
	}
	/* Logits: read for the loss, read again and overwritten by their gradient. */
	if (!m->no_logits && !m->patches)
		add_memory(in, a, CEIL_ATTAIN_MEMORY, "loss",
		           3.0 * CEIL_WORK_BYTES * tokens * (double)m->vocab);
	/* Rows read and written; backward read, and added to rows that are read and written. */
	add_memory(in, a, CEIL_ATTAIN_MEMORY, "embedding",
	           5.0 * CEIL_WORK_BYTES * tokens * (double)m->hidden);
}

/* Ring or tree, each byte crosses 2 (n - 1) / n times: bus bandwidth counts it so (nccl-tests). */
static void add_all_reduce(const struct ceil_attain_input *in, struct ceil_attain *a, double params,
                           double backward_seconds)
{
	const double n = in->gpu_count;
	const double bytes = CEIL_WORK_BYTES * params * 2.0 * (n - 1.0) / n;
	struct ceil_attain_part p = {.kind = CEIL_ATTAIN_COLLECTIVE,
	                             .name = "all-reduce",
	                             .pass = "exposed",
	                             .bytes = bytes,
	                             .limited_by = "link"};

	if (isnan(in->all_reduce_gb_s) || n < 2.0)
		return;
	p.seconds = gb_s_seconds(bytes, in->all_reduce_gb_s) - backward_seconds;
	p.seconds = p.seconds > 0.0 ? p.seconds : 0.0;
	a->exposed_seconds = p.seconds;
	add(a, &p);
}

static bool is_backward(const struct ceil_attain_part *p)
{
	return p->kind <= CEIL_ATTAIN_ATTENTION && strcmp(p->pass, "forward") != 0;
}

static double backward_seconds(const struct ceil_attain *a)
{
	double sum = 0.0;

	for (size_t i = 0; i < a->part_count; i++)
		sum += is_backward(&a->parts[i]) ? a->parts[i].seconds : 0.0;
	return sum;
}

static enum ceil_status check_input(const struct ceil_attain_input *in, struct ceil_error *err)
{
	const struct {
		const char *name;
		double value;
		bool optional;
	} inputs[] = {
		{"the peak in TFLOP/s", in->peak_tflops, false},
		{"the best rate in TFLOP/s", in->best_tflops, false},
		{"the dram ceiling in GB/s", in->dram_gb_s, false},
		{"the number of GPUs", in->gpu_count, false},
		{"an operand's size in bytes", in->operand_bytes, false},
		{"the rate of batched products in TFLOP/s", in->batched_tflops, true},
		{"the all-reduce ceiling in GB/s", in->all_reduce_gb_s, true},
		{"the ratio of sustained to burst", in->sustained_ratio, true},
	};

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		if (inputs[i].value > 0.0 && isfinite(inputs[i].value))
			continue;
		if (!inputs[i].optional || !isnan(inputs[i].value))
			return ceil_fail(err, CEIL_E_USAGE,
			                 "%s is %g; it must be a positive number", inputs[i].name,
			                 inputs[i].value);
	}
	return CEIL_OK;
}

/* Seconds in which the tensor cores bound the step: those that heat makes longer. */
static double gemm_seconds(const struct ceil_attain *a)
{
	double sum = 0.0;

	for (size_t i = 0; i < a->part_count; i++)
		sum += strcmp(a->parts[i].limited_by, "gemm") == 0 ? a->parts[i].seconds : 0.0;
	return sum;
}

static void sum_up(const struct ceil_attain_input *in, const struct ceil_flops *f,
                   struct ceil_attain *a)
{
	const double products = a->kind_seconds[CEIL_ATTAIN_PRODUCT];
	const double batch = (double)in->sizes.batch;

	for (int i = 0; i < CEIL_ATTAIN_KIND_COUNT; i++)
		a->seconds += a->kind_seconds[i];
	a->near_ratio = products > 0.0 ? a->near_ratio / products : 0.0;
	a->mfu = f->model * batch / a->seconds / (in->peak_tflops * 1e12);
	a->hot_mfu = a->mfu * a->seconds /
	             (a->seconds + gemm_seconds(a) * (1.0 / in->sustained_ratio - 1.0));
	a->tokens_per_s = f->tokens * batch / a->seconds;
	a->memory_bytes = ceil_attain_memory(in->model, &in->sizes, in->count.recompute);
}

enum ceil_status ceil_attain_of(const struct ceil_attain_input *in, struct ceil_attain *ret_a,
                                struct ceil_error *err)
{
	struct ceil_gemm gemms[CEIL_MAX_GEMMS];
	struct ceil_params p;
	struct ceil_flops f;
	enum ceil_status st = check_input(in, err);
	size_t count;

	if (st == CEIL_OK)
		st = ceil_flops_of(in->model, &in->sizes, &in->count, &f, err);
	if (st != CEIL_OK)
		return st;
	*ret_a = (struct ceil_attain){.part_count = 0};
	count = gemms_of_gpu(in->model, &in->sizes, (uint64_t)in->gpu_count, gemms);
	for (size_t i = 0; i < count; i++)
		add_gemm(in, ret_a, &gemms[i]);
	ceil_model_params(in->model, &p);
	add_elementwise(in, ret_a);
	/* Sharded over the GPUs, the gradients' exchange moves no more bytes than an all-reduce. */
	add_memory(in, ret_a, CEIL_ATTAIN_OPTIMIZER, "Adam",
	           CEIL_ADAM_TRAFFIC_BYTES * (double)p.total / in->gpu_count);
	add_all_reduce(in, ret_a, (double)p.total, backward_seconds(ret_a));
	sum_up(in, &f, ret_a);
	return CEIL_OK;
}

/* ---- memory in use */

/* Elements of a layer and token that the backward pass reads: what each kernel was given. */
static double kept_elements(const struct ceil_model *m, const struct ceil_block *b)
{
	const struct ceil_attention *a = &b->attention;
	const struct ceil_ffn *f = &b->ffn;
	const double h = (double)m->hidden;
	const double qkv = (double)(a->heads * a->qk_dim + a->kv_heads * (a->qk_dim + a->v_dim));
	const double context = (double)(a->heads * a->v_dim);
	const double latent = a->kv_rank ? (double)(a->q_rank + a->kv_rank) : 0.0;
	const double inner = (double)(f->inner + f->shared_inner + f->active * f->expert_inner);
	const double sent = f->experts ? (double)f->active * h : 0.0;

	/* Inputs of both norms and of what follows them; gate and up, and what they make. */
	return 4.0 * h + (a->cross ? 2.0 : 1.0) * (qkv + context + latent) + sent +
	       (f->gated ? 3.0 : 2.0) * inner;
}

double ceil_attain_memory(const struct ceil_model *m, const struct ceil_sizes *s,
                          enum ceil_recompute recompute)
{
	const double tokens = side_tokens(s, CEIL_MAIN);
	double kept = 0.0, largest = 0.0, layer;
	struct ceil_params p;

	ceil_model_params(m, &p);
	for (size_t i = 0; i < m->block_count; i++) {
		const struct ceil_block *b = &m->blocks[i];
		const double rows = side_tokens(s, b->side);

		layer = rows * kept_elements(m, b);
		largest = layer > largest ? layer : largest;
		kept += (double)b->layers *
		        (recompute == CEIL_RECOMPUTE_FULL ? rows * (double)m->hidden : layer);
	}
	if (recompute == CEIL_RECOMPUTE_FULL)
		kept += largest; /* the layer that is being recomputed */
	kept *= CEIL_WORK_BYTES;
	/* Logits in bf16, their loss in fp32, and their gradient in bf16. */
	if (!m->no_logits && !m->patches)
		kept += (2.0 * CEIL_WORK_BYTES + 4.0) * tokens * (double)m->vocab;
	return (2.0 * CEIL_WORK_BYTES + CEIL_ADAM_STATE_BYTES) * (double)p.total + kept;
}
