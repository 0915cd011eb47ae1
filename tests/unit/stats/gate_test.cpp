#include "assay/stats/gate.h"

#include "assay/base/random.h"
#include "assay/stats/math.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::stats {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// `batches` x `size` pairs around log(1 + shift), with distinct values.
Pairs around(double shift, int batches, int size = 6, double noise = 0.01) {
  Pairs pairs;
  pairs.batches = batches;
  for (int b = 0; b < batches; ++b)
    for (int i = 0; i < size; ++i) {
      const int step = (b * 7 + i * 5) % 12;
      pairs.x.push_back(log(1 + shift) + noise * (step - 5.5) / 6 + 1e-6 * b);
      pairs.batch.push_back(b);
    }
  return pairs;
}

// The layout's rules concern batches only: one pair per batch, each at `values[b]`.
Pairs one_per_batch(const std::vector<double>& values) {
  Pairs pairs;
  for (const double v : values) {
    pairs.x.push_back(v);
    pairs.batch.push_back(pairs.batches++);
  }
  return pairs;
}

TEST(Gate, clearly_beyond_the_cap_is_fail_and_clearly_below_is_pass) {
  const GateResult fail = judge_gate(around(0.10, 10), {.cap = 1.05});
  EXPECT_EQ(fail.verdict, Verdict::fail);
  EXPECT_THAT(fail.reasons, IsEmpty());
  EXPECT_EQ(fail.p_fail, std::max(fail.test.p_t_up, fail.test.p_flip_up));
  EXPECT_EQ(fail.test.p_flip_up, std::ldexp(1.0, -10));
  const GateResult pass = judge_gate(around(0.01, 10), {.cap = 1.05});
  EXPECT_EQ(pass.verdict, Verdict::pass);
  EXPECT_GT(pass.p_fail, 0.9);
}

TEST(Gate, at_the_cap_it_is_inconclusive) {
  EXPECT_EQ(judge_gate(around(0.05, 10), {.cap = 1.05}).verdict, Verdict::inconclusive);
}

TEST(Gate, a_lower_is_bad_gate_mirrors_the_rule) {
  GateOptions throughput{.cap = 0.90, .direction = Direction::down};
  EXPECT_EQ(judge_gate(around(-0.20, 10), throughput).verdict, Verdict::fail);
  EXPECT_EQ(judge_gate(around(0.0, 10), throughput).verdict, Verdict::pass);
  const GateResult fail = judge_gate(around(-0.20, 10), throughput);
  EXPECT_EQ(fail.p_fail, std::max(fail.test.p_t_down, fail.test.p_flip_down));
}

TEST(Gate, the_flip_rejects_at_alpha_itself) {
  const double smallest = std::ldexp(1.0, -8);
  EXPECT_EQ(judge_gate(around(0.5, 8), {.cap = 1.0, .one_sided_alpha = smallest}).verdict,
            Verdict::fail);
  EXPECT_EQ(judge_gate(around(-0.5, 8), {.cap = 1.0, .one_sided_alpha = smallest}).verdict,
            Verdict::pass);
  EXPECT_EQ(judge_gate(around(0.5, 8), {.cap = 1.0, .one_sided_alpha = smallest * 0.999}).verdict,
            Verdict::inconclusive);
}

TEST(Gate, below_eight_batches_no_verdict_whatever_the_evidence) {
  const GateResult seven = judge_gate(around(0.5, 7), {.cap = 1.0});
  EXPECT_EQ(seven.verdict, Verdict::inconclusive);
  EXPECT_THAT(seven.reasons, Contains("too_few_batches"));
  const GateResult eight = judge_gate(around(0.5, 8), {.cap = 1.0});
  EXPECT_EQ(eight.verdict, Verdict::fail);
  EXPECT_THAT(eight.reasons, Not(Contains("too_few_batches")));
}

TEST(Gate, one_batch_and_no_pairs_are_handled) {
  const GateResult one = judge_gate(around(0.5, 1), {.cap = 1.0});
  EXPECT_EQ(one.verdict, Verdict::inconclusive);
  EXPECT_THAT(one.reasons, Contains("too_few_batches"));
  const GateResult none = judge_gate({}, {.cap = 1.0});
  EXPECT_EQ(none.verdict, Verdict::incomplete);
  EXPECT_THAT(none.reasons, ElementsAre("no_complete_pairs"));
}

TEST(Gate, equal_ratios_pass_below_the_cap_and_say_nothing_at_it) {
  Pairs same = around(0, 10);
  for (double& x : same.x)
    x = 0;
  EXPECT_EQ(judge_gate(same, {.cap = 1.1}).verdict, Verdict::pass);
  EXPECT_EQ(judge_gate(same, {.cap = 0.9}).verdict, Verdict::fail);
  const GateResult at = judge_gate(same, {.cap = 1.0});
  EXPECT_EQ(at.verdict, Verdict::inconclusive);
  EXPECT_EQ(at.p_fail, 1);
}

