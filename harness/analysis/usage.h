/* How much of a GPU a load used: the series that is recorded, and the means of a scenario. Pure. */
#ifndef CEIL_USAGE_H
#define CEIL_USAGE_H

#include "harness/base/status.h"
#include "harness/base/table.h"
#include "harness/measure/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a row of the series is. */
#define CEIL_USAGE_TICK "tick" /* a reading of the counters while a scenario plays */
#define CEIL_USAGE_END  "end"  /* the last row of a scenario: how it ended, what its blocks told */

/*
 * A row of utilization-series.csv. Whose it is stands in every row, since a CSV has no other place
 * that all readers see.
 */
struct ceil_usage_row {
	char scenario[48]; /* "sms.66"; the point of a sweep stands behind the dot */
	char event[8];
	double seconds;    /* since the recording began */
	double scenario_s; /* since the scenario's first step; NAN before it */
	uint64_t steady;   /* 1: counts in the means; edges do not */

	/* Ratios, and the rates of the work that was done. */
	double gpu_util, gpu_util_samples, memory_util;
	double sm_active, sm_occupancy, tensor_active, dram_active; /* GPM */
	double fp64_active, fp32_active, fp16_active;               /* GPM */
	double pm_sm_active, pm_sm_occupancy, pm_tensor_active, pm_dram_active, pm_sm_mhz;
	double self_sm_active; /* in the end row: as the blocks of our kernels told */
	double tflops, gb_s, launches_per_s;
	double tflops_ceiling, gb_s_ceiling; /* measured on this card before */
	char flops_ceiling[32], bytes_ceiling[32];
	double power_w, power_instant_w, sm_mhz, memory_mhz, temp_c, throttle_bits;
	double pcie_tx_gb_s, pcie_rx_gb_s;

	char status[12], reason[192]; /* of the end row: ok, unsupported, cancelled, failed */
	char device[16], gpu_name[96], driver[48], recorded_utc[24], tool_version[32];
	uint64_t sm_count, format_version;
};
extern const struct ceil_table ceil_usage_series_table;

/* A row of utilization.csv: a scenario. Means over its steady rows; NAN without any. */
struct ceil_usage {
	char scenario[48];
	double steady_s; /* from the first to the last steady row */
	uint64_t readings;
	double gpu_util, gpu_util_samples, memory_util;
	double sm_active, sm_occupancy, tensor_active, dram_active;
	double fp64_active, fp32_active, fp16_active;
	double pm_sm_active, pm_sm_occupancy, pm_tensor_active, pm_dram_active, pm_sm_mhz;
	double self_sm_active;
	double tflops, gb_s, launches_per_s;
	double tflops_ceiling, gb_s_ceiling, of_flops_ceiling, of_bytes_ceiling;
	char flops_ceiling[32], bytes_ceiling[32];
	double power_w, sm_mhz, memory_mhz, temp_c, pcie_tx_gb_s, pcie_rx_gb_s;
	char verdict[24];
	char expected[8];     /* yes, no; "" if nothing was expected */
	char unexpected[128]; /* what was not as expected */
	char status[12], reason[192];
	char device[16], gpu_name[96], driver[48], recorded_utc[24], tool_version[32];
	uint64_t sm_count, format_version;
};
extern const struct ceil_table ceil_usage_table;

/*
 * ceil_usage_of - means, ratios and verdict from the rows of one scenario, in their order; the end
 * row may be missing: status is then "cancelled". sc NULL: a scenario that we do not know.
 * @count: at least 1.
 */
void ceil_usage_of(const struct ceil_usage_row *rows, size_t count, const struct ceil_scenario *sc,
                   struct ceil_usage *ret_u);

/*
 * ceil_usage_sm_active - the share of SMs in use: by GPM, else by PM sampling, else by what the
 * blocks told; NAN if none of them is there.
 */
double ceil_usage_sm_active(const struct ceil_usage *u);

/*
 * ceil_usage_steady - whether a reading counts: not in the first 1.2 s, since GPU-Util is a mean
 * over up to a second, or in the last 0.1 s; of a play under 2.4 s the second half counts.
 * @at_s: since the scenario's first step. @planned_s: how long it is to play.
 */
bool ceil_usage_steady(double at_s, double planned_s);

/* ceil_usage_settle_s - from when on readings of a play count. */
double ceil_usage_settle_s(double planned_s);

/*
 * ceil_usage_tell_s - from when on the blocks of a play tell of their stays: the last 0.6 s, and
 * never before readings count. Telling is work of its own: the readings before it are without it.
 */
double ceil_usage_tell_s(double planned_s);

/* ceil_usage_scenario - the scenario of a row's name, "sms" of "sms.66", or NULL. */
const struct ceil_scenario *ceil_usage_scenario(const char *name);

/* ceil_usage_line - R^2 of the straight line through (x, y): 1 is a line; NAN under 3 points. */
double ceil_usage_line(const double *x, const double *y, size_t count);

/* ---- verdicts: what the figures say, in one word and one sentence. */

struct ceil_verdict_rule {
	const char *name; /* "busy_but_idle" */
	const char *words;
	bool (*holds)(const struct ceil_usage *u);
};

/* In the order in which they are tried; the last always holds. */
extern const struct ceil_verdict_rule ceil_verdict_rules[];
extern const size_t ceil_verdict_rule_count;

/* ceil_verdict_of - the first rule that holds. A figure that is NAN makes no rule hold. */
const struct ceil_verdict_rule *ceil_verdict_of(const struct ceil_usage *u);

/* ceil_verdict_find - by name, or NULL. */
const struct ceil_verdict_rule *ceil_verdict_find(const char *name);

#endif
