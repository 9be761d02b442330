/* The collective bench on a stand-in NCCL: GPUs are threads with host memory, results are exact. */
#include "bench/collective.h"
#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/dtype.h"
#include "harness/device/host.h"
#include "harness/device/team.h"
#include "harness/measure/campaign.h"
#include "tests/fakes.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROWS = 256, MOST = 4 };

static char fake[FAKE_PATH_MAX];

struct row {
	char variant[48], cas[32], reason[200], algorithm[96];
	enum ceil_row_status status;
	bool is_ceiling, checked;
	double value;
	struct ceil_work work;
};
struct seen {
	struct row v[MAX_ROWS];
	size_t count;
};

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		exit(1);
}

static struct row *next(struct seen *s, const struct ceil_point *p, bool is_ceiling)
{
	struct row *r = &s->v[s->count < MAX_ROWS ? s->count++ : MAX_ROWS - 1];

	*r = (struct row){.value = (double)NAN, .is_ceiling = is_ceiling};
	snprintf(r->variant, sizeof(r->variant), "%s", p->variant->name);
	snprintf(r->cas, sizeof(r->cas), "%s", p->cas->name);
	return r;
}

static void on_outcome(void *user, const struct ceil_device *dev, const struct ceil_outcome *o,
                       const char *role, bool is_ceiling)
{
	struct row *r = next(user, &o->point, is_ceiling);

	(void)dev, (void)role;
	r->status = o->status;
	r->checked = o->checked;
	r->value = ceil_outcome_value(o);
	r->work = o->work;
	snprintf(r->reason, sizeof(r->reason), "%.199s", o->reason);
	snprintf(r->algorithm, sizeof(r->algorithm), "%.95s", o->algorithm);
}

static void on_absent(void *user, const struct ceil_device_props *props, const struct ceil_point *p,
                      enum ceil_row_status status, const char *reason, bool is_ceiling)
{
	struct row *r = next(user, p, is_ceiling);

	(void)props;
	r->status = status;
	snprintf(r->reason, sizeof(r->reason), "%.199s", reason);
}

/* ---- a run: GPUs that are threads of the host */

struct ask {
	unsigned ranks;
	const char *variants;
	uint64_t bytes[MOST];
	bool functional;
	uint64_t timeout_ns;
};

static size_t own_cases(const struct ask *a, struct ceil_own_case *own)
{
	size_t n = 0;

	for (; n < MOST && a->bytes[n]; n++) {
		own[n] = (struct ceil_own_case){.cas = {.backend = "cuda"}};
		snprintf(own[n].name, sizeof(own[n].name), "%llu", (unsigned long long)a->bytes[n]);
		own[n].cas.name = own[n].name;
		own[n].cas.axis[0] = a->bytes[n];
	}
	return n;
}

static void open_lane(const struct ask *a, const struct ceil_filter *f, unsigned rank,
                      struct ceil_team_local *local, struct ceil_lane *lane)
{
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_host_backend.open(0, &lane->dev, &err) != CEIL_OK)
		exit(1);
	lane->dev->team = ceil_team_local_member(local, rank);
	lane->dev->team->functional = a->functional;
	lane->dev->team->timeout_ns = a->timeout_ns;
	lane->dev->props.rank = rank;
	lane->dev->props.ranks = a->ranks;
	lane->dev->props.cc_major = 9;
	if (ceil_plan_make(f, "cuda", &lane->dev->props, NULL, &lane->plan, &err) != CEIL_OK)
		exit(1);
}

static enum ceil_status run(const struct ask *a, struct seen *s, bool *ret_hung)
{
	struct ceil_own_case own[MOST];
	struct ceil_filter f = {.own = own, .own_count = own_cases(a, own)};
	const struct ceil_policy policy = {.seed = 7};
	const struct ceil_events events = {s, on_outcome, on_absent, NULL};
	struct ceil_lane lanes[MOST] = {{0}};
	struct ceil_team_local *local = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st;

