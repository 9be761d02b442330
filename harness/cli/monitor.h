/* What watches the GPUs of a run: the sampler with its file, and their health. */
#ifndef CEIL_MONITOR_H
#define CEIL_MONITOR_H

#include "harness/cli/inventory.h"
#include "harness/measure/campaign.h"
#include "harness/output/run.h"
#include "harness/telemetry/health.h"
#include "harness/telemetry/sampler.h"

#include <jansson.h>
#include <stdbool.h>

/* Zeroed is one that watches nothing yet. */
struct ceil_monitor {
	struct ceil_telemetry_table table;
	struct ceil_sampler *sampler; /* NULL: off */
	struct ceil_health health;
	struct ceil_run *run;
};

/* ceil_monitor_begin - the health before anything of ours touches the GPUs of an inventory. */
void ceil_monitor_begin(struct ceil_monitor *m, const struct ceil_inventory *inv);

/*
 * ceil_monitor_watch - starts the sampler for the lanes that are GPUs and gives them their watch;
 * rows go to the run's telemetry.csv. Where there is nothing to sample, nothing starts: the reason
 * stands in info, and so do the sources that could be had.
 * Return: CEIL_E_IO if the file cannot be opened, CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_monitor_watch(struct ceil_monitor *m, struct ceil_lane *lanes,
                                                    size_t count, struct ceil_run *run,
                                                    json_t *info, struct ceil_error *err);

/*
 * ceil_monitor_end - stops the sampler, reads the health again and puts it into info.
 * Return: false if a driver holds the sampler's thread: the process must leave by _exit.
 */
bool ceil_monitor_end(struct ceil_monitor *m, json_t *info);

/* ceil_monitor_close - frees what it read; after ceil_monitor_end. */
void ceil_monitor_close(struct ceil_monitor *m);

#endif
