#!/bin/sh
# gpuceil doctor on machines of every kind: other roots for /sys, /dev, /proc, and stand-in libraries.
. tests/scripts/tap.sh
. tests/worlds.sh

# doctor STATUS NAME: runs it, leaves its words in $out on one line.
doctor() {
	text=$("$gpuceil" doctor 2>&1)
	is $? "$1" "$2: exit status"
	out=$(printf '%s' "$text" | tr -s ' \n' ' ')
	has_not "$(echo "$text" | awk 'length > 100')" "  " "$2: no line over 100 columns"
}

export GPUCEIL_LIB_NVML=/nonexistent/libnvidia-ml.so.1

machine plain
doctor 0 "no GPU"
has "$out" "ok measures cpu" "the host is measured"
has "$out" "Nothing is broken here. Exit status 0." "the verdict"
has "$out" "NVML: GPUCEIL_LIB_NVML does not load: /nonexistent/" "what is wrong with NVML"
has "$out" "skips cuda rows" "and the GPU's rows are not"

GPUCEIL_LIB_CBLAS=/nonexistent/blas.so doctor 0 "no CBLAS"
has "$out" "skips host.gemm: no CBLAS" "host.gemm is skipped"
GPUCEIL_LIB_NCCL=/nonexistent/nccl.so doctor 0 "no NCCL"
has "$out" "skip NCCL NCCL: GPUCEIL_LIB_NCCL does not load" "NCCL and its reason"
CUDA_LAUNCH_BLOCKING=1 doctor 0 "blocking launches"
has "$out" "CUDA_LAUNCH_BLOCKING=1: launches wait" "the environment is told"

# ---- NVML
export GPUCEIL_LIB_NVML="$fakes/nvml.so"
if [ -e "$fakes/nvml.so" ]; then
	machine nvml
	FAKE_NVML_COUNT=2 FAKE_NVML_LIMIT_MW=500000 FAKE_NVML_MIG=1 FAKE_NVML_PIDS=7 doctor 0 "two GPUs in NVML"
	has "$out" "ok NVML 13.580.159.04, $fakes/nvml.so" "version and path"
	has "$out" "gpu1 NVIDIA H200, PCI 0000:3b:00.0, GPU-00000001-1111" "which GPU"
	has "$out" "ECC on, MIG on, power limit 500 W (default 700 W)" "its state"
	has "$out" "4 MiB of 140.4 GiB in use, 1 process" "its memory"
	FAKE_NVML_COUNT=2 FAKE_NVML_LOST=1 doctor 1 "a GPU that is lost"
	has "$out" "BAD gpu1 does not answer" "it is named"
	has "$out" "1 thing is broken" "and counted"
	FAKE_NVML_COMPUTE_MODE=2 doctor 1 "compute mode prohibited"
	has "$out" "nvidia-smi -i 0 -c 0" "what to do about it"
	FAKE_NVML_FAIL=nvmlInit_v2=18 doctor 0 "an NVML that does not match"
	has "$out" "Driver/library version mismatch" "its own words"
else
	ok 0 "NVML # SKIP the stand-in library is not built"
fi
export GPUCEIL_LIB_NVML=/nonexistent/libnvidia-ml.so.1

# ---- rights
machine rights
driver_580
echo "RmProfilingAdminOnly: 1" >"$GPUCEIL_SYSROOT/proc/driver/nvidia/params"
mkdir -p "$GPUCEIL_SYSROOT/proc/self"
rights() {
	printf 'CapInh:\t0\nCapEff:\t%s\n' "$1" >"$GPUCEIL_SYSROOT/proc/self/status"
	out=$("$gpuceil" doctor 2>&1 | tr -s ' \n' ' ')
}
rights 0000000000000000
has "$out" "note counters for administrators only" "counters without rights"
rights 0000004000000000
has "$out" "ok counters this process has CAP_PERFMON" "with CAP_PERFMON"
rights 000001ffffffffff
has "$out" "ok counters this process has CAP_SYS_ADMIN" "as root"
echo "RmProfilingAdminOnly: 0" >"$GPUCEIL_SYSROOT/proc/driver/nvidia/params"
rights 0000000000000000
has "$out" "ok counters open to every user" "counters that are open"

# ---- broken drivers, by a libcuda that fails as they do
if [ $has_cuda = yes ]; then
	machine bare
	gpu_in_pci
	doctor 1 "a bare machine without a driver"
	has "$out" "BAD cuda PCI shows an NVIDIA GPU (0000:65:00.0) but no NVIDIA driver" "the reason"
	has "$out" "fails cuda rows" "the forecast"
	touch "$GPUCEIL_SYSROOT/.dockerenv"
	doctor 0 "a container without nodes"
	has "$out" "skip cuda this container was given no GPU" "the reason"

	machine broken
	driver_580
	fake_cuda
	FAKE_CUDA_DRIVER=11040 doctor 1 "a driver too old"
	has "$out" "580.159.04 is too old: it supports CUDA 11.4" "the reason"
	FAKE_CUDA_INIT=802 doctor 1 "error 802"
	has "$out" "systemctl status nvidia-fabricmanager" "what to do about it"
	FAKE_CUDA_INIT=803 doctor 1 "error 803"
	has "$out" "differ in version (error 803)" "the reason"
	FAKE_CUDA_INIT=999 doctor 1 "error 999"
	has "$out" "(error 999)" "the reason"
	has "$out" "xid" "where to look"
	FAKE_CUDA_INIT=100 doctor 1 "error 100"
	has "$out" "CUDA finds no GPU" "the reason"
	CUDA_VISIBLE_DEVICES='' FAKE_CUDA_INIT=100 doctor 0 "hidden"
	has "$out" 'CUDA_VISIBLE_DEVICES="" hides every GPU' "the reason"
	real_cuda
else
	ok 0 "broken drivers # SKIP this build has no CUDA, or no stand-in for it"
fi

# ---- the command itself
out=$("$gpuceil" doctor --help)
is $? 0 "help: exit status"
has "$out" "Usage: gpuceil doctor" "help"
out=$("$gpuceil" doctor everything 2>&1)
is $? 2 "an argument too many: exit status"
has "$out" "'everything'" "it is named"
out=$("$gpuceil" doctor 2>&1 >/dev/full)
is $? 2 "a full disk: exit status"
has "$out" "standard output" "and words"
done_testing
