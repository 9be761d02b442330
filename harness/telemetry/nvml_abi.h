/* The part of NVML's binary interface that is used here, so that no nvml.h is needed to build. */
#ifndef CEIL_NVML_ABI_H
#define CEIL_NVML_ABI_H

#include <stdint.h>

/*
 * Layouts and numbers are those of NVIDIA's nvml.h 12.9 to 13.3 on LP64 (x86-64, aarch64), read
 * 2026-11-30. Functions return nvmlReturn_t, a plain int here. A struct that has a version wants
 * sizeof | version << 24 in it.
 */
struct ceil_nv_device; /* nvmlDevice_t points to it; opaque */
struct ceil_nv_events; /* nvmlEventSet_t points to it; opaque */

enum ceil_nv_return {
	CEIL_NV_OK = 0,
	CEIL_NV_NOT_SUPPORTED = 3,
	CEIL_NV_NO_PERMISSION = 4,
	CEIL_NV_INSUFFICIENT_SIZE = 7,
	CEIL_NV_TIMEOUT = 10,
	CEIL_NV_GPU_IS_LOST = 15,
	CEIL_NV_UNKNOWN = 999
};

enum ceil_nv_clock { CEIL_NV_CLOCK_SM = 1, CEIL_NV_CLOCK_MEMORY = 2 };
enum ceil_nv_clock_id { CEIL_NV_CLOCK_APP_TARGET = 1, CEIL_NV_CLOCK_APP_DEFAULT = 2 };
/* Data link layer of one NVLink. */
enum ceil_nv_link_error {
	CEIL_NV_LINK_REPLAY = 0,
	CEIL_NV_LINK_RECOVERY = 1,
	CEIL_NV_LINK_CRC_FLIT = 2
};
enum ceil_nv_ecc { CEIL_NV_ECC_CORRECTED = 0, CEIL_NV_ECC_UNCORRECTED = 1 };
enum ceil_nv_ecc_counter { CEIL_NV_ECC_VOLATILE = 0 }; /* since the driver was loaded */
enum ceil_nv_type {
	CEIL_NV_DOUBLE,
	CEIL_NV_UINT,
	CEIL_NV_ULONG,
	CEIL_NV_ULONGLONG,
	CEIL_NV_LONGLONG,
	CEIL_NV_INT,
	CEIL_NV_USHORT
};

/* Field ids. 269 to 271 came with driver 570 (565 had them as 251 to 253). */
enum ceil_nv_field_id {
	CEIL_NV_FI_POWER_CAP = 74,    /* ns held back by the power cap */
	CEIL_NV_FI_THERMAL = 75,      /* ns held back by temperature */
	CEIL_NV_FI_ENERGY = 83,       /* mJ */
	CEIL_NV_FI_LINK_SPEED = 90,   /* NVLink: MB/s of a link, when all are alike */
	CEIL_NV_FI_LINK_COUNT = 91,   /* NVLink: links of the device, active or not */
	CEIL_NV_FI_LINK_REPLAY = 161, /* NVLink: errors of link scope, as the next two */
	CEIL_NV_FI_LINK_RECOVERY = 162,
	CEIL_NV_FI_LINK_CRC = 163,
	CEIL_NV_FI_ONE_LINK_SPEED = 164, /* NVLink: MB/s of link scope */
	CEIL_NV_FI_C2C_COUNT = 170,      /* NVLink-C2C: links of the device */
	CEIL_NV_FI_C2C_STATUS = 171,     /* of link scope: 1 active */
	CEIL_NV_FI_C2C_SPEED = 172,      /* of link scope: MB/s, one direction */
	CEIL_NV_FI_POWER_AVERAGE = 185,  /* mW, mean over 1 s */
	CEIL_NV_FI_POWER_INSTANT = 186,  /* mW */
	CEIL_NV_FI_PCIE_TX_BYTES = 197,  /* sent by the GPU; it wraps */
	CEIL_NV_FI_PCIE_RX_BYTES = 198,  /* received; it wraps */
	CEIL_NV_FI_SW_THERMAL = 269,     /* ns */
	CEIL_NV_FI_HW_THERMAL = 270,     /* ns */
	CEIL_NV_FI_HW_BRAKE = 271        /* ns of external power brake */
};

/* Bits of the clocks event reasons. */
enum ceil_nv_reason {
	CEIL_NV_REASON_IDLE = 0x1,
	CEIL_NV_REASON_APP_CLOCKS = 0x2,
	CEIL_NV_REASON_SW_POWER_CAP = 0x4,
	CEIL_NV_REASON_HW_SLOWDOWN = 0x8, /* also seen for an instant when clocks change */
	CEIL_NV_REASON_SYNC_BOOST = 0x10,
	CEIL_NV_REASON_SW_THERMAL = 0x20,
	CEIL_NV_REASON_HW_THERMAL = 0x40,
	CEIL_NV_REASON_HW_BRAKE = 0x80,
	CEIL_NV_REASON_DISPLAY_CLOCKS = 0x100
};

