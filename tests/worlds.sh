# Other machines for tests that are shell scripts: after tests/scripts/tap.sh, `. tests/worlds.sh`.
# shellcheck shell=sh disable=SC2154 # root and work come from tap.sh

gpuceil=${GPUCEIL:-build/gpuceil}
fakes=${CEIL_TEST_BUILD:-build}/tests/fakes
case $fakes in /*) ;; *) fakes=$root/$fakes ;; esac
unset CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING LD_PRELOAD NO_COLOR

# An empty machine in $work/NAME, which is looked at from now on.
machine() {
	export GPUCEIL_SYSROOT="$work/$1"
	mkdir -p "$GPUCEIL_SYSROOT/dev" "$GPUCEIL_SYSROOT/proc"
}

gpu_in_pci() {
	mkdir -p "$GPUCEIL_SYSROOT/sys/bus/pci/devices/0000:65:00.0"
	echo 0x10de >"$GPUCEIL_SYSROOT/sys/bus/pci/devices/0000:65:00.0/vendor"
	echo 0x030200 >"$GPUCEIL_SYSROOT/sys/bus/pci/devices/0000:65:00.0/class"
}

driver_580() {
	gpu_in_pci
	mkdir -p "$GPUCEIL_SYSROOT/proc/driver/nvidia"
	echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Release Build" \
		>"$GPUCEIL_SYSROOT/proc/driver/nvidia/version"
	touch "$GPUCEIL_SYSROOT/dev/nvidia0" "$GPUCEIL_SYSROOT/dev/nvidia-uvm"
}

# The program finds a libcuda.so.1 that fails as FAKE_CUDA_INIT and FAKE_CUDA_DRIVER say.
fake_cuda() {
	mkdir -p "$work/lib"
	ln -sf "$fakes/cuda.so" "$work/lib/libcuda.so.1"
	export LD_LIBRARY_PATH="$work/lib${libraries:+:$libraries}"
}

real_cuda() {
	export LD_LIBRARY_PATH="$libraries"
}

libraries=${LD_LIBRARY_PATH:-}
has_cuda=no
"$gpuceil" --version | grep -q 'CUDA *$' || [ ! -e "$fakes/cuda.so" ] || has_cuda=yes

# sane STATUS FOLDER NAME: the run found nothing wrong, else the rows are told that it found so.
sane() {
	is "$1" 0 "$3"
	[ "$1" = 0 ] || grep -h '"suspect"\|"failed"\|"throttled"' "$2/ceilings.csv" "$2/records.csv" |
		cut -d, -f5,20-22 | sed 's/^/# /'
}
