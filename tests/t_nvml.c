/* NVML's values, their absence, and what lies between two readings, with a stand-in library. */
#include "harness/telemetry/nvml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/alloc.h"
#include "tests/fakes.h"
#include "tests/tap.h"

static const char library[] = "GPUCEIL_LIB_NVML";

static void set(const char *name, const char *text)
{
	if (text)
		(void)setenv(name, text, 1);
	else
		(void)unsetenv(name);
}

static struct ceil_nvml *open_fake(void)
{
	struct ceil_error err = {0};
	struct ceil_nvml *n = NULL;

	if (ceil_nvml_open(&n, &err) != CEIL_OK)
		ok(false, "the stand-in opens: %s", err.text);
	return n;
}

static void test_info(void)
{
	struct ceil_nvml *n = open_fake();
	struct ceil_nvml_info i;

	if (!n)
		return;
	has_text(ceil_nvml_path(n), "nvml.so", "the path of the file that was loaded");
	is_text(ceil_nvml_version(n), "13.580.159.04", "NVML's version");
	is_text(ceil_nvml_driver(n), "580.159.04", "the driver's version");
	is_int(ceil_nvml_cuda(n), 13000, "the CUDA that it supports");
	is_int(ceil_nvml_count(n), 2, "count");
	ok(!ceil_nvml_at(n, 2) && !ceil_nvml_at(n, -1), "no GPU beyond the count");
	ceil_nvml_info(ceil_nvml_at(n, 1), &i);
	is_text(i.name, "NVIDIA H200", "name");
	is_text(i.uuid, "GPU-00000001-1111-2222-3333-444444444441", "uuid");
	is_text(i.pci_bus_id, "0000:3b:00.0", "PCI id in CUDA's form");
	is_text(i.vbios, "96.00.A5.00.01", "vbios");
	is_int(i.index, 1, "index");
	ok(i.ecc == 1 && i.mig == 0 && i.compute_mode == 0, "modes");
	is_int(i.processes, 0, "no process is 0, not unknown");
	ok(i.pcie_gen == 5 && i.pcie_width == 16 && i.pcie_max_gen == 5 && i.pcie_max_width == 16,
	   "PCIe link");
	is_int(i.nvlink_count, 18, "active NVLinks");
	is_close(i.nvlink_gb_s, 478.116, 1e-9, "18 links of 26562 MB/s");
	is_close(i.c2c_gb_s, (double)NAN, 0, "no NVLink-C2C to the host");
	is_close(i.max_sm_mhz, 1980, 0, "SM clock");
	is_close(i.max_memory_mhz, 3201, 0, "memory clock");
	is_close(i.power_limit_w, 700, 0, "power limit");
	is_close(i.power_default_w, 700, 0, "default power limit");
	is_close(i.memory_total_bytes, 143771.0 * 1048576, 0, "memory");
	is_close(i.memory_used_bytes, 4.0 * 1048576, 0, "memory in use, without the reserve");
	is_close(i.gpu_util_ratio, 0, 0, "utilisation");
	is_int(i.bus_bits, 6016, "bus width");
	ceil_nvml_close(n);
}

static void test_state(void)
{
	struct ceil_nvml *n = open_fake();
	struct ceil_nvml_state s;

	if (!n)
		return;
	set("FAKE_NVML_UTIL", "37");
	ceil_nvml_read(ceil_nvml_at(n, 0), &s);
	ok(s.at_ns > 0, "the reading has a time");
	is_close(s.sm_mhz, 1980, 0, "SM clock");
	is_close(s.memory_mhz, 3201, 0, "memory clock");
	is_close(s.power_w, 121.5, 1e-9, "power: the 1 s average");
	is_close(s.energy_j, 5000, 1e-9, "energy");
	is_close(s.temp_c, 31, 0, "temperature");
	is_close(s.gpu_util_ratio, 0.37, 1e-9, "utilisation is a ratio");
	is_close(s.memory_util_ratio, 0.03, 1e-9, "memory utilisation");
	is_close(s.throttle_bits, 1, 0, "reasons");
	is_close(s.power_cap_ns, 1000, 0, "power-cap counter");
	is_close(s.thermal_ns, 3000, 0, "thermal counter");
	is_close(s.hw_slowdown_ns, 9000, 0, "hardware counter: thermal and brake");
	is_close(s.ecc_corrected, 7, 0, "corrected ECC errors");
	is_close(s.ecc_uncorrected, 0, 0, "uncorrected ECC errors");
	ok(s.pcie_gen == 5 && s.pcie_width == 16, "PCIe link");
	set("FAKE_NVML_UTIL", NULL);
	ceil_nvml_close(n);
}

