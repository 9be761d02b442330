/* What the files of the roofline bench share: its buffers. */
#ifndef CEIL_BENCH_ROOFLINE_H
#define CEIL_BENCH_ROOFLINE_H

#include "harness/measure/bench.h"

/* Buffers of a launch, in their order; see kernels/roofline.h. */
enum ceil_roofline_buffer {
	CEIL_ROOFLINE_DATA,
	CEIL_ROOFLINE_CONSTANT,
	CEIL_ROOFLINE_SUMS,
	CEIL_ROOFLINE_BUFFERS
};

/* Axes of a case, in their order. */
enum ceil_roofline_axis { CEIL_ROOFLINE_FMAS, CEIL_ROOFLINE_BYTES };

extern const struct ceil_bench ceil_roofline_bench;

#endif
