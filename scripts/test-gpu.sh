#!/bin/sh
# Runs the GPU tests that were built into BUILD/tests-gpu: plain, under hardware counters, and then
# under compute-sanitizer.
#
# test-gpu.sh [BUILD]. Compiles nothing, so it works from a build that was carried here. The tests
# skip themselves where there is no GPU. TOOLS: of compute-sanitizer ("memcheck racecheck", "" none).
set -u

build=${1:-build}
tools=${TOOLS-memcheck}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0

# One GPU is shared by all: one file at a time.
run_files() {
	BUILD=$build JOBS=1 tests/run "$@" >"$log.one" || bad=1
	cat "$log.one"
	grep -E '^[0-9]+ passed, [0-9]+ failed' "$log.one" >>"$log"
	rm -f "$log.one"
}

run_tests() { run_files "$@" "$build"/tests-gpu/*; }

find_tool() {
	command -v "$1" || {
		s=${CUDA_HOME:-/usr/local/cuda}/bin/$1
		[ ! -x "$s" ] || echo "$s"
	}
}

set -- "$build"/tests-gpu/*
if [ ! -e "$1" ]; then
	echo "no GPU tests in $build/tests-gpu: they are built where nvcc is found"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
set --

run_tests -t 300
if [ -n "$(find_tool ncu)" ] && [ -x "$build/tests-gpu/t_dram" ] && ! grep -q '^0 passed' "$log"; then
	echo "what kernels did, by hardware counters (ncu):"
	run_files -t 600 tests/gpu/counters.sh
fi
sanitizer=$(find_tool compute-sanitizer)
if [ -n "$sanitizer" ] && ! grep -q '^0 passed' "$log"; then
	for tool in $tools; do
		echo "compute-sanitizer --tool $tool, small sizes:"
		GPUCEIL_TEST_SMALL=1 run_tests -t 600 -w "$sanitizer --tool $tool --report-api-errors no --error-exitcode 99"
	done
fi
echo
awk '{ p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$log"
exit $bad
