#!/usr/bin/env bash
# Builds the statistics digest with g++ and clang++ and runs each natively and on an emulated CPU
# without FMA or AVX (qemu-user). Every output must equal tests/unit/stats/stats_digest.txt byte for
# byte; any difference is exit 1. With --write, the golden text is replaced by g++'s native output.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
golden=$root/tests/unit/stats/stats_digest.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for tool in g++ clang++ qemu-x86_64; do
  if ! command -v "$tool" >/dev/null; then
    echo "check_determinism: $tool is missing (Debian packages: g++ clang qemu-user)" >&2
    exit 2
  fi
done

sources=("$root"/tests/unit/stats/stats_digest.cpp "$root"/src/stats/*.cpp
         "$root"/src/base/random.cpp "$root"/src/base/result.cpp)
build() {  # COMPILER OPTIMISATION OUTPUT
  "$1" -std=c++20 "$2" -ffp-contract=off -I"$root/include" -o "$3" "${sources[@]}" -lfmt -pthread
}
compare() {  # NAME FILE
  if cmp -s "$golden" "$2"; then
    echo "same: $1"
  else
    echo "DIFFERENT: $1" >&2
    diff "$golden" "$2" | head -n 6 >&2 || true
    failed=1
  fi
}

failed=0
for compiler in g++ clang++; do
  for optimisation in -O2 -O3; do
    program=$work/digest-$compiler$optimisation
    build "$compiler" "$optimisation" "$program"
    "$program" >"$program.native"
    if [[ ${1:-} == --write && $compiler$optimisation == g++-O2 ]]; then
      cp "$program.native" "$golden"
    fi
    compare "$compiler $optimisation, native" "$program.native"
    if [[ $optimisation == -O2 && $(uname -m) == x86_64 ]]; then
      qemu-x86_64 -cpu qemu64 "$program" >"$program.qemu"
      compare "$compiler $optimisation, qemu64" "$program.qemu"
    fi
  done
done
exit "$failed"
