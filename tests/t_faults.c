/*
 * The whole way of a run with the k-th device call failing, for every k: each point and ceiling
 * still has its row, a status that fits, nothing leaks and nothing hangs.
 */
#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/measure/campaign.h"
#include "tests/fault_backend.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

/* ---- what a run gave */

struct seen {
	size_t rows, ceilings, ok, failed, absent;
};

static void on_outcome(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
                       const char *role, bool is_ceiling)
{
	struct seen *s = user;

	(void)dev, (void)role;
	s->rows++;
	s->ceilings += is_ceiling;
	s->ok += o->status == CEIL_ROW_OK;
	s->failed += o->status != CEIL_ROW_OK && o->reason[0];
}

static void on_absent(void *user, const struct ceil_device_props *props, const struct ceil_point *p,
                      enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	struct seen *s = user;

	(void)props, (void)p;
	s->rows++;
	s->ceilings += is_ceiling;
	s->absent += status != CEIL_ROW_OK && reason[0];
}

/* A run of the bench with candidates, bursts and all, on a virtual clock. */
static enum ceil_status run(struct recorded *r, struct seen *s, bool *ret_hung)
{
	struct ceil_filter f = {.list = recorded_benches};
	const struct ceil_policy policy = {.seed = 1};
	const struct ceil_events events = {s, on_outcome, on_absent, NULL};
	struct ceil_lane lane = {.dev = &r->base};
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st = ceil_list_add(&f.benches, "fake,together", &err);

	*s = (struct seen){0};
	if (st == CEIL_OK)
		st = ceil_plan_make(&f, "recorded", &r->base.props, NULL, &lane.plan, &err);
	if (st == CEIL_OK)
		st = ceil_campaign_run(&lane, 1, &policy, &events, ret_hung, &err);
	ceil_plan_done(&lane.plan);
	return st;
}

static void open_recorded(struct recorded *r)
{
	recorded_open(r, 2000000.0);
	r->base.backend = fault_backend(&recorded_backend);
	fault_at(0, CEIL_OK);
	fault_hang(0);
}

/* Rows of a run in which nothing fails; absent ones are those of this bench anyway. */
static struct seen whole_run(void)
{
	struct recorded r;
	struct seen s;
	bool hung = true;

	open_recorded(&r);
	is_int(run(&r, &s, &hung), CEIL_OK, "a run without a fault");
	ok(!hung && s.failed == 0 && s.ok > 10, "has only rows that are ok: %zu", s.ok);
	return s;
}

static void test_each_call(enum ceil_status fault)
{
	const struct seen whole = whole_run();
	const long calls = fault_calls();
	struct recorded r;
	struct seen s;
	bool hung = false;

	for (long k = 1; k <= calls; k++) {
		open_recorded(&r);
		fault_at(k, fault);
		const enum ceil_status st = run(&r, &s, &hung);
		const size_t lost = whole.ok - s.ok;

		recorded_close(&r);
		/* How many samples the host's clock needs differs a little from run to run. */
		if (!fault_last()[0])
			continue;
		ok(st == CEIL_OK && s.rows == whole.rows && s.ceilings == whole.ceilings,
		   "call %ld (%s) fails with %s: every row is there", k, fault_last(),
		   ceil_status_name(fault));
		ok(s.ok + s.failed + s.absent == s.rows, "each is ok or says why not");
		ok(lost >= 1, "the fault is seen: %zu rows lost", lost);
		ok(!hung && r.allocated == 0 && fault_live() == 0, "no hang, no leak");
	}
}

static void test_hang(void)
{
	const struct seen whole = whole_run();
	struct recorded r;
	struct seen s;
	bool hung;

	for (long k = 1; k < 200; k++) {
		open_recorded(&r);
		fault_hang(k);
		ok(run(&r, &s, &hung) == CEIL_OK && s.rows == whole.rows,
		   "a device that hangs at wait %ld: every row is there", k);
		ok(hung, "it is reported");
		is_int(fault_calls_after_hang(), 0, "and not called again");
		recorded_close(&r);
	}
}

static void test_allocations(void)
{
	const struct seen whole = whole_run();
	struct recorded r;
	struct seen s;
	bool hung;

	for (long k = 1; k < 120; k++) {
		open_recorded(&r);
		ceil_alloc_fail_at(k);
		const enum ceil_status st = run(&r, &s, &hung);

		ok(st == CEIL_OK ? s.rows == whole.rows : st == CEIL_E_NOMEM,
		   "allocation %ld fails: the run goes on with all its rows, or says so", k);
		ok(r.allocated == 0, "nothing leaks");
		recorded_close(&r);
	}
	ceil_alloc_fail_at(0);
}

int main(void)
{
	test_each_call(CEIL_E_DEVICE);
	test_each_call(CEIL_E_NOMEM);
	test_hang();
	test_allocations();
	return done_testing();
}
