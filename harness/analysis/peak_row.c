/* Compares the peaks of a device's attributes with the published ones, a row for each that differs.
 */
#include "harness/analysis/peak_row.h"

#include <math.h>
#include <string.h>

#include "harness/analysis/peaks.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"

static const struct ceil_bench peak_bench = {.name = "peak"};
static const struct ceil_case no_case = {.name = ""};

static bool is_compute(enum ceil_resource r)
{
	return r == CEIL_R_FMA || r == CEIL_R_SFU || r == CEIL_R_TENSOR;
}

/* The pipe that does the work: an fp32 product has none on tensor cores. */
static enum ceil_resource pipe_of(const struct ceil_variant *v, const struct ceil_device_props *d)
{
	const struct ceil_rate *rate =
		is_compute(v->resource)
			? ceil_rate_find(ceil_part_find(d), 10 * d->cc_major + d->cc_minor,
	                                 ceil_market_of(d->name), v->resource, v->types.a,
	                                 v->types.acc)
			: NULL;

	return rate ? rate->resource : v->resource;
}

static void name_peak(const struct ceil_variant *v, enum ceil_resource pipe, char *ret_text,
                      size_t size)
{
	ceil_copy(ret_text, size, "");
	ceil_append(ret_text, size, "peak.%s", ceil_resource_name(pipe));
	if (is_compute(pipe))
		ceil_append(ret_text, size, ".%s%s", ceil_dtype_info(v->types.a)->name,
		            v->types.acc == CEIL_FP16 ? "_acc16" : "");
}

/* Which attribute makes the difference. */
static void why_memory(const struct ceil_device_props *d, const struct ceil_part *part,
                       char *ret_text, size_t size)
{
	if (part && part->memory_bits > 0.0 && part->memory_bits != d->memory_bus_bits)
		ceil_append(ret_text, size, "the driver tells a bus of %d bits, the part has %.0f",
		            d->memory_bus_bits, part->memory_bits);
	else if (part && part->memory_mhz > 0.0 &&
	         fabs(part->memory_mhz / d->max_memory_mhz - 1.0) > 0.01)
		ceil_append(ret_text, size, "the memory clock is %.0f MHz, the part's %.0f",
		            d->max_memory_mhz, part->memory_mhz);
	else
		ceil_append(ret_text, size, "%.0f MHz x 2 x %d bits", d->max_memory_mhz,
		            d->memory_bus_bits);
}

static void why_compute(const struct ceil_peak *p, char *ret_text, size_t size)
{
	const double at = p->per_mhz * p->datasheet_mhz; /* NAN without a clock */

	if (isnan(at))
		ceil_append(ret_text, size, "no clock is published for it");
	else if (fabs(at / p->datasheet - 1.0) <= CEIL_PEAKS_APART)
		ceil_append(ret_text, size, "which is for %.0f MHz; the maximum here is %.0f MHz",
		            p->datasheet_mhz, p->theoretical_mhz);
	else
		ceil_append(ret_text, size,
		            "and its clock of %.0f MHz does not explain it: another rate or "
		            "number of SMs",
		            p->datasheet_mhz);
}

static void explain(const struct ceil_variant *v, const struct ceil_device_props *d,
                    const struct ceil_peak *p, char *ret_text, size_t size)
{
	const double off = p->theoretical / p->datasheet - 1.0;

	ceil_copy(ret_text, size, "");
	ceil_append(ret_text, size, "not measured: %.1f %% %s the published %.5g, ",
	            100.0 * fabs(off), off > 0.0 ? "above" : "below", p->datasheet);
	if (is_compute(v->resource))
		why_compute(p, ret_text, size);
	else
		why_memory(d, ceil_part_find(d), ret_text, size);
}

static void fill(const struct ceil_variant *v, const struct ceil_device_props *d,
                 const struct ceil_peak *peak, const char *name, struct ceil_record *ret_r)
{
	const struct ceil_variant shown = {
		.name = "attributes",
		.backend = v->backend,
		.ceiling = name,
		.unit = v->unit,
		.types = {v->types.a, v->types.b, v->types.acc, CEIL_NODTYPE},
		.resource = v->resource,
		.timing = v->timing};
	const struct ceil_point p = {.bench = &peak_bench, .variant = &shown, .cas = &no_case};

	ceil_record_absent(ret_r, &p, d, CEIL_ROW_OK, "");
	ret_r->pattern[0] = '\0'; /* no data were used, nothing was timed */
	ret_r->timing[0] = '\0';
	ret_r->value = peak->theoretical;
	ret_r->theoretical_clock_mhz = peak->theoretical_mhz;
	ret_r->datasheet = peak->datasheet;
	ret_r->datasheet_clock_mhz = peak->datasheet_mhz;
	explain(v, d, peak, ret_r->note, sizeof(ret_r->note));
}

static bool is_there(const struct ceil_record *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].ceiling, name) == 0)
			return true;
	}
	return false;
}

size_t ceil_peak_rows(const struct ceil_plan *plan, const struct ceil_device_props *d,
                      struct ceil_record *ret_rows)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->count && count < CEIL_PEAK_ROWS; i++) {
		const struct ceil_variant *v = plan->v[i].point.variant;
		struct ceil_peak peak;
		char name[64];

		if (!is_compute(v->resource) && v->resource != CEIL_R_DRAM)
			continue;
		ceil_peak_of(v, d, &peak);
		name_peak(v, pipe_of(v, d), name, sizeof(name));
		if (!(fabs(peak.theoretical / peak.datasheet - 1.0) > CEIL_PEAKS_APART) ||
		    is_there(ret_rows, count, name))
			continue;
		fill(v, d, &peak, name, &ret_rows[count++]);
	}
	return count;
}
