// Portable generators: the same seed gives the same plan on every machine and compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay {

// MT19937 as CPython's random module drives it, so that the paired evaluator's published plans and
// intervals can be replayed to the last digit. Seeded from a non-negative integer through
// init_by_array over its little-endian 32-bit words.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  // The three below stand here so that they are inlined: resampling is little else.
  std::uint32_t next_u32() {
    if (index_ >= state_.size())
      refill();
    std::uint32_t y = state_[index_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
  }
  // random(): 53-bit uniform in [0, 1) from two outputs (27 + 26 bits).
  double uniform() {
    const std::uint32_t a = next_u32() >> 5;
    const std::uint32_t b = next_u32() >> 6;
    return (a * 67108864.0 + b) * 0x1p-53;
  }
  // choices() with equal weights: floor(uniform() * n). n below 2^63.
  std::size_t choice_index(std::size_t n) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(uniform() * static_cast<double>(n)));
  }
  // _randbelow(n): top bits of one 32-bit output, values >= n rejected. n >= 1.
  std::uint32_t below(std::uint32_t n);
  // shuffle(): Fisher-Yates from the end with below(i + 1).
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;)
      std::swap(items[i], items[below(static_cast<std::uint32_t>(i + 1))]);
  }

 private:
  void refill();
  std::array<std::uint32_t, 624> state_{};
  std::size_t index_ = 624;
};

// SplitMix64; also seeds Xoshiro256.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();

 private:
  std::uint64_t state_;
};

// xoshiro256**, seeded through SplitMix64: assay's own plans.
class Xoshiro256 {
 public:
  explicit Xoshiro256(std::uint64_t seed);
  // `state` must not be all zeros.
  static Xoshiro256 from_state(const std::array<std::uint64_t, 4>& state);

  std::uint64_t next();
  // Uniform in [0, n): the top bit_width(n - 1) bits, values >= n rejected. n >= 1; n == 1 draws
  // nothing.
  std::uint64_t below(std::uint64_t n);
  // 53-bit uniform in [0, 1).
  double uniform();
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;)
      std::swap(items[i], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace assay
