/* Why CUDA gives no device: PCI, device nodes and the driver, read once and judged. */
#ifndef CEIL_WORLD_H
#define CEIL_WORLD_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What the machine shows. GPUCEIL_SYSROOT=DIR puts DIR before /sys, /dev, /proc, /run (tests). */
struct ceil_world {
	int pci_gpus;            /* NVIDIA functions (vendor 10de, class 0300 or 0302) */
	int pci_foreign;         /* of these, bound to another driver (vfio-pci, nouveau) */
	char foreign_driver[32]; /* the first of these */
	char first_bus_id[32];   /* of the first function that is not foreign, else of the first */
	char first_name[96];     /* its model, as the driver knows it, or "" */
	int dev_nodes;           /* /dev/nvidia0 ... */
	int dev_denied;          /* of these, closed by their mode, or by a device cgroup: */
	int dev_withheld;        /* a resource manager gave them to others */
	bool uvm_node;           /* /dev/nvidia-uvm, which CUDA needs */
	bool wsl;                /* /dev/dxg: Windows Subsystem for Linux */
	bool module_loaded;      /* /proc/driver/nvidia/version is there */
	char module_version[64]; /* "580.159.04", or "" */
	bool container;          /* files or variables of a container runtime say so */
	bool hidden;             /* CUDA_VISIBLE_DEVICES is set and names nothing */
	char visible[64];        /* CUDA_VISIBLE_DEVICES, or "" */
};

/* What CUDA said: error 0 means that it gave device_count devices. */
struct ceil_cuda_answer {
	int error, device_count;
	int driver_version;  /* the newest CUDA that the driver supports; 0: no driver */
	int runtime_version; /* 13000 is CUDA 13.0 */
	const char *text;    /* CUDA's own words, or NULL */
};

enum ceil_world_verdict { CEIL_WORLD_OK, CEIL_WORLD_NONE, CEIL_WORLD_BROKEN };

/* ceil_world_read - looks at the machine; what cannot be read counts as not there. */
void ceil_world_read(struct ceil_world *ret_world);

/*
 * ceil_world_judge - OK: measure. NONE (none in PCI, hidden, not given to this container, bound
 * to another driver): unsupported rows, exit 0. BROKEN (too old, off the bus, mismatch, fabric
 * manager, or a bare machine with a GPU and no driver): failed rows, exit 1. Pure.
 * @ret_reason: one sentence that says what is wrong and what to do, at most 230 bytes; "" for OK.
 */
enum ceil_world_verdict ceil_world_judge(const struct ceil_world *w,
                                         const struct ceil_cuda_answer *cuda, char *ret_reason,
                                         size_t size);

#endif
