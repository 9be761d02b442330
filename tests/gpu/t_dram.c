/* The dram bench on a real GPU: every variant gives the one right result. */
#include "bench/dram.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {UINT64_C(256) << 20};

	return gpu_bench_exact(&ceil_dram_bench, axis, /* fits= */ NULL);
}
