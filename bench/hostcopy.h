/* What the files of the hostcopy bench share: its host launchers. */
#ifndef CEIL_BENCH_HOSTCOPY_H
#define CEIL_BENCH_HOSTCOPY_H

#include "harness/base/status.h"
#include "harness/measure/bench.h"

extern const struct ceil_bench ceil_hostcopy_bench;

/*
 * Launchers of type ceil_launch_fn: memcpy of l->m bytes from buf[0] to buf[1], which are aligned
 * to 64 bytes; stream[0] is a struct ceil_pool *.
 * _threads: every pinned thread copies its share. _one: the first thread copies all.
 */
CEIL_MUST_CHECK enum ceil_status ceil_hostcopy_memcpy_threads(const struct ceil_launch *l,
                                                              struct ceil_error *err);
CEIL_MUST_CHECK enum ceil_status ceil_hostcopy_memcpy_one(const struct ceil_launch *l,
                                                          struct ceil_error *err);

#endif
