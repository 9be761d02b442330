/*
 * A whole run of two ranks in which one of them fails alone, at every place of its set-up: both
 * end by themselves, nobody waits for a decision that the other does not take, and rank 0 says why.
 */
#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/cli/commands.h"
#include "harness/device/mpi.h"
#include "tests/fakes.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2 };

/* Allocations that fail, one a run: from the first with MPI until rows are measured. */
enum { FIRST = 5, LAST = 44 };

/* Where a rank is waited for a minute, this is not over; nothing else takes that long. */
#define PATIENCE_NS (50 * (uint64_t)CEIL_NS_PER_S)

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		exit(1);
}

/* ---- a rank */

struct ask {
	const char *output;
	unsigned victim; /* the rank whose allocation fails */
	long fail_at;    /* which; 0: none */
};

static void be_rank(unsigned rank, const struct ask *a, const char *log)
{
	char number[16];
	char output[512];
	char words[][48] = {"bench",
	                    "collective",
	                    "--mpi",
	                    "--variant",
	                    "all_reduce.mpi.sum.fp32,all_reduce.sum.fp32",
	                    "--size",
	                    "8",
	                    "--budget",
	                    "1s",
	                    "--output"};
	char *argv[sizeof(words) / sizeof(words[0]) + 2] = {NULL};
	int argc = 0;
	const int fd = open(log, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(99);
	(void)snprintf(number, sizeof(number), "%u", rank);
	set("OMPI_COMM_WORLD_RANK", number);
	(void)snprintf(output, sizeof(output), "%s", a->output);
	for (; argc < (int)(sizeof(words) / sizeof(words[0])); argc++)
		argv[argc] = words[argc];
	argv[argc++] = output;
	if (rank == a->victim)
		ceil_alloc_fail_at(a->fail_at);
	const int status = ceil_command_bench.run(argc, argv);

	fflush(NULL);
	_exit(status);
}

/* ---- their launcher */

struct ending {
	bool over;           /* all ended by themselves, or as mpirun ends them */
	int status[RANKS];   /* as of waitpid */
	char first[1 << 15]; /* what rank 0 said */
};

static const char *log_of(unsigned rank)
{
	return scratch_path(rank ? "rank1.log" : "rank0.log");
}

/* As mpirun does: a rank that leaves with an error takes the others with it. */
static bool wait_for_all(const pid_t *pids, int *ret_status)
{
	const uint64_t from_ns = ceil_now_ns();
	bool ended[RANKS] = {false};
	unsigned left = RANKS;

	while (left > 0 && ceil_now_ns() - from_ns < PATIENCE_NS) {
		for (unsigned i = 0; i < RANKS; i++) {
			if (ended[i] || waitpid(pids[i], &ret_status[i], WNOHANG) != pids[i])
				continue;
			ended[i] = true;
			left--;
			if (ret_status[i] != 0 && left > 0)
				(void)kill(pids[1 - i], SIGTERM); /* it may be gone */
		}
		ceil_sleep_ns(CEIL_NS_PER_MS);
	}
	for (unsigned i = 0; i < RANKS; i++) {
		if (ended[i])
			continue;
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], &ret_status[i], 0);
	}
	return left == 0;
}

static void run(const struct ask *a, struct ending *ret_end)
{
	pid_t pids[RANKS];
	const char *said;

	set("FAKE_MPI_WORLD", scratch_text("world", ""));
	set("OMPI_COMM_WORLD_SIZE", "2");
	fflush(stdout);
	for (unsigned i = 0; i < RANKS; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			exit(1);
		if (pids[i] == 0)
			be_rank(i, a, log_of(i));
	}
	ret_end->over = wait_for_all(pids, ret_end->status);
	said = scratch_read(log_of(0));
	(void)snprintf(ret_end->first, sizeof(ret_end->first), "%s", said ? said : "");
}

/* ---- what must hold */

/* Words of ranks that wait for one that is elsewhere. */
static bool apart(const struct ending *e)
{
	return strstr(e->first, "truncated") || strstr(e->first, "did not come") ||
	       strstr(e->first, "had not sent");
}

/* By itself with this status, or by the launcher, where the other was first with an error. */
static bool left_with(int status, int code)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) == SIGTERM
	                           : WIFEXITED(status) && WEXITSTATUS(status) == code;
}

/* Before a rank can speak to the others it ends them without a word. */
static bool aborted(const struct ending *e)
{
	return left_with(e->status[0], 1) && left_with(e->status[1], 1) && !e->first[0];
}

/* Nothing failed; on a busy machine the first sample of a row may be unlike the rest. */
static bool sane(const struct ending *e)
{
	return e->status[0] == 0 || (WIFEXITED(e->status[0]) && WEXITSTATUS(e->status[0]) == 1 &&
	                             strstr(e->first, "suspect"));
}

/* Return: how many runs ended with words of the rank. */
static int fail_everywhere(unsigned victim)
{
	char own[40];
	int told = 0;

	(void)snprintf(own, sizeof(own), "rank %u: no memory", victim);
	for (long k = FIRST; k <= LAST; k++) {
		struct ending e;
		char out[32];

		(void)snprintf(out, sizeof(out), "out-%u-%ld", victim, k);
		const struct ask a = {scratch_path(out), victim, k};

		run(&a, &e);
		if (!ok(e.over && !apart(&e) &&
		                (sane(&e) || aborted(&e) || strstr(e.first, "no memory")),
		        "rank %u without its allocation %ld", victim, k))
			printf("# ends: %d, status %x %x: %.3000s\n", e.over, (unsigned)e.status[0],
			       (unsigned)e.status[1], e.first);
		told += strstr(e.first, own) != NULL;
	}
	return told;
}

static void test_whole(void)
{
	const struct ask a = {.output = scratch_path("whole")};
	struct ending e;

	run(&a, &e);
	ok(e.over && sane(&e) && (e.status[0] ? left_with(e.status[1], 0) : e.status[1] == 0),
	   "two ranks that lack nothing");
	has_text(e.first, "host.all_reduce.busbw", "measure together");
	ok(!apart(&e), "and are never apart");
}

static void test_no_folder(void)
{
	const struct ask a = {.output = "/proc/nobody/out"};
	struct ending e;

	run(&a, &e);
	ok(e.over, "rank 0 cannot make its folder");
	ok(left_with(e.status[0], 2), "which ends it");
	ok(left_with(e.status[1], 2), "and the other");
	has_text(e.first, "/proc/nobody", "with the reason");
}

int main(void)
{
	char path[FAKE_PATH_MAX];

	if (!ok(fake_path("mpi_world", path), "the stand-in is built"))
		return done_testing();
	set("GPUCEIL_LIB_MPI", path);
	set("CUDA_VISIBLE_DEVICES", ""); /* GPUs are missing, which has rows too */
	test_whole();
	test_no_folder();
	for (unsigned victim = 0; victim < RANKS; victim++) {
		const int told = fail_everywhere(victim);

		ok(told > 0, "%d runs ended with words of rank %u", told, victim);
	}
	return done_testing();
}
