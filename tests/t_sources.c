/* Telemetry sources with a stand-in library: GPM's windows and codes, NVML's own samples. */
#include "harness/telemetry/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/telemetry/nvml.h"
#include "tests/fakes.h"
#include "tests/tap.h"

enum { MS = 1000000 };

static void set(const char *name, const char *text)
{
	if (text)
		(void)setenv(name, text, 1);
	else
		(void)unsetenv(name);
}

/* A source on GPU 0 of the stand-in. */
struct rig {
	struct ceil_nvml *nvml;
	const struct ceil_source *source;
	void *state;
	double v[CEIL_SOURCE_VALUES];
};

static enum ceil_status open_rig(struct rig *r, const struct ceil_source *source,
                                 struct ceil_error *err)
{
	struct ceil_source_target t = {.device = "gpu0", .uuid = "", .pci_bus_id = ""};
	enum ceil_status st;

	*r = (struct rig){.source = source};
	if (ceil_nvml_open(&r->nvml, err) != CEIL_OK) {
		ok(false, "the stand-in opens: %s", err->text);
		return CEIL_E_USAGE;
	}
	t.nvml = ceil_nvml_at(r->nvml, 0);
	st = source->open(&t, &r->state, err);
	if (st != CEIL_OK) {
		ceil_nvml_close(r->nvml);
		r->nvml = NULL;
	}
	return st;
}

static void close_rig(struct rig *r)
{
	if (!r->nvml)
		return;
	r->source->close(r->state);
	ceil_nvml_close(r->nvml);
}

static double get(const struct rig *r, const char *name)
{
	for (size_t i = 0; i < r->source->value_count; i++) {
		if (strcmp(r->source->values[i].name, name) == 0)
			return r->v[i];
	}
	ok(false, "%s is a value of %s", name, r->source->name);
	return (double)NAN;
}

static void read_rig(struct rig *r)
{
	for (size_t i = 0; i < CEIL_SOURCE_VALUES; i++)
		r->v[i] = (double)NAN;
	r->source->read(r->state, r->v);
}

/* ---- GPM */

static void test_gpm(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct rig r;

	set("FAKE_NVML_GPM_2", "0.757");
	set("FAKE_NVML_GPM_10", "nan");
	set("FAKE_NVML_GPM_20", "1000");
	set("FAKE_NVML_GPM_FAIL", "11");
	if (open_rig(&r, &ceil_gpm_source, &err) != CEIL_OK) {
		ok(false, "GPM opens: %s", err.text);
		return;
	}
	read_rig(&r);
	is_close(get(&r, "sm_active"), (double)NAN, 0,
	         "a window that is too short is absent, not 0");
	ceil_sleep_ns(110 * MS);
	read_rig(&r);
	is_close(get(&r, "sm_active"), 0.00757, 1e-12, "percent becomes a ratio");
	is_close(get(&r, "sm_occupancy"), 0.03, 1e-12, "occupancy");
	is_close(get(&r, "dram_active"), (double)NAN, 0, "NaN without a code is absent");
	is_close(get(&r, "fp64_active"), (double)NAN, 0, "a metric's own code counts");
	is_close(get(&r, "fp32_active"), 0.12, 1e-12, "and only for that metric");
	is_close(get(&r, "pcie_tx_gb_s"), 1.048576, 1e-9, "MiB/s become GB/s");
	/* At a beat of 40 ms the partner is three samples back. */
	for (int i = 0; i < 4; i++) {
		ceil_sleep_ns(40 * MS);
		read_rig(&r);
	}
	is_close(get(&r, "sm_active"), 0.00757, 1e-12, "a fast beat still has windows");
	set("FAKE_NVML_FAIL", "nvmlGpmSampleGet=15");
	read_rig(&r);
	is_close(get(&r, "sm_active"), (double)NAN, 0, "a GPU that is lost has no values");
	set("FAKE_NVML_FAIL", "nvmlGpmMetricsGet=999");
	ceil_sleep_ns(110 * MS);
	read_rig(&r);
	is_close(get(&r, "sm_active"), (double)NAN, 0, "nor has a call that fails");
	set("FAKE_NVML_FAIL", NULL);
	set("FAKE_NVML_GPM_10", NULL);
	set("FAKE_NVML_GPM_FAIL", NULL);
	close_rig(&r);
}

static void test_gpm_missing(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct rig r;

	set("FAKE_NVML_GPM", "0");
	is_int(open_rig(&r, &ceil_gpm_source, &err), CEIL_E_UNSUPPORTED, "an Ampere card");
	has_text(err.text, "Hopper and newer", "is told what GPM needs");
	set("FAKE_NVML_GPM", NULL);
	set("FAKE_NVML_FAIL", "nvmlGpmSampleGet=4");
	is_int(open_rig(&r, &ceil_gpm_source, &err), CEIL_E_UNSUPPORTED, "no permission");
	has_text(err.text, "CAP_PERFMON", "is told which it needs");
	set("FAKE_NVML_FAIL", "nvmlGpmQueryDeviceSupport=3");
	is_int(open_rig(&r, &ceil_gpm_source, &err), CEIL_E_UNSUPPORTED, "a code");
	has_text(err.text, "error 3", "is told");
	set("FAKE_NVML_FAIL", NULL);
	if (open_rig(&r, &ceil_gpm_source, &err) == CEIL_OK) {
		const struct ceil_source_target t = {.nvml = ceil_nvml_at(r.nvml, 0)};
		void *state = NULL;

		ceil_alloc_fail_at(1);
		is_int(ceil_gpm_source.open(&t, &state, &err), CEIL_E_NOMEM, "no memory");
		ceil_alloc_fail_at(0);
	}
	close_rig(&r);
}

