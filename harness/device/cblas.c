/* A CBLAS that is loaded when needed: OpenBLAS, BLIS, MKL or the reference library. */
#include "harness/device/cblas.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/dynlib.h"
#include "harness/base/text.h"
#include "harness/device/limits.h"

/* Values of cblas.h, the same in every implementation. */
enum { COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112 };

typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);
typedef void (*dgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                         const double *a, int lda, const double *b, int ldb, double beta, double *c,
                         int ldc);

/* What the makers add to set the threads and to say what they are. */
struct entry_points {
	sgemm_fn sgemm;
	dgemm_fn dgemm;
	void (*openblas_set_threads)(int);
	int (*openblas_get_threads)(void);
	char *(*openblas_config)(void);
	void (*blis_set_threads)(int64_t); /* dim_t, 64 bits in every packaged build */
	int64_t (*blis_get_threads)(void);
	const char *(*blis_version)(void);
	void (*mkl_set_threads)(int);
	int (*mkl_get_threads)(void);
	void (*mkl_version)(char *text, int size);
};

struct ceil_cblas {
	struct ceil_dynlib lib;
	struct entry_points fn;
	char name[160];
};

static const char *const sonames[] = {
	"libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2", "libcblas.so.3", "libblas.so.3", NULL,
};

#define POINT(member, name, is_required)                                                           \
	{                                                                                          \
		.names = {name}, .offset = offsetof(struct entry_points, member),                  \
		.required = (is_required)                                                          \
	}

static const struct ceil_symbol symbols[] = {
	POINT(sgemm, "cblas_sgemm", true),
	POINT(dgemm, "cblas_dgemm", true),
	POINT(openblas_set_threads, "openblas_set_num_threads", false),
	POINT(openblas_get_threads, "openblas_get_num_threads", false),
	POINT(openblas_config, "openblas_get_config", false),
	POINT(blis_set_threads, "bli_thread_set_num_threads", false),
	POINT(blis_get_threads, "bli_thread_get_num_threads", false),
	POINT(blis_version, "bli_info_get_version_str", false),
	POINT(mkl_set_threads, "MKL_Set_Num_Threads", false),
	POINT(mkl_get_threads, "MKL_Get_Max_Threads", false),
	POINT(mkl_version, "MKL_Get_Version_String", false),
};

static const struct ceil_library library = {
	.title = "CBLAS",
	.override = "GPUCEIL_LIB_CBLAS",
	.sonames = sonames,
	.remedy = "install OpenBLAS: apt install libopenblas0-pthread, or dnf install "
		  "openblas-threads",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

/* Sets the threads and asks back, since a build has a limit of its own. Return: what it is now. */
static unsigned set_threads(const struct entry_points *fn, unsigned threads)
{
	const int want = (int)threads;

	if (fn->openblas_set_threads) {
		fn->openblas_set_threads(want);
		return fn->openblas_get_threads ? (unsigned)fn->openblas_get_threads() : threads;
	}
	if (fn->blis_set_threads) {
		fn->blis_set_threads(want);
		return fn->blis_get_threads ? (unsigned)fn->blis_get_threads() : threads;
	}
	if (fn->mkl_set_threads) {
		fn->mkl_set_threads(want);
		return fn->mkl_get_threads ? (unsigned)fn->mkl_get_threads() : threads;
	}
	return 1; /* the reference library */
}

/* MKL fills the rest of the buffer with blanks. */
static void name_mkl(const struct entry_points *fn, char *ret_name, size_t size)
{
	char version[128] = "";
	size_t length;

	fn->mkl_version(version, (int)sizeof(version) - 1);
	length = strnlen(version, sizeof(version) - 1);
	while (length > 0 && version[length - 1] == ' ')
		length--;
	version[length] = '\0';
	ceil_copy(ret_name, size, version);
}

static void name_library(struct ceil_cblas *c, unsigned threads)
{
	const struct entry_points *fn = &c->fn;

	if (fn->openblas_config)
		ceil_append(c->name, sizeof(c->name), "%s", fn->openblas_config());
	else if (fn->blis_version)
		ceil_append(c->name, sizeof(c->name), "BLIS %s", fn->blis_version());
	else if (fn->mkl_version)
		name_mkl(fn, c->name, sizeof(c->name));
	else
		ceil_append(c->name, sizeof(c->name), "CBLAS %s", c->lib.path);
	ceil_append(c->name, sizeof(c->name), ", %u thread%s", threads, threads == 1 ? "" : "s");
}

/*
 * OpenBLAS starts its threads when it is loaded and waits for ever for memory that it does not get:
 * each wants a stack and an arena of malloc beside its buffer.
 */
static enum ceil_status room_for_threads(unsigned threads, struct ceil_error *err)
{
	const uint64_t mib = (uint64_t)1 << 20;
	const uint64_t left = ceil_limits_address_bytes();
	const uint64_t needed = (256 + (uint64_t)threads * (8 + 64 + 32)) * mib;

	if (left >= needed)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_UNSUPPORTED,
	                 "the limit of the address space (ulimit -v) leaves %llu MiB, and a CBLAS "
	                 "with %u threads needs about %llu MiB: raise it",
	                 (unsigned long long)(left / mib), threads,
	                 (unsigned long long)(needed / mib));
}

enum ceil_status ceil_cblas_open(unsigned threads, struct ceil_cblas **ret_cblas,
                                 struct ceil_error *err)
{
	struct ceil_cblas *c;
	enum ceil_status st = room_for_threads(threads, err);

	if (st != CEIL_OK)
		return st;
	c = ceil_alloc(1, sizeof(*c), err);
	if (!c)
		return CEIL_E_NOMEM;
	st = ceil_dynlib_open(&library, &c->fn, &c->lib, err);
	if (st != CEIL_OK) {
		free(c);
		return st;
	}
	name_library(c, set_threads(&c->fn, threads));
	*ret_cblas = c;
	return CEIL_OK;
}

void ceil_cblas_close(struct ceil_cblas *c)
{
	if (!c)
		return;
	ceil_dynlib_close(&c->lib);
	free(c);
}

const char *ceil_cblas_name(const struct ceil_cblas *c)
{
	return c->name;
}

const char *ceil_cblas_path(const struct ceil_cblas *c)
{
	return c->lib.path;
}

void ceil_cblas_sgemm(const struct ceil_cblas *c, const struct ceil_cblas_gemm *g)
{
	c->fn.sgemm(COL_MAJOR, TRANS, NO_TRANS, g->m, g->n, g->k, 1.0f, g->a, g->k, g->b, g->k,
	            0.0f, g->c, g->m);
}

void ceil_cblas_dgemm(const struct ceil_cblas *c, const struct ceil_cblas_gemm *g)
{
	c->fn.dgemm(COL_MAJOR, TRANS, NO_TRANS, g->m, g->n, g->k, 1.0, g->a, g->k, g->b, g->k, 0.0,
	            g->c, g->m);
}
