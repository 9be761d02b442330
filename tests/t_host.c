/* Pinned threads, host kernels of the dram bench, and products by a CBLAS. */
#include "harness/device/host.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/dram_host.h"
#include "bench/gemm_host.h"
#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/device/backend.h"
#include "harness/device/cblas.h"
#include "harness/device/limits.h"
#include "tests/fakes.h"
#include "tests/tap.h"

enum { MAX_THREADS = 4096, SEED = 7 };

static struct ceil_device *open_device(void)
{
	struct ceil_device *dev = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_host_backend.open(0, &dev, &err) != CEIL_OK)
		ok(false, "the host opens: %s", err.text);
	return dev;
}

static struct ceil_pool *pool_of(struct ceil_device *dev)
{
	struct ceil_launch l = {0};

	(void)ceil_host_backend.bind(dev, &l, NULL); /* the host cannot fail here */
	return l.stream[0];
}

/* ---- shares and threads */

static void test_share(void)
{
	const uint64_t sizes[] = {0, 1, 15, 16, 17, 1000, UINT64_C(1) << 40};
	bool whole = true, aligned = true;

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (unsigned count = 1; count < 70; count++) {
			uint64_t expected = 0;

			for (unsigned i = 0; i < count; i++) {
				uint64_t from, to;

				ceil_pool_share(sizes[s], 16, i, count, &from, &to);
				whole = whole && from == expected && to >= from;
				aligned = aligned && (from % 16 == 0 || from == sizes[s]);
				expected = to;
			}
			whole = whole && expected == sizes[s];
		}
	}
	ok(whole, "shares follow each other and cover all");
	ok(aligned, "and begin at multiples");
}

struct roll {
	atomic_uint calls[MAX_THREADS];
	int cpu[MAX_THREADS];
	unsigned count;
	unsigned plain; /* written by worker 0 alone: the race detector watches */
};

static void call_roll(void *arg, unsigned index, unsigned count)
{
	struct roll *r = arg;

	atomic_fetch_add(&r->calls[index], 1);
	r->cpu[index] = sched_getcpu();
	if (index == 0) {
		r->count = count;
		r->plain++;
	}
}

static void test_pool(struct ceil_device *dev)
{
	enum { ROUNDS = 2000 };
	struct ceil_pool *pool = pool_of(dev);
	struct roll *r = calloc(1, sizeof(*r));
	const unsigned count = (unsigned)dev->props.sm_count;
	bool each = true, apart = true;

	if (!r)
		return;
	for (unsigned i = 0; i < ROUNDS; i++) {
		ceil_pool_run(pool, call_roll, r);
		if (i % 500 == 0) /* long enough that the workers sleep */
			ceil_sleep_ns(2 * CEIL_NS_PER_MS);
	}
	for (unsigned i = 0; i < count; i++) {
		each = each && atomic_load(&r->calls[i]) == ROUNDS;
		apart = apart && (i == 0 || r->cpu[i] != r->cpu[i - 1]);
	}
	ok(each, "every worker had every round once");
	ok(apart, "each on a core of its own");
	is_int(r->count, count, "and knew how many they are");
	is_int(r->plain, ROUNDS, "what a worker wrote is seen by its next round");
	free(r);
}

static void test_caller_stays_free(struct ceil_device *dev)
{
	struct roll *r = calloc(1, sizeof(*r));
	cpu_set_t before, after;

	if (!r || sched_getaffinity(0, sizeof(before), &before) != 0) {
		free(r);
		skip("affinity", "more CPUs than a cpu_set_t holds");
		return;
	}
	ceil_pool_run(pool_of(dev), call_roll, r);
	ok(sched_getaffinity(0, sizeof(after), &after) == 0 && CPU_EQUAL(&before, &after),
	   "the caller's affinity is as before");
	ceil_pool_enter(pool_of(dev));
	ceil_pool_run(pool_of(dev), call_roll, r);
	ok(sched_getaffinity(0, sizeof(after), &after) == 0 && CPU_COUNT(&after) == 1 &&
	           CPU_ISSET((size_t)r->cpu[0], &after),
	   "a caller who entered stays where worker 0 is");
	ceil_pool_leave(pool_of(dev));
	ok(sched_getaffinity(0, sizeof(after), &after) == 0 && CPU_EQUAL(&before, &after),
	   "until it leaves");
	free(r);
}

