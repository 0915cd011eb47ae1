#include "assay/stats/diagnostics.h"

#include "rank_sums.h"

#include "assay/base/random.h"
#include "assay/base/result.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::stats {
namespace {

constexpr double kOutlierFactor = 14.826;  // ten standard deviations of clean noise
constexpr int kPermutations = 999;

double two_sided(double t, double df) {
  return std::min(1.0, 2 * t_cdf(-std::fabs(t), df));
}

std::vector<std::vector<double>> by_batch(const std::vector<double>& values, const Pairs& pairs) {
  std::vector<std::vector<double>> batches(static_cast<std::size_t>(pairs.batches));
  for (std::size_t i = 0; i < values.size(); ++i)
    batches[static_cast<std::size_t>(pairs.batch[i])].push_back(values[i]);
  return batches;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values)
    sum += v;
  return sum / static_cast<double>(values.size());
}

double neighbour_products(const std::vector<double>& centred) {
  double sum = 0;
  for (std::size_t i = 1; i < centred.size(); ++i)
    sum += centred[i] * centred[i - 1];
  return sum;
}

}  // namespace

Outliers outliers(const std::vector<double>& values, double relative_floor) {
  Outliers result;
  if (values.empty())
    return result;
  const double centre = median(values);
  std::vector<double> distances;
  for (const double v : values)
    distances.push_back(std::fabs(v - centre));
  const double floor =
      std::max(relative_floor * std::fabs(centre), std::numeric_limits<double>::denorm_min());
  result.threshold = kOutlierFactor * std::max(median(std::move(distances)), floor);
  for (const double v : values) {
    if (v - centre > result.threshold)
      ++result.high;
    else if (centre - v > result.threshold)
      ++result.low;
  }
  return result;
}

std::optional<Lag1> lag1(const std::vector<double>& values, std::uint64_t seed) {
  if (values.size() < 4)
    return std::nullopt;
  std::vector<double> x = values;
  const double low = percentile(x, 0.10);
  const double high = percentile(x, 0.90);
  for (double& v : x)
    v = std::clamp(v, low, high);
  const double centre = mean(x);
  double squares = 0;
  for (double& v : x) {
    v -= centre;
    squares += v * v;
  }
  if (low == high || squares == 0)
    return std::nullopt;
  const double seen = neighbour_products(x);
  // Orders with the same products may differ in the last bits of the sum.
  const double at_least = seen - 1e-12 * squares;
  Xoshiro256 random(seed);
  int reached = 1;
  for (int i = 0; i < kPermutations; ++i) {
    random.shuffle(x);
    reached += neighbour_products(x) >= at_least ? 1 : 0;
  }
  return Lag1{seen / squares, static_cast<double>(reached) / (kPermutations + 1)};
}

std::optional<OrderEffect> order_effect(const Pairs& pairs,
                                        const std::vector<bool>& candidate_first) {
  ASSAY_CHECK(pairs.size() == candidate_first.size(), "every pair has an order");
  if (pairs.batches < 2)
    return std::nullopt;
  OrderEffect result;
  // Without the overall ratio, an uneven number of orders would show the ratio as an effect.
  const double centre = hodges_lehmann(pairs.x);
  std::vector<double> second_over_first;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double x = pairs.x[i] - centre;
    second_over_first.push_back(candidate_first[i] ? -x : x);
    ++(candidate_first[i] ? result.candidate_first : result.reference_first);
  }
  if (result.candidate_first == 0 || result.reference_first == 0)
    return std::nullopt;
  result.effect = mean(second_over_first);
  std::vector<double> batch_means;
  for (const std::vector<double>& batch : by_batch(second_over_first, pairs))
    batch_means.push_back(mean(batch));
  result.t = detail::t_statistic(batch_means);
  result.p = two_sided(result.t, pairs.batches - 1.0);
  return result;
}

Variance variance(const Pairs& pairs) {
  Variance result;
  const auto n = static_cast<double>(pairs.size());
  const double within_df = n - pairs.batches;
  if (pairs.batches < 2 || within_df < 1)
    return result;
  const double centre = mean(pairs.x);
  double within = 0;
  double between = 0;
  double square_sizes = 0;
  for (const std::vector<double>& batch : by_batch(pairs.x, pairs)) {
    const double batch_mean = mean(batch);
    const auto size = static_cast<double>(batch.size());
    for (const double v : batch)
      within += (v - batch_mean) * (v - batch_mean);
    between += size * (batch_mean - centre) * (batch_mean - centre);
    square_sizes += size * size;
  }
  const double between_df = pairs.batches - 1.0;
  const double typical_size = (n - square_sizes / n) / between_df;
  const double pair_variance = within / within_df;
  const double batch_variance =
      std::max(0.0, (between / between_df - pair_variance) / typical_size);
  result.known = true;
  result.pair_sd = std::sqrt(pair_variance);
  result.batch_sd = std::sqrt(batch_variance);
  const double total = pair_variance + batch_variance;
  result.batch_share = total > 0 ? batch_variance / total : 0;
  return result;
}

std::optional<Trend> trend(const Pairs& pairs) {
  if (pairs.batches < 3)
    return std::nullopt;
  std::vector<double> y;
  for (std::vector<double>& batch : by_batch(pairs.x, pairs))
    y.push_back(hodges_lehmann(std::move(batch)));
  const double centre = mean(y);
  const double middle = (pairs.batches - 1.0) / 2;
  double sxx = 0;
  double sxy = 0;
  for (std::size_t b = 0; b < y.size(); ++b) {
    const double x = static_cast<double>(b) - middle;
    sxx += x * x;
    sxy += x * (y[b] - centre);
  }
  Trend result;
  result.per_batch = sxy / sxx;
  double residual = 0;
  for (std::size_t b = 0; b < y.size(); ++b) {
    const double e = y[b] - centre - result.per_batch * (static_cast<double>(b) - middle);
    residual += e * e;
  }
  const double df = pairs.batches - 2.0;
  const double error = std::sqrt(residual / df / sxx);
  if (result.per_batch == 0)
    return result;
  result.p = error > 0 ? two_sided(result.per_batch / error, df) : 0;
  return result;
}

}  // namespace assay::stats
