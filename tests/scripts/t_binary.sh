#!/bin/sh
# The built program needs no GPU, driver, CUDA, C++ or CBLAS library to start.
. tests/scripts/tap.sh

program=${GPUCEIL:-build/gpuceil}
[ -x "$program" ] || {
	echo "1..0 # SKIP $program was not built"
	exit 77
}
needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
has "$needed" "libc.so" "readelf tells what it needs"
for name in cuda cublas nvidia nccl stdc++ blas; do
	has_not "$needed" "$name" "it is not linked to lib*$name*"
done
if [ -e "$(${CC:-cc} -print-file-name=libcsv.a)" ]; then
	has_not "$needed" libcsv "libcsv is in it"
fi
version=$(env -u LD_LIBRARY_PATH "$program" --version 2>&1)
is $? 0 "it starts: $version"
has "$version" "$(sed -n 's/^VERSION := //p' Makefile)" "and knows its version"
done_testing