/* Older drivers: another field or function has the same value. */
static void test_older(void)
{
	struct ceil_nvml *n = open_fake();
	struct ceil_nvml_state s;
	struct ceil_nvml_info i;

	if (!n)
		return;
	set("FAKE_NVML_FIELD_FAIL", "185,269,271,164");
	set("FAKE_NVML_FAIL", "nvmlDeviceGetTotalEnergyConsumption=3,nvmlDeviceGetTemperatureV=25,"
	                      "nvmlDeviceGetMemoryInfo_v2=25");
	ceil_nvml_read(ceil_nvml_at(n, 0), &s);
	ceil_nvml_info(ceil_nvml_at(n, 0), &i);
	is_close(s.power_w, 120.5, 1e-9, "power by PowerUsage");
	is_close(s.energy_j, 6000, 1e-9, "energy by its field");
	is_close(s.temp_c, 32, 0, "temperature by the older function");
	is_close(s.thermal_ns, 2000, 0, "thermal by the older field");
	is_close(s.hw_slowdown_ns, 4000, 0, "hardware: the part that is known");
	is_close(i.nvlink_gb_s, 18 * 25.781, 1e-9, "NVLink speed by the common field");
	is_close(i.memory_total_bytes, 143771.0 * 1048576, 0, "total by the older function");
	is_close(i.memory_used_bytes, (double)NAN, 0, "which cannot tell use from reserve");
	set("FAKE_NVML_FIELD_FAIL", "185");
	set("FAKE_NVML_FAIL", "nvmlDeviceGetPowerUsage=3");
	ceil_nvml_read(ceil_nvml_at(n, 0), &s);
	is_close(s.power_w, 122.5, 1e-9, "power by the instant field at last");
	set("FAKE_NVML_FIELD_FAIL", NULL);
	set("FAKE_NVML_FAIL", NULL);
	ceil_nvml_close(n);
}

static void check_absent_state(const struct ceil_nvml_state *s, const char *who)
{
	ok(isnan(s->sm_mhz) && isnan(s->memory_mhz) && isnan(s->power_w) && isnan(s->energy_j) &&
	           isnan(s->temp_c) && isnan(s->gpu_util_ratio) && isnan(s->memory_util_ratio) &&
	           isnan(s->throttle_bits) && isnan(s->power_cap_ns) && isnan(s->thermal_ns) &&
	           isnan(s->hw_slowdown_ns) && isnan(s->ecc_corrected) &&
	           isnan(s->ecc_uncorrected) && s->pcie_gen == -1 && s->pcie_width == -1,
	   "%s: every value of a reading is absent", who);
	ok(s->at_ns > 0, "%s: but the time", who);
}

static void check_absent_info(const struct ceil_nvml_info *i, const char *who)
{
	ok(!*i->name && !*i->vbios && i->ecc == -1 && i->mig == -1 && i->compute_mode == -1 &&
	           i->processes == -1 && i->pcie_gen == -1 && i->pcie_width == -1 &&
	           i->pcie_max_gen == -1 && i->pcie_max_width == -1 && i->nvlink_count == -1 &&
	           isnan(i->nvlink_gb_s) && isnan(i->c2c_gb_s) && isnan(i->max_sm_mhz) &&
	           isnan(i->max_memory_mhz) && isnan(i->power_limit_w) &&
	           isnan(i->power_default_w) && isnan(i->memory_total_bytes) &&
	           isnan(i->memory_used_bytes) && isnan(i->gpu_util_ratio) && i->bus_bits == -1,
	   "%s: every value of the description is absent", who);
}

