// Golden values: CPython 3.11's random.Random, and the published outputs of the two 64-bit
// generators (SplitMix64 from seed 1234567, xoshiro256** from state 1, 2, 3, 4).
#include "assay/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace assay {
namespace {

using ::testing::ElementsAre;

struct PythonGolden {
  std::uint64_t seed;
  std::vector<double> uniforms;
  std::vector<std::size_t> choices_of_7;  // drawn after the three uniforms
  std::vector<int> shuffled_12;
  std::vector<std::uint32_t> below;  // of 1, 2, 3, 4, 5, 8, 100, 2^31
};

const std::vector<PythonGolden>& python_goldens() {
  static const std::vector<PythonGolden> goldens = {
      {0,
       {0.8444218515250481, 0.7579544029403025, 0.420571580830845},
       {1, 3, 2, 5, 2, 3, 4, 6},
       {1, 9, 8, 5, 10, 2, 3, 7, 4, 0, 11, 6},
       {0, 1, 0, 2, 4, 7, 51, 1302718217}},
      {5,
       {0.6229016948897019, 0.7417869892607294, 0.7951935655656966},
       {6, 5, 6, 0, 3, 6, 4, 6},
       {10, 2, 11, 7, 1, 3, 6, 0, 8, 5, 4, 9},
       {0, 1, 2, 0, 3, 3, 83, 222708024}},
      {20260906,
       {0.8881903542200712, 0.3061871860582587, 0.5847096524968308},
       {0, 3, 4, 0, 5, 6, 1, 6},
       {8, 11, 3, 9, 2, 6, 10, 0, 1, 7, 4, 5},
       {0, 1, 1, 0, 0, 4, 76, 55124962}},
      {4294967296,
       {0.11299430095636409, 0.41782886486292836, 0.0166763664992291},
       {4, 5, 2, 3, 3, 0, 5, 6},
       {11, 10, 7, 3, 9, 2, 4, 8, 0, 6, 5, 1},
       {0, 1, 1, 0, 0, 5, 69, 1940533316}},
      {9007199254740991,
       {0.09425040007102303, 0.22287455761867403, 0.19135148760372034},
       {1, 0, 3, 0, 2, 2, 5, 5},
       {7, 4, 11, 10, 5, 6, 0, 2, 9, 3, 8, 1},
       {0, 0, 0, 1, 0, 1, 2, 2064941710}},
      {18446744073709551615U,
       {0.021825695401270107, 0.3380953268613758, 0.21196748656082065},
       {4, 6, 2, 5, 5, 5, 5, 3},
       {1, 8, 6, 9, 2, 11, 4, 7, 10, 5, 3, 0},
       {0, 0, 1, 1, 3, 1, 47, 233445913}},
  };
  return goldens;
}

TEST(PythonRandom, gives_the_uniforms_of_cpython) {
  for (const PythonGolden& golden : python_goldens()) {
    PythonRandom random(golden.seed);
    for (const double expected : golden.uniforms)
      EXPECT_EQ(random.uniform(), expected) << "seed " << golden.seed;
  }
}

TEST(PythonRandom, gives_the_choices_of_cpython) {
  for (const PythonGolden& golden : python_goldens()) {
    PythonRandom random(golden.seed);
    for (int i = 0; i < 3; ++i)
      random.uniform();
    for (const std::size_t expected : golden.choices_of_7)
      EXPECT_EQ(random.choice_index(7), expected) << "seed " << golden.seed;
  }
  PythonRandom random(20260906);
  EXPECT_EQ(random.choice_index(3), 2U);
  EXPECT_EQ(random.choice_index(3), 0U);
  EXPECT_EQ(random.choice_index(3), 1U);
}

TEST(PythonRandom, shuffles_as_cpython_shuffles) {
  for (const PythonGolden& golden : python_goldens()) {
    PythonRandom random(golden.seed);
    std::vector<int> items(12);
    std::iota(items.begin(), items.end(), 0);
    random.shuffle(items);
    EXPECT_EQ(items, golden.shuffled_12) << "seed " << golden.seed;
  }
}

TEST(PythonRandom, draws_bounded_integers_as_cpython_draws_them) {
  const std::vector<std::uint32_t> bounds = {1, 2, 3, 4, 5, 8, 100, 1U << 31};
  for (const PythonGolden& golden : python_goldens()) {
    PythonRandom random(golden.seed);
    for (std::size_t i = 0; i < bounds.size(); ++i)
      EXPECT_EQ(random.below(bounds[i]), golden.below[i]) << "seed " << golden.seed;
  }
}

// Checksum over more than three refills of the state, from CPython's getrandbits(32).
TEST(PythonRandom, stays_equal_to_cpython_over_many_refills) {
  PythonRandom random(7);
  std::uint64_t checksum = 0;
  for (std::uint64_t i = 0; i < 2000; ++i)
    checksum ^= random.next_u32() * (2 * i + 1);
  EXPECT_EQ(checksum, 4098987981579U);
}

TEST(PythonRandom, shuffles_nothing_and_one_without_drawing) {
  PythonRandom random(1);
  PythonRandom untouched(1);
  std::vector<int> none;
  std::vector<int> one = {4};
  random.shuffle(none);
  random.shuffle(one);
  EXPECT_EQ(random.next_u32(), untouched.next_u32());
}

TEST(SplitMix64, gives_its_published_outputs) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(random.next(), 9817491932198370423U);
  EXPECT_EQ(random.next(), 4593380528125082431U);
  EXPECT_EQ(random.next(), 16408922859458223821U);
}

