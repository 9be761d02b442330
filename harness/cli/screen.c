/* What a run shows while it measures: a live line on a terminal, a line per bench elsewhere. */
#include "harness/cli/screen.h"

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/output/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_NS (100u * CEIL_NS_PER_MS)

void ceil_screen_open(struct ceil_screen *s, FILE *f)
{
	const char *term = getenv("TERM");

	*s = (struct ceil_screen){.f = f};
	s->live = isatty(fileno(f)) && term && strcmp(term, "dumb") != 0;
	s->row_ns = ceil_now_ns();
}

/* NULL where there is no room for another. */
static struct ceil_screen_device *device_of(struct ceil_screen *s, const char *label)
{
	for (size_t i = 0; i < s->device_count; i++) {
		if (strcmp(s->devices[i].label, label) == 0)
			return &s->devices[i];
	}
	if (s->device_count == CEIL_MAX_DEVICES)
		return NULL;
	struct ceil_screen_device *d = &s->devices[s->device_count++];

	*d = (struct ceil_screen_device){.best = (double)NAN};
	ceil_copy(d->label, sizeof(d->label), label);
	return d;
}

/* The plan's prices give the shape, the time spent so far the scale. */
static double seconds_left(const struct ceil_progress *p)
{
	const double spent_s = (double)(ceil_now_ns() - p->began_ns) * 1e-9;
	const double left_s = fmax(0.0, p->total_s - p->done_s);

	/* Early on the plan is all there is. */
	return p->done_s < 0.1 * p->total_s ? left_s : left_s * fmin(3.0, spent_s / p->done_s);
}

void ceil_screen_progress(struct ceil_screen *s, const struct ceil_device *dev,
                          const struct ceil_outcome *so_far, const struct ceil_progress *p)
{
	const struct ceil_point *point = &so_far->point;
	const uint64_t now_ns = ceil_now_ns();
	const struct ceil_screen_device *d = device_of(s, dev->props.label);
	struct ceil_text_style style;
	char line[256] = "";
	char left[32];
	char best[32];

	if (!s->live || now_ns - s->drawn_ns < REDRAW_NS)
		return;
	s->drawn_ns = now_ns;
	ceil_human_seconds(left, sizeof(left), ceil(seconds_left(p)));
	ceil_append(line, sizeof(line), "%3.0f %%  %s left  %s %s",
	            100.0 * fmin(1.0, p->done_s / fmax(1e-9, p->total_s)), left, dev->props.label,
	            point->variant->ceiling);
	if (point->regime != CEIL_NOREGIME)
		ceil_append(line, sizeof(line), ".%s", ceil_regime_name(point->regime));
	ceil_append(line, sizeof(line), "  %s %s", point->variant->name, point->cas->name);
	if (d && strcmp(d->best_of, point->variant->ceiling) == 0 && !isnan(d->best)) {
		ceil_text_number(best, sizeof(best), d->best);
		ceil_append(line, sizeof(line), "  best %s %s", best,
		            ceil_unit_name(point->variant->unit));
	}
	/* Asked each time: a line wider than a window that has shrunk would stay on the screen. */
	ceil_text_style_of(s->f, &style);
	fprintf(s->f, "\r\033[K%.*s", style.window - 1, line);
	fflush(s->f);
}

static void plain_line(struct ceil_screen *s, const struct ceil_screen_device *d)
{
	char took[32];

	if (d->rows == 0)
		return;
	ceil_human_seconds(took, sizeof(took), (double)(d->to_ns - d->from_ns) * 1e-9);
	fprintf(s->f, "%s: %llu measurement%s in %s\n", d->bench, (unsigned long long)d->rows,
	        d->rows == 1 ? "" : "s", took);
	fflush(s->f);
}

/* A device's line is written when its next bench begins. */
static void count_row(struct ceil_screen *s, struct ceil_screen_device *d, const char *bench)
{
	if (strcmp(d->bench, bench) != 0) {
		plain_line(s, d);
		ceil_copy(d->bench, sizeof(d->bench), bench);
		d->rows = 0;
		d->from_ns = s->row_ns;
	}
	d->to_ns = ceil_now_ns();
	d->rows++;
}

static void keep_best(struct ceil_screen_device *d, const struct ceil_outcome *o)
{
	const struct ceil_variant *v = o->point.variant;
	const double value = ceil_outcome_value(o);

	if (strcmp(d->best_of, v->ceiling) != 0) {
		ceil_copy(d->best_of, sizeof(d->best_of), v->ceiling);
		d->best = (double)NAN;
	}
	if (!v->beside && o->status == CEIL_ROW_OK &&
	    !(ceil_unit_lower_is_better(v->unit) ? d->best <= value : d->best >= value))
		d->best = value;
}

void ceil_screen_row(struct ceil_screen *s, const char *device, const struct ceil_outcome *o)
{
	struct ceil_screen_device *d = device_of(s, device);
	char bench[96];

	snprintf(bench, sizeof(bench), "%s%s on %s", o->point.bench->name,
	         o->point.regime == CEIL_SUSTAINED ? " sustained" : "", device);
	if (d)
		keep_best(d, o);
	if (d && !s->live)
		count_row(s, d, bench);
	s->row_ns = ceil_now_ns();
}

void ceil_screen_close(struct ceil_screen *s)
{
	if (s->live)
		fputs("\r\033[K", s->f);
	for (size_t i = 0; i < s->device_count && !s->live; i++)
		plain_line(s, &s->devices[i]);
	s->device_count = 0;
	fflush(s->f);
}
