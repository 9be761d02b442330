/* Timing: one sample by marks, by the host's clock or by the bench itself. */
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/device/team.h"
#include "harness/measure/meter.h"

#include <math.h>
#include <sys/resource.h>

/* Behind the gate: more launches than a stream's queue holds would never be enqueued. */
enum { GATE_LAUNCHES = 512, MAX_BATCH = 1 << 20 };

/* measuring.md, Time: what makes a sample long enough. */
enum { RESOLUTIONS = 1000, OVERHEADS = 50 };

/* Members of a team start up to 40 us apart (two H200s in one process): 0.2 % of this. */
#define TOGETHER_NS 20e6

#define DEFAULT_TIMEOUT_NS (30ull * CEIL_NS_PER_S)

enum ceil_status ceil_sample_wait(struct ceil_meter *m, struct ceil_error *err)
{
	const uint64_t timeout_ns = m->options.timeout_ns;

	return m->dev->backend->sync(m->dev, timeout_ns ? timeout_ns : DEFAULT_TIMEOUT_NS, err);
}

enum ceil_status ceil_sample_finish(struct ceil_meter *m, struct ceil_setup *s,
                                    struct ceil_error *err)
{
	const struct ceil_bench *b = s->point->bench;
	const enum ceil_status st = b->wait ? b->wait(&s->launch, err) : CEIL_OK;

	return st == CEIL_OK ? ceil_sample_wait(m, err) : st;
}

struct ceil_team *ceil_meter_team(const struct ceil_meter *m, const struct ceil_bench *b)
{
	return b->team ? m->dev->team : NULL;
}

static enum ceil_status launch_batch(struct ceil_setup *s, struct ceil_error *err)
{
	const ceil_launch_fn launch = s->point->variant->launch;
	enum ceil_status st = CEIL_OK;

	for (uint64_t i = 0; i < s->batch && st == CEIL_OK; i++)
		st = launch(&s->launch, err);
	return st;
}

static uint64_t most_gated(const struct ceil_variant *v)
{
	return v->kernels ? GATE_LAUNCHES / v->kernels : GATE_LAUNCHES;
}

static bool gated(const struct ceil_meter *m, const struct ceil_setup *s)
{
	const struct ceil_variant *v = s->point->variant;

	return v->gated && m->dev->backend->gate && s->batch <= most_gated(v);
}

/* clock, mark, launches, mark, clock: what is between the marks is the work alone. */
static enum ceil_status enqueue_timed(struct ceil_meter *m, struct ceil_setup *s,
                                      struct ceil_error *err)
{
	const struct ceil_backend *b = m->dev->backend;
	enum ceil_status st = CEIL_OK;

	if (b->clock)
		st = b->clock(m->dev, 0, err);
	if (st == CEIL_OK)
		st = b->mark(m->dev, 0, 0, err);
	if (st == CEIL_OK)
		st = launch_batch(s, err);
	if (st == CEIL_OK)
		st = b->mark(m->dev, 0, 1, err);
	if (st == CEIL_OK && b->clock)
		st = b->clock(m->dev, 1, err);
	return st;
}

static enum ceil_status sample_marks(struct ceil_meter *m, struct ceil_setup *s,
                                     struct ceil_sample *ret_sample, struct ceil_error *err)
{
	const struct ceil_backend *b = m->dev->backend;
	const bool gate = gated(m, s);
	enum ceil_status st = CEIL_OK;
	double total_ns = 0.0;

	if (gate)
		st = b->gate(m->dev, /* closed= */ true, err);
	if (st == CEIL_OK)
		st = enqueue_timed(m, s, err);
	/* The gate opens whatever came before: a failed launch must not hold the stream. */
	if (gate) {
		struct ceil_error later = {CEIL_OK, ""};
		const enum ceil_status opened = b->gate(m->dev, /* closed= */ false, &later);

		if (st == CEIL_OK && opened != CEIL_OK)
			st = ceil_fail(err, opened, "%s", later.text);
	}
	if (st == CEIL_OK)
		st = ceil_sample_finish(m, s, err);
	if (st == CEIL_OK)
		st = b->elapsed_ns(m->dev, 0, 1, &total_ns, err);
	if (st == CEIL_OK && b->clock_mhz)
		st = b->clock_mhz(m->dev, 0, 1, &ret_sample->clock_mhz, err);
	ret_sample->time_ns = total_ns / (double)s->batch;
	return st;
}

static long preemptions(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw : 0;
}

/* One launch and its completion by the host's clock: latencies and what blocks the host. */
static enum ceil_status sample_host(struct ceil_meter *m, struct ceil_setup *s,
                                    struct ceil_sample *ret_sample, struct ceil_error *err)
{
	const long before = preemptions();
	const uint64_t from_ns = ceil_now_ns();
	enum ceil_status st = launch_batch(s, err);

