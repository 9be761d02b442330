/* What the files of `gpuceil demo` share: the show, what is seen of it, and where it is kept. */
#ifndef CEIL_DEMO_H
#define CEIL_DEMO_H

#include "harness/analysis/usage.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/measure/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A scenario, or one point of its sweep. */
struct ceil_demo_point {
	const struct ceil_scenario *sc; /* NULL: of a recording, and unknown here */
	size_t value;
	char name[48];
};

struct ceil_demo_points {
	struct ceil_demo_point *v; /* free it */
	size_t count, cap;
};

/*
 * ceil_demo_choose - the points to play: the tour, all scenarios with their sweeps, or those named
 * ("sms" is the whole sweep, "sms.4" one point of it), in the order of the table.
 * Return: CEIL_E_USAGE with the nearest name; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_choose(const struct ceil_list *names, bool all,
                                                  struct ceil_demo_points *ret_points,
                                                  struct ceil_error *err);

/* ---- the show: live, or a recording */

struct ceil_show {
	bool replay;
	const char *what; /* "live", "replay" */
	struct ceil_demo_points points;

	/* next - a row that is due by now. Return: false if there is none at the moment. */
	bool (*next)(struct ceil_show *show, struct ceil_usage_row *ret_row);
	/* ended - no row will come any more. */
	bool (*ended)(struct ceil_show *show);
	/* choose - goes step points on or back. */
	void (*choose)(struct ceil_show *show, int step);
	/* hold - stays at what plays now: live it plays on, a recording stands still. */
	void (*hold)(struct ceil_show *show, bool on);
	/* say - what goes on before a scenario plays: "measuring gemm.bf16.sustained"; or "". */
	void (*say)(struct ceil_show *show, char *ret_text, size_t size);
	/* notes - what is missing, and why, in lines; known when the first scenario plays. */
	void (*notes)(struct ceil_show *show, char *ret_text, size_t size);
	/*
	 * close - ends the show and frees it.
	 * Return: how it went. CEIL_E_TIMEOUT: the GPU does not answer, and the process can only
	 * leave by _exit.
	 */
	enum ceil_status (*close)(struct ceil_show *show, struct ceil_error *err);
};

struct ceil_demo_live_options {
	struct ceil_list gpus; /* the first that fits */
	bool busy_run;         /* although someone else works on it */
	uint64_t duration_ns, sweep_ns, seed;
};

/*
 * ceil_demo_live - begins to play on a GPU: its thread opens it, measures the ceilings that the
 * points stand beside, and plays point by point. points go to the show.
 * Return: CEIL_E_UNSUPPORTED with the reason if there is no GPU, CEIL_E_DEVICE if it is broken or
 * busy; CEIL_E_USAGE for a GPU that is not there; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_live(const struct ceil_demo_live_options *o,
                                                struct ceil_demo_points *points,
                                                struct ceil_show **ret_show,
                                                struct ceil_error *err);

/*
 * ceil_demo_replay - shows a recording, speed times as fast: the scenarios in names; without any,
 * its tour if all of that is in it and the rest is not asked for by all, else everything.
 * Return: CEIL_E_IO if it cannot be read; CEIL_E_USAGE with the line if it is none of ours, or of a
 * newer format. One that is cut short plays as far as it goes, and the notes say so.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_replay(const char *path, double speed,
                                                  const struct ceil_list *names, bool all,
                                                  struct ceil_show **ret_show,
                                                  struct ceil_error *err);

/* ---- what is seen */

/* A figure with a bar. */
struct ceil_demo_meter {
	const char *label, *unit;
	double (*ratio)(const struct ceil_usage_row *row); /* 0 to 1; NAN unknown */
	double (*value)(const struct ceil_usage_row *row); /* beside the bar in unit; or NULL */
};
enum { CEIL_DEMO_METERS = 7, CEIL_DEMO_HISTORY = 256 };
extern const struct ceil_demo_meter ceil_demo_meters[CEIL_DEMO_METERS];

struct ceil_demo_view {
	struct ceil_usage_row *rows; /* of what plays now */
	size_t row_count, row_cap;
	struct ceil_usage_row last;              /* the newest tick */
	bool playing;                            /* last is there, of the scenario that plays */
	const struct ceil_verdict_rule *verdict; /* of its steady rows so far; NULL: none yet */
	double history[CEIL_DEMO_METERS][CEIL_DEMO_HISTORY];
	size_t history_count; /* ticks of this scenario; the newest at (count - 1) % size */
	struct ceil_usage *done;
	size_t done_count, done_cap;
};

