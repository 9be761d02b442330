/* Rows of collectives: busbw and algbw, what bounds them, and when they are too good to be true. */
#include "bench/collective.h"
#include "harness/analysis/record.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ceil_case gib = {.name = "1GiB", .axis = {UINT64_C(1) << 30}};

static const struct ceil_variant *variant(const char *name)
{
	for (size_t i = 0; i < ceil_collective_bench.variant_count; i++) {
		if (strcmp(ceil_collective_bench.variants[i].name, name) == 0)
			return &ceil_collective_bench.variants[i];
	}
	exit(1);
}

/* The row of twenty equal samples of time_ns. */
static void row(struct ceil_record *r, const char *name, const struct ceil_device_props *d,
                const char *algorithm, double time_ns)
{
	struct ceil_outcome o = {
		.point = {.bench = &ceil_collective_bench, .variant = variant(name), .cas = &gib},
		.first_ratio = (double)NAN,
		.checked = true,
		.remark = {.gpu_busy = (double)NAN, .host_node = -1},
		.half_bytes = (double)NAN,
		.versus_value = (double)NAN,
	};
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	const struct ceil_sample x = {.batch = 1, .time_ns = time_ns, .clock_mhz = (double)NAN};

	if (ceil_collective_bench.shape(&o.point, d, &o.launch, buf, NULL) != CEIL_OK)
		exit(1);
	ceil_collective_bench.work(&o.point, &o.launch, &o.work);
	snprintf(o.algorithm, sizeof(o.algorithm), "%s", algorithm);
	for (int i = 0; i < 20; i++) {
		if (ceil_series_add(&o.series, &x, NULL) != CEIL_OK)
			exit(1);
	}
	ceil_stats_of(&o.series, 0, &o.stats);
	ceil_record_fill(r, &o, d, "final");
	ceil_series_done(&o.series);
}

int main(void)
{
	struct ceil_device_props d = {.label = "gpu0",
	                              .name = "NVIDIA H200",
	                              .cc_major = 9,
	                              .sm_count = 132,
	                              .free_bytes = UINT64_C(1) << 40,
	                              .rank = 0,
	                              .ranks = 4,
	                              .fabric_gb_s = 450.0,
	                              .fabric = "NVLink, 18 links"};
	const double gib_ns = (double)(UINT64_C(1) << 30); /* at 1 GB/s */
	struct ceil_record r;

	row(&r, "all_reduce.sum.fp32", &d, "ring, simple, 24 channels, NVLS off", gib_ns / 240.0);
	is_close(r.algbw_gb_s, 240.0, 1e-6, "algbw: the array over the time");
	is_close(r.value, 360.0, 1e-6, "busbw: 2 (n - 1) / n of it");
	is_close(r.theoretical, 450.0, 0.0, "what bounds it");
	is_text(r.link, "NVLink, 18 links", "by name");
	is_text(r.limited_by, "link", "and in a word");
	is_u64(r.ranks, 4, "ranks");
	is_text(r.status, "ok", "below the wire");
	is_text(r.check, "exact", "checked");
	row(&r, "all_reduce.sum.fp32", &d, "ring, simple, 24 channels, NVLS off", gib_ns / 320.0);
	is_text(r.status, "suspect", "a ring cannot be faster than the wire");
	row(&r, "all_reduce.sum.fp32", &d, "NVLS, simple, 16 channels, NVLS on", gib_ns / 320.0);
	is_text(r.status, "ok", "a switch that adds can");
	row(&r, "all_reduce.sum.fp32", &d, "tree, LL128, 24 channels, NVLS off", gib_ns / 320.0);
	is_text(r.status, "ok", "so can a tree");
	row(&r, "all_to_all.copy.fp32", &d, "unknown: NCCL logs no sends and receives",
	    gib_ns / 700.0);
	is_text(r.status, "ok", "what is unknown is not suspect");
	has_text(r.algorithm, "unknown", "but said");
	d.ranks = 1;
	row(&r, "all_reduce.sum.fp32", &d, "one rank: a copy", gib_ns / 2000.0);
	ok(isnan(r.value), "one rank has no busbw");
	is_close(r.algbw_gb_s, 2000.0, 1e-6, "but algbw");
	is_text(r.status, "ok", "and is fine");
	d.ranks = 4;
	d.rank = 2;
	row(&r, "all_reduce.latency.sum.fp32", &d, "ring, LL, 1 channel, NVLS off", 13000.0);
	is_close(r.value, 13.0, 1e-9, "a latency is in us");
	is_text(r.limited_by, "latency", "bound by latency");
	is_u64(r.rank, 2, "rank");
	return done_testing();
}
