/* Tests of what stands in a buffer: small formats bit by bit, the patterns, the hash. */
#include "harness/base/value.h"

#include "harness/base/dtype.h"
#include "tests/tap.h"

static const enum ceil_dtype small[] = {CEIL_BF16, CEIL_FP16, CEIL_E4M3, CEIL_E5M2, CEIL_E2M1};

/* Each code of a small type is its own encoding; the two zeros are one. */
static void test_round_trip(void)
{
	for (size_t t = 0; t < sizeof(small) / sizeof(small[0]); t++) {
		const uint32_t bits = ceil_dtype_info(small[t])->bits;
		int wrong = 0;

		for (uint64_t code = 0; code < UINT64_C(1) << bits; code++) {
			const double x = ceil_decode(small[t], code);

			if (!isnan(x) && ceil_encode(small[t], x) != (x == 0.0 ? 0 : code))
				wrong++;
		}
		is_int(wrong, 0, ceil_dtype_info(small[t])->name);
	}
}

struct known {
	enum ceil_dtype t;
	double x;
	uint64_t bits;
};

static const struct known knowns[] = {
	{CEIL_BF16, 0.0, 0x0000},       {CEIL_BF16, 1.0, 0x3f80},
	{CEIL_BF16, -2.0, 0xc000},      {CEIL_BF16, 257.0, 0x4380},
	{CEIL_BF16, 259.0, 0x4382},     {CEIL_FP16, 1.0, 0x3c00},
	{CEIL_FP16, 65536.0, 0x7bff},   {CEIL_FP16, 0x1p-24, 0x0001},
	{CEIL_E4M3, 1.0, 0x38},         {CEIL_E4M3, 1000.0, 0x7e},
	{CEIL_E5M2, 1.0, 0x3c},         {CEIL_E2M1, 1.0, 0x2},
	{CEIL_FP32, 1.0, 0x3f800000},   {CEIL_TF32, 0.0, 0},
	{CEIL_INT8, -1.0, 0xff},        {CEIL_INT8, 200.0, 0x7f},
	{CEIL_INT32, -1.0, 0xffffffff},
};

static void test_known(void)
{
	for (size_t i = 0; i < sizeof(knowns) / sizeof(knowns[0]); i++)
		is_u64(ceil_encode(knowns[i].t, knowns[i].x), knowns[i].bits,
		       ceil_dtype_info(knowns[i].t)->name);
}

static void test_normal(void)
{
	enum { COUNT = 100000 };
	double sum = 0.0, squares = 0.0;

	for (uint64_t i = 0; i < COUNT; i++) {
		const double x = ceil_value(CEIL_NORMAL, 1, 0, i);

		sum += x;
		squares += x * x;
	}
	is_close(sum / COUNT, 0.0, 0.01, "normal data have the mean 0");
	is_close(squares / COUNT, 1.0, 0.02, "and the variance 1");
	ok(ceil_value(CEIL_NORMAL, 1, 0, 0) != ceil_value(CEIL_NORMAL, 2, 0, 0) &&
	           ceil_value(CEIL_NORMAL, 1, 0, 0) != ceil_value(CEIL_NORMAL, 1, 1, 0),
	   "seed and buffer matter");
}

static void test_whole_numbers(void)
{
	int counts[3] = {0, 0, 0};
	int wide = 0, periodic = 0;

	for (uint64_t i = 0; i < 80000; i++) {
		const double t = ceil_value(CEIL_TERNARY, 1, 0, i);
		const double x = ceil_value(CEIL_INTEGERS, 1, 0, i);

		counts[(int)t + 1]++;
		wide += fabs(x) > 8.0 || rint(x) != x;
		periodic += x == ceil_value(CEIL_INTEGERS, 1, 0, i + CEIL_PERIOD);
	}
	is_close(counts[0], 5000, 300, "one ternary element in sixteen is -1");
	is_close(counts[2], 5000, 300, "one is 1");
	is_int(wide, 0, "integers are whole and within 8");
	is_int(periodic, 80000, "integers have a period");
}

/*
 * The promise of CEIL_TERNARY at the longest k of a checked product: sums stay far below 256.
 * Rows and columns are consecutive pieces of the two buffers, as in a product.
 */
static void test_ternary_sums(void)
{
	enum { K = 65536, PAIRS = 8 };
	double most = 0.0;

	for (uint64_t r = 0; r < PAIRS * PAIRS; r++) {
		double sum = 0.0;

		for (uint64_t i = 0; i < K; i++)
			sum += ceil_value(CEIL_TERNARY, 1, 0, (r / PAIRS) * K + i) *
			       ceil_value(CEIL_TERNARY, 1, 1, (r % PAIRS) * K + i);
		most = fmax(most, fabs(sum));
	}
	ok(most < 160.0 && most > 10.0, "sums of 65536 products stay within 5 deviations: %g",
	   most);
}

static void test_poison(void)
{
	for (size_t t = 0; t < sizeof(small) / sizeof(small[0]); t++) {
		const uint32_t bits = ceil_dtype_info(small[t])->bits;
		const uint64_t code =
			ceil_element(small[t], CEIL_POISON, 1, 0, 0) & ((UINT64_C(1) << bits) - 1);

		ok(small[t] == CEIL_E2M1 || isnan(ceil_decode(small[t], code)),
		   "poison of %s is no number", ceil_dtype_info(small[t])->name);
	}
}

static void test_hash(void)
{
	const uint64_t whole = ceil_hash_term(5, 0) + ceil_hash_term(7, 1) + ceil_hash_term(9, 2);

	is_u64(whole, 5 + 7 * 3 + 9 * 5, "the hash by hand");
	ok(whole != ceil_hash_term(7, 0) + ceil_hash_term(5, 1) + ceil_hash_term(9, 2),
	   "elements that changed places change it");
}

int main(void)
{
	test_round_trip();
	test_known();
	test_normal();
	test_whole_numbers();
	test_ternary_sums();
	test_poison();
	test_hash();
	return done_testing();
}
