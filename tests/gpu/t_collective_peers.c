/* The collective bench beside plain loops over NCCL's own API, in turn, in one process. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collective.h"
#include "harness/base/clock.h"
#include "harness/base/dynlib.h"
#include "harness/device/cuda.h"
#include "harness/device/nccl_abi.h"
#include "harness/device/team.h"
#include "harness/measure/loop.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/*
 * Odd counts have a middle. Rates of 1 GiB drift by 2 % over a second or two, up and down, while
 * samples of one row agree within 0.5 % (two H200s): many short pairs say more than long ones.
 */
enum { MOST_GPUS = 8, CALLS = 2000, LATENCY_PAIRS = 9, RATE_PAIRS = 9, BATCHES = 5 };

/* As many single calls as the plain loop makes, whatever their spread. */
static const struct ceil_effort single = {.name = "search",
                                          .min_samples = CALLS,
                                          .max_samples = CALLS,
                                          .sample_ns = 1,
                                          .budget_ns = 2000000000};
static const struct ceil_effort batches = {.name = "search",
                                           .min_samples = BATCHES,
                                           .max_samples = BATCHES,
                                           .sample_ns = 8000000,
                                           .budget_ns = 2000000000};

struct gpu {
	struct ceil_device *dev;
	struct ceil_meter *meter;
	struct ceil_launch l; /* its first stream is the plain loop's too */
	void *comm, *send, *recv;
	cudaEvent_t from, to;
	pthread_t thread;
};

struct node {
	struct ceil_nccl_table nccl;
	struct ceil_dynlib lib;
	struct ceil_team_local *local;
	struct gpu gpu[MOST_GPUS];
	int count;
	int failed; /* calls of plain loops */
};

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t count)
{
	qsort(v, count, sizeof(*v), by_value);
	return v[count / 2];
}

/* ---- the plain loops: one thread, all GPUs in a group, as NCCL's documentation has it */

#define SYMBOL(member, name)                                                                       \
	{                                                                                          \
		.names = {name}, .offset = offsetof(struct ceil_nccl_table, member),               \
		.required = true                                                                   \
	}

static const struct ceil_symbol symbols[] = {
	SYMBOL(get_unique_id, "ncclGetUniqueId"),
	SYMBOL(comm_init_rank, "ncclCommInitRank"),
	SYMBOL(comm_destroy, "ncclCommDestroy"),
	SYMBOL(all_reduce, "ncclAllReduce"),
	SYMBOL(all_gather, "ncclAllGather"),
	SYMBOL(reduce_scatter, "ncclReduceScatter"),
	SYMBOL(broadcast, "ncclBroadcast"),
	SYMBOL(reduce, "ncclReduce"),
	SYMBOL(send, "ncclSend"),
	SYMBOL(recv, "ncclRecv"),
	SYMBOL(group_start, "ncclGroupStart"),
	SYMBOL(group_end, "ncclGroupEnd"),
};

static const char *const sonames[] = {"libnccl.so.2", "libnccl.so", NULL};

