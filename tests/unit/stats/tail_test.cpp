#include "assay/stats/tail.h"

#include "assay/stats/math.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Clean times near 100 with a fixed small wobble, different on both sides.
TailData clean(int batches, int size) {
  TailData data;
  data.batches = batches;
  for (int b = 0; b < batches; ++b)
    for (int i = 0; i < size; ++i) {
      data.reference.push_back(100 + (b * 3 + i * 7) % 11 * 0.1);
      data.candidate.push_back(100 + (b * 5 + i * 4) % 11 * 0.1);
      data.batch.push_back(b);
    }
  return data;
}

TEST(Tail, slow_runs_of_the_candidate_alone_fail) {
  TailData data = clean(20, 6);
  for (std::size_t i = 0; i < data.candidate.size(); i += 17)
    data.candidate[i] *= 2;  // 8 of 120, in different batches
  const TailResult result = judge_tail(data);
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_LE(result.p_fail, 0.05);
  EXPECT_EQ(result.candidate_slow, 8);
  EXPECT_EQ(result.reference_slow, 0);
  EXPECT_NEAR(result.slow_share, 8 / 240.0, 1e-15);
  EXPECT_GT(result.excess, 0.04);
  EXPECT_THAT(result.reasons, IsEmpty());
}

TEST(Tail, slow_runs_of_the_reference_alone_do_not_fail_the_candidate) {
  TailData data = clean(20, 6);
  for (std::size_t i = 0; i < data.reference.size(); i += 17)
    data.reference[i] *= 2;
  const TailResult result = judge_tail(data);
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_GT(result.p_fail, 0.95);
}

TEST(Tail, no_slow_runs_at_all_pass_with_the_published_statistic) {
  const TailResult result = judge_tail(clean(20, 6));
  EXPECT_EQ(result.verdict, Verdict::pass);
  // b = c = 0: w = ((sqrt(q^2 + 0) - q) / 2A = 0, Z = -N d / sqrt(N d (1 - d)).
  EXPECT_NEAR(result.pass_statistic, -120 * 0.05 / std::sqrt(120 * 0.05 * 0.95), 1e-12);
  EXPECT_NEAR(result.pass_limit, -1.7291, 5e-5);
}

TEST(Tail, a_true_shift_of_every_run_is_no_tail) {
  TailData data = clean(20, 6);
  TailData shifted = data;
  for (double& t : shifted.candidate)
    t *= 1.5;
  EXPECT_EQ(judge_tail(shifted).verdict, judge_tail(data).verdict);
  EXPECT_NEAR(judge_tail(shifted).p_fail, judge_tail(data).p_fail, 1e-12);
  EXPECT_EQ(judge_tail(shifted).candidate_slow, 0);
}

TEST(Tail, fewer_than_72_pairs_never_pass) {
  const TailResult sixty = judge_tail(clean(10, 6));
  EXPECT_EQ(sixty.verdict, Verdict::inconclusive);
  EXPECT_THAT(sixty.reasons, ElementsAre("tail_needs_more_pairs"));
  EXPECT_EQ(judge_tail(clean(12, 6)).verdict, Verdict::pass);
  // Here the score alone would pass.
  const TailResult seventy = judge_tail(clean(10, 7));
  ASSERT_LE(seventy.pass_statistic, seventy.pass_limit);
  EXPECT_EQ(seventy.verdict, Verdict::inconclusive);
}

TEST(Tail, slow_means_above_1_1_times_the_own_sides_median) {
  TailData data = clean(20, 6);
  const double typical = median(data.candidate);
  data.candidate[0] = 1.11 * typical;
  data.candidate[1] = 1.09 * typical;
  EXPECT_EQ(judge_tail(data).candidate_slow, 1);
  EXPECT_EQ(judge_tail(data).reference_slow, 0);
}

TEST(Tail, too_many_slow_runs_on_both_sides_hide_a_tail) {
  TailData data = clean(20, 6);
  for (std::size_t i = 0; i < data.candidate.size(); i += 6) {
    data.candidate[i] *= 1.3;
    data.reference[i] *= 1.3;
  }
  const TailResult result = judge_tail(data);
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_THAT(result.reasons, ElementsAre("tail_not_resolvable"));
}

TEST(Tail, slow_runs_that_cluster_in_a_few_batches_weaken_the_pass) {
  TailData spread = clean(24, 6);
  TailData clustered = spread;
  for (int k = 0; k < 6; ++k) {
    spread.reference[static_cast<std::size_t>(k * 24)] *= 2;  // one in every fourth batch
    clustered.reference[static_cast<std::size_t>(k)] *= 2;    // all six in the first
  }
  EXPECT_GT(judge_tail(clustered).pass_statistic, judge_tail(spread).pass_statistic);
}

TEST(Tail, six_batches_of_four_pairs_are_the_least) {
  const TailResult five = judge_tail(clean(5, 12));
  EXPECT_EQ(five.verdict, Verdict::inconclusive);
  EXPECT_THAT(five.reasons, ElementsAre("too_few_batches"));
  const TailResult thin = judge_tail(clean(20, 3));
  EXPECT_EQ(thin.verdict, Verdict::inconclusive);
  EXPECT_THAT(thin.reasons, ElementsAre("tail_needs_more_pairs"));
  TailData tailed = clean(6, 4);
  for (std::size_t i = 0; i < tailed.candidate.size(); i += 4)
    tailed.candidate[i] *= 2;
  EXPECT_EQ(judge_tail(tailed).verdict, Verdict::fail);
}

TEST(Tail, equal_times_are_no_alarm_even_where_sums_round) {
  TailData data = clean(20, 6);
  for (double& t : data.candidate)
    t = 0.1;
  for (double& t : data.reference)
    t = 0.3;
  const TailResult result = judge_tail(data);
  EXPECT_EQ(result.p_fail, 1);
  EXPECT_EQ(result.excess, 0);
  EXPECT_EQ(result.verdict, Verdict::pass);
}

TEST(TailPower, published_points_come_out_and_more_pairs_find_more) {
  EXPECT_NEAR(tail_power(60).five_percent_doubled, 0.42, 1e-12);
  EXPECT_NEAR(tail_power(120).five_percent_doubled, 0.84, 1e-12);
  EXPECT_NEAR(tail_power(60).one_percent_tripled, 0.08, 1e-12);
  EXPECT_NEAR(tail_power(120).one_percent_tripled, 0.15, 1e-12);
  EXPECT_NEAR(tail_power(540).one_percent_tripled, 0.80, 1e-12);
  EXPECT_NEAR(tail_power(660).one_percent_tripled, 0.90, 1e-12);
  double last = 0;
  for (int pairs = 24; pairs < 2000; pairs += 6) {
    const TailPower power = tail_power(pairs);
    ASSERT_GT(power.five_percent_doubled, last);
    ASSERT_LE(power.five_percent_doubled, 1);
    ASSERT_LT(power.one_percent_tripled, power.five_percent_doubled);
    last = power.five_percent_doubled;
  }
  EXPECT_EQ(tail_power(23).five_percent_doubled, 0);
}

}  // namespace
}  // namespace assay::stats
