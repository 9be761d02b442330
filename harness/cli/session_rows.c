/* Rows of a run on their way into the files: from a campaign, from other ranks, from lists. */
#include "harness/cli/session.h"

#include "harness/analysis/peak_row.h"
#include "harness/analysis/roofs.h"
#include "harness/base/alloc.h"

#include <stdlib.h>
#include <string.h>

void ceil_session_note(struct ceil_session *s, enum ceil_status st, const struct ceil_error *err)
{
	if (st != CEIL_OK && s->first.status == CEIL_OK)
		s->first = *err;
}

/* A file that cannot be written costs the file: the table at the end still has the row. */
static void keep(struct ceil_session *s, struct ceil_record *r, bool is_ceiling)
{
	struct ceil_error err = {CEIL_OK, ""};
	void *v = s->ceilings;
	enum ceil_status st;

	s->bad |= ceil_record_bad(r);
	if (!ceil_ranks_leads(&s->ranks)) {
		st = ceil_ranks_send(&s->ranks, r, is_ceiling, /* samples= */ NULL, /* count= */ 0,
		                     &err);
		ceil_session_note(s, st, &err);
		return;
	}
	r->of_issue = ceil_roofs_issue(r, s->ceilings, s->ceiling_count);
	ceil_session_note(s, ceil_run_add(s->run, r, is_ceiling, &err), &err);
	if (!is_ceiling)
		return;
	st = ceil_grow(&v, &s->ceiling_cap, s->ceiling_count + 1, sizeof(*r), &err);
	ceil_session_note(s, st, &err);
	if (st != CEIL_OK)
		return;
	s->ceilings = v;
	s->ceilings[s->ceiling_count++] = *r;
}

/* Of another rank, at rank 0. */
void ceil_session_on_row(void *user, const struct ceil_record *r, bool is_ceiling,
                         const struct ceil_sample_row *samples, size_t count)
{
	struct ceil_session *s = user;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_record own = *r;

	keep(s, &own, is_ceiling);
	ceil_session_note(s, ceil_run_add_sample_rows(s->run, samples, count, &err), &err);
}

static void send_outcome(struct ceil_session *s, const struct ceil_record *r,
                         const struct ceil_outcome *o, bool is_ceiling)
{
	const size_t count = o->series.count;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_sample_row *rows = ceil_alloc(count + 1, sizeof(*rows), &err);
	enum ceil_status st = rows ? CEIL_OK : CEIL_E_NOMEM;

	for (size_t i = 0; rows && i < count; i++)
		ceil_sample_row_of(&rows[i], r, &o->series.v[i], i);
	if (st == CEIL_OK)
		st = ceil_ranks_send(&s->ranks, r, is_ceiling, rows, count, &err);
	ceil_session_note(s, st, &err);
	s->bad |= ceil_record_bad(r);
	free(rows);
}

/* What a team measures has the ranks of the team; all else is of this process. */
static void number_rank(const struct ceil_session *s, const struct ceil_point *p,
                        struct ceil_record *r)
{
	if (!s->ranks.mpi || p->bench->team)
		return;
	r->rank = s->ranks.mpi->world.rank;
	r->ranks = s->ranks.mpi->world.size;
}

/* A shape's ceiling counts in its device's list, once per pattern that is the variant's own. */
static void blend(struct ceil_session *s, const struct ceil_device *dev, const struct ceil_point *p,
                  const struct ceil_record *r)
{
	const uint64_t count = ceil_shapes_count(s->shapes, p);

	for (size_t i = 0; i < s->lane_count && count && p->pattern == p->variant->pattern; i++) {
		if (s->lanes[i].dev == dev)
			ceil_blend_add(&s->blends[i][p->regime], r, count);
	}
}

