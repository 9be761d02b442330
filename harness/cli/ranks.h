/* The processes of an MPI run: which GPU each has, and their rows on the way to rank 0. */
#ifndef CEIL_RANKS_H
#define CEIL_RANKS_H

#include "harness/analysis/record.h"
#include "harness/base/status.h"
#include "harness/cli/inventory.h"
#include "harness/device/mpi.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One process, as the others see it. */
struct ceil_rank {
	char host[64], device[16], gpu_name[96], gpu_uuid[48], pci_bus_id[32];
	char host_id[64]; /* NCCL_HOSTID: NCCL takes ranks with different ones for different hosts
	                   */
	unsigned local_rank, local_size;
	unsigned gpu_count;           /* that it saw before it took one */
	bool has_host;                /* it can measure the machine's CPUs and memory */
	char no_gpu[96], no_host[96]; /* why it has none, or "" */
	/* Slowest way out of its GPU within the machine, and what the machine's network does. */
	double link_gb_s, network_gb_s;
	char link[32], network[32];
};

/* Takes in a row of another rank. */
typedef void (*ceil_ranks_row_fn)(void *user, const struct ceil_record *r, bool is_ceiling,
                                  const struct ceil_sample_row *samples, size_t count);

/* Zeroed is a run of one process. */
struct ceil_ranks {
	struct ceil_mpi *mpi;
	struct ceil_rank *all; /* one a rank */
	bool functional;       /* two ranks share a GPU */
	ceil_ranks_row_fn row; /* of rank 0 */
	void *user;
	unsigned ended;                 /* ranks that have no more rows */
	bool others_bad;                /* one of them has an error of its own, or bad health */
	struct ceil_error others_error; /* the first that one of them told, with its rank */
	struct ceil_error first;
};

/* ceil_ranks_open - starts MPI; to be closed even if it fails. Return: as ceil_mpi_open. */
CEIL_MUST_CHECK enum ceil_status ceil_ranks_open(struct ceil_ranks *r, struct ceil_error *err);
/* ceil_ranks_close - all ranks come here; one process: nothing happens. */
void ceil_ranks_close(struct ceil_ranks *r);

/* Rank 0, or the only process: it writes and speaks. */
bool ceil_ranks_leads(const struct ceil_ranks *r);
/* ceil_ranks_host_part - whether this rank measures the host that it may share with others. */
bool ceil_ranks_host_part(const struct ceil_ranks *r);

/*
 * ceil_ranks_bind - leaves this rank one GPU of the inventory, and compares all ranks.
 * One visible GPU: that one. As many as ranks on this machine: by local rank.
 * Return: the same on every rank. CEIL_E_USAGE if there is no such rule for what is visible, if
 * some have a GPU, or a host to measure, and others have none, if machines have unequal numbers of
 * ranks, or if two ranks have the same GPU: then only with a different NCCL_HOSTID each, as a
 * functional test.
 */
CEIL_MUST_CHECK enum ceil_status ceil_ranks_bind(struct ceil_ranks *r, struct ceil_inventory *inv,
                                                 struct ceil_error *err);

/* ceil_ranks_judge - the rules of ceil_ranks_bind over what all ranks told. Pure.
 * @ret_functional: two ranks share a GPU, and may. */
CEIL_MUST_CHECK enum ceil_status ceil_ranks_judge(const struct ceil_rank *all, unsigned size,
                                                  bool *ret_functional, struct ceil_error *err);

/* ceil_ranks_fabric - the slowest way between ranks: within a machine the links, between machines
 * the network where it is slower. Pure. @ret_text: "" and 0.0 if a rank does not know. */
void ceil_ranks_fabric(const struct ceil_rank *all, unsigned size, double *ret_gb_s, char *ret_text,
                       size_t text_size);

/* ceil_ranks_describe - this machine's part of a rank: its link and network. */
void ceil_ranks_describe(const struct ceil_found *found, struct ceil_rank *ret_rank);

/* ceil_ranks_join - a device of this rank becomes a member of all ranks' team. */
void ceil_ranks_join(struct ceil_ranks *r, struct ceil_device *dev);

/* ceil_ranks_print - which rank is where, a line each. */
void ceil_ranks_print(const struct ceil_ranks *r, FILE *f);
/* ceil_ranks_json - the same for run.json; NULL for one process. */
json_t *ceil_ranks_json(const struct ceil_ranks *r);

/* ceil_ranks_send - a row and its samples to rank 0. */
CEIL_MUST_CHECK enum ceil_status ceil_ranks_send(struct ceil_ranks *r,
                                                 const struct ceil_record *row, bool is_ceiling,
                                                 const struct ceil_sample_row *samples,
                                                 size_t count, struct ceil_error *err);
/* ceil_ranks_listen - rank 0 takes in rows from now on, whenever it waits or asks. */
void ceil_ranks_listen(struct ceil_ranks *r, ceil_ranks_row_fn row, void *user);
void ceil_ranks_receive(struct ceil_ranks *r);

/*
 * ceil_ranks_finish - no more rows come from here; waits for those of all.
 * @bad: its health is bad. @own: an error that no row tells; CEIL_OK: none. Both go to rank 0.
 * Return: CEIL_OK when rank 0 has every row; else what kept it from that.
 */
CEIL_MUST_CHECK enum ceil_status ceil_ranks_finish(struct ceil_ranks *r, bool bad,
                                                   const struct ceil_error *own,
                                                   struct ceil_error *err);

#endif
