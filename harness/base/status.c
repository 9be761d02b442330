/* Failures in words: what failed, with the value, the limit and the API's own text. */
#include "harness/base/status.h"

#include <stdarg.h>
#include <string.h>

#include "harness/base/text.h"

enum ceil_status ceil_fail(struct ceil_error *err, enum ceil_status status, const char *format, ...)
{
	char text[sizeof(err->text)] = ""; /* apart from err, whose text may be an argument */
	va_list ap;

	if (!err)
		return status;
	va_start(ap, format);
	ceil_vappend(text, sizeof(text), format, ap);
	va_end(ap);
	memcpy(err->text, text, sizeof(text));
	err->status = status;
	return status;
}

enum ceil_status ceil_context(struct ceil_error *err, const char *format, ...)
{
	char text[sizeof(err->text)] = "";
	va_list ap;

	va_start(ap, format);
	ceil_vappend(text, sizeof(text), format, ap);
	va_end(ap);
	ceil_append(text, sizeof(text), ": %s", err->text);
	memcpy(err->text, text, sizeof(text));
	return err->status;
}

const char *ceil_status_name(enum ceil_status status)
{
	static const char *const names[CEIL_STATUS_COUNT] = {
		[CEIL_OK] = "ok",
		[CEIL_E_USAGE] = "usage",
		[CEIL_E_UNSUPPORTED] = "unsupported",
		[CEIL_E_DEVICE] = "device",
		[CEIL_E_IO] = "io",
		[CEIL_E_NOMEM] = "nomem",
		[CEIL_E_TIMEOUT] = "timeout",
		[CEIL_E_WRONG] = "wrong",
		[CEIL_E_CANCELLED] = "cancelled",
		[CEIL_E_BUDGET] = "budget",
	};

	return (unsigned)status < CEIL_STATUS_COUNT ? names[status] : "unknown";
}
