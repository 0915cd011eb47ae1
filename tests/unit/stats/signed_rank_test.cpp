#include "assay/stats/signed_rank.h"

#include "assay/base/random.h"
#include "assay/stats/math.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/rank_sums.h"

namespace assay::stats {
namespace {

using testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Pairs pairs_of(const std::vector<std::vector<double>>& batches) {
  Pairs pairs;
  for (const std::vector<double>& batch : batches) {
    for (const double x : batch) {
      pairs.x.push_back(x);
      pairs.batch.push_back(pairs.batches);
    }
    ++pairs.batches;
  }
  return pairs;
}

Pairs random_pairs(Xoshiro256& random, int batches, int size, double centre) {
  std::vector<std::vector<double>> data(static_cast<std::size_t>(batches));
  for (std::vector<double>& batch : data) {
    const double effect = 0.01 * (random.uniform() - 0.5);
    for (int i = 0; i < size; ++i)
      batch.push_back(centre + effect + 0.02 * (random.uniform() - 0.5));
  }
  return pairs_of(data);
}

TEST(MakePairs, labels_become_dense_in_ascending_order_and_ratios_are_candidate_over_reference) {
  const Pairs pairs = make_pairs({100, 50, 80}, {200, 50, 40}, {9, -4, 9});
  EXPECT_THAT(pairs.batch, ElementsAre(1, 0, 1));
  EXPECT_EQ(pairs.batches, 2);
  EXPECT_EQ(pairs.x[0], log(2.0));
  EXPECT_EQ(pairs.x[1], 0);
  EXPECT_EQ(pairs.x[2], -log(2.0));
}

TEST(MakePairs, equal_ratios_of_different_durations_stay_exactly_equal) {
  const Pairs pairs = make_pairs({100, 300, 700}, {150, 450, 1050}, {0, 0, 1});
  EXPECT_EQ(pairs.x[0], pairs.x[1]);
  EXPECT_EQ(pairs.x[0], pairs.x[2]);
}

TEST(SignedRankSums, ranks_run_over_all_pairs_and_are_summed_per_batch_with_their_signs) {
  // |x| ascending: 1 (+), 2 (-), 3 (+), 4 (+): doubled ranks 2, 4, 6, 8.
  EXPECT_THAT(signed_rank_sums(pairs_of({{3, -2}, {1, 4}}), 0), ElementsAre(6 - 4, 2 + 8));
}

TEST(SignedRankSums, ties_share_the_mean_rank_across_both_signs) {
  // |x - 5|: 1, 1, 1, 3 -> doubled mid-ranks 4, 4, 4, 8.
  EXPECT_THAT(signed_rank_sums(pairs_of({{6, 4}, {4, 8}}), 5), ElementsAre(0, 4));
}

TEST(SignedRankSums, a_pair_exactly_at_the_trial_value_scores_nothing_but_keeps_its_rank) {
  EXPECT_THAT(signed_rank_sums(pairs_of({{5}, {6}, {3}}), 5), ElementsAre(0, 4, -6));
}

// 7/9 and 9/7: in every batch the last bit of the logarithm would rank the same side higher.
TEST(SignedRankSums, mirrored_ratios_tie_although_their_logarithms_are_rounded) {
  for (const auto& [a, b] : {std::pair{7.0, 9.0}, {1000.0, 1003.0}, {1000.0, 1100.0}, {3.0, 5.0}}) {
    const Pairs pairs = pairs_of(std::vector<std::vector<double>>(10, {log(a / b), log(b / a)}));
    EXPECT_EQ(signed_rank_sums(pairs, 0), std::vector<std::int64_t>(10, 0)) << a << "/" << b;
    EXPECT_EQ(test_at(pairs, 0).t, 0);
  }
  const Pairs at_cap = pairs_of({{log(1.05)}, {log(105.0 / 100)}, {log(21.0 / 20)}});
  EXPECT_EQ(signed_rank_sums(at_cap, log(1.05)), std::vector<std::int64_t>(3, 0));
}

TEST(SignedRankSums, the_merge_agrees_with_sorting_every_distance) {
  Xoshiro256 random(11);
  for (int round = 0; round < 200; ++round) {
    Pairs pairs = random_pairs(random, 5, 4, 0);
    for (double& x : pairs.x)
      x = std::floor(x * 400);  // many ties
    const double c = std::floor(8 * random.uniform() - 4) / 2;
    std::vector<std::int64_t> expected(5, 0);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double d = std::fabs(pairs.x[i] - c);
      std::int64_t rank2 = 1;
      for (const double other : pairs.x) {
        const double e = std::fabs(other - c);
        rank2 += e < d ? 2 : (e == d ? 1 : 0);
      }
      const int sign = pairs.x[i] > c ? 1 : (pairs.x[i] < c ? -1 : 0);
      expected[static_cast<std::size_t>(pairs.batch[i])] += sign * rank2;
    }
    ASSERT_EQ(signed_rank_sums(pairs, c), expected);
  }
}

TEST(BatchT, it_is_the_mean_over_its_standard_error) {
  EXPECT_DOUBLE_EQ(batch_t({1, 2, 3}), 2 / (1 / std::sqrt(3.0)));
}

TEST(BatchT, without_any_spread_only_the_sign_remains) {
  EXPECT_EQ(batch_t({4, 4, 4}), 1e9);
  EXPECT_EQ(batch_t({-4, -4}), -1e9);
  EXPECT_EQ(batch_t({0, 0, 0}), 0);
}

TEST(HodgesLehmann, it_is_the_median_of_all_pairwise_means_with_each_value_itself) {
  EXPECT_EQ(hodges_lehmann({7}), 7);
  EXPECT_EQ(hodges_lehmann({1, 2}), 1.5);
  EXPECT_EQ(hodges_lehmann({0, 0, 9}), 2.25);  // 0 0 0 4.5 4.5 9
  EXPECT_EQ(hodges_lehmann({5, 5, 5, 5}), 5);
}

TEST(HodgesLehmann, selection_agrees_with_listing_every_mean) {
  Xoshiro256 random(12);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> x;
    const std::size_t n = 1 + random.below(40);
    for (std::size_t i = 0; i < n; ++i) {
      const double v = random.uniform() - 0.4;
      x.push_back(round % 3 == 0 ? std::floor(v * 6) : v);
    }
    std::vector<double> means;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j)
        means.push_back((x[i] + x[j]) / 2);
    ASSERT_EQ(hodges_lehmann(x), median(means));
  }
}

