/* PM sampling without a GPU: counters of every chip that CUPTI knows, words for its errors. */
#include "harness/telemetry/pm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* Metrics that sampling must give, as bits; what CUPTI 13.0 said of these chips. */
struct known {
	const char *chip;
	bool tensor, dram, by_cycles;
};

static const struct known chips[] = {
	{"TU102", false, false, true}, {"GA100", true, true, true},  {"GA102", true, true, false},
	{"AD102", true, true, false},  {"GH100", true, true, false}, {"GB100", true, true, false},
	{"GB110", true, true, false},  {"GB202", true, true, false}, {"GB203", true, true, false},
	{"GB10B", true, false, false},
};

static bool is_listed(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static void test_known(struct ceil_pm_api *api, const char *const *names, size_t count)
{
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		const struct known *k = &chips[i];
		struct ceil_error err = {CEIL_OK, ""};
		struct ceil_pm_plan plan;

		if (!is_listed(names, count, k->chip)) {
			skip(k->chip, "this CUPTI does not know it");
			continue;
		}
		if (ceil_pm_plan_make(api, k->chip, NULL, CEIL_PM_ALL, &plan, &err) != CEIL_OK) {
			ok(false, "%s: %s", k->chip, err.text);
			continue;
		}
		ok(plan.has[CEIL_PM_SM_ACTIVE] && plan.has[CEIL_PM_GR_ACTIVE] &&
		           plan.has[CEIL_PM_WARPS_ACTIVE] && plan.has[CEIL_PM_SM_MHZ],
		   "%s: SM-active, occupancy and clock in one pass", k->chip);
		ok(plan.has[CEIL_PM_TENSOR_ACTIVE] == k->tensor, "%s: tensor pipes", k->chip);
		ok(plan.has[CEIL_PM_DRAM_ACTIVE] == k->dram, "%s: device memory", k->chip);
		ok(plan.by_cycles == k->by_cycles, "%s: trigger", k->chip);
		ok(plan.config_bytes > 0, "%s: an image for the hardware", k->chip);
		ceil_pm_plan_done(api, &plan);
	}
}

/* Chips that a later CUPTI adds must work as well, Volta never did. */
static void test_all(struct ceil_pm_api *api, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ceil_error err = {CEIL_OK, ""};
		struct ceil_pm_plan plan;
		const bool volta = strncmp(names[i], "GV", 2) == 0;
		const enum ceil_status st =
			ceil_pm_plan_make(api, names[i], NULL, CEIL_PM_ALL, &plan, &err);

		ok((st == CEIL_OK) != volta, "%s: %s", names[i], volta ? "no sampling" : "a plan");
		if (st == CEIL_OK)
			ceil_pm_plan_done(api, &plan);
	}
}

/* Beside GPM: no more than what it needs, or cycles are lost. */
static void test_cycles(struct ceil_pm_api *api)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_pm_plan plan;

	if (!ok(ceil_pm_plan_make(api, "GH100", NULL, CEIL_PM_CYCLES, &plan, &err) == CEIL_OK,
	        "cycles alone %s", err.text))
		return;
	for (int m = 0; m < CEIL_PM_METRIC_COUNT; m++)
		is_int(plan.has[m], m == CEIL_PM_SM_ACTIVE || m == CEIL_PM_SM_MHZ,
		       "SM-active and the clock, and nothing else");
	ceil_pm_plan_done(api, &plan);
}

static void test_unknown(struct ceil_pm_api *api)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_pm_plan plan;

	is_int(ceil_pm_plan_make(api, "ZZ999", NULL, CEIL_PM_ALL, &plan, &err), CEIL_E_UNSUPPORTED,
	       "an unknown chip");
	has_text(err.text, "ZZ999", "is named");
}

static void test_words(void)
{
	char text[256];

	ceil_pm_explain(35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", text, sizeof(text));
	has_text(text, "CAP_PERFMON", "rights: the capability");
	has_text(text, "CAP_SYS_ADMIN", "the older one");
	has_text(text, "NVreg_RestrictProfilingToAdminUsers", "and the driver's option");
	ceil_pm_explain(26, "CUPTI_ERROR_HARDWARE_BUSY", text, sizeof(text));
	has_text(text, "dcgmi profile --pause", "who else may hold them");
	ceil_pm_explain(12, "CUPTI_ERROR_NOT_SUPPORTED", text, sizeof(text));
	has_text(text, "error 12", "the number");
}

/*
 * A GPU that is busy at 1000 MHz for a sample and idle at 2000 MHz for the next has used a third of
 * its cycles in half of the time.
 */
static void test_means(void)
{
	const double busy[CEIL_PM_METRIC_COUNT] = {1, 1, 0.5, 1, 0.2, 1000};
	const double idle[CEIL_PM_METRIC_COUNT] = {0, 0, 0, 0, (double)NAN, 2000};
	struct ceil_pm_sums s = {0};
	double mean[CEIL_PM_METRIC_COUNT];

	ceil_pm_mean(&s, mean);
	ok(isnan(mean[CEIL_PM_SM_ACTIVE]), "no sample, no mean");
	ceil_pm_add(&s, busy);
	ceil_pm_add(&s, idle);
	ceil_pm_mean(&s, mean);
	is_close(mean[CEIL_PM_SM_ACTIVE], 1.0 / 3, 1e-12, "cycles with a warp over cycles");
	is_close(mean[CEIL_PM_WARPS_ACTIVE], 0.5 / 3, 1e-12, "warps over cycles");
	is_close(mean[CEIL_PM_TENSOR_ACTIVE], 1.0 / 3, 1e-12, "tensor cycles over cycles");
	is_close(mean[CEIL_PM_GR_ACTIVE], 0.5, 1e-12, "the engine has a clock of its own");
	is_close(mean[CEIL_PM_DRAM_ACTIVE], 0.2, 1e-12, "a value that is missing does not count");
	is_close(mean[CEIL_PM_SM_MHZ], 1500, 1e-9, "the clock over time");
}

/* CUPTI loads a library of its own with RTLD_DEEPBIND, which sanitizers forbid. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER true
#endif
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER false
#endif

static void test_missing(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_pm_api *api = NULL;

	(void)setenv("GPUCEIL_LIB_CUPTI", "/nonexistent/libcupti.so", 1);
	(void)unsetenv("CUDA_HOME");
	is_int(ceil_pm_open(&api, &err), CEIL_E_UNSUPPORTED, "no library");
	(void)unsetenv("GPUCEIL_LIB_CUPTI");
	ceil_pm_close(NULL);
	ceil_pm_stop(NULL);
}

int main(void)
{
	const char *const *names = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_pm_api *api = NULL;
	size_t count = 0;

	test_words();
	test_means();
	test_missing();
	if (UNDER_SANITIZER || ceil_pm_open(&api, &err) != CEIL_OK) {
		skip("counters of every chip", UNDER_SANITIZER ? "a sanitizer" : err.text);
		return done_testing();
	}
	if (ceil_pm_chips(api, &names, &count, &err) == CEIL_OK) {
		test_known(api, names, count);
		test_all(api, names, count);
	} else {
		ok(false, "the chips: %s", err.text);
	}
	test_cycles(api);
	test_unknown(api);
	ceil_pm_close(api);
	return done_testing();
}
