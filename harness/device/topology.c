/* Which cores, caches and memory this process may use, by hwloc and the kernel's limits. */
#include "harness/device/topology.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include <hwloc.h>

#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/device/cpu.h"
#include "harness/device/limits.h"
#include "harness/device/sysfs.h"

/* Two of hwloc's components load OpenCL and X11, and tell nothing about cores or memory. */
static enum ceil_status load(hwloc_topology_t *ret_topology, struct ceil_error *err)
{
	const unsigned long black = HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST;
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) != 0)
		return ceil_fail(err, CEIL_E_NOMEM, "hwloc_topology_init: %s", strerror(errno));
	/* Fails where the component is not there, which is as well. */
	(void)hwloc_topology_set_components(topology, black, "opencl");
	(void)hwloc_topology_set_components(topology, black, "gl");
	if (hwloc_topology_load(topology) != 0) {
		hwloc_topology_destroy(topology);
		return ceil_fail(err, CEIL_E_DEVICE, "hwloc_topology_load: %s", strerror(errno));
	}
	*ret_topology = topology;
	return CEIL_OK;
}

/* What the cpuset cgroup leaves (hwloc knows), less what this thread's affinity takes away. */
static hwloc_bitmap_t allowed_cpus(hwloc_topology_t h)
{
	hwloc_bitmap_t allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(h));
	hwloc_bitmap_t bound = hwloc_bitmap_alloc();

	if (allowed && bound && hwloc_get_cpubind(h, bound, HWLOC_CPUBIND_THREAD) == 0)
		hwloc_bitmap_and(allowed, allowed, bound);
	hwloc_bitmap_free(bound);
	return allowed;
}

/* Memory of a GPU, or of an expander, may appear as a node; the kernel lists no CPUs for it. */
static bool node_has_cpus(hwloc_obj_t node, hwloc_const_bitmap_t allowed)
{
	char list[64];

	if (!hwloc_bitmap_intersects(node->cpuset, allowed))
		return false;
	if (!ceil_sysfs_line(list, sizeof(list), "/sys/devices/system/node/node%u/cpulist",
	                     node->os_index))
		return true;
	return list[0] != '\0';
}

/* The first allowed hardware thread of each core within a set. */
static void list_cores(hwloc_topology_t h, hwloc_const_bitmap_t within, unsigned *pu,
                       unsigned *ret_count)
{
	const int cores = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_CORE);
	/* Some virtual machines show no cores, only hardware threads. */
	const hwloc_obj_type_t type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
	const int count = hwloc_get_nbobjs_by_type(h, type);

	*ret_count = 0;
	for (int i = 0; i < count; i++) {
		const hwloc_obj_t core = hwloc_get_obj_by_type(h, type, (unsigned)i);
		int at = hwloc_bitmap_first(core->cpuset);

		while (at >= 0 && !hwloc_bitmap_isset(within, (unsigned)at))
			at = hwloc_bitmap_next(core->cpuset, at);
		if (at >= 0)
			pu[(*ret_count)++] = (unsigned)at;
	}
}

/* Neighbours in this order share caches and nodes, so every k-th spreads the threads evenly. */
static void apply_quota(struct ceil_cores *c, double quota_cpus)
{
	const unsigned want = quota_cpus < 1.0 ? 1 : (unsigned)fmin(quota_cpus, 1e6);

	c->allowed = c->count;
	if (isnan(quota_cpus) || want >= c->count)
		return;
	for (unsigned i = 0; i < want; i++)
		c->pu[i] = c->pu[(uint64_t)i * c->count / want];
	c->count = want;
}

static hwloc_obj_t last_level_cache(hwloc_topology_t h, unsigned pu)
{
	hwloc_obj_t last = NULL;

	for (hwloc_obj_t o = hwloc_get_pu_obj_by_os_index(h, pu); o; o = o->parent) {
		if (hwloc_obj_type_is_dcache(o->type))
			last = o;
	}
	return last;
}

/* Cores stand in hwloc's order, so those that share a cache are neighbours. */
static uint64_t sum_caches(hwloc_topology_t h, const struct ceil_cores *c)
{
	hwloc_obj_t before = NULL;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < c->count; i++) {
		const hwloc_obj_t cache = last_level_cache(h, c->pu[i]);

		if (cache && cache != before)
			bytes += cache->attr->cache.size;
		before = cache;
	}
	return bytes;
}

