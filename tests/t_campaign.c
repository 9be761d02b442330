/* Campaigns on devices with virtual clocks: every point and ceiling has a row, whatever happens. */
#include "harness/base/cancel.h"
#include "harness/measure/campaign.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 256, WHOLE_ROWS = 24 + 5 }; /* points and ceilings of the bench "fake" */

struct row {
	char device[16], ceiling[64], variant[32], cas[32], role[16], reason[96];
	enum ceil_row_status status;
	bool is_ceiling;
	double value, first_ratio;
	uint32_t algorithm;
};

struct seen {
	struct row v[MAX_ROWS];
	size_t count;
	int cancel_after;              /* rows after which a signal comes; 0 never */
	struct ceil_progress progress; /* the last that was told */
};

static struct row *next(struct seen *s, const struct ceil_point *p, const char *device)
{
	struct row *r = &s->v[s->count < MAX_ROWS ? s->count++ : MAX_ROWS - 1];

	*r = (struct row){.value = (double)NAN};
	snprintf(r->device, sizeof(r->device), "%s", device);
	snprintf(r->variant, sizeof(r->variant), "%s", p->variant->name);
	snprintf(r->cas, sizeof(r->cas), "%s", p->cas->name);
	ceil_point_ceiling(p, r->ceiling, sizeof(r->ceiling));
	if (s->cancel_after && (int)s->count >= s->cancel_after)
		ceil_cancel_set(2);
	return r;
}

static void on_outcome(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
                       const char *role, bool is_ceiling)
{
	struct row *r = next(user, &o->point, dev->props.label);

	r->status = o->status;
	r->is_ceiling = is_ceiling;
	r->value = ceil_outcome_value(o);
	r->first_ratio = o->first_ratio;
	r->algorithm = o->launch.candidate;
	snprintf(r->role, sizeof(r->role), "%s", role);
	snprintf(r->reason, sizeof(r->reason), "%.95s", o->reason);
}

static void on_absent(void *user, const struct ceil_device_props *props, const struct ceil_point *p,
                      enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	struct row *r = next(user, p, props->label);

	r->status = status;
	r->is_ceiling = is_ceiling;
	snprintf(r->reason, sizeof(r->reason), "%.95s", reason);
}

static void on_progress(void *user, const struct ceil_device *dev,
                        const struct ceil_outcome *so_far, const struct ceil_progress *p)
{
	struct seen *s = user;

	(void)dev;
	(void)so_far;
	ok(p->done_s >= s->progress.done_s && p->done_s <= p->total_s, "a run goes forward");
	s->progress = *p;
}

static struct ceil_lane lane_of(struct recorded *r, const char *bench)
{
	struct ceil_filter f = {.list = recorded_benches};
	struct ceil_lane lane = {.dev = &r->base};
	struct ceil_error err = {CEIL_OK, ""};

	if (bench && ceil_list_add(&f.benches, bench, &err) != CEIL_OK)
		ok(false, "list");
	ok(ceil_plan_make(&f, "recorded", &r->base.props, NULL, &lane.plan, &err) == CEIL_OK,
	   "plan");
	return lane;
}

static enum ceil_status run(struct ceil_lane *lanes, size_t count, struct seen *s, bool *ret_hung)
{
	const struct ceil_policy policy = {.seed = 1};
	const struct ceil_events events = {s, on_outcome, on_absent, on_progress};
	struct ceil_error err = {CEIL_OK, ""};
	const enum ceil_status st =
		ceil_campaign_run(lanes, count, &policy, &events, ret_hung, &err);

	for (size_t i = 0; i < count; i++)
		ceil_plan_done(&lanes[i].plan);
	return st;
}

static const struct row *ceiling(const struct seen *s, const char *name, const char *device)
{
	const struct row *found = NULL;
	int n = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (!s->v[i].is_ceiling || strcmp(s->v[i].ceiling, name) != 0 ||
		    strcmp(s->v[i].device, device) != 0)
			continue;
		found = &s->v[i];
		n++;
	}
	is_int(n, 1, name);
	return found;
}

