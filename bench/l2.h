/* What the files of the l2 bench share: its buffers. */
#ifndef CEIL_BENCH_L2_H
#define CEIL_BENCH_L2_H

#include "harness/measure/bench.h"

/* Buffers of a launch, in their order: the array, and a sum of each block. */
enum ceil_l2_buffer { CEIL_L2_ARRAY, CEIL_L2_SUMS, CEIL_L2_BUFFERS };

/* Axes of a case, in their order. */
enum ceil_l2_axis { CEIL_L2_BYTES, CEIL_L2_SHARE, CEIL_L2_TRAFFIC };

extern const struct ceil_bench ceil_l2_bench;

#endif
