#include "assay/stats/calibration.h"

#include "assay/base/random.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"
#include "assay/verdict/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace assay::stats {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// Symmetric noise of about 1 % on both sides, and what a test adds to it.
struct PoolShape {
  int batches = 120;
  double label_effect = 0;  // log scale, on every b
  double ratio_drift = 0;   // innovation of an AR(1) with rho .9 in the log ratio, per batch
  double tail_share = 0;    // share of b's runs that take twice as long
};

double noise(Xoshiro256& random) {
  return 0.01 * (random.uniform() + random.uniform() + random.uniform() - 1.5);
}

CalibrationPool make_pool(const PoolShape& shape, std::uint64_t seed) {
  Xoshiro256 random(seed);
  CalibrationPool pool;
  pool.batches = shape.batches;
  double drift = 0;
  for (int b = 0; b < shape.batches; ++b) {
    drift = 0.9 * drift + shape.ratio_drift * (random.uniform() * 2 - 1);
    for (int i = 0; i < 6; ++i) {
      pool.a.push_back(1e6 * exp(noise(random)));
      const bool slow = random.uniform() < shape.tail_share;
      pool.b.push_back(1e6 * exp(noise(random) + shape.label_effect + drift) * (slow ? 2 : 1));
      pool.batch.push_back(b);
      pool.b_first.push_back(i % 2 == 0);
    }
  }
  return pool;
}

TEST(AlarmRate, limits_are_the_exact_binomial_ones) {
  // Largest (alarms, campaigns) that certify "below 8 %" with 95 % confidence.
  const int table[][2] = {{0, 36},  {1, 58},   {2, 77},   {3, 95},
                          {5, 129}, {10, 209}, {20, 359}, {25, 432}};
  for (const auto& [alarms, campaigns] : table) {
    EXPECT_LE(alarm_rate(alarms, campaigns).upper, kAlarmBound) << alarms << "/" << campaigns;
    EXPECT_GT(alarm_rate(alarms, campaigns - 1).upper, kAlarmBound) << alarms << "/" << campaigns;
  }
  EXPECT_EQ(alarm_rate(5, 5).upper, 1);
  EXPECT_EQ(alarm_rate(0, 5).lower, 0);
}

TEST(Calibrate, a_clean_pool_of_120_batches_is_by_design) {
  const CalibrationResult result = calibrate(make_pool({}, 1), 7);
  EXPECT_EQ(result.state, CalibrationState::by_design);
  EXPECT_THAT(result.reasons, IsEmpty());
  EXPECT_EQ(result.direct.campaigns, 12);
  EXPECT_NEAR(result.relabel_pairs.rate(), 0.05, 0.02);
  EXPECT_GT(batches_still_needed(result), 0);
}

TEST(Calibrate, a_clean_pool_below_100_batches_is_provisional) {
  EXPECT_EQ(calibrate(make_pool({.batches = 40}, 2), 7).state,
            CalibrationState::by_design_provisional);
}

TEST(Calibrate, fewer_than_20_batches_are_incomplete_and_say_how_many_are_missing) {
  const CalibrationResult result = calibrate(make_pool({.batches = 19}, 3), 7);
  EXPECT_EQ(result.state, CalibrationState::incomplete);
  EXPECT_THAT(result.reasons, Contains("pool_too_small"));
  EXPECT_EQ(batches_still_needed(result), 1);
}

TEST(Calibrate, many_clean_campaigns_certify_directly) {
  EXPECT_EQ(calibrate(make_pool({.batches = 6000}, 4), 7).state, CalibrationState::direct);
}

TEST(Calibrate, a_label_effect_fails) {
  const CalibrationResult result = calibrate(make_pool({.label_effect = 0.01}, 5), 7);
  EXPECT_EQ(result.state, CalibrationState::failed);
  EXPECT_THAT(result.reasons, Contains("label_effect"));
}

TEST(Calibrate, drift_of_the_ratio_over_many_batches_fails) {
  const CalibrationResult result = calibrate(make_pool({.ratio_drift = 0.02}, 6), 7);
  EXPECT_EQ(result.state, CalibrationState::failed);
  EXPECT_THAT(result.reasons, Contains("ratio_drift"));
}

