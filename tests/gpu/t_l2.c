/* The l2 bench on a real GPU: every variant gives the one right result. */
#include "bench/l2.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {UINT64_C(3) << 20, 0, UINT64_C(64) << 20};

	return gpu_bench_exact(&ceil_l2_bench, axis, /* fits= */ NULL);
}
