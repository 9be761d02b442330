/* Tests of the hostcopy bench: its table, sizes and nodes, work, and a check that sees each bit. */
#include "bench/hostcopy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/device/cuda_copy.h"
#include "harness/device/host.h"
#include "tests/bench_bed.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { SEED = 3 };

static const struct ceil_bench *const bench = &ceil_hostcopy_bench;

/* An H200 beside node 1 of two, and one in a virtual machine, where nobody knows. */
static const struct ceil_device_props beside = {
	.sm_count = 132, .free_bytes = 84 * GIB, .numa_node = 1, .host_nodes = 3};
static const struct ceil_device_props somewhere = {
	.sm_count = 132, .free_bytes = 84 * GIB, .numa_node = -1, .host_nodes = 1};

static struct ceil_point point(const char *name, const char *cas)
{
	return (struct ceil_point){
		.bench = bench, .variant = bed_variant(bench, name), .cas = bed_case(bench, cas)};
}

static bool runs_on(const struct ceil_variant *v, const struct ceil_case *c)
{
	return !c->backend || strcmp(c->backend, v->backend) == 0;
}

/* ---- the table */

static void lint_point(const struct ceil_point *p)
{
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {0};
	struct ceil_work w = {0};
	struct ceil_error err = {CEIL_OK, ""};
	const bool self = p->variant->timing == CEIL_TIME_SELF;

	if (!ok(bench->shape(p, &beside, &l, buf, &err) == CEIL_OK, "%s %s: a shape %s",
	        p->variant->name, p->cas->name, err.text))
		return;
	bench->work(p, &l, &w);
	ok(strcmp(p->variant->backend, "host") == 0 ? w.bytes_read == w.bytes_written
	                                            : w.bytes_wire >= 4096,
	   "%s %s: bytes cross", p->variant->name, p->cas->name);
	ok(l.self_count <= CEIL_MAX_TIMES && self == (l.self_count > 0),
	   "%s %s: %u times of its own", p->variant->name, p->cas->name, l.self_count);
	ok(l.k == 0 && l.m > 0, "%s %s: no GEMM", p->variant->name, p->cas->name);
}

static void lint_variant(const struct ceil_variant *v)
{
	const bool gpu = strcmp(v->backend, "cuda") == 0;
	bool quick = !v->quick;
	size_t cases = 0;

	for (size_t i = 0; i < bench->case_count; i++) {
		const struct ceil_point p = {.bench = bench, .variant = v, .cas = &bench->cases[i]};

		if (!runs_on(v, p.cas) || !bench->applies(&p, &beside))
			continue;
		cases++;
		quick |= p.cas->quick;
		lint_point(&p);
	}
	ok(cases > 0 && quick, "%s: %zu cases, a quick one if it is quick", v->name, cases);
	ok(v->doc && v->doc[0], "%s: says what it is", v->name);
	ok(v->launch || (v->why_not && gpu), "%s: a launcher or a reason", v->name);
	ok(v->tolerance > 0.0, "%s: a tolerance", v->name);
	ok(v->threads % 32 == 0 && !v->threads == !v->per_thread, "%s: whole warps", v->name);
	ok(!v->gated || v->timing == CEIL_TIME_MARKS, "%s: waits are not behind a gate", v->name);
	ok(!v->gated || !strstr(v->name, "pageable"), "%s: staging is not behind a gate", v->name);
}

static bool is_ceiling(const char *name)
{
	for (size_t i = 0; i < bench->variant_count; i++) {
		if (strcmp(bench->variants[i].ceiling, name) == 0)
			return true;
	}
	return false;
}

static void test_table(void)
{
	for (size_t i = 0; i < bench->variant_count; i++) {
		const struct ceil_variant *v = &bench->variants[i];
		bool twice = false;

		lint_variant(v);
		for (size_t k = 0; k < i; k++)
			twice |= strcmp(bench->variants[k].name, v->name) == 0;
		ok(!twice, "%s: its name is its own", v->name);
		ok(!v->versus || is_ceiling(v->versus), "%s: beside a ceiling of its bench",
		   v->name);
	}
}

static void test_sizes(void)
{
	uint64_t want = GIB;

	for (size_t i = 0; i < bench->case_count; i++) {
		const struct ceil_case *c = &bench->cases[i];

		if (strcmp(c->backend, "cuda") != 0 || c->axis[1] > 0)
			continue;
		is_u64(c->axis[0], want, c->name);
		want /= 2;
	}
	is_u64(want, 2048, "all powers of two from 1 GiB down to 4 KiB");
}

/* ---- shapes */

struct shape {
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	struct ceil_remark remark;
};

static struct shape shape_of(const char *name, const char *cas, const struct ceil_device_props *d)
{
	const struct ceil_point p = point(name, cas);
	struct shape s = {.remark = {.host_node = -1}};
	struct ceil_error err = {CEIL_OK, ""};

