/* What members of a team decide together, and teams whose members are threads of one process. */
#include "harness/device/team.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"

#define DEFAULT_TIMEOUT_NS (60 * (uint64_t)CEIL_NS_PER_S)
/* Members that start a sample together must not be a wake-up apart: look without a pause first. */
#define SPIN_NS  500000u
#define SLEEP_NS 20000u

static bool alone(const struct ceil_team *t)
{
	return !t || t->size <= 1;
}

static enum ceil_status exchange(struct ceil_team *t, const void *mine, void *all, size_t bytes,
                                 struct ceil_error *err)
{
	const enum ceil_status st = t->gather(
		t, mine, all, bytes, t->timeout_ns ? t->timeout_ns : DEFAULT_TIMEOUT_NS, err);

	t->met_ns = ceil_now_ns();
	return st;
}

/* ---- decisions */

struct words {
	uint64_t after_ns; /* the last meeting */
	int status;
	char text[200];
};

/* The words of the one that failed first; the others' devices are not this member's. */
static enum ceil_status take_failure(struct ceil_team *t, enum ceil_status own, uint64_t after_ns,
                                     struct ceil_error *err)
{
	const struct words *all = t->scratch;
	struct words mine = {.after_ns = after_ns, .status = (int)own};
	const struct words *first = NULL;
	enum ceil_status st;

	if (own != CEIL_OK)
		ceil_copy(mine.text, sizeof(mine.text), err->text);
	st = exchange(t, &mine, t->scratch, sizeof(mine), err);
	for (unsigned i = 0; st == CEIL_OK && i < t->size; i++) {
		if (all[i].status != CEIL_OK && (!first || all[i].after_ns < first->after_ns))
			first = &all[i];
	}
	if (!first)
		return st != CEIL_OK ? st : own;
	st = own != CEIL_OK                    ? own
	     : first->status == CEIL_E_TIMEOUT ? CEIL_E_DEVICE
	                                       : (enum ceil_status)first->status;
	/* What was common before has its rank already. */
	if (strncmp(first->text, "rank ", 5) == 0)
		return ceil_fail(err, st, "%s", first->text);
	return ceil_fail(err, st, "rank %u: %s", (unsigned)(first - all), first->text);
}

enum ceil_status ceil_team_agree(struct ceil_team *t, enum ceil_status mine, struct ceil_error *err)
{
	const uint64_t after_ns = t ? ceil_now_ns() - t->met_ns : 0;
	const int status = (int)mine;
	bool bad = false;
	enum ceil_status st;

	if (alone(t))
		return mine;
	st = exchange(t, &status, t->scratch, sizeof(status), mine == CEIL_OK ? err : NULL);
	for (unsigned i = 0; st == CEIL_OK && i < t->size; i++)
		bad |= ((const int *)t->scratch)[i] != CEIL_OK;
	if (bad)
		return take_failure(t, mine, after_ns, err);
	/* If the others are gone, what is known here is all. */
	return st != CEIL_OK && mine != CEIL_OK ? mine : st;
}

enum ceil_status ceil_team_follow(struct ceil_team *t, void *value, size_t bytes,
                                  struct ceil_error *err)
{
	enum ceil_status st;

	if (alone(t))
		return CEIL_OK;
	st = exchange(t, value, t->scratch, bytes, err);
	if (st == CEIL_OK)
		memcpy(value, t->scratch, bytes);
	return st;
}

enum ceil_status ceil_team_slowest(struct ceil_team *t, double *times_ns, size_t count,
                                   struct ceil_error *err)
{
	const double *all;
	enum ceil_status st;

	if (alone(t))
		return CEIL_OK;
	all = t->scratch;
	st = exchange(t, times_ns, t->scratch, count * sizeof(*all), err);
	for (size_t i = 0; st == CEIL_OK && i < count; i++) {
		double longest = 0.0;

		/* NAN, once it is there, stays: no comparison with it holds. */
		for (unsigned r = 0; r < t->size; r++) {
			const double x = all[r * count + i];

			if (!(x <= longest) && !isnan(longest))
				longest = x;
		}
		times_ns[i] = longest;
	}
	return st;
}

enum ceil_status ceil_team_meet(struct ceil_team *t, const char *what, struct ceil_error *err)
{
	struct words mine = {0};
	const struct words *all;
	enum ceil_status st;

	if (alone(t))
		return CEIL_OK;
	all = t->scratch;
	ceil_copy(mine.text, sizeof(mine.text), what);
	st = t->gather(t, &mine, t->scratch, sizeof(mine), /* timeout_ns= */ 0, err);
	for (unsigned i = 0; st == CEIL_OK && i < t->size; i++) {
		if (strcmp(all[i].text, mine.text) != 0)
			st = ceil_fail(err, CEIL_E_USAGE,
			               "rank %u is at %.60s and rank %u at %.60s: the ranks differ "
			               "in what they measure",
			               t->rank, mine.text, i, all[i].text);
	}
	return st;
}

