// Double-double arithmetic: a value is the unevaluated sum hi + lo, |lo| <= ulp(hi) / 2.
//
// Only IEEE add, multiply and divide, so that every compiler and CPU gives the same bits; products
// are split after Dekker because a fused multiply-add may not exist. Needs -ffp-contract=off.
#pragma once

namespace assay::stats::detail {

struct Dd {
  double hi = 0;
  double lo = 0;
};

// Exact: a + b == hi + lo.
constexpr Dd two_sum(double a, double b) {
  const double s = a + b;
  const double bb = s - a;
  return {s, (a - (s - bb)) + (b - bb)};
}

// Exact for |a| >= |b| or a == 0.
constexpr Dd fast_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

constexpr Dd split(double a) {
  const double t = 134217729.0 * a;  // 2^27 + 1
  const double hi = t - (t - a);
  return {hi, a - hi};
}

// Exact for |a|, |b| < 2^996 whose product does not underflow: a * b == hi + lo.
constexpr Dd two_prod(double a, double b) {
  const double p = a * b;
  const Dd x = split(a);
  const Dd y = split(b);
  return {p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

constexpr Dd add(Dd a, Dd b) {
  Dd s = two_sum(a.hi, b.hi);
  const Dd t = two_sum(a.lo, b.lo);
  s = fast_two_sum(s.hi, s.lo + t.hi);
  return fast_two_sum(s.hi, s.lo + t.lo);
}
constexpr Dd add(Dd a, double b) {
  return add(a, Dd{b, 0});
}
constexpr Dd negate(Dd a) {
  return {-a.hi, -a.lo};
}
constexpr Dd sub(Dd a, Dd b) {
  return add(a, negate(b));
}

constexpr Dd mul(Dd a, Dd b) {
  Dd p = two_prod(a.hi, b.hi);
  p.lo += a.hi * b.lo + a.lo * b.hi;
  return fast_two_sum(p.hi, p.lo);
}
constexpr Dd mul(Dd a, double b) {
  return mul(a, Dd{b, 0});
}

constexpr Dd div(Dd a, Dd b) {
  const double q = a.hi / b.hi;
  const Dd r = sub(a, mul(b, q));
  const double q2 = r.hi / b.hi;
  const Dd r2 = sub(r, mul(b, q2));
  const Dd s = fast_two_sum(q, q2);
  return fast_two_sum(s.hi, s.lo + r2.hi / b.hi);
}

// Natural logarithm, relative error about 2^-68. x > 0 and finite.
Dd log_dd(double x);
// Of x.hi + x.lo, x.hi > 0.
Dd log_dd(Dd x);

}  // namespace assay::stats::detail