/* ---- operations on memory */

struct arrays {
	struct ceil_launch l;
	struct ceil_buffer buf;
};

static bool make_arrays(struct ceil_device *dev, enum ceil_dtype t, uint64_t n, struct arrays *a)
{
	struct ceil_error err = {CEIL_OK, ""};
	bool made = true;

	*a = (struct arrays){.l = {.n = n, .blocks = 3}};
	a->buf = (struct ceil_buffer){.dtype = t, .numa_node = -1, .bytes = n * 8 + 64};
	(void)ceil_host_backend.bind(dev, &a->l, &err); /* the host cannot fail here */
	for (int i = 0; i < 3; i++) {
		made = made &&
		       ceil_host_backend.alloc(dev, &a->buf, &a->l.buf[i], &err) == CEIL_OK &&
		       ceil_host_backend.fill(dev, &a->buf, a->l.buf[i], i,
		                              i < 2 ? CEIL_INTEGERS : CEIL_POISON, SEED,
		                              &err) == CEIL_OK;
	}
	return ok(made, "arrays of %llu elements %s", (unsigned long long)n, err.text);
}

static void free_arrays(struct ceil_device *dev, struct arrays *a)
{
	for (int i = 0; i < 3; i++)
		ceil_host_backend.free(dev, &a->buf, a->l.buf[i]);
}

static double element(const void *array, enum ceil_dtype t, uint64_t i)
{
	return t == CEIL_FP64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

enum operation { WRITE, COPY, SCALE, ADD, TRIAD };

static double expected(enum operation op, double a, double b)
{
	switch (op) {
	case WRITE:
		return 7.0;
	case COPY:
		return a;
	case SCALE:
		return 3.0 * a;
	case ADD:
		return a + b;
	default:
		return a + 3.0 * b;
	}
}

static const struct store_row {
	const char *name;
	ceil_launch_fn launch;
	enum operation op;
	enum ceil_dtype dtype;
	bool nt;
} store_rows[] = {
	{"write fp32", ceil_dram_host_write_fp32, WRITE, CEIL_FP32, false},
	{"write fp64", ceil_dram_host_write_fp64, WRITE, CEIL_FP64, false},
	{"copy fp32", ceil_dram_host_copy_fp32, COPY, CEIL_FP32, false},
	{"copy fp64", ceil_dram_host_copy_fp64, COPY, CEIL_FP64, false},
	{"scale fp32", ceil_dram_host_scale_fp32, SCALE, CEIL_FP32, false},
	{"scale fp64", ceil_dram_host_scale_fp64, SCALE, CEIL_FP64, false},
	{"add fp32", ceil_dram_host_add_fp32, ADD, CEIL_FP32, false},
	{"add fp64", ceil_dram_host_add_fp64, ADD, CEIL_FP64, false},
	{"triad fp32", ceil_dram_host_triad_fp32, TRIAD, CEIL_FP32, false},
	{"triad fp64", ceil_dram_host_triad_fp64, TRIAD, CEIL_FP64, false},
	{"write nt fp32", ceil_dram_host_write_nt_fp32, WRITE, CEIL_FP32, true},
	{"write nt fp64", ceil_dram_host_write_nt_fp64, WRITE, CEIL_FP64, true},
	{"copy nt fp32", ceil_dram_host_copy_nt_fp32, COPY, CEIL_FP32, true},
	{"copy nt fp64", ceil_dram_host_copy_nt_fp64, COPY, CEIL_FP64, true},
	{"scale nt fp32", ceil_dram_host_scale_nt_fp32, SCALE, CEIL_FP32, true},
	{"scale nt fp64", ceil_dram_host_scale_nt_fp64, SCALE, CEIL_FP64, true},
	{"add nt fp32", ceil_dram_host_add_nt_fp32, ADD, CEIL_FP32, true},
	{"add nt fp64", ceil_dram_host_add_nt_fp64, ADD, CEIL_FP64, true},
	{"triad nt fp32", ceil_dram_host_triad_nt_fp32, TRIAD, CEIL_FP32, true},
	{"triad nt fp64", ceil_dram_host_triad_nt_fp64, TRIAD, CEIL_FP64, true},
};

static void test_store(struct ceil_device *dev, const struct store_row *row, uint64_t n)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct arrays a;
	uint64_t wrong = 0;
	enum ceil_status st;
	double behind;

	if (!make_arrays(dev, row->dtype, n, &a)) {
		free_arrays(dev, &a);
		return;
	}
	st = row->launch(&a.l, &err);
	if (st == CEIL_E_UNSUPPORTED && row->nt) {
		has_text(err.text, "non-temporal", "a CPU without such stores says so");
		free_arrays(dev, &a);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		const double want = expected(row->op, element(a.l.buf[0], row->dtype, i),
		                             element(a.l.buf[1], row->dtype, i));
		const double got = element(a.l.buf[2], row->dtype, i);

		wrong += !(got >= want && got <= want);
	}
	behind = element(a.l.buf[2], row->dtype, n);
	ok(st == CEIL_OK && wrong == 0, "%s", row->name);
	ok(behind != behind, "and nothing behind the end");
	free_arrays(dev, &a);
}

