/* The ceiling of a list of shapes: what all of them together would reach, weighted by FLOP. */
#include "harness/analysis/blend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/text.h"

void ceil_blend_add(struct ceil_blend *b, const struct ceil_record *r, uint64_t count)
{
	const double flops = r->flops * (double)count;

	if (b->shapes + b->missing == 0)
		b->r = *r;
	if (!(r->value > 0.0) || !(flops > 0.0)) {
		b->missing++;
		return;
	}
	b->shapes++;
	b->flops += flops;
	b->seconds += flops / (r->value * 1e12);
	b->peak_seconds += flops / (r->theoretical * 1e12);
}

static void name_row(const struct ceil_blend *b, const char *name, struct ceil_record *r)
{
	const struct ceil_record *from = &b->r;

	ceil_copy(r->host, sizeof(r->host), from->host);
	ceil_copy(r->device, sizeof(r->device), from->device);
	ceil_copy(r->gpu_name, sizeof(r->gpu_name), from->gpu_name);
	ceil_copy(r->gpu_uuid, sizeof(r->gpu_uuid), from->gpu_uuid);
	ceil_copy(r->driver, sizeof(r->driver), from->driver);
	ceil_copy(r->tool_version, sizeof(r->tool_version), from->tool_version);
	ceil_append(r->ceiling, sizeof(r->ceiling), "%sgemm.list",
	            strcmp(from->backend, "host") == 0 ? "host." : "");
	if (from->regime[0])
		ceil_append(r->ceiling, sizeof(r->ceiling), ".%s", from->regime);
	ceil_copy(r->regime, sizeof(r->regime), from->regime);
	ceil_copy(r->pattern, sizeof(r->pattern), from->pattern);
	ceil_copy(r->bench, sizeof(r->bench), from->bench);
	ceil_copy(r->backend, sizeof(r->backend), from->backend);
	ceil_copy(r->better, sizeof(r->better), "higher");
	ceil_copy(r->unit, sizeof(r->unit), "TFLOP/s");
	ceil_copy(r->role, sizeof(r->role), "list");
	ceil_copy(r->cas, sizeof(r->cas), name);
	r->rank = from->rank;
	r->ranks = from->ranks;
	r->format_version = from->format_version;
}

void ceil_blend_record(const struct ceil_blend *b, const char *name, struct ceil_record *ret_r)
{
	ceil_table_clear(&ceil_table_records, ret_r);
	name_row(b, name, ret_r);
	if (b->missing || b->shapes == 0) {
		ceil_copy(ret_r->status, sizeof(ret_r->status),
		          ceil_row_status_name(CEIL_ROW_UNSUPPORTED));
		(void)snprintf(ret_r->reason, sizeof(ret_r->reason),
		               "%llu of %llu shapes have no ceiling here",
		               (unsigned long long)b->missing,
		               (unsigned long long)(b->missing + b->shapes));
		return;
	}
	ceil_copy(ret_r->status, sizeof(ret_r->status), ceil_row_status_name(CEIL_ROW_OK));
	ret_r->value = b->flops / b->seconds * 1e-12;
	ret_r->theoretical = b->flops / b->peak_seconds * 1e-12;
	ret_r->of_theoretical = b->peak_seconds / b->seconds;
	ceil_copy(ret_r->note, sizeof(ret_r->note),
	          "theoretical: the peaks of the shapes' types, weighted as the value is");
	ret_r->flops = b->flops;
	ret_r->time_ns = b->seconds * 1e9;
}