	*s = (struct seen){.count = 0};
	if (ceil_list_add(&f.benches, "collective", &err) != CEIL_OK ||
	    (a->variants && ceil_list_add(&f.variants, a->variants, &err) != CEIL_OK) ||
	    ceil_team_local_open(a->ranks, &local, &err) != CEIL_OK)
		exit(1);
	for (unsigned i = 0; i < a->ranks; i++)
		open_lane(a, &f, i, local, &lanes[i]);
	st = ceil_campaign_run(lanes, a->ranks, &policy, &events, ret_hung, &err);
	ceil_team_local_close(local);
	for (unsigned i = 0; i < a->ranks; i++) {
		ceil_plan_done(&lanes[i].plan);
		ceil_host_backend.close(lanes[i].dev);
	}
	return st;
}

/* Communicators of the stand-in that are open, or were aborted. */
static int count_of(const char *name)
{
	void *lib = dlopen(fake, RTLD_NOW | RTLD_NOLOAD);
	const int *count = lib ? dlsym(lib, name) : NULL;
	const int n = count ? *count : -1;

	if (lib)
		(void)dlclose(lib);
	return n;
}

static const struct row *row_of(const struct seen *s, const char *variant, const char *cas,
                                bool is_ceiling)
{
	static const struct row none = {.reason = "there is no such row"};

	for (size_t i = 0; i < s->count; i++) {
		const struct row *r = &s->v[i];

		if (strcmp(r->variant, variant) == 0 && strcmp(r->cas, cas) == 0 &&
		    r->is_ceiling == is_ceiling)
			return r;
	}
	return &none;
}

/* ---- tables and the cost model */

static void test_forms(void)
{
	const struct ceil_bench *b = &ceil_collective_bench;

	for (size_t i = 0; i < b->variant_count; i++) {
		const struct ceil_variant *v = &b->variants[i];
		const struct ceil_collective_form f = ceil_collective_form_of(v);
		const size_t n = strlen(f.info->name);

		ok(strncmp(v->name, f.info->name, n) == 0 && v->name[n] == '.' && v->doc &&
		           v->launch && strstr(v->ceiling, f.info->name) != NULL,
		   "%s is its operation", v->name);
		has_text(v->name, ceil_dtype_info(f.dtype)->name, "and names its type");
		is_int(f.max, strstr(v->name, "max") != NULL, "and what it reduces by");
	}
}

static const struct ceil_variant *variant(const char *name)
{
	const struct ceil_bench *b = &ceil_collective_bench;

	for (size_t i = 0; i < b->variant_count; i++) {
		if (strcmp(b->variants[i].name, name) == 0)
			return &b->variants[i];
	}
	exit(1);
}

static void work_of(const char *name, uint64_t bytes, uint32_t ranks, struct ceil_work *w,
                    struct ceil_buffer *buf)
{
	const struct ceil_case cas = {.name = "own", .axis = {bytes}};
	const struct ceil_point p = {
		.bench = &ceil_collective_bench, .variant = variant(name), .cas = &cas};
	const struct ceil_device_props d = {
		.label = "gpu0", .ranks = ranks, .free_bytes = UINT64_C(1) << 40};
	struct ceil_launch l = {0};

	is_int(ceil_collective_bench.shape(&p, &d, &l, buf, NULL), CEIL_OK, name);
	ceil_collective_bench.work(&p, &l, w);
}

