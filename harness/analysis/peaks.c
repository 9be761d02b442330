/* Looks up rates and parts and multiplies them to theoretical peaks. */
#include "harness/analysis/peaks.h"

#include <math.h>
#include <string.h>

#include "harness/base/dtype.h"

/* A published clock or figure of 0, like NAN, means unknown. */
static double known(double x)
{
	return x > 0.0 ? x : (double)NAN;
}

static bool is_word_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '-';
}

/* Whether text holds word with no letter, digit or hyphen beside it. */
static bool has_word(const char *text, const char *word, bool at_end)
{
	const size_t length = strlen(word);
	const char *p = text;

	while ((p = strstr(p, word)) != NULL) {
		const char after = p[length];

		if ((p == text || !is_word_char(p[-1])) && !is_word_char(after) &&
		    (!at_end || after == '\0'))
			return true;
		p++;
	}
	return false;
}

enum ceil_market ceil_market_of(const char *device_name)
{
	static const char *const workstation[] = {"RTX", "Quadro", "TITAN"};

	if (strstr(device_name, "GeForce"))
		return CEIL_GEFORCE;
	for (size_t i = 0; i < sizeof(workstation) / sizeof(workstation[0]); i++) {
		if (strstr(device_name, workstation[i]))
			return CEIL_WORKSTATION;
	}
	return CEIL_DATACENTER;
}

enum ceil_market ceil_part_market(const struct ceil_part *part)
{
	const bool rtx = strncmp(part->name, "RTX ", 4) == 0;

	return rtx && !strstr(part->name, "PRO") ? CEIL_GEFORCE : ceil_market_of(part->name);
}

static bool part_has_name(const struct ceil_part *part, const char *device_name)
{
	const bool geforce = ceil_market_of(device_name) == CEIL_GEFORCE;

	return has_word(device_name, part->match, /* at_end= */ geforce);
}

static bool part_is(const struct ceil_part *part, const struct ceil_device_props *d)
{
	return part->cc == 10 * d->cc_major + d->cc_minor &&
	       (part->sm_count == 0 || part->sm_count == d->sm_count) &&
	       part_has_name(part, d->name);
}

static bool is_longer(const struct ceil_part *part, const struct ceil_part *best)
{
	return !best || strlen(part->match) > strlen(best->match);
}

const struct ceil_part *ceil_part_find(const struct ceil_device_props *d)
{
	const struct ceil_part *best = NULL;

	for (size_t i = 0; i < ceil_part_count; i++) {
		const struct ceil_part *part = &ceil_parts[i];

		if (part_is(part, d) && is_longer(part, best))
			best = part;
	}
	return best;
}

const struct ceil_part *ceil_part_of_name(const char *device_name)
{
	const struct ceil_part *best = NULL;

	for (size_t i = 0; i < ceil_part_count; i++) {
		const struct ceil_part *part = &ceil_parts[i];

		if (part_has_name(part, device_name) && is_longer(part, best))
			best = part;
	}
	return best;
}

const struct ceil_part *ceil_part_named(const char *name)
{
	for (size_t i = 0; i < ceil_part_count; i++) {
		if (strcmp(ceil_parts[i].name, name) == 0)
			return &ceil_parts[i];
	}
	return NULL;
}

/* Both 8-bit floats go through the same multipliers. */
static enum ceil_dtype rate_type(enum ceil_dtype t)
{
	return t == CEIL_E5M2 ? CEIL_E4M3 : t;
}

static bool acc_fits(enum ceil_dtype row, enum ceil_dtype wanted)
{
	return row == CEIL_NODTYPE || row == wanted;
}

static const struct ceil_rate *rate_in(const struct ceil_rate *rates, size_t count, int cc,
                                       enum ceil_market market, const struct ceil_rate *want)
{
	for (size_t i = 0; i < count; i++) {
		const struct ceil_rate *r = &rates[i];

		if (r->cc == cc && r->market == market && r->resource == want->resource &&
		    r->in == want->in && acc_fits(r->acc, want->acc))
			return r;
	}
	return NULL;
}

