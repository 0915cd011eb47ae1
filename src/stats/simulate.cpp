#include "assay/stats/simulate.h"

#include "gate_rule.h"
#include "noise.h"
#include "rank_sums.h"

#include "assay/base/result.h"
#include "assay/stats/bootstrap.h"
#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"
#include "assay/stats/tail.h"

#include <cmath>

namespace assay::stats {
namespace {

using detail::Counters;
using detail::NoiseSettings;
using detail::NormalSource;
using detail::share;
using detail::SimulatedPairs;

constexpr std::uint64_t kCoverageSalt = 1;
constexpr std::uint64_t kSuiteSalt = 2;
constexpr std::uint64_t kAdaptiveSalt = 3;

Verdict decide_up(const CapTest& test, double alpha = kOneSidedAlpha) {
  return detail::decide(test, Direction::up, alpha);
}

CapTest test_ranked(const detail::RankedPairs& ranked, double log_cap) {
  return detail::test_sums(ranked.sums(log_cap, detail::kTie));
}

// ---- coverage

enum CoverageCounter {
  kErrorUp,
  kErrorDown,
  kFalseFail,
  kFalsePass,
  kPower,
  kBootstrapHits,
  kCoverageCounters
};

bool bootstrap_covers(const SimulatedPairs& data, int draws, std::uint64_t seed) {
  BootstrapCase input;
  input.batches.resize(static_cast<std::size_t>(data.batches));
  for (std::size_t i = 0; i < data.batch.size(); ++i)
    input.batches[static_cast<std::size_t>(data.batch[i])].push_back(
        exp(data.candidate[i] - data.reference[i]));
  BootstrapOptions options;
  options.draws = draws;
  options.seed = seed;
  options.generator = BootstrapGenerator::splitmix64;
  const BootstrapInterval interval = hierarchical_bootstrap({input}, options).cases.front();
  return interval.lower <= 1 && 1 <= interval.upper;
}

// One data set: the tests at the truth and at `log_effect` below it.
void count_coverage(const SimulatedPairs& data, double log_effect, Counters& counters) {
  const detail::RankedPairs ranked(data.pairs(data.batches));
  const CapTest test = test_ranked(ranked, 0);
  counters[kErrorUp] += test.p_t_up < kOneSidedAlpha ? 1 : 0;
  counters[kErrorDown] += test.p_t_down < kOneSidedAlpha ? 1 : 0;
  const Verdict verdict = decide_up(test);
  counters[kFalseFail] += verdict == Verdict::fail ? 1 : 0;
  counters[kFalsePass] += verdict == Verdict::pass ? 1 : 0;
  // Being `effect` beyond the cap is the same as the cap lying `effect` below the truth.
  counters[kPower] += decide_up(test_ranked(ranked, -log_effect)) == Verdict::fail ? 1 : 0;
}

std::vector<CoverageCell> coverage_cells(bool ratio_drift) {
  std::vector<CoverageCell> cells;
  const auto add = [&](Noise noise) {
    for (const double sd : kGridBatchSds) {
      CoverageCell cell;
      cell.noise = noise;
      cell.batch_sd = sd;
      cells.push_back(cell);
    }
  };
  if (ratio_drift) {
    add(Noise::ratio_drift);
    return cells;
  }
  for (const Noise noise : kGridNoises)
    add(noise);
  return cells;
}

// ---- suite

constexpr int kSuiteCases = 11;
constexpr double kTailAlpha = 0.05;
enum SuiteCounter {
  kRawFail,
  kHolmFail,
  kMeanFail,
  kMeanPass,
  kTailFail,
  kAnyFail,
  kPassBelow,
  kSuiteCounters
};

TailData tail_data(const SimulatedPairs& data) {
  TailData tail;
  tail.batch = data.batch;
  tail.batches = data.batches;
  for (std::size_t i = 0; i < data.batch.size(); ++i) {
    tail.reference.push_back(exp(data.reference[i]));
    tail.candidate.push_back(exp(data.candidate[i]));
  }
  return tail;
}

bool any_at_most(const std::vector<double>& p, double alpha) {
  for (const double value : p)
    if (value <= alpha)
      return true;
  return false;
}

void count_suite(const std::vector<SimulatedPairs>& suite, Counters& counters) {
  const double below = log(1.03);
  const int batches = suite.front().batches;
  std::vector<double> case_p;
  std::vector<double> tail_p;
  std::vector<GeomeanCase> mean_cases;
  bool all_pass_below = true;
  for (const SimulatedPairs& data : suite) {
    const Pairs pairs = data.pairs(batches);
    const detail::RankedPairs ranked(pairs);
    const CapTest test = test_ranked(ranked, 0);
    case_p.push_back(std::max(test.p_t_up, test.p_flip_up));
    all_pass_below = all_pass_below && decide_up(test_ranked(ranked, below)) == Verdict::pass;
    tail_p.push_back(judge_tail(tail_data(data)).p_fail);
    mean_cases.push_back({pairs, 1});
  }
  GateOptions at_cap;
  GateOptions cap_above;
  cap_above.cap = 1.03;
  const Verdict mean = geometric_mean(mean_cases, batches, 0.95, at_cap)->gate.verdict;
  const Verdict mean_below = geometric_mean(mean_cases, batches, 0.95, cap_above)->gate.verdict;
  const bool case_fail = any_at_most(holm(case_p), kOneSidedAlpha);
  const bool tail_fail = any_at_most(holm(tail_p), kTailAlpha);
  counters[kRawFail] += any_at_most(case_p, kOneSidedAlpha) ? 1 : 0;
  counters[kHolmFail] += case_fail ? 1 : 0;
  counters[kMeanFail] += mean == Verdict::fail ? 1 : 0;
  counters[kMeanPass] += mean == Verdict::pass ? 1 : 0;
  counters[kTailFail] += tail_fail ? 1 : 0;
  counters[kAnyFail] += case_fail || tail_fail || mean == Verdict::fail ? 1 : 0;
  counters[kPassBelow] += all_pass_below && mean_below == Verdict::pass ? 1 : 0;
}

// ---- adaptive

enum AdaptiveCounter { kStopFail, kStopPass, kPairs, kAdaptiveCounters };
constexpr int kAdaptivePairs = 6;

void count_adaptive(const SimulatedPairs& data, double log_effect, Counters& counters) {
  for (const int look : kAdaptiveLooks) {
    const CapTest test = test_at(data.pairs(look), -log_effect);
    const Verdict verdict = decide_up(test, kPocockNominalP / 2);
    const bool last = look == data.batches;
    if (verdict == Verdict::inconclusive && !last)
      continue;
    counters[kStopFail] += verdict == Verdict::fail ? 1 : 0;
    counters[kStopPass] += verdict == Verdict::pass ? 1 : 0;
    counters[kPairs] += static_cast<std::uint64_t>(look * kAdaptivePairs);
    return;
  }
}

}  // namespace

std::vector<CoverageCell> simulate_coverage(const SimulationOptions& options,
                                            const CoveragePlan& plan) {
  ASSAY_CHECK(plan.layout.batches >= 2 && plan.layout.pairs >= 1, "a layout needs two batches");
  std::vector<CoverageCell> cells = coverage_cells(plan.ratio_drift);
  const double log_effect = log(1 + plan.effect);
  const int bootstraps =
      plan.bootstrap_draws > 0 ? std::min(options.replications, plan.bootstrap_replications) : 0;
  const std::uint64_t salt = kCoverageSalt + (plan.ratio_drift ? 100 : 0);
  const auto counters = detail::replicate(
      options, {salt, static_cast<int>(cells.size()), kCoverageCounters},
      [&](int cell, int replication, NormalSource& source, Counters& counts) {
        const CoverageCell& c = cells[static_cast<std::size_t>(cell)];
        const NoiseSettings settings{plan.layout, c.noise, c.batch_sd, {}, {}};
        const SimulatedPairs data = detail::simulate_pairs(settings, source);
        count_coverage(data, log_effect, counts);
        if (replication < bootstraps) {
          const auto seed = static_cast<std::uint64_t>(source.uniform() * 0x1p53);
          counts[kBootstrapHits] += bootstrap_covers(data, plan.bootstrap_draws, seed) ? 1 : 0;
        }
      });
  const int n = options.replications;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Counters& c = counters[i];
    cells[i].error_up = share(c[kErrorUp], n);
    cells[i].error_down = share(c[kErrorDown], n);
    cells[i].coverage = 1 - share(c[kErrorUp] + c[kErrorDown], n);
    cells[i].false_fail = share(c[kFalseFail], n);
    cells[i].false_pass = share(c[kFalsePass], n);
    cells[i].both_agree_coverage = 1 - share(c[kFalseFail] + c[kFalsePass], n);
    cells[i].power = share(c[kPower], n);
    if (bootstraps > 0)
      cells[i].bootstrap_coverage = share(c[kBootstrapHits], bootstraps);
  }
  return cells;
}

