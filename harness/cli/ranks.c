/* The processes of an MPI run: which GPU each has, and their rows on the way to rank 0. */
#include "harness/cli/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/analysis/link.h"
#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/device/network.h"

/* After a signal the launcher ends all ranks within a second or so. */
#define AFTER_SIGNAL_NS (500 * (uint64_t)CEIL_NS_PER_MS)
/* Rows that are on their way have come by then. */
#define AFTER_LOSS_NS (2 * (uint64_t)CEIL_NS_PER_S)

/* All have just agreed when they tell what they have. */
#define BIND_NS (60 * (uint64_t)CEIL_NS_PER_S)

bool ceil_ranks_leads(const struct ceil_ranks *r)
{
	return !r->mpi || r->mpi->world.rank == 0;
}

bool ceil_ranks_host_part(const struct ceil_ranks *r)
{
	return !r->mpi || r->mpi->world.local_rank == 0;
}

/* ---- opening and closing */

static void on_idle(void *user)
{
	ceil_ranks_receive(user);
}

enum ceil_status ceil_ranks_open(struct ceil_ranks *r, struct ceil_error *err)
{
	enum ceil_status st = ceil_mpi_open(&r->mpi, err);

	if (st != CEIL_OK)
		return st;
	r->all = ceil_alloc(r->mpi->world.size, sizeof(*r->all), err);
	/* MPI stays open: once another rank has left, the launcher may end rank 0 unheard. */
	return ceil_team_agree(&r->mpi->team, r->all ? CEIL_OK : CEIL_E_NOMEM, err);
}

void ceil_ranks_close(struct ceil_ranks *r)
{
	ceil_mpi_close(r->mpi);
	free(r->all);
	r->mpi = NULL;
	r->all = NULL;
}

/* ---- who has which GPU */

static bool is_gpu(const struct ceil_found *f)
{
	return strcmp(f->backend->name, "host") != 0;
}

static void host_name(char *ret_text, size_t size)
{
	if (gethostname(ret_text, size))
		ceil_copy(ret_text, size, "host");
	ret_text[size - 1] = '\0'; /* a name that does not fit is cut */
}

void ceil_ranks_describe(const struct ceil_found *found, struct ceil_rank *ret_rank)
{
	const struct ceil_nvml_info *n = &found->info;
	const struct ceil_link pcie = {n->pcie_max_gen, n->pcie_max_width};
	struct ceil_network network;

	ceil_copy(ret_rank->device, sizeof(ret_rank->device), found->props.label);
	ceil_copy(ret_rank->gpu_name, sizeof(ret_rank->gpu_name), found->props.name);
	ceil_copy(ret_rank->gpu_uuid, sizeof(ret_rank->gpu_uuid), found->props.uuid);
	ceil_copy(ret_rank->pci_bus_id, sizeof(ret_rank->pci_bus_id), found->props.pci_bus_id);
	ceil_network_read(&network);
	ret_rank->network_gb_s = network.gb_s;
	ceil_copy(ret_rank->network, sizeof(ret_rank->network), network.name);
	if (network.ports > 1)
		ceil_append(ret_rank->network, sizeof(ret_rank->network), ", %d ports",
		            network.ports);
	ceil_copy(ret_rank->link, sizeof(ret_rank->link), "");
	if (found->gpu && n->nvlink_count > 0 && n->nvlink_gb_s > 0.0) {
		ret_rank->link_gb_s = n->nvlink_gb_s;
		ceil_append(ret_rank->link, sizeof(ret_rank->link), "NVLink, %d links",
		            n->nvlink_count);
		return;
	}
	ret_rank->link_gb_s = found->gpu ? ceil_link_gb_s(&pcie, &found->props) : 0.0;
	if (ret_rank->link_gb_s > 0.0)
		ceil_link_name(&pcie, &found->props, ret_rank->link, sizeof(ret_rank->link));
	else
		ret_rank->link_gb_s = 0.0;
}

void ceil_ranks_fabric(const struct ceil_rank *all, unsigned size, double *ret_gb_s, char *ret_text,
                       size_t text_size)
{
	/* Without MPI all are of this process. */
	const bool one_machine = all[0].local_size == 0 || all[0].local_size == size;
	double least = INFINITY;

	*ret_gb_s = 0.0;
	ceil_copy(ret_text, text_size, "");
	if (size < 2)
		return;
	for (unsigned i = 0; i < size; i++) {
		/* A ring enters and leaves each machine, by all of its ports together. */
		const bool network = !one_machine && all[i].network_gb_s < all[i].link_gb_s;
		const double here = network ? all[i].network_gb_s : all[i].link_gb_s;

		if (!(here < least))
			continue;
		least = here;
		ceil_copy(ret_text, text_size, network ? all[i].network : all[i].link);
	}
	*ret_gb_s = least;
	if (!(least > 0.0)) {
		*ret_gb_s = 0.0;
		ceil_copy(ret_text, text_size, "");
	}
}

