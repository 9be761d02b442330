/* Plans: filters, what cannot run and why, prices, and what a small budget drops. */
#include "harness/measure/plan.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

#include <string.h>

static struct ceil_device_props fake_props(void)
{
	return (struct ceil_device_props){.free_bytes = 1 << 20, .cc_major = 8};
}

static void make(struct ceil_filter *f, const struct ceil_device_props *props,
                 struct ceil_plan *ret_plan)
{
	struct ceil_error err = {CEIL_OK, ""};

	f->list = recorded_benches;
	ok(ceil_plan_make(f, "recorded", props, "no device", ret_plan, &err) == CEIL_OK, "a plan");
}

static const struct ceil_entry *find(const struct ceil_plan *plan, const char *variant,
                                     const char *cas)
{
	for (size_t i = 0; i < plan->count; i++) {
		if (strcmp(plan->v[i].point.variant->name, variant) == 0 &&
		    strcmp(plan->v[i].point.cas->name, cas) == 0)
			return &plan->v[i];
	}
	return NULL;
}

static void test_all(void)
{
	const struct ceil_device_props d = fake_props();
	struct ceil_filter f = {0};
	struct ceil_plan plan;

	make(&f, &d, &plan);
	is_int((long long)plan.count, 8 * 3 + 1 + 2, "variants x cases");
	is_int(find(&plan, "plain", "small")->fate, CEIL_RUN, "what can run");
	is_int(find(&plan, "plain", "huge")->fate, CEIL_UNSUPPORTED, "what is too large");
	has_text(find(&plan, "plain", "huge")->reason, "1099511627776 bytes", "says how much");
	is_text(find(&plan, "absent", "small")->reason, "not in this build", "no launcher");
	is_text(find(&plan, "newer", "small")->reason,
	        "needs compute capability 9.0 exactly, this part has 8.0", "another part");
	ok(plan.price_s > 0.0, "has a price");
	ceil_plan_done(&plan);
	struct ceil_device_props later = d;

	later.cc_major = 12;
	make(&f, &later, &plan);
	is_text(find(&plan, "newer", "small")->reason,
	        "needs compute capability 9.0 exactly, this part has 12.0", "a later part");
	ceil_plan_done(&plan);
	make(&f, NULL, &plan);
	is_int(find(&plan, "plain", "small")->fate, CEIL_UNSUPPORTED, "without a device");
	is_text(find(&plan, "plain", "small")->reason, "no device", "for that reason");
	ceil_plan_done(&plan);
}

static size_t count_with(struct ceil_filter *f)
{
	const struct ceil_device_props d = fake_props();
	struct ceil_plan plan;

	make(f, &d, &plan);
	const size_t n = plan.count;

	ceil_plan_done(&plan);
	return n;
}

static void test_filters(void)
{
	struct ceil_filter f = {.quick = true};
	struct ceil_error err = {CEIL_OK, ""};

	is_int((long long)count_with(&f), 8, "--quick: quick variants on quick cases");
	f = (struct ceil_filter){0};
	ok(ceil_list_add(&f.benches, "pick", &err) == CEIL_OK, "one bench");
	is_int((long long)count_with(&f), 1, "is one point");
	f = (struct ceil_filter){0};
	ok(ceil_list_add(&f.variants, "plain,slow", &err) == CEIL_OK, "two variants");
	is_int((long long)count_with(&f), 6, "are six points");
	f = (struct ceil_filter){0};
	ok(ceil_list_add(&f.dtypes, "bf16", &err) == CEIL_OK, "a type nobody has");
	is_int((long long)count_with(&f), 0, "is no point");
	f = (struct ceil_filter){0};
	ok(ceil_list_add(&f.ceilings, "fake", &err) == CEIL_OK, "a family of ceilings");
	is_int((long long)count_with(&f), 27, "is all below it");
	f.ceilings.count = 0;
	ok(ceil_list_add(&f.ceilings, "fake.o", &err) == CEIL_OK, "half a name");
	is_int((long long)count_with(&f), 0, "is none");
}