static void test_factors(void)
{
	struct ceil_buffer b[CEIL_MAX_BUFS];
	struct ceil_work w;

	work_of("all_reduce.sum.fp32", 1 << 20, 4, &w, b);
	is_close(w.bytes_payload, 1 << 20, 0.0, "the array is the array");
	is_close(w.bytes_wire, 1.5 * (1 << 20), 0.0, "all_reduce: 2 (n - 1) / n");
	work_of("all_gather.copy.fp32", 1 << 20, 4, &w, b);
	is_close(w.bytes_payload, 1 << 20, 0.0, "all_gather counts what it gathers");
	is_close(w.bytes_wire, 0.75 * (1 << 20), 0.0, "(n - 1) / n");
	is_u64(b[0].bytes, 1 << 18, "a part is sent");
	is_u64(b[1].bytes, 1 << 20, "all are received");
	work_of("reduce_scatter.sum.fp32", 1 << 20, 4, &w, b);
	is_close(w.bytes_wire, 0.75 * (1 << 20), 0.0, "reduce_scatter the same");
	is_u64(b[0].bytes, 1 << 20, "all is sent");
	is_u64(b[1].bytes, 1 << 18, "a part is received");
	work_of("broadcast.copy.fp32", 1 << 20, 4, &w, b);
	is_close(w.bytes_wire, 1 << 20, 0.0, "broadcast: 1");
	work_of("send_recv.copy.fp32", 1 << 20, 4, &w, b);
	is_close(w.bytes_wire, 1 << 20, 0.0, "send_recv: 1");
	work_of("all_reduce.sum.fp32", 1 << 20, 1, &w, b);
	is_close(w.bytes_wire, 0.0, 0.0, "one rank: nothing crosses a wire");
	work_of("all_to_all.copy.fp32", 8, 4, &w, b);
	is_close(w.bytes_payload, 16.0, 0.0, "a part is one element at least");
	work_of("all_gather.copy.fp32", 1000003, 3, &w, b);
	is_u64(b[0].bytes % 256, 0, "large parts begin at multiples of 256 bytes");
	work_of("all_gather.copy.fp32.in_place", 1 << 20, 4, &w, b);
	is_int(b[0].bytes == 0 && b[1].role == CEIL_IN_PLACE, 1, "in place there is one array");
}

static void test_exact(void)
{
	const struct ceil_case cas = {.name = "own", .axis = {1 << 20}};
	struct ceil_point p = {.bench = &ceil_collective_bench, .cas = &cas};
	struct ceil_device_props d = {.ranks = 64};
	int integers[3] = {0};
	const char *names[3] = {"all_reduce.sum.fp32", "all_reduce.sum.bf16",
	                        "all_reduce.max.bf16"};

	for (int k = 0; k < 3; k++) {
		p.variant = variant(names[k]);
		for (d.rank = 0; d.rank < d.ranks; d.rank++)
			integers[k] += ceil_collective_fill(&p, &d) == CEIL_INTEGERS;
	}
	is_int(integers[0], 64, "fp32 sums of 64 ranks are exact");
	is_int(integers[1], 32, "of bf16 only 32 may take part");
	is_int(integers[2], 64, "the largest of all is exact in any type");
}

/* ---- runs */

/* A rank that measures every entry of its plan with as little effort as there is. */
struct single {
	struct ceil_lane *lane;
	struct seen *seen; /* of rank 0, or NULL */
	size_t lost;
};

static void *measure_all(void *arg)
{
	const struct ceil_effort least = {.name = "least",
	                                  .min_samples = 1,
	                                  .max_samples = 1,
	                                  .sample_ns = 1,
	                                  .budget_ns = 1};
	const struct ceil_meter_options options = {.seed = 7};
	struct single *x = arg;
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_meter *m = NULL;

	if (ceil_meter_open(x->lane->dev, &options, &m, &err) != CEIL_OK)
		return NULL;
	for (size_t i = 0; i < x->lane->plan.count; i++) {
		struct ceil_outcome o;

		x->lost += ceil_meter_point(m, &x->lane->plan.v[i].point, &least, CEIL_SEARCH, &o,
		                            &err) != CEIL_OK;
		if (x->seen)
			on_outcome(x->seen, x->lane->dev, &o, "", /* is_ceiling= */ false);
		ceil_outcome_done(&o);
	}
	ceil_meter_close(m);
	return NULL;
}

