#!/bin/sh
# gpuceil bench --mpi between processes of this machine: rows of all ranks, and each way to fail.
. tests/scripts/tap.sh
. tests/worlds.sh

plugin=$(dirname "$gpuceil")/gpuceil-mpi.so
if ! command -v mpirun >/dev/null || [ ! -e "$plugin" ]; then
	echo "1..0 # SKIP no mpirun, or the plug-in was not built"
	exit 77
fi
if grep -q __tsan_init "$gpuceil"; then
	echo "1..0 # SKIP the thread sanitizer does not know what MPI does inside"
	exit 77
fi
case $gpuceil in /*) ;; *) gpuceil=$root/$gpuceil ;; esac
case ${ASAN_OPTIONS:-} in *detect_leaks=1*) export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" ;; esac
export OMPI_MCA_btl_vader_single_copy_mechanism=none
launch() {
	ranks=$1
	shift
	timeout 50 mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$ranks" "$@"
}
only="--variant all_reduce.mpi.sum.fp32,all_reduce.mpi.max.fp32,all_reduce.latency.mpi.sum.fp32"

# ---- four ranks
# shellcheck disable=SC2086 # options are several words
out=$(launch 4 "$gpuceil" bench collective --backend host --mpi $only --output "$work/four" 2>&1)
sane $? "$work/four" "four ranks"
has "$out" "rank 3: " "each rank is named once"
is "$(echo "$out" | grep -c 'rank 3: ')" 1 "and only once"
is "$(cut -d, -f5,20 "$work/four/ceilings.csv" | grep -c '"host.all_reduce.busbw","\(ok\|unstable\)"')" 1 \
	"host.all_reduce.busbw is a ceiling"
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 { print $c }' "$1"; }
is "$(sed 's/"[^"]*, [^"]*"/""/g' "$work/four/records.csv" >"$work/plain.csv"; column "$work/plain.csv" check | sort -u)" \
	'"exact"' "every row is verified"
is "$(column "$work/plain.csv" ranks | sort -u)" 4 "of four ranks"
has "$(cat "$work/four/run.json")" '"local_rank": 3' "run.json knows them"
grep -q '"mpi_version": "' "$work/four/run.json"
ok $? "and their MPI"
ls "$work/four" | grep -q partial
is $? 1 "no file is left half"

# ---- all ranks send rows of their own
out=$(cd "$work" && launch 2 "$gpuceil" bench launch collective --backend host --mpi --quick \
	--size 64KiB 2>&1)
is $? 2 "sizes are not for launch"
is "$(echo "$out" | grep -c 'is not measured by bytes')" 2 "which each rank finds for itself"
out=$(cd "$work" && launch 2 "$gpuceil" bench collective --backend host --mpi --quick 2>&1)
folder=$(ls -d "$work"/gpuceil-*-* | head -n 1)
is "$(ls -d "$work"/gpuceil-* | wc -l)" 1 "one folder"
case $folder in *-[0-9]) ok 1 "without a rank in its name" ;; *) ok 0 "without a rank in its name" ;; esac
rm -rf "$work"/gpuceil-*

# ---- without --mpi each task is a run of its own
out=$(cd "$work" && launch 2 "$gpuceil" bench collective --backend host --quick 2>&1)
is $? 0 "two tasks"
is "$(ls -d "$work"/gpuceil-*-[01] | wc -l)" 2 "have a folder each, by rank"
has "$(echo "$out" | tr -s " \n" " ")" "one process: start several with mpirun or srun, and --mpi" "and say what is missing"

# ---- launcher and MPI must know each other
out=$(OMPI_COMM_WORLD_SIZE= PMI_RANK=0 PMI_SIZE=4 "$gpuceil" bench collective --backend host --mpi \
	--output "$work/alone" 2>&1)
is $? 2 "a launcher of another MPI"
has "$out" "mpirun started 4 tasks and MPI" "both sizes are named"
has "$out" "sees 1: they do not know each other" "and what is wrong"
out=$(SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=8 "$gpuceil" bench collective --backend host --mpi 2>&1)
is $? 2 "srun without its MPI plug-in"
has "$out" "srun --mpi=pmix" "what to do"
out=$(GPUCEIL_LIB_MPI=/nonexistent/mpi.so "$gpuceil" bench --mpi 2>&1)
is $? 2 "without the plug-in"
has "$out" "GPUCEIL_LIB_MPI does not load" "the reason"

# ---- a rank that dies
(
	# shellcheck disable=SC2086
	launch 3 "$gpuceil" bench collective --backend host --mpi $only --size 8,64KiB,1MiB,2MiB,4MiB \
		--output "$work/dead" >"$work/dead.log" 2>&1
	echo $? >"$work/dead.status"
) &
for _ in $(seq 150); do
	sleep 0.1
	[ "$(cat "$work/dead/records.csv.partial" 2>/dev/null | wc -l)" -ge 3 ] && break
done
victim=
for p in $(pgrep -f "bench collective --backend host --mpi .*$work/dead"); do
	tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -q '^OMPI_COMM_WORLD_RANK=1$' && victim=$p
done
from=$(date +%s)
kill -9 "$victim"
wait
took=$(($(date +%s) - from))
[ "$(cat "$work/dead.status")" != 0 ] && [ $took -lt 30 ]
ok $? "takes the run down, within $took s"
has "$(cat "$work/dead.log")" "rank 1" "and is named"
[ "$(cat "$work"/dead/records.csv | wc -l)" -ge 3 ]
ok $? "what was measured is in the files, and they are whole"
done_testing
