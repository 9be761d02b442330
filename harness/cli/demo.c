/* gpuceil demo: GPU-Util beside what a GPU really does, live or from a recording. */
#include "harness/cli/demo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/cli/commands.h"

/* GPU-Util is a mean over up to a second: 5 s show it settled, a point of a sweep is half. */
#define DURATION_NS (5 * (uint64_t)CEIL_NS_PER_S)
#define SWEEP_NS    UINT64_C(2500000000)
#define SHORTEST_NS (500 * (uint64_t)CEIL_NS_PER_MS)
#define DRAW_NS     (100 * (uint64_t)CEIL_NS_PER_MS)
#define POLL_NS     (20 * (uint64_t)CEIL_NS_PER_MS)

struct options {
	struct ceil_list scenarios, gpus;
	bool all, plain, list;
	uint64_t duration_ns, seed;
	unsigned busy;
	const char *explain, *record, *output, *replay, *else_replay;
	double speed;
};

static const char *const busy_names[] = {"fail", "run", NULL};

#define OPTION(member, name, type, argument, group, choices, doc)                                  \
	CEIL_OPTION(struct options, member, name, type, argument, group, choices, doc)

static const struct ceil_option option_rows[] = {
	OPTION(scenarios, "scenario", CEIL_O_LIST, "LIST", "What to show", NULL,
               "only these scenarios; of a sweep all points, or one: sms.4; default the tour"),
	OPTION(all, "all", CEIL_O_FLAG, NULL, "What to show", NULL,
               "every scenario with its sweep, in four minutes; of a recording everything"),
	OPTION(duration_ns, "duration", CEIL_O_DURATION, "TIME", "What to show", NULL,
               "of each scenario; points of sweeps take half; default 5s"),
	OPTION(list, "list", CEIL_O_FLAG, NULL, "What to show", NULL, "names the scenarios"),
	OPTION(explain, "explain", CEIL_O_TEXT, "NAME", "What to show", NULL,
               "teaches a scenario at length"),
	OPTION(plain, "plain", CEIL_O_FLAG, NULL, "How", NULL,
               "a line a second instead of a screen; so it is without a terminal"),
	OPTION(gpus, "gpu", CEIL_O_LIST, "LIST", "How", NULL,
               "nvidia-smi's index or a UUID; default the first"),
	OPTION(busy, "busy", CEIL_O_CHOICE, "WHAT", "How", busy_names,
               "what to do when someone else works on the GPU; default fail"),
	OPTION(seed, "seed", CEIL_O_U64, "N", "How", NULL, "of the random data; default 1"),
	OPTION(output, "output", CEIL_O_TEXT, "DIR", "Recordings", NULL,
               "folder for utilization.csv, utilization-series.csv and plots of sweeps"),
	OPTION(record, "record", CEIL_O_TEXT, "FILE", "Recordings", NULL,
               "writes the series, which --replay reads"),
	OPTION(replay, "replay", CEIL_O_TEXT, "FILE", "Recordings", NULL,
               "shows a recording; needs no GPU"),
	OPTION(else_replay, "else-replay", CEIL_O_TEXT, "FILE", "Recordings", NULL,
               "shows a recording where no GPU can be used"),
	OPTION(speed, "speed", CEIL_O_DOUBLE, "N", "Recordings", NULL,
               "so many times as fast; default 1"),
};

static int run_demo(int argc, char **argv);

const struct ceil_command ceil_command_demo = {
	.name = "demo",
	.arguments = "",
	.summary = "shows that GPU-Util at 100 % may mean nothing, live or from a recording",
	.doc = "Keeps a GPU busy in twelve ways and shows GPU-Util beside what the GPU really\n"
	       "does: multiprocessors in use, tensor cores, memory, and the achieved rate over\n"
	       "the ceiling measured on this card. Counters come from NVML, GPM and CUPTI; what\n"
	       "cannot be had here is told and left empty.\n"
	       "On a terminal: q quits, space holds a scenario, arrows choose one.",
	.options = option_rows,
	.option_count = sizeof(option_rows) / sizeof(option_rows[0]),
	.examples =
		"gpuceil demo\tthe tour, in a minute and a half\n"
		"gpuceil demo --replay FILE.csv --speed 2\ta recording, without a GPU\n"
		"gpuceil demo --scenario sms --output /tmp/d\tthe straight line, with its plot\n"
		"gpuceil demo --explain one_warp\tthe lesson at length\n",
	.run = run_demo,
};

/* ---- the main loop: rows to where they are seen and kept */

struct stage {
	const struct options *o;
	struct ceil_show *show;
	struct ceil_demo_view view;
	struct ceil_demo_plain plain;
	struct ceil_demo_screen *screen; /* NULL: plain lines */
	struct ceil_demo_files *files;
	bool held, bad;
	struct ceil_error err;
};

static enum ceil_status on_finished(struct stage *s)
{
	const struct ceil_usage *u = &s->view.done[s->view.done_count - 1];

	s->bad |= strcmp(u->status, "failed") == 0 && !s->show->replay;
	if (!s->screen)
		ceil_demo_plain_finished(&s->plain, u);
	return ceil_demo_files_usage(s->files, u, &s->err);
}

