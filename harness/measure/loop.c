/* The one measuring loop: it alone warms up, gates, times, drops and stops. */
#include "harness/measure/loop.h"

#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/device/team.h"
#include "harness/measure/meter.h"

#include <math.h>
#include <stdlib.h>

static const char *const row_status_names[CEIL_ROW_STATUS_COUNT] = {
	[CEIL_ROW_OK] = "ok",
	[CEIL_ROW_UNSUPPORTED] = "unsupported",
	[CEIL_ROW_SKIPPED] = "skipped",
	[CEIL_ROW_UNSTABLE] = "unstable",
	[CEIL_ROW_THROTTLED] = "throttled",
	[CEIL_ROW_SUSPECT] = "suspect",
	[CEIL_ROW_FAILED] = "failed",
	[CEIL_ROW_CANCELLED] = "cancelled",
};

const char *ceil_row_status_name(enum ceil_row_status status)
{
	return row_status_names[status];
}

enum ceil_row_status ceil_row_status_of(enum ceil_status status)
{
	switch (status) {
	case CEIL_OK:
		return CEIL_ROW_OK;
	case CEIL_E_UNSUPPORTED:
		return CEIL_ROW_UNSUPPORTED;
	case CEIL_E_NOMEM:
	case CEIL_E_BUDGET:
		return CEIL_ROW_SKIPPED;
	case CEIL_E_CANCELLED:
		return CEIL_ROW_CANCELLED;
	default:
		return CEIL_ROW_FAILED;
	}
}

/* ---- values: the one division */

double ceil_value_from(enum ceil_unit unit, const struct ceil_work *w, double time_ns,
                       double clock_mhz)
{
	const double items = w->items > 0.0 ? w->items : 1.0;
	const double bytes = w->bytes_wire > 0.0 ? w->bytes_wire : w->bytes_read + w->bytes_written;

	switch (unit) {
	case CEIL_GB_S: /* one rank moves nothing over a wire: that is no rate of 0 */
		return bytes > 0.0 ? bytes / time_ns : (double)NAN;
	case CEIL_TFLOP_S:
	case CEIL_TOP_S:
		return w->flops / time_ns * 1e-3;
	case CEIL_US:
		return time_ns / items * 1e-3;
	case CEIL_PER_S:
		return items / time_ns * 1e9;
	case CEIL_CYCLES:
		return time_ns / items * clock_mhz * 1e-3;
	default:
		return time_ns / items;
	}
}

static bool runs_until_steady(const struct ceil_point *p)
{
	return p->regime == CEIL_SUSTAINED || p->regime == CEIL_DUTY;
}

/* The median; of a row that runs until it is steady the mean of that part. */
static double outcome_time_ns(const struct ceil_outcome *o)
{
	return runs_until_steady(&o->point) ? o->stats.mean : o->stats.median;
}

double ceil_outcome_value(const struct ceil_outcome *o)
{
	if (o->stats.count == 0)
		return (double)NAN;
	return ceil_value_from(o->point.variant->unit, &o->work, outcome_time_ns(o),
	                       o->stats.clock_mhz);
}

bool ceil_outcome_better(const struct ceil_outcome *a, const struct ceil_outcome *b)
{
	const double x = ceil_outcome_value(a);
	const double y = ceil_outcome_value(b);

	return ceil_unit_lower_is_better(a->point.variant->unit) ? x < y : x > y;
}

/* ---- the meter */

enum ceil_status ceil_meter_open(struct ceil_device *dev, const struct ceil_meter_options *options,
                                 struct ceil_meter **ret_meter, struct ceil_error *err)
{
	struct ceil_meter *m = ceil_alloc(1, sizeof(*m), err);
	enum ceil_status st;

	if (!m)
		return CEIL_E_NOMEM;
	m->dev = dev;
	m->options = *options;
	st = ceil_sample_timer(m, err);
	if (st != CEIL_OK) {
		free(m);
		return st;
	}
	ceil_nvml_read(options->gpu, &m->start);
	*ret_meter = m;
	return CEIL_OK;
}

void ceil_meter_close(struct ceil_meter *m)
{
	if (!m)
		return;
	if (!m->lost)
		ceil_place_done(&m->place, m->dev);
	free(m);
}

const struct ceil_timer *ceil_meter_timer(const struct ceil_meter *m)
{
	return &m->timer;
}

static bool late(const struct ceil_meter *m)
{
	return m->options.deadline_ns && ceil_now_ns() >= m->options.deadline_ns;
}

/* ---- one point */

