#include "assay/stats/prediction.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <cmath>

namespace assay::stats {
namespace {

// Smallest b in [first, limit] with reached(b); reached is false up to some b and true from there.
template <typename Predicate>
std::optional<int> first_reached(int first, int limit, const Predicate& reached) {
  if (first > limit)
    return std::nullopt;
  int below = first - 1;
  int step = 1;
  int b = first;
  while (!reached(b)) {
    if (b == limit)
      return std::nullopt;
    below = b;
    step *= 2;
    b = step < limit - first ? first + step : limit;
  }
  while (b - below > 1) {
    const int middle = below + (b - below) / 2;
    (reached(middle) ? b : below) = middle;
  }
  return b;
}

// 9 / 14.68: the 90 % point of chi-square with 9 degrees of freedom, for the width seen at B0.
constexpr double kOptimisticShare = 0.61;

}  // namespace

double decision_probability(double r, int b0, int b) {
  ASSAY_CHECK(r >= 0 && b0 >= 2 && b > b0, "a decision is predicted for more batches than seen");
  const double u = static_cast<double>(b0) / b;
  const double t = t_quantile(0.975, b - 1.0) * std::sqrt(u);
  const double s = std::sqrt(1 - u);
  return t_cdf((r - t) / s, b0 - 1.0) + t_cdf((-r - t) / s, b0 - 1.0);
}

std::optional<int> batches_for_probability(double r, int b0, double p, int limit) {
  return first_reached(b0 + 1, limit, [&](int b) { return decision_probability(r, b0, b) >= p; });
}

double predicted_half_width(double hw0, int b0, int b, double level) {
  ASSAY_CHECK(hw0 >= 0 && b0 >= 2 && b >= 2, "a width is predicted from two batches or more");
  const double q = (1 + level) / 2;
  const double s1 = hw0 * std::sqrt(static_cast<double>(b0)) / t_quantile(q, b0 - 1.0);
  return t_quantile(q, b - 1.0) * s1 / std::sqrt(static_cast<double>(b));
}

std::optional<int> batches_for_half_width(double hw0, int b0, double target, double level,
                                          int limit) {
  return first_reached(2, limit,
                       [&](int b) { return predicted_half_width(hw0, b0, b, level) <= target; });
}

bool host_cannot_resolve(double hw0, int b0, double delta, int budget) {
  const std::optional<int> needed = batches_for_half_width(hw0, b0, delta);
  return !needed || kOptimisticShare * *needed > budget;
}

}  // namespace assay::stats
