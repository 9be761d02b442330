/* Which devices a run has: what CUDA gives, matched with NVML, chosen and judged. */
#include "harness/cli/inventory.h"

#include "harness/telemetry/busy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_host(const struct ceil_backend *b)
{
	return strcmp(b->name, "host") == 0;
}

static void label_gpu(struct ceil_found *f)
{
	if (f->gpu && f->info.index >= 0)
		snprintf(f->props.label, sizeof(f->props.label), "gpu%d", f->info.index);
}

static enum ceil_status add_devices(struct ceil_inventory *inv, const struct ceil_backend *b,
                                    int count, struct ceil_error *err)
{
	for (int i = 0; i < count && inv->found_count < CEIL_MAX_DEVICES; i++) {
		struct ceil_found *f = &inv->found[inv->found_count];
		const enum ceil_status st = b->peek(i, &f->props, err);

		if (st != CEIL_OK)
			return st;
		f->backend = b;
		f->ordinal = i;
		if (inv->nvml && !is_host(b))
			f->gpu = ceil_nvml_find(inv->nvml, f->props.uuid, f->props.pci_bus_id);
		ceil_nvml_info(f->gpu, &f->info);
		label_gpu(f);
		inv->found_count++;
	}
	return CEIL_OK;
}

static void add_missing(struct ceil_inventory *inv, const struct ceil_backend *b,
                        const struct ceil_error *err)
{
	struct ceil_missing *m = &inv->missing[inv->missing_count++];

	m->backend = b;
	m->status = err->status;
	ceil_copy(m->reason, sizeof(m->reason), err->text);
}

static void ask_backend(struct ceil_inventory *inv, const struct ceil_backend *b)
{
	struct ceil_error err = {CEIL_OK, ""};
	int count = 0;
	enum ceil_status st = b->count(&count, &err);

	if (st == CEIL_OK)
		st = add_devices(inv, b, count, &err);
	if (st != CEIL_OK)
		add_missing(inv, b, &err);
}

/* A build without CUDA still says why there are no CUDA rows. */
static void note_absent_cuda(struct ceil_inventory *inv, const char *wanted)
{
	struct ceil_error err = {CEIL_OK, ""};
	static const struct ceil_backend cuda = {.name = "cuda"};

	if (ceil_backend_find("cuda") || (wanted && strcmp(wanted, "cuda") != 0))
		return;
	(void)ceil_fail(&err, CEIL_E_UNSUPPORTED,
	                "this build has no CUDA: install the CUDA toolkit and build again");
	add_missing(inv, &cuda, &err);
}

/* ---- --gpu */

static bool names_gpu(const struct ceil_found *f, const char *name)
{
	char label[CEIL_LIST_ITEM + 8];

	snprintf(label, sizeof(label), "gpu%s", name);
	return strcmp(f->props.label, label) == 0 || strcmp(f->props.label, name) == 0 ||
	       strcasecmp(f->props.uuid, name) == 0 || strcasecmp(f->props.pci_bus_id, name) == 0;
}

static bool wanted_gpu(const struct ceil_list *gpus, const struct ceil_found *f)
{
	if (gpus->count == 0)
		return true;
	for (size_t i = 0; i < gpus->count; i++) {
		if (strcmp(gpus->item[i], "all") == 0 || names_gpu(f, gpus->item[i]))
			return true;
	}
	return false;
}

static enum ceil_status unknown_gpu(const struct ceil_inventory *inv, const char *name,
                                    struct ceil_error *err)
{
	char there[128] = "";

	for (size_t i = 0; i < inv->found_count; i++) {
		if (is_host(inv->found[i].backend))
			continue;
		ceil_append(there, sizeof(there), "%s%s (%s)", *there ? ", " : "",
		            inv->found[i].props.label + 3, inv->found[i].props.pci_bus_id);
	}
	return ceil_fail(err, CEIL_E_USAGE, "--gpu %s: there is no such GPU here; there %s%s", name,
	                 *there ? "is " : "are none", there);
}