TEST(Gate, one_rejecting_test_is_not_enough_and_is_named) {
  Xoshiro256 random(42);
  int t_alone = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<double> values;
    for (int b = 0; b < 8; ++b)
      values.push_back(random.uniform() - 0.2);
    const GateResult result = judge_gate(one_per_batch(values), {.cap = 1.0});
    const bool t = result.test.p_t_up < kOneSidedAlpha;
    const bool flip = result.test.p_flip_up <= kOneSidedAlpha;
    t_alone += t && !flip ? 1 : 0;
    ASSERT_EQ(result.verdict == Verdict::fail, t && flip);
    const bool named = std::find(result.reasons.begin(), result.reasons.end(), "tests_disagree") !=
                       result.reasons.end();
    ASSERT_EQ(named, t != flip);
  }
  EXPECT_GT(t_alone, 10);
  // One large batch beside seven small ones, all above: every sign agrees, but the sums vary
  // wildly.
  Pairs uneven = one_per_batch({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8});
  for (int i = 0; i < 40; ++i) {
    uneven.x.push_back(1 + 0.01 * i);
    uneven.batch.push_back(3);
  }
  const GateResult result = judge_gate(uneven, {.cap = 1.0});
  EXPECT_EQ(result.test.p_flip_up, std::ldexp(1.0, -8));
  EXPECT_GT(result.test.p_t_up, 0.1);
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_THAT(result.reasons, Contains("tests_disagree"));
}

TEST(Gate, a_verdict_that_hangs_on_the_heaviest_batch_is_said_to) {
  // Without the heaviest batch eight of nine remain and one is against: not enough any more.
  Pairs pairs = one_per_batch({1, 2, 3, 4, 5, 6, 7, 8, 9, -1.5});
  const GateResult with = judge_gate(pairs, {.cap = 1.0});
  ASSERT_EQ(with.verdict, Verdict::fail);
  EXPECT_THAT(with.reasons, Not(Contains("one_batch_decides")));
  // Eight batches all above: the flip's p is 2^-8; at alpha 0.005 seven batches can't reach it.
  const GateResult thin =
      judge_gate(one_per_batch({1, 2, 3, 4, 5, 6, 7, 8}), {.cap = 1.0, .one_sided_alpha = 0.005});
  EXPECT_EQ(thin.verdict, Verdict::fail);
  EXPECT_THAT(thin.reasons, Contains("one_batch_decides"));
}

TEST(Gate, the_adaptive_level_is_stricter_than_the_fixed_one) {
  Xoshiro256 random(41);
  int fixed = 0;
  int adaptive = 0;
  for (int round = 0; round < 400; ++round) {
    Pairs pairs = around(0, 10);
    for (double& x : pairs.x)
      x += 0.012 * (random.uniform() - 0.3);
    const Verdict a = judge_gate(pairs, {.cap = 1.0}).verdict;
    const Verdict b =
        judge_gate(pairs, {.cap = 1.0, .one_sided_alpha = kPocockNominalP / 2}).verdict;
    fixed += a == Verdict::fail ? 1 : 0;
    adaptive += b == Verdict::fail ? 1 : 0;
    ASSERT_TRUE(b == Verdict::inconclusive || a == b);
  }
  EXPECT_LT(adaptive, fixed);
}

TEST(VerdictName, the_four_words_are_stable) {
  EXPECT_EQ(verdict_name(Verdict::pass), "PASS");
  EXPECT_EQ(verdict_name(Verdict::fail), "FAIL");
  EXPECT_EQ(verdict_name(Verdict::inconclusive), "INCONCLUSIVE");
  EXPECT_EQ(verdict_name(Verdict::incomplete), "INCOMPLETE");
}

TEST(Holm, adjusted_p_values_step_down_and_never_fall) {
  EXPECT_THAT(
      holm({0.01, 0.04, 0.03}),
      ElementsAre(testing::DoubleEq(0.03), testing::DoubleEq(0.06), testing::DoubleEq(0.06)));
  EXPECT_THAT(holm({0.9, 0.8}), ElementsAre(1, 1));
  EXPECT_THAT(holm({0.004}), ElementsAre(0.004));
  EXPECT_THAT(holm({}), IsEmpty());
}

TEST(BenjaminiHochberg, adjusted_p_values_step_up) {
  EXPECT_THAT(benjamini_hochberg({0.01, 0.04, 0.03, 0.5}),
              ElementsAre(testing::DoubleEq(0.04), testing::DoubleEq(0.16 / 3),
                          testing::DoubleEq(0.16 / 3), testing::DoubleEq(0.5)));
  EXPECT_THAT(benjamini_hochberg({0.02, 0.02}), ElementsAre(0.02, 0.02));
}

TEST(FailPossible, the_smallest_flip_p_bounds_the_family) {
  EXPECT_TRUE(fail_possible(8, 6, 0.025));
  EXPECT_FALSE(fail_possible(8, 7, 0.025));
  EXPECT_TRUE(fail_possible(8, 2, kPocockNominalP / 2));
  EXPECT_FALSE(fail_possible(8, 3, kPocockNominalP / 2));
  EXPECT_TRUE(fail_possible(10, 25, 0.025));
  EXPECT_FALSE(fail_possible(10, 26, 0.025));
  EXPECT_TRUE(fail_possible(8, 1, std::ldexp(1.0, -8)));
  EXPECT_FALSE(fail_possible(7, 1, 0.025)) << "fewer than eight batches are never gated";
}

