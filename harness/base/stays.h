/* What kernels told of their blocks: for what share of the time a multiprocessor was in use. Pure.
 */
#ifndef CEIL_STAYS_H
#define CEIL_STAYS_H

#include "harness/base/types.h"

#include <stddef.h>
#include <stdint.h>

/*
 * ceil_stays_active - the union of the stays on each of sm_count multiprocessors over the time
 * from the first start to the last end, without cut (0 to 0.4) of it at either side; the mean
 * over all multiprocessors, unused ones too. It counts what GPM and CUPTI call SM-active.
 * @v: count of them; in order of multiprocessor and start after it. A stay on a multiprocessor
 * beyond sm_count does not count.
 * Return: 0 to 1; NAN if there is no stay or no time.
 */
double ceil_stays_active(struct ceil_stay *v, size_t count, uint32_t sm_count, double cut);

#endif