std::vector<SuiteCell> simulate_suite(const SimulationOptions& options,
                                      const SimulatedLayout& layout) {
  ASSAY_CHECK(layout.batches >= kMinGateBatches, "a suite is gated from eight batches on");
  std::vector<SuiteCell> cells;
  for (const double sd : {0.0, 0.005, 0.01})
    for (const bool shared : {false, true})
      if (sd > 0 || !shared) {
        cells.emplace_back();
        cells.back().batch_sd = sd;
        cells.back().shared_batches = shared;
      }
  const auto counters =
      detail::replicate(options, {kSuiteSalt, static_cast<int>(cells.size()), kSuiteCounters},
                        [&](int cell, int, NormalSource& source, Counters& counts) {
                          const SuiteCell& c = cells[static_cast<std::size_t>(cell)];
                          const NoiseSettings settings{
                              layout, Noise::outliers, c.shared_batches ? 0 : c.batch_sd, {}, {}};
                          std::vector<double> shared;
                          for (int b = 0; b < layout.batches && c.shared_batches; ++b)
                            shared.push_back(c.batch_sd * source.normal());
                          std::vector<SimulatedPairs> suite;
                          for (int k = 0; k < kSuiteCases; ++k)
                            suite.push_back(detail::simulate_pairs(settings, source, shared));
                          count_suite(suite, counts);
                        });
  const int n = options.replications;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Counters& c = counters[i];
    cells[i].any_case_fail_raw = share(c[kRawFail], n);
    cells[i].any_case_fail = share(c[kHolmFail], n);
    cells[i].mean_fail = share(c[kMeanFail], n);
    cells[i].mean_pass = share(c[kMeanPass], n);
    cells[i].any_tail_fail = share(c[kTailFail], n);
    cells[i].any_fail = share(c[kAnyFail], n);
    cells[i].suite_pass_below = share(c[kPassBelow], n);
  }
  return cells;
}

std::vector<AdaptiveCell> simulate_adaptive(const SimulationOptions& options) {
  const SimulatedLayout layout{kAdaptiveLooks[3], kAdaptivePairs};
  std::vector<AdaptiveCell> cells;
  for (const Noise noise : {Noise::lognormal, Noise::outliers})
    for (const double sd : {0.0, 0.005})
      for (const double effect : {0.0, 0.01})
        cells.push_back({noise, sd, effect, 0, 0, 0, layout.batches * layout.pairs});
  const auto counters = detail::replicate(
      options, {kAdaptiveSalt, static_cast<int>(cells.size()), kAdaptiveCounters},
      [&](int cell, int, NormalSource& source, Counters& counts) {
        const AdaptiveCell& c = cells[static_cast<std::size_t>(cell)];
        const NoiseSettings settings{layout, c.noise, c.batch_sd, {}, {}};
        count_adaptive(detail::simulate_pairs(settings, source), log(1 + c.effect), counts);
      });
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].fail = share(counters[i][kStopFail], options.replications);
    cells[i].pass = share(counters[i][kStopPass], options.replications);
    cells[i].mean_pairs = share(counters[i][kPairs], options.replications);
  }
  return cells;
}

}  // namespace assay::stats
