/* A backend that wraps another and fails the k-th call, or hangs. */
#include "tests/fault_backend.h"

#include <stddef.h>

/* count() and open() get no device, so the state has no other place. */
static const struct ceil_backend *real;
static struct ceil_backend wrapped;
static long calls, fail_at, waits, hang_at, after_hang, live;
static enum ceil_status fail_status;
static const char *last = "";
static bool hung;

/* Counts a call. Return: CEIL_OK if it may go through. */
static enum ceil_status enter(const char *function, struct ceil_error *err)
{
	after_hang += hung;
	calls++;
	if (calls != fail_at)
		return CEIL_OK;
	last = function;
	return ceil_fail(err, fail_status, "%s: made to fail (call %ld)", function, calls);
}

/* The same for a call that waits. */
static enum ceil_status enter_wait(const char *function, struct ceil_error *err)
{
	const enum ceil_status st = enter(function, err);

	waits++;
	if (st != CEIL_OK || hang_at == 0 || waits < hang_at)
		return st;
	hung = true;
	return ceil_fail(err, CEIL_E_TIMEOUT, "%s: made to hang (wait %ld)", function, waits);
}

static enum ceil_status fault_count(int *ret_count, struct ceil_error *err)
{
	const enum ceil_status st = enter("count", err);

	return st != CEIL_OK ? st : real->count(ret_count, err);
}

static enum ceil_status fault_peek(int ordinal, struct ceil_device_props *ret_props,
                                   struct ceil_error *err)
{
	const enum ceil_status st = enter("peek", err);

	return st != CEIL_OK ? st : real->peek(ordinal, ret_props, err);
}

static enum ceil_status fault_open(int ordinal, struct ceil_device **ret_dev,
                                   struct ceil_error *err)
{
	enum ceil_status st = enter("open", err);

	if (st == CEIL_OK)
		st = real->open(ordinal, ret_dev, err);
	if (st != CEIL_OK)
		return st;
	(*ret_dev)->backend = &wrapped;
	live++;
	return CEIL_OK;
}

static void fault_close(struct ceil_device *dev)
{
	after_hang += hung;
	live -= dev != NULL;
	real->close(dev);
}

static enum ceil_status fault_bind(struct ceil_device *dev, struct ceil_launch *l,
                                   struct ceil_error *err)
{
	const enum ceil_status st = enter("bind", err);

	return st != CEIL_OK ? st : real->bind(dev, l, err);
}

static enum ceil_status fault_alloc(struct ceil_device *dev, const struct ceil_buffer *b,
                                    void **ret_ptr, struct ceil_error *err)
{
	enum ceil_status st = enter("alloc", err);

	if (st == CEIL_OK)
		st = real->alloc(dev, b, ret_ptr, err);
	live += st == CEIL_OK;
	return st;
}

static void fault_free(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr)
{
	after_hang += hung;
	live -= ptr != NULL;
	real->free(dev, b, ptr);
}

static enum ceil_status fault_fill(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr,
                                   int buffer, enum ceil_pattern pattern, uint64_t seed,
                                   struct ceil_error *err)
{
	const enum ceil_status st = enter("fill", err);

	return st != CEIL_OK ? st : real->fill(dev, b, ptr, buffer, pattern, seed, err);
}

static enum ceil_status fault_hash(struct ceil_device *dev, const struct ceil_buffer *b,
                                   const void *ptr, uint64_t *ret_hash, struct ceil_error *err)
{
	const enum ceil_status st = enter("hash", err);

	return st != CEIL_OK ? st : real->hash(dev, b, ptr, ret_hash, err);
}

static enum ceil_status fault_project(struct ceil_device *dev, const struct ceil_matrix *m,
                                      const int64_t *x, int64_t *ret_y, struct ceil_error *err)
{
	const enum ceil_status st = enter("project", err);

	return st != CEIL_OK ? st : real->project(dev, m, x, ret_y, err);
}

