/* A show on a GPU: one thread plays scenario after scenario, the sampler's thread brings rows. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/version.h"
#include "harness/cli/demo.h"
#include "harness/cli/demo_ceilings.h"
#include "harness/cli/inventory.h"
#include "harness/telemetry/sampler.h"

/* Rows that may wait for the screen: minutes of them. */
enum { QUEUE = 4096 };

struct live {
	struct ceil_show show;
	struct ceil_demo_live_options o;
	struct ceil_inventory inv;
	const struct ceil_found *found;
	struct ceil_device *dev;
	struct ceil_sampler *sampler;
	struct ceil_demo_ceilings ceilings;
	pthread_t thread;
	uint64_t began_ns;

	pthread_mutex_t lock; /* of all below */
	struct ceil_usage_row queue[QUEUE];
	uint64_t taken, given;
	struct ceil_usage_row owner;         /* what is the same in every row of this point */
	const struct ceil_demo_point *point; /* that plays; NULL: none */
	size_t index;                        /* of it */
	long jump;                           /* to this point next; -1: on to the next */
	char say[96], notes[1024];
	bool ended, quit, started; /* started: there is a thread */
	enum ceil_status status;
	struct ceil_error err;

	/* The sampler's thread alone. */
	uint64_t last_ns;
	struct ceil_play_work before; /* at the last reading */

	struct ceil_play play; /* atomic members */
};

static struct live *live_of(struct ceil_show *show)
{
	return (struct live *)show;
}

static void say(struct live *l, const char *format, const char *what)
{
	pthread_mutex_lock(&l->lock);
	*l->say = '\0';
	(void)snprintf(l->say, sizeof(l->say), format, what);
	pthread_mutex_unlock(&l->lock);
}

static void note(struct live *l, const char *text)
{
	pthread_mutex_lock(&l->lock);
	ceil_append(l->notes, sizeof(l->notes), "%s\n", text);
	pthread_mutex_unlock(&l->lock);
}

static void push(struct live *l, const struct ceil_usage_row *row)
{
	if (l->given - l->taken < QUEUE)
		l->queue[l->given++ % QUEUE] = *row;
}

/* ---- rows, in the sampler's thread */

static double value_of(const struct ceil_telemetry_row *t, const char *name)
{
	const int index = ceil_source_value_index(name);

	return index < 0 ? (double)NAN : t->value[index];
}

/* A value of the sources that has the name of a column goes there. */
static void take_values(const struct ceil_telemetry_row *t, struct ceil_usage_row *row)
{
	for (size_t i = 0; i < ceil_usage_series_table.field_count; i++) {
		const struct ceil_field *f = &ceil_usage_series_table.fields[i];
		const int index = ceil_source_value_index(f->name);

		if (f->type == CEIL_F_DOUBLE && index >= 0)
			memcpy((char *)row + f->offset, &t->value[index], sizeof(double));
	}
	if (isnan(row->pcie_tx_gb_s))
		row->pcie_tx_gb_s = value_of(t, "nvml_pcie_tx_gb_s");
	if (isnan(row->pcie_rx_gb_s))
		row->pcie_rx_gb_s = value_of(t, "nvml_pcie_rx_gb_s");
}

/* What was done since the last tick of the same scenario. */
static void take_rates(struct live *l, uint64_t now_ns, bool first, struct ceil_usage_row *row)
{
	const struct ceil_play_work *was = &l->before;
	struct ceil_play_work is;

	ceil_play_work(&l->play, &is);
	if (!first) {
		const uint64_t from_ns = was->done_ns, to_ns = is.done_ns;

		row->tflops = ceil_play_rate(was->flops, is.flops, from_ns, to_ns) * 1e-12;
		row->gb_s = ceil_play_rate(was->bytes, is.bytes, from_ns, to_ns) * 1e-9;
		row->launches_per_s = ceil_play_rate(was->launches, is.launches, from_ns, to_ns);
	}
	l->last_ns = now_ns;
	l->before = is;
}

static double duration_s(const struct live *l, const struct ceil_demo_point *p)
{
	return (double)(p->sc->values ? l->o.sweep_ns : l->o.duration_ns) / CEIL_NS_PER_S;
}

static void on_row(void *user, const struct ceil_telemetry_row *t)
{
	struct live *l = user;
	const uint64_t now_ns = ceil_now_ns();
	const uint64_t started_ns = atomic_load(&l->play.started_ns);
	struct ceil_usage_row row;
	double planned_s;
	bool held;

	pthread_mutex_lock(&l->lock);
	if (l->point && started_ns && now_ns > started_ns) {
		row = l->owner;
		take_values(t, &row);
		take_rates(l, now_ns, l->last_ns < started_ns, &row);
		row.seconds = (double)(now_ns - l->began_ns) / CEIL_NS_PER_S;
		row.scenario_s = (double)(now_ns - started_ns) / CEIL_NS_PER_S;
		held = atomic_load(&l->play.hold);
		planned_s = duration_s(l, l->point);
		row.steady = ceil_usage_steady(row.scenario_s,
		                               held ? planned_s + row.scenario_s : planned_s);
		push(l, &row);
	}
	pthread_mutex_unlock(&l->lock);
}

