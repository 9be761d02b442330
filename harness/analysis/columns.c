/* The columns of ceilings.csv, records.csv and samples.csv: names, units, what they mean. */
#include "harness/analysis/record.h"

#define RECORD(member, unit, doc) CEIL_FIELD(struct ceil_record, member, unit, 1, doc)
#define SAMPLE(member, unit, doc) CEIL_FIELD(struct ceil_sample_row, member, unit, 1, doc)
#define COUNT(table)              (sizeof(table) / sizeof((table)[0]))

/* records.csv has all of these; ceilings.csv is what comes up to note. */
static const struct ceil_field record_fields[] = {
	RECORD(host, "", "name of the machine"),
	RECORD(device, "", "gpu0 ... by nvidia-smi's index; cpu, cpu.node0; gpu: no GPU was found"),
	RECORD(gpu_name, "", "name of the device as its driver or the CPU gives it"),
	RECORD(gpu_uuid, "", "UUID of the GPU; the key across runs, since host names repeat"),
	RECORD(ceiling, "", "what was measured: resource.what[.dtype][.regime]"),
	RECORD(value, "unit",
               "the median of the samples, or the mean of the steady part of a sustained row; "
               "empty when nothing was measured that means something"),
	RECORD(unit, "", "of value, theoretical and datasheet; GB/s is 1e9 bytes per second"),
	RECORD(better, "", "higher or lower"),
	RECORD(theoretical, "unit",
               "dense peak at the maximum clock; memory: 2 x clock x bus width / 8"),
	RECORD(of_theoretical, "ratio", "value / theoretical"),
	RECORD(datasheet, "unit", "the published dense figure"),
	RECORD(datasheet_clock_mhz, "MHz", "the SM clock that the published figure implies"),
	RECORD(clock_mhz, "MHz", "mean SM clock held over the timed regions, not NVML's snapshot"),
	RECORD(of_clock, "ratio", "value / peak at clock_mhz; compute rows only"),
	RECORD(limited_by, "", "power thermal memory issue latency link host unknown"),
	RECORD(spread, "ratio", "(p95 - p05) / median of the samples of this run"),
	RECORD(samples, "", "samples that count; the dropped ones are in samples.csv"),
	RECORD(power_w, "W",
               "energy over time, of everything between the first and the last sample; empty for "
               "rows shorter than 1 s"),
	RECORD(throttle, "", "what held the clocks down, joined by +; none; empty: unknown"),
	RECORD(status, "",
               "ok unsupported skipped unstable throttled suspect failed cancelled; unstable: the "
               "spread and the interval of the median are above the row's tolerance, or a "
               "sustained row did not settle; suspect: above 1.03 x its peak, a first sample "
               "unlike the rest, or an uncorrected ECC error meanwhile"),
	RECORD(reason, "", "why it is not ok, in words"),
	RECORD(dtype_in, "", "type of the elements read"),
	RECORD(dtype_acc, "", "type that sums are kept in"),
	RECORD(dtype_out, "", "type of the elements written"),
	RECORD(regime, "", "burst (from idle, 30 ms) or sustained (until steady); empty: none"),
	RECORD(pattern, "", "of the timed data: normal unless the row is about another"),
	RECORD(variant, "", "the kernel or call that won"),
	RECORD(size_bytes, "bytes", "of the largest buffer: one array of a memory row"),
	RECORD(m, "", "rows of the product, GEMM only"),
	RECORD(n, "", "columns of the product, GEMM only"),
	RECORD(k, "", "length of the sums, GEMM only"),
	RECORD(rank, "", "of this process, from 0; of the GPU in a collective's row"),
	RECORD(ranks, "", "how many processes, or GPUs of a collective, measured together"),
	RECORD(sm_active, "ratio",
               "share of cycles in which an SM had a warp, mean over the SMs, by GPM; rows of 1 s "
               "and more"),
	RECORD(tensor_active, "ratio", "share of time in which the tensor pipe worked"),
	RECORD(dram_active, "ratio", "share of time in which device memory moved data"),
	RECORD(temp_start_c, "C", "of the GPU, before the samples"),
	RECORD(temp_end_c, "C", "after them"),
	RECORD(driver, "", "version of what drives the device"),
	RECORD(tool_version, "", "of gpuceil"),
	RECORD(format_version, "", "of this file; grows when a column is renamed or re-defined"),
	RECORD(gpu_busy, "ratio",
               "share of the time in which at least one kernel ran, by the kernels' own clocks"),
	RECORD(half_size_bytes, "bytes",
               "size at which half of the value is reached, from the sweep over sizes"),
	RECORD(host_node, "", "NUMA node of the host's memory; empty: wherever the system put it"),
	RECORD(locality, "", "of that memory to the device: near, far; unknown: nothing tells"),
	RECORD(link, "",
               "between host and GPU, read right after the last launch: PCIe 5.0 x16; of a "
               "collective, what bounds it: NVLink, 18 links"),
	RECORD(versus, "", "another ceiling that stands beside this one"),
	RECORD(versus_value, "unit", "its value in this run, at the same case where it has that"),
	RECORD(of_issue, "ratio",
               "of a gemm row: its rate at its clock over that of the tensor row of the same type "
               "at its own, both of this run; empty where that row's instruction leaves the tensor "
               "cores idle"),
	RECORD(note, "", "what a reader of the row must know"),

	RECORD(bench, "", "the benchmark that the row comes from"),
	RECORD(backend, "", "cuda or host"),
	CEIL_FIELD_AS(struct ceil_record, cas, "case", "", 1, "the named point: shape or size"),
	RECORD(timing, "", "marks (on the device), host (each call by the host's clock), self"),
	RECORD(role, "", "search, final (measured again fresh) or sustained"),
	RECORD(theoretical_clock_mhz, "MHz", "the SM clock of theoretical; empty for memory rows"),
	RECORD(footprint_over_cache, "ratio",
               "size_bytes over the last-level cache; 4 or more in a DRAM row"),
	RECORD(time_ns, "ns", "median time of one launch"),
	RECORD(time_min_ns, "ns", "the shortest"),
	RECORD(time_p05_ns, "ns", "5 % were shorter"),
	RECORD(time_p95_ns, "ns", "5 % were longer"),
	RECORD(time_p99_ns, "ns", "1 % were longer"),
	RECORD(time_ci_lo_ns, "ns", "95 % interval of the median, from order statistics"),
	RECORD(time_ci_hi_ns, "ns", "its upper end"),
	RECORD(dropped, "", "samples that do not count: warm-up, too short, host preempted"),
	RECORD(batch, "", "launches between two time stamps, in the last sample"),
	RECORD(candidates, "", "algorithms that were tried"),
	RECORD(algorithm, "", "the chosen one, in words that let it be found again"),
	RECORD(first_value, "unit",
               "what the library's own first choice gives: the value by the ratio of both in the "
               "search, where they took turns; of a burst row its own burst where that was near"),
	RECORD(products, "", "matrix products in one launch; n is their mean where they differ"),
	RECORD(duty, "ratio", "share of the time that is work, of rows that run until steady"),
	RECORD(j_per_tflop, "J/TFLOP",
               "power_w / value of a sustained row: energy of 1e12 operations"),
	RECORD(output_hash, "",
               "of the timed outputs, hexadecimal: the same for one algorithm, shape, seed and "
               "part"),
	RECORD(flops, "", "operations of one launch; a multiply-add is two"),
	RECORD(bytes, "bytes", "compulsory traffic of one launch: read, written and on the wire"),
	RECORD(algbw_gb_s, "GB/s",
               "of a collective: the array over the time; the value is busbw, which has its "
               "factor"),
	RECORD(seconds, "s", "from before the first sample to after the last"),
	RECORD(energy_j, "J",
               "of the GPU in that time, by its energy counter, which moves in steps of 0.1 s: "
               "rows of 1 s "
               "and more"),
	RECORD(snapshot_mhz, "MHz",
               "mean of NVML's snapshots of the SM clock in that time, ten a second; clock_mhz is "
               "what was held"),
	RECORD(power_cap_ratio, "ratio",
               "share of that time in which the power cap held the clocks down, by NVML's counter; "
               "rows of 0.5 s and more"),
	RECORD(thermal_ratio, "ratio", "share in which heat did"),
	RECORD(hw_slowdown_ratio, "ratio",
               "share in which the hardware did: heat or the power supply"),
	RECORD(check, "", "exact: a launch on whole numbers gave the one right answer"),
	RECORD(stop, "", "the rule that ended the sampling"),
	RECORD(started_utc, "", "when the row began, 2026-11-30T19:32:50Z"),
};