static const struct ceil_library library = {
	.title = "NCCL",
	.override = "GPUCEIL_LIB_NCCL",
	.sonames = sonames,
	.remedy = "install it",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

static int pairwise(const struct node *n, int i, bool all, size_t count)
{
	const struct gpu *g = &n->gpu[i];
	const int peers = all ? n->count : 1;
	int failed = 0;

	for (int p = 0; p < peers; p++) {
		const int to = all ? p : (i + 1) % n->count;
		const int from = all ? p : (i + n->count - 1) % n->count;
		const size_t at = (size_t)p * count * sizeof(float);

		failed += n->nccl.send((const char *)g->send + at, count, CEIL_NCCL_FP32, to,
		                       g->comm, g->l.stream[0]);
		failed += n->nccl.recv((char *)g->recv + at, count, CEIL_NCCL_FP32, from, g->comm,
		                       g->l.stream[0]);
	}
	return failed;
}

static int plain_call(const struct node *n, int i, enum ceil_collective op, size_t count)
{
	const struct ceil_nccl_table *t = &n->nccl;
	const struct gpu *g = &n->gpu[i];
	const int type = CEIL_NCCL_FP32;
	const int sum = CEIL_NCCL_SUM;
	const int root = 0;
	void *const on = g->l.stream[0];

	switch (op) {
	case CEIL_ALL_REDUCE:
		return t->all_reduce(g->send, g->recv, count, type, sum, g->comm, on);
	case CEIL_ALL_GATHER:
		return t->all_gather(g->send, g->recv, count, type, g->comm, on);
	case CEIL_REDUCE_SCATTER:
		return t->reduce_scatter(g->send, g->recv, count, type, sum, g->comm, on);
	case CEIL_BROADCAST:
		return t->broadcast(g->send, g->recv, count, type, root, g->comm, on);
	case CEIL_REDUCE:
		return t->reduce(g->send, g->recv, count, type, sum, root, g->comm, on);
	default:
		return pairwise(n, i, op == CEIL_ALL_TO_ALL, count);
	}
}

static void plain_start(struct node *n, enum ceil_collective op, size_t count)
{
	n->failed += n->nccl.group_start() != CEIL_NCCL_OK;
	for (int i = 0; i < n->count; i++)
		n->failed += plain_call(n, i, op, count) != CEIL_NCCL_OK;
	n->failed += n->nccl.group_end() != CEIL_NCCL_OK;
}

/* A single call: one rank needs no group. */
static void plain_single(struct node *n)
{
	if (n->count == 1)
		n->failed += plain_call(n, 0, CEIL_ALL_REDUCE, 2) != CEIL_NCCL_OK;
	else
		plain_start(n, CEIL_ALL_REDUCE, 2);
	for (int i = 0; i < n->count; i++) {
		while (cudaStreamQuery(n->gpu[i].l.stream[0]) == cudaErrorNotReady)
			;
	}
}

static double plain_latency_ns(struct node *n)
{
	static double ns[CALLS];

	for (int i = 0; i < CALLS; i++) {
		const uint64_t from_ns = ceil_now_ns();

		plain_single(n);
		ns[i] = (double)(ceil_now_ns() - from_ns);
	}
	return median(ns, CALLS);
}

static void mark(struct node *n, bool end)
{
	for (int i = 0; i < n->count; i++) {
		struct gpu *g = &n->gpu[i];

		(void)cudaSetDevice(i);
		n->failed += cudaEventRecord(end ? g->to : g->from, g->l.stream[0]) != cudaSuccess;
	}
}

/* Of one call in a batch, on the slowest GPU. */
static double plain_batch_ns(struct node *n, enum ceil_collective op, size_t count, uint64_t batch)
{
	float slowest = 0.0f;

	mark(n, /* end= */ false);
	for (uint64_t k = 0; k < batch; k++)
		plain_start(n, op, count);
	mark(n, /* end= */ true);
	for (int i = 0; i < n->count; i++) {
		float ms = 0.0f;

		n->failed += cudaStreamSynchronize(n->gpu[i].l.stream[0]) != cudaSuccess;
		n->failed += cudaEventElapsedTime(&ms, n->gpu[i].from, n->gpu[i].to) != cudaSuccess;
		slowest = ms > slowest ? ms : slowest;
	}
	return slowest * 1e6 / (double)batch;
}

static double plain_rate_ns(struct node *n, enum ceil_collective op, size_t count, uint64_t batch)
{
	double ns[BATCHES];

	(void)plain_batch_ns(n, op, count, 2); /* connections are made by the first call */
	for (int i = 0; i < BATCHES; i++)
		ns[i] = plain_batch_ns(n, op, count, batch);
	return median(ns, BATCHES);
}

/* ---- ours: a thread a GPU, as in a run */

struct one {
	struct gpu *gpu;
	const struct ceil_point *point;
	const struct ceil_effort *effort;
	struct ceil_outcome o;
};

static void *measure(void *arg)
{
	struct one *x = arg;
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_meter_point(x->gpu->meter, x->point, x->effort, CEIL_SEARCH, &x->o, &err) !=
	    CEIL_OK)
		printf("# %s\n", err.text);
	return NULL;
}

