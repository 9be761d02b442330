/* What the kernel lets this process use: CPU quota and memory of its control groups. */
#ifndef CEIL_LIMITS_H
#define CEIL_LIMITS_H

#include <stdint.h>

/*
 * Both versions of cgroups, in containers and outside; of nested groups the tightest counts.
 * Read afresh at each call, below GPUCEIL_SYSROOT (see sysfs.h).
 * Source: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst,
 * Documentation/scheduler/sched-bwc.rst; proc(5) for mountinfo.
 */

/* ceil_limits_cpus - CPUs' worth of time that the quota grants, e.g. 1.5; NAN without a quota. */
double ceil_limits_cpus(void);

/*
 * ceil_limits_memory_bytes - what the groups still let us take: limit less usage, where page
 * cache that the kernel drops first is no usage. UINT64_MAX without a limit.
 */
uint64_t ceil_limits_memory_bytes(void);

/* ceil_limits_address_bytes - what `ulimit -v` leaves of the address space; UINT64_MAX: no limit.
 */
uint64_t ceil_limits_address_bytes(void);

/* ceil_limits_free_bytes - the smallest of these and MemAvailable; UINT64_MAX where none is known.
 */
uint64_t ceil_limits_free_bytes(void);

/*
 * ceil_limits_shared_bytes - what is free of memory that a GPU shares with the host. The GPU's
 * driver counts as taken what the page cache would give back, and as free what the control group
 * forbids, so the system's own figure counts where it is known.
 */
uint64_t ceil_limits_shared_bytes(uint64_t device_free_bytes);

/*
 * ceil_limits_plan_bytes - of free memory, what a run may plan with: 60 %, and never the last
 * 2 GiB. UINT64_MAX (unknown) gives 0.
 */
uint64_t ceil_limits_plan_bytes(uint64_t free_bytes);

#endif
