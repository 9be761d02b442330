/* Which parts compute fp64 slowly: benches give those smaller work. */
#ifndef CEIL_BENCH_FP64_H
#define CEIL_BENCH_FP64_H

#include <stdbool.h>

struct ceil_device_props;

/*
 * ceil_has_slow_fp64 - whether a part computes fp64 at an 8th of fp32 or less, as all do but the
 * big chip of each generation; false for NULL and where no compute capability is known.
 * Source: CUDA C++ Programming Guide 13.0, arithmetic throughput by compute capability.
 */
bool ceil_has_slow_fp64(const struct ceil_device_props *d);

#endif
