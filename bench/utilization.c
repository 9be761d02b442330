/* The utilization scenarios: ways to keep a GPU busy, and what each teaches about GPU-Util. */
#include "bench/utilization.h"

#ifdef CEIL_HAVE_CUDA
#define STEP(fn)    .step = ceil_util_step_##fn
#define STATE(kind) .prepare = ceil_util_prepare_##kind, .release = ceil_util_release_##kind
#else
#define STEP(fn)    .why_not = "this build has no CUDA: install the CUDA toolkit and build again"
#define STATE(kind) .prepare = NULL
#endif

#define VALUES(list) .values = list, .value_count = sizeof(list) / sizeof((list)[0])

#define ANY CEIL_EXPECT_NOTHING
#define FULL                                                                                       \
	{                                                                                          \
		0.985, 1.0                                                                         \
	}
#define NONE                                                                                       \
	{                                                                                          \
		0.0, 0.002                                                                         \
	}

/* 0: all there are. Those that a part lacks are left out. */
static const struct ceil_scenario_value sms[] = {
	{"1", 1, 0},   {"2", 2, 0},   {"4", 4, 0},   {"8", 8, 0},     {"16", 16, 0},
	{"32", 32, 0}, {"64", 64, 0}, {"96", 96, 0}, {"128", 128, 0}, {"all", 0, 0},
};

static const struct ceil_scenario_value sizes[] = {
	{"64", 64, 0},     {"128", 128, 0},   {"256", 256, 0},   {"512", 512, 0},
	{"1024", 1024, 0}, {"2048", 2048, 0}, {"4096", 4096, 0}, {"8192", 8192, 0},
};

#define STORMS(name, ns)                                                                           \
	{name ".x1", ns, 1}, {name ".x2", ns, 2}, {name ".x4", ns, 4},                             \
	{                                                                                          \
		name ".x8", ns, 8                                                                  \
	}

/* Duration of a kernel, and streams. */
static const struct ceil_scenario_value storms[] = {
	STORMS("1us", 1000),    STORMS("3us", 3000),     STORMS("10us", 10000),
	STORMS("30us", 30000),  STORMS("100us", 100000), STORMS("300us", 300000),
	STORMS("1ms", 1000000),
};

