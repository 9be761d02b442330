/* What the files of the launch bench share: its host and timer launchers, its check. */
#ifndef CEIL_BENCH_LAUNCH_H
#define CEIL_BENCH_LAUNCH_H

#include "harness/base/status.h"
#include "harness/device/backend.h"
#include "harness/device/cuda_launch.h"
#include "harness/measure/bench.h"

#include <stdint.h>

extern const struct ceil_bench ceil_launch_bench;

/*
 * ceil_launch_host_roundtrip - a job that does nothing, given to all pinned threads of the host and
 * waited for: a time each, l->self_count of them. stream[0] is a struct ceil_pool *; with l->k = 1,
 * for checks, each thread adds 1 to *(uint32_t *)buf[0].
 */
CEIL_MUST_CHECK enum ceil_status ceil_launch_host_roundtrip(const struct ceil_launch *l,
                                                            struct ceil_error *err);

/* ---- the tools of measurement themselves, on any backend; l->state is from timer_open */

/* ceil_launch_timer_open - keeps the device, which must outlive the state. */
CEIL_MUST_CHECK enum ceil_status ceil_launch_timer_open(struct ceil_device *dev,
                                                        const struct ceil_launch *l,
                                                        struct ceil_launch_state **ret_state,
                                                        struct ceil_error *err);

/* ceil_launch_timer_resolution - the step of marks: the least difference between any two waits. */
CEIL_MUST_CHECK enum ceil_status ceil_launch_timer_resolution(const struct ceil_launch *l,
                                                              struct ceil_error *err);

/* ceil_launch_event_overhead - what a mark adds on the device, of 63 that follow one another. */
CEIL_MUST_CHECK enum ceil_status ceil_launch_event_overhead(const struct ceil_launch *l,
                                                            struct ceil_error *err);

/*
 * ceil_launch_gate_overhead - by the host's clock, from the opening of the gate to the end of what
 * waited behind it, which is a mark: a time each, l->self_count of them.
 * Return: CEIL_E_UNSUPPORTED if the device has no gate.
 */
CEIL_MUST_CHECK enum ceil_status ceil_launch_gate_overhead(const struct ceil_launch *l,
                                                           struct ceil_error *err);

/*
 * ceil_launch_step - the step of a clock, from the distances between its readings. Pure.
 * @ns: count distances, all multiples of the step but for rounding; in order after it.
 * Return: the least difference of two of them above a tenth of a nanosecond; NAN if there is none.
 */
double ceil_launch_step(double *ns, size_t count);

#endif
