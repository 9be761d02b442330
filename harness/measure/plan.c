/* The plan: filters x variants x cases = points, priced and fitted to the budget. */
#include "harness/measure/plan.h"

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ceil_point_ceiling(const struct ceil_point *p, char *ret_text, size_t size)
{
	const char *regime = ceil_regime_name(p->regime);

	ceil_copy(ret_text, size, p->variant->ceiling);
	if (p->apart)
		ceil_append(ret_text, size, ".%s", p->cas->name);
	if (p->pattern != p->variant->pattern)
		ceil_append(ret_text, size, ".%s", ceil_pattern_name(p->pattern));
	if (*regime)
		ceil_append(ret_text, size, ".%s", regime);
}

bool ceil_point_competes(const struct ceil_point *a, const struct ceil_point *b)
{
	return strcmp(a->variant->ceiling, b->variant->ceiling) == 0 && a->pattern == b->pattern &&
	       a->apart == b->apart && (!a->apart || strcmp(a->cas->name, b->cas->name) == 0);
}

/* ---- filters */

/* A ceiling matches its own name and every family above it: "dram" has "dram.copy". */
static bool ceiling_wanted(const struct ceil_list *list, const char *ceiling)
{
	if (list->count == 0)
		return true;
	for (size_t i = 0; i < list->count; i++) {
		const size_t n = strlen(list->item[i]);

		if (strncmp(ceiling, list->item[i], n) == 0 && (!ceiling[n] || ceiling[n] == '.'))
			return true;
	}
	return false;
}

static bool dtype_wanted(const struct ceil_list *list, const struct ceil_types *t)
{
	return ceil_list_has(list, ceil_dtype_info(t->a)->name) ||
	       ceil_list_has(list, ceil_dtype_info(t->b)->name);
}

static bool wanted(const struct ceil_filter *f, const struct ceil_bench *b,
                   const struct ceil_variant *v, const char *backend)
{
	return strcmp(v->backend, backend) == 0 && (!f->team_only || b->team) &&
	       ceil_list_has(&f->benches, b->name) && ceil_list_has(&f->variants, v->name) &&
	       dtype_wanted(&f->dtypes, &v->types) && ceiling_wanted(&f->ceilings, v->ceiling) &&
	       (!f->quick || v->quick);
}

static bool case_wanted(const struct ceil_filter *f, const struct ceil_case *c, const char *backend)
{
	return (!c->backend || strcmp(c->backend, backend) == 0) && (!f->quick || c->quick);
}

/* What a list may name, gathered from the tables: NULL-terminated, at most MAX_NAMES. */
enum { MAX_NAMES = 512 };

static void add_name(const char **names, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++) {
		if (strcmp(names[i], name) == 0)
			return;
	}
	if (*n + 1 < MAX_NAMES && *name)
		names[(*n)++] = name;
	names[*n] = NULL;
}

enum name_kind { BENCH_NAMES, VARIANT_NAMES, DTYPE_NAMES };

static void gather(enum name_kind kind, const char **names)
{
	size_t n = 0;

	names[0] = NULL;
	for (int t = 0; kind == DTYPE_NAMES && t < CEIL_DTYPE_COUNT; t++)
		add_name(names, &n, ceil_dtype_info((enum ceil_dtype)t)->name);
	for (size_t b = 0; ceil_benches[b]; b++) {
		if (kind == BENCH_NAMES)
			add_name(names, &n, ceil_benches[b]->name);
		for (size_t v = 0; kind == VARIANT_NAMES && v < ceil_benches[b]->variant_count; v++)
			add_name(names, &n, ceil_benches[b]->variants[v].name);
	}
}

static enum ceil_status check_list(const struct ceil_list *list, enum name_kind kind,
                                   const char *what, const char *where, struct ceil_error *err)
{
	const char *names[MAX_NAMES];

	gather(kind, names);
	for (size_t i = 0; i < list->count; i++) {
		bool known = false;

		for (size_t j = 0; names[j] && !known; j++)
			known = strcmp(names[j], list->item[i]) == 0;
		if (known)
			continue;
		const char *near = ceil_suggest(list->item[i], names);

		return ceil_fail(err, CEIL_E_USAGE,
		                 "unknown %s '%s'%s%s%s `gpuceil list %s` shows all", what,
		                 list->item[i], near ? ": did you mean '" : ";", near ? near : "",
		                 near ? "'?" : "", where);
	}
	return CEIL_OK;
}

