/* The measuring loop on a device with a virtual clock: order, batches, search, checks, failures. */
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/measure/loop.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct ceil_effort quick = {.name = "test",
                                         .min_samples = 6,
                                         .max_samples = 10,
                                         .sample_ns = 1000000,
                                         .budget_ns = 1000000000,
                                         .precision = 0.01};

static struct ceil_meter *open_meter(struct recorded *r)
{
	const struct ceil_meter_options options = {.seed = 7};
	struct ceil_meter *m = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	ok(ceil_meter_open(&r->base, &options, &m, &err) == CEIL_OK, "meter opens");
	return m;
}

static struct ceil_point point_of(const struct ceil_bench *b, size_t variant, size_t cas)
{
	return (struct ceil_point){
		.bench = b, .variant = &b->variants[variant], .cas = &b->cases[cas]};
}

static void test_marks(void)
{
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	const struct ceil_point p = point_of(&recorded_bench, 0, 0);

	recorded_open(&r, 10000.0);
	struct ceil_meter *m = open_meter(&r);
	is_close(ceil_meter_timer(m)->overhead_ns, 10, 0, "overhead of a pair of marks");
	is_close(ceil_meter_timer(m)->resolution_ns, 10, 0, "resolution");
	memset(r.log, 0, sizeof(r.log));
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "a point");
	is_int(o.status, CEIL_ROW_OK, "is ok");
	/* 100 launches of 10 us and one mark of 10 ns: 1e9 bytes in 10000.1 ns. */
	is_close(ceil_outcome_value(&o), 1e9 / 10000.1, 50, "its value is work over time");
	is_close(o.stats.clock_mhz, 1000, 0, "with the clock held");
	ok(o.series.v[0].drop == CEIL_DROP_WARMUP && o.series.v[1].drop == CEIL_KEEP,
	   "the first sample is warm-up");
	ok(o.series.v[1].batch >= 80 && o.series.v[1].batch <= 110,
	   "the batch grew to a millisecond: %llu", (unsigned long long)o.series.v[1].batch);
	ok(strncmp(r.log, "aaFFls", 6) == 0, "place, fill, first launch ungated, wait: %.12s",
	   r.log);
	ok(strstr(r.log, "(cml") != NULL, "gate, clock, mark, launches");
	ok(strstr(r.log, "lmc)s") != NULL, "launches, mark, clock, gate opens, wait");
	ok(strchr(r.log, 'o') == NULL, "the gate never had to open by itself");
	ok(o.checked, "checked");
	is_int((long long)r.fills[CEIL_INTEGERS], 1, "the check had its own data");
	is_int((long long)r.fills[CEIL_POISON], 2, "outputs poisoned before timing and check");
	is_int((long long)o.footprint_bytes, 2 << 12, "footprint");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
	is_int(r.allocated, 0, "all freed");
}

/* The first pair of marks is 10 ns apart, all others a microsecond. */
static enum ceil_status slow_marks(struct ceil_device *dev, int from, int to, double *ret_ns,
                                   struct ceil_error *err)
{
	const struct recorded *r = (const struct recorded *)dev;

	(void)to, (void)err;
	*ret_ns = r->marks[from] < 15.0 ? 10.0 : 1000.0;
	return CEIL_OK;
}

/* However short a sample may be, it is 1000 x the timer's resolution and 50 x its overhead. */
static void test_shortest(void)
{
	const struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct ceil_backend slow = recorded_backend;
	struct ceil_effort hasty = quick;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_outcome o;
	struct recorded r;

	hasty.sample_ns = 1;
	recorded_open(&r, 100.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &hasty, CEIL_SEARCH, &o, &err), CEIL_OK, "a hasty point");
	ok(o.series.v[1].batch >= 80 && o.series.v[1].batch <= 130,
	   "1000 x 10 ns are a hundred launches of 100 ns: %llu",
	   (unsigned long long)o.series.v[1].batch);
	ceil_outcome_done(&o);
	ceil_meter_close(m);

	slow.elapsed_ns = slow_marks;
	recorded_open(&r, 100.0);
	r.base.backend = &slow;
	m = open_meter(&r);
	r.base.backend = &recorded_backend;
	is_close(ceil_meter_timer(m)->resolution_ns, 10, 0, "the same resolution");
	is_close(ceil_meter_timer(m)->overhead_ns, (10.0 + 63 * 1000.0) / 64, 1e-9,
	         "but a timer that costs a microsecond");
	is_int(ceil_meter_point(m, &p, &hasty, CEIL_SEARCH, &o, &err), CEIL_OK, "another");
	ok(o.series.v[1].batch >= 390 && o.series.v[1].batch <= 512,
	   "50 x that are five hundred: %llu", (unsigned long long)o.series.v[1].batch);
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