/* The rows of the whole list, behind those of its shapes. */
void ceil_session_keep_blends(struct ceil_session *s)
{
	for (size_t i = 0; i < s->lane_count && s->o->shapes; i++) {
		for (int g = 0; g < CEIL_REGIME_COUNT; g++) {
			const struct ceil_blend *b = &s->blends[i][g];
			struct ceil_record r;

			if (b->shapes + b->missing == 0)
				continue;
			ceil_blend_record(b, s->o->shapes, &r);
			keep(s, &r, /* is_ceiling= */ true);
		}
	}
}

/* Peaks that attributes and datasheet disagree about: files have them, the table is of what was
 * measured. */
void ceil_session_keep_peaks(struct ceil_session *s)
{
	struct ceil_record rows[CEIL_PEAK_ROWS];
	struct ceil_error err = {CEIL_OK, ""};

	for (size_t i = 0; i < s->lane_count; i++) {
		const struct ceil_lane *lane = &s->lanes[i];
		const size_t count = ceil_peak_rows(&lane->plan, &lane->dev->props, rows);

		for (size_t k = 0; k < count; k++)
			ceil_session_note(
				s, ceil_run_add(s->run, &rows[k], /* is_ceiling= */ true, &err),
				&err);
	}
}

/* Whether no row before i is of the same device and rank. */
static bool first_of_device(const struct ceil_session *s, size_t i)
{
	const struct ceil_record *r = &s->ceilings[i];

	for (size_t k = 0; k < i; k++) {
		const struct ceil_record *q = &s->ceilings[k];

		if (strcmp(q->host, r->host) == 0 && strcmp(q->device, r->device) == 0 &&
		    q->rank == r->rank)
			return false;
	}
	return true;
}

/* Where roofs meet: files have it, the table is of what was measured. */
void ceil_session_keep_ridges(struct ceil_session *s)
{
	struct ceil_record rows[CEIL_ROOFS_RIDGES];
	struct ceil_error err = {CEIL_OK, ""};

	for (size_t i = 0; i < s->ceiling_count; i++) {
		size_t count = 0;

		if (first_of_device(s, i))
			count = ceil_roofs_ridges(&s->ceilings[i], s->ceilings, s->ceiling_count,
			                          rows);
		for (size_t k = 0; k < count; k++)
			ceil_session_note(
				s, ceil_run_add(s->run, &rows[k], /* is_ceiling= */ true, &err),
				&err);
	}
}

static void on_outcome(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
                       const char *role, bool is_ceiling)
{
	struct ceil_session *s = user;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_record r;

	ceil_record_fill(&r, o, &dev->props, role);
	number_rank(s, &o->point, &r);
	ceil_screen_row(&s->screen, dev->props.label, o);
	ceil_session_note(s, ceil_twins_judge(&s->twins, &r, &err), &err);
	if (is_ceiling)
		blend(s, dev, &o->point, &r);
	if (!ceil_ranks_leads(&s->ranks)) {
		send_outcome(s, &r, o, is_ceiling);
		return;
	}
	keep(s, &r, is_ceiling);
	ceil_session_note(s, ceil_run_add_samples(s->run, &r, o, &err), &err);
	ceil_ranks_receive(&s->ranks);
}

static void on_absent(void *user, const struct ceil_device_props *props, const struct ceil_point *p,
                      enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	struct ceil_session *s = user;
	struct ceil_record r;

	ceil_record_absent(&r, p, props, status, reason);
	number_rank(s, p, &r);
	keep(s, &r, is_ceiling);
	for (size_t i = 0; i < s->lane_count && is_ceiling; i++) {
		if (&s->lanes[i].dev->props == props)
			blend(s, s->lanes[i].dev, p, &r);
	}
}

static void on_progress(void *user, const struct ceil_device *dev,
                        const struct ceil_outcome *so_far, const struct ceil_progress *p)
{
	struct ceil_session *s = user;

	ceil_screen_progress(&s->screen, dev, so_far, p);
	ceil_ranks_receive(&s->ranks);
}

struct ceil_events ceil_session_events(struct ceil_session *s)
{
	return (struct ceil_events){s, on_outcome, on_absent, on_progress};
}
