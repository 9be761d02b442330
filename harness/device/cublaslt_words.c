/* An algorithm of cuBLASLt in words, and an algorithm from its words. */
#include "harness/device/cublaslt_inside.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

#ifdef CEIL_HAVE_CUBLASLT

/* Names by value, from cublasLt.h 13.1: of its 630 tiles the old ones and those that won or came
 * first on an H200. A value that has none here is written as the number. */
static const char *const tile_names[] = {
	[1] = "8x8",       [2] = "8x16",      [3] = "16x8",      [4] = "8x32",
	[5] = "16x16",     [6] = "32x8",      [7] = "8x64",      [8] = "16x32",
	[9] = "32x16",     [10] = "64x8",     [11] = "32x32",    [12] = "32x64",
	[13] = "64x32",    [14] = "32x128",   [15] = "64x64",    [16] = "128x32",
	[17] = "64x128",   [18] = "128x64",   [19] = "64x256",   [20] = "128x128",
	[21] = "256x64",   [22] = "64x512",   [23] = "128x256",  [24] = "256x128",
	[25] = "512x64",   [26] = "64x96",    [27] = "96x64",    [28] = "96x128",
	[29] = "128x160",  [30] = "160x128",  [31] = "192x128",  [32] = "128x192",
	[33] = "128x96",   [34] = "32x256",   [35] = "256x32",   [47] = "16x64",
	[59] = "24x64",    [92] = "48x64",    [116] = "64x192",  [135] = "80x128",
	[151] = "96x192",  [152] = "96x256",  [165] = "112x128", [184] = "144x128",
	[194] = "160x192", [195] = "160x256", [197] = "168x128", [201] = "176x128",
	[209] = "192x192", [210] = "192x256", [232] = "256x192", [248] = "320x128",
	[312] = "64x16",   [318] = "64x80",   [394] = "128x16",  [495] = "256x96",
	[513] = "256x256",
};

static const char *const stages_names[] = {
	[1] = "16x1",      [2] = "16x2",     [3] = "16x3",     [4] = "16x4",      [5] = "16x5",
	[6] = "16x6",      [7] = "32x1",     [8] = "32x2",     [9] = "32x3",      [10] = "32x4",
	[11] = "32x5",     [12] = "32x6",    [13] = "64x1",    [14] = "64x2",     [15] = "64x3",
	[16] = "64x4",     [17] = "64x5",    [18] = "64x6",    [19] = "128x1",    [20] = "128x2",
	[21] = "128x3",    [22] = "128x4",   [23] = "128x5",   [24] = "128x6",    [25] = "32x10",
	[26] = "8x4",      [27] = "16x10",   [28] = "8x5",     [31] = "8x3",      [32] = "8xauto",
	[33] = "16xauto",  [34] = "32xauto", [35] = "64xauto", [36] = "128xauto", [37] = "256xauto",
	[38] = "768xauto",
};

static const char *const cluster_names[] = {
	[0] = "auto", [2] = "1x1",  [3] = "2x1",   [4] = "4x1",   [5] = "1x2",  [6] = "2x2",
	[7] = "4x2",  [8] = "1x4",  [9] = "2x4",   [10] = "4x4",  [11] = "8x1", [12] = "1x8",
	[13] = "8x2", [14] = "2x8", [15] = "16x1", [16] = "1x16",
};

#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

/* One field of an algorithm's configuration; together they are the algorithm. */
struct config_row {
	const char *word;
	cublasLtMatmulAlgoConfigAttributes_t attribute;
	size_t size; /* of the attribute, as the library wants it */
	const char *const *names;
	size_t name_count;
};

static const struct config_row config_rows[] = {
	{"id", CUBLASLT_ALGO_CONFIG_ID, 4, NULL, 0},
	{"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4, tile_names, COUNT(tile_names)},
	{"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, stages_names, COUNT(stages_names)},
	{"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, cluster_names, COUNT(cluster_names)},
	{"split_k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, NULL, 0},
	{"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, NULL, 0},
	{"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, NULL, 0},
	{"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, NULL, 0},
	{"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, NULL, 0},
};

/* A field of either width; false if this version of the library does not have it. */
static bool config_value(const struct ceil_lt_plan *p, const cublasLtMatmulAlgo_t *algo,
                         const struct config_row *row, uint32_t *ret_value)
{
	uint16_t narrow = 0;
	size_t written = 0;
	cublasStatus_t s;

	if (row->size == sizeof(narrow)) {
		s = p->api.config_get(algo, row->attribute, &narrow, sizeof(narrow), &written);
		*ret_value = narrow;
	} else {
		s = p->api.config_get(algo, row->attribute, ret_value, sizeof(*ret_value),
		                      &written);
	}
	return s == CUBLAS_STATUS_SUCCESS;
}

bool ceil_lt_words_number(const char *text, const char *word, uint32_t *ret_value)
{
	const size_t n = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		if ((at > text && at[-1] != ' ') || at[n] != '=' || at[n + 1] < '0' ||
		    at[n + 1] > '9')
			continue;
		*ret_value = (uint32_t)strtoul(at + n + 1, NULL, 10);
		return true;
	}
	return false;
}

enum ceil_status ceil_lt_words_read(const struct ceil_lt_plan *p, cublasLtMatmulAlgo_t *algo,
                                    struct ceil_error *err)
{
	for (size_t i = 0; i < COUNT(config_rows); i++) {
		const struct config_row *row = &config_rows[i];
		uint32_t value = 0;
		enum ceil_status st;

		if (row->attribute == CUBLASLT_ALGO_CONFIG_ID ||
		    !ceil_lt_words_number(p->desc.algorithm, row->word, &value))
			continue;
		const uint16_t narrow = (uint16_t)value;
		const bool wide = row->size == sizeof(value);
		const void *at = wide ? (const void *)&value : (const void *)&narrow;

		st = ceil_lt_told(p, p->api.config_set(algo, row->attribute, at, row->size),
		                  "cublasLtMatmulAlgoConfigSetAttribute", err);
		if (st != CEIL_OK)
			return st;
	}
	return CEIL_OK;
}

void ceil_lt_words_write(const struct ceil_lt_plan *p, const cublasLtMatmulAlgo_t *algo,
                         char *ret_text, size_t size)
{
	for (size_t i = 0; i < COUNT(config_rows); i++) {
		const struct config_row *row = &config_rows[i];
		uint32_t value = 0;

		if (!config_value(p, algo, row, &value))
			continue;
		ceil_append(ret_text, size, "%s%s=%u", *ret_text ? " " : "", row->word, value);
		if (value < row->name_count && row->names[value])
			ceil_append(ret_text, size, ":%s", row->names[value]);
	}
}

#endif
