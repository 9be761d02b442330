/* The CUDA backend: GPUs through the CUDA runtime. */
#ifndef CEIL_CUDA_H
#define CEIL_CUDA_H

#include "harness/base/status.h"
#include "harness/device/backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ceil_stamp;
struct ceil_topology;

/*
 * Of ceil_backend, as this device keeps it:
 * open   makes the GPU current, eight streams, 64 marks, and runs the support kernels once, since
 *        code that is loaded behind a closed gate would wait for the gate for ever. The label is
 *        "gpu<ordinal>"; whoever knows nvidia-smi's index may put it there.
 * alloc  CEIL_E_USAGE for 0 bytes, and for host memory on a NUMA node that there is not;
 *        CEIL_E_UNSUPPORTED where the system does not put it there, and for write-combined memory.
 * fill, hash, project wait for their result. All memory is filled and hashed by the GPU, so the
 *        bits are those of one generator; pageable memory is registered for that while.
 * sync, wait  poll, so that a hang ends in CEIL_E_TIMEOUT; after it every call fails, and close
 *        frees host memory alone, because CUDA would block.
 * gate   does nothing where a spinning kernel would wait for what cannot come: under
 *        CUDA_LAUNCH_BLOCKING=1, and under profilers and sanitizers (ceil_cuda_serialised).
 * clock_mhz  reads stamps that were waited for; NAN if they are less than 50 us apart, where the
 *        steps of the global timer (32 ns to 1 us) show.
 */
extern const struct ceil_backend ceil_cuda_backend;

/* ceil_cuda_peek - what CUDA and the system say about a GPU, without a context; free_bytes is 0. */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_peek(int ordinal, struct ceil_device_props *ret_props,
                                                struct ceil_error *err);

/* ceil_cuda_free_bytes - what a run may plan with on the current device with headroom.
 * @integrated: memory is shared with the host, so what the system has free counts. */
CEIL_MUST_CHECK enum ceil_status ceil_cuda_free_bytes(bool integrated, uint64_t *ret_bytes,
                                                      struct ceil_error *err);

/* ceil_cuda_topology - of the host, as the device keeps it; NULL if hwloc does not know it. */
const struct ceil_topology *ceil_cuda_topology(const struct ceil_device *dev);

/* ceil_cuda_serialised - whether the environment says that launches may not overlap the host. */
bool ceil_cuda_serialised(void);

/*
 * ceil_cuda_clock_mhz - median over the SMs that are in both sets of clock over time. Pure.
 * Return: NAN if no SM is in both, at least 50 us apart.
 */
double ceil_cuda_clock_mhz(const struct ceil_stamp *from, const struct ceil_stamp *to,
                           size_t count);

#endif
