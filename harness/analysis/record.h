/* A row of results: what a measurement means. Pure; the tables of its columns stand here too. */
#ifndef CEIL_RECORD_H
#define CEIL_RECORD_H

#include "harness/base/table.h"
#include "harness/measure/loop.h"

#include <stdint.h>

/* A renamed or re-defined column bumps it, an added one does not. */
#define CEIL_FORMAT_VERSION 1

/* Ratios 0..1. Absent: NAN, CEIL_ABSENT_U64, "". Column docs are in columns.c's tables. */
struct ceil_record {
	char host[64], device[16], gpu_name[96], gpu_uuid[48], ceiling[64];
	double value;
	char unit[12], better[8];
	double theoretical, of_theoretical, datasheet, datasheet_clock_mhz, clock_mhz, of_clock;
	char limited_by[12];
	double spread;
	uint64_t samples;
	double power_w;
	char throttle[64], status[12], reason[256];
	char dtype_in[8], dtype_acc[8], dtype_out[8], regime[12], pattern[12], variant[48];
	uint64_t size_bytes, m, n, k, rank, ranks;
	double sm_active, tensor_active, dram_active, temp_start_c, temp_end_c;
	char driver[48], tool_version[48];
	uint64_t format_version;
	double gpu_busy, half_size_bytes;
	uint64_t host_node;
	char locality[12], link[32], versus[24];
	double versus_value, of_issue;
	char note[160];
	/* records.csv adds these. */
	char bench[24], backend[12], cas[64], timing[8], role[12];
	double theoretical_clock_mhz, footprint_over_cache;
	double time_ns, time_min_ns, time_p05_ns, time_p95_ns, time_p99_ns, time_ci_lo_ns,
		time_ci_hi_ns;
	uint64_t dropped, batch, candidates;
	char algorithm[192];
	double first_value; /* of the first heuristic's algorithm */
	uint64_t products;  /* in one launch */
	double duty, j_per_tflop;
	char output_hash[20];
	double flops, bytes; /* of one launch */
	double algbw_gb_s;
	double seconds, energy_j;
	double snapshot_mhz, power_cap_ratio, thermal_ratio, hw_slowdown_ratio;
	char check[8], stop[16], started_utc[24];
};

/* samples.csv */
struct ceil_sample_row {
	char host[64], device[16], ceiling[64], variant[48], cas[64], role[12];
	uint64_t sample, batch;
	double time_ns, clock_mhz;
	char drop[12];
};

extern const struct ceil_table ceil_table_ceilings; /* of struct ceil_record */
extern const struct ceil_table ceil_table_records;  /* of struct ceil_record, more columns */
extern const struct ceil_table ceil_table_samples;  /* of struct ceil_sample_row */

/*
 * ceil_record_fill - the row of an outcome: value, peaks, ratios, limited_by, status.
 * An outcome that is ok, or did not settle, becomes suspect when its value is over its peak or
 * its first sample is unlike the rest or memory errors came up meanwhile, throttled after a thermal
 * limit, unstable when the spread is above the variant's tolerance and so is the interval of the
 * median (where there are enough samples for one); the reason says so with the figures. Host rows
 * are never over their peak: the clock that it assumes may be wrong. A row that failed or was not
 * measured has no figures.
 * @role: "search", "final" or "sustained". @props: label, name, driver of the device.
 */
void ceil_record_fill(struct ceil_record *ret_r, const struct ceil_outcome *o,
                      const struct ceil_device_props *props, const char *role);

/*
 * ceil_record_absent - a row of a point that was not measured: status and reason, no value.
 * @props: NULL where there is no device; the label is then "gpu" or "cpu".
 */
void ceil_record_absent(struct ceil_record *ret_r, const struct ceil_point *p,
                        const struct ceil_device_props *props, enum ceil_row_status status,
                        const char *reason);

/* ceil_sample_row_of - sample index of the row r. */
void ceil_sample_row_of(struct ceil_sample_row *ret_row, const struct ceil_record *r,
                        const struct ceil_sample *sample, size_t index);

/* ceil_record_bad - whether this row's status makes the program's exit status 1. */
bool ceil_record_bad(const struct ceil_record *r);

#endif
