/* Tests of the dram bench: its table, shape, work, and a check that sees each wrong element. */
#include "bench/dram.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "harness/device/host.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { SEED = 7 };

static const struct ceil_bench *const bench = &ceil_dram_bench;

static const struct ceil_variant *variant(const char *name)
{
	for (size_t i = 0; i < bench->variant_count; i++) {
		if (strcmp(bench->variants[i].name, name) == 0)
			return &bench->variants[i];
	}
	ok(false, "there is a variant %s", name);
	exit(done_testing());
}

static struct ceil_point point(const struct ceil_variant *v, const struct ceil_case *cas)
{
	return (struct ceil_point){.bench = bench, .variant = v, .cas = cas};
}

/* ---- the table */

static void lint_variant(const struct ceil_variant *v)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(v);
	const bool gpu = strcmp(v->backend, "cuda") == 0;
	const char *dtype = ceil_dtype_info(v->types.a)->name;
	const char *end = strrchr(v->name, '.');

	ok(op && !op->element != !op->share, "%s: one operation, an array or sums", v->name);
	ok(gpu || strcmp(v->backend, "host") == 0, "%s: a known backend", v->name);
	ok(strncmp(v->ceiling, gpu ? "dram." : "host.dram.", gpu ? 5 : 10) == 0,
	   "%s: a ceiling of its backend", v->name);
	ok(end && strcmp(end + 1, dtype) == 0, "%s: ends in its type", v->name);
	ok(v->types.a == v->types.out, "%s: one type", v->name);
	ok(v->unit == CEIL_GB_S && v->resource == CEIL_R_DRAM, "%s: GB/s of memory", v->name);
	ok(v->doc && v->doc[0], "%s: says what it is", v->name);
	ok(v->launch || (v->why_not && gpu), "%s: a launcher or a reason", v->name);
	ok(v->tolerance > 0.0, "%s: a tolerance", v->name);
	ok(v->threads % 32 == 0 && !v->threads == !v->per_thread, "%s: whole warps", v->name);
}

static void test_table(void)
{
	for (size_t i = 0; i < bench->variant_count; i++) {
		const struct ceil_variant *v = &bench->variants[i];
		bool quick = false;
		bool twice = false;

		lint_variant(v);
		for (size_t k = 0; k < bench->variant_count; k++) {
			const struct ceil_variant *w = &bench->variants[k];

			twice |= k != i && strcmp(w->name, v->name) == 0;
			quick |= w->quick && !w->beside && strcmp(w->ceiling, v->ceiling) == 0;
		}
		ok(!twice, "%s: its name is its own", v->name);
		ok(quick, "%s: a quick run measures %s too", v->name, v->ceiling);
	}
	ok(!ceil_dram_operation_of(&(struct ceil_variant){.name = "rea.cs"}),
	   "rea is no operation");
	ok(!ceil_dram_operation_of(&(struct ceil_variant){.name = "readx"}),
	   "readx is none either");
}

/* ---- shape */

static const struct ceil_device_props h200 = {
	.sm_count = 132,
	.l2_bytes = 60 * MIB,
	.llc_bytes = 60 * MIB,
	.free_bytes = 84 * GIB,
	.memory_bytes = 141 * GIB,
};

static enum ceil_status shape_of(const char *name, uint64_t axis, const struct ceil_device_props *d,
                                 struct ceil_launch *l, struct ceil_buffer *buf,
                                 struct ceil_error *err)
{
	const struct ceil_case cas = {.name = "test", .axis = {axis}};
	const struct ceil_point p = point(variant(name), &cas);

	*l = (struct ceil_launch){0};
	memset(buf, 0, CEIL_MAX_BUFS * sizeof(*buf));
	return bench->shape(&p, d, l, buf, err);
}

