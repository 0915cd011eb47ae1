#include "assay/stats/prediction.h"

#include "assay/stats/math.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::stats {
namespace {

TEST(DecisionProbability, published_table_comes_out_at_its_interval_middles) {
  // |T| at 10 batches: P(decided at 40) and at 100 in percent.
  const double published[][3] = {{0.15, 28, 53}, {0.75, 42, 64}, {1.35, 66, 80}, {1.9, 84, 91}};
  for (const auto& [r, at_40, at_100] : published) {
    EXPECT_NEAR(100 * decision_probability(r, 10, 40), at_40, 2) << r;
    EXPECT_NEAR(100 * decision_probability(r, 10, 100), at_100, 2) << r;
  }
}

TEST(BatchesForProbability, published_totals_come_out_at_the_interval_middles) {
  EXPECT_NEAR(*batches_for_probability(0.15, 10, 0.5), 88, 4);
  EXPECT_NEAR(*batches_for_probability(0.15, 10, 0.8), 562, 25);
  EXPECT_NEAR(*batches_for_probability(1.35, 10, 0.5), 24, 2);
  EXPECT_NEAR(*batches_for_probability(1.35, 10, 0.8), 102, 6);
  EXPECT_NEAR(*batches_for_probability(2.1, 10, 0.8), 20, 3);
}

TEST(BatchesForProbability, the_search_finds_the_first_batch_of_a_plain_scan) {
  for (const double r : {0.3, 0.9, 1.5, 2.1, 2.4}) {
    for (const double p : {0.5, 0.8}) {
      int b = 11;
      while (decision_probability(r, 10, b) < p)
        ++b;
      EXPECT_EQ(batches_for_probability(r, 10, p), b) << r << " " << p;
    }
  }
}

TEST(BatchesForProbability, beyond_the_limit_there_is_no_number) {
  EXPECT_EQ(batches_for_probability(0.15, 10, 0.8, 500), std::nullopt);
  EXPECT_EQ(batches_for_probability(0.15, 10, 0.8, 10), std::nullopt);
}

TEST(HalfWidth, it_keeps_the_seen_width_and_shrinks_with_the_root_and_the_quantile) {
  EXPECT_NEAR(predicted_half_width(0.02, 10, 10), 0.02, 1e-15);
  const double expected =
      0.02 * std::sqrt(10.0 / 40) * t_quantile(0.975, 39) / t_quantile(0.975, 9);
  EXPECT_NEAR(predicted_half_width(0.02, 10, 40), expected, 1e-15);
}

TEST(BatchesForHalfWidth, it_is_the_smallest_number_that_reaches_the_target) {
  const int b = *batches_for_half_width(0.02, 10, 0.01);
  EXPECT_LE(predicted_half_width(0.02, 10, b), 0.01);
  EXPECT_GT(predicted_half_width(0.02, 10, b - 1), 0.01);
  EXPECT_EQ(batches_for_half_width(0.02, 10, 0.02), 10);
  EXPECT_EQ(batches_for_half_width(0.02, 10, 1e-9), std::nullopt);
}

TEST(HostCannotResolve, it_needs_61_percent_of_the_predicted_batches_to_exceed_the_budget) {
  const int needed = *batches_for_half_width(0.02, 10, 0.01);
  EXPECT_FALSE(host_cannot_resolve(0.02, 10, 0.01, static_cast<int>(std::ceil(0.61 * needed))));
  EXPECT_TRUE(host_cannot_resolve(0.02, 10, 0.01, static_cast<int>(std::floor(0.61 * needed))));
  EXPECT_TRUE(host_cannot_resolve(std::numeric_limits<double>::infinity(), 10, 0.01, 20));
}

}  // namespace
}  // namespace assay::stats
