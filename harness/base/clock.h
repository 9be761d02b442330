/* The one monotonic clock, sleeping, and UTC time stamps. */
#ifndef CEIL_CLOCK_H
#define CEIL_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CEIL_NS_PER_S  UINT64_C(1000000000)
#define CEIL_NS_PER_MS UINT64_C(1000000)

/* ceil_now_ns - CLOCK_MONOTONIC in ns. */
uint64_t ceil_now_ns(void);

/* ceil_sleep_ns - sleeps; a signal ends it early. */
void ceil_sleep_ns(uint64_t ns);

/* ceil_utc - wall time as 2026-11-30T19:32:50Z (20 characters and a NUL). */
void ceil_utc(char *ret_text, size_t size);

#endif
