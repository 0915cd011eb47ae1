// From -r, --batches, --pairs, --adaptive, -m and -M to a plan's shape.
#pragma once

#include "assay/base/result.h"
#include "assay/compare/compare.h"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::compare {

struct Layout {
  int batches = 10;
  int pairs = 6;
  int warmups = 1;
  std::vector<int> looks;
};

// Refuses contradictions and out-of-range numbers. `notices` gets what can be run but can't decide
// (too_few_batches, fail_impossible_at_this_layout) or was rounded.
Result<Layout> make_layout(const CompareOptions& options, std::size_t cases,
                           std::vector<std::string>& notices);

}  // namespace assay::compare
