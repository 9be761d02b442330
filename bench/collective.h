/* What the files of the collective bench share: its operations, their data, its check. */
#ifndef CEIL_BENCH_COLLECTIVE_H
#define CEIL_BENCH_COLLECTIVE_H

#include "harness/base/status.h"
#include "harness/device/backend.h"
#include "harness/device/nccl.h"
#include "harness/measure/bench.h"

#include <stdbool.h>
#include <stdint.h>

/* Buffers of a launch, in their order. In place, one of the two has 0 bytes. */
enum ceil_collective_buffer { CEIL_COLLECTIVE_SEND, CEIL_COLLECTIVE_RECV, CEIL_COLLECTIVE_BUFFERS };

/* An operation in words and figures. */
struct ceil_collective_info {
	const char *name;                         /* first word of the variant's name */
	bool reduces, parts_sent, parts_received; /* arrays of a part for each rank */
	/* busbw / algbw among n ranks. Source: nccl-tests, doc/PERFORMANCE.md. */
	double (*factor)(double ranks);
};

/* What a variant does, read off its name: "all_reduce.max.bf16.in_place". */
struct ceil_collective_form {
	enum ceil_collective operation;
	const struct ceil_collective_info *info;
	enum ceil_dtype dtype;
	bool max, in_place, registered, latency, host;
};

extern const struct ceil_bench ceil_collective_bench;

struct ceil_collective_form ceil_collective_form_of(const struct ceil_variant *v);

/* ceil_collective_span - where the result stands: from the first to behind the last byte that the
 * operation writes. */
struct ceil_collective_span {
	enum ceil_collective_buffer buffer;
	uint64_t offset_bytes, bytes;
};
/* @count: elements of a part (or of the array, where it has none). bytes 0: nothing is written. */
struct ceil_collective_span ceil_collective_output(const struct ceil_collective_form *f,
                                                   uint64_t count, uint32_t rank, uint32_t ranks);

/*
 * ceil_collective_fill - the pattern of a rank's inputs in the check. Sums of whole numbers of
 * [-8, 8] must be exact in the element type, whatever the order: 2^24 / 8 ranks for fp32, 256 for
 * fp16, 32 for bf16, 2 for e4m3, 1 for e5m2. With more ranks, so many take part with such numbers
 * and the others with zeros; which ones moves on with the size.
 */
enum ceil_pattern ceil_collective_fill(const struct ceil_point *p,
                                       const struct ceil_device_props *d);

/*
 * ceil_collective_check - the bench's check: is every element that this rank got right?
 * Inputs repeat with CEIL_PERIOD, so the hash of the output has a closed form; small outputs, and
 * those whose hash is wrong, are compared element by element.
 * Return: CEIL_OK; CEIL_E_WRONG with the index, what was expected and found.
 */
CEIL_MUST_CHECK enum ceil_status ceil_collective_check(const struct ceil_point *p,
                                                       struct ceil_device *dev,
                                                       const struct ceil_launch *l,
                                                       const struct ceil_buffer *buf, uint64_t seed,
                                                       struct ceil_error *err);

#endif
