/* The one monotonic clock, sleeping, and UTC time stamps. */
#include "harness/base/clock.h"

#include <time.h>

uint64_t ceil_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail: the clock exists, t is ours */
	return (uint64_t)t.tv_sec * CEIL_NS_PER_S + (uint64_t)t.tv_nsec;
}

void ceil_sleep_ns(uint64_t ns)
{
	const struct timespec t = {
		.tv_sec = (time_t)(ns / CEIL_NS_PER_S),
		.tv_nsec = (long)(ns % CEIL_NS_PER_S),
	};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL); /* a signal may end it early */
}

void ceil_utc(char *ret_text, size_t size)
{
	const time_t now = time(NULL);
	struct tm parts;

	if (size == 0)
		return;
	if (!gmtime_r(&now, &parts) || strftime(ret_text, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		ret_text[0] = '\0';
}
