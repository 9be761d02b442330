/* A stand-in for libnvidia-ml.so.1: FAKE_NVML_* variables decide what it answers, at each call. */
#include "harness/telemetry/nvml_abi.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * FAKE_NVML_COUNT=2           GPUs
 * FAKE_NVML_FAIL=name=15,...  these functions return that code; "nvmlDevice*=15" for all of them
 * FAKE_NVML_FIELD_FAIL=185,83 these fields are not supported
 * FAKE_NVML_LOST=1            the handle of this index cannot be had (15)
 * FAKE_NVML_HOLD_MS=500       every reading of utilisation takes so long
 * FAKE_NVML_PIDS=4242,77      compute processes
 * FAKE_NVML_GPM=0             no GPM; GPM_2=75.5: a metric; GPM_FAIL=10: this one is not supported
 * FAKE_NVML_<anything>=n      a value; the defaults stand at the calls
 * Units, codes and forms of text are those of an H200 under driver 580.159.04.
 */
enum { MAX_GPUS = 16, NOT_FOUND = 6, ARGUMENT_VERSION_MISMATCH = 25 };

struct ceil_nv_device {
	unsigned index;
};

/* Protected: no reference goes by name, so that a test can rename a symbol away. */
#define FAKE(name, ...)                                                                            \
	__attribute__((visibility("protected"))) int name(__VA_ARGS__);                            \
	int name(__VA_ARGS__)

static const char *setting(const char *key)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "FAKE_NVML_%s", key);
	return getenv(name);
}

static double value(const char *key, double otherwise)
{
	const char *text = setting(key);

	return text ? strtod(text, NULL) : otherwise;
}

static bool matches(const char *pattern, size_t length, const char *name)
{
	if (length && pattern[length - 1] == '*')
		return strncmp(pattern, name, length - 1) == 0;
	return strncmp(pattern, name, length) == 0 && name[length] == '\0';
}

/* The code that FAKE_NVML_FAIL orders for a function, or 0. */
static int ordered(const char *function)
{
	const char *at = setting("FAIL");
	size_t length;

	while (at && *at) {
		length = strcspn(at, "=,");
		if (matches(at, length, function))
			return at[length] == '=' ? (int)strtol(at + length + 1, NULL, 10)
			                         : CEIL_NV_UNKNOWN;
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return CEIL_NV_OK;
}

static int give_text(const char *function, char *text, unsigned size, const char *format,
                     unsigned index)
{
	char all[96];
	const int code = ordered(function);

	if (code != CEIL_NV_OK)
		return code;
	(void)snprintf(all, sizeof(all), format, index, index);
	if (strlen(all) >= size)
		return CEIL_NV_INSUFFICIENT_SIZE;
	memcpy(text, all, strlen(all) + 1);
	return CEIL_NV_OK;
}

/* A failing call leaves rubbish behind, so that a caller who ignores the code is seen. */
static int give(const char *function, unsigned *ret_value, double v)
{
	const int code = ordered(function);

	*ret_value = code == CEIL_NV_OK ? (unsigned)v : 0;
	return code;
}

static int give_u64(const char *function, uint64_t *ret_value, double v)
{
	const int code = ordered(function);

	*ret_value = code == CEIL_NV_OK ? (uint64_t)v : 0;
	return code;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
	switch (code) {
	case 9:
		return "Driver Not Loaded";
	case 15:
		return "GPU is lost";
	case 18:
		return "Driver/library version mismatch";
	default:
		return "Unknown Error";
	}
}

FAKE(nvmlInit_v2, void)
{
	return ordered(__func__);
}

FAKE(nvmlShutdown, void)
{
	const char *log = setting("SHUTDOWN_LOG");
	FILE *f = log ? fopen(log, "a") : NULL;

	if (f) {
		(void)fputs("shutdown\n", f);
		(void)fclose(f);
	}
	return ordered(__func__);
}

FAKE(nvmlSystemGetDriverVersion, char *text, unsigned size)
{
	return give_text(__func__, text, size, "580.159.04", 0);
}

FAKE(nvmlSystemGetNVMLVersion, char *text, unsigned size)
{
	return give_text(__func__, text, size, "13.580.159.04", 0);
}

FAKE(nvmlSystemGetCudaDriverVersion_v2, int *ret_version)
{
	*ret_version = 13000;
	return ordered(__func__);
}

FAKE(nvmlDeviceGetCount_v2, unsigned *ret_count)
{
	return give(__func__, ret_count, value("COUNT", 1));
}

FAKE(nvmlDeviceGetHandleByIndex_v2, unsigned index, struct ceil_nv_device **ret_dev)
{
	static struct ceil_nv_device devices[MAX_GPUS];

	if (index >= MAX_GPUS)
		return CEIL_NV_UNKNOWN;
	if (value("LOST", -1) >= 0 && index == (unsigned)value("LOST", -1))
		return CEIL_NV_GPU_IS_LOST;
	devices[index].index = index;
	*ret_dev = &devices[index];
	return ordered(__func__);
}

FAKE(nvmlDeviceGetName, struct ceil_nv_device *dev, char *text, unsigned size)
{
	return give_text(__func__, text, size, "NVIDIA H200", dev->index);
}

FAKE(nvmlDeviceGetUUID, struct ceil_nv_device *dev, char *text, unsigned size)
{
	return give_text(__func__, text, size, "GPU-0000000%x-1111-2222-3333-44444444444%x",
	                 dev->index);
}

FAKE(nvmlDeviceGetVbiosVersion, struct ceil_nv_device *dev, char *text, unsigned size)
{
	return give_text(__func__, text, size, "96.00.A5.00.0%u", dev->index);
}

FAKE(nvmlDeviceGetPciInfo_v3, struct ceil_nv_device *dev, struct ceil_nv_pci *ret_pci)
{
	ret_pci->bus = 0x3a + dev->index;
	(void)snprintf(ret_pci->bus_id, sizeof(ret_pci->bus_id), "00000000:%02X:00.0",
	               ret_pci->bus);
	return ordered(__func__);
}

FAKE(nvmlDeviceGetCurrPcieLinkGeneration, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, value("PCIE_GEN", 5));
}

