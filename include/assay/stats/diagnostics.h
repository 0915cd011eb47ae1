// Each diagnostic is a reason code with its number. They inform; they never remove a sample.
#pragma once

#include "assay/stats/pairs.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace assay::stats {

struct Outliers {
  int high = 0, low = 0;  // |x - median| > 14.826 * max(MAD, floor)
  double threshold = 0;
};
// MAD has a floor of `relative_floor` * |median| (or the smallest positive double): never a
// division by 0.
Outliers outliers(const std::vector<double>& values, double relative_floor = 1e-3);

struct Lag1 {
  double r = 0;
  double p = 1;  // permutation, one-sided (positive), 999 seeded permutations
};
// On values clipped at their 10 and 90 % points. nullopt below 4 values or when all are equal then.
std::optional<Lag1> lag1(const std::vector<double>& values, std::uint64_t seed);

struct OrderEffect {
  double effect = 0;  // mean log(second/first) beyond the overall ratio: > 0 when second is slower
  double t = 0;       // over batch means, B-1 df
  double p = 1;       // two-sided
  int candidate_first = 0, reference_first = 0;
};
// nullopt below 2 batches or when every pair ran in the same order.
std::optional<OrderEffect> order_effect(const Pairs& pairs,
                                        const std::vector<bool>& candidate_first);

struct Variance {
  // False below two batches or when no batch has two pairs: the figures are then 0 and mean
  // nothing.
  bool known = false;
  double pair_sd = 0;      // within batches, robust to unequal sizes
  double batch_sd = 0;     // between batches beyond pair noise, >= 0
  double batch_share = 0;  // batch variance / total
};
Variance variance(const Pairs& pairs);

struct Trend {
  double per_batch = 0;  // slope of batch Hodges-Lehmann values per batch, log scale
  double p = 1;          // two-sided t
};
// nullopt below 3 batches.
std::optional<Trend> trend(const Pairs& pairs);

}  // namespace assay::stats
