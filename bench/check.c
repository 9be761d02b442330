/* What checks of results share: hashes and sums of data that repeat, in closed form. */
#include "bench/check.h"

uint64_t ceil_check_repeated(uint64_t bits, uint64_t i, uint64_t count, uint64_t times)
{
	return bits * (times * (2 * i + 1) + count * times * (times - 1));
}

enum ceil_status ceil_check_hash(const struct ceil_point *p, struct ceil_device *dev,
                                 const struct ceil_buffer *buf, const void *ptr, uint64_t want,
                                 struct ceil_error *err)
{
	uint64_t got = 0;
	const enum ceil_status st = dev->backend->hash(dev, buf, ptr, &got, err);

	if (st != CEIL_OK)
		return st;
	if (got != want)
		return ceil_fail(err, CEIL_E_WRONG,
		                 "%s: the hash of the result's %llu bytes is %016llx, expected "
		                 "%016llx",
		                 p->variant->name, (unsigned long long)buf->bytes,
		                 (unsigned long long)got, (unsigned long long)want);
	return CEIL_OK;
}

static uint64_t sum_to(const struct ceil_check_sums *s, uint64_t end)
{
	return end / CEIL_PERIOD * s->sum[CEIL_PERIOD] + s->sum[end % CEIL_PERIOD];
}

uint64_t ceil_check_sums_between(const struct ceil_check_sums *s, uint64_t from, uint64_t to)
{
	return sum_to(s, to) - sum_to(s, from);
}

void ceil_check_sums_of_words(struct ceil_check_sums *ret_s, enum ceil_dtype t,
                              enum ceil_pattern pattern, uint64_t seed, uint32_t buffer)
{
	ret_s->sum[0] = 0;
	for (uint64_t i = 0; i < CEIL_PERIOD; i++) {
		const uint64_t bits = ceil_element(t, pattern, seed, buffer, i);

		ret_s->sum[i + 1] = ret_s->sum[i] + (bits & UINT32_MAX) + (bits >> 32);
	}
}
