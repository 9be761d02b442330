/* Who multiplies in the gemm bench: cuBLASLt, cuBLAS's groups, or the host's CBLAS. */
#ifndef CEIL_GEMM_ENGINE_H
#define CEIL_GEMM_ENGINE_H

#include "harness/base/status.h"
#include "harness/measure/bench.h"

#include <stddef.h>
#include <stdint.h>

/* Algorithms that split k need some: NVIDIA advises 32 MiB on Hopper; twice that is offered. */
#define CEIL_GEMM_WORKSPACE_BYTES (UINT64_C(64) << 20)

/*
 * The bench's functions of these names. The engine is what the variant's name begins with; what it
 * needs between prepare and release is in l->state.
 * Return of prepare: CEIL_OK; CEIL_E_UNSUPPORTED if no engine of this build multiplies the types,
 * or the engine cannot; CEIL_E_NOMEM; what the engine said.
 */
CEIL_MUST_CHECK enum ceil_status ceil_gemm_prepare(const struct ceil_point *p,
                                                   struct ceil_device *dev, struct ceil_launch *l,
                                                   uint32_t *ret_candidates,
                                                   struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_gemm_launch(const struct ceil_launch *l,
                                                  struct ceil_error *err);
void ceil_gemm_release(struct ceil_launch *l);
void ceil_gemm_describe(const struct ceil_launch *l, char *ret_text, size_t size);

#endif
