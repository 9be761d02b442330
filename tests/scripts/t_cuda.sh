#!/bin/sh
# scripts/cuda.sh: which toolkit is found, and which targets are compiled.
. tests/scripts/tap.sh

# toolkit FOLDER RELEASE CODES...: a toolkit with its headers, its library and an nvcc that answers.
toolkit() {
	mkdir -p "$1/bin" "$1/include" "$1/lib64"
	touch "$1/include/cuda_runtime_api.h" "$1/lib64/libcudart_static.a"
	cat >"$1/bin/nvcc" <<E2
#!/bin/sh
case \$1 in
--list-gpu-code) printf 'sm_%s\n' $3 ;;
--version) echo "Cuda compilation tools, release $2, V$2.88" ;;
esac
E2
	chmod +x "$1/bin/nvcc"
}
toolkit "$work/cuda13" 13.0 "75 80 86 90 100 110 103 120"
toolkit "$work/cuda12" 12.4 "50 70 75 80 89 90 90a"

# cuda VARIABLE=VALUE...: the answer for this question, without the fakes of PATH unless given.
cuda() {
	env -u CUDA -u CUDA_HOME -u CUDA_ARCHS PATH=/usr/bin:/bin "$@" scripts/cuda.sh "$work/cuda.mk" 2>"$work/err"
}
value() { sed -n "s/^$1 := *//p" "$work/cuda.mk"; }

cuda CUDA_HOME="$work/cuda13"
is "$(value NVCC)" "$work/cuda13/bin/nvcc" "CUDA_HOME comes first"
is "$(value CUDA_TOOLKIT)" 13.0 "the toolkit's version"
is "$(value CUDA_TARGETS)" sm_90a "without a GPU one target is built"
is "$(value CUDA_INC) $(value CUDA_LIB)" "$work/cuda13/include $work/cuda13/lib64" "its folders"

cuda PATH="$work/cuda12/bin:/usr/bin:/bin"
is "$(value NVCC)" "$work/cuda12/bin/nvcc" "then nvcc on PATH"
cuda PATH="$work/cuda12/bin:/usr/bin:/bin" CUDA_HOME=/nowhere
is "$(value NVCC)" "$work/cuda12/bin/nvcc" "a CUDA_HOME without nvcc does not stop the search"
has "$(cat "$work/err")" "CUDA_HOME=/nowhere has no bin/nvcc" "but is told"
mkdir "$work/links"
ln -s "$work/cuda12/bin/nvcc" "$work/links/nvcc"
cuda PATH="$work/links:/usr/bin:/bin"
is "$(value CUDA_INC)" "$work/cuda12/include" "a link on PATH is followed to its headers"

cuda CUDA=0 CUDA_HOME="$work/cuda13"
is "$(value NVCC)$(value CUDA_WHY)" "CUDA=0" "CUDA=0 finds none, with the reason"
rm "$work/cuda12/lib64/libcudart_static.a"
cuda CUDA_HOME="$work/cuda12"
case $(value CUDA_LIB) in
'') has "$(value CUDA_WHY)" "libcudart_static.a" "half a toolkit is none" ;;
*) ok 0 "half a toolkit is completed by the system's own # SKIP the system has a libcudart_static.a" ;;
esac
touch "$work/cuda12/lib64/libcudart_static.a"

toolkit "$work/cuda_old" 12.3 "75 80 90a"
cuda CUDA_HOME="$work/cuda_old"
is "$(value NVCC)" "" "a toolkit that is too old is none"
has "$(value CUDA_WHY)" "is CUDA 12.3, the kernels need 12.4 or newer" "which the build says"

cuda CUDA_HOME="$work/cuda13" CUDA_ARCHS=all
is "$(value CUDA_TARGETS)" \
	"sm_75 sm_80 sm_86 sm_90 sm_90a sm_100 sm_103 sm_110 sm_120 compute_75 compute_120" \
	"all: each target, 90 as 90a too, PTX of the oldest and of the newest"
cuda CUDA_HOME="$work/cuda12" CUDA_ARCHS=all
is "$(value CUDA_TARGETS)" "sm_75 sm_80 sm_89 sm_90 sm_90a compute_75 compute_90" \
	"CUDA 12: nothing below 7.5"
cuda CUDA_HOME="$work/cuda13" CUDA_ARCHS=80,90a
is "$(value CUDA_GENCODE)" \
	"-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a" "a list of one's own"

# gpus CAPABILITY...: what nvidia-smi tells.
gpus() { fake nvidia-smi <<E2
printf '%s\n' $*
echo x >>$work/asked
E2
}
seen() { rm -f "$work/cuda.mk"; cuda PATH="$work/bin:/usr/bin:/bin" "$@"; }
gpus 9.0 9.0 8.0
seen CUDA_HOME="$work/cuda13"
is "$(value CUDA_TARGETS)" "sm_80 sm_90a" "the GPUs that are here, each kind once, 9.0 as 90a"
rm -f "$work/asked"
cuda PATH="$work/bin:/usr/bin:/bin" CUDA_HOME="$work/cuda13"
is "$(cat "$work/asked" 2>/dev/null)" "" "the same question does not ask nvidia-smi again"
gpus 12.1 12.0
seen CUDA_HOME="$work/cuda12"
is "$(value CUDA_TARGETS)" "compute_90" "a GPU newer than the toolkit gets PTX"
gpus 7.0
seen CUDA_HOME="$work/cuda13"
is "$(value CUDA_TARGETS)" sm_90a "a GPU below 7.5 does not count"
fake nvidia-smi <<'E2'
echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
exit 9
E2
seen CUDA_HOME="$work/cuda13"
is "$(value CUDA_TARGETS)" sm_90a "an nvidia-smi that fails is no GPU"
done_testing
