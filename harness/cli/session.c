/* A run of gpuceil bench from its first look to its exit status. */
#include "harness/cli/session.h"

#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/cli/commands.h"
#include "harness/device/nccl.h"
#include "harness/output/file.h"
#include "harness/output/health.h"
#include "harness/output/json.h"
#include "harness/output/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void announce(const struct ceil_session *s, FILE *f)
{
	ceil_ranks_print(&s->ranks, f);
	for (size_t i = 0; i < s->lane_count; i++) {
		const struct ceil_device_props *p = &s->lanes[i].dev->props;

		fprintf(f, "%s: %s%s%s\n", p->label, p->name, *p->pci_bus_id ? ", PCI " : "",
		        p->pci_bus_id);
	}
	for (size_t i = 0; i < s->inv.found_count; i++) {
		if (s->inv.found[i].skipped)
			fprintf(f, "%s: skipped: %s\n", s->inv.found[i].props.label,
			        s->inv.found[i].reason);
	}
	if (*s->inv.nvml_reason && ceil_session_has_gpu(s))
		fprintf(f, "no telemetry: %s\n", s->inv.nvml_reason);
}

/* The lanes that one campaign measures: all GPUs; of the host, whose parts share cores, one. */
static size_t lanes_together(const struct ceil_session *s, size_t from)
{
	const struct ceil_backend *b = s->lanes[from].dev->backend;
	size_t to = from + 1;

	if (strcmp(b->name, "host") == 0)
		return to;
	while (to < s->lane_count && s->lanes[to].dev->backend == b)
		to++;
	return to;
}

/* The budget ends a run if the user gave one; the host's share of it ends the host's part always.
 */
static uint64_t deadline_of(const struct ceil_session *s, uint64_t run_ns, uint64_t host_ns)
{
	const uint64_t all_ns = s->o->budget_ns ? run_ns + s->o->budget_ns : 0;
	const uint64_t end_ns = host_ns + (uint64_t)(ceil_session_host_s(s) * 1e9);

	return host_ns && (!all_ns || end_ns < all_ns) ? end_ns : all_ns;
}

/* GPUs first, then the host: they share no time, and a GPU's rows come soonest. */
static enum ceil_status measure(struct ceil_session *s, bool *ret_hung, struct ceil_error *err)
{
	const struct ceil_events events = ceil_session_events(s);
	const uint64_t run_ns = ceil_now_ns();
	enum ceil_status st = CEIL_OK;
	uint64_t host_ns = 0;

	*ret_hung = false;
	for (size_t from = 0, to; from < s->lane_count; from = to) {
		struct ceil_policy policy = {.seed = s->o->seed, .one_by_one = s->o->one_by_one};
		bool hung = false;

		to = lanes_together(s, from);
		if (!host_ns && strcmp(s->lanes[from].dev->backend->name, "host") == 0)
			host_ns = ceil_now_ns();
		policy.deadline_ns = deadline_of(s, run_ns, host_ns);
		const enum ceil_status one =
			ceil_campaign_run(&s->lanes[from], to - from, &policy, &events, &hung, err);

		*ret_hung |= hung;
		st = st == CEIL_OK ? one : st;
	}
	return st;
}

static bool short_of_gpus(const struct ceil_session *s)
{
	size_t gpus = 0;

	for (size_t i = 0; i < s->lane_count; i++)
		gpus += strcmp(s->lanes[i].dev->backend->name, "host") != 0;
	if (gpus >= s->o->expect_gpus)
		return false;
	fprintf(stderr, "gpuceil: %" PRIu64 " GPUs were expected and %zu could be measured\n",
	        s->o->expect_gpus, gpus);
	return true;
}

static void print_results(const struct ceil_session *s, FILE *f)
{
	struct ceil_text_style style;

	ceil_text_style_of(f, &style);
	ceil_text_ceilings(f, &style, s->ceilings, s->ceiling_count, ceil_session_has_gpu(s));
	ceil_text_health(f, &style, &s->monitor.health);
}

