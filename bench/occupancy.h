/* What the files of the occupancy bench share: its axes. */
#ifndef CEIL_BENCH_OCCUPANCY_H
#define CEIL_BENCH_OCCUPANCY_H

#include "harness/measure/bench.h"

/* Axes of a case, in their order. */
enum ceil_occupancy_axis { CEIL_OCCUPANCY_WARPS, CEIL_OCCUPANCY_SMS, CEIL_OCCUPANCY_SIZE };

extern const struct ceil_bench ceil_occupancy_bench;

#endif
