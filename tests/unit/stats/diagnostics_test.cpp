#include "assay/stats/diagnostics.h"

#include "assay/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::stats {
namespace {

Pairs in_batches(const std::vector<double>& x, int size) {
  Pairs pairs;
  pairs.x = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    pairs.batch.push_back(static_cast<int>(i) / size);
  pairs.batches = pairs.batch.back() + 1;
  return pairs;
}

TEST(Outliers, issue_16_constant_samples_have_none_and_a_threshold_from_the_floor) {
  const Outliers result = outliers({100, 100, 100, 100});
  EXPECT_EQ(result.high, 0);
  EXPECT_EQ(result.low, 0);
  EXPECT_DOUBLE_EQ(result.threshold, 14.826 * 0.1);
}

TEST(Outliers, issue_16_one_spike_over_constant_samples_is_found) {
  EXPECT_EQ(outliers({100, 100, 100, 100, 102}).high, 1);
  EXPECT_EQ(outliers({100, 100, 100, 100, 101.4}).high, 0);
  EXPECT_EQ(outliers({100, 100, 100, 100, 98}).low, 1);
}

TEST(Outliers, issue_16_symmetric_spikes_are_counted_per_side) {
  const Outliers result = outliers({100, 101, 99, 100, 102, 98, 300, 250, -200});
  EXPECT_EQ(result.high, 2);
  EXPECT_EQ(result.low, 1);
  EXPECT_DOUBLE_EQ(result.threshold, 14.826 * 2);
}

TEST(Outliers, issue_16_quantised_samples_are_judged_against_the_floor) {
  const Outliers result = outliers({10, 10, 10, 11, 11, 10, 10, 11, 10});
  EXPECT_EQ(result.high, 3) << "one step is 10 %, far above a floor of 0.1 %";
  EXPECT_EQ(outliers({10, 10, 10, 11, 11, 10, 10, 11, 10}, 0.01).high, 0);
}

TEST(Outliers, a_value_at_the_threshold_is_none) {
  const Outliers result = outliers({-14.826, -1, -1, 0, 1, 1, 14.826});
  EXPECT_EQ(result.threshold, 14.826);
  EXPECT_EQ(result.high, 0);
  EXPECT_EQ(result.low, 0);
}

TEST(Outliers, zeros_never_divide_by_zero) {
  const Outliers result = outliers({0, 0, 0, 0, 1e-9});
  EXPECT_EQ(result.high, 1);
  EXPECT_GT(result.threshold, 0);
  EXPECT_EQ(outliers({}).high, 0);
}

TEST(Lag1, a_slow_wave_is_correlated_and_an_alternation_is_not) {
  std::vector<double> wave;
  std::vector<double> alternation;
  for (int i = 0; i < 40; ++i) {
    wave.push_back(std::abs(i % 20 - 10));
    alternation.push_back(i % 2);
  }
  const auto slow = lag1(wave, 1);
  ASSERT_TRUE(slow);
  EXPECT_GT(slow->r, 0.7);
  EXPECT_EQ(slow->p, 0.001);
  const auto fast = lag1(alternation, 1);
  ASSERT_TRUE(fast);
  EXPECT_LT(fast->r, -0.9);
  EXPECT_EQ(fast->p, 1);
}

TEST(Lag1, independent_values_are_flagged_about_as_often_as_p_says) {
  Xoshiro256 random(51);
  int flagged = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i)
      values.push_back(random.uniform());
    flagged += lag1(values, static_cast<std::uint64_t>(round))->p <= 0.1 ? 1 : 0;
  }
  EXPECT_GT(flagged, 20);  // 40 expected
  EXPECT_LT(flagged, 64);
}