	ok(bench->shape(&p, d, &s.l, s.buf, &err) == CEIL_OK, "%s %s %s", name, cas, err.text);
	bench->remark(&p, d, &s.l, s.buf, &s.remark);
	return s;
}

static void test_roles(void)
{
	struct shape s = shape_of("h2d.ce.pinned", "1MiB", &somewhere);

	is_int(s.buf[CEIL_COPY_HOST].role, CEIL_INPUT, "from the host");
	is_int(s.buf[CEIL_COPY_HOST].memory, CEIL_MEM_PINNED, "from pinned memory");
	is_int(s.buf[CEIL_COPY_DEVICE].role, CEIL_OUTPUT, "to the device");
	is_u64(s.buf[CEIL_COPY_BACK_HOST].bytes, 0, "nothing back");
	is_u64(s.l.m, MIB, "a mebibyte");
	s = shape_of("d2h.curve.pageable", "1MiB", &somewhere);
	is_int(s.buf[CEIL_COPY_HOST].role, CEIL_OUTPUT, "to the host");
	is_int(s.buf[CEIL_COPY_HOST].memory, CEIL_MEM_PAGEABLE, "to pageable memory");
	is_u64(s.l.self_count, 64, "64 copies of 1 MiB, each timed");
	has_text(s.remark.note, "stage", "a note that it is staged");
	s = shape_of("d2h.each.pageable", "1GiB", &somewhere);
	is_u64(s.l.self_count, 1, "one copy of 1 GiB");
	s = shape_of("h2d.each.pinned", "4KiB", &somewhere);
	is_u64(s.l.self_count, 1000, "a thousand latencies");
	s = shape_of("h2d.sm.x4.mapped", "512MiB", &somewhere);
	is_u64(s.l.blocks, UINT64_C(4) * 132, "four blocks a SM loop over 512 MiB");
	s = shape_of("h2d.sm.x4.mapped", "64KiB", &somewhere);
	is_u64(s.l.blocks, 4, "and four in all over 64 KiB");
}

static void test_both(void)
{
	const struct ceil_point p = point("both.ce.pinned", "16MiB");
	struct shape s = shape_of("both.ce.pinned", "16MiB", &somewhere);
	struct ceil_work w;

	is_u64(s.l.n, 4, "four copies of 16 MiB each way");
	is_u64(s.buf[CEIL_COPY_BACK_HOST].bytes, 16 * MIB, "into memory of its own");
	is_int(s.buf[CEIL_COPY_BACK_DEVICE].role, CEIL_INPUT, "from the device");
	bench->work(&p, &s.l, &w);
	is_close(w.bytes_wire, 128.0 * MIB, 0, "both ways count");
	is_close(w.items, 8, 0, "as eight copies");
	s = shape_of("both.ce.pinned", "1GiB", &somewhere);
	is_u64(s.l.n, 1, "one of 1 GiB each way");
	s = shape_of("both.ce.pinned", "4KiB", &somewhere);
	is_u64(s.l.n, 64, "at most 64");
}

static void test_nodes(void)
{
	struct shape s = shape_of("h2d.ce.pinned", "1MiB", &beside);

	is_int(s.buf[CEIL_COPY_HOST].numa_node, 1, "memory goes to the GPU's node");
	is_text(s.remark.locality, "near", "which is near");
	is_int(s.remark.host_node, 1, "and named");
	s = shape_of("h2d.ce.pinned", "512MiB@node0", &beside);
	is_int(s.buf[CEIL_COPY_HOST].numa_node, 0, "or to the one that is asked for");
	is_text(s.remark.locality, "far", "which is far");
	s = shape_of("h2d.ce.wc", "1MiB", &beside);
	is_int(s.buf[CEIL_COPY_HOST].numa_node, -1, "write-combined memory is CUDA's to place");
	is_text(s.remark.locality, "unknown", "nobody knows where");
	s = shape_of("h2d.ce.pinned", "1MiB", &somewhere);
	is_int(s.buf[CEIL_COPY_HOST].numa_node, -1, "one node: memory goes anywhere");
	is_text(s.remark.locality, "unknown", "a virtual machine does not tell where the GPU is");
}

static bool applies(const char *name, const char *cas, const struct ceil_device_props *d)
{
	const struct ceil_point p = point(name, cas);

	return bench->applies(&p, d);
}

