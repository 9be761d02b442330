/* The CSV files of gpuceil, for the list of columns and for the manual page. */
#include "harness/cli/csv_tables.h"

#include "harness/analysis/mfu.h"
#include "harness/analysis/record.h"
#include "harness/analysis/usage.h"
#include "harness/cli/shapes.h"

#include <assert.h>
#include <string.h>

void ceil_csv_tables_init(struct ceil_csv_tables *t)
{
	ceil_telemetry_table_init(&t->telemetry);
	const struct ceil_table *const files[] = {
		&ceil_table_ceilings,     &ceil_table_mfu,     &ceil_table_records,
		&ceil_table_samples,      &t->telemetry.table, &ceil_usage_table,
		&ceil_usage_series_table, &ceil_table_shapes,  NULL,
	};

	static_assert(sizeof(files) == sizeof(t->of), "every file has its place");
	memcpy(t->of, files, sizeof(files));
}
