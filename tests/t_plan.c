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

static void test_fit(void)
{
	const struct ceil_device_props d = fake_props();
	struct ceil_filter f = {0};
	struct ceil_plan plan;

	make(&f, &d, &plan);
	const double all = plan.price_s;

	ceil_plan_fit(&plan, all + 1.0);
	is_text(plan.coverage, "", "a budget that is enough drops nothing");
	ceil_plan_fit(&plan, all - 0.01);
	is_text(plan.coverage, "cases that --quick leaves out", "cases go first");
	is_int(find(&plan, "plain", "large")->fate, CEIL_SKIPPED, "they are skipped");
	has_text(find(&plan, "plain", "large")->reason, "budget", "with the reason");
	is_int(find(&plan, "slow", "small")->fate, CEIL_RUN, "variants stay");
	ceil_plan_fit(&plan, 0.001);
	is_int(find(&plan, "slow", "small")->fate, CEIL_SKIPPED, "then variants go");
	is_int(find(&plan, "plain", "small")->fate, CEIL_RUN, "what --quick has stays");
	ok(plan.price_s < all, "the price fell");
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
}

int main(void)
{
	test_all();
	test_filters();
	test_names();
	test_fit();
	test_ceiling();
	return done_testing();
}
