/* Stand-in libraries: finding them, and making copies that lack symbols. */
#include "tests/fakes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool fake_path(const char *name, char ret_path[FAKE_PATH_MAX])
{
	char self[FAKE_PATH_MAX / 2];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length <= 0)
		return false;
	self[length] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	(void)snprintf(ret_path, FAKE_PATH_MAX, "%s/fakes/%s.so", self, name);
	return access(ret_path, R_OK) == 0;
}

static char *read_all(const char *path, size_t *ret_size)
{
	enum { LIMIT = 4 << 20 };
	char *bytes = malloc(LIMIT);
	FILE *f = fopen(path, "rb");

	*ret_size = f && bytes ? fread(bytes, 1, LIMIT, f) : 0;
	if (f)
		(void)fclose(f);
	return bytes;
}

/* Changes the first letter of a name wherever it stands as a string of its own. */
static void rename_symbol(char *bytes, size_t size, const char *name)
{
	const size_t length = strlen(name) + 1;
	char *at = bytes, *end = bytes + size;

	for (;;) {
		at = memmem(at, (size_t)(end - at), name, length);
		if (!at)
			return;
		if (at > bytes && at[-1] == '\0')
			*at = 'x';
		at++;
	}
}

bool fake_without(const char *path, const char *const *names, char ret_copy[FAKE_PATH_MAX])
{
	size_t size;
	char *bytes = read_all(path, &size);
	bool done = false;
	int fd;

	for (; size && *names; names++)
		rename_symbol(bytes, size, *names);
	(void)snprintf(ret_copy, FAKE_PATH_MAX, "/tmp/gpuceil_fake_XXXXXX");
	fd = size ? mkstemp(ret_copy) : -1;
	if (fd >= 0) {
		done = write(fd, bytes, size) == (ssize_t)size;
		(void)close(fd);
	}
	free(bytes);
	return done;
}
