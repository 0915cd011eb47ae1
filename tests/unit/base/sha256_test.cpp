#include "assay/base/sha256.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sys/stat.h>

#include "unit/base/temp_dir.h"

namespace assay {
namespace {

constexpr char kEmptyDigest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kAbcDigest[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kMillionDigest[] =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, gives_the_digests_of_the_standard) {
  EXPECT_EQ(sha256_hex(""), kEmptyDigest);
  EXPECT_EQ(sha256_hex("abc"), kAbcDigest);
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), kMillionDigest);
  EXPECT_EQ(to_hex(sha256_raw("abc")), kAbcDigest);
}

TEST(Sha256, a_snapshot_does_not_end_the_digest) {
  Sha256 hash;
  EXPECT_EQ(hash.snapshot_hex(), kEmptyDigest);
  hash.update("a");
  EXPECT_EQ(hash.snapshot_hex(), sha256_hex("a"));
  hash.update("bc");
  EXPECT_EQ(hash.snapshot_hex(), kAbcDigest);
  EXPECT_EQ(to_hex(hash.snapshot_raw()), kAbcDigest);
  Sha256 moved = std::move(hash);
  moved.update("d");
  EXPECT_EQ(moved.snapshot_hex(), sha256_hex("abcd"));
}

TEST(Sha256, hashes_a_file_longer_than_one_read) {
  const test::TempDir dir;
  std::ofstream(dir / "big") << std::string(1000000, 'a');
  EXPECT_EQ(sha256_file(dir / "big").value(), kMillionDigest);
}

TEST(Sha256, refuses_what_is_not_a_regular_file) {
  const test::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(sha256_file(dir / "fifo").error().code, ErrorCode::io);
  EXPECT_EQ(sha256_file(dir.path()).error().code, ErrorCode::io);
  const Error absent = sha256_file(dir / "absent").error();
  EXPECT_EQ(absent.code, ErrorCode::not_found);
  EXPECT_EQ(absent.where, dir / "absent");
}

TEST(Hex, writes_every_byte_as_two_lower_case_digits) {
  EXPECT_EQ(to_hex(std::string("\x00\x0f\xa0\xff", 4)), "000fa0ff");
  EXPECT_EQ(to_hex(""), "");
}

}  // namespace
}  // namespace assay
