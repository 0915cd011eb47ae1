#include "assay/base/sha256.h"
#include "assay/evidence/archive.h"

#include <gtest/gtest.h>

namespace assay::evidence {
namespace {

std::string leaf(const std::string& data) {
  return sha256_raw(std::string(1, '\0') + data);
}
std::string node(const std::string& left, const std::string& right) {
  return sha256_raw("\x01" + left + right);
}

TEST(Merkle, of_nothing_is_the_digest_of_nothing) {
  EXPECT_EQ(merkle_root({}), sha256_hex(""));
}

TEST(Merkle, hashes_leaves_and_nodes_with_different_prefixes) {
  EXPECT_EQ(merkle_root({"a"}), to_hex(leaf("a")));
  EXPECT_EQ(merkle_root({"a", "b"}), to_hex(node(leaf("a"), leaf("b"))));
  EXPECT_NE(merkle_root({"a", "b"}), merkle_root({"b", "a"}));
}

TEST(Merkle, fills_the_left_subtree_first) {
  const std::string ab = node(leaf("a"), leaf("b"));
  const std::string cd = node(leaf("c"), leaf("d"));
  EXPECT_EQ(merkle_root({"a", "b", "c"}), to_hex(node(ab, leaf("c"))));
  EXPECT_EQ(merkle_root({"a", "b", "c", "d"}), to_hex(node(ab, cd)));
  EXPECT_EQ(merkle_root({"a", "b", "c", "d", "e"}), to_hex(node(node(ab, cd), leaf("e"))));
  const std::string ef = node(leaf("e"), leaf("f"));
  EXPECT_EQ(merkle_root({"a", "b", "c", "d", "e", "f", "g"}),
            to_hex(node(node(ab, cd), node(ef, leaf("g")))));
}

// The eight leaves and the root of Certificate Transparency's published test vectors.
TEST(Merkle, gives_the_published_root_of_certificate_transparency) {
  const std::vector<std::string> leaves = {
      "",
      std::string("\x00", 1),
      "\x10",
      "\x20\x21",
      "\x30\x31",
      "\x40\x41\x42\x43",
      "\x50\x51\x52\x53\x54\x55\x56\x57",
      "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};
  EXPECT_EQ(merkle_root(leaves),
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
}

}  // namespace
}  // namespace assay::evidence
