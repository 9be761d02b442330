/* Plays a scenario: places its buffers, keeps its steps coming, counts what is done, ends. */
#include "harness/measure/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/stays.h"

/* Steps that may wait on the device: enough that it never idles, few enough to end soon. */
enum { AHEAD = 3 };
/* Of the time in which blocks told, cut at either side: launches that had begun before. */
#define STAYS_CUT 0.05
/* Without work the player looks this often whether it shall end. */
#define IDLE_NS    (10 * (uint64_t)CEIL_NS_PER_MS)
#define TIMEOUT_NS (10 * (uint64_t)CEIL_NS_PER_S)

_Static_assert(AHEAD *(int)CEIL_MAX_STREAMS <= (int)CEIL_MAX_SLOTS, "a mark a stream and step");

const struct ceil_scenario *ceil_scenario_find(const char *name)
{
	for (size_t i = 0; i < ceil_scenario_count; i++) {
		if (strcmp(ceil_scenarios[i].name, name) == 0)
			return &ceil_scenarios[i];
	}
	return NULL;
}

void ceil_scenario_point_name(const struct ceil_scenario *sc, size_t value, char *ret_text,
                              size_t size)
{
	if (sc->values)
		(void)snprintf(ret_text, size, "%s.%s", sc->name, sc->values[value].name);
	else
		(void)snprintf(ret_text, size, "%s", sc->name);
}

struct ceil_stay *ceil_stage_stays(struct ceil_stage *s, uint32_t blocks)
{
	struct ceil_stay *at;

	if (!s->stays || blocks > s->stay_cap - s->stay_count)
		return NULL;
	at = s->stays + s->stay_count;
	s->stay_count += blocks;
	return at;
}

/* ---- what plays now */

struct player {
	const struct ceil_scenario *sc;
	const struct ceil_play_options *options;
	struct ceil_play *play;
	struct ceil_stage stage;
	struct ceil_stay *stays; /* device memory; the stage has it when blocks shall tell */
	struct ceil_step_work work[AHEAD];
	bool prepared;
	uint64_t begun, done; /* steps */
	uint64_t started_ns;
};

static const struct ceil_buffer stays_buffer = {
	.memory = CEIL_MEM_DEVICE,
	.role = CEIL_OUTPUT,
	.dtype = CEIL_INT64,
	.numa_node = -1,
	.bytes = (uint64_t)CEIL_STAGE_STAYS * sizeof(struct ceil_stay),
};

/* ---- buffers */

static enum ceil_status place_buffer(struct ceil_stage *s, int i, uint64_t seed,
                                     struct ceil_error *err)
{
	const struct ceil_backend *b = s->dev->backend;
	enum ceil_status st = b->alloc(s->dev, &s->buf[i], &s->launch.buf[i], err);

	if (st == CEIL_OK && s->buf[i].role == CEIL_INPUT)
		st = b->fill(s->dev, &s->buf[i], s->launch.buf[i], i, CEIL_NORMAL, seed, err);
	return st;
}

static enum ceil_status place(struct player *p, struct ceil_error *err)
{
	struct ceil_stage *s = &p->stage;
	const struct ceil_backend *b = s->dev->backend;
	enum ceil_status st = b->bind(s->dev, &s->launch, err);

	if (st == CEIL_OK && p->sc->shape)
		st = p->sc->shape(s, err);
	for (int i = 0; st == CEIL_OK && i < CEIL_MAX_BUFS; i++) {
		if (s->buf[i].bytes)
			st = place_buffer(s, i, p->options->seed, err);
	}
	if (st == CEIL_OK) {
		void *stays = NULL;

		st = b->alloc(s->dev, &stays_buffer, &stays, err);
		p->stays = stays;
	}
	return st;
}

static void clear(struct player *p)
{
	struct ceil_stage *s = &p->stage;

	for (int i = 0; i < CEIL_MAX_BUFS; i++) {
		if (s->buf[i].bytes && s->launch.buf[i])
			s->dev->backend->free(s->dev, &s->buf[i], s->launch.buf[i]);
	}
	if (p->stays)
		s->dev->backend->free(s->dev, &stays_buffer, p->stays);
}

/* ---- what is done */

/* Read again if a step was done meanwhile. */
void ceil_play_work(struct ceil_play *play, struct ceil_play_work *ret_work)
{
	uint64_t before_ns, after_ns = atomic_load(&play->done_ns);

	do {
		before_ns = after_ns;
		ret_work->flops = (double)atomic_load(&play->flops);
		ret_work->bytes = (double)atomic_load(&play->bytes);
		ret_work->launches = (double)atomic_load(&play->launches);
		after_ns = atomic_load(&play->done_ns);
	} while (before_ns != after_ns);
	ret_work->done_ns = after_ns;
}

double ceil_play_rate(double before, double now, uint64_t before_ns, uint64_t now_ns)
{
	if (now_ns == 0)
		return 0;
	if (before_ns == 0 || now_ns <= before_ns)
		return (double)NAN;
	return (now - before) / (double)(now_ns - before_ns) * CEIL_NS_PER_S;
}

/* ---- steps */

static int slot_of(uint64_t step, uint32_t stream)
{
	return (int)(step % AHEAD) * CEIL_MAX_STREAMS + (int)stream;
}

/* Waits for the oldest step and counts what it did. */
static enum ceil_status finish_step(struct player *p, struct ceil_error *err)
{
	const struct ceil_step_work *w = &p->work[p->done % AHEAD];
	const uint64_t timeout_ns = p->options->timeout_ns ? p->options->timeout_ns : TIMEOUT_NS;

