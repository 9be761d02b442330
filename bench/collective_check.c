/* The check of the collective bench: closed forms over what every rank started from. */
#include "bench/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"

/* Outputs up to this are read back whole; a hash of so little would save nothing. */
enum { SMALL_BYTES = 1 << 20 };

/* ---- which ranks take part in a sum */

/* Whole numbers up to this are exact in the type; all sums of -8..8 over ranks must stay below. */
static uint64_t exact_to(enum ceil_dtype t)
{
	switch (t) {
	case CEIL_FP64:
		return UINT64_C(1) << 53;
	case CEIL_FP16:
		return 2048;
	case CEIL_BF16:
		return 256;
	case CEIL_E4M3:
		return 16;
	case CEIL_E5M2:
		return 8;
	default:
		return UINT64_C(1) << 24;
	}
}

static bool takes_part(const struct ceil_collective_form *f, uint64_t size_bytes, uint32_t rank,
                       uint32_t ranks)
{
	const uint64_t most = exact_to(f->dtype) / 8;
	uint32_t first = 0;

	if (!f->info->reduces || f->max || ranks <= most)
		return true;
	/* A prime step, so that sizes in powers of two reach all ranks in turn. */
	for (uint64_t n = size_bytes; n > 1; n /= 2)
		first = (first + 7) % ranks;
	return (rank + ranks - first) % ranks < most;
}

enum ceil_pattern ceil_collective_fill(const struct ceil_point *p,
                                       const struct ceil_device_props *d)
{
	const struct ceil_collective_form f = ceil_collective_form_of(p->variant);
	const uint32_t ranks = d->ranks ? d->ranks : 1;

	return takes_part(&f, p->cas->axis[0], d->rank, ranks) ? p->bench->check_pattern
	                                                       : CEIL_ZEROS;
}

/* ---- what must stand where */

/* What the elements of an output are made of. */
struct question {
	struct ceil_collective_form form;
	const struct ceil_point *point;
	uint64_t seed; /* of rank 0 */
	uint64_t count;
	uint32_t rank, ranks;
};

static double input(const struct question *q, uint32_t rank, uint32_t buffer, uint64_t index)
{
	const enum ceil_dtype t = q->form.dtype;

	if (!takes_part(&q->form, q->point->cas->axis[0], rank, q->ranks))
		return 0.0;
	return ceil_decode(
		t, ceil_element(t, q->point->bench->check_pattern, q->seed + rank, buffer, index));
}

static double reduced(const struct question *q, uint64_t index)
{
	double all = q->form.max ? -INFINITY : 0.0;

	for (uint32_t r = 0; r < q->ranks; r++) {
		const double x = input(q, r, CEIL_COLLECTIVE_SEND, index);

		all = q->form.max ? fmax(all, x) : all + x;
	}
	return all;
}

/* Element i of part `part` of the output; where it has no parts, part is 0. */
static double expected(const struct question *q, uint32_t part, uint64_t i)
{
	const uint32_t before = (q->rank + q->ranks - 1) % q->ranks;

	switch (q->form.operation) {
	case CEIL_ALL_GATHER:
		return q->form.in_place ? input(q, part, CEIL_COLLECTIVE_RECV, part * q->count + i)
		                        : input(q, part, CEIL_COLLECTIVE_SEND, i);
	case CEIL_REDUCE_SCATTER:
		return reduced(q, q->rank * q->count + i);
	case CEIL_BROADCAST:
		return input(q, 0, CEIL_COLLECTIVE_SEND, i);
	case CEIL_ALL_TO_ALL:
		return input(q, part, CEIL_COLLECTIVE_SEND, q->rank * q->count + i);
	case CEIL_SEND_RECV:
		return input(q, before, CEIL_COLLECTIVE_SEND, i);
	default:
		return reduced(q, i);
	}
}

static uint64_t expected_bits(const struct question *q, uint32_t part, uint64_t i)
{
	return ceil_encode(q->form.dtype, expected(q, part, i));
}

/* ---- comparing */

/*
 * Element r of a part's period stands at base + r, base + r + P, ..., n times: its terms
 * bits (2 i + 1) sum to bits (n (2 (base + r) + 1) + P n (n - 1)).
 */
