/* Prints what `gpuceil mfu` worked out, aligned, with every factor of every product. */
#include "harness/cli/mfu_print.h"

#include "harness/base/text.h"
#include "harness/output/grid.h"
#include "harness/output/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LABEL = 13, HOW = 52, VALUE = 30 };

/* Four significant digits of a number from 1 to 1000. */
static void four_digits(char *ret_text, size_t size, double x)
{
	const int before = x < 9.9995 ? 1 : x < 99.995 ? 2 : 3;

	(void)snprintf(ret_text, size, "%.*f", 4 - before, x);
}

void ceil_mfu_si(char *ret_text, size_t size, double value)
{
	static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
	size_t i = 0;

	if (!isfinite(value)) {
		ceil_copy(ret_text, size, "-");
		return;
	}
	while (fabs(value) >= 999.95 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
		value /= 1000.0;
		i++;
	}
	if (fabs(value) >= 1000.0)
		(void)snprintf(ret_text, size, "%.4g", value);
	else
		four_digits(ret_text, size, value);
	ceil_append(ret_text, size, "%s", prefixes[i]);
}

void ceil_mfu_digits(char *ret_text, size_t size, double value)
{
	char plain[32];
	size_t n;

	(void)snprintf(plain, sizeof(plain), "%.0f", value);
	n = strlen(plain);
	ret_text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		ceil_append(ret_text, size, "%s%c", i && (n - i) % 3 == 0 ? " " : "", plain[i]);
}

void ceil_mfu_title(FILE *f, const char *left, const char *right)
{
	if (!right[0]) {
		fprintf(f, "\n%s\n", left);
		return;
	}
	fprintf(f, "\n%-*s ", LABEL + 2, left);
	ceil_print_wrapped(f, right, LABEL + 3, LABEL + 3, CEIL_MFU_COLUMNS);
	fputc('\n', f);
}

void ceil_mfu_line(FILE *f, const char *label, const char *how, const char *value)
{
	fprintf(f, "  %-*s %-*s %*s\n", LABEL, label, HOW, how, VALUE, value);
}

void ceil_mfu_sentence(FILE *f, const char *label, const char *text)
{
	fprintf(f, "  %-*s ", LABEL, label);
	ceil_print_wrapped(f, text, LABEL + 3, LABEL + 3, CEIL_MFU_COLUMNS);
	fputc('\n', f);
}

/* ---- the model */

static void describe_ffn(const struct ceil_ffn *f, char *ret_text, size_t size)
{
	if (f->inner)
		ceil_append(ret_text, size, ", %s feed-forward %" PRIu64,
		            f->gated ? "gated" : "plain", f->inner);
	if (f->experts)
		ceil_append(ret_text, size, ", %" PRIu64 " of %" PRIu64 " experts of %" PRIu64,
		            f->active, f->experts, f->expert_inner);
	if (f->shared_inner)
		ceil_append(ret_text, size, ", shared %" PRIu64, f->shared_inner);
}

static void describe_block(const struct ceil_block *b, char *ret_text, size_t size)
{
	const struct ceil_attention *a = &b->attention;

	ret_text[0] = '\0';
	ceil_append(ret_text, size, "%" PRIu64 " %slayers, %" PRIu64 " heads of %" PRIu64,
	            b->layers,
	            b->side == CEIL_ENCODER ? "encoder "
	            : a->cross              ? "decoder "
	                                    : "",
	            a->heads, a->qk_dim);
	if (a->v_dim != a->qk_dim)
		ceil_append(ret_text, size, " (values %" PRIu64 ")", a->v_dim);
	if (a->kv_heads != a->heads)
		ceil_append(ret_text, size, ", %" PRIu64 " KV heads", a->kv_heads);
	if (a->window)
		ceil_append(ret_text, size, ", window %" PRIu64, a->window);
	describe_ffn(&b->ffn, ret_text, size);
}

