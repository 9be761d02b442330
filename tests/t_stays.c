/* The share of multiprocessors in use, from what blocks told: unions, edges, nonsense. */
#include "harness/base/stays.h"

#include <math.h>

#include "tests/tap.h"

enum { MS = 1000000 };

/* Times like those of a GPU: nanoseconds since 1970. */
#define T0 UINT64_C(1790000000000000000)

static void test_known(void)
{
	struct ceil_stay one[] = {{T0, 10 * MS, 3}};
	struct ceil_stay two[] = {{T0, 10 * MS, 0}, {T0 + 5 * MS, 5 * MS, 1}};
	struct ceil_stay apart[] = {{T0 + 8 * MS, 2 * MS, 0}, {T0, 2 * MS, 0}};
	struct ceil_stay over[] = {
		{T0, 6 * MS, 0}, {T0 + 4 * MS, 6 * MS, 0}, {T0 + 5 * MS, 1 * MS, 0}};
	struct ceil_stay inside[] = {{T0, 10 * MS, 1}, {T0 + 2 * MS, 3 * MS, 1}};

	is_close(ceil_stays_active(one, 1, 132, 0), 1.0 / 132, 1e-15, "one of 132, all the time");
	is_close(ceil_stays_active(two, 2, 2, 0), 0.75, 1e-15, "one all the time, one half of it");
	is_close(ceil_stays_active(apart, 2, 1, 0), 0.4, 1e-15, "a gap does not count");
	is_close(ceil_stays_active(over, 3, 1, 0), 1.0, 1e-15, "what overlaps counts once");
	is_close(ceil_stays_active(inside, 2, 4, 0), 0.25, 1e-15, "what lies inside counts once");
}

/* A load that begins late on one multiprocessor: the edges are what pulls the mean down. */
static void test_edges(void)
{
	struct ceil_stay v[] = {{T0, 100 * MS, 0}, {T0 + 10 * MS, 80 * MS, 1}};
	struct ceil_stay again[] = {{T0, 100 * MS, 0}, {T0 + 10 * MS, 80 * MS, 1}};
	struct ceil_stay before[] = {{T0, 1 * MS, 0}, {T0 + 50 * MS, 50 * MS, 1}};

	is_close(ceil_stays_active(v, 2, 2, 0), 0.9, 1e-12, "with its edges");
	is_close(ceil_stays_active(again, 2, 2, 0.1), 1.0, 1e-12, "without them");
	is_close(ceil_stays_active(before, 2, 2, 0.1), 0.25, 1e-12, "a stay before the window");
}

static void test_nothing(void)
{
	struct ceil_stay v[] = {{T0, 0, 0}};
	struct ceil_stay beyond[] = {{T0, 10 * MS, 0}, {T0, 10 * MS, 7}};

	is_close(ceil_stays_active(v, 0, 132, 0), (double)NAN, 0, "no stay");
	is_close(ceil_stays_active(v, 1, 132, 0), (double)NAN, 0, "no time");
	is_close(ceil_stays_active(v, 1, 0, 0), (double)NAN, 0, "no multiprocessor");
	is_close(ceil_stays_active(beyond, 2, 2, 0), 0.5, 1e-15, "one that the part does not have");
}

int main(void)
{
	test_known();
	test_edges();
	test_nothing();
	return done_testing();
}
