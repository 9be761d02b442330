/* NVML's GPM as a telemetry source: how much of the GPU was in use. Hopper and newer. */
#include "harness/telemetry/source.h"

#include <math.h>
#include <stdlib.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/telemetry/nvml_inside.h"

/*
 * The hardware's counters are refreshed every 100 ms: over less, GPM reads 0 and says that all is
 * well. Source: nvml.h, nvmlGpmMetricsGet; seen on an H200.
 */
#define WINDOW_NS (105 * (uint64_t)CEIL_NS_PER_MS)
/* Samples kept: at a beat of 30 ms and more one of them is old enough. */
enum { KEPT = 5 };

#define MIB_GB (1048576.0 / 1e9)

/* In the order of values below. */
static const unsigned ids[] = {
	CEIL_NV_GPM_SM,       CEIL_NV_GPM_OCCUPANCY, CEIL_NV_GPM_TENSOR,    CEIL_NV_GPM_DRAM,
	CEIL_NV_GPM_GRAPHICS, CEIL_NV_GPM_FP64,      CEIL_NV_GPM_FP32,      CEIL_NV_GPM_FP16,
	CEIL_NV_GPM_PCIE_TX,  CEIL_NV_GPM_PCIE_RX,   CEIL_NV_GPM_NVLINK_TX, CEIL_NV_GPM_NVLINK_RX,
};
enum { VALUES = sizeof(ids) / sizeof(ids[0]) };

static const struct ceil_source_value values[] = {
	{"sm_active", "ratio", "share of the SMs' cycles in which a warp was there (GPM)"},
	{"sm_occupancy", "ratio", "resident warps over those that the SMs could hold (GPM)"},
	{"tensor_active", "ratio", "share of cycles in which a tensor pipe worked (GPM)"},
	{"dram_active", "ratio", "share of cycles in which device memory moved data (GPM)"},
	{"graphics_active", "ratio", "share of time in which the compute engine was busy (GPM)"},
	{"fp64_active", "ratio", "share of cycles in which the fp64 pipe worked (GPM)"},
	{"fp32_active", "ratio", "the same for fp32 (GPM)"},
	{"fp16_active", "ratio", "the same for fp16 outside of the tensor pipes (GPM)"},
	{"pcie_tx_gb_s", "GB/s", "sent over PCIe, headers included (GPM)"},
	{"pcie_rx_gb_s", "GB/s", "received over PCIe (GPM)"},
	{"nvlink_tx_gb_s", "GB/s", "sent over all NVLinks (GPM)"},
	{"nvlink_rx_gb_s", "GB/s", "received over all NVLinks (GPM)"},
};
_Static_assert(sizeof(values) / sizeof(values[0]) == (size_t)VALUES, "one name an id");
_Static_assert((int)VALUES <= (int)CEIL_NV_GPM_MAX, "one call asks for all");

struct gpm {
	const struct ceil_nvml_gpu *gpu;
	struct ceil_nv_gpm_sample *sample[KEPT];
	uint64_t at_ns[KEPT]; /* 0: nothing in it */
	unsigned next;
};

static bool has_gpm(const struct ceil_nvml_api *api)
{
	return api->gpm_support && api->gpm_alloc && api->gpm_free && api->gpm_sample &&
	       api->gpm_get;
}

static enum ceil_status ask_support(const struct ceil_nvml_gpu *g, struct ceil_error *err)
{
	struct ceil_nv_gpm_support s = {.version = CEIL_NV_GPM_VERSION};
	int code;

	if (!has_gpm(g->api))
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "GPM: this NVML has none; it came with driver 525");
	code = g->api->gpm_support(g->dev, &s);
	if (code != CEIL_NV_OK)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "GPM: nvmlGpmQueryDeviceSupport: %s (error %d)",
		                 g->api->error_string(code), code);
	if (!s.supported)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "GPM: this GPU has none: Hopper and newer do, GeForce from "
		                 "Blackwell on");
	return CEIL_OK;
}