	if (st == CEIL_OK)
		st = ceil_sample_finish(m, s, err);
	ret_sample->time_ns = (double)(ceil_now_ns() - from_ns) / (double)s->batch;
	if (preemptions() != before)
		ret_sample->drop = CEIL_DROP_PREEMPTED;
	return st;
}

static enum ceil_status sample_self(struct ceil_meter *m, struct ceil_setup *s,
                                    struct ceil_sample *ret_sample, struct ceil_error *err)
{
	enum ceil_status st;

	for (int i = 0; i < CEIL_MAX_TIMES; i++)
		s->self_ns[i] = (double)NAN;
	s->launch.self_ns = s->self_ns;
	st = launch_batch(s, err);
	s->launch.self_ns = NULL;
	if (st == CEIL_OK)
		st = ceil_sample_finish(m, s, err);
	ret_sample->time_ns = s->self_ns[0];
	return st;
}

/* A collective is done when its slowest member is: all keep the same sample, or all fail. */
static enum ceil_status share_sample(struct ceil_meter *m, struct ceil_setup *s,
                                     enum ceil_status st, struct ceil_sample *x,
                                     struct ceil_error *err)
{
	struct ceil_team *team = ceil_meter_team(m, s->point->bench);
	const bool many = s->point->variant->timing == CEIL_TIME_SELF && s->launch.self_count > 1;

	st = ceil_team_agree(team, st, err);
	if (st == CEIL_OK && many)
		st = ceil_team_slowest(team, s->self_ns, s->launch.self_count, err);
	if (st == CEIL_OK)
		st = ceil_team_slowest(team, &x->time_ns, 1, err);
	if (st == CEIL_OK)
		st = ceil_team_follow(team, &x->drop, sizeof(x->drop), err);
	return st;
}

enum ceil_status ceil_sample_batch(struct ceil_meter *m, struct ceil_setup *s,
                                   struct ceil_sample *ret_sample, struct ceil_error *err)
{
	const struct ceil_variant *v = s->point->variant;
	struct ceil_sample x = {
		.batch = s->batch, .time_ns = (double)NAN, .clock_mhz = (double)NAN};
	enum ceil_status st = CEIL_OK;

	if (v->cold_cache && m->dev->backend->flush_cache)
		st = m->dev->backend->flush_cache(m->dev, err);
	if (st == CEIL_OK)
		st = v->timing == CEIL_TIME_MARKS       ? sample_marks(m, s, &x, err)
		     : v->timing == CEIL_TIME_HOST_EACH ? sample_host(m, s, &x, err)
		                                        : sample_self(m, s, &x, err);
	st = share_sample(m, s, st, &x, err);
	if (st != CEIL_OK)
		return st;
	x.at_ns = ceil_now_ns();
	/* The resolution is that of marks; the host's clock steps by nanoseconds. */
	const double least_ns = v->timing == CEIL_TIME_MARKS ? 10.0 * m->timer.resolution_ns : 0.0;

	if (!(x.time_ns * (double)x.batch > least_ns))
		x.drop = CEIL_DROP_SHORT;
	*ret_sample = x;
	return CEIL_OK;
}

static double wanted_ns(const struct ceil_meter *m, const struct ceil_bench *b, uint64_t want_ns)
{
	const struct ceil_team *team = ceil_meter_team(m, b);
	const double least =
		fmax(RESOLUTIONS * m->timer.resolution_ns, OVERHEADS * m->timer.overhead_ns);
	const double together =
		team && team->size > 1 ? fmin(5.0 * (double)want_ns, TOGETHER_NS) : 0.0;

	return fmax(fmax((double)want_ns, least), together);
}

enum ceil_status ceil_sample_grow(struct ceil_meter *m, struct ceil_setup *s, uint64_t want_ns,
                                  struct ceil_error *err)
{
	const double want = wanted_ns(m, s->point->bench, want_ns);
	const uint64_t most = s->point->variant->gated ? most_gated(s->point->variant) : MAX_BATCH;

	s->batch = 1;
	if (s->point->variant->timing != CEIL_TIME_MARKS)
		return CEIL_OK; /* each call by itself */
	if (s->point->variant->batch > 0) {
		s->batch = s->point->variant->batch;
		return CEIL_OK;
	}
	for (;;) {
		struct ceil_sample x;
		enum ceil_status st = ceil_sample_batch(m, s, &x, err);

		if (st != CEIL_OK)
			return st;
		const double total = fmax(x.time_ns * (double)s->batch, m->timer.resolution_ns);
		/* A first short sample overstates the cost of one: never jump more than 16-fold. */
		const double factor = fmin(16.0, fmax(1.25, want / total));
		double next = fmin((double)most, ceil((double)s->batch * factor));

		if (total >= 0.8 * want || s->batch >= most)
			next = 0.0;
		/* Timers of devices differ a little. */
		st = ceil_team_follow(ceil_meter_team(m, s->point->bench), &next, sizeof(next),
		                      err);
		if (st != CEIL_OK || next == 0.0)
			return st;
		s->batch = (uint64_t)next;
	}
}

