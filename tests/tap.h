/* TAP for tests: each check is a function that flushes, so a crash keeps the lines before it. */
#ifndef CEIL_TAP_H
#define CEIL_TAP_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* One line "ok N - name" or "not ok N - name". Return: pass. */
bool ok(bool pass, const char *name, ...) CEIL_PRINTF(2, 3);
bool is_text(const char *got, const char *want, const char *name);
bool is_int(long long got, long long want, const char *name);
bool is_u64(uint64_t got, uint64_t want, const char *name);
/* |got - want| <= tolerance; two NANs are equal. */
bool is_close(double got, double want, double tolerance, const char *name);
/* haystack contains needle. */
bool has_text(const char *haystack, const char *needle, const char *name);
/* One skipped check with its reason. */
void skip(const char *name, const char *reason);
/* Prints the plan. Return: the exit status, 0 or 1. A test without checks fails. */
int done_testing(void);
/* Ends the whole file with status 77. */
_Noreturn void skip_all(const char *reason);

#endif
