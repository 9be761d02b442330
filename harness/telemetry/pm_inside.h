/* The inside of PM sampling, shared by its files: CUPTI's functions. */
#ifndef CEIL_PM_INSIDE_H
#define CEIL_PM_INSIDE_H

#include "harness/telemetry/pm.h"

/* CUPTI 12.6 brought it; distributions package its headers apart. */
#if defined(__has_include)
#if __has_include(<cupti_pmsampling.h>) && __has_include(<cupti_profiler_host.h>)
#define CEIL_HAVE_CUPTI_PM 1
#endif
#endif

#ifdef CEIL_HAVE_CUPTI_PM

#include "harness/base/dynlib.h"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_target.h>

/* One row a function: FUNCTION(member, name in the library). */
#define CEIL_PM_FUNCTIONS(FUNCTION)                                                                \
	FUNCTION(result_string, cuptiGetResultString)                                              \
	FUNCTION(initialize, cuptiProfilerInitialize)                                              \
	FUNCTION(chip_name, cuptiDeviceGetChipName)                                                \
	FUNCTION(host_open, cuptiProfilerHostInitialize)                                           \
	FUNCTION(host_close, cuptiProfilerHostDeinitialize)                                        \
	FUNCTION(host_chips, cuptiProfilerHostGetSupportedChips)                                   \
	FUNCTION(host_add, cuptiProfilerHostConfigAddMetrics)                                      \
	FUNCTION(host_image_size, cuptiProfilerHostGetConfigImageSize)                             \
	FUNCTION(host_image, cuptiProfilerHostGetConfigImage)                                      \
	FUNCTION(host_passes, cuptiProfilerHostGetNumOfPasses)                                     \
	FUNCTION(host_evaluate, cuptiProfilerHostEvaluateToGpuValues)                              \
	FUNCTION(availability, cuptiPmSamplingGetCounterAvailability)                              \
	FUNCTION(enable, cuptiPmSamplingEnable)                                                    \
	FUNCTION(disable, cuptiPmSamplingDisable)                                                  \
	FUNCTION(set_config, cuptiPmSamplingSetConfig)                                             \
	FUNCTION(start, cuptiPmSamplingStart)                                                      \
	FUNCTION(stop, cuptiPmSamplingStop)                                                        \
	FUNCTION(data_size, cuptiPmSamplingGetCounterDataSize)                                     \
	FUNCTION(data_init, cuptiPmSamplingCounterDataImageInitialize)                             \
	FUNCTION(data_info, cuptiPmSamplingGetCounterDataInfo)                                     \
	FUNCTION(decode, cuptiPmSamplingDecodeData)

#define CEIL_PM_MEMBER(member, function) __typeof__(&(function)) member;

/* cuptiGetResultString is declared in a header that needs more of CUDA's. */
CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **str);

struct ceil_pm_api {
	struct ceil_dynlib lib;
	CEIL_PM_FUNCTIONS(CEIL_PM_MEMBER)
};

/* ceil_pm_check - a CUPTI result as CEIL_E_UNSUPPORTED with its words; CEIL_OK for success. */
CEIL_MUST_CHECK enum ceil_status ceil_pm_check(const struct ceil_pm_api *api, CUptiResult r,
                                               const char *what, struct ceil_error *err);

/* CUPTI metrics of one of ours: SM-active is a quotient of two. */
enum { CEIL_PM_NAMES = CEIL_PM_METRIC_COUNT + 1 };

/* ceil_pm_names - the metrics of a plan by CUPTI's names, CEIL_PM_NAMES at most. */
size_t ceil_pm_names(const struct ceil_pm_plan *plan, const char **ret_names);

/* ceil_pm_values - ours from CUPTI's values in the order of ceil_pm_names; NAN what is not there.
 */
void ceil_pm_values(const struct ceil_pm_plan *plan, const double *raw,
                    double ret_values[CEIL_PM_METRIC_COUNT]);

#endif
#endif
