/* What the measuring loop makes of time and of the host, whose clock and counters are the test's.
 */
#include "harness/base/clock.h"
#include "harness/measure/campaign.h"
#include "harness/measure/loop.h"
#include "tests/fakes.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- the host: time passes while it sleeps and while the device works, and not else */

static struct {
	const struct recorded *device;
	uint64_t slept_ns, longest_ns; /* in all, and at once */
	uint64_t cools_after_ns;       /* of sleep; before, the GPU is hot. 0: it never was */
	unsigned rusage_calls;         /* two a sample, before it and after it */
	unsigned preempted_period;     /* every such sample loses its core; 0: none does */
} host;

int clock_gettime(clockid_t id, struct timespec *ret_t)
{
	const uint64_t now_ns =
		1000 * CEIL_NS_PER_S + host.slept_ns + (uint64_t)host.device->now_ns;

	(void)id;
	*ret_t = (struct timespec){.tv_sec = (time_t)(now_ns / CEIL_NS_PER_S),
	                           .tv_nsec = (long)(now_ns % CEIL_NS_PER_S)};
	return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *ret_rest)
{
	(void)id, (void)flags, (void)ret_rest;
	const uint64_t ns = (uint64_t)t->tv_sec * CEIL_NS_PER_S + (uint64_t)t->tv_nsec;

	host.slept_ns += ns;
	host.longest_ns = ns > host.longest_ns ? ns : host.longest_ns;
	if (host.slept_ns >= host.cools_after_ns)
		(void)setenv("FAKE_NVML_TEMP_C", "34", 1);
	return 0;
}

int getrusage(__rusage_who_t who, struct rusage *ret_usage)
{
	const unsigned samples = ++host.rusage_calls / 2;

	(void)who;
	*ret_usage = (struct rusage){0};
	/* The counter of the whole thread: it only grows. */
	ret_usage->ru_nivcsw = host.preempted_period ? samples / host.preempted_period : 0;
	return 0;
}

static void host_reset(const struct recorded *r)
{
	memset(&host, 0, sizeof(host));
	host.device = r;
}

/* ---- what is measured */

static const struct ceil_effort *effort_named(const char *name)
{
	size_t count;
	const struct ceil_effort *e = ceil_campaign_efforts(&count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(e[i].name, name) == 0)
			return &e[i];
	}
	return NULL;
}

/* A point of the bench "fake" as the policy of every run measures it; the outcome is the caller's.
 */
static void measure(struct recorded *r, struct ceil_nvml_gpu *gpu, size_t variant,
                    enum ceil_regime regime, const char *effort, struct ceil_outcome *ret_o)
{
	const struct ceil_meter_options options = {.seed = 7, .gpu = gpu};
	const struct ceil_point p = {.bench = &recorded_bench,
	                             .variant = &recorded_bench.variants[variant],
	                             .cas = &recorded_bench.cases[0],
	                             .regime = regime};
	struct ceil_meter *m = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_meter_open(&r->base, &options, &m, &err) != CEIL_OK)
		ok(false, "the meter opens: %s", err.text);
	if (gpu && host.cools_after_ns)
		(void)setenv("FAKE_NVML_TEMP_C", "35", 1);
	is_int(ceil_meter_point(m, &p, effort_named(effort), CEIL_SEARCH, ret_o, &err), CEIL_OK,
	       effort);
	ceil_meter_close(m);
}

/* ---- rules */

/* From idle, at most 30 ms of work, at least 5 times. */
static void test_burst(void)
{
	struct recorded r;
	struct ceil_outcome o;
	double longest_ns = 0.0;

	recorded_open(&r, 300000.0);
	host_reset(&r);
	measure(&r, /* gpu= */ NULL, 0, CEIL_BURST, "burst", &o);
	for (size_t i = 0; i < o.series.count; i++)
		longest_ns = fmax(longest_ns, o.series.v[i].time_ns * (double)o.series.v[i].batch);
	ok(o.stats.count >= 5 && o.stats.dropped == 0, "%zu bursts count", o.stats.count);
	ok(longest_ns > 0.0 && longest_ns <= 30e6, "the longest works for %g ms",
	   longest_ns * 1e-6);
	ok(host.slept_ns >= 150 * CEIL_NS_PER_MS * o.series.count, "each from 150 ms of idle");
	ceil_outcome_done(&o);
}

