/* The host half of PM sampling: loads CUPTI, and finds the counters of a chip that fit one pass. */
#include "harness/telemetry/pm_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/text.h"

void ceil_pm_explain(int code, const char *name, char *ret_text, size_t size)
{
	/* Numbers of cupti_result.h 13.0: without headers the words are the same. */
	enum { NOT_SUPPORTED = 12, HARDWARE_BUSY = 26, PRIVILEGES = 35, VIRTUALIZED = 40 };
	const char *help = "";

	if (code == PRIVILEGES)
		help = ": the driver keeps counters for administrators: run with CAP_PERFMON "
		       "(driver "
		       "595 and newer) or CAP_SYS_ADMIN, or load it with "
		       "NVreg_RestrictProfilingToAdminUsers=0";
	else if (code == HARDWARE_BUSY || code == 999)
		help = ": another profiler may hold the counters; DCGM's host engine lets go by "
		       "`dcgmi profile --pause`";
	else if (code == NOT_SUPPORTED || code == VIRTUALIZED)
		help = ": not on this GPU, or not in this virtual machine";
	(void)snprintf(ret_text, size, "%s (CUPTI error %d)%s", name, code, help);
}

void ceil_pm_add(struct ceil_pm_sums *s, const double values[CEIL_PM_METRIC_COUNT])
{
	/* Samples are of one length: the clock says how many cycles one has. */
	const double mhz = values[CEIL_PM_SM_MHZ];

	for (int m = 0; m < CEIL_PM_METRIC_COUNT; m++) {
		const bool of_cycles = m == CEIL_PM_SM_ACTIVE || m == CEIL_PM_WARPS_ACTIVE ||
		                       m == CEIL_PM_TENSOR_ACTIVE;
		const double weight = of_cycles && isfinite(mhz) ? mhz : 1;

		if (!isfinite(values[m]))
			continue;
		s->sum[m] += weight * values[m];
		s->weight[m] += weight;
	}
}

void ceil_pm_mean(const struct ceil_pm_sums *s, double ret_values[CEIL_PM_METRIC_COUNT])
{
	for (int m = 0; m < CEIL_PM_METRIC_COUNT; m++)
		ret_values[m] = s->weight[m] > 0 ? s->sum[m] / s->weight[m] : (double)NAN;
}

#ifdef CEIL_HAVE_CUPTI_PM

