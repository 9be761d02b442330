/* Statistics by hand-computed answers, and the stop rules on recorded series. */
#include "harness/measure/stats.h"
#include "harness/measure/stop.h"
#include "tests/tap.h"

#include <math.h>

static void add(struct ceil_series *s, double time_ns, uint64_t batch, double mhz,
                enum ceil_drop drop)
{
	const struct ceil_sample x = {
		.batch = batch, .time_ns = time_ns, .clock_mhz = mhz, .drop = drop};

	ok(ceil_series_add(s, &x, NULL) == CEIL_OK, "add");
}

static void test_quantiles(void)
{
	const double v[] = {1, 2, 3, 4};

	is_close(ceil_quantile(v, 4, 0.0), 1.0, 0, "minimum");
	is_close(ceil_quantile(v, 4, 1.0), 4.0, 0, "maximum");
	is_close(ceil_quantile(v, 4, 0.5), 2.5, 0, "median of an even count");
	is_close(ceil_quantile(v, 4, 0.95), 3.85, 1e-12, "p95 between the last two");
	is_close(ceil_quantile(v, 0, 0.5), NAN, 0, "nothing has no median");
}

static void test_stats(void)
{
	struct ceil_series s = {0};
	struct ceil_stats st;

	ceil_stats_of(&s, 0, &st);
	is_int((long long)st.count, 0, "an empty series has no samples");
	is_close(st.median, NAN, 0, "and no median");
	add(&s, 100, 1, 1000, CEIL_DROP_WARMUP);
	for (int i = 1; i <= 9; i++)
		add(&s, i, i == 9 ? 11 : 1, i == 1 ? (double)NAN : 1000.0 + i, CEIL_KEEP);
	ceil_stats_of(&s, 0, &st);
	is_int((long long)st.count, 9, "kept");
	is_int((long long)st.dropped, 1, "dropped");
	is_close(st.median, 5, 0, "median");
	is_close(st.min, 1, 0, "min");
	is_close(st.spread, (8.6 - 1.4) / 5, 1e-12, "spread is p95 - p05 over the median");
	is_close(st.mean, (36.0 + 99.0) / 19.0, 1e-12, "the mean weighs by launches");
	/* n = 9: ranks floor((9 - 5.88) / 2) = 1 and ceil((9 + 5.88) / 2) = 8, from 0. */
	is_close(st.ci_lo, 2, 0, "interval of the median, low");
	is_close(st.ci_hi, 9, 0, "interval of the median, high");
	is_close(st.clock_mhz, 1005.5, 0, "the clock leaves out what was not measured");
	ceil_stats_of(&s, 8, &st);
	is_int((long long)st.count, 2, "from a later sample on");
	is_close(st.ci_lo, NAN, 0, "two samples have no interval");
	ceil_stats_of(&s, 9, &st);
	is_close(st.median, 9, 0, "one sample is its own median");
	is_close(st.spread, NAN, 0, "and has no spread, not one of 0");
	ceil_series_done(&s);
	is_int((long long)s.count, 0, "done");
}

static const struct ceil_effort effort = {
	.name = "test", .min_samples = 6, .max_samples = 20, .budget_ns = 1000, .precision = 0.01};

static void test_precise(void)
{
	const struct ceil_stop_rule *rule = ceil_stop_rule_find("precise");
	struct ceil_effort patient = effort;
	struct ceil_series s = {0};

	for (int i = 0; i < 5; i++)
		add(&s, 100, 1, NAN, CEIL_KEEP);
	is_int(rule->step(&s, &effort, 0), CEIL_GO_ON, "too few samples");
	is_int(rule->step(&s, &effort, 1000), CEIL_STOP_BUDGET, "the budget ends it");
	patient.least_samples = s.count + 1;
	is_int(rule->step(&s, &patient, 1000), CEIL_GO_ON, "but not before the least samples");
	patient.least_samples = s.count;
	is_int(rule->step(&s, &patient, 1000), CEIL_STOP_BUDGET, "that it must have");
	add(&s, 100, 1, NAN, CEIL_KEEP);
	is_int(rule->step(&s, &effort, 0), CEIL_STOP_PRECISE, "six equal samples are precise");
	ceil_series_done(&s);
	for (int i = 0; i < 11; i++)
		add(&s, i % 2 ? 50 : 150, 1, NAN, CEIL_KEEP);
	is_int(rule->step(&s, &effort, 0), CEIL_GO_ON, "noise goes on");
	add(&s, 150, 1, NAN, CEIL_KEEP);
	is_int(rule->step(&s, &effort, 0), CEIL_STOP_STEADY_NOISE, "until more would not help");
	ceil_series_done(&s);
	for (int i = 0; i < 80; i++)
		add(&s, 1, 1, NAN, CEIL_DROP_SHORT);
	is_int(rule->step(&s, &effort, 0), CEIL_STOP_COUNT, "dropped samples alone end it too");
	ceil_series_done(&s);
	ok(ceil_stop_rule_find("nothing") == NULL, "an unknown rule");
}

/* Seconds of samples of 50 ms at a rate and a clock that decay to 1 with a time constant. */
static void decay(struct ceil_series *s, double seconds, double amplitude, double tau)
{
	for (double t = 0; t < seconds; t += 0.05) {
		const double f = 1 + amplitude * exp(-t / tau);
		const struct ceil_sample x = {
			.batch = 50, .time_ns = 1e6 / f, .clock_mhz = 1500 * f};

		(void)!ceil_series_add(s, &x, NULL);
	}
}

static void test_steady(void)
{
	const struct ceil_stop_rule *rule = ceil_stop_rule_find("steady");
	const struct ceil_effort e = {.name = "sustained", .budget_ns = 10000000000u};
	struct ceil_series s = {0};
	struct ceil_stats st;

	is_int((long long)ceil_steady_from(&s), 0, "an empty series is not steady");
	decay(&s, 0.9, 0, 1);
	is_int((long long)ceil_steady_from(&s), (long long)s.count, "less than a second is not");
	ceil_series_done(&s);
	decay(&s, 4, 0.2, 0.5);
	const size_t from = ceil_steady_from(&s);
	ok(from > 20 && from < s.count, "a decay settles after a while, at sample %zu", from);
	ceil_stats_of(&s, from, &st);
	is_close(st.mean, 1e6, 1e4, "its mean is that of the steady part");
	is_int(rule->step(&s, &e, 2900000000u), CEIL_GO_ON, "not before three seconds");
	is_int(rule->step(&s, &e, 3100000000u), CEIL_STOP_STEADY, "then it stops");
	ceil_series_done(&s);
	decay(&s, 4, 1.0, 20);
	is_int((long long)ceil_steady_from(&s), (long long)s.count, "a slow drift never settles");
	is_int(rule->step(&s, &e, 10000000000u), CEIL_STOP_BUDGET, "ten seconds are the end");
	ceil_series_done(&s);
}

static void test_names(void)
{
	for (size_t i = 0; i < ceil_stop_rule_count; i++)
		ok(*ceil_stop_rules[i].name && *ceil_stop_rules[i].doc, "rule %zu is documented",
		   i);
	is_text(ceil_stop_name(CEIL_STOP_STEADY_NOISE), "steady noise", "name of a stop");
	is_text(ceil_drop_name(CEIL_DROP_PREEMPTED), "preempted", "name of a drop");
}

int main(void)
{
	test_quantiles();
	test_stats();
	test_precise();
	test_steady();
	test_names();
	return done_testing();
}