static void test_names(void)
{
	struct ceil_filter f = {0};
	struct ceil_error err = {CEIL_OK, ""};

	ok(ceil_list_add(&f.benches, "darm", &err) == CEIL_OK, "a mistyped bench");
	is_int(ceil_filter_check(&f, &err), CEIL_E_USAGE, "is refused");
	has_text(err.text, "did you mean 'dram'?", "with the nearest name");
	f = (struct ceil_filter){0};
	ok(ceil_list_add(&f.dtypes, "bf61", &err) == CEIL_OK, "a mistyped type");
	is_int(ceil_filter_check(&f, &err), CEIL_E_USAGE, "is refused");
	has_text(err.text, "bf16", "with the nearest name");
	f = (struct ceil_filter){0};
	ok(ceil_list_add(&f.variants, "zzzzzzzz", &err) == CEIL_OK, "nonsense");
	is_int(ceil_filter_check(&f, &err), CEIL_E_USAGE, "is refused");
	has_text(err.text, "gpuceil list variants", "and where to look");
	f = (struct ceil_filter){.list = recorded_benches};
	ok(ceil_list_add(&f.dtypes, "bf16", &err) == CEIL_OK, "a type that no variant has");
	is_int(ceil_filter_check(&f, &err), CEIL_E_USAGE, "is refused");
	has_text(err.text, "nothing to measure", "since nothing is left");
}

static const struct ceil_sharing alone = {.devices = 1};

static void test_fit(void)
{
	const struct ceil_device_props d = fake_props();
	struct ceil_filter f = {0};
	struct ceil_plan plan;

	make(&f, &d, &plan);
	const double all = plan.price_s;

	ceil_plan_fit(&plan, all + 1.0, alone);
	is_text(plan.coverage, "", "a budget that is enough drops nothing");
	ceil_plan_fit(&plan, all - 0.01, alone);
	is_text(plan.coverage, "cases that --quick leaves out", "cases go first");
	is_int(find(&plan, "plain", "large")->fate, CEIL_SKIPPED, "they are skipped");
	has_text(find(&plan, "plain", "large")->reason, "budget", "with the reason");
	is_int(find(&plan, "slow", "small")->fate, CEIL_RUN, "variants stay");
	ceil_plan_fit(&plan, 0.001, alone);
	is_int(find(&plan, "slow", "small")->fate, CEIL_SKIPPED, "then variants go");
	is_int(find(&plan, "plain", "small")->fate, CEIL_RUN, "what --quick has stays");
	ok(plan.price_s < all, "the price fell");
	ceil_plan_done(&plan);
}

static void test_turns(void)
{
	const struct ceil_device_props d = fake_props();
	struct ceil_filter f = {0};
	const struct ceil_sharing eight = {.devices = 8};
	const struct ceil_sharing in_turn = {.devices = 8, .one_by_one = true};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_plan plan;

	ok(ceil_list_add(&f.benches, "together", &err) == CEIL_OK, "a bench for all at once");
	make(&f, &d, &plan);
	ceil_plan_fit(&plan, plan.price_s + 0.01, eight);
	is_text(plan.coverage, "", "eight devices at once take no longer than one");
	ceil_plan_fit(&plan, plan.price_s + 0.01, in_turn);
	has_text(plan.coverage, "cases that --quick leaves out", "one by one they do");
	ceil_plan_done(&plan);
	f = (struct ceil_filter){0};
	make(&f, &d, &plan);
	const double one_s = plan.price_s;

	ceil_plan_fit(&plan, 8.0 * one_s, eight);
	is_text(plan.coverage, "", "eight times the time is enough for devices that take turns");
	is_close(plan.price_s, one_s, 1e-9, "a plan's own price is that of one device");
	ceil_plan_fit(&plan, 2.0 * one_s, eight);
	has_text(plan.coverage, "cases that --quick leaves out", "twice is not");
	ceil_plan_done(&plan);
}

