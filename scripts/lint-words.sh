#!/bin/sh
# Finds what no file may hold: banned functions, hidden typedefs, private paths, trailing blanks.
set -u

bad=0
sources() { find harness bench kernels tests -name '*.[ch]' -o -name '*.cu' -o -name '*.inc'; }
silent() { sources | grep -v -E '^(harness/(cli|output)|tests)/'; }
pure() { sources | grep -E '^(harness/analysis|kernels)/'; }
builds() { find Makefile scripts .ci -type f; }
texts() {
	sources
	builds
	ls ./*.md tests/run 2>/dev/null
	find tests -name '*.sh' -o -name '*.supp'
}

# deny LIST-OF-FILES PATTERN WHY: every line of these files that matches is an offence.
deny() {
	found=$($1 | sort -u | xargs -r grep -n -E -H -e "$2")
	[ -n "$found" ] || return 0
	echo "$found" | sed 's/^/  /'
	echo "  ^ $3"
	bad=1
}

deny sources '\b(v?sprintf|strcpy|strcat|strncpy|atoi|atof|gets|system|alloca) *\(' \
	'banned function: see CONTRIBUTING.md, Data'
deny sources '\btypedef +(struct|enum|union)\b[^(]*[{;]' 'no typedef for structs and enums'
deny silent '\b(printf|puts|putchar|perror) *\(' 'only harness/cli/ and the outputs print'
deny silent '\b_?exit *\(' 'only main.c exits, and who leaves a device that hangs'
deny pure '\b(ceil_now_ns|clock_gettime|getenv|fopen) *\(' 'pure: no clock, environment or file'
deny sources '__attribute__ *\(\((constructor|section)' 'no constructors, no linker sections'
deny sources '\b(TODO|FIXME|XXX)\b *($|[^ (#])' 'TODO needs an owner or an issue: TODO(#12): ...'
deny texts '(^|[^A-Za-z0-9_.])/(work|root|home)/' 'a path of one machine'
deny texts '[ 	]+$' 'blanks at the end of the line'
deny builds '[f]ast-math' 'NAN means "not measured": that option breaks it'

# A file begins with a sentence that says what it is for.
for f in $(sources | sort); do
	case $(head -n 1 "$f") in
	'/*'*) ;;
	*)
		echo "  $f: begins without a comment that says what it is for"
		bad=1
		;;
	esac
done
exit $bad
