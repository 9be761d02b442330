/* The hostcopy bench: how fast data crosses between host and GPU, by size, memory, path and node.
 */
#include "bench/hostcopy.h"

#include <string.h>

#include "harness/base/text.h"
#include "harness/device/cuda_copy.h"
#ifdef CEIL_HAVE_CUDA
#include "kernels/dram.h"
#endif

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* Where the caches are unknown or small, host arrays are no smaller than this. */
#define LEAST_BYTES (128 * MIB)

/* A launch of small copies does many: as many as make this, at most MANY. */
#define TOGETHER_BYTES (64 * MIB)

/* The last-level caches of two sockets, 384 MiB each at most in 2026, hold no copy of this. */
#define LARGE_BYTES (512 * MIB)

enum { MANY = 64, SMALLEST = 4096, VECTOR_BYTES = 16 };

enum axis { BYTES, NODE };

/* ---- what the variants do */

enum way { TO_DEVICE, TO_HOST, BOTH, WITHIN };
/*
 * SWEEP: all sizes, and all nodes. SOME: a few of the sizes. TINY: the smallest. LARGE: those that
 * no cache of a host holds, and all nodes; a CPU that stages reads its caches faster than memory.
 * CURVE: the sizes that LARGE leaves out.
 */
enum reach { SWEEP, SOME, TINY, LARGE, CURVE };

struct form {
	const char *name;
	enum way way;
	enum ceil_memory memory; /* of the host's side */
	enum reach reach;
	const char *note;
};

#define STAGED                                                                                     \
	"the driver stages it through its own pinned buffers: value is that rate, versus_value "   \
	"what pinned memory gives"
#define IN_PLACE "kernels reach the host's memory in place, no copy engine works"
#define SUM      "the sum of both directions"

static const struct form forms[] = {
	{"h2d.ce.pinned", TO_DEVICE, CEIL_MEM_PINNED, SWEEP, ""},
	{"h2d.ce.wc", TO_DEVICE, CEIL_MEM_PINNED_WC, SOME, ""},
	{"d2h.ce.pinned", TO_HOST, CEIL_MEM_PINNED, SWEEP, ""},
	{"d2h.ce.wc", TO_HOST, CEIL_MEM_PINNED_WC, SOME, ""},
	{"both.ce.pinned", BOTH, CEIL_MEM_PINNED, SWEEP, SUM},
	{"h2d.each.pinned", TO_DEVICE, CEIL_MEM_PINNED, TINY, ""},
	{"d2h.each.pinned", TO_HOST, CEIL_MEM_PINNED, TINY, ""},
	{"h2d.sm.x4.mapped", TO_DEVICE, CEIL_MEM_MAPPED, SOME, IN_PLACE},
	{"h2d.sm.x1.mapped", TO_DEVICE, CEIL_MEM_MAPPED, SOME, IN_PLACE},
	{"d2h.sm.x4.mapped", TO_HOST, CEIL_MEM_MAPPED, SOME, IN_PLACE},
	{"d2h.sm.x1.mapped", TO_HOST, CEIL_MEM_MAPPED, SOME, IN_PLACE},
	{"h2d.each.pageable", TO_DEVICE, CEIL_MEM_PAGEABLE, LARGE, STAGED},
	{"d2h.each.pageable", TO_HOST, CEIL_MEM_PAGEABLE, LARGE, STAGED},
	{"h2d.curve.pageable", TO_DEVICE, CEIL_MEM_PAGEABLE, CURVE, STAGED},
	{"d2h.curve.pageable", TO_HOST, CEIL_MEM_PAGEABLE, CURVE, STAGED},
	{"memcpy.threads", WITHIN, CEIL_MEM_PAGEABLE, SOME, ""},
	{"memcpy.one", WITHIN, CEIL_MEM_PAGEABLE, SOME, ""},
};

static const struct form *form_of(const struct ceil_variant *v)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, v->name) == 0)
			return &forms[i];
	}
	return NULL;
}

/* ---- nodes */

static bool has_node(const struct ceil_device_props *d, int node)
{
	return node >= 0 && node < 64 && (d->host_nodes >> node & 1u);
}

static bool has_nodes(const struct ceil_device_props *d)
{
	return (d->host_nodes & (d->host_nodes - 1)) != 0;
}

static int node_of_case(const struct ceil_case *cas)
{
	return (int)cas->axis[NODE] - 1;
}

