/* A stream through memory with so many multiply-adds for each element: any intensity. */
#ifndef CEIL_ROOFLINE_H
#define CEIL_ROOFLINE_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 16-byte vectors of a thread, threads of a block. */
enum { CEIL_ROOFLINE_VECTORS = 8, CEIL_ROOFLINE_THREADS = 256 };

/*
 * ceil_roofline_<dtype> - one launch on stream 0 over the l->n elements at buf[0], a whole number
 * of blocks. Each element x goes through l->k steps of kernels/affine.inc: x = b0 x + b0, then
 * back, in turn; of whole numbers -1 - x and x. The constant a is the word at buf[1] (an fp32, or
 * two bf16, one for each lane of a word). buf[2][block] = the sum of the words of 32 bits that came
 * out, as integers, modulo 2^32.
 * Return: CEIL_OK; CEIL_E_USAGE if n is no whole number of blocks; what CUDA said.
 */
enum ceil_status ceil_roofline_fp32(const struct ceil_launch *l, struct ceil_error *err);
enum ceil_status ceil_roofline_bf16(const struct ceil_launch *l, struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
