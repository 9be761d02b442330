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
	char text[200];
};

/* The words of the one that failed first; the others' devices are not this member's. */
static enum ceil_status take_failure(struct ceil_team *t, const int *status, uint64_t after_ns,
                                     struct ceil_error *err)
{
	struct words *all = ceil_alloc(t->size, sizeof(*all), err);
	struct words mine = {.after_ns = after_ns};
	unsigned first = t->size;
	enum ceil_status st;

	if (!all)
		return CEIL_E_NOMEM;
	if (status[t->rank] != CEIL_OK)
		ceil_copy(mine.text, sizeof(mine.text), err->text);
	st = exchange(t, &mine, all, sizeof(mine), err);
	for (unsigned i = 0; st == CEIL_OK && i < t->size; i++) {
		if (status[i] != CEIL_OK &&
		    (first == t->size || all[i].after_ns < all[first].after_ns))
			first = i;
	}
	if (st == CEIL_OK) {
		st = (enum ceil_status)status[first];
		if (st == CEIL_E_TIMEOUT)
			st = CEIL_E_DEVICE;
		if (status[t->rank] != CEIL_OK)
			st = (enum ceil_status)status[t->rank];
		/* What was common before has its rank already. */
		if (strncmp(all[first].text, "rank ", 5) == 0)
			st = ceil_fail(err, st, "%s", all[first].text);
		else
			st = ceil_fail(err, st, "rank %u: %s", first, all[first].text);
	}
	free(all);
	return st;
}

enum ceil_status ceil_team_agree(struct ceil_team *t, enum ceil_status mine, struct ceil_error *err)
{
	const uint64_t after_ns = t ? ceil_now_ns() - t->met_ns : 0;
	const int status = (int)mine;
	bool bad = false;
	enum ceil_status st;
	int *all;

	if (alone(t))
		return mine;
	all = ceil_alloc(t->size, sizeof(*all), mine == CEIL_OK ? err : NULL);
	if (!all)
		return mine == CEIL_OK ? CEIL_E_NOMEM : mine;
	st = exchange(t, &status, all, sizeof(status), mine == CEIL_OK ? err : NULL);
	for (unsigned i = 0; st == CEIL_OK && i < t->size; i++)
		bad |= all[i] != CEIL_OK;
	if (bad)
		st = take_failure(t, all, after_ns, err);
	else if (st != CEIL_OK && mine != CEIL_OK)
		st = mine; /* the others are gone, and this is what we know */
	free(all);
	return st;
}

enum ceil_status ceil_team_follow(struct ceil_team *t, void *value, size_t bytes,
                                  struct ceil_error *err)
{
	char *all;
	enum ceil_status st;

	if (alone(t))
		return CEIL_OK;
	all = ceil_alloc(t->size, bytes, err);
	if (!all)
		return CEIL_E_NOMEM;
	st = exchange(t, value, all, bytes, err);
	if (st == CEIL_OK)
		memcpy(value, all, bytes);
	free(all);
	return st;
}

enum ceil_status ceil_team_slowest(struct ceil_team *t, double *times_ns, size_t count,
                                   struct ceil_error *err)
{
	double *all;
	enum ceil_status st;

	if (alone(t))
		return CEIL_OK;
	all = ceil_alloc(t->size * count, sizeof(*all), err);
	if (!all)
		return CEIL_E_NOMEM;
	st = exchange(t, times_ns, all, count * sizeof(*all), err);
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
	free(all);
	return st;
}

enum ceil_status ceil_team_meet(struct ceil_team *t, const char *what, struct ceil_error *err)
{
	struct words mine = {0};
	struct words *all;
	enum ceil_status st;

	if (alone(t))
		return CEIL_OK;
	all = ceil_alloc(t->size, sizeof(*all), err);
	if (!all)
		return CEIL_E_NOMEM;
	ceil_copy(mine.text, sizeof(mine.text), what);
	st = t->gather(t, &mine, all, sizeof(mine), /* timeout_ns= */ 0, err);
	for (unsigned i = 0; st == CEIL_OK && i < t->size; i++) {
		if (strcmp(all[i].text, mine.text) != 0)
			st = ceil_fail(err, CEIL_E_USAGE,
			               "rank %u is at %.60s and rank %u at %.60s: the ranks differ "
			               "in what they measure",
			               t->rank, mine.text, i, all[i].text);
	}
	free(all);
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
	if (!local->slots) {
		ceil_team_local_close(local);
		return CEIL_E_NOMEM;
	}
	for (unsigned i = 0; i < size; i++) {
		local->members[i].base =
			(struct ceil_team){.rank = i, .size = size, .gather = local_gather};
		local->members[i].local = local;
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
	for (unsigned i = 0; local->members && i < local->size; i++)
		ceil_team_drop(&local->members[i].base);
	free(local->slots);
	free(local->members);
	free(local);
}