FAKE(nvmlDeviceGetCurrPcieLinkWidth, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, value("PCIE_WIDTH", 16));
}

FAKE(nvmlDeviceGetMaxPcieLinkGeneration, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, 5);
}

FAKE(nvmlDeviceGetMaxPcieLinkWidth, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, 16);
}

FAKE(nvmlDeviceGetMemoryBusWidth, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, 6016);
}

FAKE(nvmlDeviceGetComputeMode, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, value("COMPUTE_MODE", 0));
}

FAKE(nvmlDeviceGetPowerUsage, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, value("POWER_MW", 120500));
}

FAKE(nvmlDeviceGetEnforcedPowerLimit, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, value("LIMIT_MW", 700000));
}

FAKE(nvmlDeviceGetPowerManagementDefaultLimit, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, 700000);
}

FAKE(nvmlDeviceGetTotalEnergyConsumption, struct ceil_nv_device *dev, uint64_t *ret_value)
{
	(void)dev;
	return give_u64(__func__, ret_value, value("ENERGY_MJ", 5000000));
}

FAKE(nvmlDeviceGetCurrentClocksEventReasons, struct ceil_nv_device *dev, uint64_t *ret_value)
{
	(void)dev;
	return give_u64(__func__, ret_value, value("REASONS", 1));
}

FAKE(nvmlDeviceGetCurrentClocksThrottleReasons, struct ceil_nv_device *dev, uint64_t *ret_value)
{
	(void)dev;
	return give_u64(__func__, ret_value, value("OLD_REASONS", 4));
}

static int give_mode(const char *function, unsigned *ret_now, unsigned *ret_pending, double v)
{
	*ret_pending = 0;
	return give(function, ret_now, v);
}

FAKE(nvmlDeviceGetEccMode, struct ceil_nv_device *dev, unsigned *ret_now, unsigned *ret_pending)
{
	(void)dev;
	return give_mode(__func__, ret_now, ret_pending, value("ECC", 1));
}

FAKE(nvmlDeviceGetMigMode, struct ceil_nv_device *dev, unsigned *ret_now, unsigned *ret_pending)
{
	(void)dev;
	return give_mode(__func__, ret_now, ret_pending, value("MIG", 0));
}

FAKE(nvmlDeviceGetClockInfo, struct ceil_nv_device *dev, int type, unsigned *ret_mhz)
{
	(void)dev;
	return give(__func__, ret_mhz, type == CEIL_NV_CLOCK_SM ? value("SM_MHZ", 1980) : 3201);
}

FAKE(nvmlDeviceGetMaxClockInfo, struct ceil_nv_device *dev, int type, unsigned *ret_mhz)
{
	(void)dev;
	return give(__func__, ret_mhz, type == CEIL_NV_CLOCK_SM ? 1980 : 3201);
}

#define MIB          (1024.0 * 1024)
#define TOTAL_MIB    143771
#define RESERVED_MIB 600

