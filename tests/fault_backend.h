/* A backend that wraps another and fails the k-th call, or hangs. */
#ifndef CEIL_FAULT_BACKEND_H
#define CEIL_FAULT_BACKEND_H

#include "harness/device/backend.h"

/*
 * fault_backend - a backend with the name and the functions of real, through which each call that
 * can fail is counted. One at a time: its state is this file's. Devices are real's own, with
 * another backend pointer, so vendor files that know the device still do.
 */
const struct ceil_backend *fault_backend(const struct ceil_backend *real);

/*
 * fault_at - the k-th call from now (1 is the next) fails with status and does nothing; 0: none.
 * The count starts again at 0.
 */
void fault_at(long k, enum ceil_status status);

/* fault_hang - the k-th sync or wait from now times out, as does each after it; 0: none. */
void fault_hang(long k);

/* fault_calls - calls since fault_at. */
long fault_calls(void);

/* fault_last - the function that was made to fail, "alloc"; "" if none was since fault_at. */
const char *fault_last(void);

/* fault_calls_after_hang - calls of any function, free and close too, since the device hung. */
long fault_calls_after_hang(void);

/* fault_live - devices and buffers that were given and not yet given back: leaks. */
long fault_live(void);

#endif
