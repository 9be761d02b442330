/* Whether someone else works on a GPU: asked before any context of ours exists. */
#ifndef CEIL_BUSY_H
#define CEIL_BUSY_H

#include <stdbool.h>
#include <stddef.h>

struct ceil_nvml_gpu;

/* Memory in use above the larger of these, or utilisation above the last, is someone's work. */
#define CEIL_BUSY_BYTES        (500.0 * 1024 * 1024)
#define CEIL_BUSY_MEMORY_RATIO 0.01
#define CEIL_BUSY_UTIL_RATIO   0.05

/* What NVML showed; NAN and -1: it did not tell. */
struct ceil_busy_signs {
	double used_bytes, total_bytes; /* used: without the driver's reserve */
	double util_ratio;              /* mean over about a second */
	int processes;                  /* that this namespace can see */
	unsigned first_pid;             /* with processes > 0 */
};

struct ceil_busy {
	bool busy;
	char reason[160]; /* "2.1 GiB in use by 1 process (pid 4242)"; "" when not busy */
};

/*
 * ceil_busy_judge - the rule of the thresholds above, and what was seen in words. Pure.
 * Memory whose owner is not among the visible processes counts: containers hide them.
 */
void ceil_busy_judge(const struct ceil_busy_signs *s, struct ceil_busy *ret_busy);

/*
 * ceil_busy_check - looks at several GPUs during the same second; at once if memory tells all.
 * A GPU that only its utilisation gives away is watched for another second: a driver that has
 * just started reads busy while it scrubs its memory.
 * @gpus: count of them; NULL entries are not busy, since nothing is known.
 * @ret_busy: count answers.
 */
void ceil_busy_check(struct ceil_nvml_gpu *const *gpus, size_t count, struct ceil_busy *ret_busy);

#endif
