/* One process of an MPI run: loads the plug-in, agrees with the launcher, speaks to the others. */
#ifndef CEIL_MPI_H
#define CEIL_MPI_H

#include "harness/base/dynlib.h"
#include "harness/base/status.h"
#include "harness/device/mpi_api.h"
#include "harness/device/team.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ceil_mpi {
	struct ceil_team team; /* of all processes; first, so that a team is also its MPI */
	struct ceil_mpi_world world;
	const struct ceil_mpi_api *api;
	struct ceil_dynlib lib;
	/* Called while this process waits for others: rank 0 takes in rows. May be NULL. */
	void (*idle)(void *user);
	void *idle_user;
	/* A rank did not come: what it may still send belongs to a decision that is over. */
	bool lost;
	/* For the thread that ceil_mpi_stuck is called from. */
	atomic_ulong calls; /* odd inside of one that MPI cannot call off */
	_Atomic uint64_t limit_ns;
	unsigned long seen_calls;
	uint64_t seen_ns;
};

/* ceil_mpi_plugin_path - where the plug-in is looked for. Return: whether it is there. */
bool ceil_mpi_plugin_path(char *ret_path, size_t size);

/*
 * ceil_mpi_open - loads gpuceil-mpi.so from beside the executable (GPUCEIL_LIB_MPI overrides it),
 * starts MPI and compares its size with the launcher's.
 * Return: CEIL_E_UNSUPPORTED if the plug-in or its MPI is missing, with what to do; CEIL_E_USAGE if
 * launcher and MPI do not know each other: each task would be rank 0 of 1; CEIL_E_DEVICE.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mpi_open(struct ceil_mpi **ret_mpi, struct ceil_error *err);

/* ceil_mpi_close - all must come here, or MPI is not ended: a rank was lost. NULL is a no-op. */
void ceil_mpi_close(struct ceil_mpi *mpi);

/* ceil_mpi_abort - ends every process of the run. */
void ceil_mpi_abort(struct ceil_mpi *mpi, int exit_status);

/* ceil_mpi_of - the MPI behind a team, or NULL if its members are threads. */
struct ceil_mpi *ceil_mpi_of(struct ceil_team *team);

/*
 * ceil_mpi_all_reduce - as the plug-in's, which blocks: if a rank hangs, only ending the process
 * ends it.
 * @limit_ns: after which ceil_mpi_stuck says so.
 */
CEIL_MUST_CHECK enum ceil_status ceil_mpi_all_reduce(struct ceil_mpi *mpi, const void *send,
                                                     void *recv, uint64_t count,
                                                     enum ceil_dtype dtype, bool max,
                                                     uint64_t limit_ns, struct ceil_error *err);
/*
 * ceil_mpi_stuck - whether a call has not come back for longer than its limit and spare_ns. For one
 * thread beside the calling one, which looks again and again: time counts from its first look.
 */
bool ceil_mpi_stuck(struct ceil_mpi *mpi, uint64_t spare_ns);

/* What a launcher tells each task by environment variables. */
struct ceil_launcher {
	const char *name; /* "mpirun", "srun", or NULL if there is none */
	unsigned rank, size;
};

/*
 * ceil_launcher_read - the innermost launcher: mpirun inside a job of Slurm counts, not the job.
 * Source: Open MPI 4.1 "OMPI_COMM_WORLD_*"; PMI of MPICH and Intel MPI; srun(1), output environment
 * variables (read 2026-11).
 */
void ceil_launcher_read(struct ceil_launcher *ret_launcher);

#endif
