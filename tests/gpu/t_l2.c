/* The l2 bench on a real GPU: every variant gives the one right result. */
#include "bench/l2.h"
#include "tests/gpu_bench.h"

#include <stdlib.h>

#define MIB (UINT64_C(1) << 20)

/*
 * Large, for tests/gpu/counters.sh: parts of their own for all blocks, as ceilings have them, and
 * so long that blocks drift apart.
 */
int main(void)
{
	const uint64_t small[CEIL_MAX_AXES] = {3 * MIB, 0, 64 * MIB};
	const uint64_t large[CEIL_MAX_AXES] = {0, 1, 4096 * MIB};

	return gpu_bench_exact(&ceil_l2_bench, getenv("GPUCEIL_TEST_LARGE") ? large : small,
	                       /* fits= */ NULL);
}
