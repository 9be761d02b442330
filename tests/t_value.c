/* What stands in a buffer: formats bit by bit, the distributions, the hash. */
#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>

static const struct {
	enum ceil_dtype t;
	unsigned codes, finite; /* all codes, and those that are a finite number */
} small[] = {
	{CEIL_BF16, 65536, 65536 - 2 * 128},
	{CEIL_FP16, 65536, 65536 - 2 * 1024},
	{CEIL_E4M3, 256, 254},
	{CEIL_E5M2, 256, 256 - 2 * 4},
	{CEIL_E2M1, 16, 16},
	{CEIL_INT8, 256, 256},
};
enum { SMALL_COUNT = sizeof(small) / sizeof(small[0]), FLOAT_COUNT = SMALL_COUNT - 1 };

/* Each code is its own encoding; the two zeros are one, since no data hold a negative zero. */
static void every_finite_code_comes_back(void)
{
	for (unsigned i = 0; i < SMALL_COUNT; i++) {
		unsigned finite = 0, wrong = 0;

		for (unsigned code = 0; code < small[i].codes; code++) {
			const double x = ceil_decode(small[i].t, code);

			if (isnan(x))
				continue;
			finite++;
			wrong += ceil_encode(small[i].t, x) != (x == 0.0 ? 0 : code);
		}
		is_int(finite, small[i].finite, ceil_dtype_info(small[i].t)->name);
		is_int(wrong, 0, "all finite codes come back");
	}
}

/* Codes of positive numbers are in the order of their values. */
static void codes_grow_with_values(void)
{
	for (unsigned i = 0; i < FLOAT_COUNT; i++) {
		double before = -1.0;
		bool grows = true;

		for (unsigned code = 0; code < small[i].codes / 2; code++) {
			const double x = ceil_decode(small[i].t, code);

			grows = grows && (isnan(x) || x > before);
			before = isnan(x) ? before : x;
		}
		ok(grows, "%s: a larger code is a larger value", ceil_dtype_info(small[i].t)->name);
		is_close(ceil_decode(small[i].t, ceil_encode(small[i].t, 1e300)), before, 0,
		         "and the largest is where it saturates");
	}
}

/* back: the code stands for exactly x. */
static const struct {
	enum ceil_dtype t;
	double x;
	uint64_t code;
	const char *name;
	bool back;
} known[] = {
	{CEIL_BF16, 0.0, 0, "bf16 0", true},
	{CEIL_BF16, 1.0, 0x3f80, "bf16 1", true},
	{CEIL_BF16, -2.0, 0xc000, "bf16 -2", true},
	{CEIL_BF16, 3.140625, 0x4049, "bf16 pi", true},
	{CEIL_BF16, 257.0, 0x4380, "bf16 257, a tie down", false},
	{CEIL_BF16, 259.0, 0x4382, "bf16 259, a tie up", false},
	{CEIL_BF16, 0x1p-133, 0x0001, "bf16 smallest subnormal", true},
	{CEIL_FP16, 0.0, 0, "fp16 0", true},
	{CEIL_FP16, 1.0, 0x3c00, "fp16 1", true},
	{CEIL_FP16, 65504.0, 0x7bff, "fp16 largest", true},
	{CEIL_FP16, 65536.0, 0x7bff, "fp16 saturates", false},
	{CEIL_FP16, 0x1p-24, 0x0001, "fp16 smallest subnormal", true},
	{CEIL_FP16, 0x1p-14, 0x0400, "fp16 smallest normal", true},
	{CEIL_FP16, 1.0 / 3.0, 0x3555, "fp16 a third", false},
	{CEIL_E4M3, 0.0, 0, "e4m3 0", true},
	{CEIL_E4M3, 1.0, 0x38, "e4m3 1", true},
	{CEIL_E4M3, 448.0, 0x7e, "e4m3 largest", true},
	{CEIL_E4M3, -1000.0, 0xfe, "e4m3 saturates", false},
	{CEIL_E4M3, 0x1p-9, 0x01, "e4m3 smallest subnormal", true},
	{CEIL_E5M2, 1.0, 0x3c, "e5m2 1", true},
	{CEIL_E5M2, 57344.0, 0x7b, "e5m2 largest", true},
	{CEIL_E2M1, 0.5, 0x1, "e2m1 subnormal", true},
	{CEIL_E2M1, 1.0, 0x2, "e2m1 1", true},
	{CEIL_E2M1, 6.0, 0x7, "e2m1 largest", true},
	{CEIL_E2M1, -1.5, 0xb, "e2m1 -1.5", true},
	{CEIL_INT8, -1.0, 0xff, "int8 -1", true},
	{CEIL_INT8, -128.0, 0x80, "int8 least", true},
	{CEIL_INT8, 300.0, 0x7f, "int8 saturates", false},
	{CEIL_INT8, -300.0, 0x80, "int8 saturates below", false},
	{CEIL_INT32, -1.0, 0xffffffff, "int32 -1", true},
	{CEIL_INT64, -1.0, UINT64_MAX, "int64 -1", true},
	{CEIL_FP32, 1.0, 0x3f800000, "fp32 1", true},
	{CEIL_TF32, 1.0, 0x3f800000, "tf32 is stored as fp32", true},
	{CEIL_FP64, 1.0, 0x3ff0000000000000, "fp64 1", true},
};

