/* The MPI plug-in: compiled by mpicc into gpuceil-mpi.so, loaded only with --mpi. */
#include "harness/device/mpi_api.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

enum { TAG_ROWS = 71 };

/* Waits are short when ranks start a sample together, and long when one has more to do. */
#define SPIN_NS  500000
#define SLEEP_NS 20000

/* A message that MPI still reads from. */
struct pending {
	struct pending *next;
	MPI_Request request;
	char bytes[];
};

static enum ceil_status status_of(int code, const char *call, struct ceil_error *err)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length = 0;

	if (code == MPI_SUCCESS)
		return CEIL_OK;
	(void)MPI_Error_string(code, text, &length); /* "" if it has none */
	return ceil_fail(err, CEIL_E_DEVICE, "%s: %.160s", call, text);
}

static long now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail */
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Polls, so that a rank that is gone cannot hold this one for ever. */
static enum ceil_status wait_for(MPI_Request *request, const char *call, ceil_mpi_idle_fn idle,
                                 void *user, struct ceil_error *err)
{
	const struct timespec nap = {.tv_nsec = SLEEP_NS};
	const long from = now_ns();
	int done = 0;

	for (;;) {
		enum ceil_status st =
			status_of(MPI_Test(request, &done, MPI_STATUS_IGNORE), call, err);

		if (st != CEIL_OK || done)
			return st;
		if (now_ns() - from < SPIN_NS) {
			(void)sched_yield(); /* cannot fail */
			continue;
		}
		st = idle ? idle(user, err) : CEIL_OK;
		if (st != CEIL_OK)
			return st;
		(void)nanosleep(&nap, NULL); /* a signal may end it early */
	}
}

/* ---- the world */

static enum ceil_status local_world(struct ceil_mpi_world *w, struct ceil_error *err)
{
	MPI_Comm local = MPI_COMM_NULL;
	int rank = 0;
	int size = 0;
	int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, (int)w->rank,
	                               MPI_INFO_NULL, &local);

	if (code == MPI_SUCCESS)
		code = MPI_Comm_rank(local, &rank);
	if (code == MPI_SUCCESS)
		code = MPI_Comm_size(local, &size);
	if (code == MPI_SUCCESS)
		code = MPI_Comm_free(&local);
	w->local_rank = (unsigned)rank;
	w->local_size = (unsigned)size;
	return status_of(code, "MPI_Comm_split_type", err);
}

/* "Open MPI v4.1.4, package: ..." up to the first comma or line. */
static void library_name(char *ret_text, size_t size)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length = 0;
	size_t n;

	(void)MPI_Get_library_version(text, &length); /* "" if it has none */
	n = strcspn(text, ",\n");
	n = n < size ? n : size - 1;
	memcpy(ret_text, text, n);
	ret_text[n] = '\0';
}

