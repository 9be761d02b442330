/* Every backend of this build, in the order of a run. */
#include "harness/device/backend.h"

#include <stddef.h>
#include <string.h>

#ifdef CEIL_HAVE_CUDA
#include "harness/device/cuda.h"
#endif
#include "harness/device/host.h"

const struct ceil_backend *const ceil_backends[] = {
#ifdef CEIL_HAVE_CUDA
	&ceil_cuda_backend,
#endif
	&ceil_host_backend,
	NULL,
};

const struct ceil_backend *ceil_backend_find(const char *name)
{
	for (size_t i = 0; ceil_backends[i]; i++) {
		if (!strcmp(ceil_backends[i]->name, name))
			return ceil_backends[i];
	}
	return NULL;
}
