#!/bin/sh
# The tarball runs from its own folder, with nothing of this machine; make install puts files right.
. tests/scripts/tap.sh

build=${BUILD:-build}
if [ ! -x "$build/ship/gpuceil" ]; then
	echo "1..0 # SKIP $build/ship is not built"
	exit 77
fi
# A copy: another process may build there meanwhile.
mkdir "$work/build"
cp -r "$build/ship" "$build/gpuceil" "$work/build"
cp "$build"/gpuceil-*.so "$work/build" 2>/dev/null

out=$(scripts/dist.sh "$work/build" 2>&1)
is $? 0 "a tarball is packed"
tarball=$(echo "$out" | sed -n '$s/ (.*//p')
has "$out" "glibc 2." "it says which glibc it needs"
[ -e "$tarball" ] || {
	echo "$out" | sed 's/^/# /'
	done_testing
}
mkdir "$work/elsewhere"
tar -C "$work/elsewhere" -xzf "$tarball"
dir=$(echo "$work"/elsewhere/gpuceil-*)
has "${dir##*/}" "gpuceil-$(sed -n 's/^VERSION := //p' Makefile)-linux-$(uname -m)" "name, version, machine"
for file in gpuceil gpuceil.1 LICENSE completions/gpuceil.bash completions/_gpuceil \
	examples/sbatch.sh examples/kubernetes-job.yaml; do
	ok "$([ -e "$dir/$file" ]; echo $?)" "it holds $file"
done
is "$(find "$dir" -name 'libcuda*' -o -name 'libnvidia*' -o -name 'libc.so*')" "" \
	"neither the driver's libraries nor glibc"
is "$(env -i ldd "$dir/gpuceil" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|dl|rt|pthread)\.so/ { print $3 }' |
	grep -v -F "$dir/lib/")" "" "every other library is its own"

# Unpacked where nobody may write, without an environment.
chmod -R a-w "$dir"
cd "$work" || exit 1
is "$(env -i "$dir/gpuceil" --version)" "$(env -i "$work/build/gpuceil" --version)" "it starts"
env -i HWLOC_COMPONENTS=-gl,-opencl,-pci GPUCEIL_LIB_NVML=/nonexistent "$dir/gpuceil" bench \
	--backend host dram --budget 1s --output "$work/run" >"$work/out" 2>&1
is $? 0 "it measures"
ok "$([ -e "$work/run/ceilings.csv" ]; echo $?)" "and writes"
chmod -R u+w "$dir"
cd "$root" || exit 1

# A library that needs a newer glibc than is promised.
sed 's/^promise=.*/promise=2.2/' scripts/dist.sh >"$work/dist.sh"
mkdir -p "$work/tree/scripts"
cp "$work/dist.sh" "$work/tree/scripts"
cp -r examples "$work/tree"
out=$(sh "$work/tree/scripts/dist.sh" "$work/build" 2>&1)
is $? 1 "a promise that does not hold fails"
has "$out" "promised is 2.2" "and says so"

# ---- make install
out=$(scripts/install.sh "$work/build" /opt/x "$work/stage" 2>&1)
is $? 0 "it is installed"
for file in bin/gpuceil share/man/man1/gpuceil.1 share/bash-completion/completions/gpuceil \
	share/zsh/site-functions/_gpuceil share/doc/gpuceil/examples/sbatch.sh; do
	ok "$([ -e "$work/stage/opt/x/$file" ]; echo $?)" "$file has its place below DESTDIR and PREFIX"
done

# ---- examples
ok "$(bash -n examples/sbatch.sh; echo $?)" "sbatch.sh is sound to bash"
if python3 -c 'import yaml' 2>/dev/null; then
	python3 -c 'import yaml; yaml.safe_load(open("examples/kubernetes-job.yaml"))'
	is $? 0 "kubernetes-job.yaml is YAML"
fi
for words in examples/sbatch.sh examples/kubernetes-job.yaml; do
	for option in $(grep -v '^ *#' $words | grep -o -e '--\(quick\|expect-gpus\|output\|run\)'); do
		ok "$("$work/build/gpuceil" bench --help | grep -q -e "$option" ||
			"$work/build/gpuceil" get --help | grep -q -e "$option"; echo $?)" "$words: $option is an option"
	done
done
done_testing
