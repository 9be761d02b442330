/* The inside of NVML's binding, shared by its files; nobody else includes it. */
#ifndef CEIL_NVML_INSIDE_H
#define CEIL_NVML_INSIDE_H

#include "harness/telemetry/nvml.h"
#include "harness/telemetry/nvml_abi.h"

typedef int (*ceil_nv_system_fn)(void);
typedef const char *(*ceil_nv_error_string_fn)(int code);
typedef int (*ceil_nv_system_text_fn)(char *text, unsigned size);
typedef int (*ceil_nv_number_fn)(int *ret_number);
typedef int (*ceil_nv_count_fn)(unsigned *ret_count);
typedef int (*ceil_nv_by_index_fn)(unsigned index, struct ceil_nv_device **ret_dev);
typedef int (*ceil_nv_text_fn)(struct ceil_nv_device *dev, char *text, unsigned size);
typedef int (*ceil_nv_pci_fn)(struct ceil_nv_device *dev, struct ceil_nv_pci *ret_pci);
typedef int (*ceil_nv_unsigned_fn)(struct ceil_nv_device *dev, unsigned *ret_value);
typedef int (*ceil_nv_u64_fn)(struct ceil_nv_device *dev, uint64_t *ret_value);
typedef int (*ceil_nv_mode_fn)(struct ceil_nv_device *dev, unsigned *ret_now,
                               unsigned *ret_pending);
typedef int (*ceil_nv_clock_fn)(struct ceil_nv_device *dev, int type, unsigned *ret_mhz);
typedef int (*ceil_nv_memory_fn)(struct ceil_nv_device *dev, struct ceil_nv_memory *ret_memory);
typedef int (*ceil_nv_memory_v2_fn)(struct ceil_nv_device *dev,
                                    struct ceil_nv_memory_v2 *ret_memory);
typedef int (*ceil_nv_utilization_fn)(struct ceil_nv_device *dev,
                                      struct ceil_nv_utilization *ret_util);
typedef int (*ceil_nv_temperature_v_fn)(struct ceil_nv_device *dev,
                                        struct ceil_nv_temperature *ret_temp);
typedef int (*ceil_nv_temperature_fn)(struct ceil_nv_device *dev, int sensor, unsigned *ret_c);
typedef int (*ceil_nv_ecc_fn)(struct ceil_nv_device *dev, int type, int counter,
                              uint64_t *ret_count);
typedef int (*ceil_nv_processes_fn)(struct ceil_nv_device *dev, unsigned *count,
                                    struct ceil_nv_process *ret_v);
typedef int (*ceil_nv_fields_fn)(struct ceil_nv_device *dev, int count, struct ceil_nv_field *v);
typedef int (*ceil_nv_link_fn)(struct ceil_nv_device *dev, unsigned link, unsigned *ret_active);
typedef int (*ceil_nv_link_errors_fn)(struct ceil_nv_device *dev, unsigned link, int counter,
                                      uint64_t *ret_count);
typedef int (*ceil_nv_remapped_fn)(struct ceil_nv_device *dev, unsigned *ret_corrected,
                                   unsigned *ret_uncorrected, unsigned *ret_pending,
                                   unsigned *ret_failed);
typedef int (*ceil_nv_clock_of_fn)(struct ceil_nv_device *dev, int type, int which,
                                   unsigned *ret_mhz);
typedef int (*ceil_nv_events_fn)(struct ceil_nv_events **ret_set);
typedef int (*ceil_nv_events_free_fn)(struct ceil_nv_events *set);
typedef int (*ceil_nv_events_of_fn)(struct ceil_nv_device *dev, uint64_t types,
                                    struct ceil_nv_events *set);
typedef int (*ceil_nv_event_wait_fn)(struct ceil_nv_events *set, struct ceil_nv_event *ret_event,
                                     unsigned wait_ms);
typedef int (*ceil_nv_samples_fn)(struct ceil_nv_device *dev, int type, uint64_t after_us,
                                  int *ret_value_type, unsigned *count,
                                  struct ceil_nv_sample *ret_v);
