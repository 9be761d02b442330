/* What tests on a real GPU share: the device, and every GPU variant of a bench, exact or in short.
 */
#ifndef CEIL_TESTS_GPU_BENCH_H
#define CEIL_TESTS_GPU_BENCH_H

#include "harness/measure/loop.h"

#include <stdint.h>

/*
 * gpu_device_open - the first GPU; skips all where there is none, and ends the test where it does
 * not open. Closed by its backend.
 */
struct ceil_device *gpu_device_open(void);

/*
 * gpu_bench_exact - for every variant of the first GPU: is poison refused, and one launch of a case
 * with these axes found right? What the part cannot do is skipped.
 * @fits: whether the case is for a variant; NULL: for all.
 * Return: the exit status of the test; skips all where there is no GPU.
 */
int gpu_bench_exact(const struct ceil_bench *bench, const uint64_t axis[CEIL_MAX_AXES],
                    bool (*fits)(const struct ceil_variant *v));

/*
 * gpu_bench_rows - a short measurement of the points of a bench on dev: does each become an ok and
 * checked row with a value above 0? What stands in it is not tested.
 * @fits: whether a point that the bench and the part allow is measured; NULL: all are.
 * @look: more tests of an outcome; NULL: none.
 */
void gpu_bench_rows(struct ceil_device *dev, const struct ceil_bench *bench,
                    bool (*fits)(const struct ceil_point *p),
                    void (*look)(const struct ceil_outcome *o));

#endif
