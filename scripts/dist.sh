#!/bin/sh
# Packs what was built into a tarball that runs from its own folder on a node with nothing installed.
#
# dist.sh BUILD. The program looks for its libraries in lib/ beside itself; all that it needs are
# there but glibc and what comes with the NVIDIA driver. Fails if anything in it needs a newer glibc
# than is promised. The last line names the tarball.
set -eu

build=${1:-build}
promise=2.34 # RHEL 9, Ubuntu 22.04, Debian 12
here=$(cd "$(dirname "$0")/.." && pwd)
say_fail() {
	echo "dist: $*" >&2
	exit 1
}

version=$("$build/ship/gpuceil" --version | sed -n 's/^gpuceil \([^ ]*\).*/\1/p')
kind=
"$build/ship/gpuceil" --version | grep -q 'CUDA [0-9]' || kind=-host
name=gpuceil-$version-linux-$(uname -m)$kind
dir=$build/dist/$name
rm -rf "$build/dist"
mkdir -p "$dir/lib" "$dir/completions" "$dir/examples" "$dir/licenses"

cp "$build/ship/gpuceil" "$dir"
for plugin in "$build"/gpuceil-*.so; do
	[ ! -e "$plugin" ] || cp "$plugin" "$dir"
done
cp "$build/ship/gpuceil.1" "$dir"
cp "$build/ship/gpuceil.bash" "$build/ship/_gpuceil" "$dir/completions"
cp "$here"/examples/* "$dir/examples"
for text in README.md CHANGELOG.md LICENSE; do
	[ ! -e "$here/$text" ] || cp "$here/$text" "$dir"
done

# ---- libraries: name and path of each that is not part of glibc
ours='!/^[ \t]*(linux-vdso|ld-linux|\/lib64\/ld-|lib(c|m|dl|rt|pthread|resolv)\.so)/'
missing=$(ldd "$build/ship/gpuceil" | grep 'not found' || true)
[ -z "$missing" ] || say_fail "a library is missing here: $missing"
ldd "$build/ship/gpuceil" | awk "$ours"' && $2 == "=>" { print $1, $3 }' >"$build/dist/needed"
if grep -E '^lib(cuda|nvidia-ml)\.so' "$build/dist/needed"; then
	say_fail "the driver's libraries must be loaded at run time, never linked"
fi

# The licence of a library, where the system has it.
copy_license() {
	package=$(dpkg -S "$(readlink -f "$1")" 2>/dev/null | sed -n '1s/:.*//p' || true)
	[ -n "$package" ] || package=$(dpkg -S "$1" 2>/dev/null | sed -n '1s/:.*//p' || true)
	if [ -e "/usr/share/doc/$package/copyright" ]; then
		cp -L "/usr/share/doc/$package/copyright" "$dir/licenses/$2.txt"
	fi
}
while read -r soname path; do
	cp -L "$path" "$dir/lib/$soname"
	copy_license "$path" "$soname"
done <"$build/dist/needed"
# Linked into the program.
[ ! -e /usr/share/doc/libcsv-dev/copyright ] ||
	cp -L /usr/share/doc/libcsv-dev/copyright "$dir/licenses/libcsv.txt"
rmdir "$dir/licenses" 2>/dev/null || true
chmod -R u=rwX,go=rX "$dir"
strip --strip-debug "$dir/gpuceil" "$dir"/lib/* 2>/dev/null || true

# ---- what it needs of glibc, by the versions of its symbols
newest() { objdump -T "$1" | grep -o 'GLIBC_[0-9][0-9.]*' | sort -u -V | tail -n 1 | sed 's/GLIBC_//'; }
needs=0
for object in "$dir/gpuceil" "$dir"/*.so "$dir"/lib/*; do
	[ -e "$object" ] || continue
	of=$(newest "$object")
	[ -n "$of" ] || continue
	if [ "$(printf '%s\n' "$of" $promise | sort -V | tail -n 1)" != $promise ]; then
		say_fail "$(basename "$object") needs glibc $of; promised is $promise"
	fi
	needs=$(printf '%s\n' "$of" "$needs" | sort -V | tail -n 1)
done

# ---- it must start with nothing of this machine in its environment
env -i "$dir/gpuceil" --version >/dev/null || say_fail "the packed program does not start"
elsewhere=$(env -i ldd "$dir/gpuceil" | awk "$ours"' && $2 == "=>" { print $3 }' |
	grep -v -F "$name/lib/" || true)
[ -z "$elsewhere" ] || say_fail "not from its own folder: $elsewhere"

tar -C "$build/dist" --owner=0 --group=0 --numeric-owner --sort=name -czf "$build/$name.tar.gz" "$name"
echo "libraries in it: $(ls "$dir/lib" | tr '\n' ' ')"
echo "needs: Linux on $(uname -m), glibc $needs or newer$([ -n "$kind" ] || echo ", an NVIDIA driver for GPU rows")"
echo "$build/$name.tar.gz ($(du -h "$build/$name.tar.gz" | cut -f 1))"