/* Where the host's memory goes: on the node of the case, else on the GPU's own; -1: anywhere. */
static int node_for(const struct ceil_point *p, const struct ceil_device_props *d)
{
	if (form_of(p->variant)->memory == CEIL_MEM_PINNED_WC)
		return -1;
	if (node_of_case(p->cas) >= 0)
		return node_of_case(p->cas);
	return has_nodes(d) && has_node(d, d->numa_node) ? d->numa_node : -1;
}

/* On a machine with one node all memory is near, if the system tells that the GPU is on it. */
static const char *locality(const struct ceil_device_props *d, int node)
{
	if (d->numa_node < 0 || (node < 0 && has_nodes(d)))
		return "unknown";
	return node < 0 || node == d->numa_node ? "near" : "far";
}

/* ---- shape */

static struct ceil_buffer buffer_of(enum ceil_memory memory, enum ceil_role role, int node,
                                    uint64_t bytes)
{
	return (struct ceil_buffer){.memory = memory,
	                            .role = role,
	                            .dtype = CEIL_FP32,
	                            .numa_node = node,
	                            .bytes = bytes};
}

static enum ceil_status shape_memcpy(const struct ceil_point *p, const struct ceil_device_props *d,
                                     struct ceil_launch *ret_l, struct ceil_buffer *ret_buf,
                                     struct ceil_error *err)
{
	const uint64_t cache = (4 * d->llc_bytes + MIB - 1) / MIB * MIB;
	const uint64_t least = cache > LEAST_BYTES ? cache : LEAST_BYTES;
	const uint64_t bytes = p->cas->axis[BYTES] ? p->cas->axis[BYTES] : least;

	if (d->free_bytes / 2 < bytes) {
		return ceil_bench_no_room(
			d, p->variant->ceiling, 2 * bytes,
			p->cas->axis[BYTES] ? "twice the size" : "twice four times the cache", err);
	}
	ret_l->m = bytes;
	ret_buf[0] = buffer_of(CEIL_MEM_DEVICE, CEIL_INPUT, -1, bytes);
	ret_buf[1] = buffer_of(CEIL_MEM_DEVICE, CEIL_OUTPUT, node_of_case(p->cas), bytes);
	return CEIL_OK;
}

static enum ceil_status check_bytes(const struct ceil_point *p, const struct ceil_device_props *d,
                                    struct ceil_error *err)
{
	const uint64_t pairs = form_of(p->variant)->way == BOTH ? 2 : 1;
	const uint64_t bytes = p->cas->axis[BYTES];

	if (bytes == 0 || bytes % VECTOR_BYTES != 0)
		return ceil_fail(err, CEIL_E_USAGE,
		                 "copies of %llu bytes: multiples of 16 can be asked for",
		                 (unsigned long long)bytes);
	if (bytes <= d->free_bytes / pairs)
		return CEIL_OK;
	return ceil_bench_no_room(d, p->variant->ceiling, pairs * bytes, /* why= */ NULL, err);
}

static uint32_t many(uint64_t bytes)
{
	const uint64_t n = TOGETHER_BYTES / bytes;

	return n < 1 ? 1 : n > MANY ? MANY : (uint32_t)n;
}

static void shape_launch(const struct ceil_point *p, const struct ceil_device_props *d,
                         struct ceil_launch *ret_l)
{
	const struct ceil_variant *v = p->variant;
	const struct form *f = form_of(v);
	const uint64_t bytes = p->cas->axis[BYTES];
	const uint64_t span = (uint64_t)v->threads * v->per_thread * 16;

	ret_l->m = bytes;
	ret_l->n = f->way == BOTH ? many(bytes) : 1;
	if (v->timing == CEIL_TIME_SELF)
		ret_l->self_count = f->reach == TINY ? CEIL_MAX_TIMES : many(bytes);
	if (v->threads == 0)
		return;
	ret_l->threads = v->threads;
	ret_l->blocks = (uint32_t)((bytes + span - 1) / span);
	if (v->blocks_per_sm && ret_l->blocks > v->blocks_per_sm * (uint32_t)d->sm_count)
		ret_l->blocks = v->blocks_per_sm * (uint32_t)d->sm_count;
}

