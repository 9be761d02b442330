/* The latency bench on a real GPU: every variant gives the one right result. */
#include "bench/latency.h"
#include "tests/gpu_bench.h"

int main(void)
{
	const uint64_t axis[CEIL_MAX_AXES] = {0, 1024};

	return gpu_bench_exact(&ceil_latency_bench, axis, /* fits= */ NULL);
}
