/* What a telemetry source is: named values of one GPU, read at every tick of the sampler. */
#ifndef CEIL_SOURCE_H
#define CEIL_SOURCE_H

#include "harness/base/status.h"
#include "harness/base/table.h"

#include <stdbool.h>
#include <stddef.h>

struct ceil_nvml_gpu;

/* Most sources, and most values that all of them have together. */
enum { CEIL_SOURCES_MAX = 8, CEIL_SOURCE_VALUES = 40 };

/* A value: the name is a column of telemetry.csv, with its unit in it. */
struct ceil_source_value {
	const char *name, *unit, *doc;
};

/* Whom a source reads. */
struct ceil_source_target {
	const char *device; /* "gpu0" */
	const char *uuid, *pci_bus_id;
	struct ceil_nvml_gpu *nvml; /* or NULL */
	bool counters; /* hardware counters too that take 0.2 s to set up: PM sampling */
	bool gpm;      /* set by the sampler: GPM is open, as it is before PM sampling */
};

/*
 * To add a source: one file with one of these, and one line in sources.c. All of its functions but
 * open and close are called from the sampler's thread, for one GPU after another.
 */
struct ceil_source {
	const char *name, *doc;
	const struct ceil_source_value *values;
	size_t value_count;
	/*
	 * open - begins to watch a GPU.
	 * Return: CEIL_E_UNSUPPORTED if this source has nothing to say about it: its values are
	 * absent then, and the reason stands in run.json.
	 */
	enum ceil_status (*open)(const struct ceil_source_target *t, void **ret_state,
	                         struct ceil_error *err);
	/* read - value_count values now; they come as NAN, which is how what is unknown stays. */
	void (*read)(void *state, double *ret_values);
	void (*close)(void *state);
};

/* What NVML tells by itself, its further counters, GPM, and PM sampling by CUPTI. */
extern const struct ceil_source ceil_nvml_source, ceil_nvml_more_source, ceil_gpm_source,
	ceil_pm_source;

/* sources.c: the one list, NULL-terminated. */
extern const struct ceil_source *const ceil_sources[];

/* A row of telemetry.csv. */
struct ceil_telemetry_row {
	double seconds;
	char device[16], ceiling[64];
	double value[CEIL_SOURCE_VALUES]; /* those of every source, in the order of the list */
};

/* The columns of telemetry.csv, made from the sources. */
struct ceil_telemetry_table {
	struct ceil_table table;
	struct ceil_field fields[3 + CEIL_SOURCE_VALUES];
};
/* ceil_telemetry_table_init - t->table points into t, so t must not move. */
void ceil_telemetry_table_init(struct ceil_telemetry_table *t);

/* ceil_source_value_index - where a value of this name stands in a row; -1: no source has it. */
int ceil_source_value_index(const char *name);

#endif
