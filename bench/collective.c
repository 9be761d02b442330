/* The collective bench: how fast GPUs, or hosts, combine and exchange arrays. */
#include "bench/collective.h"

#include <stdlib.h>
#include <string.h>

#include "harness/base/alloc.h"
#include "harness/base/clock.h"
#include "harness/base/dtype.h"
#include "harness/base/text.h"
#include "harness/device/mpi.h"
#include "harness/device/team.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* Calls of a latency row whose times are kept one by one: enough for a 99th percentile. */
enum { LATENCY_CALLS = 250 };

/* Parts of arrays begin at multiples of this, where they are large enough. */
enum { PART_BYTES = 256 };

/* ---- operations */

static double factor_one(double n)
{
	return n > 1.0 ? 1.0 : 0.0;
}

static double factor_parts(double n)
{
	return (n - 1.0) / n;
}

static double factor_all_reduce(double n)
{
	return 2.0 * (n - 1.0) / n;
}

static const struct ceil_collective_info infos[CEIL_COLLECTIVE_COUNT] = {
	[CEIL_ALL_REDUCE] = {"all_reduce", true, false, false, factor_all_reduce},
	[CEIL_ALL_GATHER] = {"all_gather", false, false, true, factor_parts},
	[CEIL_REDUCE_SCATTER] = {"reduce_scatter", true, true, false, factor_parts},
	[CEIL_BROADCAST] = {"broadcast", false, false, false, factor_one},
	[CEIL_REDUCE] = {"reduce", true, false, false, factor_one},
	[CEIL_ALL_TO_ALL] = {"all_to_all", false, true, true, factor_parts},
	[CEIL_SEND_RECV] = {"send_recv", false, false, false, factor_one},
};

struct ceil_collective_form ceil_collective_form_of(const struct ceil_variant *v)
{
	const char *name = v->name;
	struct ceil_collective_form f = {
		.dtype = v->types.a,
		.max = strstr(name, ".max.") != NULL,
		.in_place = strstr(name, ".in_place") != NULL,
		.registered = strstr(name, ".registered") != NULL,
		.latency = v->unit == CEIL_US,
		.host = strcmp(v->backend, "host") == 0,
	};

	for (int i = 0; i < CEIL_COLLECTIVE_COUNT; i++) {
		const size_t n = strlen(infos[i].name);

		if (strncmp(name, infos[i].name, n) == 0 && name[n] == '.')
			f.operation = (enum ceil_collective)i;
	}
	f.info = &infos[f.operation];
	return f;
}

struct ceil_collective_span ceil_collective_output(const struct ceil_collective_form *f,
                                                   uint64_t count, uint32_t rank, uint32_t ranks)
{
	const uint64_t part = ceil_dtype_bytes(f->dtype, count);
	struct ceil_collective_span s = {CEIL_COLLECTIVE_RECV, 0, part};

	if (f->info->parts_received)
		s.bytes = ranks * part;
	if (f->operation == CEIL_REDUCE && rank != 0)
		s.bytes = 0;
	if (!f->in_place || f->operation == CEIL_ALL_GATHER)
		return s;
	s.buffer = CEIL_COLLECTIVE_SEND;
	if (f->operation == CEIL_REDUCE_SCATTER)
		s.offset_bytes = rank * part;
	return s;
}

/* ---- shape */

static uint32_t ranks_of(const struct ceil_device_props *d)
{
	return d->ranks ? d->ranks : 1;
}

/* Elements of a part, or of the array where it has no parts; never none. */
static uint64_t count_of(const struct ceil_collective_form *f, uint64_t bytes, uint32_t ranks)
{
	const uint64_t elements = bytes * 8 / ceil_dtype_info(f->dtype)->bits;
	const uint64_t whole = PART_BYTES * 8 / ceil_dtype_info(f->dtype)->bits;
	uint64_t count = elements;

	if (f->info->parts_sent || f->info->parts_received)
		count = elements / ranks;
	if (count > whole)
		count -= count % whole;
	return count ? count : 1;
}

