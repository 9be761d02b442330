/* What CUDA and the system say about a GPU, and how much of its memory a run may plan with. */
#include "harness/device/cuda.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "harness/base/text.h"
#include "harness/device/limits.h"
#include "harness/device/sysfs.h"
#include "harness/device/world.h"
#include "kernels/support.h"

enum { MAX_SMS = 1024 };

static bool env_has(const char *name, const char *part)
{
	const char *value = getenv(name);

	return value && value[0] != '\0' && (!part || strstr(value, part));
}

bool ceil_cuda_serialised(void)
{
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");

	return (blocking && blocking[0] != '\0' && strcmp(blocking, "0") != 0) ||
	       env_has("NV_COMPUTE_PROFILER_PERFWORKS_DIR", /* part= */ NULL) ||
	       env_has("CUDA_INJECTION64_PATH", /* part= */ NULL) ||
	       env_has("NVTX_INJECTION64_PATH", /* part= */ NULL) ||
	       env_has("LD_PRELOAD", "libsanitizer");
}

static int compare_double(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	if (n == 0)
		return (double)NAN;
	qsort(v, n, sizeof(*v), compare_double);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2.0;
}

double ceil_cuda_clock_mhz(const struct ceil_stamp *from, const struct ceil_stamp *to, size_t count)
{
	const uint64_t least_ns = 50000;
	const struct ceil_stamp *at[MAX_SMS] = {NULL};
	double mhz[MAX_SMS];
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (from[i].sm < MAX_SMS)
			at[from[i].sm] = &from[i];
	}
	for (size_t i = 0; i < count; i++) {
		const struct ceil_stamp *a = to[i].sm < MAX_SMS ? at[to[i].sm] : NULL;

		if (!a || to[i].globaltimer_ns < a->globaltimer_ns + least_ns)
			continue;
		at[a->sm] = NULL; /* each SM once */
		mhz[n++] = (double)(to[i].clock - a->clock) /
		           (double)(to[i].globaltimer_ns - a->globaltimer_ns) * 1e3;
	}
	return median(mhz, n);
}

/* 0 where the attribute does not exist. */
static int attribute(enum cudaDeviceAttr which, int ordinal)
{
	int value = 0;

	if (cudaDeviceGetAttribute(&value, which, ordinal) != cudaSuccess) {
		(void)cudaGetLastError();
		return 0;
	}
	return value;
}

static double attribute_mhz(enum cudaDeviceAttr which, int ordinal)
{
	const int khz = attribute(which, ordinal);

	return khz > 0 ? khz / 1e3 : (double)NAN;
}

static void uuid_text(const cudaUUID_t *uuid, char *ret_text, size_t size)
{
	unsigned char b[16];

	memcpy(b, uuid->bytes, sizeof(b));
	ceil_copy(ret_text, size, "GPU");
	for (size_t i = 0; i < sizeof(b); i++) {
		const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;

		ceil_append(ret_text, size, "%s%02x", dash ? "-" : "", b[i]);
	}
}

/* "0000:01:00.0", lower case, and the NUMA node that the system knows for it. */
static enum ceil_status read_place(int ordinal, struct ceil_device_props *p, struct ceil_error *err)
{
	char line[16];
	uint64_t node;
	const enum ceil_status st = ceil_cuda_status(
		(int)cudaDeviceGetPCIBusId(p->pci_bus_id, (int)sizeof(p->pci_bus_id), ordinal),
		"cudaDeviceGetPCIBusId", err);

	if (st != CEIL_OK)
		return st;
	for (char *c = p->pci_bus_id; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	/* "-1" where the system does not know, and no file in some containers and under WSL. */
	if (ceil_sysfs_line(line, sizeof(line), "/sys/bus/pci/devices/%s/numa_node",
	                    p->pci_bus_id) &&
	    ceil_parse_u64(line, &node, NULL) == CEIL_OK)
		p->numa_node = (int)node;
	return CEIL_OK;
}

/* The driver's own version; where it shows none (WSL), the CUDA version that it supports. */
static void read_driver(char *ret_text, size_t size)
{
	struct ceil_world world;
	int version = 0;

	ceil_world_read(&world);
	ceil_copy(ret_text, size, world.module_version);
	if (ret_text[0] != '\0' || cudaDriverGetVersion(&version) != cudaSuccess)
		return;
	ceil_append(ret_text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

enum ceil_status ceil_cuda_peek(int ordinal, struct ceil_device_props *ret_props,
                                struct ceil_error *err)
{
	struct ceil_device_props p = {.numa_node = -1};
	struct cudaDeviceProp d;
	enum ceil_status st;

	st = ceil_cuda_status((int)cudaGetDeviceProperties(&d, ordinal), "cudaGetDeviceProperties",
	                      err);
	if (st == CEIL_OK)
		st = read_place(ordinal, &p, err);
	if (st != CEIL_OK)
		return st;
	(void)snprintf(p.label, sizeof(p.label), "gpu%d", ordinal);
	ceil_copy(p.name, sizeof(p.name), d.name);
	uuid_text(&d.uuid, p.uuid, sizeof(p.uuid));
	read_driver(p.driver, sizeof(p.driver));
	p.memory_bytes = d.totalGlobalMem;
	p.l2_bytes = d.l2CacheSize > 0 ? (uint64_t)d.l2CacheSize : 0;
	p.llc_bytes = p.l2_bytes;
	p.cc_major = d.major;
	p.cc_minor = d.minor;
	p.sm_count = d.multiProcessorCount;
	p.copy_engines = d.asyncEngineCount;
	p.memory_bus_bits = d.memoryBusWidth;
	p.integrated = d.integrated != 0;
	/* The fields for clocks are gone from CUDA 13's structure; the attributes stay. */
	p.max_sm_mhz = attribute_mhz(cudaDevAttrClockRate, ordinal);
	p.max_memory_mhz = attribute_mhz(cudaDevAttrMemoryClockRate, ordinal);
	*ret_props = p;
	return CEIL_OK;
}

enum ceil_status ceil_cuda_free_bytes(bool integrated, uint64_t *ret_bytes, struct ceil_error *err)
{
	size_t free_bytes = 0, total_bytes = 0;
	const enum ceil_status st = ceil_cuda_status((int)cudaMemGetInfo(&free_bytes, &total_bytes),
	                                             "cudaMemGetInfo", err);

	if (st == CEIL_OK)
		*ret_bytes = ceil_limits_plan_bytes(
			integrated ? ceil_limits_shared_bytes(free_bytes) : free_bytes);
	return st;
}
