/* The gemm bench on a real GPU, at small sizes: every type, layout and algorithm is exact. */
#include "bench/gemm.h"

#include "harness/device/cublaslt.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds would do; a sanitizer makes kernels a hundred times slower. */
#define WAIT_NS UINT64_C(60000000000)

static const uint64_t seed = 11;

struct whole {
	struct ceil_case cas;
	struct ceil_point p;
	struct ceil_device *dev;
	struct ceil_launch l;
	struct ceil_buffer b[CEIL_MAX_BUFS];
	uint32_t candidates;
};

static enum ceil_status place(struct whole *w, struct ceil_error *err)
{
	const struct ceil_backend *b = w->dev->backend;
	enum ceil_status st;

	st = b->bind(w->dev, &w->l, err);
	for (int i = 0; i < 5 && st == CEIL_OK; i++) {
		if (w->b[i].bytes > 0)
			st = b->alloc(w->dev, &w->b[i], &w->l.buf[i], err);
	}
	for (int i = 0; i < 2 && st == CEIL_OK; i++)
		st = b->fill(w->dev, &w->b[i], w->l.buf[i], i, CEIL_TERNARY, seed, err);
	return st;
}

/* @algorithm: the only one to take, in the words of describe; NULL: all. */
static enum ceil_status open_whole(struct whole *w, struct ceil_device *dev,
                                   const struct ceil_variant *v, const uint64_t *axis,
                                   const char *algorithm, struct ceil_error *err)
{
	enum ceil_status st;

	*w = (struct whole){.cas = {"small", NULL, false, {axis[0], axis[1], axis[2], axis[3], 1}}};
	if (strstr(v->name, "ed")) /* batched, grouped */
		w->cas.axis[CEIL_GEMM_BATCH] = 5;
	w->dev = dev;
	w->p = (struct ceil_point){
		.bench = &ceil_gemm_bench, .variant = v, .cas = &w->cas, .algorithm = algorithm};
	st = ceil_gemm_bench.shape(&w->p, &dev->props, &w->l, w->b, err);
	if (st == CEIL_OK)
		st = place(w, err);
	if (st == CEIL_OK)
		st = ceil_gemm_bench.prepare(&w->p, dev, &w->l, &w->candidates, err);
	return st;
}

static void close_whole(struct whole *w)
{
	ceil_gemm_bench.release(&w->l);
	for (int i = 0; i < 5; i++) {
		if (w->l.buf[i])
			w->dev->backend->free(w->dev, &w->b[i], w->l.buf[i]);
	}
}

/* One launch into poison, then the check, and the hash of what came out. */
static enum ceil_status run(struct whole *w, uint64_t *ret_hash, struct ceil_error *err)
{
	const struct ceil_backend *b = w->dev->backend;
	enum ceil_status st;

	st = b->fill(w->dev, &w->b[2], w->l.buf[2], 2, CEIL_POISON, seed, err);
	if (st == CEIL_OK)
		st = w->p.variant->launch(&w->l, err);
	if (st == CEIL_OK)
		st = b->sync(w->dev, WAIT_NS, err);
	if (st == CEIL_OK)
		st = ceil_gemm_bench.check(&w->p, w->dev, &w->l, w->b, seed, err);
	return st == CEIL_OK ? b->hash(w->dev, &w->b[2], w->l.buf[2], ret_hash, err) : st;
}

/* All algorithms give the same bits on exact data, whatever order they sum in. */
static void test_algorithms(struct whole *w, const char *name)
{
	uint64_t first = 0;
	uint32_t right = 0, equal = 0, ran = 0;

	for (w->l.candidate = 0; w->l.candidate < w->candidates; w->l.candidate++) {
		struct ceil_error err = {CEIL_OK, ""};
		uint64_t hash = 0;
		char text[192];
		const enum ceil_status st = run(w, &hash, &err);

		if (st == CEIL_E_UNSUPPORTED)
			continue;
		first = ran++ ? first : hash;
		right += st == CEIL_OK;
		equal += st == CEIL_OK && hash == first;
		if (st == CEIL_OK)
			continue;
		ceil_gemm_bench.describe(&w->l, text, sizeof(text));
		printf("# %s: %s\n", text, err.text);
	}
	ok(ran > 0 && right == ran, "%s: %u of %u algorithms are exact", name, right, ran);
	ok(equal == ran, "%s: and agree to the bit", name);
}