/* Which allocation fails once all lanes are open; 0: none. */
static long fail_at;

static size_t measure_together(const struct ask *a, struct seen *s)
{
	struct ceil_own_case own[MOST];
	struct ceil_filter f = {.own = own, .own_count = own_cases(a, own)};
	struct ceil_lane lanes[MOST] = {{0}};
	struct single ranks[MOST] = {{0}};
	pthread_t threads[MOST];
	struct ceil_team_local *local = NULL;
	struct ceil_error err = {CEIL_OK, ""};
	size_t lost = 0;

	*s = (struct seen){.count = 0};
	if (ceil_list_add(&f.benches, "collective", &err) != CEIL_OK ||
	    (a->variants && ceil_list_add(&f.variants, a->variants, &err) != CEIL_OK) ||
	    ceil_team_local_open(a->ranks, &local, &err) != CEIL_OK)
		exit(1);
	for (unsigned i = 0; i < a->ranks; i++) {
		open_lane(a, &f, i, local, &lanes[i]);
		ranks[i] = (struct single){.lane = &lanes[i], .seen = i == 0 ? s : NULL};
	}
	ceil_alloc_fail_at(fail_at);
	for (unsigned i = 0; i < a->ranks; i++) {
		if (pthread_create(&threads[i], NULL, measure_all, &ranks[i]))
			exit(1);
	}
	for (unsigned i = 0; i < a->ranks; i++) {
		(void)pthread_join(threads[i], NULL);
		lost += ranks[i].lost;
	}
	ceil_alloc_fail_at(0);
	ceil_team_local_close(local);
	for (unsigned i = 0; i < a->ranks; i++) {
		ceil_plan_done(&lanes[i].plan);
		ceil_host_backend.close(lanes[i].dev);
	}
	return lost;
}

static size_t exact_rows(const struct seen *s)
{
	size_t bad = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct row *r = &s->v[i];

		if (strstr(r->variant, ".registered") || r->checked)
			continue; /* host memory is none that NCCL shares */
		printf("# %s %s: %s\n", r->variant, r->cas, r->reason);
		bad++;
	}
	return bad;
}

static void test_all(void)
{
	const struct ask small = {.ranks = 3, .bytes = {8, 12300}};
	/* Over a MiB a hash decides. */
	const struct ask large = {
		.ranks = 2,
		.variants = "all_reduce.sum.fp32,all_reduce.max.fp32,all_gather.copy.fp32,"
			    "all_gather.copy.fp32.in_place,reduce_scatter.sum.fp32.in_place,"
			    "broadcast.copy.fp32,reduce.sum.fp32,all_to_all.copy.fp32,"
			    "send_recv.copy.fp32",
		.bytes = {(2 << 20) + 400}};
	struct seen s;

	is_int((long long)measure_together(&small, &s), 0, "three ranks, every operation");
	is_int((long long)exact_rows(&s), 0, "all results are exact");
	ok(s.count > 60, "%zu of them", s.count);
	has_text(row_of(&s, "all_reduce.sum.fp32", "12300", false)->algorithm,
	         "ring, LL128, 16 channels, NVLS off", "what ran is read from NCCL's log");
	has_text(row_of(&s, "send_recv.copy.fp32", "12300", false)->algorithm,
	         "unknown:", "or unknown");
	ok(row_of(&s, "all_reduce.latency.sum.fp32", "8", false)->value > 0.0, "latencies too");
	is_int((long long)measure_together(&large, &s), 0, "two ranks, large arrays");
	is_int((long long)exact_rows(&s), 0, "all results are exact by their hash");
	is_int((long long)s.count, 9, "of nine operations");
	is_int(count_of("fake_nccl_open"), 0, "no communicator stays open");
	is_int(count_of("fake_nccl_aborted"), 0, "and none was aborted");
}

