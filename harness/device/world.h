/* Why CUDA gives no device: PCI, device nodes and the driver, read once and judged. */
#ifndef CEIL_WORLD_H
#define CEIL_WORLD_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What the machine shows. GPUCEIL_SYSROOT=DIR puts DIR before /sys, /dev and /proc (tests). */
struct ceil_world {
	int pci_gpus;    /* NVIDIA functions (vendor 10de, class 0300 or 0302) */
	int pci_foreign; /* of these, bound to another driver (vfio-pci, nouveau); */
	char foreign_driver[32];
	int dev_nodes;      /* /dev/nvidia0 ... , or /dev/dxg of WSL */
	bool module_loaded; /* /proc/driver/nvidia/version is there */
	char module_version[64];
	bool hidden;    /* CUDA_VISIBLE_DEVICES is set and names nothing */
	bool container; /* cgroup or /.dockerenv say so */
	char first_bus_id[32], first_name[96];
};

/* What CUDA said: error 0 means that it gave device_count devices. */
struct ceil_cuda_answer {
	int error, device_count;
	int driver_version; /* cudaDriverGetVersion: 0 no driver, else the CUDA version it supports
	                     */
	int runtime_version;
	const char *text; /* CUDA's own words */
};

enum ceil_world_verdict { CEIL_WORLD_OK, CEIL_WORLD_NONE, CEIL_WORLD_BROKEN };

void ceil_world_read(struct ceil_world *ret_world);

/*
 * ceil_world_judge - OK: measure. NONE (none in PCI, hidden, not given to this container):
 * unsupported rows, exit 0. BROKEN (too old, off the bus, mismatch, fabric manager, or a bare
 * machine with a GPU and no driver): failed rows, exit 1. Pure.
 * @ret_reason: one sentence that says what is wrong and what to do.
 */
enum ceil_world_verdict ceil_world_judge(const struct ceil_world *w,
                                         const struct ceil_cuda_answer *cuda, char *ret_reason,
                                         size_t size);

#endif
