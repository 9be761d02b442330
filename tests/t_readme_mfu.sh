#!/bin/sh
# README, section MFU: its snippets load a real file, its example is what the program prints.
. tests/scripts/tap.sh
. tests/worlds.sh

case $gpuceil in /*) ;; *) gpuceil=$root/$gpuceil ;; esac

# The n-th block of a language in the section.
block() {
	awk -v lang="$1" -v n="$2" '
		/^## / { in_section = $0 == "## MFU" }
		!in_section { next }
		/^```/ && open { open = 0; next }
		/^```/ { open = 1; take = ($0 == "```" lang) && ++seen == n; next }
		open && take' README.md
}

mkdir -p "$work/results/latest"
cat >"$work/results/latest/mfu_denominators.csv" <<'CSV'
host,device,gpu_name,dtype_in,dtype_acc,datasheet_tflops,datasheet_clock_mhz,theoretical_tflops,theoretical_clock_mhz,burst_tflops,sustained_tflops,sustained_clock_mhz,sustained_power_w,slowest_of_node,shape,pattern,tool_version,gpu_uuid,format_version
"n1","gpu0","NVIDIA H200","fp16","fp32",111,1830,1070.53056,1980,798.4,,,,"gpu0","8192x8192x8192","normal","0.1.0","GPU-0",1
"n1","gpu0","NVIDIA H200","bf16","fp32",989.4,1830,1070.53056,1980,819.9,688.3,1345,700,"gpu0","8192x8192x8192","normal","0.1.0","GPU-0",1
"n1","gpu1","NVIDIA H200 NVL","bf16","fp32",835.5,1545,954.8,1785,700.9,,,,"gpu0","8192x8192x8192","normal","0.1.0","GPU-1",1
"n1","gpu2","NVIDIA GeForce RTX 3090","bf16","fp32",,,71.2,1695,70.1,,,,"gpu0","8192x8192x8192","normal","0.1.0","GPU-2",1
CSV
cd "$work" || exit 1

cp "$root/README.md" .
if command -v python3 >/dev/null; then
	{ block python 1; echo 'print("%g" % peak)'; } >load.py
	is "$(python3 load.py)" "8.355e+14" "three lines of Python load the peak of the slowest that has one"
	is "$(block python 1 | wc -l)" 3 "they are three"
else
	ok 0 "# no python3 here"
fi
{
	printf '#include <stdio.h>\nint main(void)\n{\n'
	block c 1
	printf 'printf("%%g\\n", peak);\nreturn f ? fclose(f) : 1;\n}\n'
} >load.c
${CC:-cc} -std=c17 -Wall -Wextra -o load load.c
ok $? "the C compiles"
is "$(./load)" 835.5 "and loads the same"

block "" 2 >example.txt
command=$(sed -n 's/^\$ gpuceil //p' example.txt)
ok "$([ -n "$command" ]; echo $?)" "there is an example: $command"
# shellcheck disable=SC2086 # options of a command line
GPUCEIL_LIB_NVML=/nonexistent "$gpuceil" $command >printed.txt
ok $? "it runs"
lines=0
while IFS= read -r line; do
	case $line in '$ '* | '  ...') continue ;; esac
	lines=$((lines + 1))
	has "$(cat printed.txt)" "$line" "prints: $line"
done <example.txt
ok "$([ "$lines" -ge 4 ]; echo $?)" "$lines lines of it are shown"

block "" 3 | sed -n 's/^gpuceil \(mfu .*--shapes\) .*/\1/p' >shapes.txt
# shellcheck disable=SC2046 # options of a command line
"$gpuceil" $(cat shapes.txt) >shapes.csv
is "$(head -n 1 shapes.csv)" "m,n,k,dtype,count,layout" "the shapes are a CSV"
"$gpuceil" bench gemm --shapes shapes.csv --backend host --dry-run >dry.txt 2>&1
has_not "$(cat dry.txt)" "shapes.csv" "which the bench takes"

done_testing
