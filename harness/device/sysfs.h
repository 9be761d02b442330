/* Small files under /sys and /proc, with another root for tests. */
#ifndef CEIL_SYSFS_H
#define CEIL_SYSFS_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * GPUCEIL_SYSROOT=DIR puts DIR before every path (tests); unset or "": the machine itself.
 * A file that cannot be read is a fact, not a failure: all of these say so by false or NULL.
 */

/* ceil_sysfs_open - opens the file of a path for reading; the caller closes it. */
FILE *ceil_sysfs_open(const char *format, ...) CEIL_PRINTF(1, 2);

/* ceil_sysfs_line - the first line without its end. @ret_text: untouched when false. */
bool ceil_sysfs_line(char *ret_text, size_t size, const char *format, ...) CEIL_PRINTF(3, 4);

/*
 * ceil_sysfs_field - the number behind the first whole word that is equal to word:
 * "MemAvailable:  123 kB" -> 123. @ret_value: untouched when false.
 */
bool ceil_sysfs_field(uint64_t *ret_value, const char *word, const char *format, ...)
	CEIL_PRINTF(3, 4);

#endif