/*
 * ceil_demo_view_add - takes a row.
 * @ret_finished: a scenario ended with it: view->done has a new last one.
 * Return: CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_view_add(struct ceil_demo_view *view,
                                                    const struct ceil_usage_row *row,
                                                    bool *ret_finished, struct ceil_error *err);
/* ceil_demo_view_end - a scenario that had no end row ends. */
CEIL_MUST_CHECK enum ceil_status ceil_demo_view_end(struct ceil_demo_view *view, bool *ret_finished,
                                                    struct ceil_error *err);
void ceil_demo_view_done(struct ceil_demo_view *view);

/* ceil_demo_words - "busy but idle": a name with blanks. */
void ceil_demo_words(const char *name, char *ret_text, size_t size);

/* ---- in lines, for logs and for who has no terminal */

struct ceil_demo_plain {
	FILE *f;
	char scenario[48];  /* whose head was printed */
	double printed_s;   /* scenario_s of the last line */
	bool owner_printed; /* card, driver, date */
	char said[96];      /* what went on before the first scenario */
};
/* ceil_demo_plain_say - what goes on before a scenario plays, once each. */
void ceil_demo_plain_say(struct ceil_demo_plain *p, struct ceil_show *show);
void ceil_demo_plain_row(struct ceil_demo_plain *p, struct ceil_show *show,
                         const struct ceil_usage_row *row);
/* ceil_demo_plain_finished - the verdict under the lines of a scenario. */
void ceil_demo_plain_finished(struct ceil_demo_plain *p, const struct ceil_usage *u);
/* ceil_demo_table - a line a scenario, at the end. */
void ceil_demo_table(FILE *f, const struct ceil_demo_view *view);
/* ceil_demo_explain - a scenario at length. */
void ceil_demo_explain(FILE *f, const struct ceil_scenario *sc);
/* ceil_demo_list - names, titles and which are in the tour. */
void ceil_demo_list(FILE *f);

/* ---- on a terminal */

struct ceil_demo_screen;
/*
 * ceil_demo_screen_open - takes the terminal.
 * Return: CEIL_E_UNSUPPORTED if stdin or stdout is none, or TERM names none that can be drawn on.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_screen_open(struct ceil_demo_screen **ret_screen,
                                                       struct ceil_error *err);
void ceil_demo_screen_close(struct ceil_demo_screen *screen); /* NULL is a no-op */

enum ceil_demo_key {
	CEIL_KEY_NONE,
	CEIL_KEY_QUIT,
	CEIL_KEY_HOLD,
	CEIL_KEY_NEXT,
	CEIL_KEY_PREVIOUS
};
/* ceil_demo_screen_key - waits at most 50 ms for a key. */
enum ceil_demo_key ceil_demo_screen_key(struct ceil_demo_screen *screen);
/* ceil_demo_screen_draw - the view; only what changed is sent. */
void ceil_demo_screen_draw(struct ceil_demo_screen *screen, struct ceil_show *show,
                           const struct ceil_demo_view *view, bool held);

/* ---- in files */

struct ceil_demo_files;
/*
 * ceil_demo_files_open - the series into record, or both files into the folder output; either may
 * be NULL.
 * Return: CEIL_E_USAGE if a file is there already; CEIL_E_IO; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_files_open(const char *record, const char *output,
                                                      struct ceil_demo_files **ret_files,
                                                      struct ceil_error *err);
/* Both take NULL. Return: CEIL_E_IO once a file cannot be written. */
CEIL_MUST_CHECK enum ceil_status ceil_demo_files_row(struct ceil_demo_files *f,
                                                     const struct ceil_usage_row *row,
                                                     struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_demo_files_usage(struct ceil_demo_files *f,
                                                       const struct ceil_usage *u,
                                                       struct ceil_error *err);
/*
 * ceil_demo_files_close - completes the files, and draws the plots of the sweeps that are in them
 * where gnuplot is installed; its scripts stay beside the data.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_files_close(struct ceil_demo_files *f,
                                                       const struct ceil_demo_view *view,
                                                       struct ceil_error *err);

#endif