static void print_model(FILE *f, const struct ceil_model *m)
{
	char text[256] = "";

	ceil_mfu_title(f, "Model", m->name);
	for (size_t i = 0; i < m->block_count; i++) {
		describe_block(&m->blocks[i], text, sizeof(text));
		ceil_mfu_sentence(f, i == 0 ? "layers" : "", text);
	}
	text[0] = '\0';
	ceil_append(text, sizeof(text), "hidden %" PRIu64, m->hidden);
	if (m->patches)
		ceil_append(text, sizeof(text), ", %" PRIu64 " patches, %" PRIu64 " classes",
		            m->patches, m->classes);
	else
		ceil_append(text, sizeof(text), ", vocabulary %" PRIu64 "%s", m->vocab,
		            m->tied ? ", tied to the logits" : "");
	ceil_mfu_sentence(f, "widths", text);
	ceil_mfu_sentence(f, "source", m->source);
	if (m->note[0])
		ceil_mfu_sentence(f, "note", m->note);
}

static void print_params(FILE *f, const struct ceil_mfu_page *p)
{
	struct ceil_params n;
	char text[64], value[64];

	ceil_model_params(p->model, &n);
	ceil_mfu_digits(text, sizeof(text), (double)n.total);
	ceil_mfu_line(f, "parameters", "every one that the model holds", text);
	if (n.used != n.total) {
		ceil_mfu_digits(text, sizeof(text), (double)n.used);
		ceil_mfu_line(f, "active", "those that one token passes", text);
	}
	ceil_mfu_digits(value, sizeof(value), p->flops.n_params);
	ceil_mfu_line(f, "N",
	              p->count.params > 0.0 ? "--params"
	                                    : ceil_embedding_rules[p->count.embeddings].doc,
	              value);
}

/* Whether all layers attend alike, so that L, H, Q and T are single numbers. */
static const struct ceil_attention *only_attention(const struct ceil_model *m)
{
	const struct ceil_attention *a = &m->blocks[0].attention;

	for (size_t i = 0; i < m->block_count; i++) {
		const struct ceil_attention *b = &m->blocks[i].attention;

		if (b->cross || m->blocks[i].side != CEIL_MAIN || b->heads != a->heads ||
		    b->qk_dim != a->qk_dim || b->v_dim != a->v_dim || b->window != a->window)
			return NULL;
	}
	return a;
}

/* "12 x 12 x 12 x 64 x 1024": with one head size, else "6 x L x H x (qk + v) x T". */
static void attention_formula(const struct ceil_mfu_page *p, char *ret_text, size_t size)
{
	const struct ceil_attention *a = only_attention(p->model);
	const bool half = ceil_conventions[p->count.convention].attention == CEIL_ATTN_CAUSAL &&
	                  a && a->causal;
	uint64_t keys;

	ret_text[0] = '\0';
	if (!a || (half && a->window && a->window < p->sizes.seq)) {
		ceil_append(ret_text, size, "6 x sum over layers of heads x (qk + v) x keys");
		return;
	}
	keys = a->window && a->window < p->sizes.seq ? a->window : p->sizes.seq;
	if (a->qk_dim == a->v_dim)
		ceil_append(ret_text, size,
		            "%d x %" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64,
		            half ? 6 : 12, ceil_model_layers(p->model), a->heads, a->qk_dim, keys);
	else
		ceil_append(ret_text, size,
		            "%d x %" PRIu64 " x %" PRIu64 " x (%" PRIu64 " + %" PRIu64
		            ") x %" PRIu64,
		            half ? 3 : 6, ceil_model_layers(p->model), a->heads, a->qk_dim,
		            a->v_dim, keys);
}

static void weights_formula(const struct ceil_mfu_page *p, char *ret_text, size_t size)
{
	char digits[64];

	ret_text[0] = '\0';
	if (ceil_conventions[p->count.convention].by_products) {
		ceil_append(ret_text, size, "forward, dgrad, wgrad of each product");
		return;
	}
	ceil_mfu_digits(digits, sizeof(digits), p->flops.n_params);
	ceil_append(ret_text, size, "6 x %s%s", digits,
	            p->model && p->flops.tokens > (double)p->sizes.seq ? ", each by its own tokens"
	                                                               : "");
}

