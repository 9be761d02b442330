/* The slowest GPU of each ceiling, where several were measured. */
#include "harness/output/slowest.h"

#include <math.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/base/types.h"
#include "harness/output/grid.h"

enum { INDENT = 2 };

static bool counts(const struct ceil_record *r)
{
	return strncmp(r->device, "gpu", 3) == 0 && !isnan(r->value) && r->value > 0.0;
}

static bool slower(const struct ceil_record *a, const struct ceil_record *b)
{
	return strcmp(a->better, "lower") == 0 ? a->value > b->value : a->value < b->value;
}

/* Middle of n values; sorts them. */
static double median_of(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const double x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2.0;
}

static void gather(const struct ceil_record *r, size_t count, size_t first,
                   struct ceil_slowest *ret_s)
{
	struct ceil_slowest s = {.slowest = &r[first]};
	double v[CEIL_MAX_DEVICES];

	for (size_t i = first; i < count && s.gpus < CEIL_MAX_DEVICES; i++) {
		if (!counts(&r[i]) || strcmp(r[i].ceiling, r[first].ceiling) != 0)
			continue;
		v[s.gpus++] = r[i].value;
		if (slower(&r[i], s.slowest))
			s.slowest = &r[i];
	}
	s.median = median_of(v, s.gpus);
	s.behind = strcmp(s.slowest->better, "lower") == 0 ? 1.0 - s.median / s.slowest->value
	                                                   : 1.0 - s.slowest->value / s.median;
	*ret_s = s;
}

static bool seen_before(const struct ceil_record *r, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (counts(&r[k]) && strcmp(r[k].ceiling, r[i].ceiling) == 0)
			return true;
	}
	return false;
}

bool ceil_slowest_next(const struct ceil_record *r, size_t count, size_t *at,
                       struct ceil_slowest *ret_s)
{
	for (size_t i = *at; i < count; i++) {
		struct ceil_slowest s;

		if (!counts(&r[i]) || seen_before(r, i))
			continue;
		gather(r, count, i, &s);
		if (s.gpus < 2)
			continue;
		*at = i + 1;
		*ret_s = s;
		return true;
	}
	return false;
}

/* ---- the table */

struct view {
	const struct ceil_record *r;
	size_t count;
};

static struct ceil_slowest nth(const struct view *v, size_t n)
{
	struct ceil_slowest s = {0};
	size_t at = 0;

	for (size_t i = 0; i <= n && ceil_slowest_next(v->r, v->count, &at, &s); i++)
		;
	return s;
}

enum column { CEILING, SLOWEST, UNIT, DEVICE, MEDIAN, BEHIND, COLUMN_COUNT };

static const struct ceil_grid_column columns[COLUMN_COUNT] = {
	[CEILING] = {.title = "ceiling"},
	[SLOWEST] = {.title = "slowest", .right = true},
	[UNIT] = {.title = "unit"},
	[DEVICE] = {.title = "on"},
	[MEDIAN] = {.title = "median", .right = true},
	[BEHIND] = {.title = "behind it", .right = true},
};

static void cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_slowest s = nth(user, row);

	ceil_copy(ret_text, size, "");
	switch ((enum column)column) {
	case CEILING:
		ceil_copy(ret_text, size, s.slowest->ceiling);
		break;
	case SLOWEST:
		ceil_text_number(ret_text, size, s.slowest->value);
		break;
	case UNIT:
		ceil_copy(ret_text, size, s.slowest->unit);
		break;
	case DEVICE:
		ceil_copy(ret_text, size, s.slowest->device);
		break;
	case MEDIAN:
		ceil_text_number(ret_text, size, s.median);
		break;
	default:
		ceil_append(ret_text, size, "%.1f %%", 100.0 * s.behind);
	}
}

void ceil_text_slowest(FILE *f, const struct ceil_text_style *style, const struct ceil_record *r,
                       size_t count)
{
	const struct view v = {r, count};
	struct ceil_grid g = {.columns = columns,
	                      .column_count = COLUMN_COUNT,
	                      .cell = cell,
	                      .user = &v,
	                      .indent = INDENT,
	                      .limit = style->columns};
	struct ceil_slowest s;
	size_t at = 0, most = 0;

	while (ceil_slowest_next(r, count, &at, &s)) {
		g.row_count++;
		most = s.gpus > most ? s.gpus : most;
	}
	if (g.row_count == 0)
		return;
	fprintf(f, "\nslowest of %zu GPUs\n", most);
	ceil_grid_print(f, &g);
}
