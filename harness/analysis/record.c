/* Turns the outcome of a measurement into a row: figures, ratios, what limits it, its status. */
#include "harness/analysis/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/analysis/limit.h"
#include "harness/analysis/link.h"
#include "harness/analysis/peaks.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/measure/plan.h"

/* measuring.md, Status: a value above 1.03 x its peak is our mistake, not the card's merit. */
#define OVER_PEAK 1.03

/* A first sample is unlike the rest when it is off by five times what the rest may spread. */
#define FIRST_OFF 5.0
enum { FIRST_NEEDS = 8 }; /* fewer samples do not say what the rest is */
/* What an interruption takes from a host, at most: one of 63 copies of 9 us took 21 (H200). */
#define INTERRUPTION_NS 100e3

static bool is_host(const struct ceil_variant *v)
{
	return strcmp(v->backend, "host") == 0;
}

/* ---- who and what */

static void fill_device(struct ceil_record *r, const struct ceil_variant *v,
                        const struct ceil_device_props *props)
{
	/* A name that does not fit is cut, and POSIX leaves its end open. */
	if (gethostname(r->host, sizeof(r->host)) == 0)
		r->host[sizeof(r->host) - 1] = '\0';
	else
		r->host[0] = '\0';
	if (!props) {
		ceil_copy(r->device, sizeof(r->device), is_host(v) ? "cpu" : "gpu");
		return;
	}
	ceil_copy(r->device, sizeof(r->device), props->label);
	ceil_copy(r->gpu_name, sizeof(r->gpu_name), props->name);
	ceil_copy(r->gpu_uuid, sizeof(r->gpu_uuid), props->uuid);
	ceil_copy(r->driver, sizeof(r->driver), props->driver);
}

static void fill_point(struct ceil_record *r, const struct ceil_point *p)
{
	const struct ceil_variant *v = p->variant;
	const struct ceil_types *t = &v->types;

	ceil_point_ceiling(p, r->ceiling, sizeof(r->ceiling));
	ceil_copy(r->unit, sizeof(r->unit), ceil_unit_name(v->unit));
	ceil_copy(r->better, sizeof(r->better),
	          ceil_unit_lower_is_better(v->unit) ? "lower" : "higher");
	ceil_copy(r->dtype_in, sizeof(r->dtype_in), ceil_dtype_info(t->a)->name);
	ceil_copy(r->dtype_acc, sizeof(r->dtype_acc), ceil_dtype_info(t->acc)->name);
	ceil_copy(r->dtype_out, sizeof(r->dtype_out), ceil_dtype_info(t->out)->name);
	ceil_copy(r->regime, sizeof(r->regime), ceil_regime_name(p->regime));
	ceil_copy(r->pattern, sizeof(r->pattern), ceil_pattern_name(p->pattern));
	ceil_copy(r->variant, sizeof(r->variant), v->name);
	ceil_copy(r->bench, sizeof(r->bench), p->bench->name);
	ceil_copy(r->backend, sizeof(r->backend), v->backend);
	ceil_copy(r->cas, sizeof(r->cas), p->cas ? p->cas->name : "");
	ceil_copy(r->timing, sizeof(r->timing), ceil_timing_name(v->timing));
}

static void start_row(struct ceil_record *r, const struct ceil_point *p,
                      const struct ceil_device_props *props)
{
	ceil_table_clear(&ceil_table_records, r);
	fill_device(r, p->variant, props);
	fill_point(r, p);
	r->rank = p->bench->team && props ? props->rank : 0;
	r->ranks = p->bench->team && props && props->ranks ? props->ranks : 1;
	ceil_copy(r->tool_version, sizeof(r->tool_version), ceil_version());
	r->format_version = CEIL_FORMAT_VERSION;
}

static void set_status(struct ceil_record *r, enum ceil_row_status status, const char *reason)
{
	ceil_copy(r->status, sizeof(r->status), ceil_row_status_name(status));
	ceil_copy(r->reason, sizeof(r->reason), reason);
}

