#!/bin/sh
# The manual page and the completions know every command and option, and are sound to their readers.
. tests/scripts/tap.sh
. tests/worlds.sh

"$gpuceil" man >"$work/gpuceil.1"
is $? 0 "gpuceil man"
"$gpuceil" completion bash >"$work/bash"
is $? 0 "gpuceil completion bash"
"$gpuceil" completion zsh >"$work/_gpuceil"
is $? 0 "gpuceil completion zsh"
"$gpuceil" completion fish >"$work/out" 2>&1
is "$? $(cat "$work/out")" "2 gpuceil: of which shell: bash or zsh?" "another shell"
"$gpuceil" man bench >"$work/out" 2>&1
is $? 2 "gpuceil man takes no argument"
if [ -e /dev/full ]; then
	"$gpuceil" man >/dev/full 2>"$work/out"
	is $? 2 "a page that cannot be written"
	has "$(cat "$work/out")" "standard output cannot be written" "is told"
fi

# ---- completeness: what --help shows is in all three
commands=$("$gpuceil" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
ok "$([ "$(echo "$commands" | wc -l)" -ge 7 ]; echo $?)" "commands are found"
for command in $commands; do
	ok "$(grep -q "^\.SS gpuceil $command" "$work/gpuceil.1"; echo $?)" "$command: man page"
	ok "$(grep -q "	$command) words=" "$work/bash"; echo $?)" "$command: bash"
	ok "$(grep -q "'$command:" "$work/_gpuceil"; echo $?)" "$command: zsh"
	lacks=
	for option in $("$gpuceil" "$command" --help | sed -n 's/^ *\(-., \)\{0,1\}--\([a-z-]*\).*/\2/p'); do
		grep -q -F "\\-\\-$(echo "$option" | sed 's/-/\\-/g')\\fR" "$work/gpuceil.1" || lacks="$lacks man:$option"
		grep "	$command) words=" "$work/bash" | grep -q -e " --${option}[ \"]" || lacks="$lacks bash:$option"
		grep -q -e "--${option}[]=[}]" "$work/_gpuceil" || lacks="$lacks zsh:$option"
	done
	is "$lacks" "" "$command: every option is in all three"
done
for file in ceilings.csv mfu_denominators.csv records.csv samples.csv telemetry.csv run.json \
	utilization.csv utilization-series.csv shapes.csv; do
	ok "$(grep -q -F "\\fB$(echo "$file" | sed 's/-/\\-/g')\\fR" "$work/gpuceil.1"; echo $?)" "$file is explained"
done

# Whatever library a user may choose is in the page, and recorded where it was chosen.
chosen=$(grep -rho '"GPUCEIL_LIB_[A-Z]*"' "$root/harness" | tr -d '"' | sort -u)
ok "$([ "$(echo "$chosen" | wc -l)" -ge 7 ]; echo $?)" "libraries that may be chosen are found"
for name in $chosen; do
	ok "$(grep -q -F "\\fB$name\\fR" "$work/gpuceil.1"; echo $?)" "$name: man page"
	env "$name=/nowhere" "$gpuceil" bench launch --backend host --output "$work/$name" >/dev/null 2>&1
	has "$(cat "$work/$name/run.json")" "\"$name\": \"/nowhere\"" "$name: run.json"
done

# ---- readers of the page
lint() { # NAME COMMAND...: says nothing
	name=$1
	shift
	command -v "$1" >/dev/null || return 0
	is "$("$@" 2>&1 >/dev/null)" "" "$name has nothing to say"
}
lint groff groff -ww -man -Tutf8 "$work/gpuceil.1"
lint man man --warnings -l "$work/gpuceil.1"
if command -v mandoc >/dev/null; then
	is "$(mandoc -T lint -W error "$work/gpuceil.1" 2>&1)" "" "mandoc finds no error"
fi
if command -v groff >/dev/null; then
	groff -man -Tascii -P-c "$work/gpuceil.1" 2>/dev/null | sed "s/.$(printf '\b')//g" >"$work/page"
	for text in "--expect-gpus N" "nvidia-smi's index" "gpuceil bench gemm --dtype bf16"; do
		ok "$(grep -q -F -e "$text" "$work/page"; echo $?)" "to read and to type: $text"
	done
fi

# ---- the shells themselves
if command -v bash >/dev/null; then
	cat >"$work/try" <<'E2'
. "$1/bash"
try() { # words of the line, the last one is completed
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_gpuceil
	echo "${COMPREPLY[*]}"
}
try gpuceil b
try gpuceil bench --bu
try gpuceil bench --busy ''
try gpuceil bench --busy = s
try gpuceil bench --dtype bf16,tf
try gpuceil get dram.rea
try gpuceil get --column of_theo
try gpuceil bench --pattern zeros,con
try gpuceil demo --explain one_w
try gpuceil mfu --model gpt2-x
try gpuceil list v
try gpuceil completion z
E2
	is "$(bash "$work/try" "$work" 2>&1)" "bench
--budget --busy
skip run fail
skip
bf16,tf32
dram.read
of_theoretical
zeros,constant
one_warp
gpt2-xl
variants
zsh" "bash completes commands, options, values, lists and names"
fi
if command -v zsh >/dev/null; then
	zsh -n "$work/_gpuceil"
	is $? 0 "zsh reads its script"
fi
done_testing
