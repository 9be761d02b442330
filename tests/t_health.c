/* Health over a run: which changes are suspect, which settings are told, where Xid errors come
 * from. */
#include "harness/telemetry/health.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/text.h"
#include "tests/fakes.h"
#include "tests/sysroot.h"
#include "tests/tap.h"

static struct ceil_health health; /* too large for a stack */

static struct ceil_health_gpu well(void)
{
	const struct ceil_nvml_health h = {
		.ecc_corrected = 7,
		.nvlink_replay = 1,
		.power_limit_w = 700,
		.power_default_w = 700,
		.app_sm_mhz = 1980,
		.app_default_sm_mhz = 1980,
		.throttle_bits = 1,
	};

	return (struct ceil_health_gpu){.device = "gpu0", .before = h, .after = h};
}

static struct ceil_nvml_health nothing(void)
{
	struct ceil_nvml_health h;

	ceil_nvml_health(NULL, &h);
	return h;
}

/* The one finding of a GPU, which must be there and be the only one. */
static struct ceil_health_finding only(const struct ceil_health_gpu *g, const char *name)
{
	struct ceil_health_finding f[8] = {{.what = ""}};

	is_int((long long)ceil_health_judge(g, f, 8), 1, name);
	return f[0];
}

static void test_counters(void)
{
	struct ceil_health_gpu g = well();
	struct ceil_health_finding f[32];

	is_int((long long)ceil_health_judge(&g, f, 32), 0, "nothing changed: nothing to tell");
	g.after.ecc_corrected = 10;
	f[0] = only(&g, "a counter that grew");
	is_text(f[0].device, "gpu0", "whose");
	is_text(f[0].what, "corrected ECC errors", "which");
	is_text(f[0].text, "grew by 3 during this run", "by how much");
	ok(f[0].before == 7 && f[0].after == 10, "from and to");
	is_int(f[0].grade, CEIL_HEALTH_SUSPECT, "is suspect");
	g = well();
	g.after.ecc_corrected = 0;
	is_int((long long)ceil_health_judge(&g, f, 32), 0, "a counter that was reset is not");
	g.before.ecc_corrected = (double)NAN;
	g.after.ecc_corrected = 3;
	is_int((long long)ceil_health_judge(&g, f, 32), 0, "nor one that was not known before");
	for (size_t i = 0; i < ceil_health_counter_count; i++) {
		const struct ceil_health_counter *c = &ceil_health_counters[i];

		g = well();
		*(double *)(void *)((char *)&g.after + c->offset) += 5;
		is_text(only(&g, c->name).what, c->title, c->name);
	}
}

static void test_settings(void)
{
	struct ceil_health_gpu g = well();
	struct ceil_health_finding f;

	g.before.power_limit_w = g.after.power_limit_w = 500;
	f = only(&g, "a power limit below the default");
	ok(f.grade == CEIL_HEALTH_NOTE && f.before == 500, "is a note");
	is_text(f.text, "below the default of 700 W", "which says what it should be");
	g = well();
	g.before.app_sm_mhz = 1500;
	has_text(only(&g, "an application clock below its default").text, "below", "is one");
	g = well();
	g.after.throttle_bits = 2 + 4;
	has_text(only(&g, "clocks that are held down at the end").text, "locked", "are one");
	g = well();
	g.seen_bits = 2;
	has_text(only(&g, "clocks that were held down in between").text, "locked", "are one");
	g = well();
	g.before.remap_failed = g.after.remap_failed = 1;
	has_text(only(&g, "a row remap that failed earlier").text, "before", "is one");
	g = well();
	g.before.remap_pending = g.after.remap_pending = 1;
	has_text(only(&g, "a row remap that is pending").text, "reset", "is one");
}

/* Under work a lock shows; the GPU that idles at the end says nothing of it. */
static void test_saw(void)
{
	struct ceil_telemetry_row row = {.device = "gpu1"};
	const int index = ceil_source_value_index("throttle_bits");

	ceil_health_init(&health);
	health.gpu[0] = well();
	health.gpu[1] = well();
	ceil_copy(health.gpu[1].device, sizeof(health.gpu[1].device), "gpu1");
	health.gpu_count = 2;
	for (int bits = 1; bits <= 4; bits *= 2) {
		row.value[index] = bits;
		ceil_health_saw(&health, &row);
	}
	row.value[index] = (double)NAN;
	ceil_health_saw(&health, &row);
	is_int((long long)health.gpu[1].seen_bits, 7, "all that any row told");
	is_int((long long)health.gpu[0].seen_bits, 0, "of this GPU alone");
}

