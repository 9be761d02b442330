/* Shapes of the user's: --shape M,N,K and --shapes FILE.csv, checked before anything is measured.
 */
#include "harness/cli/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "harness/base/alloc.h"
#include "harness/output/csv.h"

#define SHAPE(member, doc) CEIL_FIELD(struct ceil_shape_row, member, "", 1, doc)

static const struct ceil_field fields[] = {
	SHAPE(m, "rows of C: outputs of a linear layer"),
	SHAPE(n, "columns of C: its tokens"),
	SHAPE(k, "length of each dot product: its inputs"),
	SHAPE(dtype, "bf16, fp16, e4m3_fast ...: a ceiling without its 'gemm.'"),
	SHAPE(count, "how often a step has it; empty: once"),
	SHAPE(layout, "TN, NN, NT or TT: how A and B are stored, column-major; empty: TN"),
};

const struct ceil_table ceil_table_shapes = {
	.name = "shapes.csv",
	.doc = "read by bench gemm --shapes: one row a product whose ceiling is asked for",
	.fields = fields,
	.field_count = sizeof(fields) / sizeof(fields[0]),
	.row_bytes = sizeof(struct ceil_shape_row),
};

/* The bench that multiplies matrices: shapes are its cases. */
static const struct ceil_bench *gemm(void)
{
	return ceil_bench_find("gemm");
}

static void set_axis(struct ceil_case *c, const char *name, uint64_t value)
{
	for (size_t i = 0; i < gemm()->axis_count; i++) {
		if (strcmp(gemm()->axes[i].name, name) == 0)
			c->axis[i] = value;
	}
}

/* "bf16" of "gemm.bf16" and of "host.gemm.bf16". */
static const char *kind_of(const struct ceil_variant *v)
{
	const char *dot = strrchr(v->ceiling, '.');

	return dot ? dot + 1 : v->ceiling;
}

/* The kind as the bench spells it, for as long as the program runs. */
static enum ceil_status find_kind(const char *dtype, const char **ret_kind, struct ceil_error *err)
{
	const struct ceil_bench *b = gemm();
	const char *names[64] = {NULL};
	const char *near;
	size_t n = 0;

	for (size_t i = 0; i < b->variant_count && n + 1 < sizeof(names) / sizeof(names[0]); i++) {
		names[n++] = kind_of(&b->variants[i]);
		if (strcmp(names[n - 1], dtype) != 0)
			continue;
		*ret_kind = names[n - 1];
		return CEIL_OK;
	}
	near = ceil_suggest(dtype, names);
	return ceil_fail(err, CEIL_E_USAGE, "column dtype: unknown type '%.40s'%s%s%s", dtype,
	                 near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Whether any variant takes the shape, on a device of unknown size. */
static enum ceil_status try_shape(const struct ceil_own_case *own, struct ceil_error *err)
{
	const struct ceil_device_props unknown = {.numa_node = -1};
	const struct ceil_bench *b = gemm();
	struct ceil_error first = {CEIL_OK, ""};

	for (size_t i = 0; i < b->variant_count; i++) {
		const struct ceil_variant *v = &b->variants[i];
		const struct ceil_point p = {
			.bench = b, .variant = v, .cas = &own->cas, .apart = true};
		struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
		struct ceil_error own_err = {CEIL_OK, ""};
		struct ceil_launch l = {0};

		if ((own->kind && strcmp(kind_of(v), own->kind) != 0) || !b->applies(&p, &unknown))
			continue;
		if (b->shape(&p, &unknown, &l, buf, &own_err) == CEIL_OK)
			return CEIL_OK;
		if (first.status == CEIL_OK)
			first = own_err;
	}
	if (first.status == CEIL_OK)
		return ceil_fail(err, CEIL_E_USAGE, "%s is for more than one product",
		                 own->kind ? own->kind : "this");
	return ceil_fail(err, CEIL_E_USAGE, "%s", first.text);
}

/* The names are inside of what may have moved. */
static void name_all(struct ceil_shapes *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->v[i].cas.name = s->v[i].name;
}

static struct ceil_own_case *find(struct ceil_shapes *s, const struct ceil_own_case *own)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->v[i].kind == own->kind &&
		    memcmp(s->v[i].cas.axis, own->cas.axis, sizeof(own->cas.axis)) == 0)
			return &s->v[i];
	}
	return NULL;
}