static enum ceil_status same_gpu(const struct ceil_rank *all, unsigned a, unsigned b,
                                 bool *ret_functional, struct ceil_error *err)
{
	const struct ceil_rank *x = &all[a];
	const struct ceil_rank *y = &all[b];

	if (!x->gpu_uuid[0] || strcmp(x->gpu_uuid, y->gpu_uuid) != 0)
		return CEIL_OK;
	if (x->host_id[0] && y->host_id[0] && strcmp(x->host_id, y->host_id) != 0) {
		*ret_functional = true;
		return CEIL_OK;
	}
	return ceil_fail(err, CEIL_E_USAGE,
	                 "ranks %u and %u on %.40s have the same GPU %.44s: start one rank a GPU "
	                 "(for a functional test give each its own NCCL_HOSTID)",
	                 a, b, x->host, x->gpu_uuid);
}

/* Ranks that measure together would wait for the one that cannot. */
static enum ceil_status lacks(const struct ceil_rank *all, unsigned has, unsigned none,
                              const char *what, const char *why, struct ceil_error *err)
{
	return ceil_fail(err, CEIL_E_USAGE,
	                 "rank %u on %.24s has %s to measure and rank %u on %.24s has none: all "
	                 "ranks need them%s%s",
	                 has, all[has].host, what, none, all[none].host, *why ? ": " : "", why);
}

enum ceil_status ceil_ranks_judge(const struct ceil_rank *all, unsigned size, bool *ret_functional,
                                  struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	*ret_functional = false;
	for (unsigned i = 1; i < size && st == CEIL_OK; i++) {
		const bool has = all[i].gpu_uuid[0] != '\0';
		const unsigned gpu = has ? i : 0;
		const unsigned host = all[i].has_host ? i : 0;

		if (has != (all[0].gpu_uuid[0] != '\0'))
			return lacks(all, gpu, i - gpu, "a GPU", all[i - gpu].no_gpu, err);
		if (all[i].has_host != all[0].has_host)
			return lacks(all, host, i - host, "CPUs", all[i - host].no_host, err);
		if (has && all[i].local_size != all[0].local_size)
			return ceil_fail(err, CEIL_E_USAGE,
			                 "%.40s has %u ranks and %.40s has %u: collectives need as "
			                 "many GPUs on each machine",
			                 all[0].host, all[0].local_size, all[i].host,
			                 all[i].local_size);
		for (unsigned k = 0; k < i && st == CEIL_OK; k++)
			st = same_gpu(all, k, i, ret_functional, err);
	}
	return st;
}

/* Leaves the inventory the GPU of the index among its GPUs, and the host. */
static void keep_gpu(struct ceil_inventory *inv, unsigned index)
{
	unsigned gpus = 0;
	size_t kept = 0;

	for (size_t i = 0; i < inv->found_count; i++) {
		if (!is_gpu(&inv->found[i]) || gpus++ == index)
			inv->found[kept++] = inv->found[i];
	}
	inv->found_count = kept;
}

static enum ceil_status choose(const struct ceil_mpi_world *w, struct ceil_inventory *inv,
                               struct ceil_rank *mine, struct ceil_error *err)
{
	for (size_t i = 0; i < inv->found_count; i++) {
		mine->gpu_count += is_gpu(&inv->found[i]);
		mine->has_host |= !is_gpu(&inv->found[i]);
	}
	for (size_t i = 0; i < inv->missing_count; i++) {
		const bool host = strcmp(inv->missing[i].backend->name, "host") == 0;

		ceil_copy(host ? mine->no_host : mine->no_gpu, sizeof(mine->no_gpu),
		          inv->missing[i].reason);
	}
	if (mine->gpu_count > 1 && mine->gpu_count != w->local_size)
		return ceil_fail(
			err, CEIL_E_USAGE,
			"%u GPUs are visible to rank %u and %u ranks share %.40s: start as "
			"many ranks as GPUs, or let each see one (CUDA_VISIBLE_DEVICES)",
			mine->gpu_count, w->rank, w->local_size, mine->host);
	keep_gpu(inv, mine->gpu_count > 1 ? w->local_rank : 0);
	for (size_t i = 0; i < inv->found_count; i++) {
		if (is_gpu(&inv->found[i]) && inv->found[i].skipped)
			return ceil_fail(err, CEIL_E_DEVICE, "%s on %.40s is left out: %s",
			                 inv->found[i].props.label, mine->host,
			                 inv->found[i].reason);
		if (is_gpu(&inv->found[i]))
			ceil_ranks_describe(&inv->found[i], mine);
	}
	return CEIL_OK;
}

