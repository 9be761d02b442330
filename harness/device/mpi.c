/* One process of an MPI run: the plug-in, the launcher, the team of all processes. */
#include "harness/device/mpi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"

/* After a signal the launcher ends all ranks within a second or so: files must be whole by then. */
#define AFTER_SIGNAL_NS (300 * (uint64_t)CEIL_NS_PER_MS)

/* ---- the launcher */

struct variables {
	const char *name, *rank, *size;
};

static const struct variables launchers[] = {
	{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"mpirun", "PMI_RANK", "PMI_SIZE"},
	{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

static bool number_of(const char *variable, unsigned *ret_value)
{
	const char *text = getenv(variable);
	uint64_t value = 0;

	if (!text || ceil_parse_u64(text, &value, /* err= */ NULL) != CEIL_OK || value > 1u << 24)
		return false;
	*ret_value = (unsigned)value;
	return true;
}

void ceil_launcher_read(struct ceil_launcher *ret_launcher)
{
	*ret_launcher = (struct ceil_launcher){.size = 1};
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		unsigned rank = 0;
		unsigned size = 0;

		if (!number_of(launchers[i].rank, &rank) || !number_of(launchers[i].size, &size))
			continue;
		*ret_launcher = (struct ceil_launcher){launchers[i].name, rank, size};
		return;
	}
}

static enum ceil_status sizes_agree(const struct ceil_mpi_world *w, struct ceil_error *err)
{
	struct ceil_launcher l;

	ceil_launcher_read(&l);
	if (!l.name || l.size == w->size)
		return CEIL_OK;
	return ceil_fail(
		err, CEIL_E_USAGE,
		"%s started %u tasks and MPI (%.40s) sees %u: they do not know each other; "
		"use the mpirun of this MPI, or srun --mpi=pmix",
		l.name, l.size, w->implementation, w->size);
}

/* ---- the team of all processes */

struct waiting {
	struct ceil_mpi *mpi;
	uint64_t from_ns, timeout_ns, signal_ns;
};

static enum ceil_status give_up(void *user, struct ceil_error *err)
{
	struct waiting *w = user;
	const uint64_t now_ns = ceil_now_ns();

	if (w->mpi->idle)
		w->mpi->idle(w->mpi->idle_user);
	if (ceil_cancel_signal() && w->signal_ns == 0)
		w->signal_ns = now_ns;
	if (w->signal_ns && now_ns - w->signal_ns > AFTER_SIGNAL_NS)
		return ceil_fail(err, CEIL_E_CANCELLED,
		                 "stopped by signal %d while waiting for the other ranks: one of "
		                 "them may be gone",
		                 ceil_cancel_signal());
	if (w->timeout_ns && now_ns - w->from_ns > w->timeout_ns)
		return ceil_fail(err, CEIL_E_DEVICE, "another rank did not come within %.0f s",
		                 (double)w->timeout_ns * 1e-9);
	return CEIL_OK;
}

static enum ceil_status mpi_gather(struct ceil_team *t, const void *mine, void *ret_all,
                                   size_t bytes, uint64_t timeout_ns, struct ceil_error *err)
{
	struct ceil_mpi *mpi = (struct ceil_mpi *)t;
	struct waiting w = {.mpi = mpi, .from_ns = ceil_now_ns(), .timeout_ns = timeout_ns};
	enum ceil_status st;

	if (mpi->lost && ceil_cancel_signal())
		return ceil_fail(err, CEIL_E_CANCELLED, "stopped by signal %d",
		                 ceil_cancel_signal());
	if (mpi->lost)
		return ceil_fail(err, CEIL_E_DEVICE, "another rank did not come before");
	st = mpi->api->gather(mine, ret_all, bytes, give_up, &w, err);
	mpi->lost = st != CEIL_OK;
	return st;
}

struct ceil_mpi *ceil_mpi_of(struct ceil_team *team)
{
	return team && team->gather == mpi_gather ? (struct ceil_mpi *)team : NULL;
}

/* ---- a call that MPI cannot call off */

enum ceil_status ceil_mpi_all_reduce(struct ceil_mpi *mpi, const void *send, void *recv,
                                     uint64_t count, enum ceil_dtype dtype, bool max,
                                     uint64_t limit_ns, struct ceil_error *err)
{
	enum ceil_status st;

	/* Its time is measured: a count costs less than a look at the clock. */
	atomic_store_explicit(&mpi->limit_ns, limit_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&mpi->calls, 1, memory_order_release);
	st = mpi->api->all_reduce(send, recv, count, dtype, max, err);
	atomic_fetch_add_explicit(&mpi->calls, 1, memory_order_release);
	return st;
}

bool ceil_mpi_stuck(struct ceil_mpi *mpi, uint64_t spare_ns)
{
	const unsigned long calls = atomic_load(&mpi->calls);
	const uint64_t now_ns = ceil_now_ns();

	if (calls % 2 == 0 || calls != mpi->seen_calls) {
		mpi->seen_calls = calls;
		mpi->seen_ns = now_ns;
	}
	return now_ns - mpi->seen_ns > atomic_load(&mpi->limit_ns) + spare_ns;
}

/* ---- opening */

typedef const struct ceil_mpi_api *(*plugin_fn)(void);

struct entry {
	plugin_fn plugin;
};

bool ceil_mpi_plugin_path(char *ret_path, size_t size)
{
	const char *own = getenv("GPUCEIL_LIB_MPI");
	const ssize_t n = readlink("/proc/self/exe", ret_path, size - 1);
	char *slash;

	ret_path[n > 0 ? n : 0] = '\0';
	slash = strrchr(ret_path, '/');
	if (slash)
		slash[1] = '\0';
	ceil_append(ret_path, size, "gpuceil-mpi.so");
	if (own && own[0])
		ceil_copy(ret_path, size, own);
	return access(ret_path, R_OK) == 0;
}

static enum ceil_status load(struct ceil_mpi *mpi, struct ceil_error *err)
{
	static const struct ceil_symbol symbols[] = {
		{.names = {"ceil_mpi_plugin"},
	         .offset = offsetof(struct entry, plugin),
	         .required = true},
	};
	char path[512];
	const char *const sonames[] = {path, NULL};
	const struct ceil_library library = {
		.title = "the MPI plug-in",
		.override = "GPUCEIL_LIB_MPI",
		.sonames = sonames,
		.remedy = "install an MPI with mpicc (apt: libopenmpi-dev) and call make again",
		.symbols = symbols,
		.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
		/* The parts that Open MPI loads by itself look for its symbols globally. */
		.global = true,
	};
	struct entry entry = {NULL};
	enum ceil_status st;

	(void)ceil_mpi_plugin_path(path, sizeof(path)); /* if it is not there, loading says so */
	st = ceil_dynlib_open(&library, &entry, &mpi->lib, err);
	if (st != CEIL_OK)
		return st;
	mpi->api = entry.plugin();
	if (mpi->api->version != CEIL_MPI_API)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%.120s is of another build of gpuceil (interface %d, not %d)",
		                 mpi->lib.path, mpi->api->version, CEIL_MPI_API);
	return CEIL_OK;
}

