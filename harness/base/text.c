/* Small text helpers: all of them speak the C locale, whatever the program's locale is. */
#include "harness/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of text cut before the character that its last bytes only begin. */
static size_t whole_utf8(const char *text, size_t length)
{
	size_t back = 0;
	unsigned char lead;

	while (back < 3 && back < length && ((unsigned char)text[length - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back == length)
		return length;
	lead = (unsigned char)text[length - 1 - back];
	if (lead >= (back == 0 ? 0xc0 : back == 1 ? 0xe0 : back == 2 ? 0xf0 : 0xff))
		return length - 1 - back;
	return length;
}

void ceil_copy(char *dst, size_t size, const char *src)
{
	size_t length = src ? strlen(src) : 0;

	if (size == 0)
		return;
	if (length >= size)
		length = whole_utf8(src, size - 1);
	if (length)
		memmove(dst, src, length);
	dst[length] = '\0';
}

void ceil_vappend(char *dst, size_t size, const char *format, va_list ap)
{
	const size_t used = strnlen(dst, size);
	locale_t c, before;
	int n;

	if (used + 1 >= size)
		return;
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	before = uselocale(c); /* if c is 0, nothing changes */
	n = vsnprintf(dst + used, size - used, format, ap);
	(void)uselocale(before);
	if (c)
		freelocale(c);
	if (n < 0)
		dst[used] = '\0';
	else if ((size_t)n >= size - used)
		dst[whole_utf8(dst, size - 1)] = '\0';
}

void ceil_append(char *dst, size_t size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	ceil_vappend(dst, size, format, ap);
	va_end(ap);
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return s;
}

/* One item of a list, without the blanks around it. */
static enum ceil_status list_item(char ret_item[CEIL_LIST_ITEM], const char *list, const char *from,
                                  const char *to, struct ceil_error *err)
{
	size_t length;

	from = skip_blanks(from, to);
	while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	length = (size_t)(to - from);
	if (length == 0)
		return ceil_fail(err, CEIL_E_USAGE, "an item of the list is empty: '%.64s'", list);
	if (length >= CEIL_LIST_ITEM)
		return ceil_fail(err, CEIL_E_USAGE, "%.16s... is %zu characters long, at most %d",
		                 from, length, CEIL_LIST_ITEM - 1);
	memcpy(ret_item, from, length);
	ret_item[length] = '\0';
	return CEIL_OK;
}

enum ceil_status ceil_list_add(struct ceil_list *list, const char *text, struct ceil_error *err)
{
	size_t count = list->count;
	const char *item = text, *comma;

	for (;; item = comma + 1) {
		enum ceil_status status;

		comma = item + strcspn(item, ",");
		if (count == CEIL_LIST_MAX)
			return ceil_fail(err, CEIL_E_USAGE, "more than %d items in the list",
			                 CEIL_LIST_MAX);
		status = list_item(list->item[count], text, item, comma, err);
		if (status != CEIL_OK)
			return status;
		count++;
		if (*comma == '\0')
			break;
	}
	list->count = count;
	return CEIL_OK;
}

bool ceil_list_has(const struct ceil_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i], name) == 0)
			return true;
	return list->count == 0;
}

enum { WORD_MAX = 64 }; /* no name of ours is longer */

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Edits between two words: insert, delete, replace, swap neighbours; case does not count.
 * Optimal string alignment: Damerau 1964, in three rolling rows.
 */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *here = rows[2], *spare;

	for (size_t j = 0; j <= b_length; j++)
		above[j] = before[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		here[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			const bool same = same_letter(a[i - 1], b[j - 1]);

			here[j] = min_of(min_of(above[j], here[j - 1]) + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]))
				here[j] = min_of(here[j], before[j - 2] + 1);
		}
		spare = before;
		before = above;
		above = here;
		here = spare;
	}
	return above[b_length];
}

/* The only name that begins with typed, of which one letter is too little; or NULL. */
static const char *only_prefixed(const char *typed, const char *const *names)
{
	const size_t length = strlen(typed);
	const char *found = NULL;

	if (length < 2)
		return NULL;
	for (; *names; names++) {
		if (strncmp(*names, typed, length) != 0)
			continue;
		if (found)
			return NULL;
		found = *names;
	}
	return found;
}

const char *ceil_suggest(const char *typed, const char *const *names)
{
	const size_t length = strlen(typed);
	size_t best = length / 3 + 1;
	const char *nearest = NULL;

	if (length > WORD_MAX)
		return NULL;
	for (const char *const *name = names; *name; name++) {
		const size_t other = strlen(*name);
		size_t d;

		if (other == 0 || other > WORD_MAX)
			continue;
		d = edit_distance(typed, length, *name, other);
		if (d >= best)
			continue;
		best = d;
		nearest = *name;
	}
	return nearest ? nearest : only_prefixed(typed, names);
}

