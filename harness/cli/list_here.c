/* gpuceil list devices and peaks: what is in this machine, and what it could reach at best. */
#include "harness/cli/list.h"

#include "harness/analysis/peaks.h"
#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/cli/inventory.h"
#include "harness/output/grid.h"
#include "harness/output/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- devices */

static const struct ceil_grid_column device_columns[] = {
	{.title = "device"},
	{.title = "backend"},
	{.title = "name"},
	{.title = "cc"},
	{.title = "SMs/threads", .right = true},
	{.title = "max MHz", .right = true},
	{.title = "memory", .right = true},
	{.title = "driver/kernel"},
	{.title = "PCI"},
	{.title = "UUID"},
};

static double max_sm_mhz(const struct ceil_found *f)
{
	return fmax(f->props.max_sm_mhz, f->info.max_sm_mhz); /* fmax leaves out what is NAN */
}

static void device_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_found *f = (const struct ceil_found *)user + row;
	const struct ceil_device_props *d = &f->props;
	const char *const cells[COUNT(device_columns)] = {
		[0] = d->label,  [1] = f->backend->name, [2] = d->name,
		[7] = d->driver, [8] = d->pci_bus_id,    [9] = d->uuid};

	ceil_copy(ret_text, size, cells[column] ? cells[column] : "");
	if (column == 3 && d->cc_major > 0)
		ceil_append(ret_text, size, "%d.%d", d->cc_major, d->cc_minor);
	else if (column == 4 && d->sm_count > 0)
		ceil_append(ret_text, size, "%d", d->sm_count);
	else if (column == 5 && max_sm_mhz(f) > 0.0)
		ceil_append(ret_text, size, "%.0f", max_sm_mhz(f));
	else if (column == 6 && d->memory_bytes > 0)
		ceil_human_bytes(ret_text, size, d->memory_bytes);
}

static enum ceil_status open_inventory(struct ceil_inventory *inv, struct ceil_error *err)
{
	const struct ceil_inventory_options all = {.busy = CEIL_BUSY_RUN};

	return ceil_inventory_open(&all, inv, err);
}

enum ceil_status ceil_list_devices(struct ceil_error *err)
{
	struct ceil_inventory *inv = ceil_alloc(1, sizeof(*inv), err);
	enum ceil_status st = inv ? open_inventory(inv, err) : CEIL_E_NOMEM;

	if (st != CEIL_OK)
		goto out;
	const struct ceil_grid g = {.columns = device_columns,
	                            .column_count = COUNT(device_columns),
	                            .row_count = inv->found_count,
	                            .cell = device_cell,
	                            .user = inv->found};

	if (inv->found_count > 0)
		ceil_grid_print(stdout, &g);
	for (size_t i = 0; i < inv->missing_count; i++) {
		const struct ceil_missing *m = &inv->missing[i];

		if (m->status == CEIL_E_UNSUPPORTED)
			printf("no %s device: %s\n", m->backend->name, m->reason);
		else
			st = ceil_fail(err, m->status, "%s: %s", m->backend->name, m->reason);
	}
	ceil_inventory_close(inv);
out:
	free(inv);
	return st;
}

/* ---- peaks of the devices here */

/* What a peak can be asked for. */
static const struct peak_kind {
	const char *name;
	enum ceil_resource resource;
	enum ceil_dtype in, acc;
	enum ceil_unit unit;
} peak_kinds[] = {
	{"memory", CEIL_R_DRAM, CEIL_FP32, CEIL_NODTYPE, CEIL_GB_S},
	{"vector", CEIL_R_FMA, CEIL_FP64, CEIL_FP64, CEIL_TFLOP_S},
	{"vector", CEIL_R_FMA, CEIL_FP32, CEIL_FP32, CEIL_TFLOP_S},
	{"vector", CEIL_R_FMA, CEIL_FP16, CEIL_FP16, CEIL_TFLOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_FP64, CEIL_FP64, CEIL_TFLOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_TF32, CEIL_FP32, CEIL_TFLOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_BF16, CEIL_FP32, CEIL_TFLOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_FP16, CEIL_FP32, CEIL_TFLOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_FP16, CEIL_FP16, CEIL_TFLOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_E4M3, CEIL_FP32, CEIL_TFLOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_INT8, CEIL_INT32, CEIL_TOP_S},
	{"tensor", CEIL_R_TENSOR, CEIL_E2M1, CEIL_FP32, CEIL_TFLOP_S},
};

struct peak_row {
	const struct peak_kind *kind;
	struct ceil_peak peak;
};

static const struct ceil_grid_column peak_columns[] = {
	{.title = "pipe"},
	{.title = "types"},
	{.title = "theoretical", .right = true},
	{.title = "at MHz", .right = true},
	{.title = "datasheet", .right = true},
	{.title = "at MHz", .right = true},
	{.title = "unit"},
	{.title = "source"},
};

static void peak_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct peak_row *r = (const struct peak_row *)user + row;
	const double numbers[] = {r->peak.theoretical, r->peak.theoretical_mhz, r->peak.datasheet,
	                          r->peak.datasheet_mhz};
	const struct ceil_types types = {.a = r->kind->in, .acc = r->kind->acc};

	if (column >= 2 && column <= 5)
		ceil_text_number(ret_text, size, numbers[column - 2]);
	else if (column == 1 && r->kind->resource != CEIL_R_DRAM)
		ceil_list_types(&types, ret_text, size);
	else if (column != 1)
		ceil_copy(ret_text, size,
		          column == 0   ? r->kind->name
		          : column == 6 ? ceil_unit_name(r->kind->unit)
		                        : r->peak.source);
}

