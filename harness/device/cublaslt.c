/* Matrix products by cuBLASLt, loaded at run time: every algorithm it offers, one launcher. */
#include "harness/device/cublaslt_inside.h"

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

#ifdef CEIL_HAVE_CUBLASLT

/* ---- types */

struct type_row {
	enum ceil_dtype dtype;
	cudaDataType cuda;
};

static const struct type_row type_rows[] = {
	{CEIL_FP64, CUDA_R_64F},     {CEIL_FP32, CUDA_R_32F}, {CEIL_TF32, CUDA_R_32F},
	{CEIL_BF16, CUDA_R_16BF},    {CEIL_FP16, CUDA_R_16F}, {CEIL_E4M3, CUDA_R_8F_E4M3},
	{CEIL_E5M2, CUDA_R_8F_E5M2}, {CEIL_INT8, CUDA_R_8I},  {CEIL_INT32, CUDA_R_32I},
};

#define IMPL(name) CUBLASLT_NUMERICAL_IMPL_FLAGS_##name

static const struct ceil_lt_compute compute_rows[] = {
	{CEIL_FP64, CEIL_FP64, CUBLAS_COMPUTE_64F, CUDA_R_64F,
         IMPL(FMA) | IMPL(DMMA) | IMPL(ACCUMULATOR_64F) | IMPL(INPUT_64F)},
	{CEIL_FP32, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F,
         IMPL(FMA) | IMPL(ACCUMULATOR_32F) | IMPL(INPUT_32F)},
	{CEIL_TF32, CEIL_FP32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, ~IMPL(ACCUMULATOR_16F)},
	{CEIL_BF16, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~IMPL(ACCUMULATOR_16F)},
	{CEIL_FP16, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~IMPL(ACCUMULATOR_16F)},
	{CEIL_FP16, CEIL_FP16, CUBLAS_COMPUTE_16F, CUDA_R_16F, ~UINT64_C(0)},
	{CEIL_E4M3, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~UINT64_C(0)},
	{CEIL_E5M2, CEIL_FP32, CUBLAS_COMPUTE_32F, CUDA_R_32F, ~UINT64_C(0)},
	{CEIL_INT8, CEIL_INT32, CUBLAS_COMPUTE_32I, CUDA_R_32I, ~UINT64_C(0)},
};

static union ceil_lt_scalar one_of(cudaDataType scale)
{
	union ceil_lt_scalar s = {.f64 = 0.0};

	switch (scale) {
	case CUDA_R_64F:
		s.f64 = 1.0;
		break;
	case CUDA_R_16F:
		s.f16 = 0x3c00; /* 1.0 in binary16 */
		break;
	case CUDA_R_32I:
		s.i32 = 1;
		break;
	default:
		s.f32 = 1.0f;
		break;
	}
	return s;
}

static const struct type_row *find_type(enum ceil_dtype t)
{
	for (size_t i = 0; i < sizeof(type_rows) / sizeof(type_rows[0]); i++) {
		if (type_rows[i].dtype == t)
			return &type_rows[i];
	}
	return NULL;
}

static const struct ceil_lt_compute *find_compute(const struct ceil_types *t)
{
	for (size_t i = 0; i < sizeof(compute_rows) / sizeof(compute_rows[0]); i++) {
		if (compute_rows[i].a == t->a && compute_rows[i].acc == t->acc)
			return &compute_rows[i];
	}
	return NULL;
}

/* ---- the plan */

static enum ceil_status kind_of(cublasStatus_t s)
{
	switch (s) {
	case CUBLAS_STATUS_SUCCESS:
		return CEIL_OK;
	case CUBLAS_STATUS_NOT_SUPPORTED:
	case CUBLAS_STATUS_ARCH_MISMATCH:
	case CUBLAS_STATUS_INVALID_VALUE:
		return CEIL_E_UNSUPPORTED;
	case CUBLAS_STATUS_ALLOC_FAILED:
		return CEIL_E_NOMEM;
	default:
		return CEIL_E_DEVICE;
	}
}

enum ceil_status ceil_lt_told(const struct ceil_lt_plan *p, cublasStatus_t s, const char *call,
                              struct ceil_error *err)
{
	const struct ceil_lt_desc *d = &p->desc;

	if (s == CUBLAS_STATUS_SUCCESS)
		return CEIL_OK;
	return ceil_fail(err, kind_of(s), "%s for %s %llux%llux%llu: %s", call,
	                 ceil_dtype_info(d->types.a)->name, (unsigned long long)d->m,
	                 (unsigned long long)d->n, (unsigned long long)d->k, p->api.status_name(s));
}

