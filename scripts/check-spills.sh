#!/bin/sh
# Fails if a kernel spills registers to memory, by what ptxas said when it was compiled.
# check-spills.sh [BUILD]. A spilling kernel measures its own stack instead of the device.
set -u

build=${1:-build}
set -- "$build"/kernels/*.cu.o.log
if [ ! -e "$1" ]; then
	echo "no kernels were compiled in $build"
	exit 1
fi
awk '
	/Compiling entry function/ { kernel = $0; sub(/.*function /, "", kernel); kernels++ }
	match($0, /[0-9]+ bytes spill stores, [0-9]+ bytes spill loads/) {
		spill = substr($0, RSTART, RLENGTH)
		if (spill !~ /^0 .* 0 bytes/) {
			print "  " FILENAME ": " kernel ": " spill
			bad++
		}
	}
	END {
		printf "%d kernels for their targets, %d with spills\n", kernels, bad
		exit bad > 0 || kernels == 0
	}' "$@"
