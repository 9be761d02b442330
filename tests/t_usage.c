/* Means of a scenario, what was expected, verdicts on both sides of each threshold, the table. */
#include "harness/analysis/usage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static struct ceil_usage_row tick(double at_s, bool steady)
{
	struct ceil_usage_row r;

	ceil_table_clear(&ceil_usage_series_table, &r);
	(void)snprintf(r.scenario, sizeof(r.scenario), "%s", "one_warp");
	(void)snprintf(r.event, sizeof(r.event), "%s", CEIL_USAGE_TICK);
	r.seconds = 10 + at_s;
	r.scenario_s = at_s;
	r.steady = steady;
	return r;
}

static struct ceil_usage_row end_row(void)
{
	struct ceil_usage_row r = tick(3, false);

	(void)snprintf(r.event, sizeof(r.event), "%s", CEIL_USAGE_END);
	(void)snprintf(r.status, sizeof(r.status), "%s", "ok");
	return r;
}

/* ---- means */

static void test_means(void)
{
	struct ceil_usage_row v[5] = {tick(0.5, false), tick(1.5, true), tick(2.0, true),
	                              tick(2.5, true), end_row()};
	struct ceil_usage u;

	v[0].gpu_util = 0.5; /* an edge: does not count */
	v[1].gpu_util = 1;
	v[2].gpu_util = 1;
	v[3].gpu_util = 0.94;
	v[1].sm_active = 0.006;
	v[3].sm_active = 0.008; /* v[2] has none: the mean is of two */
	v[2].tflops = 500;
	v[2].tflops_ceiling = 1000;
	v[4].self_sm_active = 0.0076;
	ceil_usage_of(v, 5, NULL, &u);
	is_text(u.scenario, "one_warp", "whose");
	is_u64(u.readings, 3, "readings that count");
	is_close(u.steady_s, 1.0, 1e-12, "from the first to the last");
	is_close(u.gpu_util, 0.98, 1e-12, "mean without the edge");
	is_close(u.sm_active, 0.007, 1e-12, "mean of what is known");
	is_close(u.self_sm_active, 0.0076, 1e-12, "what blocks told stands in the end row");
	is_close(u.of_flops_ceiling, 0.5, 1e-12, "over the ceiling");
	is_close(u.of_bytes_ceiling, (double)NAN, 0, "no ceiling, no ratio");
	is_close(u.tensor_active, (double)NAN, 0, "never known is absent");
	is_text(u.verdict, "busy_but_idle", "verdict");
	is_text(u.status, "ok", "status of the end row");
	ceil_usage_of(v, 4, NULL, &u);
	is_text(u.status, "cancelled", "without an end row it was cut");
	has_text(u.reason, "not seen", "and says so");
	ceil_usage_of(v, 1, NULL, &u);
	is_u64(u.readings, 0, "only an edge");
	is_text(u.verdict, "", "gives no verdict");
	is_close(u.gpu_util, (double)NAN, 0, "and no mean");
}

static void test_expected(void)
{
	const struct ceil_scenario *sc = ceil_scenario_find("one_warp");
	struct ceil_usage_row v[2] = {tick(1.5, true), end_row()};
	struct ceil_usage u;

	v[0].gpu_util = 1;
	v[0].sm_active = 0.0076;
	ceil_usage_of(v, 2, sc, &u);
	is_text(u.expected, "yes", "as expected");
	v[0].sm_active = 0.4;
	ceil_usage_of(v, 2, sc, &u);
	is_text(u.expected, "no", "not as expected");
	has_text(u.unexpected, "SM-active 0.4", "which counter");
	has_text(u.unexpected, "verdict partly_used, not busy_but_idle", "and the verdict");
	v[0].sm_active = 0.0076;
	v[0].gpu_util = (double)NAN;
	ceil_usage_of(v, 2, sc, &u);
	is_text(u.verdict, "partly_used", "without GPU-Util the verdict is another");
	is_text(u.expected, "yes", "which is nobody's fault");
	v[0].gpu_util = (double)NAN;
	v[0].sm_active = (double)NAN;
	ceil_usage_of(v, 2, ceil_scenario_find("storm"), &u);
	is_text(u.expected, "", "nothing known, nothing expected");
}

static void test_steady(void)
{
	ok(!ceil_usage_steady(1.1, 5), "GPU-Util is still a mean of what was before");
	ok(ceil_usage_steady(1.3, 5) && ceil_usage_steady(4.8, 5), "the middle counts");
	ok(!ceil_usage_steady(4.95, 5) && !ceil_usage_steady(5.2, 5), "the end does not");
	is_close(ceil_usage_tell_s(5), 4.4, 1e-12, "blocks tell at the end");
	is_close(ceil_usage_tell_s(1), 0.5, 1e-12, "of a short play in its second half");
	ok(!ceil_usage_steady(0.4, 1) && ceil_usage_steady(0.6, 1), "a short one: its second half");
}

/* ---- verdicts */

static struct ceil_usage usage(double util, double sm)
{
	struct ceil_usage u;

	ceil_table_clear(&ceil_usage_table, &u);
	u.gpu_util = util;
	u.sm_active = sm;
	return u;
}

static void says(struct ceil_usage u, const char *want, const char *name)
{
	is_text(ceil_verdict_of(&u)->name, want, name);
}

