/* What the files of the latency bench share: its levels, its check. */
#ifndef CEIL_BENCH_LATENCY_H
#define CEIL_BENCH_LATENCY_H

#include "harness/base/status.h"
#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buffers of a launch, in their order; see kernels/latency.h. */
enum ceil_latency_buffer {
	CEIL_LATENCY_RING,
	CEIL_LATENCY_STATE,
	CEIL_LATENCY_RESULT,
	CEIL_LATENCY_TICKS,
	CEIL_LATENCY_BUFFERS
};

/* Axes of a case, in their order. */
enum ceil_latency_axis { CEIL_LATENCY_BYTES, CEIL_LATENCY_HOPS };

enum ceil_latency_side { CEIL_LATENCY_ANY, CEIL_LATENCY_NEAR, CEIL_LATENCY_FAR };

struct ceil_latency_level {
	const char *name; /* first word of the variant's name */
	enum ceil_latency_side side;
	uint64_t nodes, stride_bytes, hops; /* nodes 0: eight times the L2 */
	uint32_t shared_bytes; /* of a node in shared memory; 0: it stays where it is */
};

extern const struct ceil_bench ceil_latency_bench;

/* ceil_latency_level_of - by the first word of the variant's name, or NULL. */
const struct ceil_latency_level *ceil_latency_level_of(const struct ceil_variant *v);

/*
 * ceil_latency_sides - the ticks below which nodes are near and above which they are far, from the
 * ticks of count nodes, which it sorts.
 * Return: whether there are two sides: the slowest nodes take at least 4 % longer than the fastest.
 */
bool ceil_latency_sides(uint32_t *ticks, size_t count, uint32_t *ret_near, uint32_t *ret_far);

#endif
