/* What the files of the utilization scenarios share: the steps that keep a GPU busy. */
#ifndef CEIL_UTILIZATION_H
#define CEIL_UTILIZATION_H

#include "harness/measure/scenario.h"

/* Shapes, which are pure. Sizes of one step are chosen so that it lasts some 2 to 10 ms. */
enum ceil_status ceil_util_shape_one_block(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_blocks(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_storm(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_fill(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_stream(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_chain(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_dense(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_gemm(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_copy_gemm(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_pinned(struct ceil_stage *s, struct ceil_error *err);
enum ceil_status ceil_util_shape_pageable(struct ceil_stage *s, struct ceil_error *err);

/* Buffers: those of a matrix product as in cublaslt.h, and a copy beside it. */
enum { CEIL_UTIL_A, CEIL_UTIL_B, CEIL_UTIL_C, CEIL_UTIL_WORKSPACE, CEIL_UTIL_FROM, CEIL_UTIL_TO };

#ifdef CEIL_HAVE_CUDA
enum ceil_status ceil_util_prepare_graph(struct ceil_stage *s, struct ceil_error *err);
void ceil_util_release_graph(struct ceil_stage *s);
enum ceil_status ceil_util_prepare_gemm(struct ceil_stage *s, struct ceil_error *err);
void ceil_util_release_gemm(struct ceil_stage *s);

/* Steps; each tells what it enqueued. */
#define CEIL_UTIL_STEP(name)                                                                       \
	enum ceil_status ceil_util_step_##name(                                                    \
		struct ceil_stage *s, struct ceil_step_work *ret_work, struct ceil_error *err);
CEIL_UTIL_STEP(empty)
CEIL_UTIL_STEP(graph)
CEIL_UTIL_STEP(spin)
CEIL_UTIL_STEP(storm)
CEIL_UTIL_STEP(fill)
CEIL_UTIL_STEP(stream)
CEIL_UTIL_STEP(chain)
CEIL_UTIL_STEP(dense)
CEIL_UTIL_STEP(gemms)
CEIL_UTIL_STEP(one_gemm)
CEIL_UTIL_STEP(copy_then_gemm)
CEIL_UTIL_STEP(copy_beside_gemm)
CEIL_UTIL_STEP(copy)
#endif

#endif
