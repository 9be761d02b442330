/* run.json: everything that is needed to repeat a number. */
#ifndef CEIL_INFO_H
#define CEIL_INFO_H

#include "harness/cli/inventory.h"
#include "harness/measure/campaign.h"

#include <jansson.h>

/* What the command line decided. */
struct ceil_run_setup {
	int argc;
	char **argv;
	const char *command; /* "bench" */
	uint64_t seed;
	double budget_s;
	bool quick;
	char unset[256]; /* variables that ceil_info_clean took out of the environment */
};

/*
 * ceil_info_clean - unsets what would make a library compute in another type than asked, and notes
 * it in setup->unset. Before any thread starts.
 */
void ceil_info_clean(struct ceil_run_setup *setup);

/* ceil_info_make - tool, system, command, policy, libraries, devices. NULL if there is no memory.
 */
json_t *ceil_info_make(const struct ceil_run_setup *setup, const struct ceil_inventory *inv);

/*
 * ceil_info_host - its "host": CPU quota, affinity, memory limits, NUMA nodes that are used, and
 * how many are not: those without cores of ours, as the memory of a GPU that appears as a node.
 */
json_t *ceil_info_host(void);

/* ceil_info_add_lane - a device that is measured: its properties and coverage. */
void ceil_info_add_lane(json_t *info, const struct ceil_lane *lane);

/* ceil_info_add_timer - how fine the clock of a device that was added is, once it is known. */
void ceil_info_add_timer(json_t *info, const struct ceil_lane *lane);

/* ceil_info_add_cblas - the library of host products, with the threads that it is told to use;
 * after the measurements, which its threads would disturb. */
void ceil_info_add_cblas(json_t *info, unsigned threads);

/* ceil_info_finish - how the run ended. */
void ceil_info_finish(json_t *info, int exit_status, double seconds);

#endif