static enum ceil_status on_row(struct stage *s, const struct ceil_usage_row *row)
{
	bool finished = false;
	enum ceil_status st = ceil_demo_files_row(s->files, row, &s->err);

	if (st == CEIL_OK)
		st = ceil_demo_view_add(&s->view, row, &finished, &s->err);
	/* What ended before this row, and what ends with it. */
	if (st == CEIL_OK && !s->screen && !(finished && s->view.row_count > 0))
		ceil_demo_plain_row(&s->plain, s->show, row);
	if (st == CEIL_OK && finished)
		st = on_finished(s);
	if (st == CEIL_OK && !s->screen && finished && s->view.row_count > 0)
		ceil_demo_plain_row(&s->plain, s->show, row);
	return st;
}

/* Return: whether to go on. */
static bool on_key(struct stage *s, enum ceil_demo_key key)
{
	switch (key) {
	case CEIL_KEY_QUIT:
		return false;
	case CEIL_KEY_HOLD:
		s->held = !s->held;
		s->show->hold(s->show, s->held);
		return true;
	case CEIL_KEY_NEXT:
	case CEIL_KEY_PREVIOUS:
		s->show->choose(s->show, key == CEIL_KEY_NEXT ? 1 : -1);
		return true;
	default:
		return true;
	}
}

static enum ceil_status take_rows(struct stage *s)
{
	struct ceil_usage_row row;
	enum ceil_status st = CEIL_OK;

	while (st == CEIL_OK && s->show->next(s->show, &row))
		st = on_row(s, &row);
	return st;
}

static enum ceil_status watch(struct stage *s)
{
	uint64_t drawn_ns = 0;
	enum ceil_status st = CEIL_OK;
	bool go_on = true;

	while (go_on && st == CEIL_OK && !ceil_cancel_signal() && !s->show->ended(s->show)) {
		st = take_rows(s);
		if (!s->screen) {
			ceil_demo_plain_say(&s->plain, s->show);
			ceil_sleep_ns(POLL_NS);
			continue;
		}
		go_on = on_key(s, ceil_demo_screen_key(s->screen));
		if (ceil_now_ns() - drawn_ns < DRAW_NS)
			continue;
		drawn_ns = ceil_now_ns();
		ceil_demo_screen_draw(s->screen, s->show, &s->view, s->held);
	}
	return st;
}

/* ---- around it */

static void print_notes(struct stage *s)
{
	char notes[1024];

	if (!s->screen)
		return;
	s->show->notes(s->show, notes, sizeof(notes));
	fputs(notes, stdout);
}

/* After the screen is gone: what was seen, and where it is. */
static void print_end(struct stage *s)
{
	if (s->show->replay && s->screen && s->view.done_count > 0)
		printf("Replay of %s, driver %s, %s\n", s->view.done[0].gpu_name,
		       s->view.done[0].driver, s->view.done[0].recorded_utc);
	ceil_demo_table(stdout, &s->view);
	if (s->o->output)
		printf("\n%s/utilization.csv  (utilization-series.csv beside it)\n", s->o->output);
	if (s->o->record)
		printf("\n%s\n", s->o->record);
	fflush(stdout);
}

static void open_screen(struct stage *s)
{
	struct ceil_error err = {CEIL_OK, ""};

	if (s->o->plain || ceil_demo_screen_open(&s->screen, &err) == CEIL_OK)
		return;
	fprintf(stderr, "gpuceil: %s: plain lines instead\n", err.text);
}

/* Rows that came while the show was closed, and a scenario that was cut. */
static enum ceil_status end_view(struct stage *s)
{
	bool finished = false;
	enum ceil_status st = ceil_demo_view_end(&s->view, &finished, &s->err);

	return st == CEIL_OK && finished ? on_finished(s) : st;
}

static int exit_of(struct stage *s, enum ceil_status st)
{
	if (st == CEIL_OK && ceil_cancel_signal())
		st = ceil_fail(&s->err, CEIL_E_CANCELLED, "stopped by a signal");
	if (st != CEIL_OK)
		return ceil_cli_error(&s->err);
	return s->bad ? CEIL_EXIT_BAD : CEIL_EXIT_OK;
}

static int perform(struct stage *s)
{
	struct ceil_error later = {CEIL_OK, ""};
	enum ceil_status st, end, closed;
	int status;

	open_screen(s);
	st = watch(s);
	end = end_view(s);
	st = st == CEIL_OK ? end : st;
	ceil_demo_screen_close(s->screen);
	print_notes(s);
	print_end(s);
	closed = ceil_demo_files_close(s->files, &s->view, st == CEIL_OK ? &s->err : &later);
	st = st == CEIL_OK ? closed : st;
	ceil_demo_view_done(&s->view);
	end = s->show->close(s->show, st == CEIL_OK ? &s->err : &later);
	st = st == CEIL_OK ? end : st;
	status = exit_of(s, st);
	if (end != CEIL_E_TIMEOUT)
		return status;
	/* A kernel that hangs cannot be cancelled, and any further CUDA call would wait for it. */
	fflush(NULL);
	_exit(CEIL_EXIT_BAD);
}