TEST(SignedRankInterval, values_inside_are_not_rejected_and_values_just_outside_are) {
  Xoshiro256 random(13);
  const double limit = t_quantile(0.975, 9);
  for (int round = 0; round < 50; ++round) {
    const Pairs pairs = random_pairs(random, 10, 6, 0.05);
    const detail::RankedPairs ranked(pairs);
    const auto t_at = [&](double c) { return batch_t(ranked.sums(c, 0)); };
    const SignedRankInterval interval = signed_rank_interval(pairs, 0.95);
    ASSERT_LT(interval.lower, interval.estimate);
    ASSERT_GT(interval.upper, interval.estimate);
    ASSERT_EQ(interval.estimate, hodges_lehmann(pairs.x));
    ASSERT_GT(t_at(interval.lower), limit);
    ASSERT_LT(t_at(interval.upper), -limit);
    ASSERT_LE(std::fabs(t_at(interval.estimate)), limit);
    // Forty halvings leave less than 1e-12 of the range between the limit and an accepted value.
    ASSERT_LE(t_at(interval.lower + 1e-12), limit);
    ASSERT_GE(t_at(interval.upper - 1e-12), -limit);
  }
}

TEST(SignedRankInterval, a_higher_level_gives_a_wider_interval) {
  Xoshiro256 random(14);
  const Pairs pairs = random_pairs(random, 10, 6, 0);
  const SignedRankInterval narrow = signed_rank_interval(pairs, 0.90);
  const SignedRankInterval wide = signed_rank_interval(pairs, 0.99);
  EXPECT_LT(wide.lower, narrow.lower);
  EXPECT_GT(wide.upper, narrow.upper);
}

