/* What links carry: hand-computed PCIe rates, NVLink-C2C, and links that nobody knows. */
#include "harness/analysis/link.h"

#include <math.h>
#include <string.h>

#include "tests/tap.h"

#define ABSENT ((double)NAN)

static const struct ceil_device_props plain = {.label = "gpu0"};

static double rate(int gen, int width)
{
	const struct ceil_link link = {gen, width};

	return ceil_link_gb_s(&link, &plain);
}

static void test_pcie(void)
{
	/* 32 GT/s x 16 x 128/130 / 8 = 63.015 GB/s of packets; 256 of 280 bytes are data. */
	is_close(rate(5, 16), 57.614, 0.001, "PCIe 5.0 x16");
	is_close(rate(5, 8), 28.807, 0.001, "half the lanes, half the rate");
	is_close(rate(4, 16), 28.807, 0.001, "PCIe 4.0 x16");
	is_close(rate(3, 16), 14.403, 0.001, "PCIe 3.0 x16");
	/* 2.5 GT/s x 16 x 8/10 / 8 = 4 GB/s. */
	is_close(rate(1, 16), 3.657, 0.001, "PCIe 1.0 x16");
	/* 64 GT/s x 16 x 236/256 / 8 = 118 GB/s; 256 of 272. */
	is_close(rate(6, 16), 111.06, 0.01, "PCIe 6.0 x16");
	is_close(rate(-1, 16), ABSENT, 0, "no generation");
	is_close(rate(5, -1), ABSENT, 0, "no width");
	is_close(rate(5, 0), ABSENT, 0, "no lanes");
	is_close(rate(9, 16), ABSENT, 0, "a generation of the future");
}

static void test_c2c(void)
{
	const struct ceil_device_props grace = {.c2c_gb_s = 447.0};
	const struct ceil_device_props none = {.c2c_gb_s = ABSENT};
	const struct ceil_link link = {5, 16};

	is_close(ceil_link_gb_s(&link, &grace), 447, 0, "NVLink-C2C carries the data, not PCIe");
	is_close(ceil_link_gb_s(&link, &none), 57.614, 0.001, "PCIe where there is none");
}

static void test_names(void)
{
	const struct ceil_device_props grace = {.c2c_gb_s = 447.0};
	const struct ceil_link link = {4, 8};
	const struct ceil_link unknown = {-1, -1};
	char text[24] = "old";

	ceil_link_name(&link, &plain, text, sizeof(text));
	is_text(text, "PCIe 4.0 x8", "a name");
	ceil_link_name(&unknown, &grace, text, sizeof(text));
	is_text(text, "NVLink-C2C", "another");
	ceil_link_name(&unknown, &plain, text, sizeof(text));
	is_text(text, "", "and none");
}

static void test_table(void)
{
	for (size_t i = 0; i < ceil_pcie_count; i++) {
		const struct ceil_pcie *p = &ceil_pcies[i];

		ok(p->gen == (int)i + 1 && p->gt_s > 0.0 && p->source && *p->source,
		   "PCIe %d.0 has a rate and a source", p->gen);
		ok(p->line_ratio > 0.5 && p->line_ratio < 1.0 && p->payload_ratio > 0.9 &&
		           p->payload_ratio < 1.0,
		   "and loses something");
	}
}

int main(void)
{
	test_pcie();
	test_c2c();
	test_names();
	test_table();
	return done_testing();
}
