/* What is seen of a show: the newest figures, their short history, and the means at the end. */
#include "harness/cli/demo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"

/* ---- meters */

static double util(const struct ceil_usage_row *r)
{
	return r->gpu_util;
}

static double first_known(double a, double b)
{
	return isnan(a) ? b : a;
}

static double sm_active(const struct ceil_usage_row *r)
{
	return first_known(r->sm_active, r->pm_sm_active);
}

static double occupancy(const struct ceil_usage_row *r)
{
	return first_known(r->sm_occupancy, r->pm_sm_occupancy);
}

static double tensor(const struct ceil_usage_row *r)
{
	return first_known(r->tensor_active, r->pm_tensor_active);
}

static double dram(const struct ceil_usage_row *r)
{
	return first_known(r->dram_active, r->pm_dram_active);
}

/* No work at all is 0 of any ceiling. */
static double of_ceiling(double rate, double ceiling)
{
	return rate == 0 ? 0 : rate / ceiling;
}

static double flops_ratio(const struct ceil_usage_row *r)
{
	return of_ceiling(r->tflops, r->tflops_ceiling);
}

static double bytes_ratio(const struct ceil_usage_row *r)
{
	return of_ceiling(r->gb_s, r->gb_s_ceiling);
}

static double tflops(const struct ceil_usage_row *r)
{
	return r->tflops;
}

static double gb_s(const struct ceil_usage_row *r)
{
	return r->gb_s;
}

const struct ceil_demo_meter ceil_demo_meters[CEIL_DEMO_METERS] = {
	{"GPU-Util", "", util, NULL},
	{"SM active", "", sm_active, NULL},
	{"occupancy", "", occupancy, NULL},
	{"tensor", "", tensor, NULL},
	{"dram", "", dram, NULL},
	{"of FLOP/s", "TFLOP/s", flops_ratio, tflops},
	{"of GB/s", "GB/s", bytes_ratio, gb_s},
};

void ceil_demo_words(const char *name, char *ret_text, size_t size)
{
	ceil_copy(ret_text, size, name);
	for (char *c = ret_text; *c; c++)
		*c = *c == '_' ? ' ' : *c;
}

/* ---- rows */

static enum ceil_status finish(struct ceil_demo_view *view, struct ceil_error *err)
{
	void *v = view->done;
	const enum ceil_status st =
		ceil_grow(&v, &view->done_cap, view->done_count + 1, sizeof(*view->done), err);

	if (st != CEIL_OK)
		return st;
	view->done = v;
	ceil_usage_of(view->rows, view->row_count, ceil_usage_scenario(view->rows[0].scenario),
	              &view->done[view->done_count++]);
	view->row_count = 0;
	view->history_count = 0;
	view->playing = false;
	view->verdict = NULL;
	return CEIL_OK;
}

/* What the figures say so far. */
static void judge(struct ceil_demo_view *view)
{
	struct ceil_usage u;

	ceil_usage_of(view->rows, view->row_count, /* sc= */ NULL, &u);
	view->verdict = ceil_verdict_find(u.verdict);
}

static void remember(struct ceil_demo_view *view, const struct ceil_usage_row *row)
{
	view->last = *row;
	view->playing = true;
	for (int i = 0; i < CEIL_DEMO_METERS; i++)
		view->history[i][view->history_count % CEIL_DEMO_HISTORY] =
			ceil_demo_meters[i].ratio(row);
	view->history_count++;
}

enum ceil_status ceil_demo_view_end(struct ceil_demo_view *view, bool *ret_finished,
                                    struct ceil_error *err)
{
	*ret_finished = view->row_count > 0;
	return view->row_count > 0 ? finish(view, err) : CEIL_OK;
}

