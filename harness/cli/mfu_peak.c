/* Finds what `gpuceil mfu` divides by: a run's ceilings, a part's datasheet, a figure as given. */
#include "harness/cli/mfu_call.h"

#include "harness/analysis/peaks.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/telemetry/nvml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What a training sums in. */
static enum ceil_dtype sums_of(enum ceil_dtype t)
{
	return t == CEIL_FP64 ? CEIL_FP64 : t == CEIL_INT8 ? CEIL_INT32 : CEIL_FP32;
}

static const struct ceil_published *figure_of(const struct ceil_part *part, enum ceil_dtype t)
{
	const enum ceil_dtype acc = sums_of(t);
	const struct ceil_published *f = ceil_published_find(part, CEIL_R_TENSOR, t, acc);

	return f ? f : ceil_published_find(part, CEIL_R_FMA, t, acc);
}

static bool has_word(const char *name, const char *word, size_t length)
{
	for (; *name; name += strcspn(name, " "), name += strspn(name, " ")) {
		if (strcspn(name, " ") == length && !strncasecmp(name, word, length))
			return true;
	}
	return false;
}

static bool same_first_word(const char *name, const char *typed)
{
	const size_t n = strcspn(typed, " ");

	return n > 0 && strcspn(name, " ") == n && !strncasecmp(name, typed, n);
}

/* "A100 SXM" is A100 40GB SXM as well as A100 80GB SXM. */
static bool is_meant(const char *name, const char *typed)
{
	if (!same_first_word(name, typed))
		return false;
	for (; *typed; typed += strspn(typed, " ")) {
		const size_t n = strcspn(typed, " ");

		if (!has_word(name, typed, n))
			return false;
		typed += n;
	}
	return true;
}

static enum ceil_status unknown_part(const char *typed, struct ceil_error *err)
{
	const char *names[128];
	const char *near;
	char alike[160] = "";
	size_t count = 0;

	for (; count < ceil_part_count && count + 1 < sizeof(names) / sizeof(names[0]); count++) {
		names[count] = ceil_parts[count].name;
		if (same_first_word(names[count], typed))
			ceil_append(alike, sizeof(alike), "%s%s", *alike ? ", " : "", names[count]);
	}
	names[count] = NULL;
	near = ceil_suggest(typed, names);
	/* "A100 SXM4" is nearer to an A100 than to the H100 SXM, whatever the letters say. */
	if (*alike && !(near && same_first_word(near, typed)))
		return ceil_fail(err, CEIL_E_USAGE, "--part %s: not in the table, which has %s",
		                 typed, alike);
	if (near)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "--part %s: not in the table; did you mean '%s'?", typed, near);
	return ceil_fail(err, CEIL_E_USAGE,
	                 "--part %s: not in the table, which `gpuceil list peaks` shows; "
	                 "--peak-tflops takes a figure of your own",
	                 typed);
}

/* What comes after the makers' words of a name as nvidia-smi prints it: "Tesla V100-SXM2-32GB". */
static const char *after_maker(const char *typed)
{
	static const char *const words[] = {"NVIDIA ", "Tesla ", "GeForce "};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strncasecmp(typed, words[i], strlen(words[i])))
			typed += strlen(words[i]);
	}
	return typed;
}

static bool same_figure(const struct ceil_published *a, const struct ceil_published *b)
{
	return a && b ? a->tflops == b->tflops : a == b;
}

/* "H200 SXM", a device's own name, or "A100" where every A100 has the same figure of this type. */
static enum ceil_status find_part(const char *typed, enum ceil_dtype t,
                                  const struct ceil_part **ret_part, struct ceil_error *err)
{
	const char *rest = after_maker(typed);
	const struct ceil_part *part = rest != typed ? ceil_part_of_name(typed) : NULL;
	char names[160] = "";
	bool differ = false;

	if (part) {
		*ret_part = part;
		return CEIL_OK;
	}
	for (size_t i = 0; i < ceil_part_count; i++) {
		const struct ceil_part *p = &ceil_parts[i];

		if (!strcasecmp(p->name, rest)) {
			*ret_part = p;
			return CEIL_OK;
		}
		if (!is_meant(p->name, rest))
			continue;
		ceil_append(names, sizeof(names), "%s%s", part ? ", " : "", p->name);
		differ |= part && !same_figure(figure_of(part, t), figure_of(p, t));
		part = part ? part : p;
	}
	if (!part)
		return unknown_part(typed, err);
	if (differ)
		return ceil_fail(err, CEIL_E_USAGE, "--part %s: which one? %s", typed, names);
	*ret_part = part;
	return CEIL_OK;
}

