#include "assay/stats/math.h"

#include "assay/base/random.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay::stats {
namespace {

// |got - exact| in units of the last place of the exact result, by MPFR with 200 bits.
class UlpError {
 public:
  UlpError() { mpfr_inits2(200, x_, y_, difference_, nullptr); }
  ~UlpError() { mpfr_clears(x_, y_, difference_, nullptr); }
  UlpError(const UlpError&) = delete;
  UlpError& operator=(const UlpError&) = delete;

  double of_log(double x) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_log(y_, x_, MPFR_RNDN);
    return error(stats::log(x));
  }
  double of_exp(double x) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_exp(y_, x_, MPFR_RNDN);
    return error(stats::exp(x));
  }

 private:
  double error(double got) {
    if (mpfr_zero_p(y_) != 0)
      return got == 0 ? 0 : std::numeric_limits<double>::infinity();
    const auto exponent = std::max<long>(mpfr_get_exp(y_) - 53, -1074);
    mpfr_sub_d(difference_, y_, got, MPFR_RNDN);
    mpfr_mul_2si(difference_, difference_, -exponent, MPFR_RNDN);
    return std::fabs(mpfr_get_d(difference_, MPFR_RNDN));
  }
  mpfr_t x_, y_, difference_;
};

double any_positive_double(Xoshiro256& random) {
  // Every bit pattern of a positive finite double is equally likely: subnormals included.
  return std::bit_cast<double>(random.below(0x7ff0000000000000U - 1) + 1);
}

TEST(Log, errors_stay_under_0_52_ulp_over_all_binary_scales) {
  Xoshiro256 random(1);
  UlpError ulp;
  double worst = 0;
  for (int i = 0; i < 120000; ++i)
    worst = std::max(worst, ulp.of_log(any_positive_double(random)));
  EXPECT_LT(worst, 0.52);
}

TEST(Log, errors_stay_under_0_52_ulp_near_one_and_for_subnormals_and_edges) {
  Xoshiro256 random(2);
  UlpError ulp;
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    worst = std::max(worst, ulp.of_log(0.5 + 1.5 * random.uniform()));
    worst = std::max(worst, ulp.of_log(1 + (random.uniform() - 0.5) * std::ldexp(1.0, -(i % 52))));
    if (i < 20000)
      worst = std::max(worst, ulp.of_log(std::bit_cast<double>(random.below(1ULL << 52) + 1)));
  }
  for (const double x :
       {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min(),
        std::numeric_limits<double>::max(), 1.0, 2.0, 0.5, std::nextafter(1.0, 0.0),
        std::nextafter(1.0, 2.0), std::nextafter(2.0, 0.0), 1.00390625, 1.99609375})
    worst = std::max(worst, ulp.of_log(x));
  EXPECT_LT(worst, 0.52);
  EXPECT_EQ(stats::log(1.0), 0.0);
}

TEST(Exp, errors_stay_under_0_52_ulp_over_the_whole_range_and_for_subnormal_results) {
  Xoshiro256 random(3);
  UlpError ulp;
  double worst = 0;
  for (int i = 0; i < 120000; ++i) {
    worst = std::max(worst, ulp.of_exp(-745.13 + random.uniform() * (709.78 + 745.13)));
    worst = std::max(worst, ulp.of_exp((random.uniform() - 0.5) * std::ldexp(1.0, -(i % 60))));
    if (i < 60000)
      worst = std::max(worst, ulp.of_exp(-708.3 - 37 * random.uniform()));
  }
  for (const double x : {0.0, 1.0, -1.0, 709.782712893384, -708.3964185322641, -708.39641853226408,
                         -745.1332191019411, -744.44007192138122, 1e-300, -1e-300})
    worst = std::max(worst, ulp.of_exp(x));
  EXPECT_LT(worst, 0.52);
}

TEST(Exp, overflows_to_infinity_and_underflows_to_zero) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(stats::exp(709.7827128933841), infinity);
  EXPECT_EQ(stats::exp(infinity), infinity);
  EXPECT_EQ(stats::exp(-infinity), 0.0);
  EXPECT_EQ(stats::exp(-745.1332191019412), 0.0);
  EXPECT_EQ(stats::exp(-745.1332191019411), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(stats::exp(0.0), 1.0);
  EXPECT_TRUE(std::isnan(stats::exp(std::numeric_limits<double>::quiet_NaN())));
}

constexpr double kFreedoms[] = {1, 2, 3, 5, 7, 9, 11, 19, 39, 59, 99, 199, 499, 599, 4999};

// Fifty digits: Boost's own long double t distribution is only good to about 1e-11 here and there.
using Exact = boost::multiprecision::cpp_bin_float_50;

double relative(double got, double expected) {
  return expected == 0 ? std::fabs(got) : std::fabs(got - expected) / std::fabs(expected);
}