static enum ceil_status hostcopy_shape(const struct ceil_point *p,
                                       const struct ceil_device_props *d, struct ceil_launch *ret_l,
                                       struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                       struct ceil_error *err)
{
	const struct form *f = form_of(p->variant);
	const enum ceil_role host_role = f->way == TO_HOST ? CEIL_OUTPUT : CEIL_INPUT;
	const enum ceil_role device_role = f->way == TO_HOST ? CEIL_INPUT : CEIL_OUTPUT;
	const uint64_t bytes = p->cas->axis[BYTES];
	const uint64_t back = f->way == BOTH ? bytes : 0;
	int node;
	enum ceil_status st;

	if (f->way == WITHIN)
		return shape_memcpy(p, d, ret_l, ret_buf, err);
	st = check_bytes(p, d, err);
	if (st != CEIL_OK)
		return st;
	node = node_for(p, d);
	shape_launch(p, d, ret_l);
	ret_buf[CEIL_COPY_HOST] = buffer_of(f->memory, host_role, node, bytes);
	ret_buf[CEIL_COPY_DEVICE] = buffer_of(CEIL_MEM_DEVICE, device_role, -1, bytes);
	ret_buf[CEIL_COPY_BACK_HOST] = buffer_of(f->memory, CEIL_OUTPUT, node, back);
	ret_buf[CEIL_COPY_BACK_DEVICE] = buffer_of(CEIL_MEM_DEVICE, CEIL_INPUT, -1, back);
	return CEIL_OK;
}

/* A link counts what crosses it; the host's copy is read and written. */
static void hostcopy_work(const struct ceil_point *p, const struct ceil_launch *l,
                          struct ceil_work *ret_w)
{
	const struct form *f = form_of(p->variant);
	const double bytes = (double)l->m;
	const double copies = (double)l->n * (f->way == BOTH ? 2.0 : 1.0);

	if (f->way == WITHIN)
		*ret_w = (struct ceil_work){.bytes_read = bytes, .bytes_written = bytes};
	else
		*ret_w = (struct ceil_work){.bytes_wire = copies * bytes, .items = copies};
}

static bool some_size(uint64_t bytes)
{
	static const uint64_t sizes[] = {512 * MIB, 16 * MIB, MIB, 64 * KIB};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] == bytes)
			return true;
	}
	return false;
}

static bool reaches(enum reach reach, uint64_t bytes)
{
	switch (reach) {
	case SOME:
		return some_size(bytes);
	case TINY:
		return bytes == SMALLEST;
	case LARGE:
		return bytes >= LARGE_BYTES;
	case CURVE:
		return bytes < LARGE_BYTES;
	default:
		return true;
	}
}

static bool everywhere(enum reach reach)
{
	return reach == SWEEP || reach == LARGE;
}

static bool hostcopy_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	const struct form *f = form_of(p->variant);
	const int node = node_of_case(p->cas);

	/* A copy from a node to itself, or from all nodes to one, says nothing new. */
	if (f->way == WITHIN)
		return node < 0 ||
		       (d && d->numa_node >= 0 && node != d->numa_node && has_node(d, node));
	if (node >= 0)
		return d && has_nodes(d) && has_node(d, node) && everywhere(f->reach);
	return (p->apart && f->reach != CURVE) || reaches(f->reach, p->cas->axis[BYTES]);
}

/* ---- state */

static enum ceil_status hostcopy_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                         struct ceil_launch *l, uint32_t *ret_candidates,
                                         struct ceil_error *err)
{
	*ret_candidates = 1;
	if (form_of(p->variant)->way == WITHIN)
		return CEIL_OK;
#ifdef CEIL_HAVE_CUDA
	struct ceil_launch_state *state = NULL;
	const enum ceil_status st = ceil_cuda_copy_open(dev, node_for(p, &dev->props), &state, err);

	l->state = state;
	return st;
#else
	(void)dev;
	(void)l;
	return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s: this build has no CUDA", p->variant->name);
#endif
}

static void hostcopy_release(struct ceil_launch *l)
{
	ceil_launch_state_close(l->state);
	l->state = NULL;
}

static void hostcopy_remark(const struct ceil_point *p, const struct ceil_device_props *d,
                            const struct ceil_launch *l, const struct ceil_buffer *buf,
                            struct ceil_remark *ret_remark)
{
	const struct form *f = form_of(p->variant);
	const int node = f->way == WITHIN ? buf[1].numa_node : buf[CEIL_COPY_HOST].numa_node;