static const struct sum_row {
	const char *name;
	ceil_launch_fn launch;
	enum ceil_dtype dtype;
	bool dot;
} sum_rows[] = {
	{"read fp32", ceil_dram_host_read_fp32, CEIL_FP32, false},
	{"read fp64", ceil_dram_host_read_fp64, CEIL_FP64, false},
	{"dot fp32", ceil_dram_host_dot_fp32, CEIL_FP32, true},
	{"dot fp64", ceil_dram_host_dot_fp64, CEIL_FP64, true},
};

static double expected_dot(const struct arrays *a, enum ceil_dtype t, uint64_t from, uint64_t to)
{
	double sum = 0.0;

	for (uint64_t i = from; i < to; i++)
		sum += element(a->l.buf[0], t, i) * element(a->l.buf[1], t, i);
	return sum;
}

static uint32_t expected_read(const struct arrays *a, enum ceil_dtype t, uint64_t from, uint64_t to)
{
	const uint64_t words = t == CEIL_FP64 ? 2 : 1;
	const uint32_t *w = a->l.buf[0];
	uint32_t sum = 0;

	for (uint64_t i = from * words; i < to * words; i++)
		sum += w[i];
	return sum;
}

static void test_sum(struct ceil_device *dev, const struct sum_row *row, uint64_t n,
                     uint32_t blocks)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct arrays a;
	bool right = true;

	if (!make_arrays(dev, row->dtype, n, &a)) {
		free_arrays(dev, &a);
		return;
	}
	a.l.blocks = blocks;
	right = row->launch(&a.l, &err) == CEIL_OK;
	for (uint32_t b = 0; right && b < blocks; b++) {
		uint64_t from, to;

		ceil_pool_share(n, 1, b, blocks, &from, &to);
		if (row->dot) {
			const double want = expected_dot(&a, row->dtype, from, to);
			const double got = element(a.l.buf[2], row->dtype, b);

			right = got >= want && got <= want;
		} else {
			right = ((const uint32_t *)a.l.buf[2])[b] ==
			        expected_read(&a, row->dtype, from, to);
		}
	}
	ok(right, "%s of %llu in %u blocks", row->name, (unsigned long long)n, (unsigned)blocks);
	free_arrays(dev, &a);
}

static void test_dram(struct ceil_device *dev)
{
	const uint64_t sizes[] = {1, 13, 64, 1000003};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t i = 0; i < sizeof(store_rows) / sizeof(store_rows[0]); i++)
			test_store(dev, &store_rows[i], sizes[s]);
		for (size_t i = 0; i < sizeof(sum_rows) / sizeof(sum_rows[0]); i++) {
			test_sum(dev, &sum_rows[i], sizes[s], 1);
			test_sum(dev, &sum_rows[i], sizes[s], 7);
		}
	}
}

/* ---- products */

