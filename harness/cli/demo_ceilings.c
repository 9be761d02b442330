/* The ceilings beside which a demo's rates stand, measured on the card in the same call. */
#include "harness/cli/demo_ceilings.h"

#include <math.h>
#include <string.h>

#include "harness/measure/loop.h"

/* As a campaign's search, final and sustained rows, for one form each. */
static const struct ceil_effort search = {.name = "search",
                                          .min_samples = 3,
                                          .max_samples = 3,
                                          .sample_ns = 4000000,
                                          .budget_ns = 1000000000,
                                          .idle_ns = 10000000};
static const struct ceil_effort final = {.name = "final",
                                         .min_samples = 10,
                                         .max_samples = 30,
                                         .sample_ns = 8000000,
                                         .budget_ns = 300000000,
                                         .precision = 0.002};
static const struct ceil_effort sustained = {.name = "sustained",
                                             .min_samples = 20,
                                             .max_samples = 1000,
                                             .sample_ns = 50000000,
                                             .budget_ns = UINT64_C(6000000000)};

static const char suffix[] = ".sustained";

static bool is_sustained(const char *name)
{
	const size_t length = strlen(name), end = sizeof(suffix) - 1;

	return length > end && strcmp(name + length - end, suffix) == 0;
}

/* ---- which */

static void add_name(struct ceil_demo_ceilings *c, const char *name, bool hot)
{
	if (!name || is_sustained(name) != hot || c->count == CEIL_DEMO_CEILINGS)
		return;
	for (size_t i = 0; i < c->count; i++) {
		if (strcmp(c->v[i].name, name) == 0)
			return;
	}
	c->v[c->count].name = name;
	c->v[c->count++].value = (double)NAN;
}

void ceil_demo_ceilings_of(const struct ceil_demo_points *points, struct ceil_demo_ceilings *ret_c)
{
	*ret_c = (struct ceil_demo_ceilings){0};
	for (int hot = 0; hot <= 1; hot++) {
		for (size_t i = 0; i < points->count; i++) {
			add_name(ret_c, points->v[i].sc->flops_ceiling, hot);
			add_name(ret_c, points->v[i].sc->bytes_ceiling, hot);
		}
	}
}

double ceil_demo_ceiling(const struct ceil_demo_ceilings *c, const char *name)
{
	for (size_t i = 0; name && i < c->count; i++) {
		if (strcmp(c->v[i].name, name) == 0)
			return c->v[i].value;
	}
	return (double)NAN;
}

/* ---- measuring */

struct work {
	struct ceil_meter *meter;
	const struct ceil_device *dev;
	struct ceil_demo_ceilings *all;
	struct ceil_demo_ceiling *ceiling;
	bool hot;
};

static bool fits(const struct work *w, const struct ceil_variant *v)
{
	const int cc = w->dev->props.cc_major * 10 + w->dev->props.cc_minor;
	const size_t base = strlen(w->ceiling->name) - (w->hot ? sizeof(suffix) - 1 : 0);

	return strlen(v->ceiling) == base && strncmp(v->ceiling, w->ceiling->name, base) == 0 &&
	       strcmp(v->backend, w->dev->backend->name) == 0 && v->quick && !v->beside &&
	       v->launch && cc >= v->min_cc && (!v->max_cc || cc <= v->max_cc);
}

/* The largest quick case stands first in every bench. */
static const struct ceil_case *case_of(const struct ceil_bench *b, const char *backend)
{
	for (size_t i = 0; i < b->case_count; i++) {
		const struct ceil_case *c = &b->cases[i];

		if (c->quick && (!c->backend || strcmp(c->backend, backend) == 0))
			return c;
	}
	return NULL;
}

static enum ceil_status measure_point(struct work *w, const struct ceil_point *p,
                                      const struct ceil_effort *effort, uint32_t *algorithm,
                                      struct ceil_error *err)
{
	struct ceil_outcome o;
	enum ceil_status st = ceil_meter_point(w->meter, p, effort, *algorithm, &o, err);
	const double value = ceil_outcome_value(&o);

	if (st == CEIL_OK && (o.status == CEIL_ROW_OK || o.status == CEIL_ROW_UNSTABLE)) {
		*algorithm = o.launch.candidate;
		if (effort != &search)
			w->ceiling->value = fmax(w->ceiling->value, value);
	} else {
		ceil_copy(w->ceiling->reason, sizeof(w->ceiling->reason), o.reason);
	}
	ceil_outcome_done(&o);
	return st;
}

static enum ceil_status measure_variant(struct work *w, const struct ceil_bench *b,
                                        const struct ceil_variant *v, struct ceil_error *err)
{
	struct ceil_point p = {.bench = b,
	                       .variant = v,
	                       .cas = case_of(b, v->backend),
	                       .pattern = v->pattern,
	                       .regime = w->hot ? CEIL_BURST : CEIL_NOREGIME};
	uint32_t algorithm = CEIL_SEARCH;
	enum ceil_status st;

	if (!p.cas)
		return CEIL_OK;
	if (!w->hot)
		return measure_point(w, &p, &final, &algorithm, err);
	st = measure_point(w, &p, &search, &algorithm, err);
	if (st != CEIL_OK || algorithm == CEIL_SEARCH)
		return st;
	p.regime = CEIL_SUSTAINED;
	w->all->algorithm = algorithm;
	return measure_point(w, &p, &sustained, &algorithm, err);
}

static enum ceil_status measure_one(struct work *w, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;
	bool any = false;

	w->hot = is_sustained(w->ceiling->name);
	for (size_t i = 0; ceil_benches[i]; i++) {
		const struct ceil_bench *b = ceil_benches[i];

		for (size_t k = 0; k < b->variant_count && st == CEIL_OK; k++) {
			if (!fits(w, &b->variants[k]))
				continue;
			any = true;
			st = measure_variant(w, b, &b->variants[k], err);
		}
	}
	if (!any)
		ceil_copy(w->ceiling->reason, sizeof(w->ceiling->reason),
		          "no bench of this build measures it on this GPU");
	return st;
}

enum ceil_status ceil_demo_ceilings_measure(struct ceil_demo_ceilings *c, struct ceil_device *dev,
                                            const struct ceil_demo_ceilings_options *o,
                                            struct ceil_error *err)
{
	const struct ceil_meter_options options = {.seed = o->seed, .gpu = o->gpu};
	struct work w = {.dev = dev, .all = c};
	enum ceil_status st;

	if (c->count == 0)
		return CEIL_OK;
	st = ceil_meter_open(dev, &options, &w.meter, err);
	for (size_t i = 0; i < c->count && st == CEIL_OK; i++) {
		w.ceiling = &c->v[i];
		o->begin(o->user, c->v[i].name);
		st = measure_one(&w, err);
	}
	ceil_meter_close(w.meter);
	return st;
}