/* ---- the thread that plays */

static void fill_owner(struct live *l, const struct ceil_demo_point *p)
{
	const struct ceil_device_props *d = &l->dev->props;
	const struct ceil_scenario *sc = p->sc;
	struct ceil_usage_row *o = &l->owner;
	char began[sizeof(o->recorded_utc)];

	ceil_copy(began, sizeof(began), o->recorded_utc);
	ceil_table_clear(&ceil_usage_series_table, o);
	ceil_copy(o->recorded_utc, sizeof(o->recorded_utc), began);
	ceil_copy(o->scenario, sizeof(o->scenario), p->name);
	ceil_copy(o->event, sizeof(o->event), CEIL_USAGE_TICK);
	ceil_copy(o->device, sizeof(o->device), d->label);
	ceil_copy(o->gpu_name, sizeof(o->gpu_name), d->name);
	ceil_copy(o->driver, sizeof(o->driver), d->driver);
	ceil_copy(o->tool_version, sizeof(o->tool_version), ceil_version());
	if (*ceil_git_commit())
		ceil_append(o->tool_version, sizeof(o->tool_version), " (%s)", ceil_git_commit());
	ceil_copy(o->flops_ceiling, sizeof(o->flops_ceiling), sc->flops_ceiling);
	ceil_copy(o->bytes_ceiling, sizeof(o->bytes_ceiling), sc->bytes_ceiling);
	o->tflops_ceiling = ceil_demo_ceiling(&l->ceilings, sc->flops_ceiling);
	o->gb_s_ceiling = ceil_demo_ceiling(&l->ceilings, sc->bytes_ceiling);
	o->sm_count = d->sm_count > 0 ? (uint64_t)d->sm_count : CEIL_ABSENT_U64;
	o->format_version = 1;
}

static const char *status_of(enum ceil_status st, bool cut)
{
	if (st == CEIL_E_UNSUPPORTED)
		return "unsupported";
	if (st != CEIL_OK)
		return "failed";
	return cut ? "cancelled" : "ok";
}

static void push_end(struct live *l, enum ceil_status st, const struct ceil_error *err,
                     const struct ceil_played *played)
{
	const bool cut = atomic_load(&l->play.stop) || ceil_cancel_signal();
	struct ceil_usage_row row = l->owner;
	const uint64_t now_ns = ceil_now_ns();

	ceil_copy(row.event, sizeof(row.event), CEIL_USAGE_END);
	ceil_copy(row.status, sizeof(row.status), status_of(st, cut));
	ceil_copy(row.reason, sizeof(row.reason),
	          st != CEIL_OK ? err->text
	          : cut         ? "cut short by who watched"
	                        : "");
	row.self_sm_active = played->sm_active;
	row.seconds = (double)(now_ns - l->began_ns) / CEIL_NS_PER_S;
	row.steady = 0;
	pthread_mutex_lock(&l->lock);
	push(l, &row);
	l->point = NULL;
	pthread_mutex_unlock(&l->lock);
}

/* A scenario that cannot be played has its end row; only a GPU that hangs ends the show. */
static enum ceil_status play_point(struct live *l, const struct ceil_demo_point *p)
{
	const double seconds = duration_s(l, p);
	const struct ceil_play_options options = {
		.duration_ns = (uint64_t)(seconds * CEIL_NS_PER_S),
		.seed = l->o.seed,
		.tell_after_ns = (uint64_t)(ceil_usage_tell_s(seconds) * CEIL_NS_PER_S),
		.algorithm = l->ceilings.algorithm,
	};
	struct ceil_played played;
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st;

	pthread_mutex_lock(&l->lock);
	atomic_store(&l->play.started_ns, 0);
	atomic_store(&l->play.flops, 0);
	atomic_store(&l->play.bytes, 0);
	atomic_store(&l->play.launches, 0);
	atomic_store(&l->play.done_ns, 0);
	atomic_store(&l->play.stop, l->quit);
	fill_owner(l, p);
	l->point = p;
	pthread_mutex_unlock(&l->lock);
	st = ceil_scenario_play(p->sc, p->value, l->dev, &options, &l->play, &played, &err);
	push_end(l, st, &err, &played);
	if (st == CEIL_E_TIMEOUT)
		l->err = err;
	return st;
}

