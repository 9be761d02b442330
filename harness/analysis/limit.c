/* The rules that say what holds a row back. */
#include "harness/analysis/limit.h"

#include <string.h>

/*
 * A clock within 2 % of the maximum is the maximum: means over a region straddle steps of 15 MHz,
 * and a card may idle one step below it.
 */
#define CLOCK_DOWN 0.98
/* A streaming kernel reaches 0.9 to 0.98 of the pins; below 0.8 something else is in the way. */
#define MEMORY_FULL 0.80
/* Pinned copies reach 0.95 of the link, pageable ones a third; half of it is far from both. */
#define LINK_STARVED 0.50
/* Multiply-add loops reach 0.99 of issue, good matrix products 0.95; 0.9 leaves room for tails. */
#define ISSUE_FULL 0.90

static bool is_host(const struct ceil_limit_facts *f)
{
	return (f->backend && strcmp(f->backend, "host") == 0) || f->resource == CEIL_R_STORAGE;
}

static bool is_latency(const struct ceil_limit_facts *f)
{
	return f->resource == CEIL_R_LAUNCH || f->resource == CEIL_R_LATENCY;
}

static bool is_starved(const struct ceil_limit_facts *f)
{
	return f->resource == CEIL_R_HOSTLINK && f->of_theoretical < LINK_STARVED;
}

/* Started ahead and timed on the device, so it is the start of each copy that takes the time. */
static bool is_small(const struct ceil_limit_facts *f)
{
	return is_starved(f) && f->timing == CEIL_TIME_MARKS;
}

static bool is_link(const struct ceil_limit_facts *f)
{
	return f->resource == CEIL_R_HOSTLINK || f->resource == CEIL_R_PEER ||
	       f->resource == CEIL_R_FABRIC;
}

static bool is_thermal(const struct ceil_limit_facts *f)
{
	return f->window && f->window->thermal;
}

static bool is_memory(const struct ceil_limit_facts *f)
{
	const bool memory = f->resource == CEIL_R_DRAM || f->resource == CEIL_R_L2 ||
	                    f->resource == CEIL_R_SMEM;

	return memory && f->of_theoretical >= MEMORY_FULL;
}

static bool is_power(const struct ceil_limit_facts *f)
{
	return f->window && f->window->power_capped && f->clock_ratio < CLOCK_DOWN;
}

/* Where no clock was held, the peak at the maximum clock decides: it can only be missed by more. */
static bool is_issue(const struct ceil_limit_facts *f)
{
	const bool compute = f->resource == CEIL_R_FMA || f->resource == CEIL_R_SFU ||
	                     f->resource == CEIL_R_TENSOR;

	return compute && (f->of_clock >= ISSUE_FULL || f->of_theoretical >= ISSUE_FULL);
}

static bool is_unknown(const struct ceil_limit_facts *f)
{
	(void)f; /* the last rule holds for everything */
	return true;
}

/* First match wins: where it runs and what it does, then heat, then what it has used up. */
const struct ceil_limit_rule ceil_limit_rules[] = {
	{"host", "it runs on the CPUs and memory of the host, or on its storage", is_host},
	{"latency", "one operation waits for the one before: launches, pointer chases", is_latency},
	{"latency",
         "copies between host and GPU, started ahead, below 0.50 of their link: too small",
         is_small},
	{"host", "other copies between host and GPU below 0.50 of their link: the host stages them",
         is_starved},
	{"link", "bytes cross PCIe, NVLink or the network", is_link},
	{"thermal", "a thermal limit, hardware slowdown or power brake was active during it",
         is_thermal},
	{"memory", "a memory row at 0.80 of theoretical or above, whatever the clock of the SMs",
         is_memory},
	{"power", "the power cap was active and the clock held was below 0.98 of the maximum",
         is_power},
	{"issue", "a compute row at 0.90 or above of what its pipe can issue at the clock held",
         is_issue},
	{"unknown", "no rule holds: the figures do not say", is_unknown},
};
const size_t ceil_limit_rule_count = sizeof(ceil_limit_rules) / sizeof(ceil_limit_rules[0]);

const char *ceil_limited_by(const struct ceil_limit_facts *f)
{
	size_t i = 0;

	while (!ceil_limit_rules[i].holds(f))
		i++;
	return ceil_limit_rules[i].word;
}
