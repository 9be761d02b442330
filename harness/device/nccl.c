/* Collectives between GPUs by NCCL: the library, communicators, and the watchdog behind them. */
#include "harness/device/nccl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/dtype.h"
#include "harness/base/dynlib.h"
#include "harness/base/text.h"
#include "harness/device/nccl_abi.h"

/* Looking at the stream without a pause for the time of a sample, then letting others work. */
#define SPIN_NS  20000000u
#define SLEEP_NS 20000u
/* Looks at the stream before anything else is looked at: some 20 us. */
enum { LOOKS = 64 };
/* Errors of other ranks are asked for this often: the call takes locks of NCCL. */
#define ASK_NS (5u * CEIL_NS_PER_MS)
/* After a signal the launcher ends all ranks within a second or so. */
#define AFTER_SIGNAL_NS (300 * (uint64_t)CEIL_NS_PER_MS)
/* Kernels look at the abort flag all the time: whoever has not ended by now will not. */
#define DRAIN_NS (5 * (uint64_t)CEIL_NS_PER_S)
/* How often the watchdog looks at its watch. */
#define WATCH_NS (50 * (uint64_t)CEIL_NS_PER_MS)

struct ceil_nccl_comm {
	struct ceil_nccl_table nccl;
	struct ceil_dynlib lib;
	int version;
	struct ceil_device *dev;
	unsigned rank, size;
	uint64_t timeout_ns;
	pthread_mutex_t lock;   /* of asking handle: the watchdog may take it away */
	_Atomic(void *) handle; /* NULL once it is aborted */
	bool failed;
	atomic_ullong deadline_ns; /* when the watchdog aborts; 0: nothing is under way */
	atomic_bool aborted, leave;
	pthread_t watchdog;
	bool watched;
};

/* ---- the library */

#define SYMBOL(member, needed, ...)                                                                \
	{                                                                                          \
		.names = {__VA_ARGS__}, .offset = offsetof(struct ceil_nccl_table, member),        \
		.required = (needed)                                                               \
	}

static const struct ceil_symbol symbols[] = {
	SYMBOL(get_version, true, "ncclGetVersion"),
	SYMBOL(get_unique_id, true, "ncclGetUniqueId"),
	SYMBOL(comm_init_rank, true, "ncclCommInitRank"),
	SYMBOL(comm_destroy, true, "ncclCommDestroy"),
	SYMBOL(comm_abort, true, "ncclCommAbort"),
	SYMBOL(comm_async_error, true, "ncclCommGetAsyncError"),
	SYMBOL(error_string, true, "ncclGetErrorString"),
	SYMBOL(last_error, false, "ncclGetLastError"),
	SYMBOL(all_reduce, true, "ncclAllReduce"),
	SYMBOL(all_gather, true, "ncclAllGather"),
	SYMBOL(reduce_scatter, true, "ncclReduceScatter"),
	SYMBOL(broadcast, true, "ncclBroadcast"),
	SYMBOL(reduce, true, "ncclReduce"),
	SYMBOL(all_to_all, false, "ncclAlltoAll"),
	SYMBOL(send, true, "ncclSend"),
	SYMBOL(recv, true, "ncclRecv"),
	SYMBOL(group_start, true, "ncclGroupStart"),
	SYMBOL(group_end, true, "ncclGroupEnd"),
	SYMBOL(comm_register, false, "ncclCommRegister"),
	SYMBOL(comm_deregister, false, "ncclCommDeregister"),
	SYMBOL(mem_alloc, false, "ncclMemAlloc"),
	SYMBOL(mem_free, false, "ncclMemFree"),
	SYMBOL(reset_debug, false, "ncclResetDebugInit"),
};

static const char *const sonames[] = {"libnccl.so.2", "libnccl.so", NULL};

