// Merkle tree hash of RFC 6962, section 2.1.
#include "assay/base/sha256.h"
#include "assay/evidence/archive.h"

#include <bit>
#include <string>
#include <vector>

namespace assay::evidence {
namespace {

std::string subtree(const std::vector<std::string>& leaf_hashes, std::size_t begin,
                    std::size_t end) {
  if (end - begin == 1)
    return leaf_hashes[begin];
  // The left subtree is full: the largest power of two below the number of leaves.
  const std::size_t split = begin + std::bit_floor(end - begin - 1);
  Sha256 node;
  node.update("\x01");
  node.update(subtree(leaf_hashes, begin, split));
  node.update(subtree(leaf_hashes, split, end));
  return node.snapshot_raw();
}

}  // namespace

std::string merkle_root(const std::vector<std::string>& leaves) {
  if (leaves.empty())
    return sha256_hex("");
  std::vector<std::string> hashes;
  hashes.reserve(leaves.size());
  for (const std::string& leaf : leaves) {
    Sha256 hash;
    hash.update(std::string_view("\0", 1));
    hash.update(leaf);
    hashes.push_back(hash.snapshot_raw());
  }
  return to_hex(subtree(hashes, 0, hashes.size()));
}

}  // namespace assay::evidence
