/* Collectives between GPUs by NCCL, loaded at run time: communicators that never hang for ever. */
#ifndef CEIL_NCCL_H
#define CEIL_NCCL_H

#include "harness/base/status.h"
#include "harness/base/types.h"
#include "harness/device/backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ceil_collective {
	CEIL_ALL_REDUCE,
	CEIL_ALL_GATHER,
	CEIL_REDUCE_SCATTER,
	CEIL_BROADCAST,
	CEIL_REDUCE,
	CEIL_ALL_TO_ALL,
	CEIL_SEND_RECV, /* each rank sends to the next one and receives from the one before */
	CEIL_COLLECTIVE_COUNT
};

/* One call, the same on every rank but for the addresses. The root of what has one is rank 0. */
struct ceil_nccl_call {
	enum ceil_collective operation;
	enum ceil_dtype dtype;
	bool max; /* of reductions: the largest, else the sum */
	const void *send;
	void *recv;
	/* Elements: of the whole array; of one rank's part where the arrays have parts. */
	uint64_t count;
};

/* 128 bytes that rank 0 makes and every rank needs. */
struct ceil_nccl_id {
	char bytes[128];
};

/* One rank of a communicator. Used by one thread; a watchdog of its own stands behind it. */
struct ceil_nccl_comm;

/*
 * ceil_nccl_id_make - loads the library (GPUCEIL_LIB_NCCL overrides its path) and asks it.
 * Return: CEIL_E_UNSUPPORTED if it is missing or older than 2.18; CEIL_E_DEVICE in its own words.
 */
CEIL_MUST_CHECK enum ceil_status ceil_nccl_id_make(struct ceil_nccl_id *ret_id,
                                                   struct ceil_error *err);

/*
 * ceil_nccl_comm_open - all ranks call it at once, each with its own device.
 * @timeout_ns: of this call, and of each later wait unless ceil_nccl_timeout says otherwise.
 * Return: CEIL_E_TIMEOUT if the others do not come: NCCL cannot take such a call back, so nothing
 * may be called on the device again; CEIL_E_DEVICE in NCCL's own words; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_nccl_comm_open(struct ceil_device *dev,
                                                     const struct ceil_nccl_id *id, unsigned rank,
                                                     unsigned size, uint64_t timeout_ns,
                                                     struct ceil_nccl_comm **ret_comm,
                                                     struct ceil_error *err);
/* ceil_nccl_comm_close - all ranks; one that is broken is thrown away. NULL is a no-op. */
void ceil_nccl_comm_close(struct ceil_nccl_comm *comm);

/* ceil_nccl_comm_break - of no use any more, since another rank's is not: close throws it away. */
void ceil_nccl_comm_break(struct ceil_nccl_comm *comm);
/* ceil_nccl_comm_broken - it failed or was aborted: only close is left. */
bool ceil_nccl_comm_broken(const struct ceil_nccl_comm *comm);

/* ceil_nccl_timeout - how long a call may take until it is settled. */
void ceil_nccl_timeout(struct ceil_nccl_comm *comm, uint64_t timeout_ns);

/*
 * ceil_nccl_start - enqueues a call on the stream.
 * Return: CEIL_E_UNSUPPORTED if this version has no such type; CEIL_E_DEVICE in NCCL's own words,
 * or that the watchdog ended the communicator: it is broken then.
 */
CEIL_MUST_CHECK enum ceil_status ceil_nccl_start(struct ceil_nccl_comm *comm,
                                                 const struct ceil_nccl_call *call, void *stream,
                                                 struct ceil_error *err);

/*
 * ceil_nccl_settle - waits until stream 0 of the device has done what was started, or it failed.
 * Looks for errors of the network and of other ranks meanwhile; after the time-out, or a signal,
 * the communicator is aborted, so that its kernels end.
 * Return: CEIL_E_DEVICE with the reason, the device answers again; CEIL_E_CANCELLED after a
 * signal; CEIL_E_TIMEOUT if not even that ended the kernels.
 */
CEIL_MUST_CHECK enum ceil_status ceil_nccl_settle(struct ceil_nccl_comm *comm,
                                                  struct ceil_error *err);

/*
 * ceil_nccl_register - makes a buffer known to the communicator, all ranks at once.
 * @ret_handle: for ceil_nccl_deregister, before the buffer is freed.
 * Return: CEIL_E_UNSUPPORTED if this version cannot.
 */
CEIL_MUST_CHECK enum ceil_status ceil_nccl_register(struct ceil_nccl_comm *comm, void *ptr,
                                                    uint64_t bytes, void **ret_handle,
                                                    struct ceil_error *err);
void ceil_nccl_deregister(struct ceil_nccl_comm *comm, void *handle);

/*
 * ceil_nccl_alloc - memory of the current device that other GPUs may map (ncclMemAlloc).
 * Return: CEIL_E_UNSUPPORTED if there is no NCCL or it cannot; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_nccl_alloc(uint64_t bytes, void **ret_ptr,
                                                 struct ceil_error *err);
void ceil_nccl_free(void *ptr);

/* Which library would be used, for run.json and for the doctor. */
struct ceil_nccl_info {
	char version[24]; /* "2.28.3" */
	char path[256];
};
/* ceil_nccl_info_read - loads the library and asks. Return: CEIL_E_UNSUPPORTED if it is missing. */
CEIL_MUST_CHECK enum ceil_status ceil_nccl_info_read(struct ceil_nccl_info *ret_info,
                                                     struct ceil_error *err);

/* ---- nccl_log.c: what NCCL says that it ran */

/* NCCL's own log, in a file of ours. One a process, kept by rank 0. */
struct ceil_nccl_log;

/*
 * ceil_nccl_log_open - points NCCL's log at a file of TMPDIR, or /tmp, silent for now. Before
 * NCCL's first call. If the user's environment directs the log already, or there can be no file,
 * ceil_nccl_log_end tells so.
 * Return: NULL if there is no memory: the functions below take that.
 */
struct ceil_nccl_log *ceil_nccl_log_open(void);
void ceil_nccl_log_close(struct ceil_nccl_log *log); /* NULL is a no-op */

/*
 * ceil_nccl_log_begin, _end - around untimed calls: writing costs a microsecond or two a call.
 * @ret_text: "ring, LL128, 16 channels, NVLS off" of the last call, or "unknown: why".
 */
void ceil_nccl_log_begin(struct ceil_nccl_log *log, struct ceil_nccl_comm *comm);
void ceil_nccl_log_end(struct ceil_nccl_log *log, struct ceil_nccl_comm *comm, char *ret_text,
                       size_t size);

/*
 * ceil_nccl_log_parse - a line of the log. Pure.
 * Return: whether it says what ran. Source: NCCL 2.18 to 2.28, src/enqueue.cc, lines of subsystem
 * TUNING; older ones give the algorithm as a number.
 */
bool ceil_nccl_log_parse(const char *line, char *ret_text, size_t size);

/* ceil_nccl_log_reset - NCCL reads its debug variables again. False: this version cannot. */
bool ceil_nccl_log_reset(struct ceil_nccl_comm *comm);

#endif
