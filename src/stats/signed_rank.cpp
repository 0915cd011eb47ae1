#include "assay/stats/signed_rank.h"

#include "rank_sums.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kHalvings = 40;

// Doubles in numeric order as integers, so that a bisection over them ends after 64 steps.
std::uint64_t order_key(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v);
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
double from_order_key(std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((key & kSign) != 0 ? key & ~kSign : ~key);
}

// Number of i <= j with x[i] + x[j] <= limit; x ascending. Rounding is monotone, so the two-pointer
// walk is exact for the rounded sums.
std::uint64_t count_sums(const std::vector<double>& x, double limit) {
  std::uint64_t count = 0;
  std::size_t end = x.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    while (end > i && x[i] + x[end - 1] > limit)
      --end;
    if (end <= i)
      break;
    count += end - i;
  }
  return count;
}

// The smallest x[i] + x[j], i <= j, above `limit`.
double next_sum(const std::vector<double>& x, double limit) {
  double best = kInfinity;
  std::size_t end = x.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    while (end > i && x[i] + x[end - 1] > limit)
      --end;
    const std::size_t j = std::max(end, i);
    if (j < x.size())
      best = std::min(best, x[i] + x[j]);
  }
  return best;
}

// The k-th smallest (from 1) of the sums x[i] + x[j], i <= j.
double select_sum(const std::vector<double>& x, std::uint64_t k) {
  std::uint64_t lo = order_key(x.front() + x.front());
  std::uint64_t hi = order_key(x.back() + x.back());
  while (lo < hi) {
    const std::uint64_t mid = lo + (hi - lo) / 2;
    if (count_sums(x, from_order_key(mid)) >= k)
      hi = mid;
    else
      lo = mid + 1;
  }
  return from_order_key(lo);
}

Pairs without_batch(const Pairs& pairs, int removed) {
  Pairs rest;
  rest.batches = pairs.batches - 1;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs.batch[i] == removed)
      continue;
    rest.x.push_back(pairs.x[i]);
    rest.batch.push_back(pairs.batch[i] - (pairs.batch[i] > removed ? 1 : 0));
  }
  return rest;
}

std::vector<double> as_doubles(const std::vector<std::int64_t>& sums) {
  return {sums.begin(), sums.end()};
}

}  // namespace

namespace detail {

RankedPairs::RankedPairs(const Pairs& pairs) : batches_(pairs.batches) {
  ASSAY_CHECK(pairs.x.size() == pairs.batch.size(), "every pair has a batch");
  std::vector<std::pair<double, int>> sorted(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ASSAY_CHECK(pairs.batch[i] >= 0 && pairs.batch[i] < batches_, "batch ids are 0..batches-1");
    sorted[i] = {pairs.x[i], pairs.batch[i]};
  }
  std::sort(sorted.begin(), sorted.end());
  x_.reserve(sorted.size());
  batch_.reserve(sorted.size());
  for (const auto& [x, batch] : sorted) {
    x_.push_back(x);
    batch_.push_back(batch);
  }
}

std::vector<std::int64_t> RankedPairs::sums(double c, double tie) const {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(batches_), 0);
  const std::size_t n = x_.size();
  auto right = static_cast<std::size_t>(std::lower_bound(x_.begin(), x_.end(), c) - x_.begin());
  std::size_t left = right;  // the next smaller value is at left - 1
  while (left > 0 || right < n) {
    const double below = left > 0 ? c - x_[left - 1] : kInfinity;
    const double above = right < n ? x_[right] - c : kInfinity;
    const double distance = std::min(below, above);
    const std::size_t done = n - left - (n - right);
    std::size_t new_left = left;
    while (new_left > 0 && c - x_[new_left - 1] <= distance + tie)
      --new_left;
    std::size_t new_right = right;
    while (new_right < n && x_[new_right] - c <= distance + tie)
      ++new_right;
    const std::size_t ties = left - new_left + new_right - right;
    const auto rank2 = static_cast<std::int64_t>(2 * done + ties + 1);
    const bool at_c = distance <= tie;  // neither above nor below
    for (std::size_t i = new_left; i < left && !at_c; ++i)
      sums[static_cast<std::size_t>(batch_[i])] -= rank2;
    for (std::size_t i = right; i < new_right && !at_c; ++i)
      sums[static_cast<std::size_t>(batch_[i])] += rank2;
    left = new_left;
    right = new_right;
  }
  return sums;
}

