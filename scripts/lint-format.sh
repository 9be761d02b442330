#!/bin/sh
# Checks that the sources below this folder are formatted, or with --fix formats them.
set -eu

tool=$(command -v clang-format-14 || command -v clang-format)
case $("$tool" --version) in
*" version 14."*) ;;
*) echo "note: $("$tool" --version) may differ from version 14, which decides" >&2 ;;
esac
sources() { find harness bench kernels tests -name '*.[ch]' -o -name '*.cu' -o -name '*.inc' | sort; }

if [ "${1:-}" = --fix ]; then
	sources | xargs -r "$tool" -i
	exit 0
fi
bad=$(sources | xargs -r "$tool" --dry-run -Werror 2>&1 | grep -E '^[^ ]+:[0-9]+:' || true)
[ -z "$bad" ] || {
	echo "$bad" | sed 's/^\([^:]*:[0-9]*\):.*/  \1: make format would change this/' | uniq | head -n 20
	exit 1
}