static void test_whole(void)
{
	static struct seen s;
	struct recorded r;
	bool hung = true;

	recorded_open(&r, 2000000.0);
	struct ceil_lane lane = lane_of(&r, "fake");
	double searches_s = 0.0;

	for (size_t i = 0; i < lane.plan.count; i++)
		searches_s += lane.plan.v[i].price_s;
	is_int(run(&lane, 1, &s, &hung), CEIL_OK, "a whole run");
	ok(!hung, "nothing hangs");
	ok(s.progress.done_s > searches_s, "finals count as work that is done");
	const struct row *op = ceiling(&s, "fake.op", "fake0");
	is_int(op->status, CEIL_ROW_OK, "its ceiling is ok");
	is_text(op->role, "final", "measured again fresh");
	is_close(op->first_ratio, (double)NAN, 0, "without a choice there is no first one");
	ok(strcmp(op->variant, "beside") != 0, "a peer never wins");
	is_int(ceiling(&s, "fake.absent", "fake0")->status, CEIL_ROW_UNSUPPORTED,
	       "a ceiling of what is not built has a row");
	is_int(ceiling(&s, "fake.newer", "fake0")->status, CEIL_ROW_UNSUPPORTED,
	       "and one of another part");
	ceiling(&s, "fake.each", "fake0");
	is_int((long long)s.count, WHOLE_ROWS, "a row for each point and each ceiling");
	for (size_t i = 0; i < s.count; i++)
		ok(!s.v[i].is_ceiling || strcmp(s.v[i].ceiling, "fake.curve") != 0,
		   "the points of a curve are no ceiling");
	is_int(r.allocated, 0, "nothing leaks");
}

static void test_cancel(void)
{
	static struct seen s = {.cancel_after = 3};
	struct recorded r;
	bool hung;
	size_t cancelled = 0;

	recorded_open(&r, 2000000.0);
	struct ceil_lane lane = lane_of(&r, "fake");
	is_int(run(&lane, 1, &s, &hung), CEIL_E_CANCELLED, "a signal in the middle");
	ceil_cancel_set(0);
	is_int((long long)s.count, WHOLE_ROWS, "every row is still there");
	for (size_t i = 0; i < s.count; i++)
		cancelled += s.v[i].status == CEIL_ROW_CANCELLED;
	ok(cancelled > 0, "those that were not measured are cancelled");
	is_int(s.v[0].status, CEIL_ROW_OK, "what was measured before is kept");
	is_int(ceiling(&s, "fake.op", "fake0")->status, CEIL_ROW_CANCELLED, "its ceiling too");
	is_int(r.allocated, 0, "nothing leaks");
}

static void test_hang(void)
{
	static struct seen s;
	struct recorded r;
	bool hung = false;

	recorded_open(&r, 2000000.0);
	r.hangs_after = 200;
	struct ceil_lane lane = lane_of(&r, "fake");
	is_int(run(&lane, 1, &s, &hung), CEIL_OK,
	       "a device that hangs costs its rows, not the run");
	ok(hung, "and is reported");
	size_t failed = 0;
	size_t lost = 0;

	for (size_t i = 0; i < s.count; i++) {
		failed += strcmp(s.v[i].reason, "no answer") == 0;
		lost += strstr(s.v[i].reason, "device was lost") != NULL;
	}
	is_int((long long)failed, 1, "the row that hung says so");
	ok(lost > 0, "the others say that the device was lost");
	is_int(r.calls_after_hang, 0, "nothing was called after it");
	recorded_close(&r);
}

static void test_wrong(void)
{
	static struct seen s;
	struct recorded r;
	bool hung;

	recorded_open(&r, 2000000.0);
	r.wrong = true;
	struct ceil_lane lane = lane_of(&r, "fake");
	is_int(run(&lane, 1, &s, &hung), CEIL_OK, "wrong results");
	const struct row *op = ceiling(&s, "fake.op", "fake0");
	is_int(op->status, CEIL_ROW_FAILED, "make the ceiling failed");
	is_text(op->reason, "element 7 is 3, not 4", "with the reason");
	ok(isnan(op->value), "and no value");
}

