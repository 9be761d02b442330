/* The device half of PM sampling: a GPU's counters, sampled, decoded, averaged. */
#include "harness/telemetry/pm_inside.h"

#include <math.h>
#include <stdlib.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"

#ifdef CEIL_HAVE_CUPTI_PM

/* 2 ms; without a trigger by time so many cycles of the system clock, 1 to 2 GHz. */
#define SAMPLE_NS     UINT64_C(2000000)
#define SAMPLE_CYCLES UINT64_C(3000000)
/*
 * The hardware's buffer fills up although it is read: a sample took 3 KiB on an H200, and nothing
 * came any more when it was full. Sampling is begun anew (2 ms) long before that.
 */
#define HARDWARE_BYTES ((size_t)64 << 20)
#define ANEW_NS        (10 * (uint64_t)CEIL_NS_PER_S)
/* Samples of one reading: four seconds of them. */
enum { MAX_SAMPLES = 2048 };

struct ceil_pm_sampling {
	struct ceil_pm_api *api;
	struct ceil_pm_plan plan;
	CUpti_PmSampling_Object *object;
	bool started;
	uint64_t started_ns;
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

static enum ceil_status make_plan(struct ceil_pm_sampling *s, int ordinal, enum ceil_pm_set set,
                                  struct ceil_error *err)
{
	CUpti_Device_GetChipName_Params chip = PARAMS(Device_GetChipName);
	enum ceil_status st;

	chip.deviceIndex = (size_t)ordinal;
	st = ceil_pm_check(s->api, s->api->chip_name(&chip), "name of the chip", err);
	if (st == CEIL_OK)
		st = read_availability(s, ordinal, err);
	if (st == CEIL_OK)
		st = ceil_pm_plan_make(s->api, chip.pChipName, s->availability, set, &s->plan, err);
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
	c.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
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
	const char *names[CEIL_PM_NAMES];
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

static enum ceil_status begin(struct ceil_pm_sampling *s, struct ceil_error *err)
{
	CUpti_PmSampling_Start_Params p = PARAMS(PmSampling_Start);
	enum ceil_status st;

	p.pPmSamplingObject = s->object;
	st = ceil_pm_check(s->api, s->api->start(&p), "starting", err);
	s->started = st == CEIL_OK;
	s->started_ns = ceil_now_ns();
	return st;
}

static void end(struct ceil_pm_sampling *s)
{
	CUpti_PmSampling_Stop_Params p = PARAMS(PmSampling_Stop);

	p.pPmSamplingObject = s->object;
	if (s->started)
		(void)s->api->stop(&p); /* nothing can be done about a failure */
	s->started = false;
}

enum ceil_status ceil_pm_start(struct ceil_pm_api *api, int ordinal, enum ceil_pm_set set,
                               struct ceil_pm_sampling **ret_sampling, struct ceil_error *err)
{
	struct ceil_pm_sampling *s = ceil_alloc(1, sizeof(*s), err);
	enum ceil_status st;

	if (!s)
		return CEIL_E_NOMEM;
	s->api = api;
	st = make_plan(s, ordinal, set, err);
	if (st == CEIL_OK)
		st = enable(s, ordinal, err);
	if (st == CEIL_OK)
		st = make_data(s, err);
	if (st == CEIL_OK)
		st = begin(s, err);
	if (st != CEIL_OK) {
		ceil_pm_stop(s);
		return st;
	}
	*ret_sampling = s;
	return CEIL_OK;
}

void ceil_pm_stop(struct ceil_pm_sampling *s)
{
	CUpti_PmSampling_Disable_Params disable = PARAMS(PmSampling_Disable);

	if (!s)
		return;
	end(s);
	disable.pPmSamplingObject = s->object;
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

static void add_up(struct ceil_pm_sampling *s, size_t samples, struct ceil_pm_sums *sums)
{
	const char *names[CEIL_PM_NAMES];
	const size_t count = ceil_pm_names(&s->plan, names);

	for (size_t i = 0; i < samples; i++) {
		double raw[CEIL_PM_NAMES], values[CEIL_PM_METRIC_COUNT];

		if (!evaluate(s, i, names, count, raw))
			continue;
		ceil_pm_values(&s->plan, raw, values);
		ceil_pm_add(sums, values);
	}
}

void ceil_pm_read(struct ceil_pm_sampling *s, double ret_values[CEIL_PM_METRIC_COUNT])
{
	struct ceil_pm_sums sums = {0};
	const size_t samples = s->started ? decode(s) : 0;

	add_up(s, samples, &sums);
	ceil_pm_mean(&sums, ret_values);
	if (ceil_now_ns() - s->started_ns < ANEW_NS)
		return;
	end(s);
	(void)begin(s, /* err= */ NULL); /* a failure shows as values that are not there */
}

#else

struct ceil_pm_sampling {
	char unused;
};

enum ceil_status ceil_pm_start(struct ceil_pm_api *api, int ordinal, enum ceil_pm_set set,
                               struct ceil_pm_sampling **ret_sampling, struct ceil_error *err)
{
	(void)api;
	(void)ordinal;
	(void)set;
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
