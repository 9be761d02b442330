#!/bin/sh
# Runs cppcheck over the C sources: errors, warnings, portability; no matters of style.
set -eu

find harness bench -name '*.c' | sort | timeout 300 xargs -r cppcheck --quiet --error-exitcode=1 \
	--enable=warning,portability --std=c11 --language=c -j "$(nproc)" -I . -D_GNU_SOURCE \
	-DCEIL_HAVE_CUDA --inline-suppr --suppress=missingIncludeSystem --suppress=unmatchedSuppression \
	--template='  {file}:{line}: {severity}: {message} [{id}]' 2>&1 || exit 1
