#include "assay/stats/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "stats/noise.h"

namespace assay::stats {
namespace {

SimulationOptions small(int threads) {
  return {99, 100, threads};
}

CoveragePlan few_bootstraps() {
  CoveragePlan plan;
  plan.bootstrap_draws = 100;
  plan.bootstrap_replications = 40;
  return plan;
}

TEST(Simulation, the_number_of_threads_changes_nothing) {
  const auto one = simulate_coverage(small(1), few_bootstraps());
  const auto three = simulate_coverage(small(3), few_bootstraps());
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].coverage, three[i].coverage);
    EXPECT_EQ(one[i].power, three[i].power);
    EXPECT_EQ(one[i].bootstrap_coverage, three[i].bootstrap_coverage);
  }
  EXPECT_EQ(simulate_adaptive(small(1))[1].mean_pairs, simulate_adaptive(small(2))[1].mean_pairs);
}

TEST(Simulation, ends_early_when_it_is_told_to) {
  std::atomic<int> asked{0};
  SimulationOptions options{99, 1'000'000'000, 2};
  options.stop = [&asked] { return ++asked > 3; };
  simulate_adaptive(options);
  EXPECT_LE(asked, 5) << "three items, then each of two threads asks once more";
  options.replications = 100;
  options.stop = [] { return false; };
  EXPECT_EQ(simulate_adaptive(options)[1].mean_pairs,
            simulate_adaptive({99, 100, 1})[1].mean_pairs);
}

TEST(Simulation, another_seed_gives_other_data) {
  SimulationOptions other = small(2);
  other.seed = 100;
  double difference = 0;
  const auto a = simulate_coverage(small(2), few_bootstraps());
  const auto b = simulate_coverage(other, few_bootstraps());
  for (std::size_t i = 0; i < a.size(); ++i)
    difference += std::fabs(a[i].power - b[i].power);
  EXPECT_GT(difference, 0);
}

TEST(Simulation, the_grid_has_six_noises_times_five_batch_spreads) {
  const auto cells = simulate_coverage({1, 10, 1}, {});
  EXPECT_EQ(cells.size(), 30U);
  CoveragePlan drift;
  drift.ratio_drift = true;
  drift.bootstrap_draws = 0;
  const auto apart = simulate_coverage({1, 10, 1}, drift);
  EXPECT_EQ(apart.size(), 5U);
  EXPECT_EQ(apart.front().noise, Noise::ratio_drift);
  EXPECT_FALSE(apart.front().bootstrap_coverage);
}

TEST(Simulation, log_ratios_have_the_declared_spread) {
  double pair_squares = 0;
  double batch_squares = 0;
  constexpr int kRounds = 4000;
  for (int r = 0; r < kRounds; ++r) {
    detail::NormalSource source(static_cast<std::uint64_t>(r));
    const auto one = detail::simulate_pairs({{1, 2}, Noise::lognormal, 0.02, {}, {}}, source);
    const Pairs pairs = one.pairs(1);
    const double difference = pairs.x[0] - pairs.x[1];  // the batch part cancels
    pair_squares += difference * difference / 2;
    batch_squares += pairs.x[0] * pairs.x[1];  // only the batch part is common
  }
  EXPECT_NEAR(std::sqrt(pair_squares / kRounds), 0.01, 0.0005);
  EXPECT_NEAR(std::sqrt(batch_squares / kRounds), 0.02, 0.001);
}

TEST(Simulation, normal_numbers_have_mean_zero_spread_one_and_normal_tails) {
  detail::NormalSource source(3);
  double sum = 0;
  double squares = 0;
  int beyond = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double z = source.normal();
    sum += z;
    squares += z * z;
    beyond += std::fabs(z) > 1.959963985 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.015);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(beyond / static_cast<double>(kCount), 0.05, 0.003);
}

TEST(Simulation, rare_shares_average_five_percent) {
  detail::NormalSource source(4);
  double sum = 0;
  for (int i = 0; i < 20000; ++i)
    sum += source.rare_share();
  EXPECT_NEAR(sum / 20000, 0.05, 0.002);
}

TEST(Simulation, rules_behave_as_published_at_small_size) {
  const SimulationOptions options{7, 400, 2};
  for (const CoverageCell& cell : simulate_coverage(options, few_bootstraps())) {
    EXPECT_GT(cell.coverage, 0.90) << noise_name(cell.noise) << cell.batch_sd;
    EXPECT_GE(cell.both_agree_coverage, cell.coverage);
  }
  CoveragePlan three = few_bootstraps();
  three.bootstrap_replications = 150;
  three.layout = {3, 20};
  const auto cells = simulate_coverage(options, three);
  EXPECT_LT(*cells[4].bootstrap_coverage, 0.85) << "batch sd 2 %, three batches";
  EXPECT_EQ(cells[4].false_fail, 0) << "three batches are never gated";
  const auto power = simulate_tail_power(options, {{20, 6}});
  EXPECT_GT(power[0].fail, 0.75);
  EXPECT_LT(power[0].pass, 0.06);
  const auto alarms = simulate_tail_alarms({7, 60, 2}, {{10, 6}});
  EXPECT_EQ(alarms.size(), 144U);
  for (const AdaptiveCell& cell : simulate_adaptive(options))
    if (cell.effect == 0) {
      EXPECT_LT(cell.fail + cell.pass, 0.10);
    } else {
      EXPECT_GT(cell.fail, 0.95);
      EXPECT_LT(cell.mean_pairs, 0.6 * cell.max_pairs);
    }
}

TEST(Simulation, a_suite_at_its_caps_rarely_fails_after_holm_and_often_without) {
  const auto cells = simulate_suite({7, 100, 2}, {10, 6});
  ASSERT_EQ(cells.size(), 5U);
  for (const SuiteCell& cell : cells) {
    EXPECT_GE(cell.any_case_fail_raw, cell.any_case_fail);
    EXPECT_LE(cell.any_case_fail, 0.10);
    EXPECT_GE(cell.any_fail, cell.any_case_fail);
    EXPECT_GT(cell.suite_pass_below, 0.9);
  }
  EXPECT_GT(cells[0].any_case_fail_raw, 0.1);
}

TEST(Simulation, predicted_decisions_come_true_about_as_often_as_promised) {
  double decided = 0, wrong = 0;
  int count = 0;
  for (const PredictionCell& cell : simulate_prediction({7, 40, 2})) {
    decided += cell.decided * (cell.inconclusive - cell.beyond_limit);
    wrong += cell.wrong * (cell.inconclusive - cell.beyond_limit);
    count += cell.inconclusive - cell.beyond_limit;
  }
  ASSERT_GT(count, 150);
  EXPECT_NEAR(decided / count, 0.79, 0.10);
  EXPECT_LT(wrong / count, 0.10) << "decisions against the truth";
}

TEST(Simulation, names_are_stable) {
  EXPECT_EQ(noise_name(Noise::shared_drift), "shared_drift");
  EXPECT_EQ(noise_name(Noise::ratio_drift), "ratio_drift");
  EXPECT_EQ(tail_shape_name(TailShape::set_up_doubled), "set_up_doubled");
}

}  // namespace
}  // namespace assay::stats
