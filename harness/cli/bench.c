/* gpuceil bench: measures the ceilings of this node. */
#include "harness/analysis/blend.h"
#include "harness/analysis/peak_row.h"
#include "harness/analysis/twins.h"
#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/dtype.h"
#include "harness/cli/commands.h"
#include "harness/cli/info.h"
#include "harness/cli/inventory.h"
#include "harness/cli/monitor.h"
#include "harness/cli/ranks.h"
#include "harness/cli/screen.h"
#include "harness/cli/shapes.h"
#include "harness/device/nccl.h"
#include "harness/device/team.h"
#include "harness/output/health.h"
#include "harness/output/run.h"
#include "harness/output/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds that a run may take; measuring.md, Seconds on one H200. */
#define DEFAULT_BUDGET_S 240.0
#define QUICK_BUDGET_S   60.0
/* Host rows: where they are all there is, and beside a GPU. */
#define HOST_ALONE_S  60.0
#define HOST_BESIDE_S 14.0

struct options {
	bool quick, dry_run, one_by_one, mpi;
	struct ceil_list variants, dtypes, gpus, patterns;
	unsigned backend, busy;
	uint64_t budget_ns, seed, expect_gpus;
	double duty;
	const char *output, *shape, *shapes, *algorithm;
};

static const char *const backend_names[] = {"all", "cuda", "host", NULL};
static const char *const busy_names[] = {"skip", "run", "fail", NULL};

#define OPTION(member, name_, type_, argument_, group_, choices_, doc_)                            \
	{                                                                                          \
		.name = (name_), .type = (type_), .argument = (argument_), .doc = (doc_),          \
		.offset = offsetof(struct options, member), .choices = (choices_),                 \
		.group = (group_)                                                                  \
	}

static const struct ceil_option option_rows[] = {
	OPTION(variants, "variant", CEIL_O_LIST, "LIST", "What to measure", NULL,
               "only these variants: `gpuceil list variants` names them"),
	OPTION(dtypes, "dtype", CEIL_O_LIST, "LIST", "What to measure", NULL,
               "only these element types: fp64 fp32 tf32 bf16 fp16 ..."),
	OPTION(shape, "shape", CEIL_O_TEXT, "M,N,K", "What to measure", NULL,
               "gemm: the ceiling of exactly this product, C(m,n) = A(m,k) B(k,n)"),
	OPTION(shapes, "shapes", CEIL_O_TEXT, "FILE", "What to measure", NULL,
               "gemm: the ceilings of a CSV file's products, columns m,n,k,dtype,count, and that "
               "of the whole list, weighted by FLOP"),
	OPTION(algorithm, "algo", CEIL_O_TEXT, "TEXT", "What to measure", NULL,
               "gemm: this algorithm alone, in the words of records.csv: 'id=66 tile=201 ...'"),
	OPTION(patterns, "pattern", CEIL_O_LIST, "LIST", "What to measure", NULL,
               "timed data: normal (default), zeros, constant, integers; several give a row each"),
	OPTION(duty, "duty", CEIL_O_DOUBLE, "RATIO", "What to measure", NULL,
               "a row between burst and sustained: this share of the time is work, 0.05 to 0.95"),
	OPTION(quick, "quick", CEIL_O_FLAG, NULL, "What to measure", NULL,
               "the best known forms only, in a minute; good for a health check"),
	OPTION(budget_ns, "budget", CEIL_O_DURATION, "TIME", "What to measure", NULL,
               "seconds, or 90s, 2m: drops sustained rows first, then sweeps, then variants; "
               "default 4m, with --quick 1m; more than 4m measures further shapes"),
	OPTION(seed, "seed", CEIL_O_U64, "N", "What to measure", NULL,
               "of the random data; the same seed gives the same data everywhere; default 1"),
	OPTION(gpus, "gpu", CEIL_O_LIST, "LIST", "Where", NULL,
               "nvidia-smi's index or a UUID; default all; CUDA_VISIBLE_DEVICES is respected"),
	OPTION(backend, "backend", CEIL_O_CHOICE, "NAME", "Where", backend_names,
               "which devices; default all"),
	OPTION(busy, "busy", CEIL_O_CHOICE, "WHAT", "Where", busy_names,
               "what to do with a GPU on which someone else works; default skip"),
	OPTION(one_by_one, "one-by-one", CEIL_O_FLAG, NULL, "Where", NULL,
               "one GPU at a time; default is all at once, as a job uses them"),
	OPTION(mpi, "mpi", CEIL_O_FLAG, NULL, "Where", NULL,
               "one process a GPU, started by mpirun or srun: all measure at once, GPUs and hosts "
               "exchange data, rank 0 writes one set of files"),
	OPTION(expect_gpus, "expect-gpus", CEIL_O_U64, "N", "Where", NULL,
               "fewer GPUs than N are an error: for health checks of known nodes"),
	OPTION(output, "output", CEIL_O_TEXT, "DIR", "Results", NULL,
               "folder of the files, or - for JSON lines on stdout; default "
               "./gpuceil-<UTC time>-<host>"),
	OPTION(dry_run, "dry-run", CEIL_O_FLAG, NULL, "Results", NULL,
               "prints what would be measured and how long it would take"),
};

