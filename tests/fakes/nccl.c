/* A stand-in for libnccl.so.2: ranks are threads, memory is the host's, results are right. */
#include "harness/base/value.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * FAKE_NCCL_VERSION=n       what ncclGetVersion tells (22803)
 * FAKE_NCCL_FAIL=name=n     this function returns that ncclResult_t
 * FAKE_NCCL_HANG=name       it does not come back until the communicator is aborted
 * FAKE_NCCL_WRONG=n         element n of each result is off by one
 * FAKE_NCCL_ASYNC=n         what ncclCommGetAsyncError tells
 * FAKE_NCCL_RANK=r          all of these on rank r only
 */
enum { OK = 0, SYSTEM_ERROR = 2, REMOTE_ERROR = 6, MAX_RANKS = 16, MAX_PAIRS = 64 };

/* What a rank brings to a collective. */
struct part {
	const void *send;
	const void *sends[MAX_RANKS]; /* of a group, by peer */
};

struct world {
	struct world *next;
	char id[128];
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int size, joined, waiting, generation;
	bool aborted;
	struct part parts[MAX_RANKS];
};

struct comm {
	struct comm *next; /* of the aborted ones */
	struct world *world;
	int rank;
};

static struct world *worlds;
static struct comm *aborted;
static pthread_mutex_t worlds_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_id;
static atomic_bool logging;

/* Communicators that are open, and how many were aborted; tests look at them. */
int fake_nccl_open, fake_nccl_aborted;

#define FAKE(type, name, ...)                                                                      \
	type name(__VA_ARGS__);                                                                    \
	type name(__VA_ARGS__)

static bool here(const struct comm *c)
{
	const char *rank = getenv("FAKE_NCCL_RANK");

	return !rank || !c || atoll(rank) == c->rank;
}

static int failure(const char *name, const struct comm *c)
{
	const char *text = getenv("FAKE_NCCL_FAIL");
	const size_t n = strlen(name);

	if (text && strncmp(text, name, n) == 0 && text[n] == '=' && here(c))
		return (int)strtol(text + n + 1, NULL, 10);
	return OK;
}

static bool hangs(const char *name, const struct comm *c)
{
	const char *text = getenv("FAKE_NCCL_HANG");

	return text && strcmp(text, name) == 0 && here(c);
}

/* ---- meeting */

static int meet(struct world *w)
{
	int code = OK;

	pthread_mutex_lock(&w->lock);
	const int mine = w->generation;

	if (++w->waiting == w->size) {
		w->waiting = 0;
		w->generation++;
		pthread_cond_broadcast(&w->moved);
	}
	while (mine == w->generation && !w->aborted)
		pthread_cond_wait(&w->moved, &w->lock);
	if (w->aborted)
		code = REMOTE_ERROR;
	pthread_mutex_unlock(&w->lock);
	return code;
}