static struct ceil_buffer buffer_of(const struct ceil_collective_form *f, enum ceil_role role,
                                    uint64_t bytes)
{
	return (struct ceil_buffer){
		.memory = f->registered ? CEIL_MEM_SHARED : CEIL_MEM_DEVICE,
		.role = role,
		.dtype = f->dtype,
		.numa_node = -1,
		.bytes = bytes,
	};
}

static void set_buffers(const struct ceil_collective_form *f, uint64_t count, uint32_t ranks,
                        struct ceil_buffer *buf)
{
	const uint64_t part = ceil_dtype_bytes(f->dtype, count);
	const uint64_t sent = f->info->parts_sent ? ranks * part : part;
	const uint64_t received = f->info->parts_received ? ranks * part : part;

	buf[CEIL_COLLECTIVE_SEND] = buffer_of(f, CEIL_INPUT, sent);
	buf[CEIL_COLLECTIVE_RECV] = buffer_of(f, CEIL_OUTPUT, received);
	if (!f->in_place)
		return;
	/* The larger of both arrays stays: it holds the smaller one. */
	const bool in_recv = f->operation == CEIL_ALL_GATHER;

	buf[CEIL_COLLECTIVE_SEND] = buffer_of(f, CEIL_IN_PLACE, in_recv ? 0 : sent);
	buf[CEIL_COLLECTIVE_RECV] = buffer_of(f, CEIL_IN_PLACE, in_recv ? received : 0);
}

static enum ceil_status collective_shape(const struct ceil_point *p,
                                         const struct ceil_device_props *d,
                                         struct ceil_launch *ret_l,
                                         struct ceil_buffer ret_buf[CEIL_MAX_BUFS],
                                         struct ceil_error *err)
{
	const struct ceil_collective_form f = ceil_collective_form_of(p->variant);
	uint64_t bytes;

	if (f.host && ranks_of(d) < 2)
		return ceil_fail(err, CEIL_E_UNSUPPORTED,
		                 "one process: start several with mpirun or srun, and --mpi");
	ret_l->n = count_of(&f, p->cas->axis[0], ranks_of(d));
	ret_l->k = ranks_of(d);
	ret_l->self_count = f.latency ? LATENCY_CALLS : 0;
	set_buffers(&f, ret_l->n, ranks_of(d), ret_buf);
	bytes = ret_buf[CEIL_COLLECTIVE_SEND].bytes + ret_buf[CEIL_COLLECTIVE_RECV].bytes;
	if (bytes <= d->free_bytes)
		return CEIL_OK;
	return ceil_bench_no_room(d, p->variant->name, bytes, /* why= */ NULL, err);
}

/* The whole array, as nccl-tests counts it: with parts, those of all ranks. */
static void collective_work(const struct ceil_point *p, const struct ceil_launch *l,
                            struct ceil_work *ret_w)
{
	const struct ceil_collective_form f = ceil_collective_form_of(p->variant);
	const bool parts = f.info->parts_sent || f.info->parts_received;
	const double ranks = (double)l->k;
	const double bytes = (double)ceil_dtype_bytes(f.dtype, l->n) * (parts ? ranks : 1.0);

	*ret_w = (struct ceil_work){
		.bytes_payload = bytes,
		.bytes_wire = bytes * f.info->factor(ranks),
	};
}

/* Small arrays for latencies, large ones for rates; hosts as a whole, not their NUMA nodes. */
static bool collective_applies(const struct ceil_point *p, const struct ceil_device_props *d)
{
	const struct ceil_collective_form f = ceil_collective_form_of(p->variant);
	const uint64_t bytes = p->cas->axis[0];

	if (f.host && d && strcmp(d->label, "cpu") != 0)
		return false;
	if (p->apart)
		return true;
	return f.latency ? bytes <= 256 * KIB : bytes > 64;
}

/* ---- state: a communicator that the team keeps from point to point, and one call */

