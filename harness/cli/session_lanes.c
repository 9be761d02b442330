/* The devices of a run: opened, joined to teams, their plans fitted to the budget. */
#include "harness/cli/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Host rows: where they are all there is, and beside a GPU. */
#define HOST_ALONE_S  60.0
#define HOST_BESIDE_S 14.0

static bool is_gpu(const struct ceil_device *dev)
{
	return strcmp(dev->backend->name, "host") != 0;
}

bool ceil_session_has_gpu(const struct ceil_session *s)
{
	for (size_t i = 0; i < s->lane_count; i++) {
		if (is_gpu(s->lanes[i].dev))
			return true;
	}
	return false;
}

double ceil_session_host_s(const struct ceil_session *s)
{
	const double all = ceil_bench_budget_s(s->o);

	if (ceil_session_has_gpu(s))
		return fmin(all, HOST_BESIDE_S);
	return s->o->budget_ns ? all : fmin(all, HOST_ALONE_S);
}

/* The parts of the host share their time: they have the same cores. */
static void fit_plans(struct ceil_session *s)
{
	const struct ceil_sharing alone = {.devices = 1};
	unsigned gpus = 0;

	for (size_t i = 0; i < s->lane_count; i++)
		gpus += is_gpu(s->lanes[i].dev);
	const size_t parts = s->lane_count - gpus;
	const double host_s = parts ? ceil_session_host_s(s) : 0.0;

	for (size_t i = 0; i < s->lane_count; i++) {
		struct ceil_plan *plan = &s->lanes[i].plan;

		if (is_gpu(s->lanes[i].dev))
			ceil_bench_fit_gpu(s->o, plan, host_s, gpus);
		else
			ceil_plan_fit(plan, host_s / (double)parts, alone);
	}
}

static enum ceil_status open_lane(struct ceil_session *s, const struct ceil_found *found,
                                  struct ceil_error *err)
{
	struct ceil_lane *lane = &s->lanes[s->lane_count];
	enum ceil_status st = ceil_inventory_device(found, &lane->dev, err);

	if (st != CEIL_OK)
		return st;
	lane->gpu = found->gpu;
	ceil_ranks_describe(found, &s->ways[s->lane_count]);
	s->lane_count++;
	return CEIL_OK;
}

/* Who exchanges data with whom: the processes of an MPI run, else the GPUs of this one. */
static enum ceil_status join_teams(struct ceil_session *s, struct ceil_error *err)
{
	struct ceil_rank ways[CEIL_MAX_DEVICES];
	struct ceil_device *members[CEIL_MAX_DEVICES];
	unsigned gpus = 0;
	enum ceil_status st;

	for (size_t i = 0; i < s->lane_count; i++) {
		struct ceil_device *dev = s->lanes[i].dev;

		if (s->ranks.mpi && (is_gpu(dev) || strcmp(dev->props.label, "cpu") == 0))
			ceil_ranks_join(&s->ranks, dev);
		if (!s->ranks.mpi && is_gpu(dev)) {
			ways[gpus] = s->ways[i];
			members[gpus++] = dev;
		}
	}
	if (gpus == 0)
		return CEIL_OK;
	st = ceil_team_local_open(gpus, &s->team, err);
	for (unsigned i = 0; st == CEIL_OK && i < gpus; i++) {
		struct ceil_device_props *p = &members[i]->props;

		members[i]->team = ceil_team_local_member(s->team, i);
		p->rank = i;
		p->ranks = gpus;
		ceil_ranks_fabric(ways, gpus, &p->fabric_gb_s, p->fabric, sizeof(p->fabric));
	}
	return st;
}

