/* NVML by dlopen, in the form that rows need: each value valid or absent. */
#ifndef CEIL_NVML_H
#define CEIL_NVML_H

#include "harness/base/dynlib.h"
#include "harness/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct ceil_nvml; /* the library, opened and initialised */
/* One GPU; belongs to its library, nothing to free. */
struct ceil_nvml_gpu;

/* What does not change during a run. Absent: "", NAN, -1. */
struct ceil_nvml_info {
	char name[96], uuid[48], pci_bus_id[32], vbios[48];
	int index;        /* nvidia-smi's */
	int ecc, mig;     /* 0 off, 1 on, -1 unknown */
	int compute_mode; /* 0 shared, 2 prohibited, 3 one process only, -1 unknown */
	int processes;    /* compute processes that this namespace can see; -1 unknown */
	int pcie_gen, pcie_width, pcie_max_gen, pcie_max_width; /* now, and of device and system */
	int nvlink_count;                                       /* active links */
	double nvlink_gb_s; /* raw rate of these, one direction; NAN without one */
	double c2c_gb_s;    /* NVLink-C2C to the host, active links, one direction; NAN without */
	double max_sm_mhz, max_memory_mhz;
	double power_limit_w, power_default_w;
	double memory_total_bytes, memory_used_bytes; /* used: without the driver's reserve */
	double gpu_util_ratio;                        /* of the last sample period */
	int bus_bits;
};

/* A reading. NAN: not available here. Counters grow from driver load. */
struct ceil_nvml_state {
	uint64_t at_ns;            /* ceil_now_ns() */
	double sm_mhz, memory_mhz; /* snapshots: information only */
	double power_w;            /* 1 s average on most parts */
	double energy_j;
	double temp_c;
	double gpu_util_ratio, memory_util_ratio;
	double throttle_bits; /* clocks event reasons, a small whole number */
	/* Throttle-time counters: power cap; temperature; hardware slowdown and power brake. */
	double power_cap_ns, thermal_ns, hw_slowdown_ns;
	double ecc_corrected, ecc_uncorrected; /* volatile: since the driver was loaded */
	int pcie_gen, pcie_width;
};

/*
 * What tells whether a GPU is well, now. Absent: NAN. Counters grow from driver load; those of
 * NVLink are sums over the active links.
 */
struct ceil_nvml_health {
	double ecc_corrected, ecc_uncorrected;   /* volatile */
	double rows_corrected, rows_uncorrected; /* memory rows replaced, and why */
	double remap_pending, remap_failed;      /* 0 or 1 */
	double nvlink_replay, nvlink_recovery, nvlink_crc;
	double pcie_replay;
	double power_limit_w, power_default_w;
	double app_sm_mhz, app_default_sm_mhz; /* application clock: set, and by default */
	double throttle_bits;
};

/* Between two readings of one GPU. */
struct ceil_window {
	double seconds;
	double power_w; /* energy over time; NAN under 1 s or without an energy counter */
	double energy_j;
	double temp_start_c, temp_end_c;
	char throttle[64]; /* "sw_power_cap+hw_thermal", "none", "" unknown */
	bool thermal;      /* thermal, hardware slowdown or power brake was active */
	bool power_capped;
	/* Shares of the time, by the throttle-time counters; NAN where there are none. */
	double power_cap_ratio, thermal_ratio, hw_slowdown_ratio;
	double ecc_uncorrected; /* errors that came in between; NAN: not told */
	double snapshot_mhz;    /* mean of the sampler's readings of the SM clock; NAN: none */
	double sm_active, tensor_active, dram_active; /* ratios by GPM; NAN: too short, or none */
};

/*
 * ceil_nvml_open - loads libnvidia-ml.so.1 (GPUCEIL_LIB_NVML overrides it) and initialises it.
 * Return: CEIL_E_UNSUPPORTED if it is missing or lacks a required symbol; CEIL_E_DEVICE with
 * NVML's own words if it does not start (driver not loaded, library and driver differ).
 */
CEIL_MUST_CHECK enum ceil_status ceil_nvml_open(struct ceil_nvml **ret_nvml,
                                                struct ceil_error *err);
void ceil_nvml_close(struct ceil_nvml *nvml); /* NULL is a no-op */

/* ceil_nvml_path - the file that was loaded; version and driver as NVML tells them, or "". */
const char *ceil_nvml_path(const struct ceil_nvml *nvml);
const char *ceil_nvml_version(const struct ceil_nvml *nvml);
const char *ceil_nvml_driver(const struct ceil_nvml *nvml);
/* ceil_nvml_cuda - the newest CUDA that the driver supports, 13000 for 13.0; 0 unknown. */
int ceil_nvml_cuda(const struct ceil_nvml *nvml);