enum ceil_status ceil_sample_timer(struct ceil_meter *m, struct ceil_error *err)
{
	const struct ceil_backend *b = m->dev->backend;
	double least = (double)INFINITY;
	double sum = 0.0;
	enum { PAIRS = 64 };

	for (int i = 0; i < PAIRS; i++) {
		double ns = 0.0;
		enum ceil_status st = b->mark(m->dev, 0, 0, err);

		if (st == CEIL_OK)
			st = b->mark(m->dev, 0, 1, err);
		if (st == CEIL_OK)
			st = ceil_sample_wait(m, err);
		if (st == CEIL_OK)
			st = b->elapsed_ns(m->dev, 0, 1, &ns, err);
		if (st != CEIL_OK)
			return st;
		sum += ns;
		if (ns > 0.0 && ns < least)
			least = ns;
	}
	m->timer.overhead_ns = sum / PAIRS;
	/* No pair apart: the clock is coarser than a pair costs; then a microsecond is safe. */
	m->timer.resolution_ns = isinf(least) ? 1000.0 : fmin(least, 1000.0);
	return CEIL_OK;
}

/* ---- sustained: the stream holds one batch more than is waited for */

/* Boundary k: a clock stamp and a mark; sample k lies between marks k and k + 1. */
static enum ceil_status boundary(struct ceil_meter *m, uint64_t k, struct ceil_error *err)
{
	const struct ceil_backend *b = m->dev->backend;
	const int slot = (int)(k % CEIL_MAX_SLOTS);
	enum ceil_status st = CEIL_OK;

	if (b->clock)
		st = b->clock(m->dev, slot, err);
	return st == CEIL_OK ? b->mark(m->dev, 0, slot, err) : st;
}

static enum ceil_status collect(struct ceil_meter *m, const struct ceil_setup *s, uint64_t k,
                                struct ceil_sample *ret_sample, struct ceil_error *err)
{
	const struct ceil_backend *b = m->dev->backend;
	const uint64_t timeout_ns =
		m->options.timeout_ns ? m->options.timeout_ns : DEFAULT_TIMEOUT_NS;
	const int from = (int)(k % CEIL_MAX_SLOTS);
	const int to = (int)((k + 1) % CEIL_MAX_SLOTS);
	struct ceil_sample x = {.batch = s->batch, .clock_mhz = (double)NAN};
	double ns = 0.0;
	enum ceil_status st =
		b->wait ? b->wait(m->dev, to, timeout_ns, err) : ceil_sample_wait(m, err);

	if (st == CEIL_OK)
		st = b->elapsed_ns(m->dev, from, to, &ns, err);
	if (st == CEIL_OK && b->clock_mhz)
		st = b->clock_mhz(m->dev, from, to, &x.clock_mhz, err);
	x.at_ns = ceil_now_ns();
	x.time_ns = ns / (double)s->batch;
	*ret_sample = x;
	return st;
}

/* One step: the next batch goes in, then the one before it is waited for and kept. */
static enum ceil_status sustained_step(struct ceil_meter *m, struct ceil_setup *s, uint64_t k,
                                       struct ceil_outcome *o, struct ceil_error *err)
{
	struct ceil_sample x;
	enum ceil_status st = launch_batch(s, err);

	if (st == CEIL_OK)
		st = boundary(m, k + 1, err);
	if (st != CEIL_OK || k == 0)
		return st;
	st = collect(m, s, k - 1, &x, err);
	if (st != CEIL_OK)
		return st;
	if (k == 1)
		x.drop = CEIL_DROP_WARMUP;
	return ceil_series_add(&o->series, &x, err);
}

enum ceil_status ceil_sample_sustained(struct ceil_meter *m, struct ceil_setup *s,
                                       const struct ceil_effort *effort, struct ceil_outcome *o,
                                       struct ceil_error *err)
{
	const struct ceil_stop_rule *rule = ceil_stop_rule_find("steady");
	const uint64_t from_ns = ceil_now_ns();
	enum ceil_status st = boundary(m, 0, err);

	for (uint64_t k = 0; st == CEIL_OK && o->stop == CEIL_GO_ON; k++) {
		st = sustained_step(m, s, k, o, err);
		if (st == CEIL_OK)
			st = ceil_cancel_check(err);
		o->stop = rule->step(&o->series, effort, ceil_now_ns() - from_ns);
		if (m->options.progress)
			m->options.progress(m->options.user, o);
	}
	return st == CEIL_OK ? ceil_sample_wait(m, err) : st;
}
