#!/bin/sh
# gpuceil bench gemm --shapes on the host: a ceiling for each line, and one for the list.
. tests/scripts/tap.sh
. tests/worlds.sh

machine plain
export GPUCEIL_LIB_NVML=/nonexistent/libnvidia-ml.so.1

printf 'm,n,k,dtype,count\r\n64,32,64,fp32,3\r\n32,32,32,fp64,\r\n' >"$work/layers.csv"
"$gpuceil" bench --backend host --shapes "$work/layers.csv" --output "$work/run" >"$work/out" 2>&1
sane $? "$work/run" "a list of two shapes: exit 0"
rows=$(cat "$work/run/ceilings.csv")
has "$rows" '"host.gemm.fp32.64x32x64"' "the first has a ceiling of its own"
has "$rows" '"host.gemm.fp64.32x32x32"' "and the second"
has "$rows" '"host.gemm.list"' "and the list"
is "$(printf '%s\n' "$rows" | wc -l)" 4 "and there are no others"
has "$(cat "$work/run/records.csv")" "$work/layers.csv" "whose case is the file"

said=$("$gpuceil" bench gemm --backend host --shape 48,40,32 --pattern zeros,normal --dry-run 2>&1)
is "$(printf '%s\n' "$said" | grep -c 48x40x32)" 4 "one shape, two types, two patterns"
done_testing