void ceil_mfu_si_line(FILE *f, const char *label, const char *how, double value, const char *unit)
{
	char text[64];

	ceil_mfu_si(text, sizeof(text), value);
	ceil_append(text, sizeof(text), "%s%s", strchr(text, ' ') || !unit[0] ? "" : " ", unit);
	ceil_mfu_line(f, label, how, text);
}

/* Whether a mask hides keys: of the decoder, where there is an encoder too. */
static bool has_mask(const struct ceil_model *m)
{
	return m && m->blocks[m->block_count - 1].attention.causal;
}

static void print_flops(FILE *f, const struct ceil_mfu_page *p)
{
	const struct ceil_convention *c = &ceil_conventions[p->count.convention];
	char how[160];

	(void)snprintf(how, sizeof(how), "of a token, forward and backward; convention %s: %s",
	               c->name, c->formula);
	ceil_mfu_title(f, "FLOPs", how);
	weights_formula(p, how, sizeof(how));
	ceil_mfu_si_line(f, "weights", how, p->flops.weights / p->flops.tokens, "FLOP");
	if (p->flops.attention > 0.0) {
		attention_formula(p, how, sizeof(how));
		ceil_mfu_si_line(f, "attention", how, p->flops.attention / p->flops.tokens, "FLOP");
	}
	ceil_mfu_si_line(f, "model", "their sum", p->flops.model / p->flops.tokens, "FLOP");
	if (p->flops.hardware > p->flops.model)
		ceil_mfu_si_line(f, "hardware", ceil_recompute_rules[p->count.recompute].doc,
		                 p->flops.hardware / p->flops.tokens, "FLOP");
	ceil_mfu_sentence(f, "convention", c->doc);
	ceil_mfu_sentence(f, "", c->source);
	if (p->model && c->attention == CEIL_ATTN_CAUSAL && !has_mask(p->model))
		ceil_mfu_sentence(f, "",
		                  "this model has no causal mask: all of its attention counts");
}

void ceil_mfu_print_count(FILE *f, const struct ceil_mfu_page *p)
{
	if (p->model) {
		print_model(f, p->model);
		print_params(f, p);
	} else {
		char text[64];

		ceil_mfu_title(f, "Model", "a number of parameters");
		ceil_mfu_digits(text, sizeof(text), p->flops.n_params);
		ceil_mfu_line(f, "N", "--params", text);
	}
	print_flops(f, p);
}

/* ---- the breakdown */

/* Components that the model has, and the sum behind them. */
struct breakdown {
	const struct ceil_flops *f;
	enum ceil_component shown[CEIL_COMP_COUNT];
	size_t count;
};

/* Passes of a component, or of all of them: forward, dgrad, wgrad, and their sum. */
static void sum_passes(const struct ceil_flops *f, enum ceil_component one, double ret_sum[4])
{
	for (enum ceil_component c = 0; c < CEIL_COMP_COUNT; c++) {
		if (one != c && one != CEIL_COMP_COUNT)
			continue;
		ret_sum[0] += f->forward[c];
		ret_sum[1] += f->dgrad[c];
		ret_sum[2] += f->wgrad[c];
		ret_sum[3] += f->forward[c] + f->dgrad[c] + f->wgrad[c];
	}
}

static void breakdown_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct breakdown *b = user;
	const enum ceil_component c = row < b->count ? b->shown[row] : CEIL_COMP_COUNT;
	double sum[4] = {0.0}, whole[4] = {0.0};

	sum_passes(b->f, c, sum);
	sum_passes(b->f, CEIL_COMP_COUNT, whole);
	ret_text[0] = '\0';
	if (column == 0)
		ceil_copy(ret_text, size, c < CEIL_COMP_COUNT ? ceil_component_name(c) : "sum");
	else if (column < 5)
		ceil_mfu_si(ret_text, size, sum[column - 1]);
	else if (column == 5)
		ceil_append(ret_text, size, "%.1f %%", 100.0 * sum[3] / whole[3]);
	else if (c < CEIL_COMP_COUNT)
		ceil_copy(ret_text, size, ceil_component_doc(c));
}

