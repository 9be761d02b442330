/* What the sampler costs a GEMM: pairs of samples with and without it, interleaved in a process. */
#include "bench/gemm.h"

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/output/csv.h"
#include "harness/telemetry/nvml.h"
#include "harness/telemetry/sampler.h"
#include "tests/gpu_bench.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The claim: below 0.1 % of a GEMM's time. */
#define LIMIT_RATIO 0.001
/* One-sided 95 % of a normal; the mean of 100 pairs is one. */
#define Z95 1.645
/* Half a beat: with the reading at its start, a sample holds twice as many as a run would. */
#define SAMPLE_NS ((double)CEIL_SAMPLER_INTERVAL_NS / 2)
#define WAIT_NS   (60 * (uint64_t)CEIL_NS_PER_S)
enum { PAIRS = 100, WARM_SAMPLES = 30, SIZE = 8192 };

/*
 * Two products. Zeros leave the card below its power cap: the clock stands still, and time shows
 * small differences. At full power the clock wanders by 1 % from sample to sample, whoever watches,
 * and 100 pairs of times could not tell 0.1 %: cycles can.
 */
static const struct load {
	const char *ceiling;
	enum ceil_pattern data;
	bool cycles;
} loads[] = {
	{"gemm.fp32", CEIL_ZEROS, false},
	{"gemm.bf16", CEIL_NORMAL, true},
};

struct rig {
	struct ceil_case cas;
	struct ceil_point p;
	struct ceil_device *dev;
	struct ceil_launch l;
	struct ceil_buffer b[CEIL_MAX_BUFS];
	uint32_t candidates;
	uint64_t batch;
	bool cycles; /* what a sample gives: SM cycles instead of ns */
	struct ceil_source_target target;
	struct ceil_telemetry_table table;
	struct ceil_csv *csv; /* rows are written as a run writes them */
};

static const struct ceil_variant *variant_of(const char *ceiling)
{
	for (size_t i = 0; i < ceil_gemm_bench.variant_count; i++) {
		const struct ceil_variant *v = &ceil_gemm_bench.variants[i];

		if (strcmp(v->backend, "cuda") == 0 && strcmp(v->ceiling, ceiling) == 0)
			return v;
	}
	return NULL;
}

static enum ceil_status open_rig(struct rig *r, const struct ceil_variant *v,
                                 enum ceil_pattern data, struct ceil_error *err)
{
	const struct ceil_backend *b = r->dev->backend;
	enum ceil_status st;

	r->l = (struct ceil_launch){0};
	memset(r->b, 0, sizeof(r->b));
	r->cas = (struct ceil_case){.name = "large", .axis = {SIZE, SIZE, SIZE, CEIL_GEMM_TN, 1}};
	r->p = (struct ceil_point){.bench = &ceil_gemm_bench, .variant = v, .cas = &r->cas};
	st = ceil_gemm_bench.shape(&r->p, &r->dev->props, &r->l, r->b, err);
	if (st == CEIL_OK)
		st = b->bind(r->dev, &r->l, err);
	for (size_t i = 0; i < ceil_gemm_bench.buf_count && st == CEIL_OK; i++)
		st = r->b[i].bytes ? b->alloc(r->dev, &r->b[i], &r->l.buf[i], err) : CEIL_OK;
	for (int i = 0; i < 2 && st == CEIL_OK; i++)
		st = b->fill(r->dev, &r->b[i], r->l.buf[i], i, data, 1, err);
	if (st == CEIL_OK)
		st = ceil_gemm_bench.prepare(&r->p, r->dev, &r->l, &r->candidates, err);
	return st;
}

static void close_rig(struct rig *r)
{
	ceil_gemm_bench.release(&r->l);
	for (size_t i = 0; i < ceil_gemm_bench.buf_count; i++) {
		if (r->l.buf[i])
			r->dev->backend->free(r->dev, &r->b[i], r->l.buf[i]);
	}
}

/* Time or cycles of one launch in a batch, by marks and stamps on the device; NAN: it failed. */
static double sample(struct rig *r)
{
	const struct ceil_backend *b = r->dev->backend;
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st = b->clock(r->dev, 0, &err);
	double ns = (double)NAN, mhz = (double)NAN;

	if (st == CEIL_OK)
		st = b->mark(r->dev, 0, 0, &err);
	for (uint64_t i = 0; i < r->batch && st == CEIL_OK; i++)
		st = r->p.variant->launch(&r->l, &err);
	if (st == CEIL_OK)
		st = b->mark(r->dev, 0, 1, &err);
	if (st == CEIL_OK)
		st = b->clock(r->dev, 1, &err);
	if (st == CEIL_OK)
		st = b->sync(r->dev, WAIT_NS, &err);
	if (st == CEIL_OK)
		st = b->elapsed_ns(r->dev, 0, 1, &ns, &err);
	if (st == CEIL_OK)
		st = b->clock_mhz(r->dev, 0, 1, &mhz, &err);
	if (st == CEIL_OK)
		return ns / (double)r->batch * (r->cycles ? mhz * 1e-3 : 1.0);
	printf("# %s\n", err.text);
	return (double)NAN;
}

