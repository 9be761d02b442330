/* Tests of the CUDA backend on a GPU: the contract, gate, clock, memory, dram forms, hangs. */
#include "bench/dram.h"
#include "harness/base/clock.h"
#include "harness/base/dtype.h"
#include "harness/base/value.h"
#include "harness/device/cuda.h"
#include "harness/device/topology.h"
#include "tests/conformance.h"
#include "tests/tap.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GIB        (UINT64_C(1) << 30)
#define TIMEOUT_NS (60 * (uint64_t)CEIL_NS_PER_S)

enum { SEED = 11 };

static const struct ceil_backend *const cuda = &ceil_cuda_backend;

/* Under a sanitizer every access costs a thousand times more, and a hang or fault is its to tell.
 */
static bool small(void)
{
	return getenv("GPUCEIL_TEST_SMALL") != NULL;
}

static struct ceil_device *open_gpu(void)
{
	struct ceil_device *dev = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (!ok(cuda->open(0, &dev, &err) == CEIL_OK, "device 0 opens: %s", err.text))
		exit(done_testing());
	return dev;
}

/* ---- who it is */

static bool is_lower(const char *text)
{
	for (; *text; text++) {
		if (isupper((unsigned char)*text))
			return false;
	}
	return true;
}

static void test_props(const struct ceil_device *dev)
{
	const struct ceil_device_props *p = &dev->props;

	is_text(p->label, "gpu0", "label");
	ok(strlen(p->uuid) == 40 && strncmp(p->uuid, "GPU-", 4) == 0 && is_lower(p->uuid + 4),
	   "uuid %s", p->uuid);
	ok(strlen(p->pci_bus_id) == 12 && is_lower(p->pci_bus_id), "PCI id %s", p->pci_bus_id);
	ok(p->cc_major * 10 + p->cc_minor >= 75, "capability %d.%d", p->cc_major, p->cc_minor);
	ok(p->l2_bytes >= 1 << 20 && p->llc_bytes == p->l2_bytes, "an L2 of %llu bytes",
	   (unsigned long long)p->l2_bytes);
	ok(p->free_bytes <= p->memory_bytes / 10 * 6,
	   "at most 60 %% of the memory is planned with");
	ok(p->max_sm_mhz > 500.0 && p->max_memory_mhz > 500.0, "clocks %g and %g MHz",
	   p->max_sm_mhz, p->max_memory_mhz);
	ok(p->memory_bus_bits >= 64 && p->copy_engines >= 1, "a bus of %d bits, %d copy engines",
	   p->memory_bus_bits, p->copy_engines);
	ok(p->driver[0], "driver %s", p->driver);
}

/* ---- memory of every kind holds the same bits */

static void test_memory_kind(struct ceil_device *dev, enum ceil_memory memory)
{
	enum { N = 100003 };
	const struct ceil_buffer b = {memory, CEIL_INPUT, CEIL_FP32, -1, N * sizeof(float)};
	struct ceil_error err = {CEIL_OK, ""};
	uint32_t *back = calloc(N, sizeof(*back));
	uint64_t hash = 0, want = 0, wrong = 0;
	void *ptr = NULL;

	ok(back && cuda->alloc(dev, &b, &ptr, &err) == CEIL_OK &&
	           cuda->fill(dev, &b, ptr, 1, CEIL_NORMAL, SEED, &err) == CEIL_OK &&
	           cuda->hash(dev, &b, ptr, &hash, &err) == CEIL_OK &&
	           cuda->read(dev, back, ptr, b.bytes, &err) == CEIL_OK,
	   "memory kind %d: filled, hashed, read %s", (int)memory, err.text);
	for (uint64_t i = 0; i < N; i++) {
		const uint64_t bits = ceil_element(CEIL_FP32, CEIL_NORMAL, SEED, 1, i);

		wrong += back[i] != bits;
		want += ceil_hash_term(bits, i);
	}
	is_u64(wrong, 0, "every element");
	is_u64(hash, want, "the hash");
	cuda->free(dev, &b, ptr);
	free(back);
}

