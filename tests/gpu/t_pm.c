/* PM sampling on a GPU: it goes on for longer than its buffer lasts, and each reading has samples.
 */
#include "harness/telemetry/pm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/base/clock.h"
#include "harness/device/cuda.h"
#include "tests/tap.h"

/* Over the time after which sampling is begun anew. */
enum { READINGS = 125, EVERY_MS = 100 };

static void test_long(struct ceil_pm_sampling *s)
{
	int empty = 0;
	double slowest_ms = 0, busiest = 0;

	for (int i = 0; i < READINGS; i++) {
		double v[CEIL_PM_METRIC_COUNT];
		uint64_t from_ns;

		ceil_sleep_ns((uint64_t)EVERY_MS * CEIL_NS_PER_MS);
		from_ns = ceil_now_ns();
		ceil_pm_read(s, v);
		slowest_ms = fmax(slowest_ms, (double)(ceil_now_ns() - from_ns) * 1e-6);
		empty += isnan(v[CEIL_PM_SM_ACTIVE]);
		busiest = fmax(busiest, v[CEIL_PM_SM_ACTIVE]);
		if (i % 25 == 0)
			printf("# %d: gr %g sm %g warps %g tensor %g dram %g clock %g MHz\n", i,
			       v[0], v[1], v[2], v[3], v[4], v[5]);
	}
	printf("# %d readings, %d without a sample, the slowest took %.2f ms\n", READINGS, empty,
	       slowest_ms);
	ok(empty <= 2, "readings have samples");
	ok(slowest_ms < 50, "none holds up the sampler");
	ok(busiest < 0.05, "nothing ran");
}

int main(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_device *dev = NULL;
	struct ceil_pm_api *api = NULL;
	struct ceil_pm_sampling *s = NULL;

	if (getenv("GPUCEIL_TEST_SMALL"))
		skip_all("under a sanitizer other tools hold the counters");
	if (ceil_cuda_backend.open(0, &dev, &err) != CEIL_OK)
		skip_all(err.text);
	if (ceil_pm_open(&api, &err) != CEIL_OK ||
	    ceil_pm_start(api, 0, CEIL_PM_ALL, &s, &err) != CEIL_OK) {
		skip("PM sampling", err.text);
	} else {
		test_long(s);
		ceil_pm_stop(s);
	}
	ceil_pm_close(api);
	dev->backend->close(dev);
	return done_testing();
}
