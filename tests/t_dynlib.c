/* Loading libraries: the override, newest names first, and words for what is missing. */
#include "harness/base/dynlib.h"
#include "tests/fakes.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct table {
	int (*answer)(void);
	int (*extra)(void);
};

static const char *const none_such[] = {"libceil-none.so.2", "libceil-none.so.1", NULL};
static const char *const libm[] = {"libceil-none.so.2", "libm.so.6", NULL};
static const struct ceil_symbol symbols[] = {
	{{"probe_answer_v3", "probe_answer_v2", "probe_answer"},
         offsetof(struct table, answer),
         true},
	{{"probe_extra"}, offsetof(struct table, extra), false},
};
static const struct ceil_symbol demanding[] = {
	{{"probe_answer"}, offsetof(struct table, answer), true},
	{{"probe_extra_v2", "probe_extra"}, offsetof(struct table, extra), true},
};
static const struct ceil_symbol cosine[] = {{{"cos"}, offsetof(struct table, answer), true}};

static const struct ceil_library probe = {
	.title = "Probe",
	.override = "GPUCEIL_LIB_PROBE",
	.sonames = none_such,
	.remedy = "install the probe package",
	.symbols = symbols,
	.symbol_count = 2,
};

static char fake[FAKE_PATH_MAX];

static int one(void)
{
	return 1;
}

static void the_override_is_taken_first(void)
{
	struct ceil_error err = {0};
	struct ceil_dynlib lib = {0};
	struct table t = {one, one};

	(void)setenv("GPUCEIL_LIB_PROBE", fake, 1);
	if (!ok(ceil_dynlib_open(&probe, &t, &lib, &err) == CEIL_OK, "open: %s", err.text))
		return;
	is_int(t.answer(), 2, "the newest name that is there");
	ok(t.extra == NULL, "an optional symbol that is missing is NULL");
	ok(lib.path[0] == '/', "the path is whole: %s", lib.path);
	has_text(lib.path, "probe.so", "and names the file");
	ceil_dynlib_close(&lib);
	ok(lib.handle == NULL, "closed");
	ceil_dynlib_close(&lib);
	ceil_dynlib_close(NULL);
}

static bool is_mapped(void)
{
	void *handle = dlopen(fake, RTLD_NOW | RTLD_NOLOAD);

	if (handle)
		(void)dlclose(handle); /* it was there before */
	return handle != NULL;
}

static void one_that_stays_is_not_unloaded(void)
{
	struct ceil_library staying = probe;
	struct ceil_error err = {0};
	struct ceil_dynlib lib = {0};
	struct table t = {one, one};

	(void)setenv("GPUCEIL_LIB_PROBE", fake, 1);
	if (!ok(ceil_dynlib_open(&probe, &t, &lib, &err) == CEIL_OK, "open: %s", err.text))
		return;
	ok(is_mapped(), "open: it is there");
	ceil_dynlib_close(&lib);
	ok(!is_mapped(), "closed: it is gone");
	staying.stays = true;
	if (!ok(ceil_dynlib_open(&staying, &t, &lib, &err) == CEIL_OK, "open: %s", err.text))
		return;
	ceil_dynlib_close(&lib);
	ok(is_mapped(), "one that stays is still there");
	is_int(t.answer(), 2, "and who kept a pointer may call it");
}

static void a_wrong_override_is_no_search(void)
{
	const struct ceil_library lib_m = {
		.title = "libm",
		.override = "GPUCEIL_LIB_PROBE",
		.sonames = libm,
		.remedy = "-",
	};
	struct ceil_error err = {0};
	struct ceil_dynlib lib = {0};
	struct table t = {one, one};

	(void)setenv("GPUCEIL_LIB_PROBE", "/no/such.so", 1);
	is_int(ceil_dynlib_open(&lib_m, &t, &lib, &err), CEIL_E_UNSUPPORTED, "a path to nothing");
	has_text(err.text, "GPUCEIL_LIB_PROBE", "names the variable");
	has_text(err.text, "/no/such.so", "and the path");
	has_text(err.text, "unset it", "and what to do");
	ok(lib.handle == NULL && t.answer == one, "nothing was touched");
}