static void test_shape_on_h200(void)
{
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	struct ceil_error err;

	is_int(shape_of("read.cs.x8.t256.fp32", 8 * GIB, &h200, &l, buf, &err), CEIL_OK, "read");
	is_u64(l.n, UINT64_C(1) << 31, "8 GiB of fp32");
	is_u64(l.blocks, 262144, "32 KiB a block");
	is_u64(l.threads, 256, "256 threads");
	is_u64(buf[CEIL_DRAM_A].bytes, 8 * GIB, "A");
	is_u64(buf[CEIL_DRAM_B].bytes, 0, "read has no B");
	is_u64(buf[CEIL_DRAM_C].bytes, 4 * 262144, "a sum for each block");
	is_int(buf[CEIL_DRAM_C].dtype, CEIL_INT32, "of 32-bit words");
	is_int(buf[CEIL_DRAM_C].role, CEIL_OUTPUT, "C is poisoned before");

	is_int(shape_of("triad.keep.x1.t128.fp64", 8 * GIB, &h200, &l, buf, &err), CEIL_OK,
	       "triad");
	is_u64(l.n, UINT64_C(1) << 30, "8 GiB of fp64");
	is_u64(l.blocks, 4194304, "2 KiB a block");
	for (int i = 0; i < CEIL_DRAM_BUFFERS; i++)
		is_u64(buf[i].bytes, 8 * GIB, "an array of 8 GiB");

	is_int(shape_of("write.cs.x1.t256.fp32", 8 * GIB, &h200, &l, buf, &err), CEIL_OK, "write");
	is_u64(buf[CEIL_DRAM_A].bytes + buf[CEIL_DRAM_B].bytes, 0, "write reads nothing");
	is_int(shape_of("copy.plain.x4.t256.sm8.fp32", 8 * GIB, &h200, &l, buf, &err), CEIL_OK,
	       "a looping copy");
	is_u64(l.blocks, UINT64_C(8) * 132, "has 8 blocks a SM");
	is_int(shape_of("dot.plain.x8.t256.sm4.fp32", 8 * GIB, &h200, &l, buf, &err), CEIL_OK,
	       "a looping dot");
	ok(l.n / l.blocks * 64 <= 1 << 24, "has sums that fp32 holds exactly");
}

static uint64_t array_on(const char *name, uint64_t free_bytes)
{
	struct ceil_device_props d = h200;
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	struct ceil_error err;

	d.free_bytes = free_bytes;
	if (shape_of(name, 8 * GIB, &d, &l, buf, &err) != CEIL_OK)
		return 0;
	return buf[CEIL_DRAM_A].bytes ? buf[CEIL_DRAM_A].bytes : buf[CEIL_DRAM_C].bytes;
}

static void test_shape_when_memory_is_short(void)
{
	struct ceil_device_props d = h200;
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	struct ceil_error err;

	is_u64(array_on("triad.keep.x1.t128.fp32", 24 * GIB), 8 * GIB, "three of 8 GiB fit 24");
	is_u64(array_on("triad.keep.x1.t128.fp32", 24 * GIB - 1), 4 * GIB, "but not a byte less");
	is_u64(array_on("copy.cs.x1.t128.fp32", 10 * GIB), 4 * GIB, "two of 4 GiB fit 10");
	is_u64(array_on("write.cs.x1.t256.fp32", 10 * GIB), 8 * GIB, "one of 8 GiB does");
	is_u64(array_on("triad.keep.x1.t128.fp32", 750 * MIB), 240 * MIB, "4 x L2 is the least");
	is_u64(array_on("triad.keep.x1.t128.fp32", 719 * MIB), 0, "and below it there is nothing");
	d.free_bytes = 719 * MIB;
	is_int(shape_of("triad.keep.x1.t128.fp32", 8 * GIB, &d, &l, buf, &err), CEIL_E_NOMEM,
	       "too little memory is a fact");
	has_text(err.text, "720 MiB", "that says what is needed");
	has_text(err.text, "719 MiB", "and what is there");
	is_int(shape_of("triad.keep.x1.t128.fp32", 100 * MIB, &h200, &l, buf, &err), CEIL_E_USAGE,
	       "a wish below 4 x L2 is refused");
	has_text(err.text, "240 MiB", "with the least size");
}

static void test_shape_on_host(void)
{
	struct ceil_device_props d = {.sm_count = 16, .free_bytes = 8 * GIB};
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	struct ceil_error err;

	is_int(shape_of("triad.nt.fp64", 0, &d, &l, buf, &err), CEIL_OK, "unknown caches");
	is_u64(buf[CEIL_DRAM_C].bytes, 128 * MIB, "are taken for small ones");
	d.llc_bytes = 33 * MIB;
	is_int(shape_of("dot.plain.fp32", 0, &d, &l, buf, &err), CEIL_OK, "a cache of 33 MiB");
	is_u64(buf[CEIL_DRAM_A].bytes, 132 * MIB, "four times that");
	is_u64(l.blocks, 16, "a sum for each thread");
	is_u64(buf[CEIL_DRAM_C].bytes, 64, "in fp32");
}

