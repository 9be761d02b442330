/* The smem bench on a real GPU: every variant gives the one right result. */
#include "bench/smem.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {5};

	return gpu_bench_exact(&ceil_smem_bench, axis, /* fits= */ NULL);
}
