#!/bin/sh
# The checks of compiled kernels: spills, machine code, and the runner of GPU tests.
. tests/scripts/tap.sh

build=$work/build
mkdir -p "$build/kernels"

# ptxas STORES: what ptxas says of a kernel that spills so many bytes.
ptxas() {
	echo "ptxas info    : Compiling entry function 'k$1' for 'sm_90a'"
	echo "    $1 bytes stack frame, $1 bytes spill stores, $1 bytes spill loads"
}
spills() { out=$(scripts/check-spills.sh "$build" 2>&1); status=$?; }

spills
is $status 1 "no kernels at all are no success"
{ ptxas 0; ptxas 0; } >"$build/kernels/a.cu.o.log"
spills
is "$status $out" "0 2 kernels for their targets, 0 with spills" "kernels without spills pass"
ptxas 16 >"$build/kernels/b.cu.o.log"
spills
is $status 1 "a spill fails"
has "$out" "b.cu.o.log: 'k16' for 'sm_90a': 16 bytes spill stores" "and is named"

# A cuobjdump that knows one object with code for sm_80 and PTX of 7.5.
touch "$build/kernels/a.cu.o"
echo "CUDA_TARGETS := sm_80 compute_75" >"$build/cuda.mk"
fake cuobjdump <<'E2'
case $1 in
-lelf) echo "ELF file    1: a.sm_80.cubin" ;;
-lptx) echo "PTX file    1: a.sm_75.ptx" ;;
-sass) cat <<E3
arch = sm_80
		Function : plain_copy
        /*0000*/                   LDG.E.128 R4, [R2.64] ;
        /*0010*/                   STG.E.128 [R6.64], R4 ;
		Function : cs_copy
        /*0000*/                   LDG.E.EF.128 R4, [R2.64] ;
E3
;;
esac
E2
# code RULE...: the check under these rules.
code() {
	printf '%s\n' "$@" >"$work/rules"
	out=$(PATH="$work/bin:$PATH" RULES="$work/rules" scripts/check-code.sh "$build" 2>&1)
	status=$?
}
code '# comment' 'a copy .* must LDG' 'a plain sm_80 must STG\.E\.128' 'a plain .* never EF' 'b x .* must y'
is $status 0 "machine code as expected"
code 'a copy .* must STG'
is $status 1 "an instruction that a kernel lacks"
has "$out" "a: cs_copy for sm_80: must have STG, has 0" "is named with its kernel"
code 'a copy .* 1 LDG'
is $status 0 "as many of an instruction as there must be"
code 'a copy .* 2 LDG'
has "$out" "a: cs_copy for sm_80: at least 2 must have LDG, has 1" "and too few"
code 'a copy .* must STG'
has_not "$out" plain_copy "and only that"
code 'a copy .* never EF'
has "$out" "a: cs_copy for sm_80: never have EF" "an instruction that may not be"
code 'a gone .* must LDG'
has "$out" "no kernel matches gone" "a rule for a kernel that is gone"
code 'a gone sm_90a must LDG'
is $status 0 "a rule for a target that was not built says nothing"
echo "CUDA_TARGETS := sm_80 sm_90a compute_75" >"$build/cuda.mk"
code 'a copy .* must LDG'
is $status 1 "a target that is not in the object"
has "$out" "holds compute_75 sm_80
  instead of compute_75 sm_80 sm_90a" "is told"
if [ ! -e /usr/bin/cuobjdump ]; then
	out=$(PATH=/usr/bin:/bin scripts/check-code.sh "$build")
	is $? 77 "without cuobjdump the check is skipped"
fi

# gpu: the GPU tests of $build with a sanitizer on PATH.
gpu() { out=$(env -u CEIL_TAP PATH="$work/bin:$PATH" "$@" scripts/test-gpu.sh "$build" 2>&1); status=$?; }
gpu
is "$status $(echo "$out" | tail -n 1)" "0 0 passed, 0 failed, 1 skipped" "no GPU tests were built"
mkdir "$build/tests-gpu"
fake compute-sanitizer <<E2
echo "\$*" >>$work/sanitized
while [ "\${1#--}" != "\$1" ]; do shift 2; done
exec "\$@"
E2
cat >"$build/tests-gpu/t_x" <<'E2'
#!/bin/sh
[ -z "$NO_GPU" ] || { echo "1..0 # SKIP no GPU"; exit 77; }
echo "ok 1 - size ${GPUCEIL_TEST_SMALL:-full}"
[ -z "$FAKE_BAD" ] || { echo "not ok 2 - bad"; echo "1..2"; exit 1; }
echo "1..1"
E2
chmod +x "$build/tests-gpu/t_x"
gpu
is "$status $(echo "$out" | tail -n 1)" "0 2 passed, 0 failed, 0 skipped" "plain and under the sanitizer"
has "$(cat "$work/sanitized")" "--tool memcheck --report-api-errors no --error-exitcode 99 $build/tests-gpu/t_x" "by memcheck"
gpu TOOLS="memcheck racecheck"
is "$(echo "$out" | tail -n 1)" "3 passed, 0 failed, 0 skipped" "TOOLS names more of its tools"
gpu FAKE_BAD=1
is "$status $(echo "$out" | tail -n 1)" "1 2 passed, 2 failed, 0 skipped" "a failure fails"
rm "$work/sanitized"
gpu NO_GPU=1
is "$status $(echo "$out" | tail -n 1)" "0 0 passed, 0 failed, 1 skipped" "without a GPU all is skipped"
ok "$([ ! -e "$work/sanitized" ]; echo $?)" "and the sanitizer is left alone"
done_testing
