/* The one list of telemetry sources, and the columns that they make. */
#include "harness/telemetry/source.h"

#include <assert.h>
#include <string.h>

const struct ceil_source *const ceil_sources[] = {
	&ceil_nvml_source, &ceil_nvml_more_source, &ceil_gpm_source, &ceil_pm_source, NULL,
};

#define ROW(member, unit, doc) CEIL_FIELD(struct ceil_telemetry_row, member, unit, 1, doc)

static const struct ceil_field common[] = {
	ROW(seconds, "s", "since the sampler began, a moment after run.json's started"),
	ROW(device, "", "as in ceilings.csv"),
	ROW(ceiling, "", "what was measured on it then; empty: nothing"),
};
enum { COMMON = sizeof(common) / sizeof(common[0]) };

void ceil_telemetry_table_init(struct ceil_telemetry_table *t)
{
	size_t count = COMMON, value = 0;

	memcpy(t->fields, common, sizeof(common));
	for (size_t s = 0; ceil_sources[s]; s++) {
		for (size_t i = 0; i < ceil_sources[s]->value_count; i++, value++, count++) {
			const struct ceil_source_value *v = &ceil_sources[s]->values[i];

			assert(value < CEIL_SOURCE_VALUES);
			t->fields[count] = (struct ceil_field){
				.name = v->name,
				.unit = v->unit,
				.doc = v->doc,
				.type = CEIL_F_DOUBLE,
				.offset = offsetof(struct ceil_telemetry_row, value) +
			                  value * sizeof(double),
				.size = sizeof(double),
				.since = 1,
			};
		}
	}
	t->table = (struct ceil_table){
		.name = "telemetry.csv",
		.doc = "one row a GPU and tick of the sampler, ten a second",
		.fields = t->fields,
		.field_count = count,
		.row_bytes = sizeof(struct ceil_telemetry_row),
	};
}

int ceil_source_value_index(const char *name)
{
	int index = 0;

	for (size_t s = 0; ceil_sources[s]; s++) {
		for (size_t i = 0; i < ceil_sources[s]->value_count; i++, index++) {
			if (strcmp(ceil_sources[s]->values[i].name, name) == 0)
				return index;
		}
	}
	return -1;
}
