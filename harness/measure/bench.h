/* The contract of a benchmark: one const table that describes, and functions that are pure. */
#ifndef CEIL_BENCH_H
#define CEIL_BENCH_H

#include "harness/base/status.h"
#include "harness/base/types.h"
#include "harness/device/backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What bounds an operation, and so which peak stands beside it. */
enum ceil_resource {
	CEIL_R_DRAM,
	CEIL_R_L2,
	CEIL_R_SMEM,
	CEIL_R_FMA,
	CEIL_R_SFU, /* special functions: 1/x, 2^x */
	CEIL_R_TENSOR,
	CEIL_R_LAUNCH,
	CEIL_R_HOSTLINK,
	CEIL_R_PEER,
	CEIL_R_FABRIC,
	CEIL_R_STORAGE,
	CEIL_R_LATENCY,
	CEIL_R_COUNT
};
enum ceil_timing { CEIL_TIME_MARKS, CEIL_TIME_HOST_EACH, CEIL_TIME_SELF };
enum ceil_regime { CEIL_NOREGIME, CEIL_BURST, CEIL_SUSTAINED, CEIL_DUTY, CEIL_REGIME_COUNT };
/* What a row's value is: a rate of its work per time, or the time of one launch or item. */
enum ceil_unit { CEIL_GB_S, CEIL_TFLOP_S, CEIL_TOP_S, CEIL_US, CEIL_NS, CEIL_PER_S, CEIL_CYCLES };

/* A dimension of a bench's cases. */
struct ceil_axis {
	const char *name, *unit, *doc; /* "bytes", "m" */
};

/* A named point of the axes: the default list of a bench is a list of these. */
struct ceil_case {
	const char *name;    /* "8192x8192x8192", "8GiB" */
	const char *backend; /* NULL: every backend */
	bool quick;          /* stays in --quick */
	uint64_t axis[CEIL_MAX_AXES];
};

/* Cases that only a long run measures: sweeps, and shapes that users look up. */
struct ceil_case_list {
	const char *name, *doc;
	const struct ceil_case *v;
	size_t count;
};

/* One way to do an operation, on one backend. */
struct ceil_variant {
	const char *name, *backend, *doc;
	const char *ceiling; /* the operation it competes for: "dram.copy", "gemm.bf16" */
	enum ceil_unit unit;
	struct ceil_types types;
	enum ceil_resource resource;
	enum ceil_timing timing;
	ceil_launch_fn launch;        /* NULL: not in this build, recorded as unsupported */
	const char *why_not;          /* the reason that stands in the row when launch is NULL */
	int min_cc, max_cc;           /* 75; wgmma: 90 and 90; 0: no bound */
	uint32_t threads, per_thread; /* geometry that shape() turns into a grid; 0: not used */
	uint32_t blocks_per_sm;       /* a grid that loops over the work; 0: one that covers it */
	uint32_t batch;               /* launches between two marks; 0: as many as a sample needs */
	enum ceil_pattern pattern;    /* of timed inputs unless the user names one */
	bool gated, cold_cache, quick;
	uint32_t kernels; /* of a gated launch, about: its room behind the gate; 0: 1 */
	bool beside;      /* for comparison only: never wins a ceiling */
	bool sweep; /* points of a curve: rows of records.csv, none in ceilings.csv; stands behind
	             * variants that compete for a ceiling of the same name */
	bool both_ways;     /* of a link: both directions at once, the value is their sum */
	const char *versus; /* ceiling whose value stands beside this row's; or NULL */
	unsigned burst_finalists, sustained_finalists; /* 0: the row has no such regime */
	unsigned quick_sustained; /* of those, what --quick and short budgets keep */
	double tolerance;         /* spread above this makes a row unstable; 0: none */
};

struct ceil_bench;
struct ceil_point {
	const struct ceil_bench *bench;
	const struct ceil_variant *variant;
	const struct ceil_case *cas;
	enum ceil_regime regime;
	enum ceil_pattern pattern; /* of timed inputs */
	bool apart;                /* a user's own case: a ceiling by itself */
	const char *algorithm;     /* the one to take, in the words of describe; NULL: search */
	double duty; /* of CEIL_DUTY: share of the time that is work, above 0, below 1 */
};

/* Per launch; compulsory traffic. */
struct ceil_work {
	double flops, bytes_read, bytes_written, bytes_wire;
	double items;         /* what a time or 1/s is of: hops, atomics; 0: of the launch */
	double bytes_payload; /* of a collective: the array that it is called on; 0: none */
};

/* What a bench tells of a measurement beside its time. Nothing to tell: NAN, -1, "". */
struct ceil_remark {
	double gpu_busy;   /* share of time in which a kernel ran, by the kernels' own clocks */
	int host_node;     /* NUMA node of the host's memory */
	char locality[12]; /* of that memory to the device: near, far, unknown */
	char note[160];    /* what a reader of the row must know */
};

