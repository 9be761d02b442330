/* Where a show is kept: the series, the means of each scenario, and plots of its sweeps. */
#include "harness/cli/demo.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/alloc.h"
#include "harness/output/csv.h"
#include "harness/output/file.h"

struct ceil_demo_files {
	char output[CEIL_PATH_MAX]; /* folder, or "" */
	struct ceil_csv *series, *record, *usage;
};

/* Nothing that was measured is ever overwritten. */
static enum ceil_status open_new(const char *path, const struct ceil_table *t,
                                 struct ceil_csv **ret_csv, struct ceil_error *err)
{
	char shown[CEIL_SHOWN_PATH];

	ceil_shown_path(shown, sizeof(shown), path);
	if (access(path, F_OK) == 0)
		return ceil_fail(err, CEIL_E_USAGE, "%s is there already: choose another name",
		                 shown);
	return ceil_csv_open(path, t, ret_csv, err);
}

static enum ceil_status open_in(const struct ceil_demo_files *f, const struct ceil_table *t,
                                struct ceil_csv **ret_csv, struct ceil_error *err)
{
	char path[CEIL_PATH_MAX + 64];

	(void)snprintf(path, sizeof(path), "%s/%s", f->output, t->name);
	return open_new(path, t, ret_csv, err);
}

static void abandon(struct ceil_demo_files *f)
{
	ceil_csv_abandon(f->series);
	ceil_csv_abandon(f->record);
	ceil_csv_abandon(f->usage);
	free(f);
}

enum ceil_status ceil_demo_files_open(const char *record, const char *output,
                                      struct ceil_demo_files **ret_files, struct ceil_error *err)
{
	struct ceil_demo_files *f = ceil_alloc(1, sizeof(*f), err);
	enum ceil_status st = CEIL_OK;

	if (!f)
		return CEIL_E_NOMEM;
	if (output) {
		ceil_copy(f->output, sizeof(f->output), output);
		st = ceil_make_folder(output, err);
		if (st == CEIL_OK)
			st = open_in(f, &ceil_usage_series_table, &f->series, err);
		if (st == CEIL_OK)
			st = open_in(f, &ceil_usage_table, &f->usage, err);
	}
	if (st == CEIL_OK && record)
		st = open_new(record, &ceil_usage_series_table, &f->record, err);
	if (st != CEIL_OK) {
		abandon(f);
		return st;
	}
	*ret_files = f;
	return CEIL_OK;
}

enum ceil_status ceil_demo_files_row(struct ceil_demo_files *f, const struct ceil_usage_row *row,
                                     struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	if (f && f->series)
		st = ceil_csv_write_row(f->series, row, err);
	if (f && f->record && st == CEIL_OK)
		st = ceil_csv_write_row(f->record, row, err);
	return st;
}

enum ceil_status ceil_demo_files_usage(struct ceil_demo_files *f, const struct ceil_usage *u,
                                       struct ceil_error *err)
{
	return f && f->usage ? ceil_csv_write_row(f->usage, u, err) : CEIL_OK;
}

/* ---- plots: the data stand in the script, so that it can be drawn again anywhere. */

struct plot {
	const char *file, *sweep; /* "utilization-sms.gp", "sms." */
	const char *head;         /* of the script, before the data */
	const char *draw;
	size_t (*columns)(const struct ceil_usage *u, double ret_v[8]);
};

static double value_of(const struct ceil_usage *u)
{
	const char *dot = strchr(u->scenario, '.');

	if (!dot)
		return (double)NAN;
	if (strcmp(dot, ".all") == 0)
		return (double)u->sm_count;
	return strtod(dot + 1, NULL);
}

static size_t sms_columns(const struct ceil_usage *u, double ret_v[8])
{
	ret_v[0] = value_of(u);
	ret_v[1] = 100.0 * u->gpu_util;
	ret_v[2] = 100.0 * ceil_usage_sm_active(u);
	return 3;
}

/* "10us.x4": duration in us, streams. */
static size_t storm_columns(const struct ceil_usage *u, double ret_v[8])
{
	const char *dot = strchr(u->scenario, '.');
	const char *x = strstr(u->scenario, ".x");

	ret_v[0] = value_of(u) * (dot && strstr(dot, "ms") ? 1e3 : 1.0);
	ret_v[1] = x ? strtod(x + 2, NULL) : (double)NAN;
	ret_v[2] = u->launches_per_s;
	ret_v[3] = 100.0 * u->gpu_util;
	ret_v[4] = 100.0 * ceil_usage_sm_active(u);
	return 5;
}

static size_t size_columns(const struct ceil_usage *u, double ret_v[8])
{
	ret_v[0] = value_of(u);
	ret_v[1] = 100.0 * u->gpu_util;
	ret_v[2] = 100.0 * u->of_flops_ceiling;
	ret_v[3] = u->tflops;
	return 4;
}

