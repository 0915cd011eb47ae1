// Private parts of the clustered signed rank rule that several files share.
#pragma once

#include "assay/stats/pairs.h"
#include "assay/stats/signed_rank.h"

#include <cstdint>
#include <vector>

namespace assay::stats::detail {

// Log-ratios this close tie in a test. 7/9 and 9/7 are mirrored, but their rounded logarithms are
// not: the last bit would decide which of the two ranks higher, in every batch alike.
inline constexpr double kTie = 1e-14;

// Pairs sorted once, so that the ranks of |x - c| for any c are a merge of two runs: O(n) per c.
class RankedPairs {
 public:
  explicit RankedPairs(const Pairs& pairs);

  // signed_rank_sums(pairs, c). Distances within `tie` of the smallest of a group share its rank.
  // The search for the limits of an interval takes 0: which side of a limit c lies on, its last bit
  // decides.
  std::vector<std::int64_t> sums(double c, double tie) const;
  double min() const { return x_.front(); }
  double max() const { return x_.back(); }

 private:
  std::vector<double> x_;
  std::vector<int> batch_;
  int batches_;
};

// mean / (sd / sqrt(n)) with sd over n - 1; +-1e9 or 0 by the sign of the mean when sd is 0.
double t_statistic(const std::vector<double>& values);

// The one-sided p-values of a statistic t and of the flip of `sums`. Below two batches the t test
// knows nothing: t = 0 and both p = 1.
CapTest make_cap_test(double t, std::vector<std::int64_t> sums);

// Both tests on the batches' signed-rank sums.
CapTest test_sums(std::vector<std::int64_t> sums);

// The batch with the largest |sum|, the first of equals.
std::size_t heaviest(const std::vector<std::int64_t>& sums);

}  // namespace assay::stats::detail
