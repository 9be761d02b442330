/* The one table of element types, and that of patterns. */
#include "harness/base/dtype.h"

#include <assert.h>
#include <string.h>

#include "harness/base/text.h"

static const struct ceil_dtype_info dtypes[] = {
	[CEIL_NODTYPE] = {"", "no element type", 0},
	[CEIL_FP64] = {"fp64", "IEEE 754 binary64", 64},
	[CEIL_FP32] = {"fp32", "IEEE 754 binary32", 32},
	[CEIL_TF32] = {"tf32", "fp32 in memory, multiplied with 10 bits of mantissa", 32},
	[CEIL_BF16] = {"bf16", "8 bits of exponent, 7 of mantissa", 16},
	[CEIL_FP16] = {"fp16", "IEEE 754 binary16", 16},
	[CEIL_E4M3] = {"e4m3", "8-bit float: 4 bits of exponent, 3 of mantissa, no infinity", 8},
	[CEIL_E5M2] = {"e5m2", "8-bit float: 5 bits of exponent, 2 of mantissa", 8},
	[CEIL_E2M1] = {"e2m1", "4-bit float: 2 bits of exponent, 1 of mantissa", 4},
	[CEIL_INT8] = {"int8", "8-bit integer", 8},
	[CEIL_INT32] = {"int32", "32-bit integer", 32},
	[CEIL_INT64] = {"int64", "64-bit integer", 64},
};
_Static_assert(sizeof(dtypes) / sizeof(dtypes[0]) == CEIL_DTYPE_COUNT, "a row for each type");

const struct ceil_dtype_info *ceil_dtype_info(enum ceil_dtype t)
{
	assert((unsigned)t < CEIL_DTYPE_COUNT);
	return &dtypes[t];
}

uint64_t ceil_dtype_bytes(enum ceil_dtype t, uint64_t n)
{
	const uint64_t bits = ceil_dtype_info(t)->bits;

	/* In two parts, so that n * bits cannot overflow. */
	return n / 8 * bits + n % 8 * bits / 8;
}

/* "a, b, c" of names that are not empty. */
static void join(char *ret_text, size_t size, const char *const *names)
{
	ret_text[0] = '\0';
	for (; *names; names++)
		if (**names)
			ceil_append(ret_text, size, "%s%s", ret_text[0] ? ", " : "", *names);
}

/* Fails with the nearest of names, and all of them. */
static enum ceil_status unknown(const char *what, const char *name, const char *const *names,
                                struct ceil_error *err)
{
	const char *nearest = ceil_suggest(name, names);
	char all[160];

	join(all, sizeof(all), names);
	if (nearest)
		return ceil_fail(err, CEIL_E_USAGE, "unknown %s \"%.40s\": did you mean %s? (%s)",
		                 what, name, nearest, all);
	return ceil_fail(err, CEIL_E_USAGE, "unknown %s \"%.40s\": known are %s", what, name, all);
}

enum ceil_status ceil_dtype_parse(const char *name, enum ceil_dtype *ret_t, struct ceil_error *err)
{
	const char *names[CEIL_DTYPE_COUNT + 1] = {0};

	for (unsigned t = 0; t < CEIL_DTYPE_COUNT; t++) {
		names[t] = dtypes[t].name;
		if (t == CEIL_NODTYPE || strcmp(name, dtypes[t].name) != 0)
			continue;
		*ret_t = (enum ceil_dtype)t;
		return CEIL_OK;
	}
	return unknown("type", name, names, err);
}

static const char *const patterns[CEIL_PATTERN_COUNT + 1] = {
	[CEIL_NORMAL] = "normal",     [CEIL_ZEROS] = "zeros",     [CEIL_CONSTANT] = "constant",
	[CEIL_INTEGERS] = "integers", [CEIL_TERNARY] = "ternary", [CEIL_POISON] = "",
};

const char *ceil_pattern_name(enum ceil_pattern p)
{
	assert((unsigned)p < CEIL_PATTERN_COUNT);
	return patterns[p];
}

enum ceil_status ceil_pattern_parse(const char *name, enum ceil_pattern *ret_p,
                                    struct ceil_error *err)
{
	for (unsigned p = 0; p < CEIL_PATTERN_COUNT; p++) {
		if (!name[0] || strcmp(name, patterns[p]) != 0)
			continue;
		*ret_p = (enum ceil_pattern)p;
		return CEIL_OK;
	}
	return unknown("pattern", name, patterns, err);
}
