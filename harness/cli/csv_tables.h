/* The CSV files of gpuceil, in the one order in which people are told of them. */
#ifndef CEIL_CSV_TABLES_H
#define CEIL_CSV_TABLES_H

#include "harness/telemetry/source.h"

struct ceil_csv_tables {
	struct ceil_telemetry_table telemetry; /* made when the program runs */
	/* NULL-terminated: what a run writes, what a demo writes, the shapes that a run reads. */
	const struct ceil_table *of[9];
};

/* ceil_csv_tables_init - t->of points into t, so t must not move. */
void ceil_csv_tables_init(struct ceil_csv_tables *t);

#endif