	for (uint32_t i = 0; i < p->sc->streams; i++) {
		struct ceil_device *dev = p->stage.dev;
		const int slot = slot_of(p->done, i);
		const enum ceil_status st = dev->backend->wait
		                                    ? dev->backend->wait(dev, slot, timeout_ns, err)
		                                    : dev->backend->sync(dev, timeout_ns, err);

		if (st != CEIL_OK)
			return st;
	}
	p->done++;
	atomic_fetch_add(&p->play->flops, (uint64_t)w->flops);
	atomic_fetch_add(&p->play->bytes, (uint64_t)w->bytes);
	atomic_fetch_add(&p->play->launches, (uint64_t)w->launches);
	atomic_store(&p->play->done_ns, ceil_now_ns());
	return CEIL_OK;
}

static enum ceil_status begin_step(struct player *p, struct ceil_error *err)
{
	struct ceil_device *dev = p->stage.dev;
	struct ceil_step_work *w = &p->work[p->begun % AHEAD];
	enum ceil_status st;

	*w = (struct ceil_step_work){0};
	st = p->sc->step(&p->stage, w, err);
	for (uint32_t i = 0; st == CEIL_OK && i < p->sc->streams; i++)
		st = dev->backend->mark(dev, (int)i, slot_of(p->begun, i), err);
	if (st == CEIL_OK)
		p->begun++;
	return st;
}

/* A host that stalls lets the device run dry first; one that feeds well stays ahead. */
static enum ceil_status one_step(struct player *p, struct ceil_error *err)
{
	const uint64_t ahead = p->sc->stall_ns ? 0 : AHEAD - 1;
	enum ceil_status st = begin_step(p, err);

	while (st == CEIL_OK && p->begun - p->done > ahead)
		st = finish_step(p, err);
	if (st == CEIL_OK && p->sc->stall_ns)
		ceil_sleep_ns(p->sc->stall_ns);
	return st;
}

static bool shall_go_on(const struct player *p)
{
	const uint64_t now_ns = ceil_now_ns();

	if (atomic_load(&p->play->stop) || ceil_cancel_signal())
		return false;
	return atomic_load(&p->play->hold) || now_ns < p->started_ns + p->options->duration_ns;
}

/* The first step loads kernels and is no part of the play. */
static enum ceil_status warm_up(struct player *p, struct ceil_error *err)
{
	struct ceil_step_work unused = {0};
	struct ceil_device *dev = p->stage.dev;
	enum ceil_status st = p->sc->step(&p->stage, &unused, err);

	if (st == CEIL_OK)
		st = dev->backend->sync(dev, TIMEOUT_NS, err);
	return st;
}

static enum ceil_status keep_playing(struct player *p, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	while (st == CEIL_OK && shall_go_on(p)) {
		if (!p->sc->step) {
			ceil_sleep_ns(IDLE_NS);
			continue;
		}
		if (ceil_now_ns() >= p->started_ns + p->options->tell_after_ns)
			p->stage.stays = p->stays;
		st = one_step(p, err);
	}
	while (st == CEIL_OK && p->done < p->begun)
		st = finish_step(p, err);
	return st;
}

/* ---- what blocks told */

static enum ceil_status read_stays(struct player *p, double *ret_active, struct ceil_error *err)
{
	struct ceil_stage *s = &p->stage;
	const uint64_t bytes = s->stay_count * sizeof(struct ceil_stay);
	struct ceil_stay *v;
	enum ceil_status st;

	if (s->stay_count == 0)
		return CEIL_OK;
	v = ceil_alloc(s->stay_count, sizeof(*v), err);
	if (!v)
		return CEIL_E_NOMEM;
	st = s->dev->backend->read(s->dev, v, p->stays, bytes, err);
	if (st == CEIL_OK && s->dev->props.sm_count > 0)
		*ret_active = ceil_stays_active(v, s->stay_count, (uint32_t)s->dev->props.sm_count,
		                                STAYS_CUT);
	free(v);
	return st;
}

static enum ceil_status play(struct player *p, struct ceil_played *ret_played,
                             struct ceil_error *err)
{
	enum ceil_status st = p->sc->step ? warm_up(p, err) : CEIL_OK;

	if (st != CEIL_OK)
		return st;
	p->stage.stay_cap = CEIL_STAGE_STAYS;
	p->started_ns = ceil_now_ns();
	atomic_store(&p->play->started_ns, p->started_ns);
	st = keep_playing(p, err);
	ret_played->started_ns = p->started_ns;
	ret_played->ended_ns = ceil_now_ns();
	if (st == CEIL_OK)
		st = read_stays(p, &ret_played->sm_active, err);
	return st;
}

enum ceil_status ceil_scenario_play(const struct ceil_scenario *sc, size_t value,
                                    struct ceil_device *dev,
                                    const struct ceil_play_options *options,
                                    struct ceil_play *play_, struct ceil_played *ret_played,
                                    struct ceil_error *err)
{
	struct player p = {.sc = sc, .options = options, .play = play_};
	enum ceil_status st;

	*ret_played = (struct ceil_played){.sm_active = (double)NAN};
	p.stage.dev = dev;
	p.stage.algorithm = options->algorithm;
	if (sc->values) {
		p.stage.value = sc->values[value].value;
		p.stage.second = sc->values[value].second;
	}
	if (!sc->step && sc->why_not)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: %s", sc->name, sc->why_not);
	st = place(&p, err);
	if (st == CEIL_OK && sc->prepare) {
		p.prepared = true;
		st = sc->prepare(&p.stage, err);
	}
	if (st == CEIL_OK)
		st = play(&p, ret_played, err);
	if (p.prepared && st != CEIL_E_TIMEOUT)
		sc->release(&p.stage);
	if (st != CEIL_E_TIMEOUT)
		clear(&p);
	return st;
}
