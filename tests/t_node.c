/* A node of several GPUs from campaign to files and table: recorded devices, stand-in NVML. */
#include "harness/base/text.h"
#include "harness/cli/monitor.h"
#include "harness/output/csv.h"
#include "harness/output/health.h"
#include "harness/output/slowest.h"
#include "tests/fakes.h"
#include "tests/recorded_backend.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 3, ROWS = 64, PAGE = 8192 };

static const struct ceil_text_style plain = {.columns = 100};

/* ---- the slowest of each ceiling */

static struct ceil_record row(const char *device, const char *ceiling, double value)
{
	struct ceil_record r;

	ceil_table_clear(&ceil_table_records, &r);
	ceil_copy(r.device, sizeof(r.device), device);
	ceil_copy(r.ceiling, sizeof(r.ceiling), ceiling);
	ceil_copy(r.unit, sizeof(r.unit), "GB/s");
	ceil_copy(r.better, sizeof(r.better), "higher");
	ceil_copy(r.status, sizeof(r.status), isnan(value) ? "failed" : "ok");
	r.value = value;
	return r;
}

static void page_of(char *ret_page, const struct ceil_record *r, size_t count)
{
	FILE *f = fmemopen(ret_page, PAGE, "w");

	ret_page[0] = '\0';
	if (!f)
		return;
	ceil_text_slowest(f, &plain, r, count);
	(void)fclose(f);
}

static void test_slowest(void)
{
	struct ceil_record r[] = {
		row("gpu0", "dram.read", 4700), row("gpu0", "launch.rate", 5),
		row("gpu1", "dram.read", 4000), row("gpu1", "launch.rate", 8),
		row("gpu2", "dram.read", 4600), row("gpu2", "launch.rate", (double)NAN),
		row("cpu", "dram.read", 50),    row("gpu0", "dram.copy", 4300),
	};
	char page[PAGE];
	struct ceil_slowest s;
	size_t at = 0;

	ceil_copy(r[1].better, sizeof(r[1].better), "lower");
	ceil_copy(r[3].better, sizeof(r[3].better), "lower");
	ok(ceil_slowest_next(r, 8, &at, &s), "a ceiling of three GPUs");
	is_text(s.slowest->device, "gpu1", "its slowest");
	ok(s.gpus == 3 && s.median == 4600, "the host is none of them");
	is_close(s.behind, 1.0 - 4000.0 / 4600.0, 1e-12, "how far behind the median");
	ok(ceil_slowest_next(r, 8, &at, &s), "a ceiling of two");
	ok(strcmp(s.slowest->device, "gpu1") == 0 && s.gpus == 2, "the longer time is slower");
	is_close(s.median, 6.5, 1e-12, "middle of two");
	is_close(s.behind, 1.0 - 6.5 / 8.0, 1e-12, "times the other way round");
	ok(!ceil_slowest_next(r, 8, &at, &s), "a ceiling of one has no slowest");
	page_of(page, r, 8);
	has_text(page, "slowest of 3 GPUs\n", "the table's title");
	has_text(page, "  dram.read       4000  GB/s  gpu1    4600     13.0 %", "a row of it");
	page_of(page, r, 2);
	is_text(page, "", "one GPU alone: no table");
}

/* ---- health in words and in run.json */

static void health_page(char *ret_page, const struct ceil_health *h)
{
	FILE *f = fmemopen(ret_page, PAGE, "w");

	ret_page[0] = '\0';
	if (!f)
		return;
	ceil_text_health(f, &plain, h);
	(void)fclose(f);
}