/* Even 512 launches are shorter than ten steps of the timer. */
static void test_too_short(void)
{
	const struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_outcome o;
	struct recorded r;

	recorded_open(&r, 0.1);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "a tiny point");
	is_int(o.status, CEIL_ROW_FAILED, "is no measurement");
	has_text(o.reason, "no sample was long enough", "and says why");
	is_int(o.series.v[1].drop, CEIL_DROP_SHORT, "its samples stay, with their reason");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_cold(void)
{
	struct ceil_variant cold = recorded_bench.variants[0];
	struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_outcome o;
	struct recorded r;

	recorded_open(&r, 10000.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "a warm row");
	is_int(r.flushes, 0, "flushes nothing");
	ceil_outcome_done(&o);
	cold.cold_cache = true;
	p.variant = &cold;
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "a cold row");
	ok(r.flushes >= (int)o.series.count, "flushes before each sample");
	ok(strstr(r.log, "k(cm") != NULL, "before the gate closes");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static enum ceil_status hash_of_launches(struct ceil_device *dev, const struct ceil_buffer *b,
                                         const void *ptr, uint64_t *ret_hash,
                                         struct ceil_error *err)
{
	(void)b, (void)ptr, (void)err;
	*ret_hash = ((const struct recorded *)dev)->launches[0];
	return CEIL_OK;
}

static enum ceil_status same_hash(struct ceil_device *dev, const struct ceil_buffer *b,
                                  const void *ptr, uint64_t *ret_hash, struct ceil_error *err)
{
	(void)dev, (void)b, (void)ptr, (void)err;
	*ret_hash = 0xabcd;
	return CEIL_OK;
}

/* Outputs of a repeatable bench are compared before the first and after the last sample. */
static void test_hash(void)
{
	struct ceil_bench bench = recorded_bench;
	struct ceil_backend backend = recorded_backend;
	struct ceil_point p = point_of(&bench, 0, 0);
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};

	recorded_open(&r, 10000.0);
	r.base.backend = &backend;
	bench.repeatable = true;
	backend.hash = same_hash;
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "the same bits");
	ok(o.status == CEIL_ROW_OK && o.hashed, "are fine");
	is_u64(o.output_hash, 0xabcd, "and in the outcome");
	ceil_outcome_done(&o);
	backend.hash = hash_of_launches;
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "other bits");
	ok(o.status == CEIL_ROW_FAILED && !o.hashed, "fail the row");
	has_text(o.reason, "silent corruption", "and it says why");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

/* Gigabytes are not allocated again for every point. */
static void test_reuse(void)
{
	const struct ceil_point small = point_of(&recorded_bench, 0, 0);
	const struct ceil_point large = point_of(&recorded_bench, 0, 1);
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};

	recorded_open(&r, 10000.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &large, &quick, CEIL_SEARCH, &o, &err), CEIL_OK,
	       "a large point");
	ceil_outcome_done(&o);
	memset(r.log, 0, sizeof(r.log));
	is_int(ceil_meter_point(m, &small, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "a small one");
	ceil_outcome_done(&o);
	ok(!strchr(r.log, 'a') && !strchr(r.log, 'f'), "takes the buffers that are there");
	ceil_meter_close(m);
	is_int(r.allocated, 0, "which the meter gives back");
}