static const struct ceil_rate *rate_of_architecture(int cc, enum ceil_market market,
                                                    const struct ceil_rate *want)
{
	const struct ceil_rate *r = rate_in(ceil_rates, ceil_rate_count, cc, market, want);

	if (!r && market == CEIL_WORKSTATION)
		r = rate_in(ceil_rates, ceil_rate_count, cc, CEIL_DATACENTER, want);
	return r ? r : rate_in(ceil_rates, ceil_rate_count, cc, CEIL_ANY_MARKET, want);
}

const struct ceil_rate *ceil_rate_find(const struct ceil_part *part, int cc,
                                       enum ceil_market market, enum ceil_resource resource,
                                       enum ceil_dtype in, enum ceil_dtype acc)
{
	const struct ceil_rate want = {.resource = resource, .in = rate_type(in), .acc = acc};
	const struct ceil_rate *r = NULL;

	if (part && part->own_rates)
		r = rate_in(part->own_rates, part->own_rate_count, cc, CEIL_ANY_MARKET, &want);
	if (!r)
		r = rate_of_architecture(cc, market, &want);
	if (r)
		return r->per_clk_sm > 0.0 ? r : NULL;
	if (resource == CEIL_R_TENSOR && (in == CEIL_FP64 || in == CEIL_FP32))
		return ceil_rate_find(part, cc, market, CEIL_R_FMA, in, acc);
	return NULL;
}

const struct ceil_published *ceil_published_find(const struct ceil_part *part,
                                                 enum ceil_resource resource, enum ceil_dtype in,
                                                 enum ceil_dtype acc)
{
	if (!part)
		return NULL;
	for (size_t i = 0; i < part->published_count; i++) {
		const struct ceil_published *p = &part->published[i];

		if (p->resource == resource && p->in == rate_type(in) && acc_fits(p->acc, acc))
			return p;
	}
	return NULL;
}

double ceil_part_peak(const struct ceil_part *part, enum ceil_dtype in, enum ceil_dtype acc,
                      double *ret_mhz)
{
	const struct ceil_rate *rate =
		ceil_rate_find(part, part->cc, ceil_part_market(part), CEIL_R_TENSOR, in, acc);

	*ret_mhz = (double)NAN;
	if (!rate || part->sm_count <= 0)
		return (double)NAN;
	*ret_mhz = known(rate->resource == CEIL_R_FMA ? part->vector_mhz : part->tensor_mhz);
	return rate->per_clk_sm * part->sm_count * *ret_mhz * 1e-6;
}

static void compute_peak(const struct ceil_variant *v, const struct ceil_device_props *d,
                         const struct ceil_part *part, struct ceil_peak *ret_peak)
{
	const struct ceil_rate *rate =
		ceil_rate_find(part, 10 * d->cc_major + d->cc_minor, ceil_market_of(d->name),
	                       v->resource, v->types.a, v->types.acc);
	const struct ceil_published *figure = ceil_published_find(
		part, rate ? rate->resource : v->resource, v->types.a, v->types.acc);

	if (rate && d->sm_count > 0) {
		/* operations per clock x MHz = 1e6 op/s, of which 1e6 make a TFLOP/s */
		ret_peak->per_mhz = rate->per_clk_sm * d->sm_count * 1e-6;
		ret_peak->theoretical_mhz = known(d->max_sm_mhz);
		ret_peak->theoretical = ret_peak->per_mhz * ret_peak->theoretical_mhz;
		ret_peak->source = rate->source;
	}
	if (figure) {
		ret_peak->datasheet = known(figure->tflops);
		ret_peak->datasheet_mhz = known(figure->mhz);
	}
}

