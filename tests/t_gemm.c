/* Tests of the gemm bench: limits of shapes, the cost model, its tables, and its check. */
#include "bench/gemm.h"
#include "bench/gemm_shapes.h"

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "tests/reference.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

static const struct ceil_variant *variant(const char *name)
{
	for (size_t i = 0; i < ceil_gemm_bench.variant_count; i++) {
		if (strcmp(ceil_gemm_bench.variants[i].name, name) == 0)
			return &ceil_gemm_bench.variants[i];
	}
	return NULL;
}

static struct ceil_point point_of(const char *name, const struct ceil_case *c)
{
	return (struct ceil_point){.bench = &ceil_gemm_bench,
	                           .variant = variant(name),
	                           .cas = c,
	                           .pattern = CEIL_NORMAL};
}

/* ---- shape and work */

static void test_shape(void)
{
	const struct ceil_case c = {"own", NULL, false, {8448, 4096, 8192, CEIL_GEMM_TN}};
	const struct ceil_point p = point_of("cublaslt.bf16", &c);
	const struct ceil_device dev = reference_open(&reference_backend, 100 * GIB);
	struct ceil_launch l = {0};
	struct ceil_buffer b[CEIL_MAX_BUFS] = {{0}};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_work w;

	is_int(ceil_gemm_bench.shape(&p, &dev.props, &l, b, &err), CEIL_OK, "a shape of bf16");
	is_u64(b[CEIL_GEMM_A].bytes, 8448ull * 8192 * 2, "bytes of A");
	is_u64(b[CEIL_GEMM_B].bytes, 4096ull * 8192 * 2, "bytes of B");
	is_u64(b[CEIL_GEMM_C].bytes, 8448ull * 4096 * 2, "bytes of C");
	is_u64(b[CEIL_GEMM_WORKSPACE].bytes, 64ull << 20, "bytes of the workspace");
	ok(b[0].role == CEIL_INPUT && b[1].role == CEIL_INPUT && b[2].role == CEIL_OUTPUT &&
	           b[3].role == CEIL_WORKSPACE,
	   "A and B are filled, C is poisoned");
	ok(b[0].memory == CEIL_MEM_DEVICE && l.m == 8448 && l.n == 4096 && l.k == 8192,
	   "in device memory, with its dimensions");
	ceil_gemm_bench.work(&p, &l, &w);
	is_close(w.flops, 2.0 * 8448 * 4096 * 8192, 0.0, "2mnk operations");
	is_close(w.bytes_read, 2.0 * 8192 * (8448 + 4096), 0.0, "A and B are read once");
	is_close(w.bytes_written, 2.0 * 8448 * 4096, 0.0, "C is written once");
}

static void test_other_sizes(void)
{
	const struct ceil_case c = {"own", NULL, false, {1024, 512, 256, CEIL_GEMM_TN}};
	const struct ceil_point e4m3 = point_of("cublaslt.e4m3_fast", &c);
	const struct ceil_point int8 = point_of("cublaslt.int8", &c);
	const struct ceil_point host = point_of("cblas.fp64", &c);
	const struct ceil_device dev = reference_open(&reference_backend, GIB);
	struct ceil_launch l = {0};
	struct ceil_buffer b[CEIL_MAX_BUFS] = {{0}};

	is_int(ceil_gemm_bench.shape(&e4m3, &dev.props, &l, b, NULL), CEIL_OK, "a shape of e4m3");
	is_u64(b[0].bytes + b[1].bytes, (1024 + 512) * 256, "one byte an operand");
	is_u64(b[2].bytes, 1024 * 512 * 2, "bf16 out of e4m3");
	is_int(ceil_gemm_bench.shape(&int8, &dev.props, &l, b, NULL), CEIL_OK, "a shape of int8");
	is_u64(b[2].bytes, 1024 * 512 * 4, "int32 out of int8");
	is_int(ceil_gemm_bench.shape(&host, &dev.props, &l, b, NULL), CEIL_OK,
	       "a shape of the host");
	ok(b[0].memory == CEIL_MEM_PAGEABLE && b[0].bytes == 8 * 1024 * 256 && b[3].bytes == 0,
	   "in host memory, without a workspace");
}

