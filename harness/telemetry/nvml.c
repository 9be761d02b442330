/* NVML at run time: opened by dlopen, read value by value, absent where it does not answer. */
#include "harness/telemetry/nvml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/telemetry/nvml_inside.h"

/* One row of the symbol table; the names newest first. */
#define SYMBOL(required_, member, ...)                                                             \
	{                                                                                          \
		.names = {__VA_ARGS__}, .offset = offsetof(struct ceil_nvml_api, member),          \
		.required = (required_)                                                            \
	}

/* Only same-signature names share a row. */
static const struct ceil_symbol symbols[] = {
	SYMBOL(true, init, "nvmlInit_v2"),
	SYMBOL(true, shutdown, "nvmlShutdown"),
	SYMBOL(true, error_string, "nvmlErrorString"),
	SYMBOL(true, count, "nvmlDeviceGetCount_v2"),
	SYMBOL(true, by_index, "nvmlDeviceGetHandleByIndex_v2"),
	SYMBOL(false, driver_version, "nvmlSystemGetDriverVersion"),
	SYMBOL(false, nvml_version, "nvmlSystemGetNVMLVersion"),
	SYMBOL(false, cuda_version, "nvmlSystemGetCudaDriverVersion_v2"),
	SYMBOL(false, name, "nvmlDeviceGetName"),
	SYMBOL(false, uuid, "nvmlDeviceGetUUID"),
	SYMBOL(false, vbios, "nvmlDeviceGetVbiosVersion"),
	SYMBOL(false, pci, "nvmlDeviceGetPciInfo_v3"),
	SYMBOL(false, pcie_gen, "nvmlDeviceGetCurrPcieLinkGeneration"),
	SYMBOL(false, pcie_width, "nvmlDeviceGetCurrPcieLinkWidth"),
	SYMBOL(false, pcie_max_gen, "nvmlDeviceGetMaxPcieLinkGeneration"),
	SYMBOL(false, pcie_max_width, "nvmlDeviceGetMaxPcieLinkWidth"),
	SYMBOL(false, bus_width, "nvmlDeviceGetMemoryBusWidth"),
	SYMBOL(false, compute_mode, "nvmlDeviceGetComputeMode"),
	SYMBOL(false, power, "nvmlDeviceGetPowerUsage"),
	SYMBOL(false, enforced_limit, "nvmlDeviceGetEnforcedPowerLimit"),
	SYMBOL(false, default_limit, "nvmlDeviceGetPowerManagementDefaultLimit"),
	SYMBOL(false, energy, "nvmlDeviceGetTotalEnergyConsumption"),
	SYMBOL(false, reasons, "nvmlDeviceGetCurrentClocksEventReasons",
               "nvmlDeviceGetCurrentClocksThrottleReasons"),
	SYMBOL(false, ecc_mode, "nvmlDeviceGetEccMode"),
	SYMBOL(false, mig_mode, "nvmlDeviceGetMigMode"),
	SYMBOL(false, clock, "nvmlDeviceGetClockInfo"),
	SYMBOL(false, max_clock, "nvmlDeviceGetMaxClockInfo"),
	SYMBOL(false, memory, "nvmlDeviceGetMemoryInfo"),
	SYMBOL(false, memory_v2, "nvmlDeviceGetMemoryInfo_v2"),
	SYMBOL(false, utilization, "nvmlDeviceGetUtilizationRates"),
	SYMBOL(false, temperature_v, "nvmlDeviceGetTemperatureV"),
	SYMBOL(false, temperature, "nvmlDeviceGetTemperature"),
	SYMBOL(false, ecc_errors, "nvmlDeviceGetTotalEccErrors"),
	SYMBOL(false, processes, "nvmlDeviceGetComputeRunningProcesses_v3",
               "nvmlDeviceGetComputeRunningProcesses_v2"),
	SYMBOL(false, fields, "nvmlDeviceGetFieldValues"),
	SYMBOL(false, link_state, "nvmlDeviceGetNvLinkState"),
	SYMBOL(false, link_errors, "nvmlDeviceGetNvLinkErrorCounter"),
	SYMBOL(false, pcie_replays, "nvmlDeviceGetPcieReplayCounter"),
	SYMBOL(false, remapped_rows, "nvmlDeviceGetRemappedRows"),
	SYMBOL(false, clock_of, "nvmlDeviceGetClock"),
	SYMBOL(false, events_create, "nvmlEventSetCreate"),
	SYMBOL(false, events_free, "nvmlEventSetFree"),
	SYMBOL(false, events_register, "nvmlDeviceRegisterEvents"),
	SYMBOL(false, event_wait, "nvmlEventSetWait_v2", "nvmlEventSetWait"),
	SYMBOL(false, samples, "nvmlDeviceGetSamples"),
	SYMBOL(false, pcie_rate, "nvmlDeviceGetPcieThroughput"),
	SYMBOL(false, gpm_support, "nvmlGpmQueryDeviceSupport"),
	SYMBOL(false, gpm_alloc, "nvmlGpmSampleAlloc"),
	SYMBOL(false, gpm_free, "nvmlGpmSampleFree"),
	SYMBOL(false, gpm_sample, "nvmlGpmSampleGet"),
	SYMBOL(false, gpm_get, "nvmlGpmMetricsGet"),
};