static void test_applies(void)
{
	const struct ceil_device_props node0 = {.numa_node = 0, .host_nodes = 3};

	ok(applies("h2d.ce.pinned", "512MiB@node0", &beside), "every node in turn");
	ok(applies("h2d.ce.pinned", "512MiB@node1", &beside), "the near one too");
	ok(!applies("h2d.ce.pinned", "512MiB@node2", &beside), "but none that is not there");
	ok(!applies("h2d.ce.pinned", "512MiB@node0", &somewhere), "nor the only one");
	ok(!applies("h2d.ce.pinned", "512MiB@node0", NULL), "nor without a device");
	ok(!applies("h2d.ce.wc", "512MiB@node0", &beside), "nor what cannot be placed");
	ok(applies("h2d.ce.pinned", "8KiB", NULL), "a sweep has all sizes");
	ok(!applies("h2d.sm.x1.mapped", "8KiB", NULL) && applies("h2d.sm.x1.mapped", "1MiB", NULL),
	   "others have some");
	ok(applies("h2d.each.pageable", "512MiB", NULL) &&
	           !applies("h2d.each.pageable", "256MiB", NULL),
	   "what the host stages competes where its caches are too small");
	ok(!applies("h2d.curve.pageable", "512MiB", NULL) &&
	           applies("h2d.curve.pageable", "256MiB", NULL),
	   "and has a curve below");
	ok(applies("h2d.each.pageable", "512MiB@node0", &beside) &&
	           !applies("h2d.curve.pageable", "512MiB@node0", &beside),
	   "on every node");
	ok(applies("h2d.each.pinned", "4KiB", NULL) && !applies("h2d.each.pinned", "8KiB", NULL),
	   "latencies the smallest");
	ok(applies("memcpy.threads", "4xLLC", &node0), "the host within a node");
	ok(applies("memcpy.threads", "4xLLC@node1", &node0), "and to another");
	ok(!applies("memcpy.threads", "4xLLC@node0", &node0), "but not to itself");
	ok(!applies("memcpy.threads", "4xLLC@node0", &somewhere), "nor from everywhere");
}

static void test_refused(void)
{
	const struct ceil_case odd = {.name = "odd", .axis = {5002, 0}};
	struct ceil_device_props d = somewhere;
	struct ceil_point p = point("both.ce.pinned", "1GiB");
	struct ceil_buffer buf[CEIL_MAX_BUFS];
	struct ceil_launch l;
	struct ceil_error err;

	d.free_bytes = 2 * GIB - 1;
	is_int(bench->shape(&p, &d, &l, buf, &err), CEIL_E_NOMEM, "too little memory");
	has_text(err.text, "2 GiB", "says how much is needed");
	p.cas = &odd;
	is_int(bench->shape(&p, &somewhere, &l, buf, &err), CEIL_E_USAGE, "5002 bytes");
	has_text(err.text, "5002", "are refused");
	p = point("memcpy.threads", "4xLLC");
	d = (struct ceil_device_props){.llc_bytes = 480 * MIB, .free_bytes = 3 * GIB};
	is_int(bench->shape(&p, &d, &l, buf, &err), CEIL_E_NOMEM, "caches of 480 MiB");
	has_text(err.text, "3.8 GiB", "need arrays of 1.9 GiB");
}

/* ---- the host's twin, and the check */

static void test_host_variant(struct ceil_device *dev, const char *name, uint64_t bytes)
{
	const struct ceil_point p = point(name, "4xLLC");
	const struct ceil_backend *b = dev->backend;
	struct ceil_buffer buf[CEIL_MAX_BUFS] = {{0}};
	struct ceil_launch l = {.m = bytes};
	struct ceil_error err = {CEIL_OK, ""};
	unsigned char *to;

	for (int i = 0; i < 2; i++) {
		buf[i] = (struct ceil_buffer){CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, -1, bytes};
		ok(b->alloc(dev, &buf[i], &l.buf[i], &err) == CEIL_OK &&
		           b->fill(dev, &buf[i], l.buf[i], i, i ? CEIL_POISON : CEIL_NORMAL, SEED,
		                   &err) == CEIL_OK,
		   "%s: memory %s", name, err.text);
	}
	to = l.buf[1];
	is_int(b->bind(dev, &l, &err), CEIL_OK, "threads");
	is_int(bench->check(&p, dev, &l, buf, SEED, &err), CEIL_E_WRONG, "poison is no copy");
	has_text(err.text, name, "the error names the variant");
	is_int(p.variant->launch(&l, &err), CEIL_OK, name);
	is_int(bench->check(&p, dev, &l, buf, SEED, &err), CEIL_OK, "every byte");
	to[bytes - 1] ^= 1;
	is_int(bench->check(&p, dev, &l, buf, SEED, &err), CEIL_E_WRONG, "the last bit is seen");
	for (int i = 0; i < 2; i++)
		b->free(dev, &buf[i], l.buf[i]);
}

static void test_host(void)
{
	struct ceil_device *dev = NULL;
	struct ceil_error err;

	if (!ok(ceil_host_backend.open(0, &dev, &err) == CEIL_OK, "the host opens"))
		return;
	test_host_variant(dev, "memcpy.threads", 1 << 20);
	test_host_variant(dev, "memcpy.threads", 4092);
	test_host_variant(dev, "memcpy.one", 40000);
	dev->backend->close(dev);
}

int main(void)
{
	test_table();
	test_sizes();
	test_roles();
	test_both();
	test_nodes();
	test_applies();
	test_refused();
	test_host();
	return done_testing();
}
