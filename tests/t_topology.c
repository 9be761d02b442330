/* Cores, caches, quotas and memory limits, on machines that hwloc and a folder pretend. */
#include "harness/device/topology.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/device/cpu.h"
#include "harness/device/limits.h"
#include "tests/sysroot.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)

static struct ceil_topology *open_as(const char *synthetic)
{
	struct ceil_topology *t = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (synthetic)
		(void)setenv("HWLOC_SYNTHETIC", synthetic, 1);
	else
		(void)unsetenv("HWLOC_SYNTHETIC");
	if (ceil_topology_open(&t, &err) != CEIL_OK)
		ok(false, "%s opens: %s", synthetic ? synthetic : "this machine", err.text);
	return t;
}

/* The files of one cgroup v2 group, mounted where containers see it. */
static void write_v2(const char *group)
{
	char line[256];

	(void)snprintf(line, sizeof(line), "0::%s\n", group);
	sysroot_file("/proc/self/cgroup", line);
	sysroot_file(
		"/proc/self/mountinfo",
		"23 28 0:21 / /proc rw,nosuid shared:1 - proc proc rw\n"
		"31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
}

static void write_v1(const char *cpu_group, const char *memory_group)
{
	char lines[512];

	(void)snprintf(lines, sizeof(lines), "4:memory:%s\n3:cpuset:/\n2:cpu,cpuacct:%s\n0::/\n",
	               memory_group, cpu_group);
	sysroot_file("/proc/self/cgroup", lines);
	sysroot_file("/proc/self/mountinfo",
	             "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	             "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
	             "35 31 0:32 / /sys/fs/cgroup/memory rw shared:3 - cgroup cgroup rw,memory\n"
	             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
}

/* ---- machines */

static void test_two_sockets(void)
{
	struct ceil_topology *t;

	sysroot_new();
	t = open_as("pack:2 numa:1(memory=4GB) l3:2(size=8MiB) core:4 pu:2");
	if (!t)
		return;
	is_int(t->all.count, 16, "one thread per core, not per hardware thread");
	is_int(t->all.pu[0], 0, "on the first hardware thread of core 0");
	is_int(t->all.pu[1], 2, "and of core 1");
	is_int(t->all.pu[15], 30, "and of core 15");
	is_u64(t->all.llc_bytes, 32 * MIB, "four caches of 8 MiB");
	is_int(t->all.node, -1, "the machine is no single node");
	is_int((long long)t->node_count, 2, "two nodes");
	is_int(t->node[1].node, 1, "the second is node 1");
	is_int(t->node[1].count, 8, "with 8 cores");
	is_int(t->node[1].pu[0], 16, "which begin at hardware thread 16");
	is_u64(t->node[1].llc_bytes, 16 * MIB, "and two caches");
	is_u64(t->all.memory_bytes, t->node[0].memory_bytes + t->node[1].memory_bytes,
	       "memory is the sum of the nodes'");
	ok(isnan(t->quota_cpus), "no quota where there are no groups");
	ok(isnan(t->all.max_mhz), "no clock without cpufreq");
	ok(t->cpu_name[0], "the CPU has a name: %s", t->cpu_name);
	ok(ceil_topology_node(t, 1) == &t->node[1], "node 1 is found by its number");
	is_u64(ceil_topology_nodes(t), 3, "both are in the set");
	ok(!ceil_topology_node(t, 2) && !ceil_topology_node(t, -1), "others are not");
	ceil_topology_close(t);
	ceil_topology_close(NULL);
}

static void test_small_machines(void)
{
	struct ceil_topology *t;

	sysroot_new();
	sysroot_file("/proc/meminfo", "MemTotal:  4096 kB\nMemAvailable: 1024 kB\n");
	t = open_as("numa:1 l3:1(size=1MB) core:2 pu:1");
	if (t) {
		is_int(t->all.count, 2, "two cores");
		is_int((long long)t->node_count, 1, "one node");
		is_int(t->all.node, 0, "the machine is node 0");
		is_u64(t->all.memory_bytes, 4 * MIB, "its memory is the kernel's figure");
		is_u64(t->node[0].memory_bytes, 4 * MIB, "and so is that of its one node");
	}
	ceil_topology_close(t);
	t = open_as("numa:1 pu:3");
	if (t) {
		is_int(t->all.count, 3, "hardware threads where no cores are shown");
		is_u64(t->all.llc_bytes, 0, "no cache is known");
	}
	ceil_topology_close(t);
}

/* As on GH200: the GPU's memory is a node of its own, without CPUs. */
static void test_memory_without_cpus(void)
{
	const char *machine = "pack:2 numa:1(memory=4GB) core:2 pu:1";
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_topology *t;
	void *ptr = NULL;

	sysroot_new();
	sysroot_file("/sys/devices/system/node/node0/cpulist", "0-3\n");
	sysroot_file("/sys/devices/system/node/node1/cpulist", "\n");
	t = open_as(machine);
	if (!t)
		return;
	is_int((long long)t->node_count, 1, "a node without CPUs is no node of ours");
	is_int((long long)t->left_out, 1, "but it is counted");
	is_int(t->all.node, 0, "so the machine is node 0");
	is_u64(t->all.memory_bytes, t->node[0].memory_bytes, "and its memory is node 0's");
	is_int(ceil_topology_alloc(t, 1, MIB, &ptr, &err), CEIL_E_USAGE, "no memory from there");
	has_text(err.text, "NUMA node 1", "the message names it");
	is_int(ceil_topology_alloc(t, 0, MIB, &ptr, &err), CEIL_OK, "but from node 0");
	if (ptr)
		memset(ptr, 1, MIB);
	ceil_topology_free(ptr, MIB);
	ceil_topology_free(NULL, MIB);
	ceil_topology_close(t);
}

static void test_affinity(void)
{
	struct ceil_topology *t;
	cpu_set_t before, one;
	size_t first = 0;

	sysroot_new();
	CPU_ZERO(&before);
	if (sched_getaffinity(0, sizeof(before), &before) != 0) {
		skip("affinity", "more CPUs than a cpu_set_t holds");
		return;
	}
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	t = open_as(NULL);
	(void)sched_setaffinity(0, sizeof(before), &before);
	if (t) {
		is_int(t->all.count, 1, "one allowed hardware thread is one thread");
		is_u64(t->all.pu[0], first, "and that one");
	}
	ceil_topology_close(t);
}

/* ---- quota */

static void expect_threads(unsigned want, const char *what)
{
	struct ceil_topology *t = open_as("pack:2 numa:1 l3:2(size=8MiB) core:4 pu:2");

	if (t)
		is_int(t->all.count, want, what);
	ceil_topology_close(t);
}

static void test_quota_v2(void)
{
	struct ceil_topology *t;

	sysroot_new();
	write_v2("/a/b");
	sysroot_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	ok(isnan(ceil_limits_cpus()), "max is no quota");
	expect_threads(16, "so every core works");
	sysroot_file("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
	is_close(ceil_limits_cpus(), 1.5, 0.0, "150000 of 100000 is 1.5 CPUs");
	expect_threads(1, "rounded down to one thread");
	sysroot_file("/sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
	expect_threads(1, "but at least one");
	sysroot_file("/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
	sysroot_file("/sys/fs/cgroup/a/cpu.max", "400000 100000\n");
	is_close(ceil_limits_cpus(), 4.0, 0.0, "a tighter group above counts");
	t = open_as("pack:2 numa:1 l3:2(size=8MiB) core:4 pu:2");
	if (t) {
		is_int(t->all.count, 4, "four threads");
		is_int(t->all.allowed, 16, "of sixteen cores");
		is_int(t->all.pu[1], 8, "spread evenly over them");
		is_u64(t->all.llc_bytes, 32 * MIB, "so that they reach every cache");
		is_int(t->node[0].count, 4, "a node may use the quota as well");
	}
	ceil_topology_close(t);
	sysroot_file("/sys/fs/cgroup/a/cpu.max", "garbage\n");
	is_close(ceil_limits_cpus(), 8.0, 0.0, "what is no number is no quota");
}

static void test_quota_v1(void)
{
	sysroot_new();
	write_v1("/pod/c", "/");
	sysroot_file("/sys/fs/cgroup/cpu,cpuacct/pod/c/cpu.cfs_quota_us", "-1\n");
	sysroot_file("/sys/fs/cgroup/cpu,cpuacct/pod/c/cpu.cfs_period_us", "100000\n");
	ok(isnan(ceil_limits_cpus()), "-1 is no quota");
	sysroot_file("/sys/fs/cgroup/cpu,cpuacct/pod/c/cpu.cfs_quota_us", "250000\n");
	is_close(ceil_limits_cpus(), 2.5, 0.0, "2.5 CPUs in version 1");
	expect_threads(2, "are two threads");
	sysroot_file("/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "50000\n");
	sysroot_file("/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n");
	is_close(ceil_limits_cpus(), 0.5, 0.0, "nested in version 1");
}

/* The path that the kernel tells need not be there: the mount's root is the group. */
static void test_container(void)
{
	sysroot_new();
	sysroot_file("/proc/self/cgroup", "0::/docker/0123\n");
	sysroot_file("/proc/self/mountinfo",
	             "31 23 0:28 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
	sysroot_file("/sys/fs/cgroup/cpu.max", "300000 100000\n");
	is_close(ceil_limits_cpus(), 3.0, 0.0, "the group is the mount's root");
	sysroot_file("/proc/self/cgroup", "0::/docker/0123/sub\n");
	sysroot_file("/sys/fs/cgroup/sub/cpu.max", "200000 100000\n");
	is_close(ceil_limits_cpus(), 2.0, 0.0, "or below it");
	sysroot_file("/proc/self/cgroup", "0::/../../elsewhere\n");
	is_close(ceil_limits_cpus(), 3.0, 0.0, "a group outside of our view: the root's limit");
	sysroot_file("/proc/self/cgroup", "0::/docker/01234\n");
	is_close(ceil_limits_cpus(), 3.0, 0.0, "a longer name is another group");
	sysroot_file("/proc/self/cgroup", "");
	ok(isnan(ceil_limits_cpus()), "no group, no quota");
}

/* ---- memory */

/* measuring.md, Memory rows: at most 60 % of what is free, and never the last 2 GiB. */
static void test_plan_bytes(void)
{
	const uint64_t gib = 1024 * MIB;

	is_u64(ceil_limits_plan_bytes(140 * gib), 84 * gib, "60 % of much");
	is_u64(ceil_limits_plan_bytes(4 * gib), 2 * gib, "of little not the last 2 GiB");
	is_u64(ceil_limits_plan_bytes(2 * gib), 0, "which may be all");
	is_u64(ceil_limits_plan_bytes(UINT64_MAX), 0, "of what nobody knows nothing");
}

static void test_shared(void)
{
	sysroot_new();
	is_u64(ceil_limits_shared_bytes(3 * MIB), 3 * MIB,
	       "the system says nothing: the GPU's figure");
	sysroot_file("/proc/meminfo", "MemAvailable:  4096 kB\n");
	is_u64(ceil_limits_shared_bytes(3 * MIB), 4 * MIB, "the page cache gives back");
	is_u64(ceil_limits_shared_bytes(9 * MIB), 4 * MIB, "and there is no more than that");
}

static void test_memory_v2(void)
{
	sysroot_new();
	is_u64(ceil_limits_free_bytes(), UINT64_MAX, "nothing there: unknown");
	sysroot_file("/proc/meminfo",
	             "MemTotal:  8192 kB\nMemFree: 1 kB\nMemAvailable:  4096 kB\n");
	is_u64(ceil_limits_free_bytes(), 4 * MIB, "what the kernel calls available");
	write_v2("/a");
	sysroot_file("/sys/fs/cgroup/a/memory.max", "max\n");
	sysroot_file("/sys/fs/cgroup/a/memory.current", "5000\n");
	is_u64(ceil_limits_memory_bytes(), UINT64_MAX, "max is no limit");
	sysroot_file("/sys/fs/cgroup/a/memory.max", "3145728\n");
	sysroot_file("/sys/fs/cgroup/a/memory.current", "1048576\n");
	is_u64(ceil_limits_memory_bytes(), 2 * MIB, "limit less usage");
	is_u64(ceil_limits_free_bytes(), 2 * MIB, "which is below what is available");
	sysroot_file("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 524288\n");
	is_u64(ceil_limits_memory_bytes(), 2 * MIB + MIB / 2, "cache of files gives way");
	sysroot_file("/sys/fs/cgroup/a/memory.high", "2097152\n");
	is_u64(ceil_limits_memory_bytes(), MIB + MIB / 2, "the soft limit counts as well");
	sysroot_file("/sys/fs/cgroup/memory.max", "1048576\n");
	sysroot_file("/sys/fs/cgroup/memory.current", "2097152\n");
	is_u64(ceil_limits_memory_bytes(), 0, "a group above that is full leaves nothing");
}

static void test_memory_v1(void)
{
	sysroot_new();
	write_v1("/", "/job/7");
	sysroot_file("/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "9223372036854771712\n");
	sysroot_file("/sys/fs/cgroup/memory/job/7/memory.usage_in_bytes", "4096\n");
	is_u64(ceil_limits_memory_bytes(), UINT64_MAX, "version 1's no limit");
	sysroot_file("/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "4194304\n");
	sysroot_file("/sys/fs/cgroup/memory/job/7/memory.usage_in_bytes", "1048576\n");
	sysroot_file("/sys/fs/cgroup/memory/job/7/memory.stat",
	             "inactive_file 1000000\ntotal_inactive_file 1048576\n");
	is_u64(ceil_limits_memory_bytes(), 4 * MIB, "limit less usage, cache of files apart");
}

static void test_plan(void)
{
	const uint64_t gib = UINT64_C(1) << 30;

	is_u64(ceil_limits_plan_bytes(100 * gib), 60 * (100 * gib / 100), "60 % of much");
	is_u64(ceil_limits_plan_bytes(4 * gib), 2 * gib, "all but 2 GiB of little");
	is_u64(ceil_limits_plan_bytes(gib), 0, "nothing of less");
	is_u64(ceil_limits_plan_bytes(UINT64_MAX), 0, "unknown stays unknown");
}

static void test_no_room(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_topology *t;
	void *ptr = NULL;

	sysroot_new();
	sysroot_file("/proc/meminfo", "MemAvailable:  2048 kB\n");
	sysroot_file("/sys/devices/system/node/node1/meminfo",
	             "Node 1 MemTotal: 9 kB\nNode 1 MemFree:  512 kB\n"
	             "Node 1 Active(file): 77 kB\nNode 1 Inactive(file): 256 kB\n");
	t = open_as("pack:2 numa:1(memory=4GB) core:2 pu:1");
	if (!t)
		return;
	is_u64(ceil_topology_free_bytes(t, -1), 2 * MIB, "the machine's free memory");
	is_u64(ceil_topology_free_bytes(t, 0), 2 * MIB, "a node that says nothing has as much");
	is_u64(ceil_topology_free_bytes(t, 1), 768 * 1024, "a node's own is smaller");
	is_int(ceil_topology_alloc(t, -1, 3 * MIB, &ptr, &err), CEIL_E_NOMEM, "3 MiB do not fit");
	has_text(err.text, "3 MiB", "the message says what was asked");
	has_text(err.text, "2 MiB", "and what is there");
	ok(!ptr, "and nothing is given");
	is_int(ceil_topology_alloc(t, 1, MIB, &ptr, &err), CEIL_E_NOMEM, "nor 1 MiB on node 1");
	is_int(ceil_topology_alloc(t, -1, MIB, &ptr, &err), CEIL_OK, "1 MiB anywhere fits");
	ceil_topology_free(ptr, MIB);
	ceil_topology_close(t);
}

/* On this machine as it is: a page lies on a node that there is, where the system tells. */
static void test_where_memory_lies(void)
{
	struct ceil_topology *t = NULL;
	struct ceil_error err;
	void *ptr = NULL;
	int node;

	sysroot_new();
	(void)unsetenv("GPUCEIL_SYSROOT");
	(void)unsetenv("HWLOC_SYNTHETIC");
	if (!ok(ceil_topology_open(&t, &err) == CEIL_OK, "this machine"))
		return;
	ok(ceil_topology_alloc(t, -1, MIB, &ptr, &err) == CEIL_OK, "has a mebibyte");
	memset(ptr, 1, MIB);
	node = ceil_topology_node_of(t, ptr);
	ok(node == -1 || ceil_topology_node(t, node) != NULL, "on node %d", node);
	ceil_topology_free(ptr, MIB);
	ceil_topology_close(t);
}

/* ---- clock and CPU */

static void write_freq(unsigned cpu, const char *driver, const char *khz)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_driver",
	               cpu);
	sysroot_file(path, driver);
	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq",
	               cpu);
	sysroot_file(path, khz);
}

static void expect_mhz(double want, const char *what)
{
	struct ceil_topology *t = open_as("numa:1 core:2 pu:2");

	if (t)
		is_close(t->all.max_mhz, want, 1e-9, what);
	ceil_topology_close(t);
}

static void test_clock(void)
{
	sysroot_new();
	write_freq(0, "intel_pstate\n", "3800000\n");
	expect_mhz((double)NAN, "a core without the file: unknown");
	write_freq(2, "intel_pstate\n", "3600000\n");
	expect_mhz(3700.0, "the mean over the used cores");
	write_freq(2, "acpi-cpufreq\n", "2600000\n");
	expect_mhz((double)NAN, "a driver that may hide the boost clock: unknown");
	write_freq(2, "intel_pstate\n", "0\n");
	expect_mhz((double)NAN, "0 is no clock");
}

static void expect_pipes(const char *vendor, long family, long model, int want)
{
	const struct ceil_cpu_id id = {vendor, family, model};
	const struct ceil_cpu_kind *k = ceil_cpu_find(&id);

	ok((k ? k->fma_pipes : 0) == want, "%s %ld/%ld: %d pipes", vendor, family, model, want);
	ok(!k || (k->name[0] && k->source[0]), "with name and source");
}

static void test_cpus(void)
{
	const int bits = ceil_cpu_vector_bits();

	expect_pipes("AuthenticAMD", 25, 0x01, 2); /* Milan */
	expect_pipes("AuthenticAMD", 25, 0x11, 1); /* Genoa: 512 bits in two passes */
	expect_pipes("AuthenticAMD", 26, 0x02, 2); /* Turin */
	expect_pipes("GenuineIntel", 6, 0x8f, 2);  /* Sapphire Rapids */
	expect_pipes("GenuineIntel", 6, 0x55, 0);  /* Skylake-SP: depends on the part */
	expect_pipes("0x41", 0xd4f, 0, 4);         /* Neoverse V2, Grace */
	expect_pipes("", -1, -1, 0);
	ok(bits == 0 || (bits >= 64 && bits % 64 == 0), "vectors of %d bits", bits);
}

int main(void)
{
	/* With a list of components hwloc would not look at HWLOC_SYNTHETIC. */
	(void)unsetenv("HWLOC_COMPONENTS");
	test_two_sockets();
	test_small_machines();
	test_memory_without_cpus();
	test_affinity();
	test_quota_v2();
	test_quota_v1();
	test_container();
	test_plan_bytes();
	test_shared();
	test_memory_v2();
	test_memory_v1();
	test_plan();
	test_no_room();
	test_where_memory_lies();
	test_clock();
	test_cpus();
	return done_testing();
}