struct state {
	struct ceil_team *team;
	struct ceil_device *dev;
	struct ceil_nccl_comm *comm; /* the team's; NULL for host variants */
	struct ceil_mpi *mpi;        /* of host variants */
	struct ceil_nccl_call call;
	uint64_t limit_ns;                      /* of the call */
	void *handles[CEIL_COLLECTIVE_BUFFERS]; /* of registered buffers */
	char ran[96];
};

struct kept {
	struct ceil_nccl_comm *comm;
	struct ceil_nccl_log *log; /* rank 0 only */
	/* Communicators that all ranks set out to make; those before the last one are lost. Counted
	 * by what all decide together: ranks that differ here would wait for each other. */
	int tried;
};

/* A fresh communicator costs seconds; after this many something is wrong for good. */
enum { MOST_TRIED = 3 };

static void drop_kept(void *arg)
{
	struct kept *k = arg;

	ceil_nccl_comm_close(k->comm);
	ceil_nccl_log_close(k->log);
	free(k);
}

/* Ten seconds, and as much as a network of 1 Gb/s may need. */
static uint64_t timeout_of(const struct ceil_team *team, const struct ceil_nccl_call *call)
{
	const uint64_t bytes = ceil_dtype_bytes(call->dtype, call->count) * team->size;

	return team->timeout_ns ? team->timeout_ns : 10 * (uint64_t)CEIL_NS_PER_S + 10 * bytes;
}

/* Rank 0 makes the id, and points NCCL's log at a file before anyone calls it. */
static enum ceil_status make_id(struct state *s, struct kept *k, struct ceil_nccl_id *ret_id,
                                struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	if (s->team->rank == 0) {
		if (!k->log)
			k->log = ceil_nccl_log_open();
		st = ceil_nccl_id_make(ret_id, err);
	}
	st = ceil_team_agree(s->team, st, err);
	return st == CEIL_OK ? ceil_team_follow(s->team, ret_id, sizeof(*ret_id), err) : st;
}

static enum ceil_status open_comm(struct state *s, struct kept *k, struct ceil_error *err)
{
	const uint64_t patience_ns =
		s->team->timeout_ns ? s->team->timeout_ns : 60 * (uint64_t)CEIL_NS_PER_S;
	struct ceil_nccl_id id = {{0}};
	enum ceil_status st;

	if (k->tried >= MOST_TRIED)
		return ceil_fail(err, CEIL_E_DEVICE,
		                 "%d communicators of NCCL broke or could not be made: no more are "
		                 "tried",
		                 MOST_TRIED);
	st = make_id(s, k, &id, err);
	if (st != CEIL_OK)
		return st;
	k->tried++;
	st = ceil_nccl_comm_open(s->dev, &id, s->team->rank, s->team->size, patience_ns, &k->comm,
	                         err);
	return ceil_team_agree(s->team, st, err);
}

/* One member's broken communicator is of no use to the others either: all make a new one. */
static enum ceil_status get_comm(struct state *s, struct kept *k, struct ceil_error *err)
{
	double missing = 0.0;
	enum ceil_status st;

	if (!k->comm || ceil_nccl_comm_broken(k->comm))
		missing = 1.0;
	st = ceil_team_slowest(s->team, &missing, 1, err);
	if (st == CEIL_OK && missing > 0.0) {
		if (k->comm)
			ceil_nccl_comm_break(k->comm);
		ceil_nccl_comm_close(k->comm);
		k->comm = NULL;
		st = open_comm(s, k, err);
	}
	s->comm = k->comm;
	return st;
}

static enum ceil_status register_buffers(struct state *s, const struct ceil_launch *l,
                                         const struct ceil_buffer *buf, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (int i = 0; i < CEIL_COLLECTIVE_BUFFERS && st == CEIL_OK; i++) {
		if (buf[i].bytes > 0)
			st = ceil_nccl_register(s->comm, l->buf[i], buf[i].bytes, &s->handles[i],
			                        err);
	}
	return ceil_team_agree(s->team, st, err);
}

