#!/bin/sh
# gpuceil bench where there is no GPU, or a broken one: rows, reasons and exit status.
. tests/scripts/tap.sh
. tests/worlds.sh

export GPUCEIL_LIB_NVML=/nonexistent/libnvidia-ml.so.1

# bench STATUS ROWS WORDS: every CUDA ceiling is such a row, with these words and no value.
bench() {
	rm -rf "$work/run"
	out=$("$gpuceil" bench --backend cuda --output "$work/run" 2>&1)
	is $? "$1" "$3: exit status"
	all=$(sed 1d "$work/run/ceilings.csv" | wc -l)
	ok "$([ "$all" -gt 0 ]; echo $?)" "there are rows"
	rows=$(grep -c "\",,\"[^\"]*\",\"[^\"]*\",.*\"$2\",\".*$3" "$work/run/ceilings.csv")
	is "$rows" "$all" "each is $2, has the reason and no value"
	has "$(echo "$out" | tr -s ' \n' ' ')" "$2: " "the terminal says so"
}

if [ $has_cuda = no ]; then
	machine plain
	bench 0 unsupported "this build has no CUDA"
	done_testing
fi

machine plain
bench 0 unsupported "no NVIDIA GPU in this machine"
"$gpuceil" bench --backend cuda --expect-gpus 1 --output "$work/expected" >/dev/null 2>&1
is $? 1 "--expect-gpus makes it an error"

machine bare
gpu_in_pci
bench 1 failed "no NVIDIA driver is installed"
touch "$GPUCEIL_SYSROOT/.dockerenv"
bench 0 unsupported "this container was given no GPU"

machine broken
driver_580
fake_cuda
FAKE_CUDA_DRIVER=11040 bench 1 failed "580.159.04 is too old: it supports CUDA 11.4"
FAKE_CUDA_INIT=802 bench 1 failed "systemctl status nvidia-fabricmanager"
FAKE_CUDA_INIT=803 bench 1 failed "error 803"
FAKE_CUDA_INIT=999 bench 1 failed "fell off the bus"
FAKE_CUDA_INIT=100 bench 1 failed "CUDA finds no GPU"
export CUDA_VISIBLE_DEVICES=
FAKE_CUDA_INIT=100 bench 0 unsupported "hides every GPU"
done_testing
