// clustered-signed-rank-v1, the gate of record, and the exact batch sign-flip beside it.
//
// Rule: docs/reference/statistics.md. No random numbers; pure; thread safe.
#pragma once

#include "assay/stats/pairs.h"

#include <cstdint>
#include <vector>

namespace assay::stats {

// Per batch: sum over its pairs of sign(x - c) * (2 * midrank of |x - c| over all pairs).
std::vector<std::int64_t> signed_rank_sums(const Pairs& pairs, double c);
// mean(S) / (sd(S) / sqrt(B)); +-1e9 or 0 by the sign of the mean when sd is 0. B >= 2.
double batch_t(const std::vector<std::int64_t>& sums);

// Exact distribution of sum(S) when each batch's sign is a fair coin, carried as probabilities.
struct FlipResult {
  double greater = 0;  // P(sum* > observed)
  double equal = 0;    // P(sum* == observed)
  double p_up() const { return greater + equal; }
  double p_down() const { return 1 - greater; }
  double mid_p_up() const { return greater + equal / 2; }
};
// Any B >= 1. Convolution over |S| / gcd; where the sum of |S| is too large for that,
// meet-in-the-middle enumeration (B <= 50). Exact in both cases up to rounding of doubles. Beyond
// both, p values that are never too small: by outward rounding up to 2048 batches, by Hoeffding's
// inequality above, in O(B).
FlipResult sign_flip(const std::vector<std::int64_t>& sums);

// Median of the n(n+1)/2 pairwise means, selected in O(n log n) time and O(n) memory. n >= 1.
double hodges_lehmann(std::vector<double> x);

struct SignedRankInterval {
  double estimate = 0;  // Hodges-Lehmann, log scale
  double lower = 0;     // log scale; -inf/+inf when unbounded
  double upper = 0;
  double level = 0.95;
};
// {c : |T(c)| <= t(B-1, (1+level)/2)} by bisection outward from the estimate (bracket = sample
// range, 40 halvings). B >= 2, level in (0, 1).
SignedRankInterval signed_rank_interval(const Pairs& pairs, double level);

// The two tests at one trial value.
struct CapTest {
  double t = 0;         // batch_t of signed_rank_sums at log(cap)
  double p_t_up = 1;    // one-sided, H1: above the cap
  double p_t_down = 1;  // one-sided, H1: below the cap
  double p_flip_up = 1;
  double p_flip_down = 1;
  std::vector<std::int64_t> sums;
};
CapTest test_at(const Pairs& pairs, double log_cap);
// Removes the batch with the largest |S| and tests again.
CapTest test_without_heaviest_batch(const Pairs& pairs, double log_cap);

}  // namespace assay::stats