/* ceil_nvml_count - GPUs that NVML sees, whatever CUDA_VISIBLE_DEVICES says. */
int ceil_nvml_count(const struct ceil_nvml *nvml);
/* ceil_nvml_at - by nvidia-smi's index, or NULL. */
struct ceil_nvml_gpu *ceil_nvml_at(struct ceil_nvml *nvml, int index);
/* ceil_nvml_find - by UUID ("GPU-..."), else by PCI bus id ("0000:01:00.0"), or NULL. */
struct ceil_nvml_gpu *ceil_nvml_find(struct ceil_nvml *nvml, const char *uuid,
                                     const char *pci_bus_id);

/* ceil_nvml_info - reads what does not change. A lost GPU leaves values absent. */
void ceil_nvml_info(struct ceil_nvml_gpu *gpu, struct ceil_nvml_info *ret_info);
/* ceil_nvml_read - a reading now; gpu may be NULL: all absent but at_ns. */
void ceil_nvml_read(struct ceil_nvml_gpu *gpu, struct ceil_nvml_state *ret_state);

/*
 * For who reads often:
 * ceil_nvml_read_tick - the same without error counters and what read_seldom reads: all absent.
 * ceil_nvml_read_seldom - energy, whose counter takes an H200 4 ms of the 6 of a whole reading, and
 * the PCIe link, which changes seldom; other fields stay. gpu may be NULL: they are absent.
 */
void ceil_nvml_read_tick(struct ceil_nvml_gpu *gpu, struct ceil_nvml_state *ret_state);
void ceil_nvml_read_seldom(struct ceil_nvml_gpu *gpu, struct ceil_nvml_state *state);

/* ceil_nvml_health - counters and settings now; gpu may be NULL: all absent. */
void ceil_nvml_health(struct ceil_nvml_gpu *gpu, struct ceil_nvml_health *ret_health);

/* Critical Xid errors of all GPUs, collected by the driver from the opening on. */
struct ceil_nvml_xids;

/*
 * ceil_nvml_xids_open - asks the driver to collect. nvml must outlive it.
 * Return: CEIL_E_UNSUPPORTED if it does not for any GPU, with NVML's words; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_nvml_xids_open(struct ceil_nvml *nvml,
                                                     struct ceil_nvml_xids **ret_xids,
                                                     struct ceil_error *err);
void ceil_nvml_xids_close(struct ceil_nvml_xids *xids); /* NULL is a no-op */
/*
 * ceil_nvml_xids_next - takes one of them, without waiting.
 * @ret_gpu: whose it is; NULL if NVML names no GPU that we know. @ret_xid: its number.
 * Return: false if none is left; both are untouched then.
 */
bool ceil_nvml_xids_next(struct ceil_nvml_xids *xids, struct ceil_nvml_gpu **ret_gpu,
                         unsigned *ret_xid);

/*
 * ceil_nvml_pids - processes that compute on the GPU, as far as this namespace can see them.
 * @ret_pid: the first of them, at most cap.
 * Return: how many there are, which may be over cap; -1 if NVML does not tell.
 */
int ceil_nvml_pids(struct ceil_nvml_gpu *gpu, unsigned *ret_pid, unsigned cap);

/*
 * ceil_nvml_hot - whether a GPU has not yet come back to how it was at a start: more than 3 K
 * warmer, or its clocks held down for a reason that was not there: more than 1 % below max_sm_mhz;
 * 0: not known, then the reason counts alone. Absent readings are not hot.
 * Pure.
 */
bool ceil_nvml_hot(const struct ceil_nvml_state *start, const struct ceil_nvml_state *now,
                   double max_sm_mhz);

/*
 * ceil_window_of - what happened between two readings of one GPU. Pure.
 * The throttle-time counters say what held clocks back in between, the reason bits of the end
 * what does so then; without counters the bits of both ends count. A lone hw_slowdown bit, which
 * a mere change of clocks may raise, counts as thermal only if no counter denies it or both ends
 * show it.
 */
void ceil_window_of(const struct ceil_nvml_state *from, const struct ceil_nvml_state *to,
                    struct ceil_window *ret_w);

/* ceil_throttle_text - reason bits as names joined by '+', "none" for 0. Idle is left out. */
void ceil_throttle_text(uint64_t bits, char *ret_text, size_t size);

#endif
