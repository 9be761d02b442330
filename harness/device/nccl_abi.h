/* The part of NCCL's binary interface that is used, so that no nccl.h is needed to build. */
#ifndef CEIL_NCCL_ABI_H
#define CEIL_NCCL_ABI_H

#include "harness/device/nccl.h"

#include <stddef.h>

/* Source: nccl.h of 2.18 and 2.28.9, which agree in these. */
enum { CEIL_NCCL_OK = 0, CEIL_NCCL_INVALID_ARGUMENT = 4, CEIL_NCCL_IN_PROGRESS = 7 };
enum ceil_nccl_type {
	CEIL_NCCL_INT8 = 0,
	CEIL_NCCL_INT32 = 2,
	CEIL_NCCL_INT64 = 4,
	CEIL_NCCL_FP16 = 6,
	CEIL_NCCL_FP32 = 7,
	CEIL_NCCL_FP64 = 8,
	CEIL_NCCL_BF16 = 9,
	CEIL_NCCL_E4M3 = 10, /* both 8-bit floats since 2.24 */
	CEIL_NCCL_E5M2 = 11
};
enum { CEIL_NCCL_SUM = 0, CEIL_NCCL_MAX = 2 };

/* ncclGetVersion since 2.9: major x 10000 + minor x 100 + patch. */
enum { CEIL_NCCL_OLDEST = 21800, CEIL_NCCL_FP8 = 22400 };

/* ncclComm_t and cudaStream_t are pointers, ncclResult_t and the other enums are ints. */
struct ceil_nccl_table {
	int (*get_version)(int *);
	int (*get_unique_id)(struct ceil_nccl_id *);
	int (*comm_init_rank)(void **, int, struct ceil_nccl_id, int);
	int (*comm_destroy)(void *);
	int (*comm_abort)(void *);
	int (*comm_async_error)(void *, int *);
	const char *(*error_string)(int);
	const char *(*last_error)(void *); /* optional */
	int (*all_reduce)(const void *, void *, size_t, int, int, void *, void *);
	int (*all_gather)(const void *, void *, size_t, int, void *, void *);
	int (*reduce_scatter)(const void *, void *, size_t, int, int, void *, void *);
	int (*broadcast)(const void *, void *, size_t, int, int, void *, void *);
	int (*reduce)(const void *, void *, size_t, int, int, int, void *, void *);
	int (*all_to_all)(const void *, void *, size_t, int, void *, void *); /* optional, 2.28 */
	int (*send)(const void *, size_t, int, int, void *, void *);
	int (*recv)(void *, size_t, int, int, void *, void *);
	int (*group_start)(void);
	int (*group_end)(void);
	int (*comm_register)(void *, void *, size_t, void **); /* optional, 2.19 */
	int (*comm_deregister)(void *, void *);                /* optional, 2.19 */
	int (*mem_alloc)(void **, size_t);                     /* optional, 2.19 */
	int (*mem_free)(void *);                               /* optional, 2.19 */
	void (*reset_debug)(void);                             /* optional */
};

#endif
