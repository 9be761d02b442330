/* The pipes bench on a real GPU: every variant gives the one right result. */
#include "bench/pipes.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {256 * 3 * 5};

	return gpu_bench_exact(&ceil_pipes_bench, axis, /* fits= */ NULL);
}
