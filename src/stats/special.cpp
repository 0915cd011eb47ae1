// Beta, t and normal distributions on the deterministic log and exp.
//
// Exponents are formed in double-double, so the relative error is that of the continued fraction,
// about 1e-14, also for thousands of degrees of freedom.
#include "double_double.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <cmath>
#include <utility>

namespace assay::stats {
namespace {

using detail::add;
using detail::Dd;
using detail::div;
using detail::log_dd;
using detail::mul;
using detail::sub;
using detail::two_prod;
using detail::two_sum;

constexpr double kHalf = 0.5;
constexpr Dd kHalfLn2Pi{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
constexpr double kTiny = 1e-300;

double exp(Dd x) {
  return stats::exp(x.hi) * (1 + x.lo);
}

// log Gamma(z), z > 0, absolute error about 1e-19 * max(1, |value|): recurrence up to 20, Stirling.
Dd log_gamma(double z) {
  Dd product{1, 0};
  Dd shifted{z, 0};
  while (shifted.hi < 20) {
    product = mul(product, shifted);
    shifted = add(shifted, 1.0);
  }
  const double i = 1 / shifted.hi;
  const double i2 = i * i;
  const double series =
      i *
      (1.0 / 12 -
       i2 * (1.0 / 360 -
             i2 * (1.0 / 1260 - i2 * (1.0 / 1680 - i2 * (1.0 / 1188 - i2 * (691.0 / 360360 -
                                                                            i2 * (1.0 / 156)))))));
  Dd result = mul(add(shifted, -kHalf), log_dd(shifted));
  result = add(sub(result, shifted), kHalfLn2Pi);
  result = add(result, series);
  return sub(result, log_dd(product));
}

Dd log_beta(double a, double b) {
  return sub(add(log_gamma(a), log_gamma(b)), log_gamma(a + b));
}

// I_x(a, b) / (x^a y^b / B(a, b)), y = 1 - x, by the even part of its continued fraction
// (Didonato and Morris, 1992, formula 11). In terms of a y - b x nothing cancels where x and the
// mean a / (a + b) are close.
double beta_fraction(double x, double y, double a, double b) {
  const auto guard = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  const double lambda = a * y - b * x;
  const auto term = [&](double m) {
    return m + m * (b - m) * x / (a + 2 * m - 1) +
           (a + m) * (lambda + 1 + m * (1 + y)) / (a + 2 * m + 1);
  };
  double f = guard(a * (lambda + 1) / (a + 1));
  double c = f;
  double d = 0;
  for (int i = 1; i < 200000; ++i) {
    const double m = i;
    const double root = x / (a + 2 * m - 1);
    const double numerator = (a + m - 1) * (a + b + m - 1) * m * (b - m) * root * root;
    const double denominator = term(m);
    d = 1 / guard(denominator + numerator * d);
    c = guard(denominator + numerator / c);
    const double change = c * d;
    f *= change;
    if (std::fabs(change - 1) < 0x1p-52)
      break;
  }
  return 1 / f;
}

// I_x(a, b) with x + y == 1 given both in double and by their logarithms.
struct BetaPoint {
  double x, y;
  Dd log_x, log_y;
};
double log_weight_exp(const BetaPoint& p, double a, double b, Dd lbeta) {
  return exp(sub(add(mul(p.log_x, a), mul(p.log_y, b)), lbeta));
}
double regularized_beta(const BetaPoint& p, double a, double b, Dd lbeta) {
  const double weight = log_weight_exp(p, a, b, lbeta);
  if (p.x < (a + 1) / (a + b + 2))
    return weight * beta_fraction(p.x, p.y, a, b);
  return 1 - weight * beta_fraction(p.y, p.x, b, a);
}

BetaPoint beta_point(double x) {
  const Dd y = two_sum(1, -x);
  return {x, y.hi, log_dd(x), log_dd(y)};
}

// Root of an increasing g in (lo, hi] by Newton steps kept inside a shrinking bracket.
template <typename Function>  // pair{g(x), g'(x)}
double solve_increasing(double lo, double hi, const Function& function) {
  double x = lo + (hi - lo) / 2;
  for (int i = 0; i < 200; ++i) {
    const auto [g, slope] = function(x);
    if (g == 0)
      return x;
    (g < 0 ? lo : hi) = x;
    double next = x - g / slope;
    if (!(next > lo && next < hi))
      next = lo + (hi - lo) / 2;
    const double step = std::fabs(next - x);
    x = next;
    if (step <= 0x1p-50 * std::fabs(x))
      break;
  }
  return x;
}

// Student's t as an incomplete beta function of x = df / (df + t^2), y = t^2 / (df + t^2).
class StudentT {
 public:
  explicit StudentT(double df) : df_(df), lbeta_(log_beta(df / 2, kHalf)), log_df_(log_dd(df)) {}

  // P(T > t), t > 0, small values to full relative accuracy.
  double tail(double t) const {
    const BetaPoint p = point(t);
    return regularized_beta(p, df_ / 2, kHalf, lbeta_) / 2;
  }
  // P(0 < T < t), t > 0, small values to full relative accuracy.
  double centre(double t) const {
    const BetaPoint p = point(t);
    return regularized_beta({p.y, p.x, p.log_y, p.log_x}, kHalf, df_ / 2, lbeta_) / 2;
  }
  double density(double t) const {
    const BetaPoint p = point(t);
    Dd e = mul(p.log_x, (df_ + 1) / 2);
    e = sub(e, lbeta_);
    return exp(sub(e, mul(log_df_, kHalf)));
  }

 private:
  BetaPoint point(double t) const {
    if (t > 1e100) {  // t^2 would overflow; df is nothing beside it
      const Dd log_t2 = mul(log_dd(t), 2.0);
      return {df_ / t / t, 1, sub(log_df_, log_t2), {0, 0}};
    }
    if (t < 1e-100)
      return {1, 0, {0, 0}, sub(mul(log_dd(t), 2.0), log_df_)};
    const Dd t2 = two_prod(t, t);
    const Dd sum = add(t2, df_);
    const Dd log_sum = log_dd(sum);
    return {div(Dd{df_, 0}, sum).hi, div(t2, sum).hi, sub(log_df_, log_sum),
            sub(log_dd(t2), log_sum)};
  }
  double df_;
  Dd lbeta_;
  Dd log_df_;
};

}  // namespace

double normal_cdf(double z) {
  if (z != z)
    return z;
  const double a = std::fabs(z);
  if (a > 39)
    return z > 0 ? 1 : 0;
  const Dd square = two_prod(a, a);
  const double density = exp(sub(Dd{-square.hi / 2, -square.lo / 2}, kHalfLn2Pi));
  if (a < 2.5) {
    double term = a;
    double sum = a;
    for (int n = 3; term > sum * 0x1p-56; n += 2) {
      term *= a * a / n;
      sum += term;
    }
    return z >= 0 ? kHalf + density * sum : kHalf - density * sum;
  }
  double fraction = 0;  // 1/(z + 1/(z + 2/(z + 3/(z + ...)))), from the far end
  for (int n = 200; n >= 1; --n)
    fraction = n / (a + fraction);
  const double tail = density / (a + fraction);
  return z > 0 ? 1 - tail : tail;
}

double t_cdf(double t, double df) {
  ASSAY_CHECK(df > 0, "t_cdf needs positive degrees of freedom");
  if (t != t)
    return t;
  if (t == 0)
    return kHalf;
  const double a = std::fabs(t);
  if (a > 1e300)
    return t > 0 ? 1 : 0;
  const StudentT student(df);
  if (t < 0)
    return student.tail(a);
  return kHalf + student.centre(a);
}

double t_quantile(double p, double df) {
  ASSAY_CHECK(p > 0 && p < 1 && df >= 1, "t_quantile needs 0 < p < 1 and df >= 1");
  if (p == kHalf)
    return 0;
  if (p > kHalf)
    return -t_quantile(1 - p, df);
  const StudentT student(df);
  // Near the middle the distance from one half carries the accuracy, in the tail p itself.
  const bool central = p > 0.25;
  const double target = central ? kHalf - p : p;
  const auto excess = [&](double t) {
    return central ? student.centre(t) - target : target - student.tail(t);
  };
  double hi = 1;
  while (excess(hi) < 0 && hi < 1e300)
    hi *= 2;
  double lo = hi / 2;
  while (excess(lo) > 0 && lo > 1e-300) {
    hi = lo;
    lo /= 2;
  }
  return -solve_increasing(lo, hi,
                           [&](double t) { return std::pair(excess(t), student.density(t)); });
}

double beta_cdf(double x, double a, double b) {
  ASSAY_CHECK(a > 0 && b > 0, "beta_cdf needs a > 0 and b > 0");
  if (!(x > 0))
    return x != x ? x : 0;
  if (x >= 1)
    return 1;
  return regularized_beta(beta_point(x), a, b, log_beta(a, b));
}

double beta_quantile(double p, double a, double b) {
  ASSAY_CHECK(p >= 0 && p <= 1 && a > 0 && b > 0, "beta_quantile needs p in [0, 1], a > 0, b > 0");
  if (p == 0 || p == 1)
    return p;
  const Dd lbeta = log_beta(a, b);
  const auto cdf = [&](double x) { return regularized_beta(beta_point(x), a, b, lbeta); };
  double lo = kHalf;
  double hi = 1;
  while (cdf(lo) > p && lo > 1e-300) {
    hi = lo;
    lo /= 2;
  }
  return solve_increasing(lo, hi, [&](double x) {
    const BetaPoint point = beta_point(x);
    const double density = log_weight_exp(point, a, b, lbeta) / (point.x * point.y);
    return std::pair(regularized_beta(point, a, b, lbeta) - p, density);
  });
}

}  // namespace assay::stats
