/* Libraries that are loaded when needed: one table of symbols each. */
#ifndef CEIL_DYNLIB_H
#define CEIL_DYNLIB_H

#include "harness/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Any function; cast it back to its own type before the call. */
typedef void (*ceil_any_fn)(void);

/* One entry point: names newest first, NULL-terminated; offset of its pointer in the caller's
 * struct. */
struct ceil_symbol {
	const char *names[4];
	size_t offset;
	bool required;
};

struct ceil_library {
	const char *title;          /* "NVML", for messages */
	const char *override;       /* environment variable that holds a path: "GPUCEIL_LIB_NVML" */
	const char *const *sonames; /* in the order to try, NULL-terminated */
	const char *remedy;         /* what to do when it is missing */
	const struct ceil_symbol *symbols;
	size_t symbol_count;
	bool global; /* RTLD_GLOBAL */
	bool stays;  /* not unloaded by close: it leaves pointers to itself elsewhere */
};

struct ceil_dynlib {
	void *handle;
	char path[256]; /* of the file that was loaded, resolved */
};

/*
 * ceil_dynlib_open - loads a library and fills the pointers of its table.
 * @table: the struct into which the offsets point; optional symbols that are missing are NULL.
 * Return: CEIL_OK; CEIL_E_UNSUPPORTED with what was looked for and where, or the missing symbol
 * and the file that lacks it.
 */
CEIL_MUST_CHECK enum ceil_status ceil_dynlib_open(const struct ceil_library *lib, void *table,
                                                  struct ceil_dynlib *ret_lib,
                                                  struct ceil_error *err);

/* ceil_dynlib_close - NULL or an unopened one is a no-op. */
void ceil_dynlib_close(struct ceil_dynlib *lib);

#endif