/*
 * Mean of cpuinfo_max_freq, so that cores x mean is their sum. acpi-cpufreq may give the base
 * clock there and run above it: unknown then, as when one core has no such file.
 */
static double read_max_mhz(const struct ceil_cores *c)
{
	double sum = 0.0;

	for (unsigned i = 0; i < c->count; i++) {
		char text[64];
		uint64_t khz;

		if (ceil_sysfs_line(text, sizeof(text),
		                    "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_driver",
		                    c->pu[i]) &&
		    !strcmp(text, "acpi-cpufreq"))
			return (double)NAN;
		if (!ceil_sysfs_line(text, sizeof(text),
		                     "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq",
		                     c->pu[i]) ||
		    ceil_parse_u64(text, &khz, /* err= */ NULL) != CEIL_OK || khz == 0)
			return (double)NAN;
		sum += (double)khz * 1e-3;
	}
	return sum / c->count;
}

static enum ceil_status fill_cores(const struct ceil_topology *t, hwloc_const_bitmap_t within,
                                   struct ceil_cores *ret_c, struct ceil_error *err)
{
	const int pus = hwloc_get_nbobjs_by_type(t->hwloc, HWLOC_OBJ_PU);

	ret_c->pu = ceil_alloc((size_t)pus, sizeof(*ret_c->pu), err);
	if (!ret_c->pu)
		return CEIL_E_NOMEM;
	list_cores(t->hwloc, within, ret_c->pu, &ret_c->count);
	if (ret_c->count == 0)
		return ceil_fail(err, CEIL_E_DEVICE,
		                 "hwloc: none of %d hardware threads is in this process's affinity",
		                 pus);
	apply_quota(ret_c, t->quota_cpus);
	ret_c->llc_bytes = sum_caches(t->hwloc, ret_c);
	ret_c->max_mhz = read_max_mhz(ret_c);
	return CEIL_OK;
}

static enum ceil_status fill_node(struct ceil_topology *t, hwloc_obj_t node,
                                  hwloc_const_bitmap_t allowed, struct ceil_error *err)
{
	struct ceil_cores *c = &t->node[t->node_count];
	hwloc_bitmap_t within = hwloc_bitmap_dup(allowed);
	enum ceil_status st;

	if (!within)
		return ceil_fail(err, CEIL_E_NOMEM, "hwloc_bitmap_dup: no memory");
	t->node_count++;
	hwloc_bitmap_and(within, within, node->cpuset);
	st = fill_cores(t, within, c, err);
	hwloc_bitmap_free(within);
	c->node = (int)node->os_index;
	c->memory_bytes = node->attr->numanode.local_memory;
	hwloc_bitmap_set(t->nodeset, node->os_index);
	return st;
}

/* Where memory was plugged in later, a node's own figure may lack it. */
static uint64_t whole_memory(uint64_t of_nodes)
{
	uint64_t kib;

	return ceil_sysfs_field(&kib, "MemTotal:", "/proc/meminfo") ? kib * 1024 : of_nodes;
}

static enum ceil_status fill_nodes(struct ceil_topology *t, hwloc_const_bitmap_t allowed,
                                   struct ceil_error *err)
{
	const int count = hwloc_get_nbobjs_by_type(t->hwloc, HWLOC_OBJ_NUMANODE);

	t->node = ceil_alloc((size_t)count, sizeof(*t->node), err);
	if (!t->node)
		return CEIL_E_NOMEM;
	for (int i = 0; i < count; i++) {
		const hwloc_obj_t node =
			hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, (unsigned)i);
		enum ceil_status st;

		if (!node_has_cpus(node, allowed)) {
			t->left_out++;
			continue;
		}
		st = fill_node(t, node, allowed, err);
		if (st != CEIL_OK)
			return st;
		t->all.memory_bytes += node->attr->numanode.local_memory;
	}
	t->all.node = t->node_count == 1 ? t->node[0].node : -1;
	if (count == 1 && t->node_count == 1)
		t->node[0].memory_bytes = t->all.memory_bytes = whole_memory(t->all.memory_bytes);
	return CEIL_OK;
}

