/* What the files of the atomic bench share: its buffer. */
#ifndef CEIL_BENCH_ATOMIC_H
#define CEIL_BENCH_ATOMIC_H

#include "harness/measure/bench.h"

enum ceil_atomic_buffer { CEIL_ATOMIC_COUNTERS, CEIL_ATOMIC_BUFFERS };

extern const struct ceil_bench ceil_atomic_bench;

#endif
