/*
 * The best MFU that a model could reach on a GPU: its own products at measured rates, and the
 * memory traffic that no fusion avoids. A roofline bound, part by part. Pure.
 */
#ifndef CEIL_ATTAINABLE_H
#define CEIL_ATTAINABLE_H

#include "harness/analysis/flops.h"
#include "harness/analysis/record.h"
#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a rate comes from. */
enum ceil_rate_how {
	CEIL_RATE_MEASURED, /* this very shape */
	CEIL_RATE_NEAR,     /* between the nearest shapes that were measured */
	CEIL_RATE_CEILING   /* no shape is known: the best of any shape */
};
const char *ceil_rate_how_name(enum ceil_rate_how how);

/*
 * The rate of C(m,n) = A(m,k) B(k,n) in TFLOP/s; whoever can measure it on the spot gives this
 * function, ceil_gemm_rate answers from a list.
 * Products are in columns, as BLAS and `gpuceil bench gemm` take them. A linear layer over t
 * tokens, row-major as frameworks keep it, is m = its outputs, n = t, k = its inputs in layout TN;
 * dgrad is inputs x t x outputs in NN, wgrad inputs x outputs x t in NT.
 */
typedef double (*ceil_gemm_rate_fn)(const void *user, uint64_t m, uint64_t n, uint64_t k,
                                    enum ceil_rate_how *ret_how);

struct ceil_gemm_point {
	uint64_t m, n, k;
	double tflops;
};
struct ceil_gemm_rates {
	const struct ceil_gemm_point *points;
	size_t count;
	double ceiling_tflops; /* no answer is above it; NAN: the best point */
};

/*
 * ceil_gemm_rate - user is a struct ceil_gemm_rates. A shape that is not there gets the mean of
 * the four nearest in log2 of m, n and k, weighted by 1 / distance^2 (Shepard 1968). m and n may
 * be exchanged: that is the transposed product.
 */
double ceil_gemm_rate(const void *user, uint64_t m, uint64_t n, uint64_t k,
                      enum ceil_rate_how *ret_how);

/*
 * ceil_gemm_points_of - the shapes of one type that records hold with a value to be trusted, on
 * normal data and not sustained, no batches and no groups; of a shape that is there several times,
 * in whatever layout, the best.
 * @device: "gpu0", or NULL for any. @ret_points: room for count. Return: how many.
 */
size_t ceil_gemm_points_of(const struct ceil_record *records, size_t count, const char *dtype_in,
                           const char *device, struct ceil_gemm_point *ret_points);

/*
 * Longer sums than the gemm bench can check exactly (CEIL_GEMM_MAX_K) are taken in halves, as
 * split-k algorithms do: 128256 is twice 64128. So are the outputs of a layer's experts, for their
 * matrix together would not fit a GPU, and half of it fills one as well.
 */
enum { CEIL_ATTAIN_MAX_SPLIT = 65536 };

/* A product that a step has count times. */
struct ceil_attain_shape {
	uint64_t m, n, k, count;
	const char *layout; /* "TN", "NN", "NT" */
};

/*
 * ceil_attain_shapes - the different products of a step, forward, dgrad and wgrad, but attention's:
 * what is to be measured for a bound whose rates are all its own.
 * @gpu_count: that share the experts, where there are any; s is of one of them.
 * @tn_only: every product in layout TN, as 8-bit types want it: their operands are transposed
 * when they are quantised. @ret_shapes: room for 3 x CEIL_MAX_GEMMS. Return: how many.
 */
size_t ceil_attain_shapes(const struct ceil_model *m, const struct ceil_sizes *s,
                          uint64_t gpu_count, bool tn_only, struct ceil_attain_shape *ret_shapes);

/* Bytes that the estimates assume: bf16 at work, Adam with an fp32 copy and two fp32 moments. */
enum {
	CEIL_WORK_BYTES = 2,         /* of a parameter, a gradient, an activation */
	CEIL_ADAM_STATE_BYTES = 12,  /* fp32 copy and two moments of a parameter */
	CEIL_ADAM_TRAFFIC_BYTES = 28 /* gradient read, states read and written, parameter written */
};

