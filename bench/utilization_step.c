/* Steps of the utilization scenarios: a few milliseconds of work each, enqueued on the GPU. */
#include "bench/utilization.h"

#ifdef CEIL_HAVE_CUDA

#include "harness/device/cublaslt.h"
#include "harness/device/cuda_launch.h"
#include "kernels/launch.h"
#include "kernels/utilization.h"

/* Launches of a step where the host is what takes time: 3 us each. */
enum { LAUNCHES = 512 };
/* A graph of so many empty kernels is some 0.8 ms of work for one call. */
enum { GRAPH_NODES = 1024, GRAPH_LAUNCHES = 4 };
enum { STREAM_LAUNCHES = 4, GEMM_LAUNCHES = 4 };
/* Of a storm: what one stream gets in a step, and how long a kernel is whose blocks can tell. */
#define STORM_NS       UINT64_C(4000000)
#define STORM_TELLS_NS UINT64_C(100000)
#define STORM_LAUNCHES UINT64_C(128)

/*
 * The launch with its blocks telling, if they shall. Not for blocks of a microsecond: a
 * multiprocessor is in use before their first instruction and after their last for about as long as
 * they run.
 */
static struct ceil_launch telling(struct ceil_stage *s)
{
	struct ceil_launch l = s->launch;

	l.buf[CEIL_UTIL_STAYS] = ceil_stage_stays(s, l.blocks);
	return l;
}

/* count launches of one kernel, each with this work; its blocks tell, if they shall. */
static enum ceil_status repeat(struct ceil_stage *s, ceil_launch_fn fn, uint32_t count,
                               struct ceil_step_work each, struct ceil_step_work *ret_work,
                               struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < count && st == CEIL_OK; i++) {
		const struct ceil_launch l = telling(s);

		st = fn(&l, err);
	}
	*ret_work = (struct ceil_step_work){each.flops * count, each.bytes * count, count};
	return st;
}

static const struct ceil_step_work nothing = {0};

enum ceil_status ceil_util_step_empty(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                      struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (int i = 0; i < LAUNCHES && st == CEIL_OK; i++)
		st = ceil_launch_plain(&s->launch, err);
	*ret_work = (struct ceil_step_work){.launches = LAUNCHES};
	return st;
}

/* ---- graphs */

enum ceil_status ceil_util_prepare_graph(struct ceil_stage *s, struct ceil_error *err)
{
	struct ceil_launch_state *graph = NULL;
	enum ceil_status st;

	s->launch.n = GRAPH_NODES;
	st = ceil_cuda_graph_open(s->dev, &s->launch, /* branches= */ 1, &graph, err);
	s->state = graph;
	s->launch.state = graph;
	return st;
}

void ceil_util_release_graph(struct ceil_stage *s)
{
	ceil_launch_state_close(s->state);
	s->state = NULL;
}

enum ceil_status ceil_util_step_graph(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                      struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (int i = 0; i < GRAPH_LAUNCHES && st == CEIL_OK; i++)
		st = ceil_cuda_graph_launch(&s->launch, err);
	*ret_work = (struct ceil_step_work){.launches = GRAPH_LAUNCHES * GRAPH_NODES};
	return st;
}

/* ---- kernels of our own */

enum ceil_status ceil_util_step_spin(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                     struct ceil_error *err)
{
	return repeat(s, ceil_util_spin, 1, nothing, ret_work, err);
}

enum ceil_status ceil_util_step_storm(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                      struct ceil_error *err)
{
	const uint64_t fit = STORM_NS / s->value, streams = s->second;
	const uint64_t count = streams * (fit < STORM_LAUNCHES ? fit : STORM_LAUNCHES);
	enum ceil_status st = CEIL_OK;

	for (uint64_t i = 0; i < count && st == CEIL_OK; i++) {
		struct ceil_launch l = s->value >= STORM_TELLS_NS ? telling(s) : s->launch;

		l.stream[0] = s->launch.stream[i % streams];
		st = ceil_util_spin(&l, err);
	}
	*ret_work = (struct ceil_step_work){.launches = (double)count};
	return st;
}

enum ceil_status ceil_util_step_fill(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                     struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (int i = 0; i < LAUNCHES && st == CEIL_OK; i++)
		st = ceil_util_fill(&s->launch, err);
	*ret_work = (struct ceil_step_work){
		.bytes = 4.0 * (double)s->launch.n * LAUNCHES,
		.launches = LAUNCHES,
	};
	return st;
}

