// Deterministic special functions: the same bits on every CPU, compiler and libm.
//
// Built from IEEE add, multiply, divide and sqrt only (glibc's log and exp give other last bits on
// CPUs without FMA). Accuracy is tested against MPFR and Boost.Math. Pure, thread safe.
#pragma once

#include <vector>

namespace assay::stats {

// Natural logarithm, error < 0.52 ulp. x > 0 and finite (checked).
double log(double x);
// Error < 0.52 ulp; underflows to 0 and overflows to infinity like IEEE exp.
double exp(double x);

double normal_cdf(double z);
double t_cdf(double t, double df);
// The t with t_cdf(t, df) == p, 0 < p < 1, df >= 1.
double t_quantile(double p, double df);
// Regularised incomplete beta and its inverse in x.
double beta_cdf(double x, double a, double b);
double beta_quantile(double p, double a, double b);

// Median (even n: mean of the two middle values) and type-7 percentile, q in [0, 1]. values
// non-empty.
double median(std::vector<double> values);
double percentile(std::vector<double> values, double q);
// The same number without a copy; `values` are in another order afterwards.
double percentile_reordering(std::vector<double>& values, double q);

}  // namespace assay::stats