struct ceil_attain_input {
	const struct ceil_model *model;
	struct ceil_sizes sizes;         /* batch: samples on one GPU */
	struct ceil_flops_options count; /* of the numerator; recompute: what the step does */
	ceil_gemm_rate_fn rate;
	const void *user;
	double best_tflops;     /* of any product: attention's, unless the next is known */
	double batched_tflops;  /* of batched products: attention runs at it; or NAN */
	double operand_bytes;   /* of an element that products read: 2, or 1 in fp8 */
	double dram_gb_s;       /* read and written bytes */
	double all_reduce_gb_s; /* bus bandwidth; NAN: no all-reduce is counted */
	double gpu_count;       /* that share gradients, optimizer and experts */
	double sustained_ratio; /* of its burst rate that a product keeps for long, or NAN */
	double peak_tflops;     /* MFU's denominator */
};

enum ceil_attain_kind {
	CEIL_ATTAIN_PRODUCT,
	CEIL_ATTAIN_ATTENTION,
	CEIL_ATTAIN_MEMORY,
	CEIL_ATTAIN_OPTIMIZER,
	CEIL_ATTAIN_COLLECTIVE,
	CEIL_ATTAIN_KIND_COUNT
};
const char *ceil_attain_kind_name(enum ceil_attain_kind kind);

struct ceil_attain_part {
	enum ceil_attain_kind kind;
	const char *name, *pass; /* "ffn up", "forward" */
	uint64_t m, n, k, count; /* of a product; else 0 */
	double flops, bytes, seconds;
	const char *limited_by; /* "gemm", "memory", "link" */
	enum ceil_rate_how how; /* of a product */
};

enum { CEIL_ATTAIN_PARTS = 4 * CEIL_MAX_GEMMS + 32 };
struct ceil_attain {
	size_t part_count;
	struct ceil_attain_part parts[CEIL_ATTAIN_PARTS];
	double kind_seconds[CEIL_ATTAIN_KIND_COUNT];
	double seconds;         /* of a step, nothing waiting but what is listed */
	double mfu;             /* at burst rates, see below */
	double tokens_per_s;    /* of one GPU */
	double memory_bytes;    /* estimate of memory in use */
	double near_ratio;      /* of the products' time: rates that were not measured */
	double exposed_seconds; /* of the all-reduce, behind what the backward pass hides */
	double hot_mfu; /* with every product at its sustained rate; NAN unknown. Traffic between
	                   products lets a card cool, so a step for hours lies between this and mfu
	                 */
};

/*
 * ceil_attain_of - the bound.
 * Counted: products at rate(), no faster than dram feeds them; a layer's experts as one product of
 * all their tokens, which is what a grouped kernel can come near, and spread over the GPUs;
 * attention fused, its causal half, its backward pass 2.5 x forward (five products for two); norms,
 * activations, rotation, loss and embedding as fused kernels; Adam, its states shared by the GPUs;
 * an all-reduce of the gradients that the backward pass hides. Not counted: launches, waiting, data
 * loading, any other sharding. A bound of the sum, not of each part: where power limits, kernels
 * that draw less lie between a step's products and let the clock rise, so that single ones pass
 * their burst rate (H200: 7 % at most, all together 3 % below it). And tensors that stay in the L2
 * move faster than dram's rate, which matters for small batches alone. Return: CEIL_OK;
 * CEIL_E_USAGE for a rate or peak that is not positive.
 */
CEIL_MUST_CHECK enum ceil_status ceil_attain_of(const struct ceil_attain_input *in,
                                                struct ceil_attain *ret_a, struct ceil_error *err);

/*
 * ceil_attain_memory - estimated bytes in use: parameters, gradients, Adam's states, activations
 * kept for the backward pass (attention fused), logits with their fp32 loss. Without the
 * allocator's gaps, workspaces and the CUDA context.
 */
double ceil_attain_memory(const struct ceil_model *m, const struct ceil_sizes *s,
                          enum ceil_recompute recompute);

#endif