/* Once they are complete, or not: a file under its own name is whole. */
static void print_files(const char *folder, bool whole, FILE *f)
{
	if (strcmp(folder, "-") == 0)
		return;
	if (whole)
		fprintf(f,
		        "\n%s/ceilings.csv\nbeside it: mfu_denominators.csv, records.csv, "
		        "samples.csv, run.json\n",
		        folder);
	else
		fprintf(f, "\n%s has what could be written; a file NAME.partial ends early\n",
		        folder);
}

static void write_denominators(struct ceil_session *s)
{
	struct ceil_error err = {CEIL_OK, ""};

	ceil_session_note(s, ceil_run_add_denominators(s->run, s->ceilings, s->ceiling_count, &err),
	                  &err);
}

static int exit_of(const struct ceil_session *s, enum ceil_status st, const struct ceil_error *err)
{
	int status = s->bad ? CEIL_EXIT_BAD : CEIL_EXIT_OK;

	if (s->first.status != CEIL_OK)
		status = ceil_cli_error(&s->first);
	/* A signal says more than what it broke. */
	return st == CEIL_OK ? status : ceil_cli_error(err);
}

/* @status: the exit status so far. Return: what it is when the files are complete, or not. */
static int close_run(struct ceil_session *s, enum ceil_status st, int status, FILE *f)
{
	struct ceil_error err = {CEIL_OK, ""};
	char folder[CEIL_PATH_MAX];
	bool whole;

	ceil_copy(folder, sizeof(folder), ceil_run_folder(s->run));
	whole = ceil_run_close(s->run, &err) == CEIL_OK;
	s->run = NULL;
	print_files(folder, whole, f);
	fflush(f);
	if (whole || s->first.status != CEIL_OK)
		return status;
	const int failed = ceil_cli_error(&err);

	return st == CEIL_OK ? failed : status;
}

/* The launcher ends all as soon as one rank leaves by itself: rank 0 has files to write. */
#define LEAVE_LAST_NS (2 * (uint64_t)CEIL_NS_PER_S)

/* A rank that is gone, or cannot end, keeps MPI from ending: then all just leave. */
static void leave_together(struct ceil_session *s, bool hung, int status)
{
	struct ceil_error err = {CEIL_OK, ""};
	double any = hung ? 1.0 : 0.0;
	enum ceil_status st;

	if (!s->ranks.mpi)
		return;
	st = ceil_team_slowest(&s->ranks.mpi->team, &any, 1, &err);
	if (st == CEIL_OK && any == 0.0)
		return;
	fflush(NULL);
	if (!ceil_ranks_leads(&s->ranks))
		ceil_sleep_ns(LEAVE_LAST_NS);
	_exit(status);
}

/* Rank 0 has the rows, and the last word on them. */
static int follow_to_end(struct ceil_session *s, bool hung)
{
	const bool bad = ceil_health_bad(&s->monitor.health);
	const struct ceil_error own = s->first;
	struct ceil_error err = {CEIL_OK, ""};

	/* What cannot be sent rank 0 misses, and says so. */
	ceil_session_note(s, ceil_ranks_finish(&s->ranks, bad, &own, &err), &err);
	leave_together(s, hung, CEIL_EXIT_OK);
	return CEIL_EXIT_OK;
}

/* Whether a product of the host was measured: rows of products alone have m. */
static bool used_cblas(const struct ceil_session *s)
{
	for (size_t i = 0; i < s->ceiling_count; i++) {
		const struct ceil_record *r = &s->ceilings[i];

		if (strcmp(r->backend, "host") == 0 && r->m != CEIL_ABSENT_U64 && !isnan(r->value))
			return true;
	}
	return false;
}

/* What only the measurements told. */
static void complete_info(const struct ceil_session *s)
{
	const bool cblas = used_cblas(s);

	for (size_t i = 0; i < s->lane_count; i++) {
		const struct ceil_device_props *p = &s->lanes[i].dev->props;

		ceil_info_add_timer(s->info, &s->lanes[i]);
		if (cblas && strcmp(p->label, "cpu") == 0)
			ceil_info_add_cblas(s->info, (unsigned)p->sm_count);
	}
}

static int finish(struct ceil_session *s, enum ceil_status st, bool hung, uint64_t from_ns,
                  struct ceil_error *err)
{
	FILE *f = s->run && strcmp(ceil_run_folder(s->run), "-") == 0 ? stderr : stdout;
	struct ceil_error last = {CEIL_OK, ""};
	int status;