/* Names may each exist and still have nothing in common: dram has no bf16. */
static bool anything_wanted(const struct ceil_filter *f, bool with_bursts)
{
	const struct ceil_bench *const *list = f->list ? f->list : ceil_benches;

	for (size_t b = 0; list[b]; b++) {
		for (size_t v = 0; v < list[b]->variant_count; v++) {
			const struct ceil_variant *x = &list[b]->variants[v];

			if (wanted(f, list[b], x, f->backend ? f->backend : x->backend) &&
			    (x->burst_finalists || !with_bursts))
				return true;
		}
	}
	return false;
}

bool ceil_filter_has_bursts(const struct ceil_filter *f)
{
	return anything_wanted(f, /* with_bursts= */ true);
}

enum ceil_status ceil_filter_check(const struct ceil_filter *f, struct ceil_error *err)
{
	enum ceil_status st;

	st = check_list(&f->benches, BENCH_NAMES, "bench", "benches", err);
	if (st == CEIL_OK)
		st = check_list(&f->variants, VARIANT_NAMES, "variant", "variants", err);
	if (st == CEIL_OK)
		st = check_list(&f->dtypes, DTYPE_NAMES, "type", "dtypes", err);
	return st == CEIL_OK && !anything_wanted(f, /* with_bursts= */ false)
	               ? ceil_fail(err, CEIL_E_USAGE,
	                           "nothing to measure: no variant is all that was asked for; "
	                           "`gpuceil list variants` shows the types and benches of each")
	               : st;
}

/* ---- prices: rough, from the cost model and assumed rates; a plan, not a promise */

/* What a device does in a second, about: two thirds of what its properties promise. */
static double clocks_per_s(const struct ceil_device_props *d)
{
	return d->sm_count * (d->max_sm_mhz > 0.0 ? d->max_sm_mhz : 1500.0) * 1e6;
}

static double bytes_per_s(const struct ceil_device_props *d, const struct ceil_variant *v)
{
	const double pins = d->max_memory_mhz * 2e6 * d->memory_bus_bits / 8.0;

	if (strcmp(v->backend, "host") == 0)
		return fmin(200e9, 8e9 * d->sm_count);
	if (v->resource == CEIL_R_SMEM)
		return 85.0 * clocks_per_s(d); /* of 128 bytes a clock and SM */
	return pins > 0.0 ? 0.66 * pins : 500e9;
}

static double flops_per_s(const struct ceil_device_props *d, const struct ceil_variant *v)
{
	const double clocks = clocks_per_s(d);
	/* Half of a Hopper's tensor cores, or an Ampere's: the more bits, the fewer a clock; fp64
	 * and vector pipes do some hundred. */
	const bool tensor =
		v->resource == CEIL_R_TENSOR && v->types.a != CEIL_FP64 && v->types.a != CEIL_FP32;

	if (strcmp(v->backend, "host") == 0)
		return 40e9 * d->sm_count;
	return clocks * (tensor ? 32000.0 / ceil_dtype_info(v->types.a)->bits : 100.0);
}

/* Seconds of one launch. */
static double launch_s(const struct ceil_point *p, const struct ceil_launch *l,
                       const struct ceil_device_props *d)
{
	const bool host = strcmp(p->variant->backend, "host") == 0;
	struct ceil_work w = {0};

	p->bench->work(p, l, &w);
	/* Between GPUs, or to the host by PCIe 4.0 x16: slower links make the plan too hopeful. */
	const double link_s = p->variant->resource == CEIL_R_HOSTLINK ? w.bytes_wire / 25e9 : 0.0;
	const double wire_s = fmax(link_s, w.bytes_payload / (host ? 2e9 : 100e9));

	return fmax(wire_s, fmax((w.bytes_read + w.bytes_written) / bytes_per_s(d, p->variant),
	                         w.flops / flops_per_s(d, p->variant)));
}

/*
 * Set-up, fills, the check and a dozen samples. Where there are candidates: some ten, run once,
 * halved by rounds of a millisecond each, with idle time between. Finals come on top.
 */
static double search_s(const struct ceil_point *p, const struct ceil_launch *l,
                       const struct ceil_device_props *d)
{
	const double one_s = launch_s(p, l, d);

	/* A host fills and checks at about the rate of its memory, twice and more: 24 points whose
	 * samples lasted 0.15 s each took 7 s on 16 threads. */
	if (strcmp(p->variant->backend, "host") == 0)
		return 0.05 + 24.0 * fmax(one_s, 0.0005);
	if (p->variant->burst_finalists)
		return 0.22 + (p->bench->prepare ? 25.0 * fmax(one_s, 0.001) : 0.0) +
		       3.0 * fmax(one_s, 0.004);
	return 0.05 + 12.0 * fmax(one_s, 0.0005);
}

