/* A stand-in for libcuda.so.1 with a broken driver behind it, for the static CUDA runtime. */
#include <stdlib.h>
#include <string.h>

/*
 * FAKE_CUDA_INIT=802      what cuInit returns (default 100, no device)
 * FAKE_CUDA_DRIVER=12040  the newest CUDA that the driver supports (default 13000)
 *
 * The runtime takes every function from cuGetProcAddress, asks for the version, then starts the
 * driver; a failure there ends it, so that nothing else needs a body. Tried with the static
 * runtime 13.0. Put its folder, with a link named libcuda.so.1, into LD_LIBRARY_PATH.
 */
enum { CUDA_SUCCESS = 0, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_UNKNOWN = 999 };

typedef void (*any_fn)(void);

int cuInit(unsigned flags);
int cuDriverGetVersion(int *ret_version);
int cuGetProcAddress_v2(const char *name, void *ret_fn, int version, unsigned long long flags,
                        int *ret_found);

static int number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? (int)strtol(text, NULL, 10) : otherwise;
}

int cuInit(unsigned flags)
{
	(void)flags;
	return number("FAKE_CUDA_INIT", CUDA_ERROR_NO_DEVICE);
}

int cuDriverGetVersion(int *ret_version)
{
	*ret_version = number("FAKE_CUDA_DRIVER", 13000);
	return CUDA_SUCCESS;
}

/* Everything that is not told apart fails when it is called. */
static int fail(void)
{
	return CUDA_ERROR_UNKNOWN;
}

/* ret_fn points to a pointer to a function; C has no name for one of any type but memcpy. */
int cuGetProcAddress_v2(const char *name, void *ret_fn, int version, unsigned long long flags,
                        int *ret_found)
{
	any_fn fn = (any_fn)fail;

	(void)version;
	(void)flags;
	if (strcmp(name, "cuInit") == 0)
		fn = (any_fn)cuInit;
	else if (strcmp(name, "cuDriverGetVersion") == 0)
		fn = (any_fn)cuDriverGetVersion;
	else if (strcmp(name, "cuGetProcAddress") == 0)
		fn = (any_fn)cuGetProcAddress_v2;
	memcpy(ret_fn, &fn, sizeof(fn));
	if (ret_found)
		*ret_found = 0;
	return CUDA_SUCCESS;
}
