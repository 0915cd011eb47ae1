// What every C++ program of the suite needs: its parameters and its repetitions.
//
// A program does its work ASSAY_BENCH_ITERATIONS times and prints the result once, so that a run is
// long enough to be timed. A parameter that is not 1 to its maximum in ASCII digits ends the
// program with exit code 2.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

// The value of an environment variable, `fallback` when it is not set.
inline std::uint64_t parameter(const char* name, std::uint64_t fallback, std::uint64_t maximum) {
  const char* text = std::getenv(name);
  if (text == nullptr)
    return fallback;
  std::uint64_t value = 0;
  bool good = *text != 0;
  for (const char* at = text; good && *at != 0; ++at) {
    good = *at >= '0' && *at <= '9' && value <= maximum;
    value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  if (!good || value < 1 || value > maximum) {
    std::fprintf(stderr, "%s must be 1 to %llu\n", name, static_cast<unsigned long long>(maximum));
    std::exit(2);
  }
  return value;
}

inline std::uint64_t size(std::uint64_t fallback, std::uint64_t maximum) {
  return parameter("ASSAY_BENCH_SIZE", fallback, maximum);
}
inline std::uint64_t steps(std::uint64_t fallback, std::uint64_t maximum) {
  return parameter("ASSAY_BENCH_STEPS", fallback, maximum);
}

// The same value, which the compiler cannot know: it keeps repeated work from being done once.
inline std::uint64_t opaque(std::uint64_t value) {
  volatile std::uint64_t hidden = value;
  return hidden;
}

// work() as often as asked; every result must equal the first.
template <typename Work>
auto repeat(Work work) {
  const std::uint64_t iterations = parameter("ASSAY_BENCH_ITERATIONS", 1, 1000000);
  const auto first = work();
  for (std::uint64_t i = 1; i < iterations; ++i) {
    if (!(work() == first)) {
      std::fprintf(stderr, "repetition %llu gave another result\n",
                   static_cast<unsigned long long>(i + 1));
      std::exit(1);
    }
  }
  return first;
}

// The whole of a file, or exit code 2.
inline std::string read_input(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    std::exit(2);
  }
  std::string text;
  std::FILE* file = std::fopen(argv[1], "rb");
  bool whole = file != nullptr;
  if (file != nullptr) {
    char buffer[65536];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file))
      text.append(buffer, got);
    whole = std::ferror(file) == 0;
    std::fclose(file);
  }
  if (!whole) {
    std::fprintf(stderr, "%s: could not be read\n", argv[1]);
    std::exit(2);
  }
  return text;
}

inline void print(std::uint64_t value) {
  std::printf("%llu\n", static_cast<unsigned long long>(value));
}

}  // namespace bench