static int wait_for_abort(struct world *w)
{
	pthread_mutex_lock(&w->lock);
	while (!w->aborted)
		pthread_cond_wait(&w->moved, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return REMOTE_ERROR;
}

static struct world *world_of(const char *id, int size)
{
	struct world *w;

	pthread_mutex_lock(&worlds_lock);
	for (w = worlds; w && memcmp(w->id, id, sizeof(w->id)) != 0; w = w->next)
		;
	if (!w) {
		w = calloc(1, sizeof(*w));
		memcpy(w->id, id, sizeof(w->id));
		pthread_mutex_init(&w->lock, NULL);
		pthread_cond_init(&w->moved, NULL);
		w->size = size;
		w->next = worlds;
		worlds = w;
	}
	pthread_mutex_unlock(&worlds_lock);
	return w;
}

/* The last to leave takes the world with it. */
static void leave(struct world *w)
{
	pthread_mutex_lock(&worlds_lock);
	if (--w->joined == 0) {
		struct world **at = &worlds;

		while (*at != w)
			at = &(*at)->next;
		*at = w->next;
		pthread_cond_destroy(&w->moved);
		pthread_mutex_destroy(&w->lock);
		free(w);
	}
	fake_nccl_open--;
	pthread_mutex_unlock(&worlds_lock);
}

/* ---- the library */

FAKE(int, ncclGetVersion, int *version)
{
	const char *text = getenv("FAKE_NCCL_VERSION");

	*version = text ? (int)strtol(text, NULL, 10) : 22803;
	return OK;
}

FAKE(const char *, ncclGetErrorString, int code)
{
	static const char *const words[] = {"no error",
	                                    "unhandled cuda error",
	                                    "unhandled system error",
	                                    "internal error",
	                                    "invalid argument",
	                                    "invalid usage",
	                                    "remote process exited or there was a network error",
	                                    "NCCL operation in progress"};

	return code >= 0 && code < 8 ? words[code] : "unknown result code";
}

FAKE(const char *, ncclGetLastError, void *comm)
{
	(void)comm;
	return getenv("FAKE_NCCL_FAIL") ? "the stand-in was told to fail" : "";
}

struct unique_id {
	char bytes[128];
};

FAKE(int, ncclGetUniqueId, struct unique_id *id)
{
	memset(id, 0, sizeof(*id));
	pthread_mutex_lock(&worlds_lock);
	(void)snprintf(id->bytes, sizeof(id->bytes), "world %d", next_id++);
	pthread_mutex_unlock(&worlds_lock);
	return failure("ncclGetUniqueId", NULL);
}

FAKE(int, ncclCommInitRank, void **comm, int size, struct unique_id id, int rank)
{
	struct comm *c = calloc(1, sizeof(*c));
	int code;

	c->rank = rank;
	code = failure("ncclCommInitRank", c);
	if (hangs("ncclCommInitRank", c) || code != OK) {
		free(c);
		return code != OK ? code : SYSTEM_ERROR;
	}
	c->world = world_of(id.bytes, size);
	pthread_mutex_lock(&worlds_lock);
	c->world->joined++;
	fake_nccl_open++;
	pthread_mutex_unlock(&worlds_lock);
	*comm = c;
	return OK;
}

FAKE(int, ncclCommDestroy, void *comm)
{
	struct comm *c = comm;

	leave(c->world);
	free(c);
	return OK;
}

FAKE(int, ncclCommAbort, void *comm)
{
	struct comm *c = comm;

	pthread_mutex_lock(&c->world->lock);
	c->world->aborted = true;
	pthread_cond_broadcast(&c->world->moved);
	pthread_mutex_unlock(&c->world->lock);
	pthread_mutex_lock(&worlds_lock);
	fake_nccl_aborted++;
	fake_nccl_open--;
	c->next = aborted; /* kept: another thread may still be inside of a call */
	aborted = c;
	pthread_mutex_unlock(&worlds_lock);
	return OK;
}

FAKE(int, ncclCommGetAsyncError, void *comm, int *code)
{
	const char *text = getenv("FAKE_NCCL_ASYNC");

	*code = text && here(comm) ? (int)strtol(text, NULL, 10) : OK;
	return OK;
}

FAKE(void, ncclResetDebugInit, void)
{
	const char *level = getenv("NCCL_DEBUG");

	logging = level && strcmp(level, "INFO") == 0;
}

/* ---- collectives */

static enum ceil_dtype dtype_of(int type)
{
	switch (type) {
	case 6:
		return CEIL_FP16;
	case 8:
		return CEIL_FP64;
	case 9:
		return CEIL_BF16;
	case 10:
		return CEIL_E4M3;
	case 11:
		return CEIL_E5M2;
	default:
		return CEIL_FP32;
	}
}

static size_t bytes_of(int type)
{
	return type >= 10 ? 1 : type == 6 || type == 9 ? 2 : type == 8 ? 8 : 4;
}

static double element(const void *array, int type, size_t i)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)array + i * bytes_of(type), bytes_of(type));
	return ceil_decode(dtype_of(type), bits);
}

static void put(void *array, int type, size_t i, double x)
{
	const uint64_t bits = ceil_encode(dtype_of(type), x);

	memcpy((char *)array + i * bytes_of(type), &bits, bytes_of(type));
}

static double reduced(const struct world *w, int type, int op, size_t i)
{
	double all = element(w->parts[0].send, type, i);

	for (int r = 1; r < w->size; r++) {
		const double x = element(w->parts[r].send, type, i);

		all = op == 2 ? (x > all ? x : all) : all + x;
	}
	return all;
}

static void write_log(const struct comm *c, const char *function, size_t bytes)
{
	const char *path = getenv("NCCL_DEBUG_FILE");
	FILE *f = logging && c->rank == 0 && path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	(void)fprintf(f,
	              "node:1:1 [0] NCCL INFO %s: %zu Bytes -> Algo RING proto LL128 "
	              "channel{Lo..Hi}={0..15}\n",
	              function, bytes);
	(void)fclose(f);
}

/* What element i of this rank's result is; parts of count elements where there are some. */
typedef double (*result_fn)(const struct comm *c, int type, int op, size_t count, size_t i);