/* The name without .1 exists only with a development package. */
static const char *const sonames[] = {"libnvidia-ml.so.1", "libnvidia-ml.so", NULL};

static const struct ceil_library library = {
	.title = "NVML",
	.override = "GPUCEIL_LIB_NVML",
	.sonames = sonames,
	.remedy = "it comes with the NVIDIA driver; in a container: "
		  "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(*symbols),
};

/* Reads "00000000:3B:00.0", "0000:3b:00.0" and "3b:00.0". */
static struct ceil_nvml_address address_of(const char *text)
{
	struct ceil_nvml_address a = {0};
	int used = 0;

	if (!text)
		return a;
	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &a.domain, &a.bus, &a.device, &a.function, &used) <
	    4) {
		a.domain = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &a.bus, &a.device, &a.function, &used) < 3)
			return a;
	}
	a.known = text[used] == '\0';
	return a;
}

static bool same_address(struct ceil_nvml_address a, struct ceil_nvml_address b)
{
	return a.known && b.known && a.domain == b.domain && a.bus == b.bus &&
	       a.device == b.device && a.function == b.function;
}

/* ---- One value each: NAN, -1 or "" if the function is not there or does not answer. */

double ceil_nvml_get_unsigned(const struct ceil_nvml_gpu *g, ceil_nv_unsigned_fn fn)
{
	unsigned value = 0;

	return fn && fn(g->dev, &value) == CEIL_NV_OK ? (double)value : (double)NAN;
}

static int read_int(const struct ceil_nvml_gpu *g, ceil_nv_unsigned_fn fn)
{
	unsigned value = 0;

	return fn && fn(g->dev, &value) == CEIL_NV_OK && value < 1u << 30 ? (int)value : -1;
}

static double read_u64(const struct ceil_nvml_gpu *g, ceil_nv_u64_fn fn)
{
	uint64_t value = 0;

	return fn && fn(g->dev, &value) == CEIL_NV_OK ? (double)value : (double)NAN;
}

static double read_clock(const struct ceil_nvml_gpu *g, ceil_nv_clock_fn fn, int type)
{
	unsigned mhz = 0;

	return fn && fn(g->dev, type, &mhz) == CEIL_NV_OK ? (double)mhz : (double)NAN;
}

static int read_mode(const struct ceil_nvml_gpu *g, ceil_nv_mode_fn fn)
{
	unsigned now = 0, pending = 0;

	return fn && fn(g->dev, &now, &pending) == CEIL_NV_OK ? now != 0 : -1;
}