static int run_bench(int argc, char **argv);

const struct ceil_command ceil_command_bench = {
	.name = "bench",
	.arguments = "[NAME...]",
	.summary = "measures the ceilings of this node and writes them as CSV",
	.doc = "Measures every ceiling of the GPUs and of the host, or of the benches named, and\n"
	       "prints achieved, theoretical, ratio, clock and what limits each. The folder of a\n"
	       "run holds ceilings.csv (what scripts load), mfu_denominators.csv (what a training\n"
	       "rate is divided by), records.csv (every point), samples.csv (raw), telemetry.csv\n"
	       "(the GPUs, ten times a second) and run.json (all that is needed to repeat it).\n"
	       "Exit status: 0 when every ceiling is sane or cannot be had here; 1 when one "
	       "failed,\n"
	       "is suspect or was throttled, or error counters of a GPU grew; 2 for usage and\n"
	       "set-up; 130 after Ctrl-C, 143 after SIGTERM and so on.",
	.options = option_rows,
	.option_count = sizeof(option_rows) / sizeof(option_rows[0]),
	.examples = "gpuceil bench\teverything, in about four minutes\n"
		    "gpuceil bench --quick\ta health check in a minute\n"
		    "gpuceil bench gemm --dtype bf16\tmatrix products of one type\n"
		    "gpuceil bench gemm --shapes layers.csv\tthe products of a model of yours\n"
		    "gpuceil bench dram --gpu 0,1 --output /tmp/r\tmemory of two GPUs\n",
	.run = run_bench,
};

/* ---- a run: what its callbacks need */

