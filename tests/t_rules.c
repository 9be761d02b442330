/* The rules of measurement that the tables of all benches must keep; each bench's own test has
 * more. */
#include "harness/measure/bench.h"
#include "tests/tap.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Calls f for every variant of every bench. */
static void each(void (*f)(const struct ceil_bench *b, const struct ceil_variant *v))
{
	for (size_t i = 0; ceil_benches[i]; i++) {
		for (size_t k = 0; k < ceil_benches[i]->variant_count; k++)
			f(ceil_benches[i], &ceil_benches[i]->variants[k]);
	}
}

/* ---- how far a value may move from run to run; measuring.md, Tolerances. Longest prefix first. */

static const struct {
	const char *prefix;
	double tolerance;
} tolerances[] = {
	{"gemm.bf16_grouped", 0.02}, /* its sizes are copied from the host within each call */
	{"h2d.pageable", 0.05},
	{"d2h.pageable", 0.05},
	{"dram.", 0.01},
	{"smem.", 0.01},
	{"l1.", 0.01},
	{"fma.", 0.01},
	{"tensor.", 0.01},
	{"gemm.", 0.01},
	{"h2d.", 0.01},
	{"d2h.", 0.01},
	{"bidi.", 0.01},
	{"host.", 0.05},
	{"l2.", 0.05},
	{"launch.", 0.05},
};

static void check_tolerance(const struct ceil_bench *b, const struct ceil_variant *v)
{
	if (v->sweep)
		return; /* a point of a curve is no ceiling */
	if (v->resource == CEIL_R_LATENCY) {
		ok(v->tolerance == 0.05, "%s/%s: its median moves by %g; tails have no limit",
		   b->name, v->name, v->tolerance);
		return;
	}
	for (size_t i = 0; i < sizeof(tolerances) / sizeof(tolerances[0]); i++) {
		if (!begins(v->ceiling, tolerances[i].prefix))
			continue;
		ok(v->tolerance == tolerances[i].tolerance, "%s/%s (%s): tolerance %g", b->name,
		   v->name, v->ceiling, v->tolerance);
		return;
	}
}

/* ---- the gate holds a stream until all is enqueued: a wait behind it would never end */

static void check_gate(const struct ceil_bench *b, const struct ceil_variant *v)
{
	if (!v->gated)
		return;
	ok(v->timing == CEIL_TIME_MARKS && strcmp(v->backend, "cuda") == 0 && !b->team &&
	           !strstr(v->name, "pageable") && !strstr(v->name, "grouped"),
	   "%s/%s: nothing behind its gate waits", b->name, v->name);
}

/* ---- data: random on a GPU, where zeros draw less power; nowhere all alike */

static void check_data(const struct ceil_bench *b, const struct ceil_variant *v)
{
	const bool gpu = strcmp(v->backend, "cuda") == 0;

	ok(gpu ? v->pattern == CEIL_NORMAL
	       : v->pattern == CEIL_NORMAL || v->pattern == CEIL_INTEGERS,
	   "%s/%s: timed on data that nobody can guess", b->name, v->name);
}

/* ---- regimes: of products alone; heat decides there, and only there */

static bool takes_three(const struct ceil_variant *v)
{
	return strcmp(v->ceiling, "gemm.bf16") == 0 || strcmp(v->ceiling, "gemm.e4m3_fast") == 0;
}

static void check_regimes(const struct ceil_bench *b, const struct ceil_variant *v)
{
	const bool product = begins(v->ceiling, "tensor.") || begins(v->ceiling, "gemm.");

	ok((v->burst_finalists > 0) == product, "%s/%s: a burst row for products alone", b->name,
	   v->name);
	ok(v->sustained_finalists == 0 || v->burst_finalists > 0,
	   "%s/%s: no sustained row without a burst row", b->name, v->name);
	ok(v->sustained_finalists <= (takes_three(v) ? 3 : 1) &&
	           v->quick_sustained <= v->sustained_finalists,
	   "%s/%s: %u run sustained", b->name, v->name, v->sustained_finalists);
	if (takes_three(v))
		ok(v->sustained_finalists == 3, "%s/%s: the burst winner need not win", b->name,
		   v->name);
}

/* ---- names: a ceiling is one operation, in one unit, of one bench, on one backend */

static bool same_operation(const struct ceil_bench *b, const struct ceil_variant *v,
                           const struct ceil_bench *c, const struct ceil_variant *w)
{
	return b == c && v->unit == w->unit && strcmp(v->backend, w->backend) == 0;
}

static void check_name(const struct ceil_bench *b, const struct ceil_variant *v)
{
	bool alike = true, versus = false;

	for (size_t i = 0; ceil_benches[i]; i++) {
		for (size_t k = 0; k < ceil_benches[i]->variant_count; k++) {
			const struct ceil_variant *w = &ceil_benches[i]->variants[k];

			if (strcmp(v->ceiling, w->ceiling) == 0)
				alike &= same_operation(b, v, ceil_benches[i], w);
			versus |= v->versus && !w->sweep && strcmp(v->versus, w->ceiling) == 0;
		}
	}
	ok(alike, "%s/%s: %s is one thing everywhere", b->name, v->name, v->ceiling);
	if (v->versus)
		ok(versus, "%s/%s: %s is a ceiling", b->name, v->name, v->versus);
	ok(begins(v->ceiling, "host.") == (strcmp(v->backend, "host") == 0),
	   "%s/%s: the host's ceilings are called so", b->name, v->name);
}

/* ---- benches: all are checked, the cool ones come first */

static bool is_hot(const struct ceil_bench *b)
{
	for (size_t k = 0; k < b->variant_count; k++) {
		if (b->variants[k].burst_finalists > 0)
			return true;
	}
	return false;
}

static void check_benches(void)
{
	bool hot = false;

	for (size_t i = 0; ceil_benches[i]; i++) {
		const struct ceil_bench *b = ceil_benches[i];

		ok(b->check != NULL, "%s: its results are checked", b->name);
		ok(ceil_bench_find(b->name) == b, "%s: no other has its name", b->name);
		ok(*b->summary && *b->doc && *b->source, "%s: summary, doc and source", b->name);
		/* A collective waits for its wires, not for a cool GPU. */
		ok(!hot || is_hot(b) || b->team, "%s: no hot bench runs before it", b->name);
		hot |= is_hot(b);
		/* A launch and a copy need the host, which one GPU at a time has to itself. */
		ok(b->concurrent == !(begins(b->name, "launch") || begins(b->name, "hostcopy")),
		   "%s: on all GPUs at once, unless it needs the host", b->name);
	}
}

int main(void)
{
	check_benches();
	each(check_tolerance);
	each(check_gate);
	each(check_data);
	each(check_regimes);
	each(check_name);
	return done_testing();
}
