#!/usr/bin/env bash
# The one-minute tour: one word-count program, built by g++ -O2 (reference) and clang++ -O2
# (candidate), compared over a generated 5 MiB text. Every run's output is checked against an
# independent implementation.
#
#   tour.sh ASSAY
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
assay=$1
# Relative names keep the commands in the report short.
mkdir -p "$here/../../build/tour"
cd "$here/../../build/tour"

say() { printf 'tour: %s\n' "$*" >&2; }

flags="-std=c++20 -O2"
say "building the word count with g++ $flags and clang++ $flags"
# shellcheck disable=SC2086
{
  g++ $flags "$here/wordcount/wordcount.cpp" -o wordcount-gcc
  clang++ $flags "$here/wordcount/wordcount.cpp" -o wordcount-clang
}
say "generating 5 MiB of text, and the right answer with tr, sort, uniq and awk"
python3 -B "$here/wordcount/generate.py" "$here/wordcount/vocabulary.txt" text.txt
"$here/wordcount/oracle.sh" text.txt >expected.txt

store=${ASSAY_STORE:-assay-archives}
archive=$store/tour-$(date -u +%Y%m%dT%H%M%SZ)-$$
mkdir -p "$store"
# Eight times the same work in one run: a run of a few milliseconds would measure its own start.
run='env ASSAY_BENCH_ITERATIONS=8'
set -- compare --oracle expected.txt --fail-if-slower 20 --archive "$archive" \
  -n 'g++ -O2' -n 'clang++ -O2' "$run ./wordcount-gcc text.txt" "$run ./wordcount-clang text.txt"
say "comparing them in 10 batches of 6 interleaved pairs, about 45 seconds. In $(pwd -P):"
say "  assay $(printf '%q ' "$@")"
status=0
"$assay" "$@" || status=$?

say "the evidence of this verdict is in $(readlink -f "$archive")"
say "next: ./run compare 'OLD COMMAND' 'NEW COMMAND'; ./run --help; docs/guide/getting-started.md"
exit "$status"