struct session {
	const struct options *o;
	struct ceil_inventory inv;
	struct ceil_lane lanes[CEIL_MAX_DEVICES];
	size_t lane_count;
	struct ceil_ranks ranks;      /* of an MPI run */
	struct ceil_team_local *team; /* of the GPUs of this process, without MPI; or NULL */
	struct ceil_rank ways[CEIL_MAX_DEVICES]; /* by lane: its links */
	json_t *info;
	struct ceil_run *run;
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

static void note_failure(struct session *s, enum ceil_status st, const struct ceil_error *err)
{
	if (st != CEIL_OK && s->first.status == CEIL_OK)
		s->first = *err;
}

/* A file that cannot be written costs the file: the table at the end still has the row. */
static void keep(struct session *s, const struct ceil_record *r, bool is_ceiling)
{
	struct ceil_error err = {CEIL_OK, ""};
	void *v = s->ceilings;
	enum ceil_status st;

	s->bad |= ceil_record_bad(r);
	if (!ceil_ranks_leads(&s->ranks)) {
		st = ceil_ranks_send(&s->ranks, r, is_ceiling, NULL, 0, &err);
		note_failure(s, st, &err);
		return;
	}
	note_failure(s, ceil_run_add(s->run, r, is_ceiling, &err), &err);
	if (!is_ceiling)
		return;
	st = ceil_grow(&v, &s->ceiling_cap, s->ceiling_count + 1, sizeof(*r), &err);
	note_failure(s, st, &err);
	if (st != CEIL_OK)
		return;
	s->ceilings = v;
	s->ceilings[s->ceiling_count++] = *r;
}

/* Of another rank, at rank 0. */
static void on_row(void *user, const struct ceil_record *r, bool is_ceiling,
                   const struct ceil_sample_row *samples, size_t count)
{
	struct session *s = user;
	struct ceil_error err = {CEIL_OK, ""};

	keep(s, r, is_ceiling);
	note_failure(s, ceil_run_add_sample_rows(s->run, samples, count, &err), &err);
}

static void send_outcome(struct session *s, const struct ceil_record *r,
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
	note_failure(s, st, &err);
	s->bad |= ceil_record_bad(r);
	free(rows);
}

/* What a team measures has the ranks of the team; all else is of this process. */
static void number_rank(const struct session *s, const struct ceil_point *p, struct ceil_record *r)
{
	if (!s->ranks.mpi || p->bench->team)
		return;
	r->rank = s->ranks.mpi->world.rank;
	r->ranks = s->ranks.mpi->world.size;
}

/* A shape's ceiling counts in its device's list, once per pattern that is the variant's own. */
static void blend(struct session *s, const struct ceil_device *dev, const struct ceil_point *p,
                  const struct ceil_record *r)
{
	const uint64_t count = ceil_shapes_count(s->shapes, p);

	for (size_t i = 0; i < s->lane_count && count && p->pattern == p->variant->pattern; i++) {
		if (s->lanes[i].dev == dev)
			ceil_blend_add(&s->blends[i][p->regime], r, count);
	}
}

/* The rows of the whole list, behind those of its shapes. */
static void keep_blends(struct session *s)
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
static void keep_peaks(struct session *s)
{
	struct ceil_record rows[CEIL_PEAK_ROWS];
	struct ceil_error err = {CEIL_OK, ""};

	for (size_t i = 0; i < s->lane_count; i++) {
		const struct ceil_lane *lane = &s->lanes[i];
		const size_t count = ceil_peak_rows(&lane->plan, &lane->dev->props, rows);

		for (size_t k = 0; k < count; k++)
			note_failure(s,
			             ceil_run_add(s->run, &rows[k], /* is_ceiling= */ true, &err),
			             &err);
	}
}

static void on_outcome(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
                       const char *role, bool is_ceiling)
{
	struct session *s = user;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_record r;

	ceil_record_fill(&r, o, &dev->props, role);
	number_rank(s, &o->point, &r);
	ceil_screen_row(&s->screen, dev->props.label, o);
	note_failure(s, ceil_twins_judge(&s->twins, &r, &err), &err);
	if (is_ceiling)
		blend(s, dev, &o->point, &r);
	if (!ceil_ranks_leads(&s->ranks)) {
		send_outcome(s, &r, o, is_ceiling);
		return;
	}
	keep(s, &r, is_ceiling);
	note_failure(s, ceil_run_add_samples(s->run, &r, o, &err), &err);
	ceil_ranks_receive(&s->ranks);
}

static void on_absent(void *user, const struct ceil_device_props *props, const struct ceil_point *p,
                      enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	struct session *s = user;
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
	struct session *s = user;

	ceil_screen_progress(&s->screen, dev, so_far, p);
	ceil_ranks_receive(&s->ranks);
}

static struct ceil_events events_of(struct session *s)
{
	return (struct ceil_events){s, on_outcome, on_absent, on_progress};
}

/* ---- devices and plans */

static bool is_gpu(const struct ceil_device *dev)
{
	return strcmp(dev->backend->name, "host") != 0;
}

static bool has_gpu(const struct session *s)
{
	for (size_t i = 0; i < s->lane_count; i++) {
		if (is_gpu(s->lanes[i].dev))
			return true;
	}
	return false;
}

static double budget_s(const struct options *o)
{
	if (o->budget_ns)
		return (double)o->budget_ns * 1e-9;
	return o->quick ? QUICK_BUDGET_S : DEFAULT_BUDGET_S;
}

/* The host's part is bounded, so that a GPU node is not kept waiting for its CPUs. */
static double lane_budget_s(const struct session *s, const struct ceil_lane *lane)
{
	const double all = budget_s(s->o);
	const bool gpu = has_gpu(s);
	const double host =
		s->o->budget_ns && !gpu ? all : fmin(all, gpu ? HOST_BESIDE_S : HOST_ALONE_S);

	if (strcmp(lane->dev->backend->name, "host") == 0)
		return host;
	return fmax(1.0, all - host);
}

static enum ceil_status open_lane(struct session *s, const struct ceil_found *found,
                                  struct ceil_error *err)
{
	struct ceil_lane *lane = &s->lanes[s->lane_count];
	enum ceil_status st = ceil_inventory_device(found, &lane->dev, err);

