/* Theoretical peaks: rates by architecture, clocks by part. Tables and pure functions. */
#ifndef CEIL_PEAKS_H
#define CEIL_PEAKS_H

#include "harness/base/types.h"
#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stddef.h>

/* Workstation parts run at datacenter rates unless a row of their own says otherwise. */
enum ceil_market { CEIL_DATACENTER, CEIL_WORKSTATION, CEIL_GEFORCE, CEIL_ANY_MARKET };

/*
 * Dense operations per clock per SM; an FMA is two. Shared memory: bytes per clock per SM.
 * acc CEIL_NODTYPE: the same whatever the accumulator is.
 * per_clk_sm 0 (own rates of a part only): cut down by an unknown amount, so the peak is unknown.
 */
struct ceil_rate {
	int cc; /* 90 */
	enum ceil_market market;
	enum ceil_resource resource; /* CEIL_R_FMA, CEIL_R_SFU, CEIL_R_TENSOR or CEIL_R_SMEM */
	enum ceil_dtype in, acc;
	double per_clk_sm;
	const char *source;
};

/* A published dense figure of a part. */
struct ceil_published {
	enum ceil_resource resource;
	enum ceil_dtype in, acc; /* acc CEIL_NODTYPE: any */
	double tflops;           /* TFLOP/s or TOP/s */
	double mhz;              /* the clock it implies; 0 unknown */
	const char *note; /* why rate x SMs x mhz differs by over 1 %, or is not known; or NULL */
};

struct ceil_part {
	const char *name; /* "H200 SXM" */
	/* Whole words of the device's name, longest match wins; a GeForce name must end with it,
	 * since "Ti", "D" and "Laptop GPU" are other parts. */
	const char *match;
	int cc, sm_count;               /* sm_count 0: any; tells parts of one name apart */
	double tensor_mhz, vector_mhz;  /* clocks of the datasheet's figures; 0 unknown */
	double memory_mhz, memory_bits; /* as the device's attributes give them; 0 unknown */
	double memory_gb_s;             /* published; 0 unknown */
	const char *memory_note;        /* like note above */
	double nvlink_gb_s, watts;      /* one direction, all links; 0 unknown or none */
	const struct ceil_published *published;
	size_t published_count;
	const struct ceil_rate *own_rates; /* parts cut down against their architecture, or NULL */
	size_t own_rate_count;
	const char *source; /* with the date it was read */
};

/* rates.c: what an architecture does in a clock. parts.c: cards, their clocks and datasheets. */
extern const struct ceil_rate ceil_rates[];
extern const size_t ceil_rate_count;
extern const struct ceil_part ceil_parts[];
extern const size_t ceil_part_count;

/* What stands beside a value. NAN: unknown. Units are the row's: GB/s, TFLOP/s, TOP/s. */
struct ceil_peak {
	double theoretical,
		theoretical_mhz;         /* at the maximum clock; mhz NAN for memory and links */
	double datasheet, datasheet_mhz; /* published, with its own clock */
	double per_mhz;                  /* theoretical per MHz of SM clock: compute rows only */
	const char *source;              /* of the theoretical figure; "" if there is none */
};

/* ceil_part_find - the part of a device by name, compute capability and SM count, or NULL. */
const struct ceil_part *ceil_part_find(const struct ceil_device_props *d);

/*
 * ceil_part_of_name - the part that a device's name tells alone ("NVIDIA H200 NVL"), or NULL; of
 * those whose names fit, the longest.
 */
const struct ceil_part *ceil_part_of_name(const char *device_name);

/* ceil_part_named - the part of a name such as "H200 SXM", or NULL. */
const struct ceil_part *ceil_part_named(const char *name);

/* ceil_market_of - GeForce and workstation parts have rates of their own. */
enum ceil_market ceil_market_of(const char *device_name);

/* ceil_part_market - of a part of the table: "RTX 4090" is a GeForce card, "RTX PRO 6000" is not.
 */
enum ceil_market ceil_part_market(const struct ceil_part *part);

/*
 * ceil_rate_find - the rate of a type: the part's own, else its architecture's, else NULL.
 * @part: or NULL. e5m2 runs at the rate of e4m3. Where no tensor core takes fp64 or fp32, the
 * vector pipe does the product, and its row (CEIL_R_FMA) is the answer.
 */
const struct ceil_rate *ceil_rate_find(const struct ceil_part *part, int cc,
                                       enum ceil_market market, enum ceil_resource resource,
                                       enum ceil_dtype in, enum ceil_dtype acc);

/* ceil_published_find - the published figure of a type on a part (or NULL part), or NULL. */
const struct ceil_published *ceil_published_find(const struct ceil_part *part,
                                                 enum ceil_resource resource, enum ceil_dtype in,
                                                 enum ceil_dtype acc);

/*
 * ceil_part_peak - what rates, SMs and the clock of the datasheet's other figures give for a type
 * whose own figure is not published, in TFLOP/s or TOP/s.
 * @ret_mhz: that clock. Return: NAN if any of them is unknown; *ret_mhz too.
 */
double ceil_part_peak(const struct ceil_part *part, enum ceil_dtype in, enum ceil_dtype acc,
                      double *ret_mhz);

/*
 * ceil_peak_of - the peaks of a variant on a device.
 * GPU compute: rate x SMs x maximum SM clock. GPU memory: 2 x memory clock x bus width / 8 (double
 * data rate; hdr driver_types.h of CUDA 13.0). Host compute: threads x vector width x FMA pipes x 2
 * x clock, where all four are known. Everything else is unknown.
 */
void ceil_peak_of(const struct ceil_variant *v, const struct ceil_device_props *d,
                  struct ceil_peak *ret_peak);

#endif