/* Where no figure is published, rate x SMs x clock stands for it under its own name. */
static bool take_part_theoretical(struct ceil_mfu_call *c, const struct ceil_part *part)
{
	double mhz;
	const double peak = ceil_part_peak(part, c->dtype, sums_of(c->dtype), &mhz);

	if (!(peak > 0.0))
		return false;
	if (c->row)
		return true; /* the file's own is of the very device */
	c->page.in.peak_tflops[CEIL_BY_THEORETICAL] = peak;
	c->page.peak_mhz[CEIL_BY_THEORETICAL] = mhz;
	return true;
}

static enum ceil_status take_part(struct ceil_mfu_call *c, struct ceil_error *err)
{
	const struct ceil_part *part = NULL;
	const struct ceil_published *f;
	const enum ceil_status st = find_part(c->o.part, c->dtype, &part, err);
	struct ceil_mfu_page *p = &c->page;

	if (st != CEIL_OK)
		return st;
	f = figure_of(part, c->dtype);
	if (!f && !take_part_theoretical(c, part))
		return ceil_fail(err, CEIL_E_USAGE,
		                 "no %s figure is known for %s: give --peak-tflops",
		                 ceil_dtype_info(c->dtype)->name, part->name);
	if (c->row && ceil_part_of_name(c->row->gpu_name) != part)
		fprintf(stderr, "gpuceil: warning: %s was measured on a %s, not on a %s\n",
		        c->o.ceilings, c->row->gpu_name, part->name);
	p->in.peak_tflops[CEIL_BY_DATASHEET] = f ? f->tflops : (double)NAN;
	p->peak_mhz[CEIL_BY_DATASHEET] = f && f->mhz > 0.0 ? f->mhz : (double)NAN;
	ceil_append(p->peak_source, sizeof(p->peak_source), "%s%s, %s dense",
	            p->peak_source[0] ? "; datasheet of " : "", part->name,
	            ceil_dtype_info(c->dtype)->name);
	return CEIL_OK;
}

static bool is_about(double a, double b)
{
	return fabs(a / b - 1.0) < 0.005;
}

/* Whether a part has this dense figure, whatever its sums are kept in. */
static bool has_dense(const struct ceil_part *part, enum ceil_dtype t, double tflops)
{
	for (size_t i = 0; i < part->published_count; i++) {
		if (part->published[i].in == t && is_about(tflops, part->published[i].tflops))
			return true;
	}
	return false;
}

/* Datasheets print twice the dense figure in larger type: for matrices of which half is zero. */
static void warn_of_sparse(const struct ceil_mfu_call *c)
{
	const struct ceil_part *sparse = NULL;
	const double given = c->o.peak_tflops;
	double dense = (double)NAN;

	for (size_t i = 0; i < ceil_part_count; i++) {
		const struct ceil_published *f = figure_of(&ceil_parts[i], c->dtype);

		if (has_dense(&ceil_parts[i], c->dtype, given))
			return;
		if (!f || sparse || !is_about(given, 2.0 * f->tflops))
			continue;
		sparse = &ceil_parts[i];
		dense = f->tflops;
	}
	if (sparse)
		fprintf(stderr,
		        "gpuceil: warning: --peak-tflops %g is the sparse %s figure of %s; the "
		        "dense one is %g\n",
		        given, ceil_dtype_info(c->dtype)->name, sparse->name, dense);
}

/* Cards of one name differ by a few percent, cards of another by more; no NVML, no warning. */
static void warn_of_other_card(const struct ceil_mfu_row *row, const char *file)
{
	struct ceil_nvml *nvml = NULL;
	struct ceil_nvml_info info;
	char here[96] = "";

	if (!row->gpu_uuid[0] || ceil_nvml_open(&nvml, /* err= */ NULL) != CEIL_OK)
		return;
	for (int i = 0; i < ceil_nvml_count(nvml); i++) {
		ceil_nvml_info(ceil_nvml_at(nvml, i), &info);
		if (!strcmp(info.uuid, row->gpu_uuid))
			goto out_close;
		ceil_copy(here, sizeof(here), info.name);
	}
	if (here[0])
		fprintf(stderr,
		        "gpuceil: warning: %s was measured on %s %s (%s), which is not in this "
		        "machine; here is %s\n",
		        file, !strcmp(here, row->gpu_name) ? "another" : "a", row->gpu_name,
		        row->gpu_uuid, here);
out_close:
	ceil_nvml_close(nvml);
}

