#!/bin/sh
# The command line of gpuceil: what it refuses and in which words, and answers that cannot be given.
. tests/scripts/tap.sh
. tests/worlds.sh

machine plain
export GPUCEIL_LIB_NVML=/nonexistent/libnvidia-ml.so.1

# refuses WORDS ARGUMENT...: exit 2, one line on stderr with these words, nothing on stdout.
refuses() {
	words=$1
	shift
	said=$("$gpuceil" "$@" 2>&1 >"$work/out")
	is "$? $(wc -c <"$work/out") $(echo "$said" | wc -l)" "2 0 1" "gpuceil $*: exit 2, one line"
	has "$said" "$words" "gpuceil $*: says what is wrong"
}

refuses "unknown command 'bech': did you mean 'bench'? \`gpuceil --help\` shows all" bech
refuses "unknown command 'zzz'; \`gpuceil --help\` shows all" zzz
refuses "unknown command 'bech': did you mean 'bench'?" help bech
refuses "unknown bench 'gem': did you mean 'gemm'? \`gpuceil list benches\` shows all" bench gem
refuses "unknown variant 'zzz'; \`gpuceil list variants\` shows all" bench --variant zzz
refuses "unknown type 'bf17': did you mean 'bf16'?" bench --dtype bf17
refuses "nothing to measure" bench dram --dtype bf16
refuses "--gpu 9: there is no such GPU here; there are none" bench --gpu 9
refuses "0 is too short" bench --budget 0
refuses "\"soon\" is not a duration" bench --budget soon
refuses "\"-1\" is not a whole number" bench --seed -1
refuses "\"maybe\" is none of skip, run, fail" bench --busy maybe
refuses "--shape 0,1,1: M,N,K are whole numbers from 1: M: it is 0" bench --shape 0,1,1
refuses "--shape is for the bench gemm alone" bench dram --shape 8,8,8
refuses "cannot read /nowhere.csv: No such file or directory" bench gemm --shapes /nowhere.csv
refuses "--algo tile=3: an algorithm begins with 'id='" bench --algo tile=3
refuses "unknown pattern \"ones\": known are normal, zeros" bench --pattern ones
refuses "--duty 1.5: from 0.05 to 0.95" bench --duty 1.5
refuses "--duty 0: from 0.05 to 0.95" bench --duty 0
refuses "--duty 0.5: a row between burst and sustained needs one that has bursts" bench dram --duty 0.5
refuses "gemm or tensor, on a GPU" bench gemm --backend host --duty 0.5
refuses "unknown option --outptu: did you mean --output?" bench --outptu x
refuses "the value is missing" bench --output
refuses "cannot make folder /dev/null" bench --output /dev/null/run
refuses "--version takes no argument" --version 2
refuses "an item of the list is empty: ''" bench ""

# A GPU that is expected is an error even where only the host is asked.
said=$("$gpuceil" bench dram --backend host --quick --expect-gpus 2 --output "$work/expected" 2>&1 >"$work/out")
is $? 1 "--expect-gpus 2: exit 1"
has "$said" "2 GPUs were expected and 0 could be measured" "with both numbers"

# An answer that did not arrive is no success, whoever asks.
for command in --version --help "list columns" "list devices" "bench --help" "bench --dry-run" doctor; do
	# shellcheck disable=SC2086 # split into words
	said=$("$gpuceil" $command 2>&1 >/dev/full)
	is $? 2 "gpuceil $command >/dev/full: exit 2"
	has "$said" "standard output cannot be written: No space left on device" "and why"
done

# A disk that is full: the row is in the table, and no file is claimed that is not whole.
mkdir "$work/tiny"
if mount -t tmpfs -o size=16k tmpfs "$work/tiny" 2>/dev/null; then
	out=$("$gpuceil" bench dram --backend host --quick --output "$work/tiny/run" 2>"$work/said")
	is $? 2 "a full disk: exit 2"
	has "$(cat "$work/said")" "No space left on device; free some space" "what to do"
	has "$out" "host.dram.copy" "the rows are in the table"
	has "$out" "tiny/run has what could be written" "and where the rest is"
	umount "$work/tiny"
else
	ok 0 "a full disk # SKIP no right to mount a small one"
fi

# The same by a limit of the user's, which ends programs that do not look for it.
said=$(ulimit -f 8; "$gpuceil" bench dram --backend host --quick --output "$work/small" 2>&1 >"$work/out")
is $? 2 "files that may not grow: exit 2"
has "$said" "File too large; raise the limit on the size of files: ulimit -f" "which limit it is"
has "$(cat "$work/out")" "host.dram.copy" "the rows are in the table"

# Streams that are closed: no file takes their numbers, and with them the words that are meant for them.
for streams in ">&-" ">&- 2>&-" "<&- >&- 2>&-"; do
	rm -rf "$work/closed"
	(eval "exec $streams"; exec "$gpuceil" bench launch --backend host --output "$work/closed")
	is $? 2 "$streams: an answer that did not arrive"
	is "$(cat "$work"/closed/*.csv | grep -v -E '^("|host,)')" "" "$streams: no word of it is in a file"
done

"$gpuceil" >"$work/out" 2>"$work/said"
is "$? $(wc -c <"$work/out")" "2 0" "no command: exit 2, nothing on stdout"
has "$(cat "$work/said")" "Usage: gpuceil COMMAND" "but the help"
has "$("$gpuceil" bench --backend host --budget 1s --dry-run | tail -n 1)" \
	"; what has not begun after 1 s is skipped" "a plan that cannot become so short says it"
has_not "$("$gpuceil" bench --backend host --budget 1h --dry-run | tail -n 1)" "not begun" \
	"one that fits does not"
has "$("$gpuceil" bench gemm --backend host --shape 64,32,16 --dry-run)" "host.gemm.fp64.64x32x16 " \
	"a plan names ceilings as rows do"
has "$("$gpuceil" bench dram --backend host --pattern zeros --dry-run)" "host.dram.copy.zeros " \
	"with the pattern"
has "$("$gpuceil" bench tensor --duty 0.5 --dry-run)" "cuda: " "where there is no GPU --duty is no mistake"
summaries=$("$gpuceil" --help | sed -n '/^Commands:/,/^$/s/^  [a-z]* */&|/p' | cut -d'|' -f1)
is "$(echo "$summaries" | awk '{ print length }' | sort -u | wc -l)" 1 "help: summaries in one column"
is "$(echo "$summaries" | grep -c '[a-z] $')" 0 "help: two blanks before each"
is "$("$gpuceil" help demo)" "$("$gpuceil" demo --help)" "help NAME is NAME --help"
done_testing