/* From idle before each sample: a count of samples, none of them warm-up. */
static void test_cool(void)
{
	const struct ceil_effort cool = {.name = "test",
	                                 .min_samples = 3,
	                                 .max_samples = 3,
	                                 .sample_ns = 1000000,
	                                 .budget_ns = 1000000000,
	                                 .idle_ns = 3000000,
	                                 .rest_ns = 6000000};
	const struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};

	recorded_open(&r, 10000.0);
	struct ceil_meter *m = open_meter(&r);
	const uint64_t from_ns = ceil_now_ns();
	is_int(ceil_meter_point(m, &p, &cool, CEIL_SEARCH, &o, &err), CEIL_OK, "a cool point");
	is_int((long long)o.series.count, 3, "has its count of samples");
	is_int((long long)o.stats.count, 3, "and all of them count");
	is_int(o.stop, CEIL_STOP_COUNT, "for that reason it ended");
	ok(o.series.v[0].at_ns - from_ns >= cool.rest_ns, "after a rest");
	ok(o.series.v[1].at_ns - o.series.v[0].at_ns >= cool.idle_ns, "and idle time between");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

/* A duty row runs until it is steady; its value is the mean rate of the work alone. */
static void test_duty(void)
{
	const struct ceil_effort duty = {.name = "test",
	                                 .min_samples = 3,
	                                 .max_samples = 4000,
	                                 .sample_ns = 1000000,
	                                 .budget_ns = 20000000,
	                                 .idle_ns = 1000};
	struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};

	p.regime = CEIL_DUTY;
	p.duty = 0.5;
	recorded_open(&r, 10000.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &duty, CEIL_SEARCH, &o, &err), CEIL_OK, "a duty point");
	is_int(o.status, CEIL_ROW_UNSTABLE, "of 20 ms is not steady");
	is_int(o.stop, CEIL_STOP_BUDGET, "when its time is over");
	ok(o.series.count <= 21, "half of the time is work: %zu samples of 1 ms", o.series.count);
	is_close(ceil_outcome_value(&o), 1e9 / o.stats.mean, 1e-6, "the mean is its value");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_gate_limit(void)
{
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct ceil_variant split = *p.variant;

	recorded_open(&r, 100.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "tiny launches");
	is_int((long long)r.most_behind_gate, 512, "at most 512 launches behind the gate");
	ceil_outcome_done(&o);
	split.kernels = 2;
	p.variant = &split;
	r.most_behind_gate = 0;
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "of 2 kernels");
	is_int((long long)r.most_behind_gate, 256, "half as many");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_fixed_batch(void)
{
	struct ceil_variant v = recorded_bench.variants[0];
	const struct ceil_point p = {
		.bench = &recorded_bench, .variant = &v, .cas = &recorded_bench.cases[0]};
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};

	v.batch = 3;
	recorded_open(&r, 100.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "a fixed batch");
	is_int((long long)o.series.v[1].batch, 3, "is not grown");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_search(void)
{
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	const struct ceil_point p = point_of(&recorded_search_bench, 0, 0);

	recorded_open(&r, 20000.0);
	r.cost_ns[11] = 15000.0;
	r.cost_ns[7] = 15100.0;
	r.cost_ns[3] = INFINITY;
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "a search");
	is_int(o.launch.candidate, 11, "finds the fastest");
	is_close(o.first_ratio, 4.0 / 3.0, 1e-3, "and how far the first heuristic is behind");
	is_int((long long)r.launches[3], 0, "one that cannot run leaves");
	ok(r.launches[11] > 4 * r.launches[5], "hopeless ones die early");
	ok(r.launches[0] > 3 * r.launches[5], "all but the first, whose figure stands in the row");
	ok(r.launches[7] > 3 * r.launches[15], "the last few are compared again: %llu, %llu",
	   (unsigned long long)r.launches[7], (unsigned long long)r.launches[15]);
	ceil_outcome_done(&o);
	is_int(ceil_meter_point(m, &p, &quick, 2, &o, &err), CEIL_OK, "a given algorithm");
	is_int(o.launch.candidate, 2, "is taken");
	ceil_outcome_done(&o);
	is_int(ceil_meter_point(m, &p, &quick, 99, &o, &err), CEIL_OK, "one that is not there");
	is_int(o.status, CEIL_ROW_UNSUPPORTED, "is unsupported");
	ceil_outcome_done(&o);
	for (int i = 0; i < RECORDED_CANDIDATES; i++)
		r.cost_ns[i] = INFINITY;
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "none can run");
	is_int(o.status, CEIL_ROW_UNSUPPORTED, "is unsupported too");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

