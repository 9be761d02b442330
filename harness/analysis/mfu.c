/* Divides rates by peaks, gathers the peaks of a run, and judges the figure. */
#include "harness/analysis/mfu.h"

#include "harness/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ROW(member, unit, doc) CEIL_FIELD(struct ceil_mfu_row, member, unit, 1, doc)

static const struct ceil_field mfu_fields[] = {
	ROW(host, "", "name of the machine"),
	ROW(device, "", "gpu0 ... by nvidia-smi's index"),
	ROW(gpu_name, "", "name of the device as its driver gives it"),
	ROW(dtype_in, "", "type of the elements multiplied"),
	ROW(dtype_acc, "", "type that sums are kept in"),
	ROW(datasheet_tflops, "TFLOP/s", "the published dense figure: the denominator of MFU"),
	ROW(datasheet_clock_mhz, "MHz", "the SM clock that the published figure implies"),
	ROW(theoretical_tflops, "TFLOP/s", "dense peak at the maximum clock"),
	ROW(theoretical_clock_mhz, "MHz", "the maximum SM clock"),
	ROW(burst_tflops, "TFLOP/s", "the best matrix product from an idle start"),
	ROW(sustained_tflops, "TFLOP/s",
            "the best matrix product at a steady clock: tune against it"),
	ROW(sustained_clock_mhz, "MHz", "mean SM clock held meanwhile"),
	ROW(sustained_power_w, "W", "mean power meanwhile"),
	ROW(slowest_of_node, "", "the GPU of this host that is slowest in this type"),
	ROW(shape, "", "m x n x k of the burst row"),
	ROW(pattern, "", "what the operands were filled with"),
	ROW(tool_version, "", "gpuceil that measured it"),
	ROW(gpu_uuid, "", "UUID of the GPU"),
	ROW(format_version, "", "of this table; a renamed or re-defined column bumps it"),
};

const struct ceil_table ceil_table_mfu = {
	.name = "mfu_denominators.csv",
	.doc = "peaks to divide a training rate by, one row per GPU and type",
	.fields = mfu_fields,
	.field_count = sizeof(mfu_fields) / sizeof(mfu_fields[0]),
	.row_bytes = sizeof(struct ceil_mfu_row),
};

/* ---- denominators from ceilings */

/* What follows the type: "_acc16.burst", ".sustained". A shape or a pattern between is no ceiling.
 */
static bool is_regime(const char *rest)
{
	if (!strncmp(rest, "_acc", 4))
		rest += 4 + strspn(rest + 4, "0123456789");
	return !strcmp(rest, ".burst") || !strcmp(rest, ".sustained");
}

/*
 * "gemm.bf16.burst" and "gemm.fp16_acc16.burst" count. "gemm.e4m3_fast.burst" is for comparison,
 * "gemm.bf16.zeros.burst" and "gemm.bf16.64x64x64.burst" are of other data and shapes.
 */
static bool is_denominator(const struct ceil_record *r)
{
	static const char *const good[] = {"ok", "unstable", "throttled"};
	const size_t n = strlen(r->dtype_in);
	const char *type = r->ceiling + strlen("gemm.");

	if (strncmp(r->ceiling, "gemm.", strlen("gemm.")) != 0 || !n || isnan(r->value) ||
	    !strcmp(r->role, "search") || strncmp(type, r->dtype_in, n) != 0 ||
	    !is_regime(type + n))
		return false;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strcmp(r->status, good[i]))
			return true;
	return false;
}

static bool same_key(const struct ceil_mfu_row *row, const struct ceil_record *r)
{
	return !strcmp(row->host, r->host) && !strcmp(row->device, r->device) &&
	       !strcmp(row->dtype_in, r->dtype_in) && !strcmp(row->dtype_acc, r->dtype_acc);
}

