#!/bin/sh
# scripts/deps.sh in each world: all there, root with apt, sudo, neither, a terminal, DEPS=0.
. tests/scripts/tap.sh

# A PATH of our own: the tools that the script itself needs, and fakes for what it looks for.
tools=$work/tools
mkdir -p "$tools"
for t in sh env cat grep touch; do
	ln -s "$(command -v $t)" "$tools/$t"
done

# What the fakes find lies in $work/have; apt-get puts it there.
fake cc <<E2
case "\$*" in
-print-file-name=libopenblas.so.0) [ -e $work/have/libopenblas0 ] && echo /lib/x || echo x ;;
-print-file-name=*) echo x ;;
*) read -r line
   case \$line in *stdio.h*) [ -e $work/have/gcc ] ;; *csv.h*) [ -e $work/have/libcsv-dev ] ;; esac ;;
esac
E2
fake pkg-config <<E2
case \$2 in
hwloc) [ -e $work/have/libhwloc-dev ] ;;
jansson) [ -e $work/have/libjansson-dev ] ;;
ncursesw) [ -e $work/have/libncurses-dev ] ;;
esac
E2
for t in make ldconfig g++ clang-format cppcheck; do fake $t </dev/null; done
fake apt-get <<E2
echo "apt-get \$*" >>$work/log
case "\$*" in
*" update") exit \${FAKE_UPDATE:-0} ;;
*) for p; do case \$p in lib*|gcc) [ "\$p" = "\${FAKE_ABSENT:-}" ] || touch $work/have/\$p ;; esac; done ;;
esac
E2
fake sleep <<E2
echo "sleep \$*" >$work/slept
exec $(command -v sleep) 1
E2
fake id <<'E2'
echo "${FAKE_UID:-1000}"
E2
fake sudo <<E2
echo "sudo \$*" >>$work/log
[ "\${FAKE_SUDO:-no}" = yes ] || exit 1
shift
[ "\$1" = true ] || exec "\$@"
E2

everything="gcc libcsv-dev libhwloc-dev libjansson-dev libncurses-dev libopenblas0"

# have PACKAGE...: only these are installed; the log is empty.
have() {
	rm -rf "$work/have" "$work/log"
	mkdir "$work/have"
	for p; do touch "$work/have/$p"; done
	touch "$work/log"
}

# deps [VARIABLE=VALUE...]: runs the script in this world.
deps() {
	out=$(env -i PATH="$work/bin:$tools" CUDA=0 "$@" sh "$root/scripts/deps.sh" 2>&1 </dev/null)
	status=$?
	log=$(cat "$work/log")
}

# shellcheck disable=SC2086 # a list
have $everything
deps
is "$status$out$log" 0 "all there: says nothing, calls nothing"

have gcc libcsv-dev libhwloc-dev libncurses-dev
deps FAKE_UID=0
is $status 0 "root: what is missing is installed"
has "$out" "jansson" "and named"
has "$out" "CBLAS" "the CBLAS too"
has "$log" "install -y --no-install-recommends libjansson-dev libopenblas0" "exactly these, by apt-get"
has_not "$log" sudo "without sudo"
has_not "$log" libcsv "and not what is there"

have
deps FAKE_UID=0
is $status 0 "a bare machine"
for p in $everything; do has "$log" " $p" "gets $p"; done

have gcc
deps FAKE_UID=0 FAKE_UPDATE=100
is $status 0 "apt-get update may fail when its lists are there"

have gcc
deps FAKE_UID=0 FAKE_ABSENT=libcsv-dev
is $status 2 "a package that apt does not bring: exit 2"
has "$out" "Still missing:
  libcsv (csv.h)" "and what is still missing"

have gcc
deps FAKE_SUDO=yes
is $status 0 "sudo without a password"
has "$log" "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get" "is used, and never asks"

have gcc
deps
is $status 2 "neither root nor sudo: exit 2"
has_not "$log" install "nothing is installed"
has "$out" "apt-get install libcsv-dev libhwloc-dev libjansson-dev libncurses-dev libopenblas0" \
	"the command for apt"
has "$out" "dnf install libcsv-devel hwloc-devel jansson-devel ncurses-devel openblas-threads" \
	"the command for dnf"

have gcc
mv "$work/bin/apt-get" "$work/apt-get"
deps FAKE_UID=0
is $status 2 "root on a system without apt: exit 2"
has "$out" "dnf install libcsv-devel" "with the command for dnf"
mv "$work/apt-get" "$work/bin/apt-get"

have gcc
deps FAKE_UID=0 DEPS=0
is "$status" 0 "DEPS=0 only tells"
is "$log" "" "and calls nothing"
has "$out" "apt-get install libcsv-dev" "but how to install it"

mv "$work/bin/pkg-config" "$work/pkg-config"
# shellcheck disable=SC2086
have $everything
deps
has "$out" "pkgconf-pkg-config" "a missing program is named, with Fedora's package"
mv "$work/pkg-config" "$work/bin/pkg-config"

rm "$work/bin/g++"
fake nvcc </dev/null
deps CUDA=1
has "$out" "g++" "nvcc needs g++"
deps CUDA=0
is "$status$out" 0 "without CUDA g++ is not asked for"
rm "$work/bin/nvcc"

# on_terminal: the script with stdin typed on a terminal of its own.
on_terminal() {
	have gcc libhwloc-dev libjansson-dev libncurses-dev libopenblas0
	out=$(timeout 10 script -q -e /dev/null -c \
		"env -i PATH=$work/bin:$tools CUDA=0 FAKE_UID=0 sh '$root/scripts/deps.sh'" 2>&1)
	status=$?
	log=$(cat "$work/log")
}

if script -q -e -c true /dev/null >/dev/null 2>&1; then
	mkfifo "$work/pipe"
	{ sleep 0.5; printf '\003'; sleep 0.5; } >"$work/pipe" &
	on_terminal <"$work/pipe"
	is $status 130 "on a terminal Ctrl-C stops it"
	has "$out" "Ctrl-C within 5 seconds" "which is said"
	has "$out" "libcsv-dev" "with what would be installed"
	is "$log" "" "nothing was installed"
	is "$(cat "$work/slept")" "sleep 5" "five seconds are left for it"
	sleep 2 >"$work/pipe" &
	on_terminal <"$work/pipe"
	is $status 0 "without an objection it goes on"
	has "$log" "install -y --no-install-recommends libcsv-dev" "and installs"
else
	ok 0 "on a terminal # SKIP script(1) gives no terminal here"
fi
done_testing