static void test_health_words(void)
{
	static struct ceil_health h;
	char page[PAGE];
	json_t *o;

	ceil_health_init(&h);
	health_page(page, &h);
	is_text(page, "", "no GPU: not a word");
	h.gpu_count = 1;
	ceil_copy(h.gpu[0].device, sizeof(h.gpu[0].device), "gpu0");
	ceil_nvml_health(NULL, &h.gpu[0].before);
	h.gpu[0].before.ecc_corrected = 7;
	h.gpu[0].after = h.gpu[0].before;
	ceil_copy(h.xid_reason, sizeof(h.xid_reason), "/dev/kmsg: no");
	health_page(page, &h);
	is_text(page,
	        "\nhealth: nothing grew (ECC); not readable here: row remaps, NVLink, PCIe "
	        "replays, Xid (/dev/kmsg: no)\n",
	        "all is well, as far as can be read");
	h.xid_source = "/dev/kmsg";
	h.gpu[0].after.ecc_corrected = 9;
	h.finding_count = ceil_health_judge(&h.gpu[0], h.finding, CEIL_HEALTH_FINDINGS);
	health_page(page, &h);
	has_text(page, "health: something grew", "something grew");
	has_text(page, "  gpu0    corrected ECC errors       7      9  suspect: grew by 2 during",
	         "a table of it");
	o = ceil_health_json(&h);
	is_text(json_string_value(json_object_get(json_array_get(json_object_get(o, "findings"), 0),
	                                          "status")),
	        "suspect", "run.json has the finding");
	is_close(json_real_value(json_array_get(
			 json_object_get(json_array_get(json_object_get(o, "before_and_after"), 0),
	                                 "ecc_corrected"),
			 1)),
	         9, 0, "and the counter");
	json_decref(o);
	ceil_nvml_health(NULL, &h.gpu[0].after);
	h.finding_count = 0;
	h.xid_source = NULL;
	health_page(page, &h);
	has_text(page, "health: nothing is told; not readable here: ECC,", "nothing at all");
}

/* ---- a whole node */

struct node {
	struct recorded dev[GPUS];
	struct ceil_lane lanes[GPUS];
	struct ceil_run *run;
	struct ceil_record ceilings[ROWS];
	size_t count;
};

static void on_outcome(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
                       const char *role, bool is_ceiling)
{
	struct node *n = user;
	struct ceil_record r;

	ceil_record_fill(&r, o, &dev->props, role);
	ok(ceil_run_add(n->run, &r, is_ceiling, /* err= */ NULL) == CEIL_OK, "a row is kept");
	if (is_ceiling && n->count < ROWS)
		n->ceilings[n->count++] = r;
}

static void on_absent(void *user, const struct ceil_device_props *props, const struct ceil_point *p,
                      enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	(void)user, (void)props, (void)p, (void)status, (void)is_ceiling;
	ok(false, "a row is absent: %s", reason);
}

static void open_node(struct node *n, struct ceil_nvml *nvml)
{
	const struct ceil_filter f = {.list = recorded_benches,
	                              .benches = {.count = 1, .item = {"together"}}};
	struct ceil_error err = {CEIL_OK, ""};

	n->count = 0;
	for (int i = 0; i < GPUS; i++) {
		recorded_open(&n->dev[i], i == 1 ? 3000000.0 : 2000000.0);
		(void)snprintf(n->dev[i].base.props.label, sizeof(n->dev[i].base.props.label),
		               "gpu%d", i);
		n->lanes[i] =
			(struct ceil_lane){.dev = &n->dev[i].base, .gpu = ceil_nvml_at(nvml, i)};
		ok(ceil_plan_make(&f, "recorded", &n->dev[i].base.props, NULL, &n->lanes[i].plan,
		                  &err) == CEIL_OK,
		   "plan of device %d", i);
	}
}

static enum ceil_status count_row(void *user, const void *line, size_t number,
                                  struct ceil_error *err)
{
	const struct ceil_telemetry_row *t = line;
	size_t *seen = user;

	(void)number, (void)err;
	if (strncmp(t->device, "gpu", 3) == 0 && t->device[3] >= '0' && t->device[3] < '0' + GPUS)
		seen[t->device[3] - '0'] += t->value[ceil_source_value_index("temp_c")] == 31.0;
	return CEIL_OK;
}

static void check_files(const struct ceil_monitor *m, const char *folder, const json_t *info)
{
	const json_t *sampler = json_object_get(info, "sampler");
	struct ceil_error err = {CEIL_OK, ""};
	char path[600] = "";
	size_t seen[GPUS] = {0};

	ceil_append(path, sizeof(path), "%s/telemetry.csv", folder);
	ok(ceil_csv_read(path, &m->table.table, NULL, count_row, seen, &err) == CEIL_OK,
	   "telemetry.csv reads back strictly: %s", err.text);
	ok(seen[0] > 0 && seen[1] > 0 && seen[2] > 0, "it has rows of every GPU");
	ok(json_is_true(json_object_get(sampler, "nvml")), "run.json names the source");
	ok(json_object_get(info, "health") != NULL, "and has the health");
}