GeomeanCase constant_case(const std::vector<double>& per_batch, double weight = 1) {
  GeomeanCase result;
  result.weight = weight;
  result.pairs.batches = static_cast<int>(per_batch.size());
  for (std::size_t b = 0; b < per_batch.size(); ++b)
    for (const double wobble : {-0.001, 0.0, 0.001}) {
      result.pairs.x.push_back(per_batch[b] + wobble);
      result.pairs.batch.push_back(static_cast<int>(b));
    }
  return result;
}

TEST(GeometricMean, it_is_a_t_interval_over_batch_means_of_case_values) {
  const auto result = geometric_mean(
      {constant_case({0.1, 0.2, 0.3}), constant_case({0.3, 0.4, 0.5})}, 3, 0.95, {.cap = 1.0});
  ASSERT_TRUE(result);
  // z = 0.2, 0.3, 0.4
  EXPECT_NEAR(log(result->estimate), 0.3, 1e-12);
  const double half = t_quantile(0.975, 2) * 0.1 / std::sqrt(3.0);
  EXPECT_NEAR(log(result->upper), 0.3 + half, 1e-12);
  EXPECT_NEAR(log(result->lower), 0.3 - half, 1e-12);
  EXPECT_EQ(result->batches_used, 3);
  EXPECT_EQ(result->batches_dropped, 0);
  EXPECT_THAT(result->gate.reasons, Contains("too_few_batches"));
}

TEST(GeometricMean, the_gate_tests_the_distance_to_the_cap_in_fine_steps) {
  const double log_cap = log(1.2);
  const auto result = geometric_mean(
      {constant_case({log_cap + 0.03, log_cap + 0.02, log_cap - 0.010001})}, 3, 0.95, {.cap = 1.2});
  ASSERT_TRUE(result);
  const double mean = 0.039999 / 3;
  const double sd = std::sqrt(
      (std::pow(0.03 - mean, 2) + std::pow(0.02 - mean, 2) + std::pow(-0.010001 - mean, 2)) / 2);
  EXPECT_NEAR(result->gate.test.t, mean / (sd / std::sqrt(3.0)), 1e-9);
  // Of the eight sign choices only + + + lies above the one seen.
  EXPECT_EQ(result->gate.test.p_flip_up, 0.25);
  ASSERT_EQ(result->gate.test.sums.size(), 3U);
  EXPECT_EQ(result->gate.test.sums[0], 1048576);
  EXPECT_EQ(result->gate.test.sums[1], 699051);
  EXPECT_EQ(result->gate.test.sums[2], -349560);
}

TEST(GeometricMean, weights_count) {
  const auto result = geometric_mean(
      {constant_case({0.1, 0.1001}, 3), constant_case({0.5, 0.5001}, 1)}, 2, 0.95, {.cap = 1.0});
  ASSERT_TRUE(result);
  EXPECT_NEAR(log(result->estimate), 0.2 + 0.00005, 1e-12);
}

TEST(GeometricMean, issue_23_a_batch_that_misses_a_case_is_dropped_and_named) {
  std::vector<double> values;
  for (int b = 0; b < 9; ++b)
    values.push_back(0.1 + 0.001 * b);
  GeomeanCase holes = constant_case(values);
  std::erase_if(holes.pairs.batch, [](int b) { return b == 4; });
  holes.pairs.x.resize(holes.pairs.batch.size());
  const auto result = geometric_mean({constant_case(values), holes}, 9, 0.95, {.cap = 1.05});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->batches_used, 8);
  EXPECT_EQ(result->batches_dropped, 1);
  EXPECT_EQ(result->gate.verdict, Verdict::fail);
  EXPECT_THAT(result->gate.reasons, Contains("incomplete_batch"));
}

TEST(GeometricMean, below_two_complete_batches_there_is_none) {
  EXPECT_FALSE(geometric_mean({constant_case({0.1})}, 1, 0.95, {.cap = 1.0}));
  GeomeanCase empty;
  EXPECT_FALSE(geometric_mean({constant_case({0.1, 0.2}), empty}, 2, 0.95, {.cap = 1.0}));
}

TEST(GeometricMean, the_gate_mirrors_for_lower_is_bad) {
  const std::vector<double> values(10, -0.2);
  std::vector<double> spread = values;
  for (std::size_t b = 0; b < spread.size(); ++b)
    spread[b] += 0.001 * static_cast<double>(b);
  const auto result =
      geometric_mean({constant_case(spread)}, 10, 0.95, {.cap = 0.9, .direction = Direction::down});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->gate.verdict, Verdict::fail);
  EXPECT_EQ(result->gate.test.p_flip_down, std::ldexp(1.0, -10));
}

}  // namespace
}  // namespace assay::stats
