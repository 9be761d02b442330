/* The atomic bench on a real GPU: every variant gives the one right result. */
#include "bench/atomic.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {3};

	return gpu_bench_exact(&ceil_atomic_bench, axis, /* fits= */ NULL);
}