static const struct ceil_field sample_fields[] = {
	SAMPLE(host, "", "as in records.csv, whose row it belongs to with the next five"),
	SAMPLE(device, "", "as in records.csv"),
	SAMPLE(ceiling, "", "as in records.csv"),
	SAMPLE(variant, "", "as in records.csv"),
	CEIL_FIELD_AS(struct ceil_sample_row, cas, "case", "", 1, "as in records.csv"),
	SAMPLE(role, "", "as in records.csv"),
	SAMPLE(sample, "", "from 0, in the order of time"),
	SAMPLE(batch, "", "launches in it"),
	SAMPLE(time_ns, "ns", "of one launch"),
	SAMPLE(clock_mhz, "MHz", "mean SM clock over it"),
	SAMPLE(drop, "", "why it does not count: warm-up, too short, preempted; empty: it counts"),
};

/* The prefix of record_fields that ceilings.csv has; t_record checks it. */
enum { CEILING_FIELDS = 50 };

const struct ceil_table ceil_table_ceilings = {
	.name = "ceilings.csv",
	.doc = "one row a ceiling and device; (host, device, ceiling, rank) is unique in a run",
	.fields = record_fields,
	.field_count = CEILING_FIELDS,
	.row_bytes = sizeof(struct ceil_record),
};
const struct ceil_table ceil_table_records = {
	.name = "records.csv",
	.doc = "one row a measured point, searches too; the columns of ceilings.csv come first",
	.fields = record_fields,
	.field_count = COUNT(record_fields),
	.row_bytes = sizeof(struct ceil_record),
};
const struct ceil_table ceil_table_samples = {
	.name = "samples.csv",
	.doc = "one row a raw sample, dropped ones too",
	.fields = sample_fields,
	.field_count = COUNT(sample_fields),
	.row_bytes = sizeof(struct ceil_sample_row),
};
