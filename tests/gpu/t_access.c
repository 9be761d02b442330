/* The access bench on a real GPU: every variant gives the one right result. */
#include "bench/access.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {3, UINT64_C(1) << 23};

	return gpu_bench_exact(&ceil_access_bench, axis, /* fits= */ NULL);
}
