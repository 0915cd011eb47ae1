// Four dependent passes over a byte buffer of ASSAY_BENCH_SIZE bytes (32 MiB by default): each byte
// is changed and then enters a running checksum. Prints the checksum, the first and the last byte.
#include <array>
#include <vector>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefaultSize = 33554432;
constexpr std::uint64_t kLargestSize = 1073741824;
constexpr unsigned kPasses = 4;
constexpr std::uint64_t kModulus = 1000000007;

std::array<std::uint64_t, 3> scan(std::uint64_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::uint64_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::uint8_t>(17 * i + 23);
  std::uint64_t sum = 0;
  for (unsigned pass = 0; pass < kPasses; ++pass) {
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(byte + pass + 1);
      sum = (33 * sum + byte) % kModulus;
    }
  }
  return {sum, bytes.front(), bytes.back()};
}

}  // namespace

int main() {
  const std::uint64_t size = bench::size(kDefaultSize, kLargestSize);
  for (const std::uint64_t value : bench::repeat([size] { return scan(bench::opaque(size)); }))
    bench::print(value);
}