double t_statistic(const std::vector<double>& values) {
  ASSAY_CHECK(values.size() >= 2, "a t statistic needs two batches");
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double v : values)
    mean += v;
  mean /= n;
  double squares = 0;
  for (const double v : values)
    squares += (v - mean) * (v - mean);
  const double sd = std::sqrt(squares / (n - 1));
  if (sd == 0)
    return mean > 0 ? 1e9 : (mean < 0 ? -1e9 : 0);
  return mean / (sd / std::sqrt(n));
}

CapTest make_cap_test(double t, std::vector<std::int64_t> sums) {
  CapTest test;
  if (sums.size() >= 2) {
    const auto df = static_cast<double>(sums.size() - 1);
    test.t = t;
    const double tail = t_cdf(-std::fabs(t), df);
    test.p_t_up = t > 0 ? tail : 1 - tail;
    test.p_t_down = t < 0 ? tail : 1 - tail;
  }
  if (!sums.empty()) {
    const FlipResult flip = sign_flip(sums);
    test.p_flip_up = flip.p_up();
    test.p_flip_down = flip.p_down();
  }
  test.sums = std::move(sums);
  return test;
}

std::size_t heaviest(const std::vector<std::int64_t>& sums) {
  std::size_t best = 0;
  for (std::size_t b = 1; b < sums.size(); ++b)
    if (std::abs(sums[b]) > std::abs(sums[best]))
      best = b;
  return best;
}

}  // namespace detail

std::vector<std::int64_t> signed_rank_sums(const Pairs& pairs, double c) {
  return detail::RankedPairs(pairs).sums(c, detail::kTie);
}

double batch_t(const std::vector<std::int64_t>& sums) {
  return detail::t_statistic(as_doubles(sums));
}

double hodges_lehmann(std::vector<double> x) {
  ASSAY_CHECK(!x.empty(), "the Hodges-Lehmann estimate of nothing");
  std::sort(x.begin(), x.end());
  const std::uint64_t n = x.size();
  const std::uint64_t total = n * (n + 1) / 2;
  const std::uint64_t k = (total + 1) / 2;
  const double lower = select_sum(x, k);
  if (total % 2 == 1)
    return lower / 2;
  const double upper = count_sums(x, lower) > k ? lower : next_sum(x, lower);
  return (lower / 2 + upper / 2) / 2;
}

SignedRankInterval signed_rank_interval(const Pairs& pairs, double level) {
  ASSAY_CHECK(pairs.size() > 0, "an interval needs at least one pair");
  ASSAY_CHECK(level > 0 && level < 1, "a level lies between 0 and 1");
  SignedRankInterval interval;
  interval.level = level;
  interval.estimate = hodges_lehmann(pairs.x);
  interval.lower = -kInfinity;
  interval.upper = kInfinity;
  if (pairs.batches < 2)
    return interval;
  const detail::RankedPairs ranked(pairs);
  const double limit = t_quantile((1 + level) / 2, pairs.batches - 1.0);
  const auto t_at = [&](double c) { return batch_t(ranked.sums(c, 0)); };
  // T is constant beyond the sample: where it does not reject there, it never does.
  const auto outward = [&](double outside, auto rejected) {
    if (!rejected(outside))
      return outside < interval.estimate ? -kInfinity : kInfinity;
    double inside = interval.estimate;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (inside + outside) / 2;
      (rejected(middle) ? outside : inside) = middle;
    }
    return std::clamp(outside, ranked.min(), ranked.max());
  };
  interval.lower =
      outward(std::nextafter(ranked.min(), -kInfinity), [&](double c) { return t_at(c) > limit; });
  interval.upper =
      outward(std::nextafter(ranked.max(), kInfinity), [&](double c) { return t_at(c) < -limit; });
  return interval;
}

CapTest detail::test_sums(std::vector<std::int64_t> sums) {
  const double t = sums.size() >= 2 ? batch_t(sums) : 0;
  return make_cap_test(t, std::move(sums));
}

CapTest test_at(const Pairs& pairs, double log_cap) {
  return detail::test_sums(signed_rank_sums(pairs, log_cap));
}

CapTest test_without_heaviest_batch(const Pairs& pairs, double log_cap) {
  const std::vector<std::int64_t> sums = signed_rank_sums(pairs, log_cap);
  if (sums.empty())
    return {};
  return test_at(without_batch(pairs, static_cast<int>(detail::heaviest(sums))), log_cap);
}

}  // namespace assay::stats
