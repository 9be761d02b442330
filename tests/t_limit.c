/* limited_by: recorded rows of an H200, and both sides of each threshold. */
#include "harness/analysis/limit.h"

#include <math.h>
#include <string.h>

#include "tests/tap.h"

#define UNKNOWN ((double)NAN)

static const struct ceil_window free_window = {.seconds = 2};
static const struct ceil_window capped_window = {.seconds = 2, .power_capped = true};
static const struct ceil_window hot_window = {.seconds = 2, .power_capped = true, .thermal = true};

struct limit_case {
	const char *name, *word;
	struct ceil_limit_facts facts;
};

/* of_theoretical, of_clock, clock over the maximum */
#define FACTS(resource_, of_theoretical_, of_clock_, clock_ratio_, window_)                        \
	{                                                                                          \
		.resource = CEIL_R_##resource_, .of_theoretical = (of_theoretical_),               \
		.of_clock = (of_clock_), .clock_ratio = (clock_ratio_), .window = (window_),       \
		.backend = "cuda"                                                                  \
	}

static const struct limit_case cases[] = {
	/* Rows as they were measured on an H200 with a limit of 700 W. */
	{"bf16 GEMM under the cap: 674 TFLOP/s at 1273 MHz", "power",
         FACTS(TENSOR, 0.630, 0.977, 0.643, &capped_window)},
	{"fp32 FMA at 99 % of issue, full clock", "issue",
         FACTS(FMA, 0.991, 0.991, 1.0, &free_window)},
	{"bf16 burst: clock down, no cap yet, 99 % of issue", "issue",
         FACTS(TENSOR, 0.879, 0.991, 0.887, &free_window)},
	{"fp32 GEMM at 77 % of issue, full clock", "unknown",
         FACTS(TENSOR, 0.770, 0.770, 1.0, &free_window)},
	{"dram.read at 97 % of theoretical", "memory",
         FACTS(DRAM, 0.976, UNKNOWN, 0.99, &free_window)},
	{"dram.copy at 91 % under the cap is still memory", "memory",
         FACTS(DRAM, 0.907, UNKNOWN, 0.962, &capped_window)},
	{"shared memory at 99.7 % of 128 B/clk/SM", "memory",
         FACTS(SMEM, 0.997, UNKNOWN, 1.0, &free_window)},
	{"L2 has no theoretical peak", "unknown", FACTS(L2, UNKNOWN, UNKNOWN, 1.0, &free_window)},

	/* Both sides of each threshold. */
	{"memory at 0.80", "memory", FACTS(DRAM, 0.80, UNKNOWN, 1.0, &free_window)},
	{"memory at 0.799", "unknown", FACTS(DRAM, 0.799, UNKNOWN, 1.0, &free_window)},
	{"memory at 0.799, capped and slowed", "power",
         FACTS(DRAM, 0.799, UNKNOWN, 0.9, &capped_window)},
	{"issue at 0.90", "issue", FACTS(FMA, 0.90, 0.90, 1.0, &free_window)},
	{"issue at 0.899", "unknown", FACTS(FMA, 0.899, 0.899, 1.0, &free_window)},
	{"clock at 0.979 under the cap", "power", FACTS(TENSOR, 0.9, 0.92, 0.979, &capped_window)},
	{"clock at 0.98 under the cap", "issue", FACTS(TENSOR, 0.9, 0.92, 0.98, &capped_window)},
	{"clock at 0.979 without a cap", "issue", FACTS(TENSOR, 0.9, 0.92, 0.979, &free_window)},
	{"heat comes before power", "thermal", FACTS(TENSOR, 0.5, 0.95, 0.5, &hot_window)},
	{"heat comes before memory", "thermal", FACTS(DRAM, 0.9, UNKNOWN, 0.9, &hot_window)},

	/* Facts that are absent. */
	{"no clock: of_theoretical decides", "issue", FACTS(FMA, 0.95, UNKNOWN, UNKNOWN, NULL)},
	{"no clock and far from the peak", "unknown", FACTS(FMA, 0.5, UNKNOWN, UNKNOWN, NULL)},
	{"a cap, but no clock to see it by", "unknown",
         FACTS(TENSOR, 0.5, UNKNOWN, UNKNOWN, &capped_window)},

	/* What the row is decides before what it used. */
	{"a launch", "latency", FACTS(LAUNCH, UNKNOWN, UNKNOWN, 1.0, &capped_window)},
	{"a pointer chase", "latency", FACTS(LATENCY, UNKNOWN, UNKNOWN, 1.0, NULL)},
	{"a copy to the host", "link", FACTS(HOSTLINK, UNKNOWN, UNKNOWN, 1.0, NULL)},
	{"a pinned copy", "link", FACTS(HOSTLINK, 0.95, UNKNOWN, 1.0, NULL)},
	{"half a link", "link", FACTS(HOSTLINK, 0.50, UNKNOWN, 1.0, NULL)},
	{"a small copy", "latency", FACTS(HOSTLINK, 0.49, UNKNOWN, 1.0, NULL)},
	{"a pageable copy",
         "host",
         {.resource = CEIL_R_HOSTLINK,
          .of_theoretical = 0.24,
          .of_clock = UNKNOWN,
          .clock_ratio = UNKNOWN,
          .backend = "cuda",
          .timing = CEIL_TIME_SELF}},
	{"a copy to a peer", "link", FACTS(PEER, UNKNOWN, UNKNOWN, 1.0, NULL)},
	{"a collective", "link", FACTS(FABRIC, UNKNOWN, UNKNOWN, 1.0, NULL)},
	{"storage", "host", FACTS(STORAGE, UNKNOWN, UNKNOWN, UNKNOWN, NULL)},
	{"a host row",
         "host",
         {.resource = CEIL_R_FMA,
          .of_theoretical = 0.95,
          .of_clock = UNKNOWN,
          .clock_ratio = UNKNOWN,
          .backend = "host"}},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_text(ceil_limited_by(&cases[i].facts), cases[i].word, cases[i].name);
	for (size_t i = 0; i < ceil_limit_rule_count; i++) {
		const struct ceil_limit_rule *r = &ceil_limit_rules[i];
		bool used = false;

		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			used = used || strcmp(cases[k].word, r->word) == 0;
		ok(r->doc[0] && strlen(r->word) < 12 && used, "rule %s has a reason and a case",
		   r->word);
	}
	is_text(ceil_limit_rules[ceil_limit_rule_count - 1].word, "unknown",
	        "the last rule always holds");
	return done_testing();
}