/* @ret_count: elements of a call; @ret_batch: calls of a sample. Return: ns of a call. */
static double ours(struct node *n, const char *variant, uint64_t bytes,
                   const struct ceil_effort *effort, size_t *ret_count, uint64_t *ret_batch)
{
	const struct ceil_case cas = {.name = variant, .axis = {bytes}};
	struct ceil_point p = {.bench = &ceil_collective_bench, .cas = &cas};
	struct one x[MOST_GPUS] = {{0}};
	double ns;

	for (size_t i = 0; i < p.bench->variant_count; i++) {
		if (strcmp(p.bench->variants[i].name, variant) == 0)
			p.variant = &p.bench->variants[i];
	}
	for (int i = 0; i < n->count; i++) {
		x[i] = (struct one){.gpu = &n->gpu[i], .point = &p, .effort = effort};
		if (pthread_create(&n->gpu[i].thread, NULL, measure, &x[i]))
			exit(1);
	}
	for (int i = 0; i < n->count; i++) {
		(void)pthread_join(n->gpu[i].thread, NULL);
		if (x[i].o.status != CEIL_ROW_OK || !x[i].o.checked)
			ok(false, "%s is measured: %s", variant, x[i].o.reason);
	}
	ns = x[0].o.stats.median;
	*ret_count = x[0].o.launch.n;
	*ret_batch = x[0].o.series.count > 0 ? x[0].o.series.v[x[0].o.series.count - 1].batch : 1;
	for (int i = 0; i < n->count; i++)
		ceil_outcome_done(&x[i].o);
	return ns;
}

/* ---- pairs */

static void test_latency(struct node *n)
{
	double ratio[LATENCY_PAIRS];
	size_t count = 0;
	uint64_t batch = 0;

	(void)plain_latency_ns(n); /* wakes the GPU */
	for (int i = 0; i < LATENCY_PAIRS; i++) {
		const double plain = plain_latency_ns(n);
		const double here =
			ours(n, "all_reduce.latency.sum.fp32", 8, &single, &count, &batch);

		printf("# latency: ours %.3f us, plain %.3f us\n", here * 1e-3, plain * 1e-3);
		ratio[i] = here / plain;
	}
	const double typical = median(ratio, LATENCY_PAIRS);

	ok(typical <= 1.05, "all_reduce of 8 B on %d GPUs: ours over plain %.4f (%.4f to %.4f)",
	   n->count, typical, ratio[0], ratio[LATENCY_PAIRS - 1]);
}

static void test_rate(struct node *n, const char *variant, uint64_t bytes)
{
	const struct ceil_variant v = {.name = variant, .backend = "cuda"};
	const struct ceil_collective_form f = ceil_collective_form_of(&v);
	const double factor = f.info->factor((double)n->count);
	double ratio[RATE_PAIRS];
	double plain = 0.0;

	for (int i = 0; i < RATE_PAIRS; i++) {
		size_t count = 0;
		uint64_t batch = 1;
		const double here = ours(n, variant, bytes, &batches, &count, &batch);

		plain = plain_rate_ns(n, f.operation, count, batch);
		ratio[i] = plain / here;
	}
	const double typical = median(ratio, RATE_PAIRS);

	ok(typical >= 0.99, "%s of %llu MiB: busbw over plain %.4f (%.4f to %.4f), plain %.1f GB/s",
	   variant, (unsigned long long)(bytes / MIB), typical, ratio[0], ratio[RATE_PAIRS - 1],
	   (double)bytes * factor / plain);
}

static void test_rates(struct node *n)
{
	static const char *const variants[] = {
		"all_reduce.sum.fp32", "all_gather.copy.fp32", "reduce_scatter.sum.fp32",
		"broadcast.copy.fp32", "reduce.sum.fp32",      "all_to_all.copy.fp32",
		"send_recv.copy.fp32",
	};

	if (n->count < 2) {
		skip("rates beside a plain loop", "there is one GPU, which has no wire");
		return;
	}
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		test_rate(n, variants[i], 64 * MIB);
		test_rate(n, variants[i], GIB);
	}
}