static uint64_t wrong_products(const struct arrays *a, enum ceil_dtype t)
{
	const struct ceil_launch *l = &a->l;
	uint64_t wrong = 0;

	for (uint64_t j = 0; j < l->n; j++) {
		for (uint64_t i = 0; i < l->m; i++) {
			const double got = element(l->buf[2], t, i + j * l->m);
			double want = 0.0;

			for (uint64_t k = 0; k < l->k; k++)
				want += element(l->buf[0], t, k + i * l->k) *
				        element(l->buf[1], t, k + j * l->k);
			wrong += !(got >= want && got <= want);
		}
	}
	return wrong;
}

static void test_product(struct ceil_device *dev, enum ceil_dtype t)
{
	enum { M = 37, N = 29, K = 41 };
	struct ceil_error err = {CEIL_OK, ""};
	uint32_t candidates = 0;
	struct arrays a;
	char text[192];

	if (!make_arrays(dev, t, (uint64_t)K * K, &a)) {
		free_arrays(dev, &a);
		return;
	}
	a.l.m = M;
	a.l.n = N;
	a.l.k = K;
	is_int(ceil_gemm_host_prepare(NULL, dev, &a.l, &candidates, &err), CEIL_OK, "prepare");
	is_int(candidates, 1, "one candidate");
	ceil_gemm_host_describe(&a.l, text, sizeof(text));
	has_text(text, " thread", "it says its threads");
	is_int(t == CEIL_FP64 ? ceil_gemm_host_launch_fp64(&a.l, &err)
	                      : ceil_gemm_host_launch_fp32(&a.l, &err),
	       CEIL_OK, "launch");
	is_u64(wrong_products(&a, t), 0, "every element of C = A^T B");
	ceil_gemm_host_release(&a.l);
	ok(!a.l.state, "release forgets the library");
	ceil_gemm_host_describe(&a.l, text, sizeof(text));
	is_text(text, "", "and then there is nothing to describe");
	free_arrays(dev, &a);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static void test_little_room(void)
{
	skip("a limit of the address space", "sanitizers take terabytes of it");
}
#else
static void test_little_room(void)
{
	const uint64_t large = (uint64_t)1 << 40, mib = 1 << 20;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_cblas *c = NULL;
	struct rlimit before, limit;

	ok(getrlimit(RLIMIT_AS, &before) == 0, "# a limit on addresses");
	if (before.rlim_cur != RLIM_INFINITY) {
		skip("a limit of the address space", "there is one already");
		return;
	}
	ok(ceil_limits_address_bytes() == UINT64_MAX, "no limit");
	limit = (struct rlimit){large, before.rlim_max};
	ok(setrlimit(RLIMIT_AS, &limit) == 0, "# a large one");
	limit.rlim_cur = large - ceil_limits_address_bytes() + 100 * mib;
	ok(setrlimit(RLIMIT_AS, &limit) == 0, "# 100 MiB more than is in use");
	ok(ceil_limits_address_bytes() <= 100 * mib, "100 MiB are left");
	ok(ceil_limits_free_bytes() <= 100 * mib, "which bounds what a run may plan with");
	is_int(ceil_cblas_open(2, &c, &err), CEIL_E_UNSUPPORTED, "OpenBLAS would wait for ever");
	has_text(err.text, "ulimit -v", "so it is not loaded, for that reason");
	ok(setrlimit(RLIMIT_AS, &before) == 0, "# no limit");
}
#endif

static void test_real_cblas(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_cblas *c = NULL;
	struct ceil_device *dev;

	(void)unsetenv("GPUCEIL_LIB_CBLAS");
	if (ceil_cblas_open(1, &c, &err) != CEIL_OK) {
		skip("the installed CBLAS", err.text);
		return;
	}
	ok(ceil_cblas_path(c)[0] == '/', "%s: %s", ceil_cblas_path(c), ceil_cblas_name(c));
	ceil_cblas_close(c);
	dev = open_device();
	if (!dev)
		return;
	test_product(dev, CEIL_FP32);
	test_product(dev, CEIL_FP64);
	ceil_host_backend.close(dev);
}

static void expect_name(const char *path, unsigned threads, const char *want)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_cblas *c = NULL;

	(void)setenv("GPUCEIL_LIB_CBLAS", path, 1);
	if (ceil_cblas_open(threads, &c, &err) != CEIL_OK) {
		ok(false, "%s: %s", path, err.text);
		return;
	}
	has_text(ceil_cblas_name(c), want, want);
	ceil_cblas_close(c);
}