/* What a team measures together has no turns, whatever was asked for. */
static void test_turns_of_a_team(void)
{
	const struct ceil_sharing in_turn = {.devices = 8, .one_by_one = true};
	const struct ceil_device_props d = fake_props();
	struct ceil_bench team = recorded_concurrent_bench;
	const struct ceil_bench *const list[] = {&team, NULL};
	struct ceil_filter f = {.list = list};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_plan plan;

	team.concurrent = false;
	team.team = true;
	ok(ceil_plan_make(&f, "recorded", &d, NULL, &plan, &err) == CEIL_OK, "plan %s", err.text);
	ok(plan.price_s > 0.0, "of a team's bench");
	ceil_plan_fit(&plan, plan.price_s + 0.01, in_turn);
	is_text(plan.coverage, "", "one by one, eight of a team take no longer than one");
	ceil_plan_done(&plan);
}

static void test_ceiling(void)
{
	struct ceil_point p = {.variant = &recorded_search_bench.variants[0]};
	char text[64];

	ceil_point_ceiling(&p, text, sizeof(text));
	is_text(text, "fake.pick", "without a regime");
	p.regime = CEIL_SUSTAINED;
	ceil_point_ceiling(&p, text, sizeof(text));
	is_text(text, "fake.pick.sustained", "with one");
	p.cas = &recorded_search_bench.cases[0];
	p.apart = true;
	p.pattern = CEIL_ZEROS;
	ceil_point_ceiling(&p, text, sizeof(text));
	is_text(text, "fake.pick.small.zeros.sustained", "a shape of the user's, on zeros");
}

/* What competes for one ceiling: other cases do, other data and shapes of the user's do not. */
static void test_competes(void)
{
	const struct ceil_point a = {.variant = &recorded_bench.variants[0],
	                             .cas = &recorded_bench.cases[0]};
	struct ceil_point b = a;

	b.cas = &recorded_bench.cases[1];
	ok(ceil_point_competes(&a, &b), "two cases compete");
	b.variant = &recorded_bench.variants[2];
	ok(ceil_point_competes(&a, &b), "two forms of one operation too");
	b.pattern = CEIL_ZEROS;
	ok(!ceil_point_competes(&a, &b), "zeros do not compete with random data");
	b.pattern = a.pattern;
	b.apart = true;
	ok(!ceil_point_competes(&a, &b), "a shape of the user's is a ceiling by itself");
	struct ceil_point c = b;

	ok(ceil_point_competes(&b, &c), "for its own forms");
	c.cas = &recorded_bench.cases[0];
	ok(!ceil_point_competes(&b, &c), "and not for another shape's");
}

static void test_own(void)
{
	const struct ceil_own_case own[] = {
		{.cas = {.name = "mine", .axis = {1 << 10}}, .name = "mine", .count = 1},
		{.cas = {.name = "theirs", .axis = {1 << 11}}, .kind = "op", .count = 1},
	};
	struct ceil_filter f = {.own = own, .own_count = 2, .patterns = 1u << CEIL_ZEROS | 1u};
	struct ceil_plan plan;
	const struct ceil_device_props d = fake_props();

	ok(ceil_list_add(&f.variants, "plain,host", NULL) == CEIL_OK, "two variants");
	f.algorithm = "id=1";
	f.duty = 0.5;
	make(&f, &d, &plan);
	is_int((long long)plan.count, 6, "plain has both shapes, host the one of no kind");
	const struct ceil_entry *e = find(&plan, "plain", "theirs");

	ok(e && e->point.apart && e->point.pattern == CEIL_NORMAL, "the first on random data");
	is_text(e->point.algorithm, "id=1", "with the algorithm");
	is_close(e->point.duty, 0.5, 0, "and the duty");
	ok(!find(&plan, "host", "theirs"), "fake.each is not of the kind op");
	ok(!find(&plan, "plain", "small"), "the bench's own cases are left out");
	ceil_plan_done(&plan);
}

