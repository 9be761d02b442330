/* What NVML tells about the health of a GPU: error counters, settings, critical Xid errors. */
#include <math.h>
#include <stdlib.h>

#include "harness/base/alloc.h"
#include "harness/telemetry/nvml_inside.h"

static const struct ceil_nvml_health no_health = {
	.ecc_corrected = (double)NAN,
	.ecc_uncorrected = (double)NAN,
	.rows_corrected = (double)NAN,
	.rows_uncorrected = (double)NAN,
	.remap_pending = (double)NAN,
	.remap_failed = (double)NAN,
	.nvlink_replay = (double)NAN,
	.nvlink_recovery = (double)NAN,
	.nvlink_crc = (double)NAN,
	.pcie_replay = (double)NAN,
	.power_limit_w = (double)NAN,
	.power_default_w = (double)NAN,
	.app_sm_mhz = (double)NAN,
	.app_default_sm_mhz = (double)NAN,
	.throttle_bits = (double)NAN,
};

static void read_rows(const struct ceil_nvml_gpu *g, struct ceil_nvml_health *h)
{
	unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;

	if (!g->api->remapped_rows || g->api->remapped_rows(g->dev, &corrected, &uncorrected,
	                                                    &pending, &failed) != CEIL_NV_OK)
		return;
	h->rows_corrected = corrected;
	h->rows_uncorrected = uncorrected;
	h->remap_pending = pending != 0;
	h->remap_failed = failed != 0;
}

static double app_clock(const struct ceil_nvml_gpu *g, int which)
{
	unsigned mhz = 0;

	if (!g->api->clock_of ||
	    g->api->clock_of(g->dev, CEIL_NV_CLOCK_SM, which, &mhz) != CEIL_NV_OK)
		return (double)NAN;
	return mhz;
}

/* ---- NVLink */

enum link_counter { REPLAY, RECOVERY, CRC, LINK_COUNTERS };

/* Newer drivers have fields, older ones a function. */
static double link_error(const struct ceil_nvml_gpu *g, unsigned link, double by_field,
                         enum link_counter counter)
{
	static const int number[LINK_COUNTERS] = {[REPLAY] = CEIL_NV_LINK_REPLAY,
	                                          [RECOVERY] = CEIL_NV_LINK_RECOVERY,
	                                          [CRC] = CEIL_NV_LINK_CRC_FLIT};
	uint64_t count = 0;

	if (!isnan(by_field))
		return by_field;
	if (!g->api->link_errors ||
	    g->api->link_errors(g->dev, link, number[counter], &count) != CEIL_NV_OK)
		return (double)NAN;
	return (double)count;
}

/* A counter is the sum over the links that tell it; absent if none does. */
static void add_link(const struct ceil_nvml_gpu *g, unsigned link, double *sum)
{
	static const unsigned id[LINK_COUNTERS] = {[REPLAY] = CEIL_NV_FI_LINK_REPLAY,
	                                           [RECOVERY] = CEIL_NV_FI_LINK_RECOVERY,
	                                           [CRC] = CEIL_NV_FI_LINK_CRC};
	double field[LINK_COUNTERS];

	ceil_nvml_get_fields(g, id, LINK_COUNTERS, link, field);
	for (int i = 0; i < LINK_COUNTERS; i++) {
		const double errors = link_error(g, link, field[i], (enum link_counter)i);

		if (!isnan(errors))
			sum[i] = isnan(sum[i]) ? errors : sum[i] + errors;
	}
}

static void read_links(const struct ceil_nvml_gpu *g, struct ceil_nvml_health *h)
{
	static const unsigned id = CEIL_NV_FI_LINK_COUNT;
	double sum[LINK_COUNTERS] = {(double)NAN, (double)NAN, (double)NAN};
	double present;

	ceil_nvml_get_fields(g, &id, 1, /* scope= */ 0, &present);
	if (!g->api->link_state || !(present <= CEIL_NVML_LINKS))
		return;
	for (unsigned link = 0; link < (unsigned)present; link++) {
		unsigned active = 0;

		if (g->api->link_state(g->dev, link, &active) == CEIL_NV_OK && active)
			add_link(g, link, sum);
	}
	h->nvlink_replay = sum[REPLAY];
	h->nvlink_recovery = sum[RECOVERY];
	h->nvlink_crc = sum[CRC];
}

