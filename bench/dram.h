/* What the files of the dram bench share: its operations, its check. */
#ifndef CEIL_BENCH_DRAM_H
#define CEIL_BENCH_DRAM_H

#include "harness/base/status.h"
#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stdbool.h>
#include <stdint.h>

/* Buffers of a launch, in their order. What an operation does not use has 0 bytes. */
enum ceil_dram_buffer { CEIL_DRAM_A, CEIL_DRAM_B, CEIL_DRAM_C, CEIL_DRAM_BUFFERS };

/* What is done with each element of A and B. */
struct ceil_dram_operation {
	const char *name; /* first word of the variant's name */
	uint32_t inputs;  /* arrays read: 1 is A, 2 is A and B */
	double flops;     /* of an element */
	/* C[i] from a and b, for an operation that writes an array; else NULL. */
	double (*element)(double a, double b);
	/* Share of element i in the sum that its block writes to C[block]; modulo 2^64, signed. */
	uint64_t (*share)(enum ceil_dtype t, uint64_t a_bits, uint64_t b_bits);
	bool word_sum; /* the sum is of 32-bit words, in 32 bits, whatever the type */
};

extern const struct ceil_bench ceil_dram_bench;

/* ceil_dram_operation_of - by the first word of the variant's name, or NULL. */
const struct ceil_dram_operation *ceil_dram_operation_of(const struct ceil_variant *v);

/* ceil_dram_work - the bench's cost model: compulsory traffic of l->n elements. */
void ceil_dram_work(const struct ceil_point *p, const struct ceil_launch *l,
                    struct ceil_work *ret_w);

/*
 * ceil_dram_check - the bench's check: is every element of C right?
 * Inputs repeat with CEIL_PERIOD, so the hash of an array and the sum of any range have closed
 * forms: the device hashes C, or the host compares every block's sum.
 * Return: CEIL_OK; CEIL_E_WRONG with what was expected and found; CEIL_E_NOMEM; what the device
 * said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_dram_check(const struct ceil_point *p,
                                                 struct ceil_device *dev,
                                                 const struct ceil_launch *l,
                                                 const struct ceil_buffer buf[CEIL_MAX_BUFS],
                                                 uint64_t seed, struct ceil_error *err);

#endif
