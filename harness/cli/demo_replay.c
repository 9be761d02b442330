/* A recording as a show: its rows come when they came, or faster. */
#include "harness/cli/demo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/output/csv.h"
#include "harness/output/file.h"

/* Between two scenarios the GPU was set up: nothing to see, so a replay waits no longer. */
#define LONGEST_GAP_S 0.5

struct replay {
	struct ceil_show show;
	struct ceil_usage_row *rows;
	double *at_s; /* of each row in the show */
	size_t count, cap, next;
	double speed;
	double offset_s; /* show time = (now - base) * speed + offset */
	uint64_t base_ns;
	bool held;
	const struct ceil_list *names; /* while reading: which scenarios; empty: all */
	char notes[512];
};

static struct replay *replay_of(struct ceil_show *show)
{
	return (struct replay *)show;
}

/* ---- reading */

static bool is_wanted(const struct ceil_list *names, const char *name)
{
	const size_t base = strcspn(name, ".");

	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->item[i], name) == 0)
			return true;
		if (strlen(names->item[i]) == base && strncmp(names->item[i], name, base) == 0)
			return true;
	}
	return names->count == 0;
}

/* What a strict reader of columns does not see. */
static enum ceil_status check_row(const struct replay *r, const struct ceil_usage_row *row,
                                  size_t line, struct ceil_error *err)
{
	if (row->format_version != 1)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "line %zu: format_version %llu; this program reads 1", line,
		                 (unsigned long long)row->format_version);
	if (!*row->scenario || isnan(row->seconds) || row->seconds < 0)
		return ceil_fail(err, CEIL_E_USAGE, "line %zu: no scenario or no time", line);
	if (r->count && row->seconds < r->rows[r->count - 1].seconds)
		return ceil_fail(err, CEIL_E_USAGE, "line %zu: the time goes back", line);
	return CEIL_OK;
}

static enum ceil_status take_row(void *user, const void *row, size_t line, struct ceil_error *err)
{
	struct replay *r = user;
	const struct ceil_usage_row *in = row;
	void *v = r->rows;
	enum ceil_status st = check_row(r, in, line, err);

	if (st != CEIL_OK || !is_wanted(r->names, in->scenario))
		return st;
	st = ceil_grow(&v, &r->cap, r->count + 1, sizeof(*r->rows), err);
	if (st != CEIL_OK)
		return st;
	r->rows = v;
	r->rows[r->count++] = *in;
	return CEIL_OK;
}

/* A line that is cut after whole ones means that the writer was: what is whole is shown. */
static enum ceil_status read_rows(struct replay *r, const char *path, struct ceil_error *err)
{
	static const char *const required[] = {"scenario", "event",          "seconds", "gpu_name",
	                                       "gpu_util", "format_version", NULL};
	const struct ceil_csv_rules rules = {.required = required};
	char shown[CEIL_SHOWN_PATH];
	const enum ceil_status st =
		ceil_csv_read(path, &ceil_usage_series_table, &rules, take_row, r, err);

	ceil_shown_path(shown, sizeof(shown), path);
	if (st == CEIL_OK && r->count == 0)
		return ceil_fail(err, CEIL_E_USAGE, "%s: no rows%s", shown,
		                 r->names->count ? " of these scenarios" : "");
	if (st == CEIL_E_USAGE && r->count == 0)
		return ceil_context(err, "no recording of gpuceil demo");
	if (st == CEIL_E_USAGE) {
		(void)snprintf(r->notes, sizeof(r->notes),
		               "the recording is cut short: %s; what is before it is shown\n",
		               err->text);
		return CEIL_OK;
	}
	return st;
}

/* ---- the tour in a recording of more */

static bool is_tour(const struct ceil_usage_row *row)
{
	const struct ceil_scenario *sc = ceil_usage_scenario(row->scenario);

	return sc && sc->tour;
}

static bool has_scenario(const struct replay *r, const char *name)
{
	size_t i = 0;

	while (i < r->count && strcmp(r->rows[i].scenario, name) != 0)
		i++;
	return i < r->count;
}

static bool has_whole_tour(const struct replay *r)
{
	for (size_t i = 0; i < ceil_scenario_count; i++) {
		if (ceil_scenarios[i].tour && !has_scenario(r, ceil_scenarios[i].name))
			return false;
	}
	return true;
}

/* A recording of everything is minutes of sweeps: as live, they are shown when they are asked for.
 */
static void keep_tour(struct replay *r)
{
	size_t kept = 0, points = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (is_tour(&r->rows[i]))
			r->rows[kept++] = r->rows[i];
		else
			points += i == 0 || strcmp(r->rows[i].scenario, r->rows[i - 1].scenario);
	}
	r->count = kept;
	if (points)
		ceil_append(r->notes, sizeof(r->notes),
		            "%zu more scenarios and points of sweeps are in the recording: --all "
		            "shows them\n",
		            points);
}