static enum ceil_status fault_read(struct ceil_device *dev, void *dst, const void *src,
                                   uint64_t bytes, struct ceil_error *err)
{
	const enum ceil_status st = enter("read", err);

	return st != CEIL_OK ? st : real->read(dev, dst, src, bytes, err);
}

static enum ceil_status fault_mark(struct ceil_device *dev, int stream, int slot,
                                   struct ceil_error *err)
{
	const enum ceil_status st = enter("mark", err);

	return st != CEIL_OK ? st : real->mark(dev, stream, slot, err);
}

static enum ceil_status fault_elapsed_ns(struct ceil_device *dev, int from, int to, double *ret_ns,
                                         struct ceil_error *err)
{
	const enum ceil_status st = enter("elapsed_ns", err);

	return st != CEIL_OK ? st : real->elapsed_ns(dev, from, to, ret_ns, err);
}

static enum ceil_status fault_sync(struct ceil_device *dev, uint64_t timeout_ns,
                                   struct ceil_error *err)
{
	const enum ceil_status st = enter_wait("sync", err);

	return st != CEIL_OK ? st : real->sync(dev, timeout_ns, err);
}

static enum ceil_status fault_wait(struct ceil_device *dev, int slot, uint64_t timeout_ns,
                                   struct ceil_error *err)
{
	const enum ceil_status st = enter_wait("wait", err);

	return st != CEIL_OK ? st : real->wait(dev, slot, timeout_ns, err);
}

static enum ceil_status fault_flush_cache(struct ceil_device *dev, struct ceil_error *err)
{
	const enum ceil_status st = enter("flush_cache", err);

	return st != CEIL_OK ? st : real->flush_cache(dev, err);
}

static enum ceil_status fault_gate(struct ceil_device *dev, bool closed, struct ceil_error *err)
{
	const enum ceil_status st = enter("gate", err);

	return st != CEIL_OK ? st : real->gate(dev, closed, err);
}

static enum ceil_status fault_clock(struct ceil_device *dev, int slot, struct ceil_error *err)
{
	const enum ceil_status st = enter("clock", err);

	return st != CEIL_OK ? st : real->clock(dev, slot, err);
}

static enum ceil_status fault_clock_mhz(struct ceil_device *dev, int from, int to, double *ret_mhz,
                                        struct ceil_error *err)
{
	const enum ceil_status st = enter("clock_mhz", err);

	return st != CEIL_OK ? st : real->clock_mhz(dev, from, to, ret_mhz, err);
}

const struct ceil_backend *fault_backend(const struct ceil_backend *b)
{
	real = b;
	wrapped = (struct ceil_backend){
		.name = b->name,
		.doc = b->doc,
		.count = fault_count,
		.peek = fault_peek,
		.open = fault_open,
		.close = fault_close,
		.bind = fault_bind,
		.alloc = fault_alloc,
		.free = fault_free,
		.fill = fault_fill,
		.hash = fault_hash,
		.project = fault_project,
		.read = fault_read,
		.mark = fault_mark,
		.elapsed_ns = fault_elapsed_ns,
		.sync = fault_sync,
		.wait = b->wait ? fault_wait : NULL,
		.flush_cache = b->flush_cache ? fault_flush_cache : NULL,
		.gate = b->gate ? fault_gate : NULL,
		.clock = b->clock ? fault_clock : NULL,
		.clock_mhz = b->clock_mhz ? fault_clock_mhz : NULL,
	};
	live = 0;
	fault_at(0, CEIL_E_DEVICE);
	fault_hang(0);
	return &wrapped;
}

void fault_at(long k, enum ceil_status status)
{
	calls = 0;
	fail_at = k;
	fail_status = status;
	last = "";
}

void fault_hang(long k)
{
	waits = 0;
	hang_at = k;
	after_hang = 0;
	hung = false;
}

long fault_calls(void)
{
	return calls;
}

const char *fault_last(void)
{
	return last;
}

long fault_calls_after_hang(void)
{
	return after_hang;
}

long fault_live(void)
{
	return live;
}