enum ceil_status ceil_mpi_open(struct ceil_mpi **ret_mpi, struct ceil_error *err)
{
	struct ceil_mpi *mpi = ceil_alloc(1, sizeof(*mpi), err);
	enum ceil_status st;

	if (!mpi)
		return CEIL_E_NOMEM;
	st = load(mpi, err);
	if (st != CEIL_OK)
		goto out_free;
	st = mpi->api->open(&mpi->world, err);
	if (st != CEIL_OK)
		goto out_free;
	st = sizes_agree(&mpi->world, err);
	if (st != CEIL_OK) {
		mpi->api->close();
		goto out_free;
	}
	mpi->team.scratch = ceil_alloc(mpi->world.size, CEIL_TEAM_BYTES, err);
	if (!mpi->team.scratch) {
		mpi->api->abort(1); /* the others would wait for this one */
		st = CEIL_E_NOMEM;
		goto out_free;
	}
	mpi->team.rank = mpi->world.rank;
	mpi->team.size = mpi->world.size;
	mpi->team.gather = mpi_gather;
	*ret_mpi = mpi;
	return CEIL_OK;
out_free:
	/* The library stays: MPI leaves threads and exit handlers behind. */
	free(mpi);
	return st;
}

void ceil_mpi_close(struct ceil_mpi *mpi)
{
	if (!mpi)
		return;
	ceil_team_drop(&mpi->team);
	/* It waits for the others, for ever if need be: the launcher ends what leaves without it.
	 */
	if (!mpi->lost)
		mpi->api->close();
	free(mpi->team.scratch);
	free(mpi);
}

void ceil_mpi_abort(struct ceil_mpi *mpi, int exit_status)
{
	mpi->api->abort(exit_status);
}