/* Ranks that share a machine measure its host once; together they only exchange data. */
static enum ceil_status plan_lanes(struct ceil_session *s, const struct ceil_filter *f,
                                   struct ceil_error *err)
{
	size_t kept = 0;
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < s->lane_count; i++) {
		struct ceil_lane *lane = &s->lanes[i];
		struct ceil_filter own = *f;

		own.team_only = !is_gpu(lane->dev) && !ceil_ranks_host_part(&s->ranks);
		if (st == CEIL_OK)
			st = ceil_plan_make(&own, lane->dev->backend->name, &lane->dev->props,
			                    /* why_not= */ NULL, &lane->plan, err);
		if (st == CEIL_OK && lane->plan.count > 0) {
			s->lanes[kept++] = *lane;
			continue;
		}
		ceil_plan_done(&lane->plan);
		lane->dev->backend->close(lane->dev);
	}
	s->lane_count = kept;
	fit_plans(s);
	return st;
}

/* Rows of a device or backend that gives none. */
static enum ceil_status rows_without(struct ceil_session *s, const struct ceil_filter *f,
                                     const char *backend, const struct ceil_device_props *props,
                                     enum ceil_row_status status, const char *reason,
                                     struct ceil_error *err)
{
	const struct ceil_events events = ceil_session_events(s);
	struct ceil_plan plan = {0};
	const enum ceil_status st =
		ceil_plan_make(f, backend, /* props= */ NULL, reason, &plan, err);

	if (st != CEIL_OK)
		return st;
	ceil_campaign_absent(&plan, props, status, reason, &events);
	ceil_plan_done(&plan);
	return CEIL_OK;
}

enum ceil_status ceil_session_rows_of_missing(struct ceil_session *s, const struct ceil_filter *f,
                                              struct ceil_error *err)
{
	const struct ceil_device_props nobody = {.label = "gpu",
	                                         .numa_node = -1,
	                                         .max_sm_mhz = (double)NAN,
	                                         .max_memory_mhz = (double)NAN};
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < s->inv.missing_count && st == CEIL_OK; i++) {
		const struct ceil_missing *m = &s->inv.missing[i];

		if (!ceil_ranks_host_part(&s->ranks))
			break;
		st = rows_without(s, f, m->backend->name, &nobody,
		                  m->status == CEIL_E_UNSUPPORTED && !s->o->expect_gpus
		                          ? CEIL_ROW_UNSUPPORTED
		                          : CEIL_ROW_FAILED,
		                  m->reason, err);
	}
	return st;
}

/* Opens what is found; a GPU that cannot be opened has failed rows, a busy one skipped rows. */
enum ceil_status ceil_session_open_lanes(struct ceil_session *s, const struct ceil_filter *f,
                                         struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (size_t i = 0; i < s->inv.found_count && st == CEIL_OK; i++) {
		const struct ceil_found *found = &s->inv.found[i];
		struct ceil_error own = {CEIL_OK, ""};

		if (!found->skipped && open_lane(s, found, &own) == CEIL_OK)
			continue;
		if (found->skipped)
			(void)ceil_fail(&own, CEIL_E_DEVICE, "%s", found->reason);
		/* Ranks wait for each other: one without its GPU would keep all waiting. */
		if (s->ranks.mpi) {
			st = ceil_fail(err, own.status, "%s: %s", found->props.label, own.text);
			break;
		}
		if (!found->skipped)
			fprintf(stderr, "gpuceil: %s: %s\n", found->props.label, own.text);
		if (s->run)
			st = rows_without(s, f, found->backend->name, &found->props,
			                  found->skipped ? CEIL_ROW_SKIPPED
			                                 : ceil_row_status_of(own.status),
			                  own.text, err);
	}
	if (s->ranks.mpi)
		st = ceil_team_agree(&s->ranks.mpi->team, st, err);
	if (st == CEIL_OK)
		st = join_teams(s, err);
	return st == CEIL_OK ? plan_lanes(s, f, err) : st;
}

void ceil_session_close_lanes(struct ceil_session *s)
{
	ceil_team_local_close(s->team);
	for (size_t i = 0; i < s->lane_count; i++) {
		ceil_plan_done(&s->lanes[i].plan);
		s->lanes[i].dev->backend->close(s->lanes[i].dev);
	}
	s->lane_count = 0;
}
