/* Tests of what the CUDA backend decides without a GPU: headroom, clock from stamps, gate off. */
#include "harness/device/cuda.h"
#include "kernels/support.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

static void test_clock(void)
{
	/* SM 0 makes 1500, SM 1 1600, SM 2 1800 cycles a us; SM 5 and 6 are in one set each. */
	const struct ceil_stamp from[] = {
		{1000, 5000, 0}, {9000, 5100, 1}, {77, 5200, 2}, {0, 5000, 5}, {1000, 5000, 0}};
	const struct ceil_stamp to[] = {
		{1501000, 1005000, 0}, {1609000, 1005100, 1}, {1800077, 1005200, 2},
		{0, 1005000, 6},       {1800077, 1005200, 2},
	};
	const struct ceil_stamp strange[] = {{0, 0, 4000}};

	is_close(ceil_cuda_clock_mhz(from, to, 5), 1600.0, 1e-9, "the median over SMs, each once");
	is_close(ceil_cuda_clock_mhz(from, to, 2), 1550.0, 1e-9, "of two, their mean");
	is_close(ceil_cuda_clock_mhz(to, from, 5), (double)NAN, 0.0, "backwards there is none");
	is_close(ceil_cuda_clock_mhz(from, from, 5), (double)NAN, 0.0, "nor without time between");
	is_close(ceil_cuda_clock_mhz(strange, to, 1), (double)NAN, 0.0, "nor from a strange SM");
	is_close(ceil_cuda_clock_mhz(from, to, 0), (double)NAN, 0.0, "nor from nothing");
}

static void test_environment(void)
{
	static const char *const names[] = {"NV_COMPUTE_PROFILER_PERFWORKS_DIR",
	                                    "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};

	for (size_t i = 0; i < 3; i++)
		(void)unsetenv(names[i]);
	(void)unsetenv("CUDA_LAUNCH_BLOCKING");
	(void)unsetenv("LD_PRELOAD");
	ok(!ceil_cuda_serialised(), "a plain environment lets launches overlap");
	for (size_t i = 0; i < 3; i++) {
		(void)setenv(names[i], "/x", 1);
		ok(ceil_cuda_serialised(), "%s says a tool is there", names[i]);
		(void)setenv(names[i], "", 1);
	}
	ok(!ceil_cuda_serialised(), "empty names say nothing");
	(void)setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
	ok(!ceil_cuda_serialised(), "CUDA_LAUNCH_BLOCKING=0 does not block");
	(void)setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	ok(ceil_cuda_serialised(), "CUDA_LAUNCH_BLOCKING=1 does");
	(void)unsetenv("CUDA_LAUNCH_BLOCKING");
	(void)setenv("LD_PRELOAD", "/a/libfoo.so:/b/libsanitizer-public.so", 1);
	ok(ceil_cuda_serialised(), "compute-sanitizer is preloaded");
	(void)unsetenv("LD_PRELOAD");
}

/* With a GPU or without: an answer with a reason, and nothing on the way breaks. */
static void test_count(void)
{
	struct ceil_device_props p;
	struct ceil_device *dev = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	int count = -1;
	const enum ceil_status st = ceil_cuda_backend.count(&count, &err);

	ok(st == CEIL_OK || st == CEIL_E_UNSUPPORTED || st == CEIL_E_DEVICE, "count answers");
	ok(st == CEIL_OK ? count > 0 : (count == -1 && err.text[0]), "devices or a reason: %s",
	   err.text);
	ok(ceil_cuda_backend.peek(999, &p, &err) == CEIL_E_DEVICE, "there is no device 999");
	has_text(err.text, "cudaGetDeviceProperties: cudaError", "in CUDA's words");
	ok(ceil_cuda_backend.open(999, &dev, &err) == CEIL_E_DEVICE, "it does not open");
	has_text(err.text, "CUDA device 999: ", "the error names it");
	ok(!dev, "and nothing is returned");
	ceil_cuda_backend.close(NULL);
}

int main(void)
{
	test_clock();
	test_environment();
	test_count();
	return done_testing();
}