static void start_row(struct ceil_mfu_row *row, const struct ceil_record *r)
{
	ceil_table_clear(&ceil_table_mfu, row);
	ceil_copy(row->host, sizeof(row->host), r->host);
	ceil_copy(row->device, sizeof(row->device), r->device);
	ceil_copy(row->gpu_name, sizeof(row->gpu_name), r->gpu_name);
	ceil_copy(row->gpu_uuid, sizeof(row->gpu_uuid), r->gpu_uuid);
	ceil_copy(row->dtype_in, sizeof(row->dtype_in), r->dtype_in);
	ceil_copy(row->dtype_acc, sizeof(row->dtype_acc), r->dtype_acc);
	ceil_copy(row->tool_version, sizeof(row->tool_version), r->tool_version);
	row->format_version = CEIL_FORMAT_VERSION;
}

static void name_point(struct ceil_mfu_row *row, const struct ceil_record *r)
{
	row->shape[0] = '\0';
	if (r->m != CEIL_ABSENT_U64)
		ceil_append(row->shape, sizeof(row->shape), "%" PRIu64 "x%" PRIu64 "x%" PRIu64,
		            r->m, r->n, r->k);
	ceil_copy(row->pattern, sizeof(row->pattern), r->pattern);
}

/* Both regimes of a type carry the same peaks; the first that has them fills them in. */
static void take_peaks(struct ceil_mfu_row *row, const struct ceil_record *r)
{
	if (isnan(row->datasheet_tflops)) {
		row->datasheet_tflops = r->datasheet;
		row->datasheet_clock_mhz = r->datasheet_clock_mhz;
	}
	if (isnan(row->theoretical_tflops)) {
		row->theoretical_tflops = r->theoretical;
		row->theoretical_clock_mhz = r->theoretical_clock_mhz;
	}
}

/* records.csv has every finalist under the ceiling's name: the best one is the ceiling. */
static void take_value(struct ceil_mfu_row *row, const struct ceil_record *r)
{
	const bool burst = !strcmp(r->regime, "burst");
	double *value = burst ? &row->burst_tflops : &row->sustained_tflops;

	take_peaks(row, r);
	if (*value >= r->value)
		return;
	*value = r->value;
	if (burst || isnan(row->burst_tflops))
		name_point(row, r);
	if (burst)
		return;
	row->sustained_clock_mhz = r->clock_mhz;
	row->sustained_power_w = r->power_w;
}

/* What two GPUs are compared by: sustained where there is one, else burst. */
static double speed_of(const struct ceil_mfu_row *row)
{
	return isnan(row->sustained_tflops) ? row->burst_tflops : row->sustained_tflops;
}

static bool same_type(const struct ceil_mfu_row *a, const struct ceil_mfu_row *b)
{
	return !strcmp(a->host, b->host) && !strcmp(a->dtype_in, b->dtype_in) &&
	       !strcmp(a->dtype_acc, b->dtype_acc);
}

static void name_slowest(struct ceil_mfu_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ceil_mfu_row *slowest = &rows[i];

		for (size_t j = 0; j < count; j++)
			if (same_type(&rows[i], &rows[j]) && speed_of(&rows[j]) < speed_of(slowest))
				slowest = &rows[j];
		ceil_copy(rows[i].slowest_of_node, sizeof(rows[i].slowest_of_node),
		          slowest->device);
	}
}

size_t ceil_mfu_denominators(const struct ceil_record *records, size_t count,
                             struct ceil_mfu_row *ret_rows, size_t capacity)
{
	size_t rows = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ceil_record *r = &records[i];
		size_t at = 0;

		if (!is_denominator(r))
			continue;
		while (at < rows && !same_key(&ret_rows[at], r))
			at++;
		if (at == capacity)
			continue;
		if (at == rows)
			start_row(&ret_rows[rows++], r);
		take_value(&ret_rows[at], r);
	}
	name_slowest(ret_rows, rows);
	return rows;
}

static bool wide_sum(const struct ceil_mfu_row *row)
{
	return strcmp(row->dtype_acc, "fp16") != 0;
}