struct ceil_bench {
	const char *name, *summary, *doc, *source;
	const struct ceil_variant *variants;
	size_t variant_count;
	const struct ceil_axis *axes;
	size_t axis_count;
	const struct ceil_case *cases;
	size_t case_count;
	const struct ceil_case_list *more; /* for long runs, or NULL */
	size_t more_count;
	size_t buf_count;
	bool concurrent; /* all devices at once, a barrier per sample: what needs no host */
	bool team;       /* the members of the device's team measure one thing together (team.h) */
	bool repeatable; /* outputs have the same bits after every launch: the loop compares */
	enum ceil_pattern check_pattern;
	bool check_first; /* check the first launch on timed data too, not the last pass alone */

	/*
	 * shape - sizes, places, geometry of a point on a device. Pure.
	 * Return: CEIL_OK; CEIL_E_UNSUPPORTED if the device cannot; CEIL_E_NOMEM, by
	 * ceil_bench_no_room, if it has too little memory, which skips the row; CEIL_E_USAGE if
	 * the axes make no sense.
	 */
	enum ceil_status (*shape)(const struct ceil_point *p, const struct ceil_device_props *d,
	                          struct ceil_launch *ret_l,
	                          struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
	                          struct ceil_error *err);
	/* work - the cost model of one launch. Pure, cannot fail. */
	void (*work)(const struct ceil_point *p, const struct ceil_launch *l,
	             struct ceil_work *ret_w);

	/* Optional. Whether a case is worth this variant's time on a device (NULL: on any). A
	 * user's own cases (p->apart) are left out only where another variant is meant. Pure. */
	bool (*applies)(const struct ceil_point *p, const struct ceil_device_props *d);

	/* Optional. Says how many candidates (algorithms) the loop shall try, interleaved. */
	enum ceil_status (*prepare)(const struct ceil_point *p, struct ceil_device *dev,
	                            struct ceil_launch *l, uint32_t *ret_candidates,
	                            struct ceil_error *err);
	void (*release)(struct ceil_launch *l); /* with prepare; a half-made state is fine */
	/* Optional, with prepare: the chosen candidate in words, so that it can be repeated. */
	void (*describe)(const struct ceil_launch *l, char *ret_text, size_t size);

	/* Optional, with prepare: waits for what was launched, where a launch may fail or hang for
	 * another's fault. The device answers afterwards, unless it is CEIL_E_TIMEOUT. */
	enum ceil_status (*wait)(const struct ceil_launch *l, struct ceil_error *err);

	/* Optional. What the launches that were timed told of themselves. */
	void (*remark)(const struct ceil_point *p, const struct ceil_device_props *d,
	               const struct ceil_launch *l, const struct ceil_buffer buf[CEIL_MAX_BUFS],
	               struct ceil_remark *ret_remark);

	/* Optional: the inputs of the check on this member of a team, if not check_pattern. */
	enum ceil_pattern (*check_fill)(const struct ceil_point *p,
	                                const struct ceil_device_props *d);
	/*
	 * check - after one launch on inputs of check_pattern and seed, outputs poisoned before:
	 * is every element right? Return: CEIL_OK; CEIL_E_WRONG with what was expected and found.
	 */
	enum ceil_status (*check)(const struct ceil_point *p, struct ceil_device *dev,
	                          const struct ceil_launch *l,
	                          const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
	                          struct ceil_error *err);
};

/* bench/all.c: the one list, NULL-terminated, in the order of a run (cool before hot). */
extern const struct ceil_bench *const ceil_benches[];

/* ceil_bench_find - by name, or NULL. */
const struct ceil_bench *ceil_bench_find(const char *name);

/*
 * ceil_bench_no_room - the failure of a shape that does not fit: how much is needed and there.
 * @what: that needs it. @why: the rule that asks for so much, or NULL.
 * Return: CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_bench_no_room(const struct ceil_device_props *d,
                                                    const char *what, uint64_t need_bytes,
                                                    const char *why, struct ceil_error *err);

/* ceil_bench_buffer, ceil_bench_array - a buffer of the device's own memory, by bytes or elements.
 */
struct ceil_buffer ceil_bench_buffer(enum ceil_role role, enum ceil_dtype t, uint64_t bytes);
struct ceil_buffer ceil_bench_array(enum ceil_role role, enum ceil_dtype t, uint64_t elements);

/* Names for rows: "GB/s", "burst" (or ""), "tensor", "marks". */
const char *ceil_unit_name(enum ceil_unit unit);
const char *ceil_regime_name(enum ceil_regime regime);
const char *ceil_resource_name(enum ceil_resource resource);
const char *ceil_timing_name(enum ceil_timing timing);
/* Whether smaller values are better: times and cycles. */
bool ceil_unit_lower_is_better(enum ceil_unit unit);

#ifdef CEIL_HAVE_CUDA
#define CEIL_IF_CUDA(fn) .launch = (fn)
#else
#define CEIL_IF_CUDA(fn)                                                                           \
	.why_not = "this build has no CUDA: install the CUDA toolkit and build again"
#endif

#endif
