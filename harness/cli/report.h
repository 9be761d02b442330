/* Aligned lines of a report, each with a mark: what is well, worth a note, skipped or broken. */
#ifndef CEIL_REPORT_H
#define CEIL_REPORT_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stdio.h>

enum ceil_mark { CEIL_MARK_NONE, CEIL_MARK_OK, CEIL_MARK_NOTE, CEIL_MARK_SKIP, CEIL_MARK_BAD };

struct ceil_report {
	FILE *f;
	bool colour;
	int bad_count; /* lines marked bad so far */
};

/* ceil_report_title - a heading, with a blank line before it. */
void ceil_report_title(struct ceil_report *r, const char *title);

/*
 * ceil_report_line - mark, name and text, the text wrapped below itself at 100 columns.
 * @name: at most 10 characters; "" continues the line above.
 */
void ceil_report_line(struct ceil_report *r, enum ceil_mark mark, const char *name,
                      const char *format, ...) CEIL_PRINTF(4, 5);

#endif