/* What was tried says why there is no ceiling; what was left out says so only where nothing was. */
static void test_left_out(void)
{
	for (size_t tried = 0; tried < 2; tried++) {
		struct seen s = {0};
		struct recorded r;
		size_t n = 0;
		bool hung;

		recorded_open(&r, (double)INFINITY);
		struct ceil_lane lane = lane_of(&r, "fake");
		for (size_t i = 0; i < lane.plan.count; i++) {
			struct ceil_entry *e = &lane.plan.v[i];

			if (strcmp(e->point.variant->ceiling, "fake.op") != 0 || n++ < tried)
				continue;
			e->fate = CEIL_SKIPPED;
			snprintf(e->reason, sizeof(e->reason), "left out");
		}
		ok(n > 2, "%zu entries of a ceiling", n);
		is_int(run(&lane, 1, &s, &hung), CEIL_OK, "a run of which little can be measured");
		const struct row *op = ceiling(&s, "fake.op", "fake0");
		is_int(op->status, tried ? CEIL_ROW_UNSUPPORTED : CEIL_ROW_SKIPPED,
		       tried ? "one was tried" : "none was tried");
		is_text(op->reason, tried ? "this algorithm cannot run" : "left out", "and why");
	}
}

/* A peer that was measured well is no ceiling, and none is "ok" without a value. */
static void test_beside_alone(void)
{
	for (int left_out = 0; left_out < 2; left_out++) {
		struct seen s = {0};
		struct recorded r;
		bool hung;

		recorded_open(&r, 2000000.0);
		struct ceil_lane lane = lane_of(&r, "fake");
		for (size_t i = 0; i < lane.plan.count; i++) {
			struct ceil_entry *e = &lane.plan.v[i];

			if (e->point.variant->beside || e->fate != CEIL_RUN)
				continue;
			e->fate = left_out ? CEIL_SKIPPED : CEIL_UNSUPPORTED;
			snprintf(e->reason, sizeof(e->reason), "not here");
		}
		is_int(run(&lane, 1, &s, &hung), CEIL_OK, "a run of what stands beside");
		const struct row *op = ceiling(&s, "fake.op", "fake0");
		is_int(op->status, left_out ? CEIL_ROW_SKIPPED : CEIL_ROW_UNSUPPORTED,
		       "what was left out says why");
		is_text(op->reason, "not here", "in its words");
	}
}

static void test_beside_chosen(void)
{
	struct ceil_filter f = {.list = recorded_benches, .quick = true};
	struct ceil_error err = {CEIL_OK, ""};
	struct seen s = {0};
	struct ceil_lane lane = {0};
	struct recorded r;
	bool hung;

	recorded_open(&r, 2000000.0);
	lane.dev = &r.base;
	is_int(ceil_list_add(&f.variants, "beside", &err), CEIL_OK, "--quick --variant beside");
	is_int(ceil_plan_make(&f, "recorded", &r.base.props, NULL, &lane.plan, &err), CEIL_OK,
	       "plan");
	is_int(run(&lane, 1, &s, &hung), CEIL_OK, "a run of it alone");
	const struct row *op = ceiling(&s, "fake.op", "fake0");
	is_int(op->status, CEIL_ROW_SKIPPED, "there is no ceiling");
	is_text(op->reason, "all that was asked for only stands beside this ceiling", "and why");
}

static void test_together(void)
{
	static struct seen s;
	struct recorded r[3];
	struct ceil_lane lanes[3];
	bool hung;

	for (int i = 0; i < 3; i++) {
		recorded_open(&r[i], 2000000.0 * (i + 1));
		snprintf(r[i].base.props.label, sizeof(r[i].base.props.label), "fake%d", i);
		lanes[i] = lane_of(&r[i], "together");
	}
	r[1].hangs_after = 30;
	is_int(run(lanes, 3, &s, &hung), CEIL_OK, "three devices at once");
	ok(hung, "one of which hangs");
	is_int(ceiling(&s, "fake.together", "fake0")->status, CEIL_ROW_OK, "the first is whole");
	is_int(ceiling(&s, "fake.together", "fake2")->status, CEIL_ROW_OK, "the last too");
	ok(ceiling(&s, "fake.together", "fake1")->status != CEIL_ROW_OK, "the lost one is not ok");
	ok(ceiling(&s, "fake.together", "fake0")->value >
	           2.0 * ceiling(&s, "fake.together", "fake2")->value,
	   "each has its own figure");
	recorded_close(&r[1]);
}