static enum ceil_status set_op(struct ceil_lt_plan *p, cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t size, struct ceil_error *err)
{
	return ceil_lt_told(p, p->api.desc_set(p->op, attribute, value, size),
	                    "cublasLtMatmulDescSetAttribute", err);
}

static enum ceil_status make_op(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const int32_t op_a = p->desc.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t op_b = p->desc.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int8_t fast = 1;
	enum ceil_status st;

	st = ceil_lt_told(p, p->api.desc_create(&p->op, p->compute->compute, p->compute->scale),
	                  "cublasLtMatmulDescCreate", err);
	if (st == CEIL_OK)
		st = set_op(p, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof(op_a), err);
	if (st == CEIL_OK)
		st = set_op(p, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof(op_b), err);
	if (st == CEIL_OK && p->desc.fast_accum)
		st = set_op(p, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast), err);
	return st;
}

static enum ceil_status set_layout(struct ceil_lt_plan *p, cublasLtMatrixLayout_t layout,
                                   cublasLtMatrixLayoutAttribute_t attribute, const void *value,
                                   size_t size, struct ceil_error *err)
{
	return ceil_lt_told(p, p->api.layout_set(layout, attribute, value, size),
	                    "cublasLtMatrixLayoutSetAttribute", err);
}

static enum ceil_status make_layout(struct ceil_lt_plan *p, cublasLtMatrixLayout_t *ret_layout,
                                    enum ceil_dtype t, uint64_t rows, uint64_t cols,
                                    struct ceil_error *err)
{
	const struct type_row *row = find_type(t);
	const int32_t batch = (int32_t)p->desc.batch;
	const int64_t stride = (int64_t)(rows * cols);
	enum ceil_status st;

	if (!row)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "cuBLASLt has no matrices of %s",
		                 ceil_dtype_info(t)->name);
	st = ceil_lt_told(p, p->api.layout_create(ret_layout, row->cuda, rows, cols, (int64_t)rows),
	                  "cublasLtMatrixLayoutCreate", err);
	if (st != CEIL_OK || batch <= 1)
		return st;
	st = set_layout(p, *ret_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch),
	                err);
	if (st == CEIL_OK)
		st = set_layout(p, *ret_layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
		                &stride, sizeof(stride), err);
	return st;
}

static enum ceil_status make_layouts(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const struct ceil_lt_desc *d = &p->desc;
	enum ceil_status st;

	st = make_layout(p, &p->a, d->types.a, d->trans_a ? d->k : d->m, d->trans_a ? d->m : d->k,
	                 err);
	if (st == CEIL_OK)
		st = make_layout(p, &p->b, d->types.b, d->trans_b ? d->n : d->k,
		                 d->trans_b ? d->k : d->n, err);
	if (st == CEIL_OK)
		st = make_layout(p, &p->d, d->types.out, d->m, d->n, err);
	return st;
}

/* ---- algorithms */

static uint64_t impl_of(const struct ceil_lt_plan *p, const cublasLtMatmulAlgo_t *algo)
{
	uint64_t flags = 0;
	size_t written = 0;
	const cublasStatus_t s = p->api.cap_get(algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
	                                        &flags, sizeof(flags), &written);

	return s == CUBLAS_STATUS_SUCCESS ? flags : 0;
}

static bool known(const struct ceil_lt_plan *p, const struct ceil_lt_algorithm *x)
{
	for (uint32_t i = 0; i < p->count; i++) {
		if (memcmp(&p->algorithm[i].algo, &x->algo, sizeof(x->algo)) == 0)
			return true;
	}
	return false;
}

static void take(struct ceil_lt_plan *p, const cublasLtMatmulHeuristicResult_t *r)
{
	const struct ceil_lt_algorithm x = {r->algo, r->workspaceSize, impl_of(p, &r->algo)};

	if (r->state != CUBLAS_STATUS_SUCCESS || r->workspaceSize > p->desc.workspace_bytes)
		return;
	if (x.impl & ~p->compute->allowed) {
		p->refused_impl = p->refused++ ? p->refused_impl : x.impl;
		return;
	}
	if (p->count < CEIL_LT_MAX_ALGORITHMS && !known(p, &x))
		p->algorithm[p->count++] = x;
}

