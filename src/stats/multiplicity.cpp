#include "assay/base/result.h"
#include "assay/stats/gate.h"

#include <algorithm>
#include <numeric>

namespace assay::stats {
namespace {

// Indices of p from the smallest value to the largest; equal values keep their order.
std::vector<std::size_t> ascending(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::vector<double> holm(const std::vector<double>& p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double value = static_cast<double>(order.size() - i) * p[order[i]];
    highest = std::max(highest, std::min(1.0, value));
    adjusted[order[i]] = highest;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(const std::vector<double>& p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> adjusted(p.size());
  double lowest = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const double value =
        static_cast<double>(order.size()) * p[order[i]] / static_cast<double>(i + 1);
    lowest = std::min(lowest, value);
    adjusted[order[i]] = lowest;
  }
  return adjusted;
}

bool fail_possible(int batches, int family, double one_sided_alpha) {
  ASSAY_CHECK(family >= 1, "a family has at least one member");
  if (batches < kMinGateBatches)
    return false;
  double smallest = 1;
  for (int b = 0; b < batches && smallest > 0; ++b)
    smallest /= 2;
  return smallest * family <= one_sided_alpha;
}

}  // namespace assay::stats
