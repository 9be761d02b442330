/* What ceilings say of one another: products against the tensor cores' issue, ridge points. */
#ifndef CEIL_ROOFS_H
#define CEIL_ROOFS_H

#include "harness/analysis/record.h"

#include <stddef.h>

/*
 * ceil_roofs_issue - the rate of a gemm row over that of the tensor cores on the same data type,
 * each at the clock that it held: what a library makes of what the hardware can issue.
 * @r: gemm.<type>.<regime>; a type's _fast and _cublas variants are held against the type.
 * @ceilings: rows of the run so far, of any device and rank.
 * Return: the ratio; NAN for other rows, without a tensor row of the same device and regime, where
 * a clock is unknown, or where the tensor row's instruction does not fill the tensor cores.
 */
double ceil_roofs_issue(const struct ceil_record *r, const struct ceil_record *ceilings,
                        size_t count);

/* The most rows that ceil_roofs_ridges writes for one device. */
enum { CEIL_ROOFS_RIDGES = 8 };

/*
 * ceil_roofs_ridges - the intensities, in FLOP/B, at which a roof of memory meets one of a pipe:
 * below it a kernel is bound by that memory, above it by the pipe.
 * @first: any row of the device and rank that is meant; may be one of ceilings.
 * @ret_rows: CEIL_ROOFS_RIDGES of them. theoretical is the ridge of both theoretical peaks.
 * Return: how many were written: those whose two ceilings have values.
 * Source: Williams, Waterman, Patterson, Roofline, CACM 52 (2009).
 */
size_t ceil_roofs_ridges(const struct ceil_record *first, const struct ceil_record *ceilings,
                         size_t count, struct ceil_record *ret_rows);

#endif
