/* A show on a terminal: bars, their short history, the lesson, and the keys that steer it. */
#include "harness/cli/demo.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>

#include "harness/base/alloc.h"
#include "harness/output/text.h"

enum { MIN_COLUMNS = 80, MIN_LINES = 24, KEY_WAIT_MS = 50 };

/* Lines of the picture. */
enum {
	TITLE_LINE = 0,
	SCENARIO_LINE = 2,
	METER_LINE = 4,
	POWER_LINE = METER_LINE + CEIL_DEMO_METERS + 1,
	LESSON_LINE = POWER_LINE + 2,
	LESSON_LINES = 4,
	LIST_LINE = LESSON_LINE + LESSON_LINES,
	LIST_LINES = 4,
	DONE_LINE = LIST_LINE + LIST_LINES + 1
};

/* Columns of a meter: label, figure, bar, history. */
enum { LABEL_COLUMN = 1, FIGURE_COLUMN = 11, FIGURE_WIDTH = 17, BAR_COLUMN = 30 };

enum { TITLE_PAIR = 1, UTIL_PAIR, TRUTH_PAIR, WARN_PAIR };

/* How bars and histories are drawn: in Unicode, or in ASCII where the terminal has no more. */
struct strokes {
	const char *full, *empty;
	const char *level[9]; /* of a history, from nothing to all */
	const char *arrows;
};

static const struct strokes unicode = {
	"█", "░", {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "← →"};
static const struct strokes ascii = {
	"#", ".", {" ", "_", ".", "-", "=", "+", "*", "%", "#"}, "left right"};

struct ceil_demo_screen {
	SCREEN *terminal;
	const struct strokes *strokes;
	bool colour;
};

/* ---- taking and giving back the terminal */

static void set_colours(struct ceil_demo_screen *s)
{
	const char *no_color = getenv("NO_COLOR");

	s->colour = has_colors() && !(no_color && *no_color);
	if (!s->colour)
		return;
	(void)start_color();
	(void)use_default_colors();
	(void)init_pair(TITLE_PAIR, COLOR_CYAN, -1);
	(void)init_pair(UTIL_PAIR, COLOR_YELLOW, -1);
	(void)init_pair(TRUTH_PAIR, COLOR_GREEN, -1);
	(void)init_pair(WARN_PAIR, COLOR_RED, -1);
}

enum ceil_status ceil_demo_screen_open(struct ceil_demo_screen **ret_screen, struct ceil_error *err)
{
	struct ceil_demo_screen *s;
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "no terminal");
	s = ceil_alloc(1, sizeof(*s), err);
	if (!s)
		return CEIL_E_NOMEM;
	(void)setlocale(LC_CTYPE, ""); /* numbers stay those of the C locale */
	s->strokes = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &unicode : &ascii;
	/* initscr would end the process for a terminal that it does not know. */
	s->terminal = newterm(/* type= */ NULL, stdout, stdin);
	if (!s->terminal) {
		free(s);
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "the terminal '%s' cannot be drawn on",
		                 term ? term : "");
	}
	set_colours(s);
	(void)cbreak();
	(void)noecho();
	(void)curs_set(0);
	(void)keypad(stdscr, true);
	timeout(KEY_WAIT_MS);
	*ret_screen = s;
	return CEIL_OK;
}

void ceil_demo_screen_close(struct ceil_demo_screen *s)
{
	if (!s)
		return;
	(void)endwin();
	delscreen(s->terminal);
	free(s);
}

enum ceil_demo_key ceil_demo_screen_key(struct ceil_demo_screen *s)
{
	(void)s;
	switch (getch()) {
	case 'q':
	case 'Q':
		return CEIL_KEY_QUIT;
	case ' ':
		return CEIL_KEY_HOLD;
	case KEY_RIGHT:
	case KEY_DOWN:
		return CEIL_KEY_NEXT;
	case KEY_LEFT:
	case KEY_UP:
		return CEIL_KEY_PREVIOUS;
	default:
		return CEIL_KEY_NONE; /* a resize too: the next picture has the new size */
	}
}

/* ---- drawing */

static void put(int line, int column, int width, const char *text)
{
	if (line >= LINES || column >= COLS || width <= 0)
		return;
	(void)mvaddnstr(line, column, text, width);
}

static void put_pair(const struct ceil_demo_screen *s, int pair, int line, int column, int width,
                     const char *text)
{
	const int attribute = s->colour ? COLOR_PAIR(pair) : 0;

	(void)attron(attribute);
	put(line, column, width, text);
	(void)attroff(attribute);
}

