#!/bin/sh
# gpuceil get and gpuceil list: what they print, and each way of asking for the wrong thing.
. tests/scripts/tap.sh

case ${BUILD:=build} in
/*) gpuceil=$BUILD/gpuceil ;;
*) gpuceil=$root/$BUILD/gpuceil ;;
esac
cd "$work" || exit 1

# Runs gpuceil; leaves out, err and status.
call() {
	out=$("$gpuceil" "$@" 2>err)
	status=$?
	err=$(cat err)
}

call get dram.copy
is $status 2 "no run anywhere: exit 2"
has "$err" "no run here: neither results/latest nor ./gpuceil-*" "it says where it looked"

# Two GPUs and a host, of which not all is well.
mkdir -p gpuceil-20261130T193250Z-a gpuceil-20261129T000000Z-z
cat >gpuceil-20261130T193250Z-a/ceilings.csv <<'CSV'
host,device,ceiling,value,unit,better,of_theoretical,status,reason,format_version,later
"a","gpu0","dram.copy",4368.25,"GB/s","higher",0.907,"ok",,1,x
"a","gpu1","dram.copy",4301.5,"GB/s","higher",0.893,"unstable","spread over 2 %",1,x
"a","gpu0","launch.roundtrip",8.1,"us","lower",,"ok",,1,x
"a","gpu1","launch.roundtrip",9.2,"us","lower",,"ok",,1,x
"a","gpu0","gemm.bf16.burst",835.1,"TFLOP/s","higher",0.78,"ok",,1,x
"a","gpu1","gemm.bf16.burst",,"TFLOP/s","higher",,"failed","wrong result",1,x
"a","gpu0","dram.read",5200,"GB/s","higher",1.08,"suspect","above its peak",1,x
"a","gpu0","dram.write",3100,"GB/s","higher",0.64,"throttled","thermal",1,x
"a","gpu0","gemm.fp64.burst",,"TFLOP/s","higher",,"skipped","left out to fit the budget",1,x
CSV
printf 'device,ceiling,value,status\ngpu0,dram.copy,1,ok\n' >gpuceil-20261129T000000Z-z/ceilings.csv

call get dram.copy
is "$out" 4301.5 "the newest folder, the slowest device"
is $status 0 "an unstable value is a value"
has "$err" "gpu1 dram.copy is unstable: spread over 2 %" "but it is told"
call get dram.copy --device gpu0
is "$out$err" 4368.25 "the device that was asked for, and nothing else"
call get launch.roundtrip
is "$out" 9.2 "of times the slowest is the largest"
call get dram.copy --device gpu0 --column of_theoretical
is "$out" 0.907 "another column"
call get dram.copy --device gpu0 --column unit
is "$out" GB/s "a column of text"
call get gemm.bf16.burst
is "$out" 835.1 "a device that failed leaves the value of the other"
is $status 1 "but not the exit status"
has "$err" "gpu1 gemm.bf16.burst is failed: wrong result" "nor is it hidden"
call get dram.read
is "$status $out" "1 5200" "a suspect figure is printed, but no success"
has "$err" "gpu0 dram.read is suspect: above its peak" "and said to be so"
call get dram.write
is "$status $out" "1 3100" "nor is one of a throttled GPU"
call get gemm.fp64.burst
is "$status $out" "1 " "a row without a value: exit 1, nothing on stdout"
has "$err" "is skipped: left out to fit the budget" "its status and reason on stderr"
call get gemm.fp64.burst --column status
is "$status $out" "0 skipped" "its status is a column like others"
call get launch.roundtrip --column of_theoretical
is $status 1 "a row that is ok may lack a column"
has "$err" "launch.roundtrip has no of_theoretical" "that is told too"

mkdir killed
printf 'device,ceiling,value,status\ngpu0,dram.copy,7,ok\n' >killed/ceilings.csv.partial
call get dram.copy --run killed
is "$status $out" "2 " "a run that was killed has no ceilings"
has "$err" "rows so far are those of --run killed/ceilings.csv.partial" "but it is told where its rows are"
call get dram.copy --run killed/ceilings.csv.partial
is "$status $out" "0 7" "from where they can be had"

call get dram.copi
is $status 2 "a mistyped ceiling: exit 2"
has "$err" "no ceiling 'dram.copi': did you mean 'dram.copy'?" "with the nearest name"
call get nonsense
has "$err" "gpuceil list ceilings" "or where to look"
call get dram.copy --device gpu7
is $status 2 "an unknown device: exit 2"
has "$err" "dram.copy was measured on gpu0, gpu1" "with those that are there"
call get dram.copy --column valeu
is $status 2 "an unknown column: exit 2"
has "$err" "did you mean 'value'?" "with the nearest name"
call get
is $status 2 "no ceiling: exit 2"
call get a b
is $status 2 "two ceilings: exit 2"
call get dram.copy --run nowhere
is $status 2 "a run that is not there: exit 2"
has "$err" nowhere "it is named"

call get dram.copy --run gpuceil-20261129T000000Z-z
is "$out" 1 "the run that was asked for"
call get dram.copy --run gpuceil-20261129T000000Z-z/ceilings.csv
is "$out" 1 "or its file"
mkdir same && cd same # three runs of one second
for run in z:1 z.2:2 z.10:10; do
	folder=gpuceil-20261129T000000Z-${run%:*}
	mkdir "$folder"
	printf 'device,ceiling,value,status\ngpu0,dram.copy,%s,ok\n' "${run#*:}" >"$folder/ceilings.csv"
done
call get dram.copy
is "$out" 10 "the newest of one second"
cd ..
mkdir results && ln -s ../gpuceil-20261129T000000Z-z results/latest
call get dram.copy
is "$out" 1 "results/latest comes before the newest folder"
printf 'device,ceiling,value,status,format_version\ngpu0,dram.copy,1,ok,99\n' >future.csv
call get dram.copy --run future.csv
is $status 2 "a format of the future: exit 2"
has "$err" "future.csv:2: format 99 is newer than this gpuceil" "it says so"
printf 'device,ceiling,value\ngpu0,dram.copy,1\n' >short.csv
call get dram.copy --run short.csv
is $status 2 "a column is missing: exit 2"
has "$err" status "it is named"
printf 'device,ceiling,value,status\ngpu0,dram.copy,fast,ok\n' >bad.csv
call get dram.copy --run bad.csv
is $status 2 "a value that is no number: exit 2"
has "$err" "bad.csv:2" "with file and line"
cat >records.csv <<'CSV'
host,device,ceiling,value,status,rank,role
a,gpu0,dram.read,3000,ok,0,search
a,gpu0,dram.read,4600,ok,0,final
CSV
call get dram.read --run records.csv
is "$status $out" "2 " "points of a search are no ceilings: exit 2, nothing on stdout"
has "$err" "records.csv:2: a point of a search" "it says why"
# As examples/sbatch.sh puts nodes together, whose names may be the same.
cat >nodes.csv <<'CSV'
host,device,ceiling,value,status,rank
localhost,gpu0,dram.copy,4368.25,ok,
localhost,gpu0,dram.copy,4301.5,ok,
CSV
call get dram.copy --run nodes.csv
is "$status $out" "0 4301.5" "of several nodes it is the slowest"

call list
is $status 0 "list alone"
for kind in benches variants ceilings columns devices peaks; do
	has "$out" "gpuceil list $kind" "list names $kind"
done
export GPUCEIL_LIB_NVML=/nowhere CUDA_VISIBLE_DEVICES=
call list benches ceilings
has "$out" "dram" "two lists in one call"
has "$out" "host.dram.copy" "the second of them"
call list ceilings
is "$out" "$(cat "$root/tests/golden/ceilings.txt")" \
	"the names that scripts ask for; a new one goes into tests/golden, a rename bumps format_version"
call list variants
has "$out" "host" "variants of the host"
call list columns
has "$out" "ceilings.csv: one row a ceiling and device" "columns name their file"
has "$out" "case " "the case is called case"
is "$(echo "$out" | grep -c '^  of_theoretical ')" 1 "no column is told twice"
is "$(echo "$out" | grep -E '^  [a-z0-9_]+ +([^ ]+ +)?[0-9]+ *$')" "" "every column has a meaning"
# columns_of FILE...: what the list says of them, a name a line.
columns_of() {
	for file; do
		echo "$out" | awk -v head="$file: " \
			'/^[^ ]/ { on = index($0, head) == 1 } on && /^  / { print $1 }'
	done | sort
}
for file in "$root"/results/reference/h200/*.csv; do
	name=${file##*/}
	more=
	[ "$name" != records.csv ] || more=ceilings.csv
	columns_of "$name" $more >told
	is "$(grep -v '^#' "$file" | head -n 1 | tr , '\n' | sort | comm -23 - told | tr '\n' ' ')" "" \
		"every column of $name is told"
done
call list devices
is $status 0 "no GPU is fine"
has "$out" "cpu " "the host is a device"
has "$out" "no cuda device: " "the reason for no other"
call list peaks
has "$out" "RTX 4090" "peaks of parts that are not here"
is "$(echo "$out" | grep -c "$(printf '\033')")" 0 "no colours"
call list pecks
is $status 2 "an unknown list: exit 2"
has "$err" "did you mean 'peaks'?" "with the nearest name"
done_testing