/* The k-th allocation fails on whichever rank makes it: no rank waits for ever, none leaks. */
static void test_memory(void)
{
	const struct ask a = {.ranks = 2,
	                      .variants = "all_reduce.sum.fp32,all_reduce.latency.sum.fp32",
	                      .bytes = {4096},
	                      .timeout_ns = 60000000};
	size_t failed = 0;
	struct seen s;

	for (long k = 1; k < 24; k++) {
		fail_at = k;
		(void)measure_together(&a, &s); /* rows say what failed */
		for (size_t i = 0; i < s.count; i++)
			failed += s.v[i].status != CEIL_ROW_OK;
	}
	fail_at = 0;
	ok(failed > 0, "%zu rows without memory, and all runs end", failed);
	is_int(count_of("fake_nccl_open"), 0, "no communicator stays open");
}

static void test_one_rank(void)
{
	const struct ask a = {.ranks = 1,
	                      .variants = "all_reduce.sum.fp32,all_reduce.latency.sum.fp32",
	                      .bytes = {4096}};
	const struct row *r;
	struct seen s;
	bool hung = false;

	is_int(run(&a, &s, &hung), CEIL_OK, "one rank");
	r = row_of(&s, "all_reduce.sum.fp32", "4096", false);
	is_int(r->status, CEIL_ROW_OK, "has rows");
	is_int(r->checked, true, "that are exact");
	ok(isnan(r->value), "without busbw");
	ok(r->work.bytes_payload > 0.0, "but with algbw");
	r = row_of(&s, "all_reduce.sum.fp32", "4096", true);
	is_int(r->status, CEIL_ROW_UNSUPPORTED, "and no ceiling");
	has_text(r->reason, "one rank", "with the reason");
	r = row_of(&s, "all_reduce.latency.sum.fp32", "4096", true);
	is_int(r->status, CEIL_ROW_UNSUPPORTED, "nor one of latency");
}

static void test_functional(void)
{
	const struct ask a = {
		.ranks = 2, .variants = "all_reduce.sum.fp32", .bytes = {4096}, .functional = true};
	const struct row *r;
	struct seen s;
	bool hung = false;

	is_int(run(&a, &s, &hung), CEIL_OK, "ranks that share a GPU");
	r = row_of(&s, "all_reduce.sum.fp32", "4096", false);
	is_int(r->checked, true, "have exact results");
	is_int(r->status, CEIL_ROW_UNSUPPORTED, "and no figures");
	has_text(r->reason, "functional test", "said so");
	is_int(row_of(&s, "all_reduce.sum.fp32", "4096", true)->status, CEIL_ROW_UNSUPPORTED,
	       "never a ceiling");
}

static void test_wrong(void)
{
	const struct ask a = {.ranks = 2, .variants = "all_reduce.sum.fp32", .bytes = {8, 2 << 20}};
	const struct row *r;
	struct seen s;
	bool hung = false;

	set("FAKE_NCCL_WRONG", "300000");
	set("FAKE_NCCL_RANK", "1");
	is_int(run(&a, &s, &hung), CEIL_OK, "a wrong element on one rank");
	r = row_of(&s, "all_reduce.sum.fp32", "2097152", false);
	is_int(r->status, CEIL_ROW_FAILED, "fails the row");
	has_text(r->reason, "rank 1: ", "with the rank");
	has_text(r->reason, "element 300000 of the result is ", "and the index");
	is_int(row_of(&s, "all_reduce.sum.fp32", "8", true)->status, CEIL_ROW_OK, "others go on");
	set("FAKE_NCCL_WRONG", NULL);
	set("FAKE_NCCL_RANK", NULL);
}