#define SYMBOL(member_, function)                                                                  \
	{.names = {#function}, .offset = offsetof(struct ceil_pm_api, member_), .required = true},

static const struct ceil_symbol symbols[] = {CEIL_PM_FUNCTIONS(SYMBOL)};

static const char *const sonames[] = {
	"libcupti.so.13",
	"libcupti.so.12",
	"/usr/local/cuda/lib64/libcupti.so",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
	NULL,
};

/* Of a toolkit that CUDA_HOME names: these come first. */
enum { PATH_SIZE = 512 };

static enum ceil_status load(const char *const *names, struct ceil_pm_api *api,
                             struct ceil_error *err)
{
	const struct ceil_library library = {
		.title = "CUPTI",
		.override = "GPUCEIL_LIB_CUPTI",
		.sonames = names,
		.remedy = "it comes with the CUDA toolkit, 12.6 or newer, or set "
			  "GPUCEIL_LIB_CUPTI=/path",
		.symbols = symbols,
		.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
		.stays = true, /* the driver calls it for as long as the process lives */
	};

	return ceil_dynlib_open(&library, api, &api->lib, err);
}

static enum ceil_status load_any(struct ceil_pm_api *api, struct ceil_error *err)
{
	const char *home = getenv("CUDA_HOME");
	char lib64[PATH_SIZE], extras[PATH_SIZE];
	const char *const of_home[] = {lib64, extras, NULL};

	if (home && *home) {
		(void)snprintf(lib64, sizeof(lib64), "%s/lib64/libcupti.so", home);
		(void)snprintf(extras, sizeof(extras), "%s/extras/CUPTI/lib64/libcupti.so", home);
		if (load(of_home, api, /* err= */ NULL) == CEIL_OK)
			return CEIL_OK;
	}
	return load(sonames, api, err);
}

enum ceil_status ceil_pm_open(struct ceil_pm_api **ret_api, struct ceil_error *err)
{
	struct ceil_pm_api *api = ceil_alloc(1, sizeof(*api), err);
	CUpti_Profiler_Initialize_Params init = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
	enum ceil_status st;

	if (!api)
		return CEIL_E_NOMEM;
	st = load_any(api, err);
	if (st != CEIL_OK) {
		free(api);
		return st;
	}
	(void)api->initialize(&init); /* fails without a driver; the host half works all the same */
	*ret_api = api;
	return CEIL_OK;
}

void ceil_pm_close(struct ceil_pm_api *api)
{
	if (!api)
		return;
	ceil_dynlib_close(&api->lib);
	free(api);
}

const char *ceil_pm_path(const struct ceil_pm_api *api)
{
	return api->lib.path;
}

enum ceil_status ceil_pm_check(const struct ceil_pm_api *api, CUptiResult r, const char *what,
                               struct ceil_error *err)
{
	const char *name = NULL;
	char text[224];

	if (r == CUPTI_SUCCESS)
		return CEIL_OK;
	if (api->result_string(r, &name) != CUPTI_SUCCESS || !name)
		name = "unknown error";
	ceil_pm_explain((int)r, name, text, sizeof(text));
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: %s", what, text);
}

enum ceil_status ceil_pm_chips(struct ceil_pm_api *api, const char *const **ret_names,
                               size_t *ret_count, struct ceil_error *err)
{
	CUpti_Profiler_Host_GetSupportedChips_Params p = {
		.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE};
	const enum ceil_status st = ceil_pm_check(api, api->host_chips(&p), "supported chips", err);

	if (st != CEIL_OK)
		return st;
	*ret_names = p.ppChipNames;
	*ret_count = p.numChips;
	return CEIL_OK;
}

/* ---- the counters of a chip */

#define PEAK ".avg.pct_of_peak_sustained_elapsed"

/*
 * By DCGM's fields 1001 to 1005, on another road, and the clock. SM-active is active over elapsed
 * cycles, both means over the SMs: CUPTI's own percentage divides by the cycles of the fastest,
 * and where the clocks of GPCs differ (1961 and 1980 MHz on an H200) it is 1 % low.
 * Source: metric descriptions of CUPTI 13.0.
 */
static const char *const metric_names[CEIL_PM_METRIC_COUNT][2] = {
	[CEIL_PM_GR_ACTIVE] = {"gr__cycles_active" PEAK},
	[CEIL_PM_SM_ACTIVE] = {"sm__cycles_active.avg", "sm__cycles_elapsed.avg"},
	[CEIL_PM_WARPS_ACTIVE] = {"sm__warps_active" PEAK},
	[CEIL_PM_TENSOR_ACTIVE] = {"sm__pipe_tensor_cycles_active" PEAK},
	[CEIL_PM_DRAM_ACTIVE] = {"dram__throughput" PEAK},
	[CEIL_PM_SM_MHZ] = {"sm__cycles_elapsed.max.per_second"},
};
_Static_assert((int)CEIL_PM_NAMES == (int)CEIL_PM_METRIC_COUNT + 1, "one of them has two");

#define BIT(m) (1u << (m))
#define ALL    (BIT(CEIL_PM_METRIC_COUNT) - 1u)

static const unsigned asked[] = {
	[CEIL_PM_ALL] = ALL,
	[CEIL_PM_CYCLES] = BIT(CEIL_PM_SM_ACTIVE) | BIT(CEIL_PM_SM_MHZ),
};

/* Sets in the order to try: chips with unified memory lack dram, Turing counts less in a pass. */
static const unsigned sets[] = {
	ALL,
	ALL & ~BIT(CEIL_PM_DRAM_ACTIVE),
	ALL & ~BIT(CEIL_PM_DRAM_ACTIVE) & ~BIT(CEIL_PM_TENSOR_ACTIVE),
	BIT(CEIL_PM_GR_ACTIVE) | BIT(CEIL_PM_SM_ACTIVE),
	BIT(CEIL_PM_SM_ACTIVE),
};

size_t ceil_pm_names(const struct ceil_pm_plan *plan, const char **ret_names)
{
	size_t count = 0;

	for (int i = 0; i < CEIL_PM_METRIC_COUNT; i++) {
		for (int k = 0; plan->has[i] && k < 2 && metric_names[i][k]; k++)
			ret_names[count++] = metric_names[i][k];
	}
	return count;
}

void ceil_pm_values(const struct ceil_pm_plan *plan, const double *raw,
                    double ret_values[CEIL_PM_METRIC_COUNT])
{
	for (int i = 0; i < CEIL_PM_METRIC_COUNT; i++) {
		ret_values[i] = (double)NAN;
		if (!plan->has[i])
			continue;
		if (metric_names[i][1]) {
			ret_values[i] = raw[0] / raw[1]; /* no cycle elapsed: NAN */
			raw += 2;
		} else {
			ret_values[i] = *raw++ * (i == CEIL_PM_SM_MHZ ? 1e-6 : 0.01);
		}
	}
}

static enum ceil_status make_image(struct ceil_pm_api *api, struct ceil_pm_plan *plan,
                                   struct ceil_error *err)
{
	CUpti_Profiler_Host_GetConfigImageSize_Params size = {
		.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
		.pHostObject = plan->host};
	CUpti_Profiler_Host_GetConfigImage_Params image = {
		.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
		.pHostObject = plan->host};
	CUpti_Profiler_Host_GetNumOfPasses_Params passes = {
		.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
	enum ceil_status st = ceil_pm_check(api, api->host_image_size(&size), "image size", err);

	if (st != CEIL_OK)
		return st;
	plan->config_bytes = size.configImageSize;
	plan->config = ceil_alloc(plan->config_bytes, 1, err);
	if (!plan->config)
		return CEIL_E_NOMEM;
	image.configImageSize = plan->config_bytes;
	image.pConfigImage = plan->config;
	st = ceil_pm_check(api, api->host_image(&image), "configuration image", err);
	if (st != CEIL_OK)
		return st;
	passes.configImageSize = plan->config_bytes;
	passes.pConfigImage = plan->config;
	st = ceil_pm_check(api, api->host_passes(&passes), "number of passes", err);
	if (st == CEIL_OK && passes.numOfPasses != 1)
		st = ceil_fail(err, CEIL_E_UNSUPPORTED, "%zu passes are needed, sampling has one",
		               passes.numOfPasses);
	return st;
}

static enum ceil_status add_metrics(struct ceil_pm_api *api, struct ceil_pm_plan *plan,
                                    struct ceil_error *err)
{
	const char *names[CEIL_PM_NAMES];
	CUpti_Profiler_Host_ConfigAddMetrics_Params add = {
		.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
		.pHostObject = plan->host,
		.ppMetricNames = names,
		.numMetrics = ceil_pm_names(plan, names)};

	return ceil_pm_check(api, api->host_add(&add), "metrics", err);
}

/* After one refused metric a host object refuses all: each trial has its own. */
static enum ceil_status try_set(struct ceil_pm_api *api, const char *chip,
                                const uint8_t *availability, unsigned set,
                                struct ceil_pm_plan *plan, struct ceil_error *err)
{
	CUpti_Profiler_Host_Initialize_Params open = {
		.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
		.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING,
		.pChipName = chip,
		.pCounterAvailabilityImage = availability};
	enum ceil_status st = ceil_pm_check(api, api->host_open(&open), chip, err);

	if (st != CEIL_OK)
		return st;
	plan->host = open.pHostObject;
	for (int i = 0; i < CEIL_PM_METRIC_COUNT; i++)
		plan->has[i] = (set & BIT(i)) != 0;
	st = add_metrics(api, plan, err);
	if (st == CEIL_OK)
		st = make_image(api, plan, err);
	if (st != CEIL_OK)
		ceil_pm_plan_done(api, plan);
	return st;
}

enum ceil_status ceil_pm_plan_make(struct ceil_pm_api *api, const char *chip,
                                   const uint8_t *availability, enum ceil_pm_set set,
                                   struct ceil_pm_plan *ret_plan, struct ceil_error *err)
{
	enum ceil_status st = CEIL_E_UNSUPPORTED;
	struct ceil_pm_plan plan = {0};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]) && st != CEIL_OK; i++)
		st = try_set(api, chip, availability, sets[i] & asked[set], &plan, err);
	if (st != CEIL_OK)
		return st;
	/* cupti_pmsampling.h: a trigger by time is "not supported on Turing GPU architecture and
	 * GA100 GPU". */
	plan.by_cycles = strcmp(chip, "GA100") == 0 || strncmp(chip, "TU", 2) == 0;
	*ret_plan = plan;
	return CEIL_OK;
}

