/* Tests of the launch bench: its table, shapes, work, the steps of clocks, and the host's twin. */
#include "bench/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/device/host.h"
#include "tests/bench_bed.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

#define ABSENT ((double)NAN)

static const struct ceil_bench *const bench = &ceil_launch_bench;
static const struct ceil_device_props h200 = {.sm_count = 132, .cc_major = 9};

static struct ceil_point point(const char *name, const struct ceil_case *cas)
{
	return (struct ceil_point){.bench = bench, .variant = bed_variant(bench, name), .cas = cas};
}

/* ---- the table */

static void lint_variant(const struct ceil_variant *v)
{
	const bool gpu = strcmp(v->backend, "cuda") == 0;
	const bool self = v->timing == CEIL_TIME_SELF;
	size_t cases = 0;

	ok(strncmp(v->ceiling, gpu ? "launch." : "host.launch.", gpu ? 7 : 12) == 0,
	   "%s: a ceiling of its backend", v->name);
	ok(v->resource == CEIL_R_LAUNCH && v->doc && v->doc[0], "%s: says what it is", v->name);
	ok(v->launch || (v->why_not && gpu), "%s: a launcher or a reason", v->name);
	ok(!self || !v->gated, "%s: who waits by itself is not behind a gate", v->name);
	ok(v->tolerance > 0.0, "%s: a tolerance", v->name);
	for (size_t i = 0; i < bench->case_count; i++) {
		const struct ceil_point p = point(v->name, &bench->cases[i]);
		struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
		struct ceil_launch l = {0};
		struct ceil_work w = {0};
		struct ceil_error err = {CEIL_OK, ""};

		if (!bench->applies(&p, &h200))
			continue;
		cases++;
		if (!ok(bench->shape(&p, &h200, &l, buf, &err) == CEIL_OK, "%s %s: a shape %s",
		        v->name, p.cas->name, err.text))
			continue;
		bench->work(&p, &l, &w);
		ok(!self == (w.items > 0.0), "%s: items only where the loop divides", v->name);
		ok(l.self_count <= CEIL_MAX_TIMES && (self || l.self_count == 0),
		   "%s: times of its own only if it times itself", v->name);
		ok(l.k == 0, "%s: nothing is counted while it is timed", v->name);
	}
	ok(cases > 0, "%s: %zu cases", v->name, cases);
}

static void test_table(void)
{
	for (size_t i = 0; i < bench->variant_count; i++) {
		bool twice = false;

		lint_variant(&bench->variants[i]);
		for (size_t k = 0; k < i; k++)
			twice |= strcmp(bench->variants[i].name, bench->variants[k].name) == 0;
		ok(!twice, "%s: its name is its own", bench->variants[i].name);
	}
	is_int((long long)bench->case_count, 1 + 10 * 4,
	       "empty, and ten durations on four streams");
}

/* ---- shapes */

static struct ceil_launch shape_of(const char *name, const char *cas)
{
	const struct ceil_point p = point(name, bed_case(bench, cas));
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_error err = {CEIL_OK, ""};

	ok(bench->shape(&p, &h200, &l, buf, &err) == CEIL_OK, "%s %s %s", name, cas, err.text);
	is_int(buf[0].role, CEIL_WORKSPACE, "the counter is no data");
	return l;
}

static void test_storm_shapes(void)
{
	struct ceil_launch l = shape_of("storm.spin", "1us.s1");

	is_u64(l.n, 1024, "short kernels: a thousand");
	is_u64(l.m, 1000, "of a microsecond");
	is_u64(l.iters, 1, "on one stream");
	l = shape_of("storm.spin", "50us.s4");
	is_u64(l.n, 320, "50 us on 4 streams: 4 ms of work on each");
	l = shape_of("storm.spin", "1ms.s8");
	is_u64(l.n, 32, "1 ms on 8 streams: four on each");
	is_u64(l.iters, 8, "on eight streams");
}

static void test_other_shapes(void)
{
	struct ceil_launch l = shape_of("roundtrip.sync", "empty");

	is_u64(l.self_count, 1000, "a thousand round trips, each a sample");
	is_u64(l.blocks, 1, "of one block");
	l = shape_of("cooperative.grid", "empty");
	is_u64(l.blocks, 132, "a cooperative block on each SM");
	l = shape_of("chain.n4000", "empty");
	is_u64(l.n, 4000, "four thousand nodes");
	l = shape_of("enqueue.loop", "empty");
	is_u64(l.self_count, 0, "one time of");
	is_u64(l.iters, 256, "256 launches");
}

static void test_refused(void)
{
	static const struct {
		uint64_t axis[2];
		const char *text;
	} wrong[] = {
		{{999, 1}, "999 ns"},
		{{2000000000, 1}, "2000000000 ns"},
		{{1000, 0}, "0 streams"},
		{{1000, 9}, "9 streams"},
	};
	struct ceil_device_props one = {.sm_count = 1};
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	struct ceil_launch l;
	struct ceil_error err;
	struct ceil_point p = point("roundtrip.pool", bed_case(bench, "empty"));

	is_int(bench->shape(&p, &one, &l, buf, &err), CEIL_E_UNSUPPORTED, "one core has no other");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct ceil_case cas = {.name = "own",
		                              .axis = {wrong[i].axis[0], wrong[i].axis[1]}};

		p = point("storm.spin", &cas);
		is_int(bench->shape(&p, &h200, &l, buf, &err), CEIL_E_USAGE, "an axis is refused");
		has_text(err.text, wrong[i].text, "with what it was");
	}
}