enum ceil_status ceil_util_step_stream(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                       struct ceil_error *err)
{
	const struct ceil_step_work each = {.bytes = 8.0 * (double)s->launch.n};

	return repeat(s, ceil_util_stream, STREAM_LAUNCHES, each, ret_work, err);
}

static double fmas(const struct ceil_launch *l, double each)
{
	return 2.0 * each * l->iters * l->blocks * l->threads;
}

enum ceil_status ceil_util_step_chain(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                      struct ceil_error *err)
{
	const struct ceil_step_work each = {.flops = fmas(&s->launch, CEIL_UTIL_CHAIN_FMAS)};

	return repeat(s, ceil_util_chain, 1, each, ret_work, err);
}

enum ceil_status ceil_util_step_dense(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                      struct ceil_error *err)
{
	const struct ceil_step_work each = {.flops = fmas(&s->launch, CEIL_UTIL_DENSE_FMAS)};

	return repeat(s, ceil_util_dense, 1, each, ret_work, err);
}

/* ---- matrix products */

enum ceil_status ceil_util_prepare_gemm(struct ceil_stage *s, struct ceil_error *err)
{
	const struct ceil_lt_desc d = {
		.types = {CEIL_BF16, CEIL_BF16, CEIL_FP32, CEIL_BF16},
		.trans_a = true,
		.m = s->launch.m,
		.n = s->launch.n,
		.k = s->launch.k,
		.workspace_bytes = s->buf[CEIL_UTIL_WORKSPACE].bytes,
	};
	struct ceil_lt_plan *plan = NULL;
	uint32_t candidates = 0;
	const enum ceil_status st = ceil_lt_plan_open(&d, &plan, &candidates, err);

	s->state = plan;
	s->launch.state = plan;
	if (s->launch.candidate >= candidates)
		s->launch.candidate = 0;
	return st;
}

void ceil_util_release_gemm(struct ceil_stage *s)
{
	ceil_lt_plan_close(s->state);
	s->state = NULL;
}

static enum ceil_status gemms(const struct ceil_stage *s, uint32_t count,
                              struct ceil_step_work *work, struct ceil_error *err)
{
	const struct ceil_launch *l = &s->launch;
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < count && st == CEIL_OK; i++)
		st = ceil_lt_launch(l, err);
	work->flops += 2.0 * (double)l->m * (double)l->n * (double)l->k * count;
	work->launches += count;
	return st;
}

/* Smaller products, more of them: four of 8192^3 are the measure. */
enum ceil_status ceil_util_step_gemms(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                      struct ceil_error *err)
{
	const double n = (double)s->launch.n;
	const double count = GEMM_LAUNCHES * (8192.0 / n) * (8192.0 / n) * (8192.0 / n);

	return gemms(s, count < LAUNCHES ? (uint32_t)count : (uint32_t)LAUNCHES, ret_work, err);
}

enum ceil_status ceil_util_step_one_gemm(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                         struct ceil_error *err)
{
	return gemms(s, 1, ret_work, err);
}

/* ---- copies */

static enum ceil_status copy_on(const struct ceil_stage *s, int stream, struct ceil_step_work *work,
                                struct ceil_error *err)
{
	struct ceil_launch l = s->launch;

	l.stream[0] = s->launch.stream[stream];
	l.buf[CEIL_UTIL_IN] = s->launch.buf[CEIL_UTIL_FROM];
	l.buf[CEIL_UTIL_OUT] = s->launch.buf[CEIL_UTIL_TO];
	l.n = s->buf[CEIL_UTIL_FROM].bytes;
	work->bytes += (double)l.n;
	return ceil_util_copy(&l, err);
}

enum ceil_status ceil_util_step_copy(struct ceil_stage *s, struct ceil_step_work *ret_work,
                                     struct ceil_error *err)
{
	return copy_on(s, 0, ret_work, err);
}

enum ceil_status ceil_util_step_copy_then_gemm(struct ceil_stage *s,
                                               struct ceil_step_work *ret_work,
                                               struct ceil_error *err)
{
	const enum ceil_status st = copy_on(s, 0, ret_work, err);

	return st == CEIL_OK ? gemms(s, 1, ret_work, err) : st;
}

enum ceil_status ceil_util_step_copy_beside_gemm(struct ceil_stage *s,
                                                 struct ceil_step_work *ret_work,
                                                 struct ceil_error *err)
{
	const enum ceil_status st = copy_on(s, 1, ret_work, err);

	return st == CEIL_OK ? gemms(s, 1, ret_work, err) : st;
}

#endif