void ceil_team_drop(struct ceil_team *t)
{
	if (t && t->kept && t->drop)
		t->drop(t->kept);
	if (t)
		t->kept = NULL;
}

/* ---- threads */

struct ceil_team_local {
	unsigned size;
	atomic_uint arrived, generation;
	atomic_bool broken; /* someone did not come: nobody waits again */
	char *slots;        /* size x CEIL_TEAM_BYTES */
	struct member *members;
};

struct member {
	struct ceil_team base;
	struct ceil_team_local *local;
};

static enum ceil_status wait_for(struct ceil_team_local *m, unsigned generation,
                                 uint64_t timeout_ns, struct ceil_error *err)
{
	const uint64_t from_ns = ceil_now_ns();

	while (atomic_load(&m->generation) == generation) {
		const uint64_t waited_ns = ceil_now_ns() - from_ns;

		if (timeout_ns && waited_ns > timeout_ns)
			atomic_store(&m->broken, true);
		if (atomic_load(&m->broken))
			return ceil_fail(err, CEIL_E_DEVICE,
			                 "another GPU of this process did not come within %.0f s",
			                 (double)timeout_ns * 1e-9);
		if (waited_ns > SPIN_NS)
			ceil_sleep_ns(SLEEP_NS);
		else
			(void)sched_yield(); /* cannot fail */
	}
	return CEIL_OK;
}

static enum ceil_status barrier(struct ceil_team_local *m, uint64_t timeout_ns,
                                struct ceil_error *err)
{
	const unsigned generation = atomic_load(&m->generation);

	if (atomic_fetch_add(&m->arrived, 1) + 1 < m->size)
		return wait_for(m, generation, timeout_ns, err);
	atomic_store(&m->arrived, 0);
	atomic_fetch_add(&m->generation, 1);
	return CEIL_OK;
}

static enum ceil_status local_gather(struct ceil_team *t, const void *mine, void *ret_all,
                                     size_t bytes, uint64_t timeout_ns, struct ceil_error *err)
{
	struct ceil_team_local *m = ((struct member *)t)->local;
	enum ceil_status st;

	if (bytes > CEIL_TEAM_BYTES)
		return ceil_fail(err, CEIL_E_USAGE, "a team exchanges %d bytes at most, not %zu",
		                 CEIL_TEAM_BYTES, bytes);
	if (atomic_load(&m->broken))
		return ceil_fail(err, CEIL_E_DEVICE,
		                 "another GPU of this process did not come before");
	memcpy(m->slots + (size_t)t->rank * CEIL_TEAM_BYTES, mine, bytes);
	st = barrier(m, timeout_ns, err);
	if (st != CEIL_OK)
		return st;
	for (unsigned i = 0; i < t->size; i++)
		memcpy((char *)ret_all + i * bytes, m->slots + (size_t)i * CEIL_TEAM_BYTES, bytes);
	/* Nobody writes its slot again before all have read. */
	return barrier(m, timeout_ns, err);
}

enum ceil_status ceil_team_local_open(unsigned size, struct ceil_team_local **ret_local,
                                      struct ceil_error *err)
{
	struct ceil_team_local *local = ceil_alloc(1, sizeof(*local), err);

	if (!local)
		return CEIL_E_NOMEM;
	local->size = size;
	local->members = ceil_alloc(size, sizeof(*local->members), err);
	local->slots = local->members ? ceil_alloc(size, CEIL_TEAM_BYTES, err) : NULL;
	bool whole = local->slots != NULL;

	for (unsigned i = 0; i < size && whole; i++) {
		local->members[i].base = (struct ceil_team){
			.rank = i,
			.size = size,
			.gather = local_gather,
			.scratch = ceil_alloc(size, CEIL_TEAM_BYTES, err),
		};
		local->members[i].local = local;
		whole = local->members[i].base.scratch != NULL;
	}
	if (!whole) {
		ceil_team_local_close(local);
		return CEIL_E_NOMEM;
	}
	*ret_local = local;
	return CEIL_OK;
}

struct ceil_team *ceil_team_local_member(struct ceil_team_local *local, unsigned rank)
{
	return &local->members[rank].base;
}

void ceil_team_local_close(struct ceil_team_local *local)
{
	if (!local)
		return;
	for (unsigned i = 0; local->members && i < local->size; i++) {
		ceil_team_drop(&local->members[i].base);
		free(local->members[i].base.scratch);
	}
	free(local->slots);
	free(local->members);
	free(local);
}