/* Memory that is bound to a node of the host holds the same bits as any other. */
static void test_on_node(struct ceil_device *dev, enum ceil_memory memory)
{
	const struct ceil_topology *t = ceil_cuda_topology(dev);
	struct ceil_buffer b = {memory, CEIL_INPUT, CEIL_FP32, -1, 1 << 20};
	struct ceil_error err = {CEIL_OK, ""};
	uint64_t hash = 0, want = 0;
	void *ptr = NULL;

	if (!ok(t != NULL, "the host is known"))
		return;
	is_u64(dev->props.host_nodes, ceil_topology_nodes(t), "with its nodes");
	b.numa_node = t->node[0].node;
	if (cuda->alloc(dev, &b, &ptr, &err) == CEIL_E_UNSUPPORTED) {
		skip("memory on a node", err.text);
		return;
	}
	ok(ptr && cuda->fill(dev, &b, ptr, 1, CEIL_NORMAL, SEED, &err) == CEIL_OK &&
	           cuda->hash(dev, &b, ptr, &hash, &err) == CEIL_OK,
	   "memory kind %d on node %d %s", (int)memory, b.numa_node, err.text);
	for (uint64_t i = 0; i < b.bytes / 4; i++)
		want += ceil_hash_term(ceil_element(CEIL_FP32, CEIL_NORMAL, SEED, 1, i), i);
	is_u64(hash, want, "the hash");
	cuda->free(dev, &b, ptr);
}

static void test_memory(struct ceil_device *dev)
{
	struct ceil_buffer b = {CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, -1, 0};
	struct ceil_error err;
	void *ptr = NULL;

	for (unsigned m = CEIL_MEM_DEVICE; m <= CEIL_MEM_MAPPED; m++)
		test_memory_kind(dev, (enum ceil_memory)m);
	is_int(cuda->alloc(dev, &b, &ptr, &err), CEIL_E_USAGE, "0 bytes are refused");
	b = (struct ceil_buffer){CEIL_MEM_PINNED, CEIL_INPUT, CEIL_FP32, 999, 4096};
	is_int(cuda->alloc(dev, &b, &ptr, &err), CEIL_E_USAGE, "so is a NUMA node too many");
	b.memory = CEIL_MEM_PINNED_WC;
	is_int(cuda->alloc(dev, &b, &ptr, &err), CEIL_E_UNSUPPORTED, "CUDA places this itself");
	test_on_node(dev, CEIL_MEM_PINNED);
	test_on_node(dev, CEIL_MEM_MAPPED);
	test_on_node(dev, CEIL_MEM_PAGEABLE);
	b.numa_node = -1;
	b.dtype = CEIL_NODTYPE;
	b.memory = CEIL_MEM_DEVICE;
	ok(cuda->alloc(dev, &b, &ptr, &err) == CEIL_OK, "a page without a type");
	is_int(cuda->fill(dev, &b, ptr, 0, CEIL_ZEROS, SEED, &err), CEIL_E_USAGE, "has no fill");
	cuda->free(dev, &b, ptr);
}