	ceil_rescue_end(&s->rescue);
	ceil_screen_close(&s->screen);
	ceil_session_keep_blends(s);
	ceil_session_keep_ridges(s);
	hung |= !ceil_monitor_end(&s->monitor, s->info);
	if (!ceil_ranks_leads(&s->ranks))
		return follow_to_end(s, hung);
	ceil_session_note(s, ceil_ranks_finish(&s->ranks, /* bad= */ false, /* own= */ NULL, &last),
	                  &last);
	ceil_session_note(s, s->ranks.others_error.status, &s->ranks.others_error);
	s->bad |= s->ranks.others_bad;
	write_denominators(s);
	print_results(s, f);
	s->bad |= short_of_gpus(s) || ceil_health_bad(&s->monitor.health);
	status = exit_of(s, st, err);
	complete_info(s);
	ceil_info_finish(s->info, status, (double)(ceil_now_ns() - from_ns) * 1e-9);
	status = close_run(s, st, status, f);
	leave_together(s, hung, status);
	if (!hung)
		return status;
	/* A kernel that hangs cannot be cancelled, and any further CUDA call would wait for it. */
	fputs("gpuceil: a GPU does not answer: its driver may need a reset (nvidia-smi -q, "
	      "dmesg)\n",
	      stderr);
	fflush(NULL);
	_exit(CEIL_EXIT_BAD);
}

static void add_libraries(const struct ceil_session *s, json_t *info)
{
	json_t *libraries = json_object_get(info, "libraries");
	struct ceil_nccl_info nccl;
	json_t *ranks = ceil_ranks_json(&s->ranks);

	if (ranks) {
		json_object_set_new(libraries, "mpi_version",
		                    json_string(s->ranks.mpi->world.implementation));
		json_object_set_new(info, "ranks", ranks);
	}
	if (ceil_session_has_gpu(s) && ceil_nccl_info_read(&nccl, /* err= */ NULL) == CEIL_OK) {
		json_object_set_new(libraries, "nccl_version", json_string(nccl.version));
		json_object_set_new(libraries, "nccl", ceil_json_text(nccl.path));
	}
}

/* Of a run whose ranks wait for one that is gone, or hangs; the exit status. */
static int save_files(void *user)
{
	struct ceil_session *s = user;
	struct ceil_error err = {CEIL_OK, ""};
	const int signal = ceil_cancel_signal();
	const int status = signal ? 128 + signal : CEIL_EXIT_BAD;

	fputs("\ngpuceil: ", stderr);
	if (signal)
		fprintf(stderr, "stopped by signal %d while ranks waited for each other: ", signal);
	else
		fputs("ranks wait in a collective of MPI that does not end: ", stderr);
	fprintf(stderr, "one of them may be gone; what was measured is in %s\n",
	        ceil_run_folder(s->run));
	ceil_info_finish(s->info, status, (double)NAN);
	if (ceil_run_close(s->run, &err) != CEIL_OK)
		fprintf(stderr, "gpuceil: %s\n", err.text);
	return status;
}

static bool is_stuck(void *user)
{
	const struct ceil_session *s = user;

	return ceil_mpi_stuck(s->ranks.mpi, /* spare_ns= */ 0);
}

static bool is_long_stuck(void *user)
{
	const struct ceil_session *s = user;

	return ceil_mpi_stuck(s->ranks.mpi, LEAVE_LAST_NS);
}

static int leave(void *user)
{
	const struct ceil_session *s = user;

	fprintf(stderr,
	        "gpuceil: rank %u waits in a collective of MPI that does not end: another rank may "
	        "be gone\n",
	        s->ranks.mpi->world.rank);
	return CEIL_EXIT_BAD;
}

static void begin_rescue(struct ceil_session *s)
{
	const bool leads = ceil_ranks_leads(&s->ranks);
	const struct ceil_rescue_plan plan = {
		.after_signal = leads,
		.stuck = leads ? is_stuck : is_long_stuck,
		.save = leads ? save_files : leave,
		.user = s,
	};

	if (s->ranks.mpi)
		ceil_rescue_begin(&s->rescue, &plan);
}