TEST(StudentT, the_distribution_agrees_with_boost_to_1e_12) {
  double worst = 0;
  for (const double df : kFreedoms) {
    const boost::math::students_t_distribution<Exact> reference(df);
    for (double t = -60; t <= 60; t += 0.77) {
      const auto expected = static_cast<double>(cdf(reference, Exact(t)));
      if (expected > 1e-300)
        worst = std::max(worst, relative(t_cdf(t, df), expected));
    }
    for (const double t : {1e-9, 1e-3, 1e3, 1e6, 1e9}) {
      const auto expected = static_cast<double>(cdf(reference, Exact(-t)));
      if (expected > 1e-300)
        worst = std::max(worst, relative(t_cdf(-t, df), expected));
    }
  }
  EXPECT_LT(worst, 1e-12);
}

TEST(StudentT, quantiles_agree_with_boost_to_1e_12) {
  double worst = 0;
  for (const double df : kFreedoms) {
    const boost::math::students_t_distribution<Exact> reference(df);
    for (const double p :
         {1e-12, 1e-6,   0.001, 0.0091, 0.025, 0.05, 0.1,  0.2,   0.249,  0.251, 0.3,     0.4,
          0.49,  0.4999, 0.51,  0.7,    0.8,   0.9,  0.95, 0.975, 0.9909, 0.995, 0.999999})
      worst = std::max(
          worst, relative(t_quantile(p, df), static_cast<double>(quantile(reference, Exact(p)))));
  }
  EXPECT_LT(worst, 1e-12);
}

TEST(StudentT, published_critical_values_come_out) {
  EXPECT_NEAR(t_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(t_quantile(0.975, 9), 2.262, 5e-4);
  EXPECT_NEAR(t_quantile(0.95, 9), 1.8331, 5e-5);
  EXPECT_NEAR(t_quantile(0.95, 19), 1.7291, 5e-5);
  EXPECT_EQ(t_quantile(0.5, 9), 0);
  EXPECT_EQ(t_cdf(0, 9), 0.5);
  EXPECT_EQ(t_cdf(std::numeric_limits<double>::infinity(), 9), 1);
  EXPECT_EQ(t_cdf(-std::numeric_limits<double>::infinity(), 9), 0);
}

TEST(Beta, the_distribution_and_its_inverse_agree_with_boost) {
  double worst_cdf = 0;
  double worst_quantile = 0;
  for (const double a : {0.5, 1.0, 2.0, 3.5, 10.0, 26.0, 200.0, 1500.0}) {
    for (const double b : {0.5, 1.0, 2.5, 10.0, 325.0, 3000.0}) {
      const boost::math::beta_distribution<long double> reference(a, b);
      for (const double p : {1e-6, 0.01, 0.05, 0.3, 0.5, 0.9, 0.95, 0.999}) {
        const double x = beta_quantile(p, a, b);
        const auto expected = static_cast<double>(quantile(reference, static_cast<long double>(p)));
        worst_quantile = std::max(worst_quantile, relative(x, expected));
        const auto back = static_cast<double>(cdf(reference, static_cast<long double>(x)));
        worst_cdf = std::max(worst_cdf, relative(beta_cdf(x, a, b), back));
      }
    }
  }
  EXPECT_LT(worst_cdf, 1e-12);
  EXPECT_LT(worst_quantile, 1e-12);
  EXPECT_EQ(beta_cdf(0, 2, 3), 0);
  EXPECT_EQ(beta_cdf(1, 2, 3), 1);
  EXPECT_EQ(beta_quantile(0, 2, 3), 0);
  EXPECT_EQ(beta_quantile(1, 2, 3), 1);
}

TEST(Beta, upper_limits_of_alarm_rates_match_the_published_pairs) {
  // 8 % is bounded with 95 % confidence by these (alarms, campaigns).
  const int published[][2] = {{0, 36}, {1, 58}, {2, 77}, {3, 95}, {5, 129}, {10, 209}, {25, 432}};
  for (const auto& [alarms, campaigns] : published) {
    EXPECT_LE(beta_quantile(0.95, alarms + 1, campaigns - alarms), 0.08);
    EXPECT_GT(beta_quantile(0.95, alarms + 1, campaigns - 1 - alarms), 0.08);
  }
}

TEST(Normal, the_distribution_agrees_with_boost_in_both_tails) {
  const boost::math::normal_distribution<long double> reference;
  double worst = 0;
  for (double z = -37; z <= 9; z += 0.061)
    worst = std::max(
        worst,
        relative(normal_cdf(z), static_cast<double>(cdf(reference, static_cast<long double>(z)))));
  EXPECT_LT(worst, 1e-12);
  EXPECT_EQ(normal_cdf(0), 0.5);
  EXPECT_EQ(normal_cdf(50), 1);
  EXPECT_EQ(normal_cdf(-50), 0);
}

TEST(Median, an_even_count_takes_the_mean_of_the_two_middle_values) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({8, 1, 5, 6}), 5.5);
}

TEST(Percentile, type_7_interpolates_at_n_minus_one_times_q) {
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(percentile({10, 20}, 0.95), 19.5);
  EXPECT_EQ(percentile({7}, 0.3), 7);
}

}  // namespace
}  // namespace assay::stats
