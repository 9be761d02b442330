/* The device half of PM sampling: a GPU's counters, sampled, decoded, averaged. */
#include "harness/telemetry/pm_inside.h"

#include <math.h>
#include <stdlib.h>

#include "harness/base/alloc.h"

#ifdef CEIL_HAVE_CUPTI_PM

/* A millisecond; without a trigger by time so many cycles of the system clock, 1 to 2 GHz. */
#define SAMPLE_NS     UINT64_C(1000000)
#define SAMPLE_CYCLES UINT64_C(1500000)
/* What the hardware may hold between two readings, and samples of one reading: two seconds. */
#define HARDWARE_BYTES ((size_t)32 << 20)
enum { MAX_SAMPLES = 2048 };

struct ceil_pm_sampling {
	struct ceil_pm_api *api;
	struct ceil_pm_plan plan;
	CUpti_PmSampling_Object *object;
	bool started;
	uint8_t *data; /* counter data image */
	size_t data_bytes;
	uint8_t *availability;
};

#define PARAMS(type)                                                                               \
	(CUpti_##type##_Params)                                                                    \
	{                                                                                          \
		.structSize = CUpti_##type##_Params_STRUCT_SIZE                                    \
	}

static enum ceil_status read_availability(struct ceil_pm_sampling *s, int ordinal,
                                          struct ceil_error *err)
{
	CUpti_PmSampling_GetCounterAvailability_Params p =
		PARAMS(PmSampling_GetCounterAvailability);
	enum ceil_status st;

	p.deviceIndex = (size_t)ordinal;
	st = ceil_pm_check(s->api, s->api->availability(&p), "which counters there are", err);
	if (st != CEIL_OK)
		return st;
	s->availability = ceil_alloc(p.counterAvailabilityImageSize, 1, err);
	if (!s->availability)
		return CEIL_E_NOMEM;
	p.pCounterAvailabilityImage = s->availability;
	return ceil_pm_check(s->api, s->api->availability(&p), "which counters there are", err);
}

static enum ceil_status make_plan(struct ceil_pm_sampling *s, int ordinal, struct ceil_error *err)
{
	CUpti_Device_GetChipName_Params chip = PARAMS(Device_GetChipName);
	enum ceil_status st;

	chip.deviceIndex = (size_t)ordinal;
	st = ceil_pm_check(s->api, s->api->chip_name(&chip), "name of the chip", err);
	if (st == CEIL_OK)
		st = read_availability(s, ordinal, err);
	if (st == CEIL_OK)
		st = ceil_pm_plan_make(s->api, chip.pChipName, s->availability, &s->plan, err);
	return st;
}

static enum ceil_status enable(struct ceil_pm_sampling *s, int ordinal, struct ceil_error *err)
{
	CUpti_PmSampling_Enable_Params on = PARAMS(PmSampling_Enable);
	CUpti_PmSampling_SetConfig_Params c = PARAMS(PmSampling_SetConfig);
	enum ceil_status st;

	on.deviceIndex = (size_t)ordinal;
	st = ceil_pm_check(s->api, s->api->enable(&on), "switching sampling on", err);
	if (st != CEIL_OK)
		return st;
	s->object = on.pPmSamplingObject;
	c.pPmSamplingObject = s->object;
	c.configSize = s->plan.config_bytes;
	c.pConfig = s->plan.config;
	c.hardwareBufferSize = HARDWARE_BYTES;
	c.samplingInterval = s->plan.by_cycles ? SAMPLE_CYCLES : SAMPLE_NS;
	c.triggerMode = s->plan.by_cycles ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
	                                  : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
	c.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
	return ceil_pm_check(s->api, s->api->set_config(&c), "configuration", err);
}

/* The image fills up: it is made new before each reading. */
static enum ceil_status clear_data(struct ceil_pm_sampling *s, struct ceil_error *err)
{
	CUpti_PmSampling_CounterDataImage_Initialize_Params p =
		PARAMS(PmSampling_CounterDataImage_Initialize);

	p.pPmSamplingObject = s->object;
	p.counterDataSize = s->data_bytes;
	p.pCounterData = s->data;
	return ceil_pm_check(s->api, s->api->data_init(&p), "counter data", err);
}

static enum ceil_status make_data(struct ceil_pm_sampling *s, struct ceil_error *err)
{
	const char *names[CEIL_PM_METRIC_COUNT];
	CUpti_PmSampling_GetCounterDataSize_Params p = PARAMS(PmSampling_GetCounterDataSize);
	enum ceil_status st;

	p.pPmSamplingObject = s->object;
	p.pMetricNames = names;
	p.numMetrics = ceil_pm_names(&s->plan, names);
	p.maxSamples = MAX_SAMPLES;
	st = ceil_pm_check(s->api, s->api->data_size(&p), "size of the counter data", err);
	if (st != CEIL_OK)
		return st;
	s->data_bytes = p.counterDataSize;
	s->data = ceil_alloc(s->data_bytes, 1, err);
	return s->data ? clear_data(s, err) : CEIL_E_NOMEM;
}

enum ceil_status ceil_pm_start(struct ceil_pm_api *api, int ordinal,
                               struct ceil_pm_sampling **ret_sampling, struct ceil_error *err)
{
	struct ceil_pm_sampling *s = ceil_alloc(1, sizeof(*s), err);
	CUpti_PmSampling_Start_Params start = PARAMS(PmSampling_Start);
	enum ceil_status st;

	if (!s)
		return CEIL_E_NOMEM;
	s->api = api;
	st = make_plan(s, ordinal, err);
	if (st == CEIL_OK)
		st = enable(s, ordinal, err);
	if (st == CEIL_OK)
		st = make_data(s, err);
	if (st == CEIL_OK) {
		start.pPmSamplingObject = s->object;
		st = ceil_pm_check(api, api->start(&start), "starting", err);
	}
	if (st != CEIL_OK) {
		ceil_pm_stop(s);
		return st;
	}
	s->started = true;
	*ret_sampling = s;
	return CEIL_OK;
}

void ceil_pm_stop(struct ceil_pm_sampling *s)
{
	CUpti_PmSampling_Stop_Params stop = PARAMS(PmSampling_Stop);
	CUpti_PmSampling_Disable_Params disable = PARAMS(PmSampling_Disable);

	if (!s)
		return;
	stop.pPmSamplingObject = s->object;
	disable.pPmSamplingObject = s->object;
	if (s->started)
		(void)s->api->stop(&stop); /* nothing can be done about a failure */
	if (s->object)
		(void)s->api->disable(&disable);
	ceil_pm_plan_done(s->api, &s->plan);
	free(s->availability);
	free(s->data);
	free(s);
}

/* ---- reading */

static size_t decode(struct ceil_pm_sampling *s)
{
	CUpti_PmSampling_DecodeData_Params d = PARAMS(PmSampling_DecodeData);
	CUpti_PmSampling_GetCounterDataInfo_Params info = PARAMS(PmSampling_GetCounterDataInfo);

	if (clear_data(s, /* err= */ NULL) != CEIL_OK)
		return 0;
	d.pPmSamplingObject = s->object;
	d.pCounterDataImage = s->data;
	d.counterDataImageSize = s->data_bytes;
	if (s->api->decode(&d) != CUPTI_SUCCESS)
		return 0;
	info.pCounterDataImage = s->data;
	info.counterDataImageSize = s->data_bytes;
	if (s->api->data_info(&info) != CUPTI_SUCCESS)
		return 0;
	return info.numCompletedSamples;
}

/* Of one sample, in the plan's order. */
static bool evaluate(struct ceil_pm_sampling *s, size_t index, const char **names, size_t count,
                     double *ret_values)
{
	CUpti_Profiler_Host_EvaluateToGpuValues_Params p =
		PARAMS(Profiler_Host_EvaluateToGpuValues);

	p.pHostObject = s->plan.host;
	p.pCounterDataImage = s->data;
	p.counterDataImageSize = s->data_bytes;
	p.rangeIndex = index;
	p.ppMetricNames = names;
	p.numMetrics = count;
	p.pMetricValues = ret_values;
	return s->api->host_evaluate(&p) == CUPTI_SUCCESS;
}

void ceil_pm_read(struct ceil_pm_sampling *s, double ret_values[CEIL_PM_METRIC_COUNT])
{
	const char *names[CEIL_PM_METRIC_COUNT];
	const size_t count = ceil_pm_names(&s->plan, names);
	const size_t samples = decode(s);
	double sum[CEIL_PM_METRIC_COUNT] = {0}, one[CEIL_PM_METRIC_COUNT];
	size_t used[CEIL_PM_METRIC_COUNT] = {0}, at = 0;

	for (size_t i = 0; i < samples; i++) {
		if (!evaluate(s, i, names, count, one))
			continue;
		for (size_t k = 0; k < count; k++) {
			if (!isfinite(one[k]))
				continue;
			sum[k] += one[k];
			used[k]++;
		}
	}
	for (int m = 0; m < CEIL_PM_METRIC_COUNT; m++) {
		const double scale = m == CEIL_PM_SM_MHZ ? 1e-6 : 0.01;

		ret_values[m] = (double)NAN;
		if (!s->plan.has[m])
			continue;
		if (used[at])
			ret_values[m] = scale * sum[at] / (double)used[at];
		at++;
	}
}

#else

struct ceil_pm_sampling {
	char unused;
};

enum ceil_status ceil_pm_start(struct ceil_pm_api *api, int ordinal,
                               struct ceil_pm_sampling **ret_sampling, struct ceil_error *err)
{
	(void)api;
	(void)ordinal;
	(void)ret_sampling;
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "this build has no CUPTI");
}

void ceil_pm_stop(struct ceil_pm_sampling *sampling)
{
	(void)sampling;
}

void ceil_pm_read(struct ceil_pm_sampling *sampling, double ret_values[CEIL_PM_METRIC_COUNT])
{
	(void)sampling;
	for (int m = 0; m < CEIL_PM_METRIC_COUNT; m++)
		ret_values[m] = (double)NAN;
}

#endif