static void known_codes(void)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		is_u64(ceil_encode(known[i].t, known[i].x), known[i].code, known[i].name);
		if (known[i].back)
			is_close(ceil_decode(known[i].t, known[i].code), known[i].x, 0, "and back");
	}
}

/*
 * Halfway between neighbours the even code wins; a hair off it, the nearer one. Every neighbouring
 * pair of every format, so the steps into the next exponent and out of the subnormals are there.
 */
static void ties_go_to_the_even_code(void)
{
	for (unsigned i = 0; i < FLOAT_COUNT; i++) {
		const enum ceil_dtype t = small[i].t;
		const unsigned sign = small[i].codes / 2;
		unsigned wrong = 0, pairs = 0;

		for (unsigned code = 0; code + 1 < sign; code++) {
			const double low = ceil_decode(t, code), high = ceil_decode(t, code + 1);
			const double middle = (low + high) / 2;

			if (isnan(high) || isnan(low))
				continue;
			pairs++;
			wrong += ceil_encode(t, middle) != (code & 1u ? code + 1 : code);
			wrong += ceil_encode(t, nextafter(middle, low)) != code;
			wrong += ceil_encode(t, nextafter(middle, high)) != code + 1;
			wrong += ceil_encode(t, -nextafter(middle, high)) != code + 1 + sign;
		}
		ok(wrong == 0 && pairs == small[i].finite / 2 - 1, "%s: nearest even for %u pairs",
		   ceil_dtype_info(t)->name, pairs);
	}
	is_u64(ceil_encode(CEIL_INT8, 2.5), 2, "int8: a half goes to the even number");
	is_u64(ceil_encode(CEIL_INT8, 3.5), 4, "in both directions");
}

enum { DRAWS = 1000000, SEEDS = 3 };

/* Limits: five standard errors over 1e6 draws (mean 0.001, variance 0.0014, kurtosis 0.005). */
static void normal_data_are_normal(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		double s1 = 0, s2 = 0, s3 = 0, s4 = 0, largest = 0;

		for (uint64_t i = 0; i < DRAWS; i++) {
			const double x = ceil_value(CEIL_NORMAL, seed, 0, i);

			s1 += x;
			s2 += x * x;
			s3 += x * x * x;
			s4 += x * x * x * x;
			largest = fmax(largest, fabs(x));
		}
		printf("# seed %d, largest %g sigma\n", (int)seed, largest);
		is_close(s1 / DRAWS, 0.0, 0.005, "mean 0");
		is_close(s2 / DRAWS, 1.0, 0.007, "variance 1");
		is_close(s3 / DRAWS, 0.0, 0.012, "no skew");
		/* Cumulants: binomial -32/8, uniform -1/120, over the variance (97/12) squared. */
		is_close(s4 / DRAWS, 3.0 - (4.0 + 1.0 / 120) / (97.0 / 12 * 97.0 / 12), 0.025,
		         "kurtosis 2.94, as the construction has it");
		ok(largest > 4.0 && largest < 5.81, "tails beyond 4 sigma, within the bound");
	}
}

/* Chi-square of 15 degrees of freedom is above 50 in one case of 1e5. */
static void mantissas_are_dense(void)
{
	unsigned counts[16] = {0}, ones = 0;
	double chi2 = 0;

	for (uint64_t i = 0; i < DRAWS; i++) {
		const uint64_t bits = ceil_element(CEIL_FP32, CEIL_NORMAL, 1, 0, i);

		counts[bits & 15u]++;
		ones += ceil_popcount((uint32_t)bits & 0x7fffffu);
	}
	for (unsigned c = 0; c < 16; c++)
		chi2 += pow(counts[c] - DRAWS / 16.0, 2) / (DRAWS / 16.0);
	ok(chi2 < 50, "the last bits of fp32 are uniform: chi-square %g", chi2);
	is_close(ones / (23.0 * DRAWS), 0.5, 0.02, "half of the mantissa's bits are set");
}

