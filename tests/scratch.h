/* A folder for one test: files are written, read back and removed with it. */
#ifndef CEIL_SCRATCH_H
#define CEIL_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* scratch_path - the path of a name in this test's folder, which is made at the first call and
 * removed at exit. Return: one of eight buffers that take turns. */
const char *scratch_path(const char *name);

/* scratch_write - a file of exactly these bytes. Return: its path. Ends the test on failure. */
const char *scratch_write(const char *name, const void *bytes, size_t length);
/* The same with the bytes of a string. */
const char *scratch_text(const char *name, const char *text);

/* scratch_read - the whole file with a NUL behind it, or NULL; valid until the next call. */
const char *scratch_read(const char *path);

bool scratch_exists(const char *path);

#endif