	if (st != CEIL_OK)
		return st;
	lane->gpu = found->gpu;
	ceil_ranks_describe(found, &s->ways[s->lane_count]);
	s->lane_count++;
	return CEIL_OK;
}

/* Who exchanges data with whom: the processes of an MPI run, else the GPUs of this one. */
static enum ceil_status join_teams(struct session *s, struct ceil_error *err)
{
	struct ceil_rank ways[CEIL_MAX_DEVICES];
	struct ceil_device *members[CEIL_MAX_DEVICES];
	unsigned gpus = 0;
	enum ceil_status st;

	for (size_t i = 0; i < s->lane_count; i++) {
		struct ceil_device *dev = s->lanes[i].dev;

		if (s->ranks.mpi && (is_gpu(dev) || strcmp(dev->props.label, "cpu") == 0))
			ceil_ranks_join(&s->ranks, dev);
		if (!s->ranks.mpi && is_gpu(dev)) {
			ways[gpus] = s->ways[i];
			members[gpus++] = dev;
		}
	}
	if (gpus == 0)
		return CEIL_OK;
	st = ceil_team_local_open(gpus, &s->team, err);
	for (unsigned i = 0; st == CEIL_OK && i < gpus; i++) {
		struct ceil_device_props *p = &members[i]->props;

		members[i]->team = ceil_team_local_member(s->team, i);
		p->rank = i;
		p->ranks = gpus;
		ceil_ranks_fabric(ways, gpus, &p->fabric_gb_s, p->fabric, sizeof(p->fabric));
	}
	return st;
}

/* Ranks that share a machine measure its host once; together they only exchange data. */
static enum ceil_status plan_lanes(struct session *s, const struct ceil_filter *f,
                                   struct ceil_error *err)
{
	size_t kept = 0;
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < s->lane_count; i++) {
		struct ceil_lane *lane = &s->lanes[i];
		struct ceil_filter own = *f;

		own.team_only = !is_gpu(lane->dev) && !ceil_ranks_host_part(&s->ranks);
		if (st == CEIL_OK)
			st = ceil_plan_make(&own, lane->dev->backend->name, &lane->dev->props, NULL,
			                    &lane->plan, err);
		if (st == CEIL_OK && lane->plan.count > 0) {
			s->lanes[kept++] = *lane;
			continue;
		}
		ceil_plan_done(&lane->plan);
		lane->dev->backend->close(lane->dev);
	}
	s->lane_count = kept;
	for (size_t i = 0; i < s->lane_count; i++)
		ceil_plan_fit(&s->lanes[i].plan, lane_budget_s(s, &s->lanes[i]));
	return st;
}

/* Rows of a device or backend that gives none. */
static enum ceil_status rows_without(struct session *s, const struct ceil_filter *f,
                                     const char *backend, const struct ceil_device_props *props,
                                     enum ceil_row_status status, const char *reason,
                                     struct ceil_error *err)
{
	const struct ceil_events events = events_of(s);
	struct ceil_plan plan = {0};
	const enum ceil_status st = ceil_plan_make(f, backend, NULL, reason, &plan, err);

	if (st != CEIL_OK)
		return st;
	ceil_campaign_absent(&plan, props, status, reason, &events);
	ceil_plan_done(&plan);
	return CEIL_OK;
}

static enum ceil_status rows_of_missing(struct session *s, const struct ceil_filter *f,
                                        struct ceil_error *err)
{
	const struct ceil_device_props nobody = {.label = "gpu",
	                                         .numa_node = -1,
	                                         .max_sm_mhz = (double)NAN,
	                                         .max_memory_mhz = (double)NAN};
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < s->inv.missing_count && st == CEIL_OK; i++) {
		const struct ceil_missing *m = &s->inv.missing[i];

		if (!ceil_ranks_host_part(&s->ranks))
			break;
		st = rows_without(s, f, m->backend->name, &nobody,
		                  m->status == CEIL_E_UNSUPPORTED && !s->o->expect_gpus
		                          ? CEIL_ROW_UNSUPPORTED
		                          : CEIL_ROW_FAILED,
		                  m->reason, err);
	}
	return st;
}

