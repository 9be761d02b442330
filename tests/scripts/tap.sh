# TAP for tests that are shell scripts: `. tests/scripts/tap.sh`, checks, done_testing.
# shellcheck shell=sh

root=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run_count=0
fail_count=0

# ok STATUS NAME: passes when the status is 0.
ok() {
	run_count=$((run_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $run_count - $2"
	else
		fail_count=$((fail_count + 1))
		echo "not ok $run_count - $2"
	fi
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf '%s\n' "got:  $1" "want: $2" | sed 's/^/# /'
	fi
}

# has TEXT NEEDLE NAME
has() {
	case $1 in
	*"$2"*) ok 0 "$3" ;;
	*)
		ok 1 "$3"
		printf '%s\n' "got: $1" "which lacks: $2" | sed 's/^/# /'
		;;
	esac
}

# has_not TEXT NEEDLE NAME
has_not() {
	case $1 in
	*"$2"*) has "" "the absence of $2 in: $1" "$3" ;;
	*) ok 0 "$3" ;;
	esac
}

# A program of this name in $work/bin, made of the lines on stdin.
fake() {
	mkdir -p "$work/bin"
	{
		echo '#!/bin/sh'
		cat
	} >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

done_testing() {
	echo "1..$run_count"
	[ $run_count != 0 ] && [ $fail_count = 0 ]
	exit
}