/* ---- the order of the show */

static enum ceil_status add_point(struct ceil_demo_points *p, const char *name,
                                  struct ceil_error *err)
{
	void *v = p->v;
	const enum ceil_status st = ceil_grow(&v, &p->cap, p->count + 1, sizeof(*p->v), err);

	if (st != CEIL_OK)
		return st;
	p->v = v;
	p->v[p->count] = (struct ceil_demo_point){.sc = ceil_usage_scenario(name)};
	ceil_copy(p->v[p->count++].name, sizeof(p->v[0].name), name);
	return CEIL_OK;
}

static enum ceil_status arrange(struct replay *r, struct ceil_error *err)
{
	double at_s = 0;
	enum ceil_status st = CEIL_OK;

	r->at_s = ceil_alloc(r->count, sizeof(*r->at_s), err);
	if (!r->at_s)
		return CEIL_E_NOMEM;
	for (size_t i = 0; i < r->count && st == CEIL_OK; i++) {
		if (i > 0)
			at_s += fmin(r->rows[i].seconds - r->rows[i - 1].seconds, LONGEST_GAP_S);
		r->at_s[i] = at_s;
		if (i == 0 || strcmp(r->rows[i].scenario, r->rows[i - 1].scenario) != 0)
			st = add_point(&r->show.points, r->rows[i].scenario, err);
	}
	return st;
}

/* ---- the show */

static double show_s(const struct replay *r)
{
	if (r->held)
		return r->offset_s;
	return r->offset_s +
	       r->speed * (double)(ceil_now_ns() - r->base_ns) / (double)CEIL_NS_PER_S;
}

static void go_to(struct replay *r, double at_s)
{
	r->offset_s = at_s;
	r->base_ns = ceil_now_ns();
}

static bool replay_next(struct ceil_show *show, struct ceil_usage_row *ret_row)
{
	struct replay *r = replay_of(show);

	if (r->next >= r->count || r->at_s[r->next] > show_s(r))
		return false;
	*ret_row = r->rows[r->next++];
	return true;
}

static bool replay_ended(struct ceil_show *show)
{
	const struct replay *r = replay_of(show);

	return r->next >= r->count && !r->held;
}

/* First row of the scenario in which row i is. */
static size_t begin_of(const struct replay *r, size_t i)
{
	while (i > 0 && strcmp(r->rows[i - 1].scenario, r->rows[i].scenario) == 0)
		i--;
	return i;
}

static void replay_choose(struct ceil_show *show, int step)
{
	struct replay *r = replay_of(show);
	size_t i = r->next > 0 ? r->next - 1 : 0;

	if (step < 0) {
		i = begin_of(r, i);
		i = i > 0 ? begin_of(r, i - 1) : 0;
	} else {
		while (i + 1 < r->count &&
		       strcmp(r->rows[i].scenario, r->rows[i + 1].scenario) == 0)
			i++;
		i++;
	}
	r->next = i;
	if (i < r->count)
		go_to(r, r->at_s[i]);
}

static void replay_hold(struct ceil_show *show, bool on)
{
	struct replay *r = replay_of(show);

	go_to(r, show_s(r));
	r->held = on;
}

static void replay_say(struct ceil_show *show, char *ret_text, size_t size)
{
	(void)show;
	ceil_copy(ret_text, size, "");
}

static void replay_notes(struct ceil_show *show, char *ret_text, size_t size)
{
	ceil_copy(ret_text, size, replay_of(show)->notes);
}

static enum ceil_status replay_close(struct ceil_show *show, struct ceil_error *err)
{
	struct replay *r = replay_of(show);

	(void)err;
	free(r->rows);
	free(r->at_s);
	free(r->show.points.v);
	free(r);
	return CEIL_OK;
}

static const struct ceil_show methods = {
	.replay = true,
	.what = "REPLAY",
	.next = replay_next,
	.ended = replay_ended,
	.choose = replay_choose,
	.hold = replay_hold,
	.say = replay_say,
	.notes = replay_notes,
	.close = replay_close,
};

enum ceil_status ceil_demo_replay(const char *path, double speed, const struct ceil_list *names,
                                  bool all, struct ceil_show **ret_show, struct ceil_error *err)
{
	struct replay *r = ceil_alloc(1, sizeof(*r), err);
	enum ceil_status st;

	if (!r)
		return CEIL_E_NOMEM;
	r->show = methods;
	r->speed = speed;
	r->names = names;
	st = read_rows(r, path, err);
	if (st == CEIL_OK && names->count == 0 && !all && has_whole_tour(r))
		keep_tour(r);
	if (st == CEIL_OK)
		st = arrange(r, err);
	if (st != CEIL_OK) {
		(void)replay_close(&r->show, /* err= */ NULL);
		return st;
	}
	go_to(r, 0);
	*ret_show = &r->show;
	return CEIL_OK;
}