struct refusal {
	const char *variant;
	uint64_t axis[4];
	enum ceil_status status;
	const char *words;
};

static const struct refusal refusals[] = {
	{"cublaslt.bf16", {0, 8, 8, 0}, CEIL_E_USAGE, "m is 0"},
	{"cublaslt.bf16", {8, 0, 8, 0}, CEIL_E_USAGE, "n is 0"},
	{"cublaslt.bf16", {8, 8, 0, 0}, CEIL_E_USAGE, "k is 0"},
	{"cublaslt.bf16", {8, 8, 8, 4}, CEIL_E_USAGE, "layout 4 is none"},
	{"cublaslt.bf16", {1u << 31, 1u << 31, 2, 0}, CEIL_E_USAGE, "more than 2^63"},
	{"cublaslt.bf16", {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0}, CEIL_E_USAGE, "more than 2^63"},
	{"cublaslt.bf16", {1u << 31, 1u << 31, 1, 0}, CEIL_E_NOMEM, "EiB of memory"},
	{"cublaslt.fp64", {UINT64_C(1) << 61, 1, 1, 0}, CEIL_E_NOMEM, "EiB of memory"},
	{"cublaslt.bf16", {8, 8, 65537, 0}, CEIL_E_UNSUPPORTED, "k is at most 65536"},
	{"cublaslt.bf16_batched",
         {64, 64, 64, 0},
         CEIL_E_UNSUPPORTED,
         "gemm.bf16_batched is for batches of 2 products or more"},
	{"cublaslt.e4m3",
         {8192, 8192, 8200, 0},
         CEIL_E_UNSUPPORTED,
         "k must be a multiple of 16 for e4m3: 8200 is not"},
	{"cublaslt.e5m2",
         {8204, 8192, 8192, 0},
         CEIL_E_UNSUPPORTED,
         "m must be a multiple of 8 for e5m2: 8204 is not"},
	{"cublaslt.int8",
         {8, 6, 6, 0},
         CEIL_E_UNSUPPORTED,
         "k must be a multiple of 4 for int8: 6 is not"},
	{"cublaslt.e4m3", {16, 16, 16, 1}, CEIL_E_UNSUPPORTED, "e4m3 is TN only: NN is not"},
	{"cblas.fp32", {16, 16, 16, 2}, CEIL_E_UNSUPPORTED, "host fp32 is TN only: NT is not"},
	{"cublaslt.fp32",
         {16384, 16384, 16384, 0},
         CEIL_E_NOMEM,
         "fp32 own needs 3.1 GiB of memory, 3 GiB may be used (60 % of what is free"},
};

static void test_refusals(void)
{
	const struct ceil_device dev = reference_open(&reference_backend, 3 * GIB);

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];
		const struct ceil_case c = {
			"own", NULL, false, {r->axis[0], r->axis[1], r->axis[2], r->axis[3]}};
		const struct ceil_point p = point_of(r->variant, &c);
		struct ceil_launch l = {0};
		struct ceil_buffer b[CEIL_MAX_BUFS] = {{0}};
		struct ceil_error err = {CEIL_OK, ""};

		is_int(ceil_gemm_bench.shape(&p, &dev.props, &l, b, &err), r->status, r->words);
		has_text(err.text, r->words, "and says so");
	}
}

static void test_unknown_memory(void)
{
	const struct ceil_case c = {"own", NULL, false, {16384, 16384, 16384, 0}};
	const struct ceil_point p = point_of("cublaslt.fp32", &c);
	const struct ceil_device dev = reference_open(&reference_backend, 0);
	struct ceil_launch l = {0};
	struct ceil_buffer b[CEIL_MAX_BUFS] = {{0}};

	is_int(ceil_gemm_bench.shape(&p, &dev.props, &l, b, NULL), CEIL_OK,
	       "unknown memory refuses nothing");
}