static void on_row(void *user, const struct ceil_telemetry_row *row)
{
	struct rig *r = user;
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_csv_write_row(r->csv, row, &err) != CEIL_OK)
		printf("# %s\n", err.text);
}

static double sample_watched(struct rig *r)
{
	const struct ceil_sampler_options o = {.row = on_row, .user = r};
	struct ceil_sampler *s = NULL;
	double value;

	if (ceil_sampler_open(&r->target, 1, &o, &s, /* err= */ NULL) != CEIL_OK)
		return (double)NAN;
	value = sample(r);
	return ceil_sampler_close(s) ? value : (double)NAN;
}

/* Batch of a sample, after the card has come to its heat and clock. */
static void warm_up(struct rig *r)
{
	r->batch = 8;
	r->cycles = false;
	(void)sample(r);
	r->batch = (uint64_t)fmax(1.0, SAMPLE_NS / sample(r));
	for (int i = 0; i < WARM_SAMPLES; i++)
		(void)sample(r);
}

/* Every second pair the other way round, so that a drift falls on both alike. */
static void measure(struct rig *r, double ret_ratio[PAIRS])
{
	for (int i = 0; i < PAIRS; i++) {
		const double first = i % 2 ? sample_watched(r) : sample(r);
		const double second = i % 2 ? sample(r) : sample_watched(r);

		ret_ratio[i] = i % 2 ? first / second - 1.0 : second / first - 1.0;
	}
}

/* Return: the upper bound of the mean. */
static double tell(const double ratio[PAIRS], const struct load *load)
{
	double mean = 0.0, square = 0.0, bound;

	for (int i = 0; i < PAIRS; i++)
		mean += ratio[i] / PAIRS;
	for (int i = 0; i < PAIRS; i++)
		square += (ratio[i] - mean) * (ratio[i] - mean) / (PAIRS - 1);
	bound = mean + Z95 * sqrt(square / PAIRS);
	printf("# %s, %s: %d pairs, mean difference %.4f %%, deviation %.4f %%, upper 95 %% bound "
	       "%.4f %%\n",
	       load->ceiling, load->cycles ? "cycles" : "time", PAIRS, 100 * mean,
	       100 * sqrt(square), 100 * bound);
	return bound;
}

/* How long one reading of each source takes: what holds the driver's locks. */
static void time_readings(const struct ceil_source_target *t)
{
	enum { READINGS = 20 };
	double values[CEIL_SOURCE_VALUES];

	for (size_t s = 0; ceil_sources[s]; s++) {
		const struct ceil_source *source = ceil_sources[s];
		struct ceil_error err = {CEIL_OK, ""};
		void *state = NULL;
		uint64_t from_ns;

		if (source->open(t, &state, &err) != CEIL_OK) {
			printf("# %s: %s\n", source->name, err.text);
			continue;
		}
		from_ns = ceil_now_ns();
		for (int i = 0; i < READINGS; i++)
			source->read(state, values);
		printf("# a reading of %s takes %.0f us\n", source->name,
		       (double)(ceil_now_ns() - from_ns) / READINGS * 1e-3);
		source->close(state);
	}
}

static void test_cost(struct rig *r, const struct load *load)
{
	static double ratio[PAIRS];
	const struct ceil_variant *v = variant_of(load->ceiling);
	struct ceil_error err = {CEIL_OK, ""};

	if (ok(v && open_rig(r, v, load->data, &err) == CEIL_OK, "%s: %s", load->ceiling,
	       err.text)) {
		warm_up(r);
		r->cycles = load->cycles;
		measure(r, ratio);
		ok(tell(ratio, load) < LIMIT_RATIO, "the sampler costs %s less than 0.1 %%",
		   load->ceiling);
	}
	close_rig(r);
}

int main(void)
{
	static struct rig r;
	char path[64] = "/tmp/gpuceil-cost-XXXXXX";
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_nvml *n = NULL;

	if (getenv("GPUCEIL_TEST_SMALL"))
		skip_all("a sanitizer's times mean nothing");
	if (ceil_nvml_open(&n, &err) != CEIL_OK)
		skip_all(err.text);
	r.dev = gpu_device_open();
	r.target = (struct ceil_source_target){
		.device = "gpu0",
		.uuid = r.dev->props.uuid,
		.pci_bus_id = r.dev->props.pci_bus_id,
		.nvml = ceil_nvml_find(n, r.dev->props.uuid, r.dev->props.pci_bus_id),
	};
	ceil_telemetry_table_init(&r.table);
	(void)close(mkstemp(path));
	if (ok(r.target.nvml && ceil_csv_open(path, &r.table.table, &r.csv, &err) == CEIL_OK,
	       "NVML knows it, and rows have a file: %s", err.text)) {
		time_readings(&r.target);
		for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
			test_cost(&r, &loads[i]);
	}
	ceil_csv_abandon(r.csv);
	(void)unlink(path);
	ceil_append(path, sizeof(path), ".partial");
	(void)unlink(path);
	r.dev->backend->close(r.dev);
	ceil_nvml_close(n);
	return done_testing();
}