static void test_work(void)
{
	static const struct {
		const char *name;
		double read, written, flops;
	} want[] = {
		{"read.cs.x8.t256.fp32", 4000.0, 0.0, 0.0},
		{"write.keep.x1.t256.fp64", 0.0, 8000.0, 0.0},
		{"memset.fp32", 0.0, 4000.0, 0.0},
		{"memcpy.fp32", 4000.0, 4000.0, 0.0},
		{"copy.nt.fp64", 8000.0, 8000.0, 0.0},
		{"scale.cs.x1.t128.fp32", 4000.0, 4000.0, 1000.0},
		{"add.plain.fp32", 8000.0, 4000.0, 1000.0},
		{"triad.keep.x1.t128.fp64", 16000.0, 8000.0, 2000.0},
		{"dot.plain.fp32", 8000.0, 0.0, 2000.0},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct ceil_point p = point(variant(want[i].name), bench->cases);
		const struct ceil_launch l = {.n = 1000};
		struct ceil_work w;

		bench->work(&p, &l, &w);
		is_close(w.bytes_read, want[i].read, 0.0, want[i].name);
		is_close(w.bytes_written, want[i].written, 0.0, "bytes written");
		is_close(w.flops, want[i].flops, 0.0, "operations");
	}
}

/* ---- check, on real memory */

struct bed {
	struct ceil_device *dev;
	struct ceil_point p;
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
};

/* n elements, whatever shape would say; inputs filled, C poisoned. */
static void make_bed(struct bed *b, struct ceil_device *dev, const struct ceil_variant *v,
                     uint64_t n, uint32_t blocks)
{
	const struct ceil_dram_operation *op = ceil_dram_operation_of(v);
	const enum ceil_dtype t = v->types.a;
	const enum ceil_dtype out = op->word_sum ? CEIL_INT32 : t;
	const uint64_t count = op->element ? n : blocks;
	struct ceil_error err = {CEIL_OK, ""};
	bool done = true;

	*b = (struct bed){.dev = dev, .p = point(v, bench->cases)};
	b->l = (struct ceil_launch){.n = n, .blocks = blocks, .threads = v->threads};
	b->buf[0] = (struct ceil_buffer){.role = CEIL_INPUT, .dtype = t, .numa_node = -1};
	b->buf[1] = b->buf[0];
	b->buf[2] = (struct ceil_buffer){.role = CEIL_OUTPUT, .dtype = out, .numa_node = -1};
	b->buf[0].bytes = b->buf[1].bytes = ceil_dtype_bytes(t, n);
	b->buf[2].bytes = ceil_dtype_bytes(out, count);
	done &= dev->backend->bind(dev, &b->l, &err) == CEIL_OK;
	for (int i = 0; i < CEIL_DRAM_BUFFERS; i++) {
		done &= dev->backend->alloc(dev, &b->buf[i], &b->l.buf[i], &err) == CEIL_OK;
		done &= dev->backend->fill(dev, &b->buf[i], b->l.buf[i], i,
		                           i == CEIL_DRAM_C ? CEIL_POISON : bench->check_pattern,
		                           SEED, &err) == CEIL_OK;
	}
	if (!ok(done, "%s: arrays of %llu elements %s", v->name, (unsigned long long)n, err.text))
		exit(done_testing());
}

static void free_bed(struct bed *b)
{
	for (int i = 0; i < CEIL_DRAM_BUFFERS; i++)
		b->dev->backend->free(b->dev, &b->buf[i], b->l.buf[i]);
}

static enum ceil_status check_bed(const struct bed *b, struct ceil_error *err)
{
	return bench->check(&b->p, b->dev, &b->l, b->buf, SEED, err);
}

/* One bit wrong, anywhere: the check sees it, and what it was is right again. */
static void spoil(const struct bed *b, uint64_t byte, const char *name)
{
	unsigned char *c = b->l.buf[CEIL_DRAM_C];
	struct ceil_error err;

	c[byte] ^= 4;
	is_int(check_bed(b, &err), CEIL_E_WRONG, name);
	has_text(err.text, b->p.variant->name, "the error names the variant");
	has_text(err.text, "expected", "and what was expected");
	c[byte] ^= 4;
	is_int(check_bed(b, &err), CEIL_OK, "right again");
}