static void check_absent(struct ceil_nvml_gpu *gpu, const char *who)
{
	struct ceil_nvml_state s;
	struct ceil_nvml_info i;

	ceil_nvml_read(gpu, &s);
	check_absent_state(&s, who);
	ceil_nvml_info(gpu, &i);
	check_absent_info(&i, who);
	is_int(ceil_nvml_pids(gpu, NULL, 0), -1, "and so are its processes");
}

static void test_absent(void)
{
	struct ceil_nvml *n = open_fake();
	struct ceil_nvml_info i;

	if (!n)
		return;
	check_absent(NULL, "no GPU");
	set("FAKE_NVML_FAIL", "nvmlDevice*=15");
	check_absent(ceil_nvml_at(n, 0), "a GPU lost since");
	ceil_nvml_info(ceil_nvml_at(n, 0), &i);
	is_text(i.uuid, "GPU-00000000-1111-2222-3333-444444444440", "it keeps its identity");
	set("FAKE_NVML_FAIL", NULL);
	ceil_nvml_close(n);

	set("FAKE_NVML_LOST", "0");
	n = open_fake();
	if (n) {
		check_absent(ceil_nvml_at(n, 0), "a GPU without a handle");
		ceil_nvml_info(ceil_nvml_at(n, 1), &i);
		is_int(i.index, 1, "its neighbour keeps its index");
		is_text(i.name, "NVIDIA H200", "and is read");
	}
	set("FAKE_NVML_LOST", NULL);
	ceil_nvml_close(n);
}

static void test_links_down(void)
{
	struct ceil_nvml *n = open_fake();
	struct ceil_nvml_info i;

	if (!n)
		return;
	set("FAKE_NVML_LINKS_UP", "0");
	ceil_nvml_info(ceil_nvml_at(n, 0), &i);
	is_int(i.nvlink_count, 0, "18 links, none active");
	is_close(i.nvlink_gb_s, (double)NAN, 0, "no speed without a link");
	set("FAKE_NVML_LINKS", "4000000000");
	ceil_nvml_info(ceil_nvml_at(n, 0), &i);
	is_int(i.nvlink_count, -1, "a count beyond reason is unknown");
	set("FAKE_NVML_LINKS_UP", NULL);
	set("FAKE_NVML_LINKS", NULL);
	ceil_nvml_close(n);
}

/* As on GH200: ten links to the host; those that are down carry nothing. */
static void test_c2c(void)
{
	struct ceil_nvml *n = open_fake();
	struct ceil_nvml_info i;

	if (!n)
		return;
	set("FAKE_NVML_C2C_LINKS", "10");
	ceil_nvml_info(ceil_nvml_at(n, 0), &i);
	is_close(i.c2c_gb_s, 447.12, 1e-9, "10 links of 44712 MB/s");
	set("FAKE_NVML_C2C_UP", "5");
	ceil_nvml_info(ceil_nvml_at(n, 0), &i);
	is_close(i.c2c_gb_s, 223.56, 1e-9, "of which five are up");
	set("FAKE_NVML_C2C_UP", "0");
	ceil_nvml_info(ceil_nvml_at(n, 0), &i);
	is_close(i.c2c_gb_s, (double)NAN, 0, "none is up");
	set("FAKE_NVML_C2C_UP", NULL);
	set("FAKE_NVML_C2C_LINKS", NULL);
	ceil_nvml_close(n);
}

static void test_find(void)
{
	struct ceil_nvml *n = open_fake();
	struct ceil_nvml_gpu *second;

	if (!n)
		return;
	second = ceil_nvml_at(n, 1);
	ok(ceil_nvml_find(n, "GPU-00000001-1111-2222-3333-444444444441", NULL) == second,
	   "found by UUID");
	ok(ceil_nvml_find(n, "MIG-9", "0000:3b:00.0") == second, "else by PCI id");
	ok(ceil_nvml_find(n, NULL, "00000000:3B:00.0") == second, "8 digits, upper case");
	ok(ceil_nvml_find(n, "", "3b:00.0") == second, "no domain");
	ok(!ceil_nvml_find(n, NULL, "0001:3b:00.0"), "another domain is another GPU");
	ok(!ceil_nvml_find(n, NULL, "0000:3b:00.1"), "another function too");
	ok(!ceil_nvml_find(n, NULL, "0000:3b:00.0z"), "rubbish behind the id");
	ok(!ceil_nvml_find(n, "", ""), "nothing finds nothing");
	ceil_nvml_close(n);
}