/* ---- figures */

/* The shape function is pure, so the buffers of the row can be asked for again. */
static void fill_sizes(struct ceil_record *r, const struct ceil_outcome *o,
                       const struct ceil_device_props *props)
{
	const struct ceil_bench *b = o->point.bench;
	const uint64_t cache = is_host(o->point.variant) ? props->llc_bytes : props->l2_bytes;
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {0};
	struct ceil_launch l = {0};
	uint64_t largest = 0;

	if (o->launch.m > 0 && o->launch.k > 0) {
		r->m = o->launch.m;
		r->n = o->launch.n;
		r->k = o->launch.k;
	}
	if (!b->shape || b->shape(&o->point, props, &l, buf, /* err= */ NULL) != CEIL_OK)
		return;
	for (size_t i = 0; i < b->buf_count; i++) {
		if (buf[i].role != CEIL_WORKSPACE && buf[i].bytes > largest)
			largest = buf[i].bytes;
	}
	if (largest == 0)
		return;
	r->size_bytes = largest;
	if (cache > 0)
		r->footprint_over_cache = (double)largest / (double)cache;
}

static void fill_times(struct ceil_record *r, const struct ceil_outcome *o)
{
	const struct ceil_stats *s = &o->stats;
	const enum ceil_unit unit = o->point.variant->unit;

	r->time_ns = s->median;
	r->time_min_ns = s->min;
	r->time_p05_ns = s->p05;
	r->time_p95_ns = s->p95;
	r->time_p99_ns = s->p99;
	r->time_ci_lo_ns = s->ci_lo;
	r->time_ci_hi_ns = s->ci_hi;
	r->spread = s->spread;
	r->samples = s->count;
	r->dropped = s->dropped;
	r->clock_mhz = s->clock_mhz;
	if (o->series.count > 0)
		r->batch = o->series.v[o->series.count - 1].batch;
	r->candidates = o->candidates;
	if (!isnan(o->first_ratio))
		r->first_value = ceil_unit_lower_is_better(unit) ? r->value * o->first_ratio
		                                                 : r->value / o->first_ratio;
	r->flops = o->work.flops;
	r->bytes = o->work.bytes_read + o->work.bytes_written + o->work.bytes_wire;
	if (o->work.bytes_payload > 0.0)
		r->algbw_gb_s = o->work.bytes_payload / s->median;
}

/* The bench's axis of that name, or absent. */
static uint64_t axis_of(const struct ceil_point *p, const char *name)
{
	for (size_t i = 0; p->cas && i < p->bench->axis_count; i++) {
		if (strcmp(p->bench->axes[i].name, name) == 0)
			return p->cas->axis[i];
	}
	return CEIL_ABSENT_U64;
}

/* What a row that runs until it is steady says of work and energy, and the bits it wrote. */
static void fill_work(struct ceil_record *r, const struct ceil_outcome *o)
{
	const enum ceil_unit unit = o->point.variant->unit;
	const bool sustained = o->point.regime == CEIL_SUSTAINED;

	r->products = axis_of(&o->point, "products");
	if (sustained)
		r->duty = 1.0;
	else if (o->point.regime == CEIL_DUTY)
		r->duty = o->point.duty;
	if (sustained && (unit == CEIL_TFLOP_S || unit == CEIL_TOP_S))
		r->j_per_tflop = r->power_w / r->value;
	if (o->hashed)
		(void)snprintf(r->output_hash, sizeof(r->output_hash), "%016llx",
		               (unsigned long long)o->output_hash);
}