struct ceil_nv_utilization {
	unsigned gpu, memory; /* percent */
};
struct ceil_nv_memory {
	uint64_t total, free, used; /* used: with the driver's reserve */
};
struct ceil_nv_memory_v2 {
	unsigned version;
	uint64_t total, reserved, free, used;
};
struct ceil_nv_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};
struct ceil_nv_process {
	unsigned pid;
	uint64_t used_bytes;
	unsigned gpu_instance, compute_instance;
};
union ceil_nv_value {
	double d;
	int i;
	unsigned u;
	unsigned long ul;
	uint64_t ull;
	int64_t ll;
	unsigned short us;
};
struct ceil_nv_field {
	unsigned id, scope;
	int64_t time_us, latency_us;
	int type, ret; /* ret: of this field alone; no value unless it is 0 */
	union ceil_nv_value value;
};
struct ceil_nv_temperature {
	unsigned version;
	int sensor, temp_c;
};
/* Version 1 of the call leaves the last two alone. */
struct ceil_nv_event {
	struct ceil_nv_device *dev;
	uint64_t type, data; /* data: the number of an Xid, 999 unknown */
	unsigned gpu_instance, compute_instance;
};
#define CEIL_NV_EVENT_XID UINT64_C(8) /* the type of critical Xid errors */

/* Samples that the driver keeps by itself. */
enum ceil_nv_pcie { CEIL_NV_PCIE_TX = 0, CEIL_NV_PCIE_RX = 1 };
enum ceil_nv_sampling { CEIL_NV_GPU_UTILIZATION_SAMPLES = 1 };
struct ceil_nv_sample {
	uint64_t time_us;
	union ceil_nv_value value;
};

/*
 * GPM, Hopper and newer. The number of metrics grows by release (98 to 333 so far) while the
 * version stays 1, and the library reads count of them: an array of one's own size is right.
 */
enum ceil_nv_gpm_id {
	CEIL_NV_GPM_GRAPHICS = 1, /* percent, as all up to FP16 */
	CEIL_NV_GPM_SM = 2,
	CEIL_NV_GPM_OCCUPANCY = 3,
	CEIL_NV_GPM_TENSOR = 5,
	CEIL_NV_GPM_DRAM = 10,
	CEIL_NV_GPM_FP64 = 11,
	CEIL_NV_GPM_FP32 = 12,
	CEIL_NV_GPM_FP16 = 13,
	CEIL_NV_GPM_PCIE_TX = 20, /* MiB/s, as all below */
	CEIL_NV_GPM_PCIE_RX = 21,
	CEIL_NV_GPM_NVLINK_RX = 60,
	CEIL_NV_GPM_NVLINK_TX = 61
};
enum { CEIL_NV_GPM_VERSION = 1, CEIL_NV_GPM_MAX = 16 };
struct ceil_nv_gpm_sample; /* nvmlGpmSample_t points to it; opaque */
struct ceil_nv_gpm_support {
	unsigned version, supported;
};
struct ceil_nv_gpm_metric {
	unsigned id;
	int ret; /* of this metric alone */
	double value;
	char *short_name, *long_name, *unit;
};
struct ceil_nv_gpm_get {
	unsigned version, count;
	struct ceil_nv_gpm_sample *from, *to;
	struct ceil_nv_gpm_metric metric[CEIL_NV_GPM_MAX];
};

#define CEIL_NV_VERSION(type, number) ((unsigned)sizeof(type) | (unsigned)(number) << 24)

_Static_assert(sizeof(struct ceil_nv_utilization) == 8, "nvmlUtilization_t");
_Static_assert(sizeof(struct ceil_nv_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct ceil_nv_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct ceil_nv_pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct ceil_nv_process) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(struct ceil_nv_field) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct ceil_nv_temperature) == 12, "nvmlTemperature_v1_t");
_Static_assert(sizeof(struct ceil_nv_event) == 32, "nvmlEventData_t");
_Static_assert(sizeof(struct ceil_nv_sample) == 16, "nvmlSample_t");
_Static_assert(sizeof(struct ceil_nv_gpm_support) == 8, "nvmlGpmSupport_t");
_Static_assert(sizeof(struct ceil_nv_gpm_metric) == 40, "nvmlGpmMetric_t");

#endif