static void test_lost(void)
{
	struct ceil_health_gpu g = well();
	struct ceil_health_finding f;

	g.after = nothing();
	f = only(&g, "a GPU that no longer answers");
	is_int(f.grade, CEIL_HEALTH_SUSPECT, "is suspect");
	g.before = nothing();
	is_int((long long)ceil_health_judge(&g, &f, 1), 0, "one that never answered is not");
}

static void test_xids(void)
{
	struct ceil_health_gpu g = well();
	struct ceil_health_finding f;

	g.xid[0] = 79;
	g.xid[1] = 154;
	g.xid_count = 2;
	f = only(&g, "Xid errors");
	is_text(f.text, "79, 154: it fell off the bus", "their numbers, and the first in words");
	is_int(f.grade, CEIL_HEALTH_SUSPECT, "are suspect");
	g.xid_count = CEIL_HEALTH_XIDS + 5;
	ok(only(&g, "more than are kept").after == CEIL_HEALTH_XIDS + 5,
	   "are counted all the same");
	is_int((long long)ceil_health_judge(&g, &f, 0), 0, "no room, no finding");
}

static void test_parse(void)
{
	static const char line[] =
		"6,1234,5678901,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off";
	unsigned xid = 0;

	ok(ceil_health_parse_xid(line, "0000:3b:00.0", &xid) && xid == 79, "an Xid of this GPU");
	ok(!ceil_health_parse_xid(line, "0000:3a:00.0", &xid), "of another one");
	ok(!ceil_health_parse_xid(line, "", &xid), "of nobody");
	ok(!ceil_health_parse_xid("NVRM: loading", "0000:3b:00.0", &xid), "no Xid");
	ok(!ceil_health_parse_xid("NVRM: Xid (PCI:0000:3b:00):", "0000:3b:00.0", &xid), "cut off");
	ok(ceil_health_parse_xid("NVRM: Xid (PCI:0001:3B:00): 31, pid=9", "0001:3b:00.0", &xid) &&
	           xid == 31,
	   "capitals, another domain");
}

/* ---- with the stand-in library; its GPUs are 0000:3a:00.0 and 0000:3b:00.0 */

static void begin(struct ceil_nvml *n)
{
	ceil_health_init(&health);
	ceil_health_add(&health, "gpu0", ceil_nvml_at(n, 0));
	ceil_health_add(&health, "gpu1", ceil_nvml_at(n, 1));
	ceil_health_add(&health, "cpu", /* nvml= */ NULL);
	ceil_health_begin(&health, n);
}

static void test_run(struct ceil_nvml *n)
{
	begin(n);
	is_int((long long)health.gpu_count, 2, "what has no NVML is left out");
	ceil_health_end(&health);
	is_int((long long)health.finding_count, 0, "a run in which nothing happens");
	ok(!ceil_health_bad(&health), "is well");
	ceil_health_done(&health);

	begin(n);
	(void)setenv("FAKE_NVML_ECC_UNCORRECTED", "1", 1);
	(void)setenv("FAKE_NVML_LINK_REPLAYS", "2", 1);
	ceil_health_end(&health);
	is_int((long long)health.finding_count, 4, "two counters of two GPUs");
	ok(ceil_health_bad(&health), "are bad");
	is_text(health.finding[1].what, "NVLink replays", "sums over");
	ok(health.finding[1].after == 36, "18 links");
	(void)unsetenv("FAKE_NVML_ECC_UNCORRECTED");
	(void)unsetenv("FAKE_NVML_LINK_REPLAYS");
	ceil_health_done(&health);

	(void)setenv("FAKE_NVML_LIMIT_MW", "500000", 1);
	begin(n);
	ceil_health_end(&health);
	ok(health.finding_count == 2 && !ceil_health_bad(&health), "notes are not bad");
	(void)unsetenv("FAKE_NVML_LIMIT_MW");
	ceil_health_done(&health);
}