/* What is done at once counts once. */
static void test_progress_together(void)
{
	static struct seen s;
	struct recorded r[3];
	struct ceil_lane lanes[3];
	double alone_s, searches_s = 0.0;
	bool hung;

	for (int i = 0; i < 3; i++) {
		recorded_open(&r[i], 2000000.0);
		lanes[i] = lane_of(&r[i], "together");
	}
	alone_s = lanes[0].plan.price_s;
	for (size_t i = 0; i < lanes[0].plan.count; i++)
		searches_s += lanes[0].plan.v[i].price_s;
	is_int(run(lanes, 3, &s, &hung), CEIL_OK, "three devices at once");
	is_close(s.progress.total_s, alone_s, 1e-9, "take the time of one");
	/* The last that is told comes from a final, before which every device has searched. */
	ok(s.progress.done_s > searches_s - 1e-9, "%g s of it were done at last",
	   s.progress.done_s);
}

/* One after the other, and the first is lost: what it leaves is not waited for. */
static void test_progress_without(void)
{
	static struct seen s;
	struct recorded r[2];
	struct ceil_lane lanes[2];
	double alone_s;
	bool hung;

	for (int i = 0; i < 2; i++) {
		recorded_open(&r[i], 2000000.0);
		lanes[i] = lane_of(&r[i], "fake");
	}
	r[0].hangs_after = 200;
	alone_s = lanes[0].plan.price_s;
	is_int(run(lanes, 2, &s, &hung), CEIL_OK, "two devices in turn");
	ok(hung, "one of which hangs");
	is_close(s.progress.total_s, 2.0 * alone_s, 1e-9, "are planned as two");
	ok(s.progress.total_s - s.progress.done_s < 0.25 + 1e-9,
	   "%g s are left in the last final of all", s.progress.total_s - s.progress.done_s);
	recorded_close(&r[0]);
}

/* One by one: the rows of a device come before those of the next, concurrent bench or not. */
static void test_one_by_one(void)
{
	static struct seen s;
	const struct ceil_policy policy = {.seed = 1, .one_by_one = true};
	const struct ceil_events events = {&s, on_outcome, on_absent, on_progress};
	struct recorded r[2];
	struct ceil_lane lanes[2];
	struct ceil_error err = {CEIL_OK, ""};
	size_t turns = 0;
	bool hung;

	for (int i = 0; i < 2; i++) {
		recorded_open(&r[i], 2000000.0);
		snprintf(r[i].base.props.label, sizeof(r[i].base.props.label), "fake%d", i);
		lanes[i] = lane_of(&r[i], "together");
	}
	is_int(ceil_campaign_run(lanes, 2, &policy, &events, &hung, &err), CEIL_OK, "one by one");
	for (size_t i = 1; i < s.count; i++)
		turns += strcmp(s.v[i].device, s.v[i - 1].device) != 0;
	ok(s.count > 2 && turns == 1, "the second begins when the first has ended");
	for (int i = 0; i < 2; i++)
		ceil_plan_done(&lanes[i].plan);
}

/* ---- a link of 1 us and 10 B/ns at five sizes, fast and slow */

static enum ceil_status launch_link(const struct ceil_launch *l, struct ceil_error *err)
{
	struct recorded *r = l->stream[0];

	(void)err;
	r->now_ns += 1000.0 + (double)l->n / 10.0;
	return CEIL_OK;
}

static enum ceil_status launch_slow(const struct ceil_launch *l, struct ceil_error *err)
{
	struct recorded *r = l->stream[0];

	(void)err;
	r->now_ns += 4000.0 + (double)l->n / 2.5;
	return CEIL_OK;
}

static void link_work(const struct ceil_point *p, const struct ceil_launch *l,
                      struct ceil_work *ret_w)
{
	(void)p;
	*ret_w = (struct ceil_work){.bytes_wire = (double)l->n};
}

#define LINK(name_, ceiling_, launcher, ...)                                                       \
	{                                                                                          \
		.name = name_, .backend = "recorded", .doc = "for tests", .ceiling = ceiling_,     \
		.unit = CEIL_GB_S, .quick = true, .launch = launcher, __VA_ARGS__                  \
	}