enum ceil_status ceil_ranks_bind(struct ceil_ranks *r, struct ceil_inventory *inv,
                                 struct ceil_error *err)
{
	struct ceil_team *team = r->mpi ? &r->mpi->team : NULL;
	const char *host_id = getenv("NCCL_HOSTID");
	struct ceil_rank mine = {.gpu_count = 0};
	enum ceil_status st;

	if (!team)
		return CEIL_OK;
	host_name(mine.host, sizeof(mine.host));
	ceil_copy(mine.host_id, sizeof(mine.host_id), host_id ? host_id : "");
	mine.local_rank = r->mpi->world.local_rank;
	mine.local_size = r->mpi->world.local_size;
	st = ceil_team_agree(team, choose(&r->mpi->world, inv, &mine, err), err);
	if (st == CEIL_OK)
		st = team->gather(team, &mine, r->all, sizeof(mine), BIND_NS, err);
	if (st == CEIL_OK)
		st = ceil_ranks_judge(r->all, team->size, &r->functional, err);
	team->functional = r->functional;
	return st;
}

void ceil_ranks_join(struct ceil_ranks *r, struct ceil_device *dev)
{
	struct ceil_device_props *p = &dev->props;

	dev->team = &r->mpi->team;
	p->rank = r->mpi->world.rank;
	p->ranks = r->mpi->world.size;
	if (strcmp(dev->backend->name, "host") != 0)
		ceil_ranks_fabric(r->all, p->ranks, &p->fabric_gb_s, p->fabric, sizeof(p->fabric));
}

void ceil_ranks_print(const struct ceil_ranks *r, FILE *f)
{
	for (unsigned i = 0; r->mpi && i < r->mpi->world.size; i++) {
		const struct ceil_rank *x = &r->all[i];

		fprintf(f, "rank %u: %s, local rank %u of %u", i, x->host, x->local_rank,
		        x->local_size);
		if (x->device[0])
			fprintf(f, ", %s %s, PCI %s, %s", x->device, x->gpu_name, x->pci_bus_id,
			        x->gpu_uuid);
		fputc('\n', f);
	}
	if (r->functional)
		fputs("ranks share a GPU: a functional test, whose times mean nothing\n", f);
}

json_t *ceil_ranks_json(const struct ceil_ranks *r)
{
	json_t *all = json_array();

	for (unsigned i = 0; r->mpi && i < r->mpi->world.size; i++) {
		const struct ceil_rank *x = &r->all[i];
		json_t *o = json_object();

		json_object_set_new(o, "rank", json_integer(i));
		json_object_set_new(o, "host", json_string(x->host));
		json_object_set_new(o, "local_rank", json_integer(x->local_rank));
		json_object_set_new(o, "device", json_string(x->device));
		json_object_set_new(o, "name", json_string(x->gpu_name));
		json_object_set_new(o, "uuid", json_string(x->gpu_uuid));
		json_object_set_new(o, "pci_bus_id", json_string(x->pci_bus_id));
		json_object_set_new(o, "link", json_string(x->link));
		json_object_set_new(o, "link_gb_s", json_real(x->link_gb_s));
		json_object_set_new(o, "network", json_string(x->network));
		json_object_set_new(o, "network_gb_s", json_real(x->network_gb_s));
		json_array_append_new(all, o);
	}
	if (r->mpi)
		return all;
	json_decref(all);
	return NULL;
}

/* ---- rows */

/* Same program on every rank, so structs travel as they are. */
struct message {
	size_t sample_count;
	bool is_ceiling, end, bad;
	struct ceil_error error; /* of the sender, at its end */
	struct ceil_record row;
	struct ceil_sample_row samples[];
};

enum ceil_status ceil_ranks_send(struct ceil_ranks *r, const struct ceil_record *row,
                                 bool is_ceiling, const struct ceil_sample_row *samples,
                                 size_t count, struct ceil_error *err)
{
	const size_t size = sizeof(struct message) + count * sizeof(*samples);
	struct message *m = ceil_alloc(1, size, err);
	enum ceil_status st;

	if (!m)
		return CEIL_E_NOMEM;
	m->sample_count = count;
	m->is_ceiling = is_ceiling;
	m->row = *row;
	if (count > 0)
		memcpy(m->samples, samples, count * sizeof(*samples));
	st = r->mpi->api->send(&r->mpi->world, m, size, err);
	free(m);
	return st;
}