TEST(Lag1, the_same_seed_gives_the_same_p) {
  const std::vector<double> values{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  EXPECT_EQ(lag1(values, 7)->p, lag1(values, 7)->p);
}

TEST(Lag1, too_few_or_equal_values_say_nothing) {
  EXPECT_FALSE(lag1({1, 2, 3}, 1));
  EXPECT_FALSE(lag1({2, 2, 2, 2, 2, 2}, 1));
  EXPECT_TRUE(lag1({1, 2, 3, 4}, 1));
}

TEST(Lag1, one_wild_value_is_clipped_away) {
  std::vector<double> wave;
  for (int i = 0; i < 40; ++i)
    wave.push_back(std::abs(i % 20 - 10));
  wave[20] = 1e6;
  EXPECT_GT(lag1(wave, 1)->r, 0.6);
}

TEST(OrderEffect, a_slower_second_run_is_found_whatever_the_ratio_and_the_imbalance) {
  std::vector<double> x;
  std::vector<bool> candidate_first;
  for (int i = 0; i < 60; ++i) {
    const bool first = i % 5 < 2;
    candidate_first.push_back(first);
    const double order = first ? -0.003 : 0.003;  // the second run takes 0.3 % longer
    x.push_back(0.3 + order + 0.0001 * (i % 7));
  }
  const auto effect = order_effect(in_batches(x, 6), candidate_first);
  ASSERT_TRUE(effect);
  EXPECT_NEAR(effect->effect, 0.003, 0.0009);
  EXPECT_LT(effect->p, 0.01);
  EXPECT_EQ(effect->candidate_first, 24);
  EXPECT_EQ(effect->reference_first, 36);
}

TEST(OrderEffect, one_order_only_or_one_batch_say_nothing) {
  const std::vector<double> x{0.1, 0.2, 0.3, 0.4};
  EXPECT_FALSE(order_effect(in_batches(x, 2), {true, true, true, true}));
  EXPECT_FALSE(order_effect(in_batches(x, 4), {true, false, true, false}));
  EXPECT_TRUE(order_effect(in_batches(x, 2), {true, false, true, false}));
}

TEST(Variance, pair_and_batch_parts_are_told_apart) {
  // Batch means 0 and 10, pairs +-1 around them.
  const Variance split = variance(in_batches({-1, 1, 9, 11}, 2));
  EXPECT_TRUE(split.known);
  EXPECT_DOUBLE_EQ(split.pair_sd, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(split.batch_sd, std::sqrt(49.0));  // (100 - 2) / 2
  EXPECT_DOUBLE_EQ(split.batch_share, 49 / 51.0);
  const Variance flat = variance(in_batches({-1, 1, 1, -1}, 2));
  EXPECT_EQ(flat.batch_sd, 0);
  EXPECT_EQ(flat.batch_share, 0);
}

TEST(Variance, without_two_pairs_in_some_batch_nothing_is_known) {
  EXPECT_FALSE(variance(in_batches({1, 2, 3, 4}, 1)).known);
  EXPECT_FALSE(variance(in_batches({1, 2, 3, 4}, 4)).known);
  const Variance equal = variance(in_batches({5, 5, 5, 5}, 2));
  EXPECT_TRUE(equal.known);
  EXPECT_EQ(equal.batch_share, 0);
}

TEST(Trend, a_drifting_ratio_has_its_slope_per_batch) {
  std::vector<double> x;
  for (int b = 0; b < 10; ++b)
    for (int i = 0; i < 3; ++i)
      x.push_back(0.002 * b + 0.0001 * ((b * 3 + i * 5) % 7));
  const auto drift = trend(in_batches(x, 3));
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->per_batch, 0.002, 0.0001);
  EXPECT_LT(drift->p, 1e-6);
}

TEST(Trend, a_flat_ratio_has_none_and_an_exact_line_has_p_zero) {
  EXPECT_EQ(trend(in_batches({1, 1, 1, 1}, 1))->p, 1);
  EXPECT_EQ(trend(in_batches({1, 2, 3, 4}, 1))->p, 0);
  EXPECT_FALSE(trend(in_batches({1, 2, 3, 4}, 2)));
}

}  // namespace
}  // namespace assay::stats
