#!/bin/sh
# The test runner: what it counts, and that nothing bad counts as good.
. tests/scripts/tap.sh

# Runs tests/run over the named files in $work/bin; the last line and the exit status.
run() {
	cd "$work/bin" || exit 1
	out=$(BUILD=build JOBS=2 CEIL_TAP='' "$root/tests/run" -t 1 "$@" 2>&1)
	status=$?
	cd "$root" || exit 1
	last=$(echo "$out" | tail -n 1)
}

fake good <<'E2'
echo "ok 1 - one"
echo "ok 2 - two # SKIP no disk"
echo "1..2"
E2
fake bad <<'E2'
echo "ok 1 - one"
echo "not ok 2 - two"
echo "# got 3"
echo "1..2"
exit 1
E2
fake crash <<'E2'
echo "ok 1 - one"
kill -SEGV $$
E2
fake hang <<'E2'
echo "ok 1 - one"
exec sleep 30
E2
fake short <<'E2'
echo "ok 1 - one"
echo "1..3"
E2
fake liar <<'E2'
echo "not ok 1 - one"
echo "1..1"
E2
fake leaky <<'E2'
echo "ok 1 - one"
echo "1..1"
exit 23
E2
fake silent <<'E2'
exit 0
E2
fake skipped <<'E2'
echo "1..0 # SKIP no GPU here"
exit 77
E2
fake env <<'E2'
[ "$HWLOC_COMPONENTS" = "-gl,-opencl,-pci" ] && [ "$GPUCEIL" = "$(pwd)/build/gpuceil" ] && echo "ok 1 - set"
echo "1..1"
E2

run ./good
is "$last" "1 passed, 0 failed, 1 skipped" "single checks are counted"
is $status 0 "and all is well"
run ./good ./bad
is "$last" "2 passed, 1 failed, 1 skipped" "a failed check is counted"
is $status 1 "and fails the run"
has "$out" "# got 3" "the output of a failed file is shown in full"
run ./crash
is "$last" "1 passed, 1 failed" "a crash counts as a failed check"
has "$out" "killed by signal 11" "and is named"
run ./hang
is "$last" "1 passed, 1 failed" "a time-out counts as a failed check"
has "$out" "no end after 1 s" "and is named"
run ./short
has "$out" "planned 3 checks, ran 1" "a wrong plan fails"
is "$last" "1 passed, 1 failed" "and is counted"
run ./liar
is $status 1 "exit status 0 does not hide a failed check"
run ./leaky
is "$last" "1 passed, 1 failed" "a bad exit status fails although all checks passed"
run ./silent
has "$out" "no plan" "a file that says nothing fails"
is "$last" "0 passed, 1 failed" "and is counted"
run ./skipped
is "$last" "0 passed, 0 failed, 1 skipped" "77 skips a file"
has "$out" "no GPU here" "with its reason"
is $status 0 "and is no failure"
run ./missing
is $status 1 "a file that is not there fails"
run
is "$status $last" "1 0 passed, 0 failed" "no tests at all are no success"
run ./env
is $status 0 "tests get hwloc without plug-ins and the path of the program"
run -w "env -u GPUCEIL" ./env
is $status 1 "a wrapper is put before each file"
done_testing
