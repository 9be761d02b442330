/* What the files of the pipes bench share: its operations. */
#ifndef CEIL_BENCH_PIPES_H
#define CEIL_BENCH_PIPES_H

#include "harness/measure/bench.h"

#include <stdint.h>

/* Buffers of a launch, in their order. */
enum ceil_pipes_buffer { CEIL_PIPES_A, CEIL_PIPES_IN, CEIL_PIPES_OUT, CEIL_PIPES_BUFFERS };

struct ceil_pipes_operation {
	const char *name;       /* first word of the variant's name */
	double per_instruction; /* operations of each lane */
	uint64_t steps;         /* of a launch, unless the case says otherwise */
	/* y += a z, z += b y in a check; 0: 2 A[i] + 1 of the data, for a and b. */
	int64_t a, b;
};

extern const struct ceil_bench ceil_pipes_bench;

/* ceil_pipes_work - the bench's cost model: l->n steps of l->blocks x l->threads threads. */
void ceil_pipes_work(const struct ceil_point *p, const struct ceil_launch *l,
                     struct ceil_work *ret_w);

/*
 * ceil_pipes_check - the bench's check: is every value what so many steps make of it? Steps are
 * linear, so any number of them is a power of a matrix, exact in whole numbers.
 * Return: CEIL_OK; CEIL_E_WRONG; what the device said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_pipes_check(const struct ceil_point *p,
                                                  struct ceil_device *dev,
                                                  const struct ceil_launch *l,
                                                  const struct ceil_buffer buf[CEIL_MAX_BUFS],
                                                  uint64_t seed, struct ceil_error *err);

/* ceil_pipes_operation_of - by the first word of the variant's name, or NULL. */
const struct ceil_pipes_operation *ceil_pipes_operation_of(const struct ceil_variant *v);

#endif
