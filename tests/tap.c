/* TAP for tests. */
#include "tests/tap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_count, fail_count;

bool ok(bool pass, const char *name, ...)
{
	va_list ap;

	run_count++;
	fail_count += !pass;
	printf("%sok %d - ", pass ? "" : "not ", run_count);
	va_start(ap, name);
	vprintf(name, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	return pass;
}

bool is_text(const char *got, const char *want, const char *name)
{
	if (ok(got && want && strcmp(got, want) == 0, "%s", name))
		return true;
	printf("# got:  %s\n# want: %s\n", got ? got : "(null)", want ? want : "(null)");
	return false;
}

bool is_int(long long got, long long want, const char *name)
{
	if (ok(got == want, "%s", name))
		return true;
	printf("# got %lld, want %lld\n", got, want);
	return false;
}

bool is_u64(uint64_t got, uint64_t want, const char *name)
{
	if (ok(got == want, "%s", name))
		return true;
	printf("# got %llu, want %llu\n", (unsigned long long)got, (unsigned long long)want);
	return false;
}

bool is_close(double got, double want, double tolerance, const char *name)
{
	const bool same = isnan(want) ? isnan(got) : fabs(got - want) <= tolerance;

	if (ok(same, "%s", name))
		return true;
	printf("# got %.17g, want %.17g +- %g\n", got, want, tolerance);
	return false;
}

bool has_text(const char *haystack, const char *needle, const char *name)
{
	if (ok(haystack && strstr(haystack, needle), "%s", name))
		return true;
	printf("# got: %s\n# which lacks: %s\n", haystack ? haystack : "(null)", needle);
	return false;
}

void skip(const char *name, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++run_count, name, reason);
	fflush(stdout);
}

int done_testing(void)
{
	printf("1..%d\n", run_count);
	return run_count == 0 || fail_count ? 1 : 0;
}

_Noreturn void skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(77);
}
