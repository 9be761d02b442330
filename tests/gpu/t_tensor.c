/* The tensor bench on a real GPU: every variant gives the one right result. */
#include "bench/tensor.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {3};

	return gpu_bench_exact(&ceil_tensor_bench, axis, /* fits= */ NULL);
}
