/* What the files of the access bench share: its buffers and axes. */
#ifndef CEIL_BENCH_ACCESS_H
#define CEIL_BENCH_ACCESS_H

#include "harness/measure/bench.h"

/* Buffers of a launch, in their order: the array, and a sum of each block. */
enum ceil_access_buffer { CEIL_ACCESS_ARRAY, CEIL_ACCESS_SUMS, CEIL_ACCESS_BUFFERS };

/* Axes of a case, in their order. */
enum ceil_access_axis { CEIL_ACCESS_STRIDE, CEIL_ACCESS_BYTES };

extern const struct ceil_bench ceil_access_bench;

#endif