static uint64_t hash_of_period(uint64_t bits, uint64_t base, uint64_t r, uint64_t count)
{
	const uint64_t n = r < count ? (count - r - 1) / CEIL_PERIOD + 1 : 0;

	return bits * (n * (2 * (base + r) + 1) + CEIL_PERIOD * n * (n - 1));
}

static uint64_t expected_hash(const struct question *q, uint32_t parts)
{
	uint64_t hash = 0;

	for (uint32_t part = 0; part < parts; part++) {
		for (uint64_t r = 0; r < CEIL_PERIOD && r < q->count; r++)
			hash += hash_of_period(expected_bits(q, part, r), part * q->count, r,
			                       q->count);
	}
	return hash;
}

static enum ceil_status compare(const struct question *q, const char *got, uint64_t from,
                                uint64_t elements, struct ceil_error *err)
{
	const size_t bytes = ceil_dtype_info(q->form.dtype)->bits / 8;

	for (uint64_t k = 0; k < elements; k++) {
		const uint64_t i = from + k;
		const uint64_t want = expected_bits(q, (uint32_t)(i / q->count), i % q->count);
		uint64_t bits = 0;

		memcpy(&bits, got + k * bytes, bytes);
		if (bits == want)
			continue;
		return ceil_fail(
			err, CEIL_E_WRONG, "%s: element %llu of the result is %.9g, expected %.9g",
			q->point->variant->name, (unsigned long long)i,
			ceil_decode(q->form.dtype, bits), ceil_decode(q->form.dtype, want));
	}
	return CEIL_OK;
}

static enum ceil_status compare_all(const struct question *q, struct ceil_device *dev,
                                    const char *output, uint64_t bytes, struct ceil_error *err)
{
	const size_t element_bytes = ceil_dtype_info(q->form.dtype)->bits / 8;
	char *piece = ceil_alloc(1, SMALL_BYTES, err);
	enum ceil_status st = piece ? CEIL_OK : CEIL_E_NOMEM;

	for (uint64_t at = 0; st == CEIL_OK && at < bytes; at += SMALL_BYTES) {
		const uint64_t n = bytes - at < SMALL_BYTES ? bytes - at : SMALL_BYTES;

		st = dev->backend->read(dev, piece, output + at, n, err);
		if (st == CEIL_OK)
			st = compare(q, piece, at / element_bytes, n / element_bytes, err);
	}
	free(piece);
	return st;
}

static enum ceil_status compare_hash(const struct question *q, struct ceil_device *dev,
                                     const char *output, uint64_t bytes, uint32_t parts,
                                     struct ceil_error *err)
{
	const struct ceil_buffer whole = {.dtype = q->form.dtype, .bytes = bytes};
	uint64_t got = 0;
	enum ceil_status st = dev->backend->hash(dev, &whole, output, &got, err);

	if (st != CEIL_OK || got == expected_hash(q, parts))
		return st;
	st = compare_all(q, dev, output, bytes, err);
	return st != CEIL_OK ? st
	                     : ceil_fail(err, CEIL_E_WRONG,
	                                 "%s: the hash of the result is wrong, and no element is: "
	                                 "memory is not read twice alike",
	                                 q->point->variant->name);
}

enum ceil_status ceil_collective_check(const struct ceil_point *p, struct ceil_device *dev,
                                       const struct ceil_launch *l, const struct ceil_buffer *buf,
                                       uint64_t seed, struct ceil_error *err)
{
	const struct ceil_device_props *d = &dev->props;
	const struct question q = {
		.form = ceil_collective_form_of(p->variant),
		.point = p,
		.seed = seed - d->rank,
		.count = l->n,
		.rank = d->rank,
		.ranks = (uint32_t)l->k,
	};
	const struct ceil_collective_span out =
		ceil_collective_output(&q.form, l->n, d->rank, (uint32_t)l->k);
	const char *output = (const char *)l->buf[out.buffer] + out.offset_bytes;
	const bool aligned = out.offset_bytes % 16 == 0;

	(void)buf; /* the span says it all */
	if (out.bytes == 0)
		return CEIL_OK;
	if (out.bytes <= SMALL_BYTES || !aligned)
		return compare_all(&q, dev, output, out.bytes, err);
	return compare_hash(&q, dev, output, out.bytes, q.form.info->parts_received ? q.ranks : 1,
	                    err);
}