/* An untimed call: it makes connections, and NCCL's log says what it chose. */
static enum ceil_status first_call(struct state *s, const struct ceil_launch *l,
                                   struct ceil_error *err)
{
	const struct kept *k = s->team->kept;
	const bool pairs =
		s->call.operation == CEIL_ALL_TO_ALL || s->call.operation == CEIL_SEND_RECV;
	const bool logs = s->team->rank == 0;
	char meeting = 0;
	enum ceil_status st;

	if (logs)
		ceil_nccl_log_begin(k->log, s->comm);
	/* The log is the process's: nobody calls NCCL while it is switched. */
	st = ceil_team_follow(s->team, &meeting, sizeof(meeting), err);
	if (st == CEIL_OK)
		st = ceil_nccl_start(s->comm, &s->call, l->stream[0], err);
	if (st == CEIL_OK)
		st = ceil_nccl_settle(s->comm, err);
	st = ceil_team_agree(s->team, st, err);
	if (logs)
		ceil_nccl_log_end(k->log, s->comm, s->ran, sizeof(s->ran));
	if (s->team->size == 1)
		ceil_copy(s->ran, sizeof(s->ran), "one rank: a copy");
	else if (pairs && strncmp(s->ran, "unknown", 7) == 0)
		ceil_copy(s->ran, sizeof(s->ran), "unknown: NCCL logs no sends and receives");
	return st;
}

static void set_call(struct state *s, const struct ceil_collective_form *f,
                     const struct ceil_launch *l)
{
	const struct ceil_collective_span out =
		ceil_collective_output(f, l->n, s->team->rank, s->team->size);
	const uint64_t part = ceil_dtype_bytes(f->dtype, l->n);

	s->call = (struct ceil_nccl_call){
		.operation = f->operation,
		.dtype = f->dtype,
		.max = f->max,
		.send = l->buf[CEIL_COLLECTIVE_SEND],
		.recv = l->buf[CEIL_COLLECTIVE_RECV],
		.count = l->n,
	};
	if (!f->in_place)
		return;
	s->call.recv = (char *)l->buf[out.buffer] + out.offset_bytes;
	s->call.send = f->operation == CEIL_ALL_GATHER
	                       ? (char *)l->buf[CEIL_COLLECTIVE_RECV] + s->team->rank * part
	                       : l->buf[CEIL_COLLECTIVE_SEND];
}

static enum ceil_status prepare_nccl(struct state *s, const struct ceil_collective_form *f,
                                     const struct ceil_launch *l, struct ceil_error *err)
{
	struct ceil_buffer buf[CEIL_COLLECTIVE_BUFFERS];
	enum ceil_status st = CEIL_OK;

	if (!s->team->kept) {
		s->team->kept = ceil_alloc(1, sizeof(struct kept), err);
		s->team->drop = drop_kept;
		st = s->team->kept ? CEIL_OK : CEIL_E_NOMEM;
	}
	st = ceil_team_agree(s->team, st, err);
	if (st == CEIL_OK)
		st = get_comm(s, s->team->kept, err);
	if (st != CEIL_OK)
		return st;
	ceil_nccl_timeout(s->comm, s->limit_ns);
	set_buffers(f, l->n, s->team->size, buf);
	if (f->registered)
		st = register_buffers(s, l, buf, err);
	return st == CEIL_OK ? first_call(s, l, err) : st;
}

static enum ceil_status collective_prepare(const struct ceil_point *p, struct ceil_device *dev,
                                           struct ceil_launch *l, uint32_t *ret_candidates,
                                           struct ceil_error *err)
{
	const struct ceil_collective_form f = ceil_collective_form_of(p->variant);
	struct state *s;

	if (!dev->team)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "%s measures without a team",
		                 dev->props.label);
	s = ceil_alloc(1, sizeof(*s), err);
	if (ceil_team_agree(dev->team, s ? CEIL_OK : CEIL_E_NOMEM, err) != CEIL_OK) {
		free(s);
		return err->status;
	}
	l->state = s;
	s->team = dev->team;
	s->dev = dev;
	s->mpi = f.host ? ceil_mpi_of(dev->team) : NULL;
	*ret_candidates = 1;
	set_call(s, &f, l);
	s->limit_ns = timeout_of(s->team, &s->call);
	if (!f.host)
		return prepare_nccl(s, &f, l, err);
	if (!s->mpi)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "hosts exchange data by MPI: see --mpi");
	ceil_copy(s->ran, sizeof(s->ran), s->mpi->world.implementation);
	return CEIL_OK;
}

