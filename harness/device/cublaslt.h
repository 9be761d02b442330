/* Matrix products by cuBLASLt, loaded at run time: every algorithm it offers, one launcher. */
#ifndef CEIL_CUBLASLT_H
#define CEIL_CUBLASLT_H

#include "harness/base/dynlib.h"
#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * D(m,n) = op(A)(m,k) * op(B)(k,n), column-major and without gaps: A is stored k x m when it is
 * transposed, else m x k; B n x k when it is transposed, else k x n. Alpha is 1, beta 0. The
 * matrices of a batch follow one another.
 */
struct ceil_lt_desc {
	struct ceil_types types;
	bool trans_a, trans_b;
	bool fast_accum; /* 8-bit floats: partial sums stay in the tensor core's short accumulator
	                  */
	uint64_t m, n, k;
	uint64_t batch;           /* products in one call; 0 is 1 */
	uint64_t workspace_bytes; /* what an algorithm may use of buffer 3 */
	const char *algorithm;    /* the only one to take, as describe() wrote it; NULL: ask */
};

/* An operation with its algorithms. Made, used and closed by one thread on its current device. */
struct ceil_lt_plan;

/*
 * ceil_lt_plan_open - loads the library (GPUCEIL_LIB_CUBLASLT overrides its path) and asks for
 * up to 64 algorithms at each of three workspace limits: 32 MiB (what NVIDIA advises for Hopper),
 * all of workspace_bytes, none. Equal answers are merged; candidate 0 is the first heuristic.
 * Algorithms that compute in another type than asked are left out: fp32 means fp32 all the way,
 * not TF32 and not the emulation by three bf16 products, fp64 no fixed-point emulation.
 * With an algorithm in the description, that one is set up again and checked by the library.
 * @ret_candidates: how many algorithms there are, at least 1.
 * Return: CEIL_OK; CEIL_E_UNSUPPORTED if the build has no cublasLt.h, the library is missing or
 * too old, it offers nothing for these types and shape, or the named algorithm cannot do them;
 * CEIL_E_USAGE if the named algorithm has no id; CEIL_E_NOMEM; CEIL_E_DEVICE with the library's own
 * words.
 */
CEIL_MUST_CHECK enum ceil_status ceil_lt_plan_open(const struct ceil_lt_desc *d,
                                                   struct ceil_lt_plan **ret_plan,
                                                   uint32_t *ret_candidates,
                                                   struct ceil_error *err);
void ceil_lt_plan_close(struct ceil_lt_plan *plan); /* NULL is a no-op */

/*
 * ceil_lt_launch - enqueues algorithm l->candidate of the plan in l->state on l->stream[0].
 * Buffers: 0 A, 1 B, 2 D, 3 workspace, each aligned to 256 bytes.
 * Return: CEIL_E_UNSUPPORTED if this algorithm cannot run after all, so that a search may drop
 * it; CEIL_E_DEVICE otherwise.
 */
CEIL_MUST_CHECK enum ceil_status ceil_lt_launch(const struct ceil_launch *l,
                                                struct ceil_error *err);

/*
 * ceil_lt_plan_describe - an algorithm in words: every configuration field as name=value, which
 * is all that is needed to set it up again in the same version of the library.
 */
void ceil_lt_plan_describe(const struct ceil_lt_plan *plan, uint32_t candidate, char *ret_text,
                           size_t size);

/* Which library would be used, for run.json and for the doctor. */
struct ceil_lt_info {
	char version[24]; /* "13.1.0" */
	char path[256];
};

/* ceil_lt_info_read - loads the library and asks. Return: CEIL_E_UNSUPPORTED if it is missing. */
CEIL_MUST_CHECK enum ceil_status ceil_lt_info_read(struct ceil_lt_info *ret_info,
                                                   struct ceil_error *err);

/*
 * ceil_lt_clean_environment - unsets the variables by which a user's environment makes the
 * library compute in another type than asked (CUBLAS_EMULATE_DOUBLE_PRECISION, ...).
 * For main, before any thread starts and before the library is loaded.
 * @ret_text: what was unset, as "NAME=value NAME=value", or "": for run.json.
 * Source: the names stand in libcublasLt.so.13 (13.1.0); cuBLAS documentation, "Floating Point
 * Emulation".
 */
void ceil_lt_clean_environment(char *ret_text, size_t size);

#endif
