// Updates and removals in two hash maps of at most 4,096 keys, one keyed by integers and one by
// strings: ASSAY_BENCH_SIZE operations (2,097,152 by default). Prints a weighted sum of the counts
// of each map, then the number of keys of each.
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefaultOperations = 2097152;
constexpr std::uint64_t kMostOperations = 1000000000;
constexpr std::uint32_t kKeys = 4096;

// One word of a linear congruential generator modulo 2^31.
std::uint32_t next(std::uint32_t state) {
  return (state * 1103515245U + 12345U) % 2147483648U;
}

std::array<std::uint64_t, 4> churn(const std::vector<std::string>& names,
                                   std::uint64_t operations) {
  std::unordered_map<std::uint32_t, std::uint64_t> by_number;
  std::unordered_map<std::string_view, std::uint64_t> by_name;
  std::uint32_t state = 7;
  for (std::uint64_t i = 0; i < operations; ++i) {
    state = next(state);
    const std::uint32_t key = state % kKeys;
    ++by_number[key];
    ++by_name[names[key]];
    if (i % 7 == 0) {
      const std::uint32_t gone = (key + 17) % kKeys;
      by_number.erase(gone);
      by_name.erase(names[gone]);
    }
  }
  std::array<std::uint64_t, 4> result = {0, 0, by_number.size(), by_name.size()};
  for (std::uint32_t key = 0; key < kKeys; ++key) {
    if (const auto found = by_number.find(key); found != by_number.end())
      result[0] += (key + 1) * found->second;
    if (const auto found = by_name.find(names[key]); found != by_name.end())
      result[1] += (key + 1) * found->second;
  }
  return result;
}

}  // namespace

int main() {
  const std::uint64_t operations = bench::size(kDefaultOperations, kMostOperations);
  std::vector<std::string> names;
  for (std::uint32_t key = 0; key < kKeys; ++key)
    names.push_back("k" + std::to_string(key));
  for (const std::uint64_t value : bench::repeat([&] { return churn(names, operations); }))
    bench::print(value);
}