/* ---- tables */

/* Block-scaled types only have a row that says that they are not measured. */
static bool measured(const struct ceil_variant *v)
{
	return v->min_cc < 100;
}

static void test_tables(void)
{
	const struct ceil_bench *b = &ceil_gemm_bench;
	const struct ceil_device dev = reference_open(&reference_backend, 100 * GIB);

	for (size_t i = 0; i < b->variant_count; i++) {
		const struct ceil_variant *v = &b->variants[i];
		bool quick = false;
		size_t cases = 0;

		ok(*v->name && *v->doc && *v->ceiling && v->tolerance > 0.0 && v->types.a &&
		           v->types.b && v->types.acc && v->types.out,
		   "%s is described", v->name);
		ok(v->launch || (v->why_not && *v->why_not), "%s launches or says why not",
		   v->name);
		for (size_t j = 0; j < i; j++)
			if (strcmp(b->variants[j].name, v->name) == 0 ||
			    strcmp(b->variants[j].ceiling, v->ceiling) == 0)
				ok(false, "%s has a name and a ceiling of its own", v->name);
		for (size_t c = 0; c < b->case_count; c++) {
			const struct ceil_point p = point_of(v->name, &b->cases[c]);
			struct ceil_launch l = {0};
			struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};

			if (strcmp(b->cases[c].backend, v->backend) != 0 ||
			    !b->applies(&p, &dev.props))
				continue;
			cases++;
			quick = quick || b->cases[c].quick;
			if (b->shape(&p, &dev.props, &l, buf, NULL) != CEIL_OK)
				ok(false, "%s takes case %s", v->name, b->cases[c].name);
		}
		ok((cases >= 2 || !measured(v)) && (quick || !v->quick),
		   "%s has cases, a quick one if it is quick", v->name);
	}
}

/* The lists of long runs: named, none twice, of shapes that a large card takes. */
static void test_more(void)
{
	const struct ceil_bench *b = &ceil_gemm_bench;
	const struct ceil_device dev = reference_open(&reference_backend, 100 * GIB);
	size_t named = 0, twice = 0, taken = 0, count = 0;

	for (size_t i = 0; i < b->more_count; i++) {
		ok(*b->more[i].name && *b->more[i].doc, "list %s is described", b->more[i].name);
		for (size_t j = 0; j < b->more[i].count; j++, count++) {
			const struct ceil_case *c = &b->more[i].v[j];
			const struct ceil_point p = point_of("cublaslt.bf16", c);
			struct ceil_launch l = {0};
			struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};

			named += c->name && strcmp(c->backend, "cuda") == 0 && !c->quick;
			taken += b->shape(&p, &dev.props, &l, buf, NULL) == CEIL_OK;
			for (size_t k = 0; k < b->case_count; k++)
				twice += strcmp(b->cases[k].name, c->name) == 0 &&
				         strcmp(b->cases[k].backend, "cuda") == 0;
			for (size_t k = 0; k < j; k++)
				twice += strcmp(b->more[i].v[k].name, c->name) == 0;
		}
	}
	ok(count > 150 && named == count && taken == count, "%zu cases of long runs fit", count);
	is_int((long long)twice, 0, "and none is there twice");
	ok(ceil_gemm_of_model(b->more[3].v) && !ceil_gemm_of_model(b->cases), "models are known");
}

