/* What the files of the tensor bench share: its buffers. */
#ifndef CEIL_BENCH_TENSOR_H
#define CEIL_BENCH_TENSOR_H

#include "harness/measure/bench.h"

/* Buffers of a launch, in their order: A (m x k), B (n x k), and all tiles C (m x n). */
enum ceil_tensor_buffer { CEIL_TENSOR_A, CEIL_TENSOR_B, CEIL_TENSOR_C, CEIL_TENSOR_BUFFERS };

extern const struct ceil_bench ceil_tensor_bench;

#endif
