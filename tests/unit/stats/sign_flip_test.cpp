#include "assay/base/random.h"
#include "assay/stats/signed_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::stats {
namespace {

using Sums = std::vector<std::int64_t>;

// All 2^B signs, one after another.
FlipResult brute_force(const Sums& sums) {
  std::int64_t seen = 0;
  for (const std::int64_t s : sums)
    seen += s;
  double greater = 0;
  double equal = 0;
  const std::uint64_t total = std::uint64_t{1} << sums.size();
  for (std::uint64_t signs = 0; signs < total; ++signs) {
    std::int64_t value = 0;
    for (std::size_t b = 0; b < sums.size(); ++b)
      value += (signs >> b & 1U) != 0 ? -sums[b] : sums[b];
    greater += value > seen ? 1 : 0;
    equal += value == seen ? 1 : 0;
  }
  return {greater / static_cast<double>(total), equal / static_cast<double>(total)};
}

// P(k heads of n fair coins), by Pascal's rule in long double.
std::vector<long double> binomial(int n) {
  std::vector<long double> p(static_cast<std::size_t>(n) + 1, 0);
  p[0] = 1;
  for (int i = 1; i <= n; ++i)
    for (int k = i; k >= 0; --k)
      p[static_cast<std::size_t>(k)] =
          (p[static_cast<std::size_t>(k)] + (k > 0 ? p[static_cast<std::size_t>(k - 1)] : 0)) / 2;
  return p;
}

// Exact flip of `n` batches of size `a` and `m` of size `c`, of which i and j are negative.
struct TwoSizes {
  int n, m;
  std::int64_t a, c;
  int i, j;