static const char *cpu_info(const struct ceil_topology *t, const char *key)
{
	const hwloc_obj_t package = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, 0);
	const char *text = package ? hwloc_obj_get_info_by_name(package, key) : NULL;

	return text ? text : hwloc_obj_get_info_by_name(hwloc_get_root_obj(t->hwloc), key);
}

static long cpu_number(const struct ceil_topology *t, const char *key)
{
	const char *text = cpu_info(t, key);

	return text ? strtol(text, NULL, 0) : -1; /* -1 is in no table */
}

static void identify(struct ceil_topology *t)
{
	const char *implementer = cpu_info(t, "CPUImplementer");
	const char *vendor = implementer ? implementer : cpu_info(t, "CPUVendor");
	const struct ceil_cpu_id id = {
		.vendor = vendor ? vendor : "",
		.family = cpu_number(t, implementer ? "CPUPart" : "CPUFamilyNumber"),
		.model = implementer ? 0 : cpu_number(t, "CPUModelNumber"),
	};
	const struct ceil_cpu_kind *kind = ceil_cpu_find(&id);
	const char *name = cpu_info(t, "CPUModel");
	struct utsname machine;

	t->vector_bits = ceil_cpu_vector_bits();
	/* A kernel or a hypervisor may hide the wide vectors, and then the table says nothing. */
	if (kind && kind->vector_bits == t->vector_bits)
		t->fma_pipes = kind->fma_pipes;
	if (!name && kind)
		name = kind->name;
	if (!name && uname(&machine) == 0)
		name = machine.machine;
	ceil_copy(t->cpu_name, sizeof(t->cpu_name), name);
}

static enum ceil_status read_machine(struct ceil_topology *t, struct ceil_error *err)
{
	hwloc_bitmap_t allowed = allowed_cpus(t->hwloc);
	enum ceil_status st = CEIL_E_NOMEM;

	t->nodeset = hwloc_bitmap_alloc();
	if (!allowed || !t->nodeset) {
		st = ceil_fail(err, CEIL_E_NOMEM, "hwloc_bitmap_alloc: no memory");
		goto out;
	}
	t->quota_cpus = ceil_limits_cpus();
	identify(t);
	st = fill_cores(t, allowed, &t->all, err);
	if (st == CEIL_OK)
		st = fill_nodes(t, allowed, err);
out:
	hwloc_bitmap_free(allowed);
	return st;
}

enum ceil_status ceil_topology_open(struct ceil_topology **ret_topology, struct ceil_error *err)
{
	struct ceil_topology *t = ceil_alloc(1, sizeof(*t), err);
	enum ceil_status st;

	if (!t)
		return CEIL_E_NOMEM;
	st = load(&t->hwloc, err);
	if (st == CEIL_OK)
		st = read_machine(t, err);
	if (st != CEIL_OK) {
		ceil_topology_close(t);
		return st;
	}
	*ret_topology = t;
	return CEIL_OK;
}

void ceil_topology_close(struct ceil_topology *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->node_count; i++)
		free(t->node[i].pu);
	free(t->node);
	free(t->all.pu);
	hwloc_bitmap_free(t->nodeset);
	if (t->hwloc)
		hwloc_topology_destroy(t->hwloc);
	free(t);
}

void ceil_topology_bind(const struct ceil_topology *t, unsigned pu,
                        struct hwloc_bitmap_s *ret_before)
{
	hwloc_bitmap_t one = hwloc_bitmap_alloc();

	if (ret_before && hwloc_get_cpubind(t->hwloc, ret_before, HWLOC_CPUBIND_THREAD) != 0)
		hwloc_bitmap_zero(ret_before);
	if (!one)
		return;
	hwloc_bitmap_only(one, pu);
	(void)hwloc_set_cpubind(t->hwloc, one, HWLOC_CPUBIND_THREAD); /* best effort */
	hwloc_bitmap_free(one);
}

void ceil_topology_unbind(const struct ceil_topology *t, const struct hwloc_bitmap_s *before)
{
	if (before && !hwloc_bitmap_iszero(before))
		(void)hwloc_set_cpubind(t->hwloc, before, HWLOC_CPUBIND_THREAD); /* best effort */
}