static enum ceil_status plugin_open(struct ceil_mpi_world *ret_world, struct ceil_error *err)
{
	struct ceil_mpi_world w = {0};
	int level = 0;
	int rank = 0;
	int size = 0;
	enum ceil_status st = status_of(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level),
	                                "MPI_Init_thread", err);

	if (st != CEIL_OK)
		return st;
	if (level < MPI_THREAD_SERIALIZED)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "this MPI was built without threads (level %d)", level);
	(void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* else it aborts */
	st = status_of(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank", err);
	if (st == CEIL_OK)
		st = status_of(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size", err);
	w.rank = (unsigned)rank;
	w.size = (unsigned)size;
	if (st == CEIL_OK)
		st = local_world(&w, err);
	library_name(w.implementation, sizeof(w.implementation));
	if (st == CEIL_OK)
		*ret_world = w;
	return st;
}

static void plugin_close(void)
{
	(void)MPI_Finalize(); /* the process ends; nobody could act on it */
}

static void plugin_abort(int exit_status)
{
	(void)MPI_Abort(MPI_COMM_WORLD, exit_status); /* does not return */
}

static enum ceil_status plugin_gather(const void *mine, void *ret_all, size_t bytes,
                                      ceil_mpi_idle_fn idle, void *user, struct ceil_error *err)
{
	MPI_Request request = MPI_REQUEST_NULL;
	enum ceil_status st;

	if (bytes > INT_MAX)
		return ceil_fail(err, CEIL_E_USAGE, "a gather of %zu bytes is too large", bytes);
	st = status_of(MPI_Iallgather(mine, (int)bytes, MPI_BYTE, ret_all, (int)bytes, MPI_BYTE,
	                              MPI_COMM_WORLD, &request),
	               "MPI_Iallgather", err);
	return st == CEIL_OK ? wait_for(&request, "MPI_Iallgather", idle, user, err) : st;
}

/* ---- rows to rank 0 */

/* Gives back what has arrived. */
static void reap(struct ceil_mpi_world *w)
{
	struct pending *left = NULL;
	struct pending *next;

	for (struct pending *p = w->pending; p; p = next) {
		int done = 0;

		next = p->next;
		if (MPI_Test(&p->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done) {
			free(p);
			continue;
		}
		p->next = left;
		left = p;
	}
	w->pending = left;
}

static enum ceil_status plugin_send(struct ceil_mpi_world *w, const void *bytes, size_t count,
                                    struct ceil_error *err)
{
	struct pending *p = malloc(sizeof(*p) + count);
	enum ceil_status st;

	if (!p)
		return ceil_fail(err, CEIL_E_NOMEM, "no memory for a message of %zu bytes", count);
	memcpy(p->bytes, bytes, count);
	st = status_of(
		MPI_Isend(p->bytes, (int)count, MPI_BYTE, 0, TAG_ROWS, MPI_COMM_WORLD, &p->request),
		"MPI_Isend", err);
	if (st != CEIL_OK) {
		free(p);
		return st;
	}
	reap(w);
	p->next = w->pending;
	w->pending = p;
	return CEIL_OK;
}

static enum ceil_status plugin_flush(struct ceil_mpi_world *w, ceil_mpi_idle_fn idle, void *user,
                                     struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	while (w->pending && st == CEIL_OK) {
		struct pending *p = w->pending;

		st = wait_for(&p->request, "MPI_Isend", idle, user, err);
		reap(w);
	}
	return st;
}

static enum ceil_status plugin_receive(void **ret_bytes, size_t *ret_count, unsigned *ret_from,
                                       struct ceil_error *err)
{
	MPI_Message message = MPI_MESSAGE_NULL;
	MPI_Status got;
	int there = 0;
	int count = 0;
	void *bytes;
	enum ceil_status st = status_of(
		MPI_Improbe(MPI_ANY_SOURCE, TAG_ROWS, MPI_COMM_WORLD, &there, &message, &got),
		"MPI_Improbe", err);

	*ret_count = 0;
	if (st != CEIL_OK || !there)
		return st;
	st = status_of(MPI_Get_count(&got, MPI_BYTE, &count), "MPI_Get_count", err);
	if (st != CEIL_OK)
		return st;
	bytes = malloc((size_t)count + 1);
	if (!bytes)
		return ceil_fail(err, CEIL_E_NOMEM, "no memory for a message of %d bytes", count);
	st = status_of(MPI_Mrecv(bytes, count, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv",
	               err);
	if (st != CEIL_OK) {
		free(bytes);
		return st;
	}
	*ret_bytes = bytes;
	*ret_count = (size_t)count;
	*ret_from = (unsigned)got.MPI_SOURCE;
	return CEIL_OK;
}

/* ---- what is measured */

static enum ceil_status plugin_all_reduce(const void *send, void *recv, uint64_t count,
                                          enum ceil_dtype dtype, bool max, struct ceil_error *err)
{
	const MPI_Datatype type = dtype == CEIL_FP64   ? MPI_DOUBLE
	                          : dtype == CEIL_FP32 ? MPI_FLOAT
	                                               : MPI_INT32_T;

	if (count > INT_MAX)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "MPI counts %d elements at most",
		                 INT_MAX);
	return status_of(MPI_Allreduce(send ? send : MPI_IN_PLACE, recv, (int)count, type,
	                               max ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD),
	                 "MPI_Allreduce", err);
}

const struct ceil_mpi_api *ceil_mpi_plugin(void)
{
	static const struct ceil_mpi_api api = {
		.version = CEIL_MPI_API,
		.open = plugin_open,
		.close = plugin_close,
		.abort = plugin_abort,
		.gather = plugin_gather,
		.send = plugin_send,
		.flush = plugin_flush,
		.receive = plugin_receive,
		.all_reduce = plugin_all_reduce,
	};

	return &api;
}