void ceil_mfu_print_breakdown(FILE *f, const struct ceil_mfu_page *p)
{
	static const struct ceil_grid_column columns[] = {
		{"product", false, 0}, {"forward", true, 0}, {"dgrad", true, 0}, {"wgrad", true, 0},
		{"sum", true, 0},      {"share", true, 0},   {"", false, 1},
	};
	struct breakdown b = {.f = &p->flops};
	struct ceil_grid g = {.columns = columns,
	                      .column_count = sizeof(columns) / sizeof(columns[0]),
	                      .cell = breakdown_cell,
	                      .user = &b,
	                      .indent = 2,
	                      .limit = CEIL_MFU_COLUMNS};

	if (!p->model)
		return;
	for (enum ceil_component c = 0; c < CEIL_COMP_COUNT; c++)
		if (p->flops.forward[c] > 0.0)
			b.shown[b.count++] = c;
	g.row_count = b.count + 1;
	ceil_mfu_title(f, "Breakdown", "FLOPs of a sample by matrix product");
	ceil_grid_print(f, &g);
}

/* ---- rate and utilization */

static void print_rate(FILE *f, const struct ceil_mfu_page *p)
{
	char how[128], flops[32], rate[32];

	ceil_mfu_title(f, "Rate", "of the whole job, and of one GPU");
	if (!isnan(p->step_seconds)) {
		(void)snprintf(how, sizeof(how), "batch %" PRIu64 " / %g s", p->sizes.batch,
		               p->step_seconds);
		ceil_mfu_si_line(f, "samples", how, p->mfu.samples_per_s, "/s");
		(void)snprintf(how, sizeof(how), "x %g tokens a sample", p->flops.tokens);
		ceil_mfu_si_line(f, "tokens", how, p->mfu.tokens_per_s, "/s");
	} else {
		ceil_mfu_si_line(f, "tokens", "as given", p->mfu.tokens_per_s, "/s");
		(void)snprintf(how, sizeof(how), "/ %g tokens a sample", p->flops.tokens);
		if (p->sizes.seq)
			ceil_mfu_si_line(f, "samples", how, p->mfu.samples_per_s, "/s");
	}
	ceil_mfu_si(flops, sizeof(flops), p->flops.model / p->flops.tokens);
	ceil_mfu_si(rate, sizeof(rate), p->mfu.tokens_per_s);
	(void)snprintf(how, sizeof(how), "%s x %s/s / %g GPU%s", flops, rate, p->in.gpu_count,
	               p->in.gpu_count > 1.0 ? "s" : "");
	ceil_mfu_si_line(f, "one GPU", how, p->mfu.model_tflops * 1e12, "FLOP/s");
}

static void print_ratio(FILE *f, enum ceil_denominator d, const struct ceil_mfu_page *p)
{
	const double peak = p->in.peak_tflops[d];
	const bool is_mfu =
		d == CEIL_BY_DATASHEET || (d == CEIL_BY_THEORETICAL && p->mfu.of_theoretical);
	char how[96], achieved[24], text[24];

	if (isnan(peak))
		return;
	ceil_text_number(achieved, sizeof(achieved), p->mfu.model_tflops);
	ceil_text_number(text, sizeof(text), peak);
	(void)snprintf(how, sizeof(how), "%s / %s TFLOP/s", achieved, text);
	if (!isnan(p->peak_mhz[d]))
		ceil_append(how, sizeof(how), " at %.0f MHz", p->peak_mhz[d]);
	(void)snprintf(text, sizeof(text), "%.1f %%", 100.0 * p->mfu.ratio[d]);
	fprintf(f, "  %-*s %-*s %-*s %8s\n", LABEL, ceil_denominators[d].name, HOW, how, VALUE - 9,
	        is_mfu ? "mfu" : ceil_denominators[d].figure, text);
}