/* Indices above 2^32: the last elements are right, so nothing wrapped. */
static void test_large(struct ceil_device *dev)
{
	enum { TAIL = 1 << 20 };
	const struct ceil_buffer b = {CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_INT8, -1, 5 * GIB + 13};
	struct ceil_error err = {CEIL_OK, ""};
	unsigned char *back = calloc(1, TAIL);
	uint64_t hash[2] = {0, 1}, wrong = 0;
	void *ptr = NULL;

	if (small() || dev->props.free_bytes < b.bytes) {
		skip("5 GiB of elements", "small sizes, or no memory for them");
		free(back);
		return;
	}
	ok(cuda->alloc(dev, &b, &ptr, &err) == CEIL_OK &&
	           cuda->fill(dev, &b, ptr, 2, CEIL_TERNARY, SEED, &err) == CEIL_OK &&
	           cuda->hash(dev, &b, ptr, &hash[0], &err) == CEIL_OK &&
	           cuda->hash(dev, &b, ptr, &hash[1], &err) == CEIL_OK &&
	           cuda->read(dev, back, (char *)ptr + b.bytes - TAIL, TAIL, &err) == CEIL_OK,
	   "5 GiB of elements %s", err.text);
	for (uint64_t i = 0; i < TAIL; i++)
		wrong += back[i] !=
		         ceil_element(CEIL_INT8, CEIL_TERNARY, SEED, 2, b.bytes - TAIL + i);
	is_u64(wrong, 0, "the last of them");
	is_u64(hash[0], hash[1], "the same hash twice");
	cuda->free(dev, &b, ptr);
	free(back);
}

/* ---- marks, gate, clock */

static void test_usage(struct ceil_device *dev)
{
	struct ceil_error err;
	double x;

	is_int(cuda->mark(dev, 0, CEIL_MAX_SLOTS, &err), CEIL_E_USAGE, "a slot too many");
	is_int(cuda->mark(dev, CEIL_MAX_STREAMS, 0, &err), CEIL_E_USAGE, "a stream too many");
	is_int(cuda->elapsed_ns(dev, 40, 41, &x, &err), CEIL_E_USAGE, "marks never made");
	is_int(cuda->wait(dev, 40, TIMEOUT_NS, &err), CEIL_E_USAGE, "nor are they waited for");
	is_int(cuda->clock(dev, -1, &err), CEIL_E_USAGE, "a clock slot below 0");
	is_int(cuda->clock_mhz(dev, 0, CEIL_MAX_SLOTS, &x, &err), CEIL_E_USAGE, "one too many");
}

/* How long the stream stood at the gate while the host slept. */
static double held_ms(struct ceil_device *dev, uint64_t sleep_ns)
{
	struct ceil_error err = {CEIL_OK, ""};
	double ns = (double)NAN;
	bool done;

	done = cuda->mark(dev, 0, 0, &err) == CEIL_OK && cuda->gate(dev, true, &err) == CEIL_OK &&
	       cuda->mark(dev, 0, 1, &err) == CEIL_OK;
	if (sleep_ns > 0) {
		ceil_sleep_ns(sleep_ns);
		done = done && cuda->gate(dev, false, &err) == CEIL_OK;
	}
	ok(done && cuda->sync(dev, TIMEOUT_NS, &err) == CEIL_OK &&
	           cuda->elapsed_ns(dev, 0, 1, &ns, &err) == CEIL_OK,
	   "a gate %s", err.text);
	return ns / 1e6;
}

static void test_gate(struct ceil_device *dev)
{
	const bool off = ceil_cuda_serialised();
	double ms = held_ms(dev, 30 * CEIL_NS_PER_MS);

	ok(off ? ms < 30.0 : ms > 25.0, "it holds the stream while the host sleeps: %g ms", ms);
	ms = held_ms(dev, 0);
	ok(off ? ms < 1900.0 : (ms > 1900.0 && ms < 2500.0), "forgotten, it opens after 2 s: %g ms",
	   ms);
	ms = held_ms(dev, 10 * CEIL_NS_PER_MS);
	ok(off || ms > 5.0, "and holds again: %g ms", ms);
}

