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

/* Lines of the picture; below the lesson they depend on the terminal's size. */
enum {
	TITLE_LINE = 0,
	SCENARIO_LINE = 2,
	METER_LINE = 4,
	POWER_LINE = METER_LINE + CEIL_DEMO_METERS + 1,
	VERDICT_LINE = POWER_LINE + 2,
	LESSON_LINE = VERDICT_LINE + 1,
	LESSON_LINES = 4,
	MORE_LINE = LESSON_LINE + LESSON_LINES + 1,
	MORE_LINES = 6,
	MORE_NEEDS = 36 /* lines of a terminal that has room for what --explain tells */
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
	/* curses would take it, and then print one picture behind the other. */
	if (term && strcmp(term, "dumb") == 0)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "a dumb terminal cannot be drawn on");
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

static void draw_scenario(struct ceil_show *show, const struct ceil_demo_view *view)
{
	const struct ceil_usage_row *r = &view->last;
	const struct ceil_scenario *sc = ceil_usage_scenario(r->scenario);
	char text[192], time[24];

	if (!view->playing) {
		show->say(show, text, sizeof(text));
		put(SCENARIO_LINE, LABEL_COLUMN, COLS - 2, *text ? text : "next ...");
		return;
	}
	(void)snprintf(time, sizeof(time), "%.1f s", r->scenario_s);
	(void)snprintf(text, sizeof(text), "%s: %s", r->scenario, sc ? sc->title : "");
	(void)attron(A_BOLD);
	put(SCENARIO_LINE, LABEL_COLUMN, COLS - 3 - (int)strlen(time), text);
	(void)attroff(A_BOLD);
	put(SCENARIO_LINE, COLS - 1 - (int)strlen(time), COLS, time);
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

/* "2.008 M launches/s", "609 launches/s" */
static void append_launches(char *text, size_t size, double per_s)
{
	const double unit = per_s >= 1e6 ? 1e6 : per_s >= 1e4 ? 1e3 : 1;
	char number[24];

	if (!(per_s > 0))
		return;
	ceil_text_number(number, sizeof(number), per_s / unit);
	ceil_append(text, size, "%s%s launches/s   ", number,
	            unit > 1e3   ? " M"
	            : unit > 1.0 ? " k"
	                         : "");
}

/* What 100 % of a rate is, where there is room for it. */
static void append_ceiling(char *text, size_t size, const char *name, double value,
                           const char *unit)
{
	char number[24], words[96] = "";

	if (isnan(value))
		return;
	ceil_text_number(number, sizeof(number), value);
	ceil_append(words, sizeof(words), "%s = %s %s   ", name, number, unit);
	if (strlen(text) + strlen(words) <= (size_t)COLS)
		ceil_append(text, size, "%s", words);
}

static void draw_power(const struct ceil_demo_view *view)
{
	const struct ceil_usage_row *r = &view->last;
	const double mhz = isnan(r->pm_sm_mhz) ? r->sm_mhz : r->pm_sm_mhz;
	char text[320] = "";

	if (!view->playing)
		return;
	if (!isnan(r->power_w))
		ceil_append(text, sizeof(text), "%.0f W   ", r->power_w);
	if (!isnan(mhz))
		ceil_append(text, sizeof(text), "%.0f MHz   ", mhz);
	if (!isnan(r->temp_c))
		ceil_append(text, sizeof(text), "%.0f C   ", r->temp_c);
	append_launches(text, sizeof(text), r->launches_per_s);
	append_ceiling(text, sizeof(text), r->flops_ceiling, r->tflops_ceiling, "TFLOP/s");
	append_ceiling(text, sizeof(text), r->bytes_ceiling, r->gb_s_ceiling, "GB/s");
	put(POWER_LINE, LABEL_COLUMN, COLS - 2, text);
}

/* Once there are figures that count. */
static void draw_verdict(const struct ceil_demo_screen *s, const struct ceil_demo_view *view)
{
	char words[32], text[160] = "";

	if (!view->playing || !view->verdict)
		return;
	ceil_demo_words(view->verdict->name, words, sizeof(words));
	ceil_append(text, sizeof(text), "= %s: %s", words, view->verdict->words);
	(void)attron(A_BOLD);
	put_pair(s, TRUTH_PAIR, VERDICT_LINE, LABEL_COLUMN, COLS - 2, text);
	(void)attroff(A_BOLD);
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

	if (!sc || !view->playing)
		return;
	draw_wrapped(LESSON_LINE, LESSON_LINES, sc->lesson);
	if (LINES >= MORE_NEEDS)
		draw_wrapped(MORE_LINE, MORE_LINES, sc->more);
}

/* How long the name of a point is in the list: of a sweep, without the point. */
static int list_length(const struct ceil_show *show, size_t i)
{
	const struct ceil_demo_point *v = show->points.v;
	const size_t base = strcspn(v[i].name, ".");
	const bool sweep = i + 1 < show->points.count && v[i].name[base] == '.' &&
	                   strncmp(v[i + 1].name, v[i].name, base + 1) == 0;

	return (int)(sweep ? base : strlen(v[i].name));
}

/* The next point of the list that is of another name. */
static size_t list_next(const struct ceil_show *show, size_t i)
{
	const struct ceil_demo_point *v = show->points.v;
	const size_t base = strcspn(v[i].name, ".");

	for (i++; i < show->points.count; i++) {
		if (v[i - 1].name[base] != '.' || strncmp(v[i].name, v[i - 1].name, base + 1) != 0)
			break;
	}
	return i;
}

/*
 * The names of all scenarios, the one that plays in reverse; a sweep is one name.
 * Return: how many lines they take; line < 0: nothing is drawn.
 */
static int draw_list(const struct ceil_show *show, const struct ceil_demo_view *view, int line)
{
	const size_t now = view->playing ? index_of(show, view->last.scenario) : SIZE_MAX;
	int lines = 1, column = LABEL_COLUMN;

	for (size_t i = 0, next; i < show->points.count; i = next) {
		const int length = list_length(show, i);

		next = list_next(show, i);
		if (column + length + 1 > COLS - 1) {
			column = LABEL_COLUMN;
			lines++;
		}
		if (line >= 0 && line + lines < LINES) {
			if (now >= i && now < next)
				(void)attron(A_REVERSE);
			put(line + lines - 1, column, length, show->points.v[i].name);
			(void)attroff(A_REVERSE);
		}
		column += length + 2;
	}
	return lines;
}

/* What was skipped before it had figures says nothing. */
static bool tells(const struct ceil_usage *u)
{
	return u->readings > 0 || strcmp(u->status, "cancelled") != 0;
}

static void draw_one_done(const struct ceil_usage *u, int line)
{
	const struct ceil_verdict_rule *rule = ceil_verdict_find(u->verdict);
	const char *why;
	char words[32], text[256] = "";

	ceil_demo_words(rule ? rule->name : u->status, words, sizeof(words));
	ceil_append(text, sizeof(text), "%-18s ", u->scenario);
	if (!isnan(u->gpu_util))
		ceil_append(text, sizeof(text), "GPU-Util %3.0f %%  ", 100.0 * u->gpu_util);
	if (!isnan(ceil_usage_sm_active(u)))
		ceil_append(text, sizeof(text), "SM active %6.2f %%  ",
		            100.0 * ceil_usage_sm_active(u));
	ceil_append(text, sizeof(text), "%s", words);
	why = rule ? rule->words : u->reason;
	if (strlen(text) + strlen(": ") + strlen(why) <= (size_t)COLS - 2)
		ceil_append(text, sizeof(text), ": %s", why);
	put(line, LABEL_COLUMN, COLS - 2, text);
}

/* What ended before, the newest last, as many as there are lines. */
static void draw_done(const struct ceil_demo_view *view, int line)
{
	size_t from = view->done_count;
	int room = LINES - 1 - line;

	while (from > 0 && room > 0)
		room -= tells(&view->done[--from]);
	for (; from < view->done_count && line < LINES - 1; from++) {
		if (tells(&view->done[from]))
			draw_one_done(&view->done[from], line++);
	}
}

/* In the smallest terminal a long list takes the blank line above it, and what ended goes first. */
static void draw_below(const struct ceil_show *show, const struct ceil_demo_view *view)
{
	const int lines = draw_list(show, view, /* line= */ -1);
	const int lesson_end = LESSON_LINE + LESSON_LINES;
	int line = LINES >= MORE_NEEDS ? MORE_LINE + MORE_LINES + 1 : lesson_end + 1;

	if (line + lines > LINES - 1)
		line = LINES - 1 - lines > lesson_end ? LINES - 1 - lines : lesson_end;
	(void)draw_list(show, view, line);
	draw_done(view, line + lines + 1);
}

static void draw_keys(const struct ceil_demo_screen *s, const struct ceil_show *show,
                      const struct ceil_demo_view *view, bool held)
{
	char text[80] = "", where[48];

	ceil_append(text, sizeof(text), "q quit   space %s   %s choose", held ? "go on" : "hold",
	            s->strokes->arrows);
	(void)attron(A_DIM);
	put(LINES - 1, LABEL_COLUMN, (int)sizeof(text), text);
	(void)attroff(A_DIM);
	if (!view->playing)
		return;
	(void)snprintf(where, sizeof(where), "%s%zu of %zu", held ? "HELD   " : "",
	               index_of(show, view->last.scenario) + 1, show->points.count);
	put(LINES - 1, COLS - 1 - (int)strlen(where), COLS, where);
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
		draw_scenario(show, view);
		draw_meters(s, view);
		draw_power(view);
		draw_verdict(s, view);
		draw_lesson(view);
		draw_below(show, view);
		draw_keys(s, show, view, held);
	}
	(void)refresh();
}