static const struct ceil_library library = {
	.title = "NCCL",
	.override = "GPUCEIL_LIB_NCCL",
	.sonames = sonames,
	.remedy = "install libnccl2 (apt) or libnccl (dnf) from NVIDIA's repository",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

static enum ceil_status open_library(struct ceil_nccl_table *ret_nccl, struct ceil_dynlib *ret_lib,
                                     int *ret_version, struct ceil_error *err)
{
	enum ceil_status st = ceil_dynlib_open(&library, ret_nccl, ret_lib, err);
	int version = 0;

	if (st != CEIL_OK)
		return st;
	if (ret_nccl->get_version(&version) != CEIL_NCCL_OK || version < CEIL_NCCL_OLDEST) {
		st = ceil_fail(err, CEIL_E_UNSUPPORTED,
		               "NCCL: %.120s has version code %d; 2.18 (%d) or newer is needed",
		               ret_lib->path, version, CEIL_NCCL_OLDEST);
		ceil_dynlib_close(ret_lib);
		return st;
	}
	*ret_version = version;
	return CEIL_OK;
}

/* NCCL's name of the error, and what its last warning said. */
static enum ceil_status fail_with(const struct ceil_nccl_table *nccl, int code, const char *call,
                                  struct ceil_error *err)
{
	const char *more = nccl->last_error ? nccl->last_error(NULL) : NULL;
	const bool has_more = more && more[0];

	return ceil_fail(err, CEIL_E_DEVICE, "%s: %s%s%.120s", call, nccl->error_string(code),
	                 has_more ? ": " : "", has_more ? more : "");
}

enum ceil_status ceil_nccl_info_read(struct ceil_nccl_info *ret_info, struct ceil_error *err)
{
	struct ceil_nccl_table nccl;
	struct ceil_dynlib lib;
	int v = 0;
	const enum ceil_status st = open_library(&nccl, &lib, &v, err);

	if (st != CEIL_OK)
		return st;
	ceil_copy(ret_info->version, sizeof(ret_info->version), "");
	ceil_append(ret_info->version, sizeof(ret_info->version), "%d.%d.%d", v / 10000,
	            v / 100 % 100, v % 100);
	ceil_copy(ret_info->path, sizeof(ret_info->path), lib.path);
	ceil_dynlib_close(&lib);
	return CEIL_OK;
}

enum ceil_status ceil_nccl_id_make(struct ceil_nccl_id *ret_id, struct ceil_error *err)
{
	struct ceil_nccl_table nccl;
	struct ceil_dynlib lib; /* stays: threads of the library wait for the ranks to come */
	int version = 0;
	int code;
	const enum ceil_status st = open_library(&nccl, &lib, &version, err);

	if (st != CEIL_OK)
		return st;
	code = nccl.get_unique_id(ret_id);
	return code == CEIL_NCCL_OK ? CEIL_OK : fail_with(&nccl, code, "ncclGetUniqueId", err);
}

/* ---- the watchdog: a call that does not come back can only be ended from beside it */

static void abort_handle(struct ceil_nccl_comm *c)
{
	void *handle;

	pthread_mutex_lock(&c->lock);
	handle = c->handle;
	c->handle = NULL;
	pthread_mutex_unlock(&c->lock);
	if (handle)
		(void)c->nccl.comm_abort(handle); /* it is thrown away whatever it says */
}

static void *watch(void *arg)
{
	struct ceil_nccl_comm *c = arg;

	while (!atomic_load(&c->leave)) {
		const uint64_t deadline_ns = atomic_load(&c->deadline_ns);

		if (deadline_ns && ceil_now_ns() > deadline_ns) {
			atomic_store(&c->aborted, true);
			abort_handle(c);
			return NULL;
		}
		ceil_sleep_ns(WATCH_NS);
	}
	return NULL;
}

static void arm(struct ceil_nccl_comm *c)
{
	atomic_store(&c->deadline_ns, ceil_now_ns() + c->timeout_ns);
}

static enum ceil_status fail_aborted(struct ceil_nccl_comm *c, struct ceil_error *err)
{
	c->failed = true;
	return ceil_fail(err, CEIL_E_DEVICE,
	                 "NCCL: no end within %.3g s: the communicator was aborted; another rank "
	                 "hangs, is gone, or cannot be reached",
	                 (double)c->timeout_ns * 1e-9);
}

/* ---- opening: ncclCommInitRank waits for all ranks, and cannot be called off */

struct opening {
	pthread_mutex_t lock;
	bool abandoned, done; /* whoever is last frees it */
	struct ceil_nccl_comm *comm;
	struct ceil_nccl_id id;
	int code;
	enum ceil_status status;
	struct ceil_error err;
};

static void *open_in_thread(void *arg)
{
	struct opening *o = arg;
	struct ceil_nccl_comm *c = o->comm;
	struct ceil_launch l = {0};
	void *handle = NULL;
	int code = CEIL_NCCL_OK;
	bool abandoned;

	/* Makes the device this thread's current one, which is the one that NCCL takes. */
	o->status = c->dev->backend->bind(c->dev, &l, &o->err);
	if (o->status == CEIL_OK)
		code = c->nccl.comm_init_rank(&handle, (int)c->size, o->id, (int)c->rank);
	pthread_mutex_lock(&o->lock);
	abandoned = o->abandoned;
	o->code = code;
	o->done = true;
	c->handle = handle;
	pthread_mutex_unlock(&o->lock);
	if (abandoned)
		free(o); /* the communicator leaks: its device is lost anyway */
	return NULL;
}

static enum ceil_status join_opening(struct opening *o, pthread_t thread, uint64_t timeout_ns,
                                     struct ceil_error *err)
{
	struct timespec until;
	bool abandoned = false;

	(void)clock_gettime(CLOCK_REALTIME, &until); /* cannot fail */
	until.tv_sec += (time_t)(timeout_ns / CEIL_NS_PER_S) + 1;
	if (pthread_timedjoin_np(thread, NULL, &until) != 0) {
		pthread_mutex_lock(&o->lock);
		o->abandoned = !o->done;
		abandoned = o->abandoned;
		pthread_mutex_unlock(&o->lock);
		if (!abandoned)
			(void)pthread_join(thread, NULL); /* it is at its end */
	}
	if (!abandoned)
		return o->status == CEIL_OK ? CEIL_OK
		                            : ceil_fail(err, o->status, "%s", o->err.text);
	(void)pthread_detach(thread); /* it ends with the process */
	return ceil_fail(err, CEIL_E_TIMEOUT,
	                 "ncclCommInitRank: the other ranks did not come within %.3g s",
	                 (double)timeout_ns * 1e-9);
}

static enum ceil_status init_rank(struct ceil_nccl_comm *c, const struct ceil_nccl_id *id,
                                  struct ceil_error *err)
{
	struct opening *o = ceil_alloc(1, sizeof(*o), err);
	pthread_t thread;
	enum ceil_status st;

	if (!o)
		return CEIL_E_NOMEM;
	pthread_mutex_init(&o->lock, NULL);
	o->comm = c;
	o->id = *id;
	if (pthread_create(&thread, NULL, open_in_thread, o) != 0) {
		free(o);
		return ceil_fail(err, CEIL_E_DEVICE, "no thread for ncclCommInitRank");
	}
	st = join_opening(o, thread, c->timeout_ns, err);
	if (st == CEIL_E_TIMEOUT)
		return st; /* the thread still has it */
	if (st == CEIL_OK && o->code != CEIL_NCCL_OK)
		st = fail_with(&c->nccl, o->code, "ncclCommInitRank", err);
	free(o);
	return st;
}

enum ceil_status ceil_nccl_comm_open(struct ceil_device *dev, const struct ceil_nccl_id *id,
                                     unsigned rank, unsigned size, uint64_t timeout_ns,
                                     struct ceil_nccl_comm **ret_comm, struct ceil_error *err)
{
	struct ceil_nccl_comm *c = ceil_alloc(1, sizeof(*c), err);
	enum ceil_status st;

	if (!c)
		return CEIL_E_NOMEM;
	c->dev = dev;
	c->rank = rank;
	c->size = size;
	c->timeout_ns = timeout_ns;
	pthread_mutex_init(&c->lock, NULL);
	st = open_library(&c->nccl, &c->lib, &c->version, err);
	if (st == CEIL_OK)
		st = init_rank(c, id, err);
	if (st == CEIL_E_TIMEOUT)
		return st; /* a thread is still inside of it */
	if (st == CEIL_OK) {
		c->watched = pthread_create(&c->watchdog, NULL, watch, c) == 0;
		if (!c->watched)
			st = ceil_fail(err, CEIL_E_DEVICE, "no thread for the watchdog of NCCL");
	}
	if (st != CEIL_OK) {
		c->failed = true;
		ceil_nccl_comm_close(c);
		return st;
	}
	*ret_comm = c;
	return CEIL_OK;
}

void ceil_nccl_comm_close(struct ceil_nccl_comm *c)
{
	if (!c)
		return;
	/* A rank that is gone may keep the others from leaving properly: the watchdog helps. */
	if (c->handle && !c->failed) {
		arm(c);
		if (c->nccl.comm_destroy(c->handle) == CEIL_NCCL_OK)
			c->handle = NULL;
	}
	atomic_store(&c->leave, true);
	if (c->watched)
		(void)pthread_join(c->watchdog, NULL); /* it is there, and ours */
	abort_handle(c);
	pthread_mutex_destroy(&c->lock);
	/* The library stays loaded: its own threads may still run. */
	free(c);
}

void ceil_nccl_comm_break(struct ceil_nccl_comm *c)
{
	c->failed = true;
}

bool ceil_nccl_comm_broken(const struct ceil_nccl_comm *c)
{
	return c->failed || atomic_load(&c->aborted);
}

void ceil_nccl_timeout(struct ceil_nccl_comm *c, uint64_t timeout_ns)
{
	c->timeout_ns = timeout_ns;
}

/* ---- ending */

static enum ceil_status is_done(struct ceil_nccl_comm *c, bool *ret_done, struct ceil_error *err)
{
	const struct ceil_backend *b = c->dev->backend;

	*ret_done = true; /* launches of such a backend return when their work is done */
	return b->done ? b->done(c->dev, /* stream= */ 0, ret_done, err) : CEIL_OK;
}

/* The kernels of an aborted communicator end by themselves; then the device is good again. */
static enum ceil_status drain(struct ceil_nccl_comm *c, enum ceil_status st, struct ceil_error *err)
{
	const uint64_t from_ns = ceil_now_ns();
	bool done = false;

	c->failed = true;
	abort_handle(c);
	while (is_done(c, &done, /* err= */ NULL) == CEIL_OK && !done) {
		if (ceil_now_ns() - from_ns > DRAIN_NS)
			return ceil_fail(err, CEIL_E_TIMEOUT,
			                 "NCCL: kernels of an aborted communicator do not end");
		ceil_sleep_ns(SLEEP_NS);
	}
	return st;
}

/* ---- calls */

static enum ceil_status type_of(const struct ceil_nccl_comm *c, enum ceil_dtype t, int *ret_type,
                                struct ceil_error *err)
{
	static const int types[CEIL_DTYPE_COUNT] = {
		[CEIL_INT8] = CEIL_NCCL_INT8,   [CEIL_INT32] = CEIL_NCCL_INT32,
		[CEIL_INT64] = CEIL_NCCL_INT64, [CEIL_FP16] = CEIL_NCCL_FP16,
		[CEIL_FP32] = CEIL_NCCL_FP32,   [CEIL_FP64] = CEIL_NCCL_FP64,
		[CEIL_BF16] = CEIL_NCCL_BF16,   [CEIL_E4M3] = CEIL_NCCL_E4M3,
		[CEIL_E5M2] = CEIL_NCCL_E5M2,
	};
	const bool has_none = t != CEIL_INT8 && types[t] == 0;
	const bool is_new = t == CEIL_E4M3 || t == CEIL_E5M2;

	if (has_none || (is_new && c->version < CEIL_NCCL_FP8))
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "NCCL %d.%d has no type %s%s",
		                 c->version / 10000, c->version / 100 % 100,
		                 ceil_dtype_info(t)->name, is_new ? "; 2.24 has" : "");
	*ret_type = types[t];
	return CEIL_OK;
}

