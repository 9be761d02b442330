/* The sampler: one thread that reads every telemetry source of all GPUs at a fixed beat. */
#include "harness/telemetry/sampler.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"

#define PATIENCE_NS (2 * (uint64_t)CEIL_NS_PER_S)

struct reading {
	uint64_t at_ns;
	double value[CEIL_SOURCE_VALUES];
};

struct ceil_watch {
	struct ceil_sampler *sampler;
	char device[16];
	void *state[CEIL_SOURCES_MAX];
	bool opened[CEIL_SOURCES_MAX];
	char ceiling[64];     /* under the sampler's lock, as the ring */
	struct reading *ring; /* of CEIL_SAMPLER_RING */
	uint64_t count; /* readings so far; the newest is at (count - 1) % CEIL_SAMPLER_RING */
};

struct ceil_sampler {
	pthread_mutex_t lock;
	pthread_cond_t moved; /* stop or ended was set */
	pthread_t thread;
	bool stop, ended, abandoned;
	struct ceil_sampler_options options;
	uint64_t start_ns;
	struct ceil_watch *watch;
	size_t count;
	char reason[CEIL_SOURCES_MAX][160]; /* why a source watches no GPU */
	size_t opened[CEIL_SOURCES_MAX];    /* how many it watches */
};

/* ---- reading */

static void read_gpu(struct ceil_watch *w, struct reading *ret_r)
{
	double *v = ret_r->value;

	for (size_t i = 0; i < CEIL_SOURCE_VALUES; i++)
		v[i] = (double)NAN;
	ret_r->at_ns = ceil_now_ns();
	for (size_t s = 0; ceil_sources[s]; s++) {
		if (w->opened[s])
			ceil_sources[s]->read(w->state[s], v);
		v += ceil_sources[s]->value_count;
	}
}

/* The driver is asked without the lock: a slow answer must not hold up who measures. */
static void tick(struct ceil_sampler *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct ceil_watch *w = &s->watch[i];
		struct ceil_telemetry_row row;
		struct reading r;
		bool wanted;

		read_gpu(w, &r);
		pthread_mutex_lock(&s->lock);
		wanted = s->options.row && !s->abandoned;
		w->ring[w->count++ % CEIL_SAMPLER_RING] = r;
		ceil_copy(row.ceiling, sizeof(row.ceiling), w->ceiling);
		pthread_mutex_unlock(&s->lock);
		if (!wanted)
			continue;
		row.seconds = (double)(r.at_ns - s->start_ns) / CEIL_NS_PER_S;
		ceil_copy(row.device, sizeof(row.device), w->device);
		memcpy(row.value, r.value, sizeof(row.value));
		s->options.row(s->options.user, &row);
	}
}

/* ---- the thread */

static struct timespec timespec_of(uint64_t at_ns)
{
	return (struct timespec){.tv_sec = (time_t)(at_ns / CEIL_NS_PER_S),
	                         .tv_nsec = (long)(at_ns % CEIL_NS_PER_S)};
}

/* Return: whether to go on, at the beat. */
static bool wait_for_beat(struct ceil_sampler *s, uint64_t at_ns)
{
	const struct timespec until = timespec_of(at_ns);
	bool stop;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && ceil_now_ns() < at_ns)
		(void)pthread_cond_timedwait(&s->moved, &s->lock, &until); /* or it is time */
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return !stop;
}