/* All members of the team go on, or none: what they do next waits for the others. */
static enum ceil_status agree(const struct ceil_meter *m, const struct ceil_setup *s,
                              enum ceil_status st, struct ceil_error *err)
{
	return ceil_team_agree(ceil_meter_team(m, s->point->bench), st, err);
}

/* Members of a team start from different data. */
static uint64_t seed_of(const struct ceil_meter *m, const struct ceil_bench *b)
{
	const struct ceil_team *team = ceil_meter_team(m, b);

	return m->options.seed + (team ? team->rank : 0);
}

static enum ceil_status set_up(struct ceil_meter *m, struct ceil_setup *s, struct ceil_outcome *o,
                               struct ceil_error *err)
{
	const struct ceil_point *p = s->point;
	const size_t count = p->bench->buf_count;
	enum ceil_status st;

	st = p->bench->shape(p, &m->dev->props, &s->launch, s->buf, err);
	if (st == CEIL_OK)
		st = m->dev->backend->bind(m->dev, &s->launch, err);
	if (st == CEIL_OK)
		st = ceil_place_buffers(&m->place, m->dev, s->buf, count, &s->launch, err);
	if (st == CEIL_OK)
		st = ceil_place_fill(&m->place, m->dev, s->buf, count, p->pattern,
		                     seed_of(m, p->bench), err);
	st = agree(m, s, st, err);
	o->candidates = 1;
	if (st == CEIL_OK && p->bench->prepare) {
		s->prepared = true;
		st = p->bench->prepare(p, m->dev, &s->launch, &o->candidates, err);
		st = agree(m, s, st, err);
	}
	for (size_t i = 0; i < count; i++)
		o->footprint_bytes += s->buf[i].role == CEIL_WORKSPACE ? 0 : s->buf[i].bytes;
	return st;
}

/* Every kernel and size runs once ungated before it is timed: code loads lazily. */
static enum ceil_status run_once(struct ceil_meter *m, struct ceil_setup *s, struct ceil_error *err)
{
	const enum ceil_status st = s->point->variant->launch(&s->launch, err);

	return st == CEIL_OK ? ceil_sample_finish(m, s, err) : st;
}

static enum ceil_status choose(struct ceil_meter *m, struct ceil_setup *s,
                               const struct ceil_effort *effort, uint32_t algorithm,
                               struct ceil_outcome *o, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	if (algorithm != CEIL_SEARCH && algorithm >= o->candidates)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "algorithm %u of %u is not offered again",
		                 algorithm, o->candidates);
	if (algorithm != CEIL_SEARCH)
		s->launch.candidate = algorithm;
	else if (o->candidates > 1)
		st = ceil_search_candidate(m, s, o->candidates, effort, &o->first_ratio, err);
	if (st == CEIL_OK && s->point->bench->describe)
		s->point->bench->describe(&s->launch, o->algorithm, sizeof(o->algorithm));
	if (st == CEIL_OK)
		st = run_once(m, s, err);
	if (st == CEIL_OK && s->point->bench->check && s->point->bench->check_first)
		st = s->point->bench->check(s->point, m->dev, &s->launch, s->buf,
		                            seed_of(m, s->point->bench), err);
	return agree(m, s, st, err);
}

/* Before a burst row: until the device is as it was when the run began, 5 s at most. */
static void cool_down(const struct ceil_meter *m)
{
	const uint64_t give_up_ns = ceil_now_ns() + 5ull * CEIL_NS_PER_S;
	struct ceil_nvml_state state;

	for (;;) {
		ceil_nvml_read(m->options.gpu, &state);
		if (!ceil_nvml_hot(&m->start, &state, m->dev->props.max_sm_mhz) ||
		    ceil_now_ns() >= give_up_ns || ceil_cancel_signal())
			return;
		ceil_sleep_ns(20 * CEIL_NS_PER_MS);
	}
}

static enum ceil_status may_go_on(const struct ceil_meter *m, const struct ceil_outcome *o,
                                  struct ceil_error *err)
{
	const enum ceil_status st = ceil_cancel_check(err);

	if (st == CEIL_OK && o->series.count == 0 && late(m))
		return ceil_fail(err, CEIL_E_BUDGET, "the budget was spent before this row");
	return st;
}

