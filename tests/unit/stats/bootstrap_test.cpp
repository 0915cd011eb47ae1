#include "assay/stats/bootstrap.h"

#include "assay/base/random.h"
#include "assay/stats/math.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace assay::stats {
namespace {

using Batches = std::vector<std::vector<double>>;

// Draw by draw with whole medians: slow, and with nothing in common but the order of the draws.
struct Plain {
  std::map<std::string, std::vector<double>> medians;
  std::vector<double> means;
};
template <typename Choose>  // choose(n, count) -> that many indices below n
Plain plain_draws(const std::map<std::string, Batches>& cases, int draws, Choose choose) {
  Plain result;
  for (int t = 0; t < draws; ++t) {
    const std::size_t batches = cases.begin()->second.size();
    const std::vector<std::size_t> chosen = choose(batches, batches);
    double logs = 0;
    for (const auto& [name, data] : cases) {
      std::vector<double> drawn;
      for (const std::size_t b : chosen)
        for (const std::size_t i : choose(data[b].size(), data[b].size()))
          drawn.push_back(data[b][i]);
      result.medians[name].push_back(median(drawn));
      logs += log(result.medians[name].back());
    }
    result.means.push_back(exp(logs / static_cast<double>(cases.size())));
  }
  return result;
}

std::map<std::string, Batches> example() {
  Xoshiro256 random(31);
  std::map<std::string, Batches> cases;
  for (const char* name : {"delta", "alpha", "mid"}) {
    Batches batches;
    for (int b = 0; b < 4; ++b) {
      batches.emplace_back();
      for (int i = 0; i < 3 + b; ++i)
        batches.back().push_back(1 + std::floor(40 * random.uniform()) / 100);
    }
    cases[name] = batches;
  }
  return cases;
}

void compare(const BootstrapResult& got, const Plain& expected, double level) {
  std::size_t k = 0;
  for (const auto& [name, medians] : expected.medians) {
    EXPECT_EQ(got.cases[k].name, name);
    EXPECT_EQ(got.cases[k].lower, percentile(medians, (1 - level) / 2));
    EXPECT_EQ(got.cases[k].upper, percentile(medians, (1 + level) / 2));
    ++k;
  }
  EXPECT_EQ(got.geomean.lower, percentile(expected.means, (1 - level) / 2));
  EXPECT_EQ(got.geomean.upper, percentile(expected.means, (1 + level) / 2));
}

std::vector<BootstrapCase> as_cases(const std::map<std::string, Batches>& cases) {
  std::vector<BootstrapCase> result;
  for (const auto& [name, batches] : cases)
    result.insert(result.begin(), {name, batches});  // not in name order
  return result;
}

// Plain resampling with the generator of CPython.
Plain python_draws(const std::map<std::string, Batches>& cases, int draws, std::uint64_t seed) {
  PythonRandom random(seed);
  return plain_draws(cases, draws, [&](std::size_t n, std::size_t count) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < count; ++i)
      indices.push_back(random.choice_index(n));
    return indices;
  });
}

TEST(Bootstrap, rank_counting_gives_the_limits_of_plain_resampling_with_the_python_generator) {
  const Plain expected = python_draws(example(), 500, 77);
  BootstrapOptions options;
  options.draws = 500;
  options.seed = 77;
  compare(hierarchical_bootstrap(as_cases(example()), options), expected, 0.95);
}

TEST(Bootstrap, cases_of_every_size_and_spread_give_the_limits_of_plain_resampling) {
  // From one pair to more than a byte counts; batches that differ put medians far from the middle.
  for (const std::size_t pairs : {1U, 2U, 7U, 30U, 70U}) {
    Xoshiro256 noise(pairs);
    std::map<std::string, Batches> cases;
    for (int b = 0; b < 5; ++b) {
      cases["close"].emplace_back();
      cases["apart"].emplace_back();
      for (std::size_t i = 0; i < pairs; ++i) {
        cases["close"].back().push_back(1 + noise.uniform());
        cases["apart"].back().push_back(1 + b + 0.01 * noise.uniform());
      }
    }
    const Plain expected = python_draws(cases, 200, 79);
    BootstrapOptions options;
    options.draws = 200;
    options.seed = 79;
    compare(hierarchical_bootstrap(as_cases(cases), options), expected, 0.95);
  }
}

// Large cases are counted in two steps; batches far apart put medians into every bin, and equal
// ratios share one rank.
TEST(Bootstrap, large_cases_give_the_limits_of_plain_resampling) {
  for (const std::size_t pairs : {821U, 3000U}) {
    Xoshiro256 noise(pairs);
    std::map<std::string, Batches> cases;
    for (int b = 0; b < 5; ++b) {
      cases["close"].emplace_back();
      cases["apart"].emplace_back();
      cases["equal"].emplace_back();
      // Batches of several sizes: a draw's number of pairs is odd or even.
      for (std::size_t i = 0; i < pairs + static_cast<std::size_t>(b); ++i) {
        cases["close"].back().push_back(1 + noise.uniform());
        cases["apart"].back().push_back(1 + b + 0.01 * noise.uniform());
        cases["equal"].back().push_back(1 + 0.125 * static_cast<double>(noise.below(3)));
      }
    }
    const Plain expected = python_draws(cases, 60, 80);
    BootstrapOptions options;
    options.draws = 60;
    options.seed = 80;
    compare(hierarchical_bootstrap(as_cases(cases), options), expected, 0.95);
  }
}

