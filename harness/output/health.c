/* Health of the GPUs over a run, for people and for run.json. */
#include "harness/output/health.h"

#include <math.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/output/grid.h"

enum { INDENT = 2 };

static double value_of(const struct ceil_nvml_health *h, const struct ceil_health_counter *c)
{
	double value;

	memcpy(&value, (const char *)h + c->offset, sizeof(value));
	return value;
}

/* ---- which counters could be read */

/* Whether any counter of a group was read at both ends, of any GPU. */
static bool group_read(const struct ceil_health *h, const char *group)
{
	for (size_t i = 0; i < ceil_health_counter_count; i++) {
		const struct ceil_health_counter *c = &ceil_health_counters[i];

		for (size_t k = 0; strcmp(c->group, group) == 0 && k < h->gpu_count; k++) {
			if (!isnan(value_of(&h->gpu[k].before, c)) &&
			    !isnan(value_of(&h->gpu[k].after, c)))
				return true;
		}
	}
	return false;
}

/* The groups that were read, or those that were not: "ECC, row remaps, Xid". */
static void groups_text(const struct ceil_health *h, bool were_read, char *ret_text, size_t size)
{
	const bool xid_read = h->xid_source != NULL;
	const char *before = "";

	ceil_copy(ret_text, size, "");
	for (size_t i = 0; i < ceil_health_counter_count; i++) {
		const char *group = ceil_health_counters[i].group;

		if (strcmp(group, before) != 0 && group_read(h, group) == were_read)
			ceil_append(ret_text, size, "%s%s", *ret_text ? ", " : "", group);
		before = group;
	}
	if (xid_read == were_read)
		ceil_append(ret_text, size, "%sXid", *ret_text ? ", " : "");
	if (!were_read && !xid_read)
		ceil_append(ret_text, size, " (%s)", h->xid_reason);
}

/* ---- for people */

enum column { DEVICE, WHAT, BEFORE, AFTER, VERDICT, COLUMN_COUNT };

static const struct ceil_grid_column columns[COLUMN_COUNT] = {
	[DEVICE] = {.title = "device"},
	[WHAT] = {.title = "what"},
	[BEFORE] = {.title = "before", .right = true},
	[AFTER] = {.title = "after", .right = true},
	[VERDICT] = {.title = "verdict"},
};

static void cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_health_finding *x = (const struct ceil_health_finding *)user + row;
	const double number = column == BEFORE ? x->before : x->after;

	ceil_copy(ret_text, size, "");
	if (column == DEVICE)
		ceil_copy(ret_text, size, x->device);
	else if (column == WHAT)
		ceil_copy(ret_text, size, x->what);
	else if (column == VERDICT)
		ceil_append(ret_text, size, "%s: %s",
		            x->grade == CEIL_HEALTH_SUSPECT ? "suspect" : "note", x->text);
	else if (!isnan(number))
		ceil_append(ret_text, size, "%.0f", number);
}

void ceil_text_health(FILE *f, const struct ceil_text_style *style, const struct ceil_health *h)
{
	const struct ceil_grid g = {.columns = columns,
	                            .column_count = COLUMN_COUNT,
	                            .row_count = h->finding_count,
	                            .cell = cell,
	                            .user = h->finding,
	                            .indent = INDENT,
	                            .limit = style->columns};
	char groups[320], text[800] = "health: ";

	if (h->gpu_count == 0)
		return;
	fputc('\n', f);
	if (ceil_health_bad(h)) {
		ceil_append(text, sizeof(text), "something grew");
	} else {
		groups_text(h, /* were_read= */ true, groups, sizeof(groups));
		ceil_append(text, sizeof(text), *groups ? "nothing grew (%s)" : "nothing is told",
		            groups);
	}
	groups_text(h, /* were_read= */ false, groups, sizeof(groups));
	if (*groups)
		ceil_append(text, sizeof(text), "; not readable here: %s", groups);
	ceil_print_wrapped(f, text, 0, INDENT, style->columns);
	fputc('\n', f);
	if (h->finding_count > 0)
		ceil_grid_print(f, &g);
}

/* ---- for run.json */

static json_t *number(double x)
{
	return isnan(x) ? json_null() : json_real(x);
}

static json_t *gpu_json(const struct ceil_health_gpu *g)
{
	const size_t kept = g->xid_count < CEIL_HEALTH_XIDS ? g->xid_count : CEIL_HEALTH_XIDS;
	json_t *o = json_object(), *xids = json_array();

	json_object_set_new(o, "device", json_string(g->device));
	for (size_t i = 0; i < ceil_health_counter_count; i++) {
		const struct ceil_health_counter *c = &ceil_health_counters[i];
		json_t *both = json_array();

		json_array_append_new(both, number(value_of(&g->before, c)));
		json_array_append_new(both, number(value_of(&g->after, c)));
		json_object_set_new(o, c->name, both);
	}
	for (size_t i = 0; i < kept; i++)
		json_array_append_new(xids, json_integer((json_int_t)g->xid[i]));
	json_object_set_new(o, "xid", xids);
	return o;
}

static json_t *finding_json(const struct ceil_health_finding *x)
{
	json_t *o = json_object();

	json_object_set_new(o, "device", json_string(x->device));
	json_object_set_new(o, "what", json_string(x->what));
	json_object_set_new(o, "before", number(x->before));
	json_object_set_new(o, "after", number(x->after));
	json_object_set_new(o, "status",
	                    json_string(x->grade == CEIL_HEALTH_SUSPECT ? "suspect" : "note"));
	json_object_set_new(o, "text", json_string(x->text));
	return o;
}

json_t *ceil_health_json(const struct ceil_health *h)
{
	json_t *o = json_object(), *gpus = json_array(), *findings = json_array();

	for (size_t i = 0; i < h->gpu_count; i++)
		json_array_append_new(gpus, gpu_json(&h->gpu[i]));
	for (size_t i = 0; i < h->finding_count; i++)
		json_array_append_new(findings, finding_json(&h->finding[i]));
	json_object_set_new(o, "xid_source",
	                    h->xid_source ? json_string(h->xid_source) : json_null());
	json_object_set_new(o, "xid_reason",
	                    h->xid_reason[0] ? json_string(h->xid_reason) : json_null());
	json_object_set_new(o, "before_and_after", gpus);
	json_object_set_new(o, "findings", findings);
	return o;
}