FAKE(nvmlDeviceGetMemoryInfo, struct ceil_nv_device *dev, struct ceil_nv_memory *ret_memory)
{
	(void)dev;
	ret_memory->total = (uint64_t)(TOTAL_MIB * MIB);
	ret_memory->used = (uint64_t)((value("USED_MIB", 4) + RESERVED_MIB) * MIB);
	ret_memory->free = ret_memory->total - ret_memory->used;
	return ordered(__func__);
}

FAKE(nvmlDeviceGetMemoryInfo_v2, struct ceil_nv_device *dev, struct ceil_nv_memory_v2 *ret_memory)
{
	(void)dev;
	if (ret_memory->version != 0x2000028)
		return ARGUMENT_VERSION_MISMATCH;
	ret_memory->total = (uint64_t)(TOTAL_MIB * MIB);
	ret_memory->reserved = (uint64_t)(RESERVED_MIB * MIB);
	ret_memory->used = (uint64_t)(value("USED_MIB", 4) * MIB);
	ret_memory->free = ret_memory->total - ret_memory->reserved - ret_memory->used;
	return ordered(__func__);
}

FAKE(nvmlDeviceGetUtilizationRates, struct ceil_nv_device *dev,
     struct ceil_nv_utilization *ret_util)
{
	const double hold_ms = value("HOLD_MS", 0);

	(void)dev;
	if (hold_ms > 0)
		(void)usleep((useconds_t)(hold_ms * 1e3));
	ret_util->memory = 3;
	return give(__func__, &ret_util->gpu, value("UTIL", 0));
}

FAKE(nvmlDeviceGetTemperatureV, struct ceil_nv_device *dev, struct ceil_nv_temperature *ret_temp)
{
	(void)dev;
	if (ret_temp->version != 0x100000c)
		return ARGUMENT_VERSION_MISMATCH;
	ret_temp->temp_c = (int)value("TEMP_C", 31);
	return ordered(__func__);
}

FAKE(nvmlDeviceGetTemperature, struct ceil_nv_device *dev, int sensor, unsigned *ret_c)
{
	(void)dev;
	(void)sensor;
	return give(__func__, ret_c, value("OLD_TEMP_C", 32));
}

FAKE(nvmlDeviceGetTotalEccErrors, struct ceil_nv_device *dev, int type, int counter,
     uint64_t *ret_count)
{
	(void)dev;
	if (counter != CEIL_NV_ECC_VOLATILE)
		return CEIL_NV_NOT_SUPPORTED;
	return give_u64(__func__, ret_count,
	                type == CEIL_NV_ECC_CORRECTED ? value("ECC_CORRECTED", 7)
	                                              : value("ECC_UNCORRECTED", 0));
}

FAKE(nvmlDeviceGetRemappedRows, struct ceil_nv_device *dev, unsigned *ret_corrected,
     unsigned *ret_uncorrected, unsigned *ret_pending, unsigned *ret_failed)
{
	(void)dev;
	*ret_corrected = (unsigned)value("ROWS_CORRECTED", 1);
	*ret_uncorrected = (unsigned)value("ROWS_UNCORRECTED", 0);
	*ret_pending = (unsigned)value("REMAP_PENDING", 0);
	*ret_failed = (unsigned)value("REMAP_FAILED", 0);
	return ordered(__func__);
}

FAKE(nvmlDeviceGetPcieReplayCounter, struct ceil_nv_device *dev, unsigned *ret_value)
{
	(void)dev;
	return give(__func__, ret_value, value("PCIE_REPLAYS", 2));
}

FAKE(nvmlDeviceGetNvLinkErrorCounter, struct ceil_nv_device *dev, unsigned link, int counter,
     uint64_t *ret_count)
{
	(void)dev;
	(void)link;
	return give_u64(__func__, ret_count, counter == CEIL_NV_LINK_REPLAY ? 3 : 0);
}

FAKE(nvmlDeviceGetClock, struct ceil_nv_device *dev, int type, int which, unsigned *ret_mhz)
{
	(void)dev;
	(void)type;
	return give(__func__, ret_mhz,
	            which == CEIL_NV_CLOCK_APP_TARGET ? value("APP_MHZ", 1980) : 1980);
}

/* FAKE_NVML_XIDS=79,48: errors of the first GPU, told once each. */
struct ceil_nv_events {
	struct ceil_nv_device *dev;
	const char *at;
};

FAKE(nvmlEventSetCreate, struct ceil_nv_events **ret_set)
{
	*ret_set = calloc(1, sizeof(**ret_set));
	return ordered(__func__);
}