/* Stamps are read while the stream stands at a gate behind them: nothing waits for it. */
static void test_clock(struct ceil_device *dev)
{
	struct ceil_error err = {CEIL_OK, ""};
	double mhz = (double)NAN;
	uint64_t start_ns;

	ok(cuda->clock(dev, 3, &err) == CEIL_OK, "the first stamp");
	for (int i = 0; i < 40; i++)
		(void)cuda->flush_cache(dev, &err);
	ok(cuda->clock(dev, 4, &err) == CEIL_OK && cuda->mark(dev, 0, 5, &err) == CEIL_OK &&
	           cuda->gate(dev, true, &err) == CEIL_OK,
	   "the second, and a gate %s", err.text);
	start_ns = ceil_now_ns();
	ok(cuda->wait(dev, 5, TIMEOUT_NS, &err) == CEIL_OK &&
	           cuda->clock_mhz(dev, 3, 4, &mhz, &err) == CEIL_OK,
	   "the clock is read behind the mark %s", err.text);
	ok(small() || ceil_now_ns() - start_ns < CEIL_NS_PER_S, "before the gate opens");
	ok(cuda->gate(dev, false, &err) == CEIL_OK && cuda->sync(dev, TIMEOUT_NS, &err) == CEIL_OK,
	   "then it is opened %s", err.text);
	ok(mhz > 100.0 && mhz < 1.1 * dev->props.max_sm_mhz, "%g MHz", mhz);
	ok(cuda->clock_mhz(dev, 4, 3, &mhz, &err) == CEIL_OK && isnan(mhz), "backwards is none");
}

/* ---- dram */

struct bed {
	struct ceil_launch l;
	struct ceil_buffer buf[CEIL_MAX_BUFS];
};

static bool place(struct ceil_device *dev, const struct ceil_point *p, struct bed *b,
                  struct ceil_error *err)
{
	bool done = cuda->bind(dev, &b->l, err) == CEIL_OK;

	for (int i = 0; done && i < CEIL_DRAM_BUFFERS; i++) {
		const bool output = b->buf[i].role == CEIL_OUTPUT;

		if (b->buf[i].bytes == 0)
			continue;
		done = cuda->alloc(dev, &b->buf[i], &b->l.buf[i], err) == CEIL_OK &&
		       cuda->fill(dev, &b->buf[i], b->l.buf[i], i,
		                  output ? CEIL_POISON : p->bench->check_pattern, SEED,
		                  err) == CEIL_OK;
	}
	return done;
}

/*
 * A form on 128 MiB, or on 2 MiB for a sanitizer; cut by some vectors, so that the last group is
 * short, and on half of its blocks, so that each has two turns.
 */
static void test_form(struct ceil_device *dev, const struct ceil_variant *v, bool cut)
{
	static const struct ceil_case cas = {.name = "test", .axis = {0}};
	const struct ceil_point p = {.bench = &ceil_dram_bench, .variant = v, .cas = &cas};
	const struct ceil_dram_operation *op = ceil_dram_operation_of(v);
	struct ceil_device_props props = dev->props;
	struct ceil_error err = {CEIL_OK, ""};
	struct bed b = {0};
	bool done;

	props.llc_bytes = 0; /* 128 MiB */
	done = p.bench->shape(&p, &props, &b.l, b.buf, &err) == CEIL_OK;
	if (small()) {
		b.l.n /= 64;
		b.l.blocks = b.l.blocks / 64 + 1;
	}
	if (cut) {
		b.l.n -= 48;
		b.l.blocks = b.l.blocks / 2 + 1;
	}
	for (int i = 0; i < CEIL_DRAM_BUFFERS; i++) {
		const bool sums = i == CEIL_DRAM_C && !op->element;

		if (b.buf[i].bytes > 0)
			b.buf[i].bytes =
				ceil_dtype_bytes(b.buf[i].dtype, sums ? b.l.blocks : b.l.n);
	}
	done = done && place(dev, &p, &b, &err);
	ok(done && p.bench->check(&p, dev, &b.l, b.buf, SEED, &err) == CEIL_E_WRONG,
	   "%s%s: poison is no result", v->name, cut ? ", cut" : "");
	ok(done && v->launch(&b.l, &err) == CEIL_OK &&
	           cuda->sync(dev, TIMEOUT_NS, &err) == CEIL_OK &&
	           p.bench->check(&p, dev, &b.l, b.buf, SEED, &err) == CEIL_OK,
	   "%s%s: every element is right %s", v->name, cut ? ", cut" : "", done ? "" : err.text);
	for (int i = 0; i < CEIL_DRAM_BUFFERS; i++) {
		if (b.l.buf[i])
			cuda->free(dev, &b.buf[i], b.l.buf[i]);
	}
}

