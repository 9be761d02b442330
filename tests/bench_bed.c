/* A point of a GPU bench on host memory: what its tests need to see its shape, work and check. */
#include "tests/bench_bed.h"

#include <stdlib.h>
#include <string.h>

#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "harness/device/host.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

const struct ceil_device_props bed_h200 = {
	.name = "NVIDIA H200",
	.sm_count = 132,
	.cc_major = 9,
	.l2_bytes = 60 * MIB,
	.llc_bytes = 60 * MIB,
	.free_bytes = 84 * GIB,
	.memory_bytes = 141 * GIB,
	.max_sm_mhz = 1980,
	.max_memory_mhz = 3201,
	.memory_bus_bits = 6016,
};

const struct ceil_device_props bed_small = {
	.sm_count = 2,
	.cc_major = 9,
	.l2_bytes = MIB,
	.llc_bytes = MIB,
	.free_bytes = GIB,
	.memory_bytes = GIB,
};

const struct ceil_variant *bed_variant(const struct ceil_bench *bench, const char *name)
{
	for (size_t i = 0; i < bench->variant_count; i++) {
		if (strcmp(bench->variants[i].name, name) == 0)
			return &bench->variants[i];
	}
	ok(false, "there is a variant %s", name);
	exit(done_testing());
}

const struct ceil_case *bed_case(const struct ceil_bench *bench, const char *name)
{
	for (size_t i = 0; i < bench->case_count; i++) {
		if (strcmp(bench->cases[i].name, name) == 0)
			return &bench->cases[i];
	}
	ok(false, "there is a case %s", name);
	exit(done_testing());
}

static struct ceil_case case_of(const uint64_t *axis, size_t axis_count)
{
	struct ceil_case cas = {.name = "test"};

	for (size_t i = 0; i < axis_count; i++)
		cas.axis[i] = axis[i];
	return cas;
}

enum ceil_status bed_shape(const struct ceil_bench *bench, const char *variant,
                           const uint64_t *axis, size_t axis_count,
                           const struct ceil_device_props *d, struct ceil_launch *ret_l,
                           struct ceil_error *err)
{
	const struct ceil_case cas = case_of(axis, axis_count);
	const struct ceil_point p = {
		.bench = bench, .variant = bed_variant(bench, variant), .cas = &cas};
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	const enum ceil_status st = bench->shape(&p, d, &l, buf, err);

	if (ret_l)
		*ret_l = l;
	return st;
}

static enum ceil_status place(struct bench_bed *bed, struct ceil_error *err)
{
	const struct ceil_backend *b = bed->dev->backend;
	enum ceil_status st = b->bind(bed->dev, &bed->l, err);

	for (size_t i = 0; i < bed->p.bench->buf_count && st == CEIL_OK; i++) {
		const bool input = bed->buf[i].role == CEIL_INPUT;

		if (bed->buf[i].bytes == 0)
			continue;
		st = b->alloc(bed->dev, &bed->buf[i], &bed->l.buf[i], err);
		if (st == CEIL_OK)
			st = b->fill(bed->dev, &bed->buf[i], bed->l.buf[i], (int)i,
			             input ? bed->p.bench->check_pattern : CEIL_POISON, BED_SEED,
			             err);
	}
	return st;
}

void bed_open(struct bench_bed *bed, const struct ceil_bench *bench, const char *variant,
              const uint64_t *axis, size_t axis_count, const struct ceil_device_props *d)
{
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st;

	*bed = (struct bench_bed){.cas = case_of(axis, axis_count)};
	bed->p = (struct ceil_point){
		.bench = bench, .variant = bed_variant(bench, variant), .cas = &bed->cas};
	st = ceil_host_backend.open(0, &bed->dev, &err);
	if (st == CEIL_OK)
		st = bench->shape(&bed->p, d, &bed->l, bed->buf, &err);
	if (st == CEIL_OK)
		st = place(bed, &err);
	if (!ok(st == CEIL_OK, "%s: buffers %s", variant, err.text))
		exit(done_testing());
	is_int(bed_check(bed, &err), CEIL_E_WRONG, "poison is no result");
}

void bed_close(struct bench_bed *bed)
{
	for (size_t i = 0; i < bed->p.bench->buf_count; i++) {
		if (bed->l.buf[i])
			bed->dev->backend->free(bed->dev, &bed->buf[i], bed->l.buf[i]);
	}
	bed->dev->backend->close(bed->dev);
}