double ceil_nvml_get_ecc(const struct ceil_nvml_gpu *g, int type)
{
	const ceil_nv_ecc_fn fn = g->api->ecc_errors;
	uint64_t count = 0;

	return fn && fn(g->dev, type, CEIL_NV_ECC_VOLATILE, &count) == CEIL_NV_OK ? (double)count
	                                                                          : (double)NAN;
}

static void read_text(const struct ceil_nvml_gpu *g, ceil_nv_text_fn fn, char *ret_text,
                      size_t size)
{
	char text[96] = "";

	if (fn && fn(g->dev, text, sizeof(text)) == CEIL_NV_OK)
		ceil_copy(ret_text, size, text);
}

static double read_temperature(const struct ceil_nvml_gpu *g)
{
	const struct ceil_nvml_api *api = g->api;
	struct ceil_nv_temperature t = {.version = CEIL_NV_VERSION(t, 1)};
	unsigned c = 0;

	if (api->temperature_v && api->temperature_v(g->dev, &t) == CEIL_NV_OK)
		return t.temp_c;
	if (api->temperature && api->temperature(g->dev, 0, &c) == CEIL_NV_OK)
		return c;
	return (double)NAN;
}

static void read_utilization(const struct ceil_nvml_gpu *g, double *ret_gpu, double *ret_memory)
{
	struct ceil_nv_utilization u = {0};
	const ceil_nv_utilization_fn fn = g->api->utilization;

	if (!fn || fn(g->dev, &u) != CEIL_NV_OK)
		return;
	*ret_gpu = u.gpu / 100.0;
	*ret_memory = u.memory / 100.0;
}

/* Version 1 counts the driver's reserve as used: of it only the total is taken. */
static void read_memory(const struct ceil_nvml_gpu *g, struct ceil_nvml_info *info)
{
	const struct ceil_nvml_api *api = g->api;
	struct ceil_nv_memory_v2 two = {.version = CEIL_NV_VERSION(two, 2)};
	struct ceil_nv_memory one = {0};

	if (api->memory_v2 && api->memory_v2(g->dev, &two) == CEIL_NV_OK) {
		info->memory_total_bytes = (double)two.total;
		info->memory_used_bytes = (double)two.used;
	} else if (api->memory && api->memory(g->dev, &one) == CEIL_NV_OK) {
		info->memory_total_bytes = (double)one.total;
	}
}

static double field_value(const struct ceil_nv_field *f)
{
	if (f->ret != CEIL_NV_OK)
		return (double)NAN;
	switch (f->type) {
	case CEIL_NV_DOUBLE:
		return f->value.d;
	case CEIL_NV_UINT:
		return f->value.u;
	case CEIL_NV_ULONG:
		return (double)f->value.ul;
	case CEIL_NV_ULONGLONG:
		return (double)f->value.ull;
	case CEIL_NV_LONGLONG:
		return (double)f->value.ll;
	case CEIL_NV_INT:
		return f->value.i;
	case CEIL_NV_USHORT:
		return f->value.us;
	default:
		return (double)NAN;
	}
}

void ceil_nvml_get_fields(const struct ceil_nvml_gpu *g, const unsigned *id, int count,
                          unsigned scope, double *ret_value)
{
	struct ceil_nv_field f[CEIL_NVML_FIELDS];
	int i;

	memset(f, 0, sizeof(f));
	for (i = 0; i < count; i++) {
		f[i].id = id[i];
		f[i].scope = scope;
		f[i].ret = CEIL_NV_UNKNOWN; /* stays if the library does not reach this field */
		ret_value[i] = (double)NAN;
	}
	if (!g->api->fields || g->api->fields(g->dev, count, f) != CEIL_NV_OK)
		return;
	for (i = 0; i < count; i++)
		ret_value[i] = field_value(&f[i]);
}

static double either(double first, double second)
{
	return isnan(first) ? second : first;
}

/* MB/s (1e6) of one link. */
static double link_speed(const struct ceil_nvml_gpu *g, unsigned link)
{
	static const unsigned one = CEIL_NV_FI_ONE_LINK_SPEED, common = CEIL_NV_FI_LINK_SPEED;
	double speed;

	ceil_nvml_get_fields(g, &one, 1, link, &speed);
	if (isnan(speed))
		ceil_nvml_get_fields(g, &common, 1, 0, &speed);
	return speed;
}