void ceil_nvml_health(struct ceil_nvml_gpu *gpu, struct ceil_nvml_health *ret_health)
{
	struct ceil_nvml_info info;
	struct ceil_nvml_state state;

	*ret_health = no_health;
	if (!gpu || !gpu->dev)
		return;
	ceil_nvml_info(gpu, &info);
	ceil_nvml_read(gpu, &state);
	ret_health->ecc_corrected = ceil_nvml_get_ecc(gpu, CEIL_NV_ECC_CORRECTED);
	ret_health->ecc_uncorrected = ceil_nvml_get_ecc(gpu, CEIL_NV_ECC_UNCORRECTED);
	read_rows(gpu, ret_health);
	read_links(gpu, ret_health);
	ret_health->pcie_replay = ceil_nvml_get_unsigned(gpu, gpu->api->pcie_replays);
	ret_health->power_limit_w = info.power_limit_w;
	ret_health->power_default_w = info.power_default_w;
	ret_health->app_sm_mhz = app_clock(gpu, CEIL_NV_CLOCK_APP_TARGET);
	ret_health->app_default_sm_mhz = app_clock(gpu, CEIL_NV_CLOCK_APP_DEFAULT);
	ret_health->throttle_bits = state.throttle_bits;
}

/* ---- Xid */

struct ceil_nvml_xids {
	struct ceil_nvml *nvml;
	struct ceil_nv_events *set;
};

/* @ret_code: NVML's last refusal. Return: how many GPUs tell their errors. */
static int register_gpus(struct ceil_nvml_xids *x, int *ret_code)
{
	struct ceil_nvml *n = x->nvml;
	int told = 0;

	for (int i = 0; i < n->count; i++) {
		const int code = n->gpu[i].dev ? n->api.events_register(n->gpu[i].dev,
		                                                        CEIL_NV_EVENT_XID, x->set)
		                               : CEIL_NV_GPU_IS_LOST;

		told += code == CEIL_NV_OK;
		if (code != CEIL_NV_OK)
			*ret_code = code;
	}
	return told;
}

enum ceil_status ceil_nvml_xids_open(struct ceil_nvml *nvml, struct ceil_nvml_xids **ret_xids,
                                     struct ceil_error *err)
{
	const struct ceil_nvml_api *api = &nvml->api;
	struct ceil_nvml_xids *x;
	int code;

	if (!api->events_create || !api->events_register || !api->event_wait || !api->events_free)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "NVML %s has no events", nvml->version);
	x = ceil_alloc(1, sizeof(*x), err);
	if (!x)
		return CEIL_E_NOMEM;
	x->nvml = nvml;
	code = api->events_create(&x->set);
	if (code == CEIL_NV_OK && register_gpus(x, &code) > 0) {
		*ret_xids = x;
		return CEIL_OK;
	}
	ceil_nvml_xids_close(x);
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "NVML events: %s (error %d)",
	                 api->error_string(code), code);
}

void ceil_nvml_xids_close(struct ceil_nvml_xids *xids)
{
	if (!xids)
		return;
	if (xids->set)
		(void)xids->nvml->api.events_free(xids->set); /* nothing else to be done */
	free(xids);
}

bool ceil_nvml_xids_next(struct ceil_nvml_xids *xids, struct ceil_nvml_gpu **ret_gpu,
                         unsigned *ret_xid)
{
	struct ceil_nvml *n = xids->nvml;
	struct ceil_nv_event event = {0};

	if (n->api.event_wait(xids->set, &event, /* wait_ms= */ 0) != CEIL_NV_OK)
		return false;
	*ret_gpu = NULL;
	*ret_xid = (unsigned)event.data;
	for (int i = 0; i < n->count; i++) {
		if (n->gpu[i].dev && n->gpu[i].dev == event.dev)
			*ret_gpu = &n->gpu[i];
	}
	return true;
}
