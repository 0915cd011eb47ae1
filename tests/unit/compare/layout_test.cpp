#include "compare/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Made {
  Layout layout;
  std::string error;
  std::vector<std::string> notices;
};

Made made(const CompareOptions& options, std::size_t cases = 1) {
  Made out;
  auto layout = make_layout(options, cases, out.notices);
  if (layout)
    out.layout = *layout;
  else
    out.error = layout.error().message();
  return out;
}

Made with_runs(int runs) {
  CompareOptions options;
  options.runs = runs;
  return made(options);
}

TEST(Layout, the_default_is_ten_batches_of_six_pairs_and_one_warm_up) {
  const Made m = made({});
  EXPECT_EQ(m.layout.batches, 10);
  EXPECT_EQ(m.layout.pairs, 6);
  EXPECT_EQ(m.layout.warmups, 1);
  EXPECT_THAT(m.layout.looks, IsEmpty());
  EXPECT_THAT(m.notices, IsEmpty());
}

TEST(Layout, a_tail_gate_asks_for_twenty_batches_of_six) {
  CompareOptions options;
  options.gates.tail = true;
  EXPECT_EQ(made(options).layout.batches, 20);
  EXPECT_EQ(made(options).layout.pairs, 6);
}

TEST(Layout, total_runs_are_spread_evenly_over_at_least_eight_batches) {
  for (int runs = 8; runs <= 400; ++runs) {
    const Made m = with_runs(runs);
    const int total = m.layout.batches * m.layout.pairs;
    EXPECT_GE(m.layout.batches, 8) << runs;
    if (m.notices.empty())
      EXPECT_EQ(total, runs);
    else
      EXPECT_TRUE(total > runs && total < runs + 20) << runs;
  }
  EXPECT_EQ(with_runs(60).layout.batches, 10);
  EXPECT_EQ(with_runs(20).layout.batches, 10);
  EXPECT_EQ(with_runs(64).layout.batches, 8);
  EXPECT_EQ(with_runs(13).layout.batches, 13);
}

TEST(Layout, fewer_than_eight_runs_are_batches_of_one_pair) {
  for (int runs = 1; runs < 8; ++runs) {
    EXPECT_EQ(with_runs(runs).layout.batches, runs);
    EXPECT_EQ(with_runs(runs).layout.pairs, 1);
  }
}

TEST(Layout, runs_that_cannot_be_split_evenly_are_rounded_up_with_a_notice) {
  const Made m = with_runs(37);
  EXPECT_EQ(m.layout.batches * m.layout.pairs, 40);
  ASSERT_EQ(m.notices.size(), 1U);
  EXPECT_THAT(m.notices[0], HasSubstr("40 pairs"));
}

TEST(Layout, runs_agree_with_batches_and_pairs_or_are_refused) {
  CompareOptions options;
  options.runs = 24;
  options.batches = 12;
  EXPECT_EQ(made(options).layout.pairs, 2);
  options.batches.reset();
  options.pairs = 3;
  EXPECT_EQ(made(options).layout.batches, 8);
  options.pairs = 5;
  EXPECT_THAT(made(options).error, HasSubstr("multiple of 5"));
  options.batches = 8;
  options.pairs = 2;
  EXPECT_THAT(made(options).error, HasSubstr("--runs"));
}

TEST(Layout, numbers_out_of_range_are_refused_with_their_flag) {
  CompareOptions options;
  options.pairs = 0;
  EXPECT_THAT(made(options).error, HasSubstr("--pairs"));
  options.pairs = -3;
  EXPECT_THAT(made(options).error, HasSubstr("--pairs"));
  options = {};
  options.batches = 0;
  EXPECT_THAT(made(options).error, HasSubstr("--batches"));
  options = {};
  options.warmups = -1;
  EXPECT_THAT(made(options).error, HasSubstr("--warmup"));
  options = {};
  options.batches = 1'000'000;
  options.pairs = 1'000'000;
  EXPECT_THAT(made(options).error, HasSubstr("runs"));
}

TEST(Layout, adaptive_campaigns_look_four_times) {
  CompareOptions options;
  options.adaptive = true;
  EXPECT_THAT(made(options).layout.looks, ElementsAre(8, 12, 16, 20));
  EXPECT_EQ(made(options).layout.batches, 20);
  EXPECT_EQ(made(options).layout.pairs, 6);
  options.batches = 12;
  EXPECT_THAT(made(options).layout.looks, ElementsAre(8, 12));
  options.batches = 10;
  EXPECT_THAT(made(options).error, HasSubstr("--batches"));
}

TEST(Layout, bounds_on_total_pairs_choose_pairs_and_looks) {
  CompareOptions options;
  options.adaptive = true;
  options.max_runs = 60;
  EXPECT_EQ(made(options).layout.pairs, 3);
  EXPECT_EQ(made(options).layout.batches, 20);
  options.min_runs = 48;
  EXPECT_THAT(made(options).layout.looks, ElementsAre(16, 20));
  options.max_runs = 13;
  options.min_runs.reset();
  EXPECT_THAT(made(options).layout.looks, ElementsAre(8, 12));
  options.max_runs = 7;
  EXPECT_THAT(made(options).error, HasSubstr("--max-runs"));
  options.max_runs = 20;
  options.min_runs = 30;
  EXPECT_THAT(made(options).error, HasSubstr("--min-runs"));
}

TEST(Layout, bounds_without_adaptive_and_runs_with_it_are_refused) {
  CompareOptions options;
  options.min_runs = 10;
  EXPECT_THAT(made(options).error, HasSubstr("--adaptive"));
  options = {};
  options.max_runs = 10;
  EXPECT_THAT(made(options).error, HasSubstr("--adaptive"));
  options = {};
  options.adaptive = true;
  options.runs = 60;
  EXPECT_THAT(made(options).error, HasSubstr("--runs"));
}

TEST(Layout, what_cannot_decide_a_gate_is_noted_and_not_refused) {
  CompareOptions options;
  options.batches = 3;
  EXPECT_THAT(made(options).notices, IsEmpty()) << "nothing was gated";
  options.gates.wall_cap = 1.05;
  ASSERT_EQ(made(options).notices.size(), 1U);
  EXPECT_THAT(made(options).notices[0], HasSubstr("too_few_batches"));
  // The smallest p of 8 batches is 2^-8: Holm lets 6 cases fail, not 7.
  options.batches = 8;
  EXPECT_THAT(made(options, 6).notices, IsEmpty());
  ASSERT_EQ(made(options, 7).notices.size(), 1U);
  EXPECT_THAT(made(options, 7).notices[0], HasSubstr("fail_impossible_at_this_layout"));
  options.batches = 10;
  EXPECT_THAT(made(options, 25).notices, IsEmpty());
  EXPECT_EQ(made(options, 26).notices.size(), 1U);
}

}  // namespace
}  // namespace assay::compare