static void neighbours_and_buffers_are_independent(void)
{
	double next = 0, other = 0, seeded = 0;

	for (uint64_t i = 0; i < DRAWS; i++) {
		const double x = ceil_value(CEIL_NORMAL, 1, 0, i);

		next += x * ceil_value(CEIL_NORMAL, 1, 0, i + 1);
		other += x * ceil_value(CEIL_NORMAL, 1, 1, i);
		seeded += x * ceil_value(CEIL_NORMAL, 2, 0, i);
	}
	is_close(next / DRAWS, 0.0, 0.005, "no correlation with the next element");
	is_close(other / DRAWS, 0.0, 0.005, "nor with the next buffer");
	is_close(seeded / DRAWS, 0.0, 0.005, "nor with the next seed");
}

static void integers_are_uniform(void)
{
	enum { ROUNDS = 50 };
	const double each = ROUNDS * (double)CEIL_PERIOD / 17;
	unsigned counts[17] = {0}, odd = 0;
	double chi2 = 0, sum = 0;

	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		for (uint64_t i = 0; i < CEIL_PERIOD; i++) {
			const double x = ceil_value(CEIL_INTEGERS, seed, 0, i);
			const bool good = x == floor(x) && fabs(x) <= 8.0;

			odd += !good;
			counts[good ? (int)x + 8 : 0]++;
			sum += x;
		}
	}
	is_int(odd, 0, "INTEGERS are whole numbers of [-8, 8]");
	for (int c = 0; c < 17; c++)
		chi2 += pow(counts[c] - each, 2) / each;
	/* 16 degrees of freedom: above 52 in one case of 1e5. */
	ok(chi2 < 52, "each as often: chi-square %g", chi2);
	is_close(sum / (each * 17), 0.0, 0.055, "mean 0"); /* five standard errors */
}

static void integers_have_their_period(void)
{
	unsigned differ = 0, runs = 0, divisors = 0;

	for (uint64_t i = 0; i < 3 * CEIL_PERIOD; i++)
		differ += ceil_value(CEIL_INTEGERS, 5, 1, i) !=
		          ceil_value(CEIL_INTEGERS, 5, 1, i % CEIL_PERIOD);
	for (uint64_t i = 0; i < CEIL_PERIOD; i++)
		runs += ceil_value(CEIL_INTEGERS, 5, 1, i) ==
		        ceil_value(CEIL_INTEGERS, 5, 1, i + 1);
	for (unsigned d = 2; d * d <= CEIL_PERIOD; d++)
		divisors += CEIL_PERIOD % d == 0;
	is_int(differ, 0, "INTEGERS repeat after CEIL_PERIOD");
	ok(runs < CEIL_PERIOD / 10, "and not at once");
	is_int(divisors, 0, "the period is a prime");
}

static void integers_are_exact_in_every_type(void)
{
	static const enum ceil_dtype types[] = {CEIL_FP64, CEIL_FP32,  CEIL_TF32,
	                                        CEIL_BF16, CEIL_FP16,  CEIL_E4M3,
	                                        CEIL_INT8, CEIL_INT32, CEIL_INT64};

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		unsigned wrong = 0;

		for (uint64_t i = 0; i < CEIL_PERIOD; i++)
			wrong += ceil_decode(types[t],
			                     ceil_element(types[t], CEIL_INTEGERS, 9, 2, i)) !=
			         ceil_value(CEIL_INTEGERS, 9, 2, i);
		ok(wrong == 0, "INTEGERS are exact in %s", ceil_dtype_info(types[t])->name);
	}
}

static void ternary_data_are_sparse(void)
{
	unsigned minus = 0, plus = 0, other = 0;

	for (uint64_t i = 0; i < DRAWS; i++) {
		const double x = ceil_value(CEIL_TERNARY, 1, 0, i);

		minus += x == -1.0;
		plus += x == 1.0;
		other += x != 0.0 && fabs(x) != 1.0;
	}
	is_int(other, 0, "TERNARY is only -1, 0, 1");
	is_close(minus / (double)DRAWS, 1.0 / 16, 0.0013, "one in sixteen is -1");
	is_close(plus / (double)DRAWS, 1.0 / 16, 0.0013, "and one is 1: one in eight is not 0");
}

/*
 * The promise of TERNARY at the longest k of a checked product: sums stay far below 256. Rows and
 * columns are consecutive pieces of the two buffers, as in a product.
 */
static void ternary_sums_stay_exact(void)
{
	enum { K = 65536, PIECES = 6 };
	double most = 0.0;

	for (uint64_t r = 0; r < PIECES * PIECES; r++) {
		double sum = 0.0;

		for (uint64_t i = 0; i < K; i++) {
			sum += ceil_value(CEIL_TERNARY, 1, 0, r / PIECES * K + i) *
			       ceil_value(CEIL_TERNARY, 1, 1, r % PIECES * K + i);
			most = fmax(most, fabs(sum));
		}
	}
	ok(most < 160.0 && most > 10.0, "sums of 65536 products stay within 5 deviations: %g",
	   most);
}

