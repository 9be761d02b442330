#!/bin/sh
# Checks the walls between folders: includes go down, never up, and are written from the root.
#
# Floors: base; device and telemetry; measure; analysis; output; cli on top, trace beside it.
set -u

find harness bench kernels -name '*.[ch]' -o -name '*.cu' -o -name '*.inc' | sort | xargs -r grep -n '^ *# *include' |
	awk -F : '
function offence(why) {
	printf "  %s:%d: %s: %s\n", file, line, name, why
	bad = 1
}
function floor(path, part) {
	split(path, part, "/")
	return (part[2] in level) ? level[part[2]] : 0
}
BEGIN {
	level["base"] = 1
	level["device"] = level["telemetry"] = 2
	level["measure"] = 3
	level["analysis"] = 4
	level["output"] = 5
	level["cli"] = level["trace"] = 6
	vendor = "^(cuda|cublas|nvml|nccl|mpi|nv)[A-Za-z0-9_]*[.]h"
	may_vendor = "^(kernels/.*[.]cu|harness/device/((cuda_.*|cublaslt.*|nccl.*|mpi_plugin)[.]c|cublaslt_inside[.]h))$"
	may_cupti = "^harness/(telemetry/pm|trace/)"
	bench_sees = "^(bench/|kernels/|harness/base/|harness/measure/(bench|scenario)[.]h$|" \
		"harness/device/(host|backend|cblas|cublaslt.*|nccl.*|mpi|team|cuda_.*)[.]h$)"
	kernel_sees = "^(kernels/|harness/base/(types|status)[.]h$)"
}
{
	file = $1
	line = $2
	name = $3
	quoted = name ~ /"/
	gsub(/^[^"<]*["<]|[">].*$/, "", name)
	if (!quoted && name ~ vendor && file !~ may_vendor)
		offence("headers of CUDA are for kernels and harness/device/cuda_*.c")
	if (!quoted && name ~ /^cupti/ && file !~ may_cupti)
		offence("headers of CUPTI are for harness/telemetry/pm* and harness/trace/")
	if (!quoted)
		next
	if (name ~ /_inside[.]h$/) {
		folder = name
		sub(/[^\/]*$/, "", folder)
		if (index(file, folder) != 1)
			offence("is the inside of another folder")
	}
	if (name !~ /^(harness|bench|kernels)\//)
		offence("is not written from the root of the repository")
	else if (file ~ /^harness\// && name ~ /^harness\//) {
		if (floor(name) > floor(file))
			offence("goes up")
		if (file !~ /^harness\/trace\// && name ~ /^harness\/trace\//)
			offence("trace stands beside, nobody leans on it")
	} else if (file ~ /^harness\// && name ~ /^kernels\//) {
		own = file
		sub(/^harness\/device\/cuda_/, "kernels/", own)
		sub(/[.]c$/, ".h", own)
		if (file !~ /^harness\/device\/cuda_/ || (name != "kernels/support.h" && name != own))
			offence("harness/device/cuda_x.c sees kernels/support.h and kernels/x.h alone")
	} else if (file ~ /^harness\//)
		offence("the harness does not know any bench")
	else if (file ~ /^bench\// && name !~ bench_sees)
		offence("a bench sees base, measure/bench.h or scenario.h, the vendors and kernels")
	else if (file ~ /^kernels\// && name !~ kernel_sees && !(file ~ /[.]cu$/ && name == "harness/base/value.h"))
		offence("a kernel sees base/types.h and base/status.h (a .cu base/value.h too)")
}
END { exit bad }' || exit 1