static void test_host_variant(struct ceil_device *dev, const struct ceil_variant *v)
{
	static const uint64_t sizes[] = {1, 4092, 4093, 4094, 100003};
	struct ceil_error err = {CEIL_OK, ""};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bed b;
		enum ceil_status st;

		make_bed(&b, dev, v, sizes[i], (uint32_t)dev->props.sm_count);
		is_int(check_bed(&b, &err), CEIL_E_WRONG, "poison is no result");
		st = v->launch(&b.l, &err);
		if (st == CEIL_E_UNSUPPORTED) {
			skip(v->name, err.text);
			free_bed(&b);
			return;
		}
		is_int(st, CEIL_OK, v->name);
		ok(check_bed(&b, &err) == CEIL_OK, "%s: all right, %s", v->name, err.text);
		spoil(&b, 0, "the first element");
		spoil(&b, b.buf[CEIL_DRAM_C].bytes - 1, "the last element");
		spoil(&b, b.buf[CEIL_DRAM_C].bytes / 2, "one in the middle");
		free_bed(&b);
	}
}

/* What a form of the GPU must give, by its definition, element by element. */
static void compute(const struct bed *b)
{
	const struct ceil_variant *v = b->p.variant;
	const struct ceil_dram_operation *op = ceil_dram_operation_of(v);
	const enum ceil_dtype t = v->types.a;
	const size_t size = ceil_dtype_info(t)->bits / 8;
	const uint64_t span = v->threads ? (uint64_t)v->threads * v->per_thread * 16 / size : 1;
	uint64_t *sum = calloc(b->l.blocks, sizeof(*sum));
	unsigned char *c = b->l.buf[CEIL_DRAM_C];

	for (uint64_t i = 0; i < b->l.n; i++) {
		const uint64_t x = ceil_element(t, CEIL_INTEGERS, SEED, 0, i);
		const uint64_t y = ceil_element(t, CEIL_INTEGERS, SEED, 1, i);

		if (op->share) {
			sum[i / span % b->l.blocks] += op->share(t, x, y);
		} else {
			const double value = op->element(ceil_decode(t, x), ceil_decode(t, y));
			const uint64_t bits = ceil_encode(t, value);

			memcpy(c + i * size, &bits, size);
		}
	}
	for (uint32_t k = 0; op->share && k < b->l.blocks; k++) {
		const uint64_t bits =
			op->word_sum ? sum[k] : ceil_encode(t, (double)(int64_t)sum[k]);
		const size_t bytes = op->word_sum ? 4 : size;

		memcpy(c + k * bytes, &bits, bytes);
	}
	free(sum);
}

static void test_gpu_form(struct ceil_device *dev, const char *name, uint64_t n, uint32_t blocks)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct bed b;

	make_bed(&b, dev, variant(name), n, blocks);
	is_int(check_bed(&b, &err), CEIL_E_WRONG, "poison is no result");
	compute(&b);
	ok(check_bed(&b, &err) == CEIL_OK, "%s: all right, %s", name, err.text);
	spoil(&b, 0, "the first element");
	spoil(&b, b.buf[CEIL_DRAM_C].bytes - 1, "the last element");
	free_bed(&b);
}

static void test_check(void)
{
	struct ceil_device *dev = NULL;
	struct ceil_error err;

	if (!ok(ceil_host_backend.open(0, &dev, &err) == CEIL_OK, "the host opens"))
		return;
	for (size_t i = 0; i < bench->variant_count; i++) {
		if (strcmp(bench->variants[i].backend, "host") == 0)
			test_host_variant(dev, &bench->variants[i]);
	}
	/* Groups of 8192, 4096 and 4096 elements: a whole grid, one too small, a short last group.
	 */
	test_gpu_form(dev, "read.cs.x8.t256.fp32", 5 * 8192 + 12, 6);
	test_gpu_form(dev, "read.cs.x8.t256.fp64", 5 * 4096 + 2, 6);
	test_gpu_form(dev, "read.cs.x8.t256.sm8.fp32", 5 * 8192 + 12, 2);
	test_gpu_form(dev, "dot.plain.x8.t256.fp32", 3 * 8192, 3);
	test_gpu_form(dev, "dot.cs.x8.t256.fp64", 3 * 4096 + 2, 4);
	test_gpu_form(dev, "dot.plain.x8.t256.sm4.fp32", 9 * 8192 + 4, 4);
	test_gpu_form(dev, "triad.keep.x1.t128.fp32", 50000, 98);
	test_gpu_form(dev, "memset.fp32", 50000, 1);
	ceil_host_backend.close(dev);
}

int main(void)
{
	test_table();
	test_shape_on_h200();
	test_shape_when_memory_is_short();
	test_shape_on_host();
	test_work();
	test_check();
	return done_testing();
}
