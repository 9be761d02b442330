/* Memory of the CUDA backend: where buffers lie, and what is in them. */
#include "harness/device/cuda_inside.h"

#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "harness/base/alloc.h"
#include "harness/base/dtype.h"
#include "harness/device/nccl.h"
#include "harness/device/topology.h"
#include "kernels/support.h"

/* ---- places */

/* The pages are bound and touched first; then the GPU may reach them. */
static enum ceil_status alloc_on_node(const struct ceil_cuda_device *d, const struct ceil_buffer *b,
                                      void **ret_ptr, struct ceil_error *err)
{
	void *ptr = NULL;
	enum ceil_status st;
	int is;

	if (!d->topology || b->memory == CEIL_MEM_PINNED_WC)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "host memory on NUMA node %d: %s",
		                 b->numa_node,
		                 d->topology ? "CUDA places write-combined memory by itself"
		                             : "hwloc does not know this machine");
	st = ceil_topology_alloc(d->topology, b->numa_node, b->bytes, &ptr, err);
	if (st != CEIL_OK)
		return st;
	memset(ptr, 0, b->bytes);
	is = ceil_topology_node_of(d->topology, ptr);
	if (is >= 0 && is != b->numa_node)
		st = ceil_fail(err, CEIL_E_UNSUPPORTED,
		               "host memory for NUMA node %d lies on node %d", b->numa_node, is);
	if (st == CEIL_OK && b->memory != CEIL_MEM_PAGEABLE)
		st = ceil_cuda_status((int)cudaHostRegister(ptr, b->bytes, cudaHostRegisterMapped),
		                      "cudaHostRegister", err);
	if (st != CEIL_OK) {
		ceil_topology_free(ptr, b->bytes);
		return st;
	}
	*ret_ptr = ptr;
	return CEIL_OK;
}

static enum ceil_status alloc_host(const struct ceil_cuda_device *d, const struct ceil_buffer *b,
                                   void **ret_ptr, struct ceil_error *err)
{
	unsigned flags = cudaHostAllocDefault;

	if (b->numa_node >= 0)
		return alloc_on_node(d, b, ret_ptr, err);
	if (b->memory == CEIL_MEM_PINNED_WC)
		flags = cudaHostAllocWriteCombined;
	if (b->memory == CEIL_MEM_MAPPED)
		flags = cudaHostAllocMapped;
	if (b->memory != CEIL_MEM_PAGEABLE)
		return ceil_cuda_status((int)cudaHostAlloc(ret_ptr, b->bytes, flags),
		                        "cudaHostAlloc", err);
	*ret_ptr = malloc(b->bytes);
	if (!*ret_ptr)
		return ceil_fail(err, CEIL_E_NOMEM, "malloc: no memory");
	memset(*ret_ptr, 0,
	       b->bytes); /* the first touch gives the pages; never in a timed region */
	return CEIL_OK;
}

enum ceil_status ceil_cuda_alloc(struct ceil_device *dev, const struct ceil_buffer *b,
                                 void **ret_ptr, struct ceil_error *err)
{
	enum ceil_status st = ceil_cuda_enter(ceil_cuda_of(dev), err);
	void *ptr = NULL;

	if (st != CEIL_OK)
		return st;
	if (b->bytes == 0)
		return ceil_fail(err, CEIL_E_USAGE, "cuda backend: a buffer of 0 bytes");
	if (b->memory == CEIL_MEM_DEVICE)
		st = ceil_cuda_status((int)cudaMalloc(&ptr, b->bytes), "cudaMalloc", err);
	else if (b->memory == CEIL_MEM_SHARED)
		st = ceil_nccl_alloc(b->bytes, &ptr, err);
	else
		st = alloc_host(ceil_cuda_of(dev), b, &ptr, err);
	if (st != CEIL_OK) {
		(void)ceil_context(err, "%llu bytes for %s", (unsigned long long)b->bytes,
		                   dev->props.label);
		return st;
	}
	*ret_ptr = ptr;
	return CEIL_OK;
}

/* Whether alloc_on_node made it. */
static bool on_node(const struct ceil_buffer *b)
{
	return b->numa_node >= 0 && b->memory != CEIL_MEM_DEVICE && b->memory != CEIL_MEM_SHARED;
}

static void free_pageable(const struct ceil_buffer *b, void *ptr)
{
	if (on_node(b))
		ceil_topology_free(ptr, b->bytes);
	else
		free(ptr);
}

void ceil_cuda_free(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr)
{
	struct ceil_error ignored; /* a device that is gone gives nothing back */

	if (b->memory == CEIL_MEM_PAGEABLE) {
		free_pageable(b, ptr);
		return;
	}
	if (!ptr || ceil_cuda_enter(ceil_cuda_of(dev), &ignored) != CEIL_OK)
		return;
	if (b->memory == CEIL_MEM_SHARED) {
		ceil_nccl_free(ptr);
	} else if (b->memory == CEIL_MEM_DEVICE) {
		(void)cudaFree(ptr);
	} else if (on_node(b)) {
		(void)cudaHostUnregister(ptr);
		ceil_topology_free(ptr, b->bytes);
	} else {
		(void)cudaFreeHost(ptr);
	}
}

/* ---- contents */

/* The GPU reaches pageable memory only while it is registered. */
static enum ceil_status borrow(const struct ceil_buffer *b, void *ptr, struct ceil_error *err)
{
	if (b->memory != CEIL_MEM_PAGEABLE || b->bytes == 0)
		return CEIL_OK;
	return ceil_cuda_status((int)cudaHostRegister(ptr, b->bytes, cudaHostRegisterMapped),
	                        "cudaHostRegister", err);
}

