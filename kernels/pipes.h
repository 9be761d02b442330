/* Loops of one instruction each: what the vector pipes of an SM issue. */
#ifndef CEIL_PIPES_H
#define CEIL_PIPES_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Values that each thread keeps in registers, a vector of lanes each. Two pipes take 16-bit types
 * in turn: an H200 issued 93.1 % with eight values, all in registers of one bank, 99.2 % with
 * sixteen in both.
 */
enum { CEIL_PIPES_VALUES = 8, CEIL_PIPES_VALUES_16_BITS = 16 };

/*
 * Every kernel that is compiled, KERNEL(operation, dtype, steps): what a step does, one instruction
 * to each of the values, and how many steps a turn of the loop has (a turn is unrolled).
 *   fma: x = b0 x + b0 at even steps, x = b1 x - 1 at odd ones, which takes x back to where it
 *     was (kernels/affine.inc); of whole numbers x and -1 - x in turn.
 *   mad: of pairs of values y, z: y += a z, then z += a y, modulo 2^32, with 2 a + 1 for a.
 *   add: y += z, then z += y, modulo 2^32.
 *   ex2: x = 2^x at even steps, the base-2 logarithm of x at odd ones, both approximate. (ptxas
 *     takes pairs of 1 / x for no work at all.) It begins with |x| where x is whole: logarithms of
 *     1, 2, 4, ... are exact, those of 1/2, 1/4, ... are not.
 */
#define CEIL_PIPES_KERNELS(KERNEL)                                                                 \
	KERNEL(fma, fp32, 64)                                                                      \
	KERNEL(fma, fp32, 128)                                                                     \
	KERNEL(fma, fp32, 192)                                                                     \
	KERNEL(fma, fp64, 64)                                                                      \
	KERNEL(fma, fp64, 128)                                                                     \
	KERNEL(fma, fp16, 64)                                                                      \
	KERNEL(fma, fp16, 96)                                                                      \
	KERNEL(fma, bf16, 64)                                                                      \
	KERNEL(fma, bf16, 96)                                                                      \
	KERNEL(mad, int32, 128)                                                                    \
	KERNEL(add, int32, 128)                                                                    \
	KERNEL(ex2, fp32, 64)

/*
 * ceil_pipes_<operation>_<dtype>_<steps> - one launch on stream 0.
 * Thread t of T = l->threads has lanes 0 .. L - 1 and V values, of which 2p and 2p + 1 are pair p:
 * L = 2 and V = CEIL_PIPES_VALUES_16_BITS for the 16-bit types, else 1 and CEIL_PIPES_VALUES. a is
 * buf[0][t * L + lane]; value v begins as buf[1][(v * T + t) * L + lane], goes through l->iters
 * turns and, but for mad and add, one step more (or an even number of them would leave nothing to
 * see), and ends in buf[2][((block * V + v) * T + t) * L + lane]. So every block does the same.
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
