/* Where the stand-in libraries of tests/fakes/ are, and copies of them that lack symbols. */
#ifndef CEIL_TESTS_FAKES_H
#define CEIL_TESTS_FAKES_H

#include <stdbool.h>

enum { FAKE_PATH_MAX = 1024 };

/*
 * fake_path - the built file of a stand-in: "nvml" -> .../tests/fakes/nvml.so beside this test.
 * Return: whether it is there.
 */
bool fake_path(const char *name, char ret_path[FAKE_PATH_MAX]);

/*
 * fake_without - a copy of a shared object in which some symbols have other names; unlink it.
 * @names: NULL-terminated. Renaming in place keeps the file whole: dlsym just does not find them.
 */
bool fake_without(const char *path, const char *const *names, char ret_copy[FAKE_PATH_MAX]);

#endif
