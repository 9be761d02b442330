/* Which devices a run has: what CUDA gives, matched with NVML, chosen and judged before any
 * context. */
#ifndef CEIL_INVENTORY_H
#define CEIL_INVENTORY_H

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/backend.h"
#include "harness/telemetry/nvml.h"

#include <stdbool.h>
#include <stddef.h>

/* What to do with a GPU on which someone else works. */
enum ceil_busy_policy { CEIL_BUSY_SKIP, CEIL_BUSY_RUN, CEIL_BUSY_FAIL };

struct ceil_inventory_options {
	const char *backend;   /* NULL: all */
	struct ceil_list gpus; /* nvidia-smi's indices or UUIDs; empty or "all": every one */
	enum ceil_busy_policy busy;
	bool look_for_others; /* whether to ask who works on the GPUs: takes about a second */
};

/* A device that a backend gives. */
struct ceil_found {
	const struct ceil_backend *backend;
	int ordinal;                    /* the backend's */
	struct ceil_device_props props; /* as peeked; the label is the final one */
	struct ceil_nvml_gpu *gpu;      /* or NULL */
	struct ceil_nvml_info info;     /* of gpu; absent without */
	bool skipped;
	char reason[256]; /* why it is skipped */
};

/* Why a backend gives nothing. */
struct ceil_missing {
	const struct ceil_backend *backend;
	enum ceil_status status; /* CEIL_E_UNSUPPORTED: fine; CEIL_E_DEVICE: broken */
	char reason[256];
};

struct ceil_inventory {
	struct ceil_nvml *nvml;
	char nvml_reason[256]; /* why there is no telemetry, or "" */
	struct ceil_found found[CEIL_MAX_DEVICES];
	size_t found_count;
	struct ceil_missing missing[4];
	size_t missing_count;
};

/*
 * ceil_inventory_open - asks every wanted backend and NVML; creates no context.
 * Return: CEIL_E_USAGE if --gpu names what is not there (with what is), CEIL_E_DEVICE for
 * CEIL_BUSY_FAIL on a busy GPU.
 */
CEIL_MUST_CHECK enum ceil_status ceil_inventory_open(const struct ceil_inventory_options *o,
                                                     struct ceil_inventory *ret_inv,
                                                     struct ceil_error *err);
void ceil_inventory_close(struct ceil_inventory *inv);

/* ceil_inventory_device - opens a found device, with its label and the larger of both clocks. */
CEIL_MUST_CHECK enum ceil_status ceil_inventory_device(const struct ceil_found *f,
                                                       struct ceil_device **ret_dev,
                                                       struct ceil_error *err);

#endif