/* What a search says where the library's own first answer costs first_ns and another 15 us. */
static void search_with(double first_ns, struct recorded *r, struct ceil_outcome *ret_o)
{
	struct ceil_error err = {CEIL_OK, ""};
	const struct ceil_point p = point_of(&recorded_search_bench, 0, 0);

	recorded_open(r, 20000.0);
	r->cost_ns[0] = first_ns;
	r->cost_ns[4] = 15200.0;
	r->cost_ns[7] = 15100.0;
	r->cost_ns[11] = 15000.0;
	struct ceil_meter *m = open_meter(r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, ret_o, &err), CEIL_OK, "a search");
	ceil_meter_close(m);
}

static void test_first_answer(void)
{
	struct recorded r;
	struct ceil_outcome o;

	search_with(15030.0, &r, &o);
	is_int(o.launch.candidate, 0, "a lead of 0.2 %% leaves the first answer");
	is_close(o.first_ratio, 1.0, 0, "which is the row's own");
	ceil_outcome_done(&o);
	search_with(15300.0, &r, &o);
	is_int(o.launch.candidate, 11, "a lead of 2 %% does not");
	is_close(o.first_ratio, 1.02, 1e-3, "and the row says so");
	ok(r.launches[0] > 3 * r.launches[4], "by as many samples: %llu, %llu of one that left",
	   (unsigned long long)r.launches[0], (unsigned long long)r.launches[4]);
	ceil_outcome_done(&o);
	search_with(INFINITY, &r, &o);
	is_int(o.launch.candidate, 11, "a first answer that cannot run");
	is_close(o.first_ratio, (double)NAN, 0, "is none to compare with");
	ceil_outcome_done(&o);
}

static void test_other_timings(void)
{
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_point p = point_of(&recorded_bench, 3, 0);

	recorded_open(&r, 5000.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "host timing");
	ok(o.series.count >= 6 && o.series.v[1].batch == 1, "each call by itself");
	ceil_outcome_done(&o);
	p = point_of(&recorded_bench, 4, 0);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "own timing");
	is_close(ceil_outcome_value(&o), 5.0, 1e-9, "is what the launcher said, in us");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

/* ---- a launcher that tells many times, and a bench that checks the first launch too */

static enum ceil_status launch_many(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)err;
	for (uint32_t i = 0; l->self_ns && i < l->self_count; i++)
		l->self_ns[i] = i == 3 ? (double)NAN : 100.0 + i;
	return CEIL_OK;
}

static enum ceil_status shape_many(const struct ceil_point *p, const struct ceil_device_props *d,
                                   struct ceil_launch *ret_l, struct ceil_buffer *ret_buf,
                                   struct ceil_error *err)
{
	const enum ceil_status st = recorded_bench.shape(p, d, ret_l, ret_buf, err);

	ret_l->self_count = 9;
	return st;
}

static enum ceil_status count_checks(const struct ceil_point *p, struct ceil_device *dev,
                                     const struct ceil_launch *l, const struct ceil_buffer *buf,
                                     uint64_t seed, struct ceil_error *err)
{
	(void)p, (void)l, (void)buf, (void)seed;
	if (++((struct recorded *)dev)->launches[15] == 1 && ((struct recorded *)dev)->wrong)
		return ceil_fail(err, CEIL_E_WRONG, "the first launch");
	return CEIL_OK;
}

static void remark_many(const struct ceil_point *p, const struct ceil_device_props *d,
                        const struct ceil_launch *l, const struct ceil_buffer *buf,
                        struct ceil_remark *ret_remark)
{
	(void)p, (void)d, (void)l, (void)buf;
	ret_remark->gpu_busy = 0.5;
}