/* As the bench's axis counts them. Other layouts than the first are part of a shape's name. */
static const char *const layouts[] = {"TN", "NN", "NT", "TT", NULL};
static const char *const suffixes[] = {"", ".nn", ".nt", ".tt"};

static enum ceil_status find_layout(const char *name, uint64_t *ret_layout, struct ceil_error *err)
{
	for (uint64_t i = 0; layouts[i]; i++) {
		if (name[0] && strcasecmp(layouts[i], name) != 0)
			continue;
		*ret_layout = i;
		return CEIL_OK;
	}
	return ceil_fail(err, CEIL_E_USAGE, "column layout: '%.8s' is none of TN, NN, NT, TT",
	                 name);
}

static enum ceil_status add(struct ceil_shapes *s, const uint64_t mnk[3], uint64_t layout,
                            const char *kind, uint64_t count, struct ceil_error *err)
{
	struct ceil_own_case own = {.kind = kind, .count = count};
	struct ceil_own_case *same;
	void *v = s->v;
	enum ceil_status st;

	set_axis(&own.cas, "m", mnk[0]);
	set_axis(&own.cas, "n", mnk[1]);
	set_axis(&own.cas, "k", mnk[2]);
	set_axis(&own.cas, "layout", layout);
	set_axis(&own.cas, "products", 1);
	snprintf(own.name, sizeof(own.name), "%llux%llux%llu%s", (unsigned long long)mnk[0],
	         (unsigned long long)mnk[1], (unsigned long long)mnk[2], suffixes[layout]);
	own.cas.name = own.name;
	st = try_shape(&own, err);
	if (st != CEIL_OK)
		return st;
	same = find(s, &own);
	if (same) {
		same->count += count;
		return CEIL_OK;
	}
	st = ceil_grow(&v, &s->cap, s->count + 1, sizeof(*s->v), err);
	if (st != CEIL_OK)
		return st;
	s->v = v;
	s->v[s->count++] = own;
	name_all(s);
	return CEIL_OK;
}

enum ceil_status ceil_shapes_parse(struct ceil_shapes *s, const char *text, struct ceil_error *err)
{
	static const char *const names[] = {"M", "N", "K"};
	struct ceil_list parts = {0};
	uint64_t mnk[3];
	enum ceil_status st = ceil_list_add(&parts, text, err);

	if (st == CEIL_OK && parts.count != 3)
		st = ceil_fail(err, CEIL_E_USAGE, "%zu numbers and not three", parts.count);
	for (size_t i = 0; i < 3 && st == CEIL_OK; i++) {
		st = ceil_parse_u64(parts.item[i], &mnk[i], err);
		if (st == CEIL_OK && mnk[i] == 0)
			st = ceil_fail(err, CEIL_E_USAGE, "it is 0");
		if (st != CEIL_OK && err)
			(void)ceil_context(err, "%s", names[i]);
	}
	if (st == CEIL_OK)
		st = add(s, mnk, /* layout= */ 0, /* kind= */ NULL, /* count= */ 1, err);
	else if (err)
		(void)ceil_context(err, "M,N,K are whole numbers from 1");
	if (st != CEIL_OK && err)
		(void)ceil_context(err, "--shape %.60s", text);
	return st;
}

/* ---- files */

