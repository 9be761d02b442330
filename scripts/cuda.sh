#!/bin/sh
# Finds the CUDA toolkit and the targets to compile for, and writes them as make variables.
#
# cuda.sh FILE. From the environment: CUDA (0: pretend that there is none), CUDA_HOME, CUDA_ARCHS
# ("80 90a", "all", or empty for the GPUs that are here). FILE stays as it is while the question
# stays the same, so that nvidia-smi is asked once.
set -eu

file=$1
archs=${CUDA_ARCHS:-}

# CUDA_HOME, then PATH, then the usual place. A link is followed: the headers lie beside its target.
find_nvcc() {
	[ "${CUDA:-1}" != 0 ] || return 0
	for n in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(command -v nvcc || true)" \
		/usr/local/cuda/bin/nvcc; do
		if [ -n "$n" ] && [ -x "$n" ]; then
			readlink -f "$n"
			return 0
		fi
		if [ -n "$n" ] && [ "$n" = "${CUDA_HOME:-}/bin/nvcc" ]; then
			echo "CUDA_HOME=$CUDA_HOME has no bin/nvcc: looking elsewhere" >&2
		fi
	done
}

# The first folder that holds a file of this name; distributions and conda place them elsewhere.
folder_of() {
	name=$1
	shift
	for d in "$@"; do
		if [ -e "$d/$name" ]; then
			echo "$d"
			return 0
		fi
	done
}

# mma of e4m3 came with 12.4; older toolkits cannot compile kernels/tensor.cu.
too_old() { echo "$1" | awk -F. '{ exit !(NF > 1 && ($1 < 12 || ($1 == 12 && $2 < 4))) }'; }

# Targets of the toolkit from 7.5 up, as numbers in ascending order.
toolkit_targets() {
	"$nvcc" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | awk '$1 >= 75' | sort -n
}

# Compute capabilities of the GPUs that are here: "90 90 80".
visible_targets() {
	command -v nvidia-smi >/dev/null || return 0
	timeout 20 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
		sed -n 's/^ *\([0-9]*\)\.\([0-9]\) *$/\1\2/p' | awk '$1 >= 75' | sort -n -u
}

code() { echo "-gencode arch=compute_$1,code=sm_$1"; }
ptx() { echo "-gencode arch=compute_$1,code=compute_$1"; }

# What a GPU of this kind runs: its own code, or PTX of the newest target below it.
for_gpu() {
	if [ "$1" = 90 ]; then
		code 90a
	elif echo "$known" | grep -q -x "$1"; then
		code "$1"
	else
		ptx "$(echo "$known" | awk -v want="$1" '$1 <= want' | tail -n 1)"
	fi
}

gencode() {
	case $archs in
	all)
		for t in $known; do
			code "$t"
			[ "$t" != 90 ] || code 90a
		done
		ptx "$(echo "$known" | head -n 1)"
		ptx "$(echo "$known" | tail -n 1)"
		;;
	'')
		for t in $(visible_targets); do for_gpu "$t"; done
		;;
	*)
		for t in $(echo "$archs" | tr ',' ' '); do code "$t"; done
		;;
	esac
}

nvcc=$(find_nvcc)
key="# $nvcc $(stat -c %Y "${nvcc:-/}" 2>/dev/null || true) CUDA=${CUDA:-1} ARCHS=$archs"
if [ -f "$file" ] && [ "$(head -n 1 "$file")" = "$key" ]; then
	exit 0
fi

write_none() {
	echo "$key"
	echo "NVCC :="
	echo "CUDA_WHY := $1"
}

write_found() {
	known=$(toolkit_targets)
	codes=$(gencode | awk '!seen[$0]++' | tr '\n' ' ')
	[ -n "$codes" ] || codes="$(code 90a) "
	echo "$key"
	echo "NVCC := $nvcc"
	echo "CUDA_INC := $inc"
	echo "CUDA_LIB := $lib"
	echo "CUDA_TOOLKIT := $release"
	echo "CUDA_GENCODE := ${codes% }"
	echo "CUDA_TARGETS := $(echo "${codes% }" | sed 's/-gencode arch=compute_[0-9a-z]*,code=//g')"
}

if [ -z "$nvcc" ]; then
	[ "${CUDA:-1}" = 0 ] && why="CUDA=0" || why="no CUDA toolkit (CUDA_HOME, PATH, /usr/local/cuda)"
	write_none "$why" >"$file.new"
else
	home=$(dirname "$(dirname "$nvcc")")
	inc=$(folder_of cuda_runtime_api.h "$home/include" "$home"/targets/*/include /usr/include)
	lib=$(folder_of libcudart_static.a "$home/lib64" "$home"/targets/*/lib "$home/lib" \
		/usr/lib/*-linux-gnu /usr/lib64)
	release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
	if too_old "$release"; then
		write_none "$nvcc is CUDA $release, the kernels need 12.4 or newer" >"$file.new"
	elif [ -n "$inc" ] && [ -n "$lib" ]; then
		write_found >"$file.new"
	else
		write_none "$nvcc comes without cuda_runtime_api.h or libcudart_static.a" >"$file.new"
	fi
fi
mv "$file.new" "$file"