static void test_dram(struct ceil_device *dev)
{
	const int cc = dev->props.cc_major * 10 + dev->props.cc_minor;
	const struct ceil_variant *last = NULL;
	struct ceil_launch l = {.n = 1024, .blocks = 1, .threads = 1000};
	struct ceil_error err;

	for (size_t i = 0; i < ceil_dram_bench.variant_count; i++) {
		const struct ceil_variant *v = &ceil_dram_bench.variants[i];

		if (strcmp(v->backend, "cuda") != 0 || v->min_cc > cc)
			continue;
		test_form(dev, v, false);
		test_form(dev, v, true);
		last = v->threads ? v : last;
	}
	ok(cuda->bind(dev, &l, &err) == CEIL_OK, "a launch");
	is_int(last->launch(&l, &err), CEIL_E_USAGE, "of 1000 threads a block is refused");
	l.threads = 128;
	l.n = 1023;
	is_int(last->launch(&l, &err), CEIL_E_USAGE, "and so are 1023 elements");
}

/* ---- hangs and faults; what they leave behind ends with the process */

static void test_timeout(void)
{
	struct ceil_device *dev = open_gpu();
	struct ceil_error err;
	double x;

	if (small() || ceil_cuda_serialised()) {
		skip("a device that does not answer", "the gate is off");
		cuda->close(dev);
		return;
	}
	ok(cuda->gate(dev, true, &err) == CEIL_OK, "a closed gate");
	is_int(cuda->sync(dev, 100 * CEIL_NS_PER_MS, &err), CEIL_E_TIMEOUT, "is no answer");
	has_text(err.text, "0.1 s", "within the time");
	is_int(cuda->mark(dev, 0, 0, &err), CEIL_E_TIMEOUT, "the device is not called again");
	is_int(cuda->elapsed_ns(dev, 0, 0, &x, &err), CEIL_E_TIMEOUT, "for anything");
	cuda->close(dev);
	ok(true, "and close does not hang");
}

static void test_fault(void)
{
	struct ceil_device *dev = open_gpu();
	const struct ceil_buffer b = {CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, -1, 1 << 20};
	struct ceil_error err;
	uint64_t hash = 0;

	if (small()) {
		skip("an illegal access", "the sanitizer would call it one");
		cuda->close(dev);
		return;
	}
	is_int(cuda->hash(dev, &b, (void *)(uintptr_t)4096, &hash, &err), CEIL_E_DEVICE,
	       "a hash of nothing");
	has_text(err.text, "cudaErrorIllegalAddress", "is told in CUDA's words");
	is_int(cuda->sync(dev, TIMEOUT_NS, &err), CEIL_E_DEVICE, "the device is lost for good");
	cuda->close(dev);
	ok(true, "and closes");
}

int main(void)
{
	struct ceil_error err;
	struct ceil_device *dev;
	enum ceil_status st;
	int count = 0;

	st = cuda->count(&count, &err);
	if (st == CEIL_E_UNSUPPORTED)
		skip_all(err.text);
	if (!ok(st == CEIL_OK, "the GPUs here work: %s", st == CEIL_OK ? "yes" : err.text))
		return done_testing();
	conformance_run(cuda);
	dev = open_gpu();
	test_props(dev);
	test_memory(dev);
	test_large(dev);
	test_usage(dev);
	test_gate(dev);
	test_clock(dev);
	test_dram(dev);
	cuda->close(dev);
	test_timeout();
	ceil_sleep_ns(3 * (uint64_t)CEIL_NS_PER_S); /* the gate that was left closed opens */
	test_fault();
	return done_testing();
}