static bool next_point(struct live *l)
{
	bool more;

	pthread_mutex_lock(&l->lock);
	if (l->jump >= 0)
		l->index = (size_t)l->jump;
	else
		l->index++;
	l->jump = -1;
	more = !l->quit && l->index < l->show.points.count;
	pthread_mutex_unlock(&l->lock);
	return more && !ceil_cancel_signal();
}

static void begin_ceiling(void *user, const char *name)
{
	say(user, "measuring %s, the ceiling of this card", name);
}

static enum ceil_status measure_ceilings(struct live *l)
{
	const struct ceil_demo_ceilings_options o = {
		.seed = l->o.seed, .gpu = l->found->gpu, .begin = begin_ceiling, .user = l};
	char text[256];
	enum ceil_status st;

	ceil_demo_ceilings_of(&l->show.points, &l->ceilings);
	st = ceil_demo_ceilings_measure(&l->ceilings, l->dev, &o, &l->err);
	for (size_t i = 0; i < l->ceilings.count; i++) {
		const struct ceil_demo_ceiling *c = &l->ceilings.v[i];

		if (!isnan(c->value))
			continue;
		(void)snprintf(text, sizeof(text), "no ceiling %s: %s", c->name,
		               *c->reason ? c->reason : "not measured");
		note(l, text);
	}
	return st;
}

static void open_sampler(struct live *l)
{
	const struct ceil_source_target target = {
		.device = l->dev->props.label,
		.uuid = l->dev->props.uuid,
		.pci_bus_id = l->dev->props.pci_bus_id,
		.nvml = l->found->gpu,
		.counters = true,
	};
	const struct ceil_sampler_options options = {.row = on_row, .user = l};
	struct ceil_error err = {CEIL_OK, ""};

	if (!l->found->gpu)
		note(l, *l->inv.nvml_reason ? l->inv.nvml_reason : "NVML does not know this GPU");
	if (!l->found->gpu)
		note(l, "without NVML there is no GPU-Util, and SM-active comes from CUPTI alone");
	if (l->found->info.mig == 1)
		note(l, "MIG is on: the driver gives no GPU-Util for this GPU");
	if (ceil_sampler_open(&target, 1, &options, &l->sampler, &err) != CEIL_OK) {
		note(l, err.text);
		return;
	}
	for (size_t i = 0; ceil_sources[i]; i++) {
		/* All but one ask NVML: why there is none is told above. */
		if (!l->found->gpu && ceil_sources[i] != &ceil_pm_source)
			continue;
		if (*ceil_sampler_reason(l->sampler, i))
			note(l, ceil_sampler_reason(l->sampler, i));
	}
}

static enum ceil_status perform(struct live *l)
{
	enum ceil_status st;

	say(l, "%s", "opening the GPU");
	st = ceil_inventory_device(l->found, &l->dev, &l->err);
	if (st != CEIL_OK)
		return st;
	st = measure_ceilings(l);
	if (st != CEIL_OK)
		return st;
	open_sampler(l);
	say(l, "%s", "");
	l->index = (size_t)-1;
	while (st != CEIL_E_TIMEOUT && next_point(l))
		st = play_point(l, &l->show.points.v[l->index]);
	return st == CEIL_E_TIMEOUT ? st : CEIL_OK;
}

