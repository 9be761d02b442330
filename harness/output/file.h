/* Files that are either whole or marked partial: write, flush, check, rename. */
#ifndef CEIL_FILE_H
#define CEIL_FILE_H

#include "harness/base/status.h"

#include <stddef.h>
#include <stdio.h>

enum { CEIL_PATH_MAX = 1024, CEIL_SHOWN_PATH = 112 };

struct ceil_file {
	FILE *f;  /* NULL: not open */
	int code; /* errno of the first failure; it sticks, so that no row is lost silently */
	char path[CEIL_PATH_MAX], partial[CEIL_PATH_MAX + 8];
};

/* ceil_file_open - path.partial for writing. Return: CEIL_E_IO, what to do in words. */
CEIL_MUST_CHECK enum ceil_status ceil_file_open(const char *path, struct ceil_file *ret_file,
                                                struct ceil_error *err);
/* ceil_file_flush - to the kernel; CEIL_E_IO when the disk is full, and the file stays partial. */
CEIL_MUST_CHECK enum ceil_status ceil_file_flush(struct ceil_file *file, struct ceil_error *err);
/*
 * ceil_file_close - flush, fsync, close, rename. NULL or an unopened one is CEIL_OK.
 * Return: CEIL_E_IO if any of it failed, or any flush before; the file stays partial then.
 */
CEIL_MUST_CHECK enum ceil_status ceil_file_close(struct ceil_file *file, struct ceil_error *err);
/* ceil_file_abandon - closes and leaves the partial file. NULL or unopened is a no-op. */
void ceil_file_abandon(struct ceil_file *file);
/*
 * ceil_shown_path - a path for a message: whole, or "..." and its end from a slash on.
 * @size: at least 8; CEIL_SHOWN_PATH leaves room for words in a struct ceil_error.
 */
void ceil_shown_path(char *ret_text, size_t size, const char *path);

/* ceil_make_folder - with its parents. Return: CEIL_E_IO, the part that failed and why. */
CEIL_MUST_CHECK enum ceil_status ceil_make_folder(const char *path, struct ceil_error *err);

#endif