/* The longest rest of a search among algorithms of launch_ns each. */
static uint64_t longest_rest_ns(double launch_ns)
{
	const struct ceil_meter_options options = {.seed = 7};
	const struct ceil_point p = {.bench = &recorded_search_bench,
	                             .variant = &recorded_search_bench.variants[0],
	                             .cas = &recorded_search_bench.cases[0]};
	struct ceil_meter *m = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_outcome o;
	struct recorded r;

	recorded_open(&r, launch_ns);
	host_reset(&r);
	ok(ceil_meter_open(&r.base, &options, &m, &err) == CEIL_OK &&
	           ceil_meter_point(m, &p, effort_named("cool search"), CEIL_SEARCH, &o, &err) ==
	                   CEIL_OK,
	   "a cool search %s", err.text);
	ceil_outcome_done(&o);
	ceil_meter_close(m);
	return host.longest_ns;
}

/* Sixteen first launches of 2 ms are more than a power control lets pass; of 0.1 ms they are not.
 */
static void test_search(void)
{
	is_u64(longest_rest_ns(2e6), 100 * CEIL_NS_PER_MS, "heat of first launches is forgotten");
	is_u64(longest_rest_ns(1e5), effort_named("cool search")->rest_ns,
	       "where there is none, the row's own rest is the longest");
}

/* How long a row rests before its first sample, on a GPU that cools in so much time. */
static uint64_t rest_ns(struct ceil_nvml_gpu *gpu, enum ceil_regime regime, uint64_t cools_after_ns)
{
	struct recorded r;
	struct ceil_outcome o;
	uint64_t between_ns;

	recorded_open(&r, 300000.0);
	host_reset(&r);
	host.cools_after_ns = cools_after_ns;
	(void)setenv("FAKE_NVML_TEMP_C", "31", 1); /* at the start of the run: 34 is 3 K more */
	measure(&r, gpu, 0, regime, "burst", &o);
	between_ns = (o.series.count - 1) * effort_named("burst")->idle_ns;
	ceil_outcome_done(&o);
	return host.slept_ns - between_ns;
}

static void test_cool_down(struct ceil_nvml_gpu *gpu)
{
	const uint64_t idle_ns = effort_named("burst")->idle_ns;

	is_u64(rest_ns(gpu, CEIL_BURST, 0), idle_ns, "a cool GPU idles as between samples");
	is_u64(rest_ns(gpu, CEIL_BURST, 2 * CEIL_NS_PER_S), 2 * CEIL_NS_PER_S,
	       "a hot one until it is within 3 K of the start");
	is_u64(rest_ns(gpu, CEIL_BURST, 3600 * CEIL_NS_PER_S), 5 * CEIL_NS_PER_S,
	       "one that stays hot for 5 s");
	is_u64(rest_ns(gpu, CEIL_NOREGIME, 3600 * CEIL_NS_PER_S), idle_ns,
	       "and no other row waits for that");
}

/* Steady from the start: 3 s all the same. Never steady: 10 s. */
static void test_sustained(void)
{
	struct recorded r;
	struct ceil_outcome o;

	recorded_open(&r, 300000.0);
	host_reset(&r);
	measure(&r, /* gpu= */ NULL, 0, CEIL_SUSTAINED, "sustained", &o);
	is_int(o.stop, CEIL_STOP_STEADY, "a steady rate ends a sustained row");
	ok(r.now_ns >= 3e9 && r.now_ns < 3.5e9, "after %.2f s, not before 3", r.now_ns * 1e-9);
	ceil_outcome_done(&o);

	recorded_open(&r, 300000.0);
	r.drift = 1e-4;
	host_reset(&r);
	measure(&r, /* gpu= */ NULL, 0, CEIL_SUSTAINED, "sustained", &o);
	is_int(o.stop, CEIL_STOP_BUDGET, "one that falls all the time");
	is_int(o.status, CEIL_ROW_UNSTABLE, "says that it did not settle");
	ok(r.now_ns >= 10e9 && r.now_ns < 11e9, "after %.2f s, not much after 10", r.now_ns * 1e-9);
	ceil_outcome_done(&o);
}

