#include "gate_rule.h"
#include "rank_sums.h"

#include "assay/base/result.h"
#include "assay/stats/gate.h"
#include "assay/stats/math.h"

#include <algorithm>
#include <cmath>

namespace assay::stats {
namespace {

constexpr double kFlipSteps = 1048576;  // 2^20

// z_b = weighted mean over cases of the case's Hodges-Lehmann value in batch b, complete batches
// only.
std::vector<double> batch_means(const std::vector<GeomeanCase>& cases, int batches) {
  std::vector<std::vector<std::vector<double>>> values(
      cases.size(), std::vector<std::vector<double>>(static_cast<std::size_t>(batches)));
  double weights = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    ASSAY_CHECK(cases[k].weight > 0, "a weight is positive");
    weights += cases[k].weight;
    const Pairs& pairs = cases[k].pairs;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      ASSAY_CHECK(pairs.batch[i] >= 0 && pairs.batch[i] < batches, "batch ids are 0..batches-1");
      values[k][static_cast<std::size_t>(pairs.batch[i])].push_back(pairs.x[i]);
    }
  }
  std::vector<double> z;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batches); ++b) {
    double sum = 0;
    bool complete = true;
    for (std::size_t k = 0; k < cases.size() && complete; ++k) {
      complete = !values[k][b].empty();
      if (complete)
        sum += cases[k].weight * hodges_lehmann(values[k][b]);
    }
    if (complete)
      z.push_back(sum / weights);
  }
  return z;
}

// t on z - log cap, and the flip on the same values in 2^20 integer steps.
CapTest test_means(const std::vector<double>& z, double log_cap) {
  std::vector<double> centred;
  double largest = 0;
  for (const double value : z) {
    centred.push_back(value - log_cap);
    largest = std::max(largest, std::fabs(centred.back()));
  }
  std::vector<std::int64_t> steps;
  for (const double value : centred)
    steps.push_back(largest > 0 ? std::llround(kFlipSteps * (value / largest)) : 0);
  const double t = z.size() >= 2 ? detail::t_statistic(centred) : 0;
  return detail::make_cap_test(t, std::move(steps));
}

}  // namespace

std::optional<GeomeanResult> geometric_mean(const std::vector<GeomeanCase>& cases, int batches,
                                            double level, const GateOptions& gate) {
  ASSAY_CHECK(!cases.empty() && batches >= 0, "a geometric mean needs a case");
  ASSAY_CHECK(gate.cap > 0 && level > 0 && level < 1, "a cap is positive, a level in (0, 1)");
  std::vector<double> z = batch_means(cases, batches);
  if (z.size() < 2)
    return std::nullopt;
  GeomeanResult result;
  result.batches_used = static_cast<int>(z.size());
  result.batches_dropped = batches - result.batches_used;
  const auto n = static_cast<double>(z.size());
  double mean = 0;
  for (const double value : z)
    mean += value;
  mean /= n;
  double squares = 0;
  for (const double value : z)
    squares += (value - mean) * (value - mean);
  const double half = t_quantile((1 + level) / 2, n - 1) * std::sqrt(squares / (n - 1) / n);
  result.estimate = exp(mean);
  result.lower = exp(mean - half);
  result.upper = exp(mean + half);
  const double log_cap = log(gate.cap);
  CapTest test = test_means(z, log_cap);
  z.erase(z.begin() + static_cast<std::ptrdiff_t>(detail::heaviest(test.sums)));
  result.gate = detail::conclude(std::move(test), test_means(z, log_cap), gate);
  if (result.batches_dropped > 0)
    result.gate.reasons.emplace_back("incomplete_batch");
  return result;
}

}  // namespace assay::stats
