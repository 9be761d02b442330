/* Names and sizes of element types and patterns: the one spelling of each. */
#ifndef CEIL_DTYPE_H
#define CEIL_DTYPE_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stddef.h>
#include <stdint.h>

struct ceil_dtype_info {
	const char *name; /* "bf16" */
	const char *doc;
	uint32_t bits; /* of an element in memory; tf32 is stored in 32 */
};

/* ceil_dtype_info - the row of a type; CEIL_NODTYPE has the empty name and 0 bits. */
const struct ceil_dtype_info *ceil_dtype_info(enum ceil_dtype t);

/* ceil_dtype_bytes - of n elements of t; n must be even for 4-bit types. */
uint64_t ceil_dtype_bytes(enum ceil_dtype t, uint64_t n);

/* ceil_dtype_parse - the type of a name. Return: CEIL_E_USAGE with a suggestion if unknown. */
CEIL_MUST_CHECK enum ceil_status ceil_dtype_parse(const char *name, enum ceil_dtype *ret_t,
                                                  struct ceil_error *err);

/* ceil_pattern_name - "normal", "zeros", ...; "" for CEIL_POISON, which no user names. */
const char *ceil_pattern_name(enum ceil_pattern p);

/* ceil_pattern_parse - the pattern of a name. Return: CEIL_E_USAGE with the names if unknown. */
CEIL_MUST_CHECK enum ceil_status ceil_pattern_parse(const char *name, enum ceil_pattern *ret_p,
                                                    struct ceil_error *err);

#endif
