#!/bin/sh
# The right output of the word count, by other means: tr, sort, uniq and awk share no code with
# wordcount.cpp.
#
#   oracle.sh FILE
set -eu
[ $# -eq 1 ] || { echo "usage: oracle.sh FILE" >&2; exit 2; }
LC_ALL=C
export LC_ALL
tr -s ' \t\n\v\f\r' '\n' <"$1" | sed '/^$/d' | sort | uniq -c | sort -k1,1nr -k2,2 |
  awk '{ total += $1; if (NR <= 20) print $2, $1 } END { printf "TOTAL %d %d\n", total, NR }'