enum ceil_status bed_check(const struct bench_bed *bed, struct ceil_error *err)
{
	return bed->p.bench->check(&bed->p, bed->dev, &bed->l, bed->buf, BED_SEED, err);
}

void bed_expect_right(struct bench_bed *bed, int buffer)
{
	const uint64_t bytes = bed->buf[buffer].bytes;
	const uint64_t at[] = {0, bytes / 2, bytes - 1};
	unsigned char *p = bed->l.buf[buffer];
	struct ceil_error err = {CEIL_OK, ""};

	ok(bed_check(bed, &err) == CEIL_OK, "%s: all right %s", bed->p.variant->name, err.text);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		p[at[i]] ^= 4;
		is_int(bed_check(bed, &err), CEIL_E_WRONG, "one bit wrong is seen");
		has_text(err.text, bed->p.variant->name, "the error names the variant");
		p[at[i]] ^= 4;
	}
	ok(bed_check(bed, &err) == CEIL_OK, "and right again");
}

double bed_value(const struct bench_bed *bed, int buffer, uint64_t i)
{
	const enum ceil_dtype t = bed->buf[buffer].dtype;

	return ceil_decode(
		t, ceil_element(t, bed->p.bench->check_pattern, BED_SEED, (uint32_t)buffer, i));
}

void bed_store(struct bench_bed *bed, int buffer, uint64_t i, double value)
{
	const enum ceil_dtype t = bed->buf[buffer].dtype;
	const uint64_t bits = ceil_encode(t, value);
	const size_t bytes = ceil_dtype_info(t)->bits / 8;

	memcpy((char *)bed->l.buf[buffer] + i * bytes, &bits, bytes);
}

/* ---- lint */

static void lint_point(const struct ceil_point *p)
{
	const struct ceil_variant *v = p->variant;
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_work w = {0};
	struct ceil_error err = {CEIL_OK, ""};

	if (p->bench->applies && !p->bench->applies(p, &bed_h200))
		return;
	ok(p->bench->shape(p, &bed_h200, &l, buf, &err) == CEIL_OK, "%s %s has a shape %s", v->name,
	   p->cas->name, err.text);
	p->bench->work(p, &l, &w);
	switch (v->unit) {
	case CEIL_GB_S:
		ok(w.bytes_read + w.bytes_written > 0.0, "%s %s moves bytes", v->name,
		   p->cas->name);
		break;
	case CEIL_TFLOP_S:
	case CEIL_TOP_S:
		ok(w.flops > 0.0, "%s %s computes", v->name, p->cas->name);
		break;
	default:
		ok(w.items > 0.0, "%s %s has items", v->name, p->cas->name);
	}
}

static bool known_ceiling(const char *ceiling, const char *const *prefixes)
{
	for (size_t i = 0; prefixes[i]; i++) {
		if (strncmp(ceiling, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

static void lint_variant(const struct ceil_bench *bench, size_t i, const char *const *prefixes)
{
	const struct ceil_variant *v = &bench->variants[i];
	bool twice = false;

	for (size_t k = 0; k < bench->variant_count; k++)
		twice |= k != i && strcmp(bench->variants[k].name, v->name) == 0;
	ok(!twice, "%s: its name is its own", v->name);
	ok(v->doc && v->doc[0], "%s: says what it is", v->name);
	ok(known_ceiling(v->ceiling, prefixes), "%s: competes for %s", v->name, v->ceiling);
	ok(v->launch || v->why_not, "%s: a launcher or a reason", v->name);
	ok(v->sweep || v->tolerance > 0.0, "%s: a tolerance, unless it is a curve", v->name);
	for (size_t c = 0; c < bench->case_count; c++) {
		const struct ceil_point p = {.bench = bench, .variant = v, .cas = &bench->cases[c]};

		lint_point(&p);
	}
}

void bed_lint(const struct ceil_bench *bench, const char *const *prefixes)
{
	ok(ceil_bench_find(bench->name) == bench, "%s is in the list", bench->name);
	ok(bench->summary && bench->doc && bench->source, "%s says what it is", bench->name);
	for (size_t i = 0; i < bench->axis_count; i++)
		ok(bench->axes[i].name && bench->axes[i].doc, "axis %zu says what it is", i);
	for (size_t i = 0; i < bench->variant_count; i++)
		lint_variant(bench, i, prefixes);
}