static void a_missing_library_is_described(void)
{
	struct ceil_error err = {0};
	struct ceil_dynlib lib = {0};
	struct table t = {one, one};

	(void)unsetenv("GPUCEIL_LIB_PROBE");
	(void)unsetenv("LD_LIBRARY_PATH");
	is_int(ceil_dynlib_open(&probe, &t, &lib, &err), CEIL_E_UNSUPPORTED, "no such library");
	is_text(err.text,
	        "Probe not found: no libceil-none.so.2, libceil-none.so.1 in LD_LIBRARY_PATH (not "
	        "set) or the system's folders; install the probe package",
	        "what was looked for, where, and the remedy");
	(void)setenv("LD_LIBRARY_PATH", "/opt/probe", 1);
	is_int(ceil_dynlib_open(&probe, &t, &lib, &err), CEIL_E_UNSUPPORTED, "nor there");
	has_text(err.text, "LD_LIBRARY_PATH (/opt/probe)", "the path is shown");
	(void)setenv("GPUCEIL_LIB_PROBE", "", 1);
	is_int(ceil_dynlib_open(&probe, &t, &lib, &err), CEIL_E_UNSUPPORTED, "an empty override");
	has_text(err.text, "not found", "is none");
	ok(t.answer == one && t.extra == one, "nothing was touched");
}

static void a_missing_symbol_is_named(void)
{
	struct ceil_library lib_wants = probe;
	struct ceil_error err = {0};
	struct ceil_dynlib lib = {0};
	struct table t = {one, one};

	lib_wants.symbols = demanding;
	(void)setenv("GPUCEIL_LIB_PROBE", fake, 1);
	is_int(ceil_dynlib_open(&lib_wants, &t, &lib, &err), CEIL_E_UNSUPPORTED,
	       "a symbol too few");
	has_text(err.text, "probe.so lacks the symbol probe_extra_v2; install the probe package",
	         "file, symbol, remedy");
	ok(lib.handle == NULL && t.answer == one, "nothing was touched");
}

static void the_next_soname_is_tried(void)
{
	const struct ceil_library lib_m = {
		.title = "libm",
		.sonames = libm,
		.remedy = "-",
		.symbols = cosine,
		.symbol_count = 1,
		.global = true,
	};
	struct ceil_error err = {0};
	struct ceil_dynlib lib = {0};
	struct table t = {0};

	if (!ok(ceil_dynlib_open(&lib_m, &t, &lib, &err) == CEIL_OK, "libm: %s", err.text))
		return;
	ok(t.answer != NULL, "the second soname has the symbol");
	ok(lib.path[0] == '/', "and was found in %s", lib.path);
	ceil_dynlib_close(&lib);
}

static void a_file_that_is_no_library(void)
{
	const char *const sonames[] = {scratch_text("libbroken.so", "this is text"), NULL};
	struct ceil_library broken = probe;
	struct ceil_error err = {0};
	struct ceil_dynlib lib = {0};
	struct table t = {one, one};

	(void)unsetenv("GPUCEIL_LIB_PROBE");
	(void)unsetenv("LD_LIBRARY_PATH");
	broken.sonames = sonames;
	is_int(ceil_dynlib_open(&broken, &t, &lib, &err), CEIL_E_UNSUPPORTED, "text as a library");
	has_text(err.text, "file too short", "the loader's own words are passed on");
}

int main(void)
{
	if (!ok(fake_path("probe", fake), "the stand-in library is at %s", fake))
		return done_testing();
	the_override_is_taken_first();
	one_that_stays_is_not_unloaded();
	a_wrong_override_is_no_search();
	a_missing_library_is_described();
	a_missing_symbol_is_named();
	the_next_soname_is_tried();
	a_file_that_is_no_library();
	return done_testing();
}
