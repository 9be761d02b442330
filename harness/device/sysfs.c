/* Small files under /sys and /proc, with another root for tests. */
#include "harness/device/sysfs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/text.h"

enum { PATH_SIZE = 4096, LINE_SIZE = 1024 };

static FILE *open_path(const char *format, va_list ap)
{
	const char *root = getenv("GPUCEIL_SYSROOT");
	char path[PATH_SIZE];
	int length, rest;

	length = snprintf(path, sizeof(path), "%s", root ? root : "");
	if (length < 0 || length >= PATH_SIZE)
		return NULL;
	rest = vsnprintf(path + length, sizeof(path) - (size_t)length, format, ap);
	if (rest < 0 || length + rest >= PATH_SIZE)
		return NULL;
	return fopen(path, "re");
}

FILE *ceil_sysfs_open(const char *format, ...)
{
	va_list ap;
	FILE *f;

	va_start(ap, format);
	f = open_path(format, ap);
	va_end(ap);
	return f;
}

bool ceil_sysfs_line(char *ret_text, size_t size, const char *format, ...)
{
	char line[LINE_SIZE];
	bool have;
	va_list ap;
	FILE *f;

	va_start(ap, format);
	f = open_path(format, ap);
	va_end(ap);
	if (!f)
		return false;
	have = fgets(line, sizeof(line), f) != NULL;
	(void)fclose(f); /* only read */
	if (!have)
		return false;
	line[strcspn(line, "\n")] = '\0';
	ceil_copy(ret_text, size, line);
	return true;
}

bool ceil_sysfs_field(uint64_t *ret_value, const char *word, const char *format, ...)
{
	char line[LINE_SIZE];
	const char *at = NULL;
	va_list ap;
	FILE *f;

	va_start(ap, format);
	f = open_path(format, ap);
	va_end(ap);
	if (!f)
		return false;
	while (!at && fgets(line, sizeof(line), f)) {
		at = strstr(line, word);
		/* A whole word: "inactive_file" is no "total_inactive_file". */
		if (at && ((at > line && at[-1] != ' ') || !strchr(" \t", at[strlen(word)])))
			at = NULL;
	}
	(void)fclose(f); /* only read */
	return at && sscanf(at + strlen(word), " %" SCNu64, ret_value) == 1;
}