static void test_old_library(void)
{
	static const char *const names[] = {"nvmlGpmMetricsGet", NULL};
	struct ceil_error err = {CEIL_OK, ""};
	char path[FAKE_PATH_MAX], copy[FAKE_PATH_MAX];
	struct rig r;

	if (!fake_path("nvml", path) || !fake_without(path, names, copy)) {
		skip("an NVML without GPM", "no copy could be made");
		return;
	}
	set("GPUCEIL_LIB_NVML", copy);
	is_int(open_rig(&r, &ceil_gpm_source, &err), CEIL_E_UNSUPPORTED, "an NVML without GPM");
	has_text(err.text, "driver 525", "is told which has it");
	set("GPUCEIL_LIB_NVML", path);
	(void)remove(copy);
}

/* ---- NVML */

/* A look at the energy takes a driver milliseconds: one reading of ten has it. */
static void test_seldom(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct rig r;

	if (open_rig(&r, &ceil_nvml_source, &err) != CEIL_OK) {
		ok(false, "opens: %s", err.text);
		return;
	}
	for (int i = 0; i < 12; i++) {
		read_rig(&r);
		is_close(get(&r, "energy_j"), i % 10 == 0 ? 5000 : (double)NAN, 0, "energy");
		is_close(get(&r, "power_w"), 121.5, 1e-9, "power every time");
		is_close(get(&r, "pcie_width"), 16, 0, "and the link that was seen last");
	}
	close_rig(&r);
}

/* ---- NVML's samples and counters */

static void test_more(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct rig r;

	if (open_rig(&r, &ceil_nvml_more_source, &err) != CEIL_OK) {
		ok(false, "opens: %s", err.text);
		return;
	}
	read_rig(&r);
	is_close(get(&r, "gpu_util_samples"), 0.7, 1e-12, "the mean of 60, 70 and 80 %%");
	is_close(get(&r, "power_instant_w"), 122.5, 1e-9, "power now");
	is_close(get(&r, "nvml_pcie_tx_gb_s"), (double)NAN, 0, "one reading has no rate");
	set("FAKE_NVML_TX_BYTES", "5000000000");
	set("FAKE_NVML_RX_BYTES", "100");
	ceil_sleep_ns(2 * MS);
	read_rig(&r);
	is_close(get(&r, "gpu_util_samples"), (double)NAN, 0, "no new sample, no value");
	ok(get(&r, "nvml_pcie_tx_gb_s") > 0, "bytes over time");
	is_close(get(&r, "nvml_pcie_rx_gb_s"), (double)NAN, 0, "a counter that wrapped");
	set("FAKE_NVML_FIELD_FAIL", "197,198");
	read_rig(&r);
	is_close(get(&r, "nvml_pcie_tx_gb_s"), 2, 1e-9, "without counters by PcieThroughput");
	is_close(get(&r, "nvml_pcie_rx_gb_s"), 50, 1e-9, "both ways");
	set("FAKE_NVML_FAIL", "nvmlDeviceGetPcieThroughput=3");
	read_rig(&r);
	is_close(get(&r, "nvml_pcie_rx_gb_s"), (double)NAN, 0, "and without that, absent");
	set("FAKE_NVML_FAIL", NULL);
	set("FAKE_NVML_FIELD_FAIL", NULL);
	set("FAKE_NVML_TX_BYTES", NULL);
	set("FAKE_NVML_RX_BYTES", NULL);
	close_rig(&r);
}

/* MIG: the driver refuses utilisation of any kind. */
static void test_mig(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct rig r;

	set("FAKE_NVML_FAIL", "nvmlDeviceGetSamples=3");
	if (open_rig(&r, &ceil_nvml_more_source, &err) == CEIL_OK) {
		read_rig(&r);
		is_close(get(&r, "gpu_util_samples"), (double)NAN, 0, "not supported is absent");
	}
	set("FAKE_NVML_FAIL", NULL);
	close_rig(&r);
}

static void test_pm_off(void)
{
	const struct ceil_source_target t = {.device = "gpu0", .uuid = "", .pci_bus_id = ""};
	struct ceil_error err = {CEIL_OK, ""};
	void *state = NULL;

	is_int(ceil_pm_source.open(&t, &state, &err), CEIL_E_UNSUPPORTED,
	       "PM sampling is for those who ask");
}

static void test_names(void)
{
	for (size_t s = 0; ceil_sources[s]; s++) {
		for (size_t i = 0; i < ceil_sources[s]->value_count; i++) {
			const struct ceil_source_value *v = &ceil_sources[s]->values[i];

			ok(*v->name && *v->doc, "%s has a doc", v->name);
		}
	}
}

int main(void)
{
	char path[FAKE_PATH_MAX];

	if (!fake_path("nvml", path))
		skip_all("the stand-in for NVML is not built");
	set("GPUCEIL_LIB_NVML", path);
	test_gpm();
	test_gpm_missing();
	test_old_library();
	test_seldom();
	test_more();
	test_mig();
	test_pm_off();
	test_names();
	return done_testing();
}
