/* The host backend: CPUs and memory of this machine as devices, and the reference of the others. */
#include "harness/device/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/device/backend.h"
#include "harness/device/cblas.h"
#include "harness/device/host_data.h"
#include "harness/device/limits.h"
#include "harness/device/pool.h"
#include "harness/device/topology.h"

struct host_device {
	struct ceil_device base;
	struct ceil_topology *topology;
	const struct ceil_cores *cores; /* of the topology */
	struct ceil_pool *pool;
	struct ceil_cblas *cblas;         /* NULL until someone asks */
	uint64_t mark_ns[CEIL_MAX_SLOTS]; /* 0: never marked */
};

static struct host_device *of(struct ceil_device *dev)
{
	return (struct host_device *)dev;
}

/* One node is the whole machine, and no second device of it. */
static int device_count(const struct ceil_topology *t)
{
	return t->node_count > 1 ? 1 + (int)t->node_count : 1;
}

static enum ceil_status pick_cores(const struct ceil_topology *t, int ordinal,
                                   const struct ceil_cores **ret_cores, struct ceil_error *err)
{
	const int count = device_count(t);

	if (ordinal < 0 || ordinal >= count)
		return ceil_fail(err, CEIL_E_USAGE, "host device %d: there are %d", ordinal, count);
	*ret_cores = ordinal == 0 ? &t->all : &t->node[ordinal - 1];
	return CEIL_OK;
}

static void fill_props(const struct ceil_topology *t, const struct ceil_cores *c,
                       struct ceil_device_props *ret_props)
{
	const uint64_t room = ceil_topology_free_bytes(t, c == &t->all ? -1 : c->node);
	struct utsname kernel;

	*ret_props = (struct ceil_device_props){
		.memory_bytes = c->memory_bytes,
		.free_bytes = ceil_limits_plan_bytes(room),
		.llc_bytes = c->llc_bytes,
		.sm_count = (int)c->count,
		.numa_node = c->node,
		.host_nodes = ceil_topology_nodes(t),
		.vector_bits = t->vector_bits,
		.fma_pipes = t->fma_pipes,
		.max_sm_mhz = c->max_mhz,
		.max_memory_mhz = (double)NAN,
	};
	ceil_copy(ret_props->label, sizeof(ret_props->label), "cpu");
	if (c != &t->all)
		ceil_append(ret_props->label, sizeof(ret_props->label), ".node%d", c->node);
	ceil_copy(ret_props->name, sizeof(ret_props->name), t->cpu_name);
	if (uname(&kernel) == 0)
		ceil_copy(ret_props->driver, sizeof(ret_props->driver), kernel.release);
}

static enum ceil_status host_count(int *ret_count, struct ceil_error *err)
{
	struct ceil_topology *t = NULL;
	enum ceil_status st = ceil_topology_open(&t, err);

	if (st != CEIL_OK)
		return st;
	*ret_count = device_count(t);
	ceil_topology_close(t);
	return CEIL_OK;
}

static enum ceil_status host_peek(int ordinal, struct ceil_device_props *ret_props,
                                  struct ceil_error *err)
{
	const struct ceil_cores *cores = NULL;
	struct ceil_topology *t = NULL;
	enum ceil_status st = ceil_topology_open(&t, err);

	if (st == CEIL_OK)
		st = pick_cores(t, ordinal, &cores, err);
	if (st == CEIL_OK)
		fill_props(t, cores, ret_props);
	ceil_topology_close(t);
	return st;
}

static void host_close(struct ceil_device *dev)
{
	struct host_device *h = of(dev);

	if (!h)
		return;
	ceil_cblas_close(h->cblas);
	ceil_pool_close(h->pool);
	ceil_topology_close(h->topology);
	free(h);
}

static enum ceil_status host_open(int ordinal, struct ceil_device **ret_dev, struct ceil_error *err)
{
	struct host_device *h = ceil_alloc(1, sizeof(*h), err);
	enum ceil_status st;

	if (!h)
		return CEIL_E_NOMEM;
	h->base.backend = &ceil_host_backend;
	st = ceil_topology_open(&h->topology, err);
	if (st == CEIL_OK)
		st = pick_cores(h->topology, ordinal, &h->cores, err);
	if (st == CEIL_OK)
		st = ceil_pool_open(h->topology, h->cores, &h->pool, err);
	if (st != CEIL_OK) {
		host_close(&h->base);
		return st;
	}
	fill_props(h->topology, h->cores, &h->base.props);
	*ret_dev = &h->base;
	return CEIL_OK;
}

static enum ceil_status host_bind(struct ceil_device *dev, struct ceil_launch *l,
                                  struct ceil_error *err)
{
	(void)err; /* cannot fail */
	for (size_t i = 0; i < CEIL_MAX_STREAMS; i++)
		l->stream[i] = of(dev)->pool;
	return CEIL_OK;
}

/* On a node's device memory is the node's. If binding is refused, the pinned threads' touch does.
 */
static enum ceil_status allocate(const struct host_device *h, const struct ceil_buffer *b,
                                 void **ret_ptr, struct ceil_error *err)
{
	const int own = h->cores == &h->topology->all ? -1 : h->cores->node;
	const int node = b->numa_node >= 0 ? b->numa_node : own;
	enum ceil_status st = ceil_topology_alloc(h->topology, node, b->bytes, ret_ptr, err);

	if (st == CEIL_E_UNSUPPORTED && node == own)
		st = ceil_topology_alloc(h->topology, -1, b->bytes, ret_ptr, err);
	return st;
}

