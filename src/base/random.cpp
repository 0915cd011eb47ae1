#include "assay/base/random.h"

#include "assay/base/result.h"

#include <bit>

namespace assay {
namespace {

constexpr std::size_t kWords = 624;
constexpr std::size_t kMiddle = 397;
constexpr double kTwoPowMinus53 = 1.0 / 9007199254740992.0;

}  // namespace

// init_by_array of the MT19937 reference (Matsumoto and Nishimura, 2002).
PythonRandom::PythonRandom(std::uint64_t seed) {
  state_[0] = 19650218U;
  for (std::size_t i = 1; i < kWords; ++i) {
    const std::uint32_t previous = state_[i - 1] ^ (state_[i - 1] >> 30);
    state_[i] = 1812433253U * previous + static_cast<std::uint32_t>(i);
  }
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed),
                                            static_cast<std::uint32_t>(seed >> 32)};
  const std::size_t key_words = key[1] == 0 ? 1 : 2;
  std::size_t i = 1;
  std::size_t j = 0;
  const auto advance = [&] {
    if (++i >= kWords) {
      state_[0] = state_[kWords - 1];
      i = 1;
    }
  };
  for (std::size_t k = 0; k < kWords; ++k) {
    const std::uint32_t mixed = (state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525U;
    state_[i] = (state_[i] ^ mixed) + key[j] + static_cast<std::uint32_t>(j);
    j = (j + 1) % key_words;
    advance();
  }
  for (std::size_t k = 1; k < kWords; ++k) {
    const std::uint32_t mixed = (state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941U;
    state_[i] = (state_[i] ^ mixed) - static_cast<std::uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::refill() {
  const auto twist = [](std::uint32_t high, std::uint32_t low) {
    const std::uint32_t y = (high & 0x80000000U) | (low & 0x7fffffffU);
    return (y >> 1) ^ ((y & 1U) != 0 ? 0x9908b0dfU : 0U);
  };
  for (std::size_t i = 0; i < kWords - kMiddle; ++i)
    state_[i] = state_[i + kMiddle] ^ twist(state_[i], state_[i + 1]);
  for (std::size_t i = kWords - kMiddle; i < kWords - 1; ++i)
    state_[i] = state_[i + kMiddle - kWords] ^ twist(state_[i], state_[i + 1]);
  state_[kWords - 1] = state_[kMiddle - 1] ^ twist(state_[kWords - 1], state_[0]);
  index_ = 0;
}

std::uint32_t PythonRandom::below(std::uint32_t n) {
  ASSAY_CHECK(n >= 1, "no number is below 0");
  const int shift = 32 - static_cast<int>(std::bit_width(n));
  std::uint32_t value = next_u32() >> shift;
  while (value >= n)
    value = next_u32() >> shift;
  return value;
}

std::uint64_t SplitMix64::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

Xoshiro256::Xoshiro256(std::uint64_t seed) {
  SplitMix64 source(seed);
  for (std::uint64_t& word : state_)
    word = source.next();
}

Xoshiro256 Xoshiro256::from_state(const std::array<std::uint64_t, 4>& state) {
  ASSAY_CHECK(state != (std::array<std::uint64_t, 4>{}), "an all-zero state stays zero");
  Xoshiro256 generator(0);
  generator.state_ = state;
  return generator;
}

std::uint64_t Xoshiro256::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Xoshiro256::below(std::uint64_t n) {
  ASSAY_CHECK(n >= 1, "no number is below 0");
  if (n == 1)
    return 0;
  const int shift = 64 - static_cast<int>(std::bit_width(n - 1));
  std::uint64_t value = next() >> shift;
  while (value >= n)
    value = next() >> shift;
  return value;
}

double Xoshiro256::uniform() {
  return static_cast<double>(next() >> 11) * kTwoPowMinus53;
}

}  // namespace assay
