// Builds, walks and drops full binary trees whose nodes are allocated one by one:
// ASSAY_BENCH_STEPS trees (16) of depth ASSAY_BENCH_SIZE (19). Prints a digest of the trees'
// hashes, the number of nodes and of trees.
#include <memory>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefaultDepth = 19;
constexpr std::uint64_t kDeepest = 20;
constexpr std::uint64_t kDefaultRounds = 16;
constexpr std::uint64_t kMostRounds = 64;
constexpr std::uint64_t kModulus = 1000000007;
constexpr std::uint64_t kSeedModulus = 2147483647;

struct Node {
  std::uint32_t value;
  std::unique_ptr<Node> left;  // both children, or none
  std::unique_ptr<Node> right;
};

std::unique_ptr<Node> build(std::uint64_t seed, std::uint64_t depth) {
  auto node = std::make_unique<Node>();
  node->value = static_cast<std::uint32_t>(seed % 1000);
  if (depth > 0) {
    node->left = build((seed * 48271 + 17) % kSeedModulus, depth - 1);
    node->right = build((seed * 69621 + 31) % kSeedModulus, depth - 1);
  }
  return node;
}

std::uint64_t walk(const Node& node) {
  if (!node.left)
    return node.value;
  return (33 * walk(*node.left) + 17 * std::uint64_t{node.value} + 97 * walk(*node.right)) %
         kModulus;
}

std::uint64_t trees(std::uint64_t depth, std::uint64_t rounds) {
  std::uint64_t digest = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::unique_ptr<Node> root = build(7 + 7919 * round, depth);
    digest = (65599 * digest + walk(*root)) % kModulus;
  }
  return digest;
}

}  // namespace

int main() {
  const std::uint64_t depth = bench::size(kDefaultDepth, kDeepest);
  const std::uint64_t rounds = bench::steps(kDefaultRounds, kMostRounds);
  bench::print(bench::repeat([&] { return trees(bench::opaque(depth), rounds); }));
  bench::print(rounds * ((std::uint64_t{2} << depth) - 1));
  bench::print(rounds);
}
