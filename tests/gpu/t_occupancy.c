/* The occupancy bench on a real GPU: every variant gives the one right result. */
#include "bench/occupancy.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {3, 2, 192 * 128 * 4};

	return gpu_bench_exact(&ceil_occupancy_bench, axis, /* fits= */ NULL);
}