void ceil_pm_plan_done(struct ceil_pm_api *api, struct ceil_pm_plan *plan)
{
	CUpti_Profiler_Host_Deinitialize_Params close = {
		.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
		.pHostObject = plan->host};

	if (plan->host)
		(void)api->host_close(&close); /* nothing can be done about a failure */
	free(plan->config);
	*plan = (struct ceil_pm_plan){0};
}

#else

struct ceil_pm_api {
	char path[1];
};

enum ceil_status ceil_pm_open(struct ceil_pm_api **ret_api, struct ceil_error *err)
{
	(void)ret_api;
	return ceil_fail(err, CEIL_E_UNSUPPORTED,
	                 "PM sampling: this build has no CUPTI headers of 12.6 or newer");
}

void ceil_pm_close(struct ceil_pm_api *api)
{
	(void)api;
}

const char *ceil_pm_path(const struct ceil_pm_api *api)
{
	return api->path;
}

enum ceil_status ceil_pm_chips(struct ceil_pm_api *api, const char *const **ret_names,
                               size_t *ret_count, struct ceil_error *err)
{
	(void)api;
	(void)ret_names;
	(void)ret_count;
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "this build has no CUPTI");
}

enum ceil_status ceil_pm_plan_make(struct ceil_pm_api *api, const char *chip,
                                   const uint8_t *availability, enum ceil_pm_set set,
                                   struct ceil_pm_plan *ret_plan, struct ceil_error *err)
{
	(void)api;
	(void)availability;
	(void)set;
	(void)ret_plan;
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: this build has no CUPTI", chip);
}

void ceil_pm_plan_done(struct ceil_pm_api *api, struct ceil_pm_plan *plan)
{
	(void)api;
	*plan = (struct ceil_pm_plan){0};
}

#endif