static void print_device_peaks(const struct ceil_found *f)
{
	struct ceil_device_props d = f->props;
	struct peak_row rows[COUNT(peak_kinds)];
	struct ceil_grid g = {.columns = peak_columns,
	                      .column_count = COUNT(peak_columns),
	                      .cell = peak_cell,
	                      .user = rows,
	                      .indent = 2};

	d.max_sm_mhz = max_sm_mhz(f);
	for (size_t i = 0; i < COUNT(peak_kinds); i++) {
		const struct peak_kind *k = &peak_kinds[i];
		const struct ceil_variant v = {.backend = f->backend->name,
		                               .resource = k->resource,
		                               .types = {k->in, k->in, k->acc, k->in},
		                               .unit = k->unit};
		struct peak_row *r = &rows[g.row_count];

		r->kind = k;
		ceil_peak_of(&v, &d, &r->peak);
		g.row_count += !isnan(r->peak.theoretical) || !isnan(r->peak.datasheet);
	}
	printf("%s  %s%s\n", d.label, d.name, g.row_count ? "" : ": no peak is known");
	if (g.row_count)
		ceil_grid_print(stdout, &g);
	putchar('\n');
}

/* ---- peaks of all parts */

static const struct ceil_grid_column part_columns[] = {
	{.title = "part"},
	{.title = "cc", .right = true},
	{.title = "SMs", .right = true},
	{.title = "fp64", .right = true},
	{.title = "fp32", .right = true},
	{.title = "t.fp64", .right = true},
	{.title = "tf32", .right = true},
	{.title = "bf16", .right = true},
	{.title = "fp16", .right = true},
	{.title = "e4m3", .right = true},
	{.title = "int8", .right = true},
	{.title = "e2m1", .right = true},
	{.title = "t.MHz", .right = true},
	{.title = "v.MHz", .right = true},
	{.title = "GB/s", .right = true},
	{.title = "NVLink", .right = true},
	{.title = "W", .right = true},
	{.title = "source"},
};

/* Columns 3 to 11: which published figure. */
static const struct {
	enum ceil_resource resource;
	enum ceil_dtype in, acc;
} part_figures[] = {
	{CEIL_R_FMA, CEIL_FP64, CEIL_FP64},    {CEIL_R_FMA, CEIL_FP32, CEIL_FP32},
	{CEIL_R_TENSOR, CEIL_FP64, CEIL_FP64}, {CEIL_R_TENSOR, CEIL_TF32, CEIL_FP32},
	{CEIL_R_TENSOR, CEIL_BF16, CEIL_FP32}, {CEIL_R_TENSOR, CEIL_FP16, CEIL_FP32},
	{CEIL_R_TENSOR, CEIL_E4M3, CEIL_FP32}, {CEIL_R_TENSOR, CEIL_INT8, CEIL_INT32},
	{CEIL_R_TENSOR, CEIL_E2M1, CEIL_FP32},
};

static void part_cell(const void *user, size_t row, size_t column, char *ret_text, size_t size)
{
	const struct ceil_part *p = (const struct ceil_part *)user + row;
	const double numbers[] = {p->tensor_mhz, p->vector_mhz, p->memory_gb_s, p->nvlink_gb_s,
	                          p->watts};

	if (column == 0 || column == 17) {
		ceil_copy(ret_text, size, column ? p->source : p->name);
	} else if (column == 1) {
		ceil_append(ret_text, size, "%d.%d", p->cc / 10, p->cc % 10);
	} else if (column == 2 && p->sm_count > 0) {
		ceil_append(ret_text, size, "%d", p->sm_count);
	} else if (column >= 3 && column <= 11) {
		const struct ceil_published *f = ceil_published_find(
			p, part_figures[column - 3].resource, part_figures[column - 3].in,
			part_figures[column - 3].acc);

		if (f)
			ceil_append(ret_text, size, "%g", f->tflops);
	} else if (column >= 12 && numbers[column - 12] > 0.0) {
		ceil_append(ret_text, size, "%g", numbers[column - 12]);
	}
}

enum ceil_status ceil_list_peaks(struct ceil_error *err)
{
	struct ceil_inventory *inv = ceil_alloc(1, sizeof(*inv), err);
	const struct ceil_grid g = {.columns = part_columns,
	                            .column_count = COUNT(part_columns),
	                            .row_count = ceil_part_count,
	                            .cell = part_cell,
	                            .user = ceil_parts,
	                            .indent = 2};
	enum ceil_status st = inv ? open_inventory(inv, err) : CEIL_E_NOMEM;

	if (st == CEIL_OK) {
		for (size_t i = 0; i < inv->found_count; i++)
			print_device_peaks(&inv->found[i]);
		ceil_inventory_close(inv);
		puts("published dense figures in TFLOP/s or TOP/s: fp64 and fp32 of the vector "
		     "pipes, the others of the\n"
		     "tensor cores with fp32 or int32 sums, at t.MHz (tensor) and v.MHz (vector, "
		     "and "
		     "fp64 of both);\n"
		     "NVLink in GB/s, one direction; empty: unknown");
		ceil_grid_print(stdout, &g);
	}
	free(inv);
	return st;
}
