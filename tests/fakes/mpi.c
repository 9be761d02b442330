/* A stand-in for gpuceil-mpi.so: rank 0 of two, the other of which comes or does not. */
#include "harness/device/mpi_api.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * FAKE_MPI_GONE=1   the other rank comes to nothing any more
 * FAKE_MPI_BAD=1    MPI_Improbe fails
 */
static bool is_set(const char *name)
{
	return getenv(name) != NULL;
}

static enum ceil_status fake_open(struct ceil_mpi_world *ret_world, struct ceil_error *err)
{
	(void)err;
	*ret_world =
		(struct ceil_mpi_world){.size = 2, .local_size = 2, .implementation = "a stand-in"};
	return CEIL_OK;
}

/* MPI waits here for a rank that is gone, and no test ends then. */
static void fake_close(void)
{
	if (is_set("FAKE_MPI_GONE"))
		_exit(1);
}

static void fake_abort(int exit_status)
{
	exit(exit_status);
}

/* The other rank says the same. */
static enum ceil_status fake_gather(const void *mine, void *ret_all, size_t bytes,
                                    ceil_mpi_idle_fn idle, void *user, struct ceil_error *err)
{
	const struct timespec nap = {.tv_nsec = 100000};
	enum ceil_status st = CEIL_OK;

	while (is_set("FAKE_MPI_GONE") && st == CEIL_OK) {
		st = idle(user, err);
		(void)nanosleep(&nap, NULL);
	}
	if (st != CEIL_OK)
		return st;
	memcpy(ret_all, mine, bytes);
	memcpy((char *)ret_all + bytes, mine, bytes);
	return CEIL_OK;
}

static enum ceil_status fake_send(struct ceil_mpi_world *w, const void *bytes, size_t count,
                                  struct ceil_error *err)
{
	(void)w, (void)bytes, (void)count, (void)err;
	return CEIL_OK;
}

static enum ceil_status fake_flush(struct ceil_mpi_world *w, ceil_mpi_idle_fn idle, void *user,
                                   struct ceil_error *err)
{
	(void)w, (void)idle, (void)user, (void)err;
	return CEIL_OK;
}

static enum ceil_status fake_receive(void **ret_bytes, size_t *ret_count, unsigned *ret_from,
                                     struct ceil_error *err)
{
	(void)ret_bytes, (void)ret_from;
	*ret_count = 0;
	if (!is_set("FAKE_MPI_BAD"))
		return CEIL_OK;
	*err = (struct ceil_error){CEIL_E_DEVICE, "MPI_Improbe: broken"};
	return CEIL_E_DEVICE;
}

static enum ceil_status fake_all_reduce(const void *send, void *recv, uint64_t count,
                                        enum ceil_dtype dtype, bool max, struct ceil_error *err)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	(void)send, (void)recv, (void)count, (void)dtype, (void)max, (void)err;
	while (is_set("FAKE_MPI_GONE"))
		(void)nanosleep(&nap, NULL);
	return CEIL_OK;
}

const struct ceil_mpi_api *ceil_mpi_plugin(void)
{
	static const struct ceil_mpi_api api = {
		.version = CEIL_MPI_API,
		.open = fake_open,
		.close = fake_close,
		.abort = fake_abort,
		.gather = fake_gather,
		.send = fake_send,
		.flush = fake_flush,
		.receive = fake_receive,
		.all_reduce = fake_all_reduce,
	};

	return &api;
}