TEST(Bootstrap, each_draw_is_counted_for_progress) {
  std::vector<std::int64_t> seen;
  BootstrapOptions options;
  options.draws = 3;
  options.drawn = [&seen](std::int64_t done) { seen.push_back(done); };
  hierarchical_bootstrap(as_cases(example()), options);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Bootstrap, splitmix_takes_two_choices_per_output_high_half_first) {
  SplitMix64 random(78);
  const Plain expected = plain_draws(example(), 500, [&](std::size_t n, std::size_t count) {
    std::vector<std::size_t> indices;
    while (indices.size() < count) {
      const std::uint64_t z = random.next();
      indices.push_back(((z >> 32) * n) >> 32);
      if (indices.size() < count)
        indices.push_back(((z & 0xffffffffU) * n) >> 32);
    }
    return indices;
  });
  BootstrapOptions options;
  options.draws = 500;
  options.seed = 78;
  options.level = 0.9;
  options.generator = BootstrapGenerator::splitmix64;
  compare(hierarchical_bootstrap(as_cases(example()), options), expected, 0.9);
}

TEST(Bootstrap,
     a_fixture_with_answers_from_the_original_algorithm_in_python_matches_to_the_last_digit) {
  // Times of 3 batches x 4 pairs; expected values computed with CPython's random.choices.
  const Batches ratios = {{220 / 154.0, 223 / 155.0, 219 / 153.0, 231 / 156.0},
                          {225 / 150.0, 218 / 151.0, 221 / 157.0, 222 / 152.0},
                          {240 / 160.0, 233 / 158.0, 219 / 149.0, 228 / 161.0}};
  BootstrapOptions options;
  options.seed = 20260906;
  const BootstrapInterval interval =
      hierarchical_bootstrap({{"fib", ratios}}, options).cases.front();
  EXPECT_EQ(interval.estimate, 1.4521174625304984);
  EXPECT_EQ(interval.lower, 1.4299719887955182);
  EXPECT_EQ(interval.upper, 1.4807692307692308);
}

TEST(Bootstrap, the_estimate_is_the_median_over_all_pairs_and_the_mean_is_geometric) {
  const BootstrapResult result =
      hierarchical_bootstrap({{"b", {{2, 2}, {2, 2}}}, {"a", {{0.5, 8}, {0.5, 8}}}}, {});
  EXPECT_EQ(result.cases[0].name, "a");
  EXPECT_EQ(result.cases[0].estimate, 4.25);
  EXPECT_EQ(result.cases[1].estimate, 2);
  EXPECT_NEAR(result.geomean.estimate, std::sqrt(8.5), 1e-15);
  EXPECT_EQ(result.cases[1].lower, 2);
  EXPECT_EQ(result.cases[1].upper, 2);
}

TEST(Bootstrap, one_pair_in_one_batch_gives_a_point) {
  const BootstrapInterval interval = hierarchical_bootstrap({{"x", {{1.25}}}}, {}).cases.front();
  EXPECT_EQ(interval.estimate, 1.25);
  EXPECT_EQ(interval.lower, 1.25);
  EXPECT_EQ(interval.upper, 1.25);
}

TEST(Bootstrap, cases_share_the_batches_of_a_draw) {
  // Two cases that are mirror images: with shared batches the geometric mean never moves.
  const BootstrapResult result = hierarchical_bootstrap(
      {{"a", {{4, 4}, {1, 1}, {2, 2}}}, {"b", {{0.25, 0.25}, {1, 1}, {0.5, 0.5}}}}, {});
  EXPECT_EQ(result.geomean.lower, 1);
  EXPECT_EQ(result.geomean.upper, 1);
  EXPECT_LT(result.cases[0].lower, result.cases[0].upper);
}

TEST(ReplayedOrder, every_batch_shuffles_a_fresh_copy_of_the_cases_and_every_pair_its_sides) {
  PythonRandom random(5);
  const std::vector<ReplayedPair> order = replay_evaluator_order({"x", "y", "z"}, 2, 1, 2, 5);
  ASSERT_EQ(order.size(), 2U * 3U * 3U);
  std::size_t at = 0;
  for (int batch = 0; batch < 2; ++batch) {
    std::vector<std::string> cases{"x", "y", "z"};
    random.shuffle(cases);
    for (const std::string& name : cases)
      for (int i = 0; i < 3; ++i) {
        const bool candidate_first = random.below(2) == 1;  // a shuffle of two keeps or swaps
        const ReplayedPair& pair = order[at++];
        EXPECT_EQ(pair.batch, batch);
        EXPECT_EQ(pair.case_name, name);
        EXPECT_EQ(pair.warmup, i == 0);
        EXPECT_EQ(pair.pair, i == 0 ? 0 : i - 1);
        EXPECT_EQ(pair.candidate_first, candidate_first);
      }
  }
}

TEST(ReplayedOrder, the_first_pairs_of_a_published_seed_match_the_original_order) {
  // From CPython: Random(20260906), cases [fib, wordcount], sides [candidate, reference], 3
  // warm-ups.
  std::string sides;
  for (const ReplayedPair& pair : replay_evaluator_order({"fib", "wordcount"}, 3, 3, 20, 20260906))
    if (pair.case_name == "fib" && !pair.warmup)
      sides += pair.candidate_first ? 'c' : 'r';
  EXPECT_EQ(sides, "rcrrrccrrrrrrccrrccrrrrcrcrrcrrrcrccrrccrccrrrcccccrrrrcrrrc");
}

}  // namespace
}  // namespace assay::stats