static void test_makers(void)
{
	const char *const openblas[] = {"openblas_set_num_threads", "openblas_get_config", NULL};
	const char *const blis[] = {"openblas_set_num_threads",
	                            "openblas_get_config",
	                            "bli_thread_set_num_threads",
	                            "bli_info_get_version_str",
	                            "MKL_Set_Num_Threads",
	                            "MKL_Get_Version_String",
	                            NULL};
	char path[FAKE_PATH_MAX], other[FAKE_PATH_MAX];

	if (!fake_path("cblas", path)) {
		skip("makers of CBLAS", "the stand-in is not built");
		return;
	}
	(void)setenv("OMP_NUM_THREADS", "3", 1);
	expect_name(path, 5, "OpenBLAS 0.0 fake, 5 threads");
	(void)setenv("FAKE_CBLAS_MAX", "2", 1);
	expect_name(path, 5, "OpenBLAS 0.0 fake, 2 threads"); /* what it has, not what we wished */
	(void)unsetenv("FAKE_CBLAS_MAX");
	if (fake_without(path, openblas, other))
		expect_name(other, 4, "BLIS 0.0 fake, 4 threads");
	(void)unlink(other);
	if (fake_without(path, blis, other))
		expect_name(other, 4, ", 1 thread");
	(void)unlink(other);
	(void)unsetenv("OMP_NUM_THREADS");
}

static void test_mkl(void)
{
	const char *const others[] = {"openblas_set_num_threads", "openblas_get_config",
	                              "bli_thread_set_num_threads", "bli_info_get_version_str",
	                              NULL};
	const char *const product[] = {"cblas_dgemm", NULL};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_cblas *c = NULL;
	char path[FAKE_PATH_MAX], other[FAKE_PATH_MAX];

	if (!fake_path("cblas", path))
		return;
	if (fake_without(path, others, other))
		expect_name(other, 4, "oneMKL 0.0 fake, 4 threads");
	(void)unlink(other);
	if (fake_without(path, product, other)) {
		(void)setenv("GPUCEIL_LIB_CBLAS", other, 1);
		is_int(ceil_cblas_open(1, &c, &err), CEIL_E_UNSUPPORTED, "a CBLAS without dgemm");
		has_text(err.text, "cblas_dgemm", "the message names the function");
	}
	(void)unlink(other);
}

static void test_no_cblas(void)
{
	struct ceil_device *dev = open_device();
	struct ceil_launch l = {.m = 4, .n = 4, .k = 4};
	struct ceil_error err = {CEIL_OK, ""};
	uint32_t candidates = 0;

	(void)setenv("GPUCEIL_LIB_CBLAS", "/nowhere/libopenblas.so", 1);
	if (!dev)
		return;
	is_int(ceil_gemm_host_prepare(NULL, dev, &l, &candidates, &err), CEIL_E_UNSUPPORTED,
	       "without a CBLAS the product is unsupported");
	has_text(err.text, "/nowhere", "the message says where it looked");
	has_text(err.text, "unset", "and what to do");
	l.k = 0;
	is_int(ceil_gemm_host_prepare(NULL, dev, &l, &candidates, &err), CEIL_E_USAGE,
	       "a product of no depth");
	l.k = UINT64_C(1) << 31;
	is_int(ceil_gemm_host_prepare(NULL, dev, &l, &candidates, &err), CEIL_E_USAGE,
	       "more than an int counts");
	has_text(err.text, "2147483648", "the message says how many");
	ceil_host_backend.close(dev);
	(void)unsetenv("GPUCEIL_LIB_CBLAS");
	ceil_cblas_close(NULL);
}

/* ---- the backend's own edges */