static void collective_release(struct ceil_launch *l)
{
	struct state *s = l->state;

	for (int i = 0; s && s->comm && i < CEIL_COLLECTIVE_BUFFERS; i++)
		ceil_nccl_deregister(s->comm, s->handles[i]);
	free(s);
	l->state = NULL;
}

static void collective_describe(const struct ceil_launch *l, char *ret_text, size_t size)
{
	const struct state *s = l->state;

	ceil_copy(ret_text, size, s->ran);
}

/* ---- launchers */

static enum ceil_status settle(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct state *s = l->state;

	return s->comm ? ceil_nccl_settle(s->comm, err) : CEIL_OK;
}

static enum ceil_status start(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct state *s = l->state;

	return ceil_nccl_start(s->comm, &s->call, l->stream[0], err);
}

static enum ceil_status start_host(const struct ceil_launch *l, struct ceil_error *err)
{
	const struct state *s = l->state;
	const bool in_place = s->call.send == s->call.recv;

	return ceil_mpi_all_reduce(s->mpi, in_place ? NULL : s->call.send, s->call.recv,
	                           s->call.count, s->call.dtype, s->call.max, s->limit_ns, err);
}

/* Calls one by one, each until its result is there: what a program that waits for it sees. */
static enum ceil_status time_calls(const struct ceil_launch *l, ceil_launch_fn one,
                                   struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (uint32_t i = 0; i < l->self_count && st == CEIL_OK; i++) {
		const uint64_t from_ns = ceil_now_ns();

		st = one(l, err);
		if (st == CEIL_OK)
			st = settle(l, err);
		l->self_ns[i] = (double)(ceil_now_ns() - from_ns);
	}
	return st;
}

static enum ceil_status launch_gpu(const struct ceil_launch *l, struct ceil_error *err)
{
	return l->self_ns ? time_calls(l, start, err) : start(l, err);
}

static enum ceil_status launch_host(const struct ceil_launch *l, struct ceil_error *err)
{
	return l->self_ns ? time_calls(l, start_host, err) : start_host(l, err);
}

/* ---- tables */

static const struct ceil_axis axes[] = {
	{"bytes", "bytes", "of the array that is combined or exchanged, all parts of it together"},
};

#define SIZE(name, bytes)                                                                          \
	{                                                                                          \
		name, NULL, false,                                                                 \
		{                                                                                  \
			(bytes)                                                                    \
		}                                                                                  \
	}

static const struct ceil_case cases[] = {
	{"8B", NULL, true, {8}},
	{"16MiB", "host", true, {16 * MIB}},
	{"64MiB", "cuda", false, {64 * MIB}},
	{"256MiB", "cuda", true, {256 * MIB}},
	{"1GiB", "cuda", false, {GIB}},
};

/* Every power of two between: curves for long runs. */
static const struct ceil_case sizes[] = {
	SIZE("16B", 16),
	SIZE("32B", 32),
	SIZE("64B", 64),
	SIZE("128B", 128),
	SIZE("256B", 256),
	SIZE("512B", 512),
	SIZE("1KiB", KIB),
	SIZE("2KiB", 2 * KIB),
	SIZE("4KiB", 4 * KIB),
	SIZE("8KiB", 8 * KIB),
	SIZE("16KiB", 16 * KIB),
	SIZE("32KiB", 32 * KIB),
	SIZE("64KiB", 64 * KIB),
	SIZE("128KiB", 128 * KIB),
	SIZE("256KiB", 256 * KIB),
	SIZE("512KiB", 512 * KIB),
	SIZE("1MiB", MIB),
	SIZE("2MiB", 2 * MIB),
	SIZE("4MiB", 4 * MIB),
	SIZE("8MiB", 8 * MIB),
	{"16MiB", "cuda", false, {16 * MIB}},
	SIZE("32MiB", 32 * MIB),
	{"64MiB", "host", false, {64 * MIB}},
	SIZE("128MiB", 128 * MIB),
	{"512MiB", "cuda", false, {512 * MIB}},
	{"2GiB", "cuda", false, {2 * GIB}},
	{"4GiB", "cuda", false, {4 * GIB}},
	{"8GiB", "cuda", false, {8 * GIB}},
};