/* Opens what is found; a GPU that cannot be opened has failed rows, a busy one skipped rows. */
static enum ceil_status open_lanes(struct session *s, const struct ceil_filter *f, bool with_rows,
                                   struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < s->inv.found_count && st == CEIL_OK; i++) {
		const struct ceil_found *found = &s->inv.found[i];
		struct ceil_error own = {CEIL_OK, ""};

		if (!found->skipped && open_lane(s, found, &own) == CEIL_OK)
			continue;
		/* Ranks wait for each other: one without its GPU would keep all waiting. */
		if (s->ranks.mpi) {
			st = ceil_fail(err, own.status, "%s: %s", found->props.label, own.text);
			break;
		}
		if (!found->skipped)
			fprintf(stderr, "gpuceil: %s: %s\n", found->props.label, own.text);
		if (with_rows)
			st = rows_without(s, f, found->backend->name, &found->props,
			                  found->skipped ? CEIL_ROW_SKIPPED : CEIL_ROW_FAILED,
			                  found->skipped ? found->reason : own.text, err);
	}
	if (s->ranks.mpi)
		st = ceil_team_agree(&s->ranks.mpi->team, st, err);
	if (st == CEIL_OK)
		st = join_teams(s, err);
	return st == CEIL_OK ? plan_lanes(s, f, err) : st;
}

static void close_lanes(struct session *s)
{
	ceil_team_local_close(s->team);
	for (size_t i = 0; i < s->lane_count; i++) {
		ceil_plan_done(&s->lanes[i].plan);
		s->lanes[i].dev->backend->close(s->lanes[i].dev);
	}
	s->lane_count = 0;
}

/* ---- dry run */

static void print_plan(const struct ceil_lane *lane)
{
	char took[32];
	size_t points = 0;

	for (size_t i = 0; i < lane->plan.count; i++) {
		const struct ceil_entry *e = &lane->plan.v[i];

		points += e->fate == CEIL_RUN;
		printf("%-10s %-22s %-24s %-20s %s\n", lane->dev->props.label,
		       e->point.variant->ceiling, e->point.variant->name, e->point.cas->name,
		       e->fate == CEIL_RUN ? "run" : e->reason);
	}
	ceil_human_seconds(took, sizeof(took), ceil(lane->plan.price_s));
	printf("%s: %zu points, about %s%s%s\n", lane->dev->props.label, points, took,
	       *lane->plan.coverage ? "; left out: " : "", lane->plan.coverage);
}

static int dry_run(struct session *s)
{
	if (!ceil_ranks_leads(&s->ranks))
		return CEIL_EXIT_OK;
	for (size_t i = 0; i < s->lane_count; i++)
		print_plan(&s->lanes[i]);
	for (size_t i = 0; i < s->inv.missing_count; i++)
		printf("%s: %s\n", s->inv.missing[i].backend->name, s->inv.missing[i].reason);
	return CEIL_EXIT_OK;
}

/* ---- the run */

static void announce(const struct session *s, FILE *f)
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
	if (*s->inv.nvml_reason && has_gpu(s))
		fprintf(f, "no telemetry: %s\n", s->inv.nvml_reason);
}

/* GPUs first, then the host: they share no time, and a GPU's rows come soonest. */
static enum ceil_status measure(struct session *s, bool *ret_hung, struct ceil_error *err)
{
	const struct ceil_policy policy = {
		.seed = s->o->seed,
		.deadline_ns = s->o->budget_ns ? ceil_now_ns() + s->o->budget_ns : 0,
		.one_by_one = s->o->one_by_one,
	};
	const struct ceil_events events = events_of(s);
	enum ceil_status st = CEIL_OK;
	size_t from = 0;