static void test_many_times(void)
{
	const struct ceil_variant v = {.name = "many",
	                               .backend = "recorded",
	                               .ceiling = "fake.many",
	                               .unit = CEIL_NS,
	                               .timing = CEIL_TIME_SELF,
	                               .launch = launch_many};
	struct ceil_bench b = recorded_bench;
	const struct ceil_point p = {.bench = &b, .variant = &v, .cas = &recorded_bench.cases[0]};
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};

	b.shape = shape_many;
	b.check = count_checks;
	b.check_first = true;
	b.remark = remark_many;
	recorded_open(&r, 1000.0);
	struct ceil_meter *m = open_meter(&r);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK,
	       "nine times a launch");
	is_int((long long)o.series.count, 18, "two launches are enough for ten samples");
	is_int(o.series.v[0].drop, CEIL_DROP_WARMUP, "the very first is warm-up");
	is_int(o.series.v[3].drop, CEIL_DROP_SHORT, "one that was not told is no sample");
	is_int(o.series.v[9].drop, CEIL_KEEP, "the second launch has no warm-up");
	is_close(o.series.v[17].time_ns, 108, 0, "each has its own time");
	is_int((long long)o.stats.count, 15, "the others count");
	is_int((long long)r.launches[15], 2, "checked before and after the samples");
	is_close(o.remark.gpu_busy, 0.5, 0, "with the bench's remark");
	is_int(o.remark.host_node, -1, "and nothing else");
	ceil_outcome_done(&o);
	r.launches[15] = 0;
	r.wrong = true;
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK,
	       "a wrong first launch");
	is_int(o.status, CEIL_ROW_FAILED, "fails the row");
	is_int((long long)o.series.count, 0, "before anything is timed");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_failures(void)
{
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_point p = point_of(&recorded_bench, 0, 0);

	recorded_open(&r, 10000.0);
	struct ceil_meter *m = open_meter(&r);
	r.wrong = true;
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK,
	       "a wrong result costs its row");
	is_int(o.status, CEIL_ROW_FAILED, "which failed");
	is_text(o.reason, "element 7 is 3, not 4", "with what was wrong");
	is_close(ceil_outcome_value(&o), NAN, 0, "and has no value");
	ceil_outcome_done(&o);
	p.cas = &recorded_bench.cases[2];
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "too large");
	is_int(o.status, CEIL_ROW_UNSUPPORTED, "is unsupported");
	ceil_outcome_done(&o);
	p.cas = &recorded_bench.cases[0];
	ceil_cancel_set(2);
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_E_CANCELLED,
	       "a signal ends the run");
	is_int(o.status, CEIL_ROW_CANCELLED, "the row says so");
	ceil_cancel_set(0);
	ceil_outcome_done(&o);
	r.hangs = true;
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_E_TIMEOUT,
	       "a device that hangs is lost");
	is_int(o.status, CEIL_ROW_FAILED, "its row failed");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
	recorded_close(&r);
}

static void wait_for_others(void *user, const struct ceil_outcome *so_far)
{
	(void)user, (void)so_far;
	ceil_sleep_ns(30 * CEIL_NS_PER_MS);
}

