/* Tests of the ceiling of a list of shapes, and of the comparison of output hashes. */
#include "harness/analysis/blend.h"
#include "harness/analysis/twins.h"
#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

static struct ceil_record row(double value, double flops)
{
	struct ceil_record r;

	ceil_table_clear(&ceil_table_records, &r);
	ceil_copy(r.device, sizeof(r.device), "gpu0");
	ceil_copy(r.regime, sizeof(r.regime), "burst");
	ceil_copy(r.backend, sizeof(r.backend), "cuda");
	ceil_copy(r.status, sizeof(r.status), "ok");
	ceil_copy(r.gpu_name, sizeof(r.gpu_name), "card");
	r.value = value;
	r.theoretical = 1000.0;
	r.flops = flops;
	return r;
}

/* 1e12 operations at 100 and three times 1e12 at 300 TFLOP/s: 4e12 in 20 ms. */
static void test_blend(void)
{
	const struct ceil_record a = row(100.0, 1e12);
	const struct ceil_record b = row(300.0, 1e12);
	struct ceil_blend blend = {.shapes = 0};
	struct ceil_record r;

	ceil_blend_add(&blend, &a, 1);
	ceil_blend_add(&blend, &b, 3);
	ceil_blend_record(&blend, "layers.csv", &r);
	is_close(r.value, 200.0, 1e-9, "weighted by operations");
	is_close(r.of_theoretical, 0.2, 1e-12, "over the peak of each");
	has_text(r.note, "theoretical: the peaks of the shapes' types", "and a note says so");
	is_close(r.time_ns, 2e7, 1e-3, "the time of the list");
	is_close(r.flops, 4e12, 0, "its operations");
	is_text(r.ceiling, "gemm.list.burst", "its ceiling");
	is_text(r.cas, "layers.csv", "its case");
	is_text(r.device, "gpu0", "of the device");
	is_text(r.status, "ok", "it is ok");
}

static void test_missing(void)
{
	const struct ceil_record a = row(100.0, 1e12);
	const struct ceil_record b = row((double)NAN, (double)NAN);
	struct ceil_blend blend = {.shapes = 0};
	struct ceil_record r;

	ceil_blend_add(&blend, &b, 1);
	ceil_blend_add(&blend, &a, 1);
	ceil_blend_record(&blend, "layers.csv", &r);
	ok(isnan(r.value), "a list with a shape missing has no value");
	is_text(r.status, "unsupported", "its status");
	is_text(r.reason, "1 of 2 shapes have no ceiling here", "and it says how many");
}

static void test_unknown_peak(void)
{
	struct ceil_record a = row(100.0, 1e12);
	struct ceil_blend blend = {.shapes = 0};
	struct ceil_record r;

	a.theoretical = (double)NAN;
	ceil_copy(a.backend, sizeof(a.backend), "host");
	ceil_copy(a.regime, sizeof(a.regime), "");
	ceil_blend_add(&blend, &a, 2);
	ceil_blend_record(&blend, "layers.csv", &r);
	ok(isnan(r.theoretical) && isnan(r.of_theoretical), "an unknown peak stays unknown");
	is_text(r.ceiling, "host.gemm.list", "the host's list has no regime");
}

static struct ceil_record hashed(const char *device, const char *algorithm, const char *hash)
{
	struct ceil_record r = row(100.0, 1e12);

	ceil_copy(r.device, sizeof(r.device), device);
	ceil_copy(r.algorithm, sizeof(r.algorithm), algorithm);
	ceil_copy(r.output_hash, sizeof(r.output_hash), hash);
	return r;
}

static void test_twins(void)
{
	struct ceil_record a = hashed("gpu0", "id=66 tile=1", "aaaa");
	struct ceil_record same = hashed("gpu1", "id=66 tile=1", "aaaa");
	struct ceil_record other = hashed("gpu1", "id=66 tile=2", "bbbb");
	struct ceil_record wrong = hashed("gpu3", "id=66 tile=1", "aaab");
	struct ceil_record none = hashed("gpu3", "id=66 tile=1", "");
	struct ceil_twins t = {NULL, 0, 0};

	wrong.first_value = 90.0;
	is_int(ceil_twins_judge(&t, &a, NULL), CEIL_OK, "the first");
	is_int(ceil_twins_judge(&t, &same, NULL), CEIL_OK, "a twin");
	is_int(ceil_twins_judge(&t, &other, NULL), CEIL_OK, "another algorithm");
	is_int(ceil_twins_judge(&t, &none, NULL), CEIL_OK, "a row without a hash");
	ok(strcmp(a.status, "ok") == 0 && strcmp(same.status, "ok") == 0 &&
	           strcmp(other.status, "ok") == 0 && strcmp(none.status, "ok") == 0,
	   "are all left alone");
	is_int(ceil_twins_judge(&t, &wrong, NULL), CEIL_OK, "one that wrote other bits");
	is_text(wrong.status, "failed", "failed");
	ok(isnan(wrong.value) && ceil_record_bad(&wrong), "without a value, exit status 1");
	ok(isnan(wrong.first_value), "nor what is derived from it");
	has_text(wrong.reason, "gpu3 wrote other bits (hash aaab) than gpu0 before (aaaa)",
	         "and says which");
	ceil_twins_done(&t);
	ceil_alloc_fail_at(1);
	is_int(ceil_twins_judge(&t, &a, NULL), CEIL_E_NOMEM, "no memory");
	ceil_alloc_fail_at(0);
	ceil_twins_done(&t);
}

int main(void)
{
	test_blend();
	test_missing();
	test_unknown_peak();
	test_twins();
	return done_testing();
}