TEST(Calibrate, drift_is_the_correlation_of_batch_values_clipped_once) {
  const CalibrationPool pool = make_pool({.batches = 40}, 12);
  std::vector<double> values;
  for (std::size_t i = 0; i < pool.a.size(); i += 6) {
    std::vector<double> x;
    for (std::size_t k = i; k < i + 6; ++k)
      x.push_back(log(pool.b[k] / pool.a[k]));
    values.push_back(hodges_lehmann(x));
  }
  const auto expected = lag1(values, 7);
  const auto drift = calibrate(pool, 7).drift;
  ASSERT_TRUE(expected && drift);
  EXPECT_EQ(drift->r, expected->r);
  EXPECT_EQ(drift->p, expected->p);
}

TEST(CountCampaigns, takes_ten_batches_each_in_order_and_counts_both_directions) {
  CalibrationPool pool = make_pool({.batches = 29, .label_effect = 0.05}, 13);
  for (std::size_t i = 0; i < pool.a.size(); ++i)
    if (pool.batch[i] >= 10)
      std::swap(pool.a[i], pool.b[i]);
  const CampaignCount count = count_campaigns(make_pairs(pool.a, pool.b, pool.batch));
  EXPECT_EQ(count.campaigns, 2);
  EXPECT_EQ(count.up, 1);
  EXPECT_EQ(count.down, 1);
  EXPECT_EQ(count_campaigns(Pairs{}).campaigns, 0);
}

TEST(Calibrate, slow_runs_on_one_copy_only_fail) {
  const CalibrationResult result = calibrate(make_pool({.tail_share = 0.1}, 8), 7);
  EXPECT_EQ(result.state, CalibrationState::failed);
  EXPECT_THAT(result.reasons, Contains("tail"));
}

TEST(Calibrate, the_same_pool_and_seed_give_the_same_counts) {
  const CalibrationPool pool = make_pool({.batches = 50}, 9);
  const CalibrationResult first = calibrate(pool, 11);
  const CalibrationResult second = calibrate(pool, 11);
  EXPECT_EQ(first.relabel_pairs.alarms, second.relabel_pairs.alarms);
  EXPECT_EQ(first.relabel_batches.alarms, second.relabel_batches.alarms);
  EXPECT_NE(first.relabel_pairs.alarms, calibrate(pool, 12).relabel_pairs.alarms);
}

}  // namespace
}  // namespace assay::stats

namespace assay::verdict {
namespace {

Sample run(std::int64_t batch, std::int64_t pair, Side side, std::int64_t elapsed) {
  Sample sample;
  sample.batch = batch;
  sample.pair = pair;
  sample.case_name = kAaCase;
  sample.side = side;
  sample.status = "ok";
  sample.elapsed_ns = elapsed;
  sample.user_ns = elapsed;
  sample.system_ns = 0;
  return sample;
}

TEST(BlocksAlarms, drift_between_the_blocks_alarms_both_classic_tests) {
  std::vector<Sample> samples;
  for (int batch = 0; batch < 4; ++batch) {
    for (int i = 0; i < 30; ++i) {
      samples.push_back(run(batch, i, Side::reference, 1000000 + i % 7 * 1000));
      samples.push_back(
          run(batch, i, Side::candidate, 1000000 + i % 7 * 1000 + (batch < 2 ? 20000 : 0)));
    }
  }
  // Neither warm-ups nor runs that failed count.
  for (int i = 0; i < 60; ++i) {
    samples.push_back(run(3, i, Side::candidate, 2000000));
    samples.back().status = "failed";
    samples.push_back(run(3, i, Side::candidate, 2000000));
    samples.back().phase = Phase::warmup;
    samples.push_back(run(3, i, Side::candidate, 0));
    samples.back().elapsed_ns = std::nullopt;
  }
  const BlocksAlarms alarms = blocks_alarms(samples, false);
  EXPECT_EQ(alarms.campaigns, 4);
  EXPECT_EQ(alarms.welch, 2);
  EXPECT_EQ(alarms.mann_whitney, 2);
}

}  // namespace
}  // namespace assay::verdict