/* What has no call of its own in older versions, from sends and receives. */
static int pairwise(struct ceil_nccl_comm *c, const struct ceil_nccl_call *a, int type,
                    void *stream)
{
	const struct ceil_nccl_table *n = &c->nccl;
	const bool all = a->operation == CEIL_ALL_TO_ALL;
	const uint64_t bytes = ceil_dtype_bytes(a->dtype, a->count);
	const unsigned next = (c->rank + 1) % c->size;
	const unsigned before = (c->rank + c->size - 1) % c->size;
	int code = n->group_start();
	int end;

	for (unsigned i = 0; code == CEIL_NCCL_OK && i < (all ? c->size : 1); i++) {
		const uint64_t at = all ? i * bytes : 0;

		code = n->send((const char *)a->send + at, a->count, type, (int)(all ? i : next),
		               c->handle, stream);
		if (code == CEIL_NCCL_OK)
			code = n->recv((char *)a->recv + at, a->count, type,
			               (int)(all ? i : before), c->handle, stream);
	}
	end = n->group_end();
	return code == CEIL_NCCL_OK ? end : code;
}

static int call(struct ceil_nccl_comm *c, const struct ceil_nccl_call *a, int type, void *stream)
{
	const struct ceil_nccl_table *n = &c->nccl;
	const int op = a->max ? CEIL_NCCL_MAX : CEIL_NCCL_SUM;
	const int root = 0;

	switch (a->operation) {
	case CEIL_ALL_REDUCE:
		return n->all_reduce(a->send, a->recv, a->count, type, op, c->handle, stream);
	case CEIL_ALL_GATHER:
		return n->all_gather(a->send, a->recv, a->count, type, c->handle, stream);
	case CEIL_REDUCE_SCATTER:
		return n->reduce_scatter(a->send, a->recv, a->count, type, op, c->handle, stream);
	case CEIL_BROADCAST:
		return n->broadcast(a->send, a->recv, a->count, type, root, c->handle, stream);
	case CEIL_REDUCE:
		return n->reduce(a->send, a->recv, a->count, type, op, root, c->handle, stream);
	case CEIL_ALL_TO_ALL:
		if (n->all_to_all)
			return n->all_to_all(a->send, a->recv, a->count, type, c->handle, stream);
		return pairwise(c, a, type, stream);
	case CEIL_SEND_RECV:
		return pairwise(c, a, type, stream);
	default:
		return CEIL_NCCL_INVALID_ARGUMENT;
	}
}

