/* Model FLOPs utilization: a rate over a peak that is named, and what the figure tells. Pure. */
#ifndef CEIL_MFU_H
#define CEIL_MFU_H

#include "harness/analysis/flops.h"
#include "harness/analysis/record.h"
#include "harness/base/status.h"
#include "harness/base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of mfu_denominators.csv: the peaks of one type on one GPU. Absent: NAN, "". */
struct ceil_mfu_row {
	char host[64], device[16], gpu_name[96], dtype_in[8], dtype_acc[8];
	double datasheet_tflops, datasheet_clock_mhz, theoretical_tflops, theoretical_clock_mhz;
	double burst_tflops, sustained_tflops, sustained_clock_mhz, sustained_power_w;
	char slowest_of_node[16], shape[48], pattern[12], tool_version[48], gpu_uuid[48];
	uint64_t format_version;
};
extern const struct ceil_table ceil_table_mfu; /* mfu_denominators.csv, of struct ceil_mfu_row */

/*
 * ceil_mfu_denominators - the rows that a run's ceilings or records give, in their order.
 * Each type of each GPU with a gemm.<type>.burst or .sustained row that has a value to be trusted
 * (ok, unstable or throttled). shape and pattern are those of the burst row, else of the sustained.
 * @ret_rows: room for capacity rows; count rows of input never give more than count.
 * Return: how many.
 */
size_t ceil_mfu_denominators(const struct ceil_record *records, size_t count,
                             struct ceil_mfu_row *ret_rows, size_t capacity);

/*
 * ceil_mfu_pick - the row to divide by: of the type, and of the slowest GPU, since a job waits for
 * it. Sums in fp32 (fp64, int32) are preferred where a type has several.
 * Return: NULL if the type is not there.
 */
const struct ceil_mfu_row *ceil_mfu_pick(const struct ceil_mfu_row *rows, size_t count,
                                         const char *dtype_in);

/* What a rate is divided by. MFU is the first; every other figure has its own name. */
enum ceil_denominator {
	CEIL_BY_DATASHEET,
	CEIL_BY_THEORETICAL,
	CEIL_BY_BURST,
	CEIL_BY_SUSTAINED,
	CEIL_BY_COUNT
};
struct ceil_denominator_info {
	const char *name, *figure, *doc; /* "datasheet", "mfu", what it is */
};
extern const struct ceil_denominator_info ceil_denominators[CEIL_BY_COUNT];

struct ceil_mfu_input {
	struct ceil_flops flops; /* of one sample */
	double samples_per_s;    /* of the whole job */
	double gpu_count;
	double peak_tflops[CEIL_BY_COUNT]; /* of one GPU; NAN unknown */
};

struct ceil_mfu {
	double samples_per_s, tokens_per_s; /* of the whole job */
	double tokens_per_gpu_s;
	double model_tflops, hardware_tflops; /* of one GPU */
	double ratio[CEIL_BY_COUNT];          /* NAN without that peak */
	double mfu, hfu;                      /* NAN without any published or theoretical peak */
	bool of_theoretical;                  /* no datasheet figure: mfu is over theoretical */
};

/*
 * ceil_mfu_of - divides. Return: CEIL_OK; CEIL_E_USAGE naming the value that is not positive and
 * finite, or the absence of every peak, or where FLOPs and rate overflow.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mfu_of(const struct ceil_mfu_input *in,
                                             struct ceil_mfu *ret_mfu, struct ceil_error *err);

/* What advice looks at. */
struct ceil_mfu_facts {
	const struct ceil_mfu_input *in;
	const struct ceil_mfu *mfu;
	const struct ceil_model *model; /* NULL: only a number of parameters is known */
	double seq;                     /* tokens of a sample */
	bool causal_in_full;            /* a causal mask, and attention counted in full */
	bool from_step; /* the rate is batch over step time, else tokens per second */
};

/* A rule of advice; first the band that the figure lies in, then everything else that holds. */
struct ceil_mfu_advice {
	const char *name;
	const char *text; /* what it means and why */
	const char *source;
	bool is_band; /* exactly one of these holds */
	bool (*holds)(const struct ceil_mfu_facts *f);
};
extern const struct ceil_mfu_advice ceil_mfu_advices[];
extern const size_t ceil_mfu_advice_count;

/*
 * An input that may be wrong, and the MFU that its likely correction gives (NAN: not this one).
 * Asked when the figure cannot be (over 1) or is hardly possible (under 0.02).
 */
struct ceil_mfu_suspect {
	const char *name;
	const char *text;
	double (*corrected)(const struct ceil_mfu_facts *f);
};
extern const struct ceil_mfu_suspect ceil_mfu_suspects[];
extern const size_t ceil_mfu_suspect_count;

/* ceil_mfu_implausible - whether the figure says that an input is wrong. */
bool ceil_mfu_implausible(const struct ceil_mfu *mfu);

/* ceil_mfu_suspected - the corrected MFU if this suspect would make the figure plausible, or NAN.
 */
double ceil_mfu_suspected(const struct ceil_mfu_suspect *s, const struct ceil_mfu_facts *f);

#endif