static enum ceil_status check_numbers(const struct ceil_shape_row *r, struct ceil_error *err)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"m", r->m}, {"n", r->n}, {"k", r->k}, {"count", r->count}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const bool empty = numbers[i].value == CEIL_ABSENT_U64;

		if (empty && i < 3)
			return ceil_fail(err, CEIL_E_USAGE, "column %s: it is empty",
			                 numbers[i].name);
		if (numbers[i].value == 0)
			return ceil_fail(err, CEIL_E_USAGE, "column %s: it is 0, and starts at 1",
			                 numbers[i].name);
	}
	return CEIL_OK;
}

struct reading {
	struct ceil_shapes *shapes;
	const char *path;
};

static enum ceil_status take_row(void *user, const void *row, size_t line, struct ceil_error *err)
{
	const struct reading *reading = user;
	const struct ceil_shape_row *r = row;
	const uint64_t mnk[3] = {r->m, r->n, r->k};
	const char *kind = NULL;
	uint64_t layout = 0;
	enum ceil_status st = check_numbers(r, err);

	if (st == CEIL_OK)
		st = find_kind(r->dtype, &kind, err);
	if (st == CEIL_OK)
		st = find_layout(r->layout, &layout, err);
	if (st == CEIL_OK)
		st = add(reading->shapes, mnk, layout, kind,
		         r->count == CEIL_ABSENT_U64 ? 1 : r->count, err);
	if (st == CEIL_E_USAGE && err)
		(void)ceil_context(err, "%.100s:%zu", reading->path, line);
	return st;
}

enum ceil_status ceil_shapes_read(struct ceil_shapes *s, const char *path, struct ceil_error *err)
{
	static const char *const required[] = {"m", "n", "k", "dtype", NULL};
	const struct ceil_csv_rules rules = {.required = required};
	struct reading reading = {s, path};
	const enum ceil_status st =
		ceil_csv_read(path, &ceil_table_shapes, &rules, take_row, &reading, err);

	if (st == CEIL_OK && s->count == 0)
		return ceil_fail(err, CEIL_E_USAGE, "%.100s: no shapes in it", path);
	return st;
}

uint64_t ceil_shapes_count(const struct ceil_shapes *s, const struct ceil_point *p)
{
	for (size_t i = 0; i < s->count; i++) {
		if (p->cas == &s->v[i].cas)
			return s->v[i].count;
	}
	return 0;
}

enum ceil_status ceil_shapes_size(struct ceil_shapes *s, const char *text, struct ceil_error *err)
{
	static const struct {
		const char *suffix;
		unsigned shift;
	} units[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
	/* Quick: whoever asks for a size wants it measured, whatever the budget. */
	struct ceil_own_case own = {.cas = {.quick = true}, .count = 1};
	const size_t digits = strspn(text, "0123456789");
	char number[24] = "";
	uint64_t value = 0;
	enum ceil_status st;
	void *v = s->v;
	size_t u = 0;

	ceil_copy(number, digits < sizeof(number) ? digits + 1 : sizeof(number), text);
	while (u < sizeof(units) / sizeof(units[0]) && strcmp(text + digits, units[u].suffix) != 0)
		u++;
	if (u == sizeof(units) / sizeof(units[0]) || digits >= sizeof(number) ||
	    ceil_parse_u64(number, &value, /* err= */ NULL) != CEIL_OK || value == 0 ||
	    value > UINT64_MAX >> 20 >> units[u].shift)
		return ceil_fail(
			err, CEIL_E_USAGE,
			"--size %.40s: a whole number of bytes, or with KiB, MiB, GiB behind",
			text);
	own.cas.axis[0] = value << units[u].shift;
	if (find(s, &own))
		return CEIL_OK;
	st = ceil_grow(&v, &s->cap, s->count + 1, sizeof(*s->v), err);
	if (st != CEIL_OK)
		return st;
	s->v = v;
	ceil_copy(own.name, sizeof(own.name), text);
	s->v[s->count++] = own;
	name_all(s);
	return CEIL_OK;
}

void ceil_shapes_done(struct ceil_shapes *s)
{
	free(s->v);
	*s = (struct ceil_shapes){NULL, 0, 0};
}