static const char *const call_names[CEIL_COLLECTIVE_COUNT] = {
	[CEIL_ALL_REDUCE] = "ncclAllReduce",
	[CEIL_ALL_GATHER] = "ncclAllGather",
	[CEIL_REDUCE_SCATTER] = "ncclReduceScatter",
	[CEIL_BROADCAST] = "ncclBroadcast",
	[CEIL_REDUCE] = "ncclReduce",
	[CEIL_ALL_TO_ALL] = "ncclAlltoAll",
	[CEIL_SEND_RECV] = "ncclSend and ncclRecv",
};

enum ceil_status ceil_nccl_start(struct ceil_nccl_comm *c, const struct ceil_nccl_call *a,
                                 void *stream, struct ceil_error *err)
{
	int type = 0;
	int code;
	const enum ceil_status st = type_of(c, a->dtype, &type, err);

	if (st != CEIL_OK)
		return st;
	if (ceil_nccl_comm_broken(c))
		return fail_aborted(c, err);
	arm(c);
	code = call(c, a, type, stream);
	if (atomic_load(&c->aborted))
		return fail_aborted(c, err);
	if (code == CEIL_NCCL_OK)
		return CEIL_OK;
	/* Calls before this one may wait for it for ever. */
	return drain(c, fail_with(&c->nccl, code, call_names[a->operation], err), err);
}

