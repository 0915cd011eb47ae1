#!/bin/sh
# Rewrites tests/golden/report-* from what the renderers print now, then shows what changed.
# Usage: tools/approve_goldens.sh [BUILD_DIR]   (default build/test; the test must be built)
set -eu
root=$(cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:-$root/build/test}
test_program=$build/tests/test_report
if [ ! -x "$test_program" ]; then
  echo "approve_goldens: $test_program does not exist; build the target test_report first" >&2
  exit 2
fi
ASSAY_APPROVE_GOLDENS=1 "$test_program" --gtest_brief=1 --gtest_filter='ReportGolden.*'
"$test_program" --gtest_brief=1 --gtest_filter='ReportGolden.*'
git -C "$root" status --short -- tests/golden
echo "Read every change with: git diff -- tests/golden"
