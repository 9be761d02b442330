/* Scenarios: the table is whole; the player plays, counts, stops, holds and ends on the host. */
#include "harness/measure/scenario.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/analysis/usage.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/device/host.h"
#include "tests/fault_backend.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

enum { MS = 1000000 };

/* ---- the table */

static void test_row(const struct ceil_scenario *sc)
{
	ok(*sc->name && *sc->title && strlen(sc->lesson) > 40 && strlen(sc->more) > 80,
	   "%s: name, title, lesson and more", sc->name);
	ok(strlen(sc->lesson) <= 280, "%s: the lesson fits four lines of 78", sc->name);
	ok(!strchr(sc->name, '.') && ceil_scenario_find(sc->name) == sc, "%s: found", sc->name);
	ok(sc->streams >= 1 && sc->streams <= CEIL_MAX_STREAMS, "%s: streams", sc->name);
	ok(!sc->prepare == !sc->release, "%s: prepare and release", sc->name);
	ok(!sc->verdict || ceil_verdict_find(sc->verdict), "%s: its verdict exists", sc->name);
	ok(!sc->tour || !sc->values, "%s: a sweep is too long for the tour", sc->name);
	for (size_t v = 0; v < sc->value_count || v == 0; v++) {
		char name[64];

		ceil_scenario_point_name(sc, v, name, sizeof(name));
		/* Beside "123.4 s", in 80 columns. */
		ok(strlen(name) + strlen(": ") + strlen(sc->title) <= 70,
		   "%s: name and title fit a line of the screen", name);
		ok(strlen(name) < sizeof(((struct ceil_usage_row *)0)->scenario) &&
		           ceil_usage_scenario(name) == sc,
		   "%s: a point", name);
	}
}

static void test_table(void)
{
	int tour = 0;

	for (size_t i = 0; i < ceil_scenario_count; i++) {
		test_row(&ceil_scenarios[i]);
		tour += ceil_scenarios[i].tour;
	}
	is_int(tour, 12, "the tour has twelve");
	is_u64(ceil_scenario_find("storm")->value_count, 28, "7 durations on 4 numbers of streams");
	is_u64(ceil_scenario_find("sms")->value_count, 10, "10 numbers of multiprocessors");
	is_u64(ceil_scenario_find("gemm_size")->value_count, 8, "8 sizes");
	ok(!ceil_scenario_find("nonsense"), "no other");
}

/* Shapes are pure: they must do for parts that we do not have. */
static void test_shapes(void)
{
	static struct ceil_device devices[] = {
		{.props = {.sm_count = 132,
	                   .cc_major = 9,
	                   .l2_bytes = 60 << 20,
	                   .free_bytes = UINT64_C(80) << 30}},
		{.props = {.sm_count = 40,
	                   .cc_major = 7,
	                   .cc_minor = 5,
	                   .l2_bytes = 4 << 20,
	                   .free_bytes = UINT64_C(8) << 30}},
		{.props = {.sm_count = 20,
	                   .cc_major = 8,
	                   .cc_minor = 6,
	                   .l2_bytes = 2 << 20,
	                   .free_bytes = UINT64_C(1) << 30}},
	};

	for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
		for (size_t i = 0; i < ceil_scenario_count; i++) {
			const struct ceil_scenario *sc = &ceil_scenarios[i];
			struct ceil_stage s = {.dev = &devices[d]};
			struct ceil_error err = {CEIL_OK, ""};
			enum ceil_status st;

			if (!sc->shape)
				continue;
			if (sc->values) {
				s.value = sc->values[0].value;
				s.second = sc->values[0].second;
			}
			st = sc->shape(&s, &err);
			ok(st == CEIL_OK || (st == CEIL_E_UNSUPPORTED && *err.text),
			   "%s on %d SMs: %s", sc->name, devices[d].props.sm_count,
			   st == CEIL_OK ? "a shape" : err.text);
		}
	}
}

static void test_limits(void)
{
	struct ceil_device small = {.props = {.sm_count = 40, .free_bytes = 100 << 20}};
	struct ceil_stage s = {.dev = &small, .value = 64};
	struct ceil_error err = {CEIL_OK, ""};

	is_int(ceil_scenario_find("sms")->shape(&s, &err), CEIL_E_UNSUPPORTED, "64 of 40 SMs");
	has_text(err.text, "more than the 40", "are told");
	s.value = 0;
	is_int(ceil_scenario_find("sms")->shape(&s, &err), CEIL_OK, "all of them");
	is_int(s.launch.blocks, 40, "are 40");
	is_int(ceil_scenario_find("stream")->shape(&s, &err), CEIL_E_UNSUPPORTED, "100 MiB");
	has_text(err.text, "are needed", "are too little for a stream");
}