/* ---- set-up */

static enum ceil_status open_gpu(struct node *n, int i, struct ceil_error *err)
{
	const struct ceil_meter_options options = {.seed = 3};
	const struct ceil_buffer b = {
		.role = CEIL_INPUT, .dtype = CEIL_FP32, .numa_node = -1, .bytes = GIB};
	struct gpu *g = &n->gpu[i];
	enum ceil_status st = ceil_cuda_backend.open(i, &g->dev, err);

	if (st != CEIL_OK)
		return st;
	g->dev->team = ceil_team_local_member(n->local, (unsigned)i);
	g->dev->props.rank = (unsigned)i;
	g->dev->props.ranks = (unsigned)n->count;
	st = ceil_meter_open(g->dev, &options, &g->meter, err);
	if (st == CEIL_OK)
		st = g->dev->backend->bind(g->dev, &g->l, err);
	if (st == CEIL_OK)
		st = g->dev->backend->alloc(g->dev, &b, &g->send, err);
	if (st == CEIL_OK)
		st = g->dev->backend->alloc(g->dev, &b, &g->recv, err);
	if (st == CEIL_OK)
		st = g->dev->backend->fill(g->dev, &b, g->send, 0, CEIL_NORMAL, 3, err);
	if (st != CEIL_OK ||
	    (cudaEventCreate(&g->from) == cudaSuccess && cudaEventCreate(&g->to) == cudaSuccess))
		return st;
	return ceil_fail(err, CEIL_E_DEVICE, "cudaEventCreate");
}

static void open_plain(struct node *n)
{
	struct ceil_nccl_id id;

	n->failed += n->nccl.get_unique_id(&id) != CEIL_NCCL_OK;
	n->failed += n->nccl.group_start() != CEIL_NCCL_OK;
	for (int i = 0; i < n->count; i++) {
		(void)cudaSetDevice(i);
		n->failed += n->nccl.comm_init_rank(&n->gpu[i].comm, n->count, id, i);
	}
	n->failed += n->nccl.group_end() != CEIL_NCCL_OK;
}

static void close_all(struct node *n)
{
	for (int i = 0; i < n->count; i++) {
		(void)n->nccl.comm_destroy(n->gpu[i].comm); /* the process ends */
		ceil_meter_close(n->gpu[i].meter);
	}
	ceil_team_local_close(n->local);
	for (int i = 0; i < n->count; i++)
		ceil_cuda_backend.close(n->gpu[i].dev);
}

int main(void)
{
	static struct node n;
	struct ceil_error err = {CEIL_OK, ""};
	size_t count = 0;
	uint64_t batch = 0;

	if (getenv("GPUCEIL_TEST_SMALL"))
		skip_all("times mean nothing under a sanitizer");
	if (ceil_cuda_backend.count(&n.count, &err) != CEIL_OK || n.count == 0 ||
	    ceil_dynlib_open(&library, &n.nccl, &n.lib, &err) != CEIL_OK)
		skip_all(err.text);
	n.count = n.count < MOST_GPUS ? n.count : MOST_GPUS;
	if (ceil_team_local_open((unsigned)n.count, &n.local, &err) != CEIL_OK)
		return 1;
	for (int i = 0; i < n.count; i++) {
		if (!ok(open_gpu(&n, i, &err) == CEIL_OK, "GPU %d opens: %s", i, err.text))
			return done_testing();
	}
	/* The bench is the first to call NCCL in a run, too: it directs its log. */
	(void)ours(&n, "all_reduce.latency.sum.fp32", 8, &single, &count, &batch);
	open_plain(&n);
	test_latency(&n);
	test_rates(&n);
	is_int(n.failed, 0, "no call of a plain loop failed");
	close_all(&n);
	return done_testing();
}
