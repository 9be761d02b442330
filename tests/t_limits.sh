#!/bin/sh
# What a scheduler gives is respected by the host's rows, and stands in run.json.
. tests/scripts/tap.sh
. tests/worlds.sh

unset HWLOC_COMPONENTS # beside it, hwloc would not look at the other
export HWLOC_SYNTHETIC="numa:2 l3:1(size=1MB) core:4 pu:1"

# bench NAME: leaves run.json without blanks in $info, and the devices of ceilings.csv in $devices.
bench() {
	"$gpuceil" bench --backend host dram --variant read.plain.fp32 --budget 1s \
		--output "$work/run-$1" >"$work/out" 2>&1
	is $? 0 "$1: it measures"
	info=$(tr -d ' \n' <"$work/run-$1/run.json")
	devices=$(sed 1d "$work/run-$1/ceilings.csv" | cut -d , -f 2 | uniq | tr -d '"' | tr '\n' ' ')
}

# The tests themselves may run under a quota or in part of a machine: an empty root has neither.
machine plain
bench plain
is "$devices" "cpu cpu.node0 cpu.node1 " "two NUMA nodes: one after another"
has "$info" '"cpu_quota":null' "no quota"
has "$info" '"all":{"cores_allowed":8,"threads":8' "eight cores"
has "$info" '"numa_nodes":[{"numa_node":0,"cores_allowed":4,"threads":4' "four of a node"
has "$info" '"numa_nodes_left_out":0' "no node is left out"

machine quota
mkdir -p "$GPUCEIL_SYSROOT/proc/self" "$GPUCEIL_SYSROOT/sys/fs/cgroup/job"
echo "0::/job" >"$GPUCEIL_SYSROOT/proc/self/cgroup"
echo "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw" >"$GPUCEIL_SYSROOT/proc/self/mountinfo"
echo "250000 100000" >"$GPUCEIL_SYSROOT/sys/fs/cgroup/job/cpu.max"
echo 8589934592 >"$GPUCEIL_SYSROOT/sys/fs/cgroup/job/memory.max"
echo 1073741824 >"$GPUCEIL_SYSROOT/sys/fs/cgroup/job/memory.current"
bench quota
has "$info" '"cpu_quota":2.5' "a quota of 2.5 CPUs is recorded"
has "$info" '"all":{"cores_allowed":8,"threads":2' "and two threads are used of eight cores"
has "$info" '"cgroup_memory_left_bytes":7516192768' "memory that the group leaves"

# A node without CPUs is how the memory of a GPU appears (Grace Hopper).
machine gpu_memory
mkdir -p "$GPUCEIL_SYSROOT/sys/devices/system/node/node0" "$GPUCEIL_SYSROOT/sys/devices/system/node/node1"
echo 0-3 >"$GPUCEIL_SYSROOT/sys/devices/system/node/node0/cpulist"
echo >"$GPUCEIL_SYSROOT/sys/devices/system/node/node1/cpulist"
bench gpu_memory
is "$devices" "cpu " "it is no device of the host"
has "$info" '"numa_nodes_left_out":1' "and is told"

# Affinity, of the real machine.
if command -v taskset >/dev/null; then
	unset HWLOC_SYNTHETIC
	export HWLOC_COMPONENTS=-gl,-opencl,-pci
	machine affinity
	first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
	taskset -c "$first" "$gpuceil" bench --backend host --dry-run >"$work/out" 2>&1
	is $? 0 "one core: a dry run"
	taskset -c "$first" "$gpuceil" bench --backend host gemm --dtype fp32 --budget 1s \
		--output "$work/run-one" >"$work/out" 2>&1
	has "$(tr -d ' \n' <"$work/run-one/run.json")" '"cores_allowed":1,"threads":1' \
		"an affinity of one core is one thread"
fi
done_testing