static enum ceil_status choose_gpus(struct ceil_inventory *inv, const struct ceil_list *gpus,
                                    struct ceil_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		bool known = strcmp(gpus->item[i], "all") == 0;

		for (size_t j = 0; j < inv->found_count && !known; j++)
			known = !is_host(inv->found[j].backend) &&
			        names_gpu(&inv->found[j], gpus->item[i]);
		if (!known)
			return unknown_gpu(inv, gpus->item[i], err);
	}
	for (size_t i = 0; i < inv->found_count; i++) {
		if (is_host(inv->found[i].backend) || wanted_gpu(gpus, &inv->found[i]))
			inv->found[kept++] = inv->found[i];
	}
	inv->found_count = kept;
	return CEIL_OK;
}

/* ---- busy GPUs */

static enum ceil_status judge_busy(struct ceil_inventory *inv, enum ceil_busy_policy policy,
                                   struct ceil_error *err)
{
	struct ceil_nvml_gpu *gpus[CEIL_MAX_DEVICES];
	struct ceil_busy busy[CEIL_MAX_DEVICES];

	for (size_t i = 0; i < inv->found_count; i++)
		gpus[i] = inv->found[i].gpu;
	ceil_busy_check(gpus, inv->found_count, busy);
	for (size_t i = 0; i < inv->found_count; i++) {
		struct ceil_found *f = &inv->found[i];

		if (!busy[i].busy)
			continue;
		if (policy == CEIL_BUSY_FAIL)
			return ceil_fail(err, CEIL_E_DEVICE, "%s is busy: %s", f->props.label,
			                 busy[i].reason);
		f->skipped = true;
		snprintf(f->reason, sizeof(f->reason), "busy: %s; --busy run measures all the same",
		         busy[i].reason);
	}
	return CEIL_OK;
}

/* ---- opening */

static void open_nvml(struct ceil_inventory *inv, const char *backend)
{
	struct ceil_error err = {CEIL_OK, ""};

	if (backend && strcmp(backend, "host") == 0)
		return;
	if (ceil_nvml_open(&inv->nvml, &err) != CEIL_OK)
		ceil_copy(inv->nvml_reason, sizeof(inv->nvml_reason), err.text);
}

enum ceil_status ceil_inventory_open(const struct ceil_inventory_options *o,
                                     struct ceil_inventory *ret_inv, struct ceil_error *err)
{
	enum ceil_status st;

	*ret_inv = (struct ceil_inventory){0};
	open_nvml(ret_inv, o->backend);
	note_absent_cuda(ret_inv, o->backend);
	for (size_t i = 0; ceil_backends[i]; i++) {
		if (!o->backend || strcmp(ceil_backends[i]->name, o->backend) == 0)
			ask_backend(ret_inv, ceil_backends[i]);
	}
	st = choose_gpus(ret_inv, &o->gpus, err);
	if (st == CEIL_OK && o->look_for_others && o->busy != CEIL_BUSY_RUN && ret_inv->nvml)
		st = judge_busy(ret_inv, o->busy, err);
	if (st != CEIL_OK)
		ceil_inventory_close(ret_inv);
	return st;
}

void ceil_inventory_close(struct ceil_inventory *inv)
{
	ceil_nvml_close(inv->nvml);
	inv->nvml = NULL;
}

enum ceil_status ceil_inventory_device(const struct ceil_found *f, struct ceil_device **ret_dev,
                                       struct ceil_error *err)
{
	struct ceil_device *dev = NULL;
	const enum ceil_status st = f->backend->open(f->ordinal, &dev, err);

	if (st != CEIL_OK)
		return st;
	ceil_copy(dev->props.label, sizeof(dev->props.label), f->props.label);
	/* GeForce cards run above the attribute of CUDA; fmax leaves out what is NAN. */
	dev->props.max_sm_mhz = fmax(dev->props.max_sm_mhz, f->info.max_sm_mhz);
	dev->props.c2c_gb_s = f->info.c2c_gb_s;
	*ret_dev = dev;
	return CEIL_OK;
}