/* The folder of an MPI run is one, so it has no rank in its name. */
static enum ceil_status open_run(struct ceil_session *s, struct ceil_error *err)
{
	const char *output = s->o->output;
	enum ceil_status st = CEIL_OK;
	char name[128];

	ceil_run_name(name, sizeof(name));
	if (ceil_ranks_leads(&s->ranks))
		st = ceil_run_open(s->ranks.mpi && !output ? name : output, s->info, &s->run, err);
	ceil_ranks_listen(&s->ranks, ceil_session_on_row, s);
	return s->ranks.mpi ? ceil_team_agree(&s->ranks.mpi->team, st, err) : st;
}

/* Only one rank speaks. */
int ceil_session_fail(const struct ceil_session *s, const struct ceil_error *err)
{
	return ceil_ranks_leads(&s->ranks) ? ceil_cli_error(err) : CEIL_EXIT_USAGE;
}

static int run_session(struct ceil_session *s, const struct ceil_filter *f,
                       const struct ceil_run_setup *setup, FILE *talk, struct ceil_error *err)
{
	const uint64_t from_ns = ceil_now_ns();
	const bool leads = ceil_ranks_leads(&s->ranks);
	bool hung = false;
	enum ceil_status st;

	s->info = ceil_info_make(setup, &s->inv);
	st = open_run(s, err);
	if (st != CEIL_OK)
		return ceil_session_fail(s, err);
	ceil_monitor_begin(&s->monitor, &s->inv);
	/* Ranks agree in there: all come to it, whatever fails in a rank of its own. */
	st = ceil_session_open_lanes(s, f, err);
	if (st == CEIL_OK)
		st = ceil_session_rows_of_missing(s, f, err);
	if (st == CEIL_OK && leads)
		st = ceil_monitor_watch(&s->monitor, s->lanes, s->lane_count, s->run, s->info, err);
	/* Ranks that measure would wait for one that does not. */
	if (s->ranks.mpi)
		st = ceil_team_agree(&s->ranks.mpi->team, st, err);
	for (size_t i = 0; i < s->lane_count; i++)
		ceil_info_add_lane(s->info, &s->lanes[i]);
	add_libraries(s, s->info);
	ceil_session_keep_peaks(s);
	announce(s, talk);
	begin_rescue(s);
	ceil_screen_open(&s->screen, leads && isatty(STDERR_FILENO) ? stderr : talk);
	if (st == CEIL_OK)
		st = measure(s, &hung, err);
	return finish(s, st, hung, from_ns, err);
}

/* Where this process speaks: ranks other than the first do not. */
int ceil_session_run(struct ceil_session *s, const struct ceil_filter *f,
                     const struct ceil_run_setup *setup, struct ceil_error *err)
{
	const bool to_stdout = s->o->output && strcmp(s->o->output, "-") == 0;
	FILE *silence = ceil_ranks_leads(&s->ranks) ? NULL : fopen("/dev/null", "w");
	FILE *talk = silence ? silence : to_stdout ? stderr : stdout;
	const int status = run_session(s, f, setup, talk, err);

	if (silence)
		(void)fclose(silence); /* nobody reads it */
	return status;
}

enum ceil_status ceil_session_look(struct ceil_session *s,
                                   const struct ceil_inventory_options *wanted,
                                   struct ceil_error *err)
{
	enum ceil_status st = s->o->mpi ? ceil_ranks_open(&s->ranks, err) : CEIL_OK;

	if (st != CEIL_OK)
		return st;
	st = ceil_inventory_open(wanted, &s->inv, err);
	if (!s->ranks.mpi)
		return st;
	st = ceil_team_agree(&s->ranks.mpi->team, st, err);
	return st == CEIL_OK ? ceil_ranks_bind(&s->ranks, &s->inv, err) : st;
}

void ceil_session_close(struct ceil_session *s)
{
	ceil_session_close_lanes(s);
	ceil_ranks_close(&s->ranks);
	ceil_monitor_close(&s->monitor);
	ceil_inventory_close(&s->inv);
	json_decref(s->info);
	free(s->ceilings);
	ceil_twins_done(&s->twins);
}
