#!/bin/sh
# Finds functions of more than 60 lines, from "{" to "}"; tables do not count.
# Of a flat switch, labels and the statement right behind each are free.
set -u

find harness bench kernels tests -name '*.[ch]' -o -name '*.cu' -o -name '*.inc' | sort | xargs -r awk '
	FNR == 1 { inside = 0 }
	/^{/ && before ~ /\)$/ { inside = 1; from = FNR; lines = 0; label = 0 }
	inside {
		is_label = $0 ~ /^[ \t]*(case .*|default):$/
		if (!is_label && !label) lines++
		label = is_label
	}
	/^}/ && inside {
		if (lines > 60) {
			printf "  %s:%d: a function of %d lines; the limit is 60\n", FILENAME, from, lines
			bad = 1
		}
		inside = 0
	}
	{ before = $0 }
	END { exit bad }' || exit 1
