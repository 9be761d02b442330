/* Peaks: known products, matching of device names, and a lint of the tables of rates and parts. */
#include "harness/analysis/peaks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "tests/tap.h"

static struct ceil_device_props device(const char *name, int cc, int sm_count, double sm_mhz)
{
	struct ceil_device_props d = {.cc_major = cc / 10,
	                              .cc_minor = cc % 10,
	                              .sm_count = sm_count,
	                              .max_sm_mhz = sm_mhz,
	                              .max_memory_mhz = (double)NAN};

	ceil_copy(d.name, sizeof(d.name), name);
	return d;
}

static struct ceil_device_props h200(void)
{
	struct ceil_device_props d = device("NVIDIA H200", 90, 132, 1980);

	d.max_memory_mhz = 3201;
	d.memory_bus_bits = 6016;
	return d;
}

static struct ceil_peak peak_on(const struct ceil_device_props *d, enum ceil_resource resource,
                                enum ceil_dtype in, enum ceil_dtype acc)
{
	const struct ceil_variant v = {.backend = "cuda",
	                               .resource = resource,
	                               .types = {in, in, acc, in},
	                               .unit = resource == CEIL_R_FMA || resource == CEIL_R_TENSOR
	                                               ? CEIL_TFLOP_S
	                                               : CEIL_GB_S};
	struct ceil_peak p;

	ceil_peak_of(&v, d, &p);
	return p;
}

static void test_h200(void)
{
	const struct ceil_device_props d = h200();
	struct ceil_peak p = peak_on(&d, CEIL_R_TENSOR, CEIL_BF16, CEIL_FP32);

	is_close(p.theoretical, 1070.5, 0.05, "H200 bf16 at 1980 MHz");
	is_close(p.theoretical_mhz, 1980, 0, "the clock beside it");
	is_close(p.datasheet, 989.4, 0, "the published figure");
	is_close(p.datasheet_mhz, 1830, 0, "and the clock it implies");
	is_close(p.per_mhz * 1273, 688.3, 0.1, "bf16 issue at a clock of 1273 MHz held");
	p = peak_on(&d, CEIL_R_FMA, CEIL_BF16, CEIL_BF16);
	is_close(p.theoretical, 133.8, 0.05, "bf16 vectors run at the rate of fp16 vectors");
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_E5M2, CEIL_FP32);
	is_close(p.theoretical, 2141, 0.1, "e5m2 runs at the rate of e4m3");
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_FP64, CEIL_FP64);
	is_close(p.theoretical, 66.9, 0.05, "fp64 on tensor cores");
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_FP32, CEIL_FP32);
	is_close(p.theoretical, 66.9, 0.05, "an fp32 product runs on the vector pipe");
	is_close(p.datasheet, 67, 0, "and takes its published figure");
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_E2M1, CEIL_FP32);
	is_close(p.theoretical, (double)NAN, 0, "no fp4 on Hopper");
	p = peak_on(&d, CEIL_R_FMA, CEIL_INT32, CEIL_INT32);
	is_close(p.theoretical, 33.45, 0.01, "128 integer operations a clock and SM");
	p = peak_on(&d, CEIL_R_DRAM, CEIL_FP32, CEIL_NODTYPE);
	is_close(p.theoretical, 4814.3, 0.05, "3201 MHz x 6016 bits");
	is_close(p.datasheet, 4800, 0, "the published bandwidth");
	is_close(p.datasheet_mhz, (double)NAN, 0, "a memory row has no SM clock in its peak");
	is_close(p.per_mhz, (double)NAN, 0, "nor a peak per SM clock");
	p = peak_on(&d, CEIL_R_SMEM, CEIL_FP32, CEIL_NODTYPE);
	is_close(p.theoretical, 33454, 1, "shared memory: 128 B x 132 x 1980 MHz");
	p = peak_on(&d, CEIL_R_L2, CEIL_FP32, CEIL_NODTYPE);
	is_close(p.theoretical, (double)NAN, 0, "the peak of L2 is unknown");
	p = peak_on(&d, CEIL_R_PEER, CEIL_FP32, CEIL_NODTYPE);
	is_close(p.datasheet, 450, 0, "NVLink, one direction");
}