static const struct ceil_case_list more[] = {
	{"sizes", "8 B to 8 GiB in powers of two", sizes, sizeof(sizes) / sizeof(sizes[0])},
};

#define TYPES(t)                                                                                   \
	{                                                                                          \
		CEIL_##t, CEIL_##t, CEIL_##t, CEIL_##t                                             \
	}
#define COMMON(t)                                                                                  \
	.types = TYPES(t), .backend = "cuda", .launch = launch_gpu, .pattern = CEIL_NORMAL,        \
	.tolerance = 0.05
/* The rate of large arrays. */
#define RATE(op, what, t, is_quick, text)                                                          \
	{                                                                                          \
		.name = #op "." what, .doc = text, .ceiling = "collective." #op ".busbw",          \
		.unit = CEIL_GB_S, .resource = CEIL_R_FABRIC, .timing = CEIL_TIME_MARKS,           \
		.quick = is_quick, COMMON(t)                                                       \
	}
#define RATE_FP8(op, what, t, text)                                                                \
	{                                                                                          \
		.name = #op "." what, .doc = text, .ceiling = "collective." #op ".busbw",          \
		.unit = CEIL_GB_S, .resource = CEIL_R_FABRIC, .timing = CEIL_TIME_MARKS,           \
		.min_cc = 90, COMMON(t)                                                            \
	}
/* Calls one by one. */
#define TIME(op, what, is_quick)                                                                   \
	{                                                                                          \
		.name = #op "." what, .doc = "single calls, each waited for",                      \
		.ceiling = "collective." #op ".latency", .unit = CEIL_US,                          \
		.resource = CEIL_R_LATENCY, .timing = CEIL_TIME_SELF, .quick = is_quick,           \
		COMMON(FP32)                                                                       \
	}
#define HOST_COMMON(t)                                                                             \
	.types = TYPES(t), .backend = "host", .launch = launch_host, .resource = CEIL_R_FABRIC,    \
	.pattern = CEIL_INTEGERS, .tolerance = 0.05
#define HOST_RATE(what, t, is_quick, text)                                                         \
	{                                                                                          \
		.name = "all_reduce." what, .doc = text, .ceiling = "host.all_reduce.busbw",       \
		.unit = CEIL_GB_S, .timing = CEIL_TIME_MARKS, .quick = is_quick, HOST_COMMON(t)    \
	}

#define OUT      "from one array into another"
#define IN_PLACE "the result replaces the input"
#define KNOWN    "buffers of ncclMemAlloc that the communicator knows (ncclCommRegister)"