/* What NCCL's threads and kernels have met since: a rank that is gone, a link that broke. */
static enum ceil_status ask_for_errors(struct ceil_nccl_comm *c, struct ceil_error *err)
{
	int code = CEIL_NCCL_OK;
	int asked = CEIL_NCCL_OK;

	pthread_mutex_lock(&c->lock);
	if (c->handle)
		asked = c->nccl.comm_async_error(c->handle, &code);
	pthread_mutex_unlock(&c->lock);
	if (asked != CEIL_NCCL_OK)
		code = asked;
	if (code == CEIL_NCCL_OK || code == CEIL_NCCL_IN_PROGRESS)
		return CEIL_OK;
	return fail_with(&c->nccl, code, "NCCL, while a collective ran", err);
}

struct waiting {
	uint64_t from_ns, asked_ns, signal_ns;
};

static enum ceil_status look_around(struct ceil_nccl_comm *c, struct waiting *w,
                                    struct ceil_error *err)
{
	const uint64_t now_ns = ceil_now_ns();

	if (w->from_ns == 0)
		w->from_ns = w->asked_ns = now_ns;
	if (atomic_load(&c->aborted))
		return fail_aborted(c, err);
	if (ceil_cancel_signal() && w->signal_ns == 0)
		w->signal_ns = now_ns;
	if (w->signal_ns && now_ns - w->signal_ns > AFTER_SIGNAL_NS)
		return ceil_fail(err, CEIL_E_CANCELLED, "stopped by signal %d in a collective",
		                 ceil_cancel_signal());
	if (now_ns - w->from_ns > SPIN_NS)
		ceil_sleep_ns(SLEEP_NS);
	if (now_ns - w->asked_ns < ASK_NS)
		return CEIL_OK;
	w->asked_ns = now_ns;
	return ask_for_errors(c, err);
}

