/* Loops of one tensor-core instruction each: what the tensor cores issue, with no library. */
#ifndef CEIL_TENSOR_H
#define CEIL_TENSOR_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a kernel multiplies again and again: a tile C (m x n) = A (m x k) times B (n x k)
 * transposed. Operands stand in rows of CEIL_TENSOR_ROW_BYTES: k = 64 bytes over the element.
 * A turn of the loop adds A B and takes it away again, several times, so that accumulators stay
 * small (and exact where the data are); k runs from 0 to its end in each.
 */
enum {
	CEIL_TENSOR_ROW_BYTES = 64,
	CEIL_WGMMA_M = 128, /* a block: two warpgroups, the rows shared out */
	CEIL_WGMMA_N = 256,
	CEIL_WGMMA_THREADS = 256,
	CEIL_WGMMA_PRODUCTS = 8, /* times A B in a turn, added or taken away */
	CEIL_MMA_M = 32,         /* a warp */
	CEIL_MMA_N = 32,
	CEIL_MMA_N_FP64 = 16,
	CEIL_MMA_PRODUCTS = 8
};

/*
 * ceil_tensor_wgmma_<type> - A and B in shared memory, C in registers: wgmma m64n256, compute
 * capability 9.0 alone. ceil_tensor_mma_<type> - all in registers: mma.sync; bf16, tf32, fp64 from
 * 8.0, e4m3 from 8.9 (right from 9.0 to 11.x too, but there the compiler makes a few products of
 * fp16 of it). One launch on stream 0; the type is of A and B, C is int32 for int8, fp16 for
 * fp16_acc16, fp64 for fp64, else fp32.
 * Every block (wgmma) or warp (mma) reads A at buf[0] and B at buf[1], does l->iters turns, then
 * adds A B once more, and writes C, row-major, to its place in buf[2]: tiles lie block by block,
 * in a block warp by warp.
 * Return: CEIL_OK; CEIL_E_USAGE if threads is not CEIL_WGMMA_THREADS, or no multiple of 32 up to
 * 256; what CUDA said.
 * Source: PTX ISA 9.0, wgmma.mma_async and mma: fragments and shared-memory matrix layouts.
 */
#define CEIL_TENSOR_WGMMA_TYPES(TYPE)                                                              \
	TYPE(bf16) TYPE(fp16) TYPE(fp16_acc16) TYPE(tf32) TYPE(e4m3) TYPE(int8)
#define CEIL_TENSOR_MMA_TYPES(TYPE)                                                                \
	TYPE(bf16) TYPE(fp16) TYPE(fp16_acc16) TYPE(tf32) TYPE(e4m3) TYPE(int8) TYPE(fp64)

#define CEIL_TENSOR_DECLARE_WGMMA(type)                                                            \
	enum ceil_status ceil_tensor_wgmma_##type(const struct ceil_launch *l,                     \
	                                          struct ceil_error *err);
#define CEIL_TENSOR_DECLARE_MMA(type)                                                              \
	enum ceil_status ceil_tensor_mma_##type(const struct ceil_launch *l,                       \
	                                        struct ceil_error *err);
CEIL_TENSOR_WGMMA_TYPES(CEIL_TENSOR_DECLARE_WGMMA)
CEIL_TENSOR_MMA_TYPES(CEIL_TENSOR_DECLARE_MMA)

#ifdef __cplusplus
}
#endif

#endif
