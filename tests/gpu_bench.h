/* One launch of every GPU variant of a bench, on exact data, as the tests in tests/gpu want it. */
#ifndef CEIL_TESTS_GPU_BENCH_H
#define CEIL_TESTS_GPU_BENCH_H

#include "harness/measure/bench.h"

#include <stdint.h>

/*
 * gpu_bench_exact - for every variant of the first GPU: is poison refused, and one launch of a case
 * with these axes found right? What the part cannot do is skipped.
 * @fits: whether the case is for a variant; NULL: for all.
 * Return: the exit status of the test; skips all where there is no GPU.
 */
int gpu_bench_exact(const struct ceil_bench *bench, const uint64_t axis[CEIL_MAX_AXES],
                    bool (*fits)(const struct ceil_variant *v));

#endif
