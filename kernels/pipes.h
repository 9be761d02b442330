/* Loops of one instruction each: what the vector pipes of an SM issue. */
#ifndef CEIL_PIPES_H
#define CEIL_PIPES_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values that each thread keeps in registers, in pairs (y, z); a vector of lanes each. */
enum { CEIL_PIPES_VALUES = 8 };

/*
 * Every kernel that is compiled, KERNEL(operation, dtype, steps): what a step does to a pair, and
 * how many a thread does to each pair in one turn of its loop (a turn is unrolled).
 *   fma: y += a z, then z -= a y: two multiply-adds. With |a| < 2 the pair turns around an
 *     ellipse: values stay as large as they were, and new ones come at every step.
 *   mad: y += a z, then z += a y, modulo 2^32.
 *   add: y += z, then z += y, modulo 2^32: two additions.
 *   ex2: at odd steps y = 2^y and z = 2^z, at even ones y and z are their base-2 logarithms: two
 *     special functions, approximate ones. (ptxas takes pairs of 1 / x for no work at all.)
 */
#define CEIL_PIPES_KERNELS(KERNEL)                                                                 \
	KERNEL(fma, fp32, 64)                                                                      \
	KERNEL(fma, fp32, 128)                                                                     \
	KERNEL(fma, fp32, 256)                                                                     \
	KERNEL(fma, fp64, 64)                                                                      \
	KERNEL(fma, fp16, 128)                                                                     \
	KERNEL(fma, fp16, 256)                                                                     \
	KERNEL(fma, bf16, 128)                                                                     \
	KERNEL(fma, bf16, 256)                                                                     \
	KERNEL(mad, int32, 128)                                                                    \
	KERNEL(add, int32, 128)                                                                    \
	KERNEL(ex2, fp32, 64)

/*
 * ceil_pipes_<operation>_<dtype>_<steps> - one launch on stream 0.
 * Thread t of T = l->threads has lanes 0 .. L - 1 (L = 2 for the 16-bit types, else 1), values v
 * of CEIL_PIPES_VALUES, of which 2p and 2p + 1 are pair p:
 *   a is buf[0][t * L + lane]; fma takes 1 + (a - round(a)) / 2 for it, so 1 where a is whole, and
 *   mad 2 a + 1;
 *   value v begins as buf[1][(v * T + t) * L + lane], goes through l->iters turns (ex2: and one
 *   step more), and ends in buf[2][((block * CEIL_PIPES_VALUES + v) * T + t) * L + lane].
 * So every block does the same.
 * Return: CEIL_OK; CEIL_E_USAGE if threads is no multiple of 32 up to 1024; what CUDA said.
 */
#define CEIL_PIPES_DECLARE(op, dtype, steps)                                                       \
	enum ceil_status ceil_pipes_##op##_##dtype##_##steps(const struct ceil_launch *l,          \
	                                                     struct ceil_error *err);
CEIL_PIPES_KERNELS(CEIL_PIPES_DECLARE)

#ifdef __cplusplus
}
#endif

#endif
