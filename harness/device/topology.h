/* Which cores, caches and memory this process may use, by hwloc and the kernel's limits. */
#ifndef CEIL_TOPOLOGY_H
#define CEIL_TOPOLOGY_H

#include "harness/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct hwloc_bitmap_s;
struct hwloc_topology;

/*
 * A set of cores that work together: the whole machine, or one NUMA node. One thread per core,
 * on its first allowed hardware thread; with a CPU quota below the number of cores, as many as
 * the quota rounded down (at least one), spread evenly over the cores.
 */
struct ceil_cores {
	unsigned count;   /* threads to use */
	unsigned allowed; /* cores that the affinity leaves */
	unsigned *pu;     /* count hardware threads, by the system's index */
	int node;         /* the one NUMA node that these cores and this memory are; -1: several */
	uint64_t llc_bytes;    /* distinct last-level caches that the used cores reach; 0 unknown */
	uint64_t memory_bytes; /* of the nodes that have cores */
	double max_mhz;        /* mean of cpufreq's maximum over the used cores; NAN unknown */
};

struct ceil_topology {
	struct hwloc_topology *hwloc;
	struct hwloc_bitmap_s *nodeset; /* nodes that have cores we may use; never GPU memory */
	char cpu_name[96];
	int vector_bits, fma_pipes; /* widest vectors; FMA pipes of that width, 0 unknown */
	double quota_cpus;          /* NAN: none */
	struct ceil_cores all;
	struct ceil_cores *node;
	size_t node_count;
	size_t left_out; /* other NUMA nodes: memory of GPUs, and those whose cores are not ours */
};

/*
 * ceil_topology_open - reads the machine. HWLOC_SYNTHETIC and HWLOC_XMLFILE are hwloc's own ways
 * to show it another one; GPUCEIL_SYSROOT is ours (sysfs.h). Takes milliseconds.
 * Return: CEIL_E_DEVICE if hwloc cannot or no core is left; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_topology_open(struct ceil_topology **ret_topology,
                                                    struct ceil_error *err);
void ceil_topology_close(struct ceil_topology *t); /* NULL is a no-op */

/*
 * ceil_topology_bind - the calling thread to one hardware thread. Binding is best effort: where
 * the system refuses, threads float, and rows show it in their spread.
 * @ret_before: what the thread was bound to, for ceil_topology_unbind; NULL if it does not matter.
 */
void ceil_topology_bind(const struct ceil_topology *t, unsigned pu,
                        struct hwloc_bitmap_s *ret_before);
void ceil_topology_unbind(const struct ceil_topology *t, const struct hwloc_bitmap_s *before);

/*
 * ceil_topology_alloc - page-aligned memory that no one has touched yet.
 * @node: -1: each page goes to the node of the core that touches it first, never to a node
 * without cores. Else bound to that node.
 * Return: CEIL_E_NOMEM if it is more than the limits leave; CEIL_E_USAGE if there is no such node;
 * CEIL_E_UNSUPPORTED if the system refuses to bind.
 */
CEIL_MUST_CHECK enum ceil_status ceil_topology_alloc(const struct ceil_topology *t, int node,
                                                     uint64_t bytes, void **ret_ptr,
                                                     struct ceil_error *err);
void ceil_topology_free(void *ptr, uint64_t bytes); /* NULL is a no-op */

/* ceil_topology_node_of - the NUMA node of the page at ptr, which was touched; -1: not told. */
int ceil_topology_node_of(const struct ceil_topology *t, const void *ptr);

/* ceil_topology_nodes - bit n: node n has cores that we may use; nodes above 63 have no bit. */
uint64_t ceil_topology_nodes(const struct ceil_topology *t);

/* ceil_topology_node - the cores and memory of a NUMA node by the system's index, or NULL. */
const struct ceil_cores *ceil_topology_node(const struct ceil_topology *t, int node);

/*
 * ceil_topology_free_bytes - memory to plan with: of one node, or (-1) of the whole machine.
 * UINT64_MAX: unknown.
 */
uint64_t ceil_topology_free_bytes(const struct ceil_topology *t, int node);

#endif