static void test_pids(void)
{
	struct ceil_nvml *n = open_fake();
	unsigned pid[2] = {0, 0};

	if (!n)
		return;
	set("FAKE_NVML_PIDS", "4242,77,9");
	is_int(ceil_nvml_pids(ceil_nvml_at(n, 0), pid, 2), 3, "three processes");
	ok(pid[0] == 4242 && pid[1] == 77, "the first two of them");
	set("FAKE_NVML_PIDS", NULL);
	ceil_nvml_close(n);
}

static void fails_to_open(enum ceil_status want, const char *words, const char *name)
{
	struct ceil_error err = {0};
	struct ceil_nvml *n = NULL;
	const enum ceil_status got = ceil_nvml_open(&n, &err);

	is_text(ceil_status_name(got), ceil_status_name(want), name);
	has_text(err.text, words, name);
	ok(!n, "%s: nothing is handed out", name);
	ceil_nvml_close(n);
}

static void test_failing_start(void)
{
	set("FAKE_NVML_FAIL", "nvmlInit_v2=9");
	fails_to_open(CEIL_E_DEVICE, "nvmlInit_v2: Driver Not Loaded", "driver not loaded");
	set("FAKE_NVML_FAIL", "nvmlInit_v2=18");
	fails_to_open(CEIL_E_DEVICE, "Driver/library version mismatch", "mismatch");
	set("FAKE_NVML_FAIL", "nvmlDeviceGetCount_v2=999");
	fails_to_open(CEIL_E_DEVICE, "nvmlDeviceGetCount_v2", "the count fails");
	set("FAKE_NVML_FAIL", NULL);
	set("FAKE_NVML_COUNT", "4000000000");
	fails_to_open(CEIL_E_DEVICE, "4000000000", "a count beyond reason");
	set("FAKE_NVML_COUNT", "2");
	set(library, "/nonexistent/libnvidia-ml.so.1");
	fails_to_open(CEIL_E_UNSUPPORTED, "/nonexistent/libnvidia-ml.so.1", "no such library");
}

static void test_no_memory(void)
{
	long k;

	for (k = 1; k <= 2; k++) {
		struct ceil_error err = {0};
		struct ceil_nvml *n = NULL;

		ceil_alloc_fail_at(k);
		ok(ceil_nvml_open(&n, &err) == CEIL_E_NOMEM && !n, "allocation %ld fails", k);
		ceil_alloc_fail_at(0);
	}
}

/* A copy of the stand-in in which a symbol has another name. */
static void test_missing_symbols(const char *fake)
{
	static const char *const optional[] = {"nvmlDeviceGetName",
	                                       "nvmlDeviceGetCurrentClocksEventReasons",
	                                       "nvmlDeviceGetFieldValues", NULL};
	static const char *const required[] = {"nvmlDeviceGetCount_v2", NULL};
	struct ceil_nvml_state s;
	struct ceil_nvml_info i;
	struct ceil_nvml *n;
	char copy[FAKE_PATH_MAX];

	if (!fake_without(fake, required, copy)) {
		ok(false, "a copy of the stand-in is made");
		return;
	}
	set(library, copy);
	fails_to_open(CEIL_E_UNSUPPORTED, "nvmlDeviceGetCount_v2", "required symbol missing");
	(void)unlink(copy);
	ok(fake_without(fake, optional, copy), "another copy");
	set(library, copy);
	n = open_fake();
	if (n) {
		ceil_nvml_info(ceil_nvml_at(n, 0), &i);
		ceil_nvml_read(ceil_nvml_at(n, 0), &s);
		is_text(i.name, "", "no symbol for the name: absent");
		is_close(s.throttle_bits, 4, 0, "reasons by the older name");
		ok(isnan(s.power_cap_ns) && isnan(s.hw_slowdown_ns), "no counters without fields");
		is_close(s.power_w, 120.5, 1e-9, "power by PowerUsage");
		is_close(s.sm_mhz, 1980, 0, "the rest is read");
	}
	ceil_nvml_close(n);
	(void)unlink(copy);
	set(library, fake);
}