/* A limit at which the library knows no algorithm is an answer, not a failure. */
static enum ceil_status ask(struct ceil_lt_plan *p, cublasLtMatmulPreference_t pref,
                            uint64_t workspace_bytes, struct ceil_error *err)
{
	cublasLtMatmulHeuristicResult_t result[CEIL_LT_ASKED];
	int count = 0;
	cublasStatus_t s;

	s = p->api.pref_set(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
	                    sizeof(workspace_bytes));
	if (s != CUBLAS_STATUS_SUCCESS)
		return ceil_lt_told(p, s, "cublasLtMatmulPreferenceSetAttribute", err);
	memset(result, 0, sizeof(result));
	s = p->api.heuristic(p->handle, p->op, p->a, p->b, p->d, p->d, pref, CEIL_LT_ASKED, result,
	                     &count);
	if (kind_of(s) == CEIL_E_UNSUPPORTED)
		return CEIL_OK;
	if (s != CUBLAS_STATUS_SUCCESS)
		return ceil_lt_told(p, s, "cublasLtMatmulAlgoGetHeuristic", err);
	for (int i = 0; i < count && i < CEIL_LT_ASKED; i++)
		take(p, &result[i]);
	return CEIL_OK;
}

static enum ceil_status none_left(const struct ceil_lt_plan *p, struct ceil_error *err)
{
	const struct ceil_lt_desc *d = &p->desc;
	const char *name = ceil_dtype_info(d->types.a)->name;

	if (p->refused)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "each of cuBLASLt's %u answers computes %s in another type "
		                 "(implementation flags 0x%llx)",
		                 p->refused, name, (unsigned long long)p->refused_impl);
	return ceil_fail(
		err, CEIL_E_UNSUPPORTED,
		"cuBLASLt has no algorithm for %s x %s -> %s %llux%llux%llu %c%c on this GPU", name,
		ceil_dtype_info(d->types.b)->name, ceil_dtype_info(d->types.out)->name,
		(unsigned long long)d->m, (unsigned long long)d->n, (unsigned long long)d->k,
		d->trans_a ? 'T' : 'N', d->trans_b ? 'T' : 'N');
}

static enum ceil_status ask_all(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const uint64_t all = p->desc.workspace_bytes;
	/* NVIDIA's advice for Hopper and later (cuBLAS documentation, cublasSetWorkspace). */
	const uint64_t advised = UINT64_C(32) << 20;
	const uint64_t limits[CEIL_LT_WORKSPACES] = {advised < all ? advised : all, all, 0};
	cublasLtMatmulPreference_t pref = NULL;
	enum ceil_status st;

	st = ceil_lt_told(p, p->api.pref_create(&pref), "cublasLtMatmulPreferenceCreate", err);
	for (int i = 0; i < CEIL_LT_WORKSPACES && st == CEIL_OK; i++)
		st = ask(p, pref, limits[i], err);
	if (pref)
		(void)p->api.pref_destroy(pref); /* nothing hangs on it */
	if (st == CEIL_OK && p->count == 0)
		return none_left(p, err);
	return st;
}

/* ---- an algorithm by its words */

/* The library's own check says whether it can, and how much workspace it takes. */
static enum ceil_status take_named(struct ceil_lt_plan *p, struct ceil_error *err)
{
	const struct ceil_types *t = &p->desc.types;
	const cudaDataType d = find_type(t->out)->cuda;
	cublasLtMatmulHeuristicResult_t r;
	enum ceil_status st;
	uint32_t id = 0;

	memset(&r, 0, sizeof(r));
	if (!ceil_lt_words_number(p->desc.algorithm, "id", &id))
		return ceil_fail(err, CEIL_E_USAGE, "algorithm '%.100s': no id=N in it",
		                 p->desc.algorithm);
	st = ceil_lt_told(p,
	                  p->api.algo_init(p->handle, p->compute->compute, p->compute->scale,
	                                   find_type(t->a)->cuda, find_type(t->b)->cuda, d, d,
	                                   (int)id, &r.algo),
	                  "cublasLtMatmulAlgoInit", err);
	if (st == CEIL_OK)
		st = ceil_lt_words_read(p, &r.algo, err);
	if (st == CEIL_OK) {
		const cublasLtMatmulAlgo_t algo = r.algo;

		st = ceil_lt_told(
			p, p->api.algo_check(p->handle, p->op, p->a, p->b, p->d, p->d, &algo, &r),
			"cublasLtMatmulAlgoCheck", err);
		r.algo = algo;
	}
	if (st != CEIL_OK)
		return st;
	take(p, &r);
	return p->count ? CEIL_OK : none_left(p, err);
}

