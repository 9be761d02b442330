#!/bin/sh
# gpuceil demo without a GPU: recordings in lines, lessons, and what is said about bad input.
. tests/scripts/tap.sh
. tests/worlds.sh

export GPUCEIL_LIB_NVML=/nonexistent/libnvidia-ml.so.1
machine nothing
small=tests/data/demo/small.csv

# demo STATUS NAME OPTION...: runs it, leaves its words in $out.
demo() {
	want=$1 name=$2
	shift 2
	out=$("$gpuceil" demo "$@" 2>&1 </dev/null)
	is $? "$want" "$name: exit status"
}

# ---- a recording in lines: the golden file is what a classroom sees
demo 0 "replay" --replay $small --plain --speed 1000
is "$out" "$(cat tests/golden/demo_plain.txt)" "every line of a replay"
has "$out" "REPLAY of a recording: NVIDIA H200, driver 580.159.04, 2026-11-30T20:00:00Z" \
	"it says whose it is and when"
demo 0 "one scenario of it" --replay $small --plain --speed 1000 --scenario gemm
has "$out" "673.0" "its figures"
has_not "$out" "one_warp" "and no other"
demo 0 "without --plain" --replay $small --speed 1000 --scenario gemm
has "$out" "no terminal: plain lines instead" "without a terminal lines are shown, and that is said"