/* How many points run for the ceiling of entry first, at most max: a shape of the user's is alone.
 */
static unsigned finalists_of(const struct ceil_plan *plan, size_t first, unsigned max)
{
	unsigned n = 0;

	for (size_t i = first; i < plan->count && n < max; i++)
		n += plan->v[i].fate == CEIL_RUN &&
		     ceil_point_competes(&plan->v[first].point, &plan->v[i].point);
	return n;
}

double ceil_plan_final_s(const struct ceil_plan *plan, size_t first, enum ceil_regime regime)
{
	const struct ceil_variant *v = plan->v[first].point.variant;

	switch (regime) {
	case CEIL_SUSTAINED:
		/* What such a row mostly takes on an H200: 3.2 to 4.0 s, 3.4 in the mean. */
		return 3.5 * finalists_of(plan, first, ceil_plan_sustained(plan, v));
	case CEIL_DUTY:
		return v->burst_finalists ? 5.0 : 0.0;
	default:
		if (v->sweep)
			return 0.0;
		/* Seven finals of dram took 1.7 s there, twelve of latency 2.6, nine of
		 * hostcopy 2.9. */
		return v->burst_finalists ? 1.1 * finalists_of(plan, first, v->burst_finalists)
		                          : 0.25;
	}
}

/* ---- making */

static enum ceil_status add_entry(struct ceil_plan *plan, const struct ceil_entry *e,
                                  struct ceil_error *err)
{
	void *v = plan->v;
	const enum ceil_status st =
		ceil_grow(&v, &plan->cap, plan->count + 1, sizeof(*plan->v), err);

	if (st != CEIL_OK)
		return st;
	plan->v = v;
	plan->v[plan->count++] = *e;
	return CEIL_OK;
}

static void refuse(struct ceil_entry *e, enum ceil_fate fate, const char *reason)
{
	e->fate = fate;
	ceil_copy(e->reason, sizeof(e->reason), reason);
}

static bool capability_fits(const struct ceil_variant *v, const struct ceil_device_props *d)
{
	const int cc = d->cc_major * 10 + d->cc_minor;

	return (!v->min_cc || cc >= v->min_cc) && (!v->max_cc || cc <= v->max_cc);
}

/* Whether this build and this device can; the price when they can. */
static void judge_entry(struct ceil_entry *e, const struct ceil_device_props *d,
                        const char *why_not)
{
	const struct ceil_variant *v = e->point.variant;
	struct ceil_launch l = {0};
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_error err = {CEIL_OK, ""};
	char text[128];

	if (!d) {
		refuse(e, CEIL_UNSUPPORTED, why_not);
		return;
	}
	if (!v->launch) {
		refuse(e, CEIL_UNSUPPORTED, v->why_not ? v->why_not : "not in this build");
		return;
	}
	if (!capability_fits(v, d)) {
		snprintf(text, sizeof(text),
		         "needs compute capability %d.%d%s, this part has %d.%d",
		         (v->min_cc ? v->min_cc : v->max_cc) / 10,
		         (v->min_cc ? v->min_cc : v->max_cc) % 10,
		         v->max_cc && v->max_cc == v->min_cc ? " exactly" : "", d->cc_major,
		         d->cc_minor);
		refuse(e, CEIL_UNSUPPORTED, text);
		return;
	}
	if (e->point.bench->shape(&e->point, d, &l, buf, &err) != CEIL_OK) {
		refuse(e, err.status == CEIL_E_NOMEM ? CEIL_SKIPPED : CEIL_UNSUPPORTED, err.text);
		return;
	}
	e->price_s = search_s(&e->point, &l, d);
}

/* What all entries of a variant have in common. */
struct making {
	const struct ceil_filter *f;
	const struct ceil_bench *bench;
	const struct ceil_variant *variant;
	const struct ceil_device_props *props;
	const char *why_not;
	struct ceil_plan *plan;
};

