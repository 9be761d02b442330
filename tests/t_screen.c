/* What a run shows while it measures, on a terminal of its own and in a file. */
#include "harness/base/clock.h"
#include "harness/cli/screen.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A terminal: what is written to f can be read from master. */
struct terminal {
	int master;
	FILE *f;
};

static struct terminal terminal_open(void)
{
	struct terminal t = {.master = posix_openpt(O_RDWR | O_NOCTTY)};

	if (t.master < 0 || grantpt(t.master) || unlockpt(t.master))
		skip_all("no terminal can be had here");
	t.f = fopen(ptsname(t.master), "r+");
	if (!t.f)
		skip_all("the terminal cannot be opened");
	return t;
}

static void resize(const struct terminal *t, unsigned short columns)
{
	const struct winsize w = {.ws_row = 24, .ws_col = columns};

	(void)ioctl(t->master, TIOCSWINSZ, &w); /* a length that is wrong below says so */
}

/* What came since the last call. */
static const char *shown(const struct terminal *t)
{
	static char text[1024];
	const ssize_t n = read(t->master, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static struct ceil_outcome outcome_of(double time_ns)
{
	struct ceil_outcome o = {.status = CEIL_ROW_OK};

	o.point.bench = &recorded_bench;
	o.point.variant = &recorded_bench.variants[0];
	o.point.cas = &recorded_bench.cases[0];
	o.work.bytes_read = 1e9;
	o.stats.count = 1;
	o.stats.median = time_ns;
	return o;
}

/* The line that follows the pause between two of them. */
static const char *next_line(const struct terminal *t, struct ceil_screen *s,
                             const struct recorded *r, const struct ceil_outcome *o)
{
	const struct ceil_progress half = {.done_s = 50.0, .total_s = 100.0};

	s->drawn_ns = 0;
	ceil_screen_progress(s, &r->base, o, &half);
	return shown(t);
}

static void a_terminal_has_a_live_line(void)
{
	struct terminal t = terminal_open();
	const struct ceil_outcome slow = outcome_of(2e6);
	const struct ceil_outcome fast = outcome_of(1e6);
	const struct ceil_outcome faster = outcome_of(5e5);
	struct ceil_screen s;
	struct recorded r;
	const char *line;

	recorded_open(&r, 1000.0);
	setenv("TERM", "xterm", 1);
	resize(&t, 100);
	ceil_screen_open(&s, t.f);
	ok(s.live, "a terminal is live");
	line = next_line(&t, &s, &r, &slow);
	has_text(line, "\r\033[K 50 %", "the line is cleared, then says how far the run is");
	has_text(line, " left  fake0 ", "how long it takes, and on which device");
	has_text(line, slow.point.variant->ceiling, "what is measured");
	ok(!strstr(line, "best"), "nothing is the best so far");
	ceil_screen_row(&s, "fake0", &slow);
	ceil_screen_row(&s, "fake0", &fast);
	ceil_screen_row(&s, "fake0", &slow);
	has_text(next_line(&t, &s, &r, &slow), "  best 1000", "the best of all rows is shown");
	ceil_screen_row(&s, "fake1", &faster);
	has_text(next_line(&t, &s, &r, &slow), "  best 1000", "of this device alone");
	resize(&t, 45);
	line = next_line(&t, &s, &r, &slow);
	is_int((long long)strlen(line), 44 + 4, "a window that shrinks has a shorter line");
	resize(&t, 12);
	line = next_line(&t, &s, &r, &slow);
	is_int((long long)strlen(line), 11 + 4, "and so has one that no table fits into");
	ceil_screen_progress(&s, &r.base, &slow, &(struct ceil_progress){60.0, 100.0, 0});
	ceil_screen_close(&s);
	is_text(shown(&t), "\r\033[K", "a second line within 100 ms waits; the end clears it");
	setenv("TERM", "dumb", 1);
	ceil_screen_open(&s, t.f);
	ok(!s.live, "a dumb terminal has none");
	(void)fclose(t.f);
	(void)close(t.master);
}

/* GPUs and the host are campaigns one after the other: each has a clock of its own. */
static void the_time_left_is_of_the_campaign(void)
{
	struct terminal t = terminal_open();
	const struct ceil_outcome o = outcome_of(1e6);
	const struct ceil_progress fifth = {20.0, 100.0, ceil_now_ns() - 10 * CEIL_NS_PER_S};
	struct ceil_screen s;
	struct recorded r;
	int left_s = 0;

	recorded_open(&r, 1000.0);
	setenv("TERM", "xterm", 1);
	resize(&t, 100);
	ceil_screen_open(&s, t.f);
	ceil_screen_progress(&s, &r.base, &o, &fifth);
	is_int(sscanf(shown(&t), "\r\033[K 20 %%  %d s left", &left_s), 1, "seconds are left");
	ok(left_s >= 40 && left_s < 50, "%d s: four times the 10 that a fifth took", left_s);
	(void)fclose(t.f);
	(void)close(t.master);
}

static void a_file_has_a_line_per_bench(void)
{
	const struct ceil_outcome o = outcome_of(1e6);
	struct ceil_screen s;
	struct recorded r;
	char text[256] = "";
	FILE *f = tmpfile();

	if (!f) {
		skip("lines in a file", "no file can be made");
		return;
	}
	recorded_open(&r, 1000.0);
	ceil_screen_open(&s, f);
	ok(!s.live, "a file is not live");
	ceil_screen_progress(&s, &r.base, &o, &(struct ceil_progress){1.0, 2.0, 0});
	ceil_screen_row(&s, "fake0", &o);
	ceil_screen_row(&s, "fake0", &o);
	ceil_screen_row(&s, "fake1", &o);
	ceil_screen_close(&s);
	rewind(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	has_text(text, "fake on fake0: 2 measurements in ", "a bench that is over has one line");
	has_text(text, "\nfake on fake1: 1 measurement in ", "and so has the last");
	ok(!strchr(text, '\r'), "nothing is drawn over");
	(void)fclose(f);
}

int main(void)
{
	a_terminal_has_a_live_line();
	the_time_left_is_of_the_campaign();
	a_file_has_a_line_per_bench();
	return done_testing();
}
