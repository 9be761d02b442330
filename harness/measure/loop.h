/* The one measuring loop: it alone warms up, gates, times, drops and stops. */
#ifndef CEIL_LOOP_H
#define CEIL_LOOP_H

#include "harness/device/backend.h"
#include "harness/measure/bench.h"
#include "harness/measure/stats.h"
#include "harness/measure/stop.h"
#include "harness/telemetry/nvml.h"
#include "harness/telemetry/sampler.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a row; see measuring.md. Names by ceil_row_status_name. */
enum ceil_row_status {
	CEIL_ROW_OK,
	CEIL_ROW_UNSUPPORTED,
	CEIL_ROW_SKIPPED,
	CEIL_ROW_UNSTABLE,
	CEIL_ROW_THROTTLED,
	CEIL_ROW_SUSPECT,
	CEIL_ROW_FAILED,
	CEIL_ROW_CANCELLED,
	CEIL_ROW_STATUS_COUNT
};
const char *ceil_row_status_name(enum ceil_row_status status);
/* The row status that a call's failure means. */
enum ceil_row_status ceil_row_status_of(enum ceil_status status);

/* The PCIe link of a GPU as NVML saw it between and right after launches; -1: unknown. */
struct ceil_link {
	int pcie_gen, pcie_width;
};

/* Everything that one measurement of one point gave. */
struct ceil_outcome {
	struct ceil_point point;
	enum ceil_row_status status;
	char reason[256];          /* "" when ok */
	struct ceil_launch launch; /* geometry; its pointers are dead */
	uint64_t footprint_bytes;  /* of all buffers */
	struct ceil_work work;
	struct ceil_series series; /* every sample, dropped ones too */
	size_t steady_from;        /* first sample that counts */
	struct ceil_stats stats;
	enum ceil_stop stop;
	uint32_t candidates;  /* algorithms tried */
	char algorithm[192];  /* the chosen one in words, or "" */
	double first_ratio;   /* time of candidate 0 over that of the chosen one, or NAN */
	bool checked;         /* the exact check passed */
	bool hashed;          /* output_hash is there: of a bench whose outputs are repeatable */
	uint64_t output_hash; /* of the timed outputs, the same before the first and after the last
	                         sample */
	struct ceil_window window;
	struct ceil_link link;
	struct ceil_remark remark;
	/* From other points of the run; NAN where there are none. */
	double half_bytes;   /* the size at which half of this ceiling's value is reached */
	double versus_value; /* of the ceiling that the variant names, at the same case */
	char started_utc[24];
};

/* Measures points on one device; owns its buffers between points. One thread. */
struct ceil_meter;

struct ceil_meter_options {
	uint64_t seed;
	uint64_t timeout_ns;       /* of one sync; 0: 30 s */
	uint64_t deadline_ns;      /* ceil_now_ns() after which no sample starts; 0: none */
	struct ceil_nvml_gpu *gpu; /* telemetry of the device, or NULL */
	struct ceil_watch *watch;  /* the sampler's view of it, or NULL */
	/* Called after each sample with the median so far; the live line. May be NULL. */
	void (*progress)(void *user, const struct ceil_outcome *so_far);
	void *user;
};

/*
 * ceil_meter_open - and measures the timer: resolution and overhead of a pair of marks.
 * Return: CEIL_OK, or what the device said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_meter_open(struct ceil_device *dev,
                                                 const struct ceil_meter_options *options,
                                                 struct ceil_meter **ret_meter,
                                                 struct ceil_error *err);
/* ceil_meter_close - not the device. NULL is a no-op; memory on a device that hangs stays. */
void ceil_meter_close(struct ceil_meter *m);

/* The timer of the device, ns. */
struct ceil_timer {
	double resolution_ns, overhead_ns;
};
const struct ceil_timer *ceil_meter_timer(const struct ceil_meter *m);

/*
 * ceil_meter_point - shape, place, fill, prepare, warm up, sample, check.
 * @algorithm: candidate to take, or CEIL_SEARCH to try all that prepare offers.
 * @ret_o: always a whole outcome, with status and reason; ceil_outcome_done frees it.
 * Return: CEIL_OK when the run may go on, whatever the row's status; CEIL_E_TIMEOUT or
 * CEIL_E_DEVICE when the device is lost; CEIL_E_CANCELLED.
 */
#define CEIL_SEARCH UINT32_MAX
CEIL_MUST_CHECK enum ceil_status ceil_meter_point(struct ceil_meter *m, const struct ceil_point *p,
                                                  const struct ceil_effort *effort,
                                                  uint32_t algorithm, struct ceil_outcome *ret_o,
                                                  struct ceil_error *err);
void ceil_outcome_done(struct ceil_outcome *o);

/* ceil_outcome_value - the row's value in its unit from work and median time; NAN if none. */
double ceil_outcome_value(const struct ceil_outcome *o);

/*
 * ceil_value_from - work of one launch in time_ns as a value of unit; the one division.
 * Times and 1/s are of an item where the work has items. @clock_mhz: for cycles; NAN unknown.
 */
double ceil_value_from(enum ceil_unit unit, const struct ceil_work *w, double time_ns,
                       double clock_mhz);

/* ceil_outcome_better - whether a's value is better than b's, in their unit's direction. */
bool ceil_outcome_better(const struct ceil_outcome *a, const struct ceil_outcome *b);

#endif
