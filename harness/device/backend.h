/* What a device must do. Host and CUDA implement it; tests add faulty and recorded ones. */
#ifndef CEIL_BACKEND_H
#define CEIL_BACKEND_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stdbool.h>
#include <stdint.h>

/* Read off the device when it is opened. Unknown: NAN, 0, -1 or "". */
struct ceil_device_props {
	char label[16]; /* "gpu0" by nvidia-smi's index, "cpu", "cpu.node0": the device column */
	char name[96], uuid[48], pci_bus_id[32];
	char driver[48];                   /* version of what drives it */
	uint64_t memory_bytes, free_bytes; /* free: what a run may plan with */
	uint64_t l2_bytes, llc_bytes;      /* llc: last level, summed over distinct caches */
	int cc_major, cc_minor, sm_count, numa_node; /* sm_count: SMs, or threads of the host */
	int copy_engines, memory_bus_bits;
	int vector_bits, fma_pipes;        /* host: widest vectors, FMA pipes; 0 unknown */
	bool integrated;                   /* memory shared with the host */
	double max_sm_mhz, max_memory_mhz; /* NAN: unknown */
	uint64_t host_nodes; /* bit n: NUMA node n of the host has cores we may use; 0: unknown */
	double c2c_gb_s;     /* NVLink-C2C to the host, one direction; NAN or 0: none */
	/* Among those that measure together: GPUs of a process, or processes. 0 of 0: alone. */
	uint32_t rank, ranks;
	/* The slowest way between them, of one rank and one direction; 0: unknown. */
	double fabric_gb_s;
	char fabric[32]; /* "NVLink, 18 links" */
};

/*
 * What a buffer lives in, and what it is for: inputs are filled, outputs poisoned; what is worked
 * on in place is filled anew each time.
 */
enum ceil_memory {
	CEIL_MEM_DEVICE,
	CEIL_MEM_PAGEABLE,
	CEIL_MEM_PINNED,
	CEIL_MEM_PINNED_WC,
	CEIL_MEM_MAPPED,
	CEIL_MEM_SHARED /* of the device, from NCCL: other GPUs may map it */
};
enum ceil_role { CEIL_INPUT, CEIL_OUTPUT, CEIL_WORKSPACE, CEIL_IN_PLACE };
struct ceil_buffer {
	enum ceil_memory memory;
	enum ceil_role role;
	enum ceil_dtype dtype;
	int numa_node; /* host memory: the node to put it on; -1 any */
	uint64_t bytes;
};

/*
 * A matrix in device memory for project(): element (r, c) at index r * row_stride + c * col_stride.
 */
struct ceil_matrix {
	const void *ptr;
	enum ceil_dtype dtype;
	uint64_t rows, cols, row_stride, col_stride;
};

enum { CEIL_MAX_SLOTS = 64 }; /* of marks, and of clocks */

struct ceil_team;

/* First member of every backend's own device; used by one thread. */
struct ceil_device {
	const struct ceil_backend *backend;
	struct ceil_device_props props;
	struct ceil_team *team; /* the caller's, or NULL: with whom it measures collectives */
};

struct ceil_backend {
	const char *name; /* "host", "cuda" */
	const char *doc;

	/* Devices that can be opened. Return: CEIL_E_UNSUPPORTED with the reason if there is none
	 * and nothing is broken, CEIL_E_DEVICE if something is. */
	enum ceil_status (*count)(int *ret_count, struct ceil_error *err);
	/* Who a device is, without a context on it: label, name, uuid, pci_bus_id, driver at least.
	 */
	enum ceil_status (*peek)(int ordinal, struct ceil_device_props *ret_props,
	                         struct ceil_error *err);
	enum ceil_status (*open)(int ordinal, struct ceil_device **ret_dev, struct ceil_error *err);
	void (*close)(struct ceil_device *dev); /* NULL is a no-op */

	/* Fills l->stream. Valid until close. */
	enum ceil_status (*bind)(struct ceil_device *dev, struct ceil_launch *l,
	                         struct ceil_error *err);
	enum ceil_status (*alloc)(struct ceil_device *dev, const struct ceil_buffer *b,
	                          void **ret_ptr, struct ceil_error *err);
	void (*free)(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr);

	/* ceil_element(dtype, pattern, seed, buffer, i) for every element; see value.h. */
	enum ceil_status (*fill)(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr,
	                         int buffer, enum ceil_pattern pattern, uint64_t seed,
	                         struct ceil_error *err);
	/* Sum of ceil_hash_term over the elements of b->dtype; waits for the device. */
	enum ceil_status (*hash)(struct ceil_device *dev, const struct ceil_buffer *b,
	                         const void *ptr, uint64_t *ret_hash, struct ceil_error *err);
	/* ret_y[r] = sum over c of (int64) m(r, c) * x[c], modulo 2^64; an element that is no
	 * whole number (poison, NaN) makes its row INT64_MIN. x and ret_y are host memory. */
	enum ceil_status (*project)(struct ceil_device *dev, const struct ceil_matrix *m,
	                            const int64_t *x, int64_t *ret_y, struct ceil_error *err);
	/* To host memory; waits for what was enqueued before. */
	enum ceil_status (*read)(struct ceil_device *dev, void *dst, const void *src,
	                         uint64_t bytes, struct ceil_error *err);

	/* Time stamps in stream order; elapsed_ns is for marks that are past. */
	enum ceil_status (*mark)(struct ceil_device *dev, int stream, int slot,
	                         struct ceil_error *err);
	enum ceil_status (*elapsed_ns)(struct ceil_device *dev, int from, int to, double *ret_ns,
	                               struct ceil_error *err);
	/* Waits for all streams. Return: CEIL_E_TIMEOUT after timeout_ns: the device may hang, and
	 * nothing may be called on it again. */
	enum ceil_status (*sync)(struct ceil_device *dev, uint64_t timeout_ns,
	                         struct ceil_error *err);

	/* Optional, NULL where the device has no such thing. */
	/* Waits for slot's mark alone, so that later work stays queued. */
	enum ceil_status (*wait)(struct ceil_device *dev, int slot, uint64_t timeout_ns,
	                         struct ceil_error *err);
	/* Whether a stream has done all, without waiting; missing: launches return when it has. */
	enum ceil_status (*done)(struct ceil_device *dev, int stream, bool *ret_done,
	                         struct ceil_error *err);
	enum ceil_status (*flush_cache)(struct ceil_device *dev, struct ceil_error *err);
	/* Holds stream 0 until it is opened; opens by itself after two seconds. */
	enum ceil_status (*gate)(struct ceil_device *dev, bool closed, struct ceil_error *err);
	/* Core-clock stamps in the order of stream 0, and the mean MHz between two of them, which
	 * are past (their marks are): it must not wait for work that was enqueued later. */
	enum ceil_status (*clock)(struct ceil_device *dev, int slot, struct ceil_error *err);
	enum ceil_status (*clock_mhz)(struct ceil_device *dev, int from, int to, double *ret_mhz,
	                              struct ceil_error *err);
};

/* harness/device/all.c: every backend of this build, NULL-terminated, in the order of a run. */
extern const struct ceil_backend *const ceil_backends[];

/* ceil_backend_find - by name, or NULL. */
const struct ceil_backend *ceil_backend_find(const char *name);

#endif
