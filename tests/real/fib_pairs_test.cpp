// Published numbers of a real project's measured pairs; skipped where the data folder is missing.
#include "assay/stats/bootstrap.h"
#include "assay/stats/gate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace assay::stats {
namespace {

std::filesystem::path data_folder() {
  const char* given = std::getenv("ASSAY_REAL_DATA");
  return given != nullptr && *given != '\0'
             ? std::filesystem::path(given)
             : std::filesystem::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "data";
}

struct Recorded {
  std::vector<double> reference, candidate;
  std::vector<int> batch;
  std::vector<std::string> order;
};

// batch,pair,order,turbo_ns,rust_ns,turbo_rss,rust_rss
Recorded read_pairs(const std::filesystem::path& path) {
  std::ifstream file(path);
  Recorded result;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(row, cell, ',');)
      cells.push_back(cell);
    result.batch.push_back(std::stoi(cells.at(0)));
    result.order.push_back(cells.at(2));
    result.candidate.push_back(std::stod(cells.at(3)));
    result.reference.push_back(std::stod(cells.at(4)));
  }
  return result;
}

class FibPairs : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path path = data_folder() / "turbo" / "fib-pairs.csv";
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "no turbo/fib-pairs.csv below ASSAY_REAL_DATA (" << data_folder().string()
                   << ")";
    recorded_ = read_pairs(path);
    ASSERT_EQ(recorded_.batch.size(), 60U);
  }
  Recorded recorded_;
};

TEST_F(FibPairs, the_published_interval_comes_out_to_the_last_digit) {
  BootstrapCase fib{"fib", {{}, {}, {}}};
  for (std::size_t i = 0; i < 60; ++i)
    fib.batches.at(static_cast<std::size_t>(recorded_.batch[i]))
        .push_back(recorded_.candidate[i] / recorded_.reference[i]);
  BootstrapOptions options;
  options.seed = 20260906;
  options.draws = 2000;
  const BootstrapResult result = hierarchical_bootstrap({fib}, options);
  for (const BootstrapInterval& interval : {result.cases.front(), result.geomean}) {
    EXPECT_EQ(interval.estimate, 1.4439478697887962);
    EXPECT_EQ(interval.lower, 1.4324858987848403);
    EXPECT_EQ(interval.upper, 1.4618358961885405);
  }
}

TEST_F(FibPairs, the_recorded_order_is_what_the_seed_gives) {
  std::vector<std::string> replayed;
  for (const ReplayedPair& pair : replay_evaluator_order({"fib", "wordcount"}, 3, 3, 20, 20260906))
    if (pair.case_name == "fib" && !pair.warmup)
      replayed.push_back(pair.candidate_first ? "tr" : "rt");
  EXPECT_EQ(replayed, recorded_.order);
}

TEST_F(FibPairs, three_batches_are_reported_but_not_gated) {
  const Pairs pairs = make_pairs(recorded_.reference, recorded_.candidate, recorded_.batch);
  const GateResult gate = judge_gate(pairs, {.cap = 1.15});
  EXPECT_EQ(gate.verdict, Verdict::inconclusive);
  EXPECT_EQ(gate.reasons.front(), "too_few_batches");
  const SignedRankInterval interval = signed_rank_interval(pairs, 0.95);
  EXPECT_GT(interval.estimate, 0.35);
  EXPECT_LT(interval.estimate, 0.38);
}

}  // namespace
}  // namespace assay::stats
