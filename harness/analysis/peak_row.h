/* Rows for peaks on which a device's attributes and its datasheet do not agree. Pure. */
#ifndef CEIL_PEAK_ROW_H
#define CEIL_PEAK_ROW_H

#include "harness/analysis/record.h"
#include "harness/measure/plan.h"

#include <stddef.h>

/* Attribute-derived and published figures that are further apart get a row of their own. */
#define CEIL_PEAKS_APART 0.03

/* Room that is always enough: every type on both pipes, two ways to add, and memory. */
enum { CEIL_PEAK_ROWS = 32 };

/*
 * ceil_peak_rows - what a plan measures on a GPU against peaks that are more than
 * CEIL_PEAKS_APART from the published ones: "peak.tensor.bf16", "peak.fma.fp32", "peak.dram".
 * Nothing of such a row is measured: value is rate x SMs x maximum clock, or 2 x memory clock x bus
 * width / 8; datasheet is the published figure with the clock that it implies; the status is ok,
 * and note says why they differ, as far as the attributes tell.
 * @ret_rows: room for CEIL_PEAK_ROWS. Return: how many, each name once.
 */
size_t ceil_peak_rows(const struct ceil_plan *plan, const struct ceil_device_props *d,
                      struct ceil_record *ret_rows);

#endif
