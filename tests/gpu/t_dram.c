/* The dram bench on a real GPU: every variant gives the one right result. */
#include "bench/dram.h"
#include "tests/gpu_bench.h"

#include <stdlib.h>

#define MIB (UINT64_C(1) << 20)

/* Large: what the L2 still holds at the end is little beside it, for tests/gpu/counters.sh. */
int main(void)
{
	const uint64_t bytes = getenv("GPUCEIL_TEST_LARGE") ? 4096 * MIB : 256 * MIB;
	const uint64_t axis[CEIL_MAX_AXES] = {bytes};

	return gpu_bench_exact(&ceil_dram_bench, axis, /* fits= */ NULL);
}