/* A bench with a list for long runs: there with more, gone first when the budget is short. */
static void test_more(void)
{
	static const struct ceil_case extra[] = {{.name = "x", .axis = {1 << 10}},
	                                         {.name = "y", .axis = {1 << 10}}};
	static const struct ceil_case_list list[] = {{"extra", "for tests", extra, 2}};
	struct ceil_bench bench = recorded_search_bench;
	const struct ceil_bench *const benches[] = {&bench, NULL};
	struct ceil_filter f = {.list = benches};
	const struct ceil_device_props d = fake_props();
	struct ceil_plan plan;

	bench.more = list;
	bench.more_count = 1;
	ok(ceil_plan_make(&f, "recorded", &d, "", &plan, NULL) == CEIL_OK, "a plan");
	is_int((long long)plan.count, 1, "a short run has the default list");
	ceil_plan_done(&plan);
	f.more = true;
	ok(ceil_plan_make(&f, "recorded", &d, "", &plan, NULL) == CEIL_OK, "a plan");
	is_int((long long)plan.count, 3, "a long run has all");
	const double all = plan.price_s;

	ceil_plan_fit(&plan, all - 0.01, alone);
	is_int(find(&plan, "pick", "y")->fate, CEIL_SKIPPED, "the last goes first");
	is_int(find(&plan, "pick", "x")->fate, CEIL_RUN, "and alone if that is enough");
	is_text(plan.coverage, "1 cases of long runs", "which is told");
	ceil_plan_fit(&plan, 0.001, alone);
	is_int(find(&plan, "pick", "x")->fate, CEIL_SKIPPED, "then the others");
	ceil_plan_done(&plan);
}

/* One point cannot have three sustained rows, however many its variant would take. */
static void test_final_prices(void)
{
	static const struct ceil_case extra[] = {{.name = "x", .axis = {1 << 10}},
	                                         {.name = "y", .axis = {1 << 10}},
	                                         {.name = "z", .axis = {1 << 10}}};
	static const struct ceil_case_list list[] = {{"extra", "for tests", extra, 3}};
	struct ceil_variant v = recorded_search_bench.variants[0];
	struct ceil_bench bench = recorded_search_bench;
	const struct ceil_bench *const benches[] = {&bench, NULL};
	struct ceil_filter f = {.list = benches};
	const struct ceil_device_props d = fake_props();
	struct ceil_plan plan;

	v.sustained_finalists = 3;
	bench.variants = &v;
	bench.more = list;
	bench.more_count = 1;
	ok(ceil_plan_make(&f, "recorded", &d, "", &plan, NULL) == CEIL_OK, "a plan");
	const double one = plan.sustained_s;

	is_close(ceil_plan_final_s(&plan, 0, CEIL_SUSTAINED), one, 1e-9, "of one point");
	ceil_plan_done(&plan);
	f.more = true;
	ok(ceil_plan_make(&f, "recorded", &d, "", &plan, NULL) == CEIL_OK, "a plan");
	is_int((long long)plan.count, 4, "of four points");
	is_close(plan.sustained_s, 3.0 * one, 1e-9, "has the three rows of its variant");
	ceil_plan_done(&plan);
}

static void test_sustained(void)
{
	const struct ceil_variant v = {.sustained_finalists = 3, .quick_sustained = 1};
	struct ceil_plan plan = {.quick = false};

	is_int(ceil_plan_sustained(&plan, &v), 3, "all sustained rows");
	plan.few_sustained = true;
	is_int(ceil_plan_sustained(&plan, &v), 1, "few of them");
	plan.drop_sustained = true;
	is_int(ceil_plan_sustained(&plan, &v), 0, "none");
	plan = (struct ceil_plan){.quick = true};
	is_int(ceil_plan_sustained(&plan, &v), 1, "--quick has few");
}

int main(void)
{
	test_all();
	test_filters();
	test_names();
	test_fit();
	test_turns();
	test_turns_of_a_team();
	test_ceiling();
	test_competes();
	test_own();
	test_more();
	test_final_prices();
	test_sustained();
	return done_testing();
}