static const struct ceil_variant link_variants[] = {
	LINK("fast", "link.fast", launch_link, .beside = false),
	LINK("twin", "link.fast", launch_link, .beside = true),
	LINK("slow", "link.slow", launch_slow, .versus = "link.fast"),
	LINK("lost", "link.lost", launch_slow, .versus = "link.nowhere"),
	LINK("curve", "link.slow", launch_link, .sweep = true),
};
static const struct ceil_case link_cases[] = {
	{.name = "1M", .axis = {1 << 20}},  {.name = "64K", .axis = {1 << 16}},
	{.name = "16K", .axis = {1 << 14}}, {.name = "4K", .axis = {1 << 12}},
	{.name = "1K", .axis = {1 << 10}},
};

/* What the rows of a ceiling said: of the case, and of the ceiling itself. */
struct said {
	double half_bytes, versus_value;
	bool seen;
};
struct link_rows {
	struct said search[5][5], final[5];
};

static void on_link(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
                    const char *role, bool is_ceiling)
{
	struct link_rows *rows = user;
	const size_t v = (size_t)(o->point.variant - link_variants);
	const size_t c = (size_t)(o->point.cas - link_cases);

	(void)dev;
	(void)role;
	*(is_ceiling ? &rows->final[v] : &rows->search[v][c]) =
		(struct said){o->half_bytes, o->versus_value, true};
}

static void no_absent(void *user, const struct ceil_device_props *props, const struct ceil_point *p,
                      enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	(void)user, (void)props, (void)status, (void)is_ceiling;
	ok(false, "%s was not measured: %s", p->variant->name, reason);
}

static void test_curve(void)
{
	struct ceil_bench b = recorded_bench;
	const struct ceil_bench *const list[] = {&b, NULL};
	const struct ceil_filter f = {.list = list};
	const struct ceil_policy policy = {.seed = 1};
	struct link_rows rows = {0};
	const struct ceil_events events = {&rows, on_link, no_absent, NULL};
	struct recorded r;
	struct ceil_lane lane = {.dev = &r.base};
	struct ceil_error err = {CEIL_OK, ""};
	bool hung;

	b.name = "link";
	b.variants = link_variants;
	b.variant_count = sizeof(link_variants) / sizeof(link_variants[0]);
	b.cases = link_cases;
	b.case_count = sizeof(link_cases) / sizeof(link_cases[0]);
	b.work = link_work;
	recorded_open(&r, 1000.0);
	r.base.props.free_bytes = 1 << 21;
	ok(ceil_plan_make(&f, "recorded", &r.base.props, NULL, &lane.plan, &err) == CEIL_OK &&
	           ceil_campaign_run(&lane, 1, &policy, &events, &hung, &err) == CEIL_OK,
	   "a run over sizes %s", err.text);
	/* Half of 10 B/ns at n = 1 us x 10 B/ns; the largest size reaches 99 % of it. */
	is_close(rows.final[0].half_bytes, 10000, 1000, "half of a fast link at 10 KB");
	is_close(rows.final[2].half_bytes, 10000, 1000, "half of a slow one at 4 us x 2.5 B/ns");
	is_close(rows.search[0][0].half_bytes, (double)NAN, 0, "no search row has that");
	is_close(rows.search[2][4].versus_value, 1024 / 1102.4, 1e-3,
	         "beside it, at the same size");
	is_close(rows.final[2].versus_value, 1048576 / 105857.6, 1e-2, "and at the best");
	is_close(rows.final[0].versus_value, (double)NAN, 0, "who names none has none beside");
	ok(!rows.final[4].seen && rows.search[4][0].seen, "a curve wins nothing, fast as it is");
	is_close(rows.final[3].versus_value, (double)NAN, 0, "nor who names one that is not there");
	ceil_plan_done(&lane.plan);
}