void ceil_ranks_listen(struct ceil_ranks *r, ceil_ranks_row_fn row, void *user)
{
	r->row = row;
	r->user = user;
	if (!r->mpi || !ceil_ranks_leads(r))
		return;
	r->mpi->idle = on_idle;
	r->mpi->idle_user = r;
}

/* Whether there was a message. */
static bool receive_one(struct ceil_ranks *r)
{
	struct ceil_error err = {CEIL_OK, ""};
	unsigned from = 0;
	size_t size = 0;
	void *bytes = NULL;
	const struct message *m;

	if (r->mpi->api->receive(&bytes, &size, &from, &err) != CEIL_OK) {
		r->first = r->first.status == CEIL_OK ? err : r->first;
		return false;
	}
	if (size == 0)
		return false;
	m = bytes;
	if (m->end) {
		r->ended++;
		r->others_bad |= m->bad || m->error.status != CEIL_OK;
		if (m->error.status != CEIL_OK && r->others_error.status == CEIL_OK)
			(void)ceil_fail(&r->others_error, m->error.status, "rank %u: %s", from,
			                m->error.text);
	} else {
		r->row(r->user, &m->row, m->is_ceiling, m->samples, m->sample_count);
	}
	free(bytes);
	return true;
}

void ceil_ranks_receive(struct ceil_ranks *r)
{
	while (r->mpi && r->row && ceil_ranks_leads(r) && receive_one(r))
		;
}

static enum ceil_status wait_for_rows(struct ceil_ranks *r, struct ceil_error *err)
{
	const uint64_t from_ns = ceil_now_ns();
	uint64_t signal_ns = 0;

	while (r->ended + 1 < r->mpi->world.size) {
		ceil_ranks_receive(r);
		if (ceil_cancel_signal() && signal_ns == 0)
			signal_ns = ceil_now_ns();
		/* One that is lost has cost most of that second already. */
		if (signal_ns &&
		    ceil_now_ns() - signal_ns > AFTER_SIGNAL_NS / (r->mpi->lost ? 10 : 1))
			return ceil_fail(err, CEIL_E_CANCELLED,
			                 "stopped by signal %d before %u ranks had sent all rows",
			                 ceil_cancel_signal(), r->mpi->world.size - 1 - r->ended);
		if (r->first.status != CEIL_OK)
			break;
		/* Whoever did not come to a decision may never come here either. */
		if (r->mpi->lost && ceil_now_ns() - from_ns > AFTER_LOSS_NS)
			return ceil_fail(err, CEIL_E_DEVICE,
			                 "%u ranks had not sent all rows after one did not come",
			                 r->mpi->world.size - 1 - r->ended);
		ceil_sleep_ns(CEIL_NS_PER_MS);
	}
	return r->first.status == CEIL_OK ? CEIL_OK
	                                  : ceil_fail(err, r->first.status, "%s", r->first.text);
}

/* Needs no memory that a rank may not get: rank 0 waits for it. */
static enum ceil_status send_end(struct ceil_ranks *r, bool bad, const struct ceil_error *own,
                                 struct ceil_error *err)
{
	const struct message m = {.end = true, .bad = bad, .error = *own};

	return r->mpi->api->send(&r->mpi->world, &m, sizeof(m), err);
}

struct flushing {
	const struct ceil_mpi *mpi;
	uint64_t from_ns;
};

static enum ceil_status flush_idle(void *user, struct ceil_error *err)
{
	const struct flushing *f = user;
	const uint64_t waited_ns = ceil_now_ns() - f->from_ns;

	if (ceil_cancel_signal() && waited_ns > AFTER_SIGNAL_NS)
		return ceil_fail(err, CEIL_E_CANCELLED, "stopped by signal %d",
		                 ceil_cancel_signal());
	if (f->mpi->lost && waited_ns > AFTER_LOSS_NS)
		return ceil_fail(err, CEIL_E_DEVICE,
		                 "rank 0 had not taken all rows after a rank did not come");
	return CEIL_OK;
}

enum ceil_status ceil_ranks_finish(struct ceil_ranks *r, bool bad, const struct ceil_error *own,
                                   struct ceil_error *err)
{
	struct flushing f = {.mpi = r->mpi, .from_ns = ceil_now_ns()};
	enum ceil_status st;

	if (!r->mpi)
		return CEIL_OK;
	if (ceil_ranks_leads(r))
		return wait_for_rows(r, err);
	st = send_end(r, bad, own, err);
	return st == CEIL_OK ? r->mpi->api->flush(&r->mpi->world, flush_idle, &f, err) : st;
}