/* Drivers before 525 know no fields of a link's errors. */
static void test_older(struct ceil_nvml *n)
{
	struct ceil_nvml_health h;

	(void)setenv("FAKE_NVML_FIELD_FAIL", "161,162,163", 1);
	ceil_nvml_health(ceil_nvml_at(n, 0), &h);
	ok(h.nvlink_replay == 54 && h.nvlink_crc == 0, "the older function: 3 of each link");
	(void)setenv("FAKE_NVML_FAIL", "nvmlDeviceGetNvLinkErrorCounter=3", 1);
	ceil_nvml_health(ceil_nvml_at(n, 0), &h);
	ok(isnan(h.nvlink_replay) && isnan(h.nvlink_recovery), "neither: absent");
	(void)setenv("FAKE_NVML_FAIL", "nvmlDevice*=15", 1);
	ceil_nvml_health(ceil_nvml_at(n, 0), &h);
	ok(isnan(h.rows_corrected) && isnan(h.pcie_replay) && isnan(h.app_sm_mhz) &&
	           isnan(h.power_limit_w) && isnan(h.ecc_corrected),
	   "a lost GPU: all absent");
	(void)unsetenv("FAKE_NVML_FIELD_FAIL");
	(void)unsetenv("FAKE_NVML_FAIL");
}

static void test_kmsg(struct ceil_nvml *n)
{
	char path[512];
	FILE *f;

	sysroot_file("/dev/kmsg", "6,1,1,-;NVRM: Xid (PCI:0000:3b:00): 48, old\n");
	begin(n);
	is_text(health.xid_source ? health.xid_source : "", "/dev/kmsg", "the kernel's log");
	(void)snprintf(path, sizeof(path), "%s/dev/kmsg", getenv("GPUCEIL_SYSROOT"));
	f = fopen(path, "a");
	if (f) {
		(void)fputs("6,2,2,-;usb 1-1: new device\n"
		            "6,3,3,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1\n"
		            "6,4,4,-;NVRM: Xid (PCI:0000:77:00): 13, pid=1\n",
		            f);
		(void)fclose(f);
	}
	ceil_health_end(&health);
	is_int((long long)health.gpu[0].xid_count, 0, "none of the first GPU");
	is_int((long long)health.gpu[1].xid_count, 1, "one of the second, none from before");
	is_int(health.gpu[1].xid[0], 79, "its number");
	ceil_health_done(&health);
}

static void test_events(struct ceil_nvml *n)
{
	(void)setenv("FAKE_NVML_XIDS", "79,48", 1);
	begin(n);
	is_text(health.xid_source ? health.xid_source : "", "NVML events",
	        "without the log, NVML's events");
	has_text(health.xid_reason, "/dev/kmsg: ", "and why not the log");
	ceil_health_end(&health);
	is_int((long long)health.gpu[0].xid_count, 2, "both are taken");
	is_int(health.gpu[0].xid[1], 48, "in their order");
	ceil_health_done(&health);
	(void)unsetenv("FAKE_NVML_XIDS");
	(void)setenv("FAKE_NVML_FAIL", "nvmlDeviceRegisterEvents=3", 1);
	begin(n);
	ok(!health.xid_source, "neither");
	has_text(health.xid_reason, "; NVML events: ", "and why");
	ceil_health_end(&health);
	ok(!ceil_health_bad(&health), "is no fault");
	ceil_health_done(&health);
	(void)setenv("FAKE_NVML_FAIL", "nvmlEventSetCreate=999", 1);
	begin(n);
	ok(!health.xid_source, "no set of events");
	ceil_health_done(&health);
	(void)unsetenv("FAKE_NVML_FAIL");
}

static void test_nobody(void)
{
	ceil_health_init(&health);
	ceil_health_begin(&health, /* nvml= */ NULL);
	ceil_health_end(&health);
	ok(health.finding_count == 0 && !ceil_health_bad(&health), "no NVML: nothing to tell");
	ceil_health_done(&health);
}

int main(void)
{
	char fake[FAKE_PATH_MAX];
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_nvml *n = NULL;

	test_counters();
	test_settings();
	test_saw();
	test_lost();
	test_xids();
	test_parse();
	test_nobody();
	if (!fake_path("nvml", fake)) {
		skip("counters of NVML", "the stand-in library is not built");
		return done_testing();
	}
	(void)setenv("GPUCEIL_LIB_NVML", fake, 1);
	sysroot_new();
	(void)setenv("FAKE_NVML_COUNT", "2", 1);
	if (!ok(ceil_nvml_open(&n, &err) == CEIL_OK, "the stand-in opens: %s", err.text))
		return done_testing();
	test_run(n);
	test_older(n);
	test_events(n);
	test_kmsg(n);
	ceil_nvml_close(n);
	return done_testing();
}
