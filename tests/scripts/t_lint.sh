#!/bin/sh
# Each lint check passes a clean tree and fails on its bad sample.
. tests/scripts/tap.sh

good_c='/* Adds. */
#include "harness/base/add.h"

int ceil_add(int a, int b)
{
	return a + b;
}'
good_h='/* Adds. */
#ifndef CEIL_ADD_H
#define CEIL_ADD_H

int ceil_add(int a, int b);

#endif'

# A clean tree in $work/tree, with the scripts of this one.
fresh() {
	cd "$root" || exit 1
	rm -rf "$work/tree"
	mkdir -p "$work/tree/scripts" "$work/tree/.ci" "$work/tree/tests" "$work/tree/kernels" \
		"$work/tree/bench" "$work/tree/harness/base" "$work/tree/harness/measure" \
		"$work/tree/harness/cli" "$work/tree/harness/device" "$work/tree/harness/telemetry"
	cp scripts/*.sh "$work/tree/scripts"
	touch "$work/tree/Makefile"
	cp .clang-format "$work/tree"
	cd "$work/tree" || exit 1
	echo "$good_c" >harness/base/add.c
	echo "$good_h" >harness/base/add.h
}

lint() {
	out=$("scripts/lint-$1.sh" 2>&1)
	status=$?
}

# sample FORMAT [ARG]: what the next check is tried on.
sample() { printf "$@" >"$work/sample"; }

# catches CHECK FILE NEEDLE NAME: with the sample as FILE in a clean tree, the check fails and says
# NEEDLE.
catches() {
	fresh
	cp "$work/sample" "$2"
	lint "$1"
	is "$status" 1 "$4"
	has "$out" "$3" "$4: says where and why"
}

# allows CHECK FILE NAME
allows() {
	fresh
	cp "$work/sample" "$2"
	lint "$1"
	is "$status$out" 0 "$3"
}

needs() { command -v "$1" >/dev/null || echo "# no $1 here: its checks are left out"; command -v "$1" >/dev/null; }

for check in words functions walls headers; do
	fresh
	lint $check
	is "$status$out" 0 "lint-$check passes a clean tree"
done

if needs clang-format; then
	fresh
	lint format
	is "$status" 0 "lint-format passes a clean tree"
	sample '/* Bad. */\nint  x;\n'
	catches format harness/base/x.c harness/base/x.c:2 "a file that is not formatted"
	fresh
	printf '/* Bad. */\nint  x;\n' >harness/base/x.c
	scripts/lint-format.sh --fix
	is "$(tail -n 1 harness/base/x.c)" "int x;" "--fix formats it"
fi
if needs cppcheck; then
	fresh
	lint cppcheck
	is "$status" 0 "lint-cppcheck passes a clean tree"
	sample '/* Bad. */\nint f(void);\nint f(void)\n{\n\tint a[2] = {0};\n\treturn a[2];\n}\n'
	catches cppcheck harness/base/x.c arrayIndexOutOfBounds "an index out of bounds"
fi

for word in 'sprintf(b, "x")' 'strcpy(a, b)' 'atoi (s)' 'system("ls")' 'gets(b)' 'alloca(3)'; do
	sample '/* Bad. */\n\t%s;\n' "$word"
	catches words bench/x.c "bench/x.c:2" "banned: $word"
done
sample '/* Fine. */\n\tsnprintf(b, 2, "x");\n\tfgets(b, 2, f);\n'
allows words bench/x.c "snprintf and fgets are fine"
sample '/* Bad. */\ntypedef struct a {\n'
catches words bench/x.h "no typedef" "a typedef of a struct"
sample '/* Fine. */\ntypedef enum a (*b_fn)(int);\n'
allows words bench/x.h "a function type may be named"
sample '/* Bad. */\n/* %s: later */\n' TODO
catches words bench/x.c "owner" "a TODO of nobody"
sample '# Bad.\ncd /%s/me\n' home
catches words scripts/x.sh "path of one machine" "a private path"
sample '# Bad. \n'
catches words scripts/x.sh "blanks" "a blank at the end"
sample '# Bad.\nCFLAGS=-%s\n' ffast-math
catches words scripts/x.sh "NAN" "fast math"
sample '/* Bad. */\n\tprintf("x");\n'
catches words harness/device/x.c "the outputs print" "a device prints"
allows words harness/cli/x.c "the command line does"
sample '/* Bad. */\n\t_exit(1);\n'
catches words bench/x.c "main.c exits" "a bench ends the process"
sample '/* Bad. */\n\tx = ceil_now_ns();\n'
catches words kernels/x.cu "pure" "a kernel's launcher looks at a clock"
allows words harness/cli/x.c "the command line may"
sample 'int x;\n'
catches words kernels/x.cu "what it is for" "a file without its first sentence"

# long LINES: a function of so many lines between its braces.
long() {
	printf '/* Long. */\nvoid f(void)\n{\n'
	awk -v n="$1" 'BEGIN { while (n-- > 0) print "\tg();" }'
	printf '}\n'
}
long 59 >"$work/sample"
catches functions bench/x.c "bench/x.c:3: a function of 61 lines" "61 lines from brace to brace"
long 58 >"$work/sample"
allows functions bench/x.c "60 lines"
{
	printf '/* Table. */\nstatic const int t[] =\n{\n'
	awk 'BEGIN { for (i = 0; i < 99; i++) print "\t1," }'
	printf '};\n'
} >"$work/sample"
allows functions bench/x.c "a long table"
{
	printf '/* Flat. */\nint f(int x)\n{\n\tswitch (x) {\n'
	awk 'BEGIN { for (i = 0; i < 99; i++) printf "\tcase %d:\n\t\treturn 1;\n", i }'
	printf '\t}\n}\n'
} >"$work/sample"
allows functions bench/x.c "a flat switch"

# wall FROM TO: an include of TO in FROM is an offence.
wall() {
	sample '/* Bad. */\n#include "%s"\n' "$2"
	catches walls "$1" "$1:2: $2" "$1 does not see $2"
}
door() {
	sample '/* Fine. */\n#include "%s"\n' "$2"
	allows walls "$1" "$1 sees $2"
}
wall harness/base/x.c harness/device/backend.h
wall harness/device/x.c harness/measure/loop.h
wall harness/measure/x.h harness/output/csv.h
wall harness/measure/x.c bench/dram.h
wall harness/cli/x.c harness/trace/x.h
wall harness/device/host.c kernels/support.h
wall harness/device/cuda_backend.c kernels/dram.h
wall bench/x.c harness/measure/loop.h
wall bench/x.c harness/telemetry/nvml.h
wall kernels/x.h harness/base/value.h
wall kernels/x.cu harness/device/backend.h
wall harness/base/x.c add.h
wall bench/x.c harness/device/cublaslt_inside.h
wall harness/cli/x.c harness/telemetry/nvml_inside.h
door harness/device/cuda_x.c harness/device/cuda_inside.h
door harness/cli/x.c harness/measure/loop.h
door harness/device/x.c harness/telemetry/nvml.h
door harness/device/cuda_backend.c kernels/support.h
door harness/device/cuda_dram.c kernels/dram.h
door bench/x.c harness/device/cublaslt.h
door bench/x.c kernels/dram.h
door kernels/x.cu harness/base/value.h
sample '/* Bad. */\n#include <cuda_runtime.h>\n'
catches walls bench/x.c "headers of CUDA" "a bench includes no CUDA header"
sample '/* Bad. */\n#include <nvml.h>\n'
catches walls harness/telemetry/x.c "headers of CUDA" "nvml.h is nowhere"
catches walls harness/device/cublaslt.h "headers of CUDA" "nor a header but the inside of a vendor's"
sample '/* Bad. */\n#include <cupti.h>\n'
catches walls harness/device/cuda_x.c "CUPTI" "CUPTI only in its places"
sample '/* Fine. */\n#include <cuda_runtime.h>\n'
allows walls harness/device/cuda_x.c "the CUDA backend includes CUDA"

sample '/* Bad. */\n#ifndef CEIL_X_H\n#define CEIL_X_H\nuint32_t x;\n#endif\n'
catches headers harness/base/x.h "does not compile alone" "a header that needs another one"
sample '/* Bad. */\n#ifndef X_H\n#define X_H\nint x(void);\n#endif\n'
catches headers harness/base/x.h "not CEIL_X_H" "a header with another guard"
sample '/* Bad. */\n#ifndef CEIL_ADD_H\n#define CEIL_ADD_H\nint x(void);\n#endif\n'
catches headers bench/add.h "two headers" "two headers with one guard"
sample '/* Fine. */\n#ifndef CEIL_BENCH_ADD_H\n#define CEIL_BENCH_ADD_H\nint x(void);\n#endif\n'
allows headers bench/add.h "a guard may name its folder"
sample '/* Bad. */\n#ifndef CEIL_X_H\n#define CEIL_X_H\nint x(int class);\n#endif\n'
catches headers kernels/x.h "no C++17" "a kernel header that is C only"
done_testing