static void fill_window(struct ceil_record *r, const struct ceil_window *w)
{
	if (!(w->seconds > 0.0))
		return;
	r->seconds = w->seconds;
	r->energy_j = w->seconds >= 1.0 ? w->energy_j : (double)NAN;
	r->snapshot_mhz = w->snapshot_mhz;
	r->sm_active = w->sm_active;
	r->tensor_active = w->tensor_active;
	r->dram_active = w->dram_active;
	r->power_cap_ratio = w->seconds >= 0.5 ? w->power_cap_ratio : (double)NAN;
	r->thermal_ratio = w->seconds >= 0.5 ? w->thermal_ratio : (double)NAN;
	r->hw_slowdown_ratio = w->seconds >= 0.5 ? w->hw_slowdown_ratio : (double)NAN;
	r->power_w = w->seconds >= 1.0 ? w->power_w : (double)NAN;
	r->temp_start_c = w->temp_start_c;
	r->temp_end_c = w->temp_end_c;
	ceil_copy(r->throttle, sizeof(r->throttle), w->throttle);
}

static void fill_peaks(struct ceil_record *r, const struct ceil_outcome *o,
                       const struct ceil_device_props *props)
{
	struct ceil_peak peak;

	ceil_peak_of(o->point.variant, props, &peak);
	r->theoretical = peak.theoretical;
	r->theoretical_clock_mhz = peak.theoretical_mhz;
	r->datasheet = peak.datasheet;
	r->datasheet_clock_mhz = peak.datasheet_mhz;
	r->of_theoretical = r->value / peak.theoretical;
	r->of_clock = r->value / (peak.per_mhz * r->clock_mhz);
}

/* A link has the peak of what it was while it worked, which no table knows. */
static void fill_link(struct ceil_record *r, const struct ceil_outcome *o,
                      const struct ceil_device_props *props)
{
	const struct ceil_variant *v = o->point.variant;

	if (v->resource == CEIL_R_FABRIC)
		ceil_copy(r->link, sizeof(r->link), props->fabric);
	if (v->resource != CEIL_R_HOSTLINK)
		return;
	ceil_link_name(&o->link, props, r->link, sizeof(r->link));
	if (v->unit != CEIL_GB_S)
		return;
	r->theoretical = ceil_link_gb_s(&o->link, props) * (v->both_ways ? 2.0 : 1.0);
	r->of_theoretical = r->value / r->theoretical;
}

static void fill_remark(struct ceil_record *r, const struct ceil_outcome *o)
{
	const struct ceil_variant *v = o->point.variant;

	r->gpu_busy = o->remark.gpu_busy;
	if (o->remark.host_node >= 0)
		r->host_node = (uint64_t)o->remark.host_node;
	ceil_copy(r->locality, sizeof(r->locality), o->remark.locality);
	ceil_copy(r->note, sizeof(r->note), o->remark.note);
	r->half_size_bytes = o->half_bytes;
	if (!v->versus || isnan(o->versus_value))
		return;
	ceil_copy(r->versus, sizeof(r->versus), v->versus);
	r->versus_value = o->versus_value;
}

static void fill_limit(struct ceil_record *r, const struct ceil_outcome *o,
                       const struct ceil_device_props *props)
{
	const struct ceil_limit_facts facts = {
		.resource = o->point.variant->resource,
		.of_theoretical = r->of_theoretical,
		.of_clock = r->of_clock,
		.clock_ratio = r->clock_mhz / props->max_sm_mhz,
		.window = &o->window,
		.backend = o->point.variant->backend,
		.timing = o->point.variant->timing,
	};

	ceil_copy(r->limited_by, sizeof(r->limited_by), ceil_limited_by(&facts));
}

/* ---- status */

/* Compute rows at the clock held where it is known; of_clock is NAN elsewhere. */
static bool over_peak(const struct ceil_record *r, const struct ceil_outcome *o, char *reason,
                      size_t size)
{
	const bool held = !isnan(r->of_clock);
	const double ratio = held ? r->of_clock : r->of_theoretical;

	if (strcmp(r->backend, "host") == 0 || !(ratio > OVER_PEAK))
		return false;
	/* Trees, and switches that add (NVLS), move less than the factor of busbw assumes. */
	if (o->point.variant->resource == CEIL_R_FABRIC && strncmp(r->algorithm, "ring", 4) != 0)
		return false;
	(void)snprintf(reason, size, "%.3g times the peak %s: %s", ratio,
	               held ? "at the clock held" : "in theory",
	               "too good to be true, so the figure or its peak is wrong");
	return true;
}