static void test_shutdown(void)
{
	char log[] = "/tmp/ceil_nvml_XXXXXX", text[64] = "";
	const int fd = mkstemp(log);
	FILE *f;

	set("FAKE_NVML_SHUTDOWN_LOG", log);
	ceil_nvml_close(open_fake());
	set("FAKE_NVML_SHUTDOWN_LOG", NULL);
	f = fopen(log, "r");
	if (f) {
		(void)fread(text, 1, sizeof(text) - 1, f);
		(void)fclose(f);
	}
	is_text(text, "shutdown\n", "close shuts NVML down once");
	(void)close(fd);
	(void)unlink(log);
	ceil_nvml_close(NULL);
}

static void throttle_is(uint64_t bits, const char *want)
{
	char text[64];

	ceil_throttle_text(bits, text, sizeof(text));
	is_text(text, want, "reasons in words");
}

static void test_throttle_text(void)
{
	char small[16];

	throttle_is(0, "none");
	throttle_is(1, "none");
	throttle_is(4, "sw_power_cap");
	throttle_is(0x45, "sw_power_cap+hw_thermal");
	throttle_is(0xfc, "sw_power_cap+hw_slowdown+sync_boost+sw_thermal+hw_thermal");
	throttle_is(0x1004, "sw_power_cap+0x1000");
	ceil_throttle_text(0x44, small, sizeof(small));
	is_text(small, "sw_power_cap", "a name that does not fit is left out whole");
}

/* An idle card; callers change what the case is about. */
static struct ceil_nvml_state idle_at(double seconds)
{
	return (struct ceil_nvml_state){
		.at_ns = 1000000000u + (uint64_t)(seconds * 1e9),
		.energy_j = 5000 + 120 * seconds,
		.temp_c = 31,
		.throttle_bits = 1,
		.power_cap_ns = 10,
		.thermal_ns = 20,
		.hw_slowdown_ns = 30,
	};
}

static void test_hot(void)
{
	struct ceil_nvml_state start = idle_at(0), now = idle_at(2), none;

	ok(!ceil_nvml_hot(&start, &now, 1980), "idle again");
	now.temp_c = start.temp_c + 3.0;
	ok(!ceil_nvml_hot(&start, &now, 1980), "3 K are not hot");
	now.temp_c += 1.0;
	ok(ceil_nvml_hot(&start, &now, 1980), "4 K are");
	now = idle_at(2);
	now.throttle_bits = 1 | 4;
	now.sm_mhz = 1950;
	ok(ceil_nvml_hot(&start, &now, 1980), "nor are the clocks back under a power cap");
	now.sm_mhz = 1965;
	ok(!ceil_nvml_hot(&start, &now, 1980), "but at 99 %% of the maximum they are");
	ok(ceil_nvml_hot(&start, &now, 0), "whose maximum nobody knows, its reasons hold down");
	now.sm_mhz = 1950;
	start.throttle_bits = 4;
	ok(!ceil_nvml_hot(&start, &now, 1980),
	   "but one that was there at the start is waited for by nobody");
	ceil_nvml_read(NULL, &none);
	ok(!ceil_nvml_hot(&none, &none, 1980), "what nobody measures is not hot");
}