/*
 * A reading in the midst of a step: 9 and 10 of the 10 ms steps of a tenth of a second are done, at
 * 1000 operations each. By the time of the reading the rate would jump by a tenth.
 */
static void test_rates(void)
{
	struct ceil_play play = {0};
	struct ceil_play_work was, is;

	ceil_play_work(&play, &was);
	is_close(ceil_play_rate(0, 0, was.done_ns, was.done_ns), 0, 0, "no step: no work");
	atomic_store(&play.flops, 1000);
	atomic_store(&play.done_ns, 10 * MS);
	ceil_play_work(&play, &is);
	ok(isnan(ceil_play_rate(was.flops, is.flops, was.done_ns, is.done_ns)),
	   "one step that is done makes no rate");
	was = is;
	atomic_store(&play.flops, 10000);
	atomic_store(&play.done_ns, 100 * MS);
	ceil_play_work(&play, &is);
	is_close(ceil_play_rate(was.flops, is.flops, was.done_ns, is.done_ns), 1e5, 1e-6,
	         "9 steps in 90 ms");
	was = is;
	ceil_play_work(&play, &is);
	ok(isnan(ceil_play_rate(was.flops, is.flops, was.done_ns, is.done_ns)),
	   "nothing was done since: not known");
	atomic_store(&play.flops, 20000);
	atomic_store(&play.done_ns, 200 * MS);
	ceil_play_work(&play, &is);
	is_close(ceil_play_rate(was.flops, is.flops, was.done_ns, is.done_ns), 1e5, 1e-6,
	         "10 steps in 100 ms: the same rate");
}

/* ---- the player, with scenarios of our own on the host's device */

static int steps, prepared;
static bool fail_step;

static enum ceil_status small_shape(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	s->buf[0] = (struct ceil_buffer){.memory = CEIL_MEM_PAGEABLE,
	                                 .role = CEIL_INPUT,
	                                 .dtype = CEIL_FP32,
	                                 .numa_node = -1,
	                                 .bytes = 4096};
	return CEIL_OK;
}

static enum ceil_status prepare(struct ceil_stage *s, struct ceil_error *err)
{
	(void)err;
	prepared++;
	s->state = &prepared;
	return CEIL_OK;
}

static void release(struct ceil_stage *s)
{
	(void)s;
	prepared--;
}

static enum ceil_status step(struct ceil_stage *s, struct ceil_step_work *ret_work,
                             struct ceil_error *err)
{
	if (fail_step && steps > 3)
		return ceil_fail(err, CEIL_E_DEVICE, "step %d fails", steps);
	if (!s->launch.buf[0])
		return ceil_fail(err, CEIL_E_WRONG, "no buffer");
	steps++;
	ceil_sleep_ns(MS);
	*ret_work = (struct ceil_step_work){.flops = 10, .bytes = 20, .launches = 1};
	return CEIL_OK;
}

static const struct ceil_scenario own = {
	.name = "own",
	.streams = 2,
	.shape = small_shape,
	.prepare = prepare,
	.release = release,
	.step = step,
};

static enum ceil_status play_own(struct ceil_device *dev, const struct ceil_scenario *sc,
                                 uint64_t duration_ns, struct ceil_play *play,
                                 struct ceil_played *ret_played, struct ceil_error *err)
{
	const struct ceil_play_options o = {.duration_ns = duration_ns, .seed = 1};

	steps = 0;
	return ceil_scenario_play(sc, 0, dev, &o, play, ret_played, err);
}

static void test_play(struct ceil_device *dev)
{
	struct ceil_play play = {0};
	struct ceil_played played;
	struct ceil_error err = {CEIL_OK, ""};

	ok(play_own(dev, &own, 30 * MS, &play, &played, &err) == CEIL_OK, "plays: %s", err.text);
	ok(steps > 1, "several steps");
	is_u64(play.launches, (uint64_t)steps - 1, "all but the warm-up count");
	is_u64(play.flops, 10 * play.launches, "operations");
	is_u64(play.bytes, 20 * play.launches, "bytes");
	ok(play.done_ns > played.started_ns && play.done_ns <= played.ended_ns,
	   "and when the last of them was done");
	ok(played.ended_ns >= played.started_ns + 30 * MS, "as long as asked");
	is_close(played.sm_active, (double)NAN, 0, "no block told anything");
	is_int(prepared, 0, "what was prepared is released");
}

static void test_idle(struct ceil_device *dev)
{
	static const struct ceil_scenario idle = {.name = "idle", .streams = 1};
	static const struct ceil_scenario absent = {
		.name = "absent", .streams = 1, .why_not = "not in this build"};
	struct ceil_play play = {0};
	struct ceil_played played;
	struct ceil_error err = {CEIL_OK, ""};

	ok(play_own(dev, &idle, 30 * MS, &play, &played, &err) == CEIL_OK, "idle plays");
	is_u64(play.launches, 0, "and does nothing");
	is_int(play_own(dev, &absent, 30 * MS, &play, &played, &err), CEIL_E_UNSUPPORTED,
	       "a scenario that this build lacks");
	has_text(err.text, "absent: not in this build", "is told");
}

