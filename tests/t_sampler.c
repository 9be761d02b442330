/* The sampler's thread: what it reads, labels, keeps and forgets, and how it ends. */
#include "harness/telemetry/sampler.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/telemetry/nvml.h"
#include "tests/fakes.h"
#include "tests/tap.h"

enum { MAX_ROWS = 4096 };

struct seen {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct ceil_telemetry_row v[MAX_ROWS];
	size_t count;
};

static struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void on_row(void *user, const struct ceil_telemetry_row *row)
{
	struct seen *s = user;

	pthread_mutex_lock(&s->lock);
	if (s->count < MAX_ROWS)
		s->v[s->count++] = *row;
	pthread_cond_broadcast(&s->more);
	pthread_mutex_unlock(&s->lock);
}

static void wait_for(size_t count)
{
	pthread_mutex_lock(&seen.lock);
	while (seen.count < count)
		pthread_cond_wait(&seen.more, &seen.lock);
	pthread_mutex_unlock(&seen.lock);
}

static size_t rows_so_far(void)
{
	size_t count;

	pthread_mutex_lock(&seen.lock);
	count = seen.count;
	pthread_mutex_unlock(&seen.lock);
	return count;
}

static double value_of(const struct ceil_telemetry_row *row, const char *name)
{
	const int index = ceil_source_value_index(name);

	return index < 0 ? -1.0 : row->value[index];
}

/* Each value by its name from the table, as a reader of the file would find it. */
static void test_table(void)
{
	struct ceil_telemetry_table t;
	struct ceil_telemetry_row row;
	const struct ceil_field *f;
	size_t values = 0;

	ceil_telemetry_table_init(&t);
	ceil_table_clear(&t.table, &row);
	for (size_t i = 0; i < t.table.field_count; i++) {
		f = &t.table.fields[i];
		ok(f->name[0] && f->doc[0] && ceil_table_find(&t.table, f->name) == f,
		   "%s is documented, and there once", f->name);
		values += ceil_source_value_index(f->name) >= 0;
	}
	is_int((long long)values, (long long)t.table.field_count - 3, "all but three are values");
	f = ceil_table_find(&t.table, "temp_c");
	row.value[ceil_source_value_index("temp_c")] = 31.0;
	ok(f && !ceil_field_absent(f, &row), "a column finds its value");
	ok(ceil_source_value_index("nonsense") == -1, "no source has nonsense");
	for (size_t s = 0; ceil_sources[s]; s++)
		ok(ceil_sources[s]->name[0] && ceil_sources[s]->doc[0] && s < CEIL_SOURCES_MAX,
		   "source %s is documented", ceil_sources[s]->name);
}

static void test_nothing(void)
{
	const struct ceil_source_target lone = {.device = "gpu0", .uuid = "", .pci_bus_id = ""};
	const struct ceil_sampler_options o = {0};
	struct ceil_sampler *s = NULL;
	struct ceil_watch_stats st;
	struct ceil_error err = {CEIL_OK, ""};

	is_int(ceil_sampler_open(&lone, 1, &o, &s, &err), CEIL_E_UNSUPPORTED, "no NVML: off");
	is_text(err.text, "no telemetry: NVML does not know this GPU", "and it says why");
	is_int(ceil_sampler_open(NULL, 0, &o, &s, &err), CEIL_E_UNSUPPORTED, "no GPU: off");
	is_text(err.text, "no telemetry: there is no GPU", "and it says why");
	ok(s == NULL && ceil_sampler_close(NULL), "nothing to close");
	ok(ceil_sampler_watch(NULL, 0) == NULL, "nothing to watch");
	ceil_watch_label(NULL, "dram.read");
	ceil_watch_stats_of(NULL, "sm_mhz", 0, UINT64_MAX, &st);
	ok(isnan(st.mean) && isnan(st.min) && isnan(st.max) && st.count == 0, "no statistics");
	is_text(ceil_sampler_reason(NULL, 0), "", "no reason");
}