	*ret_hung = false;
	while (from < s->lane_count) {
		const struct ceil_backend *b = s->lanes[from].dev->backend;
		size_t to = from;
		bool hung = false;

		/* The host's parts share its cores: one at a time. */
		while (to < s->lane_count && s->lanes[to].dev->backend == b &&
		       (to == from || strcmp(b->name, "host") != 0))
			to++;
		const enum ceil_status one =
			ceil_campaign_run(&s->lanes[from], to - from, &policy, &events, &hung, err);

		*ret_hung |= hung;
		st = st == CEIL_OK ? one : st;
		from = to;
	}
	return st;
}

static bool short_of_gpus(const struct session *s)
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

static void print_results(const struct session *s, FILE *f)
{
	struct ceil_text_style style;

	ceil_text_style_of(f, &style);
	ceil_text_ceilings(f, &style, s->ceilings, s->ceiling_count, has_gpu(s));
	ceil_text_health(f, &style, &s->monitor.health);
	if (strcmp(ceil_run_folder(s->run), "-") != 0)
		fprintf(f,
		        "\n%s/ceilings.csv  (mfu_denominators.csv, records.csv, samples.csv, "
		        "run.json beside it)\n",
		        ceil_run_folder(s->run));
	fflush(f);
}

static void write_denominators(struct session *s)
{
	struct ceil_error err = {CEIL_OK, ""};

	note_failure(s, ceil_run_add_denominators(s->run, s->ceilings, s->ceiling_count, &err),
	             &err);
}

static int exit_of(const struct session *s, enum ceil_status st, const struct ceil_error *err)
{
	int status = s->bad ? CEIL_EXIT_BAD : CEIL_EXIT_OK;

	if (s->first.status != CEIL_OK)
		status = ceil_cli_error(&s->first);
	/* A signal says more than what it broke. */
	return st == CEIL_OK ? status : ceil_cli_error(err);
}

/* A rank that is gone, or cannot end, keeps MPI from ending: then all just leave. */
static void leave_together(struct session *s, bool hung, int status)
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
	_exit(status);
}

/* Rank 0 has the rows, and the last word on them. */
static int follow_to_end(struct session *s, bool hung)
{
	const bool bad = s->first.status != CEIL_OK || ceil_health_bad(&s->monitor.health);
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_ranks_finish(&s->ranks, bad, &err) != CEIL_OK && s->first.status == CEIL_OK)
		s->first = err; /* rank 0 says so itself: it misses rows */
	leave_together(s, hung, CEIL_EXIT_OK);
	return CEIL_EXIT_OK;
}

static int finish(struct session *s, enum ceil_status st, bool hung, uint64_t from_ns,
                  struct ceil_error *err)
{
	FILE *f = s->run && strcmp(ceil_run_folder(s->run), "-") == 0 ? stderr : stdout;
	struct ceil_error last = {CEIL_OK, ""};
	int status;

	ceil_screen_close(&s->screen);
	keep_blends(s);
	hung |= !ceil_monitor_end(&s->monitor, s->info);
	if (!ceil_ranks_leads(&s->ranks))
		return follow_to_end(s, hung);
	if (ceil_ranks_finish(&s->ranks, /* bad= */ false, &last) != CEIL_OK)
		note_failure(s, last.status, &last);
	s->bad |= s->ranks.others_bad;
	write_denominators(s);
	print_results(s, f);
	s->bad |= short_of_gpus(s) || ceil_health_bad(&s->monitor.health);
	status = exit_of(s, st, err);
	ceil_info_finish(s->info, status, (double)(ceil_now_ns() - from_ns) * 1e-9);
	if (ceil_run_close(s->run, &last) != CEIL_OK && s->first.status == CEIL_OK) {
		const int failed = ceil_cli_error(&last);

		status = st == CEIL_OK ? failed : status;
	}
	s->run = NULL;
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

static void add_libraries(const struct session *s, json_t *info)
{
	struct ceil_nccl_info nccl;
	json_t *ranks = ceil_ranks_json(&s->ranks);

	if (ranks) {
		json_object_set_new(info, "mpi", json_string(s->ranks.mpi->world.library));
		json_object_set_new(info, "ranks", ranks);
	}
	if (has_gpu(s) && ceil_nccl_info_read(&nccl, /* err= */ NULL) == CEIL_OK) {
		json_object_set_new(info, "nccl", json_string(nccl.version));
		json_object_set_new(info, "nccl_path", json_string(nccl.path));
	}
}

/* The folder of an MPI run is one, so it has no rank in its name. */
static enum ceil_status open_run(struct session *s, struct ceil_error *err)
{
	const char *output = s->o->output;
	enum ceil_status st = CEIL_OK;
	char name[128];

