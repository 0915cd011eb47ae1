// The published error rates at full replication: minutes, so only ./test --long runs this.
//
// Limits are the promises of docs/reference/statistics.md. Where the largest of many estimates
// would exceed a promise by chance alone, the Monte-Carlo error is allowed on top and named, or the
// cells above it are simulated again.
#include "assay/stats/prediction.h"
#include "assay/stats/simulate.h"
#include "assay/stats/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace assay::stats {
namespace {

SimulationOptions full(int replications) {
  const unsigned cores = std::thread::hardware_concurrency();
  return {20261130, replications, static_cast<int>(std::clamp(cores, 1U, 16U))};
}

double standard_error(double p, int replications) {
  return std::sqrt(p * (1 - p) / replications);
}

TEST(ErrorRates, coverage_at_ten_by_six_keeps_its_promises_in_every_cell) {
  constexpr int kReplications = 20000;
  CoveragePlan plan;
  plan.bootstrap_draws = 0;
  const auto cells = simulate_coverage(full(kReplications), plan);
  ASSERT_EQ(cells.size(), 30U);
  double sum = 0;
  for (const CoverageCell& c : cells) {
    sum += c.coverage;
    SCOPED_TRACE(testing::Message() << noise_name(c.noise) << " batch sd " << c.batch_sd);
    EXPECT_GE(c.coverage, 0.940);
    EXPECT_LE(c.error_up, 0.030);
    EXPECT_LE(c.error_down, 0.030);
    EXPECT_GE(c.both_agree_coverage, 0.945);
    EXPECT_LE(std::max(c.false_fail, c.false_pass), 0.030);
  }
  RecordProperty("mean_coverage_percent", std::to_string(100 * sum / 30));
  EXPECT_GE(sum / 30, 0.945);
  // +0.52 % at batch sd 0: clean noise of ratio sd 1 %, and the same with 5 % outliers of +20 %.
  // The goal of 80 % speaks of clean noise; the other is held where it is, a little below.
  std::printf(
      "figure: power at +0.52 %%: %.1f %% clean, %.1f %% with 5 %% outliers (goal >= 80 %%)\n",
      100 * cells[0].power, 100 * cells[5].power);
  EXPECT_GE(cells[0].power, 0.80);
  EXPECT_GE(cells[5].power, 0.775);
}

TEST(ErrorRates, the_percentile_bootstrap_is_as_weak_at_three_batches_as_published) {
  CoveragePlan plan;
  plan.layout = {3, 20};
  plan.bootstrap_replications = 2000;
  const auto cells = simulate_coverage(full(2000), plan);
  const double published[] = {0.974, 0.952, 0.863, 0.790, 0.741};  // lognormal, by batch sd
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(*cells[i].bootstrap_coverage, published[i], 0.04) << cells[i].batch_sd;
}

TEST(ErrorRates, drift_of_the_ratio_defeats_the_interval_as_the_report_says) {
  CoveragePlan plan;
  plan.ratio_drift = true;
  plan.bootstrap_draws = 0;
  EXPECT_LT(simulate_coverage(full(4000), plan).front().coverage, 0.80);
}

TEST(ErrorRates, a_suite_at_its_caps_fails_in_at_most_three_and_a_half_percent) {
  constexpr int kReplications = 3000;
  for (const SimulatedLayout layout : {SimulatedLayout{10, 6}, SimulatedLayout{20, 6}})
    for (const SuiteCell& c : simulate_suite(full(kReplications), layout)) {
      SCOPED_TRACE(testing::Message() << layout.batches << " batches, sd " << c.batch_sd
                                      << " shared " << c.shared_batches);
      EXPECT_LE(c.any_case_fail, 0.035);
      EXPECT_LE(c.mean_fail, 0.025 + 3 * standard_error(0.025, kReplications));
      EXPECT_LE(c.any_tail_fail, 0.05 + 3 * standard_error(0.05, kReplications));
      EXPECT_LE(c.any_fail, 0.025 + 0.025 + 0.05 + 3 * standard_error(0.1, kReplications));
      EXPECT_GE(c.suite_pass_below, 0.98);
    }
}

TEST(ErrorRates, adaptive_stopping_keeps_its_alarms_and_saves_pairs) {
  for (const AdaptiveCell& c : simulate_adaptive(full(20000))) {
    SCOPED_TRACE(testing::Message() << noise_name(c.noise) << " " << c.batch_sd << " " << c.effect);
    if (c.effect == 0) {
      EXPECT_LE(c.fail + c.pass, 0.06);
    } else {
      EXPECT_GE(c.fail, 0.99);
      EXPECT_LE(c.mean_pairs, 0.6 * c.max_pairs);
    }
  }
}

// Each cell's true rate is to be at most 6.2 %. The largest of 432 estimates of an exact 5 % lies
// there by chance alone (standard error 0.4 points at 3,000 replications), so a cell above it is
// simulated again, with numbers that had no part in choosing it and enough of them to tell 5 %
// from 6.2 %.
TEST(ErrorRates, equal_tails_alarm_in_five_percent_of_runs_in_every_cell) {
  constexpr double kPromise = 0.062;
  const auto cells = simulate_tail_alarms(full(3000), {{10, 6}, {10, 12}, {20, 6}});
  ASSERT_EQ(cells.size(), 432U);
  double sum = 0;
  double worst = 0;
  std::vector<TailCell> doubtful;
  for (const TailCell& c : cells) {
    sum += c.fail;
    worst = std::max(worst, c.fail);
    if (c.fail > kPromise)
      doubtful.push_back(c);
  }
  const double mean = sum / static_cast<double>(cells.size());
  std::printf(
      "figure: equal tails, 3000 replications: mean %.2f %%, worst %.2f %%; %zu of %zu cells "
      "above 6.2 %%\n",
      100 * mean, 100 * worst, doubtful.size(), cells.size());
  EXPECT_NEAR(mean, 0.05, 0.002);

  SimulationOptions fresh = full(20000);
  fresh.seed += 1;
  const auto again = repeat_tail_alarms(fresh, doubtful);
  for (std::size_t i = 0; i < again.size(); ++i) {
    const TailCell& c = again[i];
    const std::string name =
        std::to_string(c.layout.batches) + " x " + std::to_string(c.layout.pairs) + " " +
        std::string(noise_name(c.noise)) + " " + std::string(tail_shape_name(c.candidate)) +
        " batch sd " + std::to_string(100 * c.batch_sd).substr(0, 3) + " %";
    std::printf("figure: %s: %.2f %%, again with 20000 replications: %.2f %% (goal <= 6.2 %%)\n",
                name.c_str(), 100 * doubtful[i].fail, 100 * c.fail);
    EXPECT_LE(c.fail, kPromise) << name;
  }
}

TEST(ErrorRates, a_doubled_five_percent_tail_is_found_and_never_passes_unnoticed) {
  const auto cells = simulate_tail_power(full(5000), {{10, 6}, {20, 6}, {40, 6}, {90, 6}});
  for (const TailCell& c : cells) {
    const TailPower promised = tail_power(c.layout.batches * c.layout.pairs);
    if (c.candidate == TailShape::doubled_5) {
      EXPECT_NEAR(c.fail, promised.five_percent_doubled, 0.035) << c.layout.batches;
    }
    if (c.candidate == TailShape::tripled_1) {
      EXPECT_NEAR(c.fail, promised.one_percent_tripled, 0.035) << c.layout.batches;
    }
  }
  EXPECT_GE(cells[3].fail, 0.80);
  EXPECT_LE(cells[3].pass, 0.03);
}

TEST(ErrorRates, eighty_percent_of_inconclusive_runs_are_decided_at_their_b80) {
  double decided = 0;
  double extended = 0;
  for (const PredictionCell& c : simulate_prediction(full(3000))) {
    EXPECT_GE(c.decided, 0.73) << noise_name(c.noise) << c.batch_sd;
    EXPECT_LE(c.wrong, 0.01);
    EXPECT_NEAR(c.predicted_at_40, c.decided_at_40, 0.05);
    decided += c.decided * (c.inconclusive - c.beyond_limit);
    extended += c.inconclusive - c.beyond_limit;
  }
  RecordProperty("decided_percent", std::to_string(100 * decided / extended));
  EXPECT_GE(decided / extended, 0.75);
  EXPECT_LE(decided / extended, 0.85);
}

}  // namespace
}  // namespace assay::stats
