/* What the figures of a GPU say, in one word: rules, tried in their order. */
#include "harness/analysis/usage.h"

#include <math.h>
#include <string.h>

/*
 * Thresholds. A counter at 0.9 or more is "all the time": GPU-Util is told in whole percents of a
 * window that may hold a launch gap. A rate of 0.8 of a measured ceiling is reached by whatever
 * is well made; below a tenth the pipe is as good as unused. GPU-Util below 0.8 means that
 * something outside of the kernels holds the GPU up (mission: layer 1).
 */
#define ALL_THE_TIME 0.9
#define GAPS         0.8
#define REACHED      0.8
#define NEXT_TO_NONE 0.1
#define NOTHING      0.01
#define UNSEEN       1e-4
/* Device memory: 0.6 of its cycles is what well-made copies and sums show (H200: 0.8). */
#define MEMORY_BUSY 0.6

static bool at_least(double x, double limit)
{
	return x >= limit; /* false for NAN */
}

static bool below(double x, double limit)
{
	return x < limit; /* false for NAN */
}

/* Known and below, or not known. */
static bool not_above(double x, double limit)
{
	return !(x >= limit);
}

static bool is_unknown(const struct ceil_usage *u)
{
	return isnan(u->gpu_util) && isnan(ceil_usage_sm_active(u));
}

/* Where GPU-Util is not known, one warp on one of many multiprocessors must show. */
static bool is_idle(const struct ceil_usage *u)
{
	const double nothing = isnan(u->gpu_util) ? UNSEEN : NOTHING;

	return not_above(u->gpu_util, 0.02) && not_above(ceil_usage_sm_active(u), nothing) &&
	       not_above(u->gb_s, 1e-9) && not_above(u->tflops, 1e-9);
}

static bool is_copying(const struct ceil_usage *u)
{
	return below(ceil_usage_sm_active(u), NOTHING) && at_least(u->gb_s, 1e-9);
}

static bool is_busy_but_idle(const struct ceil_usage *u)
{
	return at_least(u->gpu_util, ALL_THE_TIME) && below(ceil_usage_sm_active(u), NEXT_TO_NONE);
}

static bool is_starved(const struct ceil_usage *u)
{
	return below(u->gpu_util, GAPS) && not_above(ceil_usage_sm_active(u), GAPS);
}

static bool is_well_fed(const struct ceil_usage *u)
{
	return at_least(u->of_flops_ceiling, REACHED) || at_least(u->tensor_active, REACHED) ||
	       at_least(u->fp32_active, REACHED) || at_least(u->fp64_active, REACHED) ||
	       at_least(u->fp16_active, REACHED);
}

static bool is_memory_bound(const struct ceil_usage *u)
{
	return at_least(u->dram_active, MEMORY_BUSY) || at_least(u->pm_dram_active, MEMORY_BUSY) ||
	       (at_least(u->of_bytes_ceiling, REACHED) && not_above(u->tensor_active, 0.5));
}

static bool is_partly_used(const struct ceil_usage *u)
{
	return below(ceil_usage_sm_active(u), GAPS);
}

/* Warps everywhere, and no pipe and no memory that does more than a tenth of what it could. */
static bool is_occupied_for_nothing(const struct ceil_usage *u)
{
	return at_least(ceil_usage_sm_active(u), GAPS) &&
	       not_above(u->tensor_active, NEXT_TO_NONE) &&
	       not_above(u->dram_active, NEXT_TO_NONE) &&
	       not_above(u->of_flops_ceiling, NEXT_TO_NONE) &&
	       not_above(u->of_bytes_ceiling, NEXT_TO_NONE) &&
	       not_above(u->fp32_active, 2 * NEXT_TO_NONE) &&
	       not_above(u->fp64_active, NEXT_TO_NONE) && not_above(u->fp16_active, NEXT_TO_NONE);
}

static bool is_anything(const struct ceil_usage *u)
{
	(void)u;
	return true;
}

const struct ceil_verdict_rule ceil_verdict_rules[] = {
	{"unknown", "no counter tells what the GPU does", is_unknown},
	{"idle", "nothing runs", is_idle},
	{"copying", "data move and no kernel computes", is_copying},
	{"busy_but_idle", "GPU-Util is full, the multiprocessors stand still", is_busy_but_idle},
	{"starved", "the GPU waits for the host: for data, launches or other work", is_starved},
	{"well_fed", "the pipes work at their ceiling", is_well_fed},
	{"memory_bound", "device memory is the limit, and it is reached", is_memory_bound},
	{"partly_used", "kernels use a part of the GPU, or all of it a part of the time",
         is_partly_used},
	{"occupied_for_nothing", "warps are everywhere, and nothing comes of it",
         is_occupied_for_nothing},
	{"below_ceiling", "the GPU works, below each of its ceilings", is_anything},
};

const size_t ceil_verdict_rule_count = sizeof(ceil_verdict_rules) / sizeof(ceil_verdict_rules[0]);

const struct ceil_verdict_rule *ceil_verdict_of(const struct ceil_usage *u)
{
	size_t i = 0;

	while (!ceil_verdict_rules[i].holds(u))
		i++; /* the last holds */
	return &ceil_verdict_rules[i];
}

const struct ceil_verdict_rule *ceil_verdict_find(const char *name)
{
	for (size_t i = 0; i < ceil_verdict_rule_count; i++) {
		if (strcmp(ceil_verdict_rules[i].name, name) == 0)
			return &ceil_verdict_rules[i];
	}
	return NULL;
}