const struct ceil_mfu_row *ceil_mfu_pick(const struct ceil_mfu_row *rows, size_t count,
                                         const char *dtype_in)
{
	const struct ceil_mfu_row *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct ceil_mfu_row *row = &rows[i];

		if (strcmp(row->dtype_in, dtype_in) != 0)
			continue;
		if (!best || wide_sum(row) > wide_sum(best) ||
		    (wide_sum(row) == wide_sum(best) && speed_of(row) < speed_of(best)))
			best = row;
	}
	return best;
}

/* ---- the division */

const struct ceil_denominator_info ceil_denominators[CEIL_BY_COUNT] = {
	[CEIL_BY_DATASHEET] = {"datasheet", "mfu", "published dense figure: publish this one"},
	[CEIL_BY_THEORETICAL] = {"theoretical", "of_theoretical",
                                 "dense peak at the maximum clock"},
	[CEIL_BY_BURST] = {"burst", "of_burst", "best matrix product from an idle start"},
	[CEIL_BY_SUSTAINED] = {"sustained", "of_sustained",
                               "best matrix product at a steady clock: tune against this one"},
};

static enum ceil_status check_positive(const char *name, double value, struct ceil_error *err)
{
	if (value > 0.0 && isfinite(value))
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE, "%s is %g; it must be a positive number", name, value);
}

static enum ceil_status check_input(const struct ceil_mfu_input *in, struct ceil_error *err)
{
	const struct {
		const char *name;
		double value;
	} inputs[] = {
		{"the rate", in->samples_per_s},
		{"the number of GPUs", in->gpu_count},
		{"FLOPs of a sample", in->flops.model},
		{"tokens of a sample", in->flops.tokens},
	};
	bool any = false;

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		const enum ceil_status st = check_positive(inputs[i].name, inputs[i].value, err);

		if (st != CEIL_OK)
			return st;
	}
	for (int i = 0; i < CEIL_BY_COUNT; i++) {
		if (isnan(in->peak_tflops[i]))
			continue;
		any = true;
		if (!(in->peak_tflops[i] > 0.0) || !isfinite(in->peak_tflops[i]))
			return ceil_fail(err, CEIL_E_USAGE,
			                 "the %s peak is %g TFLOP/s; it must be a positive number",
			                 ceil_denominators[i].name, in->peak_tflops[i]);
	}
	return any ? CEIL_OK
	           : ceil_fail(err, CEIL_E_USAGE,
	                       "no peak to divide by: give --ceilings, --part or --peak-tflops");
}

enum ceil_status ceil_mfu_of(const struct ceil_mfu_input *in, struct ceil_mfu *ret_mfu,
                             struct ceil_error *err)
{
	const enum ceil_status st = check_input(in, err);
	const double published = in->peak_tflops[CEIL_BY_DATASHEET];
	const double peak = isnan(published) ? in->peak_tflops[CEIL_BY_THEORETICAL] : published;
	struct ceil_mfu m = {.samples_per_s = in->samples_per_s};

	if (st != CEIL_OK)
		return st;
	m.tokens_per_s = in->samples_per_s * in->flops.tokens;
	m.tokens_per_gpu_s = m.tokens_per_s / in->gpu_count;
	m.model_tflops = in->flops.model * in->samples_per_s / in->gpu_count * 1e-12;
	m.hardware_tflops = in->flops.hardware * in->samples_per_s / in->gpu_count * 1e-12;
	for (int i = 0; i < CEIL_BY_COUNT; i++)
		m.ratio[i] = m.model_tflops / in->peak_tflops[i];
	if (!isfinite(m.hardware_tflops))
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%g FLOP at %g samples/s are beyond any number: one is wrong",
		                 in->flops.hardware, in->samples_per_s);
	m.of_theoretical = isnan(published);
	m.mfu = m.model_tflops / peak;
	m.hfu = m.hardware_tflops / peak;
	*ret_mfu = m;
	return CEIL_OK;
}