	ceil_run_name(name, sizeof(name));
	if (ceil_ranks_leads(&s->ranks))
		st = ceil_run_open(s->ranks.mpi && !output ? name : output, s->info, &s->run, err);
	ceil_ranks_listen(&s->ranks, on_row, s);
	return s->ranks.mpi ? ceil_team_agree(&s->ranks.mpi->team, st, err) : st;
}

/* Only one rank speaks. */
static int fail_together(const struct session *s, const struct ceil_error *err)
{
	return ceil_ranks_leads(&s->ranks) ? ceil_cli_error(err) : CEIL_EXIT_USAGE;
}

static int run_session(struct session *s, const struct ceil_filter *f,
                       const struct ceil_run_setup *setup, FILE *talk, struct ceil_error *err)
{
	const uint64_t from_ns = ceil_now_ns();
	const bool leads = ceil_ranks_leads(&s->ranks);
	bool hung = false;
	enum ceil_status st;

	s->info = ceil_info_make(setup, &s->inv);
	st = open_run(s, err);
	if (st != CEIL_OK)
		return fail_together(s, err);
	ceil_monitor_begin(&s->monitor, &s->inv);
	st = rows_of_missing(s, f, err);
	if (st == CEIL_OK)
		st = open_lanes(s, f, /* with_rows= */ true, err);
	if (st == CEIL_OK && leads)
		st = ceil_monitor_watch(&s->monitor, s->lanes, s->lane_count, s->run, s->info, err);
	for (size_t i = 0; i < s->lane_count; i++)
		ceil_info_add_lane(s->info, &s->lanes[i]);
	add_libraries(s, s->info);
	keep_peaks(s);
	announce(s, talk);
	ceil_screen_open(&s->screen, leads && isatty(STDERR_FILENO) ? stderr : talk);
	if (st == CEIL_OK)
		st = measure(s, &hung, err);
	return finish(s, st, hung, from_ns, err);
}

/* Where this process speaks: ranks other than the first do not. */
static int run_aloud(struct session *s, const struct ceil_filter *f,
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

static enum ceil_status look_around(struct session *s, const struct ceil_inventory_options *wanted,
                                    struct ceil_error *err)
{
	enum ceil_status st = s->o->mpi ? ceil_ranks_open(&s->ranks, err) : CEIL_OK;

	if (st == CEIL_OK)
		st = ceil_inventory_open(wanted, &s->inv, err);
	if (!s->ranks.mpi)
		return st;
	st = ceil_team_agree(&s->ranks.mpi->team, st, err);
	return st == CEIL_OK ? ceil_ranks_bind(&s->ranks, &s->inv, err) : st;
}

/* Shapes and algorithms are the gemm bench's: it is meant where none is named. */
static enum ceil_status read_gemm(const struct options *o, struct ceil_shapes *shapes,
                                  struct ceil_filter *f, struct ceil_error *err)
{
	const char *option = o->shape ? "shape" : o->shapes ? "shapes" : "algo";
	const bool named = f->benches.count > 0;
	enum ceil_status st = CEIL_OK;

	if (!o->shape && !o->shapes && !o->algorithm)
		return CEIL_OK;
	if (named && (f->benches.count > 1 || strcmp(f->benches.item[0], "gemm") != 0))
		return ceil_fail(err, CEIL_E_USAGE, "--%s is for the bench gemm alone", option);
	if (o->algorithm && strncmp(o->algorithm, "id=", 3) != 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--algo %.60s: an algorithm begins with 'id=', as in the column "
		                 "algorithm of records.csv",
		                 o->algorithm);
	if (!named)
		st = ceil_list_add(&f->benches, "gemm", err);
	if (st == CEIL_OK && o->shape)
		st = ceil_shapes_parse(shapes, o->shape, err);
	if (st == CEIL_OK && o->shapes)
		st = ceil_shapes_read(shapes, o->shapes, err);
	f->own = shapes->v;
	f->own_count = shapes->count;
	f->algorithm = o->algorithm;
	return st;
}

static enum ceil_status read_data(const struct options *o, struct ceil_filter *f,
                                  struct ceil_error *err)
{
	for (size_t i = 0; i < o->patterns.count; i++) {
		enum ceil_pattern p;
		const enum ceil_status st = ceil_pattern_parse(o->patterns.item[i], &p, err);

		if (st != CEIL_OK)
			return st;
		f->patterns |= 1u << p;
	}
	/* Below, half a second of work takes too long; above, no idle time is left to sleep in. */
	if (isnan(o->duty))
		return CEIL_OK;
	if (!(o->duty >= 0.05 && o->duty <= 0.95))
		return ceil_fail(err, CEIL_E_USAGE, "--duty %g: from 0.05 to 0.95", o->duty);
	f->duty = o->duty;
	return CEIL_OK;
}

static enum ceil_status read_filter(const struct options *o, int argc, char **argv,
                                    struct ceil_shapes *shapes, struct ceil_filter *ret_f,
                                    struct ceil_error *err)
{
	enum ceil_status st;

	*ret_f = (struct ceil_filter){.variants = o->variants,
	                              .dtypes = o->dtypes,
	                              .backend = o->backend ? backend_names[o->backend] : NULL,
	                              .quick = o->quick,
	                              .more = budget_s(o) > DEFAULT_BUDGET_S};
	for (int i = 1; i <= argc; i++) {
		st = ceil_list_add(&ret_f->benches, argv[i], err);
		if (st != CEIL_OK)
			return st;
	}
	st = ceil_filter_check(ret_f, err);
	if (st == CEIL_OK)
		st = read_gemm(o, shapes, ret_f, err);
	return st == CEIL_OK ? read_data(o, ret_f, err) : st;
}

static int run_with(const struct options *o, const struct ceil_shapes *shapes,
                    const struct ceil_filter *f, const struct ceil_run_setup *setup)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct session *s = ceil_alloc(1, sizeof(*s), &err);
	const struct ceil_inventory_options wanted = {
		.backend = o->backend ? backend_names[o->backend] : NULL,
		.gpus = o->gpus,
		.busy = (enum ceil_busy_policy)o->busy,
		.look_for_others = true,
	};
	int status;

	if (!s)
		return ceil_cli_error(&err);
	s->o = o;
	s->shapes = shapes;
	if (look_around(s, &wanted, &err) != CEIL_OK) {
		status = fail_together(s, &err);
	} else if (o->dry_run) {
		status = open_lanes(s, f, /* with_rows= */ false, &err) == CEIL_OK
		                 ? dry_run(s)
		                 : fail_together(s, &err);
	} else {
		status = run_aloud(s, f, setup, &err);
	}
	close_lanes(s);
	ceil_ranks_close(&s->ranks);
	ceil_monitor_close(&s->monitor);
	ceil_inventory_close(&s->inv);
	json_decref(s->info);
	free(s->ceilings);
	ceil_twins_done(&s->twins);
	free(s);
	return status;
}

/* @words: the command line as it was typed; parsing moves argv about. */
static int run_words(int argc, char **argv, char **words)
{
	struct options o = {.seed = 1, .duty = (double)NAN};
	struct ceil_shapes shapes = {NULL, 0, 0};
	struct ceil_filter f;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_run_setup setup = {.argc = argc, .argv = words, .command = "bench"};
	int named = 0;
	int status;

	if (!ceil_cli_parse(&ceil_command_bench, argc, argv, &o, &named, &status))
		return status;
	if (read_filter(&o, named, argv, &shapes, &f, &err) != CEIL_OK) {
		ceil_shapes_done(&shapes);
		return ceil_cli_error(&err);
	}
	setup.seed = o.seed;
	setup.quick = o.quick;
	setup.budget_s = budget_s(&o);
	ceil_info_clean(&setup);
	ceil_cancel_install();
	status = run_with(&o, &shapes, &f, &setup);
	ceil_shapes_done(&shapes);
	return status;
}

static int run_bench(int argc, char **argv)
{
	struct ceil_error err = {CEIL_OK, ""};
	char **words = ceil_alloc((size_t)argc + 1, sizeof(*words), &err);
	int status;

	if (!words)
		return ceil_cli_error(&err);
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	status = run_words(argc, argv, words);
	free(words);
	return status;
}
