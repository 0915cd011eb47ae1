// The exact distribution of a sum of batch values when every batch's sign is a fair coin.
//
// With A_b = |S_b| / gcd, M = sum A_b and W = the sum of the A_b whose coin came up negative,
// sum* = M - 2 W. So P(sum* > observed) = P(W < K) and P(sum* == observed) = P(W == K) with
// K = (M - observed) / 2; by symmetry K <= M / 2 can be had, and only W <= K matters.
#include "double_double.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace assay::stats {
namespace {

using Values = std::vector<std::int64_t>;

// 16 MiB of probabilities.
constexpr std::int64_t kMaxConvolution = std::int64_t{1} << 21;
constexpr std::size_t kMaxExactBatches = 50;
// Beyond this many batches the rounding would eat up the whole distribution, in minutes.
constexpr std::size_t kMaxRoundedBatches = 2048;
// Two sorted lists of 2^20 sums; further batches are enumerated outside them.
constexpr std::size_t kHalfBatches = 20;

struct Below {
  double less = 0;   // P(W < k)
  double equal = 0;  // P(W == k)
};

// d[w] = P(W == w) for w <= limit, carried as probabilities: no overflow at any number of batches.
std::vector<double> convolve(Values a, std::int64_t limit) {
  // Small steps first: the occupied part of the list grows late.
  std::sort(a.begin(), a.end());
  std::vector<double> d(static_cast<std::size_t>(limit) + 1, 0.0);
  d[0] = 1;
  std::int64_t top = 0;
  for (const std::int64_t step : a) {
    if (step == 0)
      continue;
    top = std::min(limit, top + step);
    const auto s = static_cast<std::size_t>(std::min(step, limit + 1));
    for (std::size_t k = static_cast<std::size_t>(top) + 1; k-- > s;)
      d[k] = d[k] / 2 + d[k - s] / 2;
    for (std::size_t k = 0; k < std::min(s, d.size()); ++k)
      d[k] /= 2;
  }
  return d;
}

double total(const std::vector<double>& d, std::size_t end) {
  detail::Dd sum{0, 0};
  for (std::size_t k = 0; k < end; ++k)
    sum = detail::add(sum, d[k]);
  return sum.hi;
}

Below by_convolution(const Values& a, std::int64_t k) {
  const std::vector<double> d = convolve(a, k);
  return {total(d, static_cast<std::size_t>(k)), d.back()};
}

// All subset sums of a[begin, end), ascending: each step merges the list with itself shifted.
Values subset_sums(const Values& a, std::size_t begin, std::size_t end) {
  Values sums{0};
  for (std::size_t b = begin; b < end; ++b) {
    Values next(sums.size() * 2);
    std::size_t i = 0;
    std::size_t j = 0;
    for (std::int64_t& slot : next) {
      const bool plain = j == sums.size() || (i < sums.size() && sums[i] <= sums[j] + a[b]);
      slot = plain ? sums[i++] : sums[j++] + a[b];
    }
    sums = std::move(next);
  }
  return sums;
}

// Meet in the middle: counts subsets by two sorted lists walked against each other.
Below by_enumeration(Values a, std::int64_t k) {
  std::sort(a.begin(), a.end(), std::greater<>());
  const std::size_t outer = a.size() > 2 * kHalfBatches ? a.size() - 2 * kHalfBatches : 0;
  const std::size_t middle = outer + (a.size() - outer) / 2;
  const Values offsets = subset_sums(a, 0, outer);
  const Values left = subset_sums(a, outer, middle);
  const Values right = subset_sums(a, middle, a.size());
  std::uint64_t less = 0;
  std::uint64_t up_to = 0;
  for (const std::int64_t offset : offsets) {
    std::size_t j = right.size();
    std::size_t i = right.size();
    for (const std::int64_t value : left) {
      const std::int64_t rest = k - offset - value;
      while (j > 0 && right[j - 1] >= rest)
        --j;
      while (i > 0 && right[i - 1] > rest)
        --i;
      if (i == 0)
        break;
      less += j;
      up_to += i;
    }
  }
  double scale = 1;
  for (std::size_t b = 0; b < a.size(); ++b)
    scale /= 2;
  return {static_cast<double>(less) * scale, static_cast<double>(up_to - less) * scale};
}

// Both tails rounded up: with Q_b = floor(A_b / unit), unit * WQ <= W <= unit * WQ + rest.
Below by_outward_rounding(const Values& a, std::int64_t k) {
  const std::int64_t unit = k / kMaxConvolution + 1;
  Values q;
  std::int64_t rest = 0;
  for (const std::int64_t value : a) {
    q.push_back(value / unit);
    rest += value % unit;
  }
  const std::int64_t high = k / unit;
  const std::int64_t low = k > rest ? (k - rest + unit - 1) / unit : 0;
  const std::vector<double> d = convolve(q, high);
  const double less = total(d, static_cast<std::size_t>(low));
  return {less, total(d, d.size()) - less};
}

// Hoeffding's inequality, P(W <= k) <= exp(-2 (M/2 - k)^2 / sum A_b^2), Journal of the American
// Statistical Association 58 (1963), theorem 2. Twice the bound stands on the equal sum, so that
// neither tail nor the mid-p, which takes half of it, is ever too small.
Below by_bound(const Values& a, std::int64_t k) {
  double sum = 0;
  double squares = 0;
  for (const std::int64_t value : a) {
    const auto v = static_cast<double>(value);
    sum += v;
    squares += v * v;
  }
  const double distance = sum / 2 - static_cast<double>(k);
  return {0, std::min(1.0, 2 * exp(-2 * distance * distance / squares))};
}

Below below(const Values& a, std::int64_t k) {
  double list_cost = 1;
  for (std::size_t b = 0; b < (a.size() + 1) / 2 && list_cost < 1e12; ++b)
    list_cost *= 2;
  const double convolution_cost = static_cast<double>(k) * static_cast<double>(a.size());
  if (a.size() <= 2 * kHalfBatches && (list_cost * 4 < convolution_cost || k > kMaxConvolution))
    return by_enumeration(a, k);
  if (k <= kMaxConvolution)
    return by_convolution(a, k);
  if (a.size() <= kMaxExactBatches)
    return by_enumeration(a, k);
  return a.size() <= kMaxRoundedBatches ? by_outward_rounding(a, k) : by_bound(a, k);
}

}  // namespace

FlipResult sign_flip(const std::vector<std::int64_t>& sums) {
  ASSAY_CHECK(!sums.empty(), "the sign-flip test needs at least one batch");
  Values a;
  std::int64_t gcd = 0;
  std::int64_t observed = 0;
  for (const std::int64_t s : sums) {
    a.push_back(std::abs(s));
    gcd = std::gcd(gcd, a.back());
    observed += s;
  }
  if (gcd == 0)
    return {0, 1};
  std::int64_t m = 0;
  for (std::int64_t& value : a) {
    value /= gcd;
    m += value;
  }
  observed /= gcd;
  const std::int64_t k = (m - observed) / 2;
  if (2 * k <= m) {
    const Below b = below(a, k);
    return {b.less, b.equal};
  }
  const Below b = below(a, m - k);  // of the mirrored sums
  return {1 - (b.less + b.equal), b.equal};
}

}  // namespace assay::stats
