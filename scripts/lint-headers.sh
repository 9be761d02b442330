#!/bin/sh
# Checks that each header compiles alone as C17, those of kernels also as C++17, and has its guard.
set -u

cc=${CC:-cc}
warn="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Wundef -Werror"
cuda_inc=${CUDA_HOME:-/usr/local/cuda}/include
bad=0
guards=

# A header of CUPTI's includes C++'s <string>: C gets an empty one, as in scripts/build.mk.
string="-isystem harness/telemetry/pm_include"

# alone COMPILER STANDARD HEADER LANGUAGE OPTIONS. A second include must change nothing.
alone() {
	printf '#include "%s"\n#include "%s"\nextern int ceil_alone;\n' "$3" "$3" |
		"$1" -std="$2" -D_GNU_SOURCE -I. $5 -isystem "$cuda_inc" $warn -fsyntax-only \
			-x "$4" - 2>&1
}

for h in $(find harness bench kernels tests -name '*.h' | sort); do
	if ! text=$(alone "$cc" c17 "$h" c "$string"); then
		echo "$text" | head -n 5 | sed 's/^/  /'
		echo "  $h: does not compile alone"
		bad=1
	fi
	name=$(basename "$h" .h | tr 'a-z-' 'A-Z_')
	guard=$(sed -n '/^#ifndef /{s/#ifndef //p;q;}' "$h")
	if ! echo "$guard" | grep -q -E "^CEIL_([A-Z0-9]+_)*${name}_H\$"; then
		echo "  $h: the guard is '$guard', not CEIL_${name}_H"
		bad=1
	fi
	guards="$guards$guard
"
done
twice=$(echo "$guards" | sort | uniq -d | tr '\n' ' ')
if [ -n "$twice" ]; then
	echo "  the guard of two headers: $twice"
	bad=1
fi
for h in $(find kernels -name '*.h' | sort); do
	if ! text=$(alone "${CXX:-g++}" c++17 "$h" c++ ""); then
		echo "$text" | head -n 5 | sed 's/^/  /'
		echo "  $h: is no C++17, which nvcc needs"
		bad=1
	fi
done
exit $bad