enum ceil_status ceil_nccl_settle(struct ceil_nccl_comm *c, struct ceil_error *err)
{
	struct waiting w = {.from_ns = 0};
	bool done = false;
	enum ceil_status st = CEIL_OK;

	while (st == CEIL_OK && !done) {
		/* Latencies are measured through this: look around between several looks only. */
		for (int i = 0; i < LOOKS && st == CEIL_OK && !done; i++)
			st = is_done(c, &done, err);
		if (st == CEIL_OK && !done)
			st = look_around(c, &w, err);
	}
	atomic_store(&c->deadline_ns, 0);
	if (st == CEIL_OK && atomic_load(&c->aborted))
		st = fail_aborted(c, err);
	return st == CEIL_OK ? CEIL_OK : drain(c, st, err);
}

/* ---- memory */

enum ceil_status ceil_nccl_register(struct ceil_nccl_comm *c, void *ptr, uint64_t bytes,
                                    void **ret_handle, struct ceil_error *err)
{
	int code;

	if (!c->nccl.comm_register || !c->nccl.comm_deregister)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "NCCL %d.%d cannot register buffers; 2.19 can", c->version / 10000,
		                 c->version / 100 % 100);
	code = c->nccl.comm_register(c->handle, ptr, bytes, ret_handle);
	return code == CEIL_NCCL_OK ? CEIL_OK : fail_with(&c->nccl, code, "ncclCommRegister", err);
}

void ceil_nccl_deregister(struct ceil_nccl_comm *c, void *handle)
{
	if (handle && c->handle)
		(void)c->nccl.comm_deregister(c->handle, handle); /* the buffer goes next */
}

enum ceil_status ceil_nccl_alloc(uint64_t bytes, void **ret_ptr, struct ceil_error *err)
{
	struct ceil_nccl_table nccl;
	struct ceil_dynlib lib; /* stays: its memory lives on */
	int version = 0;
	int code;
	const enum ceil_status st = open_library(&nccl, &lib, &version, err);

	if (st != CEIL_OK)
		return st;
	if (!nccl.mem_alloc || !nccl.mem_free)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "NCCL has no ncclMemAlloc; 2.19 has");
	code = nccl.mem_alloc(ret_ptr, bytes);
	return code == CEIL_NCCL_OK ? CEIL_OK : fail_with(&nccl, code, "ncclMemAlloc", err);
}

void ceil_nccl_free(void *ptr)
{
	struct ceil_nccl_table nccl;
	struct ceil_dynlib lib;
	int version = 0;

	if (ptr && open_library(&nccl, &lib, &version, /* err= */ NULL) == CEIL_OK && nccl.mem_free)
		(void)nccl.mem_free(ptr); /* a device that is gone gives nothing back */
}

bool ceil_nccl_log_reset(struct ceil_nccl_comm *c)
{
	if (!c->nccl.reset_debug)
		return false;
	c->nccl.reset_debug();
	return true;
}
