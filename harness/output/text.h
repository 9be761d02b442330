/* The aligned table at the end of a run, and colours. */
#ifndef CEIL_OUTPUT_TEXT_H
#define CEIL_OUTPUT_TEXT_H

#include "harness/analysis/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ceil_text_style {
	bool colour;
	/* For tables: of the terminal, from 40, which the narrowest needs, to 112, which holds
	   every column; 112 where there is no terminal or it does not tell. */
	int columns;
	int window; /* for lines that are drawn over: the same, but as narrow as it is */
};

/* ceil_text_style_of - colours only on a terminal, never with NO_COLOR set or TERM=dumb. */
void ceil_text_style_of(FILE *f, struct ceil_text_style *ret_style);

/*
 * ceil_text_ceilings - ceiling, value, unit, theoretical, ratio, clock, what limits it, status;
 * a heading per device, in the order in which they come. The reason of a row that is not ok stands
 * under it; rows without a value follow the table, those of one reason in one line. Narrow
 * terminals lose the clock, then the theoretical figure. Where several GPUs were measured, a table
 * of the slowest of each ceiling follows.
 * @r: of the columns of ceilings.csv; theoretical_clock_mhz and driver go into the heading.
 * @fold_host: host rows become one line a device, since a GPU was measured.
 */
void ceil_text_ceilings(FILE *f, const struct ceil_text_style *style, const struct ceil_record *r,
                        size_t count, bool fold_host);

/* ceil_text_number - three to five significant digits, as a table wants them: 4697, 835.2, 51.48;
 * "" for NAN. */
void ceil_text_number(char *ret_text, size_t size, double value);

#endif
