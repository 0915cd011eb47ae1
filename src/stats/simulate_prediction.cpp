#include "gate_rule.h"
#include "noise.h"

#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/prediction.h"
#include "assay/stats/signed_rank.h"
#include "assay/stats/simulate.h"

#include <cmath>

namespace assay::stats {
namespace {

using detail::Counters;
using detail::NormalSource;

constexpr std::uint64_t kErrorSalt = 6;
constexpr std::uint64_t kPredictionSalt = 7;
constexpr SimulatedLayout kFirst{10, 6};
constexpr int kMaxBatches = 640;
constexpr int kErrorReplications = 2000;
// Sums of doubles would depend on the order of the threads; these steps do not.
constexpr double kFixedPoint = 0x1p40;

enum Counter { kInconclusive, kBeyond, kDecided, kWrong, kPredicted40, kDecided40, kCounters };

std::uint64_t fixed_point(double value) {
  return static_cast<std::uint64_t>(std::llround(value * kFixedPoint));
}

// The t test alone: what rule 2a predicts. Above 20 batches the gate differs by 0.3 points of
// power, and its exact flip over 640 batches would take most of the time.
Verdict decide(const Pairs& pairs, double log_cap) {
  const double t = batch_t(signed_rank_sums(pairs, log_cap));
  if (t_cdf(-std::fabs(t), pairs.batches - 1.0) >= kOneSidedAlpha)
    return Verdict::inconclusive;
  return t > 0 ? Verdict::fail : Verdict::pass;
}

// The standard error of the estimate at 10 x 6, per cell.
std::vector<double> standard_errors(const SimulationOptions& options,
                                    const std::vector<PredictionCell>& cells) {
  SimulationOptions pilot = options;
  pilot.replications = kErrorReplications;
  const auto counters = detail::replicate(
      pilot, {kErrorSalt, static_cast<int>(cells.size()), 1},
      [&](int cell, int, NormalSource& source, Counters& counts) {
        const PredictionCell& c = cells[static_cast<std::size_t>(cell)];
        const detail::NoiseSettings settings{kFirst, c.noise, c.batch_sd, {}, {}};
        const double e =
            hodges_lehmann(detail::simulate_pairs(settings, source).pairs(kFirst.batches).x);
        counts[0] += fixed_point(e * e);
      });
  std::vector<double> errors;
  for (const Counters& c : counters)
    errors.push_back(std::sqrt(static_cast<double>(c[0]) / kFixedPoint / kErrorReplications));
  return errors;
}

// `distance` is the truth minus the cap, on the log scale.
void extend(const detail::SimulatedPairs& data, double distance, Counters& counts) {
  const Pairs first = data.pairs(kFirst.batches);
  const CapTest test = test_at(first, -distance);
  if (detail::decide(test, Direction::up, kOneSidedAlpha) != Verdict::inconclusive)
    return;
  ++counts[kInconclusive];
  const double r = std::fabs(test.t);
  counts[kPredicted40] += fixed_point(decision_probability(r, kFirst.batches, 40));
  counts[kDecided40] += decide(data.pairs(40), -distance) != Verdict::inconclusive ? 1 : 0;
  const auto b80 = batches_for_probability(r, kFirst.batches, 0.8, kMaxBatches);
  if (!b80) {
    ++counts[kBeyond];
    return;
  }
  const Verdict verdict = decide(data.pairs(*b80), -distance);
  counts[kDecided] += verdict != Verdict::inconclusive ? 1 : 0;
  const bool wrong =
      (verdict == Verdict::fail && distance < 0) || (verdict == Verdict::pass && distance > 0);
  counts[kWrong] += wrong ? 1 : 0;
}

}  // namespace

std::vector<PredictionCell> simulate_prediction(const SimulationOptions& options) {
  std::vector<PredictionCell> cells;
  for (const Noise noise : {Noise::lognormal, Noise::outliers, Noise::bimodal})
    for (const double sd : {0.0, 0.005, 0.01}) {
      cells.emplace_back();
      cells.back().noise = noise;
      cells.back().batch_sd = sd;
    }
  const std::vector<double> errors = standard_errors(options, cells);
  const auto counters = detail::replicate(
      options, {kPredictionSalt, static_cast<int>(cells.size()), kCounters},
      [&](int cell, int, NormalSource& source, Counters& counts) {
        const PredictionCell& c = cells[static_cast<std::size_t>(cell)];
        const double distance = (6 * source.uniform() - 3) * errors[static_cast<std::size_t>(cell)];
        const detail::NoiseSettings settings{
            {kMaxBatches, kFirst.pairs}, c.noise, c.batch_sd, {}, {}};
        extend(detail::simulate_pairs(settings, source), distance, counts);
      });
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Counters& c = counters[i];
    cells[i].inconclusive = static_cast<int>(c[kInconclusive]);
    cells[i].beyond_limit = static_cast<int>(c[kBeyond]);
    const double all = std::max(1.0, static_cast<double>(c[kInconclusive]));
    const double extended = std::max(1.0, static_cast<double>(c[kInconclusive] - c[kBeyond]));
    cells[i].decided = static_cast<double>(c[kDecided]) / extended;
    cells[i].wrong = static_cast<double>(c[kWrong]) / extended;
    cells[i].predicted_at_40 = static_cast<double>(c[kPredicted40]) / kFixedPoint / all;
    cells[i].decided_at_40 = static_cast<double>(c[kDecided40]) / all;
  }
  return cells;
}

}  // namespace assay::stats