static void test_shares(void)
{
	says(usage((double)NAN, (double)NAN), "unknown", "no counter at all");
	says(usage(0, (double)NAN), "idle", "GPU-Util alone tells idle");
	says(usage(0.019, 0.009), "idle", "next to nothing");
	says(usage(0.03, 0.009), "starved", "a little more than nothing");
	says(usage(0.95, 0.09), "busy_but_idle", "full, and a tenth in use");
	says(usage(0.95, 0.11), "partly_used", "full, and more than a tenth");
	says(usage(0.89, 0.09), "partly_used", "not quite full");
	says(usage(0.79, 0.5), "starved", "gaps");
	says(usage(0.81, 0.5), "partly_used", "hardly any gaps");
	says(usage(1, 0.79), "partly_used", "not all multiprocessors");
	says(usage(1, 0.81), "occupied_for_nothing", "all, and nothing else known");
	says(usage((double)NAN, 0.05), "partly_used", "MIG: no GPU-Util");
	says(usage((double)NAN, 0.0076), "partly_used", "no NVML: one warp of 132 is no idle GPU");
	says(usage((double)NAN, 0), "idle", "no NVML, and nothing in use");
}

static void test_rates(void)
{
	struct ceil_usage u = usage(1, 1);

	u.of_flops_ceiling = 0.79;
	says(u, "below_ceiling", "below the ceiling");
	u.of_flops_ceiling = 0.81;
	says(u, "well_fed", "near the ceiling");
	u.of_flops_ceiling = 0.09;
	says(u, "occupied_for_nothing", "a tenth of the ceiling is as good as nothing");
	u.of_flops_ceiling = 0.11;
	says(u, "below_ceiling", "more than a tenth is something");
	u = usage(1, 1);
	u.tensor_active = 0.81;
	says(u, "well_fed", "tensor pipes busy");
	u.tensor_active = 0.5;
	says(u, "below_ceiling", "half of the time");
	u = usage(1, 1);
	u.fp32_active = 0.85;
	says(u, "well_fed", "fp32 pipe busy");
	u = usage(1, 0.95);
	u.dram_active = 0.61;
	says(u, "memory_bound", "memory busy");
	u.dram_active = 0.59;
	says(u, "below_ceiling", "memory not quite busy");
	u.of_bytes_ceiling = 0.81;
	says(u, "memory_bound", "the rate tells it too");
	u.tensor_active = 0.6;
	says(u, "below_ceiling", "but not beside tensor pipes that work");
	u = usage(1, 0);
	u.gb_s = 55;
	says(u, "copying", "bytes move and no SM is in use");
	u.sm_active = 0.011;
	says(u, "busy_but_idle", "some SM is");
	u = usage((double)NAN, (double)NAN);
	u.pm_sm_active = 0.05;
	u.gpu_util = 1;
	says(u, "busy_but_idle", "PM sampling serves where GPM is missing");
	u.pm_sm_active = (double)NAN;
	u.self_sm_active = 0.05;
	says(u, "busy_but_idle", "and what blocks tell where both are");
}

static void test_rules(void)
{
	for (size_t i = 0; i < ceil_verdict_rule_count; i++) {
		const struct ceil_verdict_rule *r = &ceil_verdict_rules[i];

		ok(*r->name && *r->words && ceil_verdict_find(r->name) == r, "%s", r->name);
		ok(strlen(r->name) < sizeof(((struct ceil_usage *)0)->verdict), "%s fits", r->name);
		ok(strlen("= : ") + strlen(r->name) + strlen(r->words) <= 78,
		   "%s: name and words fit a line of the screen", r->name);
	}
	ok(!ceil_verdict_find("nonsense"), "no other");
}

/* ---- tables and lines */

static void test_columns(void)
{
	const struct ceil_table *tables[] = {&ceil_usage_series_table, &ceil_usage_table};

	is_text(ceil_usage_table.fields[0].name, "scenario", "the first column is the scenario");
	for (int t = 0; t < 2; t++) {
		for (size_t i = 0; i < tables[t]->field_count; i++) {
			const struct ceil_field *f = &tables[t]->fields[i];

			if (ceil_table_find(tables[t], f->name) != f)
				ok(false, "%s: %s is there twice", tables[t]->name, f->name);
		}
	}
	/* A figure of the means must find its series, or it would always be absent. */
	for (size_t i = 0; i < ceil_usage_table.field_count; i++) {
		const struct ceil_field *f = &ceil_usage_table.fields[i];
		const struct ceil_field *from = ceil_table_find(&ceil_usage_series_table, f->name);

		if (from)
			ok(from->type == f->type && from->size == f->size, "%s is alike in both",
			   f->name);
	}
}

static void test_line(void)
{
	const double x[] = {1, 2, 4, 8}, straight[] = {3, 5, 9, 17}, flat[] = {1, 1, 1, 1};
	const double bent[] = {1, 4, 16, 64};

	is_close(ceil_usage_line(x, straight, 4), 1, 1e-12, "a straight line");
	is_close(ceil_usage_line(x, flat, 4), (double)NAN, 0, "a flat one has no R^2");
	is_close(ceil_usage_line(x, straight, 2), (double)NAN, 0, "two points are no line");
	/* By hand: mean x 3.75, y 21.25; xx 28.75, xy 266.25, yy 2562.75. */
	is_close(ceil_usage_line(x, bent, 4), 266.25 * 266.25 / (28.75 * 2562.75), 1e-12,
	         "squares are none");
}

int main(void)
{
	test_means();
	test_expected();
	test_steady();
	test_shares();
	test_rates();
	test_rules();
	test_columns();
	test_line();
	return done_testing();
}