static void test_window(void)
{
	struct ceil_nvml_state a = idle_at(0), b = idle_at(2);
	struct ceil_window w;

	b.temp_c = 44;
	ceil_window_of(&a, &b, &w);
	is_close(w.seconds, 2, 1e-9, "seconds");
	is_close(w.energy_j, 240, 1e-6, "energy");
	is_close(w.power_w, 120, 1e-6, "power is energy over time");
	is_close(w.temp_start_c, 31, 0, "temperature at the start");
	is_close(w.temp_end_c, 44, 0, "and at the end");
	is_text(w.throttle, "none", "idle is no throttle");
	ok(!w.thermal && !w.power_capped, "nothing held it back");
	b = idle_at(0.9);
	ceil_window_of(&a, &b, &w);
	is_close(w.power_w, (double)NAN, 0, "no power under 1 s");
	is_close(w.energy_j, 108, 1e-6, "but energy");
	b = idle_at(2);
	b.energy_j = 3;
	ceil_window_of(&a, &b, &w);
	is_close(w.energy_j, (double)NAN, 0, "a counter that fell was reset");
	is_close(w.power_w, (double)NAN, 0, "and tells no power");
}

static void test_window_throttle(void)
{
	struct ceil_nvml_state a = idle_at(0), b = idle_at(2);
	struct ceil_window w;

	b.power_cap_ns = 1e9;
	ceil_window_of(&a, &b, &w);
	is_text(w.throttle, "sw_power_cap", "the counter saw a cap that the snapshots missed");
	ok(w.power_capped && !w.thermal, "which is no thermal matter");
	b.thermal_ns = 50;
	ceil_window_of(&a, &b, &w);
	is_text(w.throttle, "sw_power_cap+sw_thermal", "thermal too");
	ok(w.thermal, "thermal");
	b = idle_at(2);
	b.hw_slowdown_ns = 31;
	ceil_window_of(&a, &b, &w);
	ok(w.thermal, "a hardware slowdown that was counted");
	b = idle_at(2);
	a.throttle_bits = 4;
	ceil_window_of(&a, &b, &w);
	is_text(w.throttle, "none", "a cap before the window is not its own");
	b.throttle_bits = 8;
	ceil_window_of(&a, &b, &w);
	is_text(w.throttle, "hw_slowdown", "the bit is shown");
	ok(!w.thermal, "but a counter that stood still denies it");
	a.throttle_bits = 8;
	ceil_window_of(&a, &b, &w);
	ok(w.thermal, "both ends show it: it is real");
}

static void test_window_unknown(void)
{
	struct ceil_nvml_state a = idle_at(0), b = idle_at(2);
	struct ceil_window w;

	a.power_cap_ns = a.thermal_ns = a.hw_slowdown_ns = (double)NAN;
	a.throttle_bits = 0x20;
	ceil_window_of(&a, &b, &w);
	is_text(w.throttle, "sw_thermal", "without counters the bits of both ends count");
	ok(w.thermal, "and are thermal");
	b.throttle_bits = 8;
	a.throttle_bits = 1;
	ceil_window_of(&a, &b, &w);
	ok(w.thermal, "nothing denies a lone hw_slowdown");
	a.throttle_bits = b.throttle_bits = (double)NAN;
	ceil_window_of(&a, &b, &w);
	is_text(w.throttle, "", "neither bits nor counters: unknown");
	ceil_nvml_read(NULL, &a);
	ceil_nvml_read(NULL, &b);
	ceil_window_of(&a, &b, &w);
	ok(isnan(w.energy_j) && isnan(w.power_w) && isnan(w.temp_start_c) && !*w.throttle &&
	           !w.thermal && !w.power_capped,
	   "two readings of nothing");
}

int main(void)
{
	char fake[FAKE_PATH_MAX];

	test_throttle_text();
	test_hot();
	test_window();
	test_window_throttle();
	test_window_unknown();
	if (!fake_path("nvml", fake)) {
		skip("values of NVML", "the stand-in library is not built");
		return done_testing();
	}
	set(library, fake);
	set("FAKE_NVML_COUNT", "2");
	test_info();
	test_state();
	test_older();
	test_absent();
	test_links_down();
	test_c2c();
	test_find();
	test_pids();
	test_missing_symbols(fake);
	test_shutdown();
	test_no_memory();
	test_failing_start();
	return done_testing();
}