  Sums sums() const {
    Sums result;
    for (int b = 0; b < n; ++b)
      result.push_back(b < i ? -a : a);
    for (int b = 0; b < m; ++b)
      result.push_back(b < j ? -c : c);
    return result;
  }
  FlipResult exact() const {
    const std::vector<long double> p = binomial(n);
    const std::vector<long double> q = binomial(m);
    long double greater = 0;
    long double equal = 0;
    const std::int64_t seen = i * a + j * c;
    for (int x = 0; x <= n; ++x)
      for (int y = 0; y <= m; ++y) {
        const long double both = p[static_cast<std::size_t>(x)] * q[static_cast<std::size_t>(y)];
        const std::int64_t negative = x * a + y * c;
        greater += negative < seen ? both : 0;
        equal += negative == seen ? both : 0;
      }
    return {static_cast<double>(greater), static_cast<double>(equal)};
  }
};

void expect_equal(const FlipResult& got, const FlipResult& expected) {
  EXPECT_NEAR(got.greater, expected.greater, 1e-12 * expected.greater + 1e-300);
  EXPECT_NEAR(got.equal, expected.equal, 1e-12 * expected.equal + 1e-300);
}

TEST(SignFlip, small_known_distributions_come_out_exactly) {
  const FlipResult all_up = sign_flip({5, 5, 5});
  EXPECT_EQ(all_up.greater, 0);
  EXPECT_EQ(all_up.equal, 0.125);
  EXPECT_EQ(all_up.p_up(), 0.125);
  EXPECT_EQ(all_up.p_down(), 1);
  EXPECT_EQ(all_up.mid_p_up(), 0.0625);
  const FlipResult mixed = sign_flip({1, 2, -3});  // seen 0 of -6 -4 -2 0 0 2 4 6
  EXPECT_EQ(mixed.greater, 0.375);
  EXPECT_EQ(mixed.equal, 0.25);
}

TEST(SignFlip, all_zero_sums_are_no_evidence_in_either_direction) {
  const FlipResult flip = sign_flip({0, 0, 0, 0});
  EXPECT_EQ(flip.p_up(), 1);
  EXPECT_EQ(flip.p_down(), 1);
  EXPECT_EQ(flip.mid_p_up(), 0.5);
}

TEST(SignFlip, a_zero_batch_changes_nothing) {
  const FlipResult with = sign_flip({3, 0, -1, 7});
  const FlipResult without = sign_flip({3, -1, 7});
  EXPECT_EQ(with.greater, without.greater);
  EXPECT_EQ(with.equal, without.equal);
}

TEST(SignFlip, small_and_huge_sums_agree_with_all_signs_one_by_one) {
  Xoshiro256 random(21);
  for (int round = 0; round < 120; ++round) {
    Sums sums;
    const std::size_t n = 1 + random.below(12);
    const std::uint64_t top = round % 3 == 0 ? 4 : (round % 3 == 1 ? 4000 : 4000000000000);
    for (std::size_t b = 0; b < n; ++b)
      sums.push_back(static_cast<std::int64_t>(random.below(2 * top)) -
                     static_cast<std::int64_t>(top / 2));
    const FlipResult expected = brute_force(sums);
    const FlipResult got = sign_flip(sums);
    ASSERT_EQ(got.greater, expected.greater);
    ASSERT_EQ(got.equal, expected.equal);
  }
}

TEST(SignFlip, eighteen_batches_of_small_steps_agree_with_all_signs_one_by_one) {
  Sums sums;
  for (int b = 0; b < 18; ++b)
    sums.push_back(b % 5 - 1);  // a short convolution beats the lists here
  const FlipResult expected = brute_force(sums);
  EXPECT_EQ(sign_flip(sums).greater, expected.greater);
  EXPECT_EQ(sign_flip(sums).equal, expected.equal);
}

TEST(SignFlip, the_sign_of_all_sums_swaps_the_two_tails) {
  Xoshiro256 random(22);
  for (int round = 0; round < 50; ++round) {
    Sums up;
    Sums down;
    for (int b = 0; b < 14; ++b) {
      up.push_back(static_cast<std::int64_t>(random.below(2000)) - 700);
      down.push_back(-up.back());
    }
    ASSERT_DOUBLE_EQ(sign_flip(up).p_up(), sign_flip(down).p_down());
    ASSERT_EQ(sign_flip(up).equal, sign_flip(down).equal);
  }
}

TEST(SignFlip, fifty_and_more_batches_carry_probabilities_without_overflow) {
  for (const int batches : {50, 51, 200, 600}) {
    for (const int negative : {batches / 2, batches / 3, 2, 0}) {
      const TwoSizes data{batches, 0, 7, 1, negative, 0};
      const FlipResult got = sign_flip(data.sums());
      expect_equal(got, data.exact());
      if (negative == 0) {
        EXPECT_EQ(got.p_up(), std::ldexp(1.0, -batches));
      }
    }
    const TwoSizes mixed{batches / 2, batches - batches / 2, 3, 11, batches / 5, batches / 7};
    expect_equal(sign_flip(mixed.sums()), mixed.exact());
  }
}

TEST(SignFlip, sums_too_large_for_a_convolution_are_enumerated_exactly_up_to_fifty_batches) {
  for (const int batches : {30, 44, 46}) {
    const TwoSizes data{batches / 2, batches / 2, 1000003, 1700021, batches / 5, batches / 6};
    expect_equal(sign_flip(data.sums()), data.exact());
  }
}

TEST(SignFlip, beyond_fifty_batches_of_huge_sums_both_tails_are_rounded_up_by_little) {
  for (const int negative : {5, 12, 20, 33}) {
    const TwoSizes data{40, 40, 1000003, 1700021, negative, 15};
    const FlipResult got = sign_flip(data.sums());
    const FlipResult exact = data.exact();
    EXPECT_GE(got.p_up(), exact.p_up());
    EXPECT_GE(got.p_down(), exact.p_down());
    EXPECT_NEAR(got.p_up(), exact.p_up(), 0.02 * exact.p_up() + 1e-12);
    EXPECT_NEAR(got.p_down(), exact.p_down(), 0.02 * exact.p_down() + 1e-12);
  }
}

// 200,000 batches: rounding would need hours and say nothing. The normal distribution is near the
// truth there, and a bound is never below it.
TEST(SignFlip, very_many_batches_get_p_values_that_are_never_too_small) {
  std::vector<std::int64_t> sums;
  double squares = 0;
  for (std::int64_t i = 0; i < 200'000; ++i) {
    sums.push_back(i % 2 == 0 ? 2 * i + 1 : -(2 * i + 1));
    squares += static_cast<double>(2 * i + 1) * static_cast<double>(2 * i + 1);
  }
  EXPECT_EQ(sign_flip(sums).p_up(), 1);  // nearly balanced: nothing is claimed
  EXPECT_EQ(sign_flip(sums).p_down(), 1);
  const double sd = std::sqrt(squares);
  for (std::size_t i = 1; i < 6000; i += 2)
    sums[200'000 - i] = std::abs(sums[200'000 - i]);
  double observed = 0;
  for (const std::int64_t s : sums)
    observed += static_cast<double>(s);
  const double z = observed / sd;
  ASSERT_GT(z, 5);
  const FlipResult up = sign_flip(sums);
  EXPECT_LT(up.p_up(), 0.001);
  EXPECT_GE(up.p_up(), std::erfc(z / std::sqrt(2.0)) / 2);
  EXPECT_GE(up.mid_p_up(), std::erfc(z / std::sqrt(2.0)) / 2);
  EXPECT_EQ(up.p_down(), 1);
  for (std::int64_t& s : sums)
    s = -s;
  EXPECT_EQ(sign_flip(sums).p_up(), 1);
  EXPECT_NEAR(sign_flip(sums).p_down(), up.p_up(), 1e-12);
}

}  // namespace
}  // namespace assay::stats