static void read_links(const struct ceil_nvml_gpu *g, struct ceil_nvml_info *info)
{
	static const unsigned id = CEIL_NV_FI_LINK_COUNT;
	double present, mb_s = 0;
	unsigned link, active;
	int count = 0;

	ceil_nvml_get_fields(g, &id, 1, 0, &present);
	if (!g->api->link_state || !(present <= CEIL_NVML_LINKS))
		return;
	for (link = 0; link < (unsigned)present; link++) {
		active = 0;
		if (g->api->link_state(g->dev, link, &active) != CEIL_NV_OK || !active)
			continue;
		count++;
		mb_s += link_speed(g, link);
	}
	info->nvlink_count = count;
	if (count)
		info->nvlink_gb_s = mb_s / 1e3;
}

/* GH200 has ten links of 44.7 GB/s: 447 of the 450 GB/s that are published for a direction. */
static void read_c2c(const struct ceil_nvml_gpu *g, struct ceil_nvml_info *info)
{
	enum { STATUS, SPEED, COUNT };
	static const unsigned count_id = CEIL_NV_FI_C2C_COUNT;
	static const unsigned id[COUNT] = {CEIL_NV_FI_C2C_STATUS, CEIL_NV_FI_C2C_SPEED};
	double links, value[COUNT], mb_s = 0;

	ceil_nvml_get_fields(g, &count_id, 1, 0, &links);
	if (!(links <= CEIL_NVML_LINKS))
		return;
	for (unsigned link = 0; link < (unsigned)links; link++) {
		ceil_nvml_get_fields(g, id, COUNT, link, value);
		if (value[STATUS] == 1.0 && value[SPEED] > 0.0)
			mb_s += value[SPEED];
	}
	if (mb_s > 0.0)
		info->c2c_gb_s = mb_s / 1e3;
}

/* ---- Opening */

static enum ceil_status failed(const struct ceil_nvml *n, const char *call, int code,
                               struct ceil_error *err)
{
	const char *text = n->api.error_string(code);

	return ceil_fail(err, CEIL_E_DEVICE, "%s: %s (error %d, %s)", call, text ? text : "?", code,
	                 n->lib.path);
}

static void identify(struct ceil_nvml_gpu *g)
{
	struct ceil_nv_pci pci;

	memset(&pci, 0, sizeof(pci));
	read_text(g, g->api->uuid, g->uuid, sizeof(g->uuid));
	if (!g->api->pci || g->api->pci(g->dev, &pci) != CEIL_NV_OK)
		return;
	pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
	g->address = address_of(pci.bus_id);
	if (g->address.known)
		ceil_append(g->pci_bus_id, sizeof(g->pci_bus_id), "%04x:%02x:%02x.%x",
		            g->address.domain, g->address.bus, g->address.device,
		            g->address.function);
}

static enum ceil_status find_gpus(struct ceil_nvml *n, struct ceil_error *err)
{
	unsigned count = 0, i;
	int code = n->api.count(&count);

	if (code != CEIL_NV_OK)
		return failed(n, "nvmlDeviceGetCount_v2", code, err);
	if (count > 1024)
		return ceil_fail(err, CEIL_E_DEVICE, "NVML counts %u GPUs, at most 1024", count);
	if (count == 0)
		return CEIL_OK;
	n->gpu = ceil_alloc(count, sizeof(*n->gpu), err);
	if (!n->gpu)
		return CEIL_E_NOMEM;
	n->count = (int)count;
	for (i = 0; i < count; i++) {
		n->gpu[i].api = &n->api;
		n->gpu[i].index = (int)i;
		if (n->api.by_index(i, &n->gpu[i].dev) == CEIL_NV_OK)
			identify(&n->gpu[i]);
		else
			n->gpu[i].dev = NULL; /* lost, or not ours: it keeps its index */
	}
	return CEIL_OK;
}