/* An entry for each pattern that is asked for. */
static enum ceil_status add_case(const struct making *k, const struct ceil_case *c, bool apart,
                                 bool more, struct ceil_error *err)
{
	const unsigned own = 1u << k->variant->pattern;
	const unsigned patterns = k->f->patterns ? k->f->patterns : own;
	struct ceil_entry e = {.more = more};
	enum ceil_status st = CEIL_OK;

	e.point = (struct ceil_point){
		.bench = k->bench,
		.variant = k->variant,
		.cas = c,
		.apart = apart,
		.algorithm = k->f->algorithm,
		.duty = k->f->duty,
	};
	if (k->bench->applies && !k->bench->applies(&e.point, k->props))
		return CEIL_OK;
	for (unsigned p = 0; p < CEIL_PATTERN_COUNT && st == CEIL_OK; p++) {
		struct ceil_entry one = e;

		if (!(patterns >> p & 1u))
			continue;
		one.point.pattern = (enum ceil_pattern)p;
		judge_entry(&one, k->props, k->why_not);
		st = add_entry(k->plan, &one, err);
	}
	return st;
}

static enum ceil_status add_cases(const struct making *k, const struct ceil_case *cases,
                                  size_t count, bool more, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < count && st == CEIL_OK; i++) {
		if (case_wanted(k->f, &cases[i], k->variant->backend))
			st = add_case(k, &cases[i], /* apart= */ false, more, err);
	}
	return st;
}

/* Whether ".kind" ends the ceiling: "gemm.bf16" and "host.gemm.fp32" are of kinds. */
static bool of_kind(const struct ceil_variant *v, const char *kind)
{
	const char *end = strrchr(v->ceiling, '.');

	return !kind || (end && strcmp(end + 1, kind) == 0);
}

static enum ceil_status add_own(const struct making *k, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < k->f->own_count && st == CEIL_OK; i++) {
		const struct ceil_own_case *own = &k->f->own[i];

		if (of_kind(k->variant, own->kind))
			st = add_case(k, &own->cas, /* apart= */ true, /* more= */ false, err);
	}
	return st;
}

static enum ceil_status add_variant(const struct making *k, struct ceil_error *err)
{
	const struct ceil_bench *b = k->bench;
	enum ceil_status st;

	if (k->f->own)
		return add_own(k, err);
	st = add_cases(k, b->cases, b->case_count, /* more= */ false, err);
	for (size_t i = 0; k->f->more && i < b->more_count && st == CEIL_OK; i++)
		st = add_cases(k, b->more[i].v, b->more[i].count, /* more= */ true, err);
	return st;
}

unsigned ceil_plan_sustained(const struct ceil_plan *plan, const struct ceil_variant *v)
{
	if (plan->drop_sustained)
		return 0;
	return plan->quick || plan->few_sustained ? v->quick_sustained : v->sustained_finalists;
}

static const struct ceil_sharing alone = {.devices = 1};

/* How many devices an entry keeps busy one after another. */
static double turns_of(const struct ceil_entry *e, struct ceil_sharing sharing)
{
	const struct ceil_bench *b = e->point.bench;

	return b->team || (b->concurrent && !sharing.one_by_one) ? 1.0 : (double)sharing.devices;
}

/* Whether an entry is the first of its ceiling that runs: it has the price of the finals. */
static bool first_to_run(const struct ceil_plan *plan, size_t i)
{
	bool first = plan->v[i].fate == CEIL_RUN;

	for (size_t j = 0; j < i && first; j++) {
		first = plan->v[j].fate != CEIL_RUN ||
		        !ceil_point_competes(&plan->v[j].point, &plan->v[i].point);
	}
	return first;
}

double ceil_plan_entry_s(const struct ceil_plan *plan, size_t i)
{
	const struct ceil_entry *e = &plan->v[i];
	double s = e->fate == CEIL_RUN ? e->price_s : 0.0;

	if (!first_to_run(plan, i))
		return s;
	s += ceil_plan_final_s(plan, i, CEIL_NOREGIME);
	s += ceil_plan_final_s(plan, i, CEIL_SUSTAINED);
	return e->point.duty > 0.0 ? s + ceil_plan_final_s(plan, i, CEIL_DUTY) : s;
}

static void price_plan(struct ceil_plan *plan, struct ceil_sharing sharing)
{
	plan->price_s = 0.0;
	plan->sustained_s = 0.0;
	for (size_t i = 0; i < plan->count; i++) {
		const double times = turns_of(&plan->v[i], sharing);

		plan->price_s += times * ceil_plan_entry_s(plan, i);
		if (first_to_run(plan, i))
			plan->sustained_s += times * ceil_plan_final_s(plan, i, CEIL_SUSTAINED);
	}
}

