/* Files are whole or partial, and every failure says what to do. */
#include "harness/output/file.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_closed_file_is_whole(void)
{
	struct ceil_error err = {0};
	struct ceil_file file = {0};
	char path[512];

	(void)snprintf(path, sizeof(path), "%s", scratch_text("whole", "old"));
	is_int(ceil_file_open(path, &file, &err), CEIL_OK, "open");
	(void)fputs("new", file.f);
	is_text(scratch_read(path), "old", "the old file stays until the end");
	is_int(ceil_file_flush(&file, &err), CEIL_OK, "flush");
	is_text(scratch_read(file.partial), "new", "what is flushed is in the partial file");
	is_int(ceil_file_close(&file, &err), CEIL_OK, "close");
	is_text(scratch_read(path), "new", "the file is the new one");
	ok(!scratch_exists(file.partial), "the partial one is gone");
	is_int(ceil_file_close(&file, &err), CEIL_OK, "a second close is a no-op");
	is_int(ceil_file_close(NULL, &err), CEIL_OK, "and so is NULL");
}

static void an_abandoned_file_stays_partial(void)
{
	struct ceil_error err = {0};
	struct ceil_file file = {0};

	ceil_file_abandon(NULL);
	ceil_file_abandon(&file);
	is_int(ceil_file_open(scratch_path("left"), &file, &err), CEIL_OK, "open");
	(void)fputs("half", file.f);
	ceil_file_abandon(&file);
	ok(!scratch_exists(file.path), "an abandoned file has no name of its own");
	is_text(scratch_read(file.partial), "half", "what was written is kept");
}

/* A file whose disk is full: path.partial leads to /dev/full. */
static bool open_full(const char *name, struct ceil_file *ret_file)
{
	struct ceil_error err = {0};
	char partial[600];

	(void)snprintf(partial, sizeof(partial), "%s.partial", scratch_path(name));
	return symlink("/dev/full", partial) == 0 &&
	       ceil_file_open(scratch_path(name), ret_file, &err) == CEIL_OK;
}

static void a_full_disk_is_told(void)
{
	struct ceil_error err = {0};
	struct ceil_file file = {0};

	if (!ok(open_full("full", &file), "a full disk"))
		return;
	(void)fputs("row", file.f);
	is_int(ceil_file_flush(&file, &err), CEIL_E_IO, "the row is not lost silently");
	has_text(err.text,
	         "No space left on device; free some space or choose another folder with "
	         "--output",
	         "and the remedy is told");
	has_text(err.text, "full.partial", "with the file");
	is_int(ceil_file_flush(&file, &err), CEIL_E_IO, "the failure sticks");
	is_int(ceil_file_close(&file, &err), CEIL_E_IO, "and close fails too");
	has_text(err.text, "No space left", "for the first cause");
	ok(!scratch_exists(scratch_path("full")), "there is no whole file");
	if (!open_full("full2", &file))
		return;
	(void)fputs("row", file.f);
	is_int(ceil_file_close(&file, &err), CEIL_E_IO, "close alone finds it as well");
}

static void places_that_cannot_be_written(void)
{
	struct ceil_error err = {0};
	struct ceil_file file = {0};
	char longest[CEIL_PATH_MAX + 8];

	is_int(ceil_file_open(scratch_path("no/such/file"), &file, &err), CEIL_E_IO, "no folder");
	has_text(err.text, "No such file or directory; make the folder first", "says what to do");
	(void)scratch_text("plain", "");
	is_int(ceil_file_open(scratch_path("plain/file"), &file, &err), CEIL_E_IO, "in a file");
	has_text(err.text, "Not a directory; choose another folder with --output",
	         "says what to do");
	(void)mkdir(scratch_path("folder"), 0777);
	is_int(ceil_file_open(scratch_path("folder"), &file, &err), CEIL_E_IO, "over a folder");
	has_text(err.text, "Is a directory", "is told before anything is measured");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	is_int(ceil_file_open(longest, &file, &err), CEIL_E_IO, "a path that is too long");
	has_text(err.text, "File name too long", "is told");
	ok(file.f == NULL, "nothing was opened");
}

static void a_folder_that_vanishes(void)
{
	struct ceil_error err = {0};
	struct ceil_file file = {0};

	(void)mkdir(scratch_path("gone"), 0777);
	is_int(ceil_file_open(scratch_path("gone/file"), &file, &err), CEIL_OK, "open");
	(void)unlink(file.partial);
	is_int(ceil_file_close(&file, &err), CEIL_E_IO, "the partial file was removed meanwhile");
	has_text(err.text, "cannot rename", "which is told");
}

static void rights_matter(void)
{
	enum { NOBODY = 65534 };
	const uid_t me = geteuid();
	struct ceil_error err = {0};
	struct ceil_file file = {0};

	(void)mkdir(scratch_path("locked"), 0555);
	if (me == 0 && seteuid(NOBODY)) {
		skip("a folder without the right to write", "this user may write anywhere");
		return;
	}
	is_int(ceil_file_open(scratch_path("locked/file"), &file, &err), CEIL_E_IO, "no right");
	has_text(err.text,
	         "Permission denied; you may not write there: choose another folder with --output",
	         "says what to do");
	is_int(ceil_make_folder(scratch_path("locked/a"), &err), CEIL_E_IO, "nor to make a folder");
	has_text(err.text, "Permission denied", "for the reason that mkdir gave");
	ok(seteuid(me) == 0, "back to the own user");
}

static void long_paths_are_shown_by_their_end(void)
{
	char text[24];

	ceil_shown_path(text, sizeof(text), "/a/short/path");
	is_text(text, "/a/short/path", "a short path is shown whole");
	ceil_shown_path(text, sizeof(text), "/a/path/of/twenty-three");
	is_text(text, "/a/path/of/twenty-three", "one that just fits, too");
	ceil_shown_path(text, sizeof(text), "/this/is/a/longer/path/file.csv");
	is_text(text, ".../path/file.csv", "a long one from a slash on");
	ceil_shown_path(text, sizeof(text), "/a-name-without-end-and-without-slashes");
	is_text(text, "...-and-without-slashes", "or what fits of a long name");
}

static void folders_come_with_their_parents(void)
{
	struct ceil_error err = {0};
	struct stat st;

	is_int(ceil_make_folder(scratch_path("a/b//c/"), &err), CEIL_OK, "three at once");
	ok(stat(scratch_path("a/b/c"), &st) == 0 && S_ISDIR(st.st_mode), "are there");
	is_int(ceil_make_folder(scratch_path("a/b/c"), &err), CEIL_OK, "again is fine");
	is_int(ceil_make_folder("/", &err), CEIL_OK, "the root is there");
	is_int(ceil_make_folder(".", &err), CEIL_OK, "and so is this one");
	is_int(ceil_make_folder("", &err), CEIL_E_IO, "no name");
	(void)scratch_text("file", "");
	is_int(ceil_make_folder(scratch_path("file/x"), &err), CEIL_E_IO, "below a file");
	has_text(err.text, "/file: Not a directory", "the part that failed is named");
	is_int(ceil_make_folder("/proc/no/such", &err), CEIL_E_IO, "where the kernel has no place");
	has_text(err.text, "cannot make folder /proc/no", "is told with the place");
}

int main(void)
{
	a_closed_file_is_whole();
	an_abandoned_file_stays_partial();
	a_full_disk_is_told();
	places_that_cannot_be_written();
	a_folder_that_vanishes();
	rights_matter();
	long_paths_are_shown_by_their_end();
	folders_come_with_their_parents();
	return done_testing();
}
