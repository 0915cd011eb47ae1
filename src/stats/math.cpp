#include "assay/stats/math.h"

#include "double_double.h"

#include "assay/base/result.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::stats {
namespace {

using detail::Dd;

constexpr Dd kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// atanh(q) for |q| <= 1/3 by its Taylor series; 2^-110 is reached after 35 terms.
constexpr Dd atanh_series(Dd q) {
  const Dd q2 = detail::mul(q, q);
  Dd power = q;
  Dd sum = q;
  for (int n = 3; n < 75; n += 2) {
    power = detail::mul(power, q2);
    sum = detail::add(sum, detail::div(power, Dd{static_cast<double>(n), 0}));
  }
  return sum;
}

constexpr Dd exp_series(Dd y) {
  Dd term{1, 0};
  Dd sum{1, 0};
  for (int n = 1; n < 32; ++n) {
    term = detail::div(detail::mul(term, y), Dd{static_cast<double>(n), 0});
    sum = detail::add(sum, term);
  }
  return sum;
}

// ---- logarithm: x = 2^k m, m = F + f with F on a grid of 1/128; log F from a table,
// log(1 + f/F) = 2 atanh(f / (m + F)).

// k * kLogLn2Hi is exact for |k| < 2^12.
constexpr double kLogLn2Hi = 0x1.62e42fefa3000p-1;
constexpr double kLogLn2Lo = 0x1.3de6af278ece6p-42;

constexpr std::array<Dd, 129> make_log_table() {
  std::array<Dd, 129> table{};
  for (int j = 1; j < 128; ++j) {
    const Dd q = detail::div(Dd{static_cast<double>(j), 0}, Dd{static_cast<double>(256 + j), 0});
    const Dd a = atanh_series(q);
    table[static_cast<std::size_t>(j)] = {2 * a.hi, 2 * a.lo};
  }
  // The same split as k * ln 2 uses, so that both cancel exactly just below 1.
  table[128] = {kLogLn2Hi, kLogLn2Lo};
  return table;
}
constexpr std::array<Dd, 129> kLogTable = make_log_table();

constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 52) - 1;
constexpr std::uint64_t kOneBits = std::uint64_t{1023} << 52;

// ---- exponential: x = k ln2/64 + r, e^x = 2^(k/64) e^r.

constexpr double kExpStepHi = 0x1.62e42fef80000p-7;  // ln2/64; times k < 2^17 exact
constexpr double kExpStepLo = 0x1.1cf79abc9e3b4p-42;
constexpr double kExpInverseStep = 0x1.71547652b82fep+6;

constexpr std::array<Dd, 64> make_exp_table() {
  std::array<Dd, 64> table{};
  for (int j = 0; j < 64; ++j)
    table[static_cast<std::size_t>(j)] = exp_series(detail::mul(kLn2, j / 64.0));
  return table;
}
constexpr std::array<Dd, 64> kExpTable = make_exp_table();

// 2^e for -1022 <= e <= 1023.
double power_of_two(int e) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}

// (hi + lo) * 2^e with one rounding, also where the result is subnormal; hi in (0.9, 2.1).
double scale(double hi, double lo, int e) {
  if (e >= -1021)
    return e < 1024 ? (hi + lo) * power_of_two(e) : ((hi + lo) * 2) * power_of_two(1023);
  const double edge = power_of_two(-1022 - e);  // * 2^e: the smallest normal number
  const double y = hi + lo;
  if (y >= edge)
    return y * power_of_two(e);
  // Adding the edge moves the rounding to the last bit that a subnormal result has.
  const Dd s = detail::fast_two_sum(edge, hi);
  const double rounded = s.hi + (s.lo + lo);
  return ((rounded - edge) * power_of_two(-600)) * power_of_two(e + 600);
}

}  // namespace

namespace detail {

Dd log_dd(double x) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int k = 0;
  if (bits <= kMantissaMask) {
    bits = std::bit_cast<std::uint64_t>(x * 0x1p54);
    k = -54;
  }
  k += static_cast<int>(bits >> 52) - 1023;
  const double m = std::bit_cast<double>((bits & kMantissaMask) | kOneBits);
  // Any grid point nearby will do.
  const auto j =
      static_cast<std::size_t>((m - 1) * 128 + 0.5);  // NOLINT(bugprone-incorrect-roundings)
  const double grid = 1 + static_cast<double>(j) * 0x1p-7;
  const double f = m - grid;  // exact
  const Dd d = two_sum(m, grid);
  const double s = f / d.hi;
  const Dd sd = two_prod(s, d.hi);
  const double s_lo = (((f - sd.hi) - sd.lo) - s * d.lo) / d.hi;
  const double s2 = s * s;
  const double series = s2 * (1.0 / 3 + s2 * (1.0 / 5 + s2 * (1.0 / 7 + s2 * (1.0 / 9))));
  const double small = 2 * s_lo + 2 * s * series;
  const Dd base = two_sum(k * kLogLn2Hi, kLogTable[j].hi);
  const Dd top = two_sum(base.hi, 2 * s);
  const double low = ((k * kLogLn2Lo + kLogTable[j].lo) + (base.lo + top.lo)) + small;
  return two_sum(top.hi, low);
}

Dd log_dd(Dd x) {
  const Dd l = log_dd(x.hi);
  return add(l, x.lo / x.hi);
}

}  // namespace detail

double log(double x) {
  ASSAY_CHECK(x > 0 && x <= std::numeric_limits<double>::max(),
              "log needs a positive finite number");
  return detail::log_dd(x).hi;
}

double exp(double x) {
  if (x != x)
    return x;
  if (x > 709.79)
    return std::numeric_limits<double>::infinity();
  if (x < -745.14)
    return 0;
  const double kd = std::floor(x * kExpInverseStep + 0.5);
  const int k = static_cast<int>(kd);
  const Dd r = detail::two_sum(x - kd * kExpStepHi, -(kd * kExpStepLo));
  const double h = r.hi;
  const double p =
      h * h *
      (1.0 / 2 +
       h * (1.0 / 6 + h * (1.0 / 24 + h * (1.0 / 120 + h * (1.0 / 720 + h * (1.0 / 5040))))));
  const Dd q = detail::fast_two_sum(h, r.lo + p);
  const Dd t = kExpTable[static_cast<std::size_t>(k & 63)];
  const Dd prod = detail::two_prod(t.hi, q.hi);
  const Dd sum = detail::fast_two_sum(t.hi, prod.hi);
  const double lo = sum.lo + (prod.lo + (t.hi * q.lo + t.lo * (1 + q.hi)));
  return scale(sum.hi, lo, k >> 6);
}

double median(std::vector<double> values) {
  ASSAY_CHECK(!values.empty(), "the median of nothing");
  const std::size_t n = values.size();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (n % 2 == 1)
    return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double percentile_reordering(std::vector<double>& values, double q) {
  ASSAY_CHECK(!values.empty() && q >= 0 && q <= 1, "a percentile needs values and q in [0, 1]");
  const double position = static_cast<double>(values.size() - 1) * q;
  const double floor = std::floor(position);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(floor);
  std::nth_element(values.begin(), at, values.end());
  if (at + 1 == values.end() || position == floor)
    return *at;
  const double next = *std::min_element(at + 1, values.end());
  return *at + (next - *at) * (position - floor);
}

double percentile(std::vector<double> values, double q) {
  return percentile_reordering(values, q);
}

}  // namespace assay::stats