TEST(SignedRankInterval, it_moves_with_the_data_and_mirrors_with_its_sign) {
  Xoshiro256 random(15);
  const Pairs pairs = random_pairs(random, 8, 5, 0);
  Pairs mirrored = pairs;
  for (double& x : mirrored.x)
    x = -x;
  const SignedRankInterval a = signed_rank_interval(pairs, 0.95);
  const SignedRankInterval b = signed_rank_interval(mirrored, 0.95);
  EXPECT_EQ(a.lower, -b.upper);
  EXPECT_EQ(a.upper, -b.lower);
  EXPECT_EQ(a.estimate, -b.estimate);
}

TEST(SignedRankInterval, equal_ratios_in_every_batch_give_a_point) {
  const Pairs pairs = pairs_of({{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}});
  const SignedRankInterval interval = signed_rank_interval(pairs, 0.95);
  EXPECT_EQ(interval.estimate, 0.5);
  EXPECT_EQ(interval.lower, 0.5);
  EXPECT_EQ(interval.upper, 0.5);
}

TEST(SignedRankInterval, a_side_that_is_never_rejected_is_unbounded) {
  // Two batches of very different sizes: beyond the sample S is proportional to the sizes.
  const Pairs pairs = pairs_of({{0.01, 0.02, 0.03, 0.04, 0.05, 0.06}, {0.035}});
  const SignedRankInterval interval = signed_rank_interval(pairs, 0.95);
  EXPECT_EQ(interval.lower, -kInfinity);
  EXPECT_EQ(interval.upper, kInfinity);
}

TEST(SignedRankInterval, one_batch_alone_bounds_nothing) {
  const SignedRankInterval interval = signed_rank_interval(pairs_of({{1, 2, 3}}), 0.95);
  EXPECT_EQ(interval.estimate, 2);
  EXPECT_EQ(interval.lower, -kInfinity);
  EXPECT_EQ(interval.upper, kInfinity);
}

TEST(CapTest, both_one_sided_p_values_add_up_and_mirror_with_the_data) {
  Xoshiro256 random(16);
  const Pairs pairs = random_pairs(random, 10, 6, 0.004);
  Pairs mirrored = pairs;
  for (double& x : mirrored.x)
    x = -x;
  const CapTest a = test_at(pairs, 0.002);
  const CapTest b = test_at(mirrored, -0.002);
  EXPECT_NEAR(a.p_t_up + a.p_t_down, 1, 1e-15);
  EXPECT_EQ(a.p_t_up, b.p_t_down);
  EXPECT_EQ(a.p_flip_up, b.p_flip_down);
  EXPECT_EQ(a.t, -b.t);
  EXPECT_EQ(a.p_t_up, t_cdf(-a.t, 9));
}

TEST(CapTest, one_batch_knows_nothing_by_t_and_one_half_by_flip) {
  const CapTest test = test_at(pairs_of({{1, 2, 3}}), 0);
  EXPECT_EQ(test.t, 0);
  EXPECT_EQ(test.p_t_up, 1);
  EXPECT_EQ(test.p_t_down, 1);
  EXPECT_EQ(test.p_flip_up, 0.5);
  EXPECT_EQ(test.p_flip_down, 1);
}

TEST(CapTest, without_the_heaviest_batch_the_rest_is_ranked_anew) {
  const Pairs all = pairs_of({{1, 2}, {30, 40}, {-3}});
  const CapTest expected = test_at(pairs_of({{1, 2}, {-3}}), 0);
  const CapTest got = test_without_heaviest_batch(all, 0);
  EXPECT_EQ(got.sums, expected.sums);
  EXPECT_EQ(got.t, expected.t);
}

TEST(CapTest, of_equally_heavy_batches_the_first_goes) {
  EXPECT_EQ(detail::heaviest({3, -7, 7}), 1U);
  EXPECT_EQ(detail::heaviest({0, 0}), 0U);
}

}  // namespace
}  // namespace assay::stats