static void *thread_main(void *arg)
{
	struct live *l = arg;
	const enum ceil_status st = perform(l);

	pthread_mutex_lock(&l->lock);
	l->status = st;
	l->ended = true;
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- the show */

/* Signals are for the thread that waits for them. */
static int start_thread(struct live *l)
{
	sigset_t all, before;
	int code;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* valid sets: cannot fail */
	code = pthread_create(&l->thread, /* attributes= */ NULL, thread_main, l);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

/* With the first look at it: whatever cannot be written is known by then. */
static void begin(struct live *l)
{
	int code;

	if (l->started || l->ended)
		return;
	l->began_ns = ceil_now_ns();
	ceil_utc(l->owner.recorded_utc, sizeof(l->owner.recorded_utc));
	code = start_thread(l);
	l->started = code == 0;
	if (code == 0)
		return;
	l->ended = true;
	l->status = ceil_fail(&l->err, CEIL_E_DEVICE, "a thread to play: %s", strerror(code));
}

static bool live_next(struct ceil_show *show, struct ceil_usage_row *ret_row)
{
	struct live *l = live_of(show);
	bool there;

	begin(l);
	pthread_mutex_lock(&l->lock);
	there = l->taken < l->given;
	if (there)
		*ret_row = l->queue[l->taken++ % QUEUE];
	pthread_mutex_unlock(&l->lock);
	return there;
}

static bool live_ended(struct ceil_show *show)
{
	struct live *l = live_of(show);
	bool ended;

	pthread_mutex_lock(&l->lock);
	ended = l->ended && l->taken == l->given;
	pthread_mutex_unlock(&l->lock);
	return ended;
}

static void live_choose(struct ceil_show *show, int step)
{
	struct live *l = live_of(show);
	long to;

	pthread_mutex_lock(&l->lock);
	to = (long)l->index + step;
	l->jump = to < 0 ? 0 : to;
	atomic_store(&l->play.stop, true);
	pthread_mutex_unlock(&l->lock);
}

static void live_hold(struct ceil_show *show, bool on)
{
	atomic_store(&live_of(show)->play.hold, on);
}

static void live_say(struct ceil_show *show, char *ret_text, size_t size)
{
	struct live *l = live_of(show);

	pthread_mutex_lock(&l->lock);
	ceil_copy(ret_text, size, l->say);
	pthread_mutex_unlock(&l->lock);
}

static void live_notes(struct ceil_show *show, char *ret_text, size_t size)
{
	struct live *l = live_of(show);

	pthread_mutex_lock(&l->lock);
	ceil_copy(ret_text, size, l->notes);
	pthread_mutex_unlock(&l->lock);
}

static void free_live(struct live *l)
{
	ceil_inventory_close(&l->inv);
	free(l->show.points.v);
	(void)pthread_mutex_destroy(&l->lock);
	free(l);
}

static enum ceil_status live_close(struct ceil_show *show, struct ceil_error *err)
{
	struct live *l = live_of(show);
	const bool user = ceil_cancel_signal() != 0;
	enum ceil_status st;

	pthread_mutex_lock(&l->lock);
	l->quit = true;
	atomic_store(&l->play.stop, true);
	pthread_mutex_unlock(&l->lock);
	/* The loop that measures ceilings looks for a signal only. */
	if (!user)
		ceil_cancel_set(SIGINT);
	if (l->started)
		(void)pthread_join(l->thread, /* result= */ NULL);
	if (!user)
		ceil_cancel_set(0);
	st = l->status == CEIL_E_CANCELLED && !user ? CEIL_OK : l->status;
	if (st != CEIL_OK && err)
		*err = l->err;
	if (!ceil_sampler_close(l->sampler))
		st = ceil_fail(err, CEIL_E_TIMEOUT, "the driver does not answer the sampler");
	if (st == CEIL_E_TIMEOUT)
		return st; /* what the GPU may still use stays */
	if (l->dev)
		l->dev->backend->close(l->dev);
	free_live(l);
	return st;
}

static const struct ceil_show methods = {
	.what = "live",
	.next = live_next,
	.ended = live_ended,
	.choose = live_choose,
	.hold = live_hold,
	.say = live_say,
	.notes = live_notes,
	.close = live_close,
};

/* ---- which GPU */

static enum ceil_status no_gpu(const struct live *l, struct ceil_error *err)
{
	for (size_t i = 0; i < l->inv.missing_count; i++) {
		const struct ceil_missing *m = &l->inv.missing[i];

		if (strcmp(m->backend->name, "host") != 0)
			return ceil_fail(err, m->status, "no GPU: %s", m->reason);
	}
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "no GPU here");
}

static enum ceil_status find_gpu(struct live *l, struct ceil_error *err)
{
	const struct ceil_inventory_options o = {
		.backend = "cuda",
		.gpus = l->o.gpus,
		.busy = l->o.busy_run ? CEIL_BUSY_RUN : CEIL_BUSY_SKIP,
		.look_for_others = !l->o.busy_run,
	};
	enum ceil_status st = ceil_inventory_open(&o, &l->inv, err);
	const struct ceil_found *busy = NULL;

	if (st != CEIL_OK)
		return st;
	for (size_t i = 0; i < l->inv.found_count && !l->found; i++) {
		const struct ceil_found *f = &l->inv.found[i];

		if (f->skipped)
			busy = f;
		else
			l->found = f;
	}
	if (l->found)
		return CEIL_OK;
	if (busy)
		return ceil_fail(err, CEIL_E_DEVICE, "%s is %s", busy->props.label, busy->reason);
	return no_gpu(l, err);
}

enum ceil_status ceil_demo_live(const struct ceil_demo_live_options *o,
                                struct ceil_demo_points *points, struct ceil_show **ret_show,
                                struct ceil_error *err)
{
	struct live *l = ceil_alloc(1, sizeof(*l), err);
	enum ceil_status st;

	if (!l)
		return CEIL_E_NOMEM;
	l->show = methods;
	l->o = *o;
	l->jump = -1;
	(void)pthread_mutex_init(&l->lock, /* attributes= */ NULL); /* cannot fail in glibc */
	st = find_gpu(l, err);
	if (st != CEIL_OK) {
		free_live(l);
		return st;
	}
	l->show.points = *points;
	*points = (struct ceil_demo_points){0};
	*ret_show = &l->show;
	return CEIL_OK;
}