static void draw_title(const struct ceil_demo_screen *s, const struct ceil_show *show,
                       const struct ceil_demo_view *view)
{
	const struct ceil_usage_row *r = &view->last;
	char left[192], right[96];

	if (*r->gpu_name)
		(void)snprintf(left, sizeof(left), "gpuceil demo   %s, driver %s", r->gpu_name,
		               r->driver);
	else
		(void)snprintf(left, sizeof(left), "gpuceil demo");
	if (show->replay)
		(void)snprintf(right, sizeof(right), "REPLAY of %.10s", r->recorded_utc);
	else
		(void)snprintf(right, sizeof(right), "live");
	(void)attron(A_BOLD);
	put_pair(s, TITLE_PAIR, TITLE_LINE, LABEL_COLUMN, COLS - 2, left);
	put_pair(s, show->replay ? WARN_PAIR : TRUTH_PAIR, TITLE_LINE,
	         COLS - (int)strlen(right) - 1, COLS, right);
	(void)attroff(A_BOLD);
}

/* Which point plays; COUNT if none does. */
static size_t index_of(const struct ceil_show *show, const char *name)
{
	size_t i = 0;

	while (i < show->points.count && strcmp(show->points.v[i].name, name) != 0)
		i++;
	return i;
}

static void draw_scenario(struct ceil_show *show, const struct ceil_demo_view *view, bool held)
{
	const struct ceil_usage_row *r = &view->last;
	const struct ceil_scenario *sc = ceil_usage_scenario(r->scenario);
	char text[192];

	if (!view->playing) {
		show->say(show, text, sizeof(text));
		put(SCENARIO_LINE, LABEL_COLUMN, COLS - 2, *text ? text : "next ...");
		return;
	}
	(void)snprintf(text, sizeof(text), "%s (%zu of %zu): %s", r->scenario,
	               index_of(show, r->scenario) + 1, show->points.count, sc ? sc->title : "");
	(void)attron(A_BOLD);
	put(SCENARIO_LINE, LABEL_COLUMN, COLS - 12, text);
	(void)attroff(A_BOLD);
	(void)snprintf(text, sizeof(text), "%s%6.1f s", held ? "HELD" : "    ", r->scenario_s);
	put(SCENARIO_LINE, COLS - 1 - (int)strlen(text), COLS, text);
}

static void figure_of(const struct ceil_demo_meter *m, const struct ceil_usage_row *r,
                      char *ret_text, size_t size)
{
	const double ratio = m->ratio(r);
	char number[24];

	ceil_copy(ret_text, size, "");
	if (isnan(ratio))
		ceil_append(ret_text, size, "%s", "-");
	else
		ceil_append(ret_text, size, ratio > 0 && ratio < 0.0995 ? "%.2f %%" : "%.0f %%",
		            100.0 * ratio);
	if (!m->value || isnan(m->value(r)))
		return;
	ceil_text_number(number, sizeof(number), m->value(r));
	ceil_append(ret_text, size, " %s %s", number, m->unit);
}

static void draw_bar(const struct ceil_demo_screen *s, int line, int column, int width,
                     double ratio)
{
	const int full = isnan(ratio) ? 0 : (int)lround(fmin(1.0, fmax(0.0, ratio)) * width);

	if (isnan(ratio)) {
		put(line, column, width, "not known here");
		return;
	}
	(void)move(line, column);
	for (int i = 0; i < width; i++)
		(void)addstr(i < full ? s->strokes->full : s->strokes->empty);
}

static void draw_history(const struct ceil_demo_screen *s, const struct ceil_demo_view *view,
                         int meter, int line, int column, int width)
{
	const size_t there =
		view->history_count < CEIL_DEMO_HISTORY ? view->history_count : CEIL_DEMO_HISTORY;
	const size_t shown = there < (size_t)width ? there : (size_t)width;

	(void)move(line, column + width - (int)shown);
	for (size_t i = shown; i > 0; i--) {
		const double v =
			view->history[meter][(view->history_count - i) % CEIL_DEMO_HISTORY];
		const double up = isnan(v) ? 0 : fmin(1.0, fmax(0.0, v));

		/* Anything that is not nothing shows. */
		(void)addstr(s->strokes->level[up > 0 ? (int)fmax(1.0, round(8 * up)) : 0]);
	}
}

static void draw_meters(const struct ceil_demo_screen *s, const struct ceil_demo_view *view)
{
	const int room = COLS - BAR_COLUMN - 2, history = room / 3, bar = room - history - 1;

	for (int i = 0; i < CEIL_DEMO_METERS; i++) {
		const struct ceil_demo_meter *m = &ceil_demo_meters[i];
		const int line = METER_LINE + i, pair = i == 0 ? UTIL_PAIR : TRUTH_PAIR;
		char text[64];

		put(line, LABEL_COLUMN, FIGURE_COLUMN - 1, m->label);
		if (!view->playing)
			continue;
		figure_of(m, &view->last, text, sizeof(text));
		put(line, FIGURE_COLUMN, FIGURE_WIDTH + 1, text);
		if (s->colour)
			(void)attron(COLOR_PAIR(pair));
		draw_bar(s, line, BAR_COLUMN, bar, m->ratio(&view->last));
		draw_history(s, view, i, line, BAR_COLUMN + bar + 1, history);
		if (s->colour)
			(void)attroff(COLOR_PAIR(pair));
	}
}