static enum ceil_status start(struct ceil_nvml *n, struct ceil_error *err)
{
	enum ceil_status status = ceil_dynlib_open(&library, &n->api, &n->lib, err);
	int code;

	if (status != CEIL_OK)
		return status;
	code = n->api.init();
	if (code != CEIL_NV_OK)
		return failed(n, "nvmlInit_v2", code, err);
	n->started = true;
	if (!n->api.driver_version ||
	    n->api.driver_version(n->driver, sizeof(n->driver)) != CEIL_NV_OK)
		ceil_copy(n->driver, sizeof(n->driver), "");
	if (!n->api.nvml_version ||
	    n->api.nvml_version(n->version, sizeof(n->version)) != CEIL_NV_OK)
		ceil_copy(n->version, sizeof(n->version), "");
	return find_gpus(n, err);
}

enum ceil_status ceil_nvml_open(struct ceil_nvml **ret_nvml, struct ceil_error *err)
{
	struct ceil_nvml *n = ceil_alloc(1, sizeof(*n), err);
	enum ceil_status status;

	if (!n)
		return CEIL_E_NOMEM;
	status = start(n, err);
	if (status != CEIL_OK) {
		ceil_nvml_close(n);
		return status;
	}
	*ret_nvml = n;
	return CEIL_OK;
}

void ceil_nvml_close(struct ceil_nvml *nvml)
{
	if (!nvml)
		return;
	if (nvml->started)
		(void)nvml->api.shutdown(); /* nothing can be done about a failure */
	ceil_dynlib_close(&nvml->lib);
	free(nvml->gpu);
	free(nvml);
}

const char *ceil_nvml_path(const struct ceil_nvml *nvml)
{
	return nvml->lib.path;
}

const char *ceil_nvml_version(const struct ceil_nvml *nvml)
{
	return nvml->version;
}

const char *ceil_nvml_driver(const struct ceil_nvml *nvml)
{
	return nvml->driver;
}

int ceil_nvml_cuda(const struct ceil_nvml *nvml)
{
	int version = 0;

	if (!nvml->api.cuda_version || nvml->api.cuda_version(&version) != CEIL_NV_OK)
		return 0;
	return version;
}

int ceil_nvml_count(const struct ceil_nvml *nvml)
{
	return nvml->count;
}

struct ceil_nvml_gpu *ceil_nvml_at(struct ceil_nvml *nvml, int index)
{
	return index >= 0 && index < nvml->count ? &nvml->gpu[index] : NULL;
}

struct ceil_nvml_gpu *ceil_nvml_find(struct ceil_nvml *nvml, const char *uuid,
                                     const char *pci_bus_id)
{
	const struct ceil_nvml_address address = address_of(pci_bus_id);
	int i;

	for (i = 0; uuid && *uuid && i < nvml->count; i++) {
		if (strcmp(nvml->gpu[i].uuid, uuid) == 0)
			return &nvml->gpu[i];
	}
	for (i = 0; i < nvml->count; i++) {
		if (same_address(nvml->gpu[i].address, address))
			return &nvml->gpu[i];
	}
	return NULL;
}

/* ---- Reading */

static const struct ceil_nvml_info no_info = {
	.index = -1,
	.ecc = -1,
	.mig = -1,
	.compute_mode = -1,
	.processes = -1,
	.pcie_gen = -1,
	.pcie_width = -1,
	.pcie_max_gen = -1,
	.pcie_max_width = -1,
	.nvlink_count = -1,
	.nvlink_gb_s = (double)NAN,
	.c2c_gb_s = (double)NAN,
	.max_sm_mhz = (double)NAN,
	.max_memory_mhz = (double)NAN,
	.power_limit_w = (double)NAN,
	.power_default_w = (double)NAN,
	.memory_total_bytes = (double)NAN,
	.memory_used_bytes = (double)NAN,
	.gpu_util_ratio = (double)NAN,
	.bus_bits = -1,
};

