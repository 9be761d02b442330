/* What NVML says of a GPU, value by value: absent where it does not answer. */
#include "harness/telemetry/nvml.h"

#include <math.h>
#include <string.h>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/telemetry/nvml_inside.h"

/* ---- one value each: NAN, -1 or "" if the function is not there or does not answer */

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

void ceil_nvml_get_text(const struct ceil_nvml_gpu *g, ceil_nv_text_fn fn, char *ret_text,
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

/* ---- all of a GPU */

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
	ceil_nvml_get_text(gpu, api->name, ret_info->name, sizeof(ret_info->name));
	ceil_nvml_get_text(gpu, api->vbios, ret_info->vbios, sizeof(ret_info->vbios));
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

void ceil_nvml_read_seldom(struct ceil_nvml_gpu *gpu, struct ceil_nvml_state *state)
{
	const bool there = gpu && gpu->dev;

	state->energy_j = there ? read_energy_mj(gpu) / 1e3 : (double)NAN;
	state->pcie_gen = there ? read_int(gpu, gpu->api->pcie_gen) : -1;
	state->pcie_width = there ? read_int(gpu, gpu->api->pcie_width) : -1;
}

void ceil_nvml_read(struct ceil_nvml_gpu *gpu, struct ceil_nvml_state *ret_state)
{
	ceil_nvml_read_tick(gpu, ret_state);
	ceil_nvml_read_seldom(gpu, ret_state);
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