	(void)l;
	ret_remark->host_node = node;
	ceil_copy(ret_remark->note, sizeof(ret_remark->note), f->note);
	if (f->way != WITHIN)
		ceil_copy(ret_remark->locality, sizeof(ret_remark->locality), locality(d, node));
	else if (d->numa_node >= 0)
		ceil_copy(ret_remark->locality, sizeof(ret_remark->locality),
		          node < 0 ? "near" : "far");
}

/* ---- check */

/* Both sides must have the same bits, whatever they are. */
static enum ceil_status compare(const struct ceil_point *p, struct ceil_device *dev,
                                const struct ceil_launch *l, const struct ceil_buffer *buf,
                                int from, int to, struct ceil_error *err)
{
	uint64_t want = 0;
	uint64_t got = 0;
	enum ceil_status st = dev->backend->hash(dev, &buf[from], l->buf[from], &want, err);

	if (st == CEIL_OK)
		st = dev->backend->hash(dev, &buf[to], l->buf[to], &got, err);
	if (st == CEIL_OK && got != want)
		st = ceil_fail(err, CEIL_E_WRONG,
		               "%s: the hash of the copied %llu bytes is %016llx, expected %016llx",
		               p->variant->name, (unsigned long long)l->m, (unsigned long long)got,
		               (unsigned long long)want);
	return st;
}

static enum ceil_status hostcopy_check(const struct ceil_point *p, struct ceil_device *dev,
                                       const struct ceil_launch *l,
                                       const struct ceil_buffer buf[CEIL_MAX_BUFS], uint64_t seed,
                                       struct ceil_error *err)
{
	const enum way way = form_of(p->variant)->way;
	enum ceil_status st;

	(void)seed;
	if (way == TO_HOST)
		return compare(p, dev, l, buf, CEIL_COPY_DEVICE, CEIL_COPY_HOST, err);
	st = compare(p, dev, l, buf, CEIL_COPY_HOST, CEIL_COPY_DEVICE, err);
	if (st == CEIL_OK && way == BOTH)
		st = compare(p, dev, l, buf, CEIL_COPY_BACK_DEVICE, CEIL_COPY_BACK_HOST, err);
	return st;
}

/* ---- copies by kernels: the streaming kernels take A and C where they are */

#ifdef CEIL_HAVE_CUDA
static enum ceil_status copy_by(ceil_launch_fn kernel, int from, int to,
                                const struct ceil_launch *l, struct ceil_error *err)
{
	struct ceil_launch k = *l;

	k.n = l->m / sizeof(float);
	k.buf[0] = l->buf[from];
	k.buf[2] = l->buf[to];
	return kernel(&k, err);
}

static enum ceil_status sm_h2d_x4(const struct ceil_launch *l, struct ceil_error *err)
{
	return copy_by(ceil_dram_copy_plain_x4_fp32, CEIL_COPY_HOST, CEIL_COPY_DEVICE, l, err);
}

static enum ceil_status sm_h2d_x1(const struct ceil_launch *l, struct ceil_error *err)
{
	return copy_by(ceil_dram_copy_plain_x1_fp32, CEIL_COPY_HOST, CEIL_COPY_DEVICE, l, err);
}

static enum ceil_status sm_d2h_x4(const struct ceil_launch *l, struct ceil_error *err)
{
	return copy_by(ceil_dram_copy_plain_x4_fp32, CEIL_COPY_DEVICE, CEIL_COPY_HOST, l, err);
}

static enum ceil_status sm_d2h_x1(const struct ceil_launch *l, struct ceil_error *err)
{
	return copy_by(ceil_dram_copy_plain_x1_fp32, CEIL_COPY_DEVICE, CEIL_COPY_HOST, l, err);
}
#endif

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"bytes", "bytes", "of each copy; on the host 0: four times the last-level cache"},
	{"node", "", "1 + the NUMA node of the host's memory; 0: the GPU's own"},
};

