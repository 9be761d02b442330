/* Aligned lines of a report. */
#include "harness/cli/report.h"

#include <stdarg.h>
#include <string.h>

#include "harness/base/text.h"

enum { COLUMNS = 100, INDENT = 19, TEXT_SIZE = 1024 };

/* In the order of enum ceil_mark. */
static const char *const marks[] = {"", "ok", "note", "skip", "BAD"};
static const char *const colours[] = {"", "\033[32m", "\033[33m", "\033[33m", "\033[1;31m"};

void ceil_report_title(struct ceil_report *r, const char *title)
{
	fprintf(r->f, "\n%s%s%s\n", r->colour ? "\033[1m" : "", title, r->colour ? "\033[0m" : "");
}

/* How much of text goes on a line: whole words, or a word that is longer than a line. */
static size_t line_length(const char *text)
{
	size_t length = strlen(text), best = 0, i;

	if (length <= COLUMNS - INDENT)
		return length;
	for (i = 0; i <= COLUMNS - INDENT; i++) {
		if (text[i] == ' ')
			best = i;
	}
	return best ? best : strcspn(text, " ");
}

static void wrap(FILE *f, const char *text)
{
	size_t length = line_length(text);

	fprintf(f, "%.*s\n", (int)length, text);
	for (text += length; *text; text += length) {
		text += *text == ' ';
		length = line_length(text);
		fprintf(f, "%*s%.*s\n", INDENT, "", (int)length, text);
	}
}

void ceil_report_line(struct ceil_report *r, enum ceil_mark mark, const char *name,
                      const char *format, ...)
{
	char text[TEXT_SIZE] = "";
	va_list ap;

	va_start(ap, format);
	ceil_vappend(text, sizeof(text), format, ap);
	va_end(ap);
	r->bad_count += mark == CEIL_MARK_BAD;
	fprintf(r->f, "  %s%-4s%s  %-10s ", r->colour ? colours[mark] : "", marks[mark],
	        r->colour && *colours[mark] ? "\033[0m" : "", name);
	wrap(r->f, text);
}
