/* Teams of threads: what one member sees alone becomes common, and nobody waits for ever. */
#include "harness/device/team.h"
#include "tests/tap.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 3 };

struct member {
	struct ceil_team *team;
	enum ceil_status mine, got, followed, slowest, met;
	struct ceil_error err, met_err;
	uint64_t value;
	double times[2];
	const char *where;
	bool absent;
};

static void *act(void *arg)
{
	struct member *m = arg;

	if (m->absent)
		return NULL;
	m->got = ceil_team_agree(m->team, m->mine, &m->err);
	m->followed = ceil_team_follow(m->team, &m->value, sizeof(m->value), NULL);
	m->slowest = ceil_team_slowest(m->team, m->times, 2, NULL);
	m->met = ceil_team_meet(m->team, m->where, &m->met_err);
	return NULL;
}

static void open_team(struct ceil_team_local **ret_local, struct member *m)
{
	if (ceil_team_local_open(SIZE, ret_local, NULL) != CEIL_OK)
		exit(1);
	for (unsigned i = 0; i < SIZE; i++) {
		m[i] = (struct member){.team = ceil_team_local_member(*ret_local, i),
		                       .value = 10 + i,
		                       .times = {(double)i, i == 1 ? (double)NAN : 1.0},
		                       .where = "dram"};
	}
}

static void run(struct member *m)
{
	pthread_t threads[SIZE];

	for (int i = 0; i < SIZE; i++) {
		if (pthread_create(&threads[i], NULL, act, &m[i]))
			exit(1);
	}
	for (int i = 0; i < SIZE; i++)
		(void)pthread_join(threads[i], NULL);
}

static void test_together(void)
{
	struct ceil_team_local *local = NULL;
	struct member m[SIZE];

	open_team(&local, m);
	run(m);
	for (int i = 0; i < SIZE; i++) {
		is_int(m[i].got, CEIL_OK, "all is well");
		is_u64(m[i].value, 10, "rank 0 decides");
		is_close(m[i].times[0], 2.0, 0.0, "the slowest counts");
		ok(isnan(m[i].times[1]), "and who has no time leaves none");
		is_int(m[i].met, CEIL_OK, "all meet");
	}
	ceil_team_local_close(local);
}

static void test_failure(void)
{
	struct ceil_team_local *local = NULL;
	struct member m[SIZE];

	open_team(&local, m);
	m[1].mine = ceil_fail(&m[1].err, CEIL_E_TIMEOUT, "gpu1 did not answer");
	m[2].where = "gemm";
	run(m);
	is_int(m[0].got, CEIL_E_DEVICE, "another's device that hangs is a failure here");
	is_text(m[0].err.text, "rank 1: gpu1 did not answer", "with the rank");
	is_int(m[1].got, CEIL_E_TIMEOUT, "the one that hangs knows it");
	is_int(m[2].got, CEIL_E_DEVICE, "all know");
	is_int(m[0].met, CEIL_E_USAGE, "members that differ in what they do");
	has_text(m[0].met_err.text, "rank 0 is at dram and rank 2 at gemm", "are named");
	ceil_team_local_close(local);
}

static void test_absence(void)
{
	struct ceil_team_local *local = NULL;
	struct member m[SIZE];

	open_team(&local, m);
	for (int i = 0; i < SIZE; i++)
		m[i].team->timeout_ns = 50000000;
	m[2].absent = true;
	run(m);
	is_int(m[0].got, CEIL_E_DEVICE, "who does not come is not waited for for ever");
	has_text(m[0].err.text, "did not come within", "said so");
	is_int(m[1].got, CEIL_E_DEVICE, "by all");
	ceil_team_local_close(local);
}

static int dropped;

static void drop(void *kept)
{
	(void)kept;
	dropped++;
}

static void test_alone(void)
{
	struct ceil_team_local *local = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	char large[CEIL_TEAM_BYTES + 1] = "";
	struct ceil_team *t;
	uint64_t value = 5;

	is_int(ceil_team_agree(NULL, CEIL_E_WRONG, &err), CEIL_E_WRONG, "no team: one decides");
	is_int(ceil_team_follow(NULL, &value, sizeof(value), &err), CEIL_OK, "and follows itself");
	is_int(ceil_team_meet(NULL, "x", &err), CEIL_OK, "and waits for nobody");
	ceil_team_drop(NULL);
	is_int(ceil_team_local_open(1, &local, &err), CEIL_OK, "a team of one");
	t = ceil_team_local_member(local, 0);
	is_int(ceil_team_agree(t, CEIL_E_WRONG, &err), CEIL_E_WRONG, "is the same");
	is_int(t->gather(t, large, large, sizeof(large), 0, &err), CEIL_E_USAGE,
	       "too much at once");
	has_text(err.text, "16384 bytes at most, not 16385", "is refused");
	t->kept = &value;
	t->drop = drop;
	ceil_team_local_close(local);
	is_int(dropped, 1, "what is kept is dropped with the team");
	ceil_team_local_close(NULL);
}

int main(void)
{
	test_together();
	test_failure();
	test_absence();
	test_alone();
	return done_testing();
}
