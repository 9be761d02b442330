/* The check of the gemm bench: the whole product by Freivalds' method, exact in whole numbers. */
#include "bench/gemm.h"

#include <stdlib.h>

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"

/* The strides say how op(M) stands in memory; column-major without gaps. */
static struct ceil_matrix operand(const void *ptr, enum ceil_dtype t, uint64_t rows, uint64_t cols,
                                  bool transposed)
{
	return (struct ceil_matrix){
		.ptr = ptr,
		.dtype = t,
		.rows = rows,
		.cols = cols,
		.row_stride = transposed ? cols : 1,
		.col_stride = transposed ? 1 : rows,
	};
}

static const void *at(const void *buf, enum ceil_dtype t, uint64_t elements)
{
	return (const char *)buf + ceil_dtype_bytes(t, elements);
}

void ceil_gemm_operands(const struct ceil_point *p, const struct ceil_launch *l, uint64_t i,
                        struct ceil_matrix ret_matrix[3])
{
	const struct ceil_types *t = &p->variant->types;
	const void *a = at(l->buf[CEIL_GEMM_A], t->a, i * l->m * l->k);
	struct ceil_gemm_part part;
	const uint64_t layout = p->cas->axis[CEIL_GEMM_LAYOUT];
	const bool trans_a = layout == CEIL_GEMM_TN || layout == CEIL_GEMM_TT;
	const bool trans_b = layout == CEIL_GEMM_NT || layout == CEIL_GEMM_TT;

	ceil_gemm_part_of(p, i, &part);
	ret_matrix[0] = operand(a, t->a, l->m, l->k, trans_a);
	ret_matrix[1] = operand(at(l->buf[CEIL_GEMM_B], t->b, part.first * l->k), t->b, l->k,
	                        part.n, trans_b);
	ret_matrix[2] = operand(at(l->buf[CEIL_GEMM_C], t->out, part.first * l->m), t->out, l->m,
	                        part.n, false);
}

/* Host vectors: x (n, all columns), u = op(B) x (k), v = op(A) u (m), w = C x (m). */
struct vectors {
	int64_t *x, *u, *v, *w;
};

static enum ceil_status open_vectors(const struct ceil_launch *l, uint64_t columns,
                                     struct vectors *ret_v, struct ceil_error *err)
{
	int64_t *x = ceil_alloc(columns + l->k + 2 * l->m, sizeof(*x), err);

	if (!x)
		return CEIL_E_NOMEM;
	*ret_v = (struct vectors){x, x + columns, x + columns + l->k, x + columns + l->k + l->m};
	return CEIL_OK;
}

/* Odd numbers of [-511, 511]: none is 0, and the signs differ. */
static void draw(int64_t *x, uint64_t n, uint64_t seed, uint32_t round)
{
	for (uint64_t i = 0; i < n; i++)
		x[i] = 2 * (int64_t)(ceil_bits(seed, CEIL_MAX_BUFS + round, i) >> 55) - 511;
}

/* project() marks a row that holds other than whole numbers: such rows would agree with anything.
 */
static enum ceil_status check_whole(const int64_t *rows, uint64_t count, const char *matrix,
                                    const char *type, struct ceil_error *err)
{
	for (uint64_t r = 0; r < count; r++) {
		if (rows[r] == INT64_MIN)
			return ceil_fail(err, CEIL_E_WRONG,
			                 "row %llu of %s (%s) holds other than whole numbers",
			                 (unsigned long long)r, matrix, type);
	}
	return CEIL_OK;
}

static enum ceil_status compare(const struct ceil_point *p, const struct ceil_launch *l,
                                const struct vectors *h, struct ceil_error *err)
{
	const char *type = ceil_dtype_info(p->variant->types.a)->name;
	enum ceil_status st;

	st = check_whole(h->u, l->k, "B", ceil_dtype_info(p->variant->types.b)->name, err);
	if (st == CEIL_OK)
		st = check_whole(h->v, l->m, "A", type, err);
	for (uint64_t r = 0; r < l->m && st == CEIL_OK; r++) {
		if (h->w[r] == h->v[r])
			continue;
		if (h->w[r] == INT64_MIN)
			st = ceil_fail(err, CEIL_E_WRONG,
			               "row %llu of C (%s %s): an element was never written or is "
			               "no whole number",
			               (unsigned long long)r, type, p->cas->name);
		else
			st = ceil_fail(err, CEIL_E_WRONG,
			               "row %llu of C (%s %s) times a test vector is %lld, "
			               "expected %lld",
			               (unsigned long long)r, type, p->cas->name,
			               (long long)h->w[r], (long long)h->v[r]);
	}
	return st;
}

static enum ceil_status project_all(struct ceil_device *dev, const struct ceil_matrix matrix[3],
                                    const int64_t *x, const struct vectors *h,
                                    struct ceil_error *err)
{
	const struct ceil_backend *b = dev->backend;
	enum ceil_status st;

	st = b->project(dev, &matrix[1], x, h->u, err);
	if (st == CEIL_OK)
		st = b->project(dev, &matrix[0], h->u, h->v, err);
	if (st == CEIL_OK)
		st = b->project(dev, &matrix[2], x, h->w, err);
	return st;
}

static enum ceil_status check_round(const struct ceil_point *p, struct ceil_device *dev,
                                    const struct ceil_launch *l, const struct vectors *h,
                                    struct ceil_error *err)
{
	const uint64_t products = ceil_gemm_products(p);
	enum ceil_status st = CEIL_OK;

	for (uint64_t i = 0; i < products && st == CEIL_OK; i++) {
		struct ceil_matrix matrix[3];
		struct ceil_gemm_part part;

		ceil_gemm_part_of(p, i, &part);
		ceil_gemm_operands(p, l, i, matrix);
		st = project_all(dev, matrix, h->x + part.first, h, err);
		if (st == CEIL_OK)
			st = compare(p, l, h, err);
		if (st != CEIL_OK && err && products > 1)
			(void)ceil_context(err, "product %llu", (unsigned long long)i);
	}
	return st;
}

enum ceil_status ceil_gemm_check(const struct ceil_point *p, struct ceil_device *dev,
                                 const struct ceil_launch *l,
                                 const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                 struct ceil_error *err)
{
	enum { ROUNDS = 2 };
	struct ceil_gemm_part all;
	struct vectors h;
	enum ceil_status st;

	(void)buf; /* the point and the launch say it all */
	ceil_gemm_part_of(p, ceil_gemm_products(p), &all);
	st = open_vectors(l, all.first, &h, err);
	if (st != CEIL_OK)
		return st;
	for (uint32_t round = 0; round < ROUNDS && st == CEIL_OK; round++) {
		draw(h.x, all.first, seed, round);
		st = check_round(p, dev, l, &h, err);
	}
	free(h.x);
	return st;
}