void ceil_nvml_info(struct ceil_nvml_gpu *gpu, struct ceil_nvml_info *ret_info)
{
	const struct ceil_nvml_api *api = gpu ? gpu->api : NULL;
	double unused;

	*ret_info = no_info;
	if (!gpu)
		return;
	ret_info->index = gpu->index;
	ceil_copy(ret_info->uuid, sizeof(ret_info->uuid), gpu->uuid);
	ceil_copy(ret_info->pci_bus_id, sizeof(ret_info->pci_bus_id), gpu->pci_bus_id);
	if (!gpu->dev)
		return;
	read_text(gpu, api->name, ret_info->name, sizeof(ret_info->name));
	read_text(gpu, api->vbios, ret_info->vbios, sizeof(ret_info->vbios));
	ret_info->ecc = read_mode(gpu, api->ecc_mode);
	ret_info->mig = read_mode(gpu, api->mig_mode);
	ret_info->compute_mode = read_int(gpu, api->compute_mode);
	ret_info->processes = ceil_nvml_pids(gpu, /* ret_pid= */ NULL, /* cap= */ 0);
	ret_info->pcie_gen = read_int(gpu, api->pcie_gen);
	ret_info->pcie_width = read_int(gpu, api->pcie_width);
	ret_info->pcie_max_gen = read_int(gpu, api->pcie_max_gen);
	ret_info->pcie_max_width = read_int(gpu, api->pcie_max_width);
	ret_info->bus_bits = read_int(gpu, api->bus_width);
	ret_info->max_sm_mhz = read_clock(gpu, api->max_clock, CEIL_NV_CLOCK_SM);
	ret_info->max_memory_mhz = read_clock(gpu, api->max_clock, CEIL_NV_CLOCK_MEMORY);
	ret_info->power_limit_w = ceil_nvml_get_unsigned(gpu, api->enforced_limit) / 1e3;
	ret_info->power_default_w = ceil_nvml_get_unsigned(gpu, api->default_limit) / 1e3;
	read_memory(gpu, ret_info);
	read_links(gpu, ret_info);
	read_c2c(gpu, ret_info);
	read_utilization(gpu, &ret_info->gpu_util_ratio, &unused);
}

static const struct ceil_nvml_state no_state = {
	.sm_mhz = (double)NAN,
	.memory_mhz = (double)NAN,
	.power_w = (double)NAN,
	.energy_j = (double)NAN,
	.temp_c = (double)NAN,
	.gpu_util_ratio = (double)NAN,
	.memory_util_ratio = (double)NAN,
	.throttle_bits = (double)NAN,
	.power_cap_ns = (double)NAN,
	.thermal_ns = (double)NAN,
	.hw_slowdown_ns = (double)NAN,
	.ecc_corrected = (double)NAN,
	.ecc_uncorrected = (double)NAN,
	.pcie_gen = -1,
	.pcie_width = -1,
};

/*
 * Each value costs a call into the driver, some 0.3 ms where its firmware answers: what is only a
 * fallback is asked only where the newer one is missing.
 */
static double field_alone(const struct ceil_nvml_gpu *g, unsigned id)
{
	double value;

	ceil_nvml_get_fields(g, &id, 1, 0, &value);
	return value;
}

static double read_energy_mj(const struct ceil_nvml_gpu *g)
{
	const double mj = read_u64(g, g->api->energy);

	return isnan(mj) ? field_alone(g, CEIL_NV_FI_ENERGY) : mj;
}

static double read_power_mw(const struct ceil_nvml_gpu *g, double average_mw)
{
	const double mw = isnan(average_mw) ? ceil_nvml_get_unsigned(g, g->api->power) : average_mw;

	return isnan(mw) ? field_alone(g, CEIL_NV_FI_POWER_INSTANT) : mw;
}

