/* Health of the GPUs over a run: error counters that grew, settings that hold a card down. */
#ifndef CEIL_HEALTH_H
#define CEIL_HEALTH_H

#include "harness/base/status.h"
#include "harness/base/types.h"
#include "harness/telemetry/nvml.h"
#include "harness/telemetry/source.h"

#include <stdbool.h>
#include <stddef.h>

/* One counter that must not grow. */
struct ceil_health_counter {
	const char *name;  /* "ecc_corrected", in run.json */
	const char *title; /* "corrected ECC errors" */
	const char *group; /* counters of one kind are told in one word: "ECC" */
	size_t offset;     /* of a double in struct ceil_nvml_health */
};
extern const struct ceil_health_counter ceil_health_counters[];
extern const size_t ceil_health_counter_count;

/* note: good to know, moves figures. suspect: something broke while we measured. */
enum ceil_health_grade { CEIL_HEALTH_NOTE, CEIL_HEALTH_SUSPECT };

struct ceil_health_finding {
	char device[16];
	const char *what;     /* a counter's title, or a setting's; lives for ever */
	double before, after; /* of the counter or the setting; NAN: does not apply */
	enum ceil_health_grade grade;
	char text[112]; /* "grew by 3 during this run" */
};

enum { CEIL_HEALTH_FINDINGS = 256, CEIL_HEALTH_XIDS = 64 };

/* One GPU of a run. */
struct ceil_health_gpu {
	char device[16], pci_bus_id[32]; /* "gpu0"; "0000:3b:00.0" */
	struct ceil_nvml_gpu *nvml;
	struct ceil_nvml_health before, after;
	uint64_t seen_bits;             /* NVML's clocks event reasons of all rows of telemetry */
	unsigned xid[CEIL_HEALTH_XIDS]; /* errors in their order */
	size_t xid_count;               /* all of them, those that did not fit too */
};

struct ceil_health {
	struct ceil_health_gpu gpu[CEIL_MAX_DEVICES];
	size_t gpu_count;
	const char *xid_source; /* "/dev/kmsg", "NVML events", or NULL: see xid_reason */
	char xid_reason[200];
	struct ceil_nvml_xids *xids;
	int kmsg; /* file descriptor, when it is open */
	bool kmsg_open;
	struct ceil_health_finding finding[CEIL_HEALTH_FINDINGS];
	size_t finding_count;
};

/*
 * ceil_health_init - nobody to look at yet: zeroes it.
 * ceil_health_add - a GPU by its label; those without NVML are left out, as are too many.
 */
void ceil_health_init(struct ceil_health *h);
void ceil_health_add(struct ceil_health *h, const char *device, struct ceil_nvml_gpu *nvml);

/*
 * ceil_health_begin - reads all counters, and listens for Xid errors: in the kernel's log where it
 * may be read (all of them), else by NVML's events (the critical ones).
 * The log is that of GPUCEIL_SYSROOT where it is set.
 * @nvml: NULL is a no-op; must outlive ceil_health_done.
 */
void ceil_health_begin(struct ceil_health *h, struct ceil_nvml *nvml);
/*
 * ceil_health_saw - a row of telemetry meanwhile: what held the clocks down under work no longer
 * shows when the GPU idles at the end. Not while another thread is in here.
 */
void ceil_health_saw(struct ceil_health *h, const struct ceil_telemetry_row *row);
/* ceil_health_end - reads again and finds what changed. A GPU that no longer answers is suspect. */
void ceil_health_end(struct ceil_health *h);
void ceil_health_done(struct ceil_health *h);

/* ceil_health_bad - whether a finding is suspect. */
bool ceil_health_bad(const struct ceil_health *h);

/*
 * ceil_health_judge - what two readings and the errors in between mean. Pure.
 * @ret_f: at most cap findings. Return: how many were written.
 */
size_t ceil_health_judge(const struct ceil_health_gpu *g, struct ceil_health_finding *ret_f,
                         size_t cap);

/*
 * ceil_health_parse_xid - the number of an Xid in a line of the kernel's log, as
 * "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=x, GPU has fallen off the bus.".
 * @pci_bus_id: "0000:3b:00.0". Return: false if the line is none, or of another GPU.
 */
bool ceil_health_parse_xid(const char *line, const char *pci_bus_id, unsigned *ret_xid);

#endif
