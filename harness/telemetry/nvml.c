/* NVML at run time: opened by dlopen, its GPUs found and named. */
#include "harness/telemetry/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
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
	ceil_nvml_get_text(g, g->api->uuid, g->uuid, sizeof(g->uuid));
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
