/* The folder of a run: names, refusals, rows from threads, a full disk, JSON lines. */
#include "harness/output/run.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/analysis/mfu.h"
#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/output/csv.h"
#include "tests/scratch.h"
#include "tests/tap.h"

static struct ceil_error err;

static struct ceil_record record(const char *ceiling, double value)
{
	struct ceil_record r;

	ceil_table_clear(&ceil_table_records, &r);
	ceil_copy(r.host, sizeof(r.host), "node7");
	ceil_copy(r.device, sizeof(r.device), "gpu0");
	ceil_copy(r.ceiling, sizeof(r.ceiling), ceiling);
	ceil_copy(r.unit, sizeof(r.unit), "GB/s");
	ceil_copy(r.status, sizeof(r.status), "ok");
	r.value = value;
	return r;
}

static json_t *new_info(void)
{
	json_t *info = json_object();

	json_object_set_new(info, "tool_version", json_string("0.1.0"));
	return info;
}

static const char *file_in(const char *folder, const char *name)
{
	static char path[600];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static enum ceil_status count_row(void *user, const void *row, size_t line, struct ceil_error *e)
{
	(void)row, (void)line, (void)e;
	++*(size_t *)user;
	return CEIL_OK;
}

/* Rows of a file, or -1 if it does not read back strictly. */
static long rows_of(const char *path, const struct ceil_table *t)
{
	size_t n = 0;

	if (ceil_csv_read(path, t, /* rules= */ NULL, count_row, &n, &err) != CEIL_OK) {
		printf("# %s\n", err.text);
		return -1;
	}
	return (long)n;
}

static struct ceil_run *open_run(const char *output, json_t *info)
{
	struct ceil_run *run = NULL;

	if (!ok(ceil_run_open(output, info, &run, &err) == CEIL_OK, "a run opens"))
		printf("# %s\n", err.text);
	return run;
}

static void test_files(void)
{
	json_t *info = new_info();
	const char *folder = scratch_path("deep/new");
	struct ceil_run *run = open_run(folder, info);
	const struct ceil_record r = record("dram.copy", 4368);
	struct ceil_sample v[3] = {{.batch = 1, .time_ns = 5}, {.batch = 2, .time_ns = 6}};
	const struct ceil_outcome o = {.series = {.v = v, .count = 3, .cap = 3}};

	if (!run)
		return;
	is_text(ceil_run_folder(run), folder, "it knows its folder");
	ok(scratch_exists(file_in(folder, "run.json")), "run.json is there from the start");
	ok(ceil_run_add(run, &r, /* is_ceiling= */ false, &err) == CEIL_OK, "a searched row");
	ok(ceil_run_add(run, &r, /* is_ceiling= */ true, &err) == CEIL_OK, "a ceiling");
	ok(ceil_run_add_samples(run, &r, &o, &err) == CEIL_OK, "samples");
	is_int(rows_of(file_in(folder, "records.csv.partial"), &ceil_table_records), 2,
	       "rows are in the partial file as they come");
	ok(!scratch_exists(file_in(folder, "records.csv")), "which has no final name yet");
	ok(ceil_run_add_denominators(run, &r, 1, &err) == CEIL_OK, "no denominators");
	json_object_set_new(info, "coverage", json_string("all of it"));
	ok(ceil_run_close(run, &err) == CEIL_OK, "it closes");
	is_int(rows_of(file_in(folder, "ceilings.csv"), &ceil_table_ceilings), 1, "ceilings.csv");
	is_int(rows_of(file_in(folder, "records.csv"), &ceil_table_records), 2, "records.csv");
	is_int(rows_of(file_in(folder, "samples.csv"), &ceil_table_samples), 3, "samples.csv");
	is_int(rows_of(file_in(folder, "mfu_denominators.csv"), &ceil_table_mfu), 0,
	       "a header without rows");
	has_text(scratch_read(file_in(folder, "run.json")), "all of it",
	         "run.json is written again at the end");
	ok(!scratch_exists(file_in(folder, "samples.csv.partial")), "nothing is left partial");
	ok(ceil_run_close(NULL, &err) == CEIL_OK, "closing NULL is fine");
	json_decref(info);
}

static void test_refusals(void)
{
	json_t *info = new_info();
	struct ceil_run *run = NULL;
	char name[4096];

	ok(ceil_run_open(scratch_path("deep/new"), info, &run, &err) == CEIL_E_USAGE,
	   "a finished run is not overwritten");
	has_text(err.text, "holds a run already (run.json): name another folder", "it says so");
	ok(mkdir(scratch_path("crashed"), 0777) == 0, "# a run that crashed");
	(void)scratch_text("crashed/records.csv.partial", "host\n");
	ok(ceil_run_open(scratch_path("crashed"), info, &run, &err) == CEIL_E_USAGE,
	   "nor are the rows of one that crashed");
	has_text(err.text, "records.csv.partial", "they are named");
	ok(mkdir(scratch_path("slurm"), 0777) == 0, "# a folder with another file in it");
	(void)scratch_text("slurm/slurm-1.out", "log\n");
	run = open_run(scratch_path("slurm"), info);
	ok(ceil_run_close(run, &err) == CEIL_OK, "a folder with other files in it is used");
	(void)scratch_text("file", "");
	ok(ceil_run_open(scratch_path("file"), info, &run, &err) == CEIL_E_IO,
	   "a file is no folder");
	ok(err.text[0] != '\0', "there are words for it: %s", err.text);
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ok(ceil_run_open(name, info, &run, &err) == CEIL_E_USAGE, "a name that is too long");
	ok(ceil_run_open("/proc/nowhere", info, &run, &err) == CEIL_E_IO, "a place to write not");
	json_decref(info);
}

static void test_default_folder(void)
{
	json_t *info = new_info();
	char back[1024], first[1024];
	struct ceil_run *a, *b;

	ok(getcwd(back, sizeof(back)) && chdir(scratch_path("")) == 0, "# in a folder of our own");
	a = open_run(/* output= */ NULL, info);
	b = open_run(/* output= */ NULL, info);
	if (a && b) {
		ceil_copy(first, sizeof(first), ceil_run_folder(a));
		ok(strncmp(first, "./gpuceil-20", 12) == 0 && strchr(first, 'Z') &&
		           !strchr(first, ':'),
		   "the name has the time: %s", first);
		ok(strcmp(first, ceil_run_folder(b)) != 0, "two of one second do not meet: %s",
		   ceil_run_folder(b));
	}
	ok(ceil_run_close(a, &err) == CEIL_OK && ceil_run_close(b, &err) == CEIL_OK, "both close");
	ok(chdir(back) == 0, "# back");
	json_decref(info);
}

static void *add_many(void *arg)
{
	const struct ceil_record r = record("dram.read", 4700);
	struct ceil_error own;
	long failed = 0;

	for (int i = 0; i < 200; i++)
		failed += ceil_run_add(arg, &r, i % 2 == 0, &own) != CEIL_OK;
	return failed ? arg : NULL;
}

static void test_threads(void)
{
	json_t *info = new_info();
	const char *folder = scratch_path("threads");
	struct ceil_run *run = open_run(folder, info);
	pthread_t t[4];
	bool fine = true;

	for (int i = 0; i < 4; i++)
		fine = pthread_create(&t[i], NULL, add_many, run) == 0 && fine;
	for (int i = 0; i < 4; i++) {
		void *failed = NULL;

		fine = pthread_join(t[i], &failed) == 0 && !failed && fine;
	}
	ok(fine, "four threads add rows");
	ok(ceil_run_close(run, &err) == CEIL_OK, "it closes");
	is_int(rows_of(file_in(folder, "records.csv"), &ceil_table_records), 800, "none is torn");
	is_int(rows_of(file_in(folder, "ceilings.csv"), &ceil_table_ceilings), 400, "or lost");
	json_decref(info);
}

/* A limit on the size of files stands for a full disk: the k-th byte cannot be written. */
static void test_full_disk(void)
{
	json_t *info = new_info();
	const char *folder = scratch_path("full");
	struct ceil_run *run = open_run(folder, info);
	const struct ceil_record r = record("dram.copy", 4368);
	struct rlimit before, small;
	int told = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	ok(getrlimit(RLIMIT_FSIZE, &before) == 0, "# a limit on files");
	small = before;
	small.rlim_cur = 3000;
	ok(setrlimit(RLIMIT_FSIZE, &small) == 0, "# of 3000 bytes");
	for (int i = 0; i < 100; i++)
		told += ceil_run_add(run, &r, /* is_ceiling= */ i == 0, &err) != CEIL_OK;
	is_int(told, 1, "the failure is told once");
	has_text(err.text, "records.csv.partial", "with the file");
	is_int(ceil_run_close(run, &err), CEIL_E_IO, "and at the end");
	ok(setrlimit(RLIMIT_FSIZE, &before) == 0, "# no limit");
	is_int(rows_of(file_in(folder, "ceilings.csv"), &ceil_table_ceilings), 1,
	       "the other files are whole");
	has_text(scratch_read(file_in(folder, "records.csv.partial")), "dram.copy",
	         "what was measured stays readable");
	ok(!scratch_exists(file_in(folder, "records.csv")), "but is not called finished");
	has_text(scratch_read(file_in(folder, "run.json")), "tool_version", "run.json is whole");
	json_decref(info);
}

struct pulse {
	double seconds;
	char device[16];
};
static const struct ceil_field pulse_fields[] = {
	CEIL_FIELD(struct pulse, seconds, "s", 1, "since the start"),
	CEIL_FIELD(struct pulse, device, "", 1, "whose"),
};
static const struct ceil_table pulses = {.name = "telemetry.csv",
                                         .doc = "a series",
                                         .fields = pulse_fields,
                                         .field_count = 2,
                                         .row_bytes = sizeof(struct pulse)};

static void test_telemetry(void)
{
	const char *folder = scratch_path("pulse");
	const struct pulse p = {0.1, "gpu0"};
	json_t *info = new_info();
	struct ceil_run *run = open_run(folder, info);

	ok(ceil_run_open_telemetry(run, &pulses, &err) == CEIL_OK, "telemetry.csv is opened");
	ceil_run_add_telemetry(run, &p);
	ceil_run_add_telemetry(run, &p);
	ok(ceil_run_close(run, &err) == CEIL_OK, "and closed");
	is_int(rows_of(file_in(folder, "telemetry.csv"), &pulses), 2, "with its rows");
	run = open_run(scratch_path("blocked"), info);
	(void)mkdir(file_in(scratch_path("blocked"), "telemetry.csv.partial"), 0777);
	is_int(ceil_run_open_telemetry(run, &pulses, &err), CEIL_E_IO, "one that cannot be made");
	ceil_run_add_telemetry(run, &p);
	is_int(ceil_run_close(run, &err), CEIL_E_IO, "is told at the end");
	json_decref(info);
}

/* Whatever allocation of the opening fails: a status, no leak, and no file left behind. */
static void test_no_memory(void)
{
	json_t *info = new_info();
	const char *folder = scratch_path("memory");
	struct ceil_run *run = NULL;
	bool fine = true;
	long k = 0;

	do {
		ceil_alloc_fail_at(++k);
		run = NULL;
		const enum ceil_status st = ceil_run_open(folder, info, &run, &err);

		ceil_alloc_fail_at(0);
		fine = fine && (run ? st == CEIL_OK : st == CEIL_E_NOMEM) &&
		       (run || !scratch_exists(file_in(folder, "run.json")));
	} while (!run && k < 100);
	ok(fine && run && k > 1, "each of %ld allocations fails cleanly", k - 1);
	ok(ceil_run_close(run, &err) == CEIL_OK, "and then it works");
	json_decref(info);
}

static struct ceil_record bf16_record(void)
{
	struct ceil_record r = record("gemm.bf16.burst", 819.9);

	ceil_copy(r.dtype_in, sizeof(r.dtype_in), "bf16");
	ceil_copy(r.regime, sizeof(r.regime), "burst");
	r.datasheet = 989.4;
	return r;
}

static void test_denominators(void)
{
	json_t *info = new_info();
	const char *folder = scratch_path("denominators");
	struct ceil_run *run = open_run(folder, info);
	const struct ceil_record r[] = {record("dram.copy", 4368), bf16_record()};

	if (!run)
		return;
	ok(ceil_run_add_denominators(run, r, 2, &err) == CEIL_OK, "of two ceilings");
	ok(ceil_run_close(run, &err) == CEIL_OK, "it closes");
	is_int(rows_of(file_in(folder, "mfu_denominators.csv"), &ceil_table_mfu), 1,
	       "the product is what MFU is divided by");
	has_text(scratch_read(file_in(folder, "mfu_denominators.csv")), ",989.4,",
	         "with its datasheet figure");
	json_decref(info);
}

static void test_json_lines(void)
{
	json_t *info = new_info();
	const struct ceil_record r = record("dram.copy", 4368), product = bf16_record();
	const char *path = scratch_text("lines", "");
	const int out = dup(STDOUT_FILENO);
	struct ceil_run *run = NULL;
	enum ceil_status opened, added, divided, closed;

	fflush(stdout);
	FILE *f = freopen(path, "w", stdout);
	opened = ceil_run_open("-", info, &run, &err);
	added = ceil_run_add(run, &r, /* is_ceiling= */ true, &err);
	divided = ceil_run_add_denominators(run, &product, 1, &err);
	closed = ceil_run_close(run, &err);
	fflush(stdout);
	(void)dup2(out, STDOUT_FILENO);
	(void)close(out);
	ok(f && opened == CEIL_OK && added == CEIL_OK && divided == CEIL_OK && closed == CEIL_OK,
	   "a run to stdout");
	has_text(scratch_read(path), "{\"table\":\"run.json\",\"tool_version\":\"0.1.0\"}\n",
	         "run.json is a line, first and last");
	has_text(scratch_read(path),
	         "{\"table\":\"ceilings.csv\",\"host\":\"node7\",\"device\":\"gpu0\"",
	         "a row is a line that names its table");
	has_text(scratch_read(path),
	         "{\"table\":\"mfu_denominators.csv\",\"host\":\"node7\",\"device\":\"gpu0\"",
	         "so is a denominator");
	json_decref(info);
}

int main(void)
{
	test_files();
	test_refusals();
	test_default_folder();
	test_threads();
	test_full_disk();
	test_telemetry();
	test_no_memory();
	test_denominators();
	test_json_lines();
	return done_testing();
}
