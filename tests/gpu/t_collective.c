/* The collective bench through NCCL on all GPUs of this machine: exact at small sizes, and it ends.
 */
#include "bench/collective.h"
#include "harness/device/cuda.h"
#include "harness/device/team.h"
#include "harness/measure/loop.h"
#include "harness/measure/plan.h"
#include "tests/tap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GPUS = 8 };

struct rank {
	struct ceil_device *dev;
	struct ceil_plan plan;
	pthread_t thread;
	size_t exact, wrong;
};

static void note(struct rank *r, const struct ceil_outcome *o)
{
	const bool older = o->status == CEIL_ROW_UNSUPPORTED;

	r->exact += o->checked;
	r->wrong += !o->checked && !older;
	if (!o->checked)
		printf("# rank %u: %s %s: %s\n", r->dev->props.rank, o->point.variant->name,
		       o->point.cas->name, o->reason);
}

static void *measure(void *arg)
{
	const struct ceil_effort least = {.name = "least",
	                                  .min_samples = 1,
	                                  .max_samples = 1,
	                                  .sample_ns = 1,
	                                  .budget_ns = 1};
	const struct ceil_meter_options options = {.seed = 3};
	struct rank *r = arg;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_meter *m = NULL;

	if (ceil_meter_open(r->dev, &options, &m, &err) != CEIL_OK)
		exit(1);
	for (size_t i = 0; i < r->plan.count; i++) {
		struct ceil_outcome o;

		if (ceil_meter_point(m, &r->plan.v[i].point, &least, CEIL_SEARCH, &o, &err) !=
		    CEIL_OK)
			printf("# %s\n", err.text);
		note(r, &o);
		ceil_outcome_done(&o);
	}
	ceil_team_drop(r->dev->team);
	ceil_meter_close(m);
	return NULL;
}

static void open_rank(struct rank *r, unsigned rank, unsigned ranks, struct ceil_team_local *local)
{
	/* Odd sizes, a part that is not whole, and one where a hash decides. */
	static struct ceil_own_case own[] = {
		{.cas = {.name = "8", .axis = {8}}},
		{.cas = {.name = "100004", .axis = {100004}}},
		{.cas = {.name = "3000000", .axis = {3000000}}},
	};
	struct ceil_filter f = {.own = own, .own_count = sizeof(own) / sizeof(own[0])};
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_cuda_backend.open((int)rank, &r->dev, &err) != CEIL_OK)
		skip_all(err.text);
	r->dev->team = ceil_team_local_member(local, rank);
	r->dev->props.rank = rank;
	r->dev->props.ranks = ranks;
	if (ceil_list_add(&f.benches, "collective", &err) != CEIL_OK ||
	    ceil_plan_make(&f, "cuda", &r->dev->props, NULL, &r->plan, &err) != CEIL_OK)
		exit(1);
}

static void test_ranks(unsigned ranks)
{
	struct ceil_team_local *local = NULL;
	struct rank r[MOST_GPUS] = {{0}};

	if (ceil_team_local_open(ranks, &local, /* err= */ NULL) != CEIL_OK)
		exit(1);
	for (unsigned i = 0; i < ranks; i++)
		open_rank(&r[i], i, ranks, local);
	for (unsigned i = 0; i < ranks; i++) {
		if (pthread_create(&r[i].thread, NULL, measure, &r[i]))
			exit(1);
	}
	for (unsigned i = 0; i < ranks; i++)
		(void)pthread_join(r[i].thread, NULL);
	for (unsigned i = 0; i < ranks; i++) {
		is_int((long long)r[i].wrong, 0, "every result is exact");
		ok(r[i].exact > 60, "rank %u of %u: %zu of them", i, ranks, r[i].exact);
		ceil_plan_done(&r[i].plan);
		ceil_cuda_backend.close(r[i].dev);
	}
	ceil_team_local_close(local);
}

int main(void)
{
	struct ceil_nccl_info info;
	struct ceil_error err;
	int count = 0;

	if (ceil_cuda_backend.count(&count, &err) != CEIL_OK)
		skip_all(err.text);
	if (ceil_nccl_info_read(&info, &err) != CEIL_OK)
		skip_all(err.text);
	printf("# NCCL %s, %d GPUs\n", info.version, count);
	test_ranks(1);
	if (count > 1)
		test_ranks(count < MOST_GPUS ? (unsigned)count : MOST_GPUS);
	else
		skip("several ranks", "there is one GPU");
	return done_testing();
}