static void *thread_main(void *arg)
{
	struct ceil_sampler *s = arg;
	const uint64_t interval = s->options.interval_ns;
	uint64_t next_ns = s->start_ns;

	do { /* even the shortest run has one reading */
		tick(s);
		next_ns += interval * (1 + (ceil_now_ns() - next_ns) / interval);
	} while (wait_for_beat(s, next_ns));
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Signals are for the thread that waits for them; a pipe breaks under whoever writes. */
static int start_thread(struct ceil_sampler *s)
{
	sigset_t all, before;
	int code;

	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGPIPE);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* valid sets: cannot fail */
	code = pthread_create(&s->thread, /* attributes= */ NULL, thread_main, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

/* Return: whether the thread has ended. */
static bool stop_thread(struct ceil_sampler *s)
{
	const uint64_t give_up_ns = ceil_now_ns() + s->options.patience_ns;
	const struct timespec until = timespec_of(give_up_ns);
	bool ended;

	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->moved);
	while (!s->ended && ceil_now_ns() < give_up_ns)
		(void)pthread_cond_timedwait(&s->moved, &s->lock, &until);
	ended = s->ended;
	s->abandoned = !ended; /* who wanted rows goes on without them */
	pthread_mutex_unlock(&s->lock);
	if (ended)
		(void)pthread_join(s->thread, /* result= */ NULL);
	return ended;
}

/* ---- opening */

static void init_locks(struct ceil_sampler *s)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&s->lock, /* attributes= */ NULL); /* these cannot fail in glibc */
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* as ceil_now_ns */
	(void)pthread_cond_init(&s->moved, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

static enum ceil_status open_watch(struct ceil_sampler *s, const struct ceil_source_target *t,
                                   struct ceil_error *err)
{
	struct ceil_watch *w = &s->watch[s->count];
	struct ceil_source_target known = *t;

	w->ring = ceil_alloc(CEIL_SAMPLER_RING, sizeof(*w->ring), err);
	if (!w->ring)
		return CEIL_E_NOMEM;
	w->sampler = s;
	ceil_copy(w->device, sizeof(w->device), t->device);
	s->count++;
	for (size_t i = 0; ceil_sources[i]; i++) {
		struct ceil_error why = {CEIL_OK, ""};
		const enum ceil_status st = ceil_sources[i]->open(&known, &w->state[i], &why);

		if (st == CEIL_E_NOMEM)
			return ceil_fail(err, st, "%s", why.text);
		w->opened[i] = st == CEIL_OK;
		known.gpm = known.gpm || (w->opened[i] && ceil_sources[i] == &ceil_gpm_source);
		s->opened[i] += w->opened[i];
		if (!w->opened[i])
			ceil_copy(s->reason[i], sizeof(s->reason[i]), why.text);
	}
	return CEIL_OK;
}

static void free_sampler(struct ceil_sampler *s)
{
	for (size_t k = 0; k < s->count; k++) {
		for (size_t i = 0; ceil_sources[i]; i++) {
			if (s->watch[k].opened[i])
				ceil_sources[i]->close(s->watch[k].state[i]);
		}
		free(s->watch[k].ring);
	}
	free(s->watch);
	(void)pthread_cond_destroy(&s->moved);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

static enum ceil_status open_all(struct ceil_sampler *s, const struct ceil_source_target *targets,
                                 size_t count, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;
	size_t opened = 0;
	int code;

	s->watch = ceil_alloc(count + 1, sizeof(*s->watch), err);
	if (!s->watch)
		return CEIL_E_NOMEM;
	for (size_t i = 0; i < count && st == CEIL_OK; i++)
		st = open_watch(s, &targets[i], err);
	if (st != CEIL_OK)
		return st;
	for (size_t i = 0; ceil_sources[i]; i++)
		opened += s->opened[i];
	if (opened == 0)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "no telemetry: %s",
		                 count ? s->reason[0] : "there is no GPU");
	s->start_ns = ceil_now_ns();
	code = start_thread(s);
	if (code != 0)
		return ceil_fail(err, CEIL_E_DEVICE, "the sampler's thread: %s", strerror(code));
	return CEIL_OK;
}

enum ceil_status ceil_sampler_open(const struct ceil_source_target *targets, size_t count,
                                   const struct ceil_sampler_options *options,
                                   struct ceil_sampler **ret_sampler, struct ceil_error *err)
{
	struct ceil_sampler *s = ceil_alloc(1, sizeof(*s), err);
	enum ceil_status st;

	if (!s)
		return CEIL_E_NOMEM;
	init_locks(s);
	s->options = *options;
	if (s->options.interval_ns == 0)
		s->options.interval_ns = CEIL_SAMPLER_INTERVAL_NS;
	if (s->options.patience_ns == 0)
		s->options.patience_ns = PATIENCE_NS;
	st = open_all(s, targets, count, err);
	if (st != CEIL_OK) {
		free_sampler(s);
		return st;
	}
	*ret_sampler = s;
	return CEIL_OK;
}

bool ceil_sampler_close(struct ceil_sampler *s)
{
	if (!s)
		return true;
	if (!stop_thread(s))
		return false;
	free_sampler(s);
	return true;
}

const char *ceil_sampler_reason(const struct ceil_sampler *s, size_t source)
{
	return s && s->opened[source] == 0 ? s->reason[source] : "";
}

/* ---- one GPU */

struct ceil_watch *ceil_sampler_watch(struct ceil_sampler *s, size_t index)
{
	return s && index < s->count ? &s->watch[index] : NULL;
}

void ceil_watch_label(struct ceil_watch *w, const char *ceiling)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->sampler->lock);
	ceil_copy(w->ceiling, sizeof(w->ceiling), ceiling);
	pthread_mutex_unlock(&w->sampler->lock);
}

static void count_value(struct ceil_watch_stats *st, double value)
{
	if (isnan(value))
		return;
	st->mean += (value - st->mean) / (double)++st->count;
	st->min = fmin(st->min, value);
	st->max = fmax(st->max, value);
}

void ceil_watch_stats_of(const struct ceil_watch *w, const char *value, uint64_t from_ns,
                         uint64_t to_ns, struct ceil_watch_stats *ret_stats)
{
	const int index = ceil_source_value_index(value);
	struct ceil_watch_stats st = {.min = (double)NAN, .max = (double)NAN};
	uint64_t kept;

	*ret_stats = (struct ceil_watch_stats){(double)NAN, (double)NAN, (double)NAN, 0};
	if (!w || index < 0)
		return;
	pthread_mutex_lock(&w->sampler->lock);
	kept = w->count < CEIL_SAMPLER_RING ? w->count : CEIL_SAMPLER_RING;
	for (uint64_t i = 1; i <= kept; i++) {
		const struct reading *r = &w->ring[(w->count - i) % CEIL_SAMPLER_RING];

		if (r->at_ns < from_ns)
			break; /* the rest is older */
		if (r->at_ns <= to_ns)
			count_value(&st, r->value[index]);
	}
	pthread_mutex_unlock(&w->sampler->lock);
	if (st.count > 0)
		*ret_stats = st;
}
