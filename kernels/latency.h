/* Pointer chases: one thread follows a ring, each load waiting for the one before. */
#ifndef CEIL_LATENCY_H
#define CEIL_LATENCY_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A node of a ring in global memory; nodes lie l->m bytes apart. */
struct ceil_latency_node {
	uint64_t next;     /* address of the node after it */
	uint64_t position; /* in the ring, from 0 */
};

/* Where a ring is followed from, and what a launch leaves: the third buffer. */
struct ceil_latency_result {
	uint64_t from, to; /* positions */
	uint64_t index;    /* of the node at which it ended: its place in memory */
};
struct ceil_latency_state {
	uint64_t next;  /* address of the node from which the next launch goes on */
	uint64_t count; /* nodes of the ring */
	uint32_t sm;    /* where the times were taken; UINT32_MAX: any will do */
	uint32_t busy;  /* a block follows the ring */
};

/* Hops of a turn of the loop. */
enum { CEIL_LATENCY_UNROLL = 16 };

/*
 * Buffers of all: ring (buf[0], l->n nodes l->m bytes apart), state (buf[1]), result (buf[2]),
 * ticks (buf[3], l->n of 32 bits; for sides alone). One thread on stream 0 unless said otherwise.
 * Return of all: CEIL_OK, or what CUDA said.
 *
 * ceil_latency_build - a ring through all nodes: position p is node ceil_shuffle(p, bits) of
 * l->n = 2^bits; the whole device writes it.
 */
enum ceil_status ceil_latency_build(const struct ceil_launch *l, struct ceil_error *err);

/* ceil_latency_probe - ticks[i] = the clocks of eight loads of node i from the L2, one after the
 * other; the SM on which they ran is state->sm. */
enum ceil_status ceil_latency_probe(const struct ceil_launch *l, struct ceil_error *err);

/* ceil_latency_build_side - a ring, in shuffled order, through the nodes whose ticks are at least
 * l->k's upper half and at most its lower half (32 bits each). */
enum ceil_status ceil_latency_build_side(const struct ceil_launch *l, struct ceil_error *err);

/*
 * ceil_latency_chase_<level> - follows the ring for l->iters * CEIL_LATENCY_UNROLL hops: by loads
 * that may hit the L1 (l1), that pass by it (l2, also for memory), or in a copy of the ring in
 * shared memory (smem: l->n * 4 bytes, l->smem_bytes). l->blocks: 1, or as many as SMs if the SM
 * matters: the block on state->sm alone goes.
 */
enum ceil_status ceil_latency_chase_l1(const struct ceil_launch *l, struct ceil_error *err);
enum ceil_status ceil_latency_chase_l2(const struct ceil_launch *l, struct ceil_error *err);
enum ceil_status ceil_latency_chase_smem(const struct ceil_launch *l, struct ceil_error *err);

#ifdef __cplusplus
}
#endif

#endif