static void close_gpm(void *state)
{
	struct gpm *p = state;

	for (int i = 0; i < KEPT; i++) {
		if (p->sample[i])
			(void)p->gpu->api->gpm_free(p->sample[i]); /* nothing to be done */
	}
	free(p);
}

static enum ceil_status take(struct gpm *p, struct ceil_error *err)
{
	const int code = p->gpu->api->gpm_sample(p->gpu->dev, p->sample[p->next]);

	if (code != CEIL_NV_OK) {
		p->at_ns[p->next] = 0;
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "GPM: nvmlGpmSampleGet: %s (error %d)%s",
		                 p->gpu->api->error_string(code), code,
		                 code == CEIL_NV_NO_PERMISSION
		                         ? ": it needs CAP_PERFMON or CAP_SYS_ADMIN while the "
		                           "driver restricts profiling to administrators"
		                         : "");
	}
	p->at_ns[p->next] = ceil_now_ns();
	p->next = (p->next + 1) % KEPT;
	return CEIL_OK;
}

static enum ceil_status open_gpm(const struct ceil_source_target *t, void **ret_state,
                                 struct ceil_error *err)
{
	struct gpm *p;
	enum ceil_status st;

	if (!t->nvml || !t->nvml->dev)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "GPM: NVML does not know this GPU");
	st = ask_support(t->nvml, err);
	if (st != CEIL_OK)
		return st;
	p = ceil_alloc(1, sizeof(*p), err);
	if (!p)
		return CEIL_E_NOMEM;
	p->gpu = t->nvml;
	for (int i = 0; i < KEPT && st == CEIL_OK; i++) {
		if (t->nvml->api->gpm_alloc(&p->sample[i]) != CEIL_NV_OK) {
			p->sample[i] = NULL;
			st = ceil_fail(err, CEIL_E_UNSUPPORTED, "GPM: nvmlGpmSampleAlloc fails");
		}
	}
	if (st == CEIL_OK)
		st = take(p, err);
	if (st != CEIL_OK) {
		close_gpm(p);
		return st;
	}
	*ret_state = p;
	return CEIL_OK;
}

/* The newest sample that is old enough before slot last; -1: none. */
static int partner_of(const struct gpm *p, int last)
{
	int best = -1;

	for (int i = 0; i < KEPT; i++) {
		if (p->at_ns[i] == 0 || p->at_ns[i] + WINDOW_NS > p->at_ns[last])
			continue;
		if (best < 0 || p->at_ns[i] > p->at_ns[best])
			best = i;
	}
	return best;
}

/* A metric that this part lacks has a code of its own, or comes as NaN without one. */
static double value_of(const struct ceil_nv_gpm_metric *m)
{
	if (m->ret != CEIL_NV_OK || !isfinite(m->value) || m->value < 0)
		return (double)NAN;
	return m->id < CEIL_NV_GPM_PCIE_TX ? m->value / 100.0 : m->value * MIB_GB;
}

static void read_gpm(void *state, double *ret_values)
{
	struct gpm *p = state;
	struct ceil_nv_gpm_get get = {.version = CEIL_NV_GPM_VERSION, .count = VALUES};
	const int last = (int)p->next;
	int first;

	if (take(p, /* err= */ NULL) != CEIL_OK)
		return;
	first = partner_of(p, last);
	if (first < 0)
		return;
	get.from = p->sample[first];
	get.to = p->sample[last];
	for (int i = 0; i < VALUES; i++) {
		get.metric[i].id = ids[i];
		get.metric[i].ret = CEIL_NV_UNKNOWN; /* stays if the library does not reach it */
	}
	if (p->gpu->api->gpm_get(&get) != CEIL_NV_OK)
		return;
	for (int i = 0; i < VALUES; i++)
		ret_values[i] = value_of(&get.metric[i]);
}

const struct ceil_source ceil_gpm_source = {
	.name = "gpm",
	.doc = "use of SMs, pipes, memory and links by NVML's GPM, over the last 105 to 210 ms",
	.values = values,
	.value_count = VALUES,
	.open = open_gpm,
	.read = read_gpm,
	.close = close_gpm,
};
