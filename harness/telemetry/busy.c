/* Whether someone else works on a GPU: the rule, and the second of watching it needs. */
#include "harness/telemetry/busy.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/base/types.h"
#include "harness/telemetry/nvml.h"

/* NVML's sample period is 1/6 to 1 s by product: 5 gaps of 200 ms see each of them. */
enum { SAMPLES = 6, GAP_MS = 200, ROUNDS = 2 };

static double memory_limit(const struct ceil_busy_signs *s)
{
	const double share = CEIL_BUSY_MEMORY_RATIO * s->total_bytes;

	return share > CEIL_BUSY_BYTES ? share : CEIL_BUSY_BYTES;
}

static void say_owners(const struct ceil_busy_signs *s, struct ceil_busy *b)
{
	if (s->processes <= 0)
		ceil_append(b->reason, sizeof(b->reason),
		            " by processes that cannot be seen from here");
	else if (s->processes == 1)
		ceil_append(b->reason, sizeof(b->reason), " by 1 process (pid %u)", s->first_pid);
	else
		ceil_append(b->reason, sizeof(b->reason), " by %d processes (pid %u and others)",
		            s->processes, s->first_pid);
}

void ceil_busy_judge(const struct ceil_busy_signs *s, struct ceil_busy *ret_busy)
{
	const bool memory = s->used_bytes > memory_limit(s);
	const bool util = s->util_ratio > CEIL_BUSY_UTIL_RATIO;
	char bytes[32];

	*ret_busy = (struct ceil_busy){.busy = memory || util};
	if (memory) {
		ceil_human_bytes(bytes, sizeof(bytes), (uint64_t)s->used_bytes);
		ceil_append(ret_busy->reason, sizeof(ret_busy->reason), "%s in use", bytes);
	}
	if (util)
		ceil_append(ret_busy->reason, sizeof(ret_busy->reason), "%sutilisation %.0f %%",
		            memory ? ", " : "", 100.0 * s->util_ratio);
	if (ret_busy->busy)
		say_owners(s, ret_busy);
}

static void judge_now(struct ceil_nvml_gpu *gpu, double util_ratio, struct ceil_busy *ret_busy)
{
	struct ceil_busy_signs s = {.util_ratio = util_ratio};
	struct ceil_nvml_info info;

	ceil_nvml_info(gpu, &info);
	s.used_bytes = info.memory_used_bytes;
	s.total_bytes = info.memory_total_bytes;
	s.processes = ceil_nvml_pids(gpu, &s.first_pid, 1);
	ceil_busy_judge(&s, ret_busy);
}

/* Mean utilisation of each watched GPU over about a second. */
static void watch(struct ceil_nvml_gpu *const *gpus, size_t count, const bool *watched,
                  double *ret_util)
{
	struct ceil_nvml_state state;
	size_t i;
	int k;

	for (i = 0; i < count; i++)
		ret_util[i] = 0;
	for (k = 0; k < SAMPLES; k++) {
		if (k > 0)
			ceil_sleep_ns((uint64_t)GAP_MS * CEIL_NS_PER_MS);
		for (i = 0; i < count; i++) {
			if (!watched[i])
				continue;
			ceil_nvml_read(gpus[i], &state);
			ret_util[i] += state.gpu_util_ratio / SAMPLES;
		}
	}
}

static bool tells_utilization(struct ceil_nvml_gpu *gpu)
{
	struct ceil_nvml_state state;

	ceil_nvml_read(gpu, &state);
	return !isnan(state.gpu_util_ratio);
}

void ceil_busy_check(struct ceil_nvml_gpu *const *gpus, size_t count, struct ceil_busy *ret_busy)
{
	bool watched[CEIL_MAX_DEVICES], any = false;
	double util[CEIL_MAX_DEVICES];
	size_t i;
	int round;

	assert(count <= CEIL_MAX_DEVICES);
	for (i = 0; i < count; i++) {
		judge_now(gpus[i], (double)NAN, &ret_busy[i]);
		watched[i] = !ret_busy[i].busy && tells_utilization(gpus[i]);
		any = any || watched[i];
	}
	for (round = 0; any && round < ROUNDS; round++) {
		watch(gpus, count, watched, util);
		any = false;
		for (i = 0; i < count; i++) {
			if (!watched[i])
				continue;
			judge_now(gpus[i], util[i], &ret_busy[i]);
			watched[i] = ret_busy[i].busy;
			any = any || watched[i];
		}
	}
}