/* What GetFieldValues gives in one call, with the older way where a field is missing. */
static void read_counters(const struct ceil_nvml_gpu *g, struct ceil_nvml_state *s)
{
	enum { AVERAGE, CAP, SW_THERMAL, HW_THERMAL, HW_BRAKE, COUNT };
	static const unsigned id[COUNT] = {
		[AVERAGE] = CEIL_NV_FI_POWER_AVERAGE, [CAP] = CEIL_NV_FI_POWER_CAP,
		[SW_THERMAL] = CEIL_NV_FI_SW_THERMAL, [HW_THERMAL] = CEIL_NV_FI_HW_THERMAL,
		[HW_BRAKE] = CEIL_NV_FI_HW_BRAKE,
	};
	double v[COUNT];

	_Static_assert((int)COUNT <= (int)CEIL_NVML_FIELDS, "there is room for them");
	ceil_nvml_get_fields(g, id, COUNT, 0, v);
	s->energy_j = read_energy_mj(g) / 1e3;
	s->power_w = read_power_mw(g, v[AVERAGE]) / 1e3;
	s->power_cap_ns = v[CAP];
	s->thermal_ns = isnan(v[SW_THERMAL]) ? field_alone(g, CEIL_NV_FI_THERMAL) : v[SW_THERMAL];
	s->hw_slowdown_ns = v[HW_THERMAL] + v[HW_BRAKE];
	if (isnan(s->hw_slowdown_ns))
		s->hw_slowdown_ns = either(v[HW_THERMAL], v[HW_BRAKE]);
}

void ceil_nvml_read_tick(struct ceil_nvml_gpu *gpu, struct ceil_nvml_state *ret_state)
{
	const struct ceil_nvml_api *api = gpu ? gpu->api : NULL;

	*ret_state = no_state;
	ret_state->at_ns = ceil_now_ns();
	if (!gpu || !gpu->dev)
		return;
	read_counters(gpu, ret_state);
	ret_state->throttle_bits = read_u64(gpu, api->reasons);
	ret_state->sm_mhz = read_clock(gpu, api->clock, CEIL_NV_CLOCK_SM);
	ret_state->memory_mhz = read_clock(gpu, api->clock, CEIL_NV_CLOCK_MEMORY);
	ret_state->temp_c = read_temperature(gpu);
	read_utilization(gpu, &ret_state->gpu_util_ratio, &ret_state->memory_util_ratio);
}

void ceil_nvml_read_link(struct ceil_nvml_gpu *gpu, int *ret_gen, int *ret_width)
{
	*ret_gen = gpu && gpu->dev ? read_int(gpu, gpu->api->pcie_gen) : -1;
	*ret_width = gpu && gpu->dev ? read_int(gpu, gpu->api->pcie_width) : -1;
}

void ceil_nvml_read(struct ceil_nvml_gpu *gpu, struct ceil_nvml_state *ret_state)
{
	ceil_nvml_read_tick(gpu, ret_state);
	ceil_nvml_read_link(gpu, &ret_state->pcie_gen, &ret_state->pcie_width);
	if (!gpu || !gpu->dev)
		return;
	ret_state->ecc_corrected = ceil_nvml_get_ecc(gpu, CEIL_NV_ECC_CORRECTED);
	ret_state->ecc_uncorrected = ceil_nvml_get_ecc(gpu, CEIL_NV_ECC_UNCORRECTED);
}

int ceil_nvml_pids(struct ceil_nvml_gpu *gpu, unsigned *ret_pid, unsigned cap)
{
	enum { ROOM = 128 }; /* more than this compute on no GPU: MPS allows 60 clients */
	struct ceil_nv_process v[ROOM];
	unsigned count = ROOM, i;
	int code;

	if (!gpu || !gpu->dev || !gpu->api->processes)
		return -1;
	memset(v, 0, sizeof(v));
	code = gpu->api->processes(gpu->dev, &count, v);
	if (code == CEIL_NV_INSUFFICIENT_SIZE)
		count = ROOM;
	else if (code != CEIL_NV_OK || count > ROOM)
		return -1;
	for (i = 0; i < count && i < cap; i++)
		ret_pid[i] = v[i].pid;
	return (int)count;
}
