/* The one result type of the project, and the text that travels with a failure. */
#ifndef CEIL_STATUS_H
#define CEIL_STATUS_H

#ifdef __GNUC__
#define CEIL_MUST_CHECK        __attribute__((warn_unused_result))
#define CEIL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CEIL_MUST_CHECK
#define CEIL_PRINTF(fmt, args)
#endif

enum ceil_status {
	CEIL_OK,
	CEIL_E_USAGE,       /* the caller's input is wrong */
	CEIL_E_UNSUPPORTED, /* this build, part or library cannot: a fact, not a failure */
	CEIL_E_DEVICE,      /* a device or its driver failed */
	CEIL_E_IO,          /* a file or folder could not be read or written */
	CEIL_E_NOMEM,       /* not enough memory, on the host or a device */
	CEIL_E_TIMEOUT,     /* a device did not answer in time: it may hang */
	CEIL_E_WRONG,       /* a computed result is wrong */
	CEIL_E_CANCELLED,   /* the user stopped the run */
	CEIL_E_BUDGET,      /* the time that the run may take is spent */
	CEIL_STATUS_COUNT
};

/* The caller's; one per thread. The text is one line without a full stop. */
struct ceil_error {
	enum ceil_status status;
	char text[256];
};

struct ceil_launch;
typedef enum ceil_status (*ceil_launch_fn)(const struct ceil_launch *l, struct ceil_error *err);

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ceil_fail - writes status and text into err and gives the status back.
 * @err: may be NULL: then only the status survives.
 * Return: status, so that the first place that knows the cause is one `return ceil_fail(...)`.
 */
enum ceil_status ceil_fail(struct ceil_error *err, enum ceil_status status, const char *format, ...)
	CEIL_PRINTF(3, 4);

/*
 * ceil_context - puts "prefix: " before the text that is there, for a caller who knows more.
 * @err: holds a failure; not NULL.
 * Return: err->status.
 */
enum ceil_status ceil_context(struct ceil_error *err, const char *format, ...) CEIL_PRINTF(2, 3);

/* ceil_status_name - "ok", "usage", ... for messages and tests. */
const char *ceil_status_name(enum ceil_status status);

#ifdef __cplusplus
}
#endif

#endif