static void test_applies(void)
{
	struct ceil_point p = point("storm.spin", bed_case(bench, "empty"));

	ok(!bench->applies(&p, NULL), "an empty kernel makes no storm");
	p = point("storm.spin", bed_case(bench, "2us.s8"));
	ok(bench->applies(&p, NULL), "kernels that work do");
	p = point("rate.loop", bed_case(bench, "2us.s8"));
	ok(!bench->applies(&p, NULL), "and are for nothing else");
}

/* ---- tools of measurement */

static void test_step(void)
{
	double multiples[] = {1920, 1632, 2048, 1632, 1760};
	double rounded[] = {1000.02, 1000.00, 1031.98, 1064.01};
	double equal[] = {500, 500, 500};
	double none[] = {0, 0};

	is_close(ceil_launch_step(multiples, 5), 128, 0, "1632, 1760, 1920, 2048: 128 apart");
	is_close(ceil_launch_step(rounded, 4), 32, 0.1, "rounding is no step");
	is_close(ceil_launch_step(equal, 3), 500, 0, "equal distances: at most themselves");
	is_close(ceil_launch_step(none, 2), ABSENT, 0, "no distance, no step");
}

/* On a virtual clock a mark costs 10 ns, and that is what comes out. */
static void test_timers(void)
{
	struct recorded r;
	struct ceil_launch l = {0};
	struct ceil_launch_state *state = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	double ns = ABSENT;

	recorded_open(&r, 1000.0);
	ok(ceil_launch_timer_open(&r.base, &l, &state, &err) == CEIL_OK, "a timer");
	l.state = state;
	is_int(ceil_launch_event_overhead(&l, &err), CEIL_OK, "a launch that is not timed");
	l.self_ns = &ns;
	is_int(ceil_launch_timer_resolution(&l, &err), CEIL_OK, "the step of marks");
	is_close(ns, 10, 0, "is 10 ns");
	is_int(ceil_launch_event_overhead(&l, &err), CEIL_OK, "the cost of a mark");
	is_close(ns, 10, 0, "is 10 ns");
	ok(strstr(r.log, "(m") && strstr(r.log, "m)s"), "behind the gate");
	ok(!r.gate_closed, "which is open again");
	is_int(ceil_launch_gate_overhead(&l, &err), CEIL_E_UNSUPPORTED, "nothing to wait for");
	has_text(err.text, "fake0", "names the device");
	r.hangs = true;
	is_int(ceil_launch_timer_resolution(&l, &err), CEIL_E_TIMEOUT, "a hang is told");
	is_int(ceil_launch_event_overhead(&l, &err), CEIL_E_TIMEOUT, "everywhere");
	ceil_launch_state_close(state);
	ceil_launch_state_close(NULL);
}

/* ---- the host's twin */

static void test_host(void)
{
	const struct ceil_point p = point("roundtrip.pool", bed_case(bench, "empty"));
	struct ceil_device *dev = NULL;
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_error err = {CEIL_OK, ""};
	double ns[CEIL_MAX_TIMES];
	int timed = 0;

	if (!ok(ceil_host_backend.open(0, &dev, &err) == CEIL_OK, "the host opens"))
		return;
	if (bench->shape(&p, &dev->props, &l, buf, &err) != CEIL_OK) {
		skip("a job for other threads", err.text);
		dev->backend->close(dev);
		return;
	}
	ok(dev->backend->bind(dev, &l, &err) == CEIL_OK &&
	           dev->backend->alloc(dev, &buf[0], &l.buf[0], &err) == CEIL_OK,
	   "its threads and its counter");
	is_int(p.variant->launch(&l, &err), CEIL_OK, "a launch that is not timed");
	l.self_ns = ns;
	is_int(p.variant->launch(&l, &err), CEIL_OK, "a thousand that are");
	for (int i = 0; i < CEIL_MAX_TIMES; i++)
		timed += ns[i] > 0.0 && ns[i] < 1e10;
	is_int(timed, CEIL_MAX_TIMES, "each took its time");
	l.self_ns = NULL;
	ok(bench->check(&p, dev, &l, buf, 1, &err) == CEIL_OK, "every thread counted: %s",
	   err.text);
	dev->props.sm_count++;
	is_int(bench->check(&p, dev, &l, buf, 1, &err), CEIL_E_WRONG, "a missing thread is seen");
	has_text(err.text, "roundtrip.pool", "and named");
	dev->props.sm_count--;
	dev->backend->free(dev, &buf[0], l.buf[0]);
	dev->backend->close(dev);
}

int main(void)
{
	test_table();
	test_storm_shapes();
	test_other_shapes();
	test_refused();
	test_applies();
	test_step();
	test_timers();
	test_host();
	return done_testing();
}
