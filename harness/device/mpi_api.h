/* What the MPI plug-in gives the program; the only place where both meet. */
#ifndef CEIL_MPI_API_H
#define CEIL_MPI_API_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Grows with every change of the struct below: program and plug-in of different builds part here.
 */
enum { CEIL_MPI_API = 1 };

struct ceil_mpi_world {
	unsigned rank, size;             /* of all processes */
	unsigned local_rank, local_size; /* of those that share this machine's memory */
	char implementation[96];         /* "Open MPI v4.1.4" */
	void *pending;                   /* the plug-in's: what is still on its way to rank 0 */
};

/* Called again and again while something is waited for; anything but CEIL_OK gives up. */
typedef enum ceil_status (*ceil_mpi_idle_fn)(void *user, struct ceil_error *err);

struct ceil_mpi_api {
	int version;
	/* Starts MPI. Return: CEIL_E_DEVICE with MPI's own words. */
	enum ceil_status (*open)(struct ceil_mpi_world *ret_world, struct ceil_error *err);
	void (*close)(void); /* ends MPI; waits for the others */
	void (*abort)(int exit_status);

	/* Everyone's bytes to everyone, in the order of ranks. */
	enum ceil_status (*gather)(const void *mine, void *ret_all, size_t bytes,
	                           ceil_mpi_idle_fn idle, void *user, struct ceil_error *err);
	/* To rank 0, without waiting; the bytes are copied. */
	enum ceil_status (*send)(struct ceil_mpi_world *w, const void *bytes, size_t count,
	                         struct ceil_error *err);
	/* Waits until all that was sent is received. */
	enum ceil_status (*flush)(struct ceil_mpi_world *w, ceil_mpi_idle_fn idle, void *user,
	                          struct ceil_error *err);
	/* Rank 0: a message if one is there, else *ret_count is 0. The caller frees *ret_bytes. */
	enum ceil_status (*receive)(void **ret_bytes, size_t *ret_count, unsigned *ret_from,
	                            struct ceil_error *err);
	/* Element by element, over all processes; in place where send is NULL. Blocks.
	 * @dtype: CEIL_FP32, CEIL_FP64 or CEIL_INT32. count: below 2^31. */
	enum ceil_status (*all_reduce)(const void *send, void *recv, uint64_t count,
	                               enum ceil_dtype dtype, bool max, struct ceil_error *err);
};

/* The one symbol of the plug-in. */
const struct ceil_mpi_api *ceil_mpi_plugin(void);

#endif