TEST(Xoshiro256, gives_its_published_outputs) {
  Xoshiro256 random = Xoshiro256::from_state({1, 2, 3, 4});
  std::vector<std::uint64_t> outputs;
  for (int i = 0; i < 10; ++i)
    outputs.push_back(random.next());
  EXPECT_THAT(outputs,
              ElementsAre(11520U, 0U, 1509978240U, 1215971899390074240U, 1216172134540287360U,
                          607988272756665600U, 16172922978634559625U, 8476171486693032832U,
                          10595114339597558777U, 2904607092377533576U));
}

TEST(Xoshiro256, is_seeded_by_four_splitmix_outputs) {
  SplitMix64 source(99);
  std::array<std::uint64_t, 4> state{};
  for (std::uint64_t& word : state)
    word = source.next();
  Xoshiro256 from_state = Xoshiro256::from_state(state);
  Xoshiro256 from_seed(99);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(from_seed.next(), from_state.next());
}

TEST(Xoshiro256, takes_top_bits_and_rejects_what_is_too_large) {
  Xoshiro256 bounded(42);
  Xoshiro256 raw(42);
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t expected = raw.next() >> 61;  // bit_width(5 - 1) is 3
    while (expected >= 5)
      expected = raw.next() >> 61;
    ASSERT_EQ(bounded.below(5), expected);
  }
}

TEST(Xoshiro256, never_reaches_the_bound) {
  Xoshiro256 random(3);
  for (const std::uint64_t n : {1U, 2U, 3U, 64U, 1000U}) {
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < 20 * n + 50; ++i)
      seen.at(random.below(n)) = true;
    EXPECT_GE(std::count(seen.begin(), seen.end(), true), static_cast<std::int64_t>(n * 9 / 10));
  }
  EXPECT_EQ(Xoshiro256(3).below(1), 0U);
}

TEST(Xoshiro256, uniforms_are_the_top_53_bits) {
  Xoshiro256 random(8);
  Xoshiro256 raw(8);
  for (int i = 0; i < 100; ++i) {
    const double value = random.uniform();
    EXPECT_EQ(value, static_cast<double>(raw.next() >> 11) / 9007199254740992.0);
    EXPECT_LT(value, 1.0);
  }
}

TEST(Xoshiro256, shuffle_gives_a_permutation_that_depends_on_the_seed) {
  std::vector<int> a(50);
  std::iota(a.begin(), a.end(), 0);
  std::vector<int> b = a;
  const std::vector<int> sorted = a;
  Xoshiro256(1).shuffle(a);
  Xoshiro256(2).shuffle(b);
  EXPECT_NE(a, b);
  EXPECT_NE(a, sorted);
  EXPECT_THAT(a, ::testing::UnorderedElementsAreArray(sorted));
}

}  // namespace
}  // namespace assay
