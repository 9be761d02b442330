/* Where a show is kept: files that are whole, never overwritten, and plots of its sweeps. */
#include "harness/cli/demo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/tap.h"

static char folder[512];

static bool is_there(const char *name)
{
	char path[640];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

static struct ceil_usage_row row_of(const char *scenario, double seconds, const char *event)
{
	struct ceil_usage_row r;

	ceil_table_clear(&ceil_usage_series_table, &r);
	ceil_copy(r.scenario, sizeof(r.scenario), scenario);
	ceil_copy(r.event, sizeof(r.event), event);
	ceil_copy(r.gpu_name, sizeof(r.gpu_name), "NVIDIA Test's \"card\"");
	ceil_copy(r.status, sizeof(r.status), strcmp(event, CEIL_USAGE_END) == 0 ? "ok" : "");
	r.seconds = seconds;
	r.scenario_s = 1;
	r.steady = 1;
	r.gpu_util = 1;
	r.sm_active = seconds / 100;
	r.launches_per_s = 1000;
	r.tflops = 10;
	r.tflops_ceiling = 20;
	r.sm_count = 132;
	r.format_version = 1;
	return r;
}

/* A tick and an end of a scenario, into view and files. */
static void play(struct ceil_demo_view *view, struct ceil_demo_files *f, const char *scenario,
                 double seconds)
{
	const struct ceil_usage_row rows[] = {row_of(scenario, seconds, CEIL_USAGE_TICK),
	                                      row_of(scenario, seconds + 0.5, CEIL_USAGE_END)};
	struct ceil_error err = {CEIL_OK, ""};
	bool finished = false;

	for (int i = 0; i < 2; i++) {
		if (ceil_demo_view_add(view, &rows[i], &finished, &err) != CEIL_OK ||
		    ceil_demo_files_row(f, &rows[i], &err) != CEIL_OK)
			ok(false, "%s: %s", scenario, err.text);
	}
	ok(finished, "%s ends", scenario);
	if (ceil_demo_files_usage(f, &view->done[view->done_count - 1], &err) != CEIL_OK)
		ok(false, "%s: %s", scenario, err.text);
}

/*
 * Lines in the path of a plot's first curve: one is its sample in the key. -1: nothing drawn in
 * gnuplot's first colour.
 */
static int lines_of_first_curve(const char *name)
{
	static char text[1 << 18];
	char path[640];
	const char *at, *end;
	int lines = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	if (!f)
		return -1;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	(void)fclose(f);
	at = strstr(text, "<path stroke='rgb(148,   0, 211)'");
	end = at ? strstr(at, "/>") : NULL;
	for (; at && at < end; at++)
		lines += at[0] == ' ' && at[1] == 'L';
	return end ? lines : -1;
}

static void test_whole(void)
{
	static const char *const names[] = {"idle",          "sms.1",        "sms.4",
	                                    "sms.all",       "storm.1us.x1", "storm.1us.x8",
	                                    "storm.10us.x1", "gemm_size.64"};
	struct ceil_demo_view view = {0};
	struct ceil_demo_files *f = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_demo_files_open(NULL, folder, &f, &err) != CEIL_OK) {
		ok(false, "opens: %s", err.text);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		play(&view, f, names[i], 1 + (double)i);
	ok(ceil_demo_files_close(f, &view, &err) == CEIL_OK, "closes: %s", err.text);
	ok(is_there("utilization.csv") && is_there("utilization-series.csv"), "both files");
	ok(is_there("utilization-sms.gp"), "three points make a plot");
	ok(is_there("utilization-storm.gp"), "of the storm too");
	ok(!is_there("utilization-gemm.gp"), "one point makes none");
	if (access("/usr/bin/gnuplot", X_OK) == 0) {
		ok(is_there("utilization-sms.svg") && is_there("utilization-storm.svg"),
		   "drawn by gnuplot");
		is_int(lines_of_first_curve("utilization-sms.svg"), 3, "three points, two lines");
		is_int(lines_of_first_curve("utilization-storm.svg"), 2,
		       "two points of a stream are joined past another's");
	} else {
		skip("drawn by gnuplot", "gnuplot is not installed");
	}
	ceil_demo_view_done(&view);
	is_int(ceil_demo_files_open(NULL, folder, &f, &err), CEIL_E_USAGE, "nothing measured");
	has_text(err.text, "is there already", "is ever overwritten");
}

/* What was written is what a replay reads. */
static void test_again(void)
{
	char path[640];
	const struct ceil_list all = {0};
	struct ceil_show *show = NULL;
	struct ceil_usage_row row;
	struct ceil_error err = {CEIL_OK, ""};
	size_t count = 0;

	(void)snprintf(path, sizeof(path), "%s/utilization-series.csv", folder);
	if (ceil_demo_replay(path, 1000, &all, /* all= */ true, &show, &err) != CEIL_OK) {
		ok(false, "replays: %s", err.text);
		return;
	}
	is_u64(show->points.count, 8, "every scenario");
	while (!show->ended(show)) {
		if (show->next(show, &row))
			count++;
	}
	is_u64(count, 16, "and every row comes again");
	is_text(row.gpu_name, "NVIDIA Test's \"card\"", "with its card");
	ok(show->close(show, &err) == CEIL_OK, "closes");
}

static void test_trouble(void)
{
	struct ceil_demo_files *f = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_demo_view view = {0};

	is_int(ceil_demo_files_open("/nonexistent/r.csv", NULL, &f, &err), CEIL_E_IO,
	       "a folder that is not there");
	is_int(ceil_demo_files_open(NULL, "/dev/null/x", &f, &err), CEIL_E_IO,
	       "a folder that cannot be");
	ok(ceil_demo_files_close(NULL, &view, &err) == CEIL_OK, "no files, nothing to close");
}

int main(void)
{
	ceil_copy(folder, sizeof(folder), scratch_path("demo"));
	test_whole();
	test_again();
	test_trouble();
	return done_testing();
}
