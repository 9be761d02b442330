/* Tests of what ceilings say of one another: products against issue, ridge points. */
#include "harness/analysis/roofs.h"

#include <math.h>
#include <string.h>

#include "harness/base/text.h"
#include "tests/tap.h"

#define ABSENT ((double)NAN)

static struct ceil_record row(const char *device, const char *ceiling, double value, double mhz)
{
	struct ceil_record r;

	ceil_table_clear(&ceil_table_records, &r);
	ceil_copy(r.host, sizeof(r.host), "node");
	ceil_copy(r.device, sizeof(r.device), device);
	ceil_copy(r.ceiling, sizeof(r.ceiling), ceiling);
	r.value = value;
	r.clock_mhz = mhz;
	r.rank = 0;
	return r;
}

static void test_issue(void)
{
	struct ceil_record ceilings[] = {
		row("gpu1", "tensor.bf16.burst", 500, 1000),
		row("gpu0", "tensor.bf16.sustained", 800, 1600),
		row("gpu0", "tensor.bf16.burst", 940, 1760),
		row("gpu0", "tensor.e4m3.burst", 1800, 1700),
		row("gpu0", "tensor.fp16_acc16.burst", 650, 1800),
		row("gpu0", "tensor.int8.burst", 1900, ABSENT),
		row("gpu0", "tensor.fp16.burst", 650, 1800),
	};
	static const struct {
		const char *ceiling;
		double value, mhz, want;
	} cases[] = {
		{"gemm.bf16.burst", 820, 1560, 820.0 / 1560 * 1760 / 940},
		{"gemm.bf16.sustained", 690, 1400, 690.0 / 1400 * 1600 / 800},
		{"gemm.e4m3.burst", 1500, 1500, 1500.0 / 1500 * 1700 / 1800},
		{"gemm.e4m3_fast.burst", 1600, 1500, 1600.0 / 1500 * 1700 / 1800},
		{"gemm.fp16_acc16.burst", 640, 1750, 640.0 / 1750 * 1800 / 650},
		{"gemm.int8.burst", 1500, 1500, ABSENT},
		{"gemm.fp16.burst", 800, 1600, ABSENT}, /* mma.sync where wgmma would be larger */
		{"gemm.fp64.burst", 60, 1900, ABSENT},
		{"gemm.bf16.burst", ABSENT, ABSENT, ABSENT},
		{"tensor.bf16.burst", 940, 1760, ABSENT},
		{"dram.read", 4700, 1980, ABSENT},
	};

	ceilings[2].of_clock = 0.99;
	ceilings[6].of_clock = 0.66;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ceil_record r =
			row("gpu0", cases[i].ceiling, cases[i].value, cases[i].mhz);

		is_close(ceil_roofs_issue(&r, ceilings, sizeof(ceilings) / sizeof(ceilings[0])),
		         cases[i].want, 1e-12, cases[i].ceiling);
	}
}

static void test_ridges(void)
{
	struct ceil_record ceilings[] = {
		row("gpu0", "dram.read", 4700, 1980),
		row("gpu0", "fma.fp32", 66, 1980),
		row("gpu0", "tensor.bf16.burst", 940, 1760),
		row("gpu0", "fma.fp64", ABSENT, ABSENT),
		row("gpu1", "l2.read", 10000, 1980),
	};
	struct ceil_record rows[CEIL_ROOFS_RIDGES];

	ceilings[0].theoretical = 4800;
	ceilings[1].theoretical = 67.2;
	is_int((long long)ceil_roofs_ridges(&ceilings[0], ceilings, 5, rows), 2,
	       "both roofs of two ridges were measured");
	is_text(rows[0].ceiling, "roofline.ridge.fp32", "the first");
	is_close(rows[0].value, 66e3 / 4700, 1e-9, "FLOP over bytes");
	is_close(rows[0].theoretical, 14, 1e-9, "and in theory");
	is_text(rows[0].unit, "FLOP/B", "its unit");
	is_text(rows[0].status, "ok", "is a row like others");
	is_text(rows[0].device, "gpu0", "of its device");
	is_text(rows[0].note, "where fma.fp32 meets dram.read", "and says of what");
	is_close(rows[0].clock_mhz, ABSENT, 0, "nothing was timed");
	is_text(rows[1].ceiling, "roofline.ridge.bf16", "the second");
	is_int((long long)ceil_roofs_ridges(&ceilings[4], ceilings, 5, rows), 0,
	       "another device has roofs of its own");
}

int main(void)
{
	test_issue();
	test_ridges();
	return done_testing();
}
