/* What the files of the smem bench share: its buffers. */
#ifndef CEIL_BENCH_SMEM_H
#define CEIL_BENCH_SMEM_H

#include "harness/measure/bench.h"

/* Buffers of a launch, in their order: what every block reads, and a sum of each thread. */
enum ceil_smem_buffer { CEIL_SMEM_TILE, CEIL_SMEM_SUMS, CEIL_SMEM_BUFFERS };

extern const struct ceil_bench ceil_smem_bench;

#endif
