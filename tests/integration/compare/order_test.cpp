// Who runs first: interleaved, balanced, reported, and without a say in the estimate.
#include "harness.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>

namespace assay::testing_compare {
namespace {

class Order : public CompareTest {};

TEST_F(Order, issue_01_the_journal_shows_an_interleaved_order) {
  compare({"--batches", "4", "--pairs", "4", "-w", "0", "true", "true"});
  std::vector<std::string> sides;
  int reference_first = 0;
  for (const Json& sample : samples()) {
    sides.push_back(sample.at("side").get<std::string>());
    if (sample.at("position") == 0 && sides.back() == "reference")
      ++reference_first;
  }
  ASSERT_EQ(sides.size(), 32U);
  for (std::size_t i = 0; i < sides.size(); i += 2)
    EXPECT_NE(sides[i], sides[i + 1]) << "each pair holds one run of each side";
  EXPECT_EQ(reference_first, 8) << "half of the pairs";
  int pairs = 0;
  for (const Json& event : lines("events.jsonl"))
    pairs += event.at("type") == "pair_end" ? 1 : 0;
  EXPECT_EQ(pairs, 16);
}

std::int64_t cpu_ns(const Json& sample) {
  return sample.at("user_ns").get<std::int64_t>() + sample.at("system_ns").get<std::int64_t>();
}

// The same program on both sides, but the first process of every pair takes 5 % longer. Judged by
// CPU time, of which the program takes a stated amount by its own clock: that is as much on a busy
// machine as on a quiet one, and what is left to chance (exec, exit) is a small part of it. Wall
// time would be the load of the machine.
TEST_F(Order, issue_02_a_penalty_for_the_first_of_each_pair_does_not_bias_the_estimate) {
  constexpr std::int64_t kWorkMs = 30;
  constexpr std::int64_t kPenalised = kWorkMs * 1050000;
  const std::string work = payload("burn " + path("count") + " " + std::to_string(kWorkMs) + " 5");
  const Finished done = compare({"--batches", "10", "--pairs", "4", "-w", "0", work, work});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  int unpenalised = 0;
  for (const Json& sample : samples()) {
    if (sample.at("position") == 0)
      EXPECT_GE(cpu_ns(sample), kPenalised) << "the first of a pair";
    else
      unpenalised += cpu_ns(sample) < kPenalised ? 1 : 0;
  }
  EXPECT_GT(unpenalised, 20) << "most of the 40 second runs: the penalty is there";
  const Json made = report();
  const double estimate = made.at("verdicts").at("cpu").at("estimate");
  const Json effect = made.at("cases").at(0).at("diagnostics").at("order_effect");
  std::printf("figure: estimate %.4f, order effect %s\n", estimate, effect.dump().c_str());
  EXPECT_NEAR(estimate, 1.0, 0.01);
  ASSERT_FALSE(effect.is_null());
  EXPECT_EQ(effect.at("candidate_first"), 20);
  EXPECT_EQ(effect.at("reference_first"), 20);
}

}  // namespace
}  // namespace assay::testing_compare
