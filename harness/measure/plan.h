/* The plan: filters x variants x cases = points, priced and fitted to the budget. Pure. */
#ifndef CEIL_PLAN_H
#define CEIL_PLAN_H

#include "harness/base/text.h"
#include "harness/measure/bench.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A shape of the user's. */
struct ceil_own_case {
	struct ceil_case cas;
	char name[48];    /* of cas */
	const char *kind; /* for ceilings that end in ".kind": "bf16"; NULL: for all */
	uint64_t count;   /* how often a list has it */
};

/* What the user asked for. Empty lists mean all. */
struct ceil_filter {
	const struct ceil_bench *const *list; /* NULL-terminated; NULL: ceil_benches */
	struct ceil_list benches, variants, dtypes, ceilings;
	const char *backend;             /* NULL: all */
	const struct ceil_own_case *own; /* measured instead of the benches' cases; or NULL */
	size_t own_count;
	const char *algorithm; /* the only one to take, in the words of describe; NULL: search */
	double duty;           /* a row between burst and sustained; 0: none */
	unsigned patterns;     /* bit p: rows with ceil_pattern p; 0: each variant's own */
	bool quick, more;      /* more: the cases of long runs too */
	bool team_only;        /* only what a team measures together */
};

enum ceil_fate { CEIL_RUN, CEIL_UNSUPPORTED, CEIL_SKIPPED };

struct ceil_entry {
	struct ceil_point point;
	enum ceil_fate fate;
	char reason[192]; /* when not CEIL_RUN */
	double price_s;   /* of the search alone: ceil_plan_entry_s */
	bool more;        /* a case of long runs */
};

struct ceil_plan {
	struct ceil_entry *v; /* in the order of the run */
	size_t count, cap;
	double price_s, sustained_s; /* of this device alone: all; and the sustained rows in it */
	bool quick;                  /* few sustained rows, and none for the others */
	bool few_sustained;          /* dropped by the budget: all but those that --quick has */
	bool drop_sustained;         /* all */
	char coverage[256];          /* what the budget dropped, in words; "" if nothing */
};

/* Devices with such a plan in one run: where they do not measure at once, each waits for others. */
struct ceil_sharing {
	unsigned devices;
	bool one_by_one; /* only teams measure at once */
};

/*
 * ceil_plan_make - the points of a backend's device. With props the points are also checked
 * against the device; NULL leaves them as they are (no device: every point unsupported).
 * @why_not: with NULL props, the reason that stands in the rows.
 * Return: CEIL_E_USAGE if a filter names nothing, with the nearest name; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_plan_make(const struct ceil_filter *f, const char *backend,
                                                const struct ceil_device_props *props,
                                                const char *why_not, struct ceil_plan *ret_plan,
                                                struct ceil_error *err);

/*
 * ceil_plan_fit - drops cases of long runs one by one, the last first, then sustained rows (first
 * those that --quick leaves out, then all), then cases that --quick leaves out, then variants that
 * it leaves out, until the price is within budget_s; what goes is skipped with the reason.
 */
void ceil_plan_fit(struct ceil_plan *plan, double budget_s, struct ceil_sharing sharing);

/* ceil_plan_sustained - how many points of a variant's ceiling run sustained under this plan. */
unsigned ceil_plan_sustained(const struct ceil_plan *plan, const struct ceil_variant *v);

/* ceil_plan_final_s - about how long the finals of the ceiling of entry first take in a regime. */
double ceil_plan_final_s(const struct ceil_plan *plan, size_t first, enum ceil_regime regime);

/*
 * ceil_plan_entry_s - what entry i adds to the price of its plan: its search, and the finals of
 * its ceiling if it is the first of it that runs. 0 for one that does not run.
 */
double ceil_plan_entry_s(const struct ceil_plan *plan, size_t i);

/* ceil_plan_done - frees the entries; a plan of zeros is fine. */
void ceil_plan_done(struct ceil_plan *plan);

/*
 * ceil_filter_check - every name in the filter exists, and together they leave something.
 * Return: CEIL_E_USAGE with the nearest name, or that nothing is left.
 */
CEIL_MUST_CHECK enum ceil_status ceil_filter_check(const struct ceil_filter *f,
                                                   struct ceil_error *err);

/* ceil_filter_has_bursts - whether anything that the filter leaves has bursts, as --duty needs. */
bool ceil_filter_has_bursts(const struct ceil_filter *f);

/*
 * ceil_point_ceiling - "gemm.bf16.burst": the variant's ceiling and the regime; between them the
 * case if it is the user's own, and the pattern if it is not the variant's own:
 * "gemm.bf16.4096x1x4096.zeros.burst".
 */
void ceil_point_ceiling(const struct ceil_point *p, char *ret_text, size_t size);

/* ceil_point_competes - whether two points compete for one ceiling, regimes aside. */
bool ceil_point_competes(const struct ceil_point *a, const struct ceil_point *b);

#endif
