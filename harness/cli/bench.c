/* gpuceil bench: measures the ceilings of this node. */
#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/cli/bench_options.h"
#include "harness/cli/commands.h"
#include "harness/cli/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const busy_names[] = {"skip", "run", "fail", NULL};

#define OPTION(member, name, type, argument, group, choices, doc)                                  \
	CEIL_OPTION(struct ceil_bench_options, member, name, type, argument, group, choices, doc)

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
	OPTION(sizes, "size", CEIL_O_LIST, "LIST", "What to measure", NULL,
               "dram, hostcopy, collective: ceilings of arrays of these sizes: 8,64KiB,1GiB"),
	OPTION(patterns, "pattern", CEIL_O_LIST, "LIST", "What to measure", NULL,
               "timed data: normal (default), zeros, constant, integers; several give a row each"),
	OPTION(duty, "duty", CEIL_O_DOUBLE, "RATIO", "What to measure", NULL,
               "a row between burst and sustained: this share of the time is work, 0.05 to 0.95"),
	OPTION(quick, "quick", CEIL_O_FLAG, NULL, "What to measure", NULL,
               "the best known forms only, in a minute; good for a health check"),
	OPTION(budget_ns, "budget", CEIL_O_DURATION, "TIME", "What to measure", NULL,
               "seconds, or 90s, 2m: drops sustained rows first, then sweeps, then variants; "
               "default 4m or with --quick 1m, for each GPU; more than 4m measures further shapes"),
	OPTION(seed, "seed", CEIL_O_U64, "N", "What to measure", NULL,
               "of the random data; the same seed gives the same data everywhere; default 1"),
	OPTION(gpus, "gpu", CEIL_O_LIST, "LIST", "Where", NULL,
               "nvidia-smi's index or a UUID; default all; CUDA_VISIBLE_DEVICES is respected"),
	OPTION(backend, "backend", CEIL_O_CHOICE, "NAME", "Where", ceil_bench_backends,
               "which devices; default all"),
	OPTION(busy, "busy", CEIL_O_CHOICE, "WHAT", "Where", busy_names,
               "what to do with a GPU on which someone else works; default skip"),
	OPTION(one_by_one, "one-by-one", CEIL_O_FLAG, NULL, "Where", NULL,
               "one GPU at a time but in collectives; default is all at once but in launch and "
               "hostcopy, which need the host"),
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
	.examples = "gpuceil bench\teverything, in about four minutes on one GPU\n"
		    "gpuceil bench --quick\ta health check in a minute\n"
		    "gpuceil bench gemm --dtype bf16\tmatrix products of one type\n"
		    "gpuceil bench gemm --shapes layers.csv\tthe products of a model of yours\n"
		    "mpirun -np 8 gpuceil bench collective --mpi\teight GPUs, a process each\n"
		    "gpuceil bench dram --gpu 0,1 --output /tmp/r\tmemory of two GPUs\n",
	.run = run_bench,
};

/* ---- dry run */

/* After so many seconds no row of the device begins. */
static double given_s(const struct ceil_session *s, const struct ceil_lane *lane)
{
	const bool host = strcmp(lane->dev->backend->name, "host") == 0;
	const double all_s = s->o->budget_ns ? (double)s->o->budget_ns * 1e-9 : (double)INFINITY;

	return host ? fmin(all_s, ceil_session_host_s(s)) : all_s;
}

static void print_plan(const struct ceil_session *s, const struct ceil_lane *lane)
{
	const double limit_s = given_s(s, lane);
	char ceiling[64];
	char took[32];
	char limit[32];
	size_t points = 0;

	for (size_t i = 0; i < lane->plan.count; i++) {
		const struct ceil_entry *e = &lane->plan.v[i];

		points += e->fate == CEIL_RUN;
		ceil_point_ceiling(&e->point, ceiling, sizeof(ceiling));
		printf("%-10s %-22s %-24s %-20s %s\n", lane->dev->props.label, ceiling,
		       e->point.variant->name, e->point.cas->name,
		       e->fate == CEIL_RUN ? "run" : e->reason);
	}
	ceil_human_seconds(took, sizeof(took), ceil(lane->plan.price_s));
	printf("%s: %zu point%s, about %s%s%s", lane->dev->props.label, points,
	       points == 1 ? "" : "s", took, *lane->plan.coverage ? "; left out: " : "",
	       lane->plan.coverage);
	if (lane->plan.price_s > limit_s) {
		ceil_human_seconds(limit, sizeof(limit), limit_s);
		printf("; what has not begun after %s is skipped", limit);
	}
	putchar('\n');
}

static int dry_run(struct ceil_session *s)
{
	if (!ceil_ranks_leads(&s->ranks))
		return CEIL_EXIT_OK;
	for (size_t i = 0; i < s->lane_count; i++)
		print_plan(s, &s->lanes[i]);
	for (size_t i = 0; i < s->inv.missing_count; i++)
		printf("%s: %s\n", s->inv.missing[i].backend->name, s->inv.missing[i].reason);
	return CEIL_EXIT_OK;
}

static int run_with(const struct ceil_bench_options *o, const struct ceil_shapes *shapes,
                    const struct ceil_filter *f, const struct ceil_run_setup *setup)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_session *s = ceil_alloc(1, sizeof(*s), &err);
	const struct ceil_inventory_options wanted = {
		.backend = ceil_bench_backend(o),
		.gpus = o->gpus,
		.busy = (enum ceil_busy_policy)o->busy,
		.look_for_others = true,
	};
	int status;

	if (!s)
		return ceil_cli_error(&err);
	s->o = o;
	s->shapes = shapes;
	if (ceil_session_look(s, &wanted, &err) != CEIL_OK) {
		status = ceil_session_fail(s, &err);
	} else if (o->dry_run) {
		status = ceil_session_open_lanes(s, f, &err) == CEIL_OK
		                 ? dry_run(s)
		                 : ceil_session_fail(s, &err);
	} else {
		status = ceil_session_run(s, f, setup, &err);
	}
	ceil_session_close(s);
	free(s);
	return status;
}

/* @words: the command line as it was typed; parsing moves argv about. */
static int run_words(int argc, char **argv, char **words)
{
	struct ceil_bench_options o = {.seed = 1, .duty = (double)NAN};
	struct ceil_shapes shapes = {NULL, 0, 0};
	struct ceil_filter f;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_run_setup setup = {.argc = argc, .argv = words, .command = "bench"};
	int named = 0;
	int status;

	if (!ceil_cli_parse(&ceil_command_bench, argc, argv, &o, &named, &status))
		return status;
	if (ceil_bench_filter(&o, named, argv, &shapes, &f, &err) != CEIL_OK) {
		ceil_shapes_done(&shapes);
		return ceil_cli_error(&err);
	}
	setup.seed = o.seed;
	setup.quick = o.quick;
	setup.budget_s = ceil_bench_budget_s(&o);
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