static void test_burst(void)
{
	static struct seen s;
	struct recorded r;
	bool hung;

	recorded_open(&r, 2000000.0);
	r.cost_ns[5] = 1500000.0;
	struct ceil_lane lane = lane_of(&r, "pick");
	is_int(run(&lane, 1, &s, &hung), CEIL_OK, "a burst");
	const struct row *b = ceiling(&s, "fake.pick.burst", "fake0");
	is_text(b->role, "burst", "has its regime");
	is_close(b->value, 1e9 / 1500000.0, 1.0, "and the best algorithm's figure");
	is_close(b->first_ratio, 4.0 / 3.0, 1e-3, "beside the first answer's, as searched");
}

/* The last row of a role that is no ceiling, of as many as are wanted; or NULL. */
static const struct row *other_of_role(const struct seen *s, const char *role, int want)
{
	const struct row *found = NULL;
	int n = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->v[i].is_ceiling || strcmp(s->v[i].role, role) != 0)
			continue;
		found = &s->v[i];
		n++;
	}
	is_int(n, want, role);
	return found;
}

/* The library's own first answer is near in the search, and its burst is the better one. */
static void test_first_answer(void)
{
	static struct seen s;
	struct recorded r;
	bool hung;

	recorded_open(&r, 2000000.0);
	r.cost_ns[0] = 1505250.0;
	r.cost_ns[5] = 1500000.0;
	r.drift = 5e-4; /* the winner of the search, which runs more, tires */
	struct ceil_lane lane = lane_of(&r, "pick");
	is_int(run(&lane, 1, &s, &hung), CEIL_OK, "a near first answer");
	const struct row *b = ceiling(&s, "fake.pick.burst", "fake0");
	const struct row *other = other_of_role(&s, "burst", /* want= */ 1);
	is_int(b->algorithm, 0, "is the ceiling");
	is_close(b->first_ratio, 1.0, 0, "itself");
	is_int(other->algorithm, 5, "what won the search has a row too");
	is_close(other->first_ratio, other->value / b->value, 1e-9, "against that burst");
}

/* A burst costs a second: what will not win is not worth it. */
static void test_far_answer(void)
{
	static struct seen s;
	struct recorded r;
	bool hung;

	recorded_open(&r, 2000000.0);
	r.cost_ns[0] = 1515000.0;
	r.cost_ns[5] = 1500000.0;
	struct ceil_lane lane = lane_of(&r, "pick");
	is_int(run(&lane, 1, &s, &hung), CEIL_OK, "a first answer that is 1 %% behind");
	const struct row *b = ceiling(&s, "fake.pick.burst", "fake0");
	is_int(b->algorithm, 5, "is not the ceiling");
	ok(!other_of_role(&s, "burst", /* want= */ 0), "nor has it a burst");
}

static const struct ceil_effort *effort_named(const char *name)
{
	static const struct ceil_effort none = {.name = "none"};
	size_t count = 0;
	const struct ceil_effort *e = ceil_campaign_efforts(&count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(e[i].name, name) == 0)
			return &e[i];
	}
	ok(false, "%s is no effort", name);
	return &none;
}

/* measuring.md, Words. */
static void test_policy(void)
{
	const uint64_t ms = 1000000;
	const struct ceil_effort *e = effort_named("burst");

	ok(e->idle_ns >= 150 * ms, "burst: idle at least 150 ms before each repeat");
	ok(e->sample_ns <= 30 * ms, "then at most 30 ms of work");
	ok(e->min_samples >= 5, "at least 5 repeats");
	e = effort_named("cool search");
	ok(e->sample_ns <= 5 * ms && e->idle_ns > 0,
	   "a search of hot rows: 5 ms at most, each cool");
	ok(effort_named("search")->sample_ns <= 5 * ms, "and of others: 5 ms at most");
	e = effort_named("sustained");
	is_u64(e->budget_ns, 10000 * ms, "sustained: 10 s at most");
	is_u64(e->idle_ns, 0, "without a pause");
	ok(effort_named("final")->least_samples >= 3, "a final has three samples at least");
}

int main(void)
{
	test_policy();
	test_whole();
	test_cancel();
	test_hang();
	test_wrong();
	test_left_out();
	test_beside_alone();
	test_beside_chosen();
	test_together();
	test_progress_together();
	test_progress_without();
	test_one_by_one();
	test_burst();
	test_first_answer();
	test_far_answer();
	test_curve();
	return done_testing();
}
