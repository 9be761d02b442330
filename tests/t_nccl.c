/* Communicators of NCCL on a stand-in: what fails late or never ends, and where the log is.
 */
#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/device/host.h"
#include "harness/device/nccl.h"
#include "tests/fakes.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		exit(1);
}

/* ---- a device whose threads are slow to end */

/* Of the thread of ncclCommInitRank: longer than the second and a half until it is looked for. */
#define ENDING_NS (3 * (uint64_t)CEIL_NS_PER_S)

static pthread_key_t ending;

static void end_late(void *value)
{
	(void)value;
	ceil_sleep_ns(ENDING_NS);
}

static enum ceil_status bind_badly(struct ceil_device *dev, struct ceil_launch *l,
                                   struct ceil_error *err)
{
	(void)dev, (void)l;
	if (pthread_setspecific(ending, &ending))
		exit(1);
	return ceil_fail(err, CEIL_E_DEVICE, "bind: the GPU is off the bus");
}

/* The thread has its answer when the time is over, and has not ended. */
static void test_late_failure(void)
{
	struct ceil_backend slow = ceil_host_backend;
	struct ceil_device dev = {.backend = &slow};
	struct ceil_nccl_comm *comm = NULL;
	struct ceil_nccl_id id;
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st = CEIL_E_TIMEOUT;

	if (pthread_key_create(&ending, end_late))
		exit(1);
	slow.bind = bind_badly;
	is_int(ceil_nccl_id_make(&id, &err), CEIL_OK, "an id");
	/* Where a machine is so busy that the thread has no answer in time, once more. */
	for (int i = 0; i < 5 && st == CEIL_E_TIMEOUT; i++) {
		err.text[0] = '\0';
		st = ceil_nccl_comm_open(&dev, &id, 0, 1, CEIL_NS_PER_S / 2, &comm, &err);
	}
	is_int(st, CEIL_E_DEVICE, "a thread that failed, and ends late");
	is_text(err.text, "bind: the GPU is off the bus", "says why");
	ok(!comm, "there is no communicator");
	(void)pthread_key_delete(ending);
}

/* ---- collectives that do not end by themselves */

static struct ceil_nccl_comm *running;

static enum ceil_status bind_well(struct ceil_device *dev, struct ceil_launch *l,
                                  struct ceil_error *err)
{
	(void)dev, (void)l, (void)err;
	return CEIL_OK;
}

/* Kernels of NCCL end when their communicator is thrown away. */
static enum ceil_status ends_with_comm(struct ceil_device *dev, int stream, bool *ret_done,
                                       struct ceil_error *err)
{
	(void)dev, (void)stream, (void)err;
	*ret_done = ceil_nccl_comm_broken(running);
	return CEIL_OK;
}

static enum ceil_status never_ends(struct ceil_device *dev, int stream, bool *ret_done,
                                   struct ceil_error *err)
{
	(void)dev, (void)stream, (void)err;
	*ret_done = false;
	return CEIL_OK;
}

/* Starts an all-reduce of one rank, which has no end but the one of done. */
static enum ceil_status settle(struct ceil_backend *b, uint64_t timeout_ns, struct ceil_error *err)
{
	float x[2] = {0};
	const struct ceil_nccl_call call = {.operation = CEIL_ALL_REDUCE,
	                                    .dtype = CEIL_FP32,
	                                    .send = &x[0],
	                                    .recv = &x[1],
	                                    .count = 1};
	struct ceil_device dev = {.backend = b};
	struct ceil_nccl_id id;
	enum ceil_status st;

	b->bind = bind_well;
	if (ceil_nccl_id_make(&id, err) != CEIL_OK ||
	    ceil_nccl_comm_open(&dev, &id, 0, 1, 60 * (uint64_t)CEIL_NS_PER_S, &running, err) !=
	            CEIL_OK)
		exit(1);
	ceil_nccl_timeout(running, timeout_ns);
	st = ceil_nccl_start(running, &call, /* stream= */ NULL, err);
	if (st == CEIL_OK)
		st = ceil_nccl_settle(running, err);
	ok(ceil_nccl_comm_broken(running), "of the communicator nothing is left");
	ceil_nccl_comm_close(running);
	return st;
}

