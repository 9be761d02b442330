/* Which parts compute fp64 slowly. */
#include "bench/fp64.h"

#include <stddef.h>

#include "harness/device/backend.h"

bool ceil_has_slow_fp64(const struct ceil_device_props *d)
{
	static const int fast[] = {60, 70, 80, 90, 100};
	const int cc = d ? d->cc_major * 10 + d->cc_minor : 0;

	for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++) {
		if (cc == fast[i])
			return false;
	}
	return cc != 0;
}