/* A device that waits for others loses no samples by it. */
static void test_waiting(void)
{
	const struct ceil_meter_options options = {.progress = wait_for_others};
	const struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct ceil_effort brief = quick;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_meter *m = NULL;
	struct ceil_outcome o;
	struct recorded r;

	brief.budget_ns = 150 * CEIL_NS_PER_MS;
	brief.precision = -1.0; /* never reached */
	recorded_open(&r, 10000.0);
	r.drift = 1e-4;
	ok(ceil_meter_open(&r.base, &options, &m, &err) == CEIL_OK, "meter that waits");
	is_int(ceil_meter_point(m, &p, &brief, CEIL_SEARCH, &o, &err), CEIL_OK, "a point");
	is_text(ceil_stop_name(o.stop), "count", "waiting is not paid from its budget");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_deadline(void)
{
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	const struct ceil_meter_options options = {.deadline_ns = 1};
	const struct ceil_point p = point_of(&recorded_bench, 0, 0);
	struct ceil_meter *m = NULL;

	recorded_open(&r, 10000.0);
	ok(ceil_meter_open(&r.base, &options, &m, &err) == CEIL_OK, "meter with a deadline");
	is_int(ceil_meter_point(m, &p, &quick, CEIL_SEARCH, &o, &err), CEIL_OK, "too late");
	is_int(o.status, CEIL_ROW_SKIPPED, "is skipped");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_sustained(void)
{
	struct recorded r;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_effort e = quick;
	struct ceil_point p = point_of(&recorded_bench, 2, 0);

	recorded_open(&r, 1000000.0);
	struct ceil_meter *m = open_meter(&r);
	p.regime = CEIL_SUSTAINED;
	e.sample_ns = 50000000;
	e.budget_ns = 50000000;
	is_int(ceil_meter_point(m, &p, &e, CEIL_SEARCH, &o, &err), CEIL_OK, "sustained");
	is_int(o.status, CEIL_ROW_OK, "a steady rate is ok");
	is_close(ceil_outcome_value(&o), 1000.0, 1, "its value is the steady mean");
	ok(o.series.v[0].drop == CEIL_DROP_WARMUP, "the first sample is warm-up");
	ceil_outcome_done(&o);
	r.drift = 1e-4;
	is_int(ceil_meter_point(m, &p, &e, CEIL_SEARCH, &o, &err), CEIL_OK, "a drift");
	is_int(o.status, CEIL_ROW_UNSTABLE, "that never settles is unstable");
	ok(o.stats.count > 0, "what was measured stays");
	is_u64(o.steady_from, o.series.count / 2, "its second half, as the first is further away");
	ceil_outcome_done(&o);
	ceil_meter_close(m);
}

static void test_units(void)
{
	const struct ceil_work w = {.flops = 2e12, .bytes_read = 3e9, .bytes_written = 1e9};
	const struct ceil_work wire = {.bytes_read = 1e9, .bytes_written = 1e9, .bytes_wire = 1e9};
	const struct ceil_work chase = {.items = 100};

	is_close(ceil_value_from(CEIL_GB_S, &w, 1e9, 2000), 4, 1e-12, "GB/s: read plus written");
	is_close(ceil_value_from(CEIL_GB_S, &wire, 1e9, 2000), 1, 1e-12,
	         "links count one direction");
	is_close(ceil_value_from(CEIL_TFLOP_S, &w, 1e9, 2000), 2, 1e-12, "TFLOP/s");
	is_close(ceil_value_from(CEIL_US, &w, 1500, 2000), 1.5, 1e-12, "us");
	is_close(ceil_value_from(CEIL_NS, &w, 1500, 2000), 1500, 0, "ns");
	is_close(ceil_value_from(CEIL_PER_S, &w, 1000, 2000), 1e6, 1e-6, "1/s");
	is_close(ceil_value_from(CEIL_CYCLES, &w, 1000, 2000), 2000, 1e-9, "cycles at the clock");
	is_close(ceil_value_from(CEIL_NS, &chase, 1500, 2000), 15, 1e-12, "ns of a hop");
	is_close(ceil_value_from(CEIL_CYCLES, &chase, 1500, 2000), 30, 1e-12, "cycles of a hop");
	is_close(ceil_value_from(CEIL_PER_S, &chase, 1000, 2000), 1e8, 1e-3, "items in a second");
	ok(isnan(ceil_value_from(CEIL_CYCLES, &w, 1000, (double)NAN)), "no clock, no cycles");
}

int main(void)
{
	test_marks();
	test_shortest();
	test_too_short();
	test_cold();
	test_gate_limit();
	test_hash();
	test_reuse();
	test_cool();
	test_duty();
	test_fixed_batch();
	test_search();
	test_first_answer();
	test_other_timings();
	test_many_times();
	test_failures();
	test_waiting();
	test_deadline();
	test_sustained();
	test_units();
	return done_testing();
}
