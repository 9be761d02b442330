/* PM sampling on a GPU: it goes on for longer than its buffer lasts, and each reading has samples.
 */
#include "harness/telemetry/pm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/base/clock.h"
#include "harness/device/cuda.h"
#include "kernels/launch.h"
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

/* One SM of all works, in one kernel that outlasts the readings: its share, and nothing lost. */
static void test_share(struct ceil_device *dev, struct ceil_pm_sampling *s)
{
	const struct ceil_buffer buf = {.memory = CEIL_MEM_DEVICE,
	                                .role = CEIL_WORKSPACE,
	                                .numa_node = -1,
	                                .bytes = sizeof(struct ceil_span)};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_launch l = {0};
	double v[CEIL_PM_METRIC_COUNT];
	void *span = NULL;

	if (!ok(dev->backend->bind(dev, &l, &err) == CEIL_OK &&
	                dev->backend->alloc(dev, &buf, &span, &err) == CEIL_OK &&
	                ceil_launch_spin(l.stream[0], 700 * CEIL_NS_PER_MS, span, &err) == CEIL_OK,
	        "one SM spins %s", err.text))
		return;
	ceil_sleep_ns(200 * CEIL_NS_PER_MS);
	ceil_pm_read(s, v); /* with the start of the load in it */
	ceil_sleep_ns(300 * CEIL_NS_PER_MS);
	ceil_pm_read(s, v);
	is_close(v[CEIL_PM_SM_ACTIVE] * dev->props.sm_count, 1.0, 0.005, "its share of the cycles");
	ok(v[CEIL_PM_SM_MHZ] > 0.0 && isnan(v[CEIL_PM_WARPS_ACTIVE]), "%g MHz, no warps",
	   v[CEIL_PM_SM_MHZ]);
	ok(dev->backend->sync(dev, 5 * CEIL_NS_PER_S, &err) == CEIL_OK, "it ends %s", err.text);
	dev->backend->free(dev, &buf, span);
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
		if (ok(ceil_pm_start(api, 0, CEIL_PM_CYCLES, &s, &err) == CEIL_OK,
		       "cycles alone %s", err.text)) {
			test_share(dev, s);
			ceil_pm_stop(s);
		}
	}
	ceil_pm_close(api);
	dev->backend->close(dev);
	return done_testing();
}
