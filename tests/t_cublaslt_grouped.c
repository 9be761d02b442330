/* Tests of grouped products on a stand-in for cuBLAS: right products, each call failing. */
#include "harness/device/cublaslt_grouped.h"

#include "harness/base/alloc.h"
#include "harness/base/value.h"
#include "tests/fakes.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { M = 4, K = 8, COUNT = 3, COLUMNS = 2 + 5 + 1 };

static const uint64_t columns[COUNT] = {2, 5, 1};
static const struct ceil_grouped_desc bf16 = {
	.types = {CEIL_BF16, CEIL_BF16, CEIL_FP32, CEIL_BF16}, .m = M, .k = K, .count = COUNT};

struct operands {
	uint16_t a[COUNT * M * K], b[COLUMNS * K], c[COLUMNS * M];
	void *address[3 * COUNT];
	struct ceil_launch l;
};

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		exit(1);
}

static void fill(struct operands *o)
{
	for (uint64_t i = 0; i < COUNT * M * K; i++)
		o->a[i] = (uint16_t)ceil_element(CEIL_BF16, CEIL_INTEGERS, 3, 0, i);
	for (uint64_t i = 0; i < COLUMNS * K; i++)
		o->b[i] = (uint16_t)ceil_element(CEIL_BF16, CEIL_TERNARY, 3, 1, i);
	memset(o->c, 0xff, sizeof(o->c));
	o->l = (struct ceil_launch){.buf = {o->a, o->b, o->c, NULL, o->address}};
}

static double bf(uint16_t bits)
{
	return ceil_decode(CEIL_BF16, bits);
}

/* Elements of C that are not the dot product of their column of A and of B. */
static int wrong_elements(const struct operands *o)
{
	uint64_t column = 0;
	int wrong = 0;

	for (uint64_t g = 0; g < COUNT; g++) {
		for (uint64_t j = 0; j < columns[g]; j++, column++) {
			for (uint64_t i = 0; i < M; i++) {
				double sum = 0.0;

				for (uint64_t k = 0; k < K; k++)
					sum += bf(o->a[(g * M + i) * K + k]) *
					       bf(o->b[column * K + k]);
				wrong += bf(o->c[column * M + i]) != sum;
			}
		}
	}
	return wrong;
}

static int open_handles(const char *fake)
{
	void *lib = dlopen(fake, RTLD_NOW | RTLD_NOLOAD);
	const int *count = lib ? dlsym(lib, "fake_cublas_open") : NULL;
	const int n = count ? *count : 0;

	if (lib)
		(void)dlclose(lib);
	return n;
}

static void test_products(const char *fake)
{
	static struct operands o;
	struct ceil_grouped *g = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	fill(&o);
	is_int(ceil_grouped_open(&bf16, columns, &o.l, &g, &err), CEIL_OK, "a group of three");
	o.l.state = g;
	ok(o.address[0] == o.a && o.address[1] == o.a + M * K && o.address[3] == o.b &&
	           o.address[5] == o.b + 7 * K && o.address[8] == o.c + 7 * M,
	   "the addresses of its matrices");
	is_int(ceil_grouped_launch(&o.l, &err), CEIL_OK, "launched");
	is_int(wrong_elements(&o), 0, "every element is right");
	set("FAKE_CUBLAS_FAIL", "cublasGemmGroupedBatchedEx=15");
	is_int(ceil_grouped_launch(&o.l, &err), CEIL_E_UNSUPPORTED, "a part that cannot");
	has_text(err.text,
	         "cublasGemmGroupedBatchedEx for 3 products of 4 x n x 8: "
	         "CUBLAS_STATUS_NOT_SUPPORTED",
	         "in these words");
	set("FAKE_CUBLAS_FAIL", "cublasGemmGroupedBatchedEx=13");
	is_int(ceil_grouped_launch(&o.l, &err), CEIL_E_DEVICE, "a device that fails");
	set("FAKE_CUBLAS_FAIL", NULL);
	ceil_grouped_close(g);
	ceil_grouped_close(NULL);
	is_int(open_handles(fake), 0, "nothing stays open");
}

struct world {
	const char *name, *value;
	enum ceil_status status;
};

static const struct world worlds[] = {
	{"FAKE_CUBLAS_FAIL", "cublasCreate_v2=3", CEIL_E_NOMEM},
	{"FAKE_CUBLAS_FAIL", "cublasCreate_v2=1", CEIL_E_DEVICE},
	{"FAKE_CUBLAS_FAIL", "cublasSetStream_v2=13", CEIL_E_DEVICE},
	{"FAKE_CUBLAS_FAIL", "cublasSetVector=11", CEIL_E_DEVICE},
	{"GPUCEIL_LIB_CUBLAS", "/nowhere/libcublas.so", CEIL_E_UNSUPPORTED},
};

static void test_worlds(const char *fake)
{
	static struct operands o;

	fill(&o);
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct ceil_grouped *g = NULL;
		struct ceil_error err = {CEIL_OK, ""};

		set(worlds[i].name, worlds[i].value);
		is_int(ceil_grouped_open(&bf16, columns, &o.l, &g, &err), worlds[i].status,
		       worlds[i].value);
		ok(!g && *err.text, "with words, and nothing to close");
		set(worlds[i].name, NULL);
		set("GPUCEIL_LIB_CUBLAS", fake);
		is_int(open_handles(fake), 0, "nothing stays open");
	}
}

static void test_refusals(void)
{
	static struct operands o;
	struct ceil_grouped_desc fp16 = bf16;
	struct ceil_grouped *g = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	fill(&o);
	fp16.types.a = CEIL_FP16;
	is_int(ceil_grouped_open(&fp16, columns, &o.l, &g, &err), CEIL_E_UNSUPPORTED, "no fp16");
	is_text(err.text, "groups are of bf16, not of fp16", "and it says so");
	for (long k = 1; k <= 5; k++) {
		ceil_alloc_fail_at(k);
		is_int(ceil_grouped_open(&bf16, columns, &o.l, &g, &err), CEIL_E_NOMEM,
		       "no memory");
		ceil_alloc_fail_at(0);
	}
}

int main(void)
{
	static char fake[FAKE_PATH_MAX];
	static struct operands o;
	struct ceil_grouped *g = NULL;

	if (!fake_path("cublas", fake))
		skip_all("the stand-in library is not built");
	set("GPUCEIL_LIB_CUBLAS", fake);
	fill(&o);
	if (ceil_grouped_open(&bf16, columns, &o.l, &g, NULL) == CEIL_E_UNSUPPORTED)
		skip_all("this build has no cublas_v2.h");
	ceil_grouped_close(g);
	test_products(fake);
	test_worlds(fake);
	test_refusals();
	return done_testing();
}