/* A self-timed launch may give many times, each a sample. The first sample of all is warm-up. */
static enum ceil_status keep(const struct ceil_setup *s, const struct ceil_sample *x, bool warm_up,
                             struct ceil_outcome *o, struct ceil_error *err)
{
	const bool self = s->point->variant->timing == CEIL_TIME_SELF;
	const uint32_t count = self && s->launch.self_count > 1 ? s->launch.self_count : 1;
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < count && st == CEIL_OK; i++) {
		struct ceil_sample y = *x;

		if (count > 1) {
			y.time_ns = s->self_ns[i];
			y.drop = y.time_ns > 0.0 ? CEIL_KEEP : CEIL_DROP_SHORT;
		}
		if (o->series.count == 0 && warm_up && y.drop == CEIL_KEEP)
			y.drop = CEIL_DROP_WARMUP;
		st = ceil_series_add(&o->series, &y, err);
	}
	return st;
}

/* Until the next sample; of a duty row, what makes the last one its share of the time. */
static uint64_t idle_after(const struct ceil_point *p, const struct ceil_effort *effort,
                           const struct ceil_sample *x)
{
	if (p->regime != CEIL_DUTY)
		return effort->idle_ns;
	return (uint64_t)(x->time_ns * (double)x->batch * (1.0 - p->duty) / p->duty);
}

/* What is left of the idle time before the first sample: the device idles since quiet_ns. */
static uint64_t idle_first(const struct ceil_effort *effort, uint64_t quiet_ns)
{
	const uint64_t want_ns =
		effort->rest_ns > effort->idle_ns ? effort->rest_ns : effort->idle_ns;
	const uint64_t idled_ns = ceil_now_ns() - quiet_ns;

	return want_ns > idled_ns ? want_ns - idled_ns : 0;
}

/* Drawing, and waiting for devices that are measured at once: returns the time it took. */
static uint64_t tell(const struct ceil_meter *m, const struct ceil_outcome *o)
{
	const uint64_t from_ns = ceil_now_ns();

	if (m->options.progress)
		m->options.progress(m->options.user, o);
	return ceil_now_ns() - from_ns;
}

/* @quiet_ns: when the device last worked. */
static enum ceil_status sample_until(struct ceil_meter *m, struct ceil_setup *s,
                                     const struct ceil_effort *effort, uint64_t quiet_ns,
                                     struct ceil_outcome *o, struct ceil_error *err)
{
	/* From an idle device each time: all samples are alike, and the first is no warm-up. */
	const bool cool = effort->idle_ns > 0;
	const bool steady = runs_until_steady(s->point);
	const struct ceil_stop_rule *rule = ceil_stop_rule_find(steady ? "steady"
	                                                        : cool ? "count"
	                                                               : "precise");
	uint64_t from_ns = ceil_now_ns(); /* moved on by what is not this device's time */
	uint64_t idle_ns = idle_first(effort, quiet_ns);
	enum ceil_status st = CEIL_OK;

	while (o->stop == CEIL_GO_ON) {
		struct ceil_sample x;

		/* A sample that found no memory is told here: the others come to the stop below. */
		st = agree(m, s, st == CEIL_OK ? may_go_on(m, o, err) : st, err);
		if (st == CEIL_OK && idle_ns)
			ceil_sleep_ns(idle_ns);
		if (st == CEIL_OK)
			st = ceil_sample_batch(m, s, &x, err);
		if (st != CEIL_OK)
			break;
		idle_ns = idle_after(s->point, effort, &x);
		st = keep(s, &x, !cool, o, err);
		o->stop = rule->step(&o->series, effort, ceil_now_ns() - from_ns);
		const enum ceil_status met = ceil_team_follow(ceil_meter_team(m, s->point->bench),
		                                              &o->stop, sizeof(o->stop), err);

		st = st == CEIL_OK ? met : st;
		from_ns += tell(m, o);
	}
	return agree(m, s, st, err);
}

/* An idle link slows down and a busy one never runs faster than it can: the larger was in use. */
static struct ceil_link link_of(const struct ceil_nvml_state *a, const struct ceil_nvml_state *b)
{
	return (struct ceil_link){
		.pcie_gen = a->pcie_gen > b->pcie_gen ? a->pcie_gen : b->pcie_gen,
		.pcie_width = a->pcie_width > b->pcie_width ? a->pcie_width : b->pcie_width,
	};
}

static double mean_watched(const struct ceil_meter *m, const char *value, uint64_t from_ns,
                           uint64_t to_ns)
{
	struct ceil_watch_stats x;

	ceil_watch_stats_of(m->options.watch, value, from_ns, to_ns, &x);
	return x.mean;
}

/*
 * What the sampler saw meanwhile. A share of time is that of the tenth of a second before its
 * reading: the first two of a row reach back before it, and a burst is mostly idle.
 */
static void fill_watched(const struct ceil_meter *m, uint64_t from_ns, uint64_t to_ns,
                         struct ceil_outcome *o)
{
	const uint64_t inside_ns = from_ns + 2 * CEIL_SAMPLER_INTERVAL_NS;
	struct ceil_window *w = &o->window;