/* The last answer, found again by its words as --algo does. */
static void test_words(struct whole *w, const uint64_t *axis, const char *name)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct whole named;
	uint64_t hash = 0, again = 0;
	char text[192];
	char text_again[192] = "";

	w->l.candidate = w->candidates - 1;
	ceil_gemm_bench.describe(&w->l, text, sizeof(text));
	if (run(w, &hash, &err) == CEIL_E_UNSUPPORTED) {
		skip(name, err.text);
		return;
	}
	if (open_whole(&named, w->dev, w->p.variant, axis, text, &err) == CEIL_OK) {
		ceil_gemm_bench.describe(&named.l, text_again, sizeof(text_again));
		ok(named.candidates == 1 && run(&named, &again, &err) == CEIL_OK && again == hash,
		   "%s by its words writes the same bits %s", text, err.text);
	} else {
		ok(false, "%s by its words: %s", text, err.text);
	}
	is_text(text_again, text, name);
	close_whole(&named);
}

static void test_variant(struct ceil_device *dev, const struct ceil_variant *v,
                         const uint64_t *axis)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct whole w;
	char name[96];
	char text[192];

	(void)snprintf(name, sizeof(name), "%s %llux%llux%llu %s", v->name,
	               (unsigned long long)axis[0], (unsigned long long)axis[1],
	               (unsigned long long)axis[2],
	               ceil_gemm_layout_name((enum ceil_gemm_layout)axis[3]));
	switch (open_whole(&w, dev, v, axis, /* algorithm= */ NULL, &err)) {
	case CEIL_OK:
		w.l.candidate = 0;
		ceil_gemm_bench.describe(&w.l, text, sizeof(text));
		printf("# %s: first of %u: %s\n", name, w.candidates, text);
		test_algorithms(&w, name);
		if (strncmp(v->name, "cublaslt.", 9) == 0)
			test_words(&w, axis, name);
		break;
	case CEIL_E_UNSUPPORTED:
		skip(name, err.text);
		break;
	default:
		ok(false, "%s: %s", name, err.text);
		break;
	}
	close_whole(&w);
}

static const struct ceil_variant *variant_of(const char *name)
{
	size_t i = 0;

	while (strcmp(ceil_gemm_bench.variants[i].name, name) != 0)
		i++;
	return &ceil_gemm_bench.variants[i];
}

static void test_all(struct ceil_device *dev)
{
	static const uint64_t sizes[][4] = {
		{256, 384, 512, CEIL_GEMM_TN}, {256, 384, 512, CEIL_GEMM_NN},
		{256, 384, 512, CEIL_GEMM_NT}, {256, 384, 512, CEIL_GEMM_TT},
		{144, 80, 2064, CEIL_GEMM_TN},
	};
	const int cc = dev->props.cc_major * 10 + dev->props.cc_minor;

	for (size_t i = 0; i < ceil_gemm_bench.variant_count; i++) {
		const struct ceil_variant *v = &ceil_gemm_bench.variants[i];

		if (strcmp(v->backend, "cuda") != 0)
			continue;
		if (cc < v->min_cc) {
			skip(v->name, "needs a newer part");
			continue;
		}
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			test_variant(dev, v, sizes[s]);
	}
}

/* ---- precision: what an operand keeps of its mantissa */

struct precision_row {
	const char *variant;
	double residual; /* the most that is allowed, of elements of C */
};

/*
 * k = 512 standard normals: C has the deviation 22.6, and a product whose factors are rounded to
 * b bits of mantissa errs by some sqrt(2 k) 2^-(b+1) / sqrt(6): 0.006 for tf32's ten bits, 0.05
 * for bf16's seven. Factors that are cut and not rounded shrink C as a whole besides, which a
 * fitted scale takes out.
 */
static const struct precision_row precision_rows[] = {
	{"cublaslt.tf32", 0.015},
	{"cublaslt.fp32", 1e-4},
	{"cublaslt.fp64", 1e-9},
};

static double element(const void *v, enum ceil_dtype t, uint64_t i)
{
	return t == CEIL_FP64 ? ((const double *)v)[i] : (double)((const float *)v)[i];
}

