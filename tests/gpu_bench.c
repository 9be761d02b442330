/* What tests on a real GPU share: the device, and every GPU variant of a bench, exact or in short.
 */
#include "tests/gpu_bench.h"

#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Milliseconds would do; a sanitizer makes kernels a hundred times slower. */
#define WAIT_NS UINT64_C(120000000000)

enum { SEED = 11 };

/*
 * The driver clears memory that was freed, at about 425 GB/s on an H200, while the next kernel
 * runs: dram__bytes_write was 31 % above what a triad wrote, and the triad 12 % slower. 100 ms
 * clear 40 GB.
 */
static void let_freed_memory_be_cleared(void)
{
	const struct timespec pause = {.tv_nsec = 100000000};

	if (getenv("GPUCEIL_TEST_LARGE"))
		(void)nanosleep(&pause, /* remaining= */ NULL);
}

struct bed {
	struct ceil_device *dev;
	struct ceil_case cas;
	struct ceil_point p;
	struct ceil_launch l;
	struct ceil_buffer b[CEIL_MAX_BUFS];
	bool prepared;
};

static enum ceil_status place(struct bed *w, struct ceil_error *err)
{
	const struct ceil_backend *b = w->dev->backend;
	enum ceil_status st = b->bind(w->dev, &w->l, err);

	for (size_t i = 0; i < w->p.bench->buf_count && st == CEIL_OK; i++) {
		const bool input = w->b[i].role == CEIL_INPUT;

		if (w->b[i].bytes == 0)
			continue;
		st = b->alloc(w->dev, &w->b[i], &w->l.buf[i], err);
		if (st == CEIL_OK)
			st = b->fill(w->dev, &w->b[i], w->l.buf[i], (int)i,
			             input ? w->p.bench->check_pattern : CEIL_POISON, SEED, err);
	}
	return st;
}

static enum ceil_status open_bed(struct bed *w, struct ceil_error *err)
{
	uint32_t candidates = 1;
	enum ceil_status st = w->p.bench->shape(&w->p, &w->dev->props, &w->l, w->b, err);

	if (st == CEIL_OK)
		st = place(w, err);
	if (st != CEIL_OK || !w->p.bench->prepare)
		return st;
	w->prepared = true;
	return w->p.bench->prepare(&w->p, w->dev, &w->l, &candidates, err);
}

static void close_bed(struct bed *w)
{
	if (w->prepared)
		w->p.bench->release(&w->l);
	for (size_t i = 0; i < w->p.bench->buf_count; i++) {
		if (w->l.buf[i])
			w->dev->backend->free(w->dev, &w->b[i], w->l.buf[i]);
	}
}

static enum ceil_status check(const struct bed *w, struct ceil_error *err)
{
	return w->p.bench->check(&w->p, w->dev, &w->l, w->b, SEED, err);
}

static void launch_and_check(const struct bed *w, struct ceil_error *err)
{
	const char *name = w->p.variant->name;
	struct ceil_work work;
	enum ceil_status st;

	w->p.bench->work(&w->p, &w->l, &work);
	/* tests/gpu/counters.sh holds this against what hardware counters say. */
	printf("# work %s %.17g %.17g %.17g %.17g\n", name, work.flops, work.bytes_read,
	       work.bytes_written, work.items);
	is_int(check(w, err), CEIL_E_WRONG, "poison is no result");
	*err = (struct ceil_error){CEIL_OK, ""};
	let_freed_memory_be_cleared();
	st = w->p.variant->launch(&w->l, err);
	if (st == CEIL_OK)
		st = w->dev->backend->sync(w->dev, WAIT_NS, err);
	if (st == CEIL_OK)
		st = check(w, err);
	ok(st == CEIL_OK, "%s: exact: %s", name, err->text);
}