	w->snapshot_mhz = mean_watched(m, "sm_mhz", from_ns, to_ns);
	if (w->seconds < 1.0 || o->point.regime == CEIL_BURST)
		return;
	w->sm_active = mean_watched(m, "sm_active", inside_ns, to_ns);
	w->tensor_active = mean_watched(m, "tensor_active", inside_ns, to_ns);
	w->dram_active = mean_watched(m, "dram_active", inside_ns, to_ns);
}

static enum ceil_status sample(struct ceil_meter *m, struct ceil_setup *s,
                               const struct ceil_effort *effort, struct ceil_outcome *o,
                               struct ceil_error *err)
{
	struct ceil_nvml_state before;
	struct ceil_nvml_state after;
	enum ceil_status st = ceil_sample_grow(m, s, effort->sample_ns, err);
	const uint64_t quiet_ns = ceil_now_ns();

	if (st == CEIL_OK && s->point->regime == CEIL_BURST)
		cool_down(m);
	ceil_nvml_read(m->options.gpu, &before);
	if (st == CEIL_OK)
		st = s->point->regime == CEIL_SUSTAINED
		             ? ceil_sample_sustained(m, s, effort, o, err)
		             : sample_until(m, s, effort, quiet_ns, o, err);
	if (runs_until_steady(s->point))
		o->steady_from = ceil_steady_from(&o->series);
	ceil_nvml_read(m->options.gpu, &after);
	ceil_window_of(&before, &after, &o->window);
	fill_watched(m, before.at_ns, after.at_ns, o);
	o->link = link_of(&before, &after);
	if (st == CEIL_OK && s->point->bench->remark)
		s->point->bench->remark(s->point, &m->dev->props, &s->launch, s->buf, &o->remark);
	return st;
}

static enum ceil_status hash_outputs(struct ceil_meter *m, const struct ceil_setup *s,
                                     uint64_t *ret_hash, struct ceil_error *err)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->point->bench->buf_count; i++) {
		uint64_t one = 0;
		enum ceil_status st;

		if (s->buf[i].role != CEIL_OUTPUT || s->buf[i].bytes == 0)
			continue;
		st = m->dev->backend->hash(m->dev, &s->buf[i], s->launch.buf[i], &one, err);
		if (st != CEIL_OK)
			return st;
		sum += one;
	}
	*ret_hash = sum;
	return CEIL_OK;
}

/* The first launch and the last must write the same bits: silent corruption shows here. */
static enum ceil_status sample_hashed(struct ceil_meter *m, struct ceil_setup *s,
                                      const struct ceil_effort *effort, struct ceil_outcome *o,
                                      struct ceil_error *err)
{
	uint64_t last = 0;
	enum ceil_status st;

	if (!s->point->bench->repeatable)
		return sample(m, s, effort, o, err);
	st = hash_outputs(m, s, &o->output_hash, err);
	if (st == CEIL_OK)
		st = sample(m, s, effort, o, err);
	if (st == CEIL_OK)
		st = hash_outputs(m, s, &last, err);
	if (st == CEIL_OK && last != o->output_hash)
		return ceil_fail(err, CEIL_E_WRONG,
		                 "the last launch wrote other bits than the first (hash %016llx, "
		                 "first %016llx): silent corruption",
		                 (unsigned long long)last, (unsigned long long)o->output_hash);
	o->hashed = st == CEIL_OK;
	return st;
}

/* An untimed launch of the same kernel and algorithm on data with one exact answer. */
static enum ceil_status check(struct ceil_meter *m, struct ceil_setup *s, struct ceil_outcome *o,
                              struct ceil_error *err)
{
	const struct ceil_bench *b = s->point->bench;
	const uint64_t seed = seed_of(m, b);
	const enum ceil_pattern pattern =
		b->check_fill ? b->check_fill(s->point, &m->dev->props) : b->check_pattern;
	enum ceil_status st;

	if (!b->check)
		return CEIL_OK;
	st = ceil_place_fill(&m->place, m->dev, s->buf, b->buf_count, pattern, seed, err);
	st = agree(m, s, st, err);
	if (st != CEIL_OK)
		return st;
	st = run_once(m, s, err);
	if (st == CEIL_OK)
		st = b->check(s->point, m->dev, &s->launch, s->buf, seed, err);
	st = agree(m, s, st, err);
	o->checked = st == CEIL_OK;
	return st;
}

