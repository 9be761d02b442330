#!/bin/sh
# Measures this machine into a folder of its own under results/, and points results/latest at it.
# bench.sh OPTION... passes options to `gpuceil bench`; the exit status is the program's.
set -u

program=${BUILD:-build}/gpuceil
for option; do
	case $option in
	--output | --output=* | --dry-run | --help) exec "$program" bench "$@" ;;
	esac
done

name=gpuceil-$(date -u +%Y%m%dT%H%M%SZ)-$(uname -n | cut -d . -f 1)
mkdir -p results
# Ctrl-C is for the program, which keeps what it measured; this script goes on behind it.
trap : INT
"$program" bench "$@" --output "results/$name"
status=$?
if [ -d "results/$name" ]; then
	ln -sfn "$name" results/latest
fi
exit $status
