#!/bin/sh
# The Makefile on a small project: what is built when, and how bench and test end.
. tests/scripts/tap.sh

mkdir -p "$work/tree/harness/cli" "$work/tree/harness/base" "$work/tree/tests" "$work/tree/bench"
cp -r Makefile scripts examples "$work/tree"
cp tests/run tests/tap.[ch] "$work/tree/tests"
cp harness/base/status.h harness/base/version.[ch] "$work/tree/harness/base"
cd "$work/tree" || exit 1

cat >harness/base/one.h <<'E2'
int one(void);
E2
cat >harness/base/one.c <<'E2'
#include "harness/base/one.h"
int one(void)
{
	return 1;
}
E2
cat >harness/base/two.c <<'E2'
int two(void);
int two(void)
{
	return 2;
}
E2
cat >harness/cli/main.c <<'E2'
#include "harness/base/one.h"
#include "harness/base/version.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	const char *status = getenv("FAKE_STATUS");
	printf("%s %s of %d words, version %s\n", argv[0], argv[1], argc, ceil_version());
	return status ? atoi(status) : one() - 1;
}
E2
cat >tests/t_one.c <<'E2'
#include "harness/base/one.h"
#include "tests/tap.h"
int main(void)
{
	is_int(one(), 1, "one");
	return done_testing();
}
E2
printf '#!/bin/sh\necho "ok 1 - script"; echo 1..1\n' >tests/t_script.sh
chmod +x tests/t_script.sh

# The calls below are makes of their own: nothing of an outer make may reach them.
m() { out=$(env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u BUILD -u SAN -u OPT -u TESTS -u WERROR \
	-u CEIL_TAP CUDA=0 DEPS=0 make "$@" 2>&1); status=$?; }
built() { echo "$out" | sed -n 's/^  \(CC\|LD\|AR\) *//p' | sort | tr '\n' ' '; }

m
is $status 0 "make builds the program"
has "$out" "CUDA=0: the host part only is built" "and one line says that it is the host part"
m
is "$(built)" "" "again: nothing is compiled"
m -f scripts/build.mk program
is "$status$(built)" 0 "and scripts/build.mk by itself means the same flags and version"
sleep 0.05
touch harness/base/one.h
m
is "$(built)" "gpuceil harness/base/one.c harness/cli/main.c libceil.a " "a header compiles what includes it"
m OPT=-O1
has "$(built)" "harness/base/two.c" "other flags compile everything"
rm harness/base/two.c
m OPT=-O1
is "$(ar t build/libceil.a | tr '\n' ' ')" "one.o version.o " "a file that is gone leaves the library"

m test
is "$status $(echo "$out" | tail -n 1)" "0 2 passed, 0 failed" "make test ends in the line that counts"
m test TESTS=t_one
is "$status $(echo "$out" | tail -n 1)" "0 1 passed, 0 failed" "TESTS chooses"
m test TESTS="t_one t_noe"
ok "$([ $status != 0 ]; echo $?)" "a test that is not there is no success"
has "$out" "TESTS: there is no test t_noe" "and is named"
sed -i 's/return 1;/return 3;/' harness/base/one.c
m test
ok "$([ $status != 0 ]; echo $?)" "a failed check fails make"
has "$out" "1 passed, 1 failed" "and is counted"
sed -i 's/return 3;/return 1;/' harness/base/one.c

m bench ARGS="--quick dram"
is $status 0 "make bench passes when the program does"
has "$out" "gpuceil bench of 6 words, version 0." "with ARGS and the folder of the run"
export FAKE_STATUS=1
m bench
ok "$([ $status != 0 ]; echo $?)" "and fails when it fails"
unset FAKE_STATUS

m install DESTDIR="$work/a package" PREFIX="/opt/g c"
is "$status$(built)" "0ship/gpuceil " "install builds what is shipped"
ok "$([ -x "$work/a package/opt/g c/bin/gpuceil" ]; echo $?)" "and puts it where it was told, blanks or not"
m BUILD="two words"
ok "$([ $status != 0 ] && [ ! -e two ]; echo $?)" "a folder to build in has no blank"
has "$out" "BUILD='two words': the name of one folder" "which is told"
mv build moved
touch harness/base/one.h
m BUILD=moved
has "$(built)" "harness/cli/main.c" "in a folder that was moved a header still compiles what includes it"
m BUILD=moved
is "$(built)" "" "and that once"
mv moved build

m test-gpu
has "$out" "0 passed, 0 failed, 1 skipped" "without CUDA there are no GPU tests"
m test-gpu BUILT=1
is "$status$(built)" 0 "BUILT=1 compiles nothing"
m help
for t in all bench test test-gpu lint format check-asan check-tsan clean help; do
	has "
$out" "
  $t " "help lists $t"
done
m clean
ok "$([ ! -e build ]; echo $?)" "clean removes what was built"
done_testing
