/* A run of gpuceil bench: its devices, its rows on their way into the files, and its end. */
#ifndef CEIL_SESSION_H
#define CEIL_SESSION_H

#include "harness/analysis/blend.h"
#include "harness/analysis/record.h"
#include "harness/analysis/twins.h"
#include "harness/cli/bench_options.h"
#include "harness/cli/info.h"
#include "harness/cli/inventory.h"
#include "harness/cli/monitor.h"
#include "harness/cli/ranks.h"
#include "harness/cli/rescue.h"
#include "harness/cli/screen.h"
#include "harness/cli/shapes.h"
#include "harness/device/team.h"
#include "harness/measure/campaign.h"
#include "harness/output/run.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A run; zeroed before it is used. */
struct ceil_session {
	const struct ceil_bench_options *o;
	struct ceil_inventory inv;
	struct ceil_lane lanes[CEIL_MAX_DEVICES];
	size_t lane_count;
	struct ceil_ranks ranks;      /* of an MPI run */
	struct ceil_rescue rescue;    /* of its files */
	struct ceil_team_local *team; /* of the GPUs of this process, without MPI; or NULL */
	struct ceil_rank ways[CEIL_MAX_DEVICES]; /* by lane: its links */
	json_t *info;
	struct ceil_run *run; /* NULL: no file takes rows, in a dry run or a rank above 0 */
	struct ceil_screen screen;
	struct ceil_monitor monitor;
	struct ceil_record *ceilings; /* for the table at the end */
	size_t ceiling_count, ceiling_cap;
	const struct ceil_shapes *shapes; /* of the user's; empty: none */
	struct ceil_blend blends[CEIL_MAX_DEVICES][CEIL_REGIME_COUNT]; /* of them, by lane */
	struct ceil_twins twins;
	bool bad;                /* a row makes the exit status 1 */
	struct ceil_error first; /* the first failure to write; measuring goes on */
};

/* ---- session.c: for the command */

/* ceil_session_look - who else runs with --mpi, and which devices there are. */
CEIL_MUST_CHECK enum ceil_status ceil_session_look(struct ceil_session *s,
                                                   const struct ceil_inventory_options *wanted,
                                                   struct ceil_error *err);

/*
 * ceil_session_run - measures, writes the files, prints the table and every error.
 * Return: the exit status. It does not come back when a device hangs: the files are written, then
 * _exit.
 */
int ceil_session_run(struct ceil_session *s, const struct ceil_filter *f,
                     const struct ceil_run_setup *setup, struct ceil_error *err);

/* ceil_session_fail - tells the error, once for all ranks. Return: the exit status. */
int ceil_session_fail(const struct ceil_session *s, const struct ceil_error *err);

/* ceil_session_close - devices, inventory and all else that the session holds; not s itself. */
void ceil_session_close(struct ceil_session *s);

/* ---- session_lanes.c: devices and plans */

/*
 * ceil_session_open_lanes - opens the devices of s->inv and fits their plans to the budget. A
 * device that cannot be opened is told on stderr; it has rows that say why, as a busy one has.
 */
CEIL_MUST_CHECK enum ceil_status ceil_session_open_lanes(struct ceil_session *s,
                                                         const struct ceil_filter *f,
                                                         struct ceil_error *err);
void ceil_session_close_lanes(struct ceil_session *s);

/* ceil_session_rows_of_missing - the rows of backends that give no device. */
CEIL_MUST_CHECK enum ceil_status ceil_session_rows_of_missing(struct ceil_session *s,
                                                              const struct ceil_filter *f,
                                                              struct ceil_error *err);

/* Whether a lane is a GPU's. */
bool ceil_session_has_gpu(const struct ceil_session *s);

/* ceil_session_host_s - seconds for all parts of the host together: a GPU node does not wait long
 * for its CPUs. */
double ceil_session_host_s(const struct ceil_session *s);

/* ---- session_rows.c: rows on their way into the files */

/* ceil_session_events - what a campaign calls. */
struct ceil_events ceil_session_events(struct ceil_session *s);

/* ceil_session_on_row - takes in a row of another rank, at rank 0; user is the session. */
void ceil_session_on_row(void *user, const struct ceil_record *r, bool is_ceiling,
                         const struct ceil_sample_row *samples, size_t count);

/* ceil_session_keep_blends - the rows of the user's whole list of shapes, behind the shapes'. */
void ceil_session_keep_blends(struct ceil_session *s);

/* ceil_session_keep_peaks - a row for each peak that is far from its datasheet. */
void ceil_session_keep_peaks(struct ceil_session *s);

/* ceil_session_keep_ridges - the rows of where the roofs of each device meet. */
void ceil_session_keep_ridges(struct ceil_session *s);

/* ceil_session_note - keeps the first failure to write; measuring goes on. */
void ceil_session_note(struct ceil_session *s, enum ceil_status st, const struct ceil_error *err);

#endif