#define ON_NODE(n)                                                                                 \
	{"512MiB@node" #n, "cuda", false, {512 * MIB, 1 + n}},                                     \
	{                                                                                          \
		"4xLLC@node" #n, "host", false,                                                    \
		{                                                                                  \
			0, 1 + n                                                                   \
		}                                                                                  \
	}

/* The largest first: the same memory then serves all of them. */
static const struct ceil_case cases[] = {
	{"1GiB", "cuda", false, {GIB, 0}},
	{"512MiB", "cuda", true, {512 * MIB, 0}},
	{"256MiB", "cuda", false, {256 * MIB, 0}},
	{"128MiB", "cuda", false, {128 * MIB, 0}},
	{"64MiB", "cuda", false, {64 * MIB, 0}},
	{"32MiB", "cuda", false, {32 * MIB, 0}},
	{"16MiB", "cuda", true, {16 * MIB, 0}},
	{"8MiB", "cuda", false, {8 * MIB, 0}},
	{"4MiB", "cuda", false, {4 * MIB, 0}},
	{"2MiB", "cuda", false, {2 * MIB, 0}},
	{"1MiB", "cuda", true, {MIB, 0}},
	{"512KiB", "cuda", false, {512 * KIB, 0}},
	{"256KiB", "cuda", false, {256 * KIB, 0}},
	{"128KiB", "cuda", false, {128 * KIB, 0}},
	{"64KiB", "cuda", true, {64 * KIB, 0}},
	{"32KiB", "cuda", false, {32 * KIB, 0}},
	{"16KiB", "cuda", false, {16 * KIB, 0}},
	{"8KiB", "cuda", false, {8 * KIB, 0}},
	{"4KiB", "cuda", true, {4 * KIB, 0}},
	{"4xLLC", "host", true, {0, 0}},
	ON_NODE(0),
	ON_NODE(1),
	ON_NODE(2),
	ON_NODE(3),
	ON_NODE(4),
	ON_NODE(5),
	ON_NODE(6),
	ON_NODE(7),
};

#define TYPES                                                                                      \
	{                                                                                          \
		CEIL_NODTYPE, CEIL_NODTYPE, CEIL_NODTYPE, CEIL_NODTYPE                             \
	}
#define COPY(name_, ceiling_, launcher, is_quick, ...)                                             \
	{                                                                                          \
		.name = name_, .backend = "cuda", .ceiling = ceiling_, .unit = CEIL_GB_S,          \
		.types = TYPES, .resource = CEIL_R_HOSTLINK, .timing = CEIL_TIME_MARKS,            \
		CEIL_IF_CUDA(launcher), .quick = is_quick, .tolerance = 0.01, __VA_ARGS__          \
	}
#define EACH(name_, ceiling_, launcher, unit_, resource_, ...)                                     \
	{                                                                                          \
		.name = name_, .backend = "cuda", .ceiling = ceiling_, .unit = CEIL_##unit_,       \
		.types = TYPES, .resource = CEIL_R_##resource_, .timing = CEIL_TIME_SELF,          \
		CEIL_IF_CUDA(launcher), .quick = true, .tolerance = 0.05, __VA_ARGS__              \
	}
#define HOST(name_, launcher, is_quick, ...)                                                       \
	{                                                                                          \
		.name = name_, .backend = "host", .ceiling = "host.memcpy", .unit = CEIL_GB_S,     \
		.types = TYPES, .resource = CEIL_R_DRAM, .timing = CEIL_TIME_MARKS,                \
		.launch = launcher, .quick = is_quick, .pattern = CEIL_INTEGERS,                   \
		.tolerance = 0.05, __VA_ARGS__                                                     \
	}

static const struct ceil_variant variants[] = {
	COPY("h2d.ce.pinned", "h2d.pinned", ceil_cuda_copy_h2d, true, .gated = true,
             .doc = "cudaMemcpyAsync from pinned memory"),
	COPY("h2d.ce.wc", "h2d.pinned", ceil_cuda_copy_h2d, false, .gated = true, .beside = true,
             .doc = "cudaMemcpyAsync from write-combined pinned memory"),
	COPY("d2h.ce.pinned", "d2h.pinned", ceil_cuda_copy_d2h, true, .gated = true,
             .doc = "cudaMemcpyAsync into pinned memory"),
	COPY("d2h.ce.wc", "d2h.pinned", ceil_cuda_copy_d2h, false, .gated = true, .beside = true,
             .doc = "cudaMemcpyAsync into write-combined pinned memory"),
	COPY("both.ce.pinned", "bidi.pinned", ceil_cuda_copy_both, true, .both_ways = true,
             .doc = "cudaMemcpyAsync both ways at once, on two streams, pinned memory"),
	EACH("h2d.each.pinned", "h2d.latency", ceil_cuda_copy_h2d_each, US, LATENCY,
             .doc = "one copy of 4 KiB from pinned memory and its end, by the host's clock"),
	EACH("d2h.each.pinned", "d2h.latency", ceil_cuda_copy_d2h_each, US, LATENCY,
             .doc = "one copy of 4 KiB into pinned memory and its end, by the host's clock"),
	COPY("h2d.sm.x4.mapped", "h2d.mapped", sm_h2d_x4, false, .gated = true, .threads = 256,
             .per_thread = 4, .blocks_per_sm = 4, .versus = "h2d.pinned",
             .doc = "a kernel reads mapped memory, four vectors a thread at once"),
	COPY("h2d.sm.x1.mapped", "h2d.mapped", sm_h2d_x1, false, .gated = true, .threads = 256,
             .per_thread = 1, .versus = "h2d.pinned",
             .doc = "a kernel reads mapped memory, a vector a thread"),
	COPY("d2h.sm.x4.mapped", "d2h.mapped", sm_d2h_x4, false, .gated = true, .threads = 256,
             .per_thread = 4, .blocks_per_sm = 4, .versus = "d2h.pinned",
             .doc = "a kernel writes mapped memory, four vectors a thread"),
	COPY("d2h.sm.x1.mapped", "d2h.mapped", sm_d2h_x1, false, .gated = true, .threads = 256,
             .per_thread = 1, .versus = "d2h.pinned",
             .doc = "a kernel writes mapped memory, a vector a thread"),
	EACH("h2d.each.pageable", "h2d.pageable", ceil_cuda_copy_h2d_each, GB_S, HOSTLINK,
             .versus = "h2d.pinned",
             .doc = "cudaMemcpyAsync from memory of malloc, touched before"),
	EACH("d2h.each.pageable", "d2h.pageable", ceil_cuda_copy_d2h_each, GB_S, HOSTLINK,
             .versus = "d2h.pinned",
             .doc = "cudaMemcpyAsync into memory of malloc, touched before"),
	EACH("h2d.curve.pageable", "h2d.pageable", ceil_cuda_copy_h2d_each, GB_S, HOSTLINK,
             .versus = "h2d.pinned", .sweep = true,
             .doc = "the same for sizes that the host's caches may hold: no ceiling"),
	EACH("d2h.curve.pageable", "d2h.pageable", ceil_cuda_copy_d2h_each, GB_S, HOSTLINK,
             .versus = "d2h.pinned", .sweep = true,
             .doc = "the same for sizes that the host's caches may hold: no ceiling"),
	HOST("memcpy.threads", ceil_hostcopy_memcpy_threads, true,
             .doc = "memcpy by one pinned thread a core"),
	HOST("memcpy.one", ceil_hostcopy_memcpy_one, false, .beside = true,
             .doc = "memcpy by one thread"),
};

const struct ceil_bench ceil_hostcopy_bench = {
	.name = "hostcopy",
	.summary = "copies between host and GPU: pinned, pageable, mapped, both ways, by size",
	.doc = "Copies of 4 KiB to 1 GiB, host to device, device to host, and both at once (a "
	       "sum). One direction counts the bytes that cross the link; the host's memcpy "
	       "counts bytes read plus written. Pinned memory goes by the copy engines, mapped "
	       "memory by kernels, pageable memory through the driver's pinned buffers, one "
	       "copy at a time by the host's clock. Latencies are of 4 KiB, the 99th "
	       "percentile is time_p99_ns; half_size_bytes is where half of the rate is "
	       "reached. Copies in one direction are started ahead, those both ways as fast as "
	       "one thread can. With several NUMA nodes the memory lies on each in turn, near "
	       "or far of the GPU, and the thread on a core beside it. Theoretical: the link "
	       "as it is while it works, less line code and the headers of packets of 256 "
	       "bytes.",
	.source = "nvbandwidth 0.8 for the names of directions and paths; Hockney's n1/2",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.buf_count = CEIL_COPY_BUFFERS,
	.check_pattern = CEIL_INTEGERS,
	.check_first = true,
	.repeatable = true,
	.shape = hostcopy_shape,
	.work = hostcopy_work,
	.applies = hostcopy_applies,
	.prepare = hostcopy_prepare,
	.release = hostcopy_release,
	.remark = hostcopy_remark,
	.check = hostcopy_check,
};
