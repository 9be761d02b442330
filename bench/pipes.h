/* What the files of the pipes bench share: its operations. */
#ifndef CEIL_BENCH_PIPES_H
#define CEIL_BENCH_PIPES_H

#include "harness/measure/bench.h"

#include <stdint.h>

/* Buffers of a launch, in their order. */
enum ceil_pipes_buffer { CEIL_PIPES_CONSTANTS, CEIL_PIPES_IN, CEIL_PIPES_OUT, CEIL_PIPES_BUFFERS };

/* What a chain is made of: the constant of its thread, and how many steps its turns had. */
struct ceil_pipes_data {
	double a;
	uint64_t steps;
};

struct ceil_pipes_operation {
	const char *name;       /* first word of the variant's name */
	double per_instruction; /* operations of each lane */
	uint64_t steps;         /* of a launch, unless the case says otherwise */
	uint64_t extra_steps;   /* after the turns */
	/* What a launch makes of two values that stand side by side, all whole numbers. */
	void (*chain)(const struct ceil_pipes_data *d, double *x);
};

extern const struct ceil_bench ceil_pipes_bench;

/* ceil_pipes_work - the bench's cost model: l->n steps of l->blocks x l->threads threads. */
void ceil_pipes_work(const struct ceil_point *p, const struct ceil_launch *l,
                     struct ceil_work *ret_w);

/*
 * ceil_pipes_check - the bench's check: is every value what so many steps make of it? Of whole
 * numbers they have closed forms; the even number of steps that all turns have is assumed.
 * Return: CEIL_OK; CEIL_E_WRONG; what the device said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_pipes_check(const struct ceil_point *p,
                                                  struct ceil_device *dev,
                                                  const struct ceil_launch *l,
                                                  const struct ceil_buffer buf[CEIL_MAX_BUFS],
                                                  uint64_t seed, struct ceil_error *err);

/* ceil_pipes_values_of - values that each thread of the variant keeps, 2p and 2p + 1 being a pair.
 */
uint64_t ceil_pipes_values_of(const struct ceil_variant *v);

/* ceil_pipes_operation_of - by the first word of the variant's name, or NULL. */
const struct ceil_pipes_operation *ceil_pipes_operation_of(const struct ceil_variant *v);

#endif