static void test_edges(struct ceil_device *dev)
{
	const struct ceil_backend *b = &ceil_host_backend;
	struct ceil_buffer none = {CEIL_MEM_DEVICE, CEIL_WORKSPACE, CEIL_NODTYPE, -1, 64};
	struct ceil_error err = {CEIL_OK, ""};
	uint64_t hash = 0;
	void *ptr = NULL;
	double ns;

	is_int(b->mark(dev, 0, CEIL_MAX_SLOTS, &err), CEIL_E_USAGE, "a slot too many");
	is_int(b->mark(dev, 0, -1, &err), CEIL_E_USAGE, "a slot too few");
	is_int(b->elapsed_ns(dev, 5, 6, &ns, &err), CEIL_E_USAGE, "marks that were never made");
	is_int(b->wait(dev, 5, 1, &err), CEIL_E_USAGE, "nor can one wait for them");
	is_int(b->alloc(dev, &none, &ptr, &err), CEIL_OK, "memory of no type");
	is_int(b->fill(dev, &none, ptr, 0, CEIL_ZEROS, 0, &err), CEIL_E_USAGE, "has no elements");
	is_int(b->hash(dev, &none, ptr, &hash, &err), CEIL_E_USAGE, "and no hash");
	b->free(dev, &none, ptr);
	none.bytes = 0;
	is_int(b->alloc(dev, &none, &ptr, &err), CEIL_E_USAGE, "0 bytes");
	none.bytes = 64;
	none.numa_node = 999;
	is_int(b->alloc(dev, &none, &ptr, &err), CEIL_E_USAGE, "a node that is not there");
}

/* A pretended machine of two nodes on the threads of this one. */
static void test_nodes(void)
{
	const struct ceil_backend *b = &ceil_host_backend;
	const struct ceil_buffer buf = {CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, -1, 65536};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_cblas *c = NULL;
	struct ceil_device *dev = NULL;
	void *ptr = NULL;
	int count = 0;

	(void)setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1);
	is_int(b->count(&count, &err), CEIL_OK, "devices of a machine with two nodes");
	is_int(count, 3, "the whole and each node");
	is_int(b->open(2, &dev, &err), CEIL_OK, "the second node opens");
	if (dev) {
		is_text(dev->props.label, "cpu.node1", "its label");
		is_int(dev->props.sm_count, 2, "its threads");
		is_int(dev->props.numa_node, 1, "its node");
		is_int(b->alloc(dev, &buf, &ptr, &err), CEIL_OK, "its memory");
		b->free(dev, &buf, ptr);
		is_int(ceil_host_cblas(dev, &c, &err), CEIL_E_UNSUPPORTED, "it has no CBLAS");
		has_text(err.text, "cpu.node1", "the message names it");
	}
	b->close(dev);
	(void)unsetenv("HWLOC_SYNTHETIC");
}

/* Each allocation fails once: right status, nothing left behind (the sanitizer looks). */
static void test_no_memory(void)
{
	const struct ceil_backend *b = &ceil_host_backend;
	bool right = true, opened = false;
	long k;

	for (k = 1; k < 100 && !opened; k++) {
		struct ceil_error err = {CEIL_OK, ""};
		struct ceil_device *dev = NULL;
		enum ceil_status st;

		ceil_alloc_fail_at(k);
		st = b->open(0, &dev, &err);
		ceil_alloc_fail_at(0);
		opened = st == CEIL_OK;
		right = right && (opened || (st == CEIL_E_NOMEM && !dev && err.text[0]));
		b->close(dev);
	}
	ok(right && opened && k > 3, "opening without memory fails %ld times, and well", k - 2);
}

int main(void)
{
	struct ceil_device *dev;

	(void)unsetenv("HWLOC_COMPONENTS"); /* else hwloc would not look at HWLOC_SYNTHETIC */
	dev = open_device();
	test_share();
	if (dev) {
		test_pool(dev);
		test_caller_stays_free(dev);
		test_dram(dev);
		test_edges(dev);
	}
	ceil_host_backend.close(dev);
	test_nodes();
	test_no_memory();
	test_little_room();
	test_real_cblas();
	test_makers();
	test_mkl();
	test_no_cblas();
	return done_testing();
}
