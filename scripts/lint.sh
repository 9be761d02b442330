#!/bin/sh
# Runs every lint check over the tree, says which one failed, and how many did.
set -u

cd "$(dirname "$0")/.." || exit 2
passed=0
failed=0
for check in format words functions walls headers cppcheck; do
	from=$(date +%s)
	if scripts/lint-$check.sh; then
		passed=$((passed + 1))
		echo "ok    lint-$check  $(($(date +%s) - from)) s"
	else
		failed=$((failed + 1))
		echo "FAIL  lint-$check"
	fi
done
echo
echo "$passed passed, $failed failed"
[ $failed = 0 ]