/* Columns of unequal products: the mean is n, and the parts follow one another. */
static void test_groups(void)
{
	const struct ceil_case c = {"own", NULL, false, {64, 128, 32, CEIL_GEMM_TN, 5}};
	const struct ceil_point p = point_of("cublas.bf16_grouped", &c);
	const struct ceil_point q = point_of("cublaslt.bf16_batched", &c);
	const uint64_t want[] = {64, 96, 128, 160, 192};
	const struct ceil_device dev = reference_open(&reference_backend, GIB);
	struct ceil_buffer b[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_gemm_part part;
	struct ceil_work w;
	uint64_t first = 0;

	for (uint64_t i = 0; i < 5; i++) {
		ceil_gemm_part_of(&p, i, &part);
		ok(part.n == want[i] && part.first == first, "product %d of a group", (int)i);
		first += part.n;
		ceil_gemm_part_of(&q, i, &part);
		ok(part.n == 128 && part.first == 128 * i, "product %d of a batch", (int)i);
	}
	is_u64(ceil_gemm_group_n(1, 8, 0), 1, "no product is empty");
	is_int(ceil_gemm_bench.shape(&p, &dev.props, &l, b, NULL), CEIL_OK, "a group's shape");
	is_u64(b[CEIL_GEMM_A].bytes, 5 * 64 * 32 * 2, "bytes of all A");
	is_u64(b[CEIL_GEMM_B].bytes, 640 * 32 * 2, "bytes of all B");
	is_u64(b[CEIL_GEMM_C].bytes, 640 * 64 * 2, "bytes of all C");
	is_u64(b[CEIL_GEMM_ADDRESSES].bytes, 15 * sizeof(void *), "and their addresses");
	ceil_gemm_bench.work(&p, &l, &w);
	is_close(w.flops, 2.0 * 64 * 640 * 32, 0.0, "operations of all");
	is_close(w.bytes_read, 2.0 * 32 * (5 * 64 + 640), 0.0, "each A and B is read once");
}

/* 2mnk just below 2^63 is still counted exactly enough. */
static void test_largest(void)
{
	const struct ceil_case c = {"own", NULL, false, {1u << 23, 1u << 23, 65536, 0, 1}};
	const struct ceil_point p = point_of("cublaslt.bf16", &c);
	const struct ceil_device dev = reference_open(&reference_backend, 0);
	struct ceil_buffer b[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_work w;

	is_int(ceil_gemm_bench.shape(&p, &dev.props, &l, b, NULL), CEIL_OK, "2^63 operations");
	ceil_gemm_bench.work(&p, &l, &w);
	is_close(w.flops, 0x1p63, 0.0, "are counted");
	is_close(w.bytes_written, 0x1p47, 0.0, "and the bytes of C");
	is_u64(b[CEIL_GEMM_C].bytes, UINT64_C(1) << 47, "and their buffer");
}

/* @cc: 90; 0: no device */
static bool applies(const char *name, uint64_t size, uint64_t layout, int cc)
{
	const struct ceil_case c = {"own", NULL, false, {size, size, size, layout}};
	const struct ceil_point p = point_of(name, &c);
	const struct ceil_device_props d = {.cc_major = cc / 10, .cc_minor = cc % 10};

	return ceil_gemm_bench.applies(&p, cc ? &d : NULL);
}

/* Kernels of a product whose k is split wait behind the gate too. */
static void test_gate(void)
{
	for (size_t i = 0; i < ceil_gemm_bench.variant_count; i++) {
		const struct ceil_variant *v = &ceil_gemm_bench.variants[i];

		ok(!v->gated || v->kernels > 1, "%s leaves room behind the gate", v->name);
	}
}

static void test_applies(void)
{
	ok(applies("cublaslt.bf16", 16384, CEIL_GEMM_TN, 90), "bf16 is measured at 16384");
	ok(!applies("cublaslt.fp64", 12288, CEIL_GEMM_TN, 90), "fp64 is not measured at 12288");
	ok(!applies("cublaslt.fp32", 12288, CEIL_GEMM_TN, 0), "fp32 is not measured at 12288");
	ok(!applies("cublaslt.fp64", 8192, CEIL_GEMM_TN, 90), "nor at 8192");
	ok(applies("cublaslt.fp64", 4096, CEIL_GEMM_NT, 90), "fp64 is measured at 4096, NT too");
	ok(applies("cublaslt.fp64", 4096, CEIL_GEMM_TN, 0), "and named where there is no device");
	ok(!applies("cublaslt.fp64", 4096, CEIL_GEMM_TN, 89),
	   "fp64 is slow on a GeForce: not 4096");
	ok(applies("cublaslt.fp64", 2048, CEIL_GEMM_TN, 89), "but 2048");
	ok(!applies("cublaslt.fp64", 4096, CEIL_GEMM_TN, 103), "it is slow on a B300 too");
	ok(!applies("cublaslt.e4m3_fast", 8192, CEIL_GEMM_NT, 90), "e4m3 is measured TN only");
	ok(!applies("cublaslt.bf16_batched", 8192, CEIL_GEMM_TN, 90), "a batch is no single one");
	ok(applies("cblas.fp64", 4096, CEIL_GEMM_TN, 0), "the host is measured at its own cases");
}

/* Without a reason in its row no ceiling may be missing on any card. */
static void test_every_card(void)
{
	static const int cards[] = {70, 75, 80, 86, 89, 90, 100, 103, 120};
	const struct ceil_bench *b = &ceil_gemm_bench;

	for (size_t i = 0; i < b->variant_count; i++) {
		for (size_t k = 0; k < sizeof(cards) / sizeof(cards[0]); k++) {
			const struct ceil_device_props d = {.cc_major = cards[k] / 10,
			                                    .cc_minor = cards[k] % 10};
			size_t quick = 0, all = 0;

			for (size_t c = 0; c < b->case_count; c++) {
				const struct ceil_point p =
					point_of(b->variants[i].name, &b->cases[c]);
				const bool is_one =
					strcmp(b->cases[c].backend, b->variants[i].backend) == 0 &&
					b->applies(&p, &d);

				all += is_one;
				quick += is_one && b->cases[c].quick;
			}
			ok(all > 0 && (quick > 0 || !b->variants[i].quick), "%s on %d: %zu cases",
			   b->variants[i].name, cards[k], all);
		}
	}
}

/* ---- the check, on products made by the definition */

struct product {
	struct ceil_case cas;
	struct ceil_point p;
	struct ceil_device dev;
	struct ceil_launch l;
	struct ceil_buffer b[CEIL_MAX_BUFS];
};

static const uint64_t seed = 42;

static void open_product(struct product *x, const char *name, uint64_t m, uint64_t n, uint64_t k,
                         uint64_t layout)
{
	*x = (struct product){.cas = {"own", NULL, false, {m, n, k, layout, 1}}};
	if (strstr(name, "ed")) /* batched, grouped */
		x->cas.axis[CEIL_GEMM_BATCH] = 3;
	x->p = point_of(name, &x->cas);
	x->dev = reference_open(&reference_backend, GIB);
	if (ceil_gemm_bench.shape(&x->p, &x->dev.props, &x->l, x->b, NULL) != CEIL_OK)
		exit(1);
	for (int i = 0; i < 3; i++) {
		if (x->dev.backend->alloc(&x->dev, &x->b[i], &x->l.buf[i], NULL) != CEIL_OK ||
		    x->dev.backend->fill(&x->dev, &x->b[i], x->l.buf[i], i,
		                         i == 2 ? CEIL_POISON : CEIL_TERNARY, seed,
		                         NULL) != CEIL_OK)
			exit(1);
	}
}

static void close_product(struct product *x)
{
	for (int i = 0; i < 3; i++)
		x->dev.backend->free(&x->dev, &x->b[i], x->l.buf[i]);
}

static double at(const struct ceil_matrix *m, uint64_t r, uint64_t c)
{
	return reference_get(m->ptr, m->dtype, r * m->row_stride + c * m->col_stride);
}

static void multiply_one(struct product *x, uint64_t part)
{
	struct ceil_gemm_part columns;
	struct ceil_matrix m[3];

	ceil_gemm_part_of(&x->p, part, &columns);
	ceil_gemm_operands(&x->p, &x->l, part, m);
	for (uint64_t r = 0; r < x->l.m; r++) {
		for (uint64_t c = 0; c < columns.n; c++) {
			const uint64_t to = (columns.first + c) * x->l.m + r;
			double sum = 0.0;

			for (uint64_t i = 0; i < x->l.k; i++)
				sum += at(&m[0], r, i) * at(&m[1], i, c);
			(void)reference_set(x->l.buf[2], x->b[2].dtype, to, sum);
		}
	}
}

static void multiply(struct product *x)
{
	for (uint64_t i = 0; i < ceil_gemm_products(&x->p); i++)
		multiply_one(x, i);
}

static enum ceil_status check(struct product *x, struct ceil_error *err)
{
	return ceil_gemm_bench.check(&x->p, &x->dev, &x->l, x->b, seed, err);
}

static void test_right(void)
{
	for (size_t i = 0; i < ceil_gemm_bench.variant_count; i++) {
		struct product x;

		if (!measured(&ceil_gemm_bench.variants[i]))
			continue;
		open_product(&x, ceil_gemm_bench.variants[i].name, 48, 32, 160, CEIL_GEMM_TN);
		multiply(&x);
		is_int(check(&x, NULL), CEIL_OK, ceil_gemm_bench.variants[i].name);
		close_product(&x);
	}
	for (uint64_t layout = 0; layout < CEIL_GEMM_LAYOUT_COUNT; layout++) {
		struct product x;

		open_product(&x, "cublaslt.bf16", 37, 29, 101, layout);
		multiply(&x);
		is_int(check(&x, NULL), CEIL_OK,
		       ceil_gemm_layout_name((enum ceil_gemm_layout)layout));
		close_product(&x);
	}
}

/* The strides by hand, so that a wrong one cannot agree with itself. */
static void test_operands(void)
{
	const uint64_t strides[CEIL_GEMM_LAYOUT_COUNT][4] = {
		[CEIL_GEMM_TN] = {7, 1, 1, 7},
		[CEIL_GEMM_NN] = {1, 3, 1, 7},
		[CEIL_GEMM_NT] = {1, 3, 5, 1},
		[CEIL_GEMM_TT] = {7, 1, 5, 1},
	};

	for (uint64_t layout = 0; layout < CEIL_GEMM_LAYOUT_COUNT; layout++) {
		const struct ceil_case c = {"own", NULL, false, {3, 5, 7, layout}};
		const struct ceil_point p = point_of("cublaslt.bf16", &c);
		const struct ceil_launch l = {.m = 3, .n = 5, .k = 7};
		const uint64_t *s = strides[layout];
		struct ceil_matrix m[3];

		ceil_gemm_operands(&p, &l, 0, m);
		ok(m[0].row_stride == s[0] && m[0].col_stride == s[1] && m[1].row_stride == s[2] &&
		           m[1].col_stride == s[3] && m[2].row_stride == 1 && m[2].col_stride == 3,
		   "strides of %s", ceil_gemm_layout_name((enum ceil_gemm_layout)layout));
	}
}

/* Each element in turn, off by one. */
static void test_one_wrong(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct product x;
	int missed = 0;

	open_product(&x, "cublaslt.bf16", 16, 24, 64, CEIL_GEMM_TN);
	multiply(&x);
	for (uint64_t i = 0; i < x.l.m * x.l.n; i++) {
		const double right = reference_get(x.l.buf[2], CEIL_BF16, i);

		(void)reference_set(x.l.buf[2], CEIL_BF16, i, right + 1.0);
		missed += check(&x, &err) != CEIL_E_WRONG;
		(void)reference_set(x.l.buf[2], CEIL_BF16, i, right);
	}
	is_int(missed, 0, "every single wrong element is seen");
	(void)reference_set(x.l.buf[2], CEIL_BF16, 16 * 3 + 5, 99.0);
	is_int(check(&x, &err), CEIL_E_WRONG, "a wrong element");
	has_text(err.text, "row 5 of C (bf16 own) times a test vector is ", "its row is named");
	close_product(&x);
}

static void test_wrong_product(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct product x;

	open_product(&x, "cublas.bf16_grouped", 16, 32, 64, CEIL_GEMM_TN);
	multiply(&x);
	is_int(check(&x, &err), CEIL_OK, "a group of three");
	(void)reference_set(x.l.buf[2], CEIL_BF16, 16 * (16 + 32) + 3, 99.0);
	is_int(check(&x, &err), CEIL_E_WRONG, "one element of its last product");
	has_text(err.text, "product 2: row 3 of C", "is named");
	close_product(&x);
}

static void test_transposed(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct product x;

	open_product(&x, "cublaslt.fp32", 32, 32, 64, CEIL_GEMM_TN);
	multiply(&x);
	for (uint64_t r = 0; r < 32; r++) {
		for (uint64_t c = 0; c < r; c++) {
			const double a = reference_get(x.l.buf[2], CEIL_FP32, c * 32 + r);
			const double b = reference_get(x.l.buf[2], CEIL_FP32, r * 32 + c);

			(void)reference_set(x.l.buf[2], CEIL_FP32, c * 32 + r, b);
			(void)reference_set(x.l.buf[2], CEIL_FP32, r * 32 + c, a);
		}
	}
	is_int(check(&x, &err), CEIL_E_WRONG, "C transposed is wrong");
	close_product(&x);
}

static void test_unwritten(void)
{
	static const char *const names[] = {"cublaslt.bf16", "cublaslt.fp16", "cublaslt.fp64"};
	struct ceil_error err = {CEIL_OK, ""};
	struct product x;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		open_product(&x, names[i], 16, 16, 32, CEIL_GEMM_TN);
		is_int(check(&x, &err), CEIL_E_WRONG, "nothing was written");
		has_text(err.text, "row 0 of C", "and that is what it says");
		has_text(err.text, "never written", "and that is what it says");
		close_product(&x);
	}
	open_product(&x, "cublaslt.int8", 16, 16, 32, CEIL_GEMM_TN);
	is_int(check(&x, &err), CEIL_E_WRONG, "nothing was written, and poison is a number");
	close_product(&x);
}

static enum ceil_status broken(struct ceil_device *dev, const struct ceil_matrix *m,
                               const int64_t *x, int64_t *ret_y, struct ceil_error *err)
{
	(void)dev;
	(void)m;
	(void)x;
	(void)ret_y;
	return ceil_fail(err, CEIL_E_DEVICE, "unspecified launch failure");
}

static void test_failures(void)
{
	struct ceil_backend bad = reference_backend;
	struct ceil_error err = {CEIL_OK, ""};
	struct product x;

	bad.project = broken;
	open_product(&x, "cublaslt.bf16", 16, 16, 32, CEIL_GEMM_TN);
	x.dev.backend = &bad;
	is_int(check(&x, &err), CEIL_E_DEVICE, "what the device said is passed on");
	is_text(err.text, "unspecified launch failure", "in its words");
	x.dev.backend = &reference_backend;
	(void)reference_set(x.l.buf[1], CEIL_BF16, 32 * 3 + 9, 0.25);
	is_int(check(&x, &err), CEIL_E_WRONG, "an input that is no whole number proves nothing");
	has_text(err.text, "row 9 of B (bf16) holds other than whole numbers", "and is named");
	(void)reference_set(x.l.buf[1], CEIL_BF16, 32 * 3 + 9, 0.0);
	(void)reference_set(x.l.buf[0], CEIL_BF16, 32 * 4 + 2, 0.25);
	is_int(check(&x, &err), CEIL_E_WRONG, "nor does one of A");
	has_text(err.text, "row 4 of A (bf16) holds other than whole numbers", "and is named");
	ceil_alloc_fail_at(1);
	is_int(check(&x, &err), CEIL_E_NOMEM, "no memory for the vectors");
	ceil_alloc_fail_at(0);
	close_product(&x);
}

int main(void)
{
	test_shape();
	test_other_sizes();
	test_refusals();
	test_unknown_memory();
	test_tables();
	test_more();
	test_groups();
	test_largest();
	test_applies();
	test_every_card();
	test_gate();
	test_operands();
	test_right();
	test_one_wrong();
	test_wrong_product();
	test_transposed();
	test_unwritten();
	test_failures();
	return done_testing();
}