static void test_variant(struct ceil_device *dev, const struct ceil_bench *bench,
                         const struct ceil_variant *v, const uint64_t *axis)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct bed w = {.dev = dev, .cas = {.name = "small"}};

	memcpy(w.cas.axis, axis, sizeof(w.cas.axis));
	w.p = (struct ceil_point){.bench = bench, .variant = v, .cas = &w.cas};
	switch (open_bed(&w, &err)) {
	case CEIL_OK:
		launch_and_check(&w, &err);
		break;
	case CEIL_E_UNSUPPORTED:
	case CEIL_E_NOMEM:
		skip(v->name, err.text);
		break;
	default:
		ok(false, "%s: %s", v->name, err.text);
	}
	close_bed(&w);
}

struct ceil_device *gpu_device_open(void)
{
	const struct ceil_backend *cuda = ceil_backend_find("cuda");
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_device *dev = NULL;
	int count = 0;

	if (!cuda)
		skip_all("this build has no CUDA backend");
	if (cuda->count(&count, &err) != CEIL_OK || count == 0)
		skip_all(err.text);
	if (!ok(cuda->open(0, &dev, &err) == CEIL_OK, "device 0 opens: %s", err.text))
		exit(done_testing());
	return dev;
}

static bool part_has(const struct ceil_device *dev, const struct ceil_variant *v)
{
	const int cc = dev->props.cc_major * 10 + dev->props.cc_minor;

	return (!v->min_cc || cc >= v->min_cc) && (!v->max_cc || cc <= v->max_cc);
}

int gpu_bench_exact(const struct ceil_bench *bench, const uint64_t axis[CEIL_MAX_AXES],
                    bool (*fits)(const struct ceil_variant *v))
{
	struct ceil_device *dev = gpu_device_open();

	for (size_t i = 0; i < bench->variant_count; i++) {
		const struct ceil_variant *v = &bench->variants[i];

		if (strcmp(v->backend, "cuda") != 0 || (fits && !fits(v)))
			continue;
		if (part_has(dev, v))
			test_variant(dev, bench, v, axis);
		else
			skip(v->name, "not on this part");
	}
	dev->backend->close(dev);
	return done_testing();
}

/* ---- rows */

static const struct ceil_effort little = {.name = "search",
                                          .min_samples = 2,
                                          .max_samples = 3,
                                          .sample_ns = 100000,
                                          .budget_ns = 50000000,
                                          .precision = 0.5};

static void test_row(struct ceil_meter *m, const struct ceil_point *p,
                     void (*look)(const struct ceil_outcome *o))
{
	const char *variant = p->variant->name, *cas = p->cas->name;
	struct ceil_outcome o;
	struct ceil_error err = {CEIL_OK, ""};
	const enum ceil_status st = ceil_meter_point(m, p, &little, CEIL_SEARCH, &o, &err);
	const double value = ceil_outcome_value(&o);

	ok(st == CEIL_OK && o.status == CEIL_ROW_OK && o.checked, "%s %s: ok and checked: %s",
	   variant, cas, o.reason);
	ok(value > 0.0, "%s %s: %g %s", variant, cas, value, ceil_unit_name(p->variant->unit));
	if (look)
		look(&o);
	ceil_outcome_done(&o);
}

static bool is_offered(const struct ceil_device *dev, const struct ceil_point *p)
{
	return strcmp(p->variant->backend, "cuda") == 0 &&
	       (!p->cas->backend || strcmp(p->cas->backend, "cuda") == 0) &&
	       part_has(dev, p->variant) &&
	       (!p->bench->applies || p->bench->applies(p, &dev->props));
}

void gpu_bench_rows(struct ceil_device *dev, const struct ceil_bench *bench,
                    bool (*fits)(const struct ceil_point *p),
                    void (*look)(const struct ceil_outcome *o))
{
	const struct ceil_meter_options options = {.seed = 5};
	struct ceil_meter *m = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (!ok(ceil_meter_open(dev, &options, &m, &err) == CEIL_OK, "a meter %s", err.text))
		return;
	for (size_t i = 0; i < bench->variant_count * bench->case_count; i++) {
		const struct ceil_point p = {.bench = bench,
		                             .variant = &bench->variants[i / bench->case_count],
		                             .cas = &bench->cases[i % bench->case_count]};

		if (is_offered(dev, &p) && (!fits || fits(&p)))
			test_row(m, &p, look);
	}
	ceil_meter_close(m);
}