static void smem_peak(const struct ceil_device_props *d, struct ceil_peak *ret_peak)
{
	const struct ceil_rate *rate =
		ceil_rate_find(/* part= */ NULL, 10 * d->cc_major + d->cc_minor,
	                       ceil_market_of(d->name), CEIL_R_SMEM, CEIL_NODTYPE, CEIL_NODTYPE);

	if (!rate || d->sm_count <= 0)
		return;
	ret_peak->theoretical_mhz = known(d->max_sm_mhz);
	ret_peak->theoretical = rate->per_clk_sm * d->sm_count * ret_peak->theoretical_mhz * 1e-3;
	ret_peak->source = rate->source;
}

static void dram_peak(const struct ceil_device_props *d, const struct ceil_part *part,
                      struct ceil_peak *ret_peak)
{
	if (part)
		ret_peak->datasheet = known(part->memory_gb_s);
	/* Memory shared with the host has no clock attribute that means the same. */
	if (d->integrated || d->memory_bus_bits <= 0)
		return;
	ret_peak->theoretical = 2.0 * known(d->max_memory_mhz) * d->memory_bus_bits / 8.0 * 1e-3;
	ret_peak->source = "2 x memory clock x bus width / 8, attributes of the device";
}

/* Only fp32 and fp64: the width of other pipes is not to be had from CPUID. */
static void host_peak(const struct ceil_variant *v, const struct ceil_device_props *d,
                      struct ceil_peak *ret_peak)
{
	const bool compute = v->resource == CEIL_R_FMA || v->resource == CEIL_R_TENSOR;
	const bool plain = v->types.a == CEIL_FP32 || v->types.a == CEIL_FP64;

	if (!compute || !plain || d->sm_count <= 0 || d->vector_bits <= 0 || d->fma_pipes <= 0)
		return;
	const double lanes = (double)d->vector_bits / ceil_dtype_info(v->types.a)->bits;

	ret_peak->per_mhz = d->sm_count * lanes * d->fma_pipes * 2.0 * 1e-6;
	ret_peak->theoretical_mhz = known(d->max_sm_mhz);
	ret_peak->theoretical = ret_peak->per_mhz * ret_peak->theoretical_mhz;
	ret_peak->source = "threads x vector width x FMA pipes x 2 x clock";
}

/* Within a node the part's figure stands beside what its links give; a network is no part's. */
static void fabric_peak(const struct ceil_device_props *d, const struct ceil_part *part,
                        struct ceil_peak *ret_peak)
{
	ret_peak->theoretical = known(d->fabric_gb_s);
	ret_peak->source = "the slowest way between the ranks, as NVML and the kernel tell it";
	if (part && strncmp(d->fabric, "NVLink", 6) == 0)
		ret_peak->datasheet = known(part->nvlink_gb_s);
}

static bool is_rate(enum ceil_unit unit)
{
	return unit == CEIL_GB_S || unit == CEIL_TFLOP_S || unit == CEIL_TOP_S;
}

void ceil_peak_of(const struct ceil_variant *v, const struct ceil_device_props *d,
                  struct ceil_peak *ret_peak)
{
	const struct ceil_part *part;

	*ret_peak = (struct ceil_peak){.theoretical = (double)NAN,
	                               .theoretical_mhz = (double)NAN,
	                               .datasheet = (double)NAN,
	                               .datasheet_mhz = (double)NAN,
	                               .per_mhz = (double)NAN,
	                               .source = ""};
	if (!is_rate(v->unit))
		return;
	if (strcmp(v->backend, "host") == 0) {
		host_peak(v, d, ret_peak);
		return;
	}
	part = ceil_part_find(d);
	if (v->resource == CEIL_R_FMA || v->resource == CEIL_R_SFU || v->resource == CEIL_R_TENSOR)
		compute_peak(v, d, part, ret_peak);
	else if (v->resource == CEIL_R_SMEM)
		smem_peak(d, ret_peak);
	else if (v->resource == CEIL_R_DRAM)
		dram_peak(d, part, ret_peak);
	else if (v->resource == CEIL_R_PEER && part)
		ret_peak->datasheet = known(part->nvlink_gb_s);
	else if (v->resource == CEIL_R_FABRIC)
		fabric_peak(d, part, ret_peak);
}