FAKE(nvmlEventSetFree, struct ceil_nv_events *set)
{
	free(set);
	return ordered(__func__);
}

FAKE(nvmlDeviceRegisterEvents, struct ceil_nv_device *dev, uint64_t types,
     struct ceil_nv_events *set)
{
	if (!set->dev)
		set->dev = dev;
	return types == CEIL_NV_EVENT_XID ? ordered(__func__) : CEIL_NV_NOT_SUPPORTED;
}

FAKE(nvmlEventSetWait_v2, struct ceil_nv_events *set, struct ceil_nv_event *ret_event,
     unsigned wait_ms)
{
	(void)wait_ms;
	if (!set->at)
		set->at = setting("XIDS");
	if (!set->at || !*set->at)
		return CEIL_NV_TIMEOUT;
	ret_event->dev = set->dev;
	ret_event->type = CEIL_NV_EVENT_XID;
	ret_event->data = (uint64_t)strtol(set->at, NULL, 10);
	set->at += strcspn(set->at, ",");
	set->at += *set->at == ',';
	return ordered(__func__);
}

FAKE(nvmlDeviceGetComputeRunningProcesses_v3, struct ceil_nv_device *dev, unsigned *count,
     struct ceil_nv_process *ret_v)
{
	const char *at = setting("PIDS");
	const unsigned room = *count;
	unsigned n = 0;
	char *end = NULL;

	(void)dev;
	while (at && *at) {
		if (n < room)
			ret_v[n].pid = (unsigned)strtoul(at, &end, 10);
		n++;
		at += strcspn(at, ",");
		at += *at == ',';
	}
	*count = n;
	if (ordered(__func__) != CEIL_NV_OK)
		return ordered(__func__);
	return n > room ? CEIL_NV_INSUFFICIENT_SIZE : CEIL_NV_OK;
}

FAKE(nvmlDeviceGetNvLinkState, struct ceil_nv_device *dev, unsigned link, unsigned *ret_active)
{
	(void)dev;
	return give(__func__, ret_active, link < (unsigned)value("LINKS_UP", 18));
}