static void test_preempted(void)
{
	struct recorded r;
	struct ceil_outcome o;
	size_t preempted = 0;

	recorded_open(&r, 5000.0);
	host_reset(&r);
	host.preempted_period = 3;
	measure(&r, /* gpu= */ NULL, 3, CEIL_NOREGIME, "final", &o);
	for (size_t i = 0; i < o.series.count; i++)
		preempted += o.series.v[i].drop == CEIL_DROP_PREEMPTED;
	is_u64(preempted, o.series.count / 3,
	       "of samples by the host's clock every third loses its core");
	is_u64(o.stats.count, o.series.count - preempted - 1, "all others but the warm-up count");
	is_int(o.status, CEIL_ROW_OK, "which is enough");
	ceil_outcome_done(&o);

	recorded_open(&r, 5000.0);
	host_reset(&r);
	host.preempted_period = 1;
	measure(&r, /* gpu= */ NULL, 3, CEIL_NOREGIME, "final", &o);
	is_int(o.stop, CEIL_STOP_COUNT, "a host that is always preempted is given up");
	is_int(o.status, CEIL_ROW_UNSTABLE, "no result is wrong, none is known");
	has_text(o.reason, "samples lost the host's core to other work", "the row says why");
	is_close(ceil_outcome_value(&o), (double)NAN, 0, "and has no value");
	ceil_outcome_done(&o);

	recorded_open(&r, 300000.0);
	host_reset(&r);
	host.preempted_period = 1;
	measure(&r, /* gpu= */ NULL, 0, CEIL_BURST, "burst", &o);
	is_u64(o.stats.dropped, 0, "marks of the device do not care for the host");
	ceil_outcome_done(&o);
}

/* The normal state of a tensor row under its power cap; never a reason to drop a sample. */
static void test_low_clock(struct ceil_nvml_gpu *gpu)
{
	struct recorded r;
	struct ceil_outcome o;

	recorded_open(&r, 300000.0);
	host_reset(&r);
	r.base.props.max_sm_mhz = 1980.0;
	r.clock_mhz = 400.0;
	(void)setenv("FAKE_NVML_REASONS", "4", 1);
	measure(&r, gpu, 0, CEIL_BURST, "burst", &o);
	(void)unsetenv("FAKE_NVML_REASONS");
	is_u64(o.stats.dropped, 0, "a power cap and a fifth of the clock drop no sample");
	is_int(o.status, CEIL_ROW_OK, "and are no fault of the row");
	ceil_outcome_done(&o);
}

static void with_nvml(void)
{
	char fake[FAKE_PATH_MAX];
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_nvml *nvml = NULL;

	if (!fake_path("nvml", fake)) {
		skip("the cool-down", "the stand-in library is not built");
		return;
	}
	(void)setenv("GPUCEIL_LIB_NVML", fake, 1);
	if (ceil_nvml_open(&nvml, &err) != CEIL_OK) {
		ok(false, "the stand-in opens: %s", err.text);
		return;
	}
	test_cool_down(ceil_nvml_at(nvml, 0));
	test_low_clock(ceil_nvml_at(nvml, 0));
	ceil_nvml_close(nvml);
}

int main(void)
{
	struct recorded none;

	recorded_open(&none, 1.0);
	host_reset(&none);
	test_burst();
	test_search();
	test_sustained();
	test_preempted();
	with_nvml();
	return done_testing();
}
