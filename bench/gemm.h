/* What the files of the gemm bench share: its axes, its operands as matrices, its check. */
#ifndef CEIL_GEMM_H
#define CEIL_GEMM_H

#include "harness/base/status.h"
#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stdint.h>

/* Axes of a case, in their order. */
enum ceil_gemm_axis { CEIL_GEMM_M, CEIL_GEMM_N, CEIL_GEMM_K, CEIL_GEMM_LAYOUT, CEIL_GEMM_BATCH };

/* Whether A and B are stored transposed (T) or not (N), as in BLAS. */
enum ceil_gemm_layout {
	CEIL_GEMM_TN,
	CEIL_GEMM_NN,
	CEIL_GEMM_NT,
	CEIL_GEMM_TT,
	CEIL_GEMM_LAYOUT_COUNT
};

/* Buffers of a launch, in their order. The matrices of a batch follow one another; the addresses
 * of a group's (A, B, C of each product) stand in the last. */
enum ceil_gemm_buffer {
	CEIL_GEMM_A,
	CEIL_GEMM_B,
	CEIL_GEMM_C,
	CEIL_GEMM_WORKSPACE,
	CEIL_GEMM_ADDRESSES
};

/*
 * Above this k a product of ternary data may pass 256, the largest whole number up to which bf16
 * holds all: the deviation of C is sqrt(k) / 8 = 32, so 256 is 8 of them (1e-15 an element).
 */
#define CEIL_GEMM_MAX_K 65536u

extern const struct ceil_bench ceil_gemm_bench;

/* ceil_gemm_layout_name - "TN", ... */
const char *ceil_gemm_layout_name(enum ceil_gemm_layout layout);

/* How many products a launch computes: 1 but for batches and groups. */
uint64_t ceil_gemm_products(const struct ceil_point *p);

/* One of them: its columns of B and C, and how many are before it. */
struct ceil_gemm_part {
	uint64_t n, first;
};
/* ceil_gemm_part_of - product i < ceil_gemm_products(p); i = that many: all columns are first. */
void ceil_gemm_part_of(const struct ceil_point *p, uint64_t i, struct ceil_gemm_part *ret_part);

/*
 * ceil_gemm_operands - op(A) (m x k), op(B) (k x n) and C (m x n) of product i as matrices of a
 * launch: what is stored transposed has its strides changed.
 */
void ceil_gemm_operands(const struct ceil_point *p, const struct ceil_launch *l, uint64_t i,
                        struct ceil_matrix ret_matrix[3]);

/*
 * ceil_gemm_check - the bench's check: is C = op(A) op(B), every element of every product?
 * By Freivalds' product, exact in whole numbers modulo 2^64: with a vector x of odd numbers,
 * C x must be op(A) (op(B) x). A single wrong element is always seen, since no x is 0; several in
 * one row hide with a chance below 1/256 a round, and there are two.
 * Return: CEIL_OK; CEIL_E_WRONG with the first wrong row; CEIL_E_NOMEM; what the device said.
 * Source: R. Freivalds, Probabilistic machines can use less running time, IFIP 1977.
 */
CEIL_MUST_CHECK enum ceil_status ceil_gemm_check(const struct ceil_point *p,
                                                 struct ceil_device *dev,
                                                 const struct ceil_launch *l,
                                                 const struct ceil_buffer buf[CEIL_MAX_BUFS],
                                                 uint64_t seed, struct ceil_error *err);

#endif