/*
 * Whether the first sample that counts stands apart while all others agree: a warm-up that was too
 * short, or a clock that fell once.
 */
static bool first_differs(const struct ceil_outcome *o, double tolerance, char *reason, size_t size)
{
	const struct ceil_series *s = &o->series;
	size_t first = o->steady_from;
	struct ceil_stats rest;

	while (first < s->count && s->v[first].drop != CEIL_KEEP)
		first++;
	if (tolerance <= 0.0 || o->stats.count < FIRST_NEEDS || first >= s->count)
		return false;
	ceil_stats_of(s, first + 1, &rest);
	const double off = s->v[first].time_ns / rest.median - 1.0;
	const double off_ns = off * rest.median * (double)s->v[first].batch;
	const double most = fmax(rest.max / rest.median - 1.0, 1.0 - rest.min / rest.median);

	if (!(rest.spread <= tolerance) || fabs(off) <= FIRST_OFF * tolerance ||
	    most > FIRST_OFF * tolerance)
		return false;
	if (o->point.variant->timing != CEIL_TIME_MARKS && fabs(off_ns) < INTERRUPTION_NS)
		return false;
	/* Another program takes a core for milliseconds, as long as a whole sample of the host. */
	if (is_host(o->point.variant) && off > 0.0)
		return false;
	(void)snprintf(reason, size, "the first sample took %.0f %% %s than the others",
	               100 * fabs(off), off > 0 ? "longer" : "less");
	return true;
}

/* Three digits: "5 %, more than the 5 %" would explain nothing. */
static void append_percent(char *text, size_t size, double ratio)
{
	ceil_append(text, size, ratio < 1.0 ? "%.3g %%" : "%.0f %%", 100 * ratio);
}

/*
 * The tolerance of measuring.md is how far the value may move from run to run. Samples that spread
 * over more are a warning; where the interval of their median is narrower than the tolerance, the
 * value is known well enough all the same (a host disturbs single samples, not their median).
 * Sustained rows are judged by whether they settled: their samples follow the power control.
 */
static bool too_wide(const struct ceil_record *r, const struct ceil_outcome *o, char *reason,
                     size_t size)
{
	const double tolerance = o->point.variant->tolerance;
	const double interval = (r->time_ci_hi_ns - r->time_ci_lo_ns) / r->time_ns;

	if (o->point.regime == CEIL_SUSTAINED || o->point.regime == CEIL_DUTY || tolerance <= 0.0 ||
	    !(r->spread > tolerance) || interval <= tolerance)
		return false;
	ceil_copy(reason, size, "samples spread over ");
	append_percent(reason, size, r->spread);
	ceil_append(reason, size, ", more than the %.3g %% of this row", 100 * tolerance);
	if (isnan(interval))
		return true;
	ceil_append(reason, size, ", and their median is known to ");
	append_percent(reason, size, interval);
	ceil_append(reason, size, " only");
	return true;
}

/* Data that went wrong under our hands: the check may have come after it. */
static bool ecc_errors(const struct ceil_window *w, char *reason, size_t size)
{
	if (!(w->ecc_uncorrected > 0.0))
		return false;
	(void)snprintf(reason, size, "%.0f uncorrected ECC error%s while it was measured",
	               w->ecc_uncorrected, w->ecc_uncorrected > 1.0 ? "s" : "");
	return true;
}

