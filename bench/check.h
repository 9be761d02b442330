/* What checks of results share: hashes and sums of data that repeat, in closed form. */
#ifndef CEIL_BENCH_CHECK_H
#define CEIL_BENCH_CHECK_H

#include "harness/base/status.h"
#include "harness/base/value.h"
#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stdint.h>

/*
 * ceil_check_repeated - what element i of a tile of count elements adds to the hash of a buffer
 * that holds the tile times times, one after the other: bits (2 i + 1) + bits (2 (i + count) + 1)
 * + ..., modulo 2^64.
 */
uint64_t ceil_check_repeated(uint64_t bits, uint64_t i, uint64_t count, uint64_t times);

/*
 * ceil_check_hash - is the hash of a buffer what it should be?
 * Return: CEIL_OK; CEIL_E_WRONG with both hashes; what the device said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_check_hash(const struct ceil_point *p,
                                                 struct ceil_device *dev,
                                                 const struct ceil_buffer *buf, const void *ptr,
                                                 uint64_t want, struct ceil_error *err);

/* sum[k]: what the first k elements of a period add up to, modulo 2^64. */
struct ceil_check_sums {
	uint64_t sum[CEIL_PERIOD + 1];
};

/* ceil_check_sums_between - of elements [from, to) of data that repeat with CEIL_PERIOD. */
uint64_t ceil_check_sums_between(const struct ceil_check_sums *s, uint64_t from, uint64_t to);

/* ceil_check_sums_of_words - sums of the 32-bit words of a buffer of a type and pattern. */
void ceil_check_sums_of_words(struct ceil_check_sums *ret_s, enum ceil_dtype t,
                              enum ceil_pattern pattern, uint64_t seed, uint32_t buffer);

#endif