# ---- every committed recording still plays
for f in results/reference/*/utilization-series.csv; do
	[ -e "$f" ] || continue
	demo 0 "$f" --replay "$f" --plain --speed 1000
	has "$out" "busy but idle" "$f: the lesson is in it"
done

# ---- a recording of everything is shown as a live demo is: the tour, and the rest by --all
{
	head -1 $small
	"$gpuceil" demo --list | awk '$2 == "tour" { print $1 } $1 == "storm" { print "storm.1us.x1" }' |
		awk -v row="$(sed -n 20p $small)" '{
			split(row, f, ","); line = $1; f[3] = NR
			for (i = 2; i <= split(row, g, ","); i++) line = line "," f[i]
			print line
		}'
} >"$work/whole.csv"
demo 0 "a recording of everything" --replay "$work/whole.csv" --plain --speed 1000
has "$out" "copy_pinned: copies" "shows the tour"
has_not "$out" "storm.1us.x1: " "and no point of a sweep"
has "$out" "1 more scenarios and points of sweeps are in the recording: --all" "which it names"
demo 0 "all of it" --replay "$work/whole.csv" --plain --speed 1000 --all
has "$out" "storm.1us.x1: short kernels" "the sweep too"
has_not "$out" "more scenarios" "nothing is left out"
sed '/^gemm,/d' "$work/whole.csv" >"$work/part.csv"
demo 0 "a recording without the whole tour" --replay "$work/part.csv" --plain --speed 1000
has "$out" "storm.1us.x1: short kernels" "is shown whole"

# ---- every committed recording holds what the lesson claims; where GPU-Util is full, work is steady
# Two rows of the H200's are known to be further apart than half a point: PM sampling had all its
# counters then, with which it counts 1.9 and 1.4 % too few active cycles there.
known='"sms.64" "gemm_size.2048"'
for f in results/reference/*/utilization.csv; do
	[ -e "$f" ] || continue
	out=$(awk -F, '
		function known(name) { return $column[name] != "" }
		function apart(a, b) {
			if (!known(a) || !known(b)) return
			pairs++
			d = $column[a] - $column[b]
			if (d > 0.005 || d < -0.005) print $1 ": " a " " $column[a] ", " b " " $column[b]
		}
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["gpu_util"] < 0.985 { next }
		{ apart("sm_active", "pm_sm_active"); apart("sm_active", "self_sm_active") }
		END { print pairs " pairs" }' "$f")
	has "$out" " pairs" "$f: counters of full scenarios are compared"
	far=$(echo "$out" | sed -n 's/: sm_active .*, pm_sm_active .*//p' | tr '\n' ' ')
	is "${far% }" "$known" "$f: PM sampling within half a point of GPM, but for the known rows"
	has_not "$out" "self_sm_active" "$f: the kernels' own clocks within half a point of GPM"
	bad=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["expected"] == "\"no\"" || $column["status"] != "\"ok\"" { print $1 }' "$f")
	is "$bad" "" "$f: every scenario is as expected"
done

# ---- teaching
demo 0 "explain" --explain one_warp
has "$out" "1/132 = 0.76 %" "the lesson at length"
demo 0 "a point of a sweep" --explain sms.4
has "$out" "Points: 1 2 4 8" "its points"
demo 2 "a mistyped name" --explain one_wrap
has "$out" "did you mean 'one_warp'?" "a suggestion"
demo 0 "list" --list
has "$out" "copy_pinned          tour" "the tour is marked"
is "$(echo "$out" | awk 'length > 100' | wc -l | tr -d ' ')" 0 "no line is over 100"

# ---- no GPU
demo 2 "live without a GPU" --plain
has "$out" "no GPU: " "is told"
has "$out" "; --replay FILE shows a recording" "and what can be seen all the same"
demo 0 "a recording instead" --plain --else-replay $small --speed 1000
has "$out" "replaying $small instead" "says that it does"
has "$out" "REPLAY of a recording" "and marks it"
demo 2 "files of a recording instead" --plain --else-replay $small --speed 1000 --output "$work/mine"
has "$out" "a replay records nothing: leave out --output" "would be another machine's"
ok "$([ ! -e "$work/mine" ]; echo $?)" "and are not made"
demo 2 "a series of one" --plain --else-replay $small --speed 1000 --record "$work/mine.csv"
has "$out" "leave out --record" "neither"
driver_580
if [ $has_cuda = yes ]; then
	demo 1 "a broken GPU" --plain
	has "$out" "no GPU: " "is told, and is no success"
fi
demo 0 "a broken GPU, and a recording" --plain --else-replay $small --speed 1000
has "$out" "REPLAY" "shows the recording"
machine nothing

# ---- recordings that are none, or not whole
demo 2 "a missing file" --replay "$work/none.csv" --plain
has "$out" "No such file" "is named"
: >"$work/empty.csv"
demo 2 "an empty file" --replay "$work/empty.csv" --plain
has "$out" "no recording of gpuceil demo" "is none"
printf 'a,b,c\n1,2,3\n' >"$work/foreign.csv"
demo 2 "a foreign file" --replay "$work/foreign.csv" --plain
has "$out" "no recording of gpuceil demo" "is none"
head -1 $small >"$work/header.csv"
demo 2 "a header alone" --replay "$work/header.csv" --plain
has "$out" "no rows" "has nothing to show"
head -c 5000 $small >"$work/cut.csv"
demo 0 "a recording that is cut" --replay "$work/cut.csv" --plain --speed 1000
has "$out" "the recording is cut short: " "says so"
has "$out" "one_warp: one warp spins" "and shows what is there"
head -10 $small >"$work/middle.csv"
demo 0 "cut between lines" --replay "$work/middle.csv" --plain --speed 1000
has "$out" "cancelled: its end was not seen" "says it of the scenario"
sed 's/,1$/,2/' $small >"$work/newer.csv"
demo 2 "a newer format" --replay "$work/newer.csv" --plain
has "$out" "format_version 2; this program reads 1" "is refused"
awk 'NR == 1; NR > 1 { line[NR] = $0 } END { for (i = NR; i > 1; i--) print line[i] }' $small \
	>"$work/back.csv"
demo 0 "time that goes back" --replay "$work/back.csv" --plain --speed 1000
has "$out" "the time goes back" "is where it ends"
printf '\357\273\277' | cat - $small | sed 's/$/\r/' >"$work/dos.csv"
demo 0 "a BOM and CRLF" --replay "$work/dos.csv" --plain --speed 1000
has "$out" "= busy but idle" "do not matter"
demo 2 "scenarios that are not in it" --replay $small --plain --scenario idle
has "$out" "no rows of these scenarios" "are told"

# ---- options
demo 2 "an unknown scenario" --plain --scenario gem
has "$out" "did you mean 'gemm'?" "a suggestion"
demo 2 "a window shorter than the counters' refresh" --plain --duration 100ms
has "$out" "shorter than the counters' refresh" "is told"
demo 2 "no speed" --replay $small --speed 0
has "$out" "--speed 0: above 0" "is told"
demo 2 "a word" --plain gemm
has "$out" "named by --scenario" "is told where it belongs"
demo 2 "recording a recording" --replay $small --record "$work/r.csv"
has "$out" "records nothing" "is told"
for option in --gpu=0 --duration=3s --busy=run --seed=2; do
	demo 2 "a recording with $option" --replay $small --plain "$option"
	has "$out" "--replay shows what was: leave out ${option%=*}" "is told"
done
demo 2 "a speed of nothing recorded" --plain --speed 2
has "$out" "--speed is of a recording" "is told"
done_testing
