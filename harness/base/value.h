/*
 * The one definition of what stands in a buffer: value(seed, buffer, index), and of its hash.
 *
 * Host and GPU compile the same arithmetic, exact up to one correctly rounded conversion, so the
 * bits agree on every backend. That is why the bodies stand in a header.
 */
#ifndef CEIL_VALUE_H
#define CEIL_VALUE_H

#include "harness/base/types.h"

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CEIL_HD __host__ __device__
#else
#define CEIL_HD
#endif

/* A prime, so that no tile of a kernel has the same period; sums over periods have closed forms. */
#define CEIL_PERIOD 4093u

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014, Fast Splittable Pseudorandom Numbers). */
static inline CEIL_HD uint64_t ceil_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Bits of element index: a counter, so any element can be had without those before it. */
static inline CEIL_HD uint64_t ceil_bits(uint64_t seed, uint32_t buffer, uint64_t index)
{
	const uint64_t key = ceil_mix(seed + 0x9e3779b97f4a7c15u * (buffer + 1u));

	return ceil_mix(key + 0x9e3779b97f4a7c15u * (index + 1u));
}

/* A fixed shuffle of the numbers below 2^bits (1 to 63): each of its steps is one to one. */
static inline CEIL_HD uint64_t ceil_shuffle(uint64_t x, uint32_t bits)
{
	const uint64_t mask = ((uint64_t)1 << bits) - 1u;

	for (int i = 0; i < 3; i++) {
		x = (x * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) & mask;
		x ^= x >> ((bits + 1u) / 2u);
	}
	return x;
}

static inline CEIL_HD uint32_t ceil_popcount(uint32_t x)
{
	x = x - ((x >> 1) & 0x55555555u);
	x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0fu;
	return (x * 0x01010101u) >> 24;
}

/*
 * A standard normal: the count of ones among 32 fair bits (binomial, variance 8) smoothed by a
 * uniform of 64 bits (variance 1/12). Exact arithmetic up to one product, tails to 5.7 sigma.
 */
static inline CEIL_HD double ceil_normal(uint64_t bits)
{
	const uint64_t fine = ceil_mix(bits + 0x9e3779b97f4a7c15u);
	const double u = (double)(fine >> 11) * 0x1p-53;
	const double x = ((double)ceil_popcount((uint32_t)(bits >> 32)) - 16.5) + u;

	return x * 0.35171980; /* 1 / sqrt(8 + 1/12) */
}

/* value(seed, buffer, index) of a pattern, before it is rounded to the element's type. */
static inline CEIL_HD double ceil_value(enum ceil_pattern pattern, uint64_t seed, uint32_t buffer,
                                        uint64_t index)
{
	uint64_t bits;

	switch (pattern) {
	case CEIL_NORMAL:
		return ceil_normal(ceil_bits(seed, buffer, index));
	case CEIL_CONSTANT:
		return 1.0;
	case CEIL_INTEGERS:
		bits = ceil_bits(seed, buffer, index % CEIL_PERIOD);
		return (double)((int)(((bits >> 32) * 17u) >> 32) - 8);
	case CEIL_TERNARY:
		bits = ceil_bits(seed, buffer, index) & 15u;
		return bits == 0 ? -1.0 : bits == 1 ? 1.0 : 0.0;
	default:
		return 0.0;
	}
}

/* A small binary format; max_finite bounds what saturates (e4m3 has no infinity). */
struct ceil_format {
	int exponent_bits, mantissa_bits;
	double max_finite;
};

static inline CEIL_HD struct ceil_format ceil_format_of(enum ceil_dtype t)
{
	switch (t) {
	case CEIL_BF16:
		return (struct ceil_format){8, 7, 3.3895313892515355e38};
	case CEIL_FP16:
		return (struct ceil_format){5, 10, 65504.0};
	case CEIL_E4M3:
		return (struct ceil_format){4, 3, 448.0};
	case CEIL_E5M2:
		return (struct ceil_format){5, 2, 57344.0};
	case CEIL_E2M1:
		return (struct ceil_format){2, 1, 6.0};
	default:
		return (struct ceil_format){0, 0, 0.0};
	}
}