const struct ceil_scenario ceil_scenarios[] = {
	{
		.name = "idle",
		.title = "nothing runs",
		.lesson = "The zero of every scale. A GPU that does nothing still draws a sixth "
			  "to a quarter of its power.",
		.more = "No kernel and no copy is started. What the other scenarios show is to be "
			"read against this: power at rest, and counters that really reach zero.",
		.tour = true,
		.gpu_util = {0.0, 0.02},
		.sm_active = NONE,
		.tensor_active = NONE,
		.dram_active = {0.0, 0.01},
		.verdict = "idle",
		.streams = 1,
	},
	{
		.name = "empty_loop",
		.title = "empty kernels, launched one by one",
		.lesson = "The host pays some 3 us for each launch, the GPU works for less than "
			  "that: it waits for the host. GPU-Util counts the time in which any "
			  "kernel was there, however empty.",
		.more = "A kernel of one warp that returns at once, launched in a loop. The rate "
			"of "
			"launches is the host's ceiling, not the GPU's. Programs of many small "
			"kernels look like this: put the kernels into a CUDA graph, fuse them, or "
			"compile the model.",
		.tour = true,
		.gpu_util = ANY,
		.sm_active = {0.0, 0.01},
		.tensor_active = NONE,
		.dram_active = {0.0, 0.02},
		.streams = 1,
		.shape = ceil_util_shape_one_block,
		STEP(empty),
	},
	{
		.name = "empty_graph",
		.title = "empty kernels in a CUDA graph",
		.lesson = "GPU-Util reads 100 % although not one useful instruction runs: between "
			  "two empty kernels there is no time in which nothing is there. The "
			  "multiprocessors stand still.",
		.more = "A graph of 1024 empty kernels of one warp, started again and again: one "
			"and a half to two million kernels a second. GPU-Util is the share of time "
			"in which at least one kernel was executing, and says nothing about how "
			"much of the GPU it used. SM-active, the share of multiprocessors that "
			"held a warp, stays near zero.",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = {0.0, 0.01},
		.tensor_active = NONE,
		.dram_active = {0.0, 0.02},
		.verdict = "busy_but_idle",
		.streams = 1,
		.shape = ceil_util_shape_one_block,
		STATE(graph),
		STEP(graph),
	},
	{
		.name = "storm",
		.title = "short kernels, 1 us to 1 ms, on 1 to 8 streams",
		.lesson = "A kernel that is shorter than its launch, some 3 us, leaves the "
			  "GPU waiting for the host, and more streams do not help. Of "
			  "longer ones a second stream hides the pause between two. GPU-"
			  "Util reads more than half all the time.",
		.more = "Kernels on all multiprocessors that spin for the time in the name, "
			"launched in turn on the streams behind the x. A host that does "
			"nothing else gives an H200 310 thousand launches a second from any "
			"number of streams: kernels of 1 us keep its multiprocessors in use "
			"for a third of the time, and GPU-Util at 88 %. From one kernel of "
			"a stream to its next 1.5 us pass, which is 13 % of the time with "
			"kernels of 10 us, and nothing with those of 1 ms. Fuse short "
			"kernels, or put them into a CUDA graph.",
		VALUES(storms),
		.gpu_util = ANY,
		.sm_active = ANY,
		.tensor_active = NONE,
		.dram_active = ANY,
		.streams = CEIL_MAX_STREAMS,
		.shape = ceil_util_shape_storm,
		STEP(storm),
	},
	{
		.name = "one_warp",
		.title = "one warp spins on one multiprocessor",
		.lesson = "32 threads of many thousands keep GPU-Util at 100 %. One of all "
			  "multiprocessors is in use: SM-active tells it, GPU-Util cannot.",
		.more = "A kernel of a single warp that spins for 10 ms, one after another. On an "
			"H200 with 132 multiprocessors SM-active is 1/132 = 0.76 %. Whoever "
			"schedules jobs or judges teams by GPU-Util calls this GPU full.",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = {0.0, 0.05},
		.tensor_active = NONE,
		.dram_active = {0.0, 0.02},
		.verdict = "busy_but_idle",
		.streams = 1,
		.shape = ceil_util_shape_one_block,
		STEP(spin),
	},
	{
		.name = "sms",
		.title = "a warp on each of 1, 2, 4 ... all multiprocessors spins",
		.lesson = "GPU-Util is flat at 100 % from the first multiprocessor to the last. "
			  "SM-active is a straight line.",
		.more = "The number behind the dot is how many multiprocessors have a warp. The "
			"plot of the two counters against each other is the whole story of "
			"GPU-Util.",
		VALUES(sms),
		.gpu_util = FULL,
		.sm_active = ANY,
		.tensor_active = NONE,
		.dram_active = {0.0, 0.02},
		.streams = 1,
		.shape = ceil_util_shape_blocks,
		STEP(spin),
	},
	{
		.name = "all_sms",
		.title = "a warp on every multiprocessor spins",
		.lesson = "The second trap: now SM-active is 100 % too, and not one FLOP is "
			  "computed. A counter of presence is no counter of work.",
		.more = "Every multiprocessor holds a warp that looks at the clock until 10 ms are "
			"over. GPU-Util 100 %, SM-active 100 %, achieved FLOP/s 0. Kernels that "
			"wait, for memory, for a lock, for other GPUs in a collective, look the "
			"same. Only the achieved rate over the measured ceiling cannot be fooled.",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = {0.98, 1.0},
		.tensor_active = NONE,
		.dram_active = {0.0, 0.02},
		.verdict = "occupied_for_nothing",
		.streams = 1,
		.shape = ceil_util_shape_blocks,
		STEP(spin),
	},
	{
		.name = "fill_small",
		.title = "a tensor of 1000 x 1000 floats is filled, again and again",
		.lesson = "Small work, launched often, keeps GPU-Util high. The data never leave "
			  "the L2 cache: the memory that the GPU is bought for is hardly used.",
		.more = "4 MB are written by a kernel of 2 us, as fast as the host can launch it. "
			"The rate is that of launches, not that of memory: dram-active stays near "
			"zero. Larger tensors, fused kernels or graphs are the remedy.",
		.bytes_ceiling = "dram.write",
		.tour = true,
		.gpu_util = ANY,
		.sm_active = ANY,
		.tensor_active = NONE,
		.dram_active = {0.0, 0.2},
		.streams = 1,
		.shape = ceil_util_shape_fill,
		STEP(fill),
	},
	{
		.name = "gemm_size",
		.title = "matrix products from 64^3 to 8192^3",
		.lesson = "At 64^3 GPU-Util still reads about half, for a ten-thousandth "
			  "of the rate; at 1024^3 it is above 90 %, for half of it at most. Small "
			  "shapes starve the tensor cores, and GPU-Util does not tell.",
		.more = "bf16 products of square matrices, launched without a pause. The ratio to "
			"the ceiling is what MFU would be. Many small products: batch them, or "
			"raise the batch size.",
		.flops_ceiling = "gemm.bf16.sustained",
		VALUES(sizes),
		.gpu_util = ANY,
		.sm_active = ANY,
		.tensor_active = ANY,
		.dram_active = ANY,
		.streams = 1,
		.shape = ceil_util_shape_gemm,
		STATE(gemm),
		STEP(gemms),
	},
	{
		.name = "copy_pinned",
		.title = "copies from pinned host memory, no kernel at all",
		.lesson = "GPU-Util reads 100 % although no kernel runs: the copy engine counts "
			  "too. The multiprocessors are empty.",
		.more = "256 MiB from pinned memory to the GPU, one copy after another. The link "
			"is full, the GPU computes nothing. A job that waits for its data can look "
			"as busy as one that trains.",
		.bytes_ceiling = "h2d.pinned",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = NONE,
		.tensor_active = NONE,
		.dram_active = {0.0, 0.2},
		.verdict = "copying",
		.streams = 1,
		.shape = ceil_util_shape_pinned,
		STEP(copy),
	},
	{
		.name = "copy_pageable",
		.title = "copies from pageable host memory",
		.lesson = "The driver first copies pageable memory into a pinned buffer of "
			  "its own: less than a third of the link's rate, and a host core "
			  "that does nothing else.",
		.more = "64 MiB from memory of malloc. Pin the memory that batches are loaded into "
			"(pin_memory in PyTorch), and the copy runs at the link's rate and beside "
			"the kernels.",
		.bytes_ceiling = "h2d.pinned",
		.gpu_util = ANY,
		.sm_active = NONE,
		.tensor_active = NONE,
		.dram_active = {0.0, 0.2},
		.streams = 1,
		.shape = ceil_util_shape_pageable,
		STEP(copy),
	},
	{
		.name = "chain",
		.title = "one warp on each multiprocessor, each FMA waits for the last",
		.lesson = "Everything is in use and nothing comes of it: a chain of dependent "
			  "operations runs at latency, not at rate. SM-active 100 %, a "
			  "sixteenth of the FLOP/s.",
		.more = "32 threads a multiprocessor, each with one sum: an FMA takes 4 cycles and "
			"the next cannot start before. More warps or more independent sums fill "
			"the gaps: see few_warps, which differs in just that.",
		.flops_ceiling = "fma.fp32",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = {0.97, 1.0},
		.tensor_active = NONE,
		.dram_active = {0.0, 0.02},
		.verdict = "occupied_for_nothing",
		.streams = 1,
		.shape = ceil_util_shape_chain,
		STEP(chain),
	},
	{
		.name = "few_warps",
		.title = "8 warps a multiprocessor, 64 independent sums a thread",
		.lesson =
			"Occupancy is not efficiency: an eighth of the possible warps, and nearly "
			"all of the FLOP/s. What counts is independent work, not the number of "
			"threads.",
		.more = "256 threads a multiprocessor hold 64 sums each in registers: the compiler "
			"can issue an FMA every cycle, since none waits for another. The fastest "
			"kernels (matrix products among them) run at low occupancy.",
		.flops_ceiling = "fma.fp32",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = {0.97, 1.0},
		.tensor_active = NONE,
		.dram_active = {0.0, 0.02},
		.verdict = "well_fed",
		.streams = 1,
		.shape = ceil_util_shape_dense,
		STEP(dense),
	},
	{
		.name = "stream",
		.title = "an array larger than any cache is copied",
		.lesson = "Bound by memory: SM-active is high and the tensor cores idle, because "
			  "the data cannot come faster. Here the ceiling is GB/s, and nine tenths "
			  "of it are reached.",
		.more = "Two arrays of 2 GiB, read and written once. Most operations of a network "
			"that are no matrix product look like this. Fusing them saves traffic; "
			"nothing else makes them faster.",
		.bytes_ceiling = "dram.copy",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = {0.8, 1.0},
		.tensor_active = NONE,
		.dram_active = {0.5, 1.0},
		.verdict = "memory_bound",
		.streams = 1,
		.shape = ceil_util_shape_stream,
		STEP(stream),
	},
	{
		.name = "gemm_stall_20ms",
		.title = "a matrix product, then the host stalls for 20 ms",
		.lesson = "A starved input pipeline: the GPU computes for a fifteenth of "
			  "the time. GPU-Util below 50 % is a valid alarm.",
		.more = "Each step is one bf16 product of 8192^3 and a pause of the host, as when "
			"the next batch is not ready. Load data in more workers, pin memory, "
			"prefetch, move the preparation to the GPU.",
		.flops_ceiling = "gemm.bf16.sustained",
		.gpu_util = {0.02, 0.3},
		.sm_active = {0.02, 0.3},
		.tensor_active = {0.01, 0.3},
		.dram_active = ANY,
		.verdict = "starved",
		.streams = 1,
		.stall_ns = 20000000,
		.shape = ceil_util_shape_gemm,
		STATE(gemm),
		STEP(one_gemm),
	},
	{
		.name = "gemm_stall_5ms",
		.title = "a matrix product, then the host stalls for 5 ms",
		.lesson = "A starved input pipeline: the GPU waits most of the time. This is the "
			  "one case that GPU-Util does show: low is bad, high proves nothing.",
		.more = "Each step is one bf16 product of 8192^3 and a pause of the host, as when "
			"the next batch is not ready. Load data in more workers, pin memory, "
			"prefetch, move the preparation to the GPU.",
		.flops_ceiling = "gemm.bf16.sustained",
		.tour = true,
		.gpu_util = {0.05, 0.5},
		.sm_active = {0.05, 0.5},
		.tensor_active = {0.05, 0.5},
		.dram_active = ANY,
		.verdict = "starved",
		.streams = 1,
		.stall_ns = 5000000,
		.shape = ceil_util_shape_gemm,
		STATE(gemm),
		STEP(one_gemm),
	},
	{
		.name = "gemm_stall_1ms",
		.title = "a matrix product, then the host stalls for 1 ms",
		.lesson = "A pause of a millisecond in each step costs a third of the rate. Below "
			  "80 % GPU-Util there is a bottleneck outside of the kernels.",
		.more = "Each step is one bf16 product of 8192^3 and a pause of the host, as when "
			"the next batch is not ready. Load data in more workers, pin memory, "
			"prefetch, move the preparation to the GPU.",
		.flops_ceiling = "gemm.bf16.sustained",
		.gpu_util = {0.2, 0.95},
		.sm_active = {0.2, 0.95},
		.tensor_active = {0.2, 0.95},
		.dram_active = ANY,
		.streams = 1,
		.stall_ns = 1000000,
		.shape = ceil_util_shape_gemm,
		STATE(gemm),
		STEP(one_gemm),
	},
	{
		.name = "copy_then_compute",
		.title = "each product waits for the copy of its data",
		.lesson = "Copies and kernels in turn: GPU-Util is 100 %, and half of the time the "
			  "multiprocessors wait for the link.",
		.more = "A copy of 88 MiB from pinned memory and then a product of 8192^3, on one "
			"stream. Both take about as long, and the GPU does one at a time. Compare "
			"with copy_while_compute.",
		.flops_ceiling = "gemm.bf16.sustained",
		.bytes_ceiling = "h2d.pinned",
		.gpu_util = FULL,
		.sm_active = {0.2, 0.8},
		.tensor_active = {0.2, 0.8},
		.dram_active = ANY,
		.streams = 1,
		.shape = ceil_util_shape_copy_gemm,
		STATE(gemm),
		STEP(copy_then_gemm),
	},
	{
		.name = "copy_while_compute",
		.title = "copies on their own stream, beside the products",
		.lesson = "The same work, overlapped: the copy of the next batch runs beside the "
			  "product of this one, and the rate of products nearly doubles. GPU-Util "
			  "is 100 % as before.",
		.more = "A copy of 88 MiB from pinned memory on one stream, a product of 8192^3 on "
			"another. non_blocking copies from pinned memory and a stream of their own "
			"do it in PyTorch.",
		.flops_ceiling = "gemm.bf16.sustained",
		.bytes_ceiling = "h2d.pinned",
		.gpu_util = FULL,
		.sm_active = {0.5, 1.0},
		.tensor_active = {0.4, 1.0},
		.dram_active = ANY,
		.streams = 2,
		.shape = ceil_util_shape_copy_gemm,
		STATE(gemm),
		STEP(copy_beside_gemm),
	},
	{
		.name = "gemm",
		.title = "bf16 matrix products of 8192^3, without a pause",
		.lesson = "The real thing: GPU-Util 100 %, as for one warp that spins; but tensor "
			  "cores active, power at its limit, and the achieved rate at the ceiling "
			  "that was measured.",
		.more = "Products in a loop, random data. The clock falls because the power limit "
			"holds it down: that is the normal state of a GPU that works, and why the "
			"sustained ceiling, not the datasheet, is what to tune against.",
		.flops_ceiling = "gemm.bf16.sustained",
		.tour = true,
		.gpu_util = FULL,
		.sm_active = {0.85, 1.0},
		.tensor_active = {0.5, 1.0},
		.dram_active = ANY,
		.verdict = "well_fed",
		.streams = 1,
		.shape = ceil_util_shape_gemm,
		STATE(gemm),
		STEP(gemms),
	},
};

const size_t ceil_scenario_count = sizeof(ceil_scenarios) / sizeof(ceil_scenarios[0]);