/* A busy host is no wrong result: the row has no value, and the reason is the host's. */
static void no_sample(struct ceil_outcome *o)
{
	size_t preempted = 0;

	for (size_t i = 0; i < o->series.count; i++)
		preempted += o->series.v[i].drop == CEIL_DROP_PREEMPTED;
	o->status = preempted > 0 ? CEIL_ROW_UNSTABLE : CEIL_ROW_FAILED;
	if (preempted > 0)
		ceil_append(o->reason, sizeof(o->reason),
		            "%zu of %zu samples lost the host's core to other work, and no other "
		            "counts",
		            preempted, o->series.count);
	else
		ceil_copy(o->reason, sizeof(o->reason), "no sample was long enough for the timer");
}

static void conclude(struct ceil_outcome *o, const struct ceil_team *team)
{
	if (runs_until_steady(&o->point) && o->steady_from >= o->series.count) {
		/* What was measured stays, its second half, and the row says that it moved. */
		o->steady_from = o->series.count / 2;
		o->status = CEIL_ROW_UNSTABLE;
		ceil_copy(o->reason, sizeof(o->reason),
		          "rate or clock did not settle within 0.5 %");
	}
	ceil_stats_of(&o->series, o->steady_from, &o->stats);
	if (o->stats.count == 0) {
		no_sample(o);
	} else if (team && team->functional) {
		o->status = CEIL_ROW_UNSUPPORTED;
		ceil_copy(o->reason, sizeof(o->reason),
		          "functional test: ranks share a GPU, so results count and times do not");
	}
}

static void fail_outcome(struct ceil_outcome *o, const struct ceil_error *err)
{
	o->status = ceil_row_status_of(err->status);
	ceil_copy(o->reason, sizeof(o->reason), err->text);
	/* What a cancelled row has measured still means something; a wrong one means nothing. */
	if (o->status == CEIL_ROW_CANCELLED)
		ceil_stats_of(&o->series, 0, &o->stats);
}

static void start_outcome(struct ceil_outcome *o, const struct ceil_point *p)
{
	const struct ceil_series none = {0};
	struct ceil_nvml_state nothing;

	ceil_nvml_read(NULL, &nothing);
	*o = (struct ceil_outcome){
		.point = *p,
		.first_ratio = (double)NAN,
		.link = link_of(&nothing, &nothing),
		.remark = {.gpu_busy = (double)NAN, .host_node = -1},
		.half_bytes = (double)NAN,
		.versus_value = (double)NAN,
	};
	ceil_stats_of(&none, 0, &o->stats);
	ceil_window_of(&nothing, &nothing, &o->window);
	ceil_utc(o->started_utc, sizeof(o->started_utc));
}

/* A device that fails twice is gone; one that recovers costs its row alone. */
static enum ceil_status after_failure(struct ceil_meter *m, struct ceil_error *err)
{
	struct ceil_error probe = {CEIL_OK, ""};

	if (err->status == CEIL_E_TIMEOUT || err->status == CEIL_E_CANCELLED)
		return err->status;
	if (err->status != CEIL_E_DEVICE)
		return CEIL_OK;
	return ceil_sample_wait(m, &probe) == CEIL_OK ? CEIL_OK : CEIL_E_DEVICE;
}

enum ceil_status ceil_meter_point(struct ceil_meter *m, const struct ceil_point *p,
                                  const struct ceil_effort *effort, uint32_t algorithm,
                                  struct ceil_outcome *ret_o, struct ceil_error *err)
{
	struct ceil_setup s = {.point = p, .batch = 1};
	enum ceil_status st;

	start_outcome(ret_o, p);
	st = agree(m, &s, may_go_on(m, ret_o, err), err);
	if (st == CEIL_OK)
		st = set_up(m, &s, ret_o, err);
	if (st == CEIL_OK)
		st = choose(m, &s, effort, algorithm, ret_o, err);
	if (st == CEIL_OK) {
		p->bench->work(p, &s.launch, &ret_o->work);
		st = sample_hashed(m, &s, effort, ret_o, err);
	}
	if (st == CEIL_OK)
		st = check(m, &s, ret_o, err);
	if (st == CEIL_OK)
		conclude(ret_o, ceil_meter_team(m, p->bench));
	else
		fail_outcome(ret_o, err);
	ret_o->launch = s.launch;
	st = st == CEIL_OK ? CEIL_OK : after_failure(m, err);
	m->lost = st == CEIL_E_TIMEOUT;
	/* A hung device must not be called again, not even to give back a plan. */
	if (s.prepared && p->bench->release && !m->lost)
		p->bench->release(&s.launch);
	return st;
}

void ceil_outcome_done(struct ceil_outcome *o)
{
	ceil_series_done(&o->series);
}