static bool field_fails(unsigned id)
{
	const char *at = setting("FIELD_FAIL");

	while (at && *at) {
		if ((unsigned)strtoul(at, NULL, 10) == id)
			return true;
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return false;
}

static void set_unsigned(struct ceil_nv_field *f, double v)
{
	f->type = CEIL_NV_UINT;
	f->value.u = (unsigned)v;
}

static void set_u64(struct ceil_nv_field *f, double v)
{
	f->type = CEIL_NV_ULONGLONG;
	f->value.ull = (uint64_t)v;
}

static void give_field(struct ceil_nv_field *f)
{
	f->ret = field_fails(f->id) ? CEIL_NV_NOT_SUPPORTED : CEIL_NV_OK;
	switch (f->id) {
	case CEIL_NV_FI_POWER_CAP:
		set_u64(f, value("CAP_NS", 1000));
		break;
	case CEIL_NV_FI_THERMAL:
		set_u64(f, value("OLD_THERMAL_NS", 2000));
		break;
	case CEIL_NV_FI_SW_THERMAL:
		set_u64(f, value("THERMAL_NS", 3000));
		break;
	case CEIL_NV_FI_HW_THERMAL:
		set_u64(f, value("HW_THERMAL_NS", 4000));
		break;
	case CEIL_NV_FI_HW_BRAKE:
		set_u64(f, value("HW_BRAKE_NS", 5000));
		break;
	case CEIL_NV_FI_ENERGY:
		set_u64(f, value("FIELD_ENERGY_MJ", 6000000));
		break;
	case CEIL_NV_FI_LINK_COUNT:
		set_unsigned(f, value("LINKS", 18));
		break;
	case CEIL_NV_FI_LINK_REPLAY:
		set_u64(f, value("LINK_REPLAYS", 0));
		break;
	case CEIL_NV_FI_LINK_RECOVERY:
	case CEIL_NV_FI_LINK_CRC:
		set_u64(f, 0);
		break;
	case CEIL_NV_FI_LINK_SPEED:
		set_unsigned(f, 25781);
		break;
	case CEIL_NV_FI_C2C_COUNT:
		set_unsigned(f, value("C2C_LINKS", 0));
		break;
	case CEIL_NV_FI_C2C_STATUS:
		set_unsigned(f, f->scope < (unsigned)value("C2C_UP", 10));
		break;
	case CEIL_NV_FI_C2C_SPEED:
		set_unsigned(f, 44712);
		break;
	case CEIL_NV_FI_ONE_LINK_SPEED:
		set_unsigned(f, 26562);
		break;
	case CEIL_NV_FI_POWER_AVERAGE:
		set_unsigned(f, value("AVERAGE_MW", 121500));
		break;
	case CEIL_NV_FI_POWER_INSTANT:
		set_unsigned(f, value("INSTANT_MW", 122500));
		break;
	case CEIL_NV_FI_PCIE_TX_BYTES:
		set_u64(f, value("TX_BYTES", 1000));
		break;
	case CEIL_NV_FI_PCIE_RX_BYTES:
		set_u64(f, value("RX_BYTES", 2000));
		break;
	default:
		f->ret = CEIL_NV_NOT_SUPPORTED;
	}
}

FAKE(nvmlDeviceGetFieldValues, struct ceil_nv_device *dev, int count, struct ceil_nv_field *v)
{
	int i;

	(void)dev;
	if (ordered(__func__) != CEIL_NV_OK)
		return ordered(__func__);
	for (i = 0; i < count; i++)
		give_field(&v[i]);
	return CEIL_NV_OK;
}

/* ---- samples of the driver's own, PCIe */

FAKE(nvmlDeviceGetSamples, struct ceil_nv_device *dev, int type, uint64_t after_us,
     int *ret_value_type, unsigned *count, struct ceil_nv_sample *ret_v)
{
	const unsigned there = (unsigned)value("SAMPLES", 3);

	(void)dev;
	if (ordered(__func__) != CEIL_NV_OK)
		return ordered(__func__);
	if (type != CEIL_NV_GPU_UTILIZATION_SAMPLES)
		return CEIL_NV_NOT_SUPPORTED;
	if (there == 0 || after_us >= 3000)
		return NOT_FOUND;
	*ret_value_type = CEIL_NV_UINT;
	*count = there < *count ? there : *count;
	for (unsigned i = 0; i < *count; i++) {
		ret_v[i].time_us = 1000 * (i + 1);
		ret_v[i].value.u = (unsigned)value("SAMPLE", 60) + 10 * i;
	}
	return CEIL_NV_OK;
}

FAKE(nvmlDeviceGetPcieThroughput, struct ceil_nv_device *dev, int counter, unsigned *ret_kb_s)
{
	(void)dev;
	return give(__func__, ret_kb_s, counter == CEIL_NV_PCIE_TX ? 2000000 : 50000000);
}

/* ---- GPM: a sample is the time at which it was taken */

struct ceil_nv_gpm_sample {
	uint64_t at_us;
};

static uint64_t now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

FAKE(nvmlGpmQueryDeviceSupport, struct ceil_nv_device *dev, struct ceil_nv_gpm_support *s)
{
	(void)dev;
	if (s->version != CEIL_NV_GPM_VERSION)
		return ARGUMENT_VERSION_MISMATCH;
	s->supported = (unsigned)value("GPM", 1);
	return ordered(__func__);
}

FAKE(nvmlGpmSampleAlloc, struct ceil_nv_gpm_sample **ret_sample)
{
	*ret_sample = calloc(1, sizeof(**ret_sample));
	return *ret_sample ? ordered(__func__) : CEIL_NV_UNKNOWN;
}

FAKE(nvmlGpmSampleFree, struct ceil_nv_gpm_sample *sample)
{
	free(sample);
	return ordered(__func__);
}

FAKE(nvmlGpmSampleGet, struct ceil_nv_device *dev, struct ceil_nv_gpm_sample *sample)
{
	(void)dev;
	sample->at_us = now_us();
	return ordered(__func__);
}

static bool metric_fails(unsigned id)
{
	return (unsigned)value("GPM_FAIL", 0) == id;
}

/* Over less than 100 ms an H200 gives 0, and no number for memory, and says that all is well. */
FAKE(nvmlGpmMetricsGet, struct ceil_nv_gpm_get *get)
{
	const bool soon = get->to->at_us < get->from->at_us + 100000;

	if (get->version != CEIL_NV_GPM_VERSION)
		return ARGUMENT_VERSION_MISMATCH;
	for (unsigned i = 0; i < get->count; i++) {
		struct ceil_nv_gpm_metric *m = &get->metric[i];
		char key[24];

		(void)snprintf(key, sizeof(key), "GPM_%u", m->id);
		m->ret = metric_fails(m->id) ? CEIL_NV_NOT_SUPPORTED : CEIL_NV_OK;
		m->value = soon ? 0 : value(key, m->id);
		if (soon && m->id == CEIL_NV_GPM_DRAM)
			m->value = strtod("nan", NULL);
	}
	return ordered(__func__);
}