/* What users of cards that are not here would see. */
static void test_other_parts(void)
{
	struct ceil_device_props d = device("NVIDIA GeForce RTX 4090", 89, 128, 2520);
	struct ceil_peak p = peak_on(&d, CEIL_R_TENSOR, CEIL_FP16, CEIL_FP32);

	is_close(p.theoretical, 165.2, 0.1, "RTX 4090 fp16, fp32 accumulate");
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_FP16, CEIL_FP16);
	is_close(p.theoretical, 330.3, 0.1, "RTX 4090 fp16, fp16 accumulate");
	d.max_sm_mhz = 3105;
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_BF16, CEIL_FP32);
	is_close(p.theoretical, 203.5, 0.1, "a card that boosts further has a higher peak");
	is_close(p.datasheet, 165.2, 0, "and the same datasheet");
	d = device("NVIDIA B200", 100, 148, 1965);
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_E2M1, CEIL_FP32);
	is_close(p.theoretical, 9529.6, 0.5, "B200 fp4 at 1965 MHz");
	is_close(p.datasheet, 9000, 0, "B200 fp4, dense, published");
	d = device("NVIDIA H20", 90, 78, 1980);
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_BF16, CEIL_FP32);
	is_close(p.theoretical, 158.1, 0.1, "H20 has a quarter of the rate of 9.0");
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_FP64, CEIL_FP64);
	is_close(p.theoretical, (double)NAN, 0, "its fp64 is cut by an unknown amount");
	d = device("Tesla T4", 75, 40, 1590);
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_BF16, CEIL_FP32);
	is_close(p.theoretical, (double)NAN, 0, "Turing has no bf16");
	d = device("NVIDIA RTX 6000 Ada Generation", 89, 142, 2505);
	p = peak_on(&d, CEIL_R_TENSOR, CEIL_BF16, CEIL_FP32);
	is_close(p.theoretical, 364.2, 0.1, "a workstation card runs at the datacenter rate");
	is_close(p.datasheet, (double)NAN, 0, "a part that is not in the table has no datasheet");
	d = device("NVIDIA Something", 142, 10, 1000);
	p = peak_on(&d, CEIL_R_FMA, CEIL_FP32, CEIL_FP32);
	is_close(p.theoretical, (double)NAN, 0, "an unknown architecture has no peak");
	is_text(p.source, "", "and no source");
}

static void test_absent(void)
{
	struct ceil_device_props d = h200();
	struct ceil_peak p;

	d.max_sm_mhz = (double)NAN;
	p = peak_on(&d, CEIL_R_FMA, CEIL_FP32, CEIL_FP32);
	is_close(p.theoretical, (double)NAN, 0, "no clock, no peak");
	is_close(p.per_mhz, 0.033792, 1e-9, "but a peak at the clock held");
	d = h200();
	d.integrated = true;
	p = peak_on(&d, CEIL_R_DRAM, CEIL_FP32, CEIL_NODTYPE);
	is_close(p.theoretical, (double)NAN, 0, "unified memory has no peak from attributes");
	d = h200();
	d.memory_bus_bits = 0;
	p = peak_on(&d, CEIL_R_DRAM, CEIL_FP32, CEIL_NODTYPE);
	is_close(p.theoretical, (double)NAN, 0, "no bus width, no peak");
	d = h200();
	const struct ceil_variant latency = {
		.backend = "cuda", .resource = CEIL_R_DRAM, .unit = CEIL_NS};
	ceil_peak_of(&latency, &d, &p);
	is_close(p.theoretical, (double)NAN, 0, "a time has no peak rate");
}

static void test_host(void)
{
	struct ceil_device_props d = {
		.sm_count = 16, .vector_bits = 512, .fma_pipes = 2, .max_sm_mhz = 3000};
	struct ceil_variant v = {.backend = "host",
	                         .resource = CEIL_R_FMA,
	                         .types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32},
	                         .unit = CEIL_TFLOP_S};
	struct ceil_peak p;

	ceil_peak_of(&v, &d, &p);
	is_close(p.theoretical, 3.072, 1e-9, "16 threads x 16 lanes x 2 pipes x 2 x 3 GHz");
	v.types.a = CEIL_FP64;
	ceil_peak_of(&v, &d, &p);
	is_close(p.theoretical, 1.536, 1e-9, "half of it in fp64");
	d.max_sm_mhz = (double)NAN;
	ceil_peak_of(&v, &d, &p);
	is_close(p.theoretical, (double)NAN, 0, "the clock of a host is often unknown");
	d.max_sm_mhz = 3000;
	d.fma_pipes = 0;
	ceil_peak_of(&v, &d, &p);
	is_close(p.theoretical, (double)NAN, 0, "so are its pipes");
	d.fma_pipes = 2;
	v.resource = CEIL_R_DRAM;
	v.unit = CEIL_GB_S;
	ceil_peak_of(&v, &d, &p);
	is_close(p.theoretical, (double)NAN, 0, "host memory has no known peak");
}

