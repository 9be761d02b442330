/* Files that are either whole or marked partial, and errors that say what to do. */
#include "harness/output/file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/text.h"

/* What helps against an error of writing, or NULL. */
static const char *remedy_of(int code)
{
	switch (code) {
	case ENOSPC:
	case EDQUOT:
		return "free some space or choose another folder with --output";
	case EFBIG:
		return "raise the limit on the size of files: ulimit -f";
	case EACCES:
	case EPERM:
		return "you may not write there: choose another folder with --output";
	case EROFS:
	case ENOTDIR:
	case ENAMETOOLONG:
	case EISDIR:
		return "choose another folder with --output";
	case ENOENT:
		return "make the folder first or choose another with --output";
	default:
		return NULL;
	}
}

void ceil_shown_path(char *ret_text, size_t size, const char *path)
{
	const size_t length = strlen(path), room = size - sizeof("...");
	const char *tail, *slash;

	if (length < size) {
		ceil_copy(ret_text, size, path);
		return;
	}
	tail = path + (length - room);
	slash = strchr(tail, '/');
	ceil_copy(ret_text, size, "...");
	ceil_append(ret_text, size, "%s", slash ? slash : tail);
}

/* "cannot WHAT PATH: system's words; remedy" */
static enum ceil_status fail_path(struct ceil_error *err, const char *what, const char *path,
                                  int code)
{
	const char *remedy = remedy_of(code);
	char shown[CEIL_SHOWN_PATH];

	ceil_shown_path(shown, sizeof(shown), path);
	return ceil_fail(err, CEIL_E_IO, "cannot %s %s: %s%s%s", what, shown, strerror(code),
	                 remedy ? "; " : "", remedy ? remedy : "");
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum ceil_status ceil_file_open(const char *path, struct ceil_file *ret_file,
                                struct ceil_error *err)
{
	struct ceil_file file = {0};

	if (strlen(path) >= sizeof(file.path))
		return fail_path(err, "write", path, ENAMETOOLONG);
	/* The rename at the end would fail: better now than after the measurement. */
	if (is_folder(path))
		return fail_path(err, "write", path, EISDIR);
	ceil_copy(file.path, sizeof(file.path), path);
	ceil_copy(file.partial, sizeof(file.partial), path);
	ceil_append(file.partial, sizeof(file.partial), ".partial");
	file.f = fopen(file.partial, "we");
	if (!file.f)
		return fail_path(err, "write", file.partial, errno);
	*ret_file = file;
	return CEIL_OK;
}

/* Keeps the first cause: later calls on a broken stream fail with other words or none. */
static void note(struct ceil_file *file, int code)
{
	if (file->code == 0)
		file->code = code ? code : EIO;
}

enum ceil_status ceil_file_flush(struct ceil_file *file, struct ceil_error *err)
{
	errno = 0;
	if (fflush(file->f) || ferror(file->f))
		note(file, errno);
	if (file->code)
		return fail_path(err, "write", file->partial, file->code);
	return CEIL_OK;
}

/* To the disk. Pipes and devices cannot be synced, and need not be. */
static void sync_file(struct ceil_file *file)
{
	if (fsync(fileno(file->f)) && errno != EINVAL && errno != ENOTSUP)
		note(file, errno);
}

enum ceil_status ceil_file_close(struct ceil_file *file, struct ceil_error *err)
{
	enum ceil_status status;

	if (!file || !file->f)
		return CEIL_OK;
	status = ceil_file_flush(file, err);
	if (status == CEIL_OK)
		sync_file(file);
	if (fclose(file->f))
		note(file, errno);
	file->f = NULL;
	if (file->code)
		return fail_path(err, "write", file->partial, file->code);
	if (rename(file->partial, file->path))
		return fail_path(err, "rename the .partial file to", file->path, errno);
	return CEIL_OK;
}

void ceil_file_abandon(struct ceil_file *file)
{
	if (!file || !file->f)
		return;
	(void)fclose(file->f); /* it stays partial, whatever comes of this */
	file->f = NULL;
}

enum ceil_status ceil_make_folder(const char *path, struct ceil_error *err)
{
	char part[CEIL_PATH_MAX];
	size_t end = 0;

	if (strlen(path) >= sizeof(part))
		return fail_path(err, "make folder", path, ENAMETOOLONG);
	if (!path[0])
		return fail_path(err, "make folder", "\"\"", ENOENT);
	while (path[end]) {
		end += strspn(path + end, "/");
		end += strcspn(path + end, "/");
		memcpy(part, path, end);
		part[end] = '\0';
		/* An existing folder may answer EACCES or EROFS too: look before complaining. */
		if (mkdir(part, 0777) == 0)
			continue;
		const int why = errno == EEXIST ? ENOTDIR : errno;

		if (!is_folder(part))
			return fail_path(err, "make folder", part, why);
	}
	return CEIL_OK;
}
