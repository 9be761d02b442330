/* The one list of benches, in the order of a run: cool before hot. */
#include "bench/access.h"
#include "bench/atomic.h"
#include "bench/collective.h"
#include "bench/dram.h"
#include "bench/gemm.h"
#include "bench/hostcopy.h"
#include "bench/l2.h"
#include "bench/latency.h"
#include "bench/launch.h"
#include "bench/occupancy.h"
#include "bench/pipes.h"
#include "bench/roofline.h"
#include "bench/smem.h"
#include "bench/tensor.h"
#include "harness/measure/bench.h"

#include <string.h>

/* clang-format off */
const struct ceil_bench *const ceil_benches[] = {
	&ceil_launch_bench,
	&ceil_hostcopy_bench,
	&ceil_dram_bench,
	&ceil_access_bench,
	&ceil_l2_bench,
	&ceil_smem_bench,
	&ceil_latency_bench,
	&ceil_atomic_bench,
	&ceil_pipes_bench,
	&ceil_occupancy_bench,
	&ceil_roofline_bench,
	&ceil_tensor_bench,
	&ceil_collective_bench,
	&ceil_gemm_bench,
	NULL,
};
/* clang-format on */

const struct ceil_bench *ceil_bench_find(const char *name)
{
	for (size_t i = 0; ceil_benches[i]; i++) {
		if (strcmp(ceil_benches[i]->name, name) == 0)
			return ceil_benches[i];
	}
	return NULL;
}
