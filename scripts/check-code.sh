#!/bin/sh
# Checks the machine code of the kernels: a cubin or PTX for each target that was asked for, and
# the instructions that tests/machine_code.txt expects.
#
# check-code.sh [BUILD]. Exit status 77 where there is no cuobjdump (CUDA toolkit, or
# `pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm`).
set -u

build=${1:-build}
rules=${RULES:-tests/machine_code.txt}
if ! command -v cuobjdump >/dev/null; then
	echo "no cuobjdump: the machine code was not checked"
	exit 77
fi
bad=0
targets=$(sed -n 's/^CUDA_TARGETS := //p' "$build/cuda.mk" | tr ' ' '\n' | sort)

for object in "$build"/kernels/*.cu.o; do
	there=$({
		cuobjdump -lelf "$object" | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin.*/\1/p'
		cuobjdump -lptx "$object" | sed -n 's/.*\.sm_\([0-9a-z]*\)\.ptx.*/compute_\1/p'
	} | sort)
	if [ "$there" != "$targets" ]; then
		printf '  %s: holds %s\n  instead of %s\n' "$object" "$(echo $there)" "$(echo $targets)"
		bad=1
	fi
	cuobjdump -sass "$object" | awk -v object="$(basename "$object" .cu.o)" '
		FILENAME != "-" {
			if (NF && $1 !~ /^#/ && $1 == object) {
				kernel[++count] = $2; arch[count] = $3; verb[count] = $4; opcode[count] = $5
			}
			next
		}
		function finish(i) {
			for (i = 1; name != "" && i <= count; i++) {
				if (name !~ kernel[i] || target !~ "^(" arch[i] ")$")
					continue
				used[i] = 1
				if (verb[i] == "never" ? !found[i] : found[i] >= (verb[i] == "must" ? 1 : verb[i]))
					continue
				printf "  %s: %s for %s: %s have %s, has %d\n", object, name, target, \
					verb[i] ~ /^[0-9]/ ? "at least " verb[i] " must" : verb[i], opcode[i], found[i]
				bad = 1
			}
			name = ""
		}
		/^arch = / { finish(); target = $3; seen[target] }
		function is_seen(pattern, t) {
			for (t in seen)
				if (t ~ "^(" pattern ")$")
					return 1
			return 0
		}
		/Function : / { finish(); name = $3; for (i = 1; i <= count; i++) found[i] = 0; next }
		/^ +\/\*[0-9a-f]+\*\// { for (i = 1; i <= count; i++) if ($0 ~ opcode[i]) found[i]++ }
		END {
			finish()
			for (i = 1; i <= count; i++)
				if (!used[i] && is_seen(arch[i])) {
					printf "  %s: no kernel matches %s for %s\n", object, kernel[i], arch[i]
					bad = 1
				}
			exit bad
		}' "$rules" - || bad=1
done
[ $bad = 0 ] && echo "the machine code is as expected"
exit $bad
