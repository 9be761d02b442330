/* A folder for one test. */
#include "tests/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];
static pid_t owner; /* a forked child must not remove its parent's folder */
static char *content;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void clean_up(void)
{
	free(content);
	content = NULL;
	if (folder[0] && getpid() == owner)
		(void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	/* In memory where there is a place: thousands of fsync on a disk take seconds. */
	if (!tmp || !tmp[0])
		tmp = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
	(void)snprintf(folder, sizeof(folder), "%s/ceil-test-XXXXXX", tmp);
	if (!mkdtemp(folder))
		die(folder);
	owner = getpid();
	(void)atexit(clean_up);
}

const char *scratch_path(const char *name)
{
	static char paths[8][512];
	static unsigned turn;
	char *path = paths[turn++ % 8];

	if (!folder[0])
		make_folder();
	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

const char *scratch_write(const char *name, const void *bytes, size_t length)
{
	const char *path = scratch_path(name);
	FILE *f = fopen(path, "w");

	if (!f || fwrite(bytes, 1, length, f) != length || fclose(f))
		die(path);
	return path;
}

const char *scratch_text(const char *name, const char *text)
{
	return scratch_write(name, text, strlen(text));
}

const char *scratch_read(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t size = 0;

	if (!f)
		return NULL;
	free(content);
	content = NULL;
	if (getdelim(&content, &size, '\0', f) < 0) {
		free(content);
		content = calloc(1, 1); /* an empty file */
	}
	(void)fclose(f);
	return content;
}

bool scratch_exists(const char *path)
{
	return access(path, F_OK) == 0;
}