static enum ceil_status take_ceilings(struct ceil_mfu_call *c, struct ceil_error *err)
{
	const char *dtype = ceil_dtype_info(c->dtype)->name;
	const enum ceil_status st = ceil_mfu_read(c->o.ceilings, &c->source, err);
	struct ceil_mfu_page *p = &c->page;
	const struct ceil_mfu_row *r;

	if (st != CEIL_OK)
		return st;
	r = ceil_mfu_pick(c->source.rows, c->source.row_count, dtype);
	if (!r)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "%s has no %s products: --dtype names another type", c->o.ceilings,
		                 dtype);
	c->row = r;
	warn_of_other_card(r, c->o.ceilings);
	p->in.peak_tflops[CEIL_BY_DATASHEET] = r->datasheet_tflops;
	p->in.peak_tflops[CEIL_BY_THEORETICAL] = r->theoretical_tflops;
	p->in.peak_tflops[CEIL_BY_BURST] = r->burst_tflops;
	p->in.peak_tflops[CEIL_BY_SUSTAINED] = r->sustained_tflops;
	p->peak_mhz[CEIL_BY_DATASHEET] = r->datasheet_clock_mhz;
	p->peak_mhz[CEIL_BY_THEORETICAL] = r->theoretical_clock_mhz;
	p->peak_mhz[CEIL_BY_SUSTAINED] = r->sustained_clock_mhz;
	ceil_append(p->peak_source, sizeof(p->peak_source), "%s, %s dense; slowest GPU: %s%s%s",
	            r->gpu_name, r->dtype_in, r->host, r->host[0] ? " " : "", r->device);
	return CEIL_OK;
}

/*
 * Whoever copies 312e12 from a program means 312 here. No device does 1e18 FLOP/s, and none that
 * trains less than 1e9; what is not positive is told with the other peaks.
 */
static enum ceil_status check_unit(double tflops, struct ceil_error *err)
{
	const double least_tflops = 1e-3, most_tflops = 1e6;

	if (!(tflops > 0.0) || (tflops >= least_tflops && tflops <= most_tflops))
		return CEIL_OK;
	return ceil_fail(
		err, CEIL_E_USAGE,
		"--peak-tflops is %g; it is in TFLOP/s (1e12) of one device, from %g to %g", tflops,
		least_tflops, most_tflops);
}

enum ceil_status ceil_mfu_take_peak(struct ceil_mfu_call *c, struct ceil_error *err)
{
	struct ceil_mfu_page *p = &c->page;
	enum ceil_status st = ceil_dtype_parse(c->o.dtype, &c->dtype, err);

	for (int i = 0; i < CEIL_BY_COUNT; i++) {
		p->in.peak_tflops[i] = (double)NAN;
		p->peak_mhz[i] = (double)NAN;
	}
	if (st == CEIL_OK && c->o.part && !isnan(c->o.peak_tflops))
		st = ceil_fail(err, CEIL_E_USAGE, "give --part or --peak-tflops, not both");
	if (st == CEIL_OK)
		st = check_unit(c->o.peak_tflops, err);
	if (st == CEIL_OK && c->o.ceilings)
		st = take_ceilings(c, err);
	if (st == CEIL_OK && c->o.part)
		st = take_part(c, err);
	if (st != CEIL_OK || isnan(c->o.peak_tflops))
		return st;
	warn_of_sparse(c);
	p->in.peak_tflops[CEIL_BY_DATASHEET] = c->o.peak_tflops;
	p->peak_mhz[CEIL_BY_DATASHEET] = (double)NAN;
	ceil_append(p->peak_source, sizeof(p->peak_source), "%sdatasheet figure as given",
	            p->peak_source[0] ? "; " : "");
	return CEIL_OK;
}
