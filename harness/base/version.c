/* What this build is. The build puts its macros before this one file. */
#include "harness/base/version.h"

#ifndef CEIL_VERSION
#define CEIL_VERSION      ""
#define CEIL_GIT          ""
#define CEIL_BUILD_FLAGS  ""
#define CEIL_CUDA_TOOLKIT ""
#define CEIL_CUDA_TARGETS ""
#endif

#ifdef __clang__
#define CEIL_COMPILER "clang " __clang_version__
#else
#define CEIL_COMPILER "gcc " __VERSION__
#endif

const char *ceil_version(void)
{
	return CEIL_VERSION;
}

const char *ceil_git_commit(void)
{
	return CEIL_GIT;
}

const char *ceil_compiler(void)
{
	return CEIL_COMPILER;
}

const char *ceil_build_flags(void)
{
	return CEIL_BUILD_FLAGS;
}

const char *ceil_cuda_toolkit(void)
{
	return CEIL_CUDA_TOOLKIT;
}

const char *ceil_cuda_targets(void)
{
	return CEIL_CUDA_TARGETS;
}
