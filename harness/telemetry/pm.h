/* CUPTI's PM sampling: hardware counters of a whole GPU at a fixed beat. The host half needs none.
 */
#ifndef CEIL_PM_H
#define CEIL_PM_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked of every chip, in this order; all are of the whole GPU. */
enum ceil_pm_metric {
	CEIL_PM_GR_ACTIVE,     /* ratio, as all but the last */
	CEIL_PM_SM_ACTIVE,     /* cycles with a warp, mean over the SMs */
	CEIL_PM_WARPS_ACTIVE,  /* resident warps over possible ones */
	CEIL_PM_TENSOR_ACTIVE, /* cycles in which a tensor pipe worked */
	CEIL_PM_DRAM_ACTIVE,   /* of the peak of device memory */
	CEIL_PM_SM_MHZ,        /* SM cycles over time: the clock that was held */
	CEIL_PM_METRIC_COUNT
};

/* CUPTI, loaded: libcupti.so.13 or .12 (12.6 and newer). */
struct ceil_pm_api;

/*
 * ceil_pm_open - loads the library (GPUCEIL_LIB_CUPTI overrides it, CUDA_HOME is looked into).
 * Return: CEIL_E_UNSUPPORTED if the build has no headers of it, or it is missing or too old.
 */
CEIL_MUST_CHECK enum ceil_status ceil_pm_open(struct ceil_pm_api **ret_api, struct ceil_error *err);
void ceil_pm_close(struct ceil_pm_api *api); /* NULL is a no-op */
const char *ceil_pm_path(const struct ceil_pm_api *api);

/* ceil_pm_chips - names of all chips that the library knows; its own memory. */
CEIL_MUST_CHECK enum ceil_status ceil_pm_chips(struct ceil_pm_api *api,
                                               const char *const **ret_names, size_t *ret_count,
                                               struct ceil_error *err);

/*
 * How much is counted. With warps, tensor pipes and memory an H200 loses 2 % of the SMs' cycles: of
 * the active ones alone while most SMs are idle (0.757 % reads 0.742), else of both, so that the
 * clock is low by as much. Where GPM counts the rest, cycles alone are asked for: nothing is lost.
 */
enum ceil_pm_set { CEIL_PM_ALL, CEIL_PM_CYCLES };

/* The counters of one chip: the largest set of ours that its hardware counts in one pass. */
struct ceil_pm_plan {
	bool has[CEIL_PM_METRIC_COUNT];
	uint8_t *config; /* image for the hardware */
	size_t config_bytes;
	void *host;     /* evaluates samples */
	bool by_cycles; /* the chip has no trigger by time: GA100 and Turing */
};

/*
 * ceil_pm_plan_make - for a chip by name ("GH100"). Needs no GPU.
 * @availability: what this GPU can count, from the device; NULL: what the chip can.
 * Return: CEIL_E_UNSUPPORTED if no set fits into one pass, or the chip is unknown to the library.
 * ceil_pm_plan_done frees.
 */
CEIL_MUST_CHECK enum ceil_status ceil_pm_plan_make(struct ceil_pm_api *api, const char *chip,
                                                   const uint8_t *availability,
                                                   enum ceil_pm_set set,
                                                   struct ceil_pm_plan *ret_plan,
                                                   struct ceil_error *err);
void ceil_pm_plan_done(struct ceil_pm_api *api, struct ceil_pm_plan *plan);

/*
 * ceil_pm_explain - a CUPTI result in words that help: rights, who else may hold the counters.
 * Pure.
 */
void ceil_pm_explain(int code, const char *name, char *ret_text, size_t size);

/* Samples that become one reading. Start with {0}. */
struct ceil_pm_sums {
	double sum[CEIL_PM_METRIC_COUNT], weight[CEIL_PM_METRIC_COUNT];
};

/*
 * ceil_pm_add - one more sample; a value that is not finite is left out. Pure, as ceil_pm_mean.
 * Shares of the SMs' cycles weigh as many cycles as the sample has: the clock falls under load and
 * rises in the pauses, and a mean over time would differ from GPM's, which is cycles over cycles.
 */
void ceil_pm_add(struct ceil_pm_sums *s, const double values[CEIL_PM_METRIC_COUNT]);
/* ceil_pm_mean - of what was added; NAN for a metric without a value. */
void ceil_pm_mean(const struct ceil_pm_sums *s, double ret_values[CEIL_PM_METRIC_COUNT]);

/* A GPU that samples. */
struct ceil_pm_sampling;

/*
 * ceil_pm_start - begins to sample a GPU, one sample in 2 ms. Takes some 180 ms.
 * @ordinal: CUDA's.
 * Return: CEIL_E_UNSUPPORTED with the reason and what to do.
 */
CEIL_MUST_CHECK enum ceil_status ceil_pm_start(struct ceil_pm_api *api, int ordinal,
                                               enum ceil_pm_set set,
                                               struct ceil_pm_sampling **ret_sampling,
                                               struct ceil_error *err);
void ceil_pm_stop(struct ceil_pm_sampling *sampling); /* NULL is a no-op */

/*
 * ceil_pm_read - means over the samples since the last call; NAN for what is not counted, and for
 * all if there was no sample.
 */
void ceil_pm_read(struct ceil_pm_sampling *sampling, double ret_values[CEIL_PM_METRIC_COUNT]);

#endif