static void test_node(struct ceil_nvml *nvml)
{
	static struct node n;
	static struct ceil_monitor m;
	struct ceil_inventory *inv = calloc(1, sizeof(*inv));
	const struct ceil_policy policy = {.seed = 1};
	const struct ceil_events events = {&n, on_outcome, on_absent, NULL};
	struct ceil_error err = {CEIL_OK, ""};
	const char *folder = scratch_path("node");
	json_t *info = json_object();
	char page[PAGE];
	bool hung = true;

	open_node(&n, nvml);
	for (int i = 0; inv && i < GPUS; i++) {
		inv->nvml = nvml;
		inv->found_count++;
		inv->found[i].gpu = ceil_nvml_at(nvml, i);
		(void)snprintf(inv->found[i].props.label, sizeof(inv->found[i].props.label),
		               "gpu%d", i);
	}
	ok(inv && ceil_run_open(folder, info, &n.run, &err) == CEIL_OK, "a run opens");
	ceil_monitor_begin(&m, inv);
	ok(ceil_monitor_watch(&m, n.lanes, GPUS, n.run, info, &err) == CEIL_OK, "it is watched");
	ok(n.lanes[2].watch != NULL, "each lane has its watch");
	ok(ceil_campaign_run(n.lanes, GPUS, &policy, &events, &hung, &err) == CEIL_OK && !hung,
	   "three devices at once");
	ok(ceil_monitor_end(&m, info), "the sampler ends");
	ok(ceil_run_close(n.run, &err) == CEIL_OK, "the run ends");
	check_files(&m, folder, info);
	is_int((long long)n.count, GPUS, "a row per GPU");
	page_of(page, n.ceilings, n.count);
	has_text(page, "slowest of 3 GPUs", "and the slowest of them");
	has_text(page, "  gpu1  ", "by its name");
	health_page(page, &m.health);
	has_text(page, "health: nothing grew (ECC, row remaps, NVLink, PCIe replays, Xid)",
	         "the health in a line");
	ceil_monitor_close(&m);
	for (int i = 0; i < GPUS; i++)
		ceil_plan_done(&n.lanes[i].plan);
	json_decref(info);
	free(inv);
}

/* No lane is a GPU: nothing is sampled, no file is made, and run.json says why. */
static void test_host_alone(void)
{
	static struct ceil_monitor m;
	struct ceil_inventory *inv = calloc(1, sizeof(*inv));
	json_t *info = json_object();
	struct ceil_error err = {CEIL_OK, ""};
	const char *folder = scratch_path("host");
	struct ceil_run *run = NULL;
	char path[600] = "";

	ok(inv && ceil_run_open(folder, info, &run, &err) == CEIL_OK, "a run opens");
	ceil_monitor_begin(&m, inv);
	ok(ceil_monitor_watch(&m, NULL, 0, run, info, &err) == CEIL_OK, "without any GPU");
	ok(ceil_monitor_end(&m, info) && !json_object_get(info, "health"), "nothing is watched");
	is_text(json_string_value(json_object_get(json_object_get(info, "sampler"), "off")),
	        "no telemetry: there is no GPU", "and the reason is there");
	ok(ceil_run_close(run, &err) == CEIL_OK, "the run ends");
	ceil_append(path, sizeof(path), "%s/telemetry.csv", folder);
	ok(!scratch_exists(path), "no telemetry.csv");
	ceil_monitor_close(&m);
	json_decref(info);
	free(inv);
}

int main(void)
{
	char fake[FAKE_PATH_MAX];
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_nvml *nvml = NULL;

	test_slowest();
	test_health_words();
	test_host_alone();
	if (!fake_path("nvml", fake)) {
		skip("a whole node", "the stand-in library is not built");
		return done_testing();
	}
	(void)setenv("GPUCEIL_LIB_NVML", fake, 1);
	(void)setenv("FAKE_NVML_COUNT", "3", 1);
	if (!ok(ceil_nvml_open(&nvml, &err) == CEIL_OK, "the stand-in opens: %s", err.text))
		return done_testing();
	test_node(nvml);
	ceil_nvml_close(nvml);
	return done_testing();
}