typedef int (*ceil_nv_pcie_rate_fn)(struct ceil_nv_device *dev, int counter, unsigned *ret_kb_s);
typedef int (*ceil_nv_gpm_support_fn)(struct ceil_nv_device *dev, struct ceil_nv_gpm_support *s);
typedef int (*ceil_nv_gpm_alloc_fn)(struct ceil_nv_gpm_sample **ret_sample);
typedef int (*ceil_nv_gpm_free_fn)(struct ceil_nv_gpm_sample *sample);
typedef int (*ceil_nv_gpm_sample_fn)(struct ceil_nv_device *dev, struct ceil_nv_gpm_sample *s);
typedef int (*ceil_nv_gpm_get_fn)(struct ceil_nv_gpm_get *get);

struct ceil_nvml_api {
	ceil_nv_system_fn init, shutdown;
	ceil_nv_error_string_fn error_string;
	ceil_nv_system_text_fn driver_version, nvml_version;
	ceil_nv_number_fn cuda_version;
	ceil_nv_count_fn count;
	ceil_nv_by_index_fn by_index;
	ceil_nv_text_fn name, uuid, vbios;
	ceil_nv_pci_fn pci;
	ceil_nv_unsigned_fn pcie_gen, pcie_width, pcie_max_gen, pcie_max_width, bus_width,
		compute_mode;
	ceil_nv_unsigned_fn power, enforced_limit, default_limit;
	ceil_nv_u64_fn energy, reasons;
	ceil_nv_mode_fn ecc_mode, mig_mode;
	ceil_nv_clock_fn clock, max_clock;
	ceil_nv_memory_fn memory;
	ceil_nv_memory_v2_fn memory_v2;
	ceil_nv_utilization_fn utilization;
	ceil_nv_temperature_v_fn temperature_v;
	ceil_nv_temperature_fn temperature;
	ceil_nv_ecc_fn ecc_errors;
	ceil_nv_processes_fn processes;
	ceil_nv_fields_fn fields;
	ceil_nv_link_fn link_state;
	ceil_nv_link_errors_fn link_errors;
	ceil_nv_unsigned_fn pcie_replays;
	ceil_nv_remapped_fn remapped_rows;
	ceil_nv_clock_of_fn clock_of;
	ceil_nv_events_fn events_create;
	ceil_nv_events_free_fn events_free;
	ceil_nv_events_of_fn events_register;
	ceil_nv_event_wait_fn event_wait;
	ceil_nv_samples_fn samples;
	ceil_nv_pcie_rate_fn pcie_rate;
	ceil_nv_gpm_support_fn gpm_support;
	ceil_nv_gpm_alloc_fn gpm_alloc;
	ceil_nv_gpm_free_fn gpm_free;
	ceil_nv_gpm_sample_fn gpm_sample;
	ceil_nv_gpm_get_fn gpm_get;
};

/* Most fields of one call, and most links: nvml.h 13.3 knows 36. */
enum { CEIL_NVML_FIELDS = 8, CEIL_NVML_LINKS = 64 };

/* Where a function sits in PCI, whatever form the text had. */
struct ceil_nvml_address {
	unsigned domain, bus, device, function;
	bool known;
};

struct ceil_nvml_gpu {
	const struct ceil_nvml_api *api;
	struct ceil_nv_device *dev; /* NULL: NVML gives no handle, all values are absent */
	int index;
	char uuid[96], pci_bus_id[32]; /* "" unknown */
	struct ceil_nvml_address address;
};

struct ceil_nvml {
	struct ceil_dynlib lib;
	struct ceil_nvml_api api;
	bool started;
	char version[80], driver[80];
	int count;
	struct ceil_nvml_gpu *gpu;
};

/* nvml_read.c, one value each: NAN or "" if the function is not there or does not answer. The GPU
 * has a handle. */
void ceil_nvml_get_text(const struct ceil_nvml_gpu *g, ceil_nv_text_fn fn, char *ret_text,
                        size_t size);
double ceil_nvml_get_unsigned(const struct ceil_nvml_gpu *g, ceil_nv_unsigned_fn fn);
double ceil_nvml_get_ecc(const struct ceil_nvml_gpu *g, int type);
/* ceil_nvml_get_fields - several fields by one call; scope is 0 or a link. */
void ceil_nvml_get_fields(const struct ceil_nvml_gpu *g, const unsigned *id, int count,
                          unsigned scope, double *ret_value);

#endif
