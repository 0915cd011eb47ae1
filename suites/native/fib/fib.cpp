// Naive recursion: the cost of calls. Prints fib(ASSAY_BENCH_SIZE), 40 by default.
#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefault = 40;
constexpr std::uint64_t kLargest = 50;

std::uint64_t fib(std::uint64_t n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

}  // namespace

int main() {
  const std::uint64_t n = bench::size(kDefault, kLargest);
  bench::print(bench::repeat([n] { return fib(bench::opaque(n)); }));
}
