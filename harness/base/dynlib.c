/* Libraries that are loaded when needed, each through one table of symbols. */
#include "harness/base/dynlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/text.h"

enum { MAX_NAMES = sizeof(((struct ceil_symbol *)0)->names) / sizeof(const char *) };

/* ISO C has no cast from dlsym's object pointer to a function pointer; POSIX gives both one form.
 */
static ceil_any_fn function_of(void *symbol)
{
	ceil_any_fn fn;

	_Static_assert(sizeof(fn) == sizeof(symbol), "POSIX dlsym");
	memcpy(&fn, &symbol, sizeof(fn));
	return fn;
}

/* The first of the symbol's names that the library has, or NULL. */
static ceil_any_fn lookup(void *handle, const struct ceil_symbol *s)
{
	for (size_t i = 0; i < MAX_NAMES && s->names[i]; i++) {
		void *symbol = dlsym(handle, s->names[i]);

		if (symbol)
			return function_of(symbol);
	}
	return NULL;
}

static void *load(const struct ceil_library *lib, const char *name)
{
	return dlopen(name, RTLD_NOW | (lib->global ? RTLD_GLOBAL : RTLD_LOCAL) |
	                            (lib->stays ? RTLD_NODELETE : 0));
}

/*
 * dlerror's words when they say more than that no such file is in the search path: a library for
 * another machine, one that misses a library of its own.
 */
static void note_other_trouble(char *text, size_t size, const char *soname)
{
	const char *words = dlerror();
	const size_t length = strlen(soname);

	if (!words || text[0])
		return;
	if (strncmp(words, soname, length) == 0 && strstr(words, "No such file"))
		return;
	ceil_append(text, size, "; %.96s", words);
}

static enum ceil_status fail_missing(const struct ceil_library *lib, const char *trouble,
                                     struct ceil_error *err)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char names[80] = "";

	for (size_t i = 0; lib->sonames[i]; i++)
		ceil_append(names, sizeof(names), "%s%s", i ? ", " : "", lib->sonames[i]);
	return ceil_fail(
		err, CEIL_E_UNSUPPORTED,
		"%s not found: no %s in LD_LIBRARY_PATH (%.32s) or the system's folders; %s%s",
		lib->title, names, path && path[0] ? path : "not set", lib->remedy, trouble);
}

/* The library that the user names, or the first soname that loads. */
static enum ceil_status open_any(const struct ceil_library *lib, void **ret_handle,
                                 struct ceil_error *err)
{
	const char *own = lib->override ? getenv(lib->override) : NULL;
	char trouble[100] = "";

	if (own && own[0]) {
		*ret_handle = load(lib, own);
		if (*ret_handle)
			return CEIL_OK;
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "%s: %s does not load: %s; correct it or unset it", lib->title,
		                 lib->override, dlerror());
	}
	for (size_t i = 0; lib->sonames[i]; i++) {
		*ret_handle = load(lib, lib->sonames[i]);
		if (*ret_handle)
			return CEIL_OK;
		note_other_trouble(trouble, sizeof(trouble), lib->sonames[i]);
	}
	return fail_missing(lib, trouble, err);
}

/* The file behind a handle with its links followed; "" if the loader does not tell. */
static void resolve(void *handle, char *ret_path, size_t size)
{
	struct link_map *map = NULL;
	char real[PATH_MAX];

	ret_path[0] = '\0';
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map || !map->l_name)
		return;
	ceil_copy(ret_path, size, realpath(map->l_name, real) ? real : map->l_name);
}

static enum ceil_status check_required(const struct ceil_library *lib, const struct ceil_dynlib *dl,
                                       struct ceil_error *err)
{
	for (size_t i = 0; i < lib->symbol_count; i++) {
		const struct ceil_symbol *s = &lib->symbols[i];

		if (s->required && !lookup(dl->handle, s))
			return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: %s lacks the symbol %s; %s",
			                 lib->title, dl->path, s->names[0], lib->remedy);
	}
	return CEIL_OK;
}

static void fill(const struct ceil_library *lib, void *handle, void *table)
{
	for (size_t i = 0; i < lib->symbol_count; i++) {
		const ceil_any_fn fn = lookup(handle, &lib->symbols[i]);

		memcpy((char *)table + lib->symbols[i].offset, &fn, sizeof(fn));
	}
}

enum ceil_status ceil_dynlib_open(const struct ceil_library *lib, void *table,
                                  struct ceil_dynlib *ret_lib, struct ceil_error *err)
{
	struct ceil_dynlib dl = {0};
	enum ceil_status status;

	status = open_any(lib, &dl.handle, err);
	if (status != CEIL_OK)
		return status;
	resolve(dl.handle, dl.path, sizeof(dl.path));
	status = check_required(lib, &dl, err);
	if (status != CEIL_OK) {
		ceil_dynlib_close(&dl);
		return status;
	}
	fill(lib, dl.handle, table);
	*ret_lib = dl;
	return CEIL_OK;
}

void ceil_dynlib_close(struct ceil_dynlib *lib)
{
	if (!lib || !lib->handle)
		return;
	(void)dlclose(lib->handle); /* nobody could do anything about it */
	lib->handle = NULL;
}