void ceil_human_bytes(char *ret_text, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	if (size == 0)
		return;
	/* 1023.95 is where one decimal would show 1024.0 */
	for (; value >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1024.0;
	ret_text[0] = '\0';
	value = round(value * 10.0) / 10.0;
	ceil_append(ret_text, size, "%.*f %s", value == floor(value) ? 0 : 1, value, units[unit]);
}

void ceil_human_seconds(char *ret_text, size_t size, double seconds)
{
	uint64_t whole;

	if (size == 0)
		return;
	ret_text[0] = '\0';
	if (isnan(seconds))
		return;
	if (seconds <= 0.0)
		ceil_append(ret_text, size, "0 s");
	else if (seconds < 0.9995e-3)
		ceil_append(ret_text, size, "%.3g us", seconds * 1e6);
	else if (seconds < 0.09995)
		ceil_append(ret_text, size, "%.3g ms", seconds * 1e3);
	else if (seconds < 59.95)
		ceil_append(ret_text, size, "%.3g s", seconds);
	if (ret_text[0])
		return;
	whole = (uint64_t)fmin(round(seconds),
	                       1e15); /* beyond any duration; keeps the cast valid */
	if (whole < 3600)
		ceil_append(ret_text, size, "%llu min %llu s", (unsigned long long)whole / 60,
		            (unsigned long long)whole % 60);
	else
		ceil_append(ret_text, size, "%llu h %llu min", (unsigned long long)whole / 3600,
		            (unsigned long long)whole % 3600 / 60);
}

/*
 * A finite decimal number at the start of text: no blanks, hexadecimal, inf or nan, all of which
 * strtod would take. Return: what follows it, or NULL.
 */
static const char *scan_number(const char *text, double *ret_value)
{
	const char *digits = text + (*text == '+' || *text == '-');
	locale_t c;
	char *end = NULL;
	double value;

	if (!isdigit((unsigned char)digits[*digits == '.']))
		return NULL;
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		return NULL;
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c)
		return NULL;
	value = strtod_l(text, &end, c);
	freelocale(c);
	if (!isfinite(value))
		return NULL;
	*ret_value = value;
	return end;
}

enum ceil_status ceil_parse_double(const char *text, double *ret_value, struct ceil_error *err)
{
	double value;
	const char *end = scan_number(text, &value);

	if (!end || *end)
		return ceil_fail(err, CEIL_E_USAGE, "\"%.40s\" is not a number", text);
	*ret_value = value;
	return CEIL_OK;
}

enum ceil_status ceil_parse_u64(const char *text, uint64_t *ret_value, struct ceil_error *err)
{
	unsigned long long value;

	if (!text[0] || text[strspn(text, "0123456789")])
		return ceil_fail(err, CEIL_E_USAGE, "\"%.40s\" is not a whole number", text);
	errno = 0;
	value = strtoull(text, NULL, 10); /* digits only: no locale has a say */
	if (errno)
		return ceil_fail(err, CEIL_E_USAGE, "%.40s is too large, at most %llu", text,
		                 (unsigned long long)UINT64_MAX);
	*ret_value = value;
	return CEIL_OK;
}

static const struct {
	const char *name;
	double ns;
} duration_units[] = {
	{"", 1e9},  {"ns", 1.0}, {"us", 1e3},   {"ms", 1e6},
	{"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9},
};

#define LONGEST_NS (7.0 * 24.0 * 3600e9)

enum ceil_status ceil_parse_duration_ns(const char *text, uint64_t *ret_ns, struct ceil_error *err)
{
	double value = 0.0, unit_ns = 0.0;
	const char *unit = scan_number(text, &value);

	for (size_t i = 0; unit && i < sizeof(duration_units) / sizeof(duration_units[0]); i++)
		if (strcmp(unit, duration_units[i].name) == 0)
			unit_ns = duration_units[i].ns;
	if (unit_ns == 0.0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "\"%.40s\" is not a duration such as 90, 90s, 2m, 1h or 250ms",
		                 text);
	if (!(value * unit_ns >= 1.0))
		return ceil_fail(err, CEIL_E_USAGE, "%.40s is too short: it must be more than 0",
		                 text);
	if (value * unit_ns > LONGEST_NS)
		return ceil_fail(err, CEIL_E_USAGE, "%.40s is too long, at most 7 days (168h)",
		                 text);
	*ret_ns = (uint64_t)(value * unit_ns + 0.5);
	return CEIL_OK;
}
