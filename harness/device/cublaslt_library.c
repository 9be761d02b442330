/* Finding cuBLASLt, and what it says of itself. */
#include "harness/device/cublaslt_inside.h"

#include "harness/base/text.h"

#include <dlfcn.h>
#include <stdlib.h>

void ceil_lt_clean_environment(char *ret_text, size_t size)
{
	static const char *const names[] = {
		"CUBLAS_EMULATE_SINGLE_PRECISION",
		"CUBLAS_EMULATE_DOUBLE_PRECISION",
		"CUBLAS_EMULATION_STRATEGY",
		"CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
		"NVIDIA_TF32_OVERRIDE",
	};

	ceil_copy(ret_text, size, "");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (!value)
			continue;
		ceil_append(ret_text, size, "%s%s=%s", *ret_text ? " " : "", names[i], value);
		(void)unsetenv(names[i]); /* fails only for a malformed name */
	}
}

#ifdef CEIL_HAVE_CUBLASLT

/* A member by its name in the library. The comparison is never made: it only compiles when the
 * header's prototype is the member's type. */
#define SYMBOL(member, function)                                                                   \
	{                                                                                          \
		.names = {#function}, .offset = offsetof(struct ceil_lt_api, member),              \
		.required = sizeof(((struct ceil_lt_api *)0)->member == &(function)) != 0          \
	}

static const struct ceil_symbol symbols[] = {
	SYMBOL(create, cublasLtCreate),
	SYMBOL(destroy, cublasLtDestroy),
	SYMBOL(version, cublasLtGetVersion),
	SYMBOL(status_name, cublasLtGetStatusName),
	SYMBOL(desc_create, cublasLtMatmulDescCreate),
	SYMBOL(desc_destroy, cublasLtMatmulDescDestroy),
	SYMBOL(desc_set, cublasLtMatmulDescSetAttribute),
	SYMBOL(layout_create, cublasLtMatrixLayoutCreate),
	SYMBOL(layout_set, cublasLtMatrixLayoutSetAttribute),
	SYMBOL(layout_destroy, cublasLtMatrixLayoutDestroy),
	SYMBOL(pref_create, cublasLtMatmulPreferenceCreate),
	SYMBOL(pref_destroy, cublasLtMatmulPreferenceDestroy),
	SYMBOL(pref_set, cublasLtMatmulPreferenceSetAttribute),
	SYMBOL(heuristic, cublasLtMatmulAlgoGetHeuristic),
	SYMBOL(algo_init, cublasLtMatmulAlgoInit),
	SYMBOL(algo_check, cublasLtMatmulAlgoCheck),
	SYMBOL(config_set, cublasLtMatmulAlgoConfigSetAttribute),
	SYMBOL(config_get, cublasLtMatmulAlgoConfigGetAttribute),
	SYMBOL(cap_get, cublasLtMatmulAlgoCapGetAttribute),
	SYMBOL(matmul, cublasLtMatmul),
};

static const char *const sonames[] = {
	"libcublasLt.so.13",
	"libcublasLt.so.12",
	"/usr/local/cuda/lib64/libcublasLt.so.13",
	"/usr/local/cuda/lib64/libcublasLt.so.12",
	NULL,
};

static const struct ceil_library library = {
	.title = "cuBLASLt",
	.override = "GPUCEIL_LIB_CUBLASLT",
	.sonames = sonames,
	.remedy = "install cuBLAS of the CUDA toolkit, or set GPUCEIL_LIB_CUBLASLT=/path",
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

enum ceil_status ceil_lt_load(struct ceil_lt_api *api, struct ceil_dynlib *ret_lib,
                              struct ceil_error *err)
{
	const enum ceil_status st = ceil_dynlib_open(&library, api, ret_lib, err);

	if (st != CEIL_OK)
		return st;
	void *same = dlopen(ret_lib->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	if (same)
		(void)dlclose(same); /* the flag stays, the count goes back */
	return CEIL_OK;
}

enum ceil_status ceil_lt_info_read(struct ceil_lt_info *ret_info, struct ceil_error *err)
{
	struct ceil_lt_api api;
	struct ceil_dynlib lib = {0};
	const enum ceil_status st = ceil_lt_load(&api, &lib, err);

	if (st != CEIL_OK)
		return st;
	/* CUBLAS_VERSION: 130100 is 13.1.0; 11 and 12 wrote 120304 for 12.3.4 alike. */
	const size_t v = api.version();

	ret_info->version[0] = '\0';
	ceil_append(ret_info->version, sizeof(ret_info->version), "%zu.%zu.%zu", v / 10000,
	            v / 100 % 100, v % 100);
	ceil_copy(ret_info->path, sizeof(ret_info->path), lib.path);
	ceil_dynlib_close(&lib);
	return CEIL_OK;
}

#else

enum ceil_status ceil_lt_info_read(struct ceil_lt_info *ret_info, struct ceil_error *err)
{
	(void)ret_info;
	return ceil_fail(err, CEIL_E_UNSUPPORTED,
	                 "this build has no cuBLASLt: install the CUDA toolkit with cublasLt.h and "
	                 "build again");
}

#endif