/* @patience_ns: how long the end may take. */
static struct ceil_sampler *open_with(struct ceil_nvml *n, uint64_t interval_ns,
                                      uint64_t patience_ns)
{
	const struct ceil_source_target two[] = {
		{.device = "gpu0", .uuid = "", .pci_bus_id = "", .nvml = ceil_nvml_at(n, 0)},
		{.device = "gpu1", .uuid = "", .pci_bus_id = "", .nvml = ceil_nvml_at(n, 1)},
	};
	const struct ceil_sampler_options o = {.interval_ns = interval_ns,
	                                       .patience_ns = patience_ns,
	                                       .row = on_row,
	                                       .user = &seen};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_sampler *s = NULL;

	seen.count = 0;
	ok(ceil_sampler_open(two, 2, &o, &s, &err) == CEIL_OK, "the sampler opens: %s", err.text);
	return s;
}

static struct ceil_sampler *open_two(struct ceil_nvml *n, uint64_t interval_ns)
{
	return open_with(n, interval_ns, 10 * (uint64_t)CEIL_NS_PER_S);
}

static void test_rows(struct ceil_nvml *n)
{
	struct ceil_sampler *s = open_two(n, CEIL_NS_PER_MS);
	struct ceil_watch *w = ceil_sampler_watch(s, 1);
	const struct ceil_telemetry_row *r;
	size_t before, labelled = 0;

	if (!s)
		return;
	is_text(ceil_sampler_reason(s, 0), "", "NVML watches");
	ok(w && !ceil_sampler_watch(s, 2), "two GPUs are watched");
	wait_for(4);
	ceil_watch_label(w, "gemm.bf16.sustained");
	before = rows_so_far();
	wait_for(before + 6);
	ok(ceil_sampler_close(s), "it ends");
	before = rows_so_far();
	is_text(seen.v[0].device, "gpu0", "the first GPU comes first");
	is_text(seen.v[1].device, "gpu1", "then the second");
	r = &seen.v[0];
	ok(r->seconds >= 0.0 && seen.v[2].seconds > r->seconds, "time goes on");
	is_close(value_of(r, "sm_mhz"), 1980, 0, "SM clock");
	is_close(value_of(r, "power_w"), 121.5, 1e-9, "power");
	is_close(value_of(r, "temp_c"), 31, 0, "temperature");
	is_close(value_of(r, "throttle_bits"), 1, 0, "reasons");
	is_close(value_of(r, "pcie_width"), 16, 0, "PCIe width");
	is_text(r->ceiling, "", "nothing was measured at first");
	for (size_t i = 0; i < before; i++) {
		if (seen.v[i].ceiling[0])
			labelled += strcmp(seen.v[i].device, "gpu1") == 0 &&
			            strcmp(seen.v[i].ceiling, "gemm.bf16.sustained") == 0;
	}
	ok(labelled >= 2, "then a ceiling of the second GPU");
	is_int((long long)rows_so_far(), (long long)before, "no row comes after the end");
}

static void test_stats(struct ceil_nvml *n)
{
	struct ceil_sampler *s = open_two(n, CEIL_NS_PER_MS);
	const struct ceil_watch *w = ceil_sampler_watch(s, 0);
	struct ceil_watch_stats st;
	uint64_t from_ns, to_ns;

	if (!s)
		return;
	wait_for(4);
	from_ns = ceil_now_ns();
	wait_for(rows_so_far() + 8);
	to_ns = ceil_now_ns();
	ceil_watch_stats_of(w, "sm_mhz", from_ns, to_ns, &st);
	ok(st.count >= 3, "readings of a stretch: %zu", st.count);
	is_close(st.mean, 1980, 1e-9, "their mean");
	ok(st.min == 1980 && st.max == 1980, "smallest and largest");
	ceil_watch_stats_of(w, "sm_mhz", 0, from_ns - CEIL_NS_PER_S, &st);
	ok(st.count == 0 && isnan(st.mean), "nothing before it began");
	ceil_watch_stats_of(w, "nonsense", 0, to_ns, &st);
	ok(st.count == 0 && isnan(st.mean), "nothing of what no source has");
	ok(ceil_sampler_close(s), "it ends");
}

