/* The one list of benches, in the order of a run: cool before hot. */
#include "bench/collective.h"
#include "bench/dram.h"
#include "bench/gemm.h"
#include "bench/hostcopy.h"
#include "bench/launch.h"
#include "harness/measure/bench.h"

#include <string.h>

const struct ceil_bench *const ceil_benches[] = {
	&ceil_launch_bench,
	&ceil_hostcopy_bench,
	&ceil_dram_bench,
	&ceil_collective_bench,
	&ceil_gemm_bench,
	NULL,
};

const struct ceil_bench *ceil_bench_find(const char *name)
{
	for (size_t i = 0; ceil_benches[i]; i++) {
		if (strcmp(ceil_benches[i]->name, name) == 0)
			return ceil_benches[i];
	}
	return NULL;
}