static int run(const char *name, struct comm *c, const void *send, void *recv, size_t count,
               size_t results, int type, int op, result_fn fn)
{
	const char *wrong = getenv("FAKE_NCCL_WRONG");
	struct world *w = c->world;
	int code = failure(name, c);
	char *out;

	if (code != OK)
		return code;
	if (hangs(name, c))
		return wait_for_abort(w);
	w->parts[c->rank].send = send;
	write_log(c, name + 4, count * bytes_of(type));
	code = meet(w);
	if (code != OK)
		return code;
	out = malloc(results * bytes_of(type) + 1);
	for (size_t i = 0; i < results; i++) {
		const bool off = wrong && here(c) && strtoull(wrong, NULL, 10) == i;

		put(out, type, i, fn(c, type, op, count, i) + (off ? 1.0 : 0.0));
	}
	code = meet(w); /* in place: nobody writes before all have read */
	if (code == OK)
		memcpy(recv, out, results * bytes_of(type));
	free(out);
	return code == OK ? meet(w) : code;
}

static double all_reduce(const struct comm *c, int type, int op, size_t count, size_t i)
{
	(void)count;
	return reduced(c->world, type, op, i);
}

static double all_gather(const struct comm *c, int type, int op, size_t count, size_t i)
{
	(void)op;
	return element(c->world->parts[i / count].send, type, i % count);
}

static double reduce_scatter(const struct comm *c, int type, int op, size_t count, size_t i)
{
	return reduced(c->world, type, op, (size_t)c->rank * count + i);
}

static double broadcast(const struct comm *c, int type, int op, size_t count, size_t i)
{
	(void)op, (void)count;
	return element(c->world->parts[0].send, type, i);
}

FAKE(int, ncclAllReduce, const void *s, void *r, size_t n, int type, int op, void *c, void *stream)
{
	(void)stream;
	return run("ncclAllReduce", c, s, r, n, n, type, op, all_reduce);
}

FAKE(int, ncclAllGather, const void *s, void *r, size_t n, int type, void *c, void *stream)
{
	const size_t size = (size_t)((struct comm *)c)->world->size;

	(void)stream;
	return run("ncclAllGather", c, s, r, n, n * size, type, 0, all_gather);
}

FAKE(int, ncclReduceScatter, const void *s, void *r, size_t n, int type, int op, void *c,
     void *stream)
{
	(void)stream;
	return run("ncclReduceScatter", c, s, r, n, n, type, op, reduce_scatter);
}

FAKE(int, ncclBroadcast, const void *s, void *r, size_t n, int type, int root, void *c,
     void *stream)
{
	(void)stream, (void)root;
	return run("ncclBroadcast", c, s, r, n, n, type, 0, broadcast);
}

FAKE(int, ncclReduce, const void *s, void *r, size_t n, int type, int op, int root, void *c,
     void *stream)
{
	const bool is_root = ((struct comm *)c)->rank == root;

	(void)stream;
	return run("ncclReduce", c, s, r, n, is_root ? n : 0, type, op, all_reduce);
}

/* ---- groups of sends and receives */

struct receive {
	struct comm *comm;
	void *to;
	size_t bytes;
	int peer;
};
struct group {
	struct receive receives[MAX_PAIRS];
	int count;
};
static _Thread_local struct group group;

FAKE(int, ncclGroupStart, void)
{
	group.count = 0;
	return OK;
}

FAKE(int, ncclSend, const void *s, size_t n, int type, int peer, void *comm, void *stream)
{
	struct comm *c = comm;

	(void)stream, (void)n, (void)type;
	c->world->parts[c->rank].sends[peer] = s;
	return failure("ncclSend", c);
}

FAKE(int, ncclRecv, void *r, size_t n, int type, int peer, void *comm, void *stream)
{
	(void)stream;
	group.receives[group.count++] = (struct receive){comm, r, n * bytes_of(type), peer};
	return failure("ncclRecv", comm);
}

FAKE(int, ncclGroupEnd, void)
{
	const struct comm *c = group.count > 0 ? group.receives[0].comm : NULL;
	int code = c ? meet(c->world) : OK;

	for (int i = 0; c && code == OK && i < group.count; i++) {
		const struct receive *r = &group.receives[i];

		memcpy(r->to, c->world->parts[r->peer].sends[c->rank], r->bytes);
	}
	return c && code == OK ? meet(c->world) : code;
}

FAKE(int, ncclCommRegister, void *comm, void *buffer, size_t bytes, void **handle)
{
	(void)bytes;
	*handle = buffer;
	return failure("ncclCommRegister", comm);
}

FAKE(int, ncclCommDeregister, void *comm, void *handle)
{
	(void)comm, (void)handle;
	return OK;
}
