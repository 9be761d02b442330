/* Health of the GPUs over a run, for people and for run.json. */
#ifndef CEIL_OUTPUT_HEALTH_H
#define CEIL_OUTPUT_HEALTH_H

#include "harness/output/text.h"
#include "harness/telemetry/health.h"

#include <jansson.h>
#include <stdio.h>

/*
 * ceil_text_health - "health: nothing grew (ECC, ...)" in a line, or a table of what was found;
 * then what could not be read here. Nothing at all without a GPU of NVML.
 */
void ceil_text_health(FILE *f, const struct ceil_text_style *style, const struct ceil_health *h);

/* ceil_health_json - counters before and after, errors, findings; the caller's. NULL: no memory. */
json_t *ceil_health_json(const struct ceil_health *h);

#endif