static enum ceil_status host_alloc(struct ceil_device *dev, const struct ceil_buffer *b,
                                   void **ret_ptr, struct ceil_error *err)
{
	const struct host_device *h = of(dev);
	void *ptr = NULL;
	enum ceil_status st;

	if (b->memory != CEIL_MEM_DEVICE && b->memory != CEIL_MEM_PAGEABLE)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "host backend: pinned and mapped memory need a GPU");
	if (b->bytes == 0)
		return ceil_fail(err, CEIL_E_USAGE, "host backend: a buffer of 0 bytes");
	st = allocate(h, b, &ptr, err);
	if (st != CEIL_OK)
		return st;
	ceil_host_touch(h->pool, ptr, b->bytes);
	*ret_ptr = ptr;
	return CEIL_OK;
}

static void host_free(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr)
{
	(void)dev;
	ceil_topology_free(ptr, b->bytes);
}

static enum ceil_status check_dtype(const struct ceil_buffer *b, struct ceil_error *err)
{
	if (b->dtype != CEIL_NODTYPE)
		return CEIL_OK;
	return ceil_fail(err, CEIL_E_USAGE, "host backend: a buffer without element type");
}

static enum ceil_status host_fill(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr,
                                  int buffer, enum ceil_pattern pattern, uint64_t seed,
                                  struct ceil_error *err)
{
	enum ceil_status st = check_dtype(b, err);

	if (st != CEIL_OK)
		return st;
	ceil_host_fill(of(dev)->pool, ptr, b->bytes, b->dtype, pattern, seed, (uint32_t)buffer);
	return CEIL_OK;
}

static enum ceil_status host_hash(struct ceil_device *dev, const struct ceil_buffer *b,
                                  const void *ptr, uint64_t *ret_hash, struct ceil_error *err)
{
	enum ceil_status st = check_dtype(b, err);

	if (st != CEIL_OK)
		return st;
	*ret_hash = ceil_host_hash(of(dev)->pool, ptr, b->bytes, b->dtype);
	return CEIL_OK;
}

static enum ceil_status host_project(struct ceil_device *dev, const struct ceil_matrix *m,
                                     const int64_t *x, int64_t *ret_y, struct ceil_error *err)
{
	(void)err; /* cannot fail */
	ceil_host_project(of(dev)->pool, m, x, ret_y);
	return CEIL_OK;
}

static enum ceil_status host_read(struct ceil_device *dev, void *dst, const void *src,
                                  uint64_t bytes, struct ceil_error *err)
{
	(void)dev;
	(void)err; /* cannot fail */
	memcpy(dst, src, bytes);
	return CEIL_OK;
}

static enum ceil_status check_slot(const struct host_device *h, int slot, bool marked,
                                   struct ceil_error *err)
{
	if (slot < 0 || slot >= CEIL_MAX_SLOTS)
		return ceil_fail(err, CEIL_E_USAGE, "mark %d: slots are 0 to %d", slot,
		                 CEIL_MAX_SLOTS - 1);
	if (marked && h->mark_ns[slot] == 0)
		return ceil_fail(err, CEIL_E_USAGE, "mark %d was never made", slot);
	return CEIL_OK;
}

static enum ceil_status host_mark(struct ceil_device *dev, int stream, int slot,
                                  struct ceil_error *err)
{
	enum ceil_status st = check_slot(of(dev), slot, /* marked= */ false, err);

	(void)stream; /* all are the same threads */
	if (st == CEIL_OK)
		of(dev)->mark_ns[slot] = ceil_now_ns();
	return st;
}

static enum ceil_status host_elapsed_ns(struct ceil_device *dev, int from, int to, double *ret_ns,
                                        struct ceil_error *err)
{
	const struct host_device *h = of(dev);
	enum ceil_status st = check_slot(h, from, /* marked= */ true, err);

	if (st == CEIL_OK)
		st = check_slot(h, to, /* marked= */ true, err);
	if (st == CEIL_OK)
		*ret_ns = (double)(int64_t)(h->mark_ns[to] - h->mark_ns[from]);
	return st;
}

static enum ceil_status host_sync(struct ceil_device *dev, uint64_t timeout_ns,
                                  struct ceil_error *err)
{
	/* Launches return when their work is done. */
	(void)dev;
	(void)timeout_ns;
	(void)err;
	return CEIL_OK;
}

static enum ceil_status host_wait(struct ceil_device *dev, int slot, uint64_t timeout_ns,
                                  struct ceil_error *err)
{
	(void)timeout_ns; /* a mark is past when it is made */
	return check_slot(of(dev), slot, /* marked= */ true, err);
}

const struct ceil_backend ceil_host_backend = {
	.name = "host",
	.doc = "CPUs and memory of this machine: one pinned thread per core",
	.count = host_count,
	.peek = host_peek,
	.open = host_open,
	.close = host_close,
	.bind = host_bind,
	.alloc = host_alloc,
	.free = host_free,
	.fill = host_fill,
	.hash = host_hash,
	.project = host_project,
	.read = host_read,
	.mark = host_mark,
	.elapsed_ns = host_elapsed_ns,
	.sync = host_sync,
	.wait = host_wait,
	/* No gate: nothing is enqueued. No clock: user code cannot read the cycles of a core. */
};

enum ceil_status ceil_host_cblas(struct ceil_device *dev, struct ceil_cblas **ret_cblas,
                                 struct ceil_error *err)
{
	struct host_device *h = of(dev);
	enum ceil_status st = CEIL_OK;

	if (h->cores != &h->topology->all)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%s: a CBLAS has one set of threads a process: see device cpu",
		                 dev->props.label);
	if (!h->cblas)
		st = ceil_cblas_open(h->cores->count, &h->cblas, err);
	if (st == CEIL_OK)
		*ret_cblas = h->cblas;
	return st;
}
