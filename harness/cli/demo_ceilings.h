/* The ceilings beside which a demo's rates stand, measured on the card in the same call. */
#ifndef CEIL_DEMO_CEILINGS_H
#define CEIL_DEMO_CEILINGS_H

#include "harness/base/status.h"
#include "harness/cli/demo.h"
#include "harness/device/backend.h"
#include "harness/telemetry/nvml.h"

#include <stdint.h>

enum { CEIL_DEMO_CEILINGS = 8 };

struct ceil_demo_ceilings {
	size_t count;
	struct ceil_demo_ceiling {
		const char *name; /* "gemm.bf16.sustained", of the scenario table */
		double value;     /* TFLOP/s or GB/s; NAN: could not be measured */
		char reason[192]; /* why not */
	} v[CEIL_DEMO_CEILINGS];
	uint32_t algorithm; /* of the matrix product that gave its ceiling */
};

/* ceil_demo_ceilings_of - the names that points need, sustained ones last: they heat the card. */
void ceil_demo_ceilings_of(const struct ceil_demo_points *points, struct ceil_demo_ceilings *ret_c);

struct ceil_demo_ceilings_options {
	uint64_t seed;
	struct ceil_nvml_gpu *gpu;
	void (*begin)(void *user, const char *name); /* before each */
	void *user;
};

/*
 * ceil_demo_ceilings_measure - by the benches' own quick forms: the best of each.
 * Return: CEIL_OK, whatever could be measured; CEIL_E_TIMEOUT or CEIL_E_DEVICE if the device is
 * lost; CEIL_E_CANCELLED.
 */
CEIL_MUST_CHECK enum ceil_status ceil_demo_ceilings_measure(
	struct ceil_demo_ceilings *c, struct ceil_device *dev,
	const struct ceil_demo_ceilings_options *o, struct ceil_error *err);

/* ceil_demo_ceiling - the value of a name; NAN without it, or for NULL. */
double ceil_demo_ceiling(const struct ceil_demo_ceilings *c, const char *name);

#endif
