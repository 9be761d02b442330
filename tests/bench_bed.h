/* A point of a GPU bench on host memory: what its tests need to see its shape, work and check. */
#ifndef CEIL_TESTS_BENCH_BED_H
#define CEIL_TESTS_BENCH_BED_H

#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stddef.h>
#include <stdint.h>

enum { BED_SEED = 7 };

struct bench_bed {
	struct ceil_device *dev; /* the host */
	struct ceil_case cas;
	struct ceil_point p;
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
};

/* What an H200 says of itself: 132 SMs, 60 MiB of L2, 84 GiB that may be used. */
extern const struct ceil_device_props bed_h200;
/* The least of a GPU: two SMs, 1 MiB of L2, 1 GiB. */
extern const struct ceil_device_props bed_small;

/* bed_variant, bed_case - by name; end the test where there is none. */
const struct ceil_variant *bed_variant(const struct ceil_bench *bench, const char *name);
const struct ceil_case *bed_case(const struct ceil_bench *bench, const char *name);

/*
 * bed_open - shape of a variant on d, its buffers in host memory, inputs filled with the pattern of
 * the check, outputs poisoned. A failure is a failed check; the test then ends.
 */
void bed_open(struct bench_bed *bed, const struct ceil_bench *bench, const char *variant,
              const uint64_t *axis, size_t axis_count, const struct ceil_device_props *d);
void bed_close(struct bench_bed *bed);

/* bed_shape - the status of shape alone. @ret_l: may be NULL. */
enum ceil_status bed_shape(const struct ceil_bench *bench, const char *variant,
                           const uint64_t *axis, size_t axis_count,
                           const struct ceil_device_props *d, struct ceil_launch *ret_l,
                           struct ceil_error *err);

/* bed_check - the bench's check of what lies in the buffers. */
enum ceil_status bed_check(const struct bench_bed *bed, struct ceil_error *err);

/* bed_expect_right - the check is content, and sees one bit wrong at three bytes of the buffer. */
void bed_expect_right(struct bench_bed *bed, int buffer);

/* bed_value - element i of an input, as the fill of the bed gave it. */
double bed_value(const struct bench_bed *bed, int buffer, uint64_t i);

/* bed_store - element i of an output. */
void bed_store(struct bench_bed *bed, int buffer, uint64_t i, double value);

/*
 * bed_lint - the bench's tables: names of their own, documents, known ceilings (all begin with one
 * of the prefixes, NULL-terminated), launchers or reasons; shape and work of each point on an H200.
 */
void bed_lint(const struct ceil_bench *bench, const char *const *prefixes);

#endif
