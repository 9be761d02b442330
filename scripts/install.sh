#!/bin/sh
# Installs what was built: install.sh BUILD PREFIX [DESTDIR]. Packagers set DESTDIR.
set -eu

build=$1
root=${3:-}$2
here=$(cd "$(dirname "$0")/.." && pwd)

put() { # MODE FILE TARGET
	install -D -m "$1" "$2" "$root/$3"
	echo "  $root/$3"
}
put 755 "$build/gpuceil" bin/gpuceil
# Loaded from beside the program.
for plugin in "$build"/gpuceil-*.so; do
	[ ! -e "$plugin" ] || put 755 "$plugin" "bin/${plugin##*/}"
done
put 644 "$build/ship/gpuceil.1" share/man/man1/gpuceil.1
put 644 "$build/ship/gpuceil.bash" share/bash-completion/completions/gpuceil
put 644 "$build/ship/_gpuceil" share/zsh/site-functions/_gpuceil
for text in README.md CHANGELOG.md LICENSE; do
	[ ! -e "$here/$text" ] || put 644 "$here/$text" "share/doc/gpuceil/$text"
done
for example in "$here"/examples/*; do
	put 644 "$example" "share/doc/gpuceil/examples/${example##*/}"
done