static void test_failing(void)
{
	const struct ask a = {.ranks = 2,
	                      .variants = "all_reduce.sum.fp32,all_gather.copy.fp32",
	                      .bytes = {4096},
	                      .timeout_ns = 300000000};
	const struct row *r;
	struct seen s;
	bool hung = false;

	set("FAKE_NCCL_FAIL", "ncclAllReduce=2");
	set("FAKE_NCCL_RANK", "1");
	is_int(run(&a, &s, &hung), CEIL_OK, "a call that fails on one rank");
	r = row_of(&s, "all_reduce.sum.fp32", "4096", false);
	is_int(r->status, CEIL_ROW_FAILED, "fails the row");
	has_text(r->reason,
	         "rank 1: ncclAllReduce: unhandled system error: the stand-in was told to fail",
	         "in NCCL's words on the rank that failed first");
	is_int(row_of(&s, "all_gather.copy.fp32", "4096", true)->status, CEIL_ROW_OK,
	       "the next operation has a new communicator");
	set("FAKE_NCCL_RANK", NULL);
	set("FAKE_NCCL_FAIL", "ncclCommInitRank=5");
	is_int(run(&a, &s, &hung), CEIL_OK, "no communicator");
	r = row_of(&s, "all_gather.copy.fp32", "4096", false);
	is_int(r->status, CEIL_ROW_FAILED, "fails all rows");
	has_text(r->reason, "ncclCommInitRank: invalid usage: the stand-in was told to fail",
	         "in NCCL's words");
	set("FAKE_NCCL_FAIL", NULL);
}

/* One rank's communicators alone fail: all ranks count them alike, and give up at the same one. */
static void test_giving_up(void)
{
	const struct ask a = {.ranks = 2,
	                      .variants = "all_reduce.sum.fp32",
	                      .bytes = {4096, 8192, 16384, 32768},
	                      .timeout_ns = 5 * (uint64_t)CEIL_NS_PER_S};
	const char *const words = "rank 1: ncclCommInitRank: invalid usage";
	struct seen s;

	set("FAKE_NCCL_FAIL", "ncclCommInitRank=5");
	set("FAKE_NCCL_RANK", "1");
	(void)measure_together(&a, &s); /* rows say what failed */
	is_int((long long)s.count, 4, "one rank that gets no communicator");
	for (int i = 0; i < 3; i++)
		has_text(s.v[i].reason, words, "is named");
	has_text(s.v[3].reason, "3 communicators of NCCL broke or could not be made",
	         "then no more are tried");
	is_int(count_of("fake_nccl_open"), 0, "and the other rank's are closed");
	set("FAKE_NCCL_FAIL", NULL);
	set("FAKE_NCCL_RANK", NULL);
}

static void test_hang(void)
{
	const struct ask a = {.ranks = 2,
	                      .variants = "all_reduce.sum.fp32,all_gather.copy.fp32",
	                      .bytes = {4096},
	                      .timeout_ns = 300000000};
	const int before = count_of("fake_nccl_aborted");
	const struct row *r;
	struct seen s;
	bool hung = true;

	set("FAKE_NCCL_HANG", "ncclAllReduce");
	set("FAKE_NCCL_RANK", "1");
	is_int(run(&a, &s, &hung), CEIL_OK, "a rank that hangs");
	r = row_of(&s, "all_reduce.sum.fp32", "4096", false);
	is_int(r->status, CEIL_ROW_FAILED, "fails the row");
	/* Both watchdogs end it at the same time; one may see that the other has. */
	ok(strstr(r->reason, "no end within 0.3 s: the communicator was aborted") ||
	           strstr(r->reason, "remote process exited"),
	   "by the watchdog");
	is_int(row_of(&s, "all_gather.copy.fp32", "4096", true)->status, CEIL_ROW_OK,
	       "the run goes on");
	is_int(hung, false, "the device is not lost");
	ok(count_of("fake_nccl_aborted") >= before + 2, "both ranks aborted");
	is_int(count_of("fake_nccl_open"), 0, "nothing stays open");
	set("FAKE_NCCL_HANG", NULL);
	set("FAKE_NCCL_RANK", NULL);
}