static void test_names(void)
{
	static const struct {
		const char *name;
		int cc, sm_count;
		const char *part;
	} cases[] = {
		{"Tesla V100-SXM2-32GB", 70, 80, "V100 SXM2 32GB"},
		{"Tesla V100-PCIE-16GB", 70, 80, "V100 PCIe 16GB"},
		{"Tesla T4", 75, 40, "T4"},
		{"NVIDIA A100-SXM4-80GB", 80, 108, "A100 80GB SXM"},
		{"NVIDIA A100 80GB PCIe", 80, 108, "A100 80GB PCIe"},
		{"NVIDIA A10", 86, 72, "A10"},
		{"NVIDIA A10G", 86, 80, NULL},
		{"NVIDIA L4", 89, 58, "L4"},
		{"NVIDIA L40", 89, 142, "L40"},
		{"NVIDIA L40S", 89, 142, "L40S"},
		{"NVIDIA GeForce RTX 3090", 86, 82, "RTX 3090"},
		{"NVIDIA GeForce RTX 3090 Ti", 86, 84, NULL},
		{"NVIDIA GeForce RTX 5090", 120, 170, "RTX 5090"},
		{"NVIDIA GeForce RTX 5090 D", 120, 170, NULL},
		{"NVIDIA GeForce RTX 4090 Laptop GPU", 89, 76, NULL},
		{"NVIDIA H100 80GB HBM3", 90, 132, "H100 SXM"},
		{"NVIDIA H100 PCIe", 90, 114, "H100 PCIe"},
		{"NVIDIA H100 NVL", 90, 132, "H100 NVL"},
		{"NVIDIA H200", 90, 132, "H200 SXM"},
		{"NVIDIA H200 NVL", 90, 132, "H200 NVL"},
		{"NVIDIA H200 MIG 1g.18gb", 90, 16, NULL},
		{"NVIDIA H20", 90, 78, "H20"},
		{"NVIDIA H20-3e", 90, 78, NULL},
		{"NVIDIA GH200 480GB", 90, 132, "GH200 96GB"},
		{"NVIDIA GH200 144G HBM3e", 90, 132, "GH200 144GB"},
		{"NVIDIA GB200", 100, 152, "GB200"},
		{"NVIDIA GB200", 100, 148, "GB200"},
		{"NVIDIA B300 SXM6 AC", 103, 148, "B300"},
		{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 120, 188,
	         "RTX PRO 6000 Max-Q"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ceil_device_props d =
			device(cases[i].name, cases[i].cc, cases[i].sm_count, 1000);
		const struct ceil_part *part = ceil_part_find(&d);

		is_text(part ? part->name : "none", cases[i].part ? cases[i].part : "none",
		        cases[i].name);
	}
	is_int(ceil_market_of("NVIDIA GeForce RTX 4090"), CEIL_GEFORCE, "GeForce");
	is_int(ceil_market_of("NVIDIA RTX A6000"), CEIL_WORKSTATION, "RTX A6000");
	is_int(ceil_market_of("NVIDIA A40"), CEIL_DATACENTER, "A40");
	ok(ceil_part_named("H200 SXM") != NULL, "a part is found by its own name");
	ok(ceil_part_named("H2000") == NULL, "an unknown one is not");
}

static void test_parts_of_names(void)
{
	static const struct {
		const char *device, *part;
	} cases[] = {
		{"NVIDIA H200", "H200 SXM"},
		{"NVIDIA H200 NVL", "H200 NVL"},
		{"NVIDIA GH200 480GB", "GH200 96GB"},
		{"NVIDIA A10", "A10"},
		{"NVIDIA A100-SXM4-40GB", "A100 40GB SXM"},
		{"NVIDIA L40S", "L40S"},
		{"NVIDIA GeForce RTX 4090", "RTX 4090"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(ceil_part_of_name(cases[i].device) == ceil_part_named(cases[i].part), "%s is %s",
		   cases[i].device, cases[i].part);
	ok(!ceil_part_of_name("NVIDIA GeForce RTX 4090 Laptop GPU"), "a laptop's is another part");
	ok(!ceil_part_of_name(""), "no name is no part");
}

/* A type whose figure a datasheet leaves out runs at the clock of the others. */
static void test_part_peaks(void)
{
	double mhz = 0.0;

	is_close(ceil_part_peak(ceil_part_named("RTX 3090"), CEIL_BF16, CEIL_FP32, &mhz), 71.2,
	         0.05, "RTX 3090 bf16: 512 x 82 x 1695 MHz");
	is_close(mhz, 1695, 0, "at its boost clock");
	is_close(ceil_part_peak(ceil_part_named("RTX PRO 6000 WS"), CEIL_BF16, CEIL_FP32, &mhz),
	         503.8, 0.1, "RTX PRO 6000: no GeForce card");
	is_close(ceil_part_peak(ceil_part_named("H20"), CEIL_FP64, CEIL_FP64, &mhz), (double)NAN, 0,
	         "H20 fp64: its rate is unknown");
	is_close(mhz, (double)NAN, 0, "and so is the clock");
	is_close(ceil_part_peak(ceil_part_named("GB200"), CEIL_TF32, CEIL_FP32, &mhz), (double)NAN,
	         0, "GB200: nobody knows its SMs");
	is_close(ceil_part_peak(ceil_part_named("T4"), CEIL_BF16, CEIL_FP32, &mhz), (double)NAN, 0,
	         "T4: no bf16");
}

/* Published = rate x SMs x clock within 1 %, or the row says why not. */
static void check_figure(const struct ceil_part *part, const struct ceil_published *p)
{
	const struct ceil_rate *rate =
		ceil_rate_find(part, part->cc, ceil_part_market(part), p->resource, p->in,
	                       p->acc == CEIL_NODTYPE ? CEIL_FP32 : p->acc);
	const double computed = rate ? rate->per_clk_sm * part->sm_count * p->mhz * 1e-6 : 0.0;
	const double off = fabs(computed / p->tflops - 1.0);

	ok(p->tflops > 0 && (off <= 0.01 || p->note), "%s %s %s: %.5g published, %.5g computed",
	   part->name, ceil_resource_name(p->resource), ceil_dtype_info(p->in)->name, p->tflops,
	   computed);
	if (rate && part->sm_count && p->mhz > 0 && off > 0.02)
		ok(false, "%s: a note cannot excuse %.1f %%", part->name, 100 * off);
}

static void check_part(size_t i)
{
	const struct ceil_part *p = &ceil_parts[i];
	const double memory = 2.0 * p->memory_mhz * p->memory_bits / 8.0 * 1e-3;

	for (size_t k = 0; k < p->published_count; k++)
		check_figure(p, &p->published[k]);
	if (p->memory_mhz > 0 && p->memory_gb_s > 0)
		ok(fabs(memory / p->memory_gb_s - 1.0) <= 0.01 || p->memory_note,
		   "%s memory: %.5g published, %.5g computed", p->name, p->memory_gb_s, memory);
	ok(p->source && strstr(p->source, "2026"), "%s has a source with its date", p->name);
	for (size_t k = 0; k < i; k++) {
		if (strcmp(p->name, ceil_parts[k].name) == 0 ||
		    (strcmp(p->match, ceil_parts[k].match) == 0 &&
		     p->sm_count == ceil_parts[k].sm_count))
			ok(false, "%s is there twice", p->name);
	}
}

static void test_tables(void)
{
	for (size_t i = 0; i < ceil_part_count; i++)
		check_part(i);
	for (size_t i = 0; i < ceil_rate_count; i++) {
		const struct ceil_rate *r = &ceil_rates[i];
		bool fine = r->per_clk_sm > 0 && r->source && strstr(r->source, "2026") &&
		            (i == 0 || ceil_rates[i - 1].cc <= r->cc);

		for (size_t k = 0; k < i; k++)
			fine = fine &&
			       (ceil_rates[k].cc != r->cc || ceil_rates[k].market != r->market ||
			        ceil_rates[k].resource != r->resource ||
			        ceil_rates[k].in != r->in || ceil_rates[k].acc != r->acc);
		if (!fine)
			ok(false, "rate %zu: positive, sourced, sorted and unique", i);
	}
	ok(ceil_rate_count > 90, "%zu rates: positive, sourced, sorted and unique",
	   ceil_rate_count);
}

int main(void)
{
	test_h200();
	test_other_parts();
	test_parts_of_names();
	test_absent();
	test_host();
	test_names();
	test_part_peaks();
	test_tables();
	return done_testing();
}
