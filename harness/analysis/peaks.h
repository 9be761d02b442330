/* Theoretical peaks: rates by architecture, clocks by part. Tables and pure functions. */
#ifndef CEIL_PEAKS_H
#define CEIL_PEAKS_H

#include "harness/base/types.h"
#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stddef.h>

enum ceil_market { CEIL_DATACENTER, CEIL_WORKSTATION, CEIL_GEFORCE, CEIL_ANY_MARKET };

/* Dense operations per clock per SM; an FMA is two. */
struct ceil_rate {
	int cc; /* 90 */
	enum ceil_market market;
	enum ceil_resource resource;  /* CEIL_R_FMA or CEIL_R_TENSOR */
	enum ceil_dtype in, acc;
	double per_clk_sm;
	const char *source;
};

/* A published dense figure of a part. */
struct ceil_published {
	enum ceil_resource resource;
	enum ceil_dtype in, acc;
	double tflops; /* TFLOP/s or TOP/s */
	double mhz;    /* the clock it implies; 0 unknown */
};

struct ceil_part {
	const char *name;  /* "H200 SXM" */
	const char *match; /* what the device's name contains, longest match wins */
	int cc, sm_count;  /* sm_count 0: any; tells parts of one name apart */
	double tensor_mhz, vector_mhz; /* boost clocks of the datasheet; 0 unknown */
	double memory_gb_s, nvlink_gb_s, watts;
	const struct ceil_published *published;
	size_t published_count;
	const struct ceil_rate *own_rates; /* parts cut down against their architecture, or NULL */
	size_t own_rate_count;
	const char *source; /* with the date it was read */
};

extern const struct ceil_rate ceil_rates[];
extern const size_t ceil_rate_count;
extern const struct ceil_part ceil_parts[];
extern const size_t ceil_part_count;

/* What stands beside a value. NAN: unknown. Units are the row's: GB/s, TFLOP/s, TOP/s. */
struct ceil_peak {
	double theoretical, theoretical_mhz; /* at the maximum clock */
	double datasheet, datasheet_mhz;     /* published, with its own clock */
	double per_mhz;                      /* theoretical per MHz of SM clock: compute rows only */
	const char *source;
};

/* ceil_part_find - the part of a device by name and SM count, or NULL. */
const struct ceil_part *ceil_part_find(const struct ceil_device_props *d);

/* ceil_market_of - GeForce and workstation parts have rates of their own. */
enum ceil_market ceil_market_of(const char *device_name);

/* ceil_peak_of - the peaks of a variant on a device. The host's too, where its clock is known. */
void ceil_peak_of(const struct ceil_variant *v, const struct ceil_device_props *d,
                  struct ceil_peak *ret_peak);

const char *ceil_market_name(enum ceil_market m);

#endif