enum ceil_status ceil_demo_view_add(struct ceil_demo_view *view, const struct ceil_usage_row *row,
                                    bool *ret_finished, struct ceil_error *err)
{
	const bool end = strcmp(row->event, CEIL_USAGE_END) == 0;
	enum ceil_status st = CEIL_OK;
	void *v;

	*ret_finished = false;
	/* A recording may go on with another scenario without an end row: it was cut. */
	if (view->row_count && strcmp(view->rows[0].scenario, row->scenario) != 0)
		st = ceil_demo_view_end(view, ret_finished, err);
	v = view->rows;
	if (st == CEIL_OK)
		st = ceil_grow(&v, &view->row_cap, view->row_count + 1, sizeof(*row), err);
	if (st != CEIL_OK)
		return st;
	view->rows = v;
	view->rows[view->row_count++] = *row;
	if (!end) {
		remember(view, row);
		if (row->steady == 1)
			judge(view);
		return CEIL_OK;
	}
	*ret_finished = true;
	return finish(view, err);
}

void ceil_demo_view_done(struct ceil_demo_view *view)
{
	free(view->rows);
	free(view->done);
	*view = (struct ceil_demo_view){0};
}

/* ---- which points */

static enum ceil_status add_point(struct ceil_demo_points *p, const struct ceil_scenario *sc,
                                  size_t value, struct ceil_error *err)
{
	void *v = p->v;
	const enum ceil_status st = ceil_grow(&v, &p->cap, p->count + 1, sizeof(*p->v), err);
	struct ceil_demo_point *at;

	if (st != CEIL_OK)
		return st;
	p->v = v;
	at = &p->v[p->count++];
	*at = (struct ceil_demo_point){.sc = sc, .value = value};
	ceil_scenario_point_name(sc, value, at->name, sizeof(at->name));
	return CEIL_OK;
}

static bool names_point(const struct ceil_list *names, const struct ceil_scenario *sc, size_t value)
{
	char point[48];

	ceil_scenario_point_name(sc, value, point, sizeof(point));
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->item[i], sc->name) == 0 || strcmp(names->item[i], point) == 0)
			return true;
	}
	return false;
}

static size_t points_of(const struct ceil_scenario *sc)
{
	return sc->values ? sc->value_count : 1;
}

/* Whether a name is a scenario or a point of one. */
static bool is_name(const char *name)
{
	for (size_t i = 0; i < ceil_scenario_count; i++) {
		const struct ceil_scenario *sc = &ceil_scenarios[i];
		char point[48];

		if (strcmp(sc->name, name) == 0)
			return true;
		for (size_t v = 0; v < points_of(sc); v++) {
			ceil_scenario_point_name(sc, v, point, sizeof(point));
			if (strcmp(point, name) == 0)
				return true;
		}
	}
	return false;
}

static enum ceil_status check_names(const struct ceil_list *names, struct ceil_error *err)
{
	const char *known[64] = {NULL};

	for (size_t i = 0; i < ceil_scenario_count && i < 63; i++)
		known[i] = ceil_scenarios[i].name;
	for (size_t i = 0; i < names->count; i++) {
		const char *near;

		if (is_name(names->item[i]))
			continue;
		near = ceil_suggest(names->item[i], known);
		return ceil_fail(err, CEIL_E_USAGE,
		                 "unknown scenario '%s'%s%s%s; `gpuceil demo --list` shows all",
		                 names->item[i], near ? ": did you mean '" : "", near ? near : "",
		                 near ? "'?" : "");
	}
	return CEIL_OK;
}

enum ceil_status ceil_demo_choose(const struct ceil_list *names, bool all,
                                  struct ceil_demo_points *ret_points, struct ceil_error *err)
{
	struct ceil_demo_points p = {0};
	enum ceil_status st = check_names(names, err);

	for (size_t i = 0; i < ceil_scenario_count; i++) {
		const struct ceil_scenario *sc = &ceil_scenarios[i];

		for (size_t v = 0; v < points_of(sc) && st == CEIL_OK; v++) {
			if (names->count ? names_point(names, sc, v) : all || sc->tour)
				st = add_point(&p, sc, v, err);
		}
	}
	if (st != CEIL_OK) {
		free(p.v);
		return st;
	}
	*ret_points = p;
	return CEIL_OK;
}