static void plain_patterns(void)
{
	unsigned wrong = 0;

	for (unsigned t = 1; t < CEIL_DTYPE_COUNT; t++) {
		const enum ceil_dtype type = (enum ceil_dtype)t;
		const uint64_t one = ceil_element(type, CEIL_CONSTANT, 1, 0, 3);

		wrong += ceil_element(type, CEIL_ZEROS, 1, 0, 3) != 0;
		wrong += ceil_decode(type, one) != 1.0;
		wrong += ceil_element(type, CEIL_POISON, 1, 0, 3) != UINT64_MAX;
	}
	is_int(wrong, 0, "zeros, ones and poison in every type");
	ok(isnan(ceil_decode(CEIL_FP64, UINT64_MAX)) && isnan(ceil_decode(CEIL_FP32, UINT32_MAX)) &&
	           isnan(ceil_decode(CEIL_BF16, 0xffff)) && isnan(ceil_decode(CEIL_FP16, 0xffff)) &&
	           isnan(ceil_decode(CEIL_E4M3, 0xff)) && isnan(ceil_decode(CEIL_E5M2, 0xff)),
	   "poison is a NaN in each floating type that has one");
}

/* Fixed for ever, and computed apart from this code: results of years must stay comparable. */
static void known_elements(void)
{
	is_u64(ceil_mix(0), 0, "mix(0)");
	is_u64(ceil_mix(0x9e3779b97f4a7c15u), 0xe220a8397b1dcdafu,
	       "the first number of splitmix64 from seed 0, as published");
	is_u64(ceil_bits(1, 2, 3), 0xee3bb459e9e297bu, "bits(1, 2, 3)");
	is_u64(ceil_element(CEIL_FP64, CEIL_NORMAL, 1, 2, 3), 0x3fdc762e1d715bd4u,
	       "a normal in fp64, 0.4447131431128899");
	is_u64(ceil_element(CEIL_BF16, CEIL_NORMAL, 1, 2, 3), 0x3ee4, "in bf16");
	is_u64(ceil_element(CEIL_INT8, CEIL_NORMAL, 1, 2, 3), 14, "in int8, steps of 1/32");
}

static uint64_t hash_of(const uint64_t *bits, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += ceil_hash_term(bits[i], i);
	return sum;
}

enum { HASHED = 1000 };

static void fill_normal(uint64_t bits[HASHED])
{
	for (size_t i = 0; i < HASHED; i++)
		bits[i] = ceil_element(CEIL_BF16, CEIL_NORMAL, 1, 0, i);
}

static void a_hash_sees_one_wrong_bit(void)
{
	const uint64_t three[] = {5, 7, 9};
	uint64_t bits[HASHED], right;
	unsigned missed = 0;

	is_u64(hash_of(three, 3), 5 + 7 * 3 + 9 * 5, "a hash by hand");
	fill_normal(bits);
	right = hash_of(bits, HASHED);
	for (size_t i = 0; i < HASHED; i++) {
		for (unsigned bit = 0; bit < 16; bit++) {
			bits[i] ^= UINT64_C(1) << bit;
			missed += hash_of(bits, HASHED) == right;
			bits[i] ^= UINT64_C(1) << bit;
		}
	}
	is_int(missed, 0, "each of 16000 single wrong bits is seen");
}

static void a_hash_sees_two_that_changed_places(void)
{
	uint64_t bits[HASHED], right;
	unsigned missed = 0;

	fill_normal(bits);
	right = hash_of(bits, HASHED);
	for (size_t i = 0; i + 1 < HASHED; i++) {
		const uint64_t first = bits[i], last = bits[HASHED - 1];

		bits[i] = last;
		bits[HASHED - 1] = first;
		missed += first != last && hash_of(bits, HASHED) == right;
		bits[i] = first;
		bits[HASHED - 1] = last;
	}
	is_int(missed, 0, "two elements that changed places are seen");
}

int main(void)
{
	every_finite_code_comes_back();
	codes_grow_with_values();
	known_codes();
	ties_go_to_the_even_code();
	normal_data_are_normal();
	mantissas_are_dense();
	neighbours_and_buffers_are_independent();
	integers_are_uniform();
	integers_have_their_period();
	integers_are_exact_in_every_type();
	ternary_data_are_sparse();
	ternary_sums_stay_exact();
	plain_patterns();
	known_elements();
	a_hash_sees_one_wrong_bit();
	a_hash_sees_two_that_changed_places();
	return done_testing();
}
