#!/bin/sh
# scripts/bench.sh: the folder of a run, results/latest, options and the exit status.
. tests/scripts/tap.sh

mkdir -p "$work/tree/build"
cd "$work/tree" || exit 1
export BUILD=build
cat >build/gpuceil <<'E2'
#!/bin/sh
echo "$*"
for last; do :; done
[ "$1 $FAKE_MAKES" != "bench yes" ] || mkdir -p "$last"
exit "${FAKE_STATUS:-0}"
E2
chmod +x build/gpuceil

out=$(FAKE_MAKES=yes "$root/scripts/bench.sh" --quick dram)
status=$?
is $status 0 "a good run"
has "$out" "bench --quick dram --output results/gpuceil-" "options come before the folder"
name=$(readlink results/latest)
is "results/$name" "${out##* }" "latest points at the run, by a relative link"
ok "$([ -d results/latest/ ]; echo $?)" "which leads to its folder"
is "$(echo "$name" | sed 's/^gpuceil-[0-9]\{8\}T[0-9]\{6\}Z-[^ ]*$/fits/')" fits "its name has time and host: $name"

FAKE_MAKES=yes FAKE_STATUS=1 "$root/scripts/bench.sh" >/dev/null
is $? 1 "the program's exit status is passed on"
FAKE_STATUS=2 "$root/scripts/bench.sh" >/dev/null
is $? 2 "also of a run that made no folder"
ok "$([ -d results/latest/ ]; echo $?)" "and latest still points at a run"
is "$("$root/scripts/bench.sh" --output here)" "bench --output here" "a folder of one's own"
is "$("$root/scripts/bench.sh" --dry-run dram)" "bench --dry-run dram" "a dry run has none"

cat >build/gpuceil <<'E2'
#!/bin/sh
mkdir -p "$3"
trap 'exit 130' INT
sleep 5 &
wait
E2
rm results/latest
timeout -s INT --preserve-status 0.3 "$root/scripts/bench.sh"
is $? 130 "Ctrl-C: the program's exit status"
ok "$([ -d results/latest/ ]; echo $?)" "and latest points at what it had measured"
done_testing