static void test_without_end(void)
{
	const uint64_t minute_ns = 60 * (uint64_t)CEIL_NS_PER_S;
	struct ceil_backend b = ceil_host_backend;
	struct ceil_error err = {CEIL_OK, ""};

	b.done = ends_with_comm;
	set("FAKE_NCCL_ASYNC", "6");
	is_int(settle(&b, minute_ns, &err), CEIL_E_DEVICE, "another rank is gone");
	has_text(err.text, "NCCL, while a collective ran: remote process exited",
	         "which NCCL says before the time is over");
	set("FAKE_NCCL_ASYNC", NULL);
	is_int(settle(&b, minute_ns / 600, &err), CEIL_E_DEVICE, "another rank hangs");
	has_text(err.text, "no end within 0.1 s: the communicator was aborted",
	         "which the watchdog says");
	b.done = never_ends;
	is_int(settle(&b, minute_ns / 600, &err), CEIL_E_TIMEOUT, "kernels that stay");
	has_text(err.text, "kernels of an aborted communicator do not end", "cost the device");
}

/* ---- what ran: in a log of ours, or why not */

static void is_unknown(const char *why, const char *name)
{
	struct ceil_nccl_log *log = ceil_nccl_log_open();
	char text[96];

	/* A log that is not ours is not switched: no communicator is needed. */
	ceil_nccl_log_begin(log, /* comm= */ NULL);
	ceil_nccl_log_end(log, /* comm= */ NULL, text, sizeof(text));
	is_text(text, why, name);
	ceil_nccl_log_close(log);
}

static void test_no_log(void)
{
	set("NCCL_DEBUG", "INFO");
	is_unknown("unknown: NCCL_DEBUG is set, its log is not ours", "a log of the user's");
	is_text(getenv("NCCL_DEBUG"), "INFO", "is left alone");
	set("NCCL_DEBUG", NULL);
	set("TMPDIR", "/nonexistent");
	is_unknown("unknown: no file for NCCL's log in /nonexistent: No such file or directory",
	           "a folder that is not there");
	ok(!getenv("NCCL_DEBUG"), "switches nothing on");
	ceil_alloc_fail_at(1);
	is_unknown("unknown: no memory for a log", "nor does a lack of memory");
	ceil_alloc_fail_at(0);
	set("TMPDIR", NULL);
}

static void test_own_log(void)
{
	const char *dir = scratch_path("");
	struct ceil_nccl_log *log;
	char path[512];

	set("TMPDIR", dir);
	log = ceil_nccl_log_open();
	if (!ok(log && getenv("NCCL_DEBUG_FILE"), "a log of our own"))
		return;
	snprintf(path, sizeof(path), "%s", getenv("NCCL_DEBUG_FILE"));
	ok(strncmp(path, dir, strlen(dir)) == 0 && access(path, F_OK) == 0, "is a file in TMPDIR");
	is_text(getenv("NCCL_DEBUG"), "WARN", "that is silent for now");
	ceil_nccl_log_close(log);
	ok(access(path, F_OK) != 0 && !getenv("NCCL_DEBUG_FILE") && !getenv("NCCL_DEBUG"),
	   "which nothing is left of");
	set("TMPDIR", NULL);
}

int main(void)
{
	char fake[FAKE_PATH_MAX];

	if (!fake_path("nccl", fake)) {
		skip("runs", "the stand-in library is not built");
		return done_testing();
	}
	set("GPUCEIL_LIB_NCCL", fake);
	test_late_failure();
	test_without_end();
	set("NCCL_DEBUG_FILE", NULL);
	test_no_log();
	test_own_log();
	return done_testing();
}
