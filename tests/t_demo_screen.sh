#!/bin/sh
# The screen of gpuceil demo in a real terminal, by tmux: what it shows, keys, sizes, the end.
. tests/scripts/tap.sh
. tests/worlds.sh

if ! command -v tmux >/dev/null; then
	echo "1..0 # SKIP tmux is not installed"
	exit 77
fi

TMUX_TMPDIR=$work
export TMUX_TMPDIR
unset TMUX
small=tests/data/demo/small.csv
trap 'tmux -L "$socket" kill-server 2>/dev/null; rm -rf "$work"' EXIT

# A server of its own for each terminal: one that is dying would take the next with it.
socket=none
another() {
	tmux -L "$socket" kill-server 2>/dev/null
	servers=$((${servers:-0} + 1))
	socket=demo$servers
}

# open COLUMNS LINES OPTION...: a replay in a terminal of that size. What it leaves stays visible.
open() {
	columns=$1 lines=$2
	shift 2
	another
	LC_ALL=C.UTF-8 tmux -L "$socket" -u -f /dev/null new-session -d -s demo -x "$columns" -y "$lines" \
		"env NO_COLOR= LC_ALL=${charset:-C.UTF-8} '$gpuceil' demo --replay $small $*; echo \"status \$?\"; sleep 60"
}

screen() { tmux -L "$socket" capture-pane -p -t demo 2>/dev/null; }

# wait_for TEXT: until the screen shows it, ten seconds at most.
wait_for() {
	for _ in $(seq 100); do
		case $(screen) in *"$1"*) return 0 ;; esac
		sleep 0.1
	done
	return 1
}

# shows TEXT NAME
shows() {
	wait_for "$1"
	ok $? "$2"
	case $(screen) in *"$1"*) ;; *) screen | sed 's/^/# /' ;; esac
}

key() { tmux -L "$socket" send-keys -t demo "$@"; }

# ---- what it shows
open 80 24 --speed 0.2
shows "REPLAY of 2026-11-30" "the replay is marked, with its date"
shows "NVIDIA H200, driver 580.159.04" "and its card"
shows "one_warp: one warp spins on one multiprocessor" "the scenario"
shows "1 of 4" "where it is in the show"
shows "GPU-Util" "the bar that flatters"
shows "SM active 0.38 %" "and the one that does not"
shows "32 threads of many thousands" "the lesson"
shows "= busy but idle: GPU-Util is full" "what the figures say, while it plays"
shows "copy_pinned  gemm" "the list"
shows "q quit   space hold" "the keys"
has "$(screen)" "█" "bars in Unicode"

# ---- keys
key Right
shows "2 of 4" "right: the next scenario"
shows "55.40 GB/s" "its rate"
has_not "$(screen)" "SM active 0.38 %" "no figure of the one before"
key Down
shows "3 of 4" "down: the next"
key Left
shows "2 of 4" "left: the one before"
key Up
shows "1 of 4" "up: the one before"
key Space
shows "HELD" "space holds"
before=$(screen | grep -o '[0-9.]* s$' | head -1)
sleep 0.5
is "$(screen | grep -o '[0-9.]* s$' | head -1)" "$before" "time stands still"
key Space
sleep 0.3
has_not "$(screen)" "HELD" "and space lets go"

# ---- sizes
tmux -L "$socket" resize-window -t demo -x 120 -y 40
sleep 0.5
shows "1 of 4" "larger"
key Right
shows "2 of 4" "it still plays"
tmux -L "$socket" resize-window -t demo -x 60 -y 20
shows "60 x 20: at least 80 x 24" "too small a terminal is told"
tmux -L "$socket" resize-window -t demo -x 80 -y 24
shows "2 of 4" "and back"

# ---- the end
key q
shows "status 0" "q quits with 0"
has "$(screen)" "Replay of NVIDIA H200" "and leaves the table, marked"
open 100 30 --speed 20
shows "status 0" "a replay ends by itself"
has "$(screen)" "gemm" "and leaves the table"
has "$(screen)" "busy but idle" "with verdicts"

open 80 24 --plain --speed 1000
shows "status 0" "lines in a terminal of 80 columns"
has_not "$(tmux -L "$socket" capture-pane -p -S - -t demo)" "MHz" "without what does not fit"
is "$(tmux -L "$socket" capture-pane -p -S - -t demo | grep -c '[^ ]')" \
	"$(tmux -L "$socket" capture-pane -p -J -S - -t demo | grep -c '[^ ]')" "no line is broken"

# ---- worlds
open 80 24 --speed 0.2
shows "one_warp" "again"
key C-c
shows "status 130" "Ctrl-C is a signal"
charset=C
open 80 24 --speed 0.2
shows "##" "bars in ASCII where there is no Unicode"
has_not "$(screen)" "█" "and nothing else"
is "$(screen | awk 'length > 80' | wc -l | tr -d ' ')" 0 "no line is too long for 80 columns"
charset=
another
LC_ALL=C.UTF-8 tmux -L "$socket" -f /dev/null new-session -d -s demo -x 100 -y 30 \
	"TERM=nonsense '$gpuceil' demo --replay $small --speed 1000; echo \"status \$?\"; sleep 60"
shows "status 0" "an unknown terminal"
has "$(screen)" "verdict" "gets lines instead"
another
LC_ALL=C.UTF-8 tmux -L "$socket" -f /dev/null new-session -d -s demo -x 100 -y 30 \
	"TERM=dumb '$gpuceil' demo --replay $small --speed 1000; echo \"status \$?\"; sleep 60"
shows "status 0" "a terminal that says it is dumb"
has "$(tmux -L "$socket" capture-pane -p -S - -t demo)" "plain lines instead" "is told so"
has "$(screen)" "busy but idle" "and gets the table"
done_testing