static const struct ceil_variant variants[] = {
	RATE(all_reduce, "sum.fp32", FP32, true, OUT),
	RATE(all_reduce, "sum.fp32.in_place", FP32, false, IN_PLACE),
	RATE(all_reduce, "sum.fp32.registered", FP32, false, KNOWN),
	RATE(all_reduce, "sum.bf16", BF16, true, OUT),
	RATE(all_reduce, "sum.bf16.in_place", BF16, false, IN_PLACE),
	RATE(all_reduce, "sum.fp16", FP16, false, OUT),
	RATE_FP8(all_reduce, "sum.e4m3", E4M3, OUT),
	RATE_FP8(all_reduce, "sum.e5m2", E5M2, OUT),
	RATE(all_reduce, "max.fp32", FP32, false, OUT),
	RATE(all_reduce, "max.bf16", BF16, false, OUT),
	RATE(all_gather, "copy.fp32", FP32, true, OUT),
	RATE(all_gather, "copy.fp32.in_place", FP32, false, IN_PLACE),
	RATE(all_gather, "copy.fp32.registered", FP32, false, KNOWN),
	RATE(reduce_scatter, "sum.fp32", FP32, true, OUT),
	RATE(reduce_scatter, "sum.fp32.in_place", FP32, false, IN_PLACE),
	RATE(reduce_scatter, "sum.fp32.registered", FP32, false, KNOWN),
	RATE(reduce_scatter, "sum.bf16", BF16, false, OUT),
	RATE(reduce_scatter, "max.fp32", FP32, false, OUT),
	RATE(broadcast, "copy.fp32", FP32, true, OUT),
	RATE(broadcast, "copy.fp32.in_place", FP32, false, IN_PLACE),
	RATE(reduce, "sum.fp32", FP32, true, OUT),
	RATE(reduce, "sum.fp32.in_place", FP32, false, IN_PLACE),
	RATE(reduce, "sum.bf16", BF16, false, OUT),
	RATE(reduce, "max.fp32", FP32, false, OUT),
	RATE(all_to_all, "copy.fp32", FP32, true, OUT),
	RATE(send_recv, "copy.fp32", FP32, true, "each rank to the next one"),

	TIME(all_reduce, "latency.sum.fp32", true),
	TIME(all_gather, "latency.copy.fp32", false),
	TIME(reduce_scatter, "latency.sum.fp32", false),
	TIME(broadcast, "latency.copy.fp32", false),
	TIME(reduce, "latency.sum.fp32", false),
	TIME(all_to_all, "latency.copy.fp32", false),
	TIME(send_recv, "latency.copy.fp32", true),

	HOST_RATE("mpi.sum.fp32", FP32, true, "MPI_Allreduce between host memories"),
	HOST_RATE("mpi.sum.fp32.in_place", FP32, false, "with MPI_IN_PLACE"),
	HOST_RATE("mpi.sum.fp64", FP64, false, "MPI_Allreduce between host memories"),
	HOST_RATE("mpi.max.fp32", FP32, false, "the largest instead of the sum"),
	{
		.name = "all_reduce.latency.mpi.sum.fp32",
		.doc = "single calls of MPI_Allreduce",
		.ceiling = "host.all_reduce.latency",
		.unit = CEIL_US,
		.timing = CEIL_TIME_SELF,
		.quick = true,
		HOST_COMMON(FP32),
	},
};

const struct ceil_bench ceil_collective_bench = {
	.name = "collective",
	.summary = "collectives between GPUs by NCCL, and between hosts by MPI",
	.doc = "All GPUs of this process, or with --mpi one of each process, combine or exchange "
	       "arrays. The value of a rate is busbw: the array over the time, times the factor "
	       "that "
	       "makes it comparable with a link's rate (all_reduce 2 (n - 1) / n; all_gather, "
	       "reduce_scatter, all_to_all (n - 1) / n; the others 1); algbw stands beside it. "
	       "Time "
	       "is that of the slowest rank. Latencies are of single calls of 8 bytes, from the "
	       "call "
	       "to the result; p99 in records.csv. A broadcast or reduce has rank 0 as root.",
	.source = "NVIDIA, nccl-tests, doc/PERFORMANCE.md, for algbw and busbw",
	.variants = variants,
	.variant_count = sizeof(variants) / sizeof(variants[0]),
	.axes = axes,
	.axis_count = sizeof(axes) / sizeof(axes[0]),
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.more = more,
	.more_count = sizeof(more) / sizeof(more[0]),
	.buf_count = CEIL_COLLECTIVE_BUFFERS,
	.concurrent = true,
	.team = true,
	.check_pattern = CEIL_INTEGERS,
	.shape = collective_shape,
	.work = collective_work,
	.applies = collective_applies,
	.prepare = collective_prepare,
	.release = collective_release,
	.describe = collective_describe,
	.wait = settle,
	.check = ceil_collective_check,
	.check_fill = ceil_collective_fill,
};