static void test_library(void)
{
	const struct ask a = {.ranks = 2, .variants = "all_reduce.sum.fp32", .bytes = {4096}};
	const char *const lacks[] = {"ncclReduceScatter", NULL};
	const char *const older[] = {"ncclCommRegister", "ncclResetDebugInit", "ncclGetLastError",
	                             NULL};
	struct ceil_nccl_info info;
	struct ceil_error err;
	char copy[FAKE_PATH_MAX];
	struct seen s;
	bool hung = false;

	is_int(ceil_nccl_info_read(&info, &err), CEIL_OK, "a library");
	is_text(info.version, "2.28.3", "has a version");
	set("FAKE_NCCL_VERSION", "21705");
	is_int(ceil_nccl_info_read(&info, &err), CEIL_E_UNSUPPORTED, "2.17 is too old");
	has_text(err.text, "2.18 (21800) or newer is needed", "and it says so");
	set("FAKE_NCCL_VERSION", NULL);
	ok(fake_without(fake, lacks, copy), "a copy without a symbol");
	set("GPUCEIL_LIB_NCCL", copy);
	is_int(ceil_nccl_info_read(&info, &err), CEIL_E_UNSUPPORTED, "is refused");
	has_text(err.text, "lacks the symbol ncclReduceScatter", "by name");
	(void)unlink(copy);
	ok(fake_without(fake, older, copy), "a copy without what newer versions have");
	set("GPUCEIL_LIB_NCCL", copy);
	is_int(run(&a, &s, &hung), CEIL_OK, "works");
	has_text(row_of(&s, "all_reduce.sum.fp32", "4096", true)->algorithm, "unknown: NCCL logs",
	         "but does not say what it ran");
	(void)unlink(copy);
	set("GPUCEIL_LIB_NCCL", "/nonexistent/libnccl.so");
	is_int(run(&a, &s, &hung), CEIL_OK, "without a library");
	is_int(row_of(&s, "all_reduce.sum.fp32", "4096", true)->status, CEIL_ROW_UNSUPPORTED,
	       "rows are unsupported");
	set("GPUCEIL_LIB_NCCL", fake);
}

static void test_log(void)
{
	char text[96];

	ok(ceil_nccl_log_parse("n:1:2 [0] NCCL INFO AllReduce: 4194304 Bytes -> Algo NVLS_TREE "
	                       "proto SIMPLE channel{Lo..Hi}={0..15}\n",
	                       text, sizeof(text)),
	   "a line of 2.25");
	is_text(text, "NVLS tree, simple, 16 channels, NVLS on", "in words");
	ok(ceil_nccl_log_parse("n:1:2 [0] NCCL INFO 8 Bytes -> Algo 0 proto 0 time 7.2\n", text,
	                       sizeof(text)),
	   "a line of 2.18");
	is_text(text, "tree, LL, NVLS off", "in words");
	ok(ceil_nccl_log_parse("x Bytes -> Algo PAT proto LL channel{Lo..Hi}={3..3}", text,
	                       sizeof(text)),
	   "an algorithm that is new");
	is_text(text, "PAT, LL, 1 channel, NVLS off", "as it comes");
	ok(!ceil_nccl_log_parse("NCCL version 2.28.3+cuda13.0\n", text, sizeof(text)),
	   "any other line");
}

int main(void)
{
	test_forms();
	test_factors();
	test_exact();
	test_log();
	if (!fake_path("nccl", fake)) {
		skip("runs", "the stand-in library is not built");
		return done_testing();
	}
	set("GPUCEIL_LIB_NCCL", fake);
	set("NCCL_DEBUG", NULL);
	test_all();
	test_memory();
	test_one_rank();
	test_functional();
	test_wrong();
	test_failing();
	test_giving_up();
	test_hang();
	test_library();
	return done_testing();
}
