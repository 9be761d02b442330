/* What ceilings say of one another: products against the tensor cores' issue, ridge points. */
#include "harness/analysis/roofs.h"

#include <math.h>
#include <string.h>

#include "harness/base/text.h"

static bool same_device(const struct ceil_record *a, const struct ceil_record *b)
{
	return strcmp(a->host, b->host) == 0 && strcmp(a->device, b->device) == 0 &&
	       a->rank == b->rank;
}

static const struct ceil_record *find(const struct ceil_record *of, const char *ceiling,
                                      const struct ceil_record *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (same_device(of, &rows[i]) && strcmp(rows[i].ceiling, ceiling) == 0)
			return &rows[i];
	}
	return NULL;
}

/* ---- products */

/* What follows a type's name in a gemm ceiling and changes nothing about the instruction. */
static const char *const same_instruction[] = {"_fast", "_cublas"};

/* "gemm.e4m3_fast.burst" to "tensor.e4m3.burst"; "" for what is no product. */
static void tensor_name(const char *ceiling, char *ret_name, size_t size)
{
	const char *type = ceiling + strlen("gemm.");
	size_t length;

	ceil_copy(ret_name, size, "");
	if (strncmp(ceiling, "gemm.", strlen("gemm.")) != 0)
		return;
	length = strcspn(type, ".");
	for (size_t i = 0; i < sizeof(same_instruction) / sizeof(same_instruction[0]); i++) {
		const size_t n = strlen(same_instruction[i]);

		if (length > n && strncmp(type + length - n, same_instruction[i], n) == 0) {
			ceil_append(ret_name, size, "tensor.%.*s%s", (int)(length - n), type,
			            type + length);
			return;
		}
	}
	ceil_append(ret_name, size, "tensor.%s", type);
}

/* An instruction that leaves more of the tensor cores idle than this says nothing of what they can
 * issue: mma.sync on parts that have a larger one, of which the row's type has no form here. */
#define LEAST_OF_CLOCK 0.9

double ceil_roofs_issue(const struct ceil_record *r, const struct ceil_record *ceilings,
                        size_t count)
{
	const struct ceil_record *t;
	char name[sizeof(r->ceiling)];

	tensor_name(r->ceiling, name, sizeof(name));
	t = find(r, name, ceilings, count);
	if (t && t->of_clock < LEAST_OF_CLOCK)
		return (double)NAN;
	return t ? r->value / r->clock_mhz / (t->value / t->clock_mhz) : (double)NAN;
}

/* ---- ridges */

static const struct {
	const char *name, *pipe, *memory;
} ridges[CEIL_ROOFS_RIDGES] = {
	{"roofline.ridge.fp32", "fma.fp32", "dram.read"},
	{"roofline.ridge.fp64", "fma.fp64", "dram.read"},
	{"roofline.ridge.bf16", "tensor.bf16.burst", "dram.read"},
	{"roofline.ridge.fp16", "tensor.fp16.burst", "dram.read"},
	{"roofline.ridge.tf32", "tensor.tf32.burst", "dram.read"},
	{"roofline.ridge.e4m3", "tensor.e4m3.burst", "dram.read"},
	{"roofline.ridge_l2.fp32", "fma.fp32", "l2.read"},
	{"roofline.ridge_l2.bf16", "tensor.bf16.burst", "l2.read"},
};

/* 1e12 FLOP/s over 1e9 B/s. */
static double intensity(double tflops, double gb_s)
{
	return tflops * 1e3 / gb_s;
}

static void ridge_of(const char *name, const struct ceil_record *pipe,
                     const struct ceil_record *memory, struct ceil_record *ret_r)
{
	/* Who it is of is as in the pipe's row; what was measured is not. */
	*ret_r = *pipe;
	ceil_table_clear(&ceil_table_records, ret_r);
	ceil_copy(ret_r->host, sizeof(ret_r->host), pipe->host);
	ceil_copy(ret_r->device, sizeof(ret_r->device), pipe->device);
	ceil_copy(ret_r->gpu_name, sizeof(ret_r->gpu_name), pipe->gpu_name);
	ceil_copy(ret_r->gpu_uuid, sizeof(ret_r->gpu_uuid), pipe->gpu_uuid);
	ceil_copy(ret_r->driver, sizeof(ret_r->driver), pipe->driver);
	ceil_copy(ret_r->tool_version, sizeof(ret_r->tool_version), pipe->tool_version);
	ceil_copy(ret_r->dtype_in, sizeof(ret_r->dtype_in), pipe->dtype_in);
	ceil_copy(ret_r->dtype_acc, sizeof(ret_r->dtype_acc), pipe->dtype_acc);
	ret_r->format_version = pipe->format_version;
	ret_r->rank = pipe->rank;
	ret_r->ranks = pipe->ranks;
	ceil_copy(ret_r->ceiling, sizeof(ret_r->ceiling), name);
	ceil_copy(ret_r->unit, sizeof(ret_r->unit), "FLOP/B");
	ceil_copy(ret_r->better, sizeof(ret_r->better), "lower");
	ceil_copy(ret_r->bench, sizeof(ret_r->bench), "roofline");
	ceil_copy(ret_r->backend, sizeof(ret_r->backend), pipe->backend);
	ceil_copy(ret_r->status, sizeof(ret_r->status), "ok");
	ret_r->value = intensity(pipe->value, memory->value);
	ret_r->theoretical = intensity(pipe->theoretical, memory->theoretical);
	ceil_append(ret_r->note, sizeof(ret_r->note), "where %s meets %s", pipe->ceiling,
	            memory->ceiling);
}

size_t ceil_roofs_ridges(const struct ceil_record *first, const struct ceil_record *ceilings,
                         size_t count, struct ceil_record *ret_rows)
{
	size_t n = 0;

	for (size_t i = 0; i < CEIL_ROOFS_RIDGES; i++) {
		const struct ceil_record *pipe = find(first, ridges[i].pipe, ceilings, count);
		const struct ceil_record *memory = find(first, ridges[i].memory, ceilings, count);

		if (pipe && memory && !isnan(pipe->value) && !isnan(memory->value))
			ridge_of(ridges[i].name, pipe, memory, &ret_rows[n++]);
	}
	return n;
}
