#!/bin/sh
# Looks for what the build needs, and installs what is missing.
#
# deps.sh [lint] [mpi]. With apt, when root or sudo without a password allows it; on a terminal five
# seconds are left to stop it. Otherwise the commands are printed and the exit status is 2. DEPS=0
# installs nothing and only tells. CUDA is never installed. "lint" adds what `make lint` needs,
# "mpi" what `gpuceil bench --mpi` needs: without it the plug-in is not built.
set -eu

cc=${CC:-cc}

has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() { echo "#include <$1>" | "$cc" -E -x c - >/dev/null 2>&1; }
has_module() { has_command pkg-config && pkg-config --exists "$1"; }

# A CBLAS is loaded at run time. The linker's folders, then what the loader knows.
has_cblas() {
	for soname in libopenblas.so.0 libblis.so.4 libmkl_rt.so.2; do
		case $("$cc" -print-file-name="$soname" 2>/dev/null) in
		/*) return 0 ;;
		esac
	done
	[ -n "${GPUCEIL_LIB_CBLAS:-}" ] ||
		PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null |
		grep -q -E 'lib(openblas|blis|mkl_rt)[^/]*\.so\.'
}

# Debian's nvcc and NVIDIA's both call g++ for the host side of a kernel.
has_nvcc() {
	[ "${CUDA:-1}" != 0 ] && { has_command nvcc || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; }
}

# Appends to the list: what it is, Debian's and Fedora's package.
missing=
apt=
dnf=
need() {
	missing="$missing  $1
"
	apt="$apt $2"
	dnf="$dnf $3"
}

look() {
	missing=
	apt=
	dnf=
	has_command "$cc" && has_header stdio.h || need "C compiler ($cc)" "gcc libc6-dev" "gcc glibc-devel"
	has_command make || need make make make
	has_command pkg-config || need pkg-config pkg-config pkgconf-pkg-config
	has_header csv.h || need "libcsv (csv.h)" libcsv-dev libcsv-devel
	has_module hwloc || need hwloc libhwloc-dev hwloc-devel
	has_module jansson || need jansson libjansson-dev jansson-devel
	has_module ncursesw || need "ncurses (wide)" libncurses-dev ncurses-devel
	has_cblas || need "a CBLAS (OpenBLAS)" libopenblas0 openblas-threads
	if has_nvcc && ! has_command g++; then
		need "C++ compiler (g++, for nvcc)" g++ gcc-c++
	fi
	for more in "$@"; do
		case $more in
		lint)
			has_command clang-format || need clang-format clang-format clang-tools-extra
			has_command cppcheck || need cppcheck cppcheck cppcheck
			;;
		mpi)
			has_command mpicc && has_command mpirun ||
				need "an MPI (mpicc, mpirun)" "libopenmpi-dev openmpi-bin" openmpi-devel
			;;
		esac
	done
}

tell_commands() {
	echo "Install it with one of"
	echo "  Debian, Ubuntu:  apt-get install$apt"
	echo "  Fedora, RHEL:    dnf install$dnf   (RHEL and its kin: libcsv-devel is in EPEL)"
	echo "as root, and call make again."
}

# Prints how to become root: "" or "sudo -n"; fails if there is no way.
root_prefix() {
	has_command apt-get || return 1
	[ "$(id -u)" != 0 ] || return 0
	has_command sudo && sudo -n true 2>/dev/null || return 1
	echo "sudo -n"
}

wait_for_objection() {
	[ -t 0 ] && [ -t 1 ] || return 0
	printf 'Will be installed with apt-get:%s\nCtrl-C within 5 seconds stops this.\n' "$apt"
	trap 'echo; echo "Nothing was installed."; exit 130' INT
	sleep 5
	trap - INT
}

# shellcheck disable=SC2086 # a prefix and package names are several words
install() {
	run="$1 env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120"
	$run update || echo "apt-get update failed: trying with the lists that are here"
	$run install -y --no-install-recommends $apt
}

look "$@"
[ -n "$missing" ] || exit 0
printf 'Missing:\n%s' "$missing" >&2

if [ "${DEPS:-1}" = 0 ]; then
	tell_commands >&2
	exit 0
fi
if ! prefix=$(root_prefix); then
	tell_commands >&2
	exit 2
fi
wait_for_objection
install "$prefix" || echo "apt-get failed" >&2
look "$@"
if [ -n "$missing" ]; then
	printf 'Still missing:\n%s' "$missing" >&2
	tell_commands >&2
	exit 2
fi
