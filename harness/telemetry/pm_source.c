/* PM sampling as a telemetry source: where GPM is missing, and as a check of it where it is not. */
#include "harness/telemetry/source.h"

#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/dynlib.h"
#include "harness/telemetry/pm.h"

static const struct ceil_source_value values[] = {
	{"pm_gr_active", "ratio",
         "share of time in which the compute engine was busy (CUPTI, where GPM is missing)"},
	{"pm_sm_active", "ratio", "share of the SMs' cycles in which a warp was there (CUPTI)"},
	{"pm_sm_occupancy", "ratio",
         "resident warps over those that the SMs could hold (CUPTI, where GPM is missing)"},
	{"pm_tensor_active", "ratio",
         "share of cycles in which a tensor pipe worked (CUPTI, where GPM is missing)"},
	{"pm_dram_active", "ratio",
         "throughput of device memory over its peak (CUPTI, where GPM is missing)"},
	{"pm_sm_mhz", "MHz", "SM clock held: cycles over time (CUPTI)"},
};
_Static_assert(sizeof(values) / sizeof(values[0]) == (size_t)CEIL_PM_METRIC_COUNT,
               "one name a counter");

/* ---- which of CUDA's devices a GPU is: PM sampling asks for the ordinal */

struct driver_api {
	int (*init)(unsigned flags);
	int (*by_pci)(int *ret_ordinal, const char *pci_bus_id);
};

static const struct ceil_symbol symbols[] = {
	{.names = {"cuInit"}, .offset = offsetof(struct driver_api, init), .required = true},
	{.names = {"cuDeviceGetByPCIBusId"},
         .offset = offsetof(struct driver_api, by_pci),
         .required = true},
};
static const char *const sonames[] = {"libcuda.so.1", NULL};
static const struct ceil_library library = {
	.title = "CUDA's driver",
	.override = "GPUCEIL_LIB_CUDA",
	.sonames = sonames,
	.remedy = "it comes with the NVIDIA driver",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

static enum ceil_status find_ordinal(const char *pci_bus_id, int *ret_ordinal,
                                     struct ceil_error *err)
{
	struct driver_api api = {0};
	struct ceil_dynlib lib = {0};
	enum ceil_status st = ceil_dynlib_open(&library, &api, &lib, err);
	int code;

	if (st != CEIL_OK)
		return st;
	code = api.init(0);
	if (code == 0)
		code = api.by_pci(ret_ordinal, pci_bus_id);
	if (code != 0)
		st = ceil_fail(err, CEIL_E_UNSUPPORTED, "CUDA does not give %s (error %d)",
		               pci_bus_id, code);
	ceil_dynlib_close(&lib);
	return st;
}

/* ---- the source */

struct pm {
	struct ceil_pm_api *api;
	struct ceil_pm_sampling *sampling;
};

static void close_pm(void *state)
{
	struct pm *p = state;

	ceil_pm_stop(p->sampling);
	ceil_pm_close(p->api);
	free(p);
}

static enum ceil_status open_pm(const struct ceil_source_target *t, void **ret_state,
                                struct ceil_error *err)
{
	struct pm *p;
	enum ceil_status st;
	int ordinal = 0;

	if (!t->counters)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "PM sampling: not asked for");
	p = ceil_alloc(1, sizeof(*p), err);
	if (!p)
		return CEIL_E_NOMEM;
	st = find_ordinal(t->pci_bus_id, &ordinal, err);
	if (st == CEIL_OK)
		st = ceil_pm_open(&p->api, err);
	if (st == CEIL_OK)
		st = ceil_pm_start(p->api, ordinal, t->gpm ? CEIL_PM_CYCLES : CEIL_PM_ALL,
		                   &p->sampling, err);
	if (st != CEIL_OK) {
		close_pm(p);
		if (err)
			(void)ceil_context(err, "PM sampling");
		return st;
	}
	*ret_state = p;
	return CEIL_OK;
}

static void read_pm(void *state, double *ret_values)
{
	struct pm *p = state;

	ceil_pm_read(p->sampling, ret_values);
}

const struct ceil_source ceil_pm_source = {
	.name = "pm",
	.doc = "use of SMs, tensor pipes and memory by CUPTI's PM sampling, and the clock held",
	.values = values,
	.value_count = CEIL_PM_METRIC_COUNT,
	.open = open_pm,
	.read = read_pm,
	.close = close_pm,
};