static void test_failure(struct ceil_device *dev)
{
	struct ceil_play play = {0};
	struct ceil_played played;
	struct ceil_error err = {CEIL_OK, ""};

	fail_step = true;
	is_int(play_own(dev, &own, 1000 * (uint64_t)MS, &play, &played, &err), CEIL_E_DEVICE,
	       "a step that fails ends it");
	is_text(err.text, "step 4 fails", "with its words");
	is_int(prepared, 0, "and releases");
	fail_step = false;
}

static void *stop_later(void *arg)
{
	struct ceil_play *play = arg;

	while (atomic_load(&play->launches) < 5)
		ceil_sleep_ns(MS);
	atomic_store(&play->stop, true);
	return NULL;
}

static void test_stop(struct ceil_device *dev)
{
	struct ceil_play play = {0};
	struct ceil_played played;
	struct ceil_error err = {CEIL_OK, ""};
	pthread_t thread;

	atomic_store(&play.hold, true); /* held: time alone would never end it */
	if (pthread_create(&thread, NULL, stop_later, &play) != 0) {
		skip("a stop ends it", "no thread");
		return;
	}
	ok(play_own(dev, &own, MS, &play, &played, &err) == CEIL_OK, "held, and then stopped");
	(void)pthread_join(thread, NULL);
	ok(play.launches >= 5, "it went on for as long as it was held");
}

static void test_signal(struct ceil_device *dev)
{
	struct ceil_play play = {0};
	struct ceil_played played;
	struct ceil_error err = {CEIL_OK, ""};

	ceil_cancel_set(2);
	ok(play_own(dev, &own, 60000 * (uint64_t)MS, &play, &played, &err) == CEIL_OK,
	   "a signal ends it");
	ceil_cancel_set(0);
}

/* ---- a device that fails at any call, and one that hangs */

static void open_faulty(struct recorded *r)
{
	recorded_open(r, 1000);
	r->base.backend = fault_backend(&recorded_backend);
	fault_at(0, CEIL_OK);
	fault_hang(0);
	prepared = 0;
}

static void test_faults(void)
{
	struct recorded r;

	open_faulty(&r);
	for (long k = 1; k <= 40; k++) {
		struct ceil_error err = {CEIL_OK, ""};
		struct ceil_play play = {0};
		struct ceil_played played;
		enum ceil_status st;

		fault_at(k, CEIL_E_DEVICE);
		st = play_own(&r.base, &own, 5 * MS, &play, &played, &err);
		if (!*fault_last())
			break;
		ok(st == CEIL_E_DEVICE && r.allocated == 0 && prepared == 0,
		   "call %ld (%s) fails: told, and nothing stays", k, fault_last());
	}
	recorded_close(&r);
}

static void test_hang(void)
{
	for (long k = 1; k <= 4; k++) {
		struct ceil_error err = {CEIL_OK, ""};
		struct ceil_play play = {0};
		struct ceil_played played;
		struct recorded r;

		open_faulty(&r);
		fault_hang(k);
		is_int(play_own(&r.base, &own, 20 * MS, &play, &played, &err), CEIL_E_TIMEOUT,
		       "a device that hangs");
		is_int(fault_calls_after_hang(), 0, "is not called again");
		is_int(prepared, 1, "not even to release");
		recorded_close(&r);
	}
	fault_hang(0);
	prepared = 0;
}

/* ---- stays */

static void test_stays(void)
{
	struct ceil_stay v[10];
	struct ceil_stage s = {.stays = v, .stay_cap = 10};

	ok(ceil_stage_stays(&s, 4) == v, "the first launch");
	ok(ceil_stage_stays(&s, 6) == v + 4, "the second behind it");
	ok(!ceil_stage_stays(&s, 1), "no more room");
	is_u64(s.stay_count, 10, "what was told stays");
	s.stays = NULL;
	s.stay_count = 0;
	ok(!ceil_stage_stays(&s, 1), "not yet");
}

int main(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_device *dev = NULL;

	test_table();
	test_shapes();
	test_limits();
	test_rates();
	test_stays();
	if (ceil_host_backend.open(0, &dev, &err) != CEIL_OK) {
		ok(false, "the host: %s", err.text);
		return done_testing();
	}
	test_play(dev);
	test_idle(dev);
	test_failure(dev);
	test_stop(dev);
	test_signal(dev);
	dev->backend->close(dev);
	test_faults();
	test_hang();
	return done_testing();
}
