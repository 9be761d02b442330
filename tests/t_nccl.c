/* Communicators of NCCL on a stand-in: threads that fail late or never end, and where the log is.
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

/* ---- what ran: in a log of ours, or why not */

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		exit(1);
}

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
	if (setenv("GPUCEIL_LIB_NCCL", fake, 1))
		return 1;
	test_late_failure();
	set("NCCL_DEBUG_FILE", NULL);
	test_no_log();
	test_own_log();
	return done_testing();
}