static void test_absent(struct ceil_nvml *n)
{
	struct ceil_watch_stats st;
	struct ceil_sampler *s;
	bool all = true;

	(void)setenv("FAKE_NVML_FAIL", "nvmlDevice*=15", 1);
	s = open_two(n, CEIL_NS_PER_MS);
	wait_for(4);
	ceil_watch_stats_of(ceil_sampler_watch(s, 0), "temp_c", 0, UINT64_MAX, &st);
	ok(st.count == 0 && isnan(st.mean), "a lost GPU has no temperature");
	ok(ceil_sampler_close(s), "it ends");
	for (size_t i = 0; i < CEIL_SOURCE_VALUES; i++)
		all = all && isnan(seen.v[3].value[i]);
	ok(all, "all of its values are absent");
	(void)unsetenv("FAKE_NVML_FAIL");
}

static void test_ring(struct ceil_nvml *n)
{
	struct ceil_sampler *s = open_two(n, 1000);
	struct ceil_watch_stats st;

	wait_for(2 * CEIL_SAMPLER_RING + 200);
	ceil_watch_stats_of(ceil_sampler_watch(s, 1), "temp_c", 0, UINT64_MAX, &st);
	is_int((long long)st.count, CEIL_SAMPLER_RING, "the ring forgets the oldest");
	ok(ceil_sampler_close(s), "it ends");
}

/* A beat of a day: the end does not wait for it. */
static void test_prompt(struct ceil_nvml *n)
{
	struct ceil_sampler *s = open_two(n, 86400 * (uint64_t)CEIL_NS_PER_S);

	wait_for(2);
	ok(ceil_sampler_close(s), "it ends between two beats");
	is_int((long long)rows_so_far(), 2, "after one reading of each");
}

static void test_stuck(struct ceil_nvml *n)
{
	struct ceil_sampler *s;
	bool ended;

	(void)setenv("FAKE_NVML_HOLD_MS", "200", 1);
	s = open_with(n, 1000, 10 * (uint64_t)CEIL_NS_PER_MS);
	wait_for(1);
	ended = ceil_sampler_close(s);
	ok(!ended, "a driver that does not answer is told");
	while (!ended)
		ended = ceil_sampler_close(s);
	ok(ended, "and can be waited for");
	(void)unsetenv("FAKE_NVML_HOLD_MS");
}

static void test_no_memory(struct ceil_nvml *n)
{
	const struct ceil_source_target t = {.device = "gpu0", .nvml = ceil_nvml_at(n, 0)};
	const struct ceil_sampler_options o = {.interval_ns = CEIL_NS_PER_MS};
	struct ceil_sampler *s = NULL;
	enum ceil_status st = CEIL_E_NOMEM;
	long k = 0;

	while (st == CEIL_E_NOMEM && k < 20) {
		ceil_alloc_fail_at(++k);
		st = ceil_sampler_open(&t, 1, &o, &s, /* err= */ NULL);
		ceil_alloc_fail_at(0);
	}
	is_int(st, CEIL_OK, "it opens once there is memory");
	ok(k > 5, "%ld allocations, each of which may fail, those of the sources too", k - 1);
	ok(ceil_sampler_close(s), "it ends, without anyone who wants rows");
}

int main(void)
{
	char fake[FAKE_PATH_MAX];
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_nvml *n = NULL;

	test_table();
	test_nothing();
	if (!fake_path("nvml", fake)) {
		skip("readings", "the stand-in library is not built");
		return done_testing();
	}
	(void)setenv("GPUCEIL_LIB_NVML", fake, 1);
	(void)setenv("FAKE_NVML_COUNT", "2", 1);
	if (!ok(ceil_nvml_open(&n, &err) == CEIL_OK, "the stand-in opens: %s", err.text))
		return done_testing();
	test_rows(n);
	test_stats(n);
	test_absent(n);
	test_ring(n);
	test_prompt(n);
	test_stuck(n);
	test_no_memory(n);
	ceil_nvml_close(n);
	return done_testing();
}
