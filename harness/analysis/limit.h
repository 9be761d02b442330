/* limited_by: one word for what holds a row back. A table of rules, first match wins. Pure. */
#ifndef CEIL_LIMIT_H
#define CEIL_LIMIT_H

#include "harness/measure/bench.h"
#include "harness/telemetry/nvml.h"

#include <stddef.h>

/* What the rules look at. NAN: unknown. */
struct ceil_limit_facts {
	enum ceil_resource resource;
	double of_theoretical, of_clock, clock_ratio; /* clock held over the maximum */
	const struct ceil_window *window;             /* or NULL */
	const char *backend;
	enum ceil_timing timing;
};

struct ceil_limit_rule {
	const char *word; /* power thermal memory issue latency link host unknown */
	const char *doc;  /* the threshold and why */
	bool (*holds)(const struct ceil_limit_facts *f);
};

/* In the order in which they are asked; the last one always holds. */
extern const struct ceil_limit_rule ceil_limit_rules[];
extern const size_t ceil_limit_rule_count;

/* ceil_limited_by - the word of the first rule that holds; never NULL. */
const char *ceil_limited_by(const struct ceil_limit_facts *f);

#endif
