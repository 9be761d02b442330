/* What a run shows while it measures: a live line on a terminal, a line per bench elsewhere. */
#ifndef CEIL_SCREEN_H
#define CEIL_SCREEN_H

#include "harness/measure/campaign.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of what a device measures now; devices may measure at once. */
struct ceil_screen_device {
	char label[16], bench[96]; /* "dram on gpu0", of the plain line */
	uint64_t rows, from_ns, to_ns;
	char best_of[64]; /* the ceiling whose best is shown */
	double best;
};

struct ceil_screen {
	FILE *f;
	bool live; /* f is a terminal that can go back to the line's start */
	uint64_t drawn_ns;
	struct ceil_screen_device devices[CEIL_MAX_DEVICES];
	size_t device_count;
	uint64_t row_ns; /* when the last row ended */
};

/* ceil_screen_open - starts the clock of the first row; live if f is a terminal that can move. */
void ceil_screen_open(struct ceil_screen *s, FILE *f);
/* ceil_screen_progress - redraws the live line, ten times a second at most. */
void ceil_screen_progress(struct ceil_screen *s, const struct ceil_device *dev,
                          const struct ceil_outcome *so_far, const struct ceil_progress *p);
/* ceil_screen_row - a row is done: the best so far, and the plain line of a finished bench. */
void ceil_screen_row(struct ceil_screen *s, const char *device, const struct ceil_outcome *o);
/* ceil_screen_close - clears the live line, or writes the last plain ones. */
void ceil_screen_close(struct ceil_screen *s);

#endif
