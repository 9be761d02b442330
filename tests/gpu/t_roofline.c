/* The roofline bench on a real GPU: every variant gives the one right result. */
#include "bench/roofline.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {7, UINT64_C(1) << 20};

	return gpu_bench_exact(&ceil_roofline_bench, axis, /* fits= */ NULL);
}