static enum ceil_status bind_memory(const struct ceil_topology *t, int node, void *ptr,
                                    size_t bytes, struct ceil_error *err)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int failed;

	if (!set)
		return ceil_fail(err, CEIL_E_NOMEM, "hwloc_bitmap_alloc: no memory");
	if (node >= 0)
		hwloc_bitmap_only(set, (unsigned)node);
	else
		hwloc_bitmap_copy(set, t->nodeset);
	failed = hwloc_set_area_membind(t->hwloc, ptr, bytes, set, HWLOC_MEMBIND_BIND,
	                                HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT);
	hwloc_bitmap_free(set);
	if (failed && node >= 0)
		return ceil_fail(err, CEIL_E_UNSUPPORTED, "binding memory to NUMA node %d: %s",
		                 node, strerror(errno));
	/* Without a node asked for, the first touch decides, and it is made on the right ones. */
	return CEIL_OK;
}

static enum ceil_status check_room(const struct ceil_topology *t, int node, uint64_t bytes,
                                   struct ceil_error *err)
{
	const uint64_t room = ceil_topology_free_bytes(t, node);
	char want[32], have[32];

	if (node >= 0 && !hwloc_bitmap_isset(t->nodeset, (unsigned)node))
		return ceil_fail(err, CEIL_E_USAGE, "no NUMA node %d with cores that we may use",
		                 node);
	/* The kernel grants more than there is and kills whoever touches it. */
	if (bytes <= room)
		return CEIL_OK;
	ceil_human_bytes(want, sizeof(want), bytes);
	ceil_human_bytes(have, sizeof(have), room);
	return ceil_fail(err, CEIL_E_NOMEM, "host memory: %s wanted, %s free", want, have);
}

enum ceil_status ceil_topology_alloc(const struct ceil_topology *t, int node, uint64_t bytes,
                                     void **ret_ptr, struct ceil_error *err)
{
	enum ceil_status st = check_room(t, node, bytes, err);
	void *ptr;

	if (st != CEIL_OK)
		return st;
	ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ptr == MAP_FAILED)
		return ceil_fail(err, CEIL_E_NOMEM, "mmap(%" PRIu64 "): %s", bytes,
		                 strerror(errno));
	/* Fewer misses of the TLB; a kernel without huge pages says no, and nothing is lost. */
	(void)madvise(ptr, bytes, MADV_HUGEPAGE);
	if (node >= 0 ||
	    !hwloc_bitmap_isequal(t->nodeset, hwloc_topology_get_complete_nodeset(t->hwloc)))
		st = bind_memory(t, node, ptr, bytes, err);
	if (st != CEIL_OK) {
		ceil_topology_free(ptr, bytes);
		return st;
	}
	*ret_ptr = ptr;
	return CEIL_OK;
}

void ceil_topology_free(void *ptr, uint64_t bytes)
{
	if (ptr)
		(void)munmap(ptr, bytes); /* fails only for what mmap did not give */
}

int ceil_topology_node_of(const struct ceil_topology *t, const void *ptr)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int node = -1;

	if (set && hwloc_get_area_memlocation(t->hwloc, ptr, 1, set, HWLOC_MEMBIND_BYNODESET) == 0)
		node = hwloc_bitmap_weight(set) == 1 ? hwloc_bitmap_first(set) : -1;
	hwloc_bitmap_free(set);
	return node;
}

uint64_t ceil_topology_nodes(const struct ceil_topology *t)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < t->node_count; i++) {
		if (t->node[i].node < 64)
			bits |= UINT64_C(1) << t->node[i].node;
	}
	return bits;
}

const struct ceil_cores *ceil_topology_node(const struct ceil_topology *t, int node)
{
	for (size_t i = 0; i < t->node_count; i++) {
		if (t->node[i].node == node)
			return &t->node[i];
	}
	return NULL;
}

uint64_t ceil_topology_free_bytes(const struct ceil_topology *t, int node)
{
	const uint64_t all = ceil_limits_free_bytes();
	uint64_t kib, cache_kib = 0;

	if (node < 0 || t->node_count == 1 ||
	    !ceil_sysfs_field(&kib, "MemFree:", "/sys/devices/system/node/node%d/meminfo", node))
		return all;
	/* Cache of files that no one used of late is given back first. */
	(void)ceil_sysfs_field(&cache_kib,
	                       "Inactive(file):", "/sys/devices/system/node/node%d/meminfo", node);
	kib += cache_kib;
	return kib * 1024 < all ? kib * 1024 : all;
}
