/* Busy time of spans that follow, overlap, contain each other, or are nothing. */
#include "harness/base/spans.h"

#include "tests/tap.h"

static void test(struct ceil_span *v, size_t count, double busy_ns, double wall_ns,
                 const char *name)
{
	const struct ceil_busy b = ceil_spans_busy(v, count);

	is_close(b.busy_ns, busy_ns, 0, name);
	is_close(b.wall_ns, wall_ns, 0, "and from first to last");
}

int main(void)
{
	struct ceil_span apart[] = {{300, 350}, {100, 200}};
	struct ceil_span touching[] = {{0, 10}, {10, 20}};
	struct ceil_span over[] = {{5, 15}, {0, 10}, {12, 20}};
	struct ceil_span inside[] = {{0, 100}, {10, 20}, {90, 95}};
	struct ceil_span same[] = {{7, 9}, {7, 9}, {7, 8}};
	struct ceil_span backward[] = {{50, 40}, {60, 70}};
	/* A global timer counts ns since 1970: no bit may be lost on the way to a double. */
	struct ceil_span late[] = {{1796000000000000001u, 1796000000000000033u},
	                           {1796000000000000065u, 1796000000000000097u}};

	test(NULL, 0, 0, 0, "nothing");
	test(apart, 2, 150, 250, "a gap does not count");
	is_u64(apart[0].start_ns, 100, "they stand in order after it");
	test(touching, 2, 20, 20, "no gap");
	test(over, 3, 20, 20, "an overlap counts once");
	test(inside, 3, 100, 100, "one that contains the others");
	test(same, 3, 2, 2, "the same thrice");
	test(backward, 2, 10, 20, "one that ends before it starts");
	test(late, 2, 64, 96, "times of today");
	return done_testing();
}