static void print_utilization(FILE *f, const struct ceil_mfu_page *p)
{
	char text[64];

	ceil_mfu_title(f, "Utilization", p->peak_source);
	for (enum ceil_denominator d = 0; d < CEIL_BY_COUNT; d++)
		print_ratio(f, d, p);
	if (p->flops.hardware > p->flops.model) {
		(void)snprintf(text, sizeof(text), "%.1f %%", 100.0 * p->mfu.hfu);
		fprintf(f, "  %-*s %-*s %-*s %8s\n", LABEL, "recomputation", HOW,
		        ceil_recompute_rules[p->count.recompute].doc, VALUE - 9, "hfu", text);
	}
}

static void print_suspects(FILE *f, const struct ceil_mfu_facts *facts)
{
	char text[320];

	if (!ceil_mfu_implausible(facts->mfu))
		return;
	ceil_mfu_title(f, "Likely wrong",
	               "inputs whose correction would give a figure that can be");
	for (size_t i = 0; i < ceil_mfu_suspect_count; i++) {
		const struct ceil_mfu_suspect *s = &ceil_mfu_suspects[i];
		const double corrected = ceil_mfu_suspected(s, facts);

		if (isnan(corrected))
			continue;
		(void)snprintf(text, sizeof(text), "%s (it would be %.1f %%)", s->text,
		               100.0 * corrected);
		ceil_mfu_sentence(f, "-", text);
	}
	ceil_mfu_sentence(f, "-",
	                  "the model or its sequence length may be another one: --model, --seq");
}

void ceil_mfu_print_result(FILE *f, const struct ceil_mfu_page *p)
{
	const struct ceil_convention *c = &ceil_conventions[p->count.convention];
	const struct ceil_mfu_facts facts = {.in = &p->in,
	                                     .mfu = &p->mfu,
	                                     .model = p->model,
	                                     .seq = p->flops.tokens,
	                                     .causal_in_full = has_mask(p->model) &&
	                                                       c->attention == CEIL_ATTN_FULL,
	                                     .from_step = !isnan(p->step_seconds)};

	print_rate(f, p);
	print_utilization(f, p);
	ceil_mfu_title(f, "Meaning", "");
	for (size_t i = 0; i < ceil_mfu_advice_count; i++)
		if (ceil_mfu_advices[i].holds(&facts))
			ceil_mfu_sentence(f, ceil_mfu_advices[i].is_band ? "band" : "-",
			                  ceil_mfu_advices[i].text);
	print_suspects(f, &facts);
}

/* ---- the table of models */

static void model_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_model *m = &ceil_models[row];
	struct ceil_params p;

	(void)user; /* the table is global */
	ceil_model_params(m, &p);
	ret_text[0] = '\0';
	if (column == 0)
		ceil_append(ret_text, size, "%s", m->name);
	else if (column == 1)
		ceil_mfu_si(ret_text, size, (double)p.total);
	else if (column == 2 && p.active != p.total)
		ceil_mfu_si(ret_text, size, (double)p.active);
	else if (column == 3)
		ceil_append(ret_text, size, "%" PRIu64,
		            m->patches ? m->patches + m->prefix_tokens : m->seq);
	else if (column == 4)
		ceil_append(ret_text, size, "%s", m->source);
}

void ceil_mfu_print_models(FILE *f)
{
	static const struct ceil_grid_column columns[] = {
		{"model", false, 0}, {"parameters", true, 0}, {"active", true, 0},
		{"tokens", true, 0}, {"source", false, 0},
	};
	const struct ceil_grid g = {.columns = columns,
	                            .column_count = sizeof(columns) / sizeof(columns[0]),
	                            .row_count = ceil_model_count,
	                            .cell = model_cell,
	                            .indent = 0,
	                            .limit = 0};

	ceil_grid_print(f, &g);
}
