/* Who multiplies in the gemm bench: cuBLASLt, cuBLAS's groups, or the host's CBLAS. */
#include "bench/gemm_engine.h"

#include <stdlib.h>
#include <string.h>

#include "bench/gemm.h"
#include "bench/gemm_host.h"
#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#ifdef CEIL_HAVE_CUDA
#include "bench/gemm_shapes.h"
#include "harness/base/text.h"
#include "harness/device/cublaslt.h"
#include "harness/device/cublaslt_grouped.h"
#endif

struct engine {
	const char *prefix;    /* of the variant's name, before the dot */
	enum ceil_dtype dtype; /* of a; CEIL_NODTYPE: any */
	enum ceil_status (*prepare)(const struct ceil_point *p, struct ceil_device *dev,
	                            struct ceil_launch *l, uint32_t *ret_candidates,
	                            struct ceil_error *err);
	ceil_launch_fn launch;
	void (*release)(struct ceil_launch *l);
	void (*describe)(const struct ceil_launch *l, char *ret_text, size_t size);
};

#ifdef CEIL_HAVE_CUDA
static bool is_fast(const struct ceil_variant *v)
{
	const char *end = strrchr(v->ceiling, '_');

	return end && strcmp(end, "_fast") == 0;
}

static enum ceil_status lt_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                   struct ceil_launch *l, uint32_t *ret_candidates,
                                   struct ceil_error *err)
{
	const uint64_t layout = p->cas->axis[CEIL_GEMM_LAYOUT];
	const struct ceil_lt_desc d = {
		.types = p->variant->types,
		.trans_a = layout == CEIL_GEMM_TN || layout == CEIL_GEMM_TT,
		.trans_b = layout == CEIL_GEMM_NT || layout == CEIL_GEMM_TT,
		.fast_accum = is_fast(p->variant),
		.m = l->m,
		.n = l->n,
		.k = l->k,
		.batch = ceil_gemm_products(p),
		.workspace_bytes = CEIL_GEMM_WORKSPACE_BYTES,
		.algorithm = p->algorithm,
	};
	struct ceil_lt_plan *plan = NULL;
	const enum ceil_status st = ceil_lt_plan_open(&d, &plan, ret_candidates, err);

	(void)dev; /* its thread has made it current */
	l->state = plan;
	return st;
}

static void lt_release(struct ceil_launch *l)
{
	ceil_lt_plan_close(l->state);
	l->state = NULL;
}

static void lt_describe(const struct ceil_launch *l, char *ret_text, size_t size)
{
	ceil_lt_plan_describe(l->state, l->candidate, ret_text, size);
}

static enum ceil_status grouped_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                        struct ceil_launch *l, uint32_t *ret_candidates,
                                        struct ceil_error *err)
{
	const uint64_t count = ceil_gemm_products(p);
	const struct ceil_grouped_desc d = {
		.types = p->variant->types, .m = l->m, .k = l->k, .count = count};
	uint64_t *n = ceil_alloc(count, sizeof(*n), err);
	struct ceil_grouped *g = NULL;
	enum ceil_status st;

	(void)dev; /* its thread has made it current */
	if (!n)
		return CEIL_E_NOMEM;
	for (uint64_t i = 0; i < count; i++)
		n[i] = ceil_gemm_group_n(l->n, count, i);
	st = ceil_grouped_open(&d, n, l, &g, err);
	free(n);
	l->state = g;
	*ret_candidates = 1;
	return st;
}

static void grouped_release(struct ceil_launch *l)
{
	ceil_grouped_close(l->state);
	l->state = NULL;
}

static void grouped_describe(const struct ceil_launch *l, char *ret_text, size_t size)
{
	(void)l;
	ceil_copy(ret_text, size, "cublasGemmGroupedBatchedEx");
}
#endif

static const struct engine engines[] = {
#ifdef CEIL_HAVE_CUDA
	{"cublaslt.", CEIL_NODTYPE, lt_prepare, ceil_lt_launch, lt_release, lt_describe},
	{"cublas.", CEIL_BF16, grouped_prepare, ceil_grouped_launch, grouped_release,
         grouped_describe},
#endif
	{"cblas.", CEIL_FP32, ceil_gemm_host_prepare, ceil_gemm_host_launch_fp32,
         ceil_gemm_host_release, ceil_gemm_host_describe},
	{"cblas.", CEIL_FP64, ceil_gemm_host_prepare, ceil_gemm_host_launch_fp64,
         ceil_gemm_host_release, ceil_gemm_host_describe},
};

static const struct engine *find_engine(const struct ceil_variant *v)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strncmp(v->name, engines[i].prefix, strlen(engines[i].prefix)) == 0 &&
		    (engines[i].dtype == CEIL_NODTYPE || engines[i].dtype == v->types.a))
			return &engines[i];
	}
	return NULL;
}

/* What l->state is between prepare and release: the engine, and its own state. */
struct gemm_state {
	const struct engine *engine;
	void *inner;
};

/* The launch as the engine sees it. */
static struct ceil_launch inner_launch(const struct ceil_launch *l)
{
	const struct gemm_state *s = l->state;
	struct ceil_launch inner = *l;

	inner.state = s->inner;
	return inner;
}

enum ceil_status ceil_gemm_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct gemm_state *s = l->state;
	const struct ceil_launch inner = inner_launch(l);

	return s->engine->launch(&inner, err);
}

enum ceil_status ceil_gemm_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                   struct ceil_launch *l, uint32_t *ret_candidates,
                                   struct ceil_error *err)
{
	const struct engine *engine = find_engine(p->variant);
	struct ceil_launch inner = *l;
	struct gemm_state *s;
	enum ceil_status st;

	if (!engine)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "nothing here multiplies %s on backend %s",
		                 ceil_dtype_info(p->variant->types.a)->name, p->variant->backend);
	s = ceil_alloc(1, sizeof(*s), err);
	if (!s)
		return CEIL_E_NOMEM;
	inner.state = NULL;
	st = engine->prepare(p, dev, &inner, ret_candidates, err);
	*s = (struct gemm_state){engine, inner.state};
	*l = inner;
	l->state = s;
	return st;
}

void ceil_gemm_release(struct ceil_launch *l)
{
	struct gemm_state *s = l->state;

	if (!s)
		return;
	if (s->inner) {
		struct ceil_launch inner = inner_launch(l);

		s->engine->release(&inner);
	}
	free(s);
	l->state = NULL;
}

void ceil_gemm_describe(const struct ceil_launch *l, char *ret_text, size_t size)
{
	const struct gemm_state *s = l->state;
	const struct ceil_launch inner = inner_launch(l);

	s->engine->describe(&inner, ret_text, size);
}
