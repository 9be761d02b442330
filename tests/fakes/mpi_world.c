/* A stand-in for gpuceil-mpi.so whose ranks are processes that share a file: MPI without MPI. */
#include "harness/device/mpi_api.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/*
 * FAKE_MPI_WORLD=FILE                         what the ranks share; empty at first
 * OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE  as mpirun sets them
 */
enum { MAX_RANKS = 4, SLOT_BYTES = 1 << 16, MAIL_BYTES = 1 << 26, NAP_NS = 50000 };

struct slot {
	size_t bytes;
	char data[SLOT_BYTES];
};

struct letter {
	size_t count;
	unsigned from;
	char bytes[];
};

struct shared {
	atomic_uint arrived, generation;
	atomic_bool aborted, mailing;
	atomic_size_t mailed; /* bytes of mail that are whole */
	struct slot slots[MAX_RANKS];
	char mail[MAIL_BYTES];
};

static struct shared *shared;
static unsigned my_rank, size;
static size_t read_to; /* of the mail */

static enum ceil_status fail(struct ceil_error *err, const char *text)
{
	if (err) {
		err->status = CEIL_E_DEVICE;
		(void)snprintf(err->text, sizeof(err->text), "%s", text);
	}
	return CEIL_E_DEVICE;
}

static void nap(void)
{
	const struct timespec t = {.tv_nsec = NAP_NS};

	if (atomic_load(&shared->aborted))
		_exit(1);
	(void)nanosleep(&t, NULL); /* a signal may end it early */
}

/* idle NULL: for ever. */
static enum ceil_status barrier(ceil_mpi_idle_fn idle, void *user, struct ceil_error *err)
{
	const unsigned mine = atomic_load(&shared->generation);
	enum ceil_status st = CEIL_OK;

	if (atomic_fetch_add(&shared->arrived, 1) + 1 == size) {
		atomic_store(&shared->arrived, 0);
		atomic_fetch_add(&shared->generation, 1);
		return CEIL_OK;
	}
	while (st == CEIL_OK && atomic_load(&shared->generation) == mine) {
		st = idle ? idle(user, err) : CEIL_OK;
		nap();
	}
	return st;
}

static unsigned number(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static enum ceil_status world_open(struct ceil_mpi_world *ret_world, struct ceil_error *err)
{
	const char *path = getenv("FAKE_MPI_WORLD");
	const int fd = path ? open(path, O_RDWR) : -1;
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)sizeof(*shared)) == 0)
		at = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		(void)close(fd); /* the mapping stays */
	if (at == MAP_FAILED)
		return fail(err, "FAKE_MPI_WORLD cannot be mapped");
	shared = at;
	my_rank = number("OMPI_COMM_WORLD_RANK");
	size = number("OMPI_COMM_WORLD_SIZE");
	*ret_world = (struct ceil_mpi_world){.rank = my_rank,
	                                     .size = size,
	                                     .local_rank = my_rank,
	                                     .local_size = size,
	                                     .implementation = "a stand-in"};
	return CEIL_OK;
}

static void world_close(void)
{
	(void)barrier(/* idle= */ NULL, NULL, NULL); /* cannot fail so */
}

static void world_abort(int exit_status)
{
	atomic_store(&shared->aborted, true);
	_exit(exit_status);
}

/* Ranks that are at different calls would read each other's bytes for their own. */
static enum ceil_status world_gather(const void *mine, void *ret_all, size_t bytes,
                                     ceil_mpi_idle_fn idle, void *user, struct ceil_error *err)
{
	enum ceil_status st;
	bool alike = true;

	memcpy(shared->slots[my_rank].data, mine, bytes);
	shared->slots[my_rank].bytes = bytes;
	st = barrier(idle, user, err);
	for (unsigned i = 0; i < size && st == CEIL_OK; i++) {
		alike = alike && shared->slots[i].bytes == bytes;
		memcpy((char *)ret_all + i * bytes, shared->slots[i].data, bytes);
	}
	if (st == CEIL_OK)
		st = barrier(idle, user, err);
	return st == CEIL_OK && !alike ? fail(err, "MPI_Iallgather: message truncated") : st;
}

static enum ceil_status world_send(struct ceil_mpi_world *w, const void *bytes, size_t count,
                                   struct ceil_error *err)
{
	const size_t space = (sizeof(struct letter) + count + 15) / 16 * 16;
	bool is_free = false;

	(void)w;
	while (!atomic_compare_exchange_weak(&shared->mailing, &is_free, true)) {
		is_free = false;
		nap();
	}
	const size_t at = atomic_load(&shared->mailed);
	const bool fits = at + space <= MAIL_BYTES;

	if (fits) {
		struct letter *l = (struct letter *)(void *)(shared->mail + at);

		l->count = count;
		l->from = my_rank;
		memcpy(l->bytes, bytes, count);
		atomic_store(&shared->mailed, at + space);
	}
	atomic_store(&shared->mailing, false);
	return fits ? CEIL_OK : fail(err, "the mail of the stand-in is full");
}

static enum ceil_status world_flush(struct ceil_mpi_world *w, ceil_mpi_idle_fn idle, void *user,
                                    struct ceil_error *err)
{
	(void)w, (void)idle, (void)user, (void)err; /* what is mailed needs no sender */
	return CEIL_OK;
}

static enum ceil_status world_receive(void **ret_bytes, size_t *ret_count, unsigned *ret_from,
                                      struct ceil_error *err)
{
	const struct letter *l = (const struct letter *)(const void *)(shared->mail + read_to);
	void *bytes;

	*ret_count = 0;
	if (read_to >= atomic_load(&shared->mailed))
		return CEIL_OK;
	bytes = malloc(l->count);
	if (!bytes)
		return fail(err, "no memory for a letter");
	memcpy(bytes, l->bytes, l->count);
	read_to += (sizeof(*l) + l->count + 15) / 16 * 16;
	*ret_bytes = bytes;
	*ret_count = l->count;
	*ret_from = l->from;
	return CEIL_OK;
}

static float element(unsigned rank, uint64_t i)
{
	float x;

	memcpy(&x, shared->slots[rank].data + i * sizeof(x), sizeof(x));
	return x;
}

/* Of fp32. */
static enum ceil_status world_all_reduce(const void *send, void *recv, uint64_t count,
                                         enum ceil_dtype dtype, bool max, struct ceil_error *err)
{
	float *out = recv;

	if (dtype != CEIL_FP32 || count * sizeof(*out) > SLOT_BYTES)
		return fail(err, "the stand-in adds 64 KiB of fp32 at most");
	memcpy(shared->slots[my_rank].data, send ? send : recv, count * sizeof(*out));
	(void)barrier(/* idle= */ NULL, NULL, NULL); /* cannot fail so */
	for (uint64_t i = 0; i < count; i++) {
		float all = element(0, i);

		for (unsigned r = 1; r < size; r++) {
			const float x = element(r, i);

			all = max ? (x > all ? x : all) : all + x;
		}
		out[i] = all;
	}
	return barrier(/* idle= */ NULL, NULL, NULL);
}

const struct ceil_mpi_api *ceil_mpi_plugin(void)
{
	static const struct ceil_mpi_api api = {
		.version = CEIL_MPI_API,
		.open = world_open,
		.close = world_close,
		.abort = world_abort,
		.gather = world_gather,
		.send = world_send,
		.flush = world_flush,
		.receive = world_receive,
		.all_reduce = world_all_reduce,
	};

	return &api;
}