static enum ceil_status fill_plan(struct ceil_lt_plan *p, struct ceil_error *err)
{
	enum ceil_status st;

	st = ceil_lt_load(&p->api, &p->lib, err);
	if (st == CEIL_OK)
		st = ceil_lt_told(p, p->api.create(&p->handle), "cublasLtCreate", err);
	if (st == CEIL_OK)
		st = make_op(p, err);
	if (st == CEIL_OK)
		st = make_layouts(p, err);
	if (st == CEIL_OK)
		st = p->desc.algorithm ? take_named(p, err) : ask_all(p, err);
	return st;
}

enum ceil_status ceil_lt_plan_open(const struct ceil_lt_desc *d, struct ceil_lt_plan **ret_plan,
                                   uint32_t *ret_candidates, struct ceil_error *err)
{
	const struct ceil_lt_compute *compute = find_compute(&d->types);
	struct ceil_lt_plan *p;
	enum ceil_status st;

	if (!compute)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "cuBLASLt has no products of %s in %s",
		                 ceil_dtype_info(d->types.a)->name,
		                 ceil_dtype_info(d->types.acc)->name);
	p = ceil_alloc(1, sizeof(*p), err);
	if (!p)
		return CEIL_E_NOMEM;
	p->desc = *d;
	p->compute = compute;
	p->one = one_of(compute->scale);
	st = fill_plan(p, err);
	if (st != CEIL_OK) {
		ceil_lt_plan_close(p);
		return st;
	}
	*ret_candidates = p->count;
	*ret_plan = p;
	return CEIL_OK;
}

/* A failure to destroy leaves nothing to do: the results that the plan gave stand. */
void ceil_lt_plan_close(struct ceil_lt_plan *plan)
{
	if (!plan)
		return;
	if (plan->d)
		(void)plan->api.layout_destroy(plan->d);
	if (plan->b)
		(void)plan->api.layout_destroy(plan->b);
	if (plan->a)
		(void)plan->api.layout_destroy(plan->a);
	if (plan->op)
		(void)plan->api.desc_destroy(plan->op);
	if (plan->handle)
		(void)plan->api.destroy(plan->handle);
	ceil_dynlib_close(&plan->lib);
	free(plan);
}

enum ceil_status ceil_lt_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct ceil_lt_plan *p = l->state;
	const struct ceil_lt_algorithm *x = &p->algorithm[l->candidate];

	return ceil_lt_told(p,
	                    p->api.matmul(p->handle, p->op, &p->one, l->buf[0], p->a, l->buf[1],
	                                  p->b, &p->zero, l->buf[2], p->d, l->buf[2], p->d,
	                                  &x->algo, l->buf[3], x->workspace_bytes, l->stream[0]),
	                    "cublasLtMatmul", err);
}

/* ---- description */

void ceil_lt_plan_describe(const struct ceil_lt_plan *plan, uint32_t candidate, char *ret_text,
                           size_t size)
{
	const struct ceil_lt_algorithm *x = &plan->algorithm[candidate];

	ceil_copy(ret_text, size, "");
	ceil_lt_words_write(plan, &x->algo, ret_text, size);
	ceil_append(ret_text, size, "%sworkspace=%zu", *ret_text ? " " : "", x->workspace_bytes);
	if (x->impl)
		ceil_append(ret_text, size, " impl=0x%llx", (unsigned long long)x->impl);
}

#else

static enum ceil_status not_built(struct ceil_error *err)
{
	return ceil_fail(err, CEIL_E_UNSUPPORTED,
	                 "this build has no cuBLASLt: install the CUDA toolkit with cublasLt.h and "
	                 "build again");
}

enum ceil_status ceil_lt_plan_open(const struct ceil_lt_desc *d, struct ceil_lt_plan **ret_plan,
                                   uint32_t *ret_candidates, struct ceil_error *err)
{
	(void)d;
	(void)ret_plan;
	(void)ret_candidates;
	return not_built(err);
}

void ceil_lt_plan_close(struct ceil_lt_plan *plan)
{
	(void)plan; /* there can be none */
}

enum ceil_status ceil_lt_launch(const struct ceil_launch *l, struct ceil_error *err)
{
	(void)l;
	return not_built(err);
}

void ceil_lt_plan_describe(const struct ceil_lt_plan *plan, uint32_t candidate, char *ret_text,
                           size_t size)
{
	(void)plan;
	(void)candidate;
	ceil_copy(ret_text, size, "");
}

#endif
