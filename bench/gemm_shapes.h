/* The shapes of the gemm bench: what competes for its ceilings, and what long runs look up. */
#ifndef CEIL_GEMM_SHAPES_H
#define CEIL_GEMM_SHAPES_H

#include "harness/measure/bench.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What competes for the ceilings: of single products, of batches, and of the host. */
enum { CEIL_GEMM_SLOW_FP64 = 17, CEIL_GEMM_CASES };
extern const struct ceil_case ceil_gemm_cases[CEIL_GEMM_CASES];

/* What only long runs measure: other layouts, decoding, a grid, projections of models. */
enum { CEIL_GEMM_LISTS = 4 };
extern const struct ceil_case_list ceil_gemm_more[CEIL_GEMM_LISTS];

/* ceil_gemm_of_model - whether a case is a projection of a named model. */
bool ceil_gemm_of_model(const struct ceil_case *c);

/*
 * ceil_gemm_group_n - columns of product i of a group whose products differ: from half of n to one
 * and a half, evenly, as the load of experts does; whole multiples of 16 where n allows.
 * @batch: how many products, at least 1.
 */
uint64_t ceil_gemm_group_n(uint64_t n, uint64_t batch, uint64_t i);

#endif