static const struct plot plots[] = {
	{"utilization-sms", "sms.",
         "set xlabel 'multiprocessors with a warp'\nset ylabel '%'\nset yrange [0:105]\nset key "
         "left center\n",
         "plot $data using 1:2 with linespoints lw 2 title 'GPU-Util', \\\n"
         "     $data using 1:3 with linespoints lw 2 title 'SM-active'\n",
         sms_columns},
	{"utilization-storm", "storm.",
         "set xlabel 'duration of a kernel, us'\nset logscale x\nset ylabel '%'\nset yrange "
         "[0:105]\nset y2label 'launches per second'\nset logscale y2\nset y2tics\nset ytics "
         "nomirror\nset key below\nset bmargin 8\nset datafile missing NaN\n",
         "curve(v, s) = int(column(2)) == s ? v : NaN\n"
         "plot for [s in '1 2 4 8'] $data using 1:(curve($5, s+0)) with linespoints lw 2 "
         "title 'SM-active, streams: '.s, \\\n"
         "     $data using 1:(curve($4, 1)) with linespoints lw 2 dt 2 title "
         "'GPU-Util, streams: 1', \\\n"
         "     for [s in '1 8'] $data using 1:(curve($3, s+0)) axes x1y2 with linespoints "
         "lw 1 dt 3 title 'launches/s, streams: '.s\n",
         storm_columns},
	{"utilization-gemm", "gemm_size.",
         "set xlabel 'n of a bf16 product of n x n matrices'\nset logscale x 2\nset ylabel "
         "'%'\nset yrange [0:105]\nset key left top\n",
         "plot $data using 1:2 with linespoints lw 2 title 'GPU-Util', \\\n"
         "     $data using 1:3 with linespoints lw 2 title 'of the sustained ceiling'\n",
         size_columns},
};

static size_t count_points(const struct plot *p, const struct ceil_demo_view *view)
{
	size_t count = 0;

	for (size_t i = 0; i < view->done_count; i++)
		count += strncmp(view->done[i].scenario, p->sweep, strlen(p->sweep)) == 0 &&
		         view->done[i].readings > 0;
	return count;
}

static void write_data(FILE *f, const struct plot *p, const struct ceil_demo_view *view)
{
	fputs("$data << EOD\n", f);
	for (size_t i = 0; i < view->done_count; i++) {
		const struct ceil_usage *u = &view->done[i];
		double v[8];
		size_t count;

		if (strncmp(u->scenario, p->sweep, strlen(p->sweep)) != 0 || u->readings == 0)
			continue;
		count = p->columns(u, v);
		for (size_t k = 0; k < count; k++)
			fprintf(f, "%.6g%c", v[k], k + 1 < count ? ' ' : '\n');
	}
	fputs("EOD\n", f);
}

/* In single quotes gnuplot reads everything as it is; a quote itself stands twice. */
static void put_quoted(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', f);
		fputc(*text, f);
	}
	fputc('\'', f);
}

static void put_output(const struct ceil_demo_files *f, FILE *script, const struct plot *p,
                       const char *terminal, const char *suffix)
{
	char path[CEIL_PATH_MAX + 64];

	(void)snprintf(path, sizeof(path), "%s/%s.%s", f->output, p->file, suffix);
	fprintf(script, "set terminal %s\nset output ", terminal);
	put_quoted(script, path);
	fputc('\n', script);
}

/* Return: whether gnuplot ran well. */
static bool draw(const char *script)
{
	char name[] = "gnuplot", path[CEIL_PATH_MAX + 64];
	char *args[] = {name, path, NULL};
	int status = -1;
	pid_t pid;

	ceil_copy(path, sizeof(path), script);
	if (posix_spawnp(&pid, name, /* file_actions= */ NULL, /* attributes= */ NULL, args,
	                 environ) != 0)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static enum ceil_status plot_one(const struct ceil_demo_files *f, const struct plot *p,
                                 const struct ceil_demo_view *view, struct ceil_error *err)
{
	const char *card = view->done[0].gpu_name, *date = view->done[0].recorded_utc;
	char path[CEIL_PATH_MAX + 64], title[160];
	struct ceil_file file = {0};
	enum ceil_status st;

	(void)snprintf(path, sizeof(path), "%s/%s.gp", f->output, p->file);
	st = ceil_file_open(path, &file, err);
	if (st != CEIL_OK)
		return st;
	fprintf(file.f, "# gnuplot FILE draws %s.png and %s.svg beside the data.\nset title ",
	        p->file, p->file);
	(void)snprintf(title, sizeof(title), "%s, %s", card, date);
	put_quoted(file.f, title);
	fprintf(file.f, " noenhanced\nset grid\n%s", p->head);
	write_data(file.f, p, view);
	put_output(f, file.f, p, "svg size 800,500", "svg");
	fputs(p->draw, file.f);
	put_output(f, file.f, p, "png size 1000,620", "png");
	fputs("replot\n", file.f);
	st = ceil_file_close(&file, err);
	if (st == CEIL_OK && !draw(path))
		fprintf(stderr, "gpuceil: gnuplot is missing or drew nothing; its script is %s\n",
		        path);
	return st;
}

static enum ceil_status plot_all(const struct ceil_demo_files *f, const struct ceil_demo_view *view,
                                 struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < sizeof(plots) / sizeof(plots[0]) && st == CEIL_OK; i++) {
		if (count_points(&plots[i], view) >= 3)
			st = plot_one(f, &plots[i], view, err);
	}
	return st;
}

enum ceil_status ceil_demo_files_close(struct ceil_demo_files *f, const struct ceil_demo_view *view,
                                       struct ceil_error *err)
{
	enum ceil_status st, next;

	if (!f)
		return CEIL_OK;
	st = ceil_csv_close(f->series, err);
	next = ceil_csv_close(f->usage, st == CEIL_OK ? err : NULL);
	st = st == CEIL_OK ? next : st;
	next = ceil_csv_close(f->record, st == CEIL_OK ? err : NULL);
	st = st == CEIL_OK ? next : st;
	if (*f->output && st == CEIL_OK)
		st = plot_all(f, view, err);
	free(f);
	return st;
}