static enum ceil_status open_live(const struct options *o, struct ceil_show **ret_show,
                                  struct ceil_error *err)
{
	const struct ceil_demo_live_options live = {
		.gpus = o->gpus,
		.busy_run = o->busy == 1,
		.duration_ns = o->duration_ns ? o->duration_ns : DURATION_NS,
		.sweep_ns = o->duration_ns ? o->duration_ns / 2 : SWEEP_NS,
		.seed = o->seed,
	};
	struct ceil_demo_points points = {0};
	enum ceil_status st = ceil_demo_choose(&o->scenarios, o->all, &points, err);

	if (st == CEIL_OK)
		st = ceil_demo_live(&live, &points, ret_show, err);
	free(points.v);
	return st;
}

static enum ceil_status open_show(const struct options *o, struct ceil_show **ret_show,
                                  struct ceil_error *err)
{
	struct ceil_error why = {CEIL_OK, ""};
	enum ceil_status st;

	if (o->replay)
		return ceil_demo_replay(o->replay, o->speed, &o->scenarios, o->all, ret_show, err);
	st = open_live(o, ret_show, &why);
	if (st == CEIL_OK)
		return st;
	if (st == CEIL_E_USAGE || st == CEIL_E_NOMEM)
		return ceil_fail(err, st, "%s", why.text);
	if (!o->else_replay)
		return ceil_fail(err, st, "%s; --replay FILE shows a recording", why.text);
	/* Files of this folder would hold another machine's figures. */
	if (o->record || o->output)
		return ceil_fail(err, CEIL_E_USAGE, "%s; a replay records nothing: leave out %s",
		                 why.text, o->record ? "--record" : "--output");
	fprintf(stderr, "gpuceil: %s\ngpuceil: replaying %s instead\n", why.text, o->else_replay);
	return ceil_demo_replay(o->else_replay, o->speed, &o->scenarios, o->all, ret_show, err);
}

/* What a recording cannot follow is an error, or its figures would be taken for another run's. */
static enum ceil_status check_recording(const struct options *o, struct ceil_error *err)
{
	const char *live = o->gpus.count    ? "--gpu"
	                   : o->duration_ns ? "--duration"
	                   : o->busy        ? "--busy"
	                   : o->seed != 1   ? "--seed"
	                                    : NULL;

	if (o->replay && (o->record || o->output))
		return ceil_fail(err, CEIL_E_USAGE, "--replay records nothing: leave out %s",
		                 o->record ? "--record" : "--output");
	if (o->replay && live)
		return ceil_fail(err, CEIL_E_USAGE, "--replay shows what was: leave out %s", live);
	if (!o->replay && !o->else_replay && o->speed != 1)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--speed is of a recording: name it by --replay");
	return CEIL_OK;
}

static enum ceil_status check_options(const struct options *o, int rest, char **argv,
                                      struct ceil_error *err)
{
	if (rest)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "what is '%s'? Scenarios are named by --scenario", argv[1]);
	if (!(o->speed > 0) || o->speed > 1000)
		return ceil_fail(err, CEIL_E_USAGE, "--speed %g: above 0, at most 1000", o->speed);
	if (o->duration_ns && o->duration_ns < SHORTEST_NS)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--duration %g s is shorter than the counters' refresh: at least "
		                 "0.5 s, 2.5 s to see GPU-Util settle",
		                 (double)o->duration_ns / CEIL_NS_PER_S);
	return check_recording(o, err);
}

static int explain(const char *name)
{
	struct ceil_list names = {0};
	struct ceil_demo_points points = {0};
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st = ceil_list_add(&names, name, &err);

	if (st == CEIL_OK)
		st = ceil_demo_choose(&names, /* all= */ false, &points, &err);
	if (st != CEIL_OK)
		return ceil_cli_error(&err);
	ceil_demo_explain(stdout, points.v[0].sc);
	free(points.v);
	return CEIL_EXIT_OK;
}

static int run_demo(int argc, char **argv)
{
	struct options o = {.seed = 1, .speed = 1};
	struct stage s = {.o = &o, .plain = {.f = stdout}};
	int rest = 0, status;
	enum ceil_status st;

	if (!ceil_cli_parse(&ceil_command_demo, argc, argv, &o, &rest, &status))
		return status;
	if (check_options(&o, rest, argv, &s.err) != CEIL_OK)
		return ceil_cli_error(&s.err);
	if (o.explain)
		return explain(o.explain);
	if (o.list) {
		ceil_demo_list(stdout);
		return CEIL_EXIT_OK;
	}
	ceil_cancel_install();
	st = open_show(&o, &s.show, &s.err);
	if (st != CEIL_OK)
		return ceil_cli_error(&s.err);
	/* A show begins with its first row: until then nothing was measured. */
	st = ceil_demo_files_open(o.record, o.output, &s.files, &s.err);
	if (st == CEIL_OK)
		return perform(&s);
	status = ceil_cli_error(&s.err);
	st = s.show->close(s.show, /* err= */ NULL);
	return st == CEIL_OK ? status : CEIL_EXIT_BAD;
}