static enum ceil_status give_back(const struct ceil_buffer *b, void *ptr, enum ceil_status before,
                                  struct ceil_error *err)
{
	enum ceil_status st;

	if (b->memory != CEIL_MEM_PAGEABLE || b->bytes == 0 || before == CEIL_E_TIMEOUT)
		return before;
	st = ceil_cuda_status((int)cudaHostUnregister(ptr), "cudaHostUnregister",
	                      before == CEIL_OK ? err : NULL);
	return before == CEIL_OK ? st : before;
}

enum ceil_status ceil_cuda_fill(struct ceil_device *dev, const struct ceil_buffer *b, void *ptr,
                                int buffer, enum ceil_pattern pattern, uint64_t seed,
                                struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	const struct ceil_fill f = {
		.ptr = ptr,
		.bytes = b->bytes,
		.dtype = b->dtype,
		.pattern = pattern,
		.seed = seed,
		.buffer = (uint32_t)buffer,
	};
	enum ceil_status st = ceil_cuda_enter(d, err);

	if (st == CEIL_OK)
		st = borrow(b, ptr, err);
	if (st != CEIL_OK)
		return st;
	st = ceil_support_fill(d->stream[0], &f, err);
	if (st == CEIL_OK)
		st = ceil_cuda_wait_all(d, CEIL_CUDA_WAIT_NS, err);
	return give_back(b, ptr, st, err);
}

static enum ceil_status hash_in(struct ceil_cuda_device *d, const struct ceil_buffer *b,
                                const void *ptr, uint64_t *ret_hash, struct ceil_error *err)
{
	enum ceil_status st = ceil_cuda_wait_all(d, CEIL_CUDA_WAIT_NS, err);

	if (st == CEIL_OK)
		st = ceil_cuda_status(
			(int)cudaMemsetAsync(d->sum, 0, sizeof(*d->sum), d->stream[0]),
			"cudaMemsetAsync", err);
	if (st == CEIL_OK)
		st = ceil_support_hash(d->stream[0], ptr, b->bytes, ceil_dtype_info(b->dtype)->bits,
		                       d->sum, err);
	if (st == CEIL_OK)
		st = ceil_cuda_copy_after_all(d, ret_hash, d->sum, sizeof(*d->sum), err);
	return st;
}

enum ceil_status ceil_cuda_hash(struct ceil_device *dev, const struct ceil_buffer *b,
                                const void *ptr, uint64_t *ret_hash, struct ceil_error *err)
{
	union {
		const void *in;
		void *out; /* registering changes no byte, but asks for a pointer that may */
	} p = {.in = ptr};
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	enum ceil_status st = ceil_cuda_enter(d, err);

	if (st == CEIL_OK)
		st = borrow(b, p.out, err);
	if (st != CEIL_OK)
		return st;
	return give_back(b, p.out, hash_in(d, b, ptr, ret_hash, err), err);
}

/* x, y and the marks of bad rows lie in one piece of device memory. */
static enum ceil_status project_in(struct ceil_cuda_device *d, const struct ceil_matrix *m,
                                   const int64_t *x, void *scratch, int64_t *y, uint32_t *bad,
                                   struct ceil_error *err)
{
	int64_t *const dev_x = scratch;
	uint64_t *const dev_y = (uint64_t *)(dev_x + m->cols);
	uint32_t *const dev_bad = (uint32_t *)(dev_y + m->rows);
	const uint64_t out_bytes = m->rows * (sizeof(*dev_y) + sizeof(*dev_bad));
	const struct ceil_project p = {
		.ptr = m->ptr,
		.dtype = m->dtype,
		.rows = m->rows,
		.cols = m->cols,
		.row_stride = m->row_stride,
		.col_stride = m->col_stride,
		.x = dev_x,
		.y = dev_y,
		.bad = dev_bad,
	};
	enum ceil_status st = ceil_cuda_copy_after_all(d, dev_x, x, m->cols * sizeof(*x), err);

	if (st == CEIL_OK)
		st = ceil_cuda_status((int)cudaMemsetAsync(dev_y, 0, out_bytes, d->stream[0]),
		                      "cudaMemsetAsync", err);
	if (st == CEIL_OK)
		st = ceil_support_project(d->stream[0], &p, err);
	if (st == CEIL_OK)
		st = ceil_cuda_copy_after_all(d, y, dev_y, m->rows * sizeof(*y), err);
	if (st == CEIL_OK)
		st = ceil_cuda_copy_after_all(d, bad, dev_bad, m->rows * sizeof(*bad), err);
	return st;
}

enum ceil_status ceil_cuda_project(struct ceil_device *dev, const struct ceil_matrix *m,
                                   const int64_t *x, int64_t *ret_y, struct ceil_error *err)
{
	struct ceil_cuda_device *d = ceil_cuda_of(dev);
	int64_t *y = ceil_alloc(m->rows, sizeof(*y), err);
	uint32_t *bad = ceil_alloc(m->rows, sizeof(*bad), err);
	void *scratch = NULL;
	enum ceil_status st = y && bad ? ceil_cuda_enter(d, err) : CEIL_E_NOMEM;

	if (st == CEIL_OK)
		st = ceil_cuda_status((int)cudaMalloc(&scratch, m->cols * 8 + m->rows * 12),
		                      "cudaMalloc for a projection", err);
	if (st == CEIL_OK)
		st = project_in(d, m, x, scratch, y, bad, err);
	for (uint64_t r = 0; st == CEIL_OK && r < m->rows; r++)
		ret_y[r] = bad[r] ? INT64_MIN : y[r];
	if (scratch && !d->lost)
		(void)cudaFree(scratch);
	free(bad);
	free(y);
	return st;
}