static double reference_of(const struct whole *w, const void *const v[3], uint64_t at)
{
	const enum ceil_dtype t = w->p.variant->types.a;
	const uint64_t row = at % w->l.m, col = at / w->l.m;
	double sum = 0.0;

	for (uint64_t i = 0; i < w->l.k; i++)
		sum += element(v[0], t, row * w->l.k + i) * element(v[1], t, col * w->l.k + i);
	return sum;
}

/* Root mean square of C - scale * reference over every 97th element. */
static double residual_of(const struct whole *w, const void *const v[3])
{
	const enum ceil_dtype t = w->p.variant->types.a;
	double cr = 0.0, rr = 0.0, sum = 0.0;
	uint64_t n = 0;

	for (uint64_t at = 0; at < w->l.m * w->l.n; at += 97) {
		const double r = reference_of(w, v, at);

		cr += element(v[2], t, at) * r;
		rr += r * r;
	}
	for (uint64_t at = 0; at < w->l.m * w->l.n; at += 97, n++) {
		const double off = element(v[2], t, at) - cr / rr * reference_of(w, v, at);

		sum += off * off;
	}
	return sqrt(sum / (double)n);
}

/* One launch on normal data, and the three matrices on the host. */
static enum ceil_status product_of(struct whole *w, void *v[3], struct ceil_error *err)
{
	const struct ceil_backend *b = w->dev->backend;
	enum ceil_status st = CEIL_OK;

	for (int i = 0; i < 2 && st == CEIL_OK; i++)
		st = b->fill(w->dev, &w->b[i], w->l.buf[i], i, CEIL_NORMAL, seed, err);
	if (st == CEIL_OK)
		st = w->p.variant->launch(&w->l, err);
	if (st == CEIL_OK)
		st = b->sync(w->dev, WAIT_NS, err);
	for (int i = 0; i < 3 && st == CEIL_OK; i++) {
		v[i] = v[i] ? v[i] : malloc(w->b[i].bytes);
		st = v[i] ? b->read(w->dev, v[i], w->l.buf[i], w->b[i].bytes, err) : CEIL_E_NOMEM;
	}
	return st;
}

static void test_precision(struct ceil_device *dev, const struct precision_row *row)
{
	static const uint64_t axis[] = {512, 384, 512, CEIL_GEMM_TN};
	const struct ceil_variant *v = variant_of(row->variant);
	struct ceil_error err = {CEIL_OK, ""};
	void *host[3] = {NULL, NULL, NULL};
	double worst = 0.0;
	struct whole w;
	char text[192] = "";

	ok(open_whole(&w, dev, v, axis, /* algorithm= */ NULL, &err) == CEIL_OK,
	   "%s for its precision: %s", v->name, err.text);
	for (w.l.candidate = 0; w.l.candidate < w.candidates; w.l.candidate++) {
		if (product_of(&w, host, &err) != CEIL_OK)
			continue;
		const double r = residual_of(&w, (const void *const *)host);

		if (!(r > worst))
			continue;
		worst = r;
		ceil_gemm_bench.describe(&w.l, text, sizeof(text));
	}
	ok(worst > 0.0 && worst < row->residual, "%s errs by %.3g, at most %.3g: %s", v->name,
	   worst, row->residual, text);
	for (int i = 0; i < 3; i++)
		free(host[i]);
	close_whole(&w);
}

int main(void)
{
	const struct ceil_backend *cuda = ceil_backend_find("cuda");
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_lt_info info;
	struct ceil_device *dev = NULL;
	int count = 0;

	if (!cuda)
		skip_all("this build has no CUDA backend");
	if (cuda->count(&count, &err) != CEIL_OK || count == 0)
		skip_all(err.text);
	if (ceil_lt_info_read(&info, &err) != CEIL_OK)
		skip_all(err.text);
	printf("# cuBLASLt %s, %s\n", info.version, info.path);
	if (!ok(cuda->open(0, &dev, &err) == CEIL_OK, "device 0 opens: %s", err.text))
		return done_testing();
	test_all(dev);
	for (size_t i = 0; i < sizeof(precision_rows) / sizeof(precision_rows[0]); i++)
		test_precision(dev, &precision_rows[i]);
	cuda->close(dev);
	return done_testing();
}
