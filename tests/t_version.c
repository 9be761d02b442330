/* What the build says about itself. */
#include "harness/base/version.h"

#include "tests/tap.h"

#include <string.h>

static void commit_is_a_hash(void)
{
	const char *git = ceil_git_commit();
	const size_t hex = strspn(git, "0123456789abcdef");

	ok(git[0] == '\0' || (hex >= 7 && (git[hex] == '\0' || strcmp(git + hex, "-dirty") == 0)),
	   "the commit is a short hash, or unknown: '%s'", git);
}

static void toolkit_and_targets_go_together(void)
{
#ifdef CEIL_HAVE_CUDA
	ok(ceil_cuda_toolkit()[0] >= '1', "a build with CUDA names the toolkit");
	ok(strstr(ceil_cuda_targets(), "sm_") || strstr(ceil_cuda_targets(), "compute_"),
	   "and its targets: '%s'", ceil_cuda_targets());
#else
	is_text(ceil_cuda_toolkit(), "", "a build without CUDA names no toolkit");
	is_text(ceil_cuda_targets(), "", "and no targets");
#endif
}

int main(void)
{
	ok(strchr(ceil_version(), '.') != NULL, "the version has a dot: '%s'", ceil_version());
	ok(strncmp(ceil_compiler(), "gcc ", 4) == 0 || strncmp(ceil_compiler(), "clang ", 6) == 0,
	   "the compiler is named: '%s'", ceil_compiler());
	has_text(ceil_build_flags(), "-O", "the flags name the optimisation");
	commit_is_a_hash();
	toolkit_and_targets_go_together();
	return done_testing();
}
