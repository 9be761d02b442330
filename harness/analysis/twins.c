/* Silent corruption: one algorithm on the same data must write the same bits on every GPU. */
#include "harness/analysis/twins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/text.h"

struct ceil_twin {
	char device[16], gpu_name[96], variant[48], cas[64], pattern[12], algorithm[192], hash[20];
};

static bool same_work(const struct ceil_twin *t, const struct ceil_record *r)
{
	return strcmp(t->cas, r->cas) == 0 && strcmp(t->variant, r->variant) == 0 &&
	       strcmp(t->algorithm, r->algorithm) == 0 && strcmp(t->pattern, r->pattern) == 0 &&
	       strcmp(t->gpu_name, r->gpu_name) == 0;
}

static enum ceil_status remember(struct ceil_twins *t, const struct ceil_record *r,
                                 struct ceil_error *err)
{
	void *v = t->v;
	const enum ceil_status st = ceil_grow(&v, &t->cap, t->count + 1, sizeof(*t->v), err);

	if (st != CEIL_OK)
		return st;
	t->v = v;
	struct ceil_twin *new = &t->v[t->count++];

	*new = (struct ceil_twin){{0}, {0}, {0}, {0}, {0}, {0}, {0}};
	ceil_copy(new->device, sizeof(new->device), r->device);
	ceil_copy(new->gpu_name, sizeof(new->gpu_name), r->gpu_name);
	ceil_copy(new->variant, sizeof(new->variant), r->variant);
	ceil_copy(new->cas, sizeof(new->cas), r->cas);
	ceil_copy(new->pattern, sizeof(new->pattern), r->pattern);
	ceil_copy(new->algorithm, sizeof(new->algorithm), r->algorithm);
	ceil_copy(new->hash, sizeof(new->hash), r->output_hash);
	return CEIL_OK;
}

/* Figures of wrong results mean nothing; what was measured how stays in the row. */
static void fail_row(struct ceil_record *r, const struct ceil_twin *first)
{
	(void)snprintf(r->reason, sizeof(r->reason),
	               "%s wrote other bits (hash %s) than %s before (%s) with the same algorithm "
	               "on the same data: silent corruption",
	               r->device, r->output_hash, first->device, first->hash);
	ceil_copy(r->status, sizeof(r->status), ceil_row_status_name(CEIL_ROW_FAILED));
	r->value = (double)NAN;
	r->of_theoretical = (double)NAN;
	r->of_clock = (double)NAN;
	r->j_per_tflop = (double)NAN;
	r->first_value = (double)NAN;
}

enum ceil_status ceil_twins_judge(struct ceil_twins *t, struct ceil_record *r,
                                  struct ceil_error *err)
{
	if (!r->output_hash[0])
		return CEIL_OK;
	for (size_t i = 0; i < t->count; i++) {
		if (!same_work(&t->v[i], r))
			continue;
		if (strcmp(t->v[i].hash, r->output_hash) != 0)
			fail_row(r, &t->v[i]);
		return CEIL_OK;
	}
	return remember(t, r, err);
}

void ceil_twins_done(struct ceil_twins *t)
{
	free(t->v);
	*t = (struct ceil_twins){NULL, 0, 0};
}