/* The gravest finding stands in the row. */
static void judge(struct ceil_record *r, const struct ceil_outcome *o)
{
	/* A collective of one rank has none: its times are no figure that could be unstable. */
	const bool has_value = !isnan(r->value);
	char reason[sizeof(r->reason)] = "";

	if (ecc_errors(&o->window, reason, sizeof(reason)) ||
	    over_peak(r, o, reason, sizeof(reason)) ||
	    (has_value && first_differs(o, o->point.variant->tolerance, reason, sizeof(reason)))) {
		set_status(r, CEIL_ROW_SUSPECT, reason);
	} else if (o->window.thermal) {
		(void)snprintf(reason, sizeof(reason), "the clocks were held down by %s",
		               r->throttle[0] ? r->throttle : "heat or the power supply");
		set_status(r, CEIL_ROW_THROTTLED, reason);
	} else if (o->status == CEIL_ROW_OK && has_value &&
	           too_wide(r, o, reason, sizeof(reason))) {
		set_status(r, CEIL_ROW_UNSTABLE, reason);
	}
}

static bool means_something(const struct ceil_outcome *o)
{
	switch (o->status) {
	case CEIL_ROW_UNSUPPORTED:
	case CEIL_ROW_SKIPPED:
	case CEIL_ROW_FAILED:
		return false;
	default:
		return o->stats.count > 0;
	}
}

void ceil_record_fill(struct ceil_record *ret_r, const struct ceil_outcome *o,
                      const struct ceil_device_props *props, const char *role)
{
	start_row(ret_r, &o->point, props);
	ceil_copy(ret_r->role, sizeof(ret_r->role), role);
	ceil_copy(ret_r->algorithm, sizeof(ret_r->algorithm), o->algorithm);
	ceil_copy(ret_r->started_utc, sizeof(ret_r->started_utc), o->started_utc);
	set_status(ret_r, o->status, o->reason);
	fill_sizes(ret_r, o, props);
	ceil_copy(ret_r->check, sizeof(ret_r->check), o->checked ? "exact" : "");
	if (!means_something(o))
		return;
	ret_r->value = ceil_outcome_value(o);
	ceil_copy(ret_r->stop, sizeof(ret_r->stop), ceil_stop_name(o->stop));
	fill_times(ret_r, o);
	fill_window(ret_r, &o->window);
	fill_work(ret_r, o);
	fill_peaks(ret_r, o, props);
	fill_link(ret_r, o, props);
	fill_remark(ret_r, o);
	fill_limit(ret_r, o, props);
	if (o->status != CEIL_ROW_CANCELLED)
		judge(ret_r, o);
}

void ceil_record_absent(struct ceil_record *ret_r, const struct ceil_point *p,
                        const struct ceil_device_props *props, enum ceil_row_status status,
                        const char *reason)
{
	start_row(ret_r, p, props);
	set_status(ret_r, status, reason);
}

void ceil_sample_row_of(struct ceil_sample_row *ret_row, const struct ceil_record *r,
                        const struct ceil_sample *sample, size_t index)
{
	ceil_table_clear(&ceil_table_samples, ret_row);
	ceil_copy(ret_row->host, sizeof(ret_row->host), r->host);
	ceil_copy(ret_row->device, sizeof(ret_row->device), r->device);
	ceil_copy(ret_row->ceiling, sizeof(ret_row->ceiling), r->ceiling);
	ceil_copy(ret_row->variant, sizeof(ret_row->variant), r->variant);
	ceil_copy(ret_row->cas, sizeof(ret_row->cas), r->cas);
	ceil_copy(ret_row->role, sizeof(ret_row->role), r->role);
	ret_row->sample = index;
	ret_row->batch = sample->batch;
	ret_row->time_ns = sample->time_ns;
	ret_row->clock_mhz = sample->clock_mhz;
	ceil_copy(ret_row->drop, sizeof(ret_row->drop), ceil_drop_name(sample->drop));
}

bool ceil_record_bad(const struct ceil_record *r)
{
	static const enum ceil_row_status bad[] = {CEIL_ROW_FAILED, CEIL_ROW_SUSPECT,
	                                           CEIL_ROW_THROTTLED};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (strcmp(r->status, ceil_row_status_name(bad[i])) == 0)
			return true;
	}
	return false;
}