/* Rounds x to a small format, nearest even, saturating; subnormals are kept. */
static inline CEIL_HD uint64_t ceil_encode_small(struct ceil_format f, double x)
{
	const int bias = (1 << (f.exponent_bits - 1)) - 1;
	const double a = fabs(x) > f.max_finite ? f.max_finite : fabs(x);
	const uint64_t sign = (uint64_t)(x < 0.0) << (f.exponent_bits + f.mantissa_bits);
	int e = 0;

	(void)frexp(a, &e); /* a = frac * 2^e, frac in [0.5, 1); of 0 it says e = 0 */
	e = a == 0.0 || e - 1 < 1 - bias ? 1 - bias : e - 1;
	/* In units of the last place of exponent e; a carry moves into the exponent by itself. */
	const uint64_t ulps = (uint64_t)rint(ldexp(a, f.mantissa_bits - e));
	const uint64_t base = (uint64_t)(e + bias - 1) << f.mantissa_bits;

	return sign | (base + ulps);
}

/* The value of the bits of a small format; NaN and infinity codes give NAN. */
static inline CEIL_HD double ceil_decode_small(struct ceil_format f, enum ceil_dtype t,
                                               uint64_t bits)
{
	const int bias = (1 << (f.exponent_bits - 1)) - 1;
	const uint64_t mantissa = bits & ((1u << f.mantissa_bits) - 1u);
	const int e = (int)((bits >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1u));
	const double sign = (bits >> (f.exponent_bits + f.mantissa_bits)) & 1u ? -1.0 : 1.0;
	const int top = (1 << f.exponent_bits) - 1;

	if (t == CEIL_E4M3 ? (e == top && mantissa == 7u) : (t != CEIL_E2M1 && e == top))
		return (double)NAN;
	if (e == 0)
		return sign * ldexp((double)mantissa, 1 - bias - f.mantissa_bits);
	return sign *
	       ldexp((double)(mantissa + (1u << f.mantissa_bits)), e - bias - f.mantissa_bits);
}

union ceil_punned {
	double f64;
	float f32;
	uint64_t u64;
	uint32_t u32;
};

/* The bits of x as an element of type t. Integers round to nearest and saturate. */
static inline CEIL_HD uint64_t ceil_encode(enum ceil_dtype t, double x)
{
	union ceil_punned p;

	p.u64 = 0;
	switch (t) {
	case CEIL_FP64:
		p.f64 = x;
		return p.u64;
	case CEIL_FP32:
	case CEIL_TF32:
		p.f32 = (float)x;
		return p.u32;
	case CEIL_INT8:
		return (uint8_t)(int8_t)rint(x > 127.0 ? 127.0 : x < -128.0 ? -128.0 : x);
	case CEIL_INT32:
		return (uint32_t)(int32_t)rint(x);
	case CEIL_INT64:
		return (uint64_t)(int64_t)rint(x);
	default:
		return ceil_encode_small(ceil_format_of(t), x);
	}
}

/* The value of an element of type t from its bits. */
static inline CEIL_HD double ceil_decode(enum ceil_dtype t, uint64_t bits)
{
	union ceil_punned p;

	p.u64 = bits;
	switch (t) {
	case CEIL_FP64:
		return p.f64;
	case CEIL_FP32:
	case CEIL_TF32:
		p.u32 = (uint32_t)bits;
		return (double)p.f32;
	case CEIL_INT8:
		return (double)(int8_t)(uint8_t)bits;
	case CEIL_INT32:
		return (double)(int32_t)(uint32_t)bits;
	case CEIL_INT64:
		return (double)(int64_t)bits;
	default:
		return ceil_decode_small(ceil_format_of(t), t, bits);
	}
}

/* Element index of a filled buffer, as bits. Normal data in int8 use a step of 1/32 sigma. */
static inline CEIL_HD uint64_t ceil_element(enum ceil_dtype t, enum ceil_pattern pattern,
                                            uint64_t seed, uint32_t buffer, uint64_t index)
{
	double x;

	if (pattern == CEIL_POISON)
		return ~(uint64_t)0;
	x = ceil_value(pattern, seed, buffer, index);
	return ceil_encode(t, t == CEIL_INT8 && pattern == CEIL_NORMAL ? 32.0 * x : x);
}

/*
 * The hash of a buffer is the sum over its elements of bits(i) * (2 i + 1), modulo 2^64.
 * An odd weight makes any one wrong element visible, its index any two that changed places, and
 * the sum needs no order: blocks add in any sequence, and periodic data have a closed form.
 */
static inline CEIL_HD uint64_t ceil_hash_term(uint64_t bits, uint64_t index)
{
	return bits * (2u * index + 1u);
}

#endif