static void draw_power(const struct ceil_demo_view *view)
{
	const struct ceil_usage_row *r = &view->last;
	const double mhz = isnan(r->pm_sm_mhz) ? r->sm_mhz : r->pm_sm_mhz;
	char text[160] = "", number[24];

	if (!view->playing)
		return;
	if (!isnan(r->power_w))
		ceil_append(text, sizeof(text), "%.0f W   ", r->power_w);
	if (!isnan(mhz))
		ceil_append(text, sizeof(text), "%.0f MHz   ", mhz);
	if (!isnan(r->temp_c))
		ceil_append(text, sizeof(text), "%.0f C   ", r->temp_c);
	if (r->launches_per_s > 0) {
		ceil_text_number(number, sizeof(number), r->launches_per_s / 1e3);
		ceil_append(text, sizeof(text), "%s thousand launches/s", number);
	}
	put(POWER_LINE, LABEL_COLUMN, COLS - 2, text);
}

/* Broken at blanks; what does not fit is left out. */
static void draw_wrapped(int line, int lines, const char *text)
{
	const int width = COLS - 2;

	for (int i = 0; i < lines && *text; i++) {
		int length = (int)strlen(text);

		if (length > width) {
			length = width;
			while (length > 0 && text[length] != ' ')
				length--;
		}
		put(line + i, LABEL_COLUMN, length, text);
		text += length;
		text += strspn(text, " ");
	}
}

static void draw_lesson(const struct ceil_demo_view *view)
{
	const struct ceil_scenario *sc = ceil_usage_scenario(view->last.scenario);

	if (sc && view->playing)
		draw_wrapped(LESSON_LINE, LESSON_LINES, sc->lesson);
}

/* The names of all points, the one that plays in reverse. */
static void draw_list(const struct ceil_show *show, const struct ceil_demo_view *view)
{
	const size_t now = index_of(show, view->last.scenario);
	int line = LIST_LINE, column = LABEL_COLUMN;

	for (size_t i = 0; i < show->points.count; i++) {
		const int length = (int)strlen(show->points.v[i].name);

		if (column + length + 1 > COLS - 1) {
			column = LABEL_COLUMN;
			line++;
		}
		if (line >= LIST_LINE + LIST_LINES)
			return;
		if (i == now && view->playing)
			(void)attron(A_REVERSE);
		put(line, column, length, show->points.v[i].name);
		(void)attroff(A_REVERSE);
		column += length + 2;
	}
}

/* What ended before, the newest last, as many as there are lines. */
static void draw_done(const struct ceil_demo_view *view)
{
	const int room = LINES - 1 - DONE_LINE;
	size_t i = 0;

	if (room > 0 && view->done_count > (size_t)room)
		i = view->done_count - (size_t)room;
	for (int line = DONE_LINE; i < view->done_count && line < LINES - 1; i++, line++) {
		const struct ceil_usage *u = &view->done[i];
		const struct ceil_verdict_rule *rule = ceil_verdict_find(u->verdict);
		char words[32], text[192] = "";

		ceil_demo_words(rule ? rule->name : u->status, words, sizeof(words));
		ceil_append(text, sizeof(text), "%-18s ", u->scenario);
		if (!isnan(u->gpu_util))
			ceil_append(text, sizeof(text), "GPU-Util %3.0f %%  ", 100.0 * u->gpu_util);
		if (!isnan(ceil_usage_sm_active(u)))
			ceil_append(text, sizeof(text), "SM active %6.2f %%  ",
			            100.0 * ceil_usage_sm_active(u));
		ceil_append(text, sizeof(text), "%s%s%s", words, rule ? ": " : "",
		            rule ? rule->words : "");
		put(line, LABEL_COLUMN, COLS - 2, text);
	}
}

static void draw_keys(const struct ceil_demo_screen *s)
{
	char text[80] = "";

	ceil_append(text, sizeof(text), "q quit   space hold   %s choose", s->strokes->arrows);
	(void)attron(A_DIM);
	put(LINES - 1, LABEL_COLUMN, (int)sizeof(text), text);
	(void)attroff(A_DIM);
}

void ceil_demo_screen_draw(struct ceil_demo_screen *s, struct ceil_show *show,
                           const struct ceil_demo_view *view, bool held)
{
	char text[96];

	(void)erase();
	if (COLS < MIN_COLUMNS || LINES < MIN_LINES) {
		(void)snprintf(text, sizeof(text), "%d x %d: at least %d x %d", COLS, LINES,
		               MIN_COLUMNS, MIN_LINES);
		put(0, 0, COLS, text);
		put(1, 0, COLS, "are needed; q quits");
	} else {
		draw_title(s, show, view);
		draw_scenario(show, view, held);
		draw_meters(s, view);
		draw_power(view);
		draw_lesson(view);
		draw_list(show, view);
		draw_done(view);
		draw_keys(s);
	}
	(void)refresh();
}
