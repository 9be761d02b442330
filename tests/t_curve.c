/* Curves over sizes: where half of the best rate is reached, by hand-computed cases. */
#include "harness/measure/curve.h"

#include <math.h>

#include "tests/tap.h"

#define ABSENT ((double)NAN)

static void test_exact(void)
{
	/* Out of order on purpose: the points of a plan are in the order of a run. */
	struct ceil_at_size v[] = {{64, 40}, {4, 5}, {16, 20}, {8, 10}, {32, 40}};

	is_close(ceil_curve_half(v, 5, 40), 16, 1e-12, "half of 40 is reached at 16");
	is_close(v[0].bytes, 4, 0, "the sizes stand in order after it");
	is_close(ceil_curve_half(v, 5, 20), 8, 1e-12, "half of 20 at 8");
	/* Between 8 (10) and 16 (20) the line in logarithms doubles with the size. */
	is_close(ceil_curve_half(v, 5, 30), 12, 1e-12, "15 at 12");
}

static void test_hockney(void)
{
	/* t = t0 + n / r: half of r at n = t0 r, here 2000 ns x 50 B/ns = 100 000 bytes. */
	struct ceil_at_size v[19];

	for (int i = 0; i < 19; i++) {
		v[i].bytes = ldexp(4096, i);
		v[i].rate = v[i].bytes / (2000.0 + v[i].bytes / 50.0);
	}
	is_close(ceil_curve_half(v, 19, 50), 1e5, 5e3, "n1/2 of a link of 2 us and 50 GB/s");
}

static void test_no_curve(void)
{
	struct ceil_at_size v[] = {{4, 5}, {8, 10}, {16, 20}, {32, 40}};
	struct ceil_at_size gap[] = {{4, ABSENT}, {8, 10}, {16, 20}, {32, 40}};

	is_close(ceil_curve_half(v, 3, 20), ABSENT, 0, "three sizes are no curve");
	is_close(ceil_curve_half(v, 4, 8), ABSENT, 0, "the smallest size is above half already");
	is_close(ceil_curve_half(v, 4, 100), ABSENT, 0, "none reaches half");
	is_close(ceil_curve_half(v, 4, ABSENT), ABSENT, 0, "no best");
	is_close(ceil_curve_half(gap, 4, 20), ABSENT, 0, "a neighbour without a rate");
	is_close(ceil_curve_half(NULL, 0, 20), ABSENT, 0, "nothing");
}

int main(void)
{
	test_exact();
	test_hockney();
	test_no_curve();
	return done_testing();
}
