/* What a CPU can do a cycle: vectors and FMA pipes, by its own words and a table. */
#ifndef CEIL_CPU_H
#define CEIL_CPU_H

/* Who made a CPU and which it is, in the numbers of CPUID, or of MIDR on Arm. */
struct ceil_cpu_id {
	const char *vendor; /* "GenuineIntel", "AuthenticAMD"; "0x41" for Arm Ltd. */
	long family, model; /* Arm: part number and 0 */
};

/* One kind of core whose pipes are published. */
struct ceil_cpu_kind {
	struct ceil_cpu_id id; /* model: the first of a range */
	long last_model;
	int vector_bits, fma_pipes; /* FMA instructions of this width that start in a cycle */
	const char *name, *source;
};

/*
 * ceil_cpu_find - the kind of a CPU, or NULL: a CPU that is not in the table has unknown pipes,
 * and so have models of which some parts have one pipe and some two.
 */
const struct ceil_cpu_kind *ceil_cpu_find(const struct ceil_cpu_id *id);

/* ceil_cpu_vector_bits - widest vectors that this CPU and kernel offer; 0: unknown. */
int ceil_cpu_vector_bits(void);

#endif