enum ceil_status ceil_plan_make(const struct ceil_filter *f, const char *backend,
                                const struct ceil_device_props *props, const char *why_not,
                                struct ceil_plan *ret_plan, struct ceil_error *err)
{
	struct ceil_plan plan = {.quick = f->quick};
	enum ceil_status st = CEIL_OK;

	const struct ceil_bench *const *list = f->list ? f->list : ceil_benches;

	for (size_t b = 0; list[b] && st == CEIL_OK; b++) {
		const struct ceil_bench *bench = list[b];

		for (size_t v = 0; v < bench->variant_count && st == CEIL_OK; v++) {
			const struct making k = {.f = f,
			                         .bench = bench,
			                         .variant = &bench->variants[v],
			                         .props = props,
			                         .why_not = why_not,
			                         .plan = &plan};

			if (wanted(f, bench, k.variant, backend))
				st = add_variant(&k, err);
		}
	}
	if (st != CEIL_OK) {
		ceil_plan_done(&plan);
		return st;
	}
	price_plan(&plan, alone);
	*ret_plan = plan;
	return CEIL_OK;
}

/* ---- fitting */

enum drop_step { FEW_SUSTAINED, DROP_SUSTAINED, DROP_CASES, DROP_VARIANTS };

static bool droppable(const struct ceil_entry *e, enum drop_step step)
{
	if (e->fate != CEIL_RUN)
		return false;
	return step == DROP_CASES ? !e->point.cas->quick
	                          : step == DROP_VARIANTS && !e->point.variant->quick;
}

static void drop(struct ceil_plan *plan, enum drop_step step, double budget_s,
                 struct ceil_sharing sharing)
{
	static const char *const words[] = {
		[FEW_SUSTAINED] = "sustained rows that --quick leaves out",
		[DROP_SUSTAINED] = "sustained rows",
		[DROP_CASES] = "cases that --quick leaves out",
		[DROP_VARIANTS] = "variants that --quick leaves out",
	};
	char reason[96];
	size_t n = 0;

	snprintf(reason, sizeof(reason), "left out to fit the budget of %.0f s", budget_s);
	for (size_t i = 0; i < plan->count; i++) {
		if (!droppable(&plan->v[i], step))
			continue;
		refuse(&plan->v[i], CEIL_SKIPPED, reason);
		n++;
	}
	if (((step == FEW_SUSTAINED && !plan->quick) || step == DROP_SUSTAINED) &&
	    plan->sustained_s > 0.0) {
		plan->few_sustained = true;
		plan->drop_sustained = step == DROP_SUSTAINED;
		n = 1;
	}
	if (n > 0) {
		ceil_append(plan->coverage, sizeof(plan->coverage), "%s%s",
		            *plan->coverage ? ", " : "", words[step]);
	}
	price_plan(plan, sharing);
}

/* Cases of long runs go one by one: as many as there is time for are measured. */
static void drop_more(struct ceil_plan *plan, double budget_s, struct ceil_sharing sharing)
{
	char reason[96];
	size_t n = 0;

	snprintf(reason, sizeof(reason), "left out to fit the budget of %.0f s", budget_s);
	for (size_t i = plan->count; i-- > 0 && plan->price_s > budget_s;) {
		struct ceil_entry *e = &plan->v[i];

		if (!e->more || e->fate != CEIL_RUN)
			continue;
		refuse(e, CEIL_SKIPPED, reason);
		plan->price_s -= turns_of(e, sharing) * e->price_s;
		n++;
	}
	if (n > 0)
		ceil_append(plan->coverage, sizeof(plan->coverage), "%zu cases of long runs", n);
	price_plan(plan, sharing);
}

void ceil_plan_fit(struct ceil_plan *plan, double budget_s, struct ceil_sharing sharing)
{
	static const enum drop_step steps[] = {FEW_SUSTAINED, DROP_SUSTAINED, DROP_CASES,
	                                       DROP_VARIANTS};

	price_plan(plan, sharing);
	drop_more(plan, budget_s, sharing);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && plan->price_s > budget_s; i++)
		drop(plan, steps[i], budget_s, sharing);
	price_plan(plan, alone);
}

void ceil_plan_done(struct ceil_plan *plan)
{
	free(plan->v);
	*plan = (struct ceil_plan){0};
}
