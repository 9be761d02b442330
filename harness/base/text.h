/* Small text helpers: lists, suggestions, human units. */
#ifndef CEIL_TEXT_H
#define CEIL_TEXT_H

#include "harness/base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CEIL_LIST_MAX = 64, CEIL_LIST_ITEM = 96 };

/* A comma-separated list of short names. */
struct ceil_list {
	size_t count;
	char item[CEIL_LIST_MAX][CEIL_LIST_ITEM];
};

/* ceil_copy - copies what fits of src, whole UTF-8 characters, and terminates; NULL is "". */
void ceil_copy(char *dst, size_t size, const char *src);

/*
 * ceil_append - formats behind what is in dst, in the C locale; what does not fit is cut, never
 * inside a UTF-8 character. The arguments must not point into dst.
 */
void ceil_append(char *dst, size_t size, const char *format, ...) CEIL_PRINTF(3, 4);
void ceil_vappend(char *dst, size_t size, const char *format, va_list ap) CEIL_PRINTF(3, 0);

/*
 * ceil_list_add - splits text at commas and appends; blanks around items are dropped.
 * Return: CEIL_E_USAGE if an item is empty, too long, or there are too many; the list is as it
 * was then.
 */
CEIL_MUST_CHECK enum ceil_status ceil_list_add(struct ceil_list *list, const char *text,
                                               struct ceil_error *err);

/* ceil_list_has - whether name is in the list; an empty list has everything. */
bool ceil_list_has(const struct ceil_list *list, const char *name);

/*
 * ceil_suggest - the known name nearest to a mistyped one (Damerau-Levenshtein, at most a third
 * of its length wrong, case aside), else the only one that begins with it, or NULL.
 * @names: NULL-terminated; an empty name is never suggested.
 */
const char *ceil_suggest(const char *typed, const char *const *names);

/* ceil_human_bytes - 8589934592 -> "8 GiB", 1536 -> "1.5 KiB". */
void ceil_human_bytes(char *ret_text, size_t size, uint64_t bytes);

/* ceil_human_seconds - 75 s -> "1 min 15 s", 0.25 s -> "0.25 s", NAN -> "". */
void ceil_human_seconds(char *ret_text, size_t size, double seconds);

/*
 * ceil_parse_duration_ns - "90", "90s", "2m", "1h", "1.5min", "250ms" -> ns; a bare number is s.
 * Return: CEIL_E_USAGE if it is not one, is 0 or negative, or is over 7 days.
 */
CEIL_MUST_CHECK enum ceil_status ceil_parse_duration_ns(const char *text, uint64_t *ret_ns,
                                                        struct ceil_error *err);

/* ceil_parse_u64 - a whole decimal number, nothing behind it. Return: CEIL_E_USAGE otherwise. */
CEIL_MUST_CHECK enum ceil_status ceil_parse_u64(const char *text, uint64_t *ret_value,
                                                struct ceil_error *err);

/* ceil_parse_double - a finite decimal number in the C locale, nothing behind it. */
CEIL_MUST_CHECK enum ceil_status ceil_parse_double(const char *text, double *ret_value,
                                                   struct ceil_error *err);

#endif
