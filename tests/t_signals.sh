#!/bin/sh
# Signals during a run: rows so far are kept, the others are cancelled, the exit status says why.
. tests/scripts/tap.sh
. tests/worlds.sh

# A small cache makes small arrays; two nodes make three devices, so that there is always a rest.
unset HWLOC_COMPONENTS # beside it, hwloc would not look at the other
export HWLOC_SYNTHETIC="numa:2 l3:1(size=1MB) core:1 pu:1"

# A shell's background jobs ignore SIGINT, and some parents SIGPIPE: the run shall have neither.
if ! env --default-signal=INT true 2>/dev/null; then
	echo "1..0 # SKIP env cannot reset signals"
	exit 77
fi
bench() {
	exec env --default-signal=INT,PIPE "$gpuceil" bench --backend host dram "$@"
}

# Waits until a file has this many lines; a run that has ended is waited for no longer.
wait_for_lines() {
	while kill -0 "$3" 2>/dev/null; do
		[ "$(cat "$1" 2>/dev/null | wc -l)" -lt "$2" ] || return
		sleep 0.02
	done
}

# check_files FOLDER NAME: whole files, a row a ceiling and device, some cancelled, none twice.
check_files() {
	ok "$([ -e "$1/ceilings.csv" ] && [ -e "$1/records.csv" ] && [ -e "$1/samples.csv" ]; echo $?)" \
		"$2: the files have their names"
	is "$(find "$1" -name '*.partial')" "" "$2: none is partial"
	rows=$(sed 1d "$1/ceilings.csv" | grep -c '"host\.dram\.')
	is "$rows" "$(($("$gpuceil" list ceilings | grep -c '^host\.dram\.') * 3))" \
		"$2: a row a ceiling and device"
	ok "$(sed 1d "$1/ceilings.csv" | grep -q ',"cancelled",'; echo $?)" "$2: the rest is cancelled"
	ok "$(sed 1d "$1/records.csv" | grep -q -E ',"(ok|unstable)",'; echo $?)" "$2: what was measured is kept"
}

# stop_by SIGNAL STATUS [AGAIN]
stop_by() {
	bench --output "$work/$1" >"$work/$1.out" 2>&1 &
	pid=$!
	wait_for_lines "$work/$1/records.csv.partial" 3 $pid
	kill -s "$1" $pid
	[ -z "${3:-}" ] || kill -s "$1" $pid 2>/dev/null
	wait $pid
	is $? "$2" "SIG$1: exit status"
	check_files "$work/$1" "SIG$1"
	has "$(cat "$work/$1/run.json")" "\"exit_status\": $2" "SIG$1: run.json has it"
}

stop_by INT 130
has "$(tr -d ' \n' <"$work/INT/run.json")" \
	'["gpuceil","bench","--backend","host","dram","--output",' "the command line as it was typed"
stop_by TERM 143 again
stop_by HUP 129
stop_by PIPE 141

# JSON lines into a pipe whose reader goes away.
{
	(bench --output - 2>"$work/err")
	echo $? >"$work/status"
} | head -n 2 >"$work/lines"
is "$(cat "$work/status")" 141 "a reader that went away: exit status"
is "$(grep -c '^{.*}$' "$work/lines")" 2 "the lines that were read are whole"
has "$(cat "$work/err")" "cancelled" "the table is on stderr all the same"

# The same where the parent ignores SIGPIPE, as Python does for its children.
{
	env --default-signal=INT --ignore-signal=PIPE "$gpuceil" bench --backend host dram \
		--output - 2>"$work/err"
	echo $? >"$work/status"
} | head -n 2 >"$work/lines"
is "$(cat "$work/status")" 141 "with SIGPIPE ignored: exit status"

# A folder is filled, whoever reads the words on stdout.
{
	(bench --quick --budget 1s --output "$work/folder" 2>"$work/err")
	echo $? >"$work/status"
} | true
is "$(find "$work/folder" -name '*.partial')" "" "stdout that nobody reads: files are whole"
ok "$(grep -q -E '^(0|141)$' "$work/status"; echo $?)" "it ends by itself"
done_testing
